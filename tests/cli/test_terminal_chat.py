"""The chat and its commands as a person at a terminal has them."""

import os

import pytest

from tests.cli import launcher
from tests.cli.fake_daemon import FakeDaemon
from tests.cli.terminal import Terminal
from tests.cli.values import end, info, polled

VALUE = "correct horse battery"
STANDS = "«secret:0a1b2c3d»"
FIRST = "03f2a4b6c8d0e1f2g3h4i5j01"
LAST = "03f2a4b6c8d0e1f2g3h4i5j02"
OTHER = "03f2a4b6c8d0e1f2g3h4i5j03"
THREAD = {
    "id": "c1",
    "title": "Guests",
    "head": LAST,
    "messages": [
        {"id": FIRST, "role": "user", "content": "earlier", "continues": []},
        {"id": LAST, "role": "assistant", "content": "Then.", "continues": [FIRST]},
    ],
    "earlier": 0,
    "siblings": {},
    "bookmarks": {"guests": LAST},
}
ELSEWHERE = {"code": "usage", "message": "'guests' stands on another branch", "hint": "move it there with: --move"}
TITLE = {"type": "title", "chat": "c1", "title": "Keys"}
ANSWERS = [
    ("info", None, info()),
    ("run.start", None, {"run": "r1", "chat": "c1"}),
    ("run.poll", None, polled([{"type": "delta", "text": "Done."}, TITLE, end()])),
    ("secret.keep", {"value": VALUE}, {"secret": STANDS}),
    ("chat.load", None, THREAD),
    ("chat.list", None, {"item": [{"id": "c1", "title": "Guests", "updated_unix_s": 0, "exchanges": 1}]}),
    ("chat.forget", None, {"status": "OK"}),
    ("bookmark.list", None, {"bookmarks": [{"name": "guests", "chat": "c1", "message": LAST, "text": "earlier"}]}),
    ("bookmark.set", {"name": "guests", "message": OTHER, "move": True}, {"status": "OK"}),
    ("bookmark.set", {"name": "guests", "message": OTHER}, {"error": ELSEWHERE}),
    ("bookmark.set", None, {"error": {"code": "usage", "message": "no message", "hint": "oasis tree"}}),
    ("run.active", None, {"runs": []}),
]  # fmt: skip


@pytest.fixture
def at_terminal(tmp_path):
    """Return a function that starts `oasis WORDS` at a terminal, beside a daemon that answers."""
    program = launcher.install(tmp_path)
    with FakeDaemon(tmp_path, ANSWERS) as daemon:
        yield lambda *words: (Terminal([*program, *words], launcher.environment(tmp_path)), daemon)


def asked_for_secret(terminal):
    terminal.wait_for("the secret (it is not shown): ")


def test_secret_inside_a_message_is_typed_unseen_and_its_placeholder_is_said(at_terminal):
    terminal, daemon = at_terminal("chat")
    terminal.wait_for("you: ")
    terminal.type("set the key to /secret\n")
    asked_for_secret(terminal)
    terminal.type(VALUE + "\n")
    terminal.wait_for("Done.")
    terminal.wait_for("you: ")
    terminal.type("/exit\n")
    assert terminal.leave() == 0
    assert VALUE not in terminal.text
    assert daemon.params_of("secret.keep") == [{"value": VALUE}]
    assert daemon.params_of("run.start") == [{"message": f"set the key to {STANDS}"}]


def test_secret_is_in_no_argument_no_environment_and_no_history(at_terminal):
    terminal, daemon = at_terminal("chat")
    terminal.wait_for("you: ")
    terminal.type("/secret\n")
    asked_for_secret(terminal)
    terminal.type(VALUE + "\n")
    terminal.wait_for(f"{STANDS} stands for it")
    for name in ("cmdline", "environ"):
        with open(f"/proc/{terminal.process_id}/{name}", "rb") as file:
            assert VALUE.encode() not in file.read()
    terminal.wait_for("you: ")
    terminal.type("\x1b[A")  # up: what was typed at the prompt before
    terminal.wait_for("/secret")
    terminal.type("\x1b[A\x1b[A\x15/exit\n")  # further up, and the line is cleared
    assert terminal.leave() == 0
    assert VALUE not in terminal.text
    said = [params for method, params in daemon.calls if method != "secret.keep"]
    assert VALUE not in str(said)


@pytest.mark.parametrize("typed", ["\n", "\x03", "\x04"])
def test_no_secret_says_nothing_and_the_terminal_shows_again_what_is_typed(at_terminal, typed):
    terminal, daemon = at_terminal("chat")
    terminal.wait_for("you: ")
    terminal.type("set the key to /secret\n")
    asked_for_secret(terminal)
    terminal.type(typed)
    terminal.wait_for("oasis: error: no secret was entered, and nothing is said")
    terminal.wait_for("you: ")
    terminal.type("visible again")
    terminal.wait_for("visible again")
    terminal.type("\x15/exit\n")  # the line is cleared
    assert terminal.leave() == 0
    assert daemon.params_of("secret.keep") == daemon.params_of("run.start") == []


def test_path_that_ends_like_it_is_no_secret(at_terminal):
    terminal, daemon = at_terminal("chat")
    terminal.wait_for("you: ")
    terminal.type("what is in /etc/secret and /secrets\n")
    terminal.wait_for("Done.")
    terminal.wait_for("you: ")
    terminal.type("/exit\n")
    assert terminal.leave() == 0
    assert daemon.params_of("run.start") == [{"message": "what is in /etc/secret and /secrets"}]


