"""Conversations with paired people: messages become runs, presses decide about plans, a few commands are answered.

An owner here has the role `messenger`: their messages count as in a chat, but what would wait for approval on the page
waits here too (card.py). A guest's runs have the principal of people.py. Each answer is shown by a thread of its own,
one at a time in a chat; commands and presses are handled at once. A run is followed by polling, as in every front end,
until it is over or the line is closed. Knows no worker.

Owed keeps what the chats wait for: messages not answered yet, a plan that waits, an answer that could not be sent.
After a kill the next start tells each chat what was lost. In RAM with each change, which outlives the daemon; on flash
only while something waits: a message behind another, a plan, an answer that was not taken. No text of a message is
kept, only its number in the chat: an answer to it shows which one is meant. Shape: Open in shapes.pyi.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback

from oasis.config.settings import OFFLINE, built_in
from oasis.core import clean, jsonl
from oasis.errors import OasisError, SchemaError, UsageError
from oasis.parts.telegram import people
from oasis.parts.telegram.card import Approval, of_change, of_decision, of_plan, plain
from oasis.parts.telegram.line import LASTING, TRIES, RefusedError, is_passing
from oasis.parts.telegram.people import AN_HOUR, WORDS, Guest
from oasis.parts.telegram.text import Answer, RunText, put
from oasis.tools.principal import MESSENGER

if False:  # annotations only
    from typing import Literal

    from oasis.agent.shapes import Asked as TurnAsked
    from oasis.parts.telegram import shapes
    from oasis.parts.telegram.card import Buttons
    from oasis.parts.telegram.line import Line
    from oasis.parts.telegram.messenger import Telegram
    from oasis.parts.telegram.shapes import Callable, Card, Json, Open, Person, Role, TypeGuard, Update
    from oasis.system.files import Files

    Queued = tuple[Person, Update, Callable[[], str], Open]
    Name = Literal["is_queued", "plan", "is_unsent"]

OWNER: Role = {"name": "messenger", "terminal": False, "pid": 0}
GUEST: Role = {"name": "guest", "terminal": False, "pid": 0}
OWED = "/messenger-open.json"
# As much as a chat takes in one piece (chats/uploads.py).
FILE_BYTES = 4 * 1024 * 1024
# Updates older than this are stale and dropped.
STALE_S = 900
# Messages that wait for their turn in a chat.
QUEUE = 3
# Answers whose messages can be replied to, to go on in their chat.
_PLACES = 200
HELP = (
    "Say what the router should do, or ask.\n\n/new begins another chat\n/status tells how the router is\n/stop ends "
    "the answer being given\n/undo takes the newest change back\n/help shows this\n\nReply to an answer to go on in "
    "its chat."
)
GUEST_HELP = (
    "You are a guest: ask how the router is.\n\n/status tells it\n/new begins another chat\n/stop ends an answer"
)
FORWARDED = "words of a forwarded message"
_SUMMARY_CHARS = 160
_UNKNOWN_BUTTON = "This is no longer valid: it is old, or I was started again since."
_LOST = (
    "I was stopped before I answered this. Send it again if it is still meant; the router's page has what came of it."
)
_LOST_PRESS = "I was stopped before I could report the result of an Undo here. The router's page shows it."
_LOST_PLAN = "I was stopped, and with that ended what waited here: plan %s (%s). Nothing of it was done; ask again."
_UNSENT = "I could not send the answer to this. It is in its chat on the router's page."
_UNSENT_NOTICE = "An answer could not be sent by Telegram; it is in its chat here"


class Talks:
    """The chats of one bot."""

    def __init__(self, part: Telegram, line: Line) -> None:
        self._part = part
        self.kit = kit = part.kit
        self.line = line
        self._lock = threading.Lock()
        self._busy: dict[int, str] = {}  # Telegram's chat -> the run that is shown there, "" before it began
        self._queues: dict[int, list[Queued]] = {}  # what waits for its turn there
        self.owed = Owed(kit.files, kit.root.run_folder + OWED, kit.root.state_folder + OWED, kit.log)
        self._is_telling = False
        self._no_news: list[str] = []  # notices and changes that Telegram shows in another way
        self._places: dict[tuple[int, int], str] = {}  # (Telegram's chat, message) -> chat here
        self._asked_s: dict[int, list[float]] = {}  # when a guest asked
        self.buttons = part.buttons
        self.approval = Approval(
            kit.call, part.codes, lambda: part.is_on("approve"), kit.clock.now_s, kit.approvals.outcome
        )

    def forget(self, chat: int) -> None:
        """Invalidate everything in a chat and end its run, because another person is there now."""
        self.buttons.forget(chat)
        self.approval.forget(chat)
        self.owed.drop(lambda one: one["chat"] == chat)
        with self._lock:
            run = self._busy.get(chat, "")
            self._queues.get(chat, []).clear()
            self._places = {place: here for place, here in self._places.items() if place[0] != chat}
        if run:
            self.kit.call("run.cancel", {"run": run}, OWNER)

    def is_said_here(self, notice: shapes.Notice) -> bool:
        """Return whether Telegram shows in another way what a notice says: in an answer, or as part of a run there."""
        with self._lock:
            is_told = notice["kind"] == "change_applied" and notice.get("change") in self._no_news
            return is_told or notice["id"] in self._no_news

    def note_shown(self, name: str) -> None:
        """Note a notice or a change that Telegram shows in another way."""
        with self._lock:
            self._no_news = [*self._no_news, name][-2 * _PLACES :]

    # What comes

    def message(self, person: Person, update: Update) -> None:
        """Take a message of somebody paired."""
        text, is_owner, is_forwarded = update["text"].strip(), person["role"] == "owner", update.get("is_forwarded")
        self.tell_owed()
        is_code = is_owner and not is_forwarded and people.is_code(text)
        if is_code and (self.approval.awaits(update["chat"]) or self._part.codes.has_secret()):
            # Six digits: off the chat first, then judged; they are in no log and no chat of ours.
            self.line.tell("deleteMessage", {"chat_id": update["chat"], "message_id": update["message"]})
            self._say(update, self.approval.code(update["chat"], people.plain(text)), is_reply=False)
        elif self.kit.clock.unix_s() - update["when_unix_s"] > STALE_S and self.kit.is_clock_trusted(0):
            self._say(update, "This came while I was away, so I did nothing. Send it again if it is still meant.")
        elif text.startswith("/") and not is_forwarded:
            self._command(person, update, text.split()[0].split("@")[0].lower())
        elif update.get("file") and not is_owner:
            self._say(update, "Files are for the router's owner.")
        elif text or update.get("file"):
            self._begin(person, update, text)
        else:
            self._say(update, "I understand text, documents and photos.")

    def _command(self, person: Person, update: Update, command: str) -> None:
        is_owner = person["role"] == "owner"
        if command == "/new":
            self._part.people.talk(person["id"], "")
            self._say(update, "A new chat begins with your next message.")
        elif command == "/stop":
            self._say(update, self._stop(update["chat"], OWNER if is_owner else GUEST))
        elif command == "/status":
            self._begin(person, update, "status", OFFLINE if built_in(OFFLINE)["ready"] else "")
        elif command == "/undo" and is_owner:
            self._undo(person, update)
        elif command in ("/help", "/start"):
            self._say(update, HELP if is_owner else GUEST_HELP)
        else:
            self._say(update, "There is no command %s here. /help lists them." % clean.name(command, 20))

    def _stop(self, chat: int, role: Role) -> str:
        """End the answer being given and drop what waits behind it; return what to say."""
        with self._lock:
            run, queue = self._busy.get(chat, ""), self._queues.get(chat, [])
            dropped = [entry for _, _, _, entry in queue]
            queue.clear()
        for entry in dropped:
            self.owed.end(entry)
        if run:
            self.kit.call("run.cancel", {"run": run}, role)
        words = "Stopping." if run else "" if dropped else "Nothing is being answered here."
        count = "the message" if len(dropped) == 1 else "the %d messages" % len(dropped)
        return (words + (" I do not answer %s that waited." % count if dropped else "")).strip()

    def press(self, person: Person, update: Update) -> None:
        """Take a press of a button."""
        found = self.buttons.take(update["data"], update["chat"]) if person["role"] == "owner" else None
        if found is None:
            words = _UNKNOWN_BUTTON
        elif found["what"] == "pressed":
            words = "This was pressed already."
        elif found["what"] == "undo":
            self._undo(person, update, found["change"])
            words = "Undoing."
        else:
            words = self._decide(update, found["card"], found["what"])
        self.line.tell(
            "answerCallbackQuery",
            {"callback_query_id": update["button"], "text": self.line.spoken(update["chat"], words)[:190]},
        )

    def _decide(self, update: Update, card: Card, what: str) -> str:
        over, words = self.approval.over(card), ""
        try:
            if what in ("decline", "choose") and not over:
                reason = {"reason": card["choice"]["say"]} if what == "choose" else {}
                self.kit.call("plan.decline", {"plan": card["id"], **reason}, OWNER)
                return "Declined."
            words = over or self.approval.press(update["chat"], card)
        except OasisError as error:
            words = over = self.approval.over(card) or error.message
        if over:
            # The card becomes its outcome; where another run proposed the plan, nobody else does that.
            decision, _ = self.kit.approvals.outcome(card["id"])
            if decision not in ("", "waiting"):
                put(self.line, update["chat"], of_decision(card, decision), edits=update["message"])
        else:
            self._say(update, words, is_reply=False)
        return words or "Approved."

    def show_waiting(self, plan: str, chats: list[int]) -> None:
        """Show a plan that waits, of somebody else's run, in chats of owners."""
        for card in self.kit.call("plan.list", {}, OWNER)["plans"]:
            for chat in chats if card["id"] == plan else ():
                show_plan(self.line, chat, card, self.buttons, self.approval)

    # Runs

    def _begin(self, person: Person, update: Update, text: str, service: str = "") -> None:
        if person["role"] != "owner":
            now_s, chat = self.kit.clock.now_s(), update["chat"]
            times = [one for one in self._asked_s.get(chat, []) if now_s - one < 3600]
            self._asked_s[chat] = [*times, now_s][:AN_HOUR]
            if len(times) >= AN_HOUR:
                self._say(update, "That is enough for an hour.")
                return
        self._start(person, update, lambda: self._asked(person, update, text, service))

    def _undo(self, person: Person, update: Update, change: str = "") -> None:
        asked: dict[str, object] = {"change": change} if change else {}
        self._start(person, update, lambda: str(self.kit.call("change.undo", asked, OWNER)["run"]))

    def _start(self, person: Person, update: Update, begin: Callable[[], str]) -> None:
        """Begin a run by `begin()` and show it, in the chat's thread, one run after the other."""
        chat, message = update["chat"], _number_of(update)
        with self._lock:
            queue = self._queues.setdefault(chat, [])
            is_full, is_busy = len(queue) >= QUEUE, chat in self._busy
            if not is_full:
                queue.append((person, update, begin, self.owed.begin(chat, message, is_busy)))
                self._busy.setdefault(chat, "")
        if not is_busy:
            threading.Thread(target=self._work_off, args=(chat,), name="telegram chat", daemon=True).start()
        elif is_full or message or self.owed.plan(chat):  # a press shows words of its own
            plan, now = self.owed.plan(chat), "I am still answering."
            if plan is not None:
                now = "Plan %s still waits: %s." % (plan["short"], plain(plan["summary"]))
            if is_full:
                now += " I do not keep this message, for others wait already. /stop ends that."
            elif plan is None:
                now = "I answer this after what I am answering now. /stop ends that, and drops this."
            else:
                now += " I answer this when it is decided, above or on the router's page. /stop ends it and drops this."
            self._say(update, now)

    def _work_off(self, chat: int) -> None:
        while True:
            with self._lock:
                if not self._queues[chat] or self.line.is_closed():
                    del self._busy[chat], self._queues[chat]
                    return
                person, update, begin, waiting = self._queues[chat].pop(0)
                self._busy[chat] = ""
            self.owed.note(waiting, "is_queued", None)
            if self._told(person, update, begin, waiting) and not self.line.is_closed():
                self.owed.end(waiting)

    def _told(self, person: Person, update: Update, begin: Callable[[], str], entry: Open) -> bool:
        """Begin a run and show it; False where its answer could not be sent."""
        chat, role, run = update["chat"], OWNER if person["role"] == "owner" else GUEST, ""
        try:
            if self._paired(person) is None:
                return True
            run = begin()
            with self._lock:
                self._busy[chat] = run
            if self._paired(person) is None:  # forgotten a moment ago, when there was no run to end yet
                self.kit.call("run.cancel", {"run": run}, OWNER)
            answer = Following(self, chat, role, entry).follow(run, _number_of(update))
            now = self._paired(person)
            if now is not None:
                # /new may have come meanwhile: the place of an answer is where its run was.
                here = str(self.kit.runs.get(run).chat) or now.get("talk", "")
                with self._lock:
                    self._places.update({(chat, message): here for message in answer.messages if here})
                    for old in list(self._places)[:-_PLACES]:
                        del self._places[old]
            return True
        except OasisError as error:
            if run and isinstance(error, RefusedError):
                return self._unsent(run, entry, error)
            fault = error  # that the message's file could not be fetched can be said
        except Exception:
            traceback.print_exc(file=sys.stderr)
            fault = OasisError("a fault in oasis ended this answer", "its log tells more")
        words = "\n".join(filter(None, (fault.message, fault.hint)))
        try:
            put(self.line, chat, words, reply_to=_number_of(update), tries=LASTING)
            return True
        except RefusedError as refused:
            return self._unsent(run, entry, refused)

    # What is owed

    def _unsent(self, run: str, entry: Open, refused: RefusedError) -> bool:
        """Note an answer that Telegram did not take and where to read it; its chat hears of it later."""
        if not self.line.is_closed():
            self.kit.log("telegram: an answer could not be sent: %s" % refused.message)
            self.owed.note(entry, "plan", None)
            self.owed.note(entry, "is_unsent", True)
            here = str(self.kit.runs.get(run).chat) if run else ""
            self.note_shown(str(self.kit.parts.part("notice").tell("event", _UNSENT_NOTICE, chat=here)["id"]))
        return False

    def tell_owed(self) -> None:
        """Tell each chat what was lost when the daemon ended and what could not be sent; never waits."""
        with self._lock:
            if self._is_telling or not self.owed.untold():
                return
            self._is_telling = True
        threading.Thread(target=self._tell_owed, name="telegram owed", daemon=True).start()

    def _tell_owed(self) -> None:
        try:
            for entry in self.owed.untold():
                plan, chat = entry.get("plan"), entry["chat"]
                try:
                    if not any(one["chat"] == chat for one in self._part.people.all()):
                        pass  # nobody there is paired any more
                    elif plan and self.kit.approvals.outcome(plan["id"])[0] == "waiting":
                        self.show_waiting(plan["id"], [chat])  # the messenger was off meanwhile, and not the daemon
                    else:
                        words = _UNSENT if entry.get("is_unsent") else _LOST if entry["message"] else _LOST_PRESS
                        words = _LOST_PLAN % (plan["short"], plain(plan["summary"])) if plan else words
                        put(self.line, chat, words, reply_to=entry["message"])
                except RefusedError as refused:
                    if is_passing(refused) or self.line.is_closed():
                        return  # with the next message, or the next start
                self.owed.end(entry)
        finally:
            with self._lock:
                self._is_telling = False

    def _paired(self, person: Person) -> Person | None:
        """Return somebody as they are now, None where they are paired no more."""
        return next((one for one in self._part.people.all() if one["id"] == person["id"]), None)

    def _asked(self, person: Person, update: Update, text: str, service: str) -> str:
        """Begin the run of a message, in the chat that it replies to or the one of its sender; return the run."""
        with self._lock:
            here = self._places.get((update["chat"], update.get("reply_to", 0)), "")
        now, file = self._paired(person), update.get("file")
        here = here or (now.get("talk", "") if now is not None else "")
        if here and not any(item["id"] == here for item in self.kit.chats.items()):
            here = ""  # deleted meanwhile
        asked: shapes.Asked = {"message": text or "Here is the file %s." % update["file"]["name"], "chat": here}
        if service:
            asked["service"] = service
        if file and person["role"] == "owner":
            if file["bytes"] > FILE_BYTES:
                raise UsageError("the file has more than %d MiB" % (FILE_BYTES >> 20), "send the part that matters")
            data, name = self.line.file(file["id"], FILE_BYTES), clean.name(file["name"], 120) or "file"
            asked["attachments"] = [str(self.kit.conversations().uploads.put(name, data)[0])]
        if person["role"] != "owner":
            begun = self.kit.turn_starter().start(_as_turn(asked, WORDS), (), Guest())
            chat, run = begun.chat, begun.id
        elif update.get("is_forwarded"):  # somebody else's words, whoever sent them
            uploads, talks = asked.pop("attachments", []), self.kit.conversations()
            files = talks.files(uploads) if uploads else []
            begun = self.kit.turn_starter().start({**_as_turn(asked, FORWARDED), "files": files}, (), MESSENGER)
            if uploads:
                talks.uploads.drop(uploads)
            chat, run = begun.chat, begun.id
        else:
            reply = self.kit.call("run.start", {**asked}, OWNER)
            chat, run = str(reply["chat"]), str(reply["run"])
        self._part.people.talk(person["id"], chat)
        return run

    def _say(self, update: Update, words: str, is_reply: bool = True) -> None:
        if words:
            put(self.line, update["chat"], words, reply_to=_number_of(update) if is_reply else 0)


