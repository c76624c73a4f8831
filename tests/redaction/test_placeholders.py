"""Secrets between a model and the router: what it reads in their place, and the only way in which that is a value."""

import json
import re

import pytest

from tests.agent.test_untrusted_words import Scene
from tests.daemon.test_wiring import approve, config, of_type
from tests.recorder import results

WIFI = "planted wifi ke\"y's"
PPP = "planted-ppp-password"
SHORT = "4711"
FORM = re.compile(r"«secret:[0-9a-f]{8}»")


@pytest.fixture
def here(tmp_path):
    made = Scene(tmp_path)
    with open(made.root + "/etc/config/wireless") as handle:
        text = handle.read().replace("option encryption 'none'", "option encryption 'psk2'", 1)
    quoted = WIFI.replace("'", "'\\''")
    with open(made.root + "/etc/config/wireless", "w") as handle:
        handle.write(
            text.replace("option encryption 'psk2'\n", f"option encryption 'psk2'\n\toption key '{quoted}'\n", 1)
        )
    with open(made.root + "/etc/config/network", "a") as handle:
        handle.write(f"\nconfig interface 'dsl'\n\toption proto 'pppoe'\n\toption password '{PPP}'\n")
        handle.write(f"\nconfig interface 'lte'\n\toption proto 'qmi'\n\toption pincode '{SHORT}'\n")
    yield made
    made.close()


def read(here, package="wireless", section="default_radio0"):
    """Have the model read a section; return its options as it got them."""
    here.say("read it", [("read_config", {"package": package, "section": section})], "Read.")
    return json.loads(results(json.loads(here.model.bodies()[-1]))[-1])["sections"][section]


def configure(here, *commands, until=("end",), **more):
    return here.say("do it", [("configure", {"commands": list(commands), **more})], "Done.", until=until)


def refusal(events):
    result = of_type(events, "tool_result")[0]
    assert result["is_error"], result
    assert of_type(events, "plan") == []
    return json.loads(result["text"])["error"]


@pytest.mark.part("offline")
def test_a_model_reads_a_placeholder_the_built_in_provider_a_mask(here):
    assert FORM.fullmatch(read(here)["key"])
    assert FORM.fullmatch(read(here, "network", "lte")["pincode"]), "short secrets are hidden by their place"
    events = here.say("show the config of wireless", service="offline")
    assert "********" in json.dumps(events) and WIFI not in json.dumps(events)


def test_a_placeholder_copies_a_secret_into_an_option_of_its_kind(here):
    key = read(here)["key"]
    commands = ["uci set wireless.default_radio1.encryption=psk2", f"uci set wireless.default_radio1.key='{key}'"]
    events = configure(here, *commands, until=("plan",), summary="the same password on both")
    plan = of_type(events, "plan")[0]["plan"]
    assert "wireless.default_radio1.key: copied from wireless.default_radio0.key" in plan["words"]
    assert "secret:" not in json.dumps([plan["uci"], plan["diff"]]) and "planted" not in json.dumps(plan)
    approve(here.daemon, events)
    here.follow()
    assert config(here.root, "wireless").decode().count("option key 'planted wifi ke\"y'\\''s'") == 2
    assert "planted" not in "".join(here.model.bodies())


def test_what_the_owner_enters_as_a_secret_reaches_its_option_and_no_model_chat_log_or_card(here):
    name = here.daemon.call("secret.keep", value="entered-by-hand")["secret"]
    assert FORM.fullmatch(name)
    commands = ["uci set wireless.default_radio0.encryption=psk2", f"uci set wireless.default_radio0.key='{name}'"]
    events = here.say(f"set the password {name}", [("configure", {"commands": commands})], "Done.", until=("plan",))
    plan = of_type(events, "plan")[0]["plan"]
    assert "wireless.default_radio0.key: entered with the key button" in plan["words"]
    approve(here.daemon, events)
    events += here.follow()
    assert b"option key 'entered-by-hand'" in config(here.root, "wireless")
    assert name in here.model.bodies()[0]
    for text in ("".join(here.model.bodies()), json.dumps(events), json.dumps(here.stored())):
        assert "entered-by-hand" not in text


def test_what_was_entered_goes_into_secrets_alone_and_is_gone_after_a_restart(here):
    name = here.daemon.call("secret.keep", value="entered-by-hand")["secret"]
    told = refusal(configure(here, f"uci set wireless.default_radio0.ssid='{name}'"))
    assert "holds no secret" in told["message"]
    told = refusal(configure(here, f"uci set system.@system[0].hostname='x{name}'"))
    assert "no place here" in told["message"]
    here.restart()
    told = refusal(configure(here, f"uci set wireless.default_radio0.key='{name}'"))
    assert "entered once more" in told["hint"]


def test_a_placeholder_is_the_same_after_a_restart_and_another_one_in_the_next_chat(here):
    key = read(here)["key"]
    here.restart()
    assert read(here)["key"] == key
    here.chat = ""
    assert read(here)["key"] != key
    error = refusal(configure(here, f"uci set wireless.default_radio1.key='{key}'"))
    assert error["code"] == "policy" and "nothing in this chat is called" in error["message"]


def test_a_placeholder_of_a_value_that_is_gone_is_refused(here):
    key = read(here)["key"]
    with open(here.root + "/etc/config/wireless") as handle:
        text = handle.read().replace("planted wifi", "another wifi")
    with open(here.root + "/etc/config/wireless", "w") as handle:
        handle.write(text)
    assert "nothing in this chat" in refusal(configure(here, f"uci set wireless.default_radio1.key='{key}'"))["message"]


