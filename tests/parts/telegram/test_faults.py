"""What goes wrong on the way to Telegram: the token, another program, the network, a stop; and streaming."""

import itertools
import json
import os
import time

import pytest

from oasis.parts.telegram.line import PACE_S
from oasis.tools.router import handle
from tests.parts.telegram.bot_api import CONFLICT, TOKEN, Refused
from tests.parts.telegram.kit import OWNER, Model

RENAME = "call this router %s"


def tasks(scene):
    return len(os.listdir(f"/proc/{scene.daemon.process.pid}/task"))


def test_off_means_that_nothing_of_it_runs_and_on_begins_it_at_once(scenes):
    scene = scenes(enabled="0", pace_ms="150").start()
    scene.until(lambda: tasks(scene) == 1 + 1)  # the main thread and the one that listens
    before = tasks(scene)
    listed = scene.call("telegram.list")
    assert (listed["state"], listed["enabled"], listed["approve"]) == ("off", False, False)
    assert scene.call("telegram.pair")["error"]["code"] == "settings"
    scene.until(lambda: tasks(scene) == before)
    assert scene.api.calls == []
    scene.call("telegram.set", enabled=True)
    scene.pair(OWNER)
    assert scene.call("telegram.set", enabled=False)["state"] == "off"
    scene.api.says(OWNER, RENAME % "off")
    calls = len(scene.api.calls)
    scene.until(lambda: tasks(scene) <= before)
    assert len(scene.api.calls) == calls and scene.api.updates


def test_a_token_that_is_refused_is_told_and_a_new_one_is_taken(scenes):
    scene = scenes(pace_ms="150")
    with open(scene.root + "/etc/oasis/keys.json", "w") as keys:
        json.dump({"telegram": "999:wrong-token-0123456789"}, keys)
    scene.start()
    problem = scene.until(lambda: [one for one in [scene.call("telegram.list")["problem"]] if "401" in one])[0]
    assert "Unauthorized" in problem
    scene.until(lambda: "oasis key telegram" in scene.daemon.log())
    assert "wrong-token" not in scene.daemon.log() + str(scene.call("telegram.list"))
    assert scene.call("service.key", identifier="telegram", key=TOKEN) == {"status": "OK"}
    scene.pair(OWNER)
    assert scene.call("telegram.list")["problem"] == ""


def test_another_program_that_polls_and_a_lost_network_are_told_once_and_passed(scenes):
    scene = scenes(pace_ms="150")
    scene.api.planned = [("getUpdates", Refused(500, "Internal Server Error"))] * 2
    scene.api.planned += [("getUpdates", Refused(429, "Too Many Requests: retry after 1", retry_after=1))]
    scene.start()
    scene.pair(OWNER)
    scene.api.is_open = False
    scene.until(lambda: scene.call("telegram.list")["problem"])
    scene.api.is_open = True
    scene.api.says(OWNER, RENAME % "back")
    scene.api.wait_text(OWNER, "Done: rename the router to back.")
    assert scene.daemon.log().count("Internal Server Error") == 1
    scene.api.planned = [("getUpdates", Refused(409, CONFLICT))]
    scene.api.says(OWNER, "/help")  # ends the poll that is open; the next one is refused
    told = scene.until(lambda: [one for one in [scene.call("telegram.list")["problem"]] if "Conflict" in one])
    assert "other getUpdates" in told[0]
    assert "another program polls with the same token" in scene.daemon.log()


def test_a_kill_in_the_middle_does_nothing_twice_and_forgets_nobody(scenes):
    scene = scenes(pace_ms="150").start()
    scene.pair(OWNER)
    scene.api.says(OWNER, RENAME % "first")
    number = scene.api._update
    update = next((one for one in scene.api.updates if one["update_id"] == number), None)
    scene.api.wait_text(OWNER, "Done: rename the router to first.")
    chats = len(scene.call("chat.list")["item"])
    message = {
        "message_id": 900,
        "chat": {"id": OWNER, "type": "private"},
        "from": {"id": OWNER},
        "date": int(time.time()),
    }
    told = update or {"update_id": number, "message": {**message, "text": RENAME % "first"}}
    scene.daemon.kill()
    with scene.api.lock:  # the confirmation was lost: Telegram tells it again to whoever asks from the beginning
        scene.api.updates = [told]
    scene.api.says(OWNER, RENAME % "second")
    scene.start()
    scene.api.wait_text(OWNER, "Done: rename the router to second.")
    assert (
        len(scene.call("chat.list")["item"]) == chats
    )  # in the same chat as before, and no message more than there was
    said = str(scene.call("chat.load", id=scene.call("chat.list")["item"][0]["id"])["messages"])
    assert said.count(RENAME % "first") == 1
    offsets = [asked.get("offset") for method, asked in scene.api.calls if method == "getUpdates"]
    assert 0 not in offsets


