"""What a change turns aside or weakens at home, where nobody new gets in and nothing names a place outside.

Traffic and names that go through another device of the home network, Wi-Fi that lets in more people than its password
did, and firewall rules that do nothing. Pure: `detours(before, after)`, packages of bytes in, sentences out. Each side
gives what holds there, and what holds only afterwards is reported: a rename or an unrelated change says nothing.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.reach import sections
from oasis.core.clean import shown as plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Config, Table

PACKAGES = ("network", "dhcp", "firewall", "wireless")
_THROUGH = "devices of %s send their traffic through %s"
_ASKED = "devices of %s get the order to ask %s for names"
# DHCP's options by number and by dnsmasq's name. Sources: RFC 2132, 3442; dnsmasq --help dhcp.
_ROUTERS, _SERVERS = ("3", "option:router"), ("6", "option:dns-server")
_ROUTES = ("121", "249", "option:classless-static-route")
_EVERYWHERE = ("0.0.0.0", "0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "::/0", "::", "default")  # noqa: S104 - routes
_LOCAL = ("lan", "home", "internal", "local")
# The encryption of a Wi-Fi by how much it keeps out; open ones and WEP show in who is let in, or are refused.
_STRENGTH = {
    "psk": 1, "wpa": 1, "psk-mixed": 2, "psk+psk2": 2, "mixed-psk": 2, "wpa-mixed": 2, "psk2": 3, "wpa2": 3,
    "sae-mixed": 4, "psk2+sae": 4, "wpa3-mixed": 4, "sae": 5, "wpa3": 5, "wpa3-192": 6,
}  # fmt: skip


def detours(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """Return a sentence for what holds after a change and not before. Raises: UciError for a file that is none."""
    old, new = sections.read(before), sections.read(after)
    own = set()  # the router's own addresses
    for one in sections.typed(new.get("network", {}), "interface"):
        words = [*sections.texts(one, "ipaddr"), *sections.texts(one, "ip6addr")]
        own |= {number for word in words if (number := address_text.number(word.partition("/")[0]))}
    held = set(_all(old, own))
    return [one for one in dict.fromkeys(_all(new, own)) if one not in held] + _weakened(old, new)


def _all(config: Config, own: set[tuple[int, int]]) -> list[str]:
    """Return what holds in a configuration; `own` are the router's addresses."""
    network, firewall = config.get("network", {}), config.get("firewall", {})
    found = []
    for pool in sections.typed(config.get("dhcp", {}), "dhcp"):
        found += [] if sections.flag(pool, "ignore", False) else _given(pool, own)
    # where the router's own routes lead
    for one in sections.typed(network, "interface"):
        box = _box(sections.text(one, "gateway"), own)
        if box and sections.text(one, "proto") == "static" and sections.flag(one, "auto", True):
            found.append("traffic to the internet goes through %s (network.%s)" % (box, plain(str(one[".name"]))))
    for one in [*sections.typed(network, "route"), *sections.typed(network, "route6")]:
        box, to = _box(sections.text(one, "gateway"), own), sections.text(one, "target")
        if box and not sections.flag(one, "disabled", False):
            is_all = not to or to in _EVERYWHERE
            found.append("traffic to %s goes through %s" % ("the internet" if is_all else plain(to), box))
    # the servers that the router asks for names, and the addresses that it announces for other names
    for one in sections.typed(network, "interface"):
        boxes = [box for word in sections.texts(one, "dns") if (box := _box(word, own))]
        found += ["the router asks %s for names" % box for box in boxes]
    for one in sections.typed(config.get("dhcp", {}), "dnsmasq"):
        for option in ("server", "address"):
            for word in sections.texts(one, option):
                *names, last = word.split("/")
                name, box = "/".join(names).strip("/"), _box(last, own)
                if box and option == "server":
                    found.append("the router asks %s for names%s" % (box, " of " + plain(name) if name else ""))
                elif box and (name == "#" or ("." in name and name.rpartition(".")[2] not in _LOCAL)):
                    found.append("%s leads to %s" % ("every name" if name == "#" else plain(name), box))
    # what devices at home send elsewhere and gets to another one of them
    zones = sections.typed(firewall, "zone")
    outside = [sections.text(one, "name") for one in zones if sections.flag(one, "masq", False)]
    for one in sections.typed(firewall, "redirect"):
        box, source = _box(sections.text(one, "dest_ip"), own), sections.text(one, "src")
        is_on = sections.flag(one, "enabled", True) and sections.text(one, "target", "DNAT").upper() == "DNAT"
        if box and is_on and source and source not in outside:
            port = plain(sections.text(one, "src_dport"))
            what = "to port %s" % port if port else "anywhere"
            found.append("what devices of %s send %s goes to %s" % (plain(source), what, box))
    # rules that match and then do nothing: fw4 takes one without a target; source: firewall4, rule.uc
    for one in sections.typed(firewall, "rule"):
        if sections.flag(one, "enabled", True) and not sections.text(one, "target"):
            name = sections.label(firewall, one)
            found.append("firewall.%s has no target, so this rule lets nothing in and keeps nothing out" % name)
    return found


