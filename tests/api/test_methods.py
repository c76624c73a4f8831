"""The method table: arguments, roles, and what methods do with the daemon's parts on a stock router root."""

import inspect
import json
import os
import threading
import time

import pytest

from oasis.api.methods import TABLE, check, failure
from oasis.api.table import SERVICE
from oasis.core import jsonl
from oasis.core.thread import INTERRUPTED
from oasis.daemon.wiring import Daemon
from oasis.errors import OasisError, PolicyError, SettingsError, StoreError, UsageError
from oasis.system.root import Root
from oasis.tools.builtin import changes
from oasis.tools.operator import NoRun, Operator
from oasis.tools.principal import Principal
from tests.oasisd import copy_root, lacking

OWNER = {"name": "owner", "terminal": False}
VIEWER = {"name": "viewer", "terminal": True}

# What only the owner may do, written down a second time: a method that loses its access must be noticed.
WRITES = {
    "run.start", "run.cancel", "plan.propose", "plan.force", "plan.approve", "plan.decline",
    "change.confirm", "change.rollback", "change.undo",
    "change.extend", "change.alive", "path.seen",
    "chat.delete", "chat.summarise", "chat.import", "bookmark.set", "bookmark.delete", "upload.part", "upload.drop",
    "upstream.import",
    "config.attach",
    "topic.add", "topic.update", "topic.delete", "chat.rename", "chat.archive", "chat.forget",
    "service.select", "service.add", "service.change", "service.delete", "service.key", "service.test",
    "service.models", "usage.limit", "usage.price", "alias.set", "alias.delete", "secret.keep", "tool.set", "tool.call",
    "agent.start", "client.join", "doctor.fix", "mcp.add", "mcp.delete", "mcp.key", "mcp.refresh",
    "plugin.review", "plugin.accept", "privacy.show", "setup.find",
    "telegram.list", "telegram.pair", "telegram.forget", "telegram.secret", "telegram.set",
    "knowledge.add", "knowledge.list", "knowledge.search", "knowledge.delete", "knowledge.embed",
    "memory.list", "memory.add", "memory.change", "memory.forget", "memory.export", "memory.set",
    "skill.list", "skill.load", "skill.set", "skill.delete", "skill.set_enabled",
    "schedule.add", "schedule.change", "schedule.delete", "schedule.run", "schedule.approve",
    "wireguard.list", "wireguard.change", "wireguard.show", "wireguard.endpoint", "ssh_keys.list", "password.set",
    "firmware.look", "file.place", "monitor.speed",
}  # fmt: skip
READS = {
    "info", "run.poll", "run.active", "plan.list", "change.list", "change.load", "change.pending", "chat.list",
    "chat.load", "chat.tree", "chat.export", "bookmark.list", "topic.list",
    "chat.search", "service.list", "service.providers", "alias.list", "usage.list", "usage.chat", "config.list",
    "audit.list", "audit.verify", "tool.list", "tool.specs", "mcp.list", "doctor.run", "plugin.list", "notice.list",
    "setup.state", "knowledge.option", "schedule.list", "monitor.look",
}  # fmt: skip
# What a program of somebody else's may do: say who it is, propose by way of tools, stop what it began.
PROPOSED = {"client.join", "tool.call", "run.cancel"}
WRONG = {str: [5, True, ["x"], {}, 1.5], int: ["5", True, [1], {}, 1.5], list: ["x", 5, {}, [5], [["x"]], [None]]}
WRONG[bool] = [1, 0, "true", [True], {}]
WRONG[dict] = [1, "x", True, []]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return copy_root(str(tmp_path_factory.mktemp("methods") / "router"))


@pytest.fixture(scope="module")
def daemon(root):
    made = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
    yield made
    made.stop()


@pytest.fixture
def call(daemon):
    def ask(name, /, role=OWNER, **params):
        return daemon.methods.call(name, params, role)

    return ask


def follow(call, started):
    """Poll a run to its end; return its events."""
    events, since = [], 0
    deadline = time.monotonic() + 20
    while not events or events[-1]["type"] != "end":
        assert time.monotonic() < deadline
        reply = call("run.poll", run=started["run"], since=since, wait_ms=5000)
        events, since = events + reply["events"], reply["next"]
    return events


def say(call, message="help", **params):
    started = call("run.start", message=message, **params)
    return started, follow(call, started)


