"""What happens to the packages on the router of guest.py; each function is one life and returns what was seen."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from guest import Guest

SOCKET = "/var/run/oasis/oasis.sock"
CONFIG = "/etc/config/oasis"
OTHERS = ("oasis", "luci-app-oasis", "oasis-mod-tool", "oasis-mod-retired")
BYTECODE = ("/bin/sh", "/usr/lib/oasis/bytecode.sh")


def whole(guest: Guest) -> dict[str, object]:
    """Install, use, remove."""
    told: dict[str, object] = {"before": guest.tree()}
    told["installed"] = guest.opkg("install", *feed(guest))
    told["is_up"] = guest.wait_for(SOCKET)
    told["after_install"] = guest.tree()
    told["passwd"] = guest.read("/etc/passwd")
    told["version"] = guest.run("oasis", "--version")
    told["prompt"] = guest.run("oasis", "prompt", "what can you do?")
    told["in_use"] = guest.tree()
    told["daemon"] = guest.read("/tmp/daemon.err")
    told["removed"] = guest.opkg("remove", *reversed(names(feed(guest))))
    told["after"] = guest.tree()
    return told


def upgraded(guest: Guest) -> dict[str, object]:
    """Install, edit the configuration, switch the service off at boot, install what comes after it."""
    guest.write("/etc/uci-defaults/99_other", "exit 0\n")
    told: dict[str, object] = {"installed": guest.opkg("install", *feed(guest))}
    guest.wait_for(SOCKET)
    guest.write(CONFIG, guest.read(CONFIG) + "\n# mine\n", 0o600)
    guest.run("/etc/init.d/oasis", "disable")
    told["old"] = guest.tree()
    told["upgraded"] = guest.opkg("install", *feed(guest, "next"))
    told["is_up"] = guest.wait_for(SOCKET)
    told["daemon"] = guest.read("/tmp/daemon.err")
    told["version"] = guest.run("oasis", "--version")
    told["config"] = guest.read(CONFIG)
    told["new"] = guest.tree()
    told["removed"] = guest.opkg("remove", *reversed(names(feed(guest))))
    told["after"] = guest.tree()
    return told


def parted(guest: Guest) -> dict[str, object]:
    """Install the core, then add each part, use it, and remove it again; at last remove the core."""
    told: dict[str, object] = {"before": guest.tree(), "parts": {}}
    told["installed"] = guest.opkg("install", place(guest, "oasis", "compiled"))
    told["is_up"] = guest.wait_for(SOCKET)
    told["alone"] = guest.tree()
    told["prompt_alone"] = guest.run("oasis", "prompt", "what can you do?")
    for part, words in PARTS.items():
        seen = {"absent": guest.run("oasis", *words)}
        seen["added"] = guest.opkg("install", place(guest, "oasis-" + part, "compiled"))
        seen["there"] = asked(guest, words, lambda done: "not installed" not in done["err"])
        seen["removed"] = guest.opkg("remove", "oasis-" + part)
        seen["gone"] = asked(guest, words, lambda done: "not installed" in done["err"])
        told["parts"][part] = {**seen, "tree": guest.tree()}
    told["removed"] = guest.opkg("remove", "oasis")
    told["after"] = guest.tree()
    return told


NOT_RUNNING = 69  # for the moment in which the daemon begins again
# What a part is asked by.
PARTS = {
    "offline": ("prompt", "what can you do?"),
    "memory": ("memory", "list"),
    "schedule": ("schedule", "list"),
    "telegram": ("telegram", "list"),
    "mcp": ("servers", "list"),
    "monitor": ("look", "ports"),
    "lua": ("plugins", "list"),
}


def asked(guest: Guest, words: tuple[str, ...], is_it: Callable[[dict[str, object]], bool]) -> dict[str, object]:
    """Ask until the daemon has taken up what is installed, or 30 s."""
    for _ in range(60):
        done = guest.run("oasis", *words)
        if done["status"] != NOT_RUNNING and is_it(done):
            break
        guest.run("sleep", "0.5")
    return done


def from_one_package(guest: Guest) -> dict[str, object]:
    """Install the one package of before there were parts, use it, upgrade it alone, then add everything of today."""
    told: dict[str, object] = {"installed": guest.opkg("install", *feed(guest, "single"))}
    guest.wait_for(SOCKET)
    told["said"] = guest.run("oasis", "schedule", "add", "22:00 daily", "what is my public address?")
    told["fact"] = guest.run("oasis", "memory", "add", "the garage has the old router")
    told["alone"] = guest.opkg("install", place(guest, "oasis"))
    told["tree_alone"] = guest.tree()
    told["upgraded"] = guest.opkg("install", *feed(guest))
    guest.wait_for(SOCKET)
    told["schedule"] = asked(guest, ("schedule", "list"), lambda done: done["status"] == 0)
    told["memory"] = guest.run("oasis", "memory", "list")
    told["prompt"] = guest.run("oasis", "prompt", "what can you do?")
    told["tree"] = guest.tree()
    return told


def edited_before(guest: Guest) -> dict[str, object]:
    """Install where another program of the same name left its configuration."""
    guest.write(CONFIG, "\nconfig provider 'openai'\n\toption key 'abc'\n\n", 0o644)
    told: dict[str, object] = {"installed": guest.opkg("install", *feed(guest))}
    return {**told, "config": guest.read(CONFIG), "tree": guest.tree()}


def other_program(guest: Guest) -> dict[str, object]:
    """Install where the older program of the same name is, with its parts, in the order that the feed's README says."""
    told: dict[str, object] = {"theirs": guest.opkg("install", *[f"/packages/other/{name}.ipk" for name in OTHERS])}
    told["refused"] = guest.opkg("install", "--force-downgrade", *feed(guest))
    told["parts"] = guest.opkg("remove", *[name for name in OTHERS if "-mod-" in name])
    told["ours"] = guest.opkg("install", "--force-downgrade", *feed(guest))
    told["is_up"] = guest.wait_for(SOCKET)
    told["version"] = guest.run("oasis", "--version")
    told["config"] = guest.read(CONFIG)
    told["after"] = guest.tree()
    told["removed"] = guest.opkg("remove", *reversed(names(feed(guest))))
    told["at_last"] = guest.tree()
    return told