def test_title_is_told_once_it_is_there(at_terminal):
    terminal, _ = at_terminal("chat")
    terminal.wait_for("you: ")
    terminal.type("hello\n")
    terminal.wait_for("Title: Keys  ID: c1")
    terminal.wait_for("you: ")
    terminal.type("/exit\n")
    assert terminal.leave() == 0


def test_chat_continues_a_bookmark_and_shows_its_thread_first(at_terminal):
    terminal, daemon = at_terminal("chat", "--continue", "guests")
    terminal.wait_for("you: earlier")
    terminal.wait_for("oasis: Then.")
    terminal.wait_for("[guests]")
    terminal.wait_for("you: ")
    terminal.type("and now\n")
    terminal.wait_for("Done.")
    terminal.wait_for("you: ")
    terminal.type("/exit\n")
    assert terminal.leave() == 0
    assert {"id": "c1", "head": "guests"} in daemon.params_of("chat.load")
    asked = {"message": "and now", "chat": "c1", "continues": ["guests"], "head": "guests"}
    assert daemon.params_of("run.start") == [asked], "the bookmark goes along"


@pytest.mark.parametrize("typed, moved", [("y\n", True), ("n\n", False)])
def test_bookmark_that_stands_elsewhere_is_moved_only_when_that_is_meant(at_terminal, typed, moved):
    terminal, daemon = at_terminal("branch", "guests", OTHER)
    terminal.wait_for("'guests' stands on another branch. Move it? [y/N] ")
    terminal.type(typed)
    assert terminal.leave() == (0 if moved else 11)
    asked = {"name": "guests", "message": OTHER}
    assert daemon.params_of("bookmark.set") == [asked, {**asked, "move": True}][: 1 + moved]


def test_bookmark_that_cannot_be_set_is_not_asked_about(at_terminal):
    terminal, _ = at_terminal("branch", "guests", FIRST)
    terminal.wait_for("oasis: error: no message")
    assert terminal.leave() == 2
    assert "Move it" not in terminal.text


@pytest.mark.parametrize("typed, status", [("y\n", 0), ("n\n", 11)])
def test_forgetting_is_asked_about(at_terminal, typed, status):
    terminal, daemon = at_terminal("forget", FIRST)
    terminal.wait_for(f"Forget what message {FIRST} says? [y/N] ")
    terminal.type(typed)
    assert terminal.leave() == status
    assert daemon.params_of("chat.forget") == ([] if status else [{"message": FIRST}])


def test_resume_shows_the_chat_used_last_and_talks_on(at_terminal):
    terminal, daemon = at_terminal("resume")
    terminal.wait_for("oasis: Then.")
    terminal.wait_for("you: ")
    terminal.type("on\n")
    terminal.wait_for("Done.")
    terminal.wait_for("you: ")
    terminal.press_ctrl_c()
    assert terminal.leave() == 0
    assert daemon.params_of("run.start") == [{"message": "on", "chat": "c1"}]


def test_exported_file_is_its_owners_alone_and_what_breaks_off_leaves_nothing(tmp_path):
    import subprocess

    begin = {"name": "n", "media_type": "m", "data": "ü\x00", "parts": 2}
    torn = {"error": {"code": "store", "message": "torn", "hint": ""}}
    parts = [("chat.list", None, ANSWERS[5][2])]
    parts += [("chat.export", None, answer) for answer in (begin, torn, begin, {**begin, "data": "end"})]
    program = launcher.install(tmp_path)
    target = tmp_path / "out.json"
    command = [*program, "export", "-o", str(target), "c1"]
    with FakeDaemon(tmp_path, parts):
        old_mask = os.umask(0)
        try:
            first = subprocess.run(command, env=launcher.environment(tmp_path), capture_output=True, text=True)
            assert (first.returncode, target.exists()) == (4, False)
            second = subprocess.run(command, env=launcher.environment(tmp_path), capture_output=True, text=True)
        finally:
            os.umask(old_mask)
    assert second.returncode == 0, second.stderr
    assert target.read_bytes() == "ü\x00end".encode()
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["oasis", "out.json", "var"]


def test_file_is_sent_in_pieces_that_the_daemon_takes(tmp_path):
    import base64
    import subprocess

    data = bytes(range(256)) * 400
    (tmp_path / "big.bin").write_bytes(data)
    answers = [
        ("upload.part", None, {"upload": "u1", "size_bytes": len(data)}),
        ("chat.import", {"upload": "u1"}, {"chats": [], "reports": []}),
    ]
    program = launcher.install(tmp_path)
    with FakeDaemon(tmp_path, answers) as daemon:
        command = [*program, "import", str(tmp_path / "big.bin")]
        done = subprocess.run(command, env=launcher.environment(tmp_path), capture_output=True, text=True)
        parts = daemon.params_of("upload.part")
    assert done.returncode == 0, done.stderr
    assert b"".join(base64.b64decode(part["data"]) for part in parts) == data
    assert max(len(part["data"]) for part in parts) <= 48 * 1024
    assert [part.get("upload") for part in parts] == [None, "u1", "u1"]
    assert [part.get("is_last", False) for part in parts] == [False, False, True]
    assert {part["name"] for part in parts} == {"big.bin"}
