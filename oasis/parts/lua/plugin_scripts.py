"""The file behind a tool server: which one it is, and whether it may be one at all.

An object of the bus counts as a tool server only when a plugin file of rpcd stands behind it: the program
/usr/libexec/rpcd/NAME, or one script /usr/share/rpcd/ucode/*.uc that publishes NAME. Objects of the base system and our
own are none, whatever a manifest says. The file must be root's, and nobody else may write to it.
"""

from __future__ import annotations

import os
import re

from oasis.errors import PolicyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.system.root import Root

    Script = dict[str, object]

PROGRAMS = "/usr/libexec/rpcd"
SCRIPTS = "/usr/share/rpcd/ucode"
SCRIPT_BYTES = 512 * 1024
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")
# First words of objects that a router has without us; each alone, or before a dot or a dash.
BASE = (
    "container", "dhcp", "dnsmasq", "dropbear", "file", "firewall", "hostapd", "hotplug", "iwinfo", "log", "luci",
    "luci2", "network", "netifd", "odhcpd", "procd", "rc", "rpc", "rpcd", "service", "session", "system", "ubus",
    "uci", "udebug", "uhttpd", "umdns", "wireless", "wpa_supplicant",
)  # fmt: skip
# Our own objects (bus/objects.py, compared by a test); upstream's tool servers begin with the same word.
OURS = (
    "oasis", "oasis.agent", "oasis.alias", "oasis.audit", "oasis.bookmark", "oasis.change", "oasis.chat",
    "oasis.config", "oasis.doctor", "oasis.knowledge", "oasis.mcp", "oasis.memory", "oasis.notice", "oasis.plan",
    "oasis.plugin", "oasis.privacy", "oasis.run", "oasis.schedule", "oasis.secret", "oasis.service", "oasis.setup",
    "oasis.skill", "oasis.system", "oasis.telegram", "oasis.title", "oasis.tool", "oasis.tool.edge",
    "oasis.tool.manager", "oasis.topic", "oasis.upload", "oasis.upstream", "oasis.usage",
)  # fmt: skip


def find(root: Root, server: str) -> Script:
    """Return the file of a tool server: {"path": on the router, "kind": lua | ucode, "data": bytes}.

    Raises: PolicyError saying why there is none that counts.
    """
    if not _NAME.match(server):
        raise PolicyError("%r cannot be the name of a tool server" % server[:64])
    if server in OURS:
        raise PolicyError("%s is an object of Oasis itself and no tool server" % server)
    if re.split(r"[.-]", server)[0] in BASE:
        raise PolicyError("%s belongs to the router's own system and is no tool server" % server)
    found = [one for one in (_program(root, server), *_published(root, server)) if one]
    if not found:
        raise PolicyError(
            "%s is no plugin of rpcd" % server, "there is neither %s/%s nor a script that names it" % (PROGRAMS, server)
        )
    if len(found) > 1:
        raise PolicyError(
            "%s is named by more than one file" % server,
            "remove all but one: " + ", ".join(str(f["path"]) for f in found),
        )
    return found[0]


def paths(root: Root, server: str) -> list[str]:
    """Return every path of this host that could be behind a server: what to look at for changes."""
    return [root.path(PROGRAMS + "/" + server), *(root.path(path) for path in _ucode(root))]


def _program(root: Root, server: str) -> Script | None:
    path = PROGRAMS + "/" + server
    if not os.path.lexists(root.path(path)):
        return None
    data = _read(root, path)
    if not os.access(root.path(path), os.X_OK):
        raise PolicyError("%s is not executable, so rpcd does not run it" % path)
    return {"path": path, "kind": "lua", "data": data}


def _published(root: Root, server: str) -> list[Script]:
    name = re.escape(server.encode())
    # `server.tool("NAME", …)` of upstream, or a key of what the script returns to rpcd.
    wanted = re.compile(rb"tool\s*\(\s*([\"'])%s\1\s*,|([\"'])%s\2\s*:|(?<![\w.\"'-])%s\s*:\s*\{" % (name, name, name))
    found: list[Script] = []
    for path in _ucode(root):
        data = _read(root, path)
        if wanted.search(data):
            found.append({"path": path, "kind": "ucode", "data": data})
    return found


def _ucode(root: Root) -> list[str]:
    try:
        names = sorted(os.listdir(root.path(SCRIPTS)))
    except OSError:
        return []
    return [SCRIPTS + "/" + name for name in names if name.endswith(".uc")]


def _read(root: Root, path: str) -> bytes:
    """Return the bytes of a plugin's file.

    Raises: PolicyError when it is a link, no file, too long, or somebody else could change it.
    """
    try:
        number = os.open(root.path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise PolicyError("%s cannot be read: %s" % (path, error.strerror), "a link does not count")
    try:
        state = os.fstat(number)
        if state.st_mode & 0o170000 != 0o100000:
            raise PolicyError("%s is no file" % path)
        if state.st_uid != os.geteuid() or state.st_mode & 0o022:
            raise PolicyError("others than root can write to %s" % path, "chown root %s; chmod go-w %s" % (path, path))
        with open(number, "rb", closefd=False) as handle:
            data = handle.read(SCRIPT_BYTES + 1)
    finally:
        os.close(number)
    if len(data) > SCRIPT_BYTES:
        raise PolicyError("%s is longer than %d bytes" % (path, SCRIPT_BYTES), "nobody reviews that much")
    return data
