"""Hostile texts in the place of all that a page shows, and a trap for whatever comes of it.

`Bus` rewrites replies on their way to the browser: every text that is data, and names that are data, gets a group of
the corpus; with as many rounds as there are groups, every text has stood in every place. What leads the page (ids,
states, kinds of events) stays as it is, or nothing would be shown.
"""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "hostile_texts.json"), encoding="utf-8") as _file:
    TEXTS: list[str] = json.load(_file)
ROUNDS = 2
# The last of these swallow what follows them when they are taken for HTML.
GROUPS = [" ".join(TEXTS[at::ROUNDS]) for at in range(ROUNDS)]
# What leads the page rather than being shown by it.
LEADING = {
    "id", "run", "chat", "state", "type", "op", "hash", "seq", "plan", "change", "refused", "tool_use_id", "decision",
    "stop_reason", "continues", "head", "parents", "parent", "end", "identifier", "key", "status", "session", "profile",
    "undoes", "undone_by", "jsonrpc", "month", "result", "class", "approval", "severity", "verdict", "expires", "proof",
    "target", "media_type", "nonce",
}  # fmt: skip
# Where a key of the set above is data, and the other way round: (method, key).
SHOWN = {("audit.list", "plan"), ("tool.list", "plan"), ("audit.verify", "state")}
KEPT = {
    ("change.list", "source"), ("change.load", "source"), ("chat.load", "role"), ("run.poll", "role"),
    ("run.start", "message"), ("service.list", "key"), ("chat.search", "message"), ("bookmark.list", "message"),
    ("info", "approval"),
}  # fmt: skip
# Objects whose names are data, too; of the second kind the values lead.
NAMED = {"input"}
MARKS = {"bookmarks"}


class Poison:
    """Rewrites values; `turn` says which group stands first in each reply."""

    def __init__(self, turn: int) -> None:
        self._next = itertools.count(turn).__next__

    def text(self) -> str:
        """Return the next group of hostile texts."""
        return GROUPS[self._next() % ROUNDS]

    def value(self, method: str, value: Any, key: str = "") -> Any:
        """Return a value with its texts replaced."""
        if isinstance(value, dict):
            if key in NAMED:
                return {self.text(): self.value(method, item, name) for name, item in value.items()}
            if key in MARKS:
                return {self.text(): item for item in value.values()}
            return {name: self.value(method, item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.value(method, item, "" if isinstance(item, dict) else key) for item in value]
        if not isinstance(value, str) or (method, key) in KEPT:
            return value
        if key in LEADING and (method, key) not in SHOWN:
            return value
        if key == "source" and ":" in value:
            return value.partition(":")[0] + ":" + self.text()
        return self.text()


class Bus:
    """The way to the daemon with poison in every reply; stands in the place of the bridge."""

    def __init__(self, bus: Any, turn: int) -> None:
        self._bus = bus
        self._poison = Poison(turn)

    def has(self, obj: str) -> bool:
        """As the bridge."""
        return bool(self._bus.has(obj))

    def call(self, obj: str, method: str, arguments: dict[str, object]) -> tuple[int, dict[str, object] | None]:
        """As the bridge, with the texts of the reply replaced."""
        status, reply = self._bus.call(obj, method, arguments)
        return status, reply and self._poison.value((obj[6:] + "." + method).lstrip("."), reply)


# Notes in window.trapped whatever a text must never become.
TRAP = """(() => {
    const found = window.trapped = [];
    const note = (what, node) => found.push(what + ': ' + String(node && node.outerHTML || node).slice(0, 300));
    const bad = /^[\\s\\u0000-\\u0020]*(javascript|vbscript|data|file|blob|intent):/i;
    Object.defineProperty(window, 'hacked', { set: () => note('script ran', new Error().stack), get: () => undefined });
    for (const name of [ 'alert', 'confirm', 'prompt', 'open' ]) window[name] = text => note(name, text);
    const own = /^\\/luci-static\\/resources\\/oasis\\/[\\w/.-]+$/;
    const foreign = /evil\\.invalid/, loads = /^(href|src|action|formaction|xlink:href|data|srcdoc|poster|ping)$/i;
    const elements = 'SCRIPT IMG IFRAME OBJECT EMBED BASE META STYLE SVG MATH VIDEO AUDIO TEMPLATE PLAINTEXT XMP';
    /* a link that is pressed on purpose, to a page of the web */
    const isLink = (node, value) => node.tagName == 'A' && /^https?:/.test(value) && /noopener/.test(node.rel);
    const isBad = (node, value) => bad.test(value) && !/^(blob:http|data:,$)/.test(value)
        || foreign.test(value) && !isLink(node, value);
    const check = node => {
        if (node.hasAttribute('x9') || node.closest('[x9]')) note('element', node);
        for (const one of node.attributes) {
            if (/^on/i.test(one.name)) note('handler', node);
            if (loads.test(one.name) && (one.name == 'ping' || isBad(node, one.value))) note('address', node);
            if (one.name == 'style' && /x9|evil/.test(one.value)) note('style', node);
        }
        /* icons are files of the web server */
        const isIcon = node.tagName == 'IMG' && own.test(node.getAttribute('src'));
        if (elements.split(' ').includes(node.tagName.toUpperCase()) && !isIcon && node.closest('#view, .modal'))
            note('element', node);
    };
    const look = node => { if (node.nodeType == 1) [ node, ...node.querySelectorAll('*') ].forEach(check); };
    new MutationObserver(records => records.forEach(record => {
        record.addedNodes.forEach(look);
        if (record.type == 'attributes') check(record.target);
    })).observe(document, { subtree: true, childList: true, attributes: true });
    window.inspect = () => { look(document.documentElement); return found; };
})()"""

# Texts in the page that hold a character nobody sees. What was said keeps the joiners that scripts and emoji need.
UNSEEN = """(() => {
    const steering = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u200b'
        + '\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff';
    const hidden = new RegExp('[' + steering + '\\u200c\\u200d]'), said = new RegExp('[' + steering + ']');
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        const place = node.parentElement;
        if (!place.closest('script, textarea') && (place.closest('.oasis-text') ? said : hidden).test(node.data))
            found.push(place.outerHTML.slice(0, 60));
    }
    return found;
})()"""
