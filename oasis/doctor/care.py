"""Checks of the router itself: clock, password, space, memory, heat, services, and what was left unfinished."""

from __future__ import annotations

from oasis.config.settings import fault_of
from oasis.core import clean
from oasis.doctor.scene import SkippedError, data, digits, seen, whole
from oasis.uci.model import flag, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Entry, Found, Scene

_KIB = 1024
# A change needs room for copies of the files that it touches; LuCI and the package manager need more.
_LEAST_FLASH_KIB = 512
_LEAST_FLASH_PERCENT = 5
_LEAST_MEMORY_BYTES = 8 * _KIB * _KIB
_LEAST_MEMORY_PERCENT = 6
_CONNTRACK_PERCENT = 85
# Home routers' chips are made for a housing of 70 degrees; they slow down or stop at 105 to 125.
_HOT_MILLIDEGREES = 95000
_LINES = 3
_SAVED = "/tmp/.uci"  # noqa: S108 - where the uci program stages


def clock(scene: Scene) -> Found:
    """The time is wrong, or nobody sets it."""
    year = str(_table(scene, "board", "release").get("builddate") or "")[:4]
    now = scene.router.now_s()
    built = digits(year)
    if built is not None and now < (built - 1970) * 365 * 86400:
        yield seen("clock-past", "", {"year": year}, ["the clock stands before %s, when this system was built" % year])
    elif not scene.is_clock_trusted():
        yield seen("clock-unset", "", {}, ["NTP has not set the clock since the start"])


def time_servers(scene: Scene) -> Found:
    """Nobody would set the clock."""
    for section in scene.sections("system", "timeserver"):
        path = scene.path("system", section)
        if not flag(section, "enabled", True):
            yield seen("ntp-off", "", {}, ["%s.enabled: 0" % path], ["uci set %s.enabled='1'" % path])
        elif not words(section.get("server")) and not flag(section, "use_dhcp", True):
            commands = ["uci add_list %s.server='%d.openwrt.pool.ntp.org'" % (path, number) for number in range(4)]
            yield seen("ntp-none", "", {}, ["%s: no server" % path], commands)


def _table(scene: Scene, method: str, key: str) -> Entry:
    """Return a table of the system's own state on the bus, {} for none."""
    value = scene.ubus("system", method).get(key)
    return value if isinstance(value, dict) else {}


def optional(scene: Scene) -> Found:
    """An optional part is installed and cannot be used."""
    for name, absent in scene.router.refused().items():
        values = {"part": absent.message.partition(":")[0], "hint": absent.hint}
        yield seen("part-refused", name, values, [absent.message])


def release(scene: Scene) -> Found:
    """A release that gets no security fixes any more."""
    version = str(_table(scene, "board", "release").get("version") or "")
    if not version[:2].isdigit():
        raise SkippedError("the release is not known" if not version else "%s is no numbered release" % version)
    series = ".".join(version.split(".")[:2])
    ended = data()["ended_releases"].get(series)
    if ended:
        yield seen("release-old", "", {"version": version, "ended": ended}, ["system board: %s" % version])


def password(scene: Scene) -> Found:
    """Anybody in the home network is root."""
    passwd, shadow = scene.text("/etc/passwd"), scene.text("/etc/shadow")
    if not passwd:
        raise SkippedError("there is no /etc/passwd")
    fields = [line.split(":") for line in (*passwd.split("\n"), *shadow.split("\n"))]
    values = [one[1] for one in fields if len(one) > 1 and one[0] == "root"]
    if values and (values[0] == "" or (values[0] == "x" and values[1:2] == [""])):
        yield seen("no-password", "", {}, ["the password of root is empty"])


