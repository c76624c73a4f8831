"""What is true on this router now: configuration, leases, devices, services, the bus; and the handles of devices.

Everything comes through injected callables; nothing is cached, no file or socket is opened here. Names that other
machines chose (host names, SSIDs) leave this module cleaned.

    config(package) -> {section: {".name", ".type", ".anonymous", ".index", option: str | list}} or None
    ubus(object, method, arguments) -> dict or None; a ToolError counts as None
    read_file(path) -> bytes or None
    now_s() -> seconds since 1970, as leases count them

A handle, `dev#` and a number, names a device where its own name must not appear. It is computed from the MAC address
and the install key, so it survives a restart and reveals nothing. In a command, `dev#N.mac` and `dev#N.ip`, each as a
whole value, stand for the checked address of the device.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.errors import ToolError, UciError, UsageError
from oasis.redaction import secret_options
from oasis.system.digest import hmac_sha256
from oasis.uci.model import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.change.shapes import Operation, Record
    from oasis.change.text_origin import Texts

    Hide = Callable[[str, str, str, str, object], object]

    Device = dict[str, object]


LEASES = 512  # more than dhcp-range hands out on a home router; bounds what a full table costs
_LEASE_FILE = "/tmp/dhcp.leases"  # noqa: S108 - where dnsmasq keeps it by default


def words(value: object) -> list[str]:
    """Return a UCI option as a list, whether it was written as list, option with blanks, or not at all."""
    if isinstance(value, list):
        return [str(item) for item in value]
    return str(value).split() if value else []


class Facts:
    """The router as the tools and the offline provider see it.

    `key` makes handles of devices; `shows_names`: whether their own names may be told; `hide(package, section, type,
    option, value)` gives what is told in place of a secret.
    """

    key = b""
    shows_names = True
    tells_summaries = True  # of earlier changes, which are some model's own text
    said: Callable[[], str] = str  # the owner's own words, for whom not all is shown
    texts: Callable[[], Texts] | None = None  # whose words the texts of the configuration are; None where nobody tells

    def __init__(
        self,
        config: Callable[[str], dict[str, dict[str, object]] | None],
        ubus: Callable[[str, str, dict[str, object]], dict[str, object] | None],
        read_file: Callable[[str], bytes | None],
        now_s: Callable[[], int],
        packages: Callable[[], list[str]] | None = None,
    ) -> None:
        self._config = config
        self._ubus = ubus
        self._read_file = read_file
        self._packages = packages
        # The records of the changes made here, newest first; where there is a journal it is put here.
        self.history: Callable[[], list[Record]] = list
        # The places of the configuration that go back by themselves; see change/history/ends.py.
        self.ending: Callable[[], list[str]] = list
        self.now_s = now_s
        self.hide: Hide = _mask
        self.shown: set[str] = set()  # whose texts were shown by `text`

    def seen(self, hide: Hide, shows_names: bool) -> Facts:
        """Return the same router as one run may see it."""
        view = Facts(self._config, self._ubus, self._read_file, self.now_s, self._packages)
        view.history, view.key, view.shows_names, view.hide = self.history, self.key, shows_names, hide
        view.texts, view.said, view.ending = self.texts, self.said, self.ending
        view.tells_summaries = self.tells_summaries
        return view

    def asked(self, names: object) -> Facts:
        """Return the same router for one call, which asks for the texts of others where `names` is True."""
        return self.seen(self.hide, self.shows_names or names is True)

    def foreign(self, package: str, section: dict[str, object]) -> dict[str, str]:
        """Return {option: whose words} of a section's texts that may be somebody else's; see change/text_origin.py."""
        name = "" if section.get(".anonymous") else str(section.get(".name", ""))
        kind = str(section.get(".type", ""))
        if self.texts is not None:
            return self.texts().foreign(package, name, kind, section, self.said())
        from oasis.redaction import foreign  # an idle daemon does without

        return foreign.options(package, name, kind, section)

    def text(self, package: str, section: dict[str, object], option: str) -> object:
        """Return an option as it may be shown: HIDDEN for a text of somebody else's; `shown` tells whose were."""
        known = {key: value for key, value in section.items() if key.startswith(".") or key in (option, "mode")}
        whose = self.foreign(package, known).get(option)
        if whose and not self.shows_names:
            from oasis.redaction.foreign import HIDDEN

            return HIDDEN
        self.shown.update([whose] if whose else [])
        return section.get(option)

    def config(self, package: str) -> dict[str, dict[str, object]]:
        """Return the sections of `package` in order, {} when there is no such package."""
        try:
            sections = self._config(package) or {}
        except UciError:
            return {}
        ordered = sorted(sections.items(), key=lambda item: _index(item[1]))
        return {name: section for name, section in ordered if isinstance(section, dict)}

    def has_package(self, package: str) -> bool:
        """Tell whether `package` exists, an empty one too."""
        try:
            return self._config(package) is not None
        except UciError:
            return False

    def packages(self) -> list[str]:
        """Return the names of the UCI packages, [] when nobody knows."""
        if self._packages is not None:
            return sorted(listed(self._packages()))
        reply = self.ubus("uci", "configs", {})
        names = reply.get("configs") if reply else None
        return sorted(listed(str(name) for name in names)) if isinstance(names, list) else []

    def sections(self, package: str, kind: str) -> list[dict[str, object]]:
        """Return the sections of one type, in order."""
        return [section for section in self.config(package).values() if section.get(".type") == kind]

    def ubus(self, name: str, method: str, arguments: dict[str, object] | None = None) -> dict[str, object]:
        """Return the reply of a call, {} when it failed or said nothing."""
        try:
            reply = self._ubus(name, method, arguments or {})
        except ToolError:
            return {}
        return reply if isinstance(reply, dict) else {}

    def read_text(self, path: str) -> str:
        """Return a file as text, "" when it is not there."""
        data = self._read_file(path)
        return data.decode("utf-8", "replace") if data else ""

    def leases(self) -> list[dict[str, object]]:
        """Return the DHCP leases.

        Shape: [{"mac", "ip", "name" (cleaned, may be ""), "expires_unix_s" (0: never)}], newest last.
        """
        path = _LEASE_FILE
        for section in self.sections("dhcp", "dnsmasq"):
            path = str(section.get("leasefile") or path)
        found = [_lease(line.split(" ")) for line in self.read_text(path).split("\n")[:LEASES]]
        return [lease for lease in found if lease]

    def devices(self) -> list[dict[str, object]]:
        """Return the machines this router knows, each once, by lease, fixed address and neighbour table.

        Shape: [{"name", "mac", "ip" ("" unknown), "fixed": bool, "present": bool, "expires_unix_s"?, "is_own"?: True
        where the owner chose the name}]
        in the order of their addresses.
        """
        known: dict[str, dict[str, object]] = {}
        for lease in self.leases():
            device = known.setdefault(str(lease["mac"]), _device(lease["mac"], present=True))
            device.update(ip=lease["ip"], name=lease["name"], expires_unix_s=lease["expires_unix_s"])
        for host in self.sections("dhcp", "host"):
            self._add_host(known, host)
        self._add_neighbours(known)
        return sorted(known.values(), key=_by_address)

    def _add_host(self, known: dict[str, dict[str, object]], host: dict[str, object]) -> None:
        for mac in words(host.get("mac")):
            device = known.setdefault(mac.lower(), _device(mac.lower(), present=False))
            device["fixed"] = bool(host.get("ip"))
            if clean.name(host.get("name")):
                device["name"] = clean.name(host["name"])
                device.update({"is_own": True} if "name" not in self.foreign("dhcp", host) else {})
            device["ip"] = device["ip"] or str(host.get("ip") or "")

    def _add_neighbours(self, known: dict[str, dict[str, object]]) -> None:
        outside = self._outside_devices()
        for line in self.read_text("/proc/net/arp").split("\n")[1:LEASES]:
            fields = line.split()
            # Flags 0x0 is an entry that was asked for and never answered.
            if len(fields) < 6 or fields[2] == "0x0" or fields[5] in outside:
                continue
            device = known.setdefault(fields[3].lower(), _device(fields[3].lower(), present=True))
            device["present"] = True
            device["ip"] = device["ip"] or fields[0]

    def _outside_devices(self) -> set[str]:
        interfaces = self.config("network")
        zones = [zone for zone in self.sections("firewall", "zone") if zone.get("masq") == "1"]
        names = {name for zone in zones for name in words(zone.get("network"))}
        found = {str(interfaces.get(name, {}).get("device", "")) for name in names}
        for interface in self.interfaces():
            if interface.get("interface") in names:
                found.add(str(interface.get("l3_device", "")))
        return found

    def interfaces(self) -> list[dict[str, object]]:
        """Return the live interfaces as netifd reports them, [] when it does not answer."""
        found = self.ubus("network.interface", "dump").get("interface")
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

    def services(self) -> dict[str, dict[str, object]]:
        """Return the init scripts: {name: {"enabled"?: bool, "running"?: bool}}, {} when nobody answers."""
        found: dict[str, dict[str, object]] = {}
        for name, entry in self.ubus("rc", "list").items():
            if isinstance(entry, dict):
                found[name] = {key: entry[key] for key in ("enabled", "running") if key in entry}
        if found:
            return found
        for name, entry in self.ubus("service", "list").items():
            instances = entry.get("instances") if isinstance(entry, dict) else None
            states = instances.values() if isinstance(instances, dict) else []
            found[name] = {"running": any(isinstance(one, dict) and one.get("running") is True for one in states)}
        return found