def test_an_answer_grows_at_the_pace_that_is_allowed_and_is_whole_at_last(scenes):
    scene, model = scenes(notices="0"), Model()
    with open(scene.root + "/etc/config/oasis", "a") as settings:
        settings.write(model.section())
    scene.start()
    scene.pair(OWNER)
    scene.call("service.select", identifier="home")
    model.pieces, model.pause_s = [f"**{number}** of <many> words & " for number in range(40)], 0.1
    times = []
    asked = scene.api.says(OWNER, "tell me a story")
    done = scene.api.wait_text(OWNER, "39 of <many> words &")
    times = [when_s for method, when_s in scene.api.times if method in ("sendMessage", "editMessageText")]
    assert done["reply_to"] == asked
    assert len(done["edits"]) >= 2
    assert done["text"] == "".join(f"{number} of <many> words & " for number in range(40)).strip()
    gaps = [later - sooner for sooner, later in itertools.pairwise(times)]
    assert min(gaps) >= PACE_S - 0.15, gaps
    assert any(method == "sendChatAction" for method, _ in scene.api.calls)

    model.pause_s = 0.0
    model.pieces = [
        "Look:\n```sh\n",
        *[f"uci set a.b.c{number}='<{number}>'\n" for number in range(400)],
        "```\nThat is *all*.",
    ]
    scene.api.says(OWNER, "a long one")
    scene.api.wait_text(OWNER, "That is all.")
    long = [one for one in scene.api.of_bot(OWNER) if "uci set" in one["text"]]
    assert len(long) == 3
    lines = [line for one in long for line in one["text"].split("\n") if line.startswith("uci set")]
    assert lines == [f"uci set a.b.c{number}='<{number}>'" for number in range(400)]
    assert all(one["html"].count("<pre>") == one["html"].count("</pre>") == 1 for one in long)

    model.pieces, model.pause_s = ["word "] * 600, 0.1
    scene.api.says(OWNER, "without end")
    scene.until(lambda: scene.call("run.active")["runs"])
    time.sleep(0.5)
    scene.api.says(OWNER, "/stop")
    scene.api.wait_text(OWNER, "Stopped.")
    assert scene.api.floods == 0 and scene.api.faults == []
    model.shutdown()
    model.server_close()


def test_what_html_telegram_does_not_take_is_sent_as_plain_text(scenes):
    scene = scenes(pace_ms="150").start()
    scene.pair(OWNER)
    scene.api.planned = [("sendMessage", Refused(400, "Bad Request: can't parse entities: whatever"))]
    scene.api.says(OWNER, "/new")
    scene.api.wait_text(OWNER, "A new chat begins")
    sent = [asked for method, asked in scene.api.calls if method == "sendMessage"][-2:]
    assert [asked.get("parse_mode") for asked in sent] == ["HTML", None]


@pytest.mark.part("offline")  # the second change comes before the notice of the first is sent
def test_notices_come_joined_and_not_of_what_was_said_there_anyway(scenes):
    scene = scenes(pace_ms="150").start()
    scene.pair(OWNER)
    scene.call("run.start", message=RENAME % "alpha", service="offline")
    scene.until(lambda: "'alpha'" in scene.config("system"))
    scene.until(lambda: not scene.call("run.active")["runs"])
    scene.call("run.start", message=RENAME % "beta", service="offline")
    told = scene.api.wait_text(OWNER, "From your router")
    assert "rename the router to alpha" in told["text"] and "rename the router to beta" in told["text"]
    scene.api.says(OWNER, RENAME % "gamma")
    scene.api.wait_text(OWNER, "Done: rename the router to gamma.")
    scene.until(lambda: "gamma" in str(scene.call("notice.list")))
    assert sum("From your router" in text for text in scene.api.texts(OWNER)) == 1


@pytest.mark.part("schedule")
def test_a_notice_names_the_devices_that_a_model_has_handles_for(scenes):
    scene = scenes(pace_ms="150").start()
    scene.pair(OWNER)
    with open(scene.root + "/etc/oasis/plan.key", "rb") as key:
        device = handle(key.read(), "8a:3f:1c:52:07:b4")
    order = scene.call("schedule.add", when="22:00 daily", wish=f"is {device} here?")["entry"]
    scene.call("schedule.run", id=order["id"])
    assert f"is pixel-7 ({device}) here?" in scene.api.wait_text(OWNER, "From your router")["text"]
