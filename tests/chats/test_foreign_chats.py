"""Chats that other hands wrote, on a whole daemon: every message that can be read reaches the reader and the model."""

import json
import os

import pytest

from tests.api.test_chat_methods import failure, replace, talk, text_of, texts  # noqa: F401  # a fixture
from tests.daemon.test_wiring import follow, of_type, say
from tests.llm.test_workers import root_with
from tests.oasisd import start_daemon
from tests.recorder import Recorder

A, B, C, D = ["03jrq2tcl18qk2nxfr9wpzdn" + digit for digit in "abcd"]
THREAD = [
    {"id": A, "role": "user", "content": "first"},
    {"id": B, "role": "assistant", "content": "second", "continues": [A]},
    {"id": C, "role": "user", "content": "third", "continues": [B]},
]


def imported(here, messages, **changes):
    document = {"format": "oasis.chat", "version": 1, "title": "", "messages": messages, **changes}
    upload = here.upload("chat.json", json.dumps(document).encode())["upload"]
    return here.daemon.call("chat.import", upload=upload)


def written(here, lines):
    """Put lines of another program into the file of a new chat; return its id."""
    chat, _, _ = here.say("to be replaced")
    path = f"{here.root}/etc/oasis/chats/{chat}.jsonl"
    assert os.path.exists(path)
    with open(path, "wb") as handle:
        handle.write(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines))
    return chat


def test_an_import_in_any_order_gives_the_model_all_of_it(talk):  # noqa: F811
    here = talk()
    made = imported(here, [THREAD[2], THREAD[0], THREAD[1]])
    assert [True for report in made["reports"] if "order" in report] == [True]
    here.say("fourth", chat=made["chats"][0]["id"])
    assert here.sent() == ["first", "second", "third", "fourth"]


def test_a_file_that_stands_in_another_order_is_read_whole(talk):  # noqa: F811
    here = talk()
    chat = written(here, [THREAD[1], THREAD[0], THREAD[2]])
    here.say("fourth", chat=chat)
    assert here.sent() == ["first", "second", "third", "fourth"]


def test_ids_in_capitals_are_shown_and_continued(talk):  # noqa: F811
    here = talk()
    loud = [
        {**one, "id": one["id"].upper(), "continues": [up.upper() for up in one.get("continues", [])]} for one in THREAD
    ]
    chat = written(here, loud)
    assert texts(here.load(chat)) == texts(here.load("", head=C.upper())) == ["first", "second", "third"]
    here.say("aside", chat=chat, continues=[B.upper()])
    assert here.sent() == ["first", "second", "aside"]
    chat = imported(here, loud)["chats"][0]["id"]
    here.say("fourth", chat=chat)
    assert here.sent() == ["first", "second", "third", "fourth"]


def test_an_id_beyond_the_largest_is_none(talk):  # noqa: F811
    here = talk()
    made = imported(here, [{"id": "z" * 25, "role": "user", "content": "first"}])
    assert "messages[0].id" in made["reports"][0]
    [message] = here.load(made["chats"][0]["id"])["messages"]
    assert message["id"] < "f5lxx1zz5pnorynqglhzmsp33"
    assert "no chat has" in failure(here.daemon.call("chat.load", id="", head="z" * 25))


def test_what_newer_programs_write_costs_no_message_and_is_told(talk):  # noqa: F811
    here = talk()
    chat = written(here, [
        {**THREAD[0], "newer": {"a": 1}, "head": ""},
        b"\n", b"   \n",
        {**THREAD[1], "continues": A, "content": [{"type": "text", "text": "second"}, {"type": "audio", "url": "x"}]},
        {**THREAD[2], "stop_reason": "tired", "cache": False},
        {"id": D, "role": "user", "content": "a root", "continues": None},
    ])  # fmt: skip
    shown = here.load(chat, head=C)
    assert [message["id"] for message in shown["messages"]] == [A, B, C]
    assert len(shown["reports"]) == 2 and B in shown["reports"][0] and C in shown["reports"][1]
    here.say("fourth", chat=chat, continues=[C])
    assert here.sent()[0] == "first" and here.sent()[1].startswith("second") and "audio" in here.sent()[1]
    assert here.sent()[2:] == ["third", "fourth"]
    [item] = [one for one in here.daemon.call("chat.list")["item"] if one["id"] == chat]
    assert "damaged" not in item, "blank lines are none, and what was read in part was read"


