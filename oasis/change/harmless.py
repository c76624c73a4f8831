"""What a change takes from others, and what it puts to use of theirs.

Proof that it takes nothing from anybody (CHECKS): what policy.json asks of the places that may be of low risk. Each
check gets one difference, all differences of its section, and the router as it is; it returns why the change is
not harmless, "" when it is. What cannot be shown is not harmless: a change that alters or removes something may take
away what somebody relies on, so a check knows what is new or bounded and refuses all else. Reads files, writes nothing.

What a section holds already was set by somebody else; where a change gives a secret a way out, or starts code, the
owner is asked under every setting (put_to_use). Shape of switches (policy.json):
    on, off      names of options that turn their section on, by a word for yes and by one for no
    of_section   options that do it by a word for yes in one type only: package.type.option
    of_package   package.type or package.section that turns on what runs code in other sections of the package
    no_code      options that are marked exec and yet start no code with their section: package.type.option, or with
                 =value behind it where only that value is known to be none
"""

from __future__ import annotations

import functools
import re

from oasis.catalogue import address_text, check, entries, validators
from oasis.change import difference
from oasis.change.difference import Pairing
from oasis.errors import StoreError, UciError
from oasis.redaction import secret_options
from oasis.system.digest import sha256
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.catalogue.bounds import Bounds
    from oasis.change.shapes import Callable, Difference, Images, Mapping, PlaceRule, PolicyRules, SectionRule, Value
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.uci.model import Package, Section

    Switches = dict[str, list[str]]
    Check = Callable[[Difference, list[Difference], "Router", PlaceRule], str]

_LEASES = "/tmp/dhcp.leases"  # noqa: S108 - where dnsmasq keeps them by default
_NEIGHBOURS = "/proc/net/arp"
# Longer names, or with more words, are sentences: whoever reads the configuration next reads them, a model too.
_NAME_CHARS, _NAME_HYPHENS = 32, 3
# Files outside /etc/config where an address or a name may stand that a rule or another device relies on.
_TEXTS = ("/etc/hosts", "/etc/ethers", "/etc/dnsmasq.conf", "/etc/firewall.user")
_FOLDERS = ("/etc/nftables.d", "/etc/dnsmasq.d")
_ANSWERED = "/tmp/hosts"  # noqa: S108 - where dnsmasq finds the names of DHCPv6
# The sections of dhcp whose values are names that dnsmasq answers for.
_NAMING = ("host", "domain", "cname", "hostrecord", "srvhost", "mxhost")
_RANGE = re.compile(r"(?<![0-9.])([0-9]+(?:\.[0-9]+){3})(?:/([0-9]+(?:\.[0-9]+){3}|[0-9]+)|-([0-9]+(?:\.[0-9]+){3}))?")
_PARTS = re.compile(r"[\s:/#@,]+")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z")
_DURATION = re.compile(r"([1-9][0-9]{0,6})([smhdw]?)\Z")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_ALL = 0xFFFFFFFF


