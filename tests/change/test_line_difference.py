"""Differences of lines: always true, short, and grouped as a person reads them."""

import difflib
import random

from oasis.change import difference


def applied(old, new, pieces):
    """Return the old lines after the pieces, which must leave no gap."""
    lines, at_old, at_new = [], 0, 0
    for tag, old_from, old_to, new_from, new_to in pieces:
        assert (old_from, new_from) == (at_old, at_new)
        assert (tag == "equal") <= (old[old_from:old_to] == new[new_from:new_to])
        assert (old_to > old_from, new_to > new_from) == {
            "equal": (True, True),
            "replace": (True, True),
            "delete": (True, False),
            "insert": (False, True),
        }[tag]
        lines += old[old_from:old_to] if tag == "equal" else new[new_from:new_to]
        at_old, at_new = old_to, new_to
    assert (at_old, at_new) == (len(old), len(new))
    return lines


def kept(pieces):
    return sum(piece[2] - piece[1] for piece in pieces if piece[0] == "equal")


def random_pair(source):
    old = [source.choice("abcdef") for _ in range(source.randrange(14))]
    new = [line for line in old if source.random() > 0.3]
    for _ in range(source.randrange(4)):
        new.insert(source.randrange(len(new) + 1), source.choice("abcdefg"))
    return old, new


def test_the_pieces_make_the_new_lines_and_keep_at_least_what_difflib_keeps():
    source = random.Random(7)
    for _ in range(3000):
        old, new = random_pair(source)
        pieces = difference.differences(old, new)
        assert applied(old, new, pieces) == new
        theirs = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        assert kept(pieces) >= kept(theirs)


def test_groups_are_those_of_difflib_when_the_pieces_are():
    source = random.Random(8)
    same = 0
    for _ in range(3000):
        old, new = random_pair(source)
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        if old != new and difference.differences(old, new) == matcher.get_opcodes():
            same += 1
            assert difference.groups(old, new, 2) == list(matcher.get_grouped_opcodes(2)), (old, new)
    assert same > 500


def test_equal_lines_have_no_group():
    assert difference.groups([], [], 2) == []
    assert difference.groups(["a"], ["a"], 2) == []


def test_everything_new_is_one_piece():
    old = ["old %d" % number for number in range(600)]
    new = ["new %d" % number for number in range(700)]
    assert difference.differences(old, new) == [("replace", 0, 600, 0, 700)]
    assert difference.groups([], ["a"], 2) == [[("insert", 0, 0, 0, 1)]]


def test_too_many_edits_still_keep_what_is_around():
    old = ["head", *["old %d" % number for number in range(200)], "tail"]
    new = ["head", *["new %d" % number for number in range(200)], "tail"]
    assert difference.differences(old, new) == [
        ("equal", 0, 1, 0, 1),
        ("replace", 1, 201, 1, 201),
        ("equal", 201, 202, 201, 202),
    ]