def chat_file(root, chat):
    return f"{root}/etc/oasis/chats/{chat}.jsonl"


def lines(root, chat):
    with open(chat_file(root, chat), "rb") as handle:
        return [json.loads(line) for line in handle.read().split(b"\n")[:-1]]


def filled(name):
    """Return arguments of the right types for a method."""
    values = {str: "x", int: 0, list: [], bool: False, dict: {}}
    return {key: values[kind] for key, (kind, _) in TABLE[name].arguments.items()}


def test_the_table_is_the_one_written_down():
    words = lacking("methods")
    assert set(TABLE) == {name for name in WRITES | READS if name.partition(".")[0] not in words}


CLIENT = pytest.param({"name": "client", "terminal": False}, marks=pytest.mark.part("mcp"))


@pytest.mark.parametrize("name", sorted(WRITES & set(TABLE)))
@pytest.mark.parametrize("role", [VIEWER, CLIENT, {"name": "", "terminal": True}])
def test_who_is_not_the_owner_changes_nothing(daemon, name, role):
    if role["name"] == "client" and name in PROPOSED:
        return  # what comes of these, tests/parts/mcp tries
    with pytest.raises(PolicyError) as caught:
        daemon.methods.call(name, filled(name), role)
    assert name in caught.value.message


@pytest.mark.parametrize("name", sorted(WRITES & set(TABLE)))
def test_an_argument_gives_nobody_a_role(daemon, name):
    for params in ({"role": OWNER}, {"role": "owner"}, {"ubus_rpc_session": "0" * 32}, {"terminal": True}):
        with pytest.raises(PolicyError):
            daemon.methods.call(name, {**filled(name), **params}, VIEWER)
    with pytest.raises(UsageError, match="no argument 'role'"):
        daemon.methods.call(name, {**filled(name), "role": VIEWER}, OWNER)


@pytest.mark.parametrize("name", sorted(TABLE))
@pytest.mark.parametrize("role", [OWNER, VIEWER])
def test_every_method_may_be_called_by_the_roles_of_its_access(daemon, name, role):
    if name in WRITES and role is VIEWER:
        return
    try:
        reply = daemon.methods.call(name, filled(name), role)
    except PolicyError:
        raise AssertionError(f"{role} may not call {name}") from None
    except OasisError:
        return  # there is no run, plan or chat "x"
    if name == "run.start":
        daemon.runs.wait_ended(10)
    jsonl.dumps(reply)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_functions_take_the_arguments_of_the_table(daemon, name):
    method = TABLE[name]
    taken = dict(inspect.signature(getattr(daemon.methods.owner(method.owner), method.function)).parameters)
    assert bool(taken.pop("role", None)) == method.takes_role
    arguments = set(method.arguments)
    if rest := [
        key for key, one in taken.items() if one.kind is inspect.Parameter.VAR_KEYWORD
    ]:  # checked where it is read
        del taken[rest[0]]
        of_rest = set(SERVICE) if name.startswith("service.") else arguments - set(taken)
        assert of_rest <= arguments and not of_rest & set(taken)
        arguments -= of_rest
    assert set(taken) == arguments
    required = {key for key, value in taken.items() if value.default is inspect.Parameter.empty}
    assert required == {key for key, (_, is_required) in method.arguments.items() if is_required and key in arguments}


@pytest.mark.parametrize(
    "name", ["", "run", "run.", ".start", "call", "_cards", "run_start", "__init__", "run.start.x", "rpc"]
)
def test_an_unknown_method_is_told_with_the_known_ones(call, name):
    with pytest.raises(UsageError, match="there is no method") as caught:
        call(name)
    assert "run.start" in caught.value.hint


@pytest.mark.parametrize("name", sorted(TABLE))
def test_an_unknown_argument_is_named(call, name):
    with pytest.raises(UsageError) as caught:
        call(name, **filled(name), colour="red")
    assert name in caught.value.message and "'colour'" in caught.value.message


@pytest.mark.parametrize("name, key", [(name, key) for name in sorted(TABLE) for key in TABLE[name].arguments])
def test_an_argument_of_the_wrong_type_is_named(call, name, key):
    for value in WRONG[TABLE[name].arguments[key][0]]:
        with pytest.raises(UsageError) as caught:
            call(name, **{**filled(name), key: value})
        assert f"{name}: {key} must be" in caught.value.message


