"""Verification after a reload: does the router really run what was written?

An init script's exit status says little: it ends with 0 and starts nothing, or a service takes the file and drops the
rule. So the running state itself is asked, again and again, until every check has seen what it wants or the time is
over. A check answers with one of four:

    "seen"     the router shows it
    "wrong"    the router shows something else; after WAIT_S this fails the change
    "slow"     it may come yet, and may take longer than WAIT_S: then reported as `not read back`
    "unread"   the router does not say: reported as `not read back`; asked again for UNREAD_S when there is a reason

Only sections that are new or differ are checked, so that a pre-existing fault elsewhere does not trigger a rollback.
Each question to the bus is a process: once procd has listed the processes of a service, /proc shows whether the same
ones still run. Source: netifd's `network.interface dump` and `network.wireless status`, fw4's comments in its ruleset
("!fw4: NAME"), dnsmasq.init's lines in /var/etc/dnsmasq.conf.*.
"""

from __future__ import annotations

import functools

from oasis.change.reach import sections
from oasis.errors import StoreError, ToolError
from oasis.uci import model
from oasis.uci.model import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Any, Before, Callable, Mapping, Plan, Seconds, Seen

    Answer = tuple[str, str]  # (seen | wrong | slow | unread, why)
    Check = tuple[str, Callable[["Now"], Answer]]  # (what, look)
    Bus = Callable[[str, str, dict[str, object]], dict[str, object] | None]
    Section = dict[str, Any]

WAIT_S = 20.0
# A service that ends at once runs for a moment: it counts when the same process still runs so much later.
SETTLE_S = 1.0
# A part of the bus may be away while its daemon starts; one that stays away longer is not there.
UNREAD_S = 3.0
# Services whose process must outlive a reload: a new netifd has taken every interface down.
_KEPT = ("network",)
# States of a process that runs no more.
_ENDED = ("Z", "X", "x")
_SWITCHES = ("enabled", "enable", "disabled", "disable")
_SEEN = ("seen", "")
# Not there at all: no waiting.
_SILENT = ("unread", "")
_GENERATED = "/var/etc"
# What `ubus call system board` tells as well, for the price of a process.
_HOST_NAME = "/proc/sys/kernel/hostname"


class Now:
    """One look at the router: each question is asked once. `read(path)` and `names(folder)` see its files."""

    def __init__(self, router: Verification) -> None:
        self._router = router
        self._known: dict[str, Mapping[str, object] | None] = {}
        self.read, self.names, self.s = router.read, router.names, router.now_s()
        self.has_answer = False

    def ask(self, name: str, method: str, arguments: dict[str, object] | None = None) -> Mapping[str, object] | None:
        """Return a reply of the bus, None when it says nothing."""
        key = "%s %s %s" % (name, method, arguments)
        if key not in self._known:
            try:
                self._known[key] = self._router.bus(name, method, arguments or {})
                self.has_answer = self.has_answer or self._known[key] is not None
            except ToolError:
                self._known[key] = None
        return self._known[key]

    @functools.cached_property
    def ruleset(self) -> str | None:
        """The firewall's compiled rules, None when they cannot be read."""
        try:
            return self._router.ruleset()
        except ToolError:
            return None


