"""What a planned change would leave unusable, as warnings on its card and in its result: nothing is refused for it.

What the doctor finds in the configuration as it would be and not in that of now, a protocol whose package is missing,
and folders under /mnt at which nothing is mounted. The doctor looks at configuration alone here: all interfaces count
as up, with the addresses that they are given. Of what the configuration does not show there is no warning.
"""

from __future__ import annotations

from oasis.core import addresses
from oasis.core.clean import shown as plain
from oasis.doctor import firewall, home, wireless
from oasis.doctor.findings import judged
from oasis.doctor.scene import Scene
from oasis.system import files as mounts
from oasis.uci import model
from oasis.uci.model import flag, tables, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Images
    from oasis.system.files import Files
    from oasis.system.root import Root

    Section = dict[str, object]
    Tables = dict[str, dict[str, Section]]

# Not those of rounds.py, which brings in what looks at the router itself.
_CHECKS = (
    ("same-network", home.same_network), ("dhcp-pool", home.pool), ("dhcp-server", home.no_server),
    ("reservations", home.reservations), ("forwarding", firewall.forwarding), ("zones", firewall.zones),
    ("port-forwards", firewall.forwards), ("wifi-country", wireless.country), ("wifi-networks", wireless.unbound),
)  # fmt: skip
_READ = ("dhcp", "firewall", "network", "wireless")
_HANDLERS = "/lib/netifd/proto"
_BUILT_IN = ("static", "none")
# By protocol the package that has its handler, where it is called otherwise. Source: OpenWrt's Makefiles.
_PACKAGES = {
    "3g": "comgt", "batadv": "kmod-batman-adv", "bonding": "proto-bonding", "directip": "comgt-directip",
    "dslite": "ds-lite", "gretap": "gre", "grev6": "gre", "grev6tap": "gre", "l2tp": "xl2tpd", "mbim": "umbim",
    "ncm": "comgt-ncm", "ppp": "ppp", "pppoa": "ppp-mod-pppoa", "pppoe": "ppp-mod-pppoe", "pptp": "ppp-mod-pptp",
    "qmi": "uqmi", "relay": "relayd", "vti6": "vti", "vxlan6": "vxlan", "wireguard": "wireguard-tools",
}  # fmt: skip
_MOST = 5


def warnings(images: Images, root: Root, files: Files, brings_packages: bool = False) -> list[str]:
    """Return what a change of packages would leave unusable, in sentences; `brings_packages` before they are there."""
    found = []
    if any(name in images for name in _READ):
        held = {name: files.read("%s/%s" % (root.confdir, name)) or b"" for name in _READ}
        sides = [{**held, **{name: pair[side] for name, pair in images.items()}} for side in (0, 1)]
        was, becomes = ({name: tables(model.parse(data, name)) for name, data in side.items()} for side in sides)
        known = {one["id"] for one in _findings(was)}
        for one in _findings(becomes):
            if one["id"] not in known and one["severity"] != "info":
                found.append("%s. %s" % (one["title"], one["advice"]) if one.get("advice") else one["title"])
        found += [] if brings_packages else _protocols(was["network"], becomes["network"], root, files)
    found += _folders(images, root, files)
    more = ["%d more of this kind" % (len(found) - _MOST)] if len(found) > _MOST else []
    return ["warning: %s" % one for one in [*found[:_MOST], *more]]


def _findings(held: Tables) -> list[dict[str, str]]:
    scene = Scene(_Configured(held), lambda _: [], None, bool)  # type: ignore[arg-type]  # these checks ask no more
    return judged(scene, _CHECKS)[0]


class _Configured:
    """A router of which there is only a configuration."""

    def __init__(self, held: Tables) -> None:
        self._held = held

    def config(self, package: str) -> dict[str, Section]:
        return self._held.get(package, {})

    def interfaces(self) -> list[dict[str, object]]:
        """Return the interfaces as if all were up, with the addresses that they are given."""
        found: list[dict[str, object]] = []
        for name, section in self.config("network").items():
            if section[".type"] != "interface" or flag(section, "disabled", False):
                continue
            entry: dict[str, object] = {"interface": name, "proto": section.get("proto", "none"), "up": True}
            given = words(section.get("ipaddr")) if section.get("proto") == "static" else []
            mask = addresses.number4(str(section.get("netmask") or ""))
            bits = 32 if mask is None else bin(mask).count("1")
            pairs = [one.partition("/") for one in given]
            entry["ipv4-address"] = [
                {"address": host, "mask": int(length) if length.isdecimal() else bits} for host, _, length in pairs
            ]
            entry["device"] = entry["l3_device"] = section.get("device") or name
            found.append(entry)
        return found

    def ubus(self, *_: object) -> dict[str, object]:
        return {}

    def read_text(self, _: str) -> str:
        return ""

    def leases(self) -> list[dict[str, object]]:
        return []


def _protocols(was: dict[str, Section], becomes: dict[str, Section], root: Root, files: Files) -> list[str]:
    """Return the interfaces that get a protocol which netifd has no handler for."""
    handlers = files.names(root.path(_HANDLERS))
    found = []
    for name, section in becomes.items():
        proto = str(section.get("proto") or "none")
        is_new = section[".type"] == "interface" and proto != str(was.get(name, {}).get("proto") or "none")
        if not is_new or not handlers or proto in _BUILT_IN or proto in [one.partition(".")[0] for one in handlers]:
            continue
        texts = [files.read(root.path("%s/%s" % (_HANDLERS, one))) or b"" for one in handlers]
        if not any(proto in line.split()[1:] for text in texts for line in _added(text)):
            package = _PACKAGES.get(proto, proto)
            told = "%s stays down: the protocol %s needs the package %s, which is not installed"
            found.append(told % (plain(name), plain(proto), plain(package)))
    return found


def _added(text: bytes) -> list[str]:
    return [line for line in text.decode("utf-8", "replace").split("\n") if "add_protocol" in line]


def _folders(images: Images, root: Root, files: Files) -> list[str]:
    """Return the folders under /mnt that are newly named and are on no drive."""
    named: list[set[str]] = []
    for side in (0, 1):
        sections = [one for name, pair in images.items() if name != "fstab"
                    for one in tables(model.parse(pair[side], name)).values()]  # fmt: skip
        named.append({word.rstrip("/") for one in sections for option in one if not option.startswith(".")
                      for word in words(one[option]) if word.startswith("/mnt/")})  # fmt: skip
    new = sorted(named[1] - named[0])
    listed = files.read(root.path(mounts.LIST)) if new else None
    if not listed:
        return []
    fstab = tables(model.parse(images["fstab"][1], "fstab")).values() if "fstab" in images else ()
    coming = [str(one.get("target", "")) for one in fstab if flag(one, "enabled", True)]
    fields = [line.split(" ") for line in listed.decode("utf-8", "replace").split("\n")]
    places = [*coming, *(line[1] for line in fields if len(line) > 1)]
    places = [one.rstrip("/") for one in places if one.startswith("/mnt")]
    return [
        "nothing is mounted at %s now: what is put there takes the router's own flash" % plain(one)
        for one in new
        if not any(one == place or one.startswith(place + "/") for place in places)
    ]