def bytecode(guest: Guest) -> dict[str, object]:
    """Give the router another Python, one that cannot compile, and none of these, one after the other."""
    guest.opkg("install", *feed(guest))
    guest.wait_for(SOCKET)
    told: dict[str, object] = {"again": guest.run(*BYTECODE, "make")}
    python = str(guest.run("readlink", "-f", "/usr/bin/python3")["out"]).strip()
    guest.run("cp", python, "/usr/bin/python3.99")
    guest.run("ln", "-sf", "python3.99", "/usr/bin/python3")
    told["other"] = guest.run(*BYTECODE, "make")
    told["other_again"] = guest.run(*BYTECODE, "make")
    guest.run("rm", "/usr/lib/oasis/.bytecode")
    guest.run("/etc/init.d/oasis", "stop")
    told["started"] = guest.run("/etc/init.d/oasis", "start")
    guest.run("ln", "-sf", "/bin/false", "/usr/bin/python3")
    told["broken"] = guest.run(*BYTECODE, "make")
    told["tree"] = guest.tree()
    return told


def by_apk(guest: Guest) -> dict[str, object]:
    """Install, upgrade and remove with apk."""
    told: dict[str, object] = {"before": guest.tree()}
    told["installed"] = guest.apk("add", "--initdb", *apks(guest, "first"))
    told["is_up"] = guest.wait_for(SOCKET)
    told["prompt"] = guest.run("oasis", "prompt", "what can you do?")
    told["after_install"] = guest.tree()
    told["passwd"] = guest.read("/etc/passwd")
    told["pid"] = guest.run("pgrep", "-f", "/usr/sbin/oasisd")["out"]
    told["upgraded"] = guest.apk("add", *apks(guest, "next"))
    told["is_up_again"] = guest.wait_for(SOCKET)
    told["new_pid"] = guest.run("pgrep", "-f", "/usr/sbin/oasisd")["out"]
    told["version"] = guest.run("oasis", "--version")
    told["after_upgrade"] = guest.tree()
    told["removed"] = guest.apk("del", *names(feed(guest)))
    told["after"] = guest.tree()
    return told


def apks(guest: Guest, folder: str) -> list[str]:
    return str(guest.run("find", "/packages/" + folder, "-name", "*.apk")["out"]).split()


def feed(guest: Guest, folder: str = "first") -> list[str]:
    """Return the packages of a feed in the order in which they depend on each other."""
    found = str(guest.run("find", "/packages/" + folder, "-name", "*.ipk")["out"]).split()
    last = ("i18n", "full", "luci")
    return sorted(found, key=lambda path: (*(one in path for one in last), path.count("-"), "admin" in path, path))


def place(guest: Guest, name: str, folder: str = "first") -> str:
    """Return where a package of a feed is."""
    return next(path for path in feed(guest, folder) if names([path]) == [name])


def names(paths: list[str]) -> list[str]:
    return [path.rpartition("/")[2].split("_")[0] for path in paths]
