"""Skills in whole turns: what a model is told, which tools it has, who is asked for the choice, what the owner sees."""

import json
import os

import pytest

from tests.daemon.test_wiring import follow, of_type
from tests.llm.test_workers import root_with
from tests.oasisd import set_option, start_daemon
from tests.parts.memory.test_facts_daemon import say
from tests.scripted import Scripted, is_aside, said, system

GUESTS = "please set up a guest wifi"
GUIDE = "A guest network is an interface"
TEA = "---\nname: tea\ndescription: Make tea\nwords: brew tea\ntools: status\n---\nBoil the water first.\n"
PATH = "/etc/oasis/skills/"


class Chooser:
    """What the small model answers: `skill`, None for words that are no JSON."""

    skill = "none"

    def __call__(self, body):
        if is_aside(body):
            return "hm, hard to say" if self.skill is None else json.dumps({"skill": self.skill})
        return "Fine."


@pytest.fixture
def chooser():
    return Chooser()


@pytest.fixture
def model(chooser):
    server = Scripted(chooser)
    yield server
    server.close()


@pytest.fixture
def root(tmp_path, model):
    return root_with(tmp_path, "compatible", model.url, "scripted")


@pytest.fixture
def daemon(root):
    started = start_daemon(root)
    yield started
    started.stop()


def notes(daemon, started):
    return [event["text"] for event in of_type(daemon.call("run.poll", run=started["run"])["events"], "note")]


def tools(body):
    return {tool["function"]["name"] for tool in body.get("tools", [])}


def test_who_has_all_tools_looks_a_guide_up(root, model):
    model_of = "\toption model 'scripted'\n"
    with open(root + "/etc/config/oasis", encoding="utf-8") as file:
        text = file.read().replace(model_of, model_of + "\toption context_tokens '128000'\n", 1)
    with open(root + "/etc/config/oasis", "w", encoding="utf-8") as file:
        file.write(text)
    daemon = start_daemon(root)
    try:
        say(daemon, GUESTS)
        told = system(model.turns()[-1])
        assert GUIDE not in told and 'knowledge_search with the query "guide guest-wifi"' in told
        assert "knowledge_search" in tools(model.turns()[-1])
        started = daemon.call("tool.call", name="knowledge_search", arguments={"query": "guide guest-wifi"})
        found = of_type(follow(daemon, started), "tool_result")[0]["text"]
        assert "Never invent a password" in found and "uci set network.guest=interface" in found
        daemon.call("tool.set", name="knowledge_search", enabled=False)
        say(daemon, GUESTS)
        assert "uci set network.guest=interface" in system(model.turns()[-1])
    finally:
        daemon.stop()


def test_a_clear_wish_is_done_by_its_guide_with_its_tools_and_told(daemon, model):
    started = say(daemon, GUESTS)
    assert any("guest-wifi" in note for note in notes(daemon, started))
    assert GUIDE in system(model.turns()[-1])
    assert tools(model.turns()[-1]) >= {"status", "read_config", "configure", "diagnose"}
    assert model.asides() == [], "without an alias for small questions nobody is asked"

    say(daemon, "call it Visitors", chat=started["chat"])
    assert GUIDE in system(model.turns()[-1]), "the task goes on"
    say(daemon, "call the router attic")
    assert GUIDE not in system(model.turns()[-1]) and "diagnose" in tools(model.turns()[-1])


def test_a_small_model_chooses_among_what_is_near(daemon, model, chooser):
    daemon.call("alias.set", name="nano", targets=["compatible/tiny"])
    chooser.skill = "guest-wifi"
    say(daemon, "my guests are here")  # one word is near, and not clear
    (asked,) = model.asides()
    assert asked["model"] == "tiny" and said(asked) == "my guests are here"
    assert asked["response_format"]["json_schema"]["schema"]["properties"]["skill"]["enum"] == ["guest-wifi", "none"]
    assert GUIDE in system(model.turns()[-1])

    chooser.skill = "none"
    say(daemon, GUESTS)
    assert GUIDE not in system(model.turns()[-1]), "the model said none"
    chooser.skill = None
    say(daemon, GUESTS)
    assert GUIDE in system(model.turns()[-1]), "what cannot be read leaves it to the words"
    chooser.skill = "reboot-everything"
    say(daemon, GUESTS)
    assert GUIDE in system(model.turns()[-1])
    before = len(model.asides())
    say(daemon, "call the router attic")
    assert len(model.asides()) == before, "where nothing is near nobody is asked"


