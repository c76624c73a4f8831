"""Programs of the owner's list in the workspace: what is run, as whom, for how long, and what they cannot reach."""

import os
import pwd
import socket
import subprocess
import sys
import time

import pytest

from oasis.tools import seed
from tests.tools.seed_bench import Bench

PYTHON = os.path.realpath(sys.executable)
# The interpreter of a test may lie where nobody may go; the system's does not.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else PYTHON
COMMANDS = (
    "echo",
    "ls",
    "cat",
    "pwd",
    "id -u",
    "sleep",
    "true",
    "false",
    PYTHON + " -c",
    "printf %s",
    "head -c",
    "env2",
)


@pytest.fixture
def bench():
    made = Bench(COMMANDS)
    made.hands.answer = None  # the owner says yes
    yield made
    made.close()


def python(bench, code, **more):
    return bench.call("shell_exec", command=[PYTHON, "-c", code], **more)


def test_the_owner_is_asked_for_every_call_whatever_is_set(bench):
    told, is_error, taint = bench.call("shell_exec", command=["echo", "hi"])
    assert (told["output"], told["exit_status"], is_error, taint) == ("hi\n", 0, False, ["words of a program"])
    assert [one[0] for one in bench.hands.asked] == ["shell_exec"]
    bench.hands.answer = {"status": "declined"}
    assert bench.call("shell_exec", command=["echo", "hi"])[0]["status"] == "declined"


def test_without_a_list_there_is_no_such_tool():
    made = Bench(())
    try:
        told, is_error, _ = made.call("shell_exec", command="echo hi")
        assert is_error and "no command is listed" in told["error"]["message"]
    finally:
        made.close()