def _number_of(update: Update) -> int:
    return update["message"] if update["kind"] == "message" else 0


def _as_turn(asked: shapes.Asked, whose: str) -> TurnAsked:
    service = asked.get("service", "")
    return {"message": asked["message"], "chat": asked["chat"], "service": service, "taint": [whose]}


# Longer than this a telephone shows somebody typing no more.
_TYPING_S = 4.5
_WAIT_MS, _WAITING_MS = 1000, 5000
# What is done sooner needs no word that it is being done.
_PATIENCE_S = 2.5
# Between two looks at a run that is talking: pieces of text join meanwhile.
_JOIN_S = 0.3
# Between two tries to show a card that was not taken.
_AGAIN_S = 5.0
_UNSHOWN = "(A part of this could not be shown here. It is on the router's page.)"


class Following:
    """Follows a run in one chat, with the role of who is there; `entry` is what the chat waits for."""

    def __init__(self, talks: Talks, chat: int, role: Role, entry: Open) -> None:
        self._talks = talks
        self._line = talks.line
        self._chat = chat
        self._role = role
        self._entry = entry
        self._now_s = talks.kit.clock.now_s
        self._typed_s = 0.0
        self._unshown: list[shapes.CardEvent] = []  # events whose cards are still to be shown
        self._again_s = 0.0
        self._cards: dict[str, tuple[int, Card]] = {}  # plan -> its message, and the card
        self._changes: dict[str, int] = {}  # change -> its message

    def follow(self, run: str, reply_to: int) -> Answer:
        """Show a run to its end; return the answer with its messages.

        Raises: OasisError when Telegram takes nothing more, or the run is gone.
        """
        answer, told, since = Answer(self._line, self._chat, reply_to), RunText(), 0
        wait_ms, began_s = _WAIT_MS, self._now_s()
        while not self._line.is_closed():
            reply = self._talks.kit.call("run.poll", {"run": run, "since": since, "wait_ms": wait_ms}, self._role)
            for event in reply["events"]:
                told.take(event)
                if event["type"] == "plan" and event["plan"]["needs_approval"]:
                    card = event["plan"]
                    summary = clean.line(card["summary"])[:_SUMMARY_CHARS]
                    kept: shapes.PlanName = {"id": card["id"], "short": card["short"], "summary": summary}
                    self._talks.owed.note(self._entry, "plan", kept)
                elif event["type"] == "approval":
                    self._talks.owed.note(self._entry, "plan", None)
                if event["type"] in ("plan", "approval", "change"):
                    self._unshown.append(event)
            since, is_over = reply["next"], reply["state"] not in ("running", "waiting")
            if not self._show_cards(is_over):
                told.note(_UNSHOWN)
            text = told.text(not is_over and self._now_s() - began_s > _PATIENCE_S)
            if is_over:
                if text or not (self._cards or self._changes):
                    answer.show(text or "Done.", True)
                break
            if text and self._line.may_say(self._chat):
                answer.show(text, False)
            elif not text and reply["state"] == "running" and self._now_s() - self._typed_s >= _TYPING_S:
                self._typed_s = self._now_s()
                self._line.tell("sendChatAction", {"chat_id": self._chat, "action": "typing"})
            wait_ms = _WAIT_MS if reply["state"] == "running" else _WAITING_MS
            if reply["events"]:
                self._line.wait(_JOIN_S)
        return answer

    def _show_cards(self, is_last: bool) -> bool:
        """Show the cards that are due; those not taken now come later. False when one cannot be shown at all."""
        is_shown = True
        while self._unshown and not self._line.is_closed() and (is_last or self._now_s() >= self._again_s):
            event = self._unshown[0]
            try:
                self._card(event, LASTING if is_last else 1)
            except RefusedError as refused:
                if not is_last and is_passing(refused):
                    self._again_s = self._now_s() + max(refused.wait_s, _AGAIN_S)
                    break
                is_shown = False  # the answer must not be lost with it
                if is_passing(refused):  # for minutes now: nor is it to wait behind more cards
                    self._unshown.clear()
                    break
            self._unshown.pop(0)
        return is_shown

    def _card(self, event: shapes.CardEvent, tries: int) -> None:
        """Show what an event tells of a plan or a change in a message of its own."""
        line, chat, talks = self._line, self._chat, self._talks
        if event["type"] == "plan":
            card = event["plan"]
            if card["needs_approval"]:
                self._cards[card["id"]] = show_plan(line, chat, card, talks.buttons, talks.approval, tries), card
        elif event["type"] == "approval":
            if event["plan"] in self._cards:
                message, card = self._cards[event["plan"]]
                put(line, chat, of_decision(card, event["decision"]), edits=message, tries=tries)
        else:
            change = event["change"]
            talks.note_shown(change["id"])
            text = of_change(change, talks.approval.is_keeping())
            is_undoable = change["state"] in ("applied", "confirmed")
            buttons = [[talks.buttons.make("Undo", chat, "undo", change=change["id"])]] if is_undoable else []
            known = self._changes.get(change["id"], 0)
            self._changes[change["id"]] = put(line, chat, text, edits=known, buttons=buttons, tries=tries) or known


