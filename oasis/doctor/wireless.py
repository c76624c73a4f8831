"""Checks of Wi-Fi: country, channel, security, and whether what is switched on is on the air."""

from __future__ import annotations

from oasis.core import clean
from oasis.doctor.scene import SkippedError, digits, seen
from oasis.uci.model import flag, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Found, Scene, Section

# The three channels of 2.4 GHz that do not overlap.
_APART = ("1", "6", "11")
_OPEN = ("none", "")
_BROKEN = ("wep", "wep-open", "wep-shared", "wep+open", "wep+shared")
_OLD = ("psk", "psk+tkip", "psk+aes", "psk+ccmp", "psk-mixed", "wpa", "wpa-mixed")
_WIDE_2G = ("HT40", "HT40+", "HT40-", "VHT40", "HE40", "EHT40")
# Words that stand in examples and first set-ups; whoever attacks tries these first.
_COMMON = ("12345678", "123456789", "1234567890", "password", "passwort", "qwertyui", "openwrt1", "11111111",
           "00000000", "changeme", "wireless", "internet")  # fmt: skip


def _radios(scene: Scene) -> list[Section]:
    found = scene.sections("wireless", "wifi-device")
    if not found:
        raise SkippedError("this router has no Wi-Fi")
    return [radio for radio in found if not flag(radio, "disabled", False)]


def _points(scene: Scene) -> list[Section]:
    """Return the networks that are offered: access points of radios that are on."""
    radios = [radio[".name"] for radio in _radios(scene)]
    points = [one for one in scene.sections("wireless", "wifi-iface") if one.get("mode", "ap") == "ap"]
    return [one for one in points if one.get("device") in radios and not flag(one, "disabled", False)]


def country(scene: Scene) -> Found:
    """A radio that is on does not know its country."""
    for radio in _radios(scene):
        if str(radio.get("country") or "00") == "00":
            name = str(radio[".name"])
            yield seen("wifi-no-country", name, {"radio": name}, ["%s: no country" % scene.path("wireless", radio)])
    known = {str(radio["country"]) for radio in _radios(scene) if radio.get("country")}
    if len(known) > 1:
        yield seen("wifi-countries", "", {"countries": ", ".join(sorted(known))}, sorted(known))


def channel(scene: Scene) -> Found:
    """2.4 GHz on a channel between the usual ones, or wider than its neighbours bear."""
    for radio in _radios(scene):
        if str(radio.get("band") or "") != "2g" and str(radio.get("hwmode") or "") not in ("11g", "11b"):
            continue
        name, path = str(radio[".name"]), scene.path("wireless", radio)
        number = str(radio.get("channel") or "auto")
        if number not in (*_APART, "auto", "0"):
            own = digits(number) or 0
            nearest = min(_APART, key=lambda one: abs(int(one) - own))
            values = {"radio": name, "channel": number, "better": nearest}
            yield seen("wifi-channel", name, values, ["%s.channel: %s" % (path, number)],
                       ["uci set %s.channel='%s'" % (path, nearest)])  # fmt: skip
        width = str(radio.get("htmode") or "")
        if width in _WIDE_2G and flag(radio, "noscan", False):
            values = {"radio": name, "width": width}
            yield seen("wifi-wide", name, values, ["%s: %s with noscan" % (path, width)],
                       ["uci delete %s.noscan" % path])  # fmt: skip


def security(scene: Scene) -> Found:
    """Networks that are open, or locked with what no longer holds."""
    for point in _points(scene):
        path, kind = scene.path("wireless", point), str(point.get("encryption") or "none").lower()
        values = {"ssid": clean.name(point.get("ssid")), "encryption": kind}
        evidence = ["%s.encryption: %s" % (path, kind)]
        networks = words(point.get("network"))
        is_guest = any("guest" in name or "portal" in name for name in networks)  # open on purpose, as in a café
        if kind in _OPEN and point.get("network") and not is_guest:
            yield seen("wifi-open", path, values, evidence)
        elif kind in _BROKEN:
            yield seen("wifi-broken", path, values, evidence)
        elif kind in _OLD or "tkip" in kind:
            better = ["uci set %s.encryption='psk2+ccmp'" % path] if kind.startswith("psk") else []
            yield seen("wifi-old", path, values, evidence, better)
        key = str(point.get("key") or "")
        if kind.startswith(("psk", "sae")) and key.lower() in _COMMON:
            yield seen("wifi-common-key", path, values, ["%s.key is on the list of those tried first" % path])


def on_air(scene: Scene) -> Found:
    """A radio that is switched on and not up."""
    live = scene.ubus("network.wireless", "status")
    if not live:
        raise SkippedError("netifd says nothing of Wi-Fi")
    points = scene.sections("wireless", "wifi-iface")
    used = [one.get("device") for one in points if not flag(one, "disabled", False)]
    for radio in _radios(scene):
        name = str(radio[".name"])
        state = live.get(name) if name in used else None  # netifd leaves a radio without networks off
        if isinstance(state, dict) and state.get("up") is False and not state.get("pending"):
            errors = state.get("errors")
            errors = errors if isinstance(errors, list) else []
            reasons = [str(one.get("code", "")) for one in errors if isinstance(one, dict)]
            evidence = ["%s: up is false" % name, *(reason for reason in reasons if reason)]
            evidence += [line for line in scene.log if "hostapd" in line and "failed" in line.lower()][-2:]
            yield seen("wifi-down", name, {"radio": name}, evidence)


def unbound(scene: Scene) -> Found:
    """A network on the air that leads to no interface."""
    known = scene.config("network")
    for point in _points(scene):
        missing = [name for name in words(point.get("network")) if name not in known]
        if missing:
            path = scene.path("wireless", point)
            values = {"ssid": clean.name(point.get("ssid")), "interface": ", ".join(missing)}
            yield seen("wifi-no-interface", path, values, ["%s.network: %s" % (path, ", ".join(missing))])
