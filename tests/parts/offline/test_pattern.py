"""Patterns: what each of their marks reads, and what two readings of one sentence come to."""

import re

import pytest

from oasis.parts.offline import derive
from oasis.parts.offline.reading import Grammar, Pattern

LANGUAGE = {"classes": {"verb": "(turn on|start)"}, "lists": {"what": {"wifi": ["wifi", "wi fi"]}}, "joiners": ["and"]}


def read(patterns, sentence, types=None, language=None):
    """Return the requests of a sentence as (pattern, slots), where each pattern is an intent of its own."""
    types = types or ["name"] * len(patterns)
    texts = {pattern: {"patterns": [pattern]} for pattern in patterns}
    intents = {
        pattern: {"slots": {slot: {"type": kind} for slot in ("name", "port")}, "commands": []}
        for pattern, kind in zip(patterns, types, strict=True)
    }
    grammar = Grammar(derive.grammar({**LANGUAGE, **(language or {}), "intents": texts}), intents)
    parts, _ = grammar.read(sentence, lambda *_: True)
    return [(part.intent, part.slots) for part in parts]


@pytest.mark.parametrize(
    ("pattern", "sentence", "slots"),
    [
        ("重启 [the] {name}", "重启nas", {"name": ("nas", False)}),
        ("(重启|restart){name}", "重 启 nas", {"name": ("nas", False)}),
        ("<verb> {name}", "turn on nas", {"name": ("nas", False)}),
        ("<verb> {name}", "turn on “and nas”", {"name": ("and nas", True)}),
        ("[<verb>] the {what} now", "the wi fi now", {"what": ("wifi", True)}),
        ("{what} (on|off [again])", "wi fi off again", {"what": ("wifi", True)}),
        ("open {name} [for {port}]", "open the door for 80", {"name": ("the door", False), "port": ("80", False)}),
    ],
)
def test_pattern_reads(pattern, sentence, slots):
    assert read([pattern], sentence) == [(pattern, slots)]


@pytest.mark.parametrize("sentence", ["turn on", "turn on nas please now", "turn of nas", "turn on nas and", ""])
def test_pattern_covers_all_words_or_none(sentence):
    assert read(["turn on {name:package}"], sentence) == []


@pytest.mark.parametrize("pattern", ["(a|b", "a)", "a (b|) c)", "<unknown>", "[a"])
def test_broken_pattern_is_refused(pattern):
    with pytest.raises((re.error, KeyError)):
        assert Pattern(Grammar(derive.grammar({**LANGUAGE, "intents": {}}), {}), pattern).expression


def test_slots_of_one_name_keep_the_type_of_their_intent():
    patterns = ["open {port}", "(open|free) {port}"]
    assert read(patterns, "open 80", ["port", "ports"])[0][0] == patterns[0]
    assert read(patterns, "open 80, 443", ["port", "ports"]) == [(patterns[1], {"port": ("80, 443", False)})]


def test_the_pattern_with_most_keywords_wins():
    assert read(["open {name}", "open the {name}"], "open the door")[0][0] == "open the {name}"


def test_a_joining_word_ends_a_request_and_is_in_no_text_without_quotes():
    assert [slots for _, slots in read(["open {name}"], "open nas and open xbox")] == [
        {"name": ("nas", False)}, {"name": ("xbox", False)},
    ]  # fmt: skip
    assert read(["open {name}"], "open nas and xbox") == []
