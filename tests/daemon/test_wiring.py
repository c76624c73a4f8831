"""The daemon as a process: power cuts, second starts, damaged and full flash, real words to a real change."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from oasis.daemon.wiring import Daemon, fault, log
from oasis.system.root import Root
from tests.oasisd import REPOSITORY, connected, copy_root, read_line, start_daemon

WIFI = "set the wifi name to Attic and the password to correct-horse"


@pytest.fixture
def root(tmp_path):
    return copy_root(str(tmp_path / "router"))


@pytest.fixture
def daemon(root):
    running = start_daemon(root)
    yield running
    running.stop()


def config(root, package):
    with open(f"{root}/etc/config/{package}", "rb") as handle:
        return handle.read()


def option(root, name, value):
    """Set an option of the section `main` of Oasis's own settings."""
    path = root + "/etc/config/oasis"
    with open(path) as handle:
        text = handle.read()
    with open(path, "w") as handle:
        handle.write(text.replace("config oasis 'main'\n", f"config oasis 'main'\n\toption {name} '{value}'\n", 1))


def services(root):
    try:
        with open(root + "/var/log/services.log") as handle:
            return [line.split(" ", 1)[1].strip() for line in handle]
    except FileNotFoundError:
        return []


# A run that waits for an approval which no test gives would wait for its plan's ten minutes.
FOLLOW_S = 150


def follow(daemon, started, until=("end",)):
    """Poll a run until an event of the given types; return all events."""
    assert "run" in started, started
    events, since, end_s = [], 0, time.monotonic() + FOLLOW_S
    while True:
        assert time.monotonic() < end_s, f"the run waits for something: {events}"
        reply = daemon.call("run.poll", run=started["run"], since=since, wait_ms=5000)
        events += reply["events"]
        since = reply["next"]
        if any(event["type"] in until for event in events):
            return events
        assert not of_type(events, "end"), f"the run ended without {until}: {events}"


def say(daemon, message, until=("end",), **more):
    return follow(daemon, daemon.call("run.start", message=message, **more), until)


def of_type(events, kind):
    return [event for event in events if event["type"] == kind]


def approve(daemon, events):
    plan = of_type(events, "plan")[-1]["plan"]
    return daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])


def apply_wifi(daemon):
    """Bring a risky change to its window; return the change."""
    started = daemon.call("run.start", message=WIFI)
    events = follow(daemon, started, ("plan",))
    assert approve(daemon, events)["decision"] == "approved"
    follow(daemon, started)
    return daemon.call("change.pending")["change"]


def test_the_new_address_and_what_proves_it_are_told_before_the_router_moves(daemon):
    started = daemon.call("run.start", message="change the lan address to 192.168.77.1")
    events = follow(daemon, started, ("plan",))
    plan = of_type(events, "plan")[0]["plan"]
    assert plan["new_address"] == "192.168.77.1"
    assert "nonce" not in json.dumps(plan) and "nonce" not in json.dumps(daemon.call("plan.list"))
    told = approve(daemon, events)["applying"]
    assert told["change"] == plan["id"] and told["new_address"] == "192.168.77.1"
    assert told["confirm_s"] == plan["confirm_s"] and len(told["nonce"]) == 32
    events = follow(daemon, started)
    kinds = [event["type"] for event in events]
    assert kinds.index("applying") < kinds.index("change")
    assert of_type(events, "applying")[0]["applying"] == told
    assert of_type(events, "change")[-1]["change"]["nonce"] == told["nonce"]
    for method in ("change.list", "change.pending", "info"):
        assert told["nonce"] not in json.dumps(daemon.call(method)), method


def test_a_log_without_room_stops_no_change_from_being_put_back(root):
    option(root, "confirm_s", "4")
    os.symlink("/dev/full", root + "/var/log/oasisd.log")
    before = config(root, "wireless")
    daemon = start_daemon(root)
    try:
        change = apply_wifi(daemon)
        deadline = time.monotonic() + 30
        while [one["state"] for one in daemon.call("change.list")["changes"]] != ["rolled_back"]:
            assert time.monotonic() < deadline, change
            time.sleep(0.05)
        assert config(root, "wireless") == before
        assert of_type(say(daemon, "call this router attic"), "end")[0]["state"] == "done"
        assert daemon.stop() == 0
    finally:
        daemon.stop()


