"""What the system prompt says of the router, the time and the limits, and how many tokens a first request takes."""

import json
from types import SimpleNamespace

import pytest

from oasis.agent import briefing
from oasis.core import trim, when
from tests.agent.test_untrusted_words import Scene
from tests.daemon.test_wiring import option


@pytest.fixture
def here(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.close()


def body(here):
    return json.loads(here.model.bodies()[-1])


def cost(here):
    """Return about how many tokens the newest request is."""
    return trim.tokens(json.dumps(body(here), ensure_ascii=False))


def test_a_model_knows_the_router_the_time_the_limits_and_what_waits(here):
    here.say("hello", "Hi.")
    system = body(here)["messages"][0]["content"]
    for words in (
        "OpenWrt 24.10", "mediatek/filogic", "Packages with a configuration: dhcp, dropbear, firewall", "time zone UTC",
        "Changes that are risky wait for the owner's approval", "Up to 10 answers of a turn", "up to 8 at once",
        "The clock is right.",
    ):  # fmt: skip
        assert words in system, words
    print("system prompt: %d tokens" % trim.tokens(system))
    assert trim.tokens(system) <= 450


@pytest.mark.parametrize(("is_set", "word"), [(True, "The clock is right."), (False, "The clock is not set yet")])
def test_the_time_is_told_by_the_quarter_of_an_hour_and_whether_it_is_right(is_set, word):
    facts = SimpleNamespace(ubus=lambda *_: {}, packages=list)

    def told(unix_s):
        clock = SimpleNamespace(is_set=lambda: is_set)
        asking = SimpleNamespace(facts=facts, clock=clock, unix_s=lambda: unix_s)
        return briefing.system(asking, None, None, 10, "risky", "owner").split("\n")[-1]

    noon = 1_800_000_000
    assert f"about {when.shown(noon)}" in told(noon) and word in told(noon)
    assert told(noon) == told(noon + 899) != told(noon + 900)


@pytest.mark.part("admin", "memory", "schedule")
def test_a_first_request_is_short_with_few_tools_and_with_all(here):
    here.say("hello", "Hi.")
    small = cost(here)
    option(here.root, "tools", "all")
    here.restart()
    here.chat = ""
    here.say("hello", "Hi.")
    assert len(body(here)["tools"]) > 12
    whole = cost(here)
    print("first request: %d tokens with few tools, %d with all %d" % (small, whole, len(body(here)["tools"])))
    assert whole <= 3500 and small <= 1200


WISHES = {
    "guest-wifi": "set up a guest wifi, please", "parental-control": "no internet for the kids at bedtime, parental",
    "security-check": "do a security check of my router", "slow-internet": "the internet is slow since yesterday",
    "vpn-setup": "set up a wireguard vpn to reach home from outside",
}  # fmt: skip


@pytest.mark.part("admin", "memory", "schedule")
def test_a_first_request_with_a_guide_is_as_short(here):
    path = here.root + "/etc/config/oasis"
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    with open(path, "w", encoding="utf-8") as handle:
        model = "\toption model 'scripted'\n"
        handle.write(text.replace(model, model + "\toption context_tokens '200000'\n"))
    here.restart()
    costs = {}
    for name, wish in WISHES.items():
        here.chat = ""
        here.say(wish, "Hi.")
        system = body(here)["messages"][0]["content"]
        assert "guide" in system.lower(), (name, system)
        costs[name] = cost(here)
    print(f"first request with a guide: {costs}")
    assert max(costs.values()) <= 3500, costs


@pytest.mark.part("memory")
def test_a_guide_adds_what_it_needs_and_takes_nothing_away(here):
    here.say("give the guest network another name, show me the logs and which devices are on it", "Hi.")
    offered = {tool["function"]["name"] for tool in body(here)["tools"]}
    assert "guide" in body(here)["messages"][0]["content"].lower()
    assert {"status", "read_config", "configure", "diagnose", "logs"} <= offered