def _mask(package: str, section: str, type: str, option: str, value: object) -> object:
    return secret_options.mask(value)


def _index(section: object) -> int:
    index = section.get(".index") if isinstance(section, dict) else None
    return index if isinstance(index, int) else 0


def _lease(fields: list[str]) -> dict[str, object]:
    if len(fields) < 4 or not fields[0].isdigit() or not is_mac(fields[1].lower()) or not is_ipv4(fields[2]):
        return {}  # dnsmasq writes `duid …` and IPv6 lines into the same file
    name = "" if fields[3] == "*" else clean.name(fields[3])
    return {"mac": fields[1].lower(), "ip": fields[2], "name": name, "expires_unix_s": int(fields[0])}


def _device(mac: object, present: bool) -> dict[str, object]:
    return {"name": "", "mac": mac, "ip": "", "fixed": False, "present": present}


def _by_address(device: dict[str, object]) -> tuple[list[int], str]:
    parts = str(device["ip"]).split(".")
    return ([int(part) if part.isdigit() else 999 for part in parts] if device["ip"] else [999], str(device["mac"]))


# Five digits are easily told apart by people and models, and two of a home's devices hardly ever share them.
_NUMBERS = 100_000
_HANDLE = r"dev#[0-9]+"
_PART = r"(dev#[0-9]+)\.(mac|ip)\Z"
_HEX = frozenset("0123456789abcdef")