@pytest.mark.parametrize("name", sorted(TABLE))
def test_a_missing_argument_is_named(call, name):
    for key, (_, is_required) in TABLE[name].arguments.items():
        params = filled(name)
        del params[key]
        if is_required:
            with pytest.raises(UsageError, match=f"{name} needs the argument {key}"):
                call(name, **params)
            with pytest.raises(UsageError, match=f"{name} needs the argument {key}"):
                call(name, **{**params, key: None})


def test_what_the_bus_adds_is_ignored(call):
    assert call("chat.list", ubus_rpc_session="0" * 32) == call("chat.list")
    assert call("change.list", VIEWER, ubus_rpc_session=5)["changes"] == []


def test_absent_and_null_are_the_same():
    arguments = TABLE["run.start"].arguments
    assert check("run.start", {"message": "x", "chat": None}, arguments) == {"message": "x"}


def test_a_failure_has_one_shape():
    assert failure(StoreError("a", "b")) == {"error": {"code": "store", "message": "a", "hint": "b"}}


@pytest.mark.part("offline")
def test_info_tells_who_answers_and_what_waits(call, root):
    info = call("info", VIEWER)
    assert (info["root"], info["approval"], info["pending"], info["waiting"]) == (root, "risky", None, [])
    assert info["provider"] == {"identifier": "offline", "name": "offline", "model": "built-in", "note": ""}


def test_a_message_is_answered_and_both_can_be_read(call):
    started, events = say(call)
    assert events[-1]["state"] == "done"
    chat = call("chat.load", VIEWER, id=started["chat"])
    assert chat["messages"][0]["role"] == "user"
    assert chat["messages"][-1]["role"] == "assistant"
    assert chat["reports"] == []
    listed = [item for item in call("chat.list")["item"] if item["id"] == started["chat"]]
    assert listed[0]["title"] == "help" and listed[0]["exchanges"] == 1
    assert abs(listed[0]["updated_unix_s"] - time.time()) < 60


def test_a_started_run_has_its_message_on_flash_already(call, root):
    started = call("run.start", message="  help \n")
    assert lines(root, started["chat"])[0]["content"] == "help"
    follow(call, started)


def test_a_message_that_does_not_reach_the_flash_starts_no_run(call, root, daemon):
    os.makedirs(f"{root}/etc/oasis/chats", exist_ok=True)
    before = sorted(os.listdir(f"{root}/etc/oasis/chats"))
    started, _ = say(call)
    path = chat_file(root, started["chat"])
    os.rename(path, path + ".away")
    os.mkdir(path)
    try:
        with pytest.raises(StoreError):
            call("run.start", message="help", chat=started["chat"])
        assert daemon.runs.active() == []
    finally:
        os.rmdir(path)
        os.remove(path + ".away")
    assert sorted(os.listdir(f"{root}/etc/oasis/chats")) == before


@pytest.mark.parametrize("params, words", [
    ({"message": " \n"}, "empty"),
    ({"message": "x" * 40_000}, "more than"),
    ({"message": "help", "chat": "0" * 20}, "no chat"),
    ({"message": "help", "chat": "../../etc/passwd"}, "no chat"),
    ({"message": "help", "continues": ["0" * 25]}, "no chat has a message"),
])  # fmt: skip
def test_what_cannot_be_asked_starts_no_run(call, daemon, params, words):
    with pytest.raises(UsageError, match=words):
        call("run.start", **params)
    assert daemon.runs.active() == []


def test_half_a_character_is_refused_before_anything_is_stored(call, daemon, root):
    before = call("chat.list")
    with pytest.raises(OasisError, match="surrogate"):
        call("run.start", message="smile \ud83d")
    assert (call("chat.list"), daemon.runs.active()) == (before, [])


def test_an_unknown_service_is_refused(call):
    with pytest.raises(SettingsError, match="no service 'nobody'"):
        call("run.start", message="help", service="nobody")
    with pytest.raises(SettingsError, match="no service 'nobody'"):
        call("service.select", identifier="nobody")


def test_a_chat_goes_on_where_it_ended_or_where_it_is_told_to(call, root):
    started, _ = say(call)
    first = lines(root, started["chat"])
    say(call, chat=started["chat"])
    second = lines(root, started["chat"])[len(first) :]
    assert second[0]["continues"] == [first[-1]["id"]]
    say(call, chat=started["chat"], continues=[first[0]["id"]])
    third = lines(root, started["chat"])[len(first) + len(second) :]
    assert third[0]["continues"] == [first[0]["id"]]
    assert third[1]["continues"] == [third[0]["id"]]


