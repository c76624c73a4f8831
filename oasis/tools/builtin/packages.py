"""The tool `packages`: what is installed, what there is, what is newer; installs and removes with approval.

Works with opkg and apk, whichever the router has. Before the owner is asked, the package manager says what it would do,
and the space is counted; the owner's card shows both. Names are checked to the letter: no file, address or option ever
stands where a name should. Packages that the router or Oasis needs to run are not removed.
"""

from __future__ import annotations

import os
import re
import shutil
import time

from oasis.core import clean
from oasis.errors import ToolError, UsageError
from oasis.tools.builtin import changes

if False:  # annotations only
    from oasis.tools.operator import Operator
    from oasis.tools.router import Router, Watch
    from oasis.tools.shapes import (
        Arguments,
        ConfigureArguments,
        ListedPackage,
        PackagesAnswer,
        PackagesArguments,
        PlanResult,
        Result,
        Sequence,
    )

LABEL = "descriptions of packages"
NAMES = 8
SHOWN = 30
_TOLD_CHARS = 100
_NAME = re.compile(r"[a-z0-9][a-z0-9.+_-]{0,63}\Z", re.I)
# Where the lists of opkg and of apk are, and when they are too old to be asked.
_LISTS = ("/var/opkg-lists", "/var/cache/apk")
_STALE_S = 86400
_INSTALL_S, _LOOK_S, _UPDATE_S = 280.0, 60.0, 120.0
# Left free on flash whatever is installed: settings, chats and what recovery needs.
SPARE_BYTES = 512 * 1024
# Where an index tells only the size of the archive; each size is a call of some hundred ms on a small router.
_UNPACKED = 3
_LOOKED_UP = 24
_NEEDED = re.compile(
    r"(base-files|busybox|libc|libgcc\d*|libubox\S*|libubus\S*|libuci\S*|kernel|procd\S*|ubus|ubusd|uci|netifd|fstools"
    r"|mtd|opkg|apk\S*|ubox|logd|dropbear|openssh-server|firewall|firewall4|nftables\S*|kmod-nft\S*|dnsmasq\S*|rpcd"
    r"|uhttpd|ca-bundle|usign|ucode|jsonfilter|python3\S*|oasis\S*|luci-app-oasis\S*)\Z"
)
# Packages that hold the same files, one of which a router has.
_FAMILIES = (
    re.compile(r"dnsmasq(?:-dhcpv6|-full)?\Z"),
    re.compile(r"(?:wpad|hostapd|wpa-supplicant)(?:-(?:basic|mini|mesh|full|openssl|wolfssl|mbedtls))*\Z"),
)
_PLANNED = re.compile(r"^(?:\(\d+/\d+\) )?Installing (\S+) \(", re.M)
_SIZES = re.compile(r"^(Package|Installed-Size|Size): *(\S+)", re.M)
_APK_SIZE = re.compile(r"^(\S+)-[0-9]\S* installed size:\n([0-9.]+) (B|KiB|MiB)", re.M)
_APK_NEWER = re.compile(r"^(\S+)-([0-9]\S*) +< +(\S+)", re.M)
_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024 * 1024}
# How opkg and apk say it.
_WORDS = {
    "search": ("find", "search -v"), "installed": ("list-installed", "info -v"),
    "upgradable": ("list-upgradable", "version -l <"), "plan": ("--noaction install", "add --simulate"),
    "needs": ("depends -A", ""), "fetch": ("download", ""), "size": ("info", "info --size"),
    "update": ("update", "update"), "install": ("install", "add"), "remove": ("remove", "del"),
}  # fmt: skip


