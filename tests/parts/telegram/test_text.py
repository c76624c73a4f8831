"""Markdown for Telegram: what its HTML looks like, what its parser must always take, where a text is cut."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.core.export import _fenced
from oasis.parts.telegram.text import LIMIT, html, split, units
from tests.oasisd import has_part
from tests.parts.telegram.bot_api import TEXT_UNITS, shown

WORKS = [html, split, lambda text: [html(piece) for piece in split(text)], _fenced]
if has_part("memory"):
    from oasis.parts.memory.knowledge import markdown

    WORKS.append(markdown)


@pytest.mark.parametrize(
    "markdown, expected",
    [
        ("plain", "plain"),
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("&lt;", "&amp;lt;"),
        ("**bold** and __bold__", "<b>bold</b> and <b>bold</b>"),
        ("*slanted* and _slanted_", "<i>slanted</i> and <i>slanted</i>"),
        ("***both***", "<b><i>both</i></b>"),
        ("~~gone~~", "<s>gone</s>"),
        ("**a *b* c**", "<b>a <i>b</i> c</b>"),
        ("**open", "**open"),
        ("* open", "• open"),
        ("some_snake_name and 2*3*4 and 192.168.*.*", "some_snake_name and 2*3*4 and 192.168.*.*"),
        ("\\*not slanted\\*", "*not slanted*"),
        ("`a<b`", "<code>a&lt;b</code>"),
        ("`` a`b ``", "<code>a`b</code>"),
        ("`**x**`", "<code>**x**</code>"),
        ("a ` b", "a ` b"),
        ("# Big **x** #", "<b>Big **x**</b>"),
        ("#hash", "#hash"),
        ("- one\n* two\n  + three", "• one\n• two\n  • three"),
        ("1. one\n2) two", "1. one\n2) two"),
        ("---", "———"),
        ("> a\n> **b**\nc", "<blockquote>a\n<b>b</b></blockquote>\nc"),
        (">", ""),
        ("```sh\nuci set a='<b>'\n```", "<pre><code class=\"language-sh\">uci set a='&lt;b&gt;'</code></pre>"),
        ('```"><b>\nx\n```', "<pre>x</pre>"),
        ("```\nnever closed", "<pre>never closed</pre>"),
        ("~~~\na\n```\nb\n~~~", "<pre>a\n```\nb</pre>"),
        ("| a | b |\n|---|---|", "<pre>| a | b |\n|---|---|</pre>"),
        ("[page](https://x.org/?a=1&b=2)", '<a href="https://x.org/?a=1&amp;b=2">page</a> (x.org)'),
        ('[x](https://x.org/"onclick=")', '<a href="https://x.org/&quot;onclick=&quot;">x</a> (x.org)'),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("![cat](https://x.org/c.png)", '<a href="https://x.org/c.png">cat</a> (x.org)'),
        (
            "[**b** [x](https://a.org)](https://b.org)",
            '[<b>b</b> <a href="https://a.org">x</a> (a.org)](https://b.org)',
        ),
        # where a link leads is seen before it is pressed
        ("[x.org](https://203.0.113.66:81/)", '<a href="https://203.0.113.66:81/">x.org</a> (203.0.113.66:81)'),
        ("[](https://x.org/a)", '<a href="https://x.org/a">https://x.org/a</a>'),
        ("see https://x.org/a_b_c.", "see https://x.org/a_b_c."),
        ("[x](https://x.org@203.0.113.66/)", "x <code>https://x.org@203.0.113.66/</code>"),
        ("https://x.org@203.0.113.66/", "<code>https://x.org@203.0.113.66/</code>"),
        ("https://203.0.113.66\\@x.org/", "<code>https://203.0.113.66\\@x.org/</code>"),
        ("https://\u0430pple.com/", "<code>https://\u0430pple.com/</code>"),
        ("[apple.com](https://\u0430pple.com/)", "apple.com <code>https://\u0430pple.com/</code>"),
        ("http://0x7f.1/ http://2130706433/", "<code>http://0x7f.1/</code> <code>http://2130706433/</code>"),
        ("https://xn--pple-43d.com/", "https://xn--pple-43d.com/"),
    ],
)
def test_markdown_becomes_the_html_that_telegram_knows(markdown, expected):
    assert html(markdown) == expected
    shown(html(markdown))


GROWING = [
    ("", "> ", "x"), ("# ", " ", "x"), ("", "[", "](https://a.example/)"), ("", "*a ", ""), ("", "**a ", ""),
    ("", "_a ", ""), ("", "__a ", ""), ("", "~~a ", ""), ("", "*_a~~ ", ""), ("", "**a* ", ""), ("", "`", "a"),
    ("", "`a ``b ```c ", ""), ("", "[a](", ""), ("", "[a](https://a.example/", ""), ("", "[a][b]", ""), ("", "![", ""),
    ("", "https://.", ""), ("", "```\n", ""), ("", "| a | b |\n", ""), ("", "a_b*c~d`e", ""), ("", "\\", ""),
]  # fmt: skip


def seconds(work, text):
    """Return the processor time of some work: others on the machine do not count."""
    best = 60.0
    for _ in range(5):
        begin = time.thread_time()
        work(text)
        best = min(best, time.thread_time() - begin)
    return best


@pytest.mark.parametrize("before, again, after", GROWING)
@pytest.mark.parametrize("work", WORKS)
def test_twice_the_text_takes_twice_the_time(work, before, again, after):
    once, twice = (seconds(work, before + again * count + after) for count in (4000, 8000))
    assert twice < 3 * max(once, 0.1), (once, twice)


PIECES = st.sampled_from(
    ["*", "**", "_", "__", "~~", "`", "```", "~~~", "\n", "\n\n", "[", "](https://a.org/)", "]", "(", ")", "!", "<",
     ">", "&", "\\", "# ", "- ", "> ", "|", " ", "a", "word ", "😀", "ü", '"', "</b>", "<pre>", "---", "1. ",
     "https://b@c.org "]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=200)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_whatever_a_model_writes_telegram_takes_it_and_it_grows_by_nothing(markdown):
    for piece in split(markdown, 60):
        text = shown(html(piece))
        assert units(text) <= units(piece) + 3 * piece.count("\n") + 3  # what a rule may be longer than its dashes


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=400).map("".join), st.integers(20, 200))
def test_no_piece_is_longer_than_it_may_be_and_nothing_is_lost(markdown, limit):
    pieces = split(markdown, limit)
    assert all(units(piece) <= limit for piece in pieces)
    kept = [char for char in "".join(pieces) if char.isalnum()]
    assert [char for char in markdown if char.isalnum() and char.isascii()] == [one for one in kept if one.isascii()]


def test_a_cut_fence_is_closed_and_opened_again_in_its_language():
    text = "Before\n```python\n" + "x = 1\n" * 2000 + "```\nafter"
    pieces = split(text)
    assert len(pieces) == 4
    for piece in pieces[1:]:
        assert piece.startswith("```python\nx = 1")
    assert all(piece.count("```") == 2 for piece in pieces)
    assert pieces[-1].endswith("```\nafter")
    assert all(units(shown(html(piece))) <= TEXT_UNITS for piece in pieces)


def test_emoji_count_twice_and_are_never_cut_in_two():
    pieces = split("😀" * 5000)
    assert "".join(pieces) == "😀" * 5000
    assert all(units(piece) <= LIMIT for piece in pieces) and units(pieces[0]) > LIMIT - 20
    family = "👩‍👩‍👧"
    assert all(not piece.startswith("‍") and not piece.endswith("‍") for piece in split(family * 800, 100))


def test_a_text_is_cut_behind_a_line_else_behind_a_word():
    assert split("one\n" * 30, 50)[0] == "one\n" * 10 + "one"
    assert split("word " * 30, 52)[0] == "word " * 9
    assert split("x" * 100, 55)[0] == "x" * 50


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, min_size=40, max_size=300).map("".join))
def test_a_full_piece_stays_what_it_is_when_more_comes(markdown):
    before: list = []
    for end in range(0, len(markdown), 17):
        pieces = split(markdown[:end], 80)
        assert pieces[: len(before) - 1] == before[:-1] or markdown[:end].strip("\n") != markdown[:end]
        before = pieces if markdown[:end].strip("\n") == markdown[:end] else before


def test_nothing_is_nothing():
    assert split("") == split("\n \n") == []
