"""What options name: sections that a change takes away or renames, and addresses and names outside that are new.

What is gone is looked for in every package that the router has. The catalogue's references tell which options name an
interface, a zone, a radio, a bridge and the like. What a proposal leaves behind in the packages that it touches is
refused by catalogue.py; this is for all others, and for an undo.

Of destinations only options that the catalogue marks as outward are asked. Outside is what is no address of a home
network and no local name: a switch that goes off, a port, a server at home or one that was there already is no new
destination.
"""

from __future__ import annotations

from oasis.catalogue import address_text, entries
from oasis.catalogue.check import TARGETS, plain_reference, target_names
from oasis.change.reach import sections
from oasis.core.clean import shown as plain
from oasis.system.late import late
from oasis.uci import model
from oasis.uci.model import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Callable, Difference, Images

# Sections that belong to an interface by the end of their type.
_BY_TYPE = ("wireguard_", "amneziawg_")
_MOST_TOLD = 5
_LOCAL = ("lan", "local", "home", "internal", "localdomain", "localhost", "arpa", "test", "invalid")
# Types whose words may be names of hosts; in another one a name is the router's own or that of a list.
_NAMES = ("host", "url", "hostname", "dnsserver")
# Of a pattern nobody can tell: these name hosts.
_NAMED = ("openvpn.remote", "https-dns-proxy.proxy_server", "dhcp.captive_portal_uri")
_URL = late(r"[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?(\[[0-9a-fA-F:.]+\]|[^/:?#]+)")
_SPLIT = late(r"[\s,;|=#@/]+")
_EVERYWHERE = ("0.0.0.0/0", "::/0")  # routes


def left_behind(images: Images, names: list[str], read: Callable[[str], bytes]) -> list[str]:
    """Return one sentence for all options that name what is gone, [] when none does.

    Shape: `images` {package: (before, after)}, `names` all packages of the router, `read(name)` their bytes.
    """
    gone: set[tuple[str, str]] = set()  # (kind, name) that the packages had before and have no more
    for kind, (package, _, _) in TARGETS.items():
        if package in images:
            old, new = (target_names(kind, tables(model.parse(data, package))) for data in images[package])
            gone |= {(kind, name) for name in old if name not in new}
    if "network" in images:
        # devices that a package makes; a section without a type only sets up one that the hardware has
        was, is_now = (tables(model.parse(data, "network")).values() for data in images["network"])
        made = [{str(one.get("name")) for one in side if one[".type"] == "device" and one.get("type")}
                for side in (was, is_now)]  # fmt: skip
        gone |= {("device", name) for name in made[0] - made[1]}
    if not gone:
        return []
    found = []
    for package in sorted({*names, *images} & {*entries.packages()}):
        held = tables(model.parse(images[package][1] if package in images else read(package), package))
        for section in held.values():
            kind = str(section[".type"])
            where = "%s.%s" % (package, sections.label(held, section))
            owner = next((kind[len(one) :] for one in _BY_TYPE if kind.startswith(one)), "")
            if package == "network" and ("interface", owner) in gone:
                found.append("%s (%s %s)" % (where, "interface", plain(owner)))
            for option in section:
                entry = entries.option(package, kind, option) if not option.startswith(".") else None
                ref = str(entry.get("ref", "")) if entry else ""
                for word in sections.texts(section, option) if ref else []:
                    target = plain_reference(ref, word)
                    if target in gone:
                        found.append("%s.%s (%s %s)" % (where, option, target[0], plain(target[1])))
    more = ["and %d more" % (len(found) - _MOST_TOLD)] if len(found) > _MOST_TOLD else []
    return ["leaves behind names of what is gone: " + ", ".join(found[:_MOST_TOLD] + more)] if found else []


def destinations(item: Difference) -> list[str]:
    """Return the destinations outside of one difference; see oasis.change.difference for its shape."""
    package, kind, option = str(item["package"]), str(item["type"]), str(item.get("option", ""))
    if not option or item["kind"] not in ("set", "added", "section_added"):
        return []
    entry = entries.option(package, kind, option)
    if entry is None or entry.get("mark") != "outward":
        return []
    has_names = any(word in str(entry.get("type", "")) for word in _NAMES) or package + "." + option in _NAMED
    if not has_names and any(option in names for names in entries.opens(package, kind).values()):
        return []  # addresses that are let in: nothing is sent there
    old = _outside(item.get("old"), has_names)
    return [plain(one) for one in _outside(item.get("new"), has_names) if one not in old]


def _outside(value: object, has_names: bool) -> list[str]:
    texts = [str(one) for one in value] if isinstance(value, list) else [str(value or "")]
    found: dict[str, None] = {}
    for text in texts:
        hosts = _URL.findall(text)
        words = [word.strip("[]") for word in hosts or _SPLIT.split(text) if word]
        if has_names and text.startswith("/") and not hosts:
            # dnsmasq's /NAME/SERVER: the names are questions, not servers
            words = [word for word in words if address_text.number(word)]
        for word in [text] if text in _EVERYWHERE else words:
            number = address_text.number(word)
            name, _, port = word.rpartition(":")
            host = name if name and port.isdigit() else word
            if number:
                is_cast = number[1] >> (28 if number[0] == 4 else 120) in (0xE, 0xFF)  # multicast
                is_outside = number[1] > 1 and not address_text.is_home(word) and not is_cast
            else:
                is_name = has_names and address_text.is_hostname(host) and "." in host.strip(".")
                is_outside = word in _EVERYWHERE or (
                    is_name and host.strip(".").rpartition(".")[2].lower() not in _LOCAL
                )
            if is_outside:
                found[word] = None
    return list(found)
