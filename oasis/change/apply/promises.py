"""What a plan promises of the running router: host name, addresses, networks in the air, rules, generated lines.

Only sections that are new or differ are looked at, so that an old fault elsewhere does not undo a good change. Each
promise is a check for readback.py: (what, look), look(now) gives (seen | wrong | slow | unread, why).
Source: netifd's `network.interface dump` and `network.wireless status`, fw4's comments in its ruleset ("!fw4: NAME"),
dnsmasq.init's lines in /var/etc/dnsmasq.conf.*.
"""

from __future__ import annotations

from oasis.uci import model
from oasis.uci.tables import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.verification import Answer, Check, Now
    from oasis.change.shapes import Any, Callable, Plan

    Section = dict[str, Any]

_SEEN = ("seen", "")
# Not there at all: no waiting.
_SILENT = ("unread", "")
_GENERATED = "/var/etc"
# What `ubus call system board` tells as well, for the price of a process.
_HOST_NAME = "/proc/sys/kernel/hostname"


def checks(
    plan: Plan, before: dict[str, Any], read: Callable[[str], bytes | None], names: Callable[[str], list[str]]
) -> list[Check]:
    """Return the promises of a plan whose services are reloaded."""
    reloaded = [str(item["name"]) for item in plan["services"]]
    found: list[Check] = []
    if "system" in plan["images"] and "system" in reloaded:
        found += _host_name(_new(plan, "system", "system"), read)
    if "network" in plan["images"] and "network" in reloaded:
        found += _interfaces(_new(plan, "network", "interface"), before.get("interfaces"))
    if "wireless" in plan["images"] and "network" in reloaded:
        up = [name for name, one in (before.get("radios") or {}).items() if isinstance(one, dict) and one.get("up")]
        found += _networks(_new(plan, "wireless", "wifi-iface"), _all(plan, "wireless", "wifi-device"), up)
    if "firewall" in plan["images"] and "firewall" in reloaded:
        found += _rules(plan)
    if "dhcp" in plan["images"] and "dnsmasq" in reloaded:
        found += _generated(plan, read, names)
    return found


def _all(plan: Plan, package: str, kind: str, side: int = 1) -> list[Section]:
    """Return the sections of one type after the change (or, side 0, before it)."""
    found = tables(model.parse(plan["images"][package][side], package)).values()
    return [section for section in found if section[".type"] == kind]


def _new(plan: Plan, package: str, kind: str) -> list[Section]:
    """Return the sections that are new or altered; by content, because anonymous names move when others go."""
    old = [_options(section) for section in _all(plan, package, kind, 0)]
    return [section for section in _all(plan, package, kind) if _options(section) not in old]


def _options(section: Section) -> Section:
    name = {} if section[".anonymous"] else {".name": section[".name"]}
    return {**name, **{key: value for key, value in section.items() if not key.startswith(".")}}


