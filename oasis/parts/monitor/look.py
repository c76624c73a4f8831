"""The part `monitor`: its method and its tool `look`, each of whose subjects is a function of a module here.

    traffic, radios, ports, rules, services, topology    read what is there and change nothing
    speed                                                 talks to one host, which the owner named; see speed.py

A subject gets a Scene: the router as whoever asks may see it, programs, files of the kernel, and a way to wait. An
answer says where it comes from, and what that source leaves out. It is bounded by whole entries, with a count of what
is left out. Names that devices chose are there only where facts shows them, cleaned; "untrusted" says whose they are.
"""

from __future__ import annotations

import io
import time

from oasis.core import jsonl
from oasis.errors import OasisError, PolicyError, UsageError
from oasis.redaction.foreign import DEVICES
from oasis.tools.router import Router, Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.agent.runs import Run
    from oasis.api.parts import Services
    from oasis.parts.monitor.shapes import Device
    from oasis.tools.operator import Operator
    from oasis.tools.router import Facts
    from oasis.tools.shapes import Arguments, Result

WHATS = ("traffic", "radios", "ports", "rules", "services", "topology")
SPEED = "speed"
# Of a file or an answer that is read: the table of connections may have more, and memory is short.
FILE_BYTES = 2 << 20
# The kernel's lines have some 300.
_LINE_BYTES = 4096
# Of a program's answer: nft lists a thousand rules in that time on a slow router.
_PROGRAM_S = 10.0


class Scene:
    """One look at the router: `facts`, and what facts do not have."""

    def __init__(self, kit: Services, facts: Facts, wait: Callable[[float], object] = time.sleep) -> None:
        self.facts = facts
        self.wait = wait
        self._kit = kit
        self._devices: list[Device] | None = None
        self.is_foreign = False  # whether a name that a device chose is in the answer

    def now_s(self) -> float:
        """Return a time that only grows."""
        return self._kit.clock.now_s()

    def has(self, program: str) -> bool:
        """Tell whether the router has a program; what this host has is not in a folder."""
        path = self._kit.root.program(program)
        return bool(path) and path.startswith(self._kit.root.folder)

    def run(self, words: list[str]) -> str:
        """Return what a program prints, "" where the router has none or it fails."""
        root = self._kit.root
        if not self.has(words[0]):
            return ""
        try:
            router = Router(root, self._kit.executor.run, self._kit.files)
            status, out, _ = router.run(words, Watch(str, bool, self._kit.clock.now_s, _PROGRAM_S))
        except OasisError:
            return ""
        return "" if status else out

    def read(self, path: str) -> bytes:
        """Return the first FILE_BYTES of a file, b"" where there is none."""
        data = b""
        try:
            handle = self._kit.files.reader(self._kit.root.path(path))
            with handle or io.BytesIO() as file:
                while len(data) < FILE_BYTES and (piece := file.read(1 << 16)):
                    data += piece
        except (OSError, OasisError):
            return b""
        return data[:FILE_BYTES]

    def lines(self, path: str) -> list[str]:
        """Return the first lines of a file, without those that are longer than the kernel writes any."""
        found: list[bytes] = []
        left, is_long = 4 * FILE_BYTES, False
        try:
            handle = self._kit.files.reader(self._kit.root.path(path))
            with handle or io.BytesIO() as file:
                while left > 0 and (line := file.readline(_LINE_BYTES)):
                    is_whole, left = line.endswith(b"\n") or len(line) < _LINE_BYTES, left - len(line)
                    if is_whole and not is_long:
                        found.append(line)
                    is_long = not is_whole
        except (OSError, OasisError):
            return []
        return [line.decode("utf-8", "replace") for line in found]

    def json(self, text: str | bytes) -> Result:
        """Return the object of a JSON text, {} for anything else."""
        try:
            found = jsonl.loads(text, FILE_BYTES) if text else None
        except OasisError:
            found = None
        return found if isinstance(found, dict) else {}

    def devices(self) -> list[Device]:
        """Return the machines that the router knows: {"device", "mac", "ip", "name"?} with names that may be shown."""
        from oasis.tools.router import known_devices

        if self._devices is None:
            self._devices = []
            for one in known_devices(self.facts):
                shown: Device = {"device": str(one["device"]), "mac": str(one["mac"]), "ip": str(one["ip"])}
                if one["name"] and (one.get("is_own") or self.facts.shows_names):
                    shown["name"] = str(one["name"])
                    shown["is_own"] = bool(one.get("is_own"))
                self._devices.append(shown)
        return self._devices

    def named(self, one: Device) -> dict[str, object]:
        """Return a device as an answer shows it; its address as well."""
        shown: dict[str, object] = {key: one[key] for key in ("device", "name", "ip") if one.get(key)}
        self.is_foreign = self.is_foreign or ("name" in shown and not one.get("is_own"))
        return shown


def is_about(target: str, *names: object) -> bool:
    """Tell whether an entry is what was asked for: all are, without a target."""
    return not target or target.casefold() in [str(name).casefold() for name in names if name]


class Monitor:
    """Answers the method and the tool; `wait` is there for tests."""

    wait: Callable[[float], object] = staticmethod(time.sleep)

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self.source = self

    def monitor_look(self, *, what: str, target: str = "") -> Result:
        """Return one subject. Raises: UsageError for an unknown one, and for what is not there."""
        return self.look(what, target, self._kit.facts)

    def look(self, what: str, target: str, facts: Facts) -> Result:
        """Return one subject as somebody may see it. Raises: as monitor_look."""
        if what not in WHATS:
            hint = "one of " + ", ".join(WHATS) + "; speed needs an ADDRESS"
            raise UsageError(f"look knows no {what!r}", hint if what != SPEED else "oasis look speed ADDRESS")
        module = __import__(f"oasis.parts.monitor.{_MODULES.get(what, what)}", fromlist=(what,))
        scene = Scene(self._kit, facts.asked(None), self.wait)
        answer: Result = {"what": what, **getattr(module, what)(scene, target)}
        untrusted = {*([DEVICES] if scene.is_foreign else []), *scene.facts.shown}
        return {**answer, "untrusted": sorted(untrusted)} if untrusted else answer

    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result:
        """Answer the tool; a speed test only against what the owner named."""
        what, target = str(arguments["what"]), str(arguments.get("target") or "").strip()
        if what != SPEED:
            return self.look(what, target, operator.facts)
        from oasis.parts.monitor import speed

        if not target or not operator.is_own(target):
            raise PolicyError("a speed test needs an address that the owner named", "ask them which host they want")
        return speed.measured(self._kit, target, watch.is_cancelled)

    def monitor_speed(self, *, target: str) -> dict[str, str]:
        """Start a run that measures. Shape: {"run", "chat"}."""
        from oasis.parts.monitor import speed

        speed.checked(target)

        def work(run: Run) -> tuple[str, str]:
            found = speed.measured(self._kit, target, run.is_cancelled)
            run.emit("tool_result", tool_use_id="", name="look", text=jsonl.dumps(found), is_error=False)
            run.emit("note", text="\n".join(speed.words(found)))
            return ("cancelled" if run.is_cancelled() else "done"), "end_turn"

        run = self._kit.runs.start("", work)
        return {"run": run.id, "chat": run.chat}


_MODULES = {"radios": "links", "ports": "links", "rules": "firewall_rules", "services": "optional_services"}
gather = Monitor