def configure(arguments: ConfigureArguments, router: Router, operator: Operator, watch: Watch) -> PlanResult:
    """Propose UCI commands as one plan, with the packages that they need."""
    operations, notes = changes.parsed(arguments)
    wanted = _names({"action": "install", "names": arguments["install"]}) if arguments.get("install") else []
    there = {one["name"] for one in _installed("", router, operator, watch)} if wanted else set()
    missing = [name for name in wanted if name not in there]
    if not missing:
        result = operator.change(operations, str(arguments.get("summary", "")), str(arguments.get("until", "")))
    else:
        notes += _refresh(router, watch)
        swaps = _swaps(missing, there)
        first = _before(missing, swaps, there, router, watch)
        _takes(missing, router, operator, watch)  # the next step fetches the packages
        every = _planned(first, router, watch) if first else []
        every += [new for new in swaps if new not in every]
        order: Arguments = {"action": "install", "names": [*every]}
        if swaps:
            order["replaces"] = {new: [*old] for new, old in swaps.items()}
        words = _takes(every, router, operator, watch)
        goes = "%s has to go for %s: what it does stops meanwhile, and it comes back with an undo"
        words += [goes % (", ".join(old), new) for new, old in swaps.items()]

        def work(folder: str) -> None:
            watch.progress("install " + ", ".join(missing))
            if first:
                _manage(router, watch, "install", first, _INSTALL_S)
            if swaps and not router.has("apk"):
                _swap(swaps, folder, router, watch)

        result = operator.install(operations, arguments, order, words, work)
    if notes:
        result["notes"] = [*notes, *result.get("notes", [])]
    return result


def run_preview(arguments: PackagesArguments, router: Router, operator: Operator, watch: Watch) -> list[str]:
    """Return what an installation or removal would do, in words for the owner's card.

    Raises: UsageError and ToolError when it cannot be done, so that nobody is asked for nothing.
    """
    names = _names(arguments)
    if arguments["action"] == "remove":
        for name in names:
            if _NEEDED.match(name):
                raise UsageError("%s is needed: the router or Oasis does not run without it" % name, "leave it")
        listed = operator.facts.ubus("rpc-sys", "packagelist", {"all": True}).get("packages")
        missing = [name for name in names if isinstance(listed, dict) and name not in listed]
        if missing:
            raise UsageError("%s is not installed" % ", ".join(missing), "packages installed lists what is")
        return ["removes %s" % ", ".join(names)]
    _takes(names, router, operator, watch)  # the next step fetches the packages
    return _takes(_planned(names, router, watch), router, operator, watch)


def _planned(names: list[str], router: Router, watch: Watch) -> list[str]:
    """Return what would be installed, dependencies included."""
    planned = _PLANNED.findall(_manage(router, watch, "plan", names))
    if not planned:
        raise ToolError("%s: nothing to install" % ", ".join(names), "is it installed already?")
    return planned


def _takes(names: list[str], router: Router, operator: Operator, watch: Watch) -> list[str]:
    """Return what is installed and what it takes, in words; raise ToolError where it does not fit."""
    root = operator.facts.ubus("system", "info").get("root")
    free_kib = root.get("avail", root.get("free")) if isinstance(root, dict) else None
    if not isinstance(free_kib, int):
        raise ToolError("free flash is unknown", "try again")
    free, needed = free_kib * 1024, _size(names, router, watch)
    if needed + SPARE_BYTES > free:
        sizes = _amount(needed), _amount(free)
        what = "%s would take about %s of flash, and only %s are free" % (", ".join(names), *sizes)
        raise ToolError(what, "remove something first, or extend the flash by a USB drive")
    takes = "takes about %s" % _amount(needed) if needed else "how much flash that takes is unknown"
    return ["installs %s" % ", ".join(names), "%s; %s are free" % (takes, _amount(free))]


def _amount(bytes_: int) -> str:
    """Return a size as people say it."""
    return "%d kB" % max(bytes_ >> 10, 1) if bytes_ < 10 << 20 else "%d MB" % (bytes_ >> 20)


def _swaps(names: list[str], there: set[str]) -> dict[str, list[str]]:
    """Return what has to go for some packages: {new: [old]}."""
    found = {
        new: [old for old in sorted(there) for one in _FAMILIES if one.match(new) and one.match(old)] for new in names
    }
    return {new: old for new, old in found.items() if old}


def _before(names: list[str], swaps: dict[str, list[str]], there: set[str], router: Router, watch: Watch) -> list[str]:
    """Return what the package manager installs in its own way; opkg does not replace one package by another."""
    if router.has("apk"):
        return [*names, *("!" + old for olds in swaps.values() for old in olds)]
    needed = [
        line.split()[0]
        for new in swaps
        for line in _manage(router, watch, "needs", [new]).split("\n")[1:]
        if line.split()
    ]
    return [name for name in dict.fromkeys([*names, *needed]) if name not in swaps and name not in there]