class Verification:
    """The running state of one router.

    `bus(object, method, arguments)` calls, `ruleset()` is `nft list table inet fw4` or None without nft, `read(path)`
    and `names(folder)` look at the router's files, `now_s()` is monotonic.
    """

    def __init__(
        self, bus: Bus, ruleset: Callable[[], str | None], read: Callable[[str], bytes | None],
        names: Callable[[str], list[str]], now_s: Seconds, sleep: Callable[[float], object], *,
        settle_s: float = SETTLE_S,
    ) -> None:  # fmt: skip
        self.bus, self.ruleset, self.read, self.names, self.now_s = bus, ruleset, read, names, now_s
        self._sleep, self._settle_s = sleep, settle_s

    def look(self, plan: Plan) -> Before:
        """Return what `verify` will want to know of the time before the change."""
        now = Now(self)
        names = [str(item["name"]) for item in plan["services"]]
        before: Before = {"services": {name: service(now, name) for name in names}, "bus": now.has_answer}
        if "network" in plan["images"]:
            before["interfaces"] = now.ask("network.interface", "dump")
        if "wireless" in plan["images"]:
            before["radios"] = now.ask("network.wireless", "status")
        return before

    def verify(self, plan: Plan, before: Before) -> list[Seen]:
        """Wait until the router shows what a plan promised; return what was looked at.

        Shape: {"what", "result": `seen` or `not read back`}.
        Raises: ToolError with the first thing that is not as promised.
        """
        checks = self._services(plan, before["services"])
        reloaded = [item["name"] for item in plan["services"]]
        for package, name, promised in _PROMISES:
            if package in plan["images"] and name in reloaded:
                checks += promised(plan, before)
        results = {what: "" for what, _ in checks}
        begin_s = self.now_s()
        patience_s = UNREAD_S if before["bus"] else 0
        while checks:
            now = Now(self)
            answers = [(what, look, *look(now)) for what, look in checks]
            passed_s = now.s - begin_s
            checks = []
            for what, look, answer, why in answers:
                is_unread = answer == "unread" and (not why or passed_s >= patience_s)
                if answer == "seen":
                    results[what] = "seen"
                elif is_unread or (answer == "slow" and passed_s >= WAIT_S):
                    results[what] = "not read back"
                elif passed_s >= WAIT_S:
                    raise ToolError("after the reload %s" % why, "the logs tell more: logread")
                else:
                    checks.append((what, look))
            if checks:
                self._sleep(self._settle_s / 2)
        return [{"what": what, "result": result} for what, result in results.items()]

    def _services(self, plan: Plan, before: dict[str, dict[str, int] | None]) -> list[Check]:
        touched = [line["text"].split()[:2] for part in plan["diff"] for line in part["lines"] if line["op"] != " "]
        # After a switch was touched it is right that a service runs no process.
        may_end = any(["option", name] in touched for name in _SWITCHES)
        found: dict[str, Callable[[Now], Answer]] = {}
        for item in plan["services"]:
            name, action = str(item["name"]), str(item["action"])
            if action in ("enable", "disable"):
                found["start of %s at boot" % name] = functools.partial(_look_for_link, name, action)
                continue
            one = _Service(name, action, before.get(name), may_end, self._settle_s)
            # A script may complain only because its service is turned off (evidence.py): then that must be true.
            # One that failed for a reason of its own (not ok) must run as before all the same.
            is_ended = (bool(item.get("status")) and item.get("ok") is not False) or action == "stop"
            found["service %s" % name] = one.look_for_end if is_ended else one.look
        return list(found.items())


def _look_for_link(name: str, action: str, now: Now) -> Answer:
    is_there = any(link.startswith("S") and link[3:] == name for link in now.names("/etc/rc.d"))
    if is_there == (action == "enable"):
        return _SEEN
    return "wrong", "service %s %s at boot" % (name, "starts" if is_there else "does not start")


def service(now: Now, name: str) -> dict[str, int] | None:
    """Return the process of every instance of a service (0: it does not run), None when procd knows no such service."""
    reply = now.ask("service", "list")  # of all at once: a process less for each service
    entry = (reply or {}).get(name)
    if not isinstance(entry, dict):
        return None
    instances = entry.get("instances")
    found = instances if isinstance(instances, dict) else {}
    return {label: (one.get("pid") or -1) if one.get("running") else 0 for label, one in found.items()}


