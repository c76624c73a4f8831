"""Chunks: none too long, none without words, nothing lost, borders where a reader would put them."""

import itertools
import random
import re

import pytest

from oasis.parts.memory.knowledge import chunks


def words(count, start=0):
    return " ".join(f"word{number}" for number in range(start, start + count))


def test_a_short_text_is_one_chunk_and_an_empty_one_none():
    assert chunks("Hello there.") == ["Hello there."]
    assert chunks("  \n\n ") == [] == chunks("")


def test_paragraphs_stay_whole_and_apart():
    parts = [words(10, 10 * at) + "." for at in range(6)]
    found = chunks("\n\n".join(parts), 200, 0)
    assert len(found) > 1
    assert [part for chunk in found for part in chunk.split("\n\n")] == parts


def test_a_long_paragraph_is_cut_at_sentences():
    sentences = [f"Sentence number {at} says a little." for at in range(20)]
    found = chunks(" ".join(sentences), 120, 0)
    assert all(chunk.endswith(".") and chunk.startswith("Sentence") for chunk in found)
    assert " ".join(found) == " ".join(sentences)


@pytest.mark.parametrize(
    "text, whole",
    [
        ("Take a switch, e.g. one with eight ports. Then plug it in.", "e.g. one"),
        ("Version 23.05 of it is old. Version 24.10 is not.", "23.05"),
        ("Ökologie ist gut. Übermut nicht so sehr, sagt man.", "Übermut nicht"),
        ('He said "no way!" Then he left the house for good.', '"no way!"'),
    ],
)
def test_sentences_end_where_people_end_them(text, whole):
    found = chunks(text, 42, 0)
    assert len(found) == 2 and any(whole in chunk for chunk in found)


def test_sentences_of_scripts_without_spaces_end_at_their_own_marks():
    sentence = "路由器的无线网络需要一个密码。"
    found = chunks(sentence * 20, 50, 0)
    assert all(chunk.endswith("。") and len(chunk) <= 50 for chunk in found)
    assert "".join(found) == sentence * 20
    found = chunks("これは一つの文です。次の文がここにあります！そして終わり？" * 5, 40, 0)
    assert all(chunk[-1] in "。！？" for chunk in found)


def test_a_word_that_is_too_long_is_cut_hard_and_by_characters():
    found = chunks("ü" * 95, 20, 0)
    assert [len(chunk) for chunk in found] == [20, 20, 20, 20, 15]
    assert chunks("a" * 30 + " " + "b" * 30, 20, 5)[0] == "a" * 20


def test_the_next_chunk_begins_with_the_end_of_the_last_one():
    found = chunks(words(100), 200, 40)
    for before, after in itertools.pairwise(found):
        shared = after[: after.index(" ")]
        assert shared in before[-40:].split()
        assert before.endswith(after[: len(before) - before.rindex(shared)])


def test_an_overlap_that_does_not_fit_is_left_out():
    found = chunks("a" * 100 + "\n\n" + "b" * 100, 100, 40)
    assert found == ["a" * 100, "b" * 100]


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_lost_and_nothing_is_too_long(seed):
    chance = random.Random(seed)
    kinds = ["Wort", "ключ", "路由", "e.g.", "x.", "end!", "句。", "\n\n", "\n", "  ", "\t"]
    pieces = [
        chance.choice([*kinds, "".join(chance.choices("abcdefgh", k=chance.randrange(1, 90)))]) for _ in range(400)
    ]
    text = " ".join(pieces) if seed % 2 else "".join(pieces)
    most, overlap = chance.choice([(30, 0), (80, 10), (200, 50), (1000, 100)])
    found = chunks(text, most, overlap)
    assert all(0 < len(chunk) <= most and chunk.strip() for chunk in found)
    bare = re.sub(r"\s", "", text)
    if not overlap:
        assert re.sub(r"\s", "", "".join(found)) == bare
    at = 0
    for chunk in found:  # each goes on from within or behind the one before
        plain = re.sub(r"\s", "", chunk)
        place = bare.find(plain, max(at - overlap, 0))
        assert 0 <= place <= at
        at = max(at, place + len(plain))
    assert at == len(bare)


def test_ten_megabytes_in_one_line_take_no_time_to_speak_of():
    found = chunks("x" * 10_000_000, 1000, 100)
    assert len(found) == 10_000
    assert len(chunks(". " * 2_000_000, 1000, 100)) < 6000
    assert len(chunks("\n" * 3_000_000 + "a", 1000, 100)) == 1