def _swap(swaps: dict[str, list[str]], folder: str, router: Router, watch: Watch) -> None:
    """Replace packages by opkg: both are fetched while names are still resolved; the old ones stay in the folder."""
    olds = [old for every in swaps.values() for old in every]
    here = os.getcwd()  # where opkg puts what it fetches
    for name in [*swaps, *olds]:
        _manage(router, watch, "fetch", [name], _INSTALL_S)
        (fetched,) = [one for one in router.files.names(here) if re.match(re.escape(name) + r"_[^/]*[.]ipk\Z", one)]
        shutil.move(here + "/" + fetched, folder + "/" + name + ".ipk")
    try:
        _manage(router, watch, "remove", ["--force-depends", *olds], _INSTALL_S)
        _manage(router, watch, "install", [folder + "/" + new + ".ipk" for new in swaps], _INSTALL_S)
    finally:
        for new in swaps:
            router.files.remove(folder + "/" + new + ".ipk")


def run(arguments: PackagesArguments, router: Router, operator: Operator, watch: Watch) -> Result:
    """Return {"action", …}: "packages" for what is listed, "changed" for what was done.

    Raises: ToolError with the last words of the package manager, UsageError for names that are none.
    """
    action = str(arguments["action"])
    if action in ("install", "remove"):
        names = _names(arguments)
        watch.progress("%s %s" % (action, ", ".join(names)))
        out = _manage(router, watch, action, names, _INSTALL_S)
        done = _PLANNED.findall(out) if action == "install" else names
        return {"action": action, "status": "done", "changed": done or names}
    if action == "update":
        watch.progress("fetching the lists of packages")
        _manage(router, watch, action, [], _UPDATE_S)
        return {"action": action, "status": "the lists of packages are fresh"}
    look = {"search": _search, "installed": _installed, "upgradable": _upgradable}[action]
    fresh = [] if action == "installed" else _refresh(router, watch)
    text = str(arguments.get("text") or "").strip()
    found = look(text, router, operator, watch)
    if action == "installed" and text and not found:
        fresh.append(_elsewhere(text.lower(), operator))
    answer: PackagesAnswer = {"action": action, "packages": found[:SHOWN], "found": len(found)}
    if len(found) > SHOWN:
        fresh.append("%d more: search for something narrower" % (len(found) - SHOWN))
    if action == "upgradable" and found:
        fresh.append("the whole system is better brought up to date by a new image than package by package")
    if fresh:
        answer["notes"] = fresh
    return {**answer, "untrusted": [LABEL]} if any("about" in one for one in found) else answer


def _elsewhere(text: str, operator: Operator) -> str:
    """Return what of a name is here although no package is called so: a package may have other names for its files."""
    configs = ["/etc/config/" + one for one in operator.facts.packages() if text in one.lower()]
    services = ["the service " + one for one in operator.facts.services() if text in one.lower()]
    here = ", ".join([*configs, *services][:NAMES]) or "no configuration or service either"
    return "the list has no package with %s in its name; there is: %s" % (clean.name(text), here)


def _names(arguments: PackagesArguments) -> list[str]:
    names = [str(name) for name in arguments.get("names") or []]
    if not names or len(names) > NAMES:
        raise UsageError("packages %s needs 1 to %d names" % (arguments["action"], NAMES), "search for them first")
    for name in names:
        if not _NAME.match(name) or name.endswith((".ipk", ".apk")):
            raise UsageError("%r is not the name of a package" % name[:80], "names are like luci-app-sqm")
    return names


def _manage(router: Router, watch: Watch, action: str, names: list[str], most_s: float = _LOOK_S) -> str:
    """Run the package manager; return what it printed, or raise ToolError with its own last words."""
    is_apk = router.has("apk")
    program, words = "apk" if is_apk else "opkg", [*_WORDS[action][is_apk].split(), *names]
    status, out, err = router.run([program, *words], watch, most_s)
    if status:
        lines = [clean.line(line).strip(" *") for line in (out + "\n" + err).split("\n") if line.strip()]
        message = "%s %s failed: %s" % (program, words[0], "; ".join(lines[-3:])[:400])
        raise ToolError(message, "action update may help", untrusted=(LABEL,))
    return out


