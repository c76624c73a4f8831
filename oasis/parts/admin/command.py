"""The commands of this part: what the owner does at the terminal, and alone sees there."""

from __future__ import annotations

import os

from oasis.cli.commands import OK, given, whole
from oasis.cli.prompt import follow
from oasis.cli.terminal import read_secret, read_text
from oasis.core import clean, jsonl
from oasis.errors import StoreError, ToolError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.rpc_client import Call
    from oasis.cli.terminal import Screen
    from oasis.parts.admin.shapes import Peer, WireGuardList

# word: whether a name follows
WIREGUARD_ACTIONS = {
    "list": False, "server": False, "add": True, "show": True, "remove": True, "forget": True, "endpoint": True,
}  # fmt: skip
SSH_KEYS_ACTIONS = {"list": False, "add": True, "remove": True, "undo": False}
FIRMWARE_ACTIONS = ("status", "check", "upgrade")
_KEY_BYTES = 16 * 1024


def wireguard(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list servers and peers without one."""
    action, name = arguments["ACTION"] or "list", arguments["NAME"]
    if action not in WIREGUARD_ACTIONS:
        raise UsageError(f"unknown word {action!r}", "one of " + ", ".join(WIREGUARD_ACTIONS))
    if bool(name) != WIREGUARD_ACTIONS[action]:
        raise UsageError(f"`wireguard {action}` takes {'a NAME' if WIREGUARD_ACTIONS[action] else 'no name'}")
    interface = given(interface=arguments["--interface"])
    if action == "list":
        return _list(call("wireguard.list", {}), screen)
    if action == "endpoint":
        reply = call("wireguard.endpoint", {"host": "" if name == "none" else name})
        return screen.result(reply, f"devices find the router at {reply['endpoint'] or 'nowhere known'}")
    if action == "show":
        home = {"home": True} if arguments["--home"] else {}
        asked = {"name": name, "file": True, **interface, **given(endpoint=arguments["--endpoint"]), **home}
        found = call("wireguard.show", asked)
        config = _taken(found.pop("file"))
        if arguments["--file"]:
            path = _written(arguments["--file"], config)
            return screen.result({"file": path}, f"{path}: for {found['name']} alone; delete it when it is there")
        lines: list[str | tuple[str, str]] = [(line, "") for line in (*found["qr"], *config.split("\n"))]
        return screen.result({**found, "config": config}, lines)
    port = {"port": whole(arguments["--port"])} if arguments["--port"] else {}
    more = {**interface, **given(name=name, public_key=arguments["--key"]), **port}
    started = call("wireguard.change", {"action": action, **more})
    status = follow(call, started, screen, not arguments["--no-wait"])
    if status == OK and action == "add" and not arguments["--key"]:
        screen.notice(f"its configuration and QR code: oasis wireguard show '{clean.line(name)}'")
    return status


def ssh_keys(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list the keys without one."""
    action, key = arguments["ACTION"] or "list", arguments["KEY"]
    if action not in SSH_KEYS_ACTIONS:
        raise UsageError(f"unknown word {action!r}", "one of " + ", ".join(SSH_KEYS_ACTIONS))
    if bool(key) != SSH_KEYS_ACTIONS[action]:
        raise UsageError(f"`ssh_keys {action}` takes {'a KEY' if SSH_KEYS_ACTIONS[action] else 'nothing more'}")
    if action == "list":
        reply = call("ssh_keys.list", {})
        lines = [f"{one['fingerprint']}  {one['kind']}  {one['comment'] or '(no comment)'}" for one in reply["keys"]]
        if not reply["password_login"]:
            lines.append("login by password is off")
        return screen.result(reply, lines or "no key logs in by SSH; add one: oasis ssh_keys add KEY")
    if action == "add":
        # A key is no path: its first word has no slash, and others follow.
        is_path = key.startswith(("/", "./", "../", "~")) or os.path.exists(key)
        key = read_text() if key == "-" else _content(os.path.expanduser(key)) if is_path else key
    more = {"action": action, **given(key=key.strip())}
    return follow(call, call("tool.call", {"name": "ssh_keys", "arguments": more}), screen, not arguments["--no-wait"])


def password(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Ask for the new password of root, twice at a terminal, and set it."""
    new = read_secret(screen, "New password of root (not shown): ")
    if not new:
        raise UsageError("no password was typed", "the old one stays")
    if screen.is_terminal and read_secret(screen, "The same again: ") != new:
        raise UsageError("the two are not the same", "the old one stays; try again")
    reply = call("password.set", {"password": new})
    screen.result(reply, "the password of root is set")
    for note in reply["notes"]:
        screen.notice(note)
    return OK


def firmware(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; tell what runs here without one."""
    action = arguments["ACTION"] or "status"
    if action not in FIRMWARE_ACTIONS:
        raise UsageError(f"unknown word {action!r}", "one of " + ", ".join(FIRMWARE_ACTIONS))
    if action == "status":
        reply = call("firmware.look", {})
        known = ("release", "board", "target", "program")
        return screen.result(reply, [f"{name:8} {reply[name]}" for name in known if reply[name]] + reply["notes"])
    more = {"action": action, **given(version=arguments["--version"])}
    started = call("tool.call", {"name": "firmware", "arguments": more})
    if action == "check":
        return _told(call, started["run"], screen)
    return follow(call, started, screen, not arguments["--no-wait"])


def _told(call: Call, run: str, screen: Screen) -> int:
    """Print the lines of a tool's result, or its error; return the exit status."""
    since, events = 0, list[dict[str, object]]()
    while not any(one["type"] == "end" for one in events):
        reply = call("run.poll", {"run": run, "since": since, "wait_ms": 15000})
        since = reply["next"]
        events += [{**one} for one in reply["events"]]
    found = next((jsonl.loads(str(one["text"])) for one in events if one["type"] == "tool_result"), {})
    if not isinstance(found, dict) or "error" in found or not found:
        error = found.get("error") if isinstance(found, dict) else None
        words = error.get("message") if isinstance(error, dict) else "the run ended without a result"
        raise ToolError(str(words), str(error.get("hint") or "") if isinstance(error, dict) else "")
    lines = found.get("lines")
    return screen.result(found, [str(line) for line in lines] if isinstance(lines, list) else [])


def upload(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Send a file and have it put in its place."""
    from oasis.cli.request import send  # what reads files comes with the first one

    sent = send(call, arguments["FILE"])
    asked = {"upload": sent["upload"], "kind": arguments["KIND"], **given(name=arguments["--name"])}
    reply = call("file.place", {**asked, **({"replace": True} if arguments["--replace"] else {})})
    return screen.result(reply, [str(reply["file"]), f"its path goes into {reply['use']}"])


def _content(path: str) -> str:
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise UsageError(f"{path} is no regular file", "name the file of a public key, like id_ed25519.pub")
        with open(path, "rb") as file:
            return file.read(_KEY_BYTES).decode("utf-8")
    except (OSError, UnicodeError):
        raise StoreError(f"{path} cannot be read as text", "name the file of a public key, like id_ed25519.pub")


def _taken(path: str) -> str:
    """Return the text of a file, which is gone afterwards."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        os.remove(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {os.strerror(error.errno or 0)}", "do it on the router, as root")
    return text


def _written(path: str, text: str) -> str:
    """Write a new file that its owner alone reads; return its path."""
    path = os.path.abspath(os.path.expanduser(path))
    try:
        with open(path, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(text)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {os.strerror(error.errno or 0)}", "name a file that is not there")
    return path


def _list(reply: WireGuardList, screen: Screen) -> int:
    lines: list[str | tuple[str, str]] = []
    for one in reply["interfaces"]:
        state = "up" if one["up"] else "not up"
        lines.append((clean.line(f"{one['interface']}  {state}, port {one['port'] or 'any'}"), "bold"))
        lines.append(f"  {', '.join(one['addresses'])}  public key {one['public_key']}")
        lines += [f"  {_peer(peer)}" for peer in one["peers"]] or ["  no peer yet: oasis wireguard add NAME"]
    if not lines:
        lines.append("there is no WireGuard here yet; make a server: oasis wireguard server")
    elif not reply["endpoint"]:
        lines.append("from outside the router is found nowhere known: oasis wireguard endpoint HOST")
    screen.result(reply, lines)
    for note in reply.get("notes", []):
        screen.notice(note)
    return OK


def _peer(peer: Peer) -> str:
    words = [f"{peer['name'] or peer['peer']}  {', '.join(peer['addresses'])}"]
    if peer.get("disabled"):
        words.append("switched off")
    if "received_bytes" in peer:
        ago = peer["handshake_s_ago"]
        words.append("never seen" if ago is None else f"seen {_length(ago)} ago")
        words.append(f"{_size(peer['received_bytes'])} in, {_size(peer['sent_bytes'])} out")
    return "  ".join(words)


def _length(seconds: int) -> str:
    for unit, word in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds // unit} {word}"
    return f"{seconds} s"


def _size(count: int) -> str:
    for unit, word in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {word}"
    return f"{count} B"
