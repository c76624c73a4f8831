"""The console driver at a pseudo-terminal, behind which a small script plays a booting router with the host's shell."""

import os
import pty
import subprocess

import pytest

from tests.qemu.console import Console, ConsoleError

# The shell at the console: prompts, takes one line, runs it; Ctrl-C ends what runs and not itself. `stty` and `dmesg`
# are not the host's: the one may be missing on a router, the other would change this machine.
SHELL = """
dmesg() { :; }
trap : INT
echo "[    0.000000] Linux version"
echo "Please press Enter to activate this console."
read lost
read enter
while :; do
  printf 'root@OpenWrt:/# \\033[6n'
  read -r line || exit
  eval "$line"
done
"""


@pytest.fixture(params=["with stty", "without stty"])
def console(request):
    stty = "" if request.param == "with stty" else "stty() { return 127; }\n"
    mine, theirs = pty.openpty()
    # A session of its own whose terminal this is: Ctrl-C must reach it.
    words = ["setsid", "--ctty", "sh", "-c", stty + SHELL]
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = []
    made = Console(mine, mine, seen.append)
    made.seen = seen
    made.knock_s = 0.3
    yield made
    process.kill()
    process.wait()
    os.close(mine)


@pytest.fixture
def shell(console):
    console.login(30)
    return console


def test_login_presses_enter_until_there_is_a_prompt(console):
    console.login(30)
    assert console.run("echo there").text == "there"


def test_a_command_gives_its_output_and_status(shell):
    result = shell.run("echo out; echo err >&2; exit 3")
    assert (result.status, result.text) == (3, "out\nerr")


def test_a_command_without_output_gives_an_empty_text(shell):
    assert (shell.run("true").status, shell.run("true").text) == (0, "")
    assert (shell.run("false").status, shell.run("false").text) == (1, "")


def test_output_without_a_line_end_is_whole(shell):
    assert shell.run("printf 'no end'").text == "no end"
    assert shell.run("printf '\\n\\nblank lines stay\\n\\n'").text == "\n\nblank lines stay\n"


def test_a_command_may_have_several_lines_and_a_comment(shell):
    assert (
        shell.run("cat <<'END'\n$HOME \"quoted\" 'words'\nEND\necho last # a comment").text
        == "$HOME \"quoted\" 'words'\nlast"
    )


def test_a_long_command_is_not_cut(shell):
    words = " ".join("word%d" % number for number in range(400))
    assert shell.run("echo " + words).text == words


def test_a_command_does_not_read_what_is_typed_for_the_next_one(shell):
    assert shell.run("cat; read line; echo $?").text == "1"
    assert shell.run("echo next").text == "next"


def test_the_echo_of_a_mark_is_not_taken_for_one(shell):
    assert shell.run("echo '@@''end 1 0'; echo '@@end'; exit 4").status == 4


def test_what_a_command_leaves_running_does_not_hold_the_console(shell):
    assert shell.run("sleep 60 >/dev/null 2>&1 & echo $!").status == 0
    assert shell.run("echo next").text == "next"


def test_a_command_that_takes_too_long_is_ended_and_the_console_goes_on(shell):
    with pytest.raises(ConsoleError, match="sleep 60"):
        shell.run("echo begun; sleep 60", 1)
    assert shell.run("echo next").text == "next"


def test_everything_read_is_recorded(shell):
    shell.run("echo recorded")
    assert b"Linux version" in b"".join(shell.seen)
    assert b"recorded" in b"".join(shell.seen)


@pytest.fixture
def fed():
    source, end = os.pipe()
    sink = os.open(os.devnull, os.O_WRONLY)
    yield Console(source, sink), end
    os.close(source)
    os.close(sink)


def test_a_letter_of_several_bytes_may_come_in_pieces(fed):
    console, end = fed
    for byte in "→ done".encode():
        os.write(end, bytes([byte]))
        console.drain(1)
    assert console.wait_for("→ done", 1)
    os.close(end)


def test_bytes_that_are_no_text_do_not_stop_it(fed):
    console, end = fed
    os.write(end, b"\xff\xfe noise \xc3 done")
    assert console.wait_for("done", 1)
    os.close(end)


def test_a_console_that_is_silent_is_told_with_what_it_said_last(fed):
    console, end = fed
    os.write(end, b"Kernel panic - not syncing")
    with pytest.raises(ConsoleError, match="Kernel panic"):
        console.wait_for("login:", 0.2)
    os.close(end)


def test_a_console_that_is_closed_is_told(fed):
    console, end = fed
    os.write(end, b"Power down")
    os.close(end)
    with pytest.raises(ConsoleError, match=r"closed.*\nPower down"):
        console.wait_for("login:", 5)
