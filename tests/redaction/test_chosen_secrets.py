"""A password that a model chose: on its card in clear for the owner, and in no chat, log, audit or later request."""

import json
import os

import pytest

from oasis.redaction.redactor import Redactor
from tests.agent.test_untrusted_words import scene as scene
from tests.daemon.test_wiring import approve, config, of_type

KEY = "Modellgeheim42x"
COMMANDS = ["uci set wireless.default_radio0.encryption=psk2", f"uci set wireless.default_radio0.key={KEY}"]
CALL = ("configure", {"commands": COMMANDS, "summary": f"the key becomes {KEY}"})


def holding(root, value):
    """Return the files below a root that hold a value, as paths."""
    found = set()
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as handle:
                    if value.encode() in handle.read():
                        found.add(path[len(root) :])
    return found


@pytest.mark.parametrize("decision", ["approve", "decline"])
def test_it_is_on_the_card_alone(scene, decision):
    here = scene()
    events = here.say("make the wifi safe", [CALL], f"The new key is {KEY}.", until=("plan",))
    plan = of_type(events, "plan")[0]["plan"]
    assert [one["value"] for one in plan["secrets"]] == [KEY], "the owner sees what they approve"
    assert holding(here.root, KEY) == set(), "while it waits"
    if decision == "approve":
        approve(here.daemon, events)
    else:
        here.daemon.call("plan.decline", plan=plan["id"])
    told = json.dumps([one for one in here.follow() if one["type"] != "plan"])
    if decision == "approve":
        change = here.daemon.call("change.pending")["change"]["id"]
        here.daemon.call("change.confirm", change=change, unproved=True)
        assert f"'{KEY}'".encode() in config(here.root, "wireless")
    here.say("thanks", "You are welcome.")
    here.restart()
    here.say("and again", [("read_config", {"package": "wireless"})], "Read.")
    assert not any(KEY in body for body in here.model.bodies())
    allowed = ("/etc/config/", "/etc/oasis/changes/", "/var/run/running/") if decision == "approve" else ()
    assert [path for path in holding(here.root, KEY) if not path.startswith(allowed)] == []
    told += json.dumps(here.daemon.call("chat.load", id=here.chat)) + json.dumps(here.daemon.call("chat.list"))
    assert KEY not in told + here.daemon.log() + json.dumps(here.daemon.call("audit.list"))
    calls = [block for one in here.stored() if one.get("role") == "assistant" for block in _blocks(one)]
    assert "wireless.default_radio0.key=«secret:" in json.dumps(calls, ensure_ascii=False)
    if decision == "approve":  # what the model reads of the router later is the name that it has already
        name = "«secret:" + json.dumps(calls, ensure_ascii=False).split("key=«secret:")[1].split("»")[0] + "»"
        assert name in str(here.model.messages()[-1]["content"])


def _blocks(message):
    return message["content"] if isinstance(message["content"], list) else []


def test_it_is_set_again_by_its_placeholder(scene):
    here = scene()
    events = here.say("make the wifi safe", [CALL], "Declined.", until=("plan",))
    here.daemon.call("plan.decline", plan=of_type(events, "plan")[0]["plan"]["id"])
    here.follow()

    def again(body, _headers):
        (call,) = [one for one in body["messages"] if one.get("tool_calls")]
        commands = json.loads(call["tool_calls"][0]["function"]["arguments"])["commands"]
        return [("configure", {"commands": commands})]

    events = here.say("do it all the same", again, "Done.", until=("plan",))
    assert [one["value"] for one in of_type(events, "plan")[0]["plan"]["secrets"]] == [KEY]
    assert holding(here.root, KEY) == set()


def test_an_installation_leaves_none_either(scene):
    here = scene()
    call = ("configure", {**CALL[1], "install": ["sqm-scripts"]})
    here.say("make the wifi safe", [call], "No.", until=("plan", "end"))
    here.daemon.call("run.cancel", run=here.started["run"])
    here.follow()
    assert holding(here.root, KEY) == set()


class NoFiles:
    def names(self, _folder):
        return []


def stored(message, said=""):
    return Redactor(NoFiles(), "/etc/config", b"key", list).stored(message, "chat", said)


def test_all_forms_of_it_in_an_answer_become_its_placeholder_and_signed_thinking_goes():
    block = {"type": "tool_use", "id": "1", "name": "configure", "input": CALL[1]}
    text = {"type": "text", "text": f"```\nuci set network.wan.password='{KEY}'\n```\nIt is {KEY}."}
    thinking = {"type": "thinking", "text": f"I take {KEY}", "provider_metadata": {"a": {"signature": "x"}}}
    other = {"type": "thinking", "text": "so be it", "provider_metadata": {"a": {"signature": "y"}}}
    found = stored({"role": "assistant", "content": [thinking, other, text, block]})["content"]
    assert KEY not in json.dumps(found) and [one["type"] for one in found] == ["thinking", "text", "tool_use"]
    assert found[0] == other
    assert found[2]["input"]["commands"][0] == COMMANDS[0]
    invalid = {**block, "input": {}, "invalid": f'{{"commands": ["{COMMANDS[1]}'}
    assert KEY not in json.dumps(stored({"role": "assistant", "content": [invalid]}))


def test_what_sets_no_secret_or_stands_in_the_owner_s_words_stays():
    plain = {"role": "assistant", "content": "uci set system.@system[0].hostname=attic"}
    assert stored(plain) is plain
    own = {"role": "assistant", "content": f"uci set wireless.a.key={KEY}"}
    assert stored(own, f"the key is {KEY}, set it") is own
    masked = {"role": "assistant", "content": "uci set wireless.a.key='********' wireless.b.key=«secret:12345678»"}
    assert stored(masked) is masked
