"""Print a conversation with the router by Telegram, as both sides see it: `python3 tests/parts/telegram/session.py`.

A real oasisd on the stock router root, its worker, and a strict server that stands in for Telegram (bot_api.py). What
differs each time is told with the same words. docs/telegram.txt is what this prints; a test holds it.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from oasis.parts.telegram.people import STEP_S, decoded, totp
from tests.parts.telegram.kit import GUEST, OWNER, STRANGER, Scene


class Session:
    """Talks, and keeps what is seen as lines."""

    def __init__(self, scene):
        self.scene, self.api = scene, scene.api
        self.lines = []

    def title(self, words):
        self.lines += ["", f"== {words}", ""]

    def router(self, command, shown):
        self.lines += [f"router# {command}", *[f"        {line}" for line in shown]]

    def says(self, user, text, shown=None):
        self._line(self._name(user), shown or text)
        self.api.says(user, text)

    def presses(self, user, message, text):
        self._line(self._name(user), f"[{text}]")
        press = self.api.presses(user, message["message_id"], text)
        self._line("Telegram", f"({self.api.wait(lambda: self.api.pressed[press])})")

    def hears(self, chat, words, most=99):
        """Wait for a message and keep it, `most` lines of it."""
        self.api.wait_text(chat, words)
        said = [one for one in self.api.of_bot(chat) if words in one["text"]]
        found = max(said, key=lambda one: bool(one["reply_markup"]))
        is_other = f", to {self._name(chat)}" if chat != OWNER else ""
        shown = found["text"].split("\n")
        self._line(f"Bot{is_other}", "\n".join([*shown[:most], *(["…"] if len(shown) > most else [])]))
        rows = found["reply_markup"].get("inline_keyboard", [])
        if rows:
            self._line("", "  ".join(f"[{button['text']}]" for row in rows for button in row))
        return found

    def _name(self, user):
        return {OWNER: "Owner", GUEST: "Guest", STRANGER: "Stranger"}[user]

    def _line(self, who, text):
        first, *more = text.split("\n")
        self.lines.append(f"{who + ':' if who else '':9} {first}")
        self.lines += [f"{'':9} {line}" for line in more]


def play(folder):
    """Return the lines of a session with a daemon in a folder."""
    scene = Scene(pathlib.Path(folder), approve="1", pace_ms="200", notices="0").start()
    try:
        session = Session(scene)
        _pairing(session, scene)
        _talking(session, scene)
        _approving(session, scene)
        _guests(session, scene)
        assert scene.api.faults == [] and scene.api.floods == 0
        return session.lines[1:]
    finally:
        scene.close()


def _pairing(session, scene):
    session.title("A stranger gets no answer; the owner has the code from his router")
    session.says(STRANGER, "/start")
    scene.settled()
    session.lines.append("          (nothing)")
    code = scene.call("telegram.pair")["code"]
    session.router(
        "oasis telegram pair",
        ["ABCD2345", "Send this to @attic_router_bot within 10 minutes; who sends it is owner there."],
    )
    session.says(OWNER, code, "ABCD2345")
    session.hears(OWNER, "Paired")


def _talking(session, scene):
    session.title("What is of low risk is done at once, and can be taken back")
    session.says(OWNER, "call this router attic")
    scene.api.wait_text(OWNER, "Done: rename the router to attic.")
    card = scene.until(lambda: next((one for one in scene.api.of_bot(OWNER) if one["reply_markup"]), None))
    session.hears(OWNER, "Done: rename the router to attic")
    session.presses(OWNER, card, "Undo")
    session.hears(OWNER, "Done: undo")


def _approving(session, scene):
    session.title("What is risky waits; a press alone approves nothing, a code of six digits does, once")
    secret = scene.call("telegram.secret")
    session.router(
        "oasis telegram secret", ["otpauth://totp/Oasis:attic?secret=…&issuer=Oasis&algorithm=SHA1&digits=6&period=30"]
    )
    codes = _codes(decoded(secret["secret"]))
    scene.call("telegram.secret", code=next(codes))
    session.router("(types the code that the telephone shows)", ["the secret is kept; codes of an older one end"])
    session.says(OWNER, "set the wifi password to correct-horse-7")
    card = session.hears(OWNER, "waits for your word")
    (plan,) = scene.call("plan.list")["plans"]
    session.presses(OWNER, card, "Approve")
    session.hears(OWNER, "six digits")
    code = next(codes)
    session.says(OWNER, code, "123456          (deleted from the chat by the bot)")
    scene.until(lambda: scene.call("change.pending")["change"])
    session.hears(OWNER, "unless you keep it")
    session.says(OWNER, next(codes), "234567          (deleted)")
    session.hears(OWNER, "Kept.")
    scene.until(lambda: not scene.call("run.active")["runs"])
    for pattern, words in (
        (plan["short"], "1a2b3c4d"),
        (r"undone automatically in \d+ s", "undone automatically in 90 s"),
        (r"for \d+ min\.", "for 10 min."),
    ):
        session.lines = [re.sub(pattern, words, line) for line in session.lines]


def _guests(session, scene):
    session.title("A guest asks, and changes nothing")
    code = scene.call("telegram.pair", who="guest")["code"]
    session.router(
        "oasis telegram pair guest",
        ["EFGH6789", "Send this to @attic_router_bot within 10 minutes; who sends it is guest there."],
    )
    session.says(GUEST, code, "EFGH6789")
    session.hears(GUEST, "Paired")
    session.says(GUEST, "call this router mine")
    session.hears(GUEST, "not for who asks here")
    session.says(GUEST, "/status")
    session.hears(GUEST, "Internet:", 2)


def _codes(secret):
    """Yield the codes of an authenticator, each once."""
    used = 0
    while True:
        step = int(time.time()) // STEP_S
        fresh = next((one for one in (step - 1, step, step + 1) if one > used), 0)
        if fresh:
            used = fresh
            yield totp(secret, fresh)
        else:
            time.sleep(0.2)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print("\n".join(play(place)))
