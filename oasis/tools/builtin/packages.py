"""The tool `packages`: what is installed, what there is, what is newer; installs and removes with approval.

Works with opkg and apk, whichever the router has. Before the owner is asked, the package manager says what it would do,
and the space is counted; the owner's card shows both. Names are checked to the letter: no file, address or option ever
stands where a name should. Packages that the router or Oasis needs to run are not removed.
"""

from __future__ import annotations

import re

from oasis.core import clean
from oasis.errors import ToolError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis.tools.operator import Operator
    from oasis.tools.router import Router, Watch
    from oasis.tools.shapes import ListedPackage, PackagesAnswer, PackagesArguments, Result

LABEL = "descriptions of packages"
NAMES = 8
SHOWN = 30
_TOLD_CHARS = 100
_NAME = re.compile(r"[a-z0-9][a-z0-9.+_-]{0,63}\Z", re.I)
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
_PLANNED = re.compile(r"^(?:\(\d+/\d+\) )?Installing (\S+) \(", re.M)
_SIZES = re.compile(r"^(Package|Installed-Size|Size): *(\S+)", re.M)
_APK_SIZE = re.compile(r"^(\S+)-[0-9]\S* installed size:\n([0-9.]+) (B|KiB|MiB)", re.M)
_APK_NEWER = re.compile(r"^(\S+)-([0-9]\S*) +< +(\S+)", re.M)
_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024 * 1024}


def run_preview(arguments: PackagesArguments, router: Router, operator: Operator, watch: Watch) -> list[str]:
    """Return what an installation or removal would do, in words for the owner's card.

    Raises: UsageError and ToolError when it cannot be done, so that nobody is asked for nothing.
    """
    names = _names(arguments)
    if arguments["action"] == "remove":
        _check_removal(names, router, operator)
        return ["removes %s" % ", ".join(names)]
    free = _free(operator)
    _check_fits(names, _size(names, router, watch), free)  # the next step fetches the packages
    planned = _planned(names, router, watch)
    needed = _size(planned, router, watch)
    _check_fits(planned, needed, free)
    takes = "takes about %d kB" % (needed >> 10) if needed else "takes nobody knows how much"
    return ["installs %s" % ", ".join(planned), "%s of %d kB that are free" % (takes, free >> 10)]


def _check_fits(names: list[str], needed: int, free: int) -> None:
    if needed + SPARE_BYTES > free:
        raise ToolError(
            "%s would take about %d kB and the flash has %d kB free" % (", ".join(names), needed >> 10, free >> 10),
            "remove something first, or extend the flash by a USB drive",
        )


def run(arguments: PackagesArguments, router: Router, operator: Operator, watch: Watch) -> Result:
    """Return {"action", …}: "packages" for what is listed, "changed" for what was done.

    Raises: ToolError with the last words of the package manager, UsageError for names that are none.
    """
    action = str(arguments["action"])
    if action in ("install", "remove"):
        return {"action": action, **_change(action, _names(arguments), router, watch)}
    if action == "update":
        watch.progress("fetching the lists of packages")
        _manage(router, watch, ["update"], _UPDATE_S)
        return {"action": action, "status": "the lists of packages are fresh"}
    look = {"search": _search, "installed": _installed, "upgradable": _upgradable}[action]
    found = look(arguments, router, operator, watch)
    answer: PackagesAnswer = {"action": action, "packages": found[:SHOWN], "found": len(found)}
    if not found and action != "installed":
        answer["notes"] = ["nothing found; the lists may be missing: action update fetches them"]
    if len(found) > SHOWN:
        answer["notes"] = ["%d more: search for something narrower" % (len(found) - SHOWN)]
    if action == "upgradable" and found:
        answer["notes"] = ["the whole system is better brought up to date by a new image than package by package"]
    return {**answer, "untrusted": [LABEL]} if any("about" in one for one in found) else answer


def _names(arguments: PackagesArguments) -> list[str]:
    names = [str(name) for name in arguments.get("names") or []]
    if not names or len(names) > NAMES:
        raise UsageError("packages %s needs 1 to %d names" % (arguments["action"], NAMES), "search for them first")
    for name in names:
        if not _NAME.match(name) or name.endswith((".ipk", ".apk")):
            raise UsageError("%r is not the name of a package" % name[:80], "names are like luci-app-sqm")
    return names


def _is_apk(router: Router) -> bool:
    return router.has("apk")


def _manage(router: Router, watch: Watch, words: list[str], most_s: float) -> str:
    """Run the package manager; return what it printed.

    Raises: ToolError with its own last words.
    """
    program = "apk" if _is_apk(router) else "opkg"
    status, out, err = router.run([program, *words], watch, most_s)
    if status:
        lines = [clean.line(line).strip(" *") for line in (out + "\n" + err).split("\n") if line.strip()]
        message = "%s %s failed: %s" % (program, words[0], "; ".join(lines[-3:])[:400])
        raise ToolError(message, "action update may help", untrusted=(LABEL,))
    return out


