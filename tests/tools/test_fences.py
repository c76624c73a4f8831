"""A turn of a model without tools: its blocks become calls that are stored, bounded and stopped like any others."""

import json
import subprocess
import sys

import pytest

from oasis.agent.turn import CALLS, ROUNDS
from oasis.core import schema
from oasis.tools import fences
from tests.agent.test_turn import TOOLS, Scene, check_whole, delta, done, failed
from tests.oasisd import REPOSITORY

FENCES = {"type": "fences"}
RENAME = "uci set system.@system[0].hostname=attic"


def fence(*lines):
    return "```sh\n" + "\n".join(lines) + "\n```"


def said(text, reason="end_turn"):
    """Return the events of an answer of a model that was told to write in fences."""
    return [FENCES, delta(text), done(reason)]


def calls_of(message):
    return [(call["name"], call["input"]) for call in schema.tool_uses(message)]


def notes(scene):
    return "\n".join(event["text"] for event in scene.of_type("note"))


def test_a_block_becomes_one_call_with_its_result_and_the_model_tells_of_it(tmp_path):
    text = "I rename it.\n" + fence(RENAME, "uci commit system") + "\nand\n" + fence("uci set a.b.c='x y'")
    scene = Scene(tmp_path, said(text), said("It is attic now.")).run()
    assert scene.called == [("configure", {"commands": [RENAME, "uci set 'a.b.c=x y'"]})]
    first, result, last = scene.stored()
    assert (first["stop_reason"], last["stop_reason"]) == ("tool_use", "end_turn")
    assert [block["type"] for block in first["content"]] == ["text", "tool_use"]
    assert first["content"][0]["text"] == text
    assert "configure is fine" in schema.text_of({"content": result["content"][0]["content"]})
    assert (scene.state, last["content"]) == ("done", "It is attic now.")
    assert len(scene.of_type("tool_use")) == len(scene.of_type("tool_result")) == 1
    assert scene.of_type("note") == []
    check_whole(scene)


def test_a_model_with_tools_only_says_what_is_in_its_blocks(tmp_path):
    scene = Scene(tmp_path, [delta(fence(RENAME)), done()]).run()
    assert scene.called == [] and len(scene.stored()) == 1 and scene.of_type("note") == []


def test_calls_of_a_model_that_has_tools_after_all_are_run_and_its_blocks_are_not(tmp_path):
    call = {"type": "tool_use", "id": "a", "name": "status", "input": {}}
    scene = Scene(tmp_path, [FENCES, delta(fence(RENAME)), call, done("tool_use")], said("ok")).run()
    assert scene.called == [("status", {})]


def test_reading_comes_back_and_leads_to_the_change(tmp_path):
    look = fence("uci show system", "uci show network.lan", "uci get network.lan.ipaddr")
    scene = Scene(tmp_path, said(look), said(fence(RENAME)), said("done")).run()
    assert scene.called == [
        ("read_config", {"package": "system"}),
        ("read_config", {"package": "network", "section": "lan"}),
        ("configure", {"commands": [RENAME]}),
    ]
    check_whole(scene)


def test_what_is_read_before_and_after_stays_in_order(tmp_path):
    text = fence("uci show system", RENAME, "uci show dhcp", "uci set a.b.c=1")
    scene = Scene(tmp_path, said(text), said("ok")).run()
    assert [name for name, _ in scene.called] == ["read_config", "configure", "read_config"]
    assert scene.called[1][1] == {"commands": [RENAME, "uci set a.b.c=1"]}


def test_a_refused_line_stops_all_changes_and_goes_back_with_its_reason(tmp_path):
    text = fence(RENAME) + "\n" + fence("if true; then", "uci set a.b.c=1", "fi")
    scene = Scene(tmp_path, said(text), said("I cannot.")).run()
    assert scene.called == []
    (result,) = scene.of_type("tool_result")
    assert result["is_error"]
    error = json.loads(result["text"])["error"]
    assert "if true; then" in error["message"] and "program of the shell" in error["message"]
    assert error["hint"]
    assert calls_of(scene.stored()[0])[0][0] == "configure"
    check_whole(scene)


def test_offers_are_shown_and_told_and_never_run(tmp_path):
    text = fence(RENAME, "service dnsmasq restart", "opkg install sqm-scripts", "reboot")
    scene = Scene(tmp_path, said(text), said("ok")).run()
    assert [name for name, _ in scene.called] == ["configure"]
    for words in ("restart dnsmasq", "opkg install sqm-scripts", "LuCI", "reboot"):
        assert words in notes(scene) and words in scene.of_type("tool_result")[0]["text"]


def test_offers_alone_are_told_to_the_model_as_well(tmp_path):
    scene = Scene(tmp_path, said(fence("/etc/init.d/dnsmasq restart")), said("I may not.")).run()
    assert scene.called == []
    assert scene.of_type("tool_result")[0]["is_error"]
    assert "restart dnsmasq" in scene.of_type("tool_result")[0]["text"]
    assert "restart dnsmasq" in notes(scene)
    check_whole(scene)


def test_other_programs_go_back_to_the_model(tmp_path):
    scene = Scene(tmp_path, said(fence("logread | tail")), said("I cannot look there.")).run()
    assert scene.called == [] and "pipes" in scene.of_type("tool_result")[0]["text"]
    assert scene.stored()[-1]["content"] == "I cannot look there."