def test_a_repeated_id_is_told(talk):  # noqa: F811
    here = talk()
    chat = written(here, [*THREAD, {**THREAD[2], "content": "third again"}])
    shown = here.load(chat)
    assert texts(shown) == ["first", "second", "third again"]
    assert any("twice" in report for report in shown["reports"])


def test_a_bookmark_does_not_move_sideways_with_a_new_message(talk):  # noqa: F811
    here = talk()
    chat, first, _ = here.say("one")
    _, second, _ = here.say("two", chat=chat, head="home")
    refused = here.daemon.call("run.start", message="aside", chat=chat, continues=[first], head="home")
    assert "another branch" in failure(refused) and "--move home" in refused["error"]["hint"]
    assert here.load(chat)["bookmarks"] == {"home": second}
    here.daemon.call("bookmark.set", name="home", message=first, chat=chat, move=True)
    _, third, _ = here.say("aside", chat=chat, continues=[first], head="home")
    assert here.load(chat)["bookmarks"] == {"home": third}


def test_an_import_takes_no_bookmark_of_another_chat(talk):  # noqa: F811
    here = talk()
    _, end, _ = here.say("one", head="home")
    made = imported(here, [{**THREAD[0], "head": "home"}, *THREAD[1:]])
    assert any('the imported one is "home 2"' in report for report in made["reports"])
    assert here.load("", head="home")["head"] == end
    assert here.load("", head="home 2")["head"] == A


def test_failed_imports_leave_no_upload_behind(talk):  # noqa: F811
    here = talk()
    for _ in range(12):
        upload = here.upload("chat.json", b'{"format":"oasis.chat","version":9}')
        assert "upload" in upload, upload
        assert "version" in failure(here.daemon.call("chat.import", upload=upload["upload"]))
        assert "no upload" in failure(here.daemon.call("chat.import", upload=upload["upload"]))
    for _ in range(12):
        upload = here.upload("page.html", b"<p>x</p>")
        reply = here.daemon.call("knowledge.add", upload=upload["upload"], title="t" * 5000)
        assert "run" in reply or "error" in reply
        here.daemon.call("upload.drop", upload=upload["upload"])
    assert len(here.daemon.call("chat.list")["item"]) == 0


# Room


@pytest.mark.part("offline")
def test_long_answers_do_not_switch_the_built_in_service_off(talk):  # noqa: F811
    here = talk()
    replace(here.root, "option quota '0'", "option quota '256'")
    here.daemon.stop()
    here.daemon = start_daemon(here.root)
    for number in range(9):
        here.say(f"tell me more, part {number}", "word " * 6000)
    requests = len(here.model.requests)
    started = here.daemon.call("run.start", message="call this router attic")
    events = follow(here.daemon, started)
    assert of_type(events, "end")[0]["state"] == "done" and of_type(events, "change"), events
    assert any("only the built-in service answers" in event["text"] for event in of_type(events, "note"))
    assert len(here.model.requests) == requests, "no model is asked"
    for item in here.daemon.call("chat.list")["item"][1:]:
        here.daemon.call("chat.delete", id=item["id"])
    assert of_type(here.say("and now", "there is room")[2], "end")[0]["state"] == "done"
    assert len(here.model.requests) > requests


# Memory

# Those of the documents below that are chats.
TAKEN = ("objects that are not looked at", "many messages", "backwards", "wide texts of upstream", "wide texts")
# The most that an import may take of memory, as a multiple of its file.
PEAK = 4
TRIES = 6
IMPORT_BYTES = 4 * 1024 * 1024 - 4096