def test_a_call_that_a_crash_left_open_is_closed_at_the_next_message(call, root):
    started, _ = say(call)
    last = lines(root, started["chat"])[-1]["id"]
    asked = {
        "id": "0" * 25, "role": "assistant", "continues": [last],
        "content": [{"type": "tool_use", "id": f"c{number}", "name": "configure", "input": {}} for number in range(2)],
    }  # fmt: skip
    with open(chat_file(root, started["chat"]), "ab") as handle:
        handle.write(jsonl.line(asked))
    before = len(lines(root, started["chat"]))
    say(call, chat=started["chat"])
    closing, owner = lines(root, started["chat"])[before : before + 2]
    assert (closing["role"], closing["continues"]) == ("tool", [asked["id"]])
    assert [(block["tool_use_id"], block["is_error"]) for block in closing["content"]] == [("c0", True), ("c1", True)]
    assert closing["content"][0]["content"][0]["text"] == INTERRUPTED
    assert (owner["role"], owner["continues"]) == ("user", [closing["id"]])
    say(call, chat=started["chat"])
    assert [line["role"] for line in lines(root, started["chat"])].count("tool") == 1


def test_a_torn_chat_is_told_once_and_goes_on_with_the_next_message(call, root):
    started, _ = say(call)
    with open(chat_file(root, started["chat"]), "rb") as handle:
        before = handle.read()
    with open(chat_file(root, started["chat"]), "ab") as handle:
        handle.write(b'{"id":"torn')
    assert "torn" in call("chat.load", id=started["chat"])["reports"][0]
    _, events = say(call, chat=started["chat"])
    assert "torn" in next(event["text"] for event in events if event["type"] == "note")
    with open(chat_file(root, started["chat"]), "rb") as handle:
        assert handle.read().startswith(before + b'{"id":"torn\n{"id":"'), "nothing is lost"
    loaded = call("chat.load", id=started["chat"])
    assert len(loaded["messages"]) == 4 and "was skipped" in loaded["reports"][0]
    _, events = say(call, chat=started["chat"])
    assert not [event for event in events if event["type"] == "note"], "it was told already"


def test_a_chat_that_is_being_answered_is_neither_continued_nor_deleted(call, daemon, root):
    started, _ = say(call)
    run = daemon.runs.start(started["chat"], until_cancelled)
    try:
        before = lines(root, started["chat"])
        for name, params in (
            ("run.start", {"message": "help", "chat": started["chat"]}),
            ("chat.delete", {"id": started["chat"]}),
        ):
            with pytest.raises(UsageError, match="is being answered"):
                call(name, **params)
        assert lines(root, started["chat"]) == before
        assert call("run.active") == {"runs": [{"run": run.id, "chat": started["chat"], "state": "running"}]}
        assert call("run.cancel", run=run.id)["run"] == run.id
    finally:
        run.cancel()
        daemon.runs.wait_ended(5)
    assert call("chat.delete", id=started["chat"]) == {"status": "OK"}
    assert not os.path.exists(chat_file(root, started["chat"]))
    with pytest.raises(UsageError, match="no chat"):
        call("chat.load", id=started["chat"])


def until_cancelled(run):
    while not run.is_cancelled():
        time.sleep(0.005)
    return "cancelled", "other"