class _Service:
    """The check of one service; it remembers since when which processes run."""

    def __init__(self, name: str, action: str, before: dict[str, int] | None, may_end: bool, settle_s: float) -> None:
        self._name, self._action, self._before = name, action, before
        self._may_end, self._settle_s = may_end, settle_s
        self._running: dict[str, int] | None = None
        self._births: dict[int, str] = {}  # process: when it began, "" when /proc does not tell
        self._since_s = 0.0

    def look(self, now: Now) -> Answer:
        births = self._births
        lives = bool(births) and all(birth and _birth(now, pid) == birth for pid, birth in births.items())
        if self._running is None or not lives:
            script = (now.read("/etc/init.d/" + self._name) or b"") if self._before == {} else b""
            if b"USE_PROCD=1" in script and b"procd_open_instance" not in script:
                return _SEEN  # procd runs no process for it: it had none, and there is none to ask for
            found = service(now, self._name)
            if found is None:
                return ("wrong", "service %s is gone" % self._name) if self._before else _SILENT
            if not found:
                is_lost = any((self._before or {}).values()) and not self._may_end
                return ("wrong", "service %s runs no process any more" % self._name) if is_lost else _SEEN
            for label, pid in found.items():
                old, fault = (self._before or {}).get(label), ""
                if not pid and old != 0:
                    fault = "does not run"
                elif pid and self._action == "restart" and pid == old:
                    fault = "was not restarted"
                elif pid and old and self._action == "reload" and self._name in _KEPT and pid != old:
                    fault = "lost its process in the reload"
                if fault:
                    self._running = None
                    return "wrong", "service %s %s" % (self._name, fault)
            if found != self._running:
                self._running, self._since_s = found, now.s
                self._births = {pid: _birth(now, pid) for pid in found.values() if pid}
        if now.s - self._since_s < self._settle_s:
            return "wrong", "service %s does not stay up" % self._name
        return _SEEN

    def look_for_end(self, now: Now) -> Answer:
        found = service(now, self._name)
        if found is None and not now.has_answer:
            return _SILENT
        if any((found or {}).values()):
            return "wrong", "service %s still runs, although it is turned off" % self._name
        return _SEEN


def _birth(now: Now, pid: int) -> str:
    # Source: proc(5), /proc/PID/stat: behind the name in brackets the state, and 19 further on the start.
    try:
        text = now.read("/proc/%d/stat" % pid) or b""
    except StoreError:  # it ended while it was read
        text = b""
    words = text.rpartition(b")")[2].decode("ascii", "replace").split()
    return words[19] if len(words) > 19 and words[0] not in _ENDED else ""


# What a plan promises of the services that it reloads


def _all(plan: Plan, package: str, kind: str, side: int = 1) -> list[Section]:
    """Return the sections of one type after the change (or, side 0, before it)."""
    return sections.typed(tables(model.parse(plan["images"][package][side], package)), kind)


def _new(plan: Plan, package: str, kind: str) -> list[Section]:
    """Return the sections that are new or altered; by content, because anonymous names move when others go."""
    was, is_now = (tables(model.parse(data, package)) for data in plan["images"][package])
    old, new = sections.content(was), sections.content(is_now)
    found = [one for one, held in zip(is_now.values(), new, strict=True) if held not in old]
    return [one for one in found if one[".type"] == kind]


def _is_off(section: Section) -> bool:
    return section.get("disabled") == "1" or section.get("enabled") == "0" or section.get("auto") == "0"


def _host_name(plan: Plan, _: Before) -> list[Check]:
    found = _new(plan, "system", "system")
    wanted = str(found[0].get("hostname", "")) if found else ""
    return [("host name %s" % wanted, functools.partial(_look_at_host_name, wanted))] if wanted else []


def _look_at_host_name(wanted: str, now: Now) -> Answer:
    shown = (now.read(_HOST_NAME) or b"").decode("utf-8", "replace").strip()
    shown = shown or str((now.ask("system", "board") or {}).get("hostname") or "")
    if not shown:
        return "unread", "neither kernel nor bus tells the host name"
    return _SEEN if shown == wanted else ("wrong", "the host name is %r, not %r" % (shown, wanted))


def _interfaces(plan: Plan, before: Before) -> list[Check]:
    were_up = [entry.get("interface") for entry in _dump(before.get("interfaces")) if entry.get("up")]
    found: list[Check] = []
    for section in _new(plan, "network", "interface"):
        if section[".name"] in were_up and not _is_off(section):
            name, is_static = str(section[".name"]), section.get("proto") == "static"
            wanted = [word.partition("/")[0] for word in sections.texts(section, "ipaddr")] if is_static else []
            look = functools.partial(_look_at_interface, name, is_static, wanted)
            found.append((" ".join(["interface", name, *wanted]), look))
    return found