def test_rename_is_done_at_once_and_undone(daemon):
    before = config(daemon.root, "system")
    events = say(daemon, "call this router attic")
    assert of_type(events, "approval")[0]["decision"] == "automatic"
    assert b"option hostname 'attic'" in config(daemon.root, "system")
    assert "system reload" in services(daemon.root)
    assert of_type(events, "end")[0]["state"] == "done"
    follow(daemon, daemon.call("change.undo"))
    assert config(daemon.root, "system") == before


def test_wifi_waits_for_the_owner_twice(daemon):
    before = config(daemon.root, "wireless")
    started = daemon.call("run.start", message=WIFI)
    events = follow(daemon, started, ("plan",))
    plan = of_type(events, "plan")[0]["plan"]
    assert plan["needs_approval"]
    assert "correct-horse" not in json.dumps(plan)
    assert config(daemon.root, "wireless") == before
    assert daemon.call("plan.approve", plan=plan["id"], hash="0" * 64)["error"]["code"] == "policy"
    assert daemon.call("plan.approve", plan=plan["id"], hash=plan["short"])["error"]["code"] == "policy"
    approve(daemon, events)
    events = follow(daemon, started)
    assert b"'Attic'" in config(daemon.root, "wireless")
    assert b"correct-horse" in config(daemon.root, "wireless")
    change = daemon.call("change.pending")["change"]
    assert 80 <= change["confirm_in_s"] <= 90
    assert daemon.call("change.confirm", change=change["id"])["error"]["code"] == "unproved"
    kept = daemon.call("change.confirm", change=change["id"], unproved=True)["change"]
    assert (kept["state"], kept["proof"]) == ("confirmed", "word")
    assert services(daemon.root) == ["network reload"]