class Router:
    """What the checks look at: the configuration before and after the change, leases, neighbours.

    `read` holds the files of /etc/config that were looked at, as they were: a plan is bound to them.
    """

    def __init__(self, root: Root, files: Files, images: Images) -> None:
        self._root, self._files, self._images = root, files, images
        self.bounds = entries.bounds(root, files)
        self._packages: dict[str, Package] = {}
        self.read: dict[str, str] = {}

    def package(self, name: str) -> Package:
        """Return a package as the router has it now; an empty one where it has none."""
        if name not in self._packages:
            data = self._bytes(self._root.confdir + "/" + name)
            if data is not None:
                self.read[name] = sha256(data)
            try:
                self._packages[name] = model.parse(data or b"", name)
            except UciError:
                self._packages[name] = model.parse(b"", name)
        return self._packages[name]

    def after(self, name: str) -> Package:
        """Return a package as the change makes it."""
        return model.parse(self._images[name][1], name) if name in self._images else self.package(name)

    def options(self, package: str, kind: str, name: str = "") -> list[dict[str, Value]]:
        """Return the options of the sections of a type, or of the one with a name."""
        sections = self.package(package).sections
        return [dict(one.options) for one in sections if one.type == kind and name in ("", one.name)]

    @functools.cached_property
    def hosts(self) -> list[tuple[str, Section]]:
        """The reservations as the change makes them, by what differences call them."""
        package = self.after("dhcp")
        names = difference.labels(package)
        return [(names[id(one)], one) for one in package.sections if one.type == "host"]

    @functools.cached_property
    def leases(self) -> list[tuple[str, str, str]]:
        """(MAC, address, name) of every lease, and of every device that answered at an address."""
        paths = [one.get("leasefile") for one in self.options("dhcp", "dnsmasq")]
        found = []
        for path in {str(path) for path in paths if path} | {_LEASES}:
            lines = [line.split() for line in self.text(path).split("\n")]
            found += [(line[1].lower(), line[2], line[3].lower()) for line in lines if len(line) > 3]
        for line in [line.split() for line in self.text(_NEIGHBOURS).split("\n")[1:]]:
            if len(line) > 3 and line[2] != "0x0":
                found.append((line[3].lower(), line[0], ""))
        return found

    @functools.cached_property
    def named(self) -> tuple[list[tuple[int, int]], set[str]]:
        """The ranges of IPv4 addresses and the words that stand anywhere in the configuration."""
        values = [self.text(path) for path in _TEXTS] + [text for path in _FOLDERS for text in self.texts(path)]
        words = {word for value in values for word in _PARTS.split(value.lower())}
        for package in self._files.names(self._root.confdir):
            for section in self.package(package).sections:
                for value in section.options.values():
                    known = value if isinstance(value, list) else [value]
                    values += known
                    for one in map(str.lower, known):
                        # The parts of a value such as nas:514 or /nas/192.168.1.9; a sentence has none.
                        words.update([one] if " " in one else [one, *_PARTS.split(one)])
        return [one for value in values for one in _ranges(value)], words

    def names(self) -> set[str]:
        """Return the names that dnsmasq answers for, but for those of leases."""
        found = {str(one.get(key, "")) for one in self.options("dhcp", "dnsmasq") for key in ("domain", "local")}
        for kind in _NAMING:
            for options in self.options("dhcp", kind):
                for value in options.values():
                    found.update(_values(value))
        found.update(word for path in _TEXTS[:2] for word in self.text(path).split())
        found.update(word for text in self.texts(_ANSWERED) for word in text.split())
        return {part for name in found for part in (name.strip("/").lower(), name.lower().partition(".")[0])}

    def text(self, path: str) -> str:
        """Return a text of the router, "" where there is none."""
        return (self._bytes(self._root.path(path)) or b"").decode("utf-8", "replace")

    def texts(self, folder: str) -> list[str]:
        """Return the texts in a folder of the router."""
        return [self.text("%s/%s" % (folder, name)) for name in self._files.names(self._root.path(folder))]

    def _bytes(self, path: str) -> bytes | None:
        try:
            return self._files.read(path)
        except StoreError:
            return None


def _values(value: Value) -> list[str]:
    return (" ".join(value) if isinstance(value, list) else value).lower().split()


def _ranges(text: str) -> list[tuple[int, int]]:
    """Return the first and the last address of each address, network or range in a text."""
    found = []
    for match in _RANGE.finditer(text):
        first, mask, last = (part or "" for part in match.groups())
        low = address_text.number(first)
        if low is None:
            continue
        start, end = low[1], low[1]
        if mask:
            if mask.isdigit() and int(mask) <= 32:
                size = _ALL >> int(mask)
            else:
                value = address_text.number(mask) if address_text.is_netmask(mask) else None
                size = ~value[1] & _ALL if value is not None else 0
            start, end = low[1] & ~size & _ALL, low[1] | size
            found.append((low[1], low[1]))  # 192.168.1.1/24 names a network, and an address in it
        elif last:
            high = address_text.number(last)
            end = high[1] if high is not None else _ALL
        found.append((start, end))
    return found


# Checks: by their names in policy.json.


def label(item: Difference, mine: list[Difference], router: Router, row: PlaceRule) -> str:
    """Check the router's new name: one plain label that nobody else has."""
    name = item.get("new")
    if not isinstance(name, str) or not _is_label(name):
        return "the router's name is not one plain word"
    taken = router.names() | {one[2] for one in router.leases} | set(row["refused"])
    others = {str(one.options.get("name", "")).lower() for _, one in router.hosts}
    return "the name %s is used for something else" % name if name.lower() in taken | others else ""