def _refresh(router: Router, watch: Watch) -> list[str]:
    """Fetch the lists of packages where they are missing or older than a day; return a note on that."""
    folder = router.root.path(_LISTS[router.has("apk")])
    ages = [time.time() - os.stat(folder + "/" + name).st_mtime for name in router.files.names(folder)]
    if ages and min(ages) < _STALE_S:
        return []
    how = "older than a day" if ages else "missing"
    watch.progress("fetching the lists of packages")
    try:
        _manage(router, watch, "update", [], _UPDATE_S)
    except ToolError as error:
        return ["the lists of packages are %s and could not be fetched: %s" % (how, error.message)]
    return ["the lists of packages were %s and were fetched" % how]


def _search(word: str, router: Router, operator: Operator, watch: Watch) -> list[ListedPackage]:
    if not re.match(r"\w[\w.+-]{1,39}\Z", word):
        raise UsageError("packages search needs a word as text, not %r" % word[:80], "like sqm, one word at a time")
    is_apk = router.has("apk")
    found: list[ListedPackage] = []
    for line in _manage(router, watch, "search", [word if is_apk else "*%s*" % word]).split("\n"):
        parts = clean.line(line).split(" - ")
        name = parts[0] if not is_apk else parts[0].rpartition("-r")[0].rpartition("-")[0]
        if len(parts) > 1 and _NAME.match(name):
            about = parts[-1].strip()
            found.append({"name": name, "about": about if len(about) <= _TOLD_CHARS else about[:_TOLD_CHARS] + "…"})
    # A package of that very name, then those that begin with it, before those that only speak of it.
    return sorted(found, key=lambda one: (one["name"] != word, not one["name"].startswith(word)))


def _installed(text: str, router: Router, operator: Operator, watch: Watch) -> list[ListedPackage]:
    listed = operator.facts.ubus("rpc-sys", "packagelist", {"all": True}).get("packages")
    pairs: dict[str, str] = listed if isinstance(listed, dict) else {}
    if not isinstance(listed, dict):
        for line in _manage(router, watch, "installed", []).split("\n"):
            name, _, version = line.partition(" - ")
            if router.has("apk"):
                head, _, tail = line.rpartition("-r")
                name, _, version = head.rpartition("-")
                version = "%s-r%s" % (version, tail) if head else ""
            if version and " - " not in version:
                pairs[name] = version
    return [
        {"name": clean.name(name), "version": clean.name(version)}
        for name, version in sorted(pairs.items())
        if text.lower() in name.lower()
    ]


def _upgradable(text: str, router: Router, operator: Operator, watch: Watch) -> list[ListedPackage]:
    out = _manage(router, watch, "upgradable", [])
    is_apk = router.has("apk")
    rows: Sequence[Sequence[str]] = _APK_NEWER.findall(out) if is_apk else [one.split(" - ") for one in out.split("\n")]
    return [
        {"name": row[0], "installed": clean.name(row[1]), "newer": clean.name(row[2])}
        for row in rows
        if len(row) == 3 and _NAME.match(row[0])
    ]


def _size(names: list[str], router: Router, watch: Watch) -> int:
    """Return about how many bytes packages take on flash; one of an unknown size counts nothing."""
    if router.has("apk"):
        sizes = _APK_SIZE.findall(_manage(router, watch, "size", names))
        return int(sum(float(number) * _UNITS[unit] for _, number, unit in sizes))
    total = 0
    for name in names[:_LOOKED_UP]:
        versions = [0]  # opkg tells of one name at a time; of its versions the largest counts
        for key, value in _SIZES.findall(_manage(router, watch, "size", [name])):
            if key == "Package":
                versions.append(0)
            elif value.isdecimal():
                versions[-1] = max(versions[-1], int(value) * (_UNPACKED if key == "Size" else 1))
        total += max(versions)
    return total
