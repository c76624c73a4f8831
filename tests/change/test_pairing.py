"""Which section is which: by name, by content, by what tells it from its like; and nobody guesses."""

import pytest

from oasis.change.difference import Pairing
from oasis.uci import model


def versions(*texts):
    """Return packages from words: `rule a=1 b=2 | zone:guest x=1`, sections apart by bars, a name behind a colon."""
    made = []
    for text in texts:
        lines = []
        for part in text.split("|"):
            head, *options = part.split()
            kind, _, name = head.partition(":")
            lines.append(f"config {kind} '{name}'" if name else f"config {kind}")
            lines += ["\toption {} '{}'".format(*option.split("=")) for option in options]
        made.append(model.parse(("\n".join(lines) + "\n").encode(), "p"))
    return made


def joined(old, new):
    """Return for each old section the place of the new one, None where there is none."""
    before, after = versions(old, new)
    pairs = Pairing(before, after)
    places = {id(one): at for at, one in enumerate(after.sections)}
    found = [pairs.new_of(one) for one in before.sections]
    for one, partner in zip(before.sections, found, strict=True):
        assert partner is None or pairs.old_of(partner) is one
    return [None if one is None else places[id(one)] for one in found]


@pytest.mark.parametrize(
    "old, new, places",
    [
        ("rule:a x=1 | rule:b x=1", "rule:b x=1 | rule:a x=2", [1, 0]),
        ("rule:a x=1", "zone:a x=1", [0]),
        ("rule:a x=1", "rule:b x=1", [0]),
        ("rule:a x=1", "rule:b x=1 | rule:c x=1", [None]),
        ("rule:a", "rule:b", [None]),
        ("rule:a x=1", "rule x=1", [None]),
        ("rule x=1 | rule x=2", "rule x=2 | rule x=1", [1, 0]),
        ("rule x=1 | rule x=1 | rule x=1", "rule x=1 | rule x=2 | rule x=1", [0, None, 2]),
        ("rule x=1 | rule x=1", "rule x=9 | rule x=1", [None, 1]),
        # Edited: by mac before name, by name, by most of it, or because there is no other.
        ("host mac=1 name=a | host mac=2 name=b", "host mac=2 name=a | host mac=1 name=b", [1, 0]),
        ("rule name=a x=1 | rule name=b", "rule name=a x=2 | rule name=b", [0, 1]),
        ("rule name=a x=1 y=1 z=1", "rule name=b x=1 y=1 z=1", [None]),
        ("rule x=1 y=1 z=1 | rule", "rule x=1 y=1 z=2 | rule", [0, 1]),
        ("rule x=1 y=1 | rule", "rule x=1 y=2 | rule", [None, 1]),
        ("rule x=1 y=1 | rule", "rule x=1 y=1 z=1 u=1 | rule", [None, 1]),
        ("rule x=1", "rule y=2", [0]),
        ("rule x=1", "zone x=1", [None]),
        ("rule x=1 y=1 z=1 | rule", "rule x=1 y=1 z=2 | rule x=1 y=1 z=3 | rule", [None, 2]),
        ("rule x=1 y=1 z=1 | rule x=1 y=1 z=2", "rule x=1 y=1 z=3", [None, None]),
        ("rule x=1 y=1 z=1 u=1 | rule", "rule x=1 y=1 z=2 u=2 v=1 | rule x=1 y=1 z=1 | rule", [1, 2]),
    ],
)  # fmt: skip
def test_sections_are_joined(old, new, places):
    assert joined(old, new) == places


@pytest.mark.parametrize(
    "old, new, unsure",
    [
        ("rule x=1 | rule x=1", "rule x=1", [0, 1]),
        ("rule x=1 | rule x=1", "rule x=1 | rule x=1", []),
        ("rule x=1 | rule x=1", "rule x=1 | rule x=1 | rule x=1", []),
        ("rule x=1 | rule x=1", "rule x=2", []),
        ("rule x=1 | rule x=2", "rule x=1", []),
        ("rule:a x=1 | rule:b x=1", "rule:a x=1", []),
    ],
)
def test_equal_sections_of_which_some_are_gone_are_unsure(old, new, unsure):
    before, after = versions(old, new)
    pairs = Pairing(before, after)
    assert [at for at, one in enumerate(before.sections) if id(one) in pairs.unsure] == unsure


def test_strangers_are_what_only_the_new_version_has():
    before, after = versions("rule x=1", "rule x=1 | rule x=2 | rule:a x=2 | zone x=2")
    pairs = Pairing(before, after)
    assert pairs.strangers("rule", True) == [after.sections[1]]
    assert pairs.strangers("rule", False) == [after.sections[2]]
    assert pairs.strangers("host", True) == []
