"""The way to Telegram: a real worker and the strict API; the pace, the waits, and workers that lie."""

import json
import sys
import threading
import time

import pytest

from oasis.errors import OasisError, PeerError
from oasis.llm.pool import Pool, default_argv
from oasis.parts.telegram.exchange import update
from oasis.parts.telegram.line import LASTING, PACE_S, TRIES, Line, RefusedError, checked
from tests.parts.telegram.bot_api import TOKEN, BotApi, Hung, Refused

USER, GROUP = 1001, -500


@pytest.fixture
def api():
    made = BotApi()
    yield made
    made.close()


@pytest.fixture(scope="module")
def workers():
    pool = Pool(default_argv(), tick_ms=20)
    yield pool
    pool.close()


class Timed(Line):
    """A line whose waits pass at once, and are noted."""

    def __init__(self, pool, service):
        self.now, self.waited = 1000.0, []
        super().__init__(pool, service, lambda: self.now)

    def wait(self, seconds):
        if seconds > 0:
            self.waited.append(round(seconds, 3))
            self.now += seconds
        return not self.is_closed()


@pytest.fixture
def line(api, workers):
    made = Timed(workers, {"key": TOKEN, "base_url": api.url})
    api.now_s = lambda: made.now
    return made


def message(chat=USER, **more):
    return {"text": "hello", **more}


def said(api):
    return [one["text"] for one in api.of_bot(USER)]


def test_what_people_write_comes_as_it_was_written(api, line):
    first = api.says(USER, "hello\x1b[31m there")
    api.says(USER, "a reply", reply_to=first)
    api.says(USER, "in a group", chat=GROUP)
    api.sends(USER, "notes.txt", b"abc", caption="look")
    api.sends(USER, "x", b"abcdef", is_photo=True)
    updates = line.poll(0, 0)
    assert [one["id"] for one in updates] == sorted(one["id"] for one in updates)
    assert updates[0]["text"] == "hello[31m there" and updates[0]["is_private"] and updates[0]["name"] == "Anna1001"
    assert updates[1]["reply_to"] == first
    assert (updates[2]["chat"], updates[2]["is_private"]) == (GROUP, False)
    assert updates[3]["text"] == "look"
    assert updates[3]["file"] == {"id": "file-0", "name": "notes.txt", "media_type": "text/plain", "bytes": 3}
    assert updates[4]["file"] == {"id": "file-1", "name": "photo.jpg", "media_type": "image/jpeg", "bytes": 6}
    assert line.poll(updates[-1]["id"] + 1, 0) == []
    assert api.updates == []


def test_a_poll_waits_for_news_and_no_longer(api, line):
    found = []
    waiting = threading.Thread(target=lambda: found.extend(line.poll(0, 30)))
    waiting.start()
    api.wait(lambda: any(method == "getUpdates" for method, _ in api.calls))
    assert not found
    api.says(USER, "news")
    waiting.join(20)
    assert [one["text"] for one in found] == ["news"]


def test_a_press_comes_with_what_the_button_carries(api, line):
    api.says(USER, "x")
    sent = line.send(
        "sendMessage", USER, message(reply_markup={"inline_keyboard": [[{"text": "Undo", "callback_data": "ab"}]]})
    )
    press = api.presses(USER, sent["message"], "Undo")
    pressed = line.poll(0, 0)[-1]
    assert (pressed["kind"], pressed["data"], pressed["button"], pressed["chat"]) == ("button", "ab", press, USER)
    line.tell("answerCallbackQuery", {"callback_query_id": press, "text": "ok"})
    assert api.pressed[press] == "ok"


def test_a_file_comes_whole_and_one_that_is_too_long_does_not(api, line):
    data = bytes(range(256)) * 600
    api.sends(USER, "big.bin", data)
    assert line.file("file-0", len(data)) == data
    with pytest.raises(RefusedError, match="more than"):
        line.file("file-0", len(data) - 1)
    with pytest.raises(RefusedError, match="wrong file_id"):
        line.file("file-9", 10)


def test_a_token_that_is_refused_is_named_and_never_shown(api, workers):
    for token in ("123456:wrong-token-0123456789", "nonsense-without-a-colon"):
        line = Timed(workers, {"key": token, "base_url": api.url})
        with pytest.raises(RefusedError) as raised:
            line.who()
        assert raised.value.code == "authentication"
        assert "oasis key telegram" in raised.value.hint
        assert token not in str(raised.value.as_dict())


def test_another_program_that_polls_is_a_conflict(api, line, workers):
    other = Timed(Pool(default_argv()), {"key": TOKEN, "base_url": api.url})
    failures = []

    def first():
        try:
            line.poll(0, 30)
        except RefusedError as error:
            failures.append(error)

    waiting = threading.Thread(target=first)
    waiting.start()
    api.wait(lambda: api.calls)
    other.poll(0, 0)
    waiting.join(20)
    other.close()
    assert [error.code for error in failures] == ["conflict"]
    assert "another program" in failures[0].hint


