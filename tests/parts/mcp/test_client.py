"""The MCP client against servers that keep to the protocol and servers that do not: what is told, what is bounded."""

from __future__ import annotations

import json
import os
import sys
import time
from types import SimpleNamespace

import pytest

from oasis.errors import ToolError, UsageError
from oasis.parts.mcp import server_connection
from oasis.parts.mcp import servers as mcp
from oasis.parts.mcp.server_connection import Stdio
from oasis.system.files import Files
from oasis.uci.model import Section

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "served", "scripted.py")
WHOSE = "words of the MCP server demo"


class Watching:
    """What a call may be watched by."""

    def __init__(self, seconds=20.0, stop_after=0.0):
        self.told = []
        self._end = time.monotonic() + seconds
        self._stop = time.monotonic() + stop_after if stop_after else None

    def left_s(self, most=3600.0):
        return max(min(self._end - time.monotonic(), most), 0.0)

    def is_cancelled(self):
        return self._stop is not None and time.monotonic() > self._stop

    def progress(self, text, done=None, total=None):
        self.told.append((text, done, total))


@pytest.fixture
def demo(tmp_path):
    """Return a function that gives the scripted server of a kind, as a source."""
    running = []

    def start(kind, **settings):
        log = str(tmp_path / "log.txt")
        argv = [sys.executable, "-I", SCRIPT, kind, log]
        entry = {
            "name": "demo",
            "enabled": True,
            "command": argv,
            "url": "",
            "timeout_s": 20,
            "allowed": [],
            "note": "",
        }
        path = str(tmp_path / "mcp/demo.json")
        source = mcp.Server({**entry, **settings}, lambda one: Stdio("demo", one["command"], {}, ""), Files(), path)
        source.log = log
        running.append(source)
        return source

    yield start
    for source in running:
        source.close()


