"""The tables of sentences of each language: what changes exactly this, what calls a tool, what is answered in words."""

import pytest

from tests.parts.offline import test_chinese, test_german, test_japanese, test_spanish
from tests.parts.offline.stock import HOME, Router, calls_of, text_of

LANGUAGES = (test_chinese, test_german, test_japanese, test_spanish)
CHANGES = [
    (before, *item)
    for language in LANGUAGES
    for before, table in (("", language.STOCK), (HOME, language.AT_HOME))
    for item in table.items()
]
CALLS = [item for language in LANGUAGES for item in language.CALLS.items()]
WORDS = [item for language in LANGUAGES for item in language.WORDS.items()]


@pytest.mark.parametrize(("before", "sentence", "changes"), CHANGES)
def test_sentence_changes_exactly_this(before, sentence, changes):
    router = Router(before)
    events = router.ask(sentence)
    assert [name for name, _ in calls_of(events)] == ["configure"], text_of(events)
    assert router.changes(events) == changes


@pytest.mark.parametrize(("sentence", "call"), CALLS)
def test_other_tools(sentence, call):
    assert calls_of(Router().ask(sentence)) == [call]


@pytest.mark.parametrize(("sentence", "words"), WORDS)
def test_words_and_no_call(sentence, words):
    events = Router().ask(sentence)
    assert not calls_of(events)
    assert words in text_of(events)
