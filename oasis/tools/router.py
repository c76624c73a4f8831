"""The router as tools see it: its programs and files, what is true on it now, and a watch over each call.

Router: programs by argv only, from the list, with a time limit. What a program prints is decoded and cleaned where it
is used; here it is bytes within the executor's limits.

Watch: the call runs in a thread of its own, and its caller gets an answer in time in any case. A tool that does not end
is left behind, and its late answer is dropped. Those left behind are counted, so that none can fill the router.

Facts: configuration, leases, devices, services and the bus, through injected callables; nothing is cached, no file or
socket is opened here. Names that other machines chose (host names, SSIDs) leave this module cleaned.

    config(package) -> {section: {".name", ".type", ".anonymous", ".index", option: str | list}} or None
    ubus(object, method, arguments) -> dict or None; a ToolError counts as None
    read_file(path) -> bytes or None
    now_s() -> seconds since 1970, as leases count them
    packages() -> names of UCI packages

Device handle: `dev#` and a number, for a device whose own name must not appear. It is computed from the MAC address and
the install key, so it survives a restart and reveals nothing. In a command, `dev#N.mac` and `dev#N.ip`, each as a whole
value, stand for the checked address of the device.
"""

from __future__ import annotations

import sys
import threading

from oasis import parts
from oasis.core import addresses, clean
from oasis.errors import OasisError, ToolError, UciError, UsageError
from oasis.redaction import secret_options
from oasis.system.digest import hmac_sha256
from oasis.uci.model import words as words

if False:  # annotations only
    from typing import TypeVar

    from oasis.catalogue.shapes import Section
    from oasis.change.shapes import Operation, Record
    from oasis.core.shapes import Callable
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.tools.shapes import Device, Lease, OwnRecords

    T = TypeVar("T")
    Run = Callable[..., tuple[int, bytes, bytes]]
    Hide = Callable[[str, str, str, str, object], object]


