"""Start a real oasisd on a router root in a folder: for tests and for `make run`."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(HERE)
# Seconds for a daemon to answer at its first start on a slow machine, and to end; an emulated one is slower.
SLOWER = int(os.environ.get("OASIS_SLOWER", "1"))
READY_S = 20 * SLOWER
STOP_S = 15 * SLOWER
PARTS = ("admin", "lua", "mcp", "memory", "monitor", "offline", "schedule", "telegram")


def copy_root(target: str, *, is_stock: bool = False) -> str:
    """Copy the stock router root to a folder; return its absolute path.

    Somebody is there to propose changes (`proposer()`), unless the settings are to be those of the stock root.
    """
    spec = importlib.util.spec_from_file_location("router_copy", HERE + "/router/copy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    root = module.copy_root(target)
    if not is_stock and not has_part("offline"):
        from tests import stand_in

        stand_in.put_before(root)
    return root


def granted(group: str, *kinds: str) -> list[tuple[str, str]]:
    """Return the (object, method) pairs that a group of the ACL files grants, of the core and of all parts."""
    found = []
    folder = REPOSITORY + "/files/usr/share/rpcd/acl.d/"
    for name in sorted(os.listdir(folder)):
        with open(folder + name, encoding="utf-8") as handle:
            rights = json.load(handle).get(group, {})
        for kind in kinds:
            assert set(rights.get(kind, {"ubus": {}})) == {"ubus"}, "neither files nor packages"
            granted = rights.get(kind, {"ubus": {}})["ubus"]
            found += [(where, one) for where, methods in granted.items() for one in methods]
    return found


def has_part(name: str) -> bool:
    """Tell whether an optional part is in the tree under test; a test that needs one has the mark `part`."""
    return os.path.exists(f"{REPOSITORY}/oasis/parts/{name}/manifest.py")


def proposer() -> str:
    """Return the service that is in use on a copied root and proposes changes; see stand_in.py."""
    return "offline" if has_part("offline") else "stand-in"


def parts_in(*paths: str) -> list[str]:
    """Return the optional parts that paths of the repository are in."""
    return [name for name in PARTS if any(f"parts/{name}/" in path for path in paths)]


def lacking(kind: str) -> set[str]:
    """Return the names of a kind, as in known.json, that would be those of parts which are not in the tree."""
    with open(REPOSITORY + "/oasis/parts/known.json", encoding="utf-8") as handle:
        known = json.load(handle)
    return {name for part in PARTS if not has_part(part) for name in known[part][kind]}


def set_option(root: str, name: str, value: str) -> None:
    """Set an option of the section `main` of Oasis's own settings."""
    path = root + "/etc/config/oasis"
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text.replace("config oasis 'main'\n", f"config oasis 'main'\n\toption {name} '{value}'\n", 1))


class Daemon:
    """A running oasisd: `.root`, `.process`, `call(method, **params)`, `stop()`, `kill()`."""

    def __init__(self, root: str, process: subprocess.Popen[bytes]) -> None:
        self.root = root
        self.process = process
        self.socket = root + "/var/run/oasis/oasis.sock"

    def call(self, method: str, **params: object) -> dict[str, object]:
        """Call a method as a program without a terminal would; returns its result or {"error": …}."""
        with connected(self.socket) as connection:
            line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            connection.sendall(line.encode() + b"\n")
            reply = json.loads(read_line(connection))
        return reply["result"] if "result" in reply else {"error": reply["error"].get("data", reply["error"])}

    def log(self) -> str:
        """Return what the daemon wrote to its log."""
        with open(self.root + "/var/log/oasisd.log", encoding="utf-8", errors="replace") as handle:
            return handle.read()

    def stop(self) -> int:
        """End it as procd does; return its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.wait()


def connected(path: str) -> socket.socket:
    """Return a connection to a unix socket, however long its path."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(60 * SLOWER)
        connection.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        return connection
    finally:
        os.close(folder)


def _listens(path: str) -> bool:
    """Tell whether a living process listens there.

    One that was killed while it started a child may leave its socket open in that child until the child's exec: whoever
    connects then is let in, and nobody is there.
    """
    try:
        with connected(path) as connection:
            told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except OSError:
        return False
    return os.path.exists(f"/proc/{struct.unpack('3i', told)[0]}")


def read_line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        piece = connection.recv(65536)
        if not piece:
            raise AssertionError("the daemon closed the connection")
        data += piece
    return data


def start_daemon(
    root: str, python: str = sys.executable, path: str = "", wait: bool = True, wrapper: tuple[str, ...] = (),
    library: str = REPOSITORY,
) -> Daemon:  # fmt: skip
    """Start oasisd on a router root; by default wait until it answers.

    `path` stands before the host's PATH after the root's own bin; `wrapper` is put before the command;
    `library` is the folder that oasis/ is in.
    """
    code = f"import sys; sys.path.insert(0, {library!r}); from oasis.daemon.main import main; sys.exit(main([]))"
    search = [root + "/bin", path, os.environ.get("PATH", "/usr/bin:/bin")]
    # MALLOC_ARENA_MAX as files/etc/init.d/oasis has it: glibc gives threads arenas of their own, musl has none.
    env = {"MALLOC_ARENA_MAX": "1", "OASIS_ROOT": root, "PATH": ":".join(part for part in search if part), "HOME": "/"}
    with open(root + "/var/log/oasisd.log", "ab") as log:
        process = subprocess.Popen(
            [*wrapper, python, "-IS", "-c", code],
            env=env,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    daemon = Daemon(root, process)
    deadline = time.monotonic() + READY_S
    while wait:
        if _listens(daemon.socket):
            break
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError("oasisd did not start:\n" + daemon.log()[-2000:])
        time.sleep(0.01)
    return daemon
