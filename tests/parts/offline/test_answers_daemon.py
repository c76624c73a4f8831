"""The whole path without a model: a sentence, the tool's call, its answer in words, on a real daemon."""

import pytest

from tests.daemon.test_wiring import follow, of_type
from tests.oasisd import copy_root, start_daemon

# sentence: a piece of the last words, in the language of the sentence
SAID = {
    "Funktioniert das Internet?": "Internet: verbunden",
    "how much traffic was there": "received",
    "show the log of dnsmasq": "The newest lines of the log",
    "haz ping a openwrt.org": "openwrt.org responde",
    "why is my internet so slow": "I checked",
    "显示路由器内存": "内存",
    "what was changed lately": "Nothing was changed here so far.",
    "ポート転送を見せて": "転送されているポートはありません",
    "which wifi networks are around": "networks around",
    "search for the package sqm": "sqm-scripts: A set of scripts",
    "are there any package updates": "dnsmasq: 2.90-r4 -> 2.91-r1",
    "mach eine Sicherung der Einstellungen": "gesichert",
    "lookup example.com": "93.184.215.14",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    running = start_daemon(copy_root(str(tmp_path_factory.mktemp("whole") / "router")))
    yield running
    running.stop()


def said(daemon, sentence):
    """Return the events of a run with the built-in service."""
    return follow(daemon, daemon.call("run.start", message=sentence, service="offline"))


def words(events):
    return "".join(event["text"] for event in of_type(events, "delta"))


@pytest.mark.parametrize("sentence", SAID)
def test_answer_of_a_tool_reaches_the_owner_in_words(daemon, sentence):
    events = said(daemon, sentence)
    assert SAID[sentence] in words(events), words(events)


def test_tool_that_is_missing_is_told_as_that(daemon):
    told = words(said(daemon, "remove the package nmap"))
    assert "nmap is not installed" in told
