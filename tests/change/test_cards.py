"""What the owner approves is on every card, whole: long arguments and plans, unseen characters, and whose secret it is.

Every front end is walked with a word in the middle of what is long: it shows that word, or it offers no approval and
the daemon takes none from there.
"""

import json
import re
import subprocess

import pytest

from oasis.api.table import ROLES
from oasis.core import clean
from oasis.core.clean import shown as plain
from tests.agent.test_untrusted_words import Scene
from tests.cli import launcher
from tests.daemon.test_wiring import approve, config, follow, of_type, option, root  # noqa: F401
from tests.oasisd import start_daemon
from tests.recorder import results

MARK = "quenepa"
LONG_WISH = "turn off the guest wifi " * 18 + MARK + " and then " + "say good night " * 20
MANY = [f"uci add_list dhcp.lan.dhcp_option='{number},192.168.1.{number % 250}'" for number in range(1, 60)]
MANY.insert(30, f"uci add_list dhcp.lan.dhcp_option='119,{MARK}.example.org'")
LONG_VALUE = "x" * 1500 + " " + MARK + " " + "y" * 1500


@pytest.fixture
def daemon(root):  # noqa: F811
    path = root + "/etc/config/oasis"
    with open(path, encoding="utf-8") as handle:
        text = handle.read().replace("\toption approval 'risky'\n", "")
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)
    option(root, "approval", "all")
    started = start_daemon(root)
    yield started
    started.stop()


def tool_call(daemon):
    assert daemon.call("tool.set", name="schedule_create", enabled=True, approval="ask")["tool"]["enabled"]
    return daemon.call("tool.call", name="schedule_create", arguments={"when": "22:00 daily", "wish": LONG_WISH})


PLANS = {
    "arguments of a tool": tool_call,
    "many commands": lambda daemon: daemon.call("plan.propose", commands=MANY),
    "a long value": lambda daemon: daemon.call(
        "plan.propose", commands=[f"uci set system.@system[0].notes='{LONG_VALUE}'"]
    ),
    "a short plan": lambda daemon: daemon.call(
        "plan.propose", commands=[f"uci set wireless.default_radio0.ssid='{MARK}'"]
    ),
}  # fmt: skip


OF_A_TOOL = pytest.param("arguments of a tool", marks=pytest.mark.part("schedule"))


@pytest.fixture(params=[OF_A_TOOL, *[name for name in PLANS if PLANS[name] is not tool_call]])
def waiting(request, daemon):
    """A plan that waits, as plan.list has it, beside its daemon."""
    events = follow(daemon, PLANS[request.param](daemon), ("plan",))
    assert of_type(events, "plan")[0]["plan"]["needs_approval"]
    (card,) = daemon.call("plan.list")["plans"]
    return daemon, card, request.param


def test_the_socket_and_the_bus_tell_all_of_a_plan(waiting):
    _, card, _ = waiting
    assert MARK in json.dumps(card["words"])
    assert len(json.dumps(card)) < 256 * 1024


def test_the_command_prints_all_of_a_plan(waiting, tmp_path):
    daemon, card, _ = waiting
    command = [*launcher.install(tmp_path), "plans"]
    done = subprocess.run(
        command, env=launcher.environment(daemon.root), capture_output=True, text=True, timeout=60, check=True
    )
    assert MARK in done.stdout and card["hash"] in done.stdout
    for word in card["words"]:
        assert clean.shown(word) in done.stdout


@pytest.mark.parametrize(
    "name",
    [
        "viewer",
        pytest.param("client", marks=pytest.mark.part("mcp")),
        pytest.param("guest", marks=pytest.mark.part("telegram")),
        pytest.param("messenger", marks=pytest.mark.part("telegram")),
    ],
)
def test_whoever_sees_less_has_no_approval_at_all(name):
    assert "plan.approve" not in ROLES[name]


