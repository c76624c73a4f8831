"""Child processes: argv only, whole environment, no descriptors of ours, limits that hold for the whole group."""

import os
import signal
import sys
import time

import pytest

from oasis.errors import ToolError
from oasis.system.executor import OUTPUT_BYTES, Executor

SH = "/bin/sh"
ENV = {"PATH": "/usr/bin:/bin", "LANG": "C"}


@pytest.fixture
def executor():
    return Executor(ENV)


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