def test_a_chat_is_written_to_at_the_pace_that_telegram_wants(api, line):
    for chat in (USER, GROUP):
        api.says(USER, "x", chat=chat)
    for number in range(4):
        line.send("sendMessage", USER, message(text=str(number)))
    assert line.waited == [PACE_S] * 3 and api.floods == 0
    line.send("sendMessage", GROUP, message())
    line.send("sendMessage", GROUP, message())
    assert line.waited[3:] == [pytest.approx(PACE_S * 8 / 3, abs=0.01)]


def test_what_is_not_wanted_is_left_out_where_the_chat_wants_a_pause(api, line):
    api.says(USER, "x")
    assert line.send("sendMessage", USER, message(), tries=0)
    assert line.send("sendMessage", USER, message(), tries=0) is None
    assert line.waited == [] and len(said(api)) == 1


def test_a_flood_is_waited_out_for_as_long_as_telegram_says(api, line):
    api.says(USER, "x")
    api.planned = [("sendMessage", Refused(429, "Too Many Requests: retry after 17", retry_after=17))] * 2
    assert line.send("sendMessage", USER, message())["message"]
    assert line.waited == [17.0, 17.0]
    assert said(api) == ["hello"]


def test_a_flood_that_lasts_too_long_is_told(api, line):
    api.says(USER, "x")
    api.planned = [("sendMessage", Refused(429, "Too Many Requests", retry_after=86400))]
    with pytest.raises(RefusedError, match="Too Many"):
        line.send("sendMessage", USER, message())
    assert line.waited == []
    assert line.send("sendMessage", USER, message(), tries=0) is None  # and is obeyed for what comes next


@pytest.mark.parametrize(
    "status, method, tries", [(502, "sendMessage", TRIES), (400, "sendMessage", 1), (403, "sendMessage", 1)]
)
def test_only_what_can_have_had_no_effect_is_said_again(api, line, status, method, tries):
    api.says(USER, "x")
    api.planned = [(method, Refused(status, "no"))] * TRIES
    with pytest.raises(RefusedError):
        line.send(method, USER, message())
    assert [name for name, _ in api.calls].count(method) == tries


@pytest.mark.parametrize(
    "fault, tries, least_s",
    [
        (Refused(500, "Internal Server Error"), 8, 300),
        (Refused(429, "Too Many Requests: retry after 100", retry_after=100), 8, 600),
        (Hung(0.0), 4, 10),  # may have arrived each time
        (Refused(403, "Forbidden: bot was blocked by the user"), 1, 0),
        (Refused(429, "Too Many Requests", retry_after=86400), 1, 0),
    ],
)
def test_what_must_arrive_is_tried_for_minutes_and_not_without_end(api, line, fault, tries, least_s):
    api.says(USER, "x")

    api.planned = [("sendMessage", fault)] * 20
    with pytest.raises(RefusedError):
        line.send("sendMessage", USER, message(), tries=LASTING)
    assert [name for name, _ in api.calls].count("sendMessage") == tries
    assert least_s <= sum(line.waited) < 1500
    api.planned = [("sendMessage", Hung(0.0, is_done=True))]
    assert line.send("sendMessage", USER, message(), tries=LASTING)["message"]
    assert said(api) == ["hello"] * 2  # Telegram took it the first time as well: twice is better than never


def test_a_text_that_is_so_already_is_no_failure(api, line):
    api.says(USER, "x")
    sent = line.send("sendMessage", USER, message())
    assert line.send("editMessageText", USER, message(message_id=sent["message"])) == {}


def test_a_closed_line_ends_every_wait(api):
    line = Line(Pool(default_argv(), tick_ms=20), {"key": TOKEN, "base_url": api.url}, time.monotonic)
    failures = []

    def poll():
        try:
            line.poll(0, 50)
        except OasisError as error:
            failures.append(error.code)

    waiting = threading.Thread(target=poll)
    waiting.start()
    api.wait(lambda: api.calls)
    line.close()
    waiting.join(20)
    assert failures == ["cancelled"]
    assert not line.wait(60)


# Workers that lie

GOOD = {"id": 7, "kind": "message", "chat": USER, "from": USER, "is_private": True, "name": "Anna", "message": 3,
        "text": "hello", "when_unix_s": 5}  # fmt: skip
PRESS = {"id": 7, "kind": "button", "chat": USER, "from": USER, "is_private": True, "name": "Anna", "message": 3,
         "button": "b", "data": "d"}  # fmt: skip


@pytest.mark.parametrize(
    "told",
    [
        {"kind": "order"}, {"kind": 7}, {"id": 0}, {"id": -7}, {"id": True}, {"id": "7"}, {"id": 6}, {"id": 1 << 60},
        {"id": 5_000_000_000}, {"chat": 1 << 60}, {"chat": None}, {"from": -5}, {"is_private": 1}, {"text": 7},
        {"text": "x" * 4097}, {"name": "x" * 65}, {"extra": 1}, {"file": "x"}, {"file": {"id": "a"}},
        {"file": {"id": "a", "name": "b", "media_type": "c", "bytes": "d"}}, {"reply_to": "x"}, {"from": 5},
    ],
)  # fmt: skip
def test_an_update_of_another_shape_is_refused(told):
    assert checked(GOOD, 6, 7) == GOOD and checked(PRESS, 6, 7) == PRESS
    with pytest.raises(PeerError):
        checked({**GOOD, **told}, 6, 7)