def test_the_owner_writes_a_skill_that_counts_at_once_and_is_gone_when_deleted(daemon, model):
    assert daemon.call("skill.set", name="tea", text=TEA)["skill"]["is_shipped"] is False
    say(daemon, "brew tea please")
    assert "Boil the water first." in system(model.turns()[-1]) and "written by the owner" in system(model.turns()[-1])
    assert tools(model.turns()[-1]) == {"status"}
    assert daemon.call("skill.load", name="tea")["text"] == TEA
    assert daemon.call("skill.delete", name="tea") == {"status": "OK"}
    say(daemon, "brew tea please")
    assert "Boil" not in system(model.turns()[-1])


def test_a_skill_wants_a_model_by_alias_where_the_owner_chose_none(daemon, model):
    text = TEA.replace("tools: status", "model: kilo")
    assert "kilo" in daemon.call("skill.set", name="tea", text=text)["error"]["message"]
    daemon.call("alias.set", name="kilo", targets=["compatible/larger"])
    assert "error" not in daemon.call("skill.set", name="tea", text=text)
    say(daemon, "brew tea please")
    assert model.turns()[-1]["model"] == "larger"
    say(daemon, "brew tea please", service="compatible")
    assert model.turns()[-1]["model"] == "scripted"


def test_a_skill_that_asks_for_unknown_or_forbidden_tools_is_refused(daemon):
    daemon.call("tool.set", name="wifi_scan", approval="deny")
    for tool in ("make_tea", "shell_exec", "wifi_scan"):
        text = TEA.replace("tools: status", "tools: status, " + tool)
        error = daemon.call("skill.set", name="tea", text=text)["error"]
        assert error["code"] == "usage" and tool in error["message"]
    assert not os.path.exists(daemon.root + PATH + "tea.md")


def test_such_a_file_that_was_put_there_by_hand_is_left_out_and_told(daemon, model):
    os.makedirs(daemon.root + PATH)
    with open(daemon.root + PATH + "tea.md", "w") as handle:
        handle.write(TEA.replace("tools: status", "tools: status, shell_exec"))
    started = say(daemon, "brew tea please")
    assert any("shell_exec" in note for note in notes(daemon, started))
    assert "Boil" not in system(model.turns()[-1]) and "configure" in tools(model.turns()[-1])
    (listed,) = [skill for skill in daemon.call("skill.list")["skills"] if skill["name"] == "tea"]
    assert "shell_exec is off" in listed["note"]


def test_a_skill_that_is_off_is_not_chosen(daemon, model):
    assert daemon.call("skill.set_enabled", name="guest-wifi", enabled=False)["skill"]["enabled"] is False
    say(daemon, GUESTS)
    assert GUIDE not in system(model.turns()[-1])
    assert daemon.call("skill.set_enabled", name="guest-wifi", enabled=True)["skill"]["enabled"] is True
    say(daemon, GUESTS)
    assert GUIDE in system(model.turns()[-1])


def test_a_name_that_is_a_path_is_refused_everywhere(daemon):
    for name in ("../keys", "/etc/passwd", "a/b", "", "tea.md"):
        for method in ("skill.load", "skill.delete"):
            assert daemon.call(method, name=name)["error"]["code"] == "usage"
        assert daemon.call("skill.set", name=name, text=TEA)["error"]["code"] == "usage"
        assert daemon.call("skill.set_enabled", name=name, enabled=False)["error"]["code"] == "usage"


def test_looking_at_a_message_asks_nobody_and_begins_nothing(daemon, model):
    daemon.call("alias.set", name="nano", targets=["compatible/tiny"])
    daemon.call("privacy.show", message=GUESTS)
    assert model.bodies == []


@pytest.mark.part("offline")
def test_no_model_no_skill(root):
    set_option(root, "skills_off", "-")
    daemon = start_daemon(root)
    try:
        started = daemon.call("run.start", message="what is the address of this router?", service="offline")
        assert not of_type(follow(daemon, started), "note")
    finally:
        daemon.stop()


def test_a_skill_with_a_secret_of_the_router_is_refused(daemon):
    with open(daemon.root + "/etc/config/wireless", "a") as handle:
        handle.write("\nconfig wifi-iface 'mine'\n\toption device 'radio0'\n\toption key 'sunflowers'\n")
    text = TEA.replace("Boil", "The key is sunflowers. Boil")
    assert "secret" in daemon.call("skill.set", name="tea", text=text)["error"]["message"]
    assert not os.path.exists(daemon.root + PATH + "tea.md")


def test_skills_that_cannot_be_read_keep_nobody_from_an_answer(daemon, model):
    os.makedirs(os.path.dirname(daemon.root + PATH.rstrip("/")), exist_ok=True)
    with open(daemon.root + PATH.rstrip("/"), "w") as handle:
        handle.write("a file where the folder should be")
    say(daemon, GUESTS)
    assert GUIDE not in system(model.turns()[-1])
    assert "without skills" in daemon.log()