def _box(word: str, own: set[tuple[int, int]]) -> str:
    """Return an address of another device at home, "" for every other text."""
    word = word.strip("[]").partition("#")[0].partition("@")[0]
    number = address_text.number(word)
    return word if number and number[1] > 1 and address_text.is_home(word) and number not in own else ""


def _given(pool: Table, own: set[tuple[int, int]]) -> list[str]:
    """Return what devices get with their addresses."""
    found = []
    name = plain(sections.text(pool, "interface") or str(pool[".name"]))
    for entry in [*sections.texts(pool, "dhcp_option"), *sections.texts(pool, "dhcp_option_force")]:
        code, *words = [word for word in entry.replace(" ", "").split(",") if not word.startswith("tag:")]
        boxes = [box for word in words if (box := _box(word, own))]
        if code in _ROUTERS:
            found += [_THROUGH % (name, box) for box in boxes]
        elif code in _ROUTES:
            for to, word in zip(words[::2], words[1::2]):  # noqa: B905
                box = _box(word, own)
                if box and to in _EVERYWHERE:
                    found.append(_THROUGH % (name, box))
                elif box:
                    found.append("devices of %s send their traffic to %s through %s" % (name, plain(to), box))
        elif code in _SERVERS:
            found += [_ASKED % (name, box) for box in boxes]
    return found + [_ASKED % (name, box) for word in sections.texts(pool, "dns") if (box := _box(word, own))]


def _weakened(old: Config, new: Config) -> list[str]:
    """Return by what a Wi-Fi with a password lets in more people than before."""
    found = []
    wireless = new.get("wireless", {})
    for one in sections.typed(wireless, "wifi-iface"):
        earlier = old.get("wireless", {}).get(str(one[".name"]), {})
        now, was = _strength(one), _strength(earlier)
        if not now or sections.text(one, "mode", "ap") != "ap" or sections.flag(one, "disabled", False):
            continue
        name = "wireless.%s" % sections.label(wireless, one)
        if sections.flag(one, "wps_pushbutton", False) and not sections.flag(earlier, "wps_pushbutton", False):
            found.append("whoever presses the WPS button gets into %s without the password" % name)
        if _takes_pin(one) and not _takes_pin(earlier):
            found.append("whoever knows the WPS PIN gets into %s without the password" % name)
        if now < was:
            words = [plain(sections.text(side, "encryption")) for side in (earlier, one)]
            found.append("the encryption of %s gets weaker: %s instead of %s" % (name, words[1], words[0]))
        if sections.text(earlier, "macfilter") == "allow" and sections.text(one, "macfilter") != "allow":
            found.append("%s lets in every device with the password, not only those on its list" % name)
    return found


def _takes_pin(section: Table) -> bool:
    return sections.flag(section, "wps_label", False) or bool(sections.text(section, "wps_pin"))


def _strength(section: Table) -> float:
    """Return how much an encryption keeps out, 0 for what is open or not known; TKIP is less than CCMP."""
    name, _, cipher = sections.text(section, "encryption").partition("+")
    kind = "%s+%s" % (name, cipher)
    strength = _STRENGTH.get(kind, _STRENGTH.get(name, 0))
    return strength - (0.5 if strength and "tkip" in cipher else 0)