@pytest.mark.parametrize("name", [*GOOD])
def test_an_update_that_lacks_something_is_refused(name):
    with pytest.raises(PeerError):
        checked({key: value for key, value in GOOD.items() if key != name}, 6, 7)


@pytest.mark.parametrize("told", [{"data": "x" * 65}, {"button": "x" * 257}, {"text": "x"}, {"data": 5}])
def test_a_press_of_another_shape_is_refused(told):
    with pytest.raises(PeerError):
        checked({**PRESS, **told}, 6, 7)


WORKER = """
import json, sys, time
request = json.loads(sys.stdin.readline())
def say(event, number=request["id"]):
    sys.stdout.write(json.dumps({"id": number, "event": event}) + "\\n")
    sys.stdout.flush()
GOOD = %s
END = {"type": "telegram", "result": {}}
%s
sys.stdin.read()
"""


@pytest.fixture
def captured(tmp_path):
    """A line to a worker that does what a script says."""
    made = []

    def make(body):
        script = tmp_path / "worker.py"
        script.write_text(WORKER % ("json.loads(%r)" % json.dumps(GOOD), body))
        made.append(Pool([sys.executable, "-I", str(script)], tick_ms=20))
        return Timed(made[-1], {"key": TOKEN})

    yield make
    for pool in made:
        pool.close()


@pytest.mark.parametrize(
    "body",
    [
        'say({"type": "update", "update": {**GOOD, "text": "x" * 5000}})',
        'say({"type": "update", "update": {**GOOD, "kind": "approve"}})',
        'say({"type": "update", "update": GOOD}); say({"type": "update", "update": GOOD})',
        'for number in range(40): say({"type": "update", "update": {**GOOD, "id": number + 7}})',
        'say({"type": "update", "update": GOOD}, number=99)',
        'say({"type": "approve", "plan": "x"})',
        'say({"type": "tool_use", "id": "a", "name": "configure", "input": {}})',
        'say({"type": "piece", "data": "aGVsbG8="})',
        'say({"type": "update", "update": {**GOOD, "deep": ' + "[" * 80 + "]" * 80 + "}})",
        'sys.stdout.write("x" * 2000000); sys.stdout.flush()',
        'sys.stdout.write("{nonsense}\\n"); sys.stdout.flush()',
        'say({"type": "telegram", "result": {"message": "x"}})',
        'say({"type": "telegram", "result": dict.fromkeys(map(str, range(99)), 1)})',
    ],
)
def test_a_captured_worker_that_says_anything_else_is_ended_and_believed_nothing(captured, body):
    line = captured(body)
    with pytest.raises(OasisError) as raised:
        line.poll(7, 0)
    assert raised.value.code in ("worker", "peer")
    assert line._pool.count() == {"waiting": 0, "busy": 0, "warm": line._pool.count()["warm"]}


def test_a_captured_worker_can_give_no_more_of_a_file_than_was_asked_for(captured):
    line = captured('for _ in range(5): say({"type": "piece", "data": "aGVsbG8="})')
    with pytest.raises(RefusedError, match="more of a file"):
        line.file("x", 12)


@pytest.mark.parametrize(
    "raw",
    [
        {}, {"update_id": "7"}, {"update_id": True}, {"update_id": 1 << 60},
    ],
)  # fmt: skip
def test_an_update_without_a_number_is_none(raw):
    assert update(raw) is None


@pytest.mark.parametrize(
    "raw",
    [
        {"edited_message": {}}, {"message": 7}, {"message": {}}, {"message": {"chat": {"id": 1}}},
        {"message": {"chat": {"id": "1"}, "from": {"id": 1}, "message_id": 1}},
        {"message": {"chat": {"id": 1}, "from": {"id": 1, "is_bot": True}, "message_id": 1}},
        {"callback_query": {"id": 7, "from": {"id": 1}}},
        {"callback_query": {"id": "x", "from": {"id": 1}, "message": {}}},
    ],
)  # fmt: skip
def test_an_update_that_is_nothing_for_us_only_counts(raw):
    assert update({"update_id": 9, **raw}) == {"id": 9, "kind": "other"}


def test_a_private_chat_is_one_with_the_sender_himself():
    place = {"message_id": 1, "from": {"id": 5}, "text": "x"}
    assert update({"update_id": 9, "message": {**place, "chat": {"id": 5, "type": "private"}}})["is_private"]
    for chat in ({"id": 6, "type": "private"}, {"id": 5, "type": "group"}, {"id": 5}):
        assert not update({"update_id": 9, "message": {**place, "chat": chat}})["is_private"]
