"""Checks of cables, ports and interfaces: is there a link, and did the interface come up?

A check is a generator over what it saw (scene.seen); it raises SkippedError when it cannot say anything.
"""

from __future__ import annotations

from oasis.doctor.scene import SkippedError, digits, seen, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Entry, Found, Scene, Section, Sight

# netifd's own words in `errors`, and those of the protocol handlers that ship with OpenWrt.
_LOGIN = ("AUTH_FAILED", "AUTH_TOPEER_FAILED", "AUTHENTICATION_FAILED")
# Messages of pppd in the log that tell of a refused login.
_LOGIN_LOG = ("CHAP authentication failed", "PAP authentication failed", "AUTH failed")
_NO_LEASE_LOG = ("no lease, failing", "Sending discover", "broadcasting discover")
_NO_SESSION_LOG = "Timeout waiting for PADO"
# A plug that is pulled once or twice is somebody at work; more often in what the log holds, the cable is bad.
_FLAPS = 6
_FLAP_LOG = ("Link is Down", "link is down", "carrier lost", "link down")
_SLOW_MBIT = 100
_LINES = 3


def carrier(scene: Scene) -> Found:
    """The port to the internet has no link."""
    for entry in scene.outside():
        if not entry.get("device"):
            continue
        device = scene.device(entry.get("device"))
        is_off = entry.get("autostart") is False  # reported by the check of the connection
        if device.get("carrier") is False and device.get("type") != "bridge" and not is_off:
            values = {"interface": entry["interface"], "device": entry["device"]}
            yield seen("wan-no-carrier", str(entry["interface"]), values, ["%(device)s: carrier is off" % values])


def duplex(scene: Scene) -> Found:
    """A port works at half duplex, or at 10 or 100 Mbit/s although it and its partner can do more."""
    for name, device in sorted(scene.ubus("network.device", "status").items()):
        if not isinstance(device, dict) or not device.get("carrier"):
            continue
        speed = str(device.get("speed", ""))
        evidence = ["%s: %s" % (name, speed)]
        if speed.endswith("H"):
            yield seen("half-duplex", name, {"device": name, "speed": speed[:-1]}, evidence)
        elif 0 < (digits(speed[:-1]) or 0) <= _SLOW_MBIT and _can_more(device):
            yield seen("slow-link", name, {"device": name, "speed": speed[:-1]}, evidence)


def _can_more(device: Entry) -> bool:
    """Tell whether both ends say that they could do a gigabit: then the cable is what cannot."""
    return all(
        any(mode.startswith(("1000", "2500", "5000", "10000")) for mode in words(device.get(end)))
        for end in ("link-supported", "link-partner-advertising")
    )


def flapping(scene: Scene) -> Found:
    """The link of a port comes and goes."""
    counts: dict[str, list[str]] = {}
    known = scene.ubus("network.device", "status")
    for line in scene.log():
        if any(sign in line for sign in _FLAP_LOG):
            name = next((one for one in line.replace(":", " ").split() if one in known), "")
            counts.setdefault(name, []).append(line)
    for name, lines in sorted(counts.items()):
        if name and len(lines) >= _FLAPS:
            yield seen("link-flaps", name, {"device": name, "times": len(lines)}, lines[-_LINES:])


def down(scene: Scene) -> Found:
    """The interface to the internet is configured and not up."""
    if not scene.is_router():
        raise SkippedError("no interface leads out: this is an access point or a switch")
    entries = scene.outside()
    for entry in entries:
        is_plugged = scene.device(entry.get("device")).get("carrier") is not False
        if not entry.get("up") and (is_plugged or entry.get("autostart") is False):
            yield _why_down(scene, entry)
    if not entries:
        names = ", ".join(scene.outside_names())
        yield seen("wan-missing", "", {"names": names}, ["netifd lists no %s" % names])


def _why_down(scene: Scene, entry: Entry) -> Sight:
    name = str(entry["interface"])
    section: Section = scene.config("network").get(name, {})
    codes = [str(one.get("code", "")) for one in entry.get("errors", []) if isinstance(one, dict)]
    values = {"interface": name, "proto": entry.get("proto", ""), "device": entry.get("device", "")}
    evidence = ["interface %s: up is false" % name, *("netifd says %s" % code for code in codes)]
    path = "network." + name
    if entry.get("autostart") is False or str(section.get("auto", "1")) == "0":
        switch = ["uci delete %s.auto" % path] if section.get("auto") else []
        return seen("wan-off", name, values, evidence, switch)
    if "NO_DEVICE" in codes or entry.get("available") is False:
        return seen("wan-no-device", name, values, evidence)
    logged = _logged(scene, name, _LOGIN_LOG)
    if any(code in _LOGIN for code in codes) or (str(entry.get("proto")).startswith("ppp") and logged):
        return seen("wan-login", name, values, evidence + logged)
    if entry.get("proto") == "pppoe" and _logged(scene, name, (_NO_SESSION_LOG,)):
        return seen("wan-no-session", name, values, evidence + _logged(scene, name, (_NO_SESSION_LOG,)))
    if entry.get("proto") == "dhcp":
        return seen("wan-no-lease", name, values, evidence + _logged(scene, name, _NO_LEASE_LOG))
    return seen("wan-down", name, values, evidence)


def _logged(scene: Scene, name: str, signs: tuple[str, ...]) -> list[str]:
    lines = [line for line in scene.log() if any(sign in line for sign in signs)]
    about = [line for line in lines if name in words(line.replace(":", " ").replace("(", " ").replace(")", " "))]
    return (about or lines)[-_LINES:]
