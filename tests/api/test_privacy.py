"""What `privacy.show` shows is what a service then gets, to the byte; and showing it sends and stores nothing."""

import base64
import glob
import json
import subprocess

import pytest

from oasis.config.settings import Settings
from oasis.system.files import Files
from oasis.system.root import Root
from tests.cli import launcher
from tests.daemon.test_wiring import follow
from tests.llm.test_workers import root_with
from tests.oasisd import start_daemon
from tests.recorder import Recorder

KEY = "sk-test-privacy-55ee66ff"
WIFI = "planted wifi key 31337"


@pytest.fixture
def service():
    recorder = Recorder()
    yield recorder
    recorder.close()


@pytest.fixture
def daemon(tmp_path, service):
    root = root_with(tmp_path, "openai", service.url, "scripted", KEY)
    settings = root + "/etc/config/oasis"
    with open(settings) as handle:
        text = handle.read().replace(
            "\toption model 'scripted'", "\toption context_tokens '400000'\n\toption model 'scripted'"
        )
    with open(settings, "w") as handle:
        handle.write(text)
    path = root + "/etc/config/wireless"
    with open(path, "a") as handle:
        handle.write(f"\nconfig wifi-iface 'planted'\n\toption ssid 'Attic'\n\toption key '{WIFI}'\n")
    running = start_daemon(root)
    yield running
    running.stop()


def shown(daemon, **params):
    reply = daemon.call("privacy.show", **params)
    body = base64.b64decode(reply["data"])
    for part in range(1, reply["parts"]):
        body += base64.b64decode(daemon.call("privacy.show", **params, part=part)["data"])
    assert len(body) == reply["bytes"]
    return reply, body


def chat_files(root):
    found = {}
    for path in glob.glob(root + "/etc/oasis/chats/*.jsonl"):
        with open(path, "rb") as handle:
            found[path] = handle.read()
    return found


def ask(daemon, text, **more):
    started = daemon.call("run.start", message=text, **more)
    follow(daemon, started)
    return started["chat"]


def test_the_first_request_of_a_new_chat_is_shown_to_the_byte(daemon, service):
    reply, body = shown(daemon, message="which devices are here?")
    assert service.requests == []
    assert daemon.call("chat.list")["item"] == []
    ask(daemon, "which devices are here?")
    sent = service.requests[0]
    assert sent["body"] == body
    assert sent["line"].split()[:2] == ["POST", "/v1" + reply["url"].partition("/v1")[2]]
    told = {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in sent["headers"].splitlines() if line}
    for name, value in reply["headers"].items():
        assert told[name.lower()] == value.replace("***", KEY)


def test_a_chat_that_goes_on_is_shown_with_all_that_goes_along(daemon, service):
    service.script[:] = [
        [("read_config", {"package": "wireless", "section": "planted"})],
        "It is called Attic.",
    ]
    chat = ask(daemon, "how is my wifi called?")
    before = len(service.requests)
    _, body = shown(daemon, message="and its password?", chat=chat)
    assert len(service.requests) == before
    ask(daemon, "and its password?", chat=chat)
    assert service.requests[before]["body"] == body
    assert b"It is called Attic." in body
    assert WIFI.encode() not in body


def test_neither_the_key_nor_a_secret_of_the_router_is_shown(daemon):
    ask(daemon, "hello")
    reply, body = shown(daemon, message=f"set the wifi password to {WIFI}")
    assert KEY not in json.dumps(reply)
    assert "***" in json.dumps(reply["headers"])
    assert KEY.encode() not in body
    assert WIFI.encode() not in body


def test_a_message_that_is_only_looked_at_leaves_no_trace(daemon, service):
    chat = ask(daemon, "hello")
    before = chat_files(daemon.root)
    loaded = daemon.call("chat.load", id=chat)
    for text in ("one", "two"):
        shown(daemon, message=text, chat=chat)
    assert before
    assert chat_files(daemon.root) == before
    assert daemon.call("chat.load", id=chat) == loaded


def test_what_is_longer_than_a_reply_may_be_comes_in_parts(daemon, service):
    chat = ""
    for _ in range(7):
        chat = ask(daemon, "x" * 30_000, chat=chat) if chat else ask(daemon, "x" * 30_000)
    reply, body = shown(daemon, message="and now?", chat=chat)
    assert reply["parts"] > 1
    ask(daemon, "and now?", chat=chat)
    assert service.requests[-1]["body"] == body


@pytest.mark.part("offline")
def test_the_built_in_service_sends_nothing(daemon):
    reply, body = shown(daemon, message="status", service="offline")
    assert (reply["url"], body) == ("", b"")


@pytest.mark.parametrize(
    "params, words",
    [({"message": " "}, "empty"), ({"message": "a", "chat": "nochat"}, "chat"), ({"message": "a", "part": 7}, "part")],
)
def test_what_cannot_be_shown_is_said(daemon, params, words):
    assert words in daemon.call("privacy.show", **params)["error"]["message"]


def test_the_command_prints_it_for_people_and_raw(daemon, service, tmp_path):
    program, environment = launcher.install(tmp_path), launcher.environment(daemon.root)

    def oasis(*words):
        return subprocess.run([*program, *words], env=environment, capture_output=True, text=True, check=True).stdout

    told = oasis("privacy", "what is up?")
    assert "POST " + service.url in told
    assert '"content": "what is up?"' in told
    assert KEY not in told
    raw = oasis("privacy", "--raw", "what is up?")
    ask(daemon, "what is up?")
    assert service.bodies()[0] == raw.rstrip("\n")


def test_a_server_of_any_make_on_this_host_is_at_home(daemon):
    assert daemon.call("privacy.show", message="hello")["service"]["is_local"] is True


@pytest.mark.parametrize(
    ("profile", "url", "is_home"),
    [
        ("ollama", "http://192.168.1.9:11434", True),
        ("ollama", "http://nas.lan:11434", True),
        ("ollama", "http://nas:11434", True),
        ("ollama", "http://[fd12::5%br-lan]:11434", True),
        ("ollama", "https://ollama.example.com", False),
        ("ollama", "http://203.0.113.9:11434", False),
        ("ollama", "http://127.0.0.1.example.com", False),
        ("openai", "https://api.openai.com/v1", False),
    ],
)
def test_what_only_speaks_like_a_server_at_home_is_none(tmp_path, profile, url, is_home):
    settings = Settings(Root(root_with(tmp_path, profile, url, "m")), Files())
    (service,) = [one for one in settings.services() if one["name"] == profile]
    assert service["is_local"] is is_home