def heard(source):
    """Return the messages that the server was sent."""
    with open(source.log, encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def call(source, name, arguments=None, watch=None):
    return source.call("demo___" + name, arguments or {}, None, watch or Watching())


def test_tools_are_listed_page_by_page_under_the_server_s_name(demo):
    source = demo("good")
    names = ["demo___echo", "demo___a___b", "demo___slow", "demo___fail", "demo___wipe"]
    extras = ["demo___resources", "demo___read", "demo___prompts", "demo___prompt"]
    assert source.refresh() == names + extras
    specs = {spec["name"]: spec for spec in source.specs()}
    assert [specs[name]["class"] for name in names] == ["read", "change", "change", "change", "danger"]
    assert {spec["approval"] for spec in specs.values()} == {"ask"} and specs["demo___echo"]["untrusted"] == WHOSE
    assert source.specs() is source.specs(), "the same list while nothing changed"


def test_list_is_known_after_a_restart_without_asking_anybody(demo, tmp_path):
    demo("good").refresh()
    again = demo("dies")
    assert len(again.specs()) == 9 and again.state() == "not connected"


def test_call_tells_texts_and_what_else_there_was(demo):
    source = demo("good")
    assert call(source, "echo", {"text": "hello"}) == {"text": "hello", "left_out": ["image"]}
    assert call(source, "a___b") == {"text": "a___b", "left_out": ["image"]}, "split once, at the first separator"
    assert call(source, "echo", {"text": "wrong"})["is_error"] is True


def test_error_of_a_server_is_told_as_its_words(demo):
    with pytest.raises(ToolError, match=r"MCP Error \(-32000\): it broke") as failure:
        call(demo("good"), "fail")
    assert failure.value.untrusted == (WHOSE,)


def test_progress_is_passed_on_and_a_stopped_call_is_called_off_there(demo):
    source, watch = demo("good"), Watching(stop_after=1.5)
    with pytest.raises(ToolError, match="stopped by the owner"):
        call(source, "slow", watch=watch)
    assert ("step 1", 1, 100) in watch.told
    deadline = time.monotonic() + 10
    while not (cancelled := [one for one in heard(source) if one.get("method") == "notifications/cancelled"]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    asked = [one for one in heard(source) if one.get("method") == "tools/call"]
    assert cancelled[0]["params"]["requestId"] == asked[0]["id"]
    assert call(source, "echo", {"text": "still there"})["text"] == "still there"


def test_call_that_takes_too_long_is_given_up(demo):
    with pytest.raises(ToolError, match="did not answer within"):
        call(demo("good"), "slow", watch=Watching(seconds=1.0))


def test_resources_and_prompts(demo):
    source = demo("good")
    source.refresh()
    assert call(source, "resources") == {"items": [{"uri": "s://one", "name": "one"}]}
    assert call(source, "read", {"uri": "s://one"}) == {"text": "read s://one"}
    assert call(source, "prompts")["items"][0]["name"] == "hi"
    assert call(source, "prompt", {"name": "hi", "arguments": {"a": "b"}})["text"] == "hi {'a': 'b'}"


def test_server_that_dies_is_told_with_its_last_words_and_started_again(demo):
    source = demo("dies")
    with pytest.raises(ToolError, match="the MCP server demo is gone") as failure:
        call(source, "echo", {"text": "x"})
    assert failure.value.hint == "out of luck"
    with pytest.raises(ToolError, match="is gone"):
        call(source, "echo", {"text": "x"})
    starts = [one for one in heard(source) if one.get("method") == "initialize"]
    assert len(starts) == 2


def test_answers_to_what_nobody_asked_are_dropped(demo):
    assert call(demo("lies"), "echo", {"text": "x"})["text"] == "the truth"


def test_flood_is_ended_before_it_fills_the_router(demo):
    source = demo("floods")
    with pytest.raises(ToolError, match=r"a line of more than 4194304 bytes"):
        call(source, "echo", {"text": "x"})
    assert not source._line.is_alive()


def test_server_that_prints_words_between_messages_is_ended_when_they_are_too_many(demo):
    with pytest.raises(ToolError, match="writes what is no message"):
        call(demo("babbles"), "echo", {"text": "x"})


def test_server_may_see_that_we_are_there_and_gets_nothing_else(demo):
    source = demo("asks")
    assert call(source, "echo", {"text": "x"})["text"] == "asked"
    deadline = time.monotonic() + 10
    while len(replies := [one for one in heard(source) if "method" not in one]) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    found = {one["id"]: one for one in replies}
    assert found["s2"]["result"] == {} and {found[n]["error"]["code"] for n in ("s1", "s3")} == {-32601}


def test_result_that_is_none_is_an_error(demo):
    with pytest.raises(Exception, match="answered with no result"):
        call(demo("odd"), "echo", {"text": "x"})


def test_changed_list_is_asked_for_again(demo):
    source = demo("changes")
    source.refresh()
    assert "demo___new" not in [spec["name"] for spec in source.specs()]
    call(source, "echo", {"text": "x"})
    assert "demo___new" in [spec["name"] for spec in source.specs()]


def test_endless_list_ends(demo):
    source = demo("endless")
    assert len([name for name in source.refresh() if name.startswith("demo___t")]) == 20


def test_version_that_nobody_speaks_is_refused(demo):
    source = demo("old")
    with pytest.raises(ToolError, match="speaks protocol 1999-01-01, which oasis does not"):
        source.refresh()
    assert "1999-01-01" in source.state()


def test_children_of_a_server_end_with_it(demo):
    source = demo("forks")
    leader = int(call(source, "echo", {"text": "x"})["text"])
    source.close()
    deadline = time.monotonic() + 10
    while group_of(leader):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def group_of(leader):
    """Return the processes of a group."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as handle:
                fields = handle.read().rpartition(") ")[2].split()
        except (OSError, NotADirectoryError):
            continue
        if name.isdigit() and int(fields[2]) == leader and fields[0] != "Z":
            found.append(int(name))
    return found


def test_environment_of_a_server_is_given_whole(demo, tmp_path):
    source = demo(
        "good", command=[sys.executable, "-I", "-c", "import os, sys; sys.stderr.write(repr(sorted(os.environ)))"]
    )
    with pytest.raises(ToolError) as failure:
        call(source, "echo", {"text": "x"})
    assert failure.value.hint == "['HOME', 'LC_ALL', 'PATH']"


def test_program_that_is_not_there_is_named(demo):
    with pytest.raises(ToolError) as failure:
        call(demo("good", command=["/no/such/program"]), "echo", {"text": "x"})
    assert failure.value.hint == "/no/such/program: No such file or directory"


def test_tools_that_the_owner_did_not_list_are_not_offered(demo):
    source = demo("good", allowed=["echo"])
    source.refresh()
    assert [spec["name"] for spec in source.specs() if spec["class"] != "read"] == []
    assert "demo___echo" in [spec["name"] for spec in source.specs()]


def section(kind="mcp_server", **options):
    made = Section(kind, "cfg1", True)
    made.options.update(options)
    return made


def kit(folder, sections, token="", post=None):
    """Return as much of a daemon's services as the servers of these sections need."""
    settings = SimpleNamespace(sections=lambda: sections, key=lambda name: token)
    root = SimpleNamespace(folder=str(folder), state_folder=str(folder))
    return SimpleNamespace(settings=settings, root=root, files=Files(), models=SimpleNamespace(post=post))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "a b", "url": "https://x/y"}, "the name may have"),
        ({"name": "a___b", "url": "https://x"}, "the name may have"),
        ({"name": "x"}, "either a command or a url"), ({"name": "x", "url": "https://x", "command": ["a"]}, "either"),
        ({"name": "x", "url": "ftp://x"}, "the url must be"), ({"name": "x", "url": "https://k@x"}, "the url must be"),
        ({"name": "x", "command": ["../sh"]}, "the command must be"),
    ],
)  # fmt: skip
def test_wrong_settings_are_told_and_switch_the_server_off(given, words):
    found = mcp.read([section(**given)])[0]
    assert words in found["note"] and found["enabled"] is False


def test_sections_of_upstream_are_read_and_off_until_the_owner_says_so():
    old = section("remote_mcp_server", server_label="docs", server_url="https://d.example/mcp", allowed_tools=["find"])
    assert mcp.read([old]) == [
        {"name": "docs", "command": [], "url": "https://d.example/mcp", "note": "", "enabled": False, "timeout_s": 60,
         "allowed": ["find"]}
    ]  # fmt: skip


def test_server_that_is_not_set_up_cannot_be_asked(tmp_path):
    found = mcp.Servers(kit(tmp_path, [section(name="x")]))
    with pytest.raises(UsageError, match="no MCP server 'y' that is on"):
        found.mcp_refresh("y")
    assert found.mcp_list({"name": "owner"})["servers"][0]["note"] == "either a command or a url is needed"


@pytest.mark.parametrize(
    "value, number", [(1, 1), (0.5, 0.5), ("1", None), (True, None), ([], None), (float("inf"), None)]
)
def test_progress_that_is_no_number_is_left_out(value, number):
    assert server_connection._number(value) == number
