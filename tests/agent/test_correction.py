"""Refused proposals go back to a model that was scripted, with the real names; twice it may mend them, and no more."""

import json

import pytest

from oasis.agent import loop_guard
from oasis.agent.turn import COUNTDOWN
from tests.agent.test_toolless import serve  # noqa: F401  (a fixture)
from tests.agent.test_untrusted_words import Scene
from tests.daemon.test_wiring import config, of_type, say
from tests.llm.test_workers import run  # noqa: F401  (a fixture)
from tests.recorder import results

NO_OPTION = "uci set system.@system[0].hostnam=attic"
NO_SECTION = "uci set wireless.radoi0.channel=6"
NO_COMMAND = "hostname attic"
BAD_VALUE = "uci set wireless.radio0.channel=900"
RIGHT = "uci set system.@system[0].hostname=attic"
CODE = "uci set dhcp.@dnsmasq[0].dhcpscript=/tmp/x.sh"
NEARLY_CODE = "uci set dhcp.@dnsmasq[0].dhcpscripts=/tmp/x.sh"
LOGIN = "uci add rpcd logins"


@pytest.fixture
def here(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.close()


def change(*commands):
    return [("configure", {"commands": list(commands)})]


def told(here, number=-1):
    """Return what the model was told of its newest call, in one of its requests."""
    return said(here, number)[-1]


def told_text(here, number):
    return results(json.loads(here.model.bodies()[number]))[-1]


def said(here, number=-1):
    return [json.loads(text.removeprefix("Error: ")) for text in results(json.loads(here.model.bodies()[number]))]


def notes(events):
    return [event["text"] for event in of_type(events, "note")]


@pytest.mark.parametrize(
    ("wrong", "real"),
    [
        (NO_OPTION, "hostname"),
        (NO_SECTION, "radio0"),
        (BAD_VALUE, "channel"),
        (NO_COMMAND, "uci set"),
        ("uci set network.lan.ipaddr=192.168.300.1", "an IPv4 address"),
        ("uci set network.lan.netmask=255.0.255.300", "netmask"),
    ],
)
def test_a_refused_proposal_goes_back_with_the_real_names_and_is_mended(here, wrong, real):
    events = here.say("call it attic", change(wrong), change(RIGHT), "It is called attic.")
    first = told(here, 1)
    assert real in json.dumps(first["error"]) and first["repair"]["left"] == 2
    assert b"'attic'" in config(here.root, "system") and notes(events) == []
    assert "repair" not in told(here)


def test_it_may_be_mended_in_the_second_round(here):
    here.say("call it attic", change(NO_OPTION), change(NO_SECTION), change(RIGHT), "It is called attic.")
    assert told(here, 2)["repair"]["left"] == 1
    assert b"'attic'" in config(here.root, "system")


def test_after_two_rounds_no_more_is_taken_and_the_owner_is_told_so(here):
    before = config(here.root, "system")
    look = [("status", {"what": "overview"})]
    script = [change(NO_OPTION), change(NO_COMMAND), change(NO_OPTION), look, change(RIGHT), "It could not be done."]
    events = here.say("call it attic", *script)
    bodies = [json.loads(body) for body in here.model.bodies()]
    assert told(here, 3)["repair"] == {"left": 0, "say": loop_guard.LAST}
    offered = [{tool["function"]["name"] for tool in body["tools"]} for body in bodies]
    assert offered[2] - offered[3] == {"configure"} and "read_config" in offered[3]
    assert loop_guard.TELL in bodies[3]["messages"][0]["content"]
    assert told_text(here, 4) != loop_guard.LAST and told_text(here, 5) == "Error: " + loop_guard.LAST
    (note,) = notes(events)
    assert note.startswith("not done: refused 3 times") and "hostnam" in note
    assert config(here.root, "system") == before  # the last proposal would have been a right one


def test_a_wish_that_was_done_lets_the_next_one_begin_anew(here):
    script = [change(NO_OPTION), change(NO_OPTION), change(RIGHT), change(NO_SECTION), change(NO_SECTION)]
    events = here.say("call it attic, and more", *script, "I could not do the other thing.")
    assert told(here)["repair"]["left"] == 1 and notes(events) == []


def test_calls_of_one_answer_are_one_round(here):
    here.say("do much", [*change(NO_OPTION), *change(NO_SECTION), *change(BAD_VALUE)], "No.")
    assert [one["repair"]["left"] for one in said(here)] == [2, 2, 2]


UNREACHABLE = "uci set network.lan.proto=none"


@pytest.mark.parametrize("commands", [[CODE], [CODE, NO_OPTION], [UNREACHABLE], [UNREACHABLE, BAD_VALUE]])
def test_what_a_rule_forbids_is_not_to_be_mended(here, commands):
    here.say("run my script", change(*commands), "That is not allowed.")
    given = told(here)
    assert given["repair"] == {"say": loop_guard._RULE} and "repairable" not in given["error"]


@pytest.mark.parametrize(
    ("nearly", "forbidden"),
    [(NEARLY_CODE, "dhcpscript "), (LOGIN, "login "), ("uci set oasiss.main.approval=none", "oasis ")],
)
def test_no_name_is_suggested_that_leads_to_what_is_forbidden(here, nearly, forbidden):
    here.say("run my script", change(nearly), "That is not allowed.")
    hints = json.dumps(told(here)["error"]).partition("did you mean")[2] + " "
    assert forbidden not in hints.replace('"', " ").replace(",", " ").replace(")", " ")


def test_forbidden_proposals_are_bounded_as_well(here):
    events = here.say("run my script", *[change(CODE)] * 9, "No.")
    assert len(here.model.bodies()) == 3 + COUNTDOWN + 1 and len(notes(events)) == 1
    assert "tools" not in json.loads(here.model.bodies()[-1])


def test_what_the_owner_declined_is_no_round(here):
    ssid = change("uci set wireless.default_radio0.ssid=Attic")
    events = here.say("name the wifi", change(NO_OPTION), ssid, change(NO_OPTION), "Then not.", until=("plan",))
    plan = of_type(events, "plan")[0]["plan"]
    here.daemon.call("plan.decline", plan=plan["id"], reason="not that name")
    assert of_type(here.follow(), "approval")[0]["reason"] == "not that name", "who follows hears why at once"
    assert "repair" not in told(here, 2) and told(here, 2)["status"] == "declined"
    assert told(here)["repair"]["left"] == 1  # the one before the owner's word counts, his word does not
    assert b"'Attic'" not in config(here.root, "wireless")


def test_a_failed_look_is_no_round(here):
    looks = [[("read_config", {"package": f"nothing{number}"})] for number in range(4)]
    here.say("look", *looks, "There is none.")
    assert len(here.model.bodies()) == 5 and "repair" not in told(here)


def test_a_section_number_that_is_not_there_is_answered_with_those_that_are(here):
    here.say("mend the rule", change("uci set firewall.@zone[7].input=DROP"), "No.")
    assert "@zone[0] to @zone[1]" in told(here)["error"]["message"]


def test_a_model_that_writes_blocks_has_the_same_rounds(run, serve):  # noqa: F811
    blocks = [f"```\n{command}\n```" for command in (NO_OPTION, "uci set nothing", "uci set system.attic=", RIGHT)]
    server = serve(*blocks, "It could not be done.")
    daemon = run("compatible", server.url, "tiny")
    before = config(daemon.root, "system")
    events = say(daemon, "call it attic")
    told = [body["messages"][-1]["content"] for body in server.sent()[1:]]
    assert [json.loads(text.partition("\n")[2])["repair"]["left"] for text in told[:3]] == [2, 1, 0]
    assert told[3].endswith(loop_guard.LAST)
    assert any("not done: refused 3 times" in text for text in notes(events))
    assert config(daemon.root, "system") == before  # what it wrote after that is shown to the owner, and not run
