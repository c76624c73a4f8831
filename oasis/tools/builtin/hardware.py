"""What `status system` tells of the machine itself: kernel, processor, load, memory, temperatures, clock."""

from __future__ import annotations

from oasis.core import clean, when
from oasis.tools.builtin import status_network
from oasis.tools.facts import Facts

# Sensors are looked for by number; no router has more.
ZONES = 8
_KERNEL_CHARS = 80


def system(facts: Facts) -> dict[str, object]:
    """Return the machine in a dozen values."""
    board, info = facts.ubus("system", "board"), facts.ubus("system", "info")
    release, memory = board.get("release"), info.get("memory")
    settings = (facts.sections("system", "system") or [{}])[0]
    answer: dict[str, object] = {"model": clean.name(board.get("model")), "board": clean.name(board.get("board_name"))}
    answer["kernel"] = clean.name(board.get("kernel")) or _kernel(facts)
    if isinstance(release, dict):
        answer["release"] = clean.name(release.get("description"))
        answer["target"] = clean.name(release.get("target"))
    answer["processor"] = clean.name(board.get("system"))
    answer["cores"] = facts.read_text("/proc/cpuinfo").count("processor\t")
    answer["load"] = _loads(facts)
    if isinstance(memory, dict):
        keys = ("total", "free", "available", "cached")
        answer["memory_bytes"] = {key: memory[key] for key in keys if isinstance(memory.get(key), int)}
    answer["temperatures"] = temperatures(facts)
    answer["connections"] = status_network.connections(facts)
    if isinstance(info.get("uptime"), int):
        answer["uptime_s"] = info["uptime"]
    answer["time"] = when.shown(facts.now_s())
    answer["timezone"] = str(settings.get("zonename") or settings.get("timezone") or "")
    return {key: value for key, value in answer.items() if value not in ("", [], {}, 0)}


def temperatures(facts: Facts) -> list[dict[str, object]]:
    """Return what the sensors say, in degrees Celsius."""
    found = []
    for number in range(ZONES):
        for name, value in (
            ("/sys/class/thermal/thermal_zone%d/type" % number, "/sys/class/thermal/thermal_zone%d/temp" % number),
            ("/sys/class/hwmon/hwmon%d/name" % number, "/sys/class/hwmon/hwmon%d/temp1_input" % number),
        ):
            text = facts.read_text(value).strip()
            if text.lstrip("-").isdigit():
                found.append({"sensor": clean.name(facts.read_text(name)), "celsius": round(int(text) / 1000, 1)})
    return found


def _loads(facts: Facts) -> list[float]:
    words = facts.read_text("/proc/loadavg").split()[:3]
    return [float(word) for word in words if word.replace(".", "", 1).isdigit()]


def _kernel(facts: Facts) -> str:
    words = facts.read_text("/proc/version").split()
    return clean.name(words[2], _KERNEL_CHARS) if len(words) > 2 else ""