def reservation(item: Difference, mine: list[Difference], router: Router, row: PlaceRule) -> str:
    """Check a fixed address: a new section that gives a device a free address of the LAN and a new plain name."""
    if any(one["kind"] not in ("section_added", "added") for one in mine) or mine[0]["kind"] != "section_added":
        return "a fixed address that is there is changed or removed"
    if item["kind"] != "section_added":
        return ""  # judged once, with its section
    values = {str(one["option"]): one["new"] for one in mine[1:]}
    if set(values) - {"name", "mac", "ip"} or not all(isinstance(value, str) for value in values.values()):
        return "it sets more than a name for a device and its address"
    mac, ip, name = (str(values.get(key, "")) for key in ("mac", "ip", "name"))
    if len(router.hosts) - len(router.options("dhcp", "host")) > row["most"]:
        return "it fixes the addresses of many devices at once"
    others = [one for label_, one in router.hosts if label_ != item["section"]]
    return _fault_of_mac(mac, others, router) or _fault_of_ip(ip, mac, others, router) or (
        _fault_of_name(name, mac, others, router, row) if name else ""
    )  # fmt: skip


def _fault_of_mac(mac: str, others: list[Section], router: Router) -> str:
    # A MAC with the group bit set is no device's, nor is the one of zeros (IEEE 802, section 8.2).
    if not address_text.is_mac(mac) or int(mac[:2], 16) & 1 or not mac.strip("0:"):
        return "a fixed address is for one device, named by its MAC address"
    own = mac.lower().split(":")
    if any([part.zfill(2) for part in word.split(":")] == own for word in router.text("/etc/ethers").lower().split()):
        return "/etc/ethers fixes the address of this device"
    for other in others:
        for value in _values(other.options.get("mac", "")):
            parts = value.split(":")
            if len(parts) != 6 or all(a == "*" or a.zfill(2) == b for a, b in zip(parts, own)):  # noqa: B905
                return "another fixed address may be this device's"
    return ""


def _fault_of_ip(ip: str, mac: str, others: list[Section], router: Router) -> str:
    if not ip:
        return "no address is given"
    value = address_text.number(ip) if address_text.is_ip4(ip) else None
    lan = _lan(router)
    if value is None or lan is None or not lan[0] < value[1] < lan[1]:
        return "%s is no address of the LAN" % ip[:40]
    ranges = [one for one in router.named[0] if not (one[0] <= lan[0] and lan[1] <= one[1])]
    moved = {address_text.number(one[1]) for one in router.leases if one[0] == mac.lower()}
    if any(one is not None and one != value and _is_in(one[1], ranges) for one in moved):
        return "the configuration names the address that the device has now"
    if _is_in(value[1], ranges) or ip in [other.options.get("ip") for other in others]:
        return "the address %s stands in the configuration already" % ip
    if any(one[1] == ip and one[0] != mac.lower() for one in router.leases):
        return "another device has the address %s" % ip
    # fixed addresses must not take more than half of what devices without one are given
    for pool in router.options("dhcp", "dhcp", "lan"):
        numbers = [str(pool.get(key, usual)) for key, usual in (("start", "100"), ("limit", "150"))]
        if not all(address_text.is_number(one) for one in numbers):
            return "the range of the LAN's addresses is not known"
        start, limit = lan[0] + int(numbers[0]), int(numbers[1])
        fixed = [address_text.number(str(one.options.get("ip", ""))) for one in others]
        count = sum(1 for one in [*fixed, value] if one is not None and start <= one[1] < start + limit)
        if start <= value[1] < start + limit and 2 * count > limit:
            return "few addresses would be left for other devices"
    return ""


def _is_in(value: int, ranges: list[tuple[int, int]]) -> bool:
    return any(low <= value <= high for low, high in ranges)


def _lan(router: Router) -> tuple[int, int] | None:
    """Return the first and the last address of the LAN, None when it has no fixed one."""
    for options in router.options("network", "interface", "lan"):
        text = " ".join(_values(options.get("ipaddr", "")))
        found = _ranges(text if "/" in text else "%s/%s" % (text, options.get("netmask", "")))
        if options.get("proto") == "static" and len(found) == 2 and found[1][1] - found[1][0] > 2:
            return found[1]
    return None


