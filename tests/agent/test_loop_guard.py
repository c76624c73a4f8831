"""A model that makes one call over and over is stopped, in any chat."""

from __future__ import annotations

from oasis.agent.loop_guard import SAME, Repeats
from tests.agent.test_toolless import serve  # noqa: F401  (a fixture)
from tests.daemon.test_wiring import config, follow, of_type
from tests.llm.test_workers import run  # noqa: F401  (a fixture)

LOOK = ("status", {"what": "overview"})
RENAME = ("configure", {"commands": ["uci set system.@system[0].hostname='attic'"]})


def results(daemon, started):
    lines = daemon.call("chat.load", id=started["chat"])["messages"]
    return [block for line in lines if line["role"] == "tool" for block in line["content"]]


def test_a_call_that_is_made_again_and_again_is_not_made_and_the_model_is_told(run, serve):  # noqa: F811
    server = serve(*[LOOK] * 6, "Enough.", knows_tools=True)
    daemon = run("compatible", server.url, "tiny")
    started = daemon.call("run.start", message="how is it?")
    assert of_type(follow(daemon, started), "end")[0]["state"] == "done"
    found = results(daemon, started)
    assert [bool(block.get("is_error")) for block in found] == [False] * SAME + [True] * (6 - SAME)
    assert "the very same call was made 3 times already" in found[SAME]["content"][0]["text"]


def test_looking_again_after_a_change_is_no_repetition(run, serve):  # noqa: F811
    server = serve(LOOK, RENAME, LOOK, "Done.", knows_tools=True)
    daemon = run("compatible", server.url, "tiny")
    started = daemon.call("run.start", message="call it attic")
    follow(daemon, started)
    assert b"attic" in config(daemon.root, "system")
    assert not any(block.get("is_error") for block in results(daemon, started))


def test_order_of_arguments_does_not_make_a_call_another():
    calls = []
    repeats = Repeats(2)
    watched = repeats.watched(lambda name, arguments, taint: calls.append(arguments) or ("", False, []))
    for arguments in (
        {"a": 1, "b": [{"c": 1, "d": 2}]},
        {"b": [{"d": 2, "c": 1}], "a": 1},
        {"a": 1, "b": [{"c": 1, "d": 2}]},
    ):
        watched("status", arguments, [])
    watched("status", {"a": 2}, [])
    assert len(calls) == 3 and repeats.stopped == 1
