"""Child processes: argv only, whole environment, no descriptors of ours, limits that hold for the whole group."""

import os
import signal
import subprocess
import sys
import time

import pytest

from oasis.errors import ToolError
from oasis.system.child import DAEMON_SCORE, MODEL, OUTPUT_BYTES, SERVICE, TOOL, Executor
from oasis.system.root import Root
from tests.oasisd import REPOSITORY

SH = "/bin/sh"
ENV = {"PATH": "/usr/bin:/bin", "LANG": "C"}


@pytest.fixture
def executor():
    return Executor(ENV, lambda argv: SERVICE)


def shell(executor, script, *arguments, **options):
    return executor.run([SH, "-c", script, "sh", *arguments], **options)


def is_gone(pid, within_s=3.0):
    """Wait until a process is gone, or only waits to be reaped."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat") as handle:
                if handle.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_status_and_both_outputs_come_back(executor):
    assert shell(executor, "echo out; echo err >&2; exit 3") == (3, b"out\n", b"err\n")


def test_a_signal_is_a_negative_status(executor):
    assert shell(executor, "kill -TERM $$")[0] == -signal.SIGTERM


def test_words_reach_the_program_as_they_are(executor):
    words = ["", "a b", "$HOME;`id`", "'\"", "*", "ü\n", "-x"]
    status, out, _ = shell(executor, 'for word; do printf "%s\\n--\\n" "$word"; done', *words)
    assert (status, out.decode()) == (0, "".join(word + "\n--\n" for word in words))


def test_input_is_given_and_ends(executor):
    data = bytes(range(256)) * 800
    assert executor.run(["/bin/cat"], stdin=data) == (0, data, b"")
    assert executor.run(["/bin/cat"], stdin=b"") == (0, b"", b"")


def test_without_input_there_is_none_of_ours(executor):
    assert executor.run(["/bin/cat"]) == (0, b"", b"")


def test_a_program_that_does_not_read_its_input_is_no_fault(executor):
    assert shell(executor, "exit 4", stdin=b"x" * 1_000_000)[0] == 4


def test_the_environment_is_exactly_the_one_given(executor):
    _, out, _ = executor.run(["/usr/bin/env"])
    assert sorted(out.decode().splitlines()) == ["LANG=C", "PATH=/usr/bin:/bin"]


def test_a_child_leads_a_session_of_its_own(executor):
    _, out, _ = executor.run(
        [sys.executable, "-IS", "-c", "import os; print(os.getsid(0) == os.getpid() == os.getpgid(0))"]
    )
    assert out == b"True\n"


def test_no_descriptor_is_inherited_not_even_an_inheritable_one(executor):
    reading, writing = os.pipe()
    try:
        os.set_inheritable(writing, True)
        code = "import os; print(sorted(int(name) for name in os.listdir('/proc/self/fd')))"
        _, out, _ = executor.run([sys.executable, "-IS", "-c", code])
    finally:
        os.close(reading)
        os.close(writing)
    assert out == b"[0, 1, 2, 3]\n", "3 is the listing itself"


def test_our_own_descriptors_are_all_closed_again(executor):
    before = os.listdir("/proc/self/fd")
    shell(executor, "echo x", stdin=b"y")
    for script, options in (("sleep 30", {"timeout_s": 0.1}), ("yes", {})):
        with pytest.raises(ToolError):
            shell(executor, script, **options)
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_a_timeout_ends_the_whole_group(executor, tmp_path):
    started = time.monotonic()
    with pytest.raises(ToolError) as caught:
        shell(executor, 'sleep 300 & echo $! >"$1"; echo $$ >>"$1"; wait', str(tmp_path / "pids"), timeout_s=0.5)
    assert "sh did not end in time" in caught.value.message
    assert time.monotonic() - started < 5
    for pid in (tmp_path / "pids").read_text().split():
        assert is_gone(int(pid))


def test_a_timeout_holds_for_a_program_that_keeps_printing(executor):
    started = time.monotonic()
    with pytest.raises(ToolError, match="did not end in time"):
        shell(executor, "while :; do echo x; sleep 0.02; done", timeout_s=0.5)
    assert time.monotonic() - started < 5


def test_a_program_that_closes_its_output_has_no_more_time(executor):
    started = time.monotonic()
    with pytest.raises(ToolError):
        shell(executor, "exec >&- 2>&-; sleep 300", timeout_s=0.3)
    assert time.monotonic() - started < 5


def test_output_is_capped_and_the_group_ended(executor, tmp_path):
    with pytest.raises(ToolError, match="printed more than"):
        shell(executor, 'sleep 300 & echo $! >"$1"; exec yes', str(tmp_path / "pid"))
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_both_outputs_count_for_the_cap(executor):
    with pytest.raises(ToolError, match="printed more than"):
        shell(executor, "yes >&2")


def test_output_up_to_the_cap_is_whole(executor):
    status, out, _ = shell(executor, f"head -c {OUTPUT_BYTES} /dev/zero")
    assert (status, len(out)) == (0, OUTPUT_BYTES)


# Prints without a pause that could be taken for silence, and slowly enough to stay below the cap for seconds.
CHATTY = "import time\nwhile True: print('alive' * 40, flush=True); time.sleep(0.005)"


@pytest.mark.parametrize("service", ["sleep 300", f'{sys.executable} -IS -c "{CHATTY}"'])
def test_an_init_script_that_leaves_a_service_with_our_pipe_does_not_hang(executor, tmp_path, service):
    started = time.monotonic()
    status, out, _ = shell(
        executor, f'({service}) & echo $! >"$1"; echo started; sleep 1; exit 5', str(tmp_path / "pid"), timeout_s=20
    )
    pid = int((tmp_path / "pid").read_text())
    try:
        assert status == 5
        assert b"started\n" in out
        assert time.monotonic() - started < 5
        os.kill(pid, 0)  # the service lives on
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("argv, words", [
    (["sh", "-c", "true"], "not an absolute path"),
    (["./sh"], "not an absolute path"),
    (["/bin/echo", "a\0b"], "NUL"),
    (["/bin/echo\0", "a"], "NUL"),
    (["/bin/echo", "\ud800"], "surrogate"),
    (["/does/not/exist"], "cannot start"),
    (["/etc/passwd"], "cannot start"),
])  # fmt: skip
def test_what_cannot_be_started_is_refused_by_name(executor, argv, words):
    with pytest.raises(ToolError) as caught:
        executor.run(argv)
    assert words in caught.value.message
    assert caught.value.hint


def test_a_detached_process_is_not_waited_for_and_has_nothing_of_ours(executor, tmp_path):
    started = time.monotonic()
    child = executor.detach([SH, "-c", 'ls -l /proc/self/fd >"$1"; sleep 300', "sh", str(tmp_path / "fds")])
    try:
        assert time.monotonic() - started < 2
        deadline = time.monotonic() + 5
        while "2 ->" not in (shown := (tmp_path / "fds").read_text() if (tmp_path / "fds").exists() else ""):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert shown.count("/dev/null") == 2  # stdin and stderr; stdout is the file
        assert os.getsid(child.pid) == child.pid
    finally:
        child.end_group()
    assert is_gone(child.pid)


# One trial of each limit: what the kernel says, and what happens beyond it.
LIMITS = """
import resource as r
names = ("RLIMIT_CORE", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_AS", "RLIMIT_CPU")
print(*[r.getrlimit(getattr(r, name))[1] for name in names])
"""


def python(limits, code, *words, **options):
    executor = Executor(ENV, lambda argv: limits)
    return executor.run([sys.executable, "-IS", "-c", code, *words], **options)


@pytest.mark.parametrize("limits", [TOOL, SERVICE, MODEL])
def test_a_child_has_the_limits_of_its_kind(limits):
    status, out, err = python(limits, LIMITS)
    core, *found = [int(word) for word in out.split()]
    assert (status, core) == (0, 0), err
    factors = (1, 1024, 1024, 1)
    for number, limit, factor in zip(found, limits[:4], factors, strict=True):
        assert limit == "" or number == int(limit) * factor


def test_the_daemon_itself_is_not_limited():
    import resource

    names = ("RLIMIT_CORE", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_AS", "RLIMIT_CPU")
    before = [resource.getrlimit(getattr(resource, name)) for name in names]
    python(MODEL, "pass")
    assert [resource.getrlimit(getattr(resource, name)) for name in names] == before


@pytest.mark.parametrize("limits", [TOOL, SERVICE, MODEL])
def test_a_child_leaves_no_core(limits, tmp_path):
    code = "import os, sys; os.chdir(sys.argv[1]); os.kill(os.getpid(), 11)"
    assert python(limits, code, str(tmp_path))[0] == -signal.SIGSEGV
    assert os.listdir(tmp_path) == []


def test_a_child_cannot_open_more_files_than_its_limit():
    code = "a = []\ntry:\n  while True: a.append(open('/dev/null'))\nexcept OSError as e: print(e.errno, len(a))"
    number, opened = python(TOOL, code)[1].split()
    assert int(number) == 24
    assert int(opened) <= int(TOOL[0])


def test_a_child_cannot_fill_the_flash(tmp_path):
    path = tmp_path / "file"
    code = "import sys\nwith open(sys.argv[1], 'wb', 0) as f:\n  while f.write(b'x' * 65536): pass"
    status, _, err = python(TOOL, code, str(path))
    assert status == -signal.SIGXFSZ or b"File too large" in err
    assert path.stat().st_size == int(TOOL[1]) * 1024
    python(MODEL, code, str(tmp_path / "model"))
    assert (tmp_path / "model").stat().st_size == 0


def test_a_child_cannot_eat_the_memory():
    code = "try: bytearray(%d << 10)\nexcept MemoryError: print('no')"
    assert python(TOOL, code % int(TOOL[2]))[1] == b"no\n"
    assert python(MODEL, code % int(MODEL[2]))[1] == b"no\n"


def test_a_child_that_spins_is_killed_by_the_kernel():
    started = time.monotonic()
    status, _, _ = python(("64", "0", "", "1", ""), "while True: pass", timeout_s=20)
    assert status in (-signal.SIGXCPU, -signal.SIGKILL)
    assert time.monotonic() - started < 10


def test_a_limit_that_is_lower_already_stays():
    code = (
        "import resource as r, sys; r.setrlimit(r.RLIMIT_NOFILE, (20, 20)); r.setrlimit(r.RLIMIT_CPU, (9, 9)); "
        "import os; os.geteuid() or os.setresuid(65534, 65534, 65534); os.execv(sys.argv[1], sys.argv[1:])"
    )
    words = ["/bin/sh", "-c", "ulimit -n; ulimit -t; echo still"]
    from oasis.system.child import limited

    _, out, err = python(SERVICE, code, *limited(words, TOOL))
    assert (out, err) == (b"20\n9\nstill\n", b"")


SCORE = "print(open('/proc/self/oom_score_adj').read())"


def test_a_worker_goes_before_the_daemon_and_the_router_s_services_last():
    assert int(MODEL[4]) > DAEMON_SCORE
    assert int(python(MODEL, SCORE)[1]) == int(MODEL[4])
    raised = (
        "import os, sys; from oasis.system import child as limits; before = open('/proc/self/oom_score_adj').read(); "
        "print(repr(limits.give_way()), before.strip(), flush=True); "
        "os.execv('/bin/sh', limits.limited([sys.executable, '-c', sys.argv[1]], limits.SERVICE))"
    )
    words = [sys.executable, "-c", raised, SCORE]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    why, before, after = done.stdout.split()
    assert why == "''"
    assert int(after) == 0 or int(after) == int(before), "where a host forbids less than it gave"


def test_the_limits_cost_no_process(executor):
    _, out, _ = executor.run(
        [sys.executable, "-IS", "-c", "import os; print(os.getpid() == os.getsid(0), os.getppid())"]
    )
    assert out.split() == [b"True", str(os.getpid()).encode()]


@pytest.fixture
def root(tmp_path):
    for name in ("bin/uci", "bin/other", "etc/init.d/network", "etc/init.d/.hidden", "scripts/restore.sh"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#!/bin/sh\necho ran "$0"\n')
        path.chmod(0o755)
    return Root(str(tmp_path), [str(tmp_path / "bin")])


def test_what_is_on_the_list_is_started(root):
    executor = Executor(root.environment(), root.allowed(root.path("/scripts")))
    for argv in (
        [root.program("uci")],
        [root.init_script("network"), "reload"],
        [SH, root.path("/scripts/restore.sh")],
    ):
        assert executor.run(argv)[1].startswith(b"ran "), argv


def test_nothing_else_is_started_neither_waited_for_nor_detached(root):
    executor = Executor(root.environment(), root.allowed(root.path("/scripts")))
    folder = root.folder
    for argv in (
        [folder + "/bin/other"], [SH], [SH, "-c", "echo ran"], [SH, "-c", folder + "/scripts/restore.sh"],
        [SH, folder + "/scripts/other.sh"], [SH, folder + "/scripts/../scripts/restore.sh"],
        [folder + "/etc/init.d/../../bin/other"], [folder + "/etc/init.d/.hidden"], [folder + "/etc/init.d/"],
        [folder + "/etc/init.d"], ["/etc/init.d/network"], ["/usr/bin/env"], [folder + "//bin/uci"],
    ):  # fmt: skip
        for start in (executor.run, executor.detach):
            with pytest.raises(ToolError, match="not on the list"):
                start(argv)