def test_a_plan_waits_for_the_owner_and_its_decision_is_final(call, daemon):
    started = call("run.start", message="set the wifi name to Attic and the password to correct-horse")
    deadline = time.monotonic() + 20
    while not call("plan.list", VIEWER)["plans"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    [plan] = call("plan.list", VIEWER)["plans"]
    assert call("info")["waiting"][0]["id"] == plan["id"]
    for hash_ in ("", plan["short"], "0" * 64):
        with pytest.raises(PolicyError):
            call("plan.approve", plan=plan["id"], hash=hash_)
    assert call("plan.decline", plan=plan["id"], reason="not now") == {"plan": plan["id"], "decision": "declined"}
    with pytest.raises(UsageError):
        call("plan.approve", plan=plan["id"], hash=plan["hash"])
    events = follow(call, started)
    assert [event["decision"] for event in events if event["type"] == "approval"] == ["declined"]
    assert "not now" in next(event["text"] for event in events if event["type"] == "tool_result")
    assert call("plan.list")["plans"] == []
    assert call("change.list")["changes"] == []


def test_methods_that_name_what_is_not_there_say_so(call):
    for name, params in (
        ("run.poll", {"run": "x"}), ("run.cancel", {"run": "x"}), ("plan.approve", {"plan": "x", "hash": "y"}),
        ("plan.decline", {"plan": "x"}), ("change.confirm", {"change": "x"}), ("change.rollback", {"change": "x"}),
        ("chat.load", {"id": "x"}), ("chat.delete", {"id": "x"}),
    ):  # fmt: skip
        with pytest.raises(OasisError) as caught:
            call(name, **params)
        assert caught.value.message and caught.value.hint, name


def test_nothing_to_undo_ends_the_run_with_an_error(call):
    events = follow(call, call("change.undo"))
    assert events[-1]["state"] == "error"
    assert events[0]["error"]["code"] == "usage"


@pytest.fixture
def renamed(daemon, call):
    """Rename the router, each time in a chat of its own; return the two newest records."""
    for name in ("start", "cellar", "attic"):
        _, events = say(call, f"call this router {name}")
        assert events[-1]["state"] == "done"
    return call("change.list")["changes"][:2]


def test_changes_are_chosen_by_time_chat_and_package(call, renamed):
    newest, older = renamed
    everything = call("change.list")["changes"]
    assert call("change.list", since_unix_s=newest["when_unix_s"] + 1)["changes"] == []
    assert newest in call("change.list", since_unix_s=newest["when_unix_s"])["changes"]
    assert call("change.list", chat=older["chat"])["changes"] == [older]
    assert call("change.list", chat=older["chat"], package="firewall")["changes"] == []
    assert call("change.list", package="system")["changes"][:2] == [newest, older]
    assert call("change.list", package="wireless")["changes"] == [
        change for change in everything if "wireless" in change["packages"]
    ]


def test_one_change_is_shown_whole(call, renamed):
    change = call("change.load", change=renamed[0]["id"])["change"]
    assert {key: change[key] for key in renamed[0]} == renamed[0]
    assert change["diff"][0]["package"] == "system"
    assert {"op": "-", "text": "\toption hostname 'cellar'"} in change["diff"][0]["lines"]
    assert {"op": "+", "text": "\toption hostname 'attic'"} in change["diff"][0]["lines"]
    with pytest.raises(UsageError, match="no change 'x'"):
        call("change.load", change="x")


def undone(call, **params):
    return follow(call, call("change.undo", **params))


def test_an_undo_with_conflicts_lists_them_and_the_owner_may_skip_them(root, call, renamed):
    older = renamed[1]["id"]
    events = undone(call, change=older)
    error = next(event["error"] for event in events if event["type"] == "error")
    assert (error["code"], events[-1]["state"]) == ("apply", "error")
    assert error["conflicts"] == [
        {"package": "system", "section": "@system[0]", "option": "hostname", "now": "attic", "expected": "cellar"}
    ]
    error = next(e["error"] for e in undone(call, change=older, skip_conflicts=True) if e["type"] == "error")
    assert "everything of change" in error["message"]


def test_the_newest_change_is_undone(root, call, renamed):
    events = undone(call)
    assert events[-1]["state"] == "done"
    with open(root + "/etc/config/system", encoding="utf-8") as handle:
        assert "'cellar'" in handle.read()
    listed = call("change.list")["changes"]
    assert listed[0]["undoes"] == renamed[0]["id"]
    assert listed[1]["undone_by"] == listed[0]["id"]


def test_a_chosen_secret_on_a_card_is_for_the_owner_alone(daemon, call):
    """Also one that the router holds by now, which is masked everywhere else."""
    value = "moonlight-harbor-77"
    daemon.redactor.keep(value, "random")
    chosen = {"where": "wireless.home.key", "from": "chosen by the model", "value": value}
    plan = {"id": "p1", "needs_approval": False, "words": ["the key is " + value], "secrets": [chosen]}

    def work(run):
        run.emit("plan", plan=plan)
        return "done", "end_turn"

    run = daemon.runs.start("", work)
    daemon.runs.wait_ended(5)
    of_owner, of_viewer = [call("run.poll", role, run=run.id)["events"][0]["plan"] for role in (OWNER, VIEWER)]
    assert of_owner["secrets"] == [chosen] and value not in str(of_owner["words"])
    assert of_viewer == {**of_owner, "secrets": [{"where": chosen["where"], "from": chosen["from"]}]}


def test_what_becomes_a_secret_later_is_masked_in_what_was_said_before(daemon, call):
    """Also the lines of a private key, which come one by one, and however often somebody asked meanwhile."""
    key = [
        "-----BEGIN PRIVATE KEY-----",
        *["MC4CAQAwBQYDK2VwBCIEIJx%03dq5vZrYB0aVbX8mY1uT5lQ2cW0" % at for at in range(4)],
    ]
    key.append("-----END PRIVATE KEY-----")
    is_said, go_on = threading.Event(), threading.Event()

    def work(run):
        run.emit("delta", text="its key is brand-new-secret-1.")
        run.emit("note", text="and brand-new-secret-1 it is")
        for line in key:
            run.emit("tool_progress", text=line)
        is_said.set()
        go_on.wait(5)
        return "done", "end_turn"

    run = daemon.runs.start("", work)
    assert is_said.wait(5)
    assert "brand-new-secret-1" in str(call("run.poll", VIEWER, run=run.id))
    daemon.redactor.keep("brand-new-secret-1", "random")
    go_on.set()
    daemon.runs.wait_ended(5)
    said = str(call("run.poll", VIEWER, run=run.id))
    assert "brand-new-secret-1" not in said and "q5vZrYB0aVbX8mY1uT5lQ2cW0" not in said


def test_a_change_for_a_time_is_told_and_listed(daemon, call):
    emitted = []
    run = NoRun()
    run.emit = lambda kind, **more: emitted.append((kind, more))
    operator = Operator(daemon.methods._services, run, Principal(), {"id": "chat1"})
    now = int(time.time())
    arguments = {"commands": ["uci set system.@system[0].hostname=guests"], "summary": "a note", "until": "2h"}
    assert changes.configure(arguments, None, operator, None)["status"] == "applied"
    plan = next(more["plan"] for kind, more in emitted if kind == "plan")
    change = call("change.list")["changes"][0]
    assert 0 <= change["until_unix_s"] - now - 7200 <= 5
    assert plan["until_unix_s"] == change["until_unix_s"]
    assert "undone by itself" in plan["words"][-1]
    assert [thread.name for thread in threading.enumerate()].count("expiry") == 1


def test_a_change_ends_by_itself_while_the_daemon_runs(daemon, call):
    operator = Operator(daemon.methods._services, NoRun(), Principal(), {"id": "chat1"})
    arguments = {"commands": ["uci set system.@system[0].hostname=attic"], "until": "1s"}
    change = changes.configure(arguments, None, operator, None)["change"]
    deadline = time.monotonic() + 15
    while not call("change.load", change=change)["change"].get("undone_by"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert call("audit.list")["lines"][0]["what"] == "expired"


SAID = {
    "de": ("riskant", "es wartet kein Plan 'none'", "Uhr", "liegt auf dem Weg"),
    "es": ("arriesgado", "no espera ningún plan 'none'", "Reloj", "está en el camino"),
    "ja": ("要注意", "待機中のプラン 'none' はありません", "時計", "通り道"),
    "zh": ("有风险", "没有等待中的计划 'none'", "时钟", "路径上"),
}


@pytest.mark.parametrize("language", SAID)
def test_a_card_a_finding_and_a_refusal_follow_the_reader_and_nothing_that_is_bound_does(call, language):
    _, refusal, clock, reason = SAID[language]
    with pytest.raises(OasisError) as error:
        call("plan.approve", plan="none", lang=language + "_XX.UTF-8")
    assert refusal in str(error.value.message)
    assert clock in {check["title"] for check in call("doctor.run", lang=language)["checks"]}
    started = call("plan.propose", commands=["uci set network.lan.ipaddr=192.168.9.1"])
    deadline = time.monotonic() + 20
    while not call("plan.list")["plans"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    [english], [shown] = call("plan.list")["plans"], call("plan.list", lang=language)["plans"]
    assert any(reason in one for one in shown["reasons"]) and shown["reasons"] != english["reasons"]
    kept = ("hash", "id", "uci", "diff", "risk", "confirm_s", "services")
    assert [shown[key] for key in kept] == [english[key] for key in kept]
    call("plan.decline", plan=english["id"])
    follow(call, started)
