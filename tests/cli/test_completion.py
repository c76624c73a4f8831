"""The completion script finishes what there is, in a real bash; help knows every subject."""

import re
import shutil
import subprocess

import pytest

from oasis.cli import help as cli_help
from oasis.cli.commands import every
from oasis.cli.help import SUBJECTS

COMMANDS = every()


def finished(line, shell="bash"):
    """Return what a shell offers for the last word of a line."""
    words = line.split(" ")
    script = cli_help.script(shell)
    script += f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; _oasis\n"
    script += 'printf "%s\\n" "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("oasis app", {"apply", "approve"}),
        ("oasis privacy --se", {"--service"}),
        ("oasis help lock", {"lockout"}),
        ("oasis completion z", {"zsh"}),
        pytest.param("oasis schedule a", {"add", "approve"}, marks=pytest.mark.part("schedule")),
        ("oasis tools d", {"deny", "disable"}),
        pytest.param("oasis telegram p", {"pair"}, marks=pytest.mark.part("telegram")),
        ("oasis nothing --x", set()),
    ],
)
def test_words_are_finished(line, offered):
    assert set(finished(line)) == offered


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_every_command_is_offered():
    assert set(COMMANDS) <= set(finished("oasis "))


@pytest.mark.parametrize("name", [name for name in COMMANDS if "[ACTION]" in COMMANDS[name][0]])
def test_what_help_says_a_command_can_do_is_offered(name):
    text = COMMANDS[name][3].partition("ACTION is ")[2].partition(". ")[0].partition(".\n")[0]
    offered = cli_help.script("bash").partition(f"\t\t{name}) words='")[2].partition("'")[0].split()
    told = [
        part.split()[0].strip(".,") for part in re.sub(r"\([^)]*\)", "", text).replace(" or ", ", ").split(", ") if part
    ]
    told = [word for word in told if word.islower()]
    assert len(told) > 2 and set(told) <= {*offered, "all"}
    assert {word for word in offered if not word.startswith("-")} <= set(told)


def test_the_script_for_zsh_loads_what_it_needs_first():
    assert cli_help.script("zsh").startswith("autoload")


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_subject_has_its_help_and_stands_in_the_list(name):
    assert SUBJECTS[name][1] in cli_help.one(name)
    assert SUBJECTS[name][0] in cli_help.whole()


@pytest.mark.parametrize("name", SUBJECTS)
def test_commands_that_a_subject_names_are_there(name):
    for line in SUBJECTS[name][1].splitlines():
        if line.startswith("    oasis "):
            words = line.strip().removeprefix("oasis ").split("  ")[0].split(" ")
            named = [word.strip(",") for word in words if word.strip(",").isalpha() and word.islower()]
            assert named and named[0] in COMMANDS
