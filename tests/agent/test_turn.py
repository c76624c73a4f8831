"""The agent loop with a scripted model: every ending is stored, every call has its result, nothing is lost."""

import functools
import itertools
import json
import types

import pytest

from oasis.agent.context import newest
from oasis.agent.turn import ANSWER_BYTES, CALLS, ROUNDS, Turn
from oasis.core import jsonl, schema, thread
from oasis.core.store import Store
from oasis.errors import ApplyError, StoreError
from oasis.system.files import Files

CHAT = "9m4e2mr0ui3e8a215n4g"
OWNER = "0" * 25
SYSTEM = "You operate a router."
TOOLS = [{"name": "status", "description": "", "input_schema": {"type": "object"}}]


def delta(text):
    return {"type": "delta", "text": text}


def call(ident, name="status", **arguments):
    return {"type": "tool_use", "id": ident, "name": name, "input": arguments}


def done(reason="end_turn"):
    return {"type": "done", "stop_reason": reason, "model": "tiny-1"}


def failed(code="server"):
    error = {"code": code, "message": "the service broke off", "hint": "ask again", "retryable": True}
    return {"type": "error", "error": error}


class Bug(Exception):
    pass


class Scene:
    """One exchange on a chat in a folder: a script of answers, a table of tools, everything that was emitted."""

    def __init__(self, tmp_path, *script, tools=None, files=None, tool=None):
        self.folder = str(tmp_path / "chats")
        self.script = list(script)
        self.asked = []
        self.called = []
        self.events = []
        self.is_cancelled = False
        self.tools = TOOLS if tools is None else tools
        self.tool = tool or (lambda name, arguments: (f"{name} is fine", False))
        self.taint_of = {}  # name of a tool: whose words are in its result
        self.taints = []  # what each call was told of the context that it was made in
        self.chat = Store(files or Files(), self.folder, lambda: CHAT).create()
        self.chat.add({"id": OWNER, "role": "user", "content": "is all well?"})
        self.chat.flush()
        numbers = itertools.count(1)
        context = functools.partial(newest, {})
        model = types.SimpleNamespace(ask=self._ask, context=context, source={"provider": "home", "model": "tiny"})
        run = types.SimpleNamespace(
            emit=lambda kind, **fields: self.events.append({"type": kind, **fields}),
            is_cancelled=lambda: self.is_cancelled,
            ended_by="the owner",
        )
        new_id = lambda: "%025d" % next(numbers)  # noqa: E731
        self.turn = Turn(self.chat, model, self._call_tool, {"tools": self.tools, "system": SYSTEM}, run, new_id)

    def _ask(self, messages, tools, on_event):
        self.asked.append((json.loads(json.dumps(messages)), tools))
        answer = self.script.pop(0)
        for event in answer:
            if callable(event):
                event()
            else:
                on_event(event)

    def _call_tool(self, name, arguments, taint):
        self.called.append((name, arguments))
        self.taints.append(taint)
        return (*self.tool(name, arguments), self.taint_of.get(name, []))

    def cancel(self):
        self.is_cancelled = True

    def run(self):
        self.state = self.turn.run()
        return self

    def of_type(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def stored(self):
        """Return the messages after the owner's, as another process reads them."""
        return Store(Files(), self.folder, lambda: CHAT).open(CHAT).list()[1:]


def raising(error):
    def fail(*_):
        raise error

    return fail


def check_whole(scene):
    """Every ending is on flash, every call has exactly one result behind it, and the thread is one line."""
    messages = scene.stored()
    assert messages == scene.chat.list()[1:]
    before = OWNER
    for message in messages:
        schema.check_message(message)
        assert message["continues"] == [before]
        before = message["id"]
    for number, message in enumerate(messages):
        calls = [block["id"] for block in schema.tool_uses(message)]
        if calls:
            answer = messages[number + 1]
            assert answer["role"] == "tool"
            assert [block["tool_use_id"] for block in answer["content"]] == calls
    assert thread.unanswered(messages) == []
    for context, _ in scene.asked:
        assert thread.unanswered(context) == []
        ids = [block["id"] for message in context for block in schema.tool_uses(message)]
        answers = [
            block["tool_use_id"] for message in context for block in schema.blocks(message) if "tool_use_id" in block
        ]
        assert sorted(ids) == sorted(answers)


def test_a_text_is_streamed_stored_and_ends_the_turn(tmp_path):
    usage = {"type": "usage", "usage": {"input_tokens": 9}}
    scene = Scene(tmp_path, [delta("All "), delta("is well."), usage, done()]).run()
    assert (scene.state, scene.turn.stop_reason) == ("done", "end_turn")
    [answer] = scene.stored()
    assert answer["content"] == "All is well."
    assert (answer["provider"], answer["model"], answer["usage"]) == ("home", "tiny-1", {"input_tokens": 9})
    assert [event["text"] for event in scene.of_type("delta")] == ["All ", "is well."]
    assert scene.of_type("message") == [{"type": "message", "id": answer["id"], "role": "assistant"}]
    check_whole(scene)


def test_the_model_sees_the_prompt_the_thread_and_the_tools(tmp_path):
    scene = Scene(tmp_path, [delta("ok"), done()]).run()
    messages, tools = scene.asked[0]
    assert messages[0] == {"role": "system", "content": SYSTEM}
    assert messages[1]["content"] == "is all well?"
    assert tools == TOOLS


def test_a_tool_is_run_and_its_result_goes_back(tmp_path):
    scene = Scene(
        tmp_path, [delta("Let me look."), call("c1", what="wifi"), done("tool_use")], [delta("Fine."), done()]
    ).run()
    assert scene.state == "done"
    assert scene.called == [("status", {"what": "wifi"})]
    asked, result, answer = scene.stored()
    assert [block["type"] for block in asked["content"]] == ["text", "tool_use"]
    assert result["content"][0]["content"][0]["text"] == "status is fine"
    assert answer["content"] == "Fine."
    assert scene.asked[1][0][-1]["content"] == result["content"]
    assert scene.of_type("tool_use")[0]["input"] == {"what": "wifi"}
    assert scene.of_type("tool_result")[0] == {
        "type": "tool_result", "tool_use_id": "c1", "name": "status", "text": "status is fine", "is_error": False,
    }  # fmt: skip
    check_whole(scene)


def test_parallel_calls_are_answered_in_one_message_in_order(tmp_path):
    scene = Scene(
        tmp_path, [call("a"), call("b", "service"), call("c"), done("tool_use")], [delta("Done."), done()]
    ).run()
    assert [block["tool_use_id"] for block in scene.stored()[1]["content"]] == ["a", "b", "c"]
    check_whole(scene)


def test_broken_arguments_never_run_as_empty_ones(tmp_path):
    broken = {**call("a", "undo"), "invalid": '{"change": '}
    scene = Scene(tmp_path, [broken, done("tool_use")], [delta("Sorry."), done()])
    scene.tool = lambda name, arguments: ("broken", True) if "invalid" in arguments else ("undone!", False)
    scene.run()
    assert scene.called == [("undo", {"invalid": '{"change": '})]
    asked, result, _ = scene.stored()
    assert asked["content"] == [broken]
    assert result["content"][0]["is_error"] is True
    check_whole(scene)


def test_a_failed_or_unknown_tool_is_a_result_and_the_turn_goes_on(tmp_path):
    scene = Scene(tmp_path, [call("a", "format_flash"), done("tool_use")], [delta("I cannot."), done()])
    scene.tool = lambda name, arguments: (f"there is no tool {name}", True)
    assert scene.run().state == "done"
    block = scene.stored()[1]["content"][0]
    assert (block["is_error"], block["name"]) == (True, "format_flash")
    check_whole(scene)


def test_a_call_is_told_whose_words_the_model_had_seen_when_it_made_it(tmp_path):
    scene = Scene(
        tmp_path,
        [call("a", "names"), call("b", "configure"), done("tool_use")],
        [delta("I see."), call("c", "configure"), done("tool_use")],
        [delta("Done."), done()],
    )
    scene.taint_of["names"] = ["device names"]
    scene.run()
    assert scene.taints == [[], [], ["device names"]], "the second call was made before the names were seen"
    first, results, second, _, last = scene.stored()
    assert results["content"][0]["taint"] == ["device names"] and "taint" not in results["content"][1]
    assert "taint" not in first and second["taint"] == last["taint"] == ["device names"]
    check_whole(scene)


def test_an_answer_says_itself_whose_words_are_in_it(tmp_path):
    said = {"type": "taint", "taint": ["device names"]}
    scene = Scene(tmp_path, [delta("Which one?"), said, done()]).run()
    assert scene.stored()[0]["taint"] == ["device names"]


def test_what_a_cut_answer_repeats_stays_tainted(tmp_path):
    scene = Scene(tmp_path, [call("a", "names"), done("tool_use")], [delta("The xb"), failed()])
    scene.taint_of["names"] = ["device names"]
    scene.run()
    assert scene.stored()[2]["taint"] == ["device names"]


def test_what_a_service_wants_back_with_a_call_is_kept(tmp_path):
    signed = {**call("a"), "provider_metadata": {"gemini": {"signature": "x"}}}
    thought = {"type": "thinking", "text": "hm", "provider_metadata": {"anthropic": {"signature": "y"}}}
    scene = Scene(tmp_path, [thought, signed, done("tool_use")], [delta("ok"), done()]).run()
    assert scene.asked[1][0][2]["content"] == [thought, signed]
    check_whole(scene)


def test_what_a_service_wants_back_ends_its_thought(tmp_path):
    """A signed thought and a redacted one behind it are two blocks; joined, one would lose what belongs to it."""

    def own(**kept):
        return {"type": "thinking", "text": "", "provider_metadata": {"anthropic": kept}}

    thought = {"type": "thinking", "text": "hm"}
    events = [thought, thought, own(signature="s"), own(redacted="r"), thought, delta("ok"), done()]
    scene = Scene(tmp_path, events).run()
    assert scene.stored()[0]["content"] == [
        {**own(signature="s"), "text": "hmhm"}, own(redacted="r"), thought, {"type": "text", "text": "ok"},
    ]  # fmt: skip


def test_an_answer_that_paused_is_gone_on_with(tmp_path):
    searched = {"type": "thinking", "text": "", "provider_metadata": {"anthropic": {"block": {}}}}
    scene = Scene(tmp_path, [searched, done("pause")], [delta("Found it."), done()]).run()
    assert scene.state == "done"
    assert [message["stop_reason"] for message in scene.stored()] == ["pause", "end_turn"]
    assert scene.asked[1][0][-1]["content"] == [searched]


def test_an_answer_that_never_stops_to_pause_ends(tmp_path):
    scene = Scene(tmp_path, *[[delta("and"), done("pause")] for _ in range(ROUNDS + 1)]).run()
    assert scene.state == "done" and len(scene.asked) == ROUNDS + 1


def test_after_ten_rounds_the_model_sums_up_without_tools(tmp_path):
    rounds = [[call(f"c{number}"), done("tool_use")] for number in range(ROUNDS)]
    scene = Scene(tmp_path, *rounds, [delta("Ten looks, nothing found."), call("late"), done("tool_use")]).run()
    assert scene.state == "done"
    assert len(scene.called) == ROUNDS
    assert [bool(tools) for _, tools in scene.asked] == [True] * ROUNDS + [False]
    assert "no more tool calls" in scene.asked[-1][0][0]["content"]
    assert "no more tool calls" not in scene.asked[-2][0][0]["content"]
    last = scene.stored()[-1]
    assert (last["content"], last["stop_reason"]) == ("Ten looks, nothing found.", "other")
    check_whole(scene)


def test_a_summary_that_only_calls_is_an_error_not_silence(tmp_path):
    rounds = [[call(f"c{number}"), done("tool_use")] for number in range(ROUNDS + 1)]
    scene = Scene(tmp_path, *rounds).run()
    assert scene.state == "error"
    assert "empty answer" in scene.of_type("error")[0]["error"]["message"]
    check_whole(scene)


def test_more_than_eight_calls_are_answered_but_not_run(tmp_path):
    calls = [call(f"c{number}") for number in range(CALLS + 3)]
    scene = Scene(tmp_path, [*calls, done("tool_use")], [delta("ok"), done()]).run()
    assert len(scene.called) == CALLS
    results = scene.stored()[1]["content"]
    assert [block.get("is_error", False) for block in results] == [False] * CALLS + [True] * 3
    assert "at most 8" in results[-1]["content"][0]["text"]
    check_whole(scene)


def test_an_error_before_any_text_is_told_and_stored(tmp_path):
    scene = Scene(tmp_path, [failed("rate_limit")]).run()
    assert (scene.state, scene.turn.stop_reason) == ("error", "error")
    assert scene.of_type("error")[0]["error"]["code"] == "rate_limit"
    [ending] = scene.stored()
    assert (ending["content"], ending["stop_reason"]) == ("", "error")
    assert ending["error"] == {"code": "rate_limit", "message": "the service broke off", "hint": "ask again"}
    check_whole(scene)


def test_an_error_after_text_keeps_the_text_and_drops_calls_that_never_ran(tmp_path):
    scene = Scene(tmp_path, [delta("I will "), call("a"), failed()]).run()
    assert (scene.state, scene.called) == ("error", [])
    text, ending = scene.stored()
    assert (text["content"], text["stop_reason"]) == ("I will ", "error")
    assert ending["error"]["code"] == "server"
    check_whole(scene)


def test_an_error_after_only_a_call_leaves_no_empty_message(tmp_path):
    scene = Scene(tmp_path, [call("a"), failed()]).run()
    assert [message["stop_reason"] for message in scene.stored()] == ["error"]
    check_whole(scene)


def test_a_failed_exchange_can_be_continued(tmp_path):
    scene = Scene(tmp_path, [delta("half"), failed()]).run()
    scene.chat.add({"id": "9" * 25, "role": "user", "content": "go on", "continues": list(scene.chat.heads)})
    scene.script = [[delta("whole"), done()]]
    assert scene.turn.run() == "done"
    assert [message["content"] for message in scene.asked[-1][0]] == [SYSTEM, "is all well?", "half", "go on"]


@pytest.mark.parametrize("answer", [
    [done()],
    [delta(""), done()],
    [delta(" \n"), done()],
    [{"type": "thinking", "text": "hm"}, done()],
    [],
])  # fmt: skip
def test_an_answer_without_a_word_is_an_error(tmp_path, answer):
    scene = Scene(tmp_path, answer).run()
    assert scene.state == "error"
    assert "empty answer" in scene.stored()[-1]["error"]["message"]
    check_whole(scene)


def test_an_unknown_stop_reason_is_other(tmp_path):
    scene = Scene(tmp_path, [delta("ok"), done("content_filtered")]).run()
    assert scene.stored()[0]["stop_reason"] == "other"


def test_blocks_keep_their_order_and_their_pieces_are_joined(tmp_path):
    thinking = [{"type": "thinking", "text": part} for part in ("a", "b")]
    scene = Scene(tmp_path, [*thinking, delta("c"), delta("d"), thinking[0], delta("e"), done()]).run()
    kinds = [(block["type"], block["text"]) for block in scene.stored()[0]["content"]]
    assert kinds == [("thinking", "ab"), ("text", "cd"), ("thinking", "a"), ("text", "e")]


def test_cancel_while_the_model_talks_keeps_what_was_said(tmp_path):
    scene = Scene(tmp_path, [delta("I am going to "), call("a")])
    scene.script[0].insert(2, scene.cancel)
    scene.script[0] += [delta("never seen"), done()]
    scene.run()
    assert (scene.state, scene.turn.stop_reason) == ("cancelled", "other")
    text, ending = scene.stored()
    assert (text["content"], text["stop_reason"]) == ("I am going to ", "other")
    assert (ending["content"], ending["error"]["code"]) == ("", "cancelled")
    assert scene.of_type("error") == []
    assert scene.called == []
    check_whole(scene)


def test_cancel_before_the_first_word_asks_nobody(tmp_path):
    scene = Scene(tmp_path)
    scene.cancel()
    assert scene.run().state == "cancelled"
    assert scene.asked == []
    check_whole(scene)


def test_cancel_while_a_plan_waits_answers_every_call(tmp_path):
    scene = Scene(tmp_path, [call("a", "configure"), call("b", "configure"), done("tool_use")])

    def wait_for_the_owner(name, arguments):
        scene.cancel()
        return '{"status":"cancelled"}', False

    scene.tool = wait_for_the_owner
    assert scene.run().state == "cancelled"
    assert len(scene.called) == 1
    results = scene.stored()[1]["content"]
    assert results[0]["content"][0]["text"] == '{"status":"cancelled"}'
    assert "stopped by the owner" in results[1]["content"][0]["text"]
    check_whole(scene)


def test_a_fault_in_a_tool_is_raised_with_every_call_answered_and_the_ending_stored(tmp_path):
    scene = Scene(tmp_path, [call("a"), call("b"), call("c"), done("tool_use")])
    scene.tool = lambda name, arguments: ("fine", False) if len(scene.called) == 1 else raising(Bug("secret words"))()
    with pytest.raises(Bug):
        scene.run()
    results = scene.stored()[1]["content"]
    assert [block.get("is_error", False) for block in results] == [False, True, True]
    assert scene.stored()[-1]["error"]["message"] == "a fault in oasis: Bug"
    assert "secret words" not in json.dumps(scene.stored())
    check_whole(scene)


def test_an_error_that_a_tool_lets_through_ends_the_turn_with_every_call_answered(tmp_path):
    scene = Scene(tmp_path, [call("a"), call("b"), done("tool_use")], tool=raising(ApplyError("all is put back")))
    assert scene.run().state == "error"
    assert scene.stored()[-1]["error"]["code"] == "apply"
    check_whole(scene)


def test_a_fault_while_the_model_talks_keeps_what_was_said(tmp_path):
    scene = Scene(tmp_path, [delta("half"), raising(Bug())])
    with pytest.raises(Bug):
        scene.run()
    assert [message["content"] for message in scene.stored()] == ["half", ""]
    check_whole(scene)


def test_an_endless_answer_is_cut_and_can_be_read_again(tmp_path):
    scene = Scene(tmp_path, [delta("x" * 4096)] * (ANSWER_BYTES // 4096 + 10)).run()
    assert scene.state == "error"
    assert "longer than" in scene.of_type("error")[0]["error"]["message"]
    assert len(scene.stored()[0]["content"]) > ANSWER_BYTES // 2
    check_whole(scene)


def test_thousands_of_calls_are_all_answered_in_a_line_that_can_be_read_again(tmp_path):
    calls = [call(f"c{number}") for number in range(3000)]
    scene = Scene(tmp_path, [*calls, done("tool_use")], [delta("ok"), done()]).run()
    assert scene.state == "done"
    assert len(scene.stored()[1]["content"]) == 3000
    check_whole(scene)


def test_specs_that_cannot_be_stored_end_the_turn_and_not_the_chat(tmp_path):
    scene = Scene(tmp_path, [delta("Now: "), call("a", what="\ud83d"), done("tool_use")]).run()
    assert scene.state == "error"
    assert [message["content"] for message in scene.stored()] == ["Now: ", ""]
    check_whole(scene)


class FullFiles(Files):
    """A disk that is full from the n-th write on, until `is_full` is taken back."""

    def __init__(self, after):
        self.after = after

    def write(self, handle, data):
        self.after -= 1
        if self.after < 0:
            handle.write(bytes(data)[: len(data) // 2])
            raise OSError(28, "No space left on device")
        super().write(handle, data)


@pytest.mark.parametrize("script", [
    [[delta("ok"), done()]],
    [[call("a"), done("tool_use")], [delta("ok"), done()]],
    [[failed()]],
    [[raising(Bug())]],
])  # fmt: skip
def test_a_full_disk_at_the_end_is_told_and_loses_nothing_acknowledged(tmp_path, script):
    scene = Scene(tmp_path, *script, files=FullFiles(1))
    with pytest.raises(StoreError) as caught:
        scene.run()
    assert "full" in caught.value.hint
    chat = Store(Files(), scene.folder, lambda: CHAT).open(CHAT)
    assert ([message["id"] for message in chat.list()], chat.reports) == ([OWNER], [])


def test_a_tool_that_could_not_flush_is_told_to_the_model(tmp_path):
    scene = Scene(
        tmp_path, [call("a", "configure"), done("tool_use")], [delta("The flash is full."), done()], files=FullFiles(1)
    )

    def configure(name, arguments):
        try:
            scene.chat.flush()
        except StoreError as error:
            return error.message, True
        return "applied", False

    scene.tool = configure
    with pytest.raises(StoreError):
        scene.run()
    assert "cannot write" in scene.of_type("tool_result")[0]["text"]
    assert Store(Files(), scene.folder, lambda: CHAT).open(CHAT).reports == []


def test_what_was_flushed_before_a_plan_is_there_after_a_power_cut(tmp_path):
    seen = []
    scene = Scene(tmp_path, [delta("Now."), call("a", "configure"), done("tool_use")], [delta("ok"), done()])

    def configure(name, arguments):
        scene.chat.flush()
        seen.extend(scene.stored())
        return "applied", False

    scene.tool = configure
    scene.run()
    assert [block["type"] for block in seen[0]["content"]] == ["text", "tool_use"]
    open_calls = thread.unanswered(seen)
    assert [block["id"] for block in open_calls] == ["a"], "to be closed by an interruption at the next message"
    check_whole(scene)


def test_an_exchange_is_flushed_once(tmp_path):
    class Counting(Files):
        writes = syncs = 0

        def write(self, handle, data):
            self.writes += 1
            super().write(handle, data)

        def sync(self, handle):
            self.syncs += 1
            super().sync(handle)

    files = Counting()
    scene = Scene(
        tmp_path, [call("a"), done("tool_use")], [call("b"), done("tool_use")], [delta("ok"), done()], files=files
    )
    assert (files.writes, files.syncs) == (1, 1), "the owner's message"
    scene.run()
    assert (files.writes, files.syncs) == (2, 2)
    assert len(jsonl.line(scene.stored()[0])) > 0