def space(scene: Scene) -> Found:
    """The flash, or the memory for temporary files, is full."""
    if not scene.ubus("system", "info"):
        raise SkippedError("the system does not tell")
    for key, text in (("root", "flash-full"), ("tmp", "tmp-full")):
        sizes = _table(scene, "info", key)
        total, free = whole(sizes.get("total")), whole(sizes.get("avail", sizes.get("free")))
        if total and (free < min(_LEAST_FLASH_KIB, total // 4) or free * 100 < total * _LEAST_FLASH_PERCENT):
            yield seen(text, "", {"free": free, "total": total}, ["%d KiB of %d KiB free" % (free, total)])


def memory(scene: Scene) -> Found:
    """Memory is used up, or was, and a program was ended for it."""
    sizes = _table(scene, "info", "memory")
    total, free = whole(sizes.get("total")), whole(sizes.get("available", sizes.get("free")))
    if total and (free < _LEAST_MEMORY_BYTES or free * 100 < total * _LEAST_MEMORY_PERCENT):
        values = {"free": free // _KIB, "total": total // _KIB}
        yield seen("memory-low", "", values, ["%(free)d KiB of %(total)d KiB free" % values])
    killed = [line for line in scene.log if "Out of memory: Kill" in line or "oom-kill:" in line]
    if killed:
        yield seen("memory-killed", "", {"times": len(killed)}, killed[-_LINES:])


def connections(scene: Scene) -> Found:
    """The table of connections is full, so new ones fail."""
    count = scene.number("/proc/sys/net/netfilter/nf_conntrack_count")
    most = scene.number("/proc/sys/net/netfilter/nf_conntrack_max")
    dropped = [line for line in scene.log if "nf_conntrack: table full" in line]
    if count is None and not dropped:
        raise SkippedError("the kernel does not tell")
    if (count and most and count * 100 >= most * _CONNTRACK_PERCENT) or dropped:
        values = {"count": count or 0, "most": most or 0}
        yield seen("conntrack-full", "", values, ["%(count)d of %(most)d connections" % values, *dropped[-_LINES:]])


def heat(scene: Scene) -> Found:
    """The chip is too hot."""
    folder = "/sys/class/thermal"
    zones = [name for name in scene.names(folder) if name.startswith("thermal_zone")]
    if not zones:
        raise SkippedError("this router tells no temperature")
    for name in zones:
        value = scene.number("%s/%s/temp" % (folder, name))
        if value is not None and value >= _HOT_MILLIDEGREES:
            values = {"sensor": name, "degrees": value // 1000}
            yield seen("hot", name, values, ["%(sensor)s: %(degrees)d degrees" % values])


def services(scene: Scene) -> Found:
    """Services that should run and do not."""
    listed = scene.ubus("service", "list")
    if not listed:
        raise SkippedError("procd does not answer")
    for name, entry in sorted(listed.items()):
        found = entry.get("instances") if isinstance(entry, dict) else None
        for instance, state in sorted((found or {}).items()):
            if isinstance(state, dict) and state.get("running") is False and "respawn" in state:
                code = state.get("exit_code", 0)
                evidence = ["%s::%s is not running, exit status %s" % (name, instance, code)]
                evidence += [clean.line(line) for line in scene.log if name in line and "crash loop" in line][-1:]
                yield seen("service-dead", name, {"service": name}, evidence)


def disabled(scene: Scene) -> Found:
    """Services that the network needs and that are not started at boot."""
    listed = scene.ubus("rc", "list")
    needed = ["network", "firewall", "dnsmasq"] if scene.is_router else ["network"]
    for name in needed:
        entry = listed.get(name)
        if isinstance(entry, dict) and entry.get("enabled") is False:
            yield seen("service-off", name, {"service": name}, ["rc list: %s is not enabled" % name])


def staged(scene: Scene) -> Found:
    """Changes that somebody staged and nobody committed."""
    changes = scene.ubus("uci", "changes").get("changes")
    names = sorted(changes) if isinstance(changes, dict) else []
    names = names or sorted(name for name in scene.names(_SAVED) if scene.text(_SAVED + "/" + name).strip())
    if names:
        yield seen("staged", "", {"packages": ", ".join(clean.name(name) for name in names)},
                   ["staged in %s: %s" % (_SAVED, clean.name(name)) for name in names])  # fmt: skip


def broken(scene: Scene) -> Found:
    """A file of the configuration that cannot be read."""
    for name in scene.router.packages():
        text = scene.text("/etc/config/" + name)
        if text.strip() and not scene.config(name) and any(line.split()[:1] == ["config"] for line in text.split("\n")):
            yield seen("config-broken", name, {"package": name}, ["/etc/config/%s cannot be read by uci" % name])
    fault = fault_of(scene.config("oasis"))
    if fault:
        yield seen("settings-wrong", "", {}, [fault])


def unfinished(scene: Scene) -> Found:
    """A change of ours that could not be rolled back completely."""
    for record in scene.router.history():
        if record.get("state") == "rollback_failed":
            values = {"change": record["id"], "summary": clean.line(record.get("summary"))}
            yield seen("rollback-failed", str(record["id"]), values, [clean.line(record.get("reason"))])
