"""The guides in docs/: what they show works as it stands there."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from oasis import parts
from oasis.catalogue import check as catalogue
from oasis.change import uci_commands
from oasis.doctor import findings
from oasis.doctor.scene import Scene
from oasis.providers import load
from tests.cli import launcher
from tests.doctor.clinic import Clinic
from tests.oasisd import copy_root, start_daemon
from tests.tools.kit import Hands, Store, registry

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCS = os.path.join(REPOSITORY, "docs")


def text(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as handle:
        return handle.read()


def block(kind, name, guide="developer.md"):
    """Return the one block of a guide with these words behind its fence."""
    found = re.findall(rf"^```{kind} {name}\n(.*?)^```$", text(guide), flags=re.M | re.S)
    assert len(found) == 1
    return found[0]


def ran(name):
    space = {}
    exec(block("python", name), space)
    return space


def test_a_service_is_an_entry():
    profile = json.loads(block("json", "provider"))
    options = {"profile": {**profile, "id": "example"}, "key": "k", "stream": True}
    options.update(base_url=profile["base_url"], model=profile["model"])
    request = load(profile["vendor"]).build_request([{"role": "user", "content": "hello"}], [], options)
    assert request["url"] == "https://api.example.org/v1/chat/completions"
    with open(os.path.join(DOCS, "../oasis/providers/profiles.json"), encoding="utf-8") as handle:
        explained = json.load(handle)["_keys"]
    assert set(profile) <= set(explained)


def test_a_tool_is_offered_when_it_is_on_and_answers():
    source = ran("tool")["Coffee"]()
    tools = registry(source, store=Store())
    assert tools.specs() == []
    tools.set("coffee_left", True, "")
    assert [spec["name"] for spec in tools.specs()] == ["coffee_left"]
    told, is_error, _ = tools.call("coffee_left", {"room": "office"}, Hands())
    assert (json.loads(told), is_error) == ({"room": "office", "cups": 3}, False)
    assert tools.call("coffee_left", {"room": "garden"}, Hands())[1]


UNDERSTAND = """
import json
from oasis.parts.offline.provider import Provider, load
from tests.parts.offline.stock import NOW_S, Router
router = Router()
unlearned = Provider(lambda name: {} if name.startswith("evidence") else load(name))
*said, in_other_words = json.loads(input())
for sentence in (*said, in_other_words):
    provider = Provider() if sentence in said else unlearned
    events = provider.reply([{"id": "1", "role": "user", "content": sentence}], router.facts, NOW_S)
    print(json.dumps([event["input"] for event in events if event["type"] == "tool_use"]))
"""


@pytest.mark.part("offline")
def test_an_intent_is_data(tmp_path):
    shutil.copytree(os.path.join(REPOSITORY, "oasis"), tmp_path / "oasis", ignore=shutil.ignore_patterns("__pycache__"))
    action, words, frame, training = (
        json.loads(block("json", name, "offline.md")) for name in ("intent", "words", "frame", "training")
    )
    for file, entry, where in (("intents", action, "intents"), ("en", words, "intents"), ("frames", frame, "frames")):
        path = tmp_path / "oasis/parts/offline/intents" / (file + ".json")
        data = json.loads(path.read_text(encoding="utf-8"))
        known = data[where]["change"] if where == "frames" else data[where]
        assert not set(entry) & set(known)
        known.update(entry)
        path.write_text(json.dumps(data), encoding="utf-8")
    (texts,) = words.values()
    said = [
        texts["example"],
        "copy all messages to the machine 192.168.1.50",
        "please use 192.168.1.7 as the log server",
    ]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"}
    argv = [sys.executable, "-c", UNDERSTAND]
    others = ["send the log to the moon", training["text"]]
    done = subprocess.run(argv, env=environment, cwd=tmp_path, input=json.dumps([*said, *others]),
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    *understood, not_this, in_other_words = map(json.loads, done.stdout.splitlines())
    for address, calls in zip(("192.168.1.9", "192.168.1.50", "192.168.1.7"), understood, strict=True):
        assert [call["commands"] for call in calls] == [[f"uci set system.@system[0].log_ip='{address}'"]]
        assert calls[0]["summary"] == texts["summary"].format(ip=address)
        operations, _ = uci_commands.parse("\n".join(calls[0]["commands"]))
        assert catalogue.check(operations, Clinic().router.config) == []
    assert not any("commands" in call for call in not_this), "nothing is changed"
    assert [call["summary"] for call in in_other_words] == ["send the log to 192.168.1.50"], "by its frame alone"
    with open(os.path.join(REPOSITORY, "tests/eval/offline/training_en.jsonl"), encoding="utf-8") as handle:
        assert {*json.loads(handle.readline())} == {*training}
    assert training["parts"] == [{"intent": "log_server", "slots": {"ip": "192.168.1.50"}}]


def test_a_check_finds_and_mends():
    check, words = ran("doctor")["default_name"], json.loads(block("json", "doctor"))
    clinic = Clinic()
    found = list(check(Scene(clinic.router.facts, clinic.names, clinic, lambda: True)))
    finding = findings._finding({"findings": {"default-name": words}, "foreign": []}, found[0])
    assert finding["title"] == words["title"]
    operations, _ = uci_commands.parse("\n".join(finding["fix"]["commands"]))
    assert operations and catalogue.check(operations, clinic.router.config) == []


def test_a_method_is_a_function_of_a_part():
    part = ran("method")["gather"](None)
    assert part.echo_say("yes") == {"words": "yes"}
    assert "echo" not in parts.merged("METHODS")


def session(name):
    """Return [(command line, lines that it must print)] of all console blocks of a guide, in order."""
    found = []
    for part in re.findall(r"^```console\n(.*?)^```$", text(name), flags=re.M | re.S):
        for command in re.split(r"^\$ ", part, flags=re.M)[1:]:
            line, *shown = command.rstrip("\n").split("\n")
            found.append((line, shown))
    return found


@pytest.mark.parametrize("name", ["guide.md"])
@pytest.mark.part("offline", "memory")
def test_a_session_of_a_guide_prints_what_it_shows(name, tmp_path):
    root = copy_root(str(tmp_path / "router"))
    program, environment = launcher.install(tmp_path), launcher.environment(root)
    daemon = start_daemon(root)
    try:
        assert len(session(name)) > 5
        for line, shown in session(name):
            words = shlex.split(line)
            assert words[0] == "oasis"
            done = subprocess.run([*program, *words[1:]], env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            place = 0
            for one in shown:
                assert one in done.stdout[place:], (line, one, done.stdout)
                place = done.stdout.index(one, place)
    finally:
        daemon.stop()


def options():
    """Return the options of the section main that the code reads."""
    found = {"enabled"}
    for where, _, names in os.walk(os.path.join(DOCS, "../oasis")):
        for name in names:
            if name.endswith(".py"):
                with open(os.path.join(where, name), encoding="utf-8") as handle:
                    text = handle.read()
                found |= set(re.findall(r'settings\.(?:number|choice)\(\s*"(\w+)"', text))
                found |= set(re.findall(r'main\(\)\.get\(\s*"(\w+)"', text))
    return found


def test_the_table_of_settings_has_every_option_that_is_read():
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", text("administrator.md").partition("## Settings")[2], flags=re.M)
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert options() - told == set()
    with open(os.path.join(DOCS, "../files/etc/config/oasis"), encoding="utf-8") as handle:
        shipped = set(re.findall(r"option (\w+)", handle.read().split("config service")[0]))
    assert shipped - told == set()