def _fault_of_name(name: str, mac: str, others: list[Section], router: Router, row: PlaceRule) -> str:
    if not _is_label(name):
        return "the device's name is not one plain word"
    leases = router.leases
    taken = router.names() - {one[2] for one in leases if one[0] == mac.lower()} | router.named[1]
    taken |= {one[2] for one in leases if one[0] != mac.lower()}
    own = [one.options.get("hostname", "") for one in router.after("system").sections if one.type == "system"]
    given = [other.options.get("name", "") for other in others]
    taken |= set(row["refused"]) | {str(one).lower() for one in [*own, *given]}
    return "the name %s is used for something else" % name if name.lower() in taken else ""


def _is_label(name: str) -> bool:
    """Tell whether a name is one plain word: no number, no top-level domain, no sentence in hyphens."""
    is_short = len(name) <= _NAME_CHARS and name.count("-") <= _NAME_HYPHENS
    # Two letters are a country's domain, and dnsmasq would answer for all of it.
    return _LABEL.match(name) is not None and not name.isdigit() and len(name) != 2 and is_short


def among(item: Difference, mine: list[Difference], router: Router, row: PlaceRule) -> str:
    """Check that an option gets one of the values of the row."""
    return "" if item.get("new") in row["values"] else str(row["reason"])


def between(item: Difference, mine: list[Difference], router: Router, row: PlaceRule) -> str:
    """Check that an option gets a time within the bounds of the row, in seconds."""
    match = _DURATION.match(str(item.get("new", "")))
    if match is None:
        return str(row["reason"])
    seconds = int(match[1]) * _SECONDS[match[2]]
    return "" if row["low_s"] <= seconds <= row["high_s"] else str(row["reason"])


CHECKS: dict[str, Check] = {"label": label, "reservation": reservation, "among": among, "between": between}


# What is put to use


def put_to_use(
    after: Package, differences: list[Difference], switches: Switches, bounds: Bounds | None = None
) -> list[str]:
    """Return a sentence for each secret or code that a package holds and that a change of it puts to use.

    What is within its `bounds` is no code.
    """
    sections = dict(zip(difference.labels(after).values(), after.sections, strict=True))
    found: dict[str, None] = {}
    sent: dict[str, dict[str, None]] = {}
    for item in differences:
        section, option = sections.get(str(item["section"])), str(item.get("option", ""))
        is_gone = item["kind"] == "removed" and item.get("of_whole")
        if section is None or section.type != item["type"] or not option or is_gone:
            continue
        where = "%s.%s" % (after.name, item["section"])
        hold = [name for name in section.options if secret_options.is_secret(after.name, section.type, name)]
        # Either may come first: an address where a secret is, or a secret where an address waits for it.
        if option in hold:
            ways = [name for name in section.options if check.mark(after.name, section.type, name) == "outward"]
        else:
            ways = [option] if hold and check.mark(after.name, section.type, option) == "outward" else []
        if ways:
            sent.setdefault(where, {}).update(dict.fromkeys(ways))
        degrees = []  # 1 for yes, -1 for no, 0 for what leaves it to the program
        for value in (item.get("old"), item.get("new")):
            meaning = validators.truth(" ".join(value) if isinstance(value, list) else value)  # as a shell reads a list
            degrees.append(0 if meaning is None else 1 if meaning else -1)
        more = degrees[1] - degrees[0]
        place = "%s.%s.%s" % (item["package"], item["type"], option)
        is_on = more > 0 and (option in switches["on"] or place in switches["of_section"])
        if option in switches["off"]:  # the section is turned on by taking away what turned it off
            is_on = more < 0
        if is_on:
            new = [one.get("option") for one in differences if one["section"] == item["section"] and "new" in one]
            code = [name for name in _code(after, section, switches, bounds) if name not in new]
            if code:
                found["%s: this starts code that was set there before (%s)" % (where, ", ".join(code))] = None
    ways_out = ["%s holds a secret and says where it may be sent (%s)" % (one, ", ".join(sent[one])) for one in sent]
    return [*ways_out, *found]


def _code(package: Package, section: Section, switches: Switches, bounds: Bounds | None) -> list[str]:
    """Return what runs code with a section: options of it, or the other sections that it turns on."""
    found = []
    for option, value in section.options.items():
        place = "%s.%s.%s" % (package.name, section.type, option)
        if bounds and bounds.allows(entries.option(package.name, section.type, option), value):
            continue
        if place in switches["no_code"] or "%s=%s" % (place, value) in switches["no_code"]:
            continue
        # A word for no is no program and no file.
        if check.mark(package.name, section.type, option) == "exec" and validators.truth(value) is not False:
            found.append(option)
    if {"%s.%s" % (package.name, name) for name in (section.type, section.name)} & set(switches["of_package"]):
        names = difference.labels(package)
        found += [names[id(one)] for one in package.sections if check.is_code(package.name, one.type)]
    return found


