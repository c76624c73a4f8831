"""Translations for the stand-in: the catalogue of a language as the object that LuCI's pages look texts up in.

LuCI's keys are hashes; here they are the texts themselves, made by the same reader as the packages' files.
"""

from __future__ import annotations

import os
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "package"))

import catalogue  # noqa: E402


def load(language: str) -> dict[str, str]:
    """Return {key: translation}, {} for English; "" stands for the rule of plural forms."""
    path = os.path.join(REPOSITORY, "po", language, "oasis.po")
    if language == "en":
        return {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found: dict[str, str] = {}
    for message in catalogue.messages(text):
        if not message.get("msgid"):
            found[""] = catalogue.plural_rule(message.get("msgstr", ""))
        else:
            found.update((key.decode(), value) for key, value in catalogue.pairs(message) if value)
    return found
