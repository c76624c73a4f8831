"""Keys of SSH: each change waits for the owner whatever is set, the last one stays, and there is a way back."""

import base64
import hashlib
import json
import os
import shutil
import subprocess

import pytest

from oasis.errors import UsageError
from oasis.parts.admin.ssh_keys import read_added, read_line
from tests.daemon.test_wiring import config, follow, of_type
from tests.llm.test_workers import root_with
from tests.oasisd import copy_root, set_option, start_daemon
from tests.parts.admin.world import approve, carried_out, put, result
from tests.recorder import Recorder

pytestmark = pytest.mark.part("admin")
PATH = "/etc/dropbear/authorized_keys"


def key(number, comment="", kind=b"ssh-ed25519"):
    """Return the line of a key."""
    blob = len(kind).to_bytes(4, "big") + kind + (32).to_bytes(4, "big") + bytes([number]) * 32
    return " ".join(filter(None, [kind.decode(), base64.b64encode(blob).decode(), comment]))


def fingerprint(line):
    digest = hashlib.sha256(base64.b64decode(line.split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


LAPTOP, DESK = key(1, "laptop"), key(2, "desk")


@pytest.fixture
def root(tmp_path):
    return copy_root(str(tmp_path / "router"))


@pytest.fixture
def daemon(root):
    set_option(root, "approval", "none")
    running = start_daemon(root)
    yield running
    running.stop()


def held(daemon):
    try:
        with open(daemon.root + PATH, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def asked(daemon, action, given=""):
    arguments = {"action": action, **({"key": given} if given else {})}
    return daemon.call("tool.call", name="ssh_keys", arguments=arguments)


def test_a_key_is_added_after_a_card_of_its_own_whatever_is_set(daemon):
    card, told = carried_out(daemon, asked(daemon, "add", LAPTOP))
    assert card["reasons"] == ["it changes who logs in as root"], "undo takes it back"
    assert card["risk"] == "risky" and any(fingerprint(LAPTOP) in word for word in card["words"])
    assert told["status"] == "done" and held(daemon) == LAPTOP + "\n"
    assert os.stat(daemon.root + PATH).st_mode & 0o777 == 0o600
    assert daemon.call("ssh_keys.list") == {
        "keys": [{"kind": "ssh-ed25519", "fingerprint": fingerprint(LAPTOP), "comment": "laptop"}],
        "password_login": True,
    }


@pytest.mark.parametrize(("bits", "is_taken"), [(1024, False), (2047, False), (2048, True)])
def test_a_short_rsa_key_is_refused(bits, is_taken):
    def field(data):
        return len(data).to_bytes(4, "big") + data

    number = b"\0" + (1 << (bits - 1)).to_bytes(bits // 8 + 1, "big").lstrip(b"\0")
    blob = field(b"ssh-rsa") + field(b"\1\0\1") + field(number)
    line = "ssh-rsa " + base64.b64encode(blob).decode()
    if is_taken:
        assert read_added(line)["kind"] == "ssh-rsa"
    else:
        with pytest.raises(UsageError, match=f"has {bits} bits"):
            read_added(line)


def test_declined_nothing_is_written(daemon):
    started = asked(daemon, "add", LAPTOP)
    card = of_type(follow(daemon, started, ("plan",)), "plan")[0]["plan"]
    daemon.call("plan.decline", plan=card["id"])
    assert result(follow(daemon, started))["status"] == "declined" and held(daemon) is None


def test_undo_puts_the_file_back_and_forth(daemon):
    put(daemon.root, PATH, "# mine\n" + LAPTOP + "\n")
    carried_out(daemon, asked(daemon, "add", DESK))
    assert held(daemon) == f"# mine\n{LAPTOP}\n{DESK}\n"
    card, _ = carried_out(daemon, asked(daemon, "undo"))
    assert any("removes the SSH key" in word and "desk" in word for word in card["words"])
    assert held(daemon) == f"# mine\n{LAPTOP}\n"
    carried_out(daemon, asked(daemon, "undo"))
    assert held(daemon) == f"# mine\n{LAPTOP}\n{DESK}\n"
    carried_out(daemon, asked(daemon, "remove", "laptop"))
    assert held(daemon) == f"# mine\n{DESK}\n"


def test_the_last_key_stays_while_no_password_logs_in(daemon):
    put(daemon.root, PATH, LAPTOP + "\n")
    text = config(daemon.root, "dropbear").decode()
    put(daemon.root, "/etc/config/dropbear", text.replace("PasswordAuth 'on'", "PasswordAuth 'off'"), 0o600)
    assert not daemon.call("ssh_keys.list")["password_login"]
    card, told = carried_out(daemon, asked(daemon, "remove", fingerprint(LAPTOP)))
    assert card is None and "nobody could log in" in told["error"]["message"]
    carried_out(daemon, asked(daemon, "add", DESK))
    carried_out(daemon, asked(daemon, "remove", fingerprint(LAPTOP)))
    assert held(daemon) == DESK + "\n"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("", "no public key"),
        ("ssh-ed25519", "no public key"),
        ("ssh-ed25519 AAAA laptop", "no public key"),
        (key(3).replace("ssh-ed25519", "ssh-rsa", 1), "no public key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE", "a private key"),
        (f"{LAPTOP}\n{DESK}", "more than one line"),
        (f'command="reboot" {LAPTOP}', "no public key"),
        (DESK.replace("desk", "\x1b[31mother name"), "there already"),
    ],
)
def test_what_is_no_new_key_is_refused_before_anybody_is_asked(daemon, given, why):
    put(daemon.root, PATH, DESK + "\n")
    card, told = carried_out(daemon, asked(daemon, "add", given))
    assert card is None and why in told["error"]["message"], told
    assert held(daemon) == DESK + "\n"


def test_a_comment_cannot_steer_a_terminal_or_end_a_line(daemon):
    carried_out(daemon, asked(daemon, "add", key(4, "a\x1b[2Jb\u202ec \x9bx")))
    assert held(daemon).count("\n") == 1 and "\x1b" not in held(daemon) and "\u202e" not in held(daemon)


def test_options_of_a_line_are_seen_and_kept(daemon):
    line = f'restrict,command="echo hi" {LAPTOP}'
    put(daemon.root, PATH, line + "\n")
    assert daemon.call("ssh_keys.list")["keys"][0]["has_options"]
    carried_out(daemon, asked(daemon, "add", DESK))
    assert held(daemon) == f"{line}\n{DESK}\n"


def test_a_model_proposes_and_the_owner_decides(tmp_path):
    model = Recorder([("ssh_keys", {"action": "add", "key": LAPTOP})], [("ssh_keys", {"action": "list"})], "Done.")
    root = root_with(tmp_path, "openai", model.url, "scripted", "sk-testkey-000000")
    set_option(root, "approval", "none")
    daemon = start_daemon(root)
    try:
        started = daemon.call("run.start", message="let my laptop in by ssh")
        card = of_type(follow(daemon, started, ("plan",)), "plan")[0]["plan"]
        assert held(daemon) is None, "nothing is written before the yes"
        assert "error" in daemon.call("tool.set", name="ssh_keys", approval="allow")
        approve(daemon, card)
        follow(daemon, started)
        assert held(daemon) == LAPTOP + "\n"
        assert json.loads(model.messages()[-1]["content"])["untrusted"] == ["comments of SSH keys"]
    finally:
        daemon.stop()
        model.close()


@pytest.mark.parametrize("role", ["messenger", "schedule", "client"])
def test_nobody_else_proposes_one(role):
    from types import SimpleNamespace

    from oasis.errors import PolicyError
    from oasis.parts.admin.ssh_keys import SshKeys

    kit = SimpleNamespace(root=SimpleNamespace(path=str, state_folder="/nowhere"))
    with pytest.raises(PolicyError, match="by the owner at the router"):
        SshKeys(kit).preview("ssh_keys", {"action": "add", "key": LAPTOP}, SimpleNamespace(role=role), None)


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="apt-get install openssh-client")
@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_fingerprints_are_those_of_ssh_keygen(tmp_path, kind):
    path = str(tmp_path / "key")
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "a b", "-f", path], check=True)
    shown = subprocess.run(["ssh-keygen", "-lf", path + ".pub"], capture_output=True, text=True, check=True).stdout
    with open(path + ".pub", encoding="utf-8") as file:
        found = read_line(file.read())
    assert found["fingerprint"] == shown.split()[1] and found["comment"] == "a b"