def hostile_imports():
    """Yield documents of nearly four megabytes that cost most in memory, with their names."""
    head = b'{"format":"oasis.chat","version":1,"messages":['
    one = b'{"id":"%s","role":"user","content":"x"' % A.encode()
    yield "empty lists", head + one + b',"x":[' + b"[]," * (IMPORT_BYTES // 3) + b"0]}]}"
    yield "lists of a message", head + one + b',"x":[' + b"[]," * 300000 + b"0]}]}"
    yield "objects of a message", head + one + b',"x":[' + b'{"":0},' * 140000 + b"0]}]}"
    yield (
        "objects that are not looked at",
        b'{"x":[' + b'{"":0},' * (IMPORT_BYTES // 8) + b"0]," + head[1:] + one + b"}]}",
    )
    yield "many members", b"{" + b",".join(b'"%d":0' % number for number in range(IMPORT_BYTES // 13)) + b"}"
    small = b'{"id":"%025d","role":"user","content":"x"}'
    yield "many messages", head + b",".join(small % number for number in range(39999)) + b"]}"
    chain = b'{"id":"%025d","role":"user","content":"x","continues":["%025d"]}'
    yield "backwards", head + b",".join(chain % (number, number - 1) for number in range(36000, 0, -1)) + b"]}"
    large = (b'"' + b"y" * 1000000 + "🙂".encode() + b'"').join([b'{"role":"user","content":', b"}"])
    yield "wide texts of upstream", b'{"messages":[' + b",".join([large] * 4) + b"]}"
    wide = (b'"' + b"y" * 1000000 + "🙂".encode() + b'"').join([b'{"id":"%025d","role":"user","content":', b"}"])
    yield "wide texts", head + b",".join(wide % number for number in range(4)) + b"]}"


def peak_bytes(pid):
    with open(f"/proc/{pid}/status") as handle:
        [line] = [line for line in handle if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def test_no_import_takes_more_than_four_times_its_file(talk):  # noqa: F811
    here = talk()
    replace(here.root, "option quota '0'", "option quota '65536'")
    here.daemon.stop()
    here.daemon = start_daemon(here.root)
    small = imported(here, THREAD)
    assert small["chats"], "what an import loads is loaded"
    for name, data in hostile_imports():
        assert len(data) < 4 * 1024 * 1024, name
        # What the allocator still holds of the import before moves the figure by half a file in both directions.
        tries = []
        while not tries or (min(tries) > PEAK * len(data) and len(tries) < TRIES):
            tries.append(taken_bytes(here, data, name in TAKEN))
        print(f"{name}: {len(data)} bytes took {min(tries) / len(data):.2f} times as much")
        assert min(tries) <= PEAK * len(data), name


def taken_bytes(here, data, is_taken):
    """Import a document, and delete what came of it; return how much memory the daemon took at its peak."""
    upload = here.upload("chat.json", data)
    before = resident_bytes(here.daemon.process.pid)
    with open(f"/proc/{here.daemon.process.pid}/clear_refs", "w") as handle:
        handle.write("5")  # the high-water mark begins anew
    made = here.daemon.call("chat.import", upload=upload["upload"])
    taken = peak_bytes(here.daemon.process.pid) - before
    assert ("chats" in made) == is_taken, made
    for chat in made.get("chats", ()):
        here.daemon.call("chat.delete", id=chat["id"])
    return taken


def resident_bytes(pid):
    with open(f"/proc/{pid}/status") as handle:
        [line] = [line for line in handle if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


# Of the Oasis that was here before


def test_what_waits_is_told_and_comes_in_with_its_time_its_keys_and_the_icon(talk):  # noqa: F811
    here = talk()
    here.daemon.stop()
    folder = here.root + "/etc/oasis/chat_data"
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/chat-1000000001", "w") as handle:
        json.dump({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}, handle)
    os.utime(folder + "/chat-1000000001", (1_600_000_000, 1_600_000_000))
    with open(here.root + "/etc/oasis/oasis.conf", "w") as handle:
        handle.write('[icons]\nusing = "icon_2"\nicon_1 = "openwrt.png"\nicon_2 = "mine.png"\n')
        handle.write('[default]\ntitle = "D"\nchat = "d"\n[custom_1]\ntitle = "A"\nchat = "a"\n')
    icons = here.root + "/www/luci-static/resources/oasis"
    os.makedirs(icons, exist_ok=True)
    with open(icons + "/mine.png", "wb") as handle:
        handle.write(b"x")
    with open(here.root + "/etc/config/oasis-opkg", "w") as handle:
        handle.write("config oasis 'main'\n")
    here.daemon = start_daemon(here.root)
    taken = here.daemon.call("upstream.import")
    assert "oasis import --upstream" in here.daemon.log()
    [item] = here.daemon.call("chat.list")["item"]
    assert item["updated_unix_s"] == 1_600_000_000
    topics = {topic["key"]: topic["text"] for topic in here.daemon.call("topic.list")["topics"]}
    assert topics["custom_1"] == "a" and topics["custom_2"] == "d" and topics["default"] == ""
    assert any("default of the earlier Oasis is custom_2" in report for report in taken["reports"])
    with open(here.root + "/etc/oasis/icons.json") as handle:
        assert json.load(handle)["using"] == "mine.png"
    assert "oasis-opkg" not in here.daemon.call("config.list")["packages"]
    here.daemon.stop()
    here.daemon = start_daemon(here.root)
    assert here.daemon.log().count("oasis import --upstream") == 1, "told until it is done"


def test_a_loop_of_links_among_the_packages_is_the_error_of_its_tool_alone(tmp_path):
    model = Recorder([("read_config", {"package": "weird"})], "It cannot be read.")
    root = root_with(tmp_path, "openai", model.url, "scripted", "sk-testkey-000000")
    os.symlink("weird", root + "/etc/config/weird")
    daemon = start_daemon(root)
    try:
        events = say(daemon, "show weird")
        assert of_type(events, "error") == [] and of_type(events, "end")[0]["state"] == "done", events
        assert "no package" in json.dumps(model.messages()[-1])
    finally:
        daemon.stop()
        model.close()


def test_loops_of_links_in_place_of_packages_that_are_used_end_no_turn(tmp_path):
    calls = [("read_config", {"package": "dhcp"}), ("read_config", {"package": "one"}), ("doctor", {}),
             ("propose", {"summary": "x", "operations": [
                 {"op": "set", "package": "dhcp", "section": "lan", "option": "limit", "value": "9"}]})]  # fmt: skip
    model = Recorder(*[[one] for one in calls], "They cannot be read.")
    root = root_with(tmp_path, "openai", model.url, "scripted", "sk-testkey-000000")
    for name, other in (("one", "two"), ("two", "one"), ("dhcp", "dhcp")):
        if os.path.exists(root + "/etc/config/" + name):
            os.remove(root + "/etc/config/" + name)
        os.symlink(other, root + "/etc/config/" + name)
    daemon = start_daemon(root)
    try:
        events = say(daemon, "show them")
        assert of_type(events, "error") == [] and of_type(events, "end")[0]["state"] == "done", events
        results = [one for one in model.messages() if one["role"] == "tool"]
        assert len(results) == len(calls), results
        assert "error" in results[0]["content"] and "error" in results[1]["content"]
        assert "Traceback" not in daemon.log()
    finally:
        daemon.stop()
        model.close()


def test_a_last_line_without_its_end_is_loaded_and_sent_whole(talk):  # noqa: F811
    here = talk()
    chat = written(here, [*THREAD[:-1], json.dumps(THREAD[-1]).encode()])
    before = here.daemon.call("chat.load", id=chat)["messages"]
    assert len(before) == len(THREAD)
    _, _, events = here.say("on with it", chat=chat)
    assert of_type(events, "error") == []
    after = here.daemon.call("chat.load", id=chat)["messages"]
    assert [one["id"] for one in after[: len(before)]] == [one["id"] for one in before]
    sent = json.dumps(here.model.bodies()[-1])
    assert all(text_of(one) in sent for one in before), sent


def test_half_a_character_in_a_line_locks_no_chat(talk):  # noqa: F811
    here = talk()
    chat = written(here, [b'{"id":"%s","role":"user","content":"fi\\ud800rst"}\n' % A.encode(), *THREAD[1:]])
    assert text_of(here.daemon.call("chat.load", id=chat)["messages"][0]) == "fi\ufffdrst"
    _, _, events = here.say("on with it", chat=chat)
    assert of_type(events, "error") == []
    assert "data" in here.daemon.call("chat.export", id=chat)