def is_mac(text: object) -> bool:
    """Tell whether a text is a MAC address in small letters."""
    parts = text.split(":") if isinstance(text, str) else []
    return len(parts) == 6 and all(len(part) == 2 and _HEX.issuperset(part) for part in parts)


def is_ipv4(text: object) -> bool:
    """Tell whether a text is an IPv4 address in the usual form."""
    parts = text.split(".") if isinstance(text, str) and text.isascii() else []
    return len(parts) == 4 and all(part.isdigit() and str(int(part)) == part and int(part) < 256 for part in parts)


def handle(key: bytes, mac: str) -> str:
    """Return what the device with a MAC address is called."""
    return "dev#%d" % (int(hmac_sha256(key, ("device " + mac).encode("utf-8"))[:12], 16) % _NUMBERS)


def known_devices(facts: Facts) -> list[Device]:
    """Return the devices of the router, each with its handle as "device"."""
    return [{"device": handle(facts.key, str(one["mac"])), **one} for one in facts.devices()]


def resolve_handles(operations: list[Operation], devices: Callable[[], list[Device]]) -> list[Operation]:
    """Return the operations with addresses in the place of handles; `devices()` gives {"device", "mac", "ip", …}.

    Raises: UsageError for a handle that is none, names nothing, or stands where it cannot.
    """
    return [_resolve_one(operation, devices) for operation in operations]


def _resolve_one(operation: Operation, devices: Callable[[], list[Device]]) -> Operation:
    value = str(operation.get("value", ""))
    if "dev#" not in value:
        return operation
    import re  # with the first handle: an idle daemon does without

    if not re.search(_HANDLE, value):
        return operation
    match = re.match(_PART, value)
    if match is None:
        raise UsageError(
            "%r: a handle of a device is no value by itself" % value,
            "write its address as the whole value: dev#N.mac or dev#N.ip",
        )
    name, part = match.groups()
    known = [device for device in devices() if device["device"] == name]
    if len(known) != 1:
        raise UsageError(
            "%s means %s" % (name, "more than one device" if known else "no device that is known now"),
            "read status devices again, or write the address itself",
        )
    address = known[0][part]
    if not (is_mac(address) if part == "mac" else is_ipv4(address)):
        raise UsageError("%s has no %s that is known" % (name, part), "read status devices again")
    return {**operation, "value": address}


def with_names(text: str, devices: Callable[[], list[Device]]) -> str:
    """Return a text for the owner, in which a device's name stands before its handle."""
    if "dev#" not in text:
        return text
    import re

    # Quotes would end a text in JSON.
    names = {str(one["device"]): re.sub(r"[\"\\]", "", str(one["name"])) for one in devices() if one["name"]}
    return re.sub(
        _HANDLE,
        lambda found: "%s (%s)" % (names[found.group()], found.group()) if found.group() in names else found.group(),
        text,
    )