@pytest.mark.part("schedule")
def test_the_approval_of_a_tool_call_shows_each_line_of_an_argument(daemon):
    assert daemon.call("tool.set", name="schedule_create", enabled=True, approval="ask")["tool"]["enabled"]
    wish = "say good night\nwhen: never\u202e"
    started = daemon.call("tool.call", name="schedule_create", arguments={"when": "22:00 daily", "wish": wish})
    (event,) = of_type(follow(daemon, started, ("plan",)), "plan")
    words = event["plan"]["words"]
    assert "wish (2 lines):" in words and "| say good night" in words and "| when: never\\u202e" in words


def test_what_cannot_be_shown_whole_anywhere_is_refused(daemon):
    text = "x" * 1900
    commands = [f"uci add_list dhcp.lan.dhcp_option='{number},{text}'" for number in range(1, 30)]
    started = daemon.call("plan.propose", commands=commands)
    (event,) = of_type(follow(daemon, started, ("plan", "end")), "error")
    assert "can be shown" in event["error"]["message"] and event["error"]["hint"] == "do it in smaller steps"


# Unseen characters

ODD = [chr(code) for code in range(0x110000) if clean.is_odd(code)]


def test_every_unseen_character_is_written_out_on_a_card():
    assert len(ODD) > 4000
    for char in ODD:
        assert plain(f"a{char}b") == "a\\u%04xb" % ord(char)
    for text in ("Küche & Büro", "日本語", "Кухня", "x\\y", "🙂"):
        assert plain(text) == text


def test_the_page_writes_out_the_same_characters():
    with open("files/www/luci-static/resources/oasis/clean.js", encoding="utf-8") as handle:
        (ranges,) = re.findall(r"^const ODD = /\[(.*)\]/gu;$", handle.read(), re.M)
    found = set()
    for first, last in re.findall(r"\\u\{?([0-9a-f]+)\}?(?:-\\u\{?([0-9a-f]+)\}?)?", ranges):
        found |= set(range(int(first, 16), int(last or first, 16) + 1))
    assert found == {ord(char) for char in ODD} - {0x09, 0x0A}


# Whose secret it is