def show_plan(line: Line, chat: int, card: Card, buttons: Buttons, approval: Approval, tries: int = TRIES) -> int:
    """Show a plan that waits, with its buttons; return its message."""
    is_approvable = approval.is_possible(card)
    row = [buttons.make("Decline", chat, "decline", card=card)]
    if is_approvable:
        row.insert(0, buttons.make("Approve", chat, "approve", card=card))
    rows = [row]
    if card.get("choice"):
        text = clean.line("%(say)s: %(text)s" % card["choice"])[:_SUMMARY_CHARS]
        rows.append([buttons.make(text, chat, "choose", card=card)])
    return put(line, chat, of_plan(card, is_approvable), buttons=rows, tries=tries)


# More than all chats of a router have open at once; a file that was tampered with tells no more either.
MOST = 64
_WAITS = ("is_queued", "plan", "is_unsent")


class Owed:
    """What is open in the chats of one bot, also from an earlier daemon or thread; `ram` and `flash` are paths."""

    def __init__(self, files: Files, ram: str, flash: str, log: Callable[[str], object]) -> None:
        self._files = files
        self._ram, self._flash = ram, flash
        self._log = log
        self._lock = threading.Lock()
        self._open: list[Open] = []
        self._on_flash = files.read(flash) or b""
        # RAM has the newest, where the router was not off meanwhile.
        try:
            kept = jsonl.loads(files.read(ram) or self._on_flash or b"[]")
        except SchemaError:
            kept = []
        self._lost: list[Open] = [one for one in kept[:MOST] if _is_entry(one)] if isinstance(kept, list) else []

    def begin(self, chat: int, message: int, is_queued: bool) -> Open:
        """Note a message that is not answered yet; return its entry."""
        entry: Open = {"chat": chat, "message": message}
        with self._lock:
            self._open.append(entry)
            if is_queued:
                entry["is_queued"] = True
            self._keep()
        return entry

    def note(self, entry: Open, name: Name, value: object) -> None:
        """Note something about an entry, or forget it with None; one that is over stays over."""
        with self._lock:
            if entry.get(name) == value or not any(one is entry for one in self._open):
                return
            entry.pop(name, None)
            if value is not None:
                entry[name] = value  # type: ignore[typeddict-item]
            self._keep()

    def plan(self, chat: int) -> shapes.PlanName | None:
        """Return the plan that a chat waits for."""
        with self._lock:
            return next((one["plan"] for one in self._open if one["chat"] == chat and one.get("plan")), None)

    def untold(self) -> list[Open]:
        """Return what was lost or could not be sent, and its chat does not know yet."""
        with self._lock:
            return [*self._lost, *(one for one in self._open if one.get("is_unsent"))]

    def end(self, entry: Open) -> None:
        """Forget an entry: it was answered, its owner stopped it, or its chat knows of it now."""
        self.drop(lambda one: one is entry)

    def drop(self, is_over: Callable[[Open], bool]) -> None:
        """Forget some entries."""
        with self._lock:
            self._lost = [one for one in self._lost if not is_over(one)]
            self._open = [one for one in self._open if not is_over(one)]
            self._keep()

    def _keep(self) -> None:
        entries = [*self._lost, *self._open][-MOST:]
        is_waiting = bool(self._lost) or any(one.get(name) for one in entries for name in _WAITS)
        data = jsonl.line(entries)
        flash = data if is_waiting else b""
        try:
            self._files.replace(self._ram, data)
            if flash == self._on_flash:
                return
            if flash:
                self._files.folder(os.path.dirname(self._flash))
                self._files.replace(self._flash, flash)
            else:
                self._files.remove(self._flash)
            self._on_flash = flash
        except OasisError as error:  # a full flash loses what a chat would learn after a kill, and no answer
            self._log("telegram: what waits is not kept: %s" % error.message)


def _is_entry(one: Json) -> TypeGuard[Open]:
    if not isinstance(one, dict) or not all(type(one.get(name)) is int for name in ("chat", "message")):
        return False
    plan = one.get("plan", {})
    return isinstance(plan, dict) and all(isinstance(value, str) for value in plan.values())