def _search(arguments: PackagesArguments, router: Router, operator: Operator, watch: Watch) -> list[ListedPackage]:
    words = str(arguments.get("text") or "").strip()
    if not re.match(r"\w[\w.+-]{1,39}\Z", words):
        raise UsageError("packages search needs a word as text, not %r" % words[:80], "like sqm, one word at a time")
    out = _manage(router, watch, ["search", "-v", words] if _is_apk(router) else ["find", "*%s*" % words], _LOOK_S)
    found: list[ListedPackage] = []
    for line in out.split("\n"):
        parts = clean.line(line).split(" - ")
        name = parts[0] if not _is_apk(router) else parts[0].rpartition("-r")[0].rpartition("-")[0]
        if len(parts) > 1 and _NAME.match(name):
            about = parts[-1].strip()
            found.append({"name": name, "about": about if len(about) <= _TOLD_CHARS else about[:_TOLD_CHARS] + "…"})
    # A package of that very name, then those that begin with it, before those that only speak of it.
    return sorted(found, key=lambda one: (one["name"] != words, not one["name"].startswith(words)))


def _installed(arguments: PackagesArguments, router: Router, operator: Operator, watch: Watch) -> list[ListedPackage]:
    text = str(arguments.get("text") or "").strip().lower()
    listed = operator.facts.ubus("rpc-sys", "packagelist", {"all": True}).get("packages")
    pairs: dict[str, str] = listed if isinstance(listed, dict) else _from_program(router, watch)
    return [
        {"name": clean.name(name), "version": clean.name(version)}
        for name, version in sorted(pairs.items())
        if text in name.lower()
    ]


def _from_program(router: Router, watch: Watch) -> dict[str, str]:
    if _is_apk(router):
        lines = [line.rpartition("-r") for line in _manage(router, watch, ["info", "-v"], _LOOK_S).split("\n")]
        names = [(*head.rpartition("-")[::2], tail) for head, _, tail in lines if head]
        return {name: "%s-r%s" % (version, tail) for name, version, tail in names}
    pairs = [line.split(" - ") for line in _manage(router, watch, ["list-installed"], _LOOK_S).split("\n")]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _upgradable(arguments: PackagesArguments, router: Router, operator: Operator, watch: Watch) -> list[ListedPackage]:
    if _is_apk(router):
        rows: Sequence[Sequence[str]] = _APK_NEWER.findall(_manage(router, watch, ["version", "-l", "<"], _LOOK_S))
    else:
        rows = [line.split(" - ") for line in _manage(router, watch, ["list-upgradable"], _LOOK_S).split("\n")]
    return [
        {"name": row[0], "installed": clean.name(row[1]), "newer": clean.name(row[2])}
        for row in rows
        if len(row) == 3 and _NAME.match(row[0])
    ]


def _planned(names: list[str], router: Router, watch: Watch) -> list[str]:
    """Return what an installation would install, dependencies included."""
    words = ["add", "--simulate", *names] if _is_apk(router) else ["--noaction", "install", *names]
    out = _manage(router, watch, words, _LOOK_S)
    found = _PLANNED.findall(out)
    if not found:
        raise ToolError("%s: nothing to install" % ", ".join(names), "is it installed already?")
    return found


def _size(names: list[str], router: Router, watch: Watch) -> int:
    """Return about how many bytes packages take on flash; one of an unknown size counts nothing."""
    if _is_apk(router):
        out = _manage(router, watch, ["info", "--size", *names], _LOOK_S)
        return int(sum(float(number) * _UNITS[unit] for _, number, unit in _APK_SIZE.findall(out)))
    # opkg tells of one at a time; of several versions the largest counts.
    return sum(_of_opkg(_manage(router, watch, ["info", name], _LOOK_S)) for name in names[:_LOOKED_UP])


def _of_opkg(out: str) -> int:
    found = [0]
    for key, value in _SIZES.findall(out):
        if key == "Package":
            found.append(0)
        elif value.isdigit():
            found[-1] = max(found[-1], int(value) * (_UNPACKED if key == "Size" else 1))
    return max(found)


def _free(operator: Operator) -> int:
    root = operator.facts.ubus("system", "info").get("root")
    free = root.get("avail", root.get("free")) if isinstance(root, dict) else None
    if not isinstance(free, int):
        raise ToolError("free flash is unknown", "try again")
    return free * 1024


def _check_removal(names: list[str], router: Router, operator: Operator) -> None:
    for name in names:
        if _NEEDED.match(name):
            raise UsageError("%s is needed: the router or Oasis does not run without it" % name, "leave it")
    listed = operator.facts.ubus("rpc-sys", "packagelist", {"all": True}).get("packages")
    missing = [name for name in names if isinstance(listed, dict) and name not in listed]
    if missing:
        raise UsageError("%s is not installed" % ", ".join(missing), "packages installed lists what is")


def _change(action: str, names: list[str], router: Router, watch: Watch) -> Result:
    verbs = {"install": "add", "remove": "del"} if _is_apk(router) else {"install": "install", "remove": "remove"}
    watch.progress("%s %s" % (action, ", ".join(names)))
    out = _manage(router, watch, [verbs[action], *names], _INSTALL_S)
    done = _PLANNED.findall(out) if action == "install" else names
    return {"status": "done", "changed": done or names}