# Who is let in


def openings(before: Package, after: Package, rules: PolicyRules) -> list[str]:
    """Return a sentence for each section of a service by which a change lets somebody in, or takes a barrier away.

    Data, for the services that reach/admission.py does not know; what that one judges has no entry here. Of most
    packages it is in the catalogue: `opens` of a type.
    """
    found: list[str] = []
    barriers, opening = (
        [one for one in rules[name] if one["package"] == after.name] for name in ("barriers", "openings")
    )
    pairs = Pairing(before, after)
    found += _let_in(after, pairs, rules["switches"])
    for package, kinds, other_of, words in (
        (after, opening, pairs.old_of, "%s lets in somebody who could not come in before"),
        (before, barriers, pairs.new_of, "%s no longer keeps out those that it kept out"),
    ):
        for rule in kinds:
            for one in package.sections:
                if _fits(one, rule) and not _fits(other_of(one), rule):
                    # The values are words of the rule, never a foreign text.
                    values = ["%s %s" % (name, one.options.get(name) or "not set") for name in rule["has"]]
                    where = package.name, difference.labels(package)[id(one)], ", ".join([one.type, *values])
                    found.append(words % ("%s.%s (%s)" % where))
    return list(dict.fromkeys(found))


def _let_in(after: Package, pairs: Pairing, switches: Switches) -> list[str]:
    """Return who is let in by options that the catalogue says it of: one gets a new value, or its section goes on."""
    found = []
    labels = difference.labels(after)
    for one in after.sections:
        opens = entries.opens(after.name, one.type)
        old = pairs.old_of(one) if opens else None
        had = old.options if old is not None and old.type == one.type else {}
        is_new = _is_on(one.options, switches) and not (had and _is_on(had, switches))
        for who, shut in opens.items():
            ways, before = (_ways(after.name, one.type, values, shut) for values in (one.options, had))
            if ways is None:
                continue
            was_own = before is None
            new = [name for name in ways if is_new or was_own or not ways[name] <= (before or {}).get(name, set())]
            if not new and was_own and _is_on(one.options, switches):
                new = [name for name in shut if shut[name] and name in had]
            if new:
                found.append("%s.%s (%s) lets somebody in: %s" % (after.name, labels[id(one)], ", ".join(new), who))
    return found


def _ways(package: str, type_: str, options: Mapping[str, Value], shut: dict[str, str]) -> dict[str, set[str]] | None:
    """Return the options that let somebody in, with their words; None where all is for the router itself alone."""
    found = {}
    for name in shut:
        value = options.get(name, [])
        words = {word for word in ([value] if isinstance(value, str) else value) if word}
        open_ = {word for word in words if _opens(word, shut[name])}
        is_switch = (entries.option(package, type_, name) or {}).get("type") == "bool"
        if words and not open_ and shut[name] and not is_switch:
            return None
        if open_:
            found[name] = open_
    return found


def _opens(word: str, shut: str) -> bool:
    return not re.match("(?:%s)\\Z" % shut, word) if shut else validators.truth(word) is not False


def _is_on(options: Mapping[str, Value], switches: Switches) -> bool:
    off = [validators.truth(str(options.get(name, ""))) for name in switches["off"]]
    on = [validators.truth(str(options.get(name, ""))) for name in switches["on"]]
    return True not in off and False not in on


def _fits(section: Section | None, rule: SectionRule) -> bool:
    """Return whether a section is of a rule's kind; an option that is not set counts as ""."""
    if section is None or section.type != rule["type"]:
        return False
    options = section.options
    is_meant = all(_is_one_of(options.get(name, ""), allowed) for name, allowed in rule["has"].items())
    return is_meant and not any(_is_one_of(options.get(name, ""), allowed) for name, allowed in rule["unless"].items())


def _is_one_of(value: object, allowed: list[str]) -> bool:
    """Return whether a value is among others; all words for yes count as one, and all for no."""
    meaning = validators.truth(value)
    return value in allowed or (meaning is not None and meaning in [validators.truth(one) for one in allowed])