def test_declined_is_not_done_and_the_turn_goes_on(daemon):
    before = config(daemon.root, "wireless")
    started = daemon.call("run.start", message=WIFI)
    plan = of_type(follow(daemon, started, ("plan",)), "plan")[0]["plan"]
    daemon.call("plan.decline", plan=plan["id"], reason="not now")
    events = follow(daemon, started)
    assert of_type(events, "approval")[0]["decision"] == "declined"
    assert of_type(events, "end")[0]["state"] == "done"
    assert config(daemon.root, "wireless") == before
    messages = daemon.call("chat.load", id=started["chat"])["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]


def test_killed_while_a_change_waits_the_old_files_are_back_at_the_next_start(root):
    before = config(root, "wireless")
    first = start_daemon(root)
    change = apply_wifi(first)
    assert config(root, "wireless") != before
    first.kill()
    assert config(root, "wireless") != before
    second = start_daemon(root)
    try:
        assert config(root, "wireless") == before
        assert services(root) == ["network reload", "network reload"]
        assert second.call("change.list")["changes"][0]["id"] == change["id"]
        assert second.call("change.list")["changes"][0]["state"] == "rolled_back"
        assert "rolled back" in second.log()
    finally:
        second.stop()


def test_killed_for_good_the_guard_puts_the_files_back(root):
    option(root, "confirm_s", "1")
    before = config(root, "wireless")
    daemon = start_daemon(root)
    apply_wifi(daemon)
    daemon.kill()
    deadline = time.monotonic() + 25  # the window, the guard's grace of 10 s, and its look once a second
    while config(root, "wireless") != before:
        assert time.monotonic() < deadline, "the guard did nothing"
        time.sleep(0.2)


def test_a_daemon_that_was_frozen_tells_nothing_as_kept_that_its_guard_put_back(root):
    option(root, "confirm_s", "1")
    before = config(root, "wireless")
    daemon = start_daemon(root)
    try:
        change = apply_wifi(daemon)
        with connected(daemon.socket) as connection:
            daemon.process.send_signal(signal.SIGSTOP)
            params = {"change": change["id"], "unproved": True}
            line = {"jsonrpc": "2.0", "id": 1, "method": "change.confirm", "params": params}
            connection.sendall(json.dumps(line).encode() + b"\n")
            deadline = time.monotonic() + 40  # the guard's grace, on a slow machine
            while config(root, "wireless") != before:
                assert time.monotonic() < deadline, "the guard did nothing"
                time.sleep(0.1)
            daemon.process.send_signal(signal.SIGCONT)
            reply = json.loads(read_line(connection))
        assert reply["result"]["change"]["state"] == "rolled_back", reply
        record = daemon.call("change.list")["changes"][0]
        assert (record["id"], record["state"]) == (change["id"], "rolled_back")
        assert "restored" in record["reason"] or "nobody kept" in record["reason"]
        assert config(root, "wireless") == before
    finally:
        daemon.process.send_signal(signal.SIGCONT)
        daemon.stop()


def test_nobody_keeps_it(root):
    option(root, "confirm_s", "1")
    before = config(root, "wireless")
    daemon = start_daemon(root)
    try:
        started = daemon.call("run.start", message=WIFI)
        approve(daemon, follow(daemon, started, ("plan",)))
        follow(daemon, started)
        deadline = time.monotonic() + 5
        while config(root, "wireless") != before:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        states = []
        while "rolled_back" not in states:
            assert time.monotonic() < deadline + 5, states
            events = daemon.call("run.poll", run=started["run"])["events"]
            states = [event["change"]["state"] for event in of_type(events, "change")]
        assert states == ["applied", "rolled_back"]
    finally:
        daemon.stop()


def test_stopping_puts_back_and_leaves_nothing_running(root):
    before = config(root, "wireless")
    daemon = start_daemon(root)
    apply_wifi(daemon)
    assert daemon.stop() == 0
    assert config(root, "wireless") == before
    assert not os.path.exists(root + "/var/run/oasis/oasis.sock")
    left = subprocess.run(["pgrep", "-f", root], capture_output=True, text=True, check=False).stdout.split()
    assert left == []


def test_a_second_daemon_on_the_same_root_names_the_first(daemon):
    second = start_daemon(daemon.root, wait=False)
    assert second.process.wait(20) == 3
    assert f"process {daemon.process.pid}" in second.log()
    assert "error" not in daemon.call("info")


def test_a_torn_chat_is_told_and_goes_on_and_loses_nothing(root):
    first = start_daemon(root)
    chat = say(first, "help") and first.call("chat.list")["item"][0]["id"]
    first.stop()
    path = f"{root}/etc/oasis/chats/{chat}.jsonl"
    with open(path, "rb") as handle:
        whole = handle.read()
    with open(path, "ab") as handle:
        handle.write(b'{"id":"torn')
    second = start_daemon(root)
    try:
        loaded = second.call("chat.load", id=chat)
        assert "torn" in loaded["reports"][0]
        assert len(loaded["messages"]) == 2
        assert of_type(say(second, "help", chat=chat), "end")[0]["state"] == "done"
        with open(path, "rb") as handle:
            data = handle.read()
        assert data.startswith(whole + b'{"id":"torn\n{"id":"')
        assert all(json.loads(line) for line in data[len(whole) :].split(b"\n")[1:-1])
        assert len(second.call("chat.load", id=chat)["messages"]) == 4
    finally:
        second.stop()


def test_a_full_disk_is_told_and_loses_nothing(daemon):
    chat = daemon.call("run.start", message="help")["chat"]
    path = f"{daemon.root}/etc/oasis/chats/{chat}.jsonl"
    while daemon.call("run.active")["runs"]:
        time.sleep(0.02)
    size = os.path.getsize(path)
    limit = f"--fsize={size + 300}:unlimited"
    subprocess.run(["prlimit", f"--pid={daemon.process.pid}", limit], check=True)
    refused = daemon.call("run.start", message="x" * 1000, chat=chat)["error"]
    assert refused["code"] == "store"
    assert refused["hint"]
    assert os.path.getsize(path) == size
    assert len(daemon.call("chat.load", id=chat)["messages"]) == 2
    subprocess.run(["prlimit", f"--pid={daemon.process.pid}", "--fsize=unlimited:unlimited"], check=True)
    assert of_type(say(daemon, "help", chat=chat), "end")[0]["state"] == "done"
    assert len(daemon.call("chat.load", id=chat)["messages"]) == 4


def test_an_apply_of_luci_holds_writes_up_only_while_rpcd_waits_for_it(daemon):
    """A plain `uci apply` leaves the same files and nobody who would confirm anything."""
    folder = daemon.root + "/var/run/rpcd/snapshot-files"
    os.makedirs(folder)
    with open(folder + "/network", "w") as handle:
        handle.write("config interface lan\n")
    with open(daemon.root + "/var/run/rpcd/waits", "w"):
        pass
    events = say(daemon, "call this router attic")
    assert b"attic" not in config(daemon.root, "system")
    assert "an apply in LuCI waits" in json.dumps(of_type(events, "tool_result"))
    os.remove(daemon.root + "/var/run/rpcd/waits")
    say(daemon, "call this router attic")
    assert b"option hostname 'attic'" in config(daemon.root, "system")


def test_what_is_well_is_told_as_information_and_what_is_wrong_as_a_fault(capsys):
    log("ready")
    log("the flash is full", True)
    fault("a chat is damaged")
    told = capsys.readouterr()
    assert told.out == "oasisd: ready\n"
    assert told.err == "oasisd: the flash is full\noasisd: a chat is damaged\n"


def test_the_daemon_names_the_way_to_uci_in_words(daemon):
    assert daemon.call("info")["backend"] in ("the library pyuci", "the program uci", "files of its own reading")


@pytest.mark.parametrize("kind", ["fifo", "socket", "device", "folder", "loop"])
def test_what_is_no_file_among_the_configuration_holds_no_turn_up(root, kind):
    path = root + "/etc/config/extra"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one, inside(root + "/etc/config"):
            one.bind("extra")
    elif kind == "folder":
        os.mkdir(path)
    else:
        os.symlink("/dev/zero" if kind == "device" else "extra", path)
    daemon = start_daemon(root)
    try:
        started = daemon.call("run.start", message="call this router attic")
        deadline = time.monotonic() + 30
        events, state = [], "running"
        while state == "running":
            assert time.monotonic() < deadline, "the turn hangs"
            reply = daemon.call("run.poll", run=started["run"], since=len(events), wait_ms=1000)
            events, state = events + reply["events"], reply["state"]
        assert state == "done", events
        assert b"option hostname 'attic'" in config(root, "system")
        for commands in (["uci set extra.one.two=3"], ["uci set extra.@one[0].two=3"]):
            events = follow(daemon, daemon.call("plan.propose", commands=commands))
            assert of_type(events, "error") or of_type(events, "refused"), events
        assert daemon.call("doctor.run")["findings"] is not None
    finally:
        daemon.stop()


@contextlib.contextmanager
def inside(folder):
    """Work in a folder: the name of a socket may be short only."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def test_a_broken_settings_file_is_named(root):
    with open(root + "/etc/config/oasis", "w") as handle:
        handle.write("config oasis 'main'\n\toption approval 'maybe'\n")
    daemon = start_daemon(root, wait=False)
    assert daemon.process.wait(20) == 3
    assert "oasis.main.approval is 'maybe'" in daemon.log()


def test_bad_lines_on_the_socket_are_answered(daemon):
    with connected(daemon.socket) as connection:
        connection.sendall(b"{nonsense}\n")
        assert json.loads(read_line(connection))["error"]["data"]["code"] == "schema"
        connection.sendall(b'{"jsonrpc":"2.0","id":7,"method":"no.such","params":{}}\n')
        assert json.loads(read_line(connection))["error"]["data"]["code"] == "usage"
        connection.sendall(b"[" * 5000 + b"\n")
        assert "nested" in json.loads(read_line(connection))["error"]["message"]
    assert "error" not in daemon.call("info")


def test_stopping_a_run_that_waits_for_approval_ends_it(daemon):
    started = daemon.call("run.start", message=WIFI)
    follow(daemon, started, ("plan",))
    daemon.call("run.cancel", run=started["run"])
    events = follow(daemon, started)
    assert of_type(events, "end")[0]["state"] == "cancelled"
    assert daemon.call("plan.list")["plans"] == []
    messages = daemon.call("chat.load", id=started["chat"])["messages"]
    assert messages[-1]["error"]["code"] == "cancelled"


def test_files_with_private_content_are_private(daemon):
    say(daemon, "call this router attic")
    for folder, _, names in os.walk(daemon.root + "/etc/oasis"):
        assert os.stat(folder).st_mode & 0o077 == 0, folder
        for name in names:
            path = os.path.join(folder, name)
            if "/pending/files" not in path:
                assert os.stat(path).st_mode & 0o077 == 0, path
    assert os.stat(daemon.socket).st_mode & 0o077 == 0


def test_the_daemon_tells_what_it_cannot_know(root):
    done = subprocess.run(
        [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, {REPOSITORY!r}); "
         "from oasis.daemon.main import main; sys.exit(main(['--nonsense']))"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--nonsense" in done.stderr


def test_a_signal_in_the_middle_of_nothing_ends_it_quickly(root):
    daemon = start_daemon(root)
    try:
        daemon.process.send_signal(signal.SIGINT)
        assert daemon.process.wait(5) == 0
    finally:
        daemon.kill()


def test_the_old_rollback_list_is_taken_over_once(tmp_path):
    root = copy_root(str(tmp_path / "router"))
    folder = root + "/etc/oasis/backup/list1"
    os.makedirs(folder)
    with open(root + "/etc/config/system", encoding="utf-8") as system, open(folder + "/system", "w") as stored:
        stored.write("package system\n" + system.read())
    with open(folder + "/backup_uci_list.json", "w") as names:
        names.write('["system"]')
    where = {"config": "system", "section": "@system[0]", "option": "hostname", "value": "'attic'"}
    with open(folder + "/uci_list.json", "w") as commands:
        json.dump({"set": [{"param": "", "class": where}], "add": {}}, commands)
    for _ in range(2):
        daemon = start_daemon(root)
        try:
            (change,) = daemon.call("change.list")["changes"]
            assert change["source"] == "upstream"
        finally:
            daemon.stop()
    # Only now: it answers a little before it has told what the start did.
    assert "1 changes of the old rollback list are in the history" in daemon.log()
    assert daemon.log().count("rollback list") == 1


def test_a_change_whose_end_came_while_nothing_ran_ends_at_the_start(root):
    daemon = start_daemon(root)
    say(daemon, "call this router attic")
    change = daemon.call("change.list")["changes"][0]["id"]
    daemon.stop()
    path = f"{root}/etc/oasis/changes/{change}/record.json"
    with open(path, encoding="utf-8") as handle:
        record = json.load(handle)
    with open(path, "w", encoding="utf-8") as handle:
        json.dump({**record, "until_unix_s": int(time.time()) - 5}, handle)
    daemon = start_daemon(root)
    try:
        deadline = time.monotonic() + 15
        while not daemon.call("change.load", change=change)["change"].get("undone_by"):
            assert time.monotonic() < deadline, daemon.log()
            time.sleep(0.05)
    finally:
        daemon.stop()
    assert b"hostname 'OpenWrt'" in config(root, "system")


def test_text_that_may_go_on_as_a_secret_is_held_back(root):
    path = root + "/etc/config/wireless"
    with open(path, "a", encoding="utf-8") as handle:
        handle.write("\nconfig wifi-iface 'x'\n\toption key 'correct-horse'\n")
    daemon = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
    seen = []

    def work(run):
        for text in ("it is correct-", "horse."):
            run.emit("delta", text=text)
            seen.append([event["text"] for event in run.poll(0, 0)["events"]])
        return "done", "end_turn"

    try:
        run = daemon.runs.start("", work)
        run.poll(1 << 60, 5000)
    finally:
        daemon.stop()
    assert seen == [["it is "], ["it is correct-horse."]]


CARDS = [
    (["add firewall rule", "set firewall.@rule[-1].src=wan", "set firewall.@rule[-1].proto=tcp",
      "set firewall.@rule[-1].dest_port=22", "set firewall.@rule[-1].target=accept"],
     ["lets in what was kept out before: from wan to the router, tcp 22",
      "firewall is on the way by which you reach the router"]),
    (["add_list network.@device[0].ports=wan"],
     ["lets in what was kept out before: from port wan to the router and lan, everything",
      "network is on the way by which you reach the router"]),
    (["set firewall.@rule[1].name=Ping"], ["firewall is on the way by which you reach the router"]),
    (["add_list network.wan.dns=9.9.9.9"], ["sends traffic or logs elsewhere: network.dns to 9.9.9.9"]),
    (["add_list network.wan.dns=192.168.1.53"],
     ["the router asks 192.168.1.53 for names", "network is on the way by which you reach the router"]),
]  # fmt: skip


@pytest.mark.parametrize("commands, reasons", CARDS)
def test_a_card_says_who_is_let_in_and_what_goes_elsewhere_only_when_it_is_true(daemon, commands, reasons):
    started = daemon.call("plan.propose", commands=["uci " + one for one in commands])
    plan = of_type(follow(daemon, started, ("plan",)), "plan")[-1]["plan"]
    assert plan["reasons"] == reasons
    daemon.call("plan.decline", plan=plan["id"])
