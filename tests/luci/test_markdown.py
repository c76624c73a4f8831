"""The reader of a model's Markdown, in a browser: where links lead is seen, time grows with the text."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import furnished  # noqa: F401
from tests.luci.hostile import TEXTS
from tests.luci.pictures import CHAT
from tests.oasisd import Daemon, proposer

pytestmark = pytest.mark.browser

# What a text becomes; each anchor with its words, its address and the host that is shown.
LINKS = """text => L.require('oasis.markdown').then(markdown => {
    const box = E('div', { 'class': 'oasis-text' }, markdown.nodes(text));
    return {
        text: box.textContent,
        nested: box.querySelectorAll('a a').length,
        links: [ ...box.querySelectorAll('a') ].map(link => {
            const inside = link.querySelector('.oasis-host'), beside = link.nextElementSibling;
            const host = inside || beside && beside.matches('.oasis-host') && beside;
            return [ link.textContent, link.href, host ? host.textContent : null ];
        })
    };
})"""
# Milliseconds for a text of n and of 2n, the best of some: a machine under load is slow at times, never fast.
TIMES = """([ pieces, count ]) => L.require('oasis.markdown').then(markdown => {
    const text = times => pieces[0] + pieces[1].repeat(times) + pieces[2];
    const time = one => {
        const begin = performance.now(), box = E('div'), live = markdown.live(box);
        markdown.nodes(one);
        live.set(one);
        return performance.now() - begin;
    };
    const best = times => Math.min(...[ 1, 2, 3 ].map(() => time(text(times))));
    return [ best(count), best(8 * count) ];
})"""
IDN = "https://xn--pple-43d.com/"
SHOWN = {
    # markdown: [(words of the link, where it leads, host that is shown)]
    "[openwrt.org](https://203.0.113.66/x)": [("openwrt.org", "https://203.0.113.66/x", "203.0.113.66")],
    "see https://openwrt.org/docs.": [("https://openwrt.org/docs", "https://openwrt.org/docs", "openwrt.org")],
    "https://openwrt.org@203.0.113.66/": [
        ("https://openwrt.org@203.0.113.66/", "https://openwrt.org@203.0.113.66/", "203.0.113.66")
    ],
    "https://203.0.113.66\\@openwrt.org/": [
        ("https://203.0.113.66\\@openwrt.org/", "https://203.0.113.66/@openwrt.org/", "203.0.113.66")
    ],
    "https://\u0430pple.com/": [("https://\u0430pple.com/", IDN, "xn--pple-43d.com")],
    "[apple.com](https://\u0430pple.com/)": [("apple.com", IDN, "xn--pple-43d.com")],
    "http://0x7f.1:8080/": [("http://0x7f.1:8080/", "http://127.0.0.1:8080/", "127.0.0.1:8080")],
    "[https://openwrt.org](https://203.0.113.66/)": [("https://openwrt.org", "https://203.0.113.66/", "203.0.113.66")],
    "[a [b](https://one.example/)](https://two.example/)": [
        ("b", "https://one.example/", "one.example"), ("https://two.example/", "https://two.example/", "two.example"),
    ],
    "[**b** https://one.example/](https://two.example/)": [
        ("b https://one.example/", "https://two.example/", "two.example")
    ],
    "[](https://two.example/)": [("https://two.example/", "https://two.example/", "two.example")],
    "[open](HTTPS://Two.Example)": [("open", "https://two.example/", "two.example")],
    "[x](javascript:alert(1)) [y](data:text/html,z) [z](file:///etc) [w](//evil.example) mailto:a@b": [],
    "`https://openwrt.org`": [],
}  # fmt: skip
# (before, again and again, after): what a reader that looks ahead or goes back reads many times.
GROWING = [
    ("", "> ", "x"), ("# ", " ", "x"), ("# ", " ", "# x"), ("", "[", "](https://a.example/" + "b" * 200),
    ("", "*a ", ""), ("", "**", "a"), ("", "`", "a"), ("", "`a ``b ```c ", ""), ("", "- ", "x"), ("- ", " ", "x"),
    ("", "[a](", ""), ("", "[a](https://a.example/", ""), ("", "https://.", ""), ("", "- a\n", ""), ("", "> a\n", ""),
    ("", "|", "x"), ("", "| a | b |\n", ""), ("```", " ", "`"), ("```", "a", "`"), ("", "~", "`"), ("", "- - ", "a"),
    ("", "\n", ""), ("", "*", ""), ("", "_", ""), ("", "https://a.example/ ", ""), ("", "a\u0301\u0301", ""),
    ("a", "\u0301", ""), ("", "\u202e", ""), ("", "\r", ""), ("1. ", "1. ", "x"), ("", "***a", ""), ("", "!", ""),
    ("", "word ", ""), ("", "#", " x"), ("", "\t", "- x"),
]  # fmt: skip


@pytest.fixture
def page(router: Any, visit: Any) -> Any:
    """The chat page, whose modules can be asked for."""
    return visit(router().url)


@pytest.mark.parametrize("text", SHOWN)
def test_the_host_that_a_link_leads_to_stands_beside_it(page: Any, text: str) -> None:
    found = page.evaluate(LINKS, text)
    assert [tuple(link) for link in found["links"]] == SHOWN[text]
    assert found["nested"] == 0


def test_no_link_lies_in_another_and_each_has_its_host(page: Any) -> None:
    for text in [*TEXTS, " ".join(TEXTS), "[[a](https://one.example/)](https://two.example/)" * 3]:
        found = page.evaluate(LINKS, text)
        assert found["nested"] == 0, text
        for words, href, host in found["links"]:
            assert host == page.evaluate("href => new URL(href).host", href), (text, words)


def test_what_steers_a_terminal_or_the_reading_direction_reaches_no_text(page: Any) -> None:
    steering = [*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F),
                *range(0x2060, 0x2070), 0xFEFF, 0xE0041]  # fmt: skip
    steering = [code for code in steering if chr(code) not in "\t\n"]
    for around in ("a%sb", "`a%sb`", "[a%sb](https://a.example/)", "> a%sb", "# a%sb", "```\na%sb\n```", "| a%sb |"):
        text = "\n\n".join(around % chr(code) for code in steering)
        shown = page.evaluate(LINKS, text)["text"]
        assert not [code for code in steering if chr(code) in shown], around
    assert "👩\u200d💻" in page.evaluate(LINKS, "👩\u200d💻")["text"]


def test_the_time_grows_with_the_text_and_not_with_its_square(page: Any) -> None:
    """Eight times the text: linear work takes 8 times as long, quadratic 64; 24 lies between, whatever else runs."""
    for pieces in GROWING:
        once_ms = more_ms = 60000.0
        for _ in range(8):  # the least of all is the reader's own: what others on the machine took is in the rest
            found = page.evaluate(TIMES, [pieces, 3000])
            once_ms, more_ms = min(once_ms, found[0]), min(more_ms, found[1])
            if more_ms < 24 * max(once_ms, 5):
                break
        assert more_ms < 24 * max(once_ms, 5), (pieces, once_ms, more_ms)


def imported(daemon: Daemon, texts: list[str]) -> None:
    """Take over a chat of another program with these answers."""
    messages = [
        {"role": role, "content": text} for answer in texts for role, text in (("user", "Q"), ("assistant", answer))
    ]
    data = json.dumps({"messages": messages}).encode()
    upload = ""
    for at in range(0, len(data), 30000):
        part = base64.b64encode(data[at : at + 30000]).decode()
        is_last = at + 30000 >= len(data)
        upload = str(daemon.call("upload.part", upload=upload, name="chat.json", data=part, is_last=is_last)["upload"])
    reply = daemon.call("chat.import", upload=upload)
    assert "error" not in reply, reply


def test_no_answer_hides_its_chat(furnished: Any, visit: Any) -> None:  # noqa: F811
    daemon, url = furnished()
    imported(
        daemon,
        [
            "first",
            "> " * 4000 + "deep",
            "# " + " " * 4000 + "x",
            "\n".join("  " * n + "- a" for n in range(300)),
            "last",
        ],
    )
    page = visit(url)
    for text in ("first", "deep", "last"):
        expect(page.locator(".oasis-assistant .oasis-text").filter(has_text=text)).not_to_have_count(0)
    assert page.locator("blockquote").count() <= 12


_CONTENT = "return Array.isArray(message.content) ?"
BROKEN = {
    "a block": ("markdown.js", "case 'rule': return E('hr');", "case 'rule': throw new Error('broken');", "---"),
    "a message": (
        "message.js", _CONTENT, "if (message.content == 'broken') throw new Error('broken'); " + _CONTENT, "broken",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_drawn_is_shown_as_text_and_takes_no_plan_away(
    furnished: Any,  # noqa: F811
    visit: Any,
    name: str,
) -> None:
    file, text, instead, answer = BROKEN[name]
    daemon, url = furnished()
    imported(daemon, ["first", answer, "last"])
    page = visit(url)

    served = []

    def serve(route: Any) -> None:
        served.append(route.request.url)
        source = route.fetch().text()
        assert source.count(text) == 1
        route.fulfill(body=source.replace(text, instead), content_type="text/javascript")

    page.route("**/oasis/" + file + "*", serve)  # with the version that LuCI asks for
    page.reload()
    for shown in ("first", answer, "last"):
        expect(page.locator(".oasis-assistant .oasis-text").filter(has_text=shown)).not_to_have_count(0)
    assert served
    daemon.call("run.start", message=CHAT[1], chat=daemon.call("chat.list")["item"][0]["id"], service=proposer())
    page.reload()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible(timeout=60000)
