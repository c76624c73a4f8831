"""`oasis add` and `oasis key` at a real terminal: what is missing is asked for, and a key is never shown."""

import pytest

from tests.cli import launcher
from tests.cli.fake_daemon import FakeDaemon
from tests.cli.terminal import Terminal

KEY = "sk-typed-0123456"
OPENAI = {"profile": "openai", "name": "OpenAI", "endpoint": "https://api.openai.com/v1", "model": "gpt-5.6"}
OPENAI |= {"key": "required", "local": False}
LLAMA = {"profile": "llamacpp", "name": "llama.cpp", "endpoint": "http://127.0.0.1:8080/v1", "model": "default"}
LLAMA |= {"key": "optional", "local": True}
PROVIDERS = ("service.providers", {}, {"providers": [OPENAI, LLAMA]})
ADDED = {"identifier": "new"}


@pytest.fixture
def at_terminal(tmp_path):
    def start(words, answers):
        daemon = FakeDaemon(tmp_path, answers)
        running.append(daemon.__enter__())
        return Terminal([*launcher.install(tmp_path), *words], launcher.environment(tmp_path, TERM="xterm"))

    running = []
    yield start
    for daemon in running:
        daemon.__exit__(None, None, None)


def test_a_service_is_added_question_by_question(at_terminal):
    models = {"models": [{"id": "small"}, {"id": "large"}], "is_cut": False}
    terminal = at_terminal(
        ["add"],
        [
            PROVIDERS,
            ("service.add", {"name": "openai", "key": KEY}, ADDED),
            ("service.models", {"identifier": "new"}, models),
            ("service.change", {"identifier": "new", "model": "large"}, {"status": "OK"}),
        ],
    )
    terminal.wait_for("2  llama.cpp")
    terminal.wait_for("Provider (name or number): ")
    terminal.type("1\n")
    terminal.wait_for("Key (not shown): ")
    terminal.type(KEY + "\n")
    terminal.wait_for("2  large")
    terminal.wait_for("Model (name or number) [gpt-5.6]: ")
    terminal.type("2\n")
    terminal.wait_for("new is added")
    assert terminal.leave() == 0
    assert KEY not in terminal.text


def test_a_server_at_home_is_asked_for_its_address_and_works_without_a_key_or_a_list(at_terminal):
    down = {"error": {"code": "connection", "message": "connection refused", "hint": ""}}
    terminal = at_terminal(
        ["add", "llama.cpp"],
        [
            PROVIDERS,
            ("service.add", {"name": "llamacpp", "endpoint": "http://10.0.0.2:8080"}, ADDED),
            ("service.models", {"identifier": "new"}, down),
        ],
    )
    terminal.wait_for("Endpoint [http://127.0.0.1:8080/v1]: ")
    terminal.type("http://10.0.0.2:8080\n")
    terminal.wait_for("Key (not shown, empty for none): ")
    terminal.type("\n")
    terminal.wait_for("connection refused")
    terminal.wait_for("[default]: ")
    terminal.type("\n")
    terminal.wait_for("new is added")
    assert terminal.leave() == 0


def test_a_key_is_typed_unseen(at_terminal):
    known = ("service.list", {}, {"service": [{"identifier": "new"}]})
    terminal = at_terminal(
        ["key", "new"], [known, ("service.key", {"identifier": "new", "key": KEY}, {"status": "OK"})]
    )
    terminal.wait_for("Key of new (not shown): ")
    terminal.type(KEY + "\n")
    terminal.wait_for("is kept")
    assert terminal.leave() == 0
    assert KEY not in terminal.text


def test_a_service_is_removed_after_a_yes_only(at_terminal):
    terminal = at_terminal(["remove", "new"], [])
    terminal.wait_for("[y/N]")
    terminal.type("n\n")
    assert terminal.leave() == 11