def _later(seconds: float, work: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()


class Router:
    """One router root; `run` is the executor's, `later(seconds, work)` does something after the answer is out."""

    def __init__(
        self, root: Root, run: Run, files: Files, later: Callable[[float, Callable[[], None]], None] = _later
    ) -> None:
        self.root = root
        self.files = files
        self._run = run
        self.later = later

    def has(self, program: str) -> bool:
        """Tell whether the router has a program."""
        return bool(self.root.program(program))

    def run(self, words: list[str], watch: Watch, most_s: float = 30.0) -> tuple[int, str, str]:
        """Run a program by its name and return (exit status, stdout, stderr).

        Raises: ToolError when there is none, or it prints too much or does not end in time: its group is ended then.
        """
        path = self.root.program(words[0])
        if not path:
            raise ToolError("this router has no program %s" % words[0], "it is part of a package that is not installed")
        status, out, err = self._run([path, *words[1:]], timeout_s=watch.left_s(most_s))
        return status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


# Threads of tools that were given up and have not ended.
LEFT_BEHIND = 4
# How often a cancellation is looked for.
_LOOK_S = 0.1
# A tool that ends itself at its deadline still reports its own error.
_GRACE_S = 1.0
PROGRESS_CHARS = 200
# Progress that comes faster is left out: a run keeps so many events.
_PROGRESS_S = 0.25


class Watch:
    """What a running tool is given: how long it has, whether anybody waits, and a way to say how far it is."""

    def __init__(
        self, tell: Callable[[str], object], is_cancelled: Callable[[], bool], now_s: Callable[[], float],
        timeout_s: float,
    ) -> None:  # fmt: skip
        self._tell = tell
        self._is_cancelled = is_cancelled
        self._now_s = now_s
        self._deadline_s = now_s() + timeout_s if timeout_s else 0.0
        self._told_s = 0.0
        self._is_given_up = False

    def within(self, timeout_s: float) -> Watch:
        """Return a watch over a part of the call, with a deadline of its own."""
        return Watch(self.progress, self.is_cancelled, self._now_s, timeout_s)

    def left_s(self, most_s: float = 3600.0) -> float:
        """Return the seconds that are left, at most `most_s`: what a program or a request may take."""
        return max(min(self._deadline_s - self._now_s(), most_s), 0.0) if self._deadline_s else most_s

    def is_cancelled(self) -> bool:
        """Return whether nobody waits for the answer any more."""
        return self._is_given_up or self._is_cancelled()

    def give_up(self) -> None:
        """Tell the tool that nobody waits any more."""
        self._is_given_up = True

    def progress(self, text: str, done: float | None = None, total: float | None = None) -> None:
        """Tell the owner how far the tool is; what comes too often is left out."""
        now_s = self._now_s()
        if self.is_cancelled() or (self._told_s and now_s - self._told_s < _PROGRESS_S):
            return
        self._told_s = now_s
        share = " (%d %%)" % (100 * done / total) if done is not None and total else ""
        self._tell(clean.name(clean.line(text), PROGRESS_CHARS) + share)


class Watched:
    """Runs calls in threads; one for all calls of a registry."""

    def __init__(self) -> None:
        self._left: list[threading.Thread] = []

    def run(self, name: str, work: Callable[[], T], watch: Watch) -> T:
        """Return what `work()` returns; raise what it raises, or ToolError when it ends too late or is stopped."""
        self._left = [thread for thread in self._left if thread.is_alive()]
        if len(self._left) >= LEFT_BEHIND:
            why = "%d calls of tools did not end and are still at work" % len(self._left)
            raise ToolError(why, "wait until they end, or restart oasis")
        results: list[T] = []
        failures: list[Exception] = []

        def call() -> None:
            try:
                results.append(work())
            except OasisError as error:
                failures.append(error)
            except Exception as error:
                sys.excepthook(type(error), error, error.__traceback__)
                hint = "its log tells more: logread -e oasis"
                failures.append(ToolError(f"a fault in the tool: {type(error).__name__}", hint))

        thread = threading.Thread(target=call, name="tool " + name, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_S)
            is_stopped = watch.is_cancelled()
            if not is_stopped:
                if watch.left_s():
                    continue
                thread.join(_GRACE_S)
            if thread.is_alive():
                watch.give_up()
                self._left.append(thread)
                why = "was stopped by the owner" if is_stopped else "did not end in time and was given up"
                raise ToolError("%s %s" % (name, why), "look whether it had an effect")
        if failures:
            raise failures[0]
        return results[0]


LEASES = 512  # more than dhcp-range hands out on a home router; bounds what a full table costs
_LEASE_FILE = "/tmp/dhcp.leases"  # noqa: S108 - where dnsmasq keeps it by default
_UNKNOWN: Device = {"name": "", "mac": "", "ip": "", "fixed": False, "present": False}


def dicts(value: object) -> list[dict[str, object]]:
    """Return the objects in what should be a list of them."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class Facts:
    """The router as the tools and the built-in service see it.

    `seen()` limits what is shown: whether names that devices chose, and summaries of earlier changes (some model's own
    text); `hide(package, section, type, option, value)` gives what stands in place of a secret, and `said()` the
    owner's own words, which may be shown.
    """

    def __init__(
        self, config: Callable[[str], dict[str, dict[str, object]] | None],
        ubus: Callable[[str, str, dict[str, object]], dict[str, object] | None],
        read_file: Callable[[str], bytes | None], now_s: Callable[[], int],
        packages: Callable[[], list[str]] = list, known: OwnRecords | None = None,
    ) -> None:  # fmt: skip
        known = known or {}
        self._config = config
        self._ubus = ubus
        self._read_file = read_file
        self._packages = packages
        self.now_s = now_s
        self.key = known.get("key", b"")
        self.texts = known.get("texts")
        self.history: Callable[[], list[Record]] = known.get("history", list)
        self.ending: Callable[[], list[str]] = known.get("ending", list)
        self.refused = parts.all_refused
        self.hide: Hide = lambda package, section, type, option, value: secret_options.mask(value)
        self.shows_names = self.tells_summaries = True
        self.said: Callable[[], str] = str
        self.shown: set[str] = set()  # whose texts were shown by `text`

    def seen(self, hide: Hide, shows_names: bool, tells_summaries: bool = True, said: Callable[[], str] = str) -> Facts:
        """Return the same router as one run may see it."""
        limits = {"hide": hide, "shows_names": shows_names, "tells_summaries": tells_summaries, "said": said}
        view = Facts.__new__(Facts)
        vars(view).update(vars(self), shown=set(), **limits)
        return view

    def asked(self, names: object) -> Facts:
        """Return the same router for one call, which asks for the texts of others where `names` is True."""
        return self.seen(self.hide, self.shows_names or names is True, self.tells_summaries, self.said)

    def foreign(self, package: str, section: Section) -> dict[str, str]:
        """Return {option: whose words} of a section's texts that may be somebody else's; see change/text_origin.py."""
        name = "" if section.get(".anonymous") else str(section.get(".name", ""))
        kind = str(section.get(".type", ""))
        if self.texts is not None:
            return self.texts().foreign(package, name, kind, section, self.said())
        from oasis.redaction import foreign  # an idle daemon does without

        return foreign.options(package, name, kind, section)

    def text(self, package: str, section: Section, option: str) -> object:
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
            return self._config(package) or {}
        except UciError:
            return {}

    def has_package(self, package: str) -> bool:
        """Tell whether `package` exists, an empty one too."""
        try:
            return self._config(package) is not None
        except UciError:
            return False

    def packages(self) -> list[str]:
        """Return the names of the UCI packages."""
        return sorted(self._packages())

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

    def leases(self) -> list[Lease]:
        """Return the DHCP leases.

        Shape: [{"mac", "ip", "name" (cleaned, may be ""), "expires_unix_s" (0: never)}], newest last.
        """
        path = _LEASE_FILE
        for section in self.sections("dhcp", "dnsmasq"):
            path = str(section.get("leasefile") or path)
        found: list[Lease] = []
        for fields in [line.split(" ") for line in self.read_text(path).split("\n")[:LEASES]]:
            if len(fields) < 4 or not fields[0].isdecimal() or not is_mac(fields[1].lower()) or not is_ipv4(fields[2]):
                continue  # dnsmasq writes `duid …` and IPv6 lines into the same file
            name = "" if fields[3] == "*" else clean.name(fields[3])
            found.append({"mac": fields[1].lower(), "ip": fields[2], "name": name, "expires_unix_s": int(fields[0])})
        return found

    def devices(self) -> list[Device]:
        """Return the machines this router knows, by lease, fixed address and neighbour table, in order of address.

        Shape: [{"name", "mac", "ip" ("" unknown), "fixed": bool, "present": bool, "expires_unix_s"?, "is_own"?: True
        where the owner chose the name}]
        """
        known: dict[str, Device] = {}
        for lease in self.leases():
            device = known.setdefault(lease["mac"], {**_UNKNOWN, "mac": lease["mac"], "present": True})
            device.update({"ip": lease["ip"], "name": lease["name"], "expires_unix_s": lease["expires_unix_s"]})
        for mac, host in [(mac.lower(), one) for one in self.sections("dhcp", "host") for mac in words(one.get("mac"))]:
            device = known.setdefault(mac, {**_UNKNOWN, "mac": mac})
            device["fixed"] = bool(host.get("ip"))
            if clean.name(host.get("name")):
                device["name"] = clean.name(host["name"])
                device.update({"is_own": True} if "name" not in self.foreign("dhcp", host) else {})
            device["ip"] = device["ip"] or str(host.get("ip") or "")
        interfaces = self.config("network")
        names = self.masqueraded()
        outside = {str(interfaces.get(name, {}).get("device", "")) for name in names}
        outside |= {str(one.get("l3_device", "")) for one in self.interfaces() if one.get("interface") in names}
        for line in self.read_text("/proc/net/arp").split("\n")[1:LEASES]:
            fields = line.split()
            # Flags 0x0 is an entry that was asked for and never answered.
            if len(fields) < 6 or fields[2] == "0x0" or fields[5] in outside:
                continue
            mac = fields[3].lower()
            device = known.setdefault(mac, {**_UNKNOWN, "mac": mac})
            device["present"] = True
            device["ip"] = device["ip"] or fields[0]
        parts = {mac: str(device["ip"]).split(".") for mac, device in known.items()}
        order = sorted(([int(one) if one.isdecimal() else 999 for one in parts[mac]], mac) for mac in known)
        return [known[mac] for _, mac in order]

    def called(self, text: str) -> list[Device]:
        """Return the devices that a text is the handle, the address or the name of; a name with a dot is of others."""
        wanted, known = text.casefold(), known_devices(self) if text else []
        names = [] if "." in text else [one for one in known if one["name"].casefold() == wanted]
        return names or [one for one in known if wanted in (one["device"], one["device"] + ".ip", one["ip"])]

    def masqueraded(self) -> list[str]:
        """Return the networks of masqueraded zones: those that lead outside."""
        zones = self.sections("firewall", "zone")
        return [name for zone in zones if zone.get("masq") == "1" for name in words(zone.get("network"))]

    def interfaces(self) -> list[dict[str, object]]:
        """Return the live interfaces as netifd reports them, [] when it does not answer."""
        return dicts(self.ubus("network.interface", "dump").get("interface"))

    def services(self) -> dict[str, dict[str, bool]]:
        """Return the init scripts: {name: {"enabled"?: bool, "running"?: bool}}, {} when nobody answers."""
        found: dict[str, dict[str, bool]] = {}
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


# Five digits are easily distinguished by people and models, and two of a home's devices hardly ever share them.
_NUMBERS = 100_000
_HANDLE = r"dev#[0-9]+"
_HEX = frozenset("0123456789abcdef")


def is_mac(text: object) -> bool:
    """Tell whether a text is a MAC address in small letters."""
    parts = text.split(":") if isinstance(text, str) else []
    return len(parts) == 6 and all(len(part) == 2 and _HEX.issuperset(part) for part in parts)


def is_ipv4(text: object) -> bool:
    """Tell whether a text is an IPv4 address in the usual form."""
    return isinstance(text, str) and addresses.number4(text) is not None


def handle(key: bytes, mac: str) -> str:
    """Return what the device with a MAC address is called."""
    return "dev#%d" % (int(hmac_sha256(key, ("device " + mac).encode("utf-8"))[:12], 16) % _NUMBERS)


def tunnels(dump: str) -> dict[str, dict[str, list[str]]]:
    """Return {interface: {public key of a peer: [last handshake, bytes received, bytes sent]}} of `wg show all dump`.

    The dump holds private and shared keys, none of which is in what is returned. Source: wg(8).
    """
    found: dict[str, dict[str, list[str]]] = {}
    for fields in (line.split("\t") for line in dump.split("\n")):
        if len(fields) == 5:  # interface, private key, public key, port, fwmark
            found.setdefault(fields[0], {})
        elif len(fields) == 9:  # interface, public key, shared key, endpoint, allowed, handshake, rx, tx, keepalive
            found.setdefault(fields[0], {})[fields[1]] = fields[5:8]
    return found


def known_devices(facts: Facts) -> list[Device]:
    """Return the devices of the router, each with its handle as "device"."""
    return [{"device": handle(facts.key, str(one["mac"])), **one} for one in facts.devices()]


def resolve_handles(operations: list[Operation], devices: Callable[[], list[Device]]) -> list[Operation]:
    """Return the operations with addresses in the place of handles; `devices()` gives {"device", "mac", "ip", …}.

    Raises: UsageError for a handle that is none, names nothing, or stands where it cannot.
    """
    import re  # with the first change: an idle daemon does without

    found: list[Operation] = []
    for operation in operations:
        value = str(operation.get("value", ""))
        if not re.search(_HANDLE, value):
            found.append(operation)
            continue
        match = re.match("(" + _HANDLE + r")\.(mac|ip)\Z", value)
        if match is None:
            hint = "write its address as the whole value: dev#N.mac or dev#N.ip"
            raise UsageError("%r: a handle of a device is no value by itself" % value, hint)
        name, part = match.groups()
        known = [device for device in devices() if device["device"] == name]
        if len(known) != 1:
            why = "more than one device" if known else "no device that is known now"
            raise UsageError("%s means %s" % (name, why), "read status devices again, or write the address itself")
        address = known[0]["mac"] if part == "mac" else known[0]["ip"]
        if not (is_mac(address) if part == "mac" else is_ipv4(address)):
            raise UsageError("%s has no %s that is known" % (name, part), "read status devices again")
        found.append({**operation, "value": address})
    return found


def with_names(text: str, devices: Callable[[], list[Device]]) -> str:
    """Return a text for the owner, in which a device's name stands before its handle."""
    if "dev#" not in text:
        return text
    import re

    # Quotes would end a text in JSON.
    names = {str(one["device"]): re.sub(r"[\"\\]", "", str(one["name"])) for one in devices() if one["name"]}

    def named(found: re.Match[str]) -> str:
        name = names.get(found.group())
        return "%s (%s)" % (name, found.group()) if name else found.group()

    return re.sub(_HANDLE, named, text)