def _look_at_interface(name: str, is_static: bool, wanted: list[str], now: Now) -> Answer:
    entry = next((one for one in _dump(now.ask("network.interface", "dump")) if one.get("interface") == name), None)
    if entry is None:
        return "unread", "the bus does not tell of interface %s" % name
    addresses = entry.get("ipv4-address")
    held = [one.get("address") for one in addresses] if isinstance(addresses, list) else []
    missing = [address for address in wanted if address not in held]
    if entry.get("up") and not missing:
        return _SEEN
    # An address from outside, or a line that is dialled, comes when the other side wants.
    why = "interface %s is not up" % name if not entry.get("up") else "interface %s lacks %s" % (name, missing[0])
    return ("wrong" if is_static else "slow"), why


def _dump(reply: Mapping[str, object] | None) -> list[Mapping[str, object]]:
    found = (reply or {}).get("interface")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _networks(plan: Plan, before: Before) -> list[Check]:
    up = [name for name, one in (before.get("radios") or {}).items() if isinstance(one, dict) and one.get("up")]
    on = [radio[".name"] for radio in _all(plan, "wireless", "wifi-device") if not _is_off(radio)]
    wanted = [one for one in _new(plan, "wireless", "wifi-iface") if one.get("ssid") and not _is_off(one)]
    pairs = [(str(one["ssid"]), str(one["device"])) for one in wanted if one.get("device") in on]
    return [
        ("network %r on %s" % (ssid, radio), functools.partial(_look_at_network, ssid, radio, radio in up))
        for ssid, radio in pairs
    ]


def _look_at_network(ssid: str, radio: str, was_up: bool, now: Now) -> Answer:
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


def _rules(plan: Plan, _: Before) -> list[Check]:
    found: list[Check] = []
    for kind in ("rule", "redirect"):
        there, were = (
            [str(one["name"]) for one in _all(plan, "firewall", kind, side) if one.get("name") and not _is_off(one)]
            for side in (1, 0)
        )
        wanted = [str(one["name"]) for one in _new(plan, "firewall", kind) if one.get("name") in there]
        gone = [name for name in were if name not in there]
        for name, is_in in {**dict.fromkeys(wanted, True), **dict.fromkeys(gone, False)}.items():
            what = "%s %r %s the firewall" % (kind, name, "in" if is_in else "out of")
            found.append((what, functools.partial(_look_for_rule, kind, name, is_in)))
    return found


def _look_for_rule(kind: str, name: str, is_wanted: bool, now: Now) -> Answer:
    # fw4 writes other characters in its own way.
    is_plain = name.isascii() and name.isprintable() and '"' not in name and "\\" not in name
    rules = now.ruleset if is_plain else None
    if rules is None:
        return _SILENT
    if ('"!fw4: %s"' % name in rules) is is_wanted:
        return _SEEN
    return "wrong", "the firewall %s the %s %r" % ("did not take" if is_wanted else "still has", kind, name)


def _generated(plan: Plan, _: Before) -> list[Check]:
    found: list[Check] = []
    for section in _new(plan, "dhcp", "host"):
        macs = [mac.lower() for mac in sections.texts(section, "mac")]
        address = str(section.get("ip", "")).lower()
        if macs and address and address != "ignore":
            what = "lease of %s" % macs[0]
            look = functools.partial(_look_for_line, "dhcp-host=", {*macs, address}, "the " + what)
            found.append((what, look))
    for section in _new(plan, "dhcp", "dnsmasq"):
        for server in map(str.lower, sections.texts(section, "server")):
            look = functools.partial(_look_for_line, "server=", {server}, "the server %s" % server)
            found.append(("DNS server %s" % server, look))
    return found


def _look_for_line(start: str, words: set[str], what: str, now: Now) -> Answer:
    files = [name for name in now.names(_GENERATED) if name.startswith("dnsmasq.conf")]
    data = b"\n".join(now.read(_GENERATED + "/" + name) or b"" for name in files)
    if not files:
        return _SILENT
    lines = data.decode("utf-8", "replace").lower().split("\n")
    rests = [line[len(start) :] for line in lines if line.startswith(start)]
    is_there = any(words <= {rest, *(word.strip("[]") for word in rest.split(","))} for rest in rests)
    return _SEEN if is_there else ("wrong", "dnsmasq did not take %s" % what)


# Of a package, once this service was reloaded.
_PROMISES = (
    ("system", "system", _host_name),
    ("network", "network", _interfaces),
    ("wireless", "network", _networks),
    ("firewall", "firewall", _rules),
    ("dhcp", "dnsmasq", _generated),
)
