"""What an expression needs is read off its source: nothing that it fits is without."""

import json
import os
import re

import pytest

from oasis.parts.offline import provider
from oasis.parts.offline.caution import bare
from oasis.parts.offline.clause import narrow
from oasis.parts.offline.derive import needs
from oasis.parts.offline.expressions import Alternatives, may_fit

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("as soon as", ["as soon as"]),
        ("afterwards?", ["afterward"]),
        ("a{0,2}bc", ["bc"]),
        ("ab{2}", ["ab"]),
        ("(?:the )?(?:next|first) time", [" time"]),
        ("(?:every|each) (?:minute|hour)s?", ["every", "each"]),
        ("while(?! you)", ["while"]),
        ("(?<=ab)c", ["c"]),
        ("(?P<name>foo)[bar]", ["foo"]),
        ("每(?:天|晚)", ["每"]),
        (r"\d\d|on", []),
        ("(?:on)*", []),
        ("(?:on|o?)", []),
        ("{o} named {n}", [" named "]),
    ],
)
def test_needed_texts_are_read_off_a_source(source, needed):
    assert needs(source) in (needed, [])
    assert bool(needs(source)) is bool(needed)


def sentences():
    for name in ("moments", "names", "nearly"):
        with open(f"{HERE}/{name}.jsonl", encoding="utf-8") as lines:
            yield from (bare(narrow(text)) for line in lines for text in _texts(json.loads(line)))


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


@pytest.mark.parametrize("language", provider.load("intents")["languages"])
def test_what_fits_a_sentence_has_what_it_needs(language):
    data, texts = provider.load("moments"), list(dict.fromkeys(sentences()))
    parts = data["parts"]
    found = 0
    for source in [one for kind in data[language].values() if isinstance(kind, list) for one in kind]:
        whole = re.sub(r"\{([a-z]{2}_[a-z]+)\}", lambda match: parts[match[1]], source)
        wanted = needs(whole)
        for text in filter(re.compile(whole).search, texts):
            found += 1
            assert may_fit(wanted, text), (whole, wanted, text)
    assert found > 20


def test_nothing_is_compiled_for_a_text_without_what_is_needed():
    some = Alternatives([(one, needs(one)) for one in ("on (?:monday|friday)", "at night")], r"\b(?:%s)\b")
    assert some.on("call this router attic") is None
    assert some.on("turn it off at night").pattern == r"\b(?:at night)\b"