def _words(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else str(value or "").split()


def _is_off(section: Section) -> bool:
    return section.get("disabled") == "1" or section.get("enabled") == "0" or section.get("auto") == "0"


def _host_name(sections: list[Section], read: Callable[[str], bytes | None]) -> list[Check]:
    wanted = str(sections[0].get("hostname", "")) if sections else ""

    def look(now: Now) -> Answer:
        shown = (read(_HOST_NAME) or b"").decode("utf-8", "replace").strip() or _board_name(now)
        if not shown:
            return "unread", "neither kernel nor bus tells the host name"
        return _SEEN if shown == wanted else ("wrong", "the host name is %r, not %r" % (shown, wanted))

    return [("host name %s" % wanted, look)] if wanted else []


def _board_name(now: Now) -> str:
    return str((now.ask("system", "board") or {}).get("hostname") or "")


def _interfaces(sections: list[Section], before: dict[str, Any] | None) -> list[Check]:
    were_up = [entry.get("interface") for entry in _dump(before) if entry.get("up")]
    return [_interface(section) for section in sections if section[".name"] in were_up and not _is_off(section)]


def _interface(section: Section) -> Check:
    name = str(section[".name"])
    is_static = section.get("proto") == "static"
    wanted = [word.partition("/")[0] for word in _words(section.get("ipaddr"))] if is_static else []

    def look(now: Now) -> Answer:
        entry = next((one for one in _dump(now.ask("network.interface", "dump")) if one.get("interface") == name), None)
        if entry is None:
            return "unread", "the bus does not tell of interface %s" % name
        held = [one.get("address") for one in entry.get("ipv4-address") or []]
        missing = [address for address in wanted if address not in held]
        if entry.get("up") and not missing:
            return _SEEN
        # An address from outside, or a line that is dialled, comes when the other side wants.
        why = "interface %s is not up" % name if not entry.get("up") else "interface %s lacks %s" % (name, missing[0])
        return ("wrong" if is_static else "slow"), why

    return " ".join(["interface", name, *wanted]), look


def _dump(reply: dict[str, Any] | None) -> list[dict[str, Any]]:
    found = (reply or {}).get("interface")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _networks(sections: list[Section], radios: list[Section], up: list[str]) -> list[Check]:
    on = [radio[".name"] for radio in radios if not _is_off(radio)]
    wanted = [one for one in sections if one.get("ssid") and not _is_off(one)]
    return [_network(section, section["device"] in up) for section in wanted if section.get("device") in on]


def _network(section: Section, was_up: bool) -> Check:
    ssid, radio = str(section["ssid"]), str(section["device"])

    def look(now: Now) -> Answer:
        status = (now.ask("network.wireless", "status") or {}).get(radio)
        if not isinstance(status, dict):
            return "unread", "the bus does not tell of %s" % radio
        if status.get("retry_setup_failed") and was_up:
            return "wrong", "the radio %s cannot be set up" % radio
        if not status.get("up"):
            # A radio that must listen for radar first takes a minute; one that was not up before may have no antenna.
            return ("slow", "the radio %s is not up yet" % radio) if was_up else _SILENT
        shown = [(one.get("config") or {}).get("ssid") for one in status.get("interfaces") or []]
        return _SEEN if ssid in shown else ("wrong", "the radio %s does not show the network %r" % (radio, ssid))

    return "network %r on %s" % (ssid, radio), look


def _rules(plan: Plan) -> list[Check]:
    found = []
    for kind in ("rule", "redirect"):
        there = [str(one["name"]) for one in _all(plan, "firewall", kind) if one.get("name") and not _is_off(one)]
        were = [str(one["name"]) for one in _all(plan, "firewall", kind, 0) if one.get("name") and not _is_off(one)]
        wanted = [str(one["name"]) for one in _new(plan, "firewall", kind) if one.get("name") in there]
        found += [_rule(kind, name, True) for name in dict.fromkeys(wanted)]
        found += [_rule(kind, name, False) for name in dict.fromkeys(were) if name not in there]
    return found


def _rule(kind: str, name: str, is_wanted: bool) -> Check:
    # fw4 writes other characters in its own way.
    is_plain = name.isascii() and name.isprintable() and '"' not in name and "\\" not in name

    def look(now: Now) -> Answer:
        rules = now.ruleset() if is_plain else None
        if rules is None:
            return _SILENT
        if ('"!fw4: %s"' % name in rules) is is_wanted:
            return _SEEN
        if is_wanted:
            return "wrong", "the firewall did not take the %s %r" % (kind, name)
        return "wrong", "the firewall still has the %s %r" % (kind, name)

    return "%s %r %s" % (kind, name, "in the firewall" if is_wanted else "out of the firewall"), look


def _generated(plan: Plan, read: Callable[[str], bytes | None], names: Callable[[str], list[str]]) -> list[Check]:
    def lines(_: Now) -> list[str] | None:
        files = [name for name in names(_GENERATED) if name.startswith("dnsmasq.conf")]
        data = b"\n".join(read(_GENERATED + "/" + name) or b"" for name in files)
        return data.decode("utf-8", "replace").lower().split("\n") if files else None

    found = []
    for section in _new(plan, "dhcp", "host"):
        macs, address = _words(section.get("mac")), str(section.get("ip", ""))
        if macs and address and address != "ignore":
            found.append(_lease(lines, [mac.lower() for mac in macs], address.lower()))
    for section in _new(plan, "dhcp", "dnsmasq"):
        found += [_server(lines, server.lower()) for server in _words(section.get("server"))]
    return found


def _lease(lines: Callable[[Now], list[str] | None], macs: list[str], address: str) -> Check:
    def look(now: Now) -> Answer:
        known = lines(now)
        if known is None:
            return _SILENT
        for line in known:
            words = line[len("dhcp-host=") :].split(",") if line.startswith("dhcp-host=") else []
            if (address in words or "[%s]" % address in words) and all(mac in words for mac in macs):
                return _SEEN
        return "wrong", "dnsmasq did not take the lease of %s" % macs[0]

    return "lease of %s" % macs[0], look


def _server(lines: Callable[[Now], list[str] | None], server: str) -> Check:
    def look(now: Now) -> Answer:
        known = lines(now)
        if known is None:
            return _SILENT
        return _SEEN if "server=" + server in known else ("wrong", "dnsmasq did not take the server %s" % server)

    return "DNS server %s" % server, look
