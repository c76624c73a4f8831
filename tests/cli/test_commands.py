import pytest

from oasis.cli import chats, plans, prompt
from oasis.cli.commands import every, read
from oasis.cli.help import GROUPS
from oasis.errors import UsageError
from tests.oasisd import lacking

COMMANDS = every()

NONE = {"-j": "", "--json": "", "-h": "", "--help": ""}


@pytest.mark.parametrize(
    ("usage", "words", "expected"),
    [
        ("", [], {}),
        ("", ["-j"], {"-j": "yes"}),
        ("PLAN [HASH]", ["p1"], {"PLAN": "p1", "HASH": ""}),
        ("PLAN [HASH]", ["p1", "--json", "abc"], {"PLAN": "p1", "HASH": "abc", "--json": "yes"}),
        ("[--go] [--in CHAT] TEXT…", ["a", "--go", "b"], {"--go": "", "--in": "", "TEXT": "a --go b"}),
        ("[--go] [--in CHAT] TEXT…", ["--in=c", "--go", "a"], {"--go": "yes", "--in": "c", "TEXT": "a"}),
        ("[--go] [--in CHAT] TEXT…", ["--in", "-x", "a", "b"], {"--go": "", "--in": "-x", "TEXT": "a b"}),
        ("TEXT…", ["--", "-j"], {"TEXT": "-j"}),
        ("TEXT…", ["-"], {"TEXT": "-"}),
        ("PLAN [REASON…]", ["p1", "not", "now"], {"PLAN": "p1", "REASON": "not now"}),
        ("PLAN [REASON…]", ["p1"], {"PLAN": "p1", "REASON": ""}),
        ("PLAN", ["-h"], {"PLAN": "", "-h": "yes"}),
        ("[--in KIND]… [LINE]…", ["a b", "--in", "x", "c", "--in=y"], {"--in": "x\ny", "LINE": "a b\nc"}),
        ("[--in KIND]… [LINE]…", [], {"--in": "", "LINE": ""}),
        ("[LINE]…", ["--", "-x", "-"], {"LINE": "-x\n-"}),
    ],
)
def test_words_are_read_by_the_usage(usage, words, expected):
    assert read(usage, words) == {**NONE, **expected}


@pytest.mark.parametrize(
    ("usage", "words", "message"),
    [
        ("PLAN", [], "PLAN is missing"),
        ("TEXT…", [], "TEXT is missing"),
        ("PLAN", ["a", "b"], "'b'"),
        ("PLAN", ["--go"], "unknown option --go"),
        ("[--go]", ["--go=1"], "takes no value"),
        ("[--in CHAT]", ["--in"], "needs a value"),
    ],
)
def test_wrong_words_are_named(usage, words, message):
    with pytest.raises(UsageError, match=message):
        read(usage, words)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_where_the_table_says(name):
    module, function = COMMANDS[name][2].split(":")
    assert callable(getattr(__import__("oasis." + module, fromlist=[function]), function))


def test_short_options_are_switches_or_take_a_value():
    usage = "[-d] [-o FILE] [NAME]"
    assert read(usage, ["-d", "-o", "x.json", "a"]) | {"-j": ""} == {
        "-d": "yes", "-o": "x.json", "NAME": "a", "-j": "", "--json": "", "-h": "", "--help": "",
    }  # fmt: skip
    with pytest.raises(UsageError, match="-o needs a value"):
        read(usage, ["-o"])


def test_every_command_has_one_place_in_the_help():
    placed = [name for names in GROUPS.values() for name in names]
    assert sorted(placed) == sorted({*COMMANDS, *lacking("commands")})


def test_options_may_stand_after_a_question():
    found = read("[--continue CHAT] [--no-wait] TEXT…", ["set", "it", "--no-wait", "-j", "--continue", "c1"])
    assert (found["TEXT"], found["--no-wait"], found["-j"], found["--continue"]) == ("set it", "yes", "yes", "c1")


def test_a_dash_inside_a_question_or_before_two_dashes_stays():
    assert read("[--no-wait] TEXT…", ["what", "does", "-x", "do"])["TEXT"] == "what does -x do"
    assert read("[--no-wait] TEXT…", ["what", "is", "--no-wait", "--"])["TEXT"] == "what is --no-wait"


@pytest.mark.parametrize(
    "run, arguments",
    [
        (plans.extend, {"CHANGE": "c1", "--seconds": "9" * 5000}),
        (prompt.agent, {"GOAL": "why is the TV slow", "-t": "²", "--service": "", "--chat": ""}),
        (chats.archive, {"CHAT": "no=0000000015"}),
    ],
)
def test_a_word_that_is_no_number_is_refused(run, arguments):
    with pytest.raises(UsageError):
        run(lambda method, params: {"item": [{"id": "a"}, {"id": "b"}]}, arguments, None)
