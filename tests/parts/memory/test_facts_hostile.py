"""Texts that were made to hurt: nothing but what is documented is raised, and nothing takes long."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.errors import UsageError
from oasis.parts.memory.extraction import FACT_CHARS, FACTS, Secrets, Words, read
from oasis.parts.memory.ranking import likeness, touches, words
from oasis.parts.memory.skills import parse, score
from tests.parts.memory.test_facts_heard import Held

DATA = Words()
SECRETS = Secrets(DATA.secret, DATA.empty, Held())
# What the owner may say at once.
LONG = 32 * 1024
SLOW_S = 5.0
EVERY = settings(max_examples=60, deadline=None)
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from('[]{}",:-_.@=« \n\u200b\u202eä字pin')), max_size=300)


@EVERY
@given(TEXTS)
def test_any_answer_is_read_into_clean_facts_or_none(text):
    for answer in (text, "[" + text + "]", json.dumps([text, {"fact": text, "supersedes": text, "category": text}])):
        found = read(answer)
        assert len(found) <= FACTS
        for one in found:
            assert 3 <= len(one["fact"]) <= FACT_CHARS and "\n" not in one["fact"] and "\u202e" not in one["fact"]


@EVERY
@given(TEXTS, TEXTS)
def test_any_two_texts_have_a_likeness_between_none_and_all(one, other):
    assert 0.0 <= likeness(one, other, DATA.empty) <= 1.0
    assert 0.0 <= touches(words(one), words(other)) <= 1.0


@EVERY
@given(TEXTS)
def test_any_text_is_judged_and_a_secret_in_it_is_found(text):
    assert isinstance(SECRETS.reason(text, SECRETS.said([text])), str)
    DATA.is_talk(text)
    assert SECRETS.reason(text + " wintergarden99 " + text)
    assert SECRETS.reason(text + " password: x " + text)


@EVERY
@given(TEXTS)
def test_any_text_is_a_skill_or_refused(text):
    for whole in (text, "---\n" + text + "\n---\n" + text, "---\ndescription: x\n" + text + "\n---\nx"):
        try:
            skill = parse(whole, "tea")
        except UsageError:
            continue
        assert skill["name"] == "tea" and skill["description"] and skill["text"]
        assert score(text, skill) >= 0


@pytest.mark.parametrize("piece", ["a@", "a-", "a.b.", "pin ", "« ", "****", "字", "password "])
def test_a_long_text_takes_no_long_time(piece):
    text = piece * (LONG // len(piece))
    before = time.monotonic()
    SECRETS.speaks_of(text)
    SECRETS.said([text] * 12)
    DATA.is_talk(text)
    read(text)
    SECRETS.reason(text[:FACT_CHARS])
    score(text, {"name": "tea", "words": ["brew tea", piece], "against": []})
    assert time.monotonic() - before < SLOW_S
