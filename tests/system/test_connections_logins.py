"""How a process came to this machine, on process tables as they look on a router and on other hosts."""

import os

import pytest

from oasis.system.connections import login_of, servers_of

TICKS = os.sysconf("SC_CLK_TCK")
PTS0 = 136 << 8
SERIAL = 4 << 8 | 64  # ttyS0


def table(folder, *processes):
    """Write /proc/PID/stat of (pid, name, parent, terminal, start in seconds of uptime)."""
    for pid, name, parent, terminal, start_s in processes:
        (folder / str(pid)).mkdir()
        rest = ["S", parent, pid, pid, terminal, *[0] * 14, start_s * TICKS, *[0] * 30]
        (folder / str(pid) / "stat").write_text(f"{pid} ({name}) " + " ".join(map(str, rest)) + "\n")


ROUTER = [(1, "procd", 0, 0, 0), (532, "dropbear", 1, 0, 12)]


@pytest.mark.parametrize(
    "processes, answer",
    [
        # dropbear: the child of the one that listens is the login
        ([*ROUTER, (900, "dropbear", 532, 0, 300), (901, "ash", 900, PTS0, 301), (902, "oasis", 901, PTS0, 400)],
         ("ssh", 300)),
        # the same without a terminal: ssh router oasis confirm
        ([*ROUTER, (900, "dropbear", 532, 0, 300), (902, "oasis", 900, 0, 301)], ("ssh", 300)),
        # dropbear was restarted: the login outlives the one that listened
        ([(1, "procd", 0, 0, 0), (900, "dropbear", 1, 0, 300), (901, "ash", 900, PTS0, 301),
          (902, "oasis", 901, PTS0, 400)], ("ssh", 300)),
        # OpenSSH: two processes a login, the outer one was made when the connection was accepted
        ([(1, "init", 0, 0, 0), (10, "sshd", 1, 0, 5), (20, "sshd", 10, 0, 100), (21, "sshd", 20, 0, 104),
          (22, "bash", 21, PTS0, 105), (23, "oasis", 22, PTS0, 900)], ("ssh", 100)),
        ([(1, "init", 0, 0, 0), (10, "sshd", 1, 0, 5), (20, "sshd-session", 10, 0, 100),
          (21, "sshd-session", 20, 0, 104), (22, "bash", 21, PTS0, 105), (23, "oasis", 22, PTS0, 900)], ("ssh", 100)),
        # the serial line, with a login that procd started
        ([*ROUTER, (700, "ash", 1, SERIAL, 20), (902, "oasis", 700, SERIAL, 400)], ("console", 0)),
        # tmux: its server belongs to no login, whatever terminal looks at it
        ([*ROUTER, (700, "tmux: server", 1, 0, 20), (701, "ash", 700, PTS0, 21), (902, "oasis", 701, PTS0, 400)],
         ("unknown", 0)),
        # a name that looks like more fields
        ([*ROUTER, (700, "x) S 532 (dropbear", 1, 0, 20), (902, "oasis", 700, PTS0, 400)], ("unknown", 0)),
        # nothing on this machine: the process is gone
        (ROUTER, ("unknown", 0)),
    ],
)  # fmt: skip
def test_a_login_is_found_from_its_process(tmp_path, processes, answer):
    table(tmp_path, *processes)
    pid = next((one[0] for one in processes if one[1] == "oasis"), 4242)
    assert login_of(pid, str(tmp_path)) == (answer[0], float(answer[1]))


def test_a_loop_of_parents_ends(tmp_path):
    table(tmp_path, (5, "a", 6, PTS0, 1), (6, "b", 5, PTS0, 1))
    assert login_of(5, str(tmp_path))[0] == "unknown"


def test_this_process_has_some_answer():
    assert login_of(os.getpid())[0] in ("ssh", "console", "unknown")


def test_the_servers_of_a_login_are_those_that_serve_it_alone(tmp_path):
    table(
        tmp_path, (1, "init", 0, 0, 0), (10, "sshd", 1, 0, 5), (20, "sshd-session", 10, 0, 100),
        (21, "sshd-session", 20, 0, 104), (22, "bash", 21, PTS0, 105), (23, "oasis", 22, PTS0, 900),
        (30, "ash", 1, SERIAL, 20),
    )  # fmt: skip
    assert [number for number, _ in servers_of(23, str(tmp_path))] == [21, 20]
    assert servers_of(30, str(tmp_path)) == []
    assert servers_of(4242, str(tmp_path)) == []