def test_it_runs_in_the_workspace_as_a_user_without_rights(bench):
    assert bench.call("shell_exec", command="pwd")[0]["output"].strip() == bench.folder
    uid = int(bench.call("shell_exec", command="id -u")[0]["output"])
    assert uid == (pwd.getpwnam("nobody").pw_uid if bench.user else os.getuid()) and (uid or not bench.user)
    told, _, _ = python(bench, "import os; print(os.getgroups(), os.getgid(), os.getresuid(), sorted(os.environ))")
    if bench.user:
        gid = pwd.getpwnam("nobody").pw_gid
        assert told["output"].startswith(f"[{gid}] {gid} ({uid}, {uid}, {uid})")
    assert "'OASIS_CALL', 'PATH'" in told["output"] and "SSH" not in told["output"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_without_the_user_runs_nothing():
    for user in ("", "no-such-user"):
        made = Bench(COMMANDS)
        try:
            made.seed._user = user
            told, is_error, _ = made.call("shell_exec", command="id -u")
            assert is_error and "\n" not in told.get("output", "").strip() and told.get("output", "").strip() != "0"
            assert made.call("file_write", path="a", text="x")[1]
        finally:
            made.close()


@pytest.mark.parametrize(
    "command",
    ["echo a; id", "echo a && id", "echo `id`", "echo $(id)", "echo $HOME", "echo a | cat", "echo a > f", "cat < f",
     "echo a & id", "(id)", "echo a\nid", "echo 'a", 'echo "a', "echo a\\", "", "   ", "# echo", "echo a || id"],
)  # fmt: skip
def test_what_a_shell_would_do_more_is_refused(bench, command):
    told, is_error, _ = bench.call("shell_exec", command=command)
    assert is_error and "error" in told and not bench.hands.stopped
    assert not os.path.exists(bench.folder) or os.listdir(bench.folder) == []


@pytest.mark.parametrize("word", ["$(id)", "; id", "`id`", "a b", "*", "~", "&& id", "-n"])
def test_words_reach_the_program_as_they_are(bench, word):
    assert bench.call("shell_exec", command=["printf", "%s", word])[0]["output"] == word


def test_quotes_are_those_of_a_shell(bench):
    assert bench.call("shell_exec", command="printf %s 'a  b'")[0]["output"] == "a  b"


@pytest.mark.parametrize(
    "command",
    [
        ["rm", "-rf", "x"],
        ["id"],
        ["id", "-g"],
        ["sh", "-c", "id"],
        ["./echo"],
        ["/bin/../bin/echo"],
        ["ECHO"],
        ["echox"],
    ],
)
def test_what_the_owner_did_not_list_is_refused(bench, command):
    told, is_error, _ = bench.call("shell_exec", command=command)
    assert is_error and told["error"]["code"] == "policy" and "oasis.workspace.command" in told["error"]["hint"]


def test_a_program_that_is_not_there_is_told(bench):
    assert "no program 'env2'" in bench.call("shell_exec", command="env2")[0]["error"]["message"]


@pytest.mark.parametrize(
    "entry", ["sh", "/bin/sh", "busybox sh", "env", "ubus call", "oasis", "a; b", "a | b", "sudo ls"]
)
def test_a_shell_and_the_router_itself_cannot_be_listed(entry):
    made = Bench((entry, "echo"))
    try:
        _, allowed, notes = seed.workspace(made.store.sections())
        assert allowed == [["echo"]] and "does not count" in notes[0]
        shown = next(one for one in made.registry.listed() if one["name"] == "shell_exec")
        assert "does not count" in shown["note"] and shown["description"].endswith("may be run: echo.")
    finally:
        made.close()


def test_a_failure_keeps_what_was_said_and_is_an_error(bench):
    told, is_error, _ = python(bench, "import sys; print('out'); sys.stderr.write('err'); sys.exit(3)")
    assert is_error and (told["exit_status"], told["output"], told["errors"]) == (3, "out\n", "err")
    assert bench.call("shell_exec", command="true")[0]["output"] == "(no output)"


def test_one_that_hangs_is_ended_and_what_it_said_is_told(bench):
    before = time.monotonic()
    told, is_error, _ = python(bench, "import time; print('begun', flush=True); time.sleep(60)", timeout_s=1)
    assert is_error and "did not end in time" in told["error"] and told["output"] == "begun\n"
    assert time.monotonic() - before < 20


@pytest.mark.parametrize("seconds", [0, -1, 301, "5", True, 1.5])
def test_a_time_that_is_none_is_refused(bench, seconds):
    assert bench.call("shell_exec", command="true", timeout_s=seconds)[1]


def test_endless_output_is_ended_and_cut(bench):
    told, is_error, _ = python(bench, "while True: print('x' * 10000)")
    assert is_error and "printed more than" in told["error"] and len(told["output"]) == seed.SHOWN_CHARS and told["cut"]


def test_the_owner_stops_it(bench):
    bench.hands.stopped = True
    before = time.monotonic()
    assert "stopped by the owner" in str(bench.call("shell_exec", command=["sleep", "60"])[0]["error"])
    assert time.monotonic() - before < 10


def test_what_it_leaves_behind_is_ended_even_outside_its_group(bench):
    code = (
        "import os, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  print(os.getpid(), flush=True); "
        "time.sleep(120)\nelse: time.sleep(0.3)"
    )
    told, _, _ = python(bench, code, timeout_s=20)
    left = int(told["output"])
    deadline = time.monotonic() + 5
    while os.path.exists("/proc/%d/cmdline" % left) and time.monotonic() < deadline:
        with open("/proc/%d/stat" % left, encoding="ascii") as handle:
            if handle.read().split()[2] == "Z":
                break
        time.sleep(0.05)
    else:
        assert not os.path.exists("/proc/%d" % left)


@pytest.mark.skipif(os.geteuid() != 0, reason="the number of processes is limited for a user of its own")
def test_a_fork_bomb_ends_at_the_limit(bench):
    code = "import os, time\nn = 0\ntry:\n while os.fork(): n += 1\n time.sleep(30)\nexcept OSError: print(n)"
    told, _, _ = python(bench, code, timeout_s=20)
    assert int(told["output"]) <= 64, told


def test_big_files_and_all_memory_are_out_of_reach(bench):
    _, is_error, _ = python(bench, "open('f', 'wb').write(b'x' * 64 * 1024 * 1024)")
    assert is_error and os.path.getsize(bench.folder + "/f") <= 8 * 1024 * 1024
    assert python(bench, "x = bytearray(2 * 1024 * 1024 * 1024)")[1]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_no_way_to_our_socket_files_or_processes(bench):
    """The daemon's folder and socket are root's; ubusd lets a user without a rule call nothing."""
    private = bench.root.folder + "/run"
    os.mkdir(private, 0o700)
    with socket.socket(socket.AF_UNIX) as ours:
        ours.bind(private + "/oasis.sock")
        ours.listen()
        code = f"import socket; socket.socket(socket.AF_UNIX).connect({private + '/oasis.sock'!r})"
        told, is_error, _ = python(bench, code)
        assert is_error and "Permission" in told["errors"]
    mine = subprocess.Popen(["sleep", "60"])
    try:
        assert python(bench, f"import os; os.kill({mine.pid}, 9)")[1] and mine.poll() is None
        assert python(bench, f"open('/proc/{mine.pid}/environ').read()")[1]
        assert python(bench, "open('/etc/shadow').read()")[1] and python(bench, "import os; os.setuid(0)")[1]
    finally:
        mine.kill()
        mine.wait()


def test_it_has_no_descriptor_of_ours(bench):
    read, write = os.pipe()
    os.set_inheritable(write, True)
    try:
        told, _, _ = python(bench, "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))")
        assert eval(told["output"])[:3] == [0, 1, 2] and str(write) not in told["output"].strip("[]\n").split(", ")[4:]
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.parametrize("command", [[], [""], ["echo", 5], {"a": 1}, None, 5, ["x"] * 65, "x" * 5000])
def test_wrong_arguments_are_told(bench, command):
    told, is_error, _ = bench.call("shell_exec", command=command)
    assert is_error and "error" in told and not os.path.exists(bench.folder)