@pytest.fixture
def here(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.close()


def wifi(key):
    commands = ["uci set wireless.default_radio0.encryption=psk2", f"uci set wireless.default_radio0.key='{key}'"]
    return [("configure", {"commands": commands, "summary": "a new password"})]


KEY = "wireless.default_radio0.key"


def card_of(here, message, key):
    return of_type(here.say(message, wifi(key), "Done.", until=("plan",)), "plan")[0]["plan"]


def test_a_secret_that_the_owner_typed_is_told_as_his_and_masked(here):
    card = card_of(here, "set the wifi password to tangerine-sky-42, please", "tangerine-sky-42")
    assert card["secrets"] == [{"where": KEY, "from": "as you wrote it"}]
    assert f"{KEY}: as you wrote it" in card["words"]
    assert "tangerine" not in json.dumps(card)
    assert not any("chosen by" in reason for reason in card["reasons"])


@pytest.mark.parametrize(
    "message",
    [
        "make the wifi safe",
        "set the wifi password to xmoonlight-harbor-77x",  # a part of another word is another word
        "set the wifi password to moonlight-harbor-77-and-more",
    ],
)
def test_a_secret_that_the_model_chose_is_shown_in_clear_and_a_reason_for_risk(here, message):
    card = card_of(here, message, "moonlight-harbor-77")
    assert card["secrets"] == [{"where": KEY, "from": "chosen by the model", "value": "moonlight-harbor-77"}]
    assert card["reasons"][0] == f"the secret of {KEY} is chosen by the model, who knows it"
    assert card["risk"] == "risky" and card["needs_approval"]
    # In clear on the card alone: not in its other parts, nor in what is kept of the change.
    assert "moonlight" not in json.dumps({**card, "secrets": []})
    approve(here.daemon, [{"type": "plan", "plan": card}])
    here.follow()
    assert b"moonlight-harbor-77" in config(here.root, "wireless")
    kept = here.daemon.call("change.list")["changes"][0]
    assert f"{KEY}: chosen by the model" in kept["words"] and "moonlight" not in json.dumps(kept)
    for folder in ("etc/oasis/journal", "var/log"):
        found = subprocess.run(["grep", "-rl", "moonlight", f"{here.root}/{folder}"], capture_output=True, text=True)
        assert not [path for path in found.stdout.split() if not re.search(r"/(before|after|wireless)", path)]


@pytest.mark.parametrize(
    ("message", "key"),
    [
        ("set a new wifi password", "password"),
        ("call the wifi attic-upstairs and give it a good password", "attic-upstairs"),
        ("the old password hunter22-old was leaked, choose a new one", "hunter22-old"),
        ("the wifi password is hunter22-old. It was stolen, so change it", "hunter22-old"),
        ("make the wifi safe and reserve 192.168.1.50 for the tv", "192.168.1.50"),
        ("make the wifi safe", "make the wifi safe"),
        ("please change the wifi password to a long one", "the wifi password to a"),
    ],
)
def test_what_the_owner_named_and_did_not_give_as_a_password_is_chosen_by_the_model(here, message, key):
    card = card_of(here, message, key)
    assert card["secrets"] == [{"where": KEY, "from": "chosen by the model", "value": key}]
    assert card["reasons"][0] == f"the secret of {KEY} is chosen by the model, who knows it"


def test_a_password_that_leaked_is_not_given_by_its_placeholder_either(here):
    here.say("the old password hunter22-old was leaked", "That is bad.")
    (name,) = set(re.findall("«secret:[0-9a-f]+»", here.model.bodies()[-1]))
    card = card_of(here, "make the wifi safe", name)
    assert card["secrets"] == [{"where": KEY, "from": "chosen by the model", "value": "hunter22-old"}]


@pytest.mark.parametrize(
    "message",
    [
        "set the wifi password to 'tangerine sky 42'",
        "wifi password: 'tangerine sky 42'",
        "das WLAN-Passwort ist „tangerine sky 42“",
        "set a new wifi password\ntangerine sky 42",
    ],
)
def test_what_is_given_as_a_password_is_the_owner_s(here, message):
    card = card_of(here, message, "tangerine sky 42")
    assert card["secrets"] == [{"where": KEY, "from": "as you wrote it"}]


def test_a_message_that_answers_for_the_password_is_the_owner_s(here):
    here.say("change the wifi password", "To what?")
    card = card_of(here, "tangerine-sky-42", "tangerine-sky-42")
    assert card["secrets"] == [{"where": KEY, "from": "as you wrote it"}]


def test_a_long_summary_ends_with_a_sign_and_steers_no_terminal(here):
    summary = "rename\x1b[2J\x1b[31;1m it\x9b0K " + "y" * 3000
    commands = ["uci set network.lan.ipaddr='192.168.7.1'"]
    call = [("configure", {"commands": commands, "summary": summary})]
    card = of_type(here.say("move it", call, "Done.", until=("plan",)), "plan")[0]["plan"]
    assert card["summary"] == ("rename it " + "y" * 3000)[:199] + "…"


def test_only_the_owner_sees_a_chosen_secret(here):
    card_of(here, "make the wifi safe", "moonlight-harbor-77")
    from oasis.api.methods import cleared

    class Nothing:
        hide = staticmethod(lambda value: value)

    reply = {"plans": here.daemon.call("plan.list")["plans"]}
    assert "moonlight" in json.dumps(reply)
    assert "moonlight" not in json.dumps(cleared(reply, Nothing, None))


@pytest.mark.parametrize("is_owner", [True, False])
def test_a_reply_keeps_every_key_of_what_others_wrote(is_owner):
    from oasis.api.methods import cleared

    class Nothing:
        hide = staticmethod(lambda value: value)

    reply = {"messages": [{"content": [{"type": "tool_use", "name": "look", "input": {"": "all", "of": {"": 1}}}]}]}
    assert cleared(reply, Nothing, None, is_owner) == reply


def test_generate_is_told_as_what_it_is_and_masked_nowhere(here):
    commands = ["uci set network.wg0=interface", "uci set network.wg0.proto=wireguard",
                "uci set network.wg0.private_key=generate"]  # fmt: skip
    call = [("configure", {"commands": commands, "summary": "generate a key"})]
    card = of_type(here.say("make a vpn", call, "I let it generate one.", until=("plan",)), "plan")[0]["plan"]
    where = "network.wg0.private_key"
    assert card["secrets"] == [{"where": where, "from": "generated on the router"}]
    assert any("private_key 'generate'" in word for word in card["words"])
    assert "uci set network.wg0.private_key=generate" in card["uci"]
    assert any("private_key 'generate'" in line["text"] for part in card["diff"] for line in part["lines"])
    approve(here.daemon, [{"type": "plan", "plan": card}])
    events = here.follow()
    assert "I let it generate one." in "".join(event["text"] for event in of_type(events, "delta"))
    here.say("what is it?", [("read_config", {"package": "network", "section": "wg0"})], "It is to generate one.")
    assert json.loads(results(json.loads(here.model.bodies()[-1]))[-1])["sections"]["wg0"]["private_key"] == "generate"


def test_an_undo_tells_that_a_secret_is_as_it_was(here):
    commands = ["uci set wireless.default_radio0.encryption=psk2", "uci set wireless.default_radio0.key=first-secret-1"]
    for words in (commands, ["uci set wireless.default_radio0.key=second-secret-2"]):
        started = here.daemon.call("plan.propose", commands=words)
        events = follow(here.daemon, started, ("plan",))
        (secret,) = events[-1]["plan"]["secrets"]
        assert secret == {"where": KEY, "from": "as you wrote it"}
        approve(here.daemon, events)
        follow(here.daemon, started)
        here.daemon.call("change.confirm", change=here.daemon.call("change.pending")["change"]["id"], unproved=True)
    events = follow(here.daemon, here.daemon.call("change.undo"), ("plan",))
    assert events[-1]["plan"]["secrets"] == [{"where": KEY, "from": "as it was before"}]


# Names that break out of generated text, and quotes that are none, through the daemon


def refused(daemon, command):
    reply = daemon.call("plan.propose", commands=[command])
    if "error" in reply:
        return reply["error"]
    return of_type(follow(daemon, reply), "error")[0]["error"]


def test_a_name_that_becomes_a_rule_of_its_own_is_refused(daemon):
    before = config(daemon.root, "firewall")
    told = refused(daemon, "uci set firewall.@rule[0].name='x\" ; accept #'")
    assert "firewall.@rule[0].name cannot be" in told["message"] and "must be a text without" in told["message"]
    assert config(daemon.root, "firewall") == before


def test_quotes_of_typography_and_unseen_characters_are_refused(daemon):
    told = refused(daemon, "uci set system.@system[0].hostname=‘attic’")
    assert told["hint"] == "write plain quotes: hostname='attic'"
    assert "byte order mark (U+FEFF)" in refused(daemon, "\ufeffuci set system.@system[0].hostname=attic")["message"]
    assert "no-break space (U+00A0)" in refused(daemon, "uci set system.@system[0].notes='a\xa0b'")["message"]


def test_lines_and_tabs_reach_the_file_where_the_text_is_free(daemon):
    started = daemon.call("plan.propose", commands=["uci set system.@system[0].notes='one\n\ttwo'"])
    events = follow(daemon, started, ("plan",))
    assert "one\\u000a\\u0009two" in json.dumps(events[-1]["plan"]["words"], ensure_ascii=False).replace("\\\\", "\\")
    approve(daemon, events)
    follow(daemon, started)
    assert b"option notes 'one\n\ttwo'" in config(daemon.root, "system")