def test_commands_shown_again_are_not_proposed_again(tmp_path):
    scene = Scene(tmp_path, said(fence("uci add firewall rule", RENAME)), said("I ran:\n" + fence(RENAME))).run()
    assert len(scene.called) == 1 and scene.state == "done"
    assert len(scene.stored()) == 3


def test_refused_commands_shown_again_end_the_turn_and_are_told(tmp_path):
    bad = said(fence("uci set a.b.c=$X"))
    scene = Scene(tmp_path, bad, bad).run()
    assert scene.called == [] and len(scene.stored()) == 3
    assert "shell variable" in notes(scene)


def test_a_cut_answer_changes_nothing(tmp_path):
    scene = Scene(tmp_path, said("```\n" + RENAME + "\nuci set wireless.x.key='corr", "max_tokens"), said("ok")).run()
    assert scene.called == []
    whole = Scene(tmp_path / "two", said(fence(RENAME), "max_tokens"), said("ok")).run()
    assert whole.called == [] and "cut off" in whole.of_type("tool_result")[0]["text"]


def test_rounds_and_calls_are_bounded(tmp_path):
    script = [said(fence(f"uci set a.b.c={number}")) for number in range(ROUNDS + 1)]
    scene = Scene(tmp_path, *script).run()
    assert len(scene.called) == ROUNDS
    assert [tools for _, tools in scene.asked] == [TOOLS] * ROUNDS + [[]]
    assert f"uci set a.b.c={ROUNDS}" in notes(scene) and "too many rounds" in notes(scene)
    check_whole(scene)
    many = Scene(tmp_path / "many", said(fence(*[f"uci show p{n}" for n in range(CALLS + 2)])), said("ok")).run()
    assert len(many.called) == CALLS
    check_whole(many)


def test_taint_is_told_to_the_tool_and_stays_on_what_follows(tmp_path):
    scene = Scene(tmp_path, said(fence("uci show wireless")), said(fence(RENAME)), said("done"))
    scene.taint_of["read_config"] = ["network names"]
    scene.run()
    assert scene.taints == [[], ["network names"]]
    assert scene.stored()[2]["taint"] == ["network names"]


def test_cancelled_between_two_calls(tmp_path):
    scene = Scene(tmp_path, said(fence("uci show system", RENAME)))
    scene.tool = lambda name, arguments: (scene.cancel() or "read", False)
    scene.run()
    assert (scene.state, [name for name, _ in scene.called]) == ("cancelled", ["read_config"])
    check_whole(scene)


def test_a_service_that_breaks_off_inside_a_block_changes_nothing(tmp_path):
    scene = Scene(tmp_path, [FENCES, delta("```sh\n" + RENAME + "\n"), failed()]).run()
    assert (scene.state, scene.called) == ("error", [])
    assert RENAME in scene.stored()[0]["content"]
    check_whole(scene)


def test_a_secret_is_masked_in_what_is_told(tmp_path):
    scene = Scene(tmp_path, said(fence("uci set wireless.w.key='correct-horse' | sh")), said("no")).run()
    assert "wireless.w.key" in scene.of_type("tool_result")[0]["text"]
    assert "correct-horse" not in scene.of_type("tool_result")[0]["text"] + notes(scene)


# Towards the model


def told(*messages):
    return [fences.as_text(message) for message in messages]


def test_calls_and_results_are_told_as_text():
    own = {"type": "tool_use", "id": fences.MARK + "1", "name": "configure", "input": {"commands": [RENAME]}}
    message = {"role": "assistant", "content": [{"type": "text", "text": fence(RENAME)}, own]}
    result = {"role": "tool", "content": [schema.tool_result(own, '{"status":"applied"}')]}
    first, second = told(message, result)
    assert first["content"] == [{"type": "text", "text": fence(RENAME)}]
    assert second["role"] == "user" and "applied" in second["content"] and "not the owner" in second["content"]


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("configure", {"commands": [RENAME, "uci set a.b.c=1"]}, "```\n" + RENAME + "\nuci set a.b.c=1\n```"),
        ("read_config", {"package": "network", "section": "lan"}, "```\nuci show network.lan\n```"),
        ("status", {"what": "wifi"}, '(status {"what":"wifi"})'),
        ("configure", {"commands": "none"}, '(configure {"commands":"none"})'),
    ],
)
def test_calls_of_another_model_are_told_as_this_one_would_write(name, given, words):
    call = {"type": "tool_use", "id": "call_1", "name": name, "input": given}
    (message,) = told({"role": "assistant", "content": [{"type": "text", "text": "So."}, call]})
    assert schema.tool_uses(message) == []
    assert schema.text_of(message).split("\n", 1)[1].strip() == words


def test_other_messages_stay_as_they_are():
    messages = [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]
    assert told(*messages) == messages


def test_a_daemon_without_such_a_model_does_not_load_them():
    code = "import sys, oasis.daemon; print([name for name in sys.modules if 'oasis' in name])"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert "oasis.tools.fences" not in done.stdout and "oasis.change.uci_commands" not in done.stdout