PLACES = {
    "ssid": "uci set wireless.default_radio1.ssid='%s'",
    "part of an ssid": "uci set wireless.default_radio1.ssid='a%s'",
    "hostname": "uci set system.@system[0].hostname='%s'",
    "description": "uci set system.@system[0].description='%s'",
    "url": "uci set network.dsl.username='http://x/?k=%s'",
    "log host": "uci set system.@system[0].log_ip='%s'",
    "part of a key": "uci set wireless.default_radio1.key='x%s'",
    "another class": "uci set network.dsl.password='%s'",
    "a removed item": "uci del_list wireless.default_radio1.key='%s'",
    "a list": "uci add_list system.ntp.server='%s'",
    "section type": "uci set wireless.new='%s'",
    "section name": "uci set 'wireless.%s=wifi-iface'",
    "option name": "uci set 'wireless.default_radio1.%s=1'",
    "new name": "uci rename wireless.default_radio1='%s'",
}


@pytest.mark.parametrize("place", sorted(PLACES))
def test_a_placeholder_anywhere_else_is_refused_with_the_reason(here, place):
    before = [config(here.root, name) for name in ("system", "wireless", "network")]
    key = read(here)["key"]
    error = refusal(configure(here, PLACES[place] % key))
    assert error["code"] in ("policy", "usage") and error["message"], error
    assert WIFI not in json.dumps(error)
    assert [config(here.root, name) for name in ("system", "wireless", "network")] == before


@pytest.mark.parametrize("lost", ["secret:{}", "<<secret:{}>>", "«secret:{}", "{0}secret:{0}"])
def test_a_placeholder_that_lost_its_marks_does_not_become_a_password(here, lost):
    digits = read(here)["key"][8:-1]
    assert (
        "no place here"
        in refusal(configure(here, f"uci set wireless.default_radio1.key='{lost.format(digits)}'"))["message"]
    )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("status", {"what": "devices", "named": "%s"}),
        ("read_config", {"package": "%s"}),
        ("read_config", {"package": "wireless", "section": "%s"}),
        ("service", {"name": "%s"}),
        ("undo", {"change": "%s"}),
        ("configure", {"commands": ["uci set system.@system[0].hostname=x"], "summary": "now %s"}),
        ("configure", {"commands": ["uci set system.@system[0].hostname=x"], "until": "%s"}),
    ],
)
def test_a_placeholder_in_an_argument_of_a_tool_is_refused(here, name, arguments):
    before = config(here.root, "system")
    key = read(here)["key"]
    filled = json.loads(json.dumps(arguments, ensure_ascii=False).replace("%s", key))
    error = refusal(here.say("do it", [(name, filled)], "Done."))
    assert error["code"] == "policy" and "no place here" in error["message"]
    assert config(here.root, "system") == before


def test_a_placeholder_in_an_answer_is_shown_as_it_is(here):
    key = read(here)["key"]
    events = here.say("what is the password?", f"It is {key}.")
    assert "".join(event["text"] for event in of_type(events, "delta")) == f"It is {key}."
    assert here.daemon.call("chat.load", id=here.chat)["messages"][-1]["content"] == f"It is {key}."


@pytest.mark.parametrize("mask", ["********", "(secret)", "(new secret)"])
def test_a_mask_is_no_password(here, mask):
    assert "is a mask" in refusal(configure(here, f"uci set wireless.default_radio1.key='{mask}'"))["message"]


@pytest.mark.parametrize(
    "command",
    [
        "uci rename wireless.default_radio0.key=ssid",
        "uci rename wireless.default_radio0.key=wps_pin",
        "uci rename network.dsl.password=username",
        "uci set network.dsl=route",
    ],
)
def test_a_secret_is_not_moved_to_where_it_would_be_shown(here, command):
    assert "would be shown" in refusal(configure(here, command))["message"]


def test_what_the_owner_typed_is_masked_where_it_goes_once_the_router_holds_it(here):
    typed = "correct-horse"
    command = f"uci set wireless.default_radio1.key='{typed}'"
    message = f"set the wifi password to {typed}"
    here.model.script = []
    events = here.say(
        message,
        [
            (
                "configure",
                {"commands": ["uci set wireless.default_radio1.encryption=psk2", command], "summary": f"now {typed}"},
            )
        ],
        "Done.",
        until=("plan",),
    )
    assert typed not in json.dumps(events), "tool card and plan"
    approve(here.daemon, events)
    assert typed not in json.dumps(here.follow())
    sent = here.model.bodies()
    assert typed not in sent[0] and typed not in sent[1], "the model never gets it"
    assert FORM.search(sent[0]) and FORM.search(sent[1])
    assert here.stored()[0]["content"] == message, "stored as typed"
    assert typed not in json.dumps(here.daemon.call("chat.load", id=here.chat)["messages"][1:])
    assert typed not in json.dumps([here.daemon.call("chat.list"), here.daemon.call("change.list")])
    # And when it is not held any more, in the title and the card still.
    here.daemon.call("change.rollback")
    assert typed.encode() not in config(here.root, "wireless")
    loaded = here.daemon.call("chat.load", id=here.chat)
    assert typed not in json.dumps([here.daemon.call("chat.list"), loaded["title"], loaded["messages"][1:]])
    assert loaded["messages"][0]["content"] == message.replace(typed, "********"), "nor on the page"
