"""Commands in fenced blocks: answers of models as data; each line of a block changes, reads, is offered or refused."""

import os
import time

import pytest

from oasis.change import uci_commands
from oasis.change.uci_commands import fenced

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fenced.txt")


def corpus():
    """Return (name, answer, expected lines) of every case."""
    with open(CORPUS, encoding="utf-8") as handle:
        _, *cases = handle.read().split("\n@ ")
    found = []
    for case in cases:
        name, _, rest = case.partition("\n")
        answer, _, expected = ("\n" + rest).partition("\n@>")
        found.append((name, answer[1:], expected.strip("\n").split("\n") if expected.strip("\n") else []))
    return found


CASES = corpus()
each_case = pytest.mark.parametrize(
    ("answer", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)


def line(item):
    """Return an item as the corpus writes it; of a refusal what stands before the reason."""
    kind = item["kind"]
    if kind == "change":
        return "change " + item["command"]
    if kind == "read":
        return " ".join(["read", *item["input"].values()]).strip()
    if kind == "offer":
        word = "implied" if item.get("implied") else "offer"
        to = " -> %s %s" % (item["input"]["action"], item["input"]["name"]) if item["input"] else ""
        return f"{word} {item['command']}{to}"
    return ("stop " if item["stops"] else "left ") + item["command"]


def fits(item, expected):
    if item["kind"] != "refused":
        return line(item) == expected
    start, _, reason = expected.rpartition(" | ")
    return line(item) == start and reason in item["reason"] and item["hint"] != ""


@each_case
def test_answer(answer, expected):
    items = fenced(answer)
    assert len(items) == len(expected) and all(map(fits, items, expected)), [line(item) for item in items]


def test_the_corpus_is_large():
    assert len(CASES) >= 60
    kinds = {expected.split(" ")[0] for case in CASES for expected in case[2]}
    assert kinds == {"change", "read", "offer", "implied", "stop", "left"}


@each_case
def test_line_ends_of_windows_change_nothing(answer, expected):
    assert [line(item) for item in fenced(answer.replace("\n", "\r\n"))] == [line(item) for item in fenced(answer)]


@each_case
def test_without_fences_nothing_is_read(answer, expected):
    assert fenced(answer.replace("`", "").replace("~", "")) == []


def test_changes_are_commands_that_the_tool_takes_as_they_are():
    for _, answer, _ in CASES:
        changes = [item["command"] for item in fenced(answer) if item["kind"] == "change"]
        operations, notes = uci_commands.parse("\n".join(changes))
        assert uci_commands.as_commands(operations) == changes and notes == []


def test_a_carriage_return_inside_a_line_is_no_line_end():
    (item,) = fenced("```sh\nuci set a.b.c=1\ruci set a.b.d=2\n```")
    assert (item["kind"], item["stops"]) == ("refused", True)


def test_tabs_part_words():
    (item,) = fenced("```\n\tuci\tset\ta.b.c='x\ty'\n```")
    assert item["kind"] == "change" and item["command"] == "uci set 'a.b.c=x\ty'"
    (item,) = fenced("```\n\tuci\tset\ta.b.c=1\n```")
    assert item["command"] == "uci set a.b.c=1"


def test_nul_is_refused():
    (item,) = fenced("```\nuci set a.b.c=\0\n```")
    assert (item["kind"], item["stops"]) == ("refused", True)


def test_more_changes_than_a_plan_takes_stop_all():
    text = "```\n" + "\n".join(f"uci set a.b.o{number}=1" for number in range(uci_commands.OPERATIONS + 1)) + "\n```"
    items = fenced(text)
    assert len(items) == uci_commands.OPERATIONS + 2
    assert items[-1]["stops"] and "201" in items[-1]["reason"]
    assert not any(item["kind"] == "refused" for item in fenced(text.replace("uci set a.b.o200=1\n", "")))


HUGE = [
    "```sh\n" + "uci set a.b.c='" * 16000,
    "```sh\n" + "uci set a.b.c='\n" * 16000,
    "```\n" * 60000,
    "~~~\n```sh\n" * 30000,
    "```markdown\n" * 20000,
    "```sh\n" + "if true; then\n" * 16000,
    "```sh\n" + "cat <<END\n" * 25000,
    "```sh\n" + "uci set a.b.c=1 \\\n" * 14000,
    "```sh\n" + "a" * 250000,
    "```\n" + "root@" * 50000,
    "```\n" + "( " * 100000,
    "```\n" + "=" * 250000,
    "`" * 250000,
    "```\n" + "uci show a | " * 20000,
    "```" + " " * 250000 + "x",
    "```\n" + " \t" * 120000 + "x",
    "```sh\nuci " + "-q " * 80000,
    "```sh\nuci set " + "\\" * 200000,
    "```sh\nuci set a.b.c=" + "'\"" * 100000,
    "```sh\n" + "sudo " * 50000,
]


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_huge_answers_are_read_in_time(text):
    begun_s = time.process_time()
    for item in fenced(text):
        assert len(item["command"]) <= uci_commands.SHOWN_CHARS or item["kind"] == "change"
    assert time.process_time() - begun_s < 5


@pytest.mark.parametrize("line", ["uci" + " -uci" * 20000 + " |", "uci set " * 10000 + "|", "uci" + " " * 90000 + "|"])
def test_a_line_made_to_cost_is_read_at_once(line):
    start = time.process_time()
    assert fenced("```sh\n%s\n```" % line)[0]["kind"] == "refused"
    assert time.process_time() - start < 2


def test_a_write_that_is_refused_stops_with_options_and_blanks_before_its_verb():
    for text in ("uci -q -X   set a.b.c=$(x)", "uci \\\n set a.b.c=`x`", "sudo uci  -q batch <<EOF\nEOF"):
        assert fenced("```sh\n%s\n```" % text)[0]["stops"]
