"""docs/telegram.txt: a session with the bot, which is still what happens."""

import os

import pytest

from tests.parts.telegram import session

DOCS = os.path.join(os.path.dirname(session.__file__), "../../../docs/telegram.txt")


@pytest.mark.part("offline")
def test_the_session_in_docs_is_what_happens(tmp_path):
    with open(DOCS, encoding="utf-8") as file:
        shown = file.read().rstrip("\n").split("\n")
    assert session.play(tmp_path) == shown, "write it anew: python3 tests/parts/telegram/session.py > docs/telegram.txt"
