"""The words of docs/glossary.md: those that it bans are not in documents, help, page texts, docstrings and comments."""

from __future__ import annotations

import ast
import functools
import glob
import io
import json
import os
import re
import sys
import tokenize

import pytest

from oasis.cli import help as cli_help
from oasis.cli.commands import every
from oasis.cli.help import SUBJECTS
from tests.repository.test_layout import sources

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GLOSSARY = "docs/glossary.md"


def read(path):
    with open(os.path.join(REPOSITORY, path), encoding="utf-8") as handle:
        return handle.read()


@functools.cache
def banned():
    """Return the pattern of the words in `code` in the last column of the glossary's tables."""
    rows = re.findall(r"^\|.*\| ([^|]*) \|$", read(GLOSSARY), flags=re.M)
    words = {word for row in rows for word in re.findall(r"`([^`]+)`", row)}
    assert len(words) > 30
    return re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, words), key=len, reverse=True))})\b", re.I)


def found(text):
    """Return the banned words of a text, lower case; a line break is a space."""
    return sorted({word.lower() for word in banned().findall(" ".join(text.split()))})


def prose(markdown):
    """Return a document without what it quotes: blocks, code, addresses of links."""
    text = re.sub(r"^```.*?^```$", "", markdown, flags=re.M | re.S)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)


def documents():
    patterns = ("*.md", "docs/**/*.md", "openwrt-feed/*.md", "tests/router/*.md")
    return {os.path.relpath(path, REPOSITORY) for one in patterns
            for path in glob.glob(os.path.join(REPOSITORY, one), recursive=True)}  # fmt: skip


def test_documents_use_the_words_of_the_glossary():
    words = {path: found(prose(read(path))) for path in sorted(documents())}
    assert {path: what for path, what in words.items() if what} == {}


def test_the_help_of_the_command_line_does():
    texts = {name: cli_help.one(name) for name in (*every(), *SUBJECTS)} | {"": cli_help.whole()}
    words = {name: found(re.sub(r"`[^`]*`", "", text)) for name, text in texts.items()}
    assert {name: what for name, what in words.items() if what} == {}


def test_the_texts_of_the_page_do():
    sys.path.insert(0, os.path.join(REPOSITORY, "package"))
    try:
        import i18n
    finally:
        sys.path.pop(0)
    texts = {text for _, one, many in i18n.texts() for text in (one, many)}
    assert len(texts) > 100
    assert {text: found(text) for text in texts if found(text)} == {}


def remarks(text):
    """Return every docstring and comment of a module as one text."""
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, nodes)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join(docstrings + comments)


def test_the_comments_of_the_page_do():
    scripts = glob.glob(os.path.join(REPOSITORY, "files/www/luci-static/resources/**/*.js"), recursive=True)
    comments = {path: re.findall(r"^\s*/\*.*?\*/", read(path), flags=re.M | re.S) for path in scripts}
    assert sum(map(len, comments.values())) > 300
    words = {path: found(re.sub(r"(?m)^\s*\* ?|`[^`]*`", " ", "\n".join(texts))) for path, texts in comments.items()}
    assert {os.path.relpath(path, REPOSITORY): what for path, what in words.items() if what} == {}


def test_docstrings_and_comments_do():
    words = {}
    for _, path, text in sources():
        banned_here = found(re.sub(r"`[^`]*`", "", remarks(text)))
        if banned_here:
            words[os.path.relpath(path, REPOSITORY)] = banned_here
    assert words == {}


# Data in sentences: how people speak, not how Oasis does.
SPOKEN = re.compile(
    r"offline/intents/..\.json:(?!asks|closing|labels|status|texts)|offline/intents/(?:frames|moments)\.json"
    r"|memory/facts\.json:empty|redaction/phrases\.json:spoken"
)


def sentences(tree):
    """Yield every constant with a space in it that is no docstring: errors, hints, cards, answers, prompts."""
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body[0] for node in ast.walk(tree) if isinstance(node, nodes) and node.body]
    docstrings = {id(body.value) for body in bodies if isinstance(body, ast.Expr)}
    for node in ast.walk(tree):
        is_sentence = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
        if is_sentence and id(node) not in docstrings:
            yield node.value


def values(data, path=""):
    """Yield (path, text) of every text in a value of JSON."""
    if isinstance(data, (dict, list)):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from values(value, f"{path}/{key}" if path else str(key))
    elif isinstance(data, str) and " " in data:
        yield path, data


# The value of a result in records of changes, which older journals hold too.
FORMAT = {"not read back"}


def test_errors_hints_cards_and_answers_do():
    words = {}
    for _, path, text in sources():
        for sentence in sentences(ast.parse(text)):
            if sentence not in FORMAT and found(sentence):
                words[os.path.relpath(path, REPOSITORY), sentence] = found(sentence)
    assert words == {}


def test_texts_in_data_do():
    words = {}
    for path in glob.glob(os.path.join(REPOSITORY, "oasis/**/*.json"), recursive=True):
        for where, text in values(json.loads(read(path))):
            place = f"{os.path.relpath(path, REPOSITORY)}:{where}"
            # The Spanish auxiliary "he" is no person.
            if not SPOKEN.search(place) and not ("intents/es.json" in place and found(text) == ["he"]) and found(text):
                words[place, text] = found(text)
    assert words == {}


@pytest.mark.parametrize(
    "text, words",
    [
        ("The owner's plan waits.", []),
        ("What was\ntried is TOLD.", ["told"]),
        ("It is beside\nhis desk.", ["beside", "desk", "his"]),
        ("The other height, the whole history", []),
    ],
)
def test_banned_words_are_found_as_whole_words(text, words):
    assert found(text) == words


def test_quotes_and_code_are_no_prose():
    assert found(prose("Call `told`, see [it](told.md).\n\n    told\n\n```\ntold\n```\n")) == []


def test_a_docstring_and_a_comment_are_remarks_and_a_string_is_none():
    text = '"""A desk."""\nx = "rehearsal"  # his\n'
    assert found(remarks(text)) == ["desk", "his"]
