"""Conversations with paired people: messages become runs, presses decide about plans, a few commands are answered.

An owner here has the role `messenger`: their messages count as in a chat, but what would wait for approval on the page
waits here too (card.py). A guest's runs have the principal of people.py. Each answer is shown by a thread of its own,
one at a time in a chat; commands and presses are handled at once. A run is followed by polling, as in every front end,
until it is over or the line is closed. Knows no worker.
"""

from __future__ import annotations

import sys
import threading
import traceback

from oasis.core import clean
from oasis.errors import OasisError, UsageError
from oasis.parts.telegram import card as telegram_card
from oasis.parts.telegram import people
from oasis.parts.telegram import text as telegram_answer
from oasis.parts.telegram.card import Approval, of_decision, plain
from oasis.parts.telegram.line import TRIES, RefusedError, is_passing
from oasis.parts.telegram.people import AN_HOUR, WORDS, Guest
from oasis.parts.telegram.text import Answer, RunText
from oasis.tools.principal import MESSENGER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.agent.shapes import Asked as TurnAsked
    from oasis.parts.telegram.card import Buttons
    from oasis.parts.telegram.line import Line
    from oasis.parts.telegram.messenger import Telegram
    from oasis.parts.telegram.shapes import (
        Asked,
        Callable,
        Card,
        CardEvent,
        Change,
        Event,
        File,
        Meaning,
        Open,
        Person,
        PlanName,
        Role,
        Update,
    )

    Queued = tuple[Person, Update, Callable[[], str], int]

OWNER: Role = {"name": "messenger", "terminal": False, "pid": 0}
GUEST: Role = {"name": "guest", "terminal": False, "pid": 0}
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
_FILE_TEXT = "Here is the file %s."


class Talks:
    """The chats of one bot."""

    def __init__(self, part: Telegram, line: Line) -> None:
        self._part = part
        self.kit = kit = part.kit
        self.line = line
        self._lock = threading.Lock()
        self._busy: dict[int, str] = {}  # Telegram's chat -> the run that is shown there, "" before it began
        self._queues: dict[int, list[Queued]] = {}  # what waits for its turn there
        self.owed = part.owed()
        self._is_telling = False
        self._said_here: list[str] = []  # notices that are no news in Telegram
        self._places: dict[tuple[int, int], str] = {}  # (Telegram's chat, message) -> chat here
        self._asked_s: dict[int, list[float]] = {}  # when a guest asked
        self._told_changes: list[str] = []
        self.buttons = part.buttons()
        self.approval = Approval(
            kit.call, part.codes, lambda: part.is_on("approve"), kit.clock.now_s, kit.approvals.outcome
        )

    def forget(self, chat: int) -> None:
        """Invalidate everything in a chat and end its run, because another person is there now."""
        self.buttons.forget(chat)
        self.approval.forget(chat)
        self.owed.forget(chat)
        with self._lock:
            run = self._busy.get(chat, "")
            self._queues.get(chat, []).clear()
            self._places = {place: here for place, here in self._places.items() if place[0] != chat}
        if run:
            self.kit.call("run.cancel", {"run": run}, OWNER)

    def was_told(self, change: str) -> bool:
        """Return whether a change was shown in Telegram as part of a run there."""
        with self._lock:
            return change in self._told_changes

    def is_said_here(self, notice: str) -> bool:
        """Return whether Telegram shows in another way what a notice says."""
        return notice in self._said_here

    def tell_change(self, change: str) -> None:
        """Note that a change is shown in Telegram."""
        with self._lock:
            self._told_changes = [*self._told_changes, change][-_PLACES:]

    # What comes

    def message(self, person: Person, update: Update) -> None:
        """Take a message of somebody paired."""
        text, is_owner = update["text"].strip(), person["role"] == "owner"
        self.tell_owed()
        if (
            is_owner
            and not update.get("is_forwarded")
            and people.is_code(text)
            and (self.approval.awaits(update["chat"]) or self.approval.has_codes())
        ):
            self._code(update, text)
        elif self._is_stale(update):
            self._say(update, "This came while I was away, so I did nothing. Send it again if it is still meant.")
        elif text.startswith("/") and not update.get("is_forwarded"):
            self._command(person, update, text.split()[0].split("@")[0].lower())
        elif update.get("file") and not is_owner:
            self._say(update, "Files are for the router's owner.")
        elif text or update.get("file"):
            self._begin(person, update, text)
        else:
            self._say(update, "I understand text, documents and photos.")

    def _is_stale(self, update: Update) -> bool:
        age_s = self.kit.clock.unix_s() - update["when_unix_s"]
        return bool(age_s > STALE_S and self.kit.is_clock_trusted(0))

    def _code(self, update: Update, text: str) -> None:
        """Take six digits: off the chat first, then judged; they are in no log and no chat of ours."""
        self.line.tell("deleteMessage", {"chat_id": update["chat"], "message_id": update["message"]})
        words = self.approval.code(update["chat"], people.plain(text))
        if words:
            self._say(update, words, is_reply=False)

    def _command(self, person: Person, update: Update, command: str) -> None:
        is_owner, chat = person["role"] == "owner", update["chat"]
        if command == "/new":
            self._part.people().talk(person["id"], "")
            self._say(update, "A new chat begins with your next message.")
        elif command == "/stop":
            self._say(update, self._stop(person, chat))
        elif command == "/status":
            self._begin(person, update, "status", "offline")
        elif command == "/undo" and is_owner:
            self._undo(person, update)
        elif command in ("/help", "/start"):
            self._say(update, HELP if is_owner else GUEST_HELP)
        else:
            self._say(update, "There is no command %s here. /help lists them." % clean.name(command, 20))

    def _stop(self, person: Person, chat: int) -> str:
        """End the answer being given and drop what waits behind it; return what to say."""
        with self._lock:
            run, queue = self._busy.get(chat, ""), self._queues.get(chat, [])
            dropped = [number for _, _, _, number in queue]
            queue.clear()
        for number in dropped:
            self.owed.end(number)
        if run:
            self.kit.call("run.cancel", {"run": run}, OWNER if person["role"] == "owner" else GUEST)
        words = "Stopping." if run else "" if dropped else "Nothing is being answered here."
        count = "the message" if len(dropped) == 1 else "the %d messages" % len(dropped)
        return (words + (" I do not answer %s that waited." % count if dropped else "")).strip()

    def press(self, person: Person, update: Update) -> None:
        """Take a press of a button."""
        chat, words = update["chat"], _UNKNOWN_BUTTON
        found = self.buttons.take(update["data"], chat) if person["role"] == "owner" else None
        if found is not None:
            words = self._pressed(person, update, found)
        self.line.tell("answerCallbackQuery", {"callback_query_id": update["button"], "text": words[:190]})

    def _pressed(self, person: Person, update: Update, found: Meaning) -> str:
        """Do what a button means; return what to say."""
        if found["what"] == "pressed":
            return "This was pressed already."
        if found["what"] == "undo":
            self._undo(person, update, found["change"])
            return "Undoing."
        card = found["card"]
        over = self.approval.over(card)
        try:
            words = over or (self._declined(card) if found["what"] == "decline" else "")
            asked = words or self.approval.press(update["chat"], card)
        except OasisError as error:
            asked = words = over = self.approval.over(card) or error.message
        if over:
            self._show_decision(update, card)
        elif asked and not words:
            self._say(update, asked, is_reply=False)
        return asked or "Approved."

    def _declined(self, card: Card) -> str:
        self.kit.call("plan.decline", {"plan": card["id"], "reason": "declined by messenger"}, OWNER)
        return "Declined."

    def _show_decision(self, update: Update, card: Card) -> None:
        """Replace the card of a plan by its outcome; where another run proposed it, nobody else does."""
        decision, _ = self.kit.approvals.outcome(card["id"])
        if decision not in ("", "waiting"):
            telegram_answer.change(self.line, update["chat"], update["message"], of_decision(card, decision))

    def waiting(self, plan: str) -> None:
        """Show a plan that waits, of somebody else's run, to the owners."""
        self._show(plan, [owner["chat"] for owner in self._part.people().owners()])

    def _show(self, plan: str, to: list[int]) -> None:
        for card in self.kit.call("plan.list", {}, OWNER)["plans"]:
            for chat in to if card["id"] == plan else ():
                show_plan(self.line, chat, card, self.buttons, self.approval)

    # Runs

    def _begin(self, person: Person, update: Update, text: str, service: str = "") -> None:
        if person["role"] != "owner" and not self._has_room(update["chat"]):
            self._say(update, "That is enough for an hour.")
            return
        self._start(person, update, lambda: self._asked(person, update, text, service))

    def _undo(self, person: Person, update: Update, change: str = "") -> None:
        """Begin to undo a change, the newest where none is named."""
        asked: dict[str, object] = {"change": change} if change else {}
        self._start(person, update, lambda: str(self.kit.call("change.undo", asked, OWNER)["run"]))

    def _has_room(self, chat: int) -> bool:
        """Tell whether a guest may ask once more within an hour, and count it."""
        now_s = self.kit.clock.now_s()
        times = [one for one in self._asked_s.get(chat, []) if now_s - one < 3600]
        self._asked_s[chat] = [*times, now_s] if len(times) < AN_HOUR else times
        return len(times) < AN_HOUR

    def _start(self, person: Person, update: Update, begin: Callable[[], str]) -> None:
        """Begin a run by `begin()` and show it, in the chat's thread, one run after the other."""
        chat = update["chat"]
        message = update["message"] if update["kind"] == "message" else 0
        with self._lock:
            queue = self._queues.setdefault(chat, [])
            is_full, is_busy = len(queue) >= QUEUE, chat in self._busy
            if not is_full:
                queue.append((person, update, begin, self.owed.begin(chat, message, is_busy)))
                self._busy.setdefault(chat, "")
        if not is_busy:
            threading.Thread(target=self._work_off, args=(chat,), name="telegram chat", daemon=True).start()
        elif is_full or message or self.owed.plan(chat):  # a press shows words of its own
            self._say(update, self._later(chat, is_full))

    def _later(self, chat: int, is_full: bool) -> str:
        """Return what is said at once to a message that comes while something else is being answered."""
        plan = self.owed.plan(chat)
        if plan is None:
            now = "I am still answering."
            then = "I answer this after what I am answering now. /stop ends that, and drops this."
        else:
            now = "Plan %s still waits: %s." % (plan["short"], plain(plan["summary"]))
            then = (
                now + " I answer this when it is decided, above or on the router's page. /stop ends it and drops this."
            )
        return now + " I do not keep this message, for others wait already. /stop ends that." if is_full else then

    def _work_off(self, chat: int) -> None:
        """Work off the queue of a chat."""
        while True:
            with self._lock:
                if not self._queues[chat] or self.line.is_closed():
                    del self._busy[chat], self._queues[chat]
                    return
                person, update, begin, number = self._queues[chat].pop(0)
                self._busy[chat] = ""
            self.owed.note(number, "is_queued", None)
            if self._told(person, update, begin, number) and not self.line.is_closed():
                self.owed.end(number)

    def _told(self, person: Person, update: Update, begin: Callable[[], str], number: int) -> bool:
        """Begin a run and show it; False where its answer could not be sent."""
        chat, role, run = update["chat"], OWNER if person["role"] == "owner" else GUEST, ""
        try:
            if not self._is_paired(person):
                return True
            run = begin()
            with self._lock:
                self._busy[chat] = run
            if not self._is_paired(person):  # forgotten a moment ago, when there was no run to end yet
                self.kit.call("run.cancel", {"run": run}, OWNER)
            following = Following(self, chat, role, number)
            answer = following.follow(run, update["message"] if update["kind"] == "message" else 0)
            # /new may have come meanwhile: the place of an answer is where its run was.
            here = str(self.kit.runs.get(run).chat) or self._here(person)
            self._remember(chat, here if self._is_paired(person) else "", answer.messages)
            return True
        except RefusedError as error:
            if not run:  # the message's file could not be fetched: that can be said
                return self._fail(update, error, run, number)
            return self._unsent(run, number, error)
        except OasisError as error:
            return self._fail(update, error, run, number)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            fault = OasisError("a fault in oasis ended this answer", "its log tells more")
            return self._fail(update, fault, run, number)

    def _fail(self, update: Update, error: OasisError, run: str, number: int) -> bool:
        reply_to = update["message"] if update["kind"] == "message" else 0
        try:
            self.line.lasting(
                lambda tries: telegram_answer.put(
                    self.line, update["chat"], reason(error), reply_to=reply_to, tries=tries
                )
            )
            return True
        except RefusedError as refused:
            return self._unsent(run, number, refused)

    # What is owed

    def _unsent(self, run: str, number: int, refused: RefusedError) -> bool:
        """Note an answer that Telegram did not take and where to read it; its chat hears of it later."""
        if self.line.is_closed():
            return False
        self.kit.log("telegram: an answer could not be sent: %s" % refused.message)
        self.owed.note(number, "plan", None)
        self.owed.note(number, "is_unsent", True)
        here = str(self.kit.runs.get(run).chat) if run else ""
        told = self.kit.parts.part("notice").tell("event", _UNSENT_NOTICE, chat=here)
        self._said_here = [*self._said_here, str(told["id"])][-_PLACES:]
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
                is_there = any(one["chat"] == entry["chat"] for one in self._part.people().all())
                if is_there and not self._tell_entry(entry):
                    return  # with the next message, or the next start
                self.owed.told(entry)
        finally:
            with self._lock:
                self._is_telling = False

    def _tell_entry(self, entry: Open) -> bool:
        """Tell a chat what became of one message or plan; False where that has to be tried later."""
        plan, chat = entry.get("plan"), entry["chat"]
        try:
            if plan and self._is_waiting(plan):  # the messenger was off meanwhile, and not the daemon
                self._show(plan["id"], [chat])
            else:
                words = _UNSENT if entry.get("is_unsent") else _LOST if entry["message"] else _LOST_PRESS
                words = _LOST_PLAN % (plan["short"], plain(plan["summary"])) if plan else words
                telegram_answer.put(self.line, chat, words, reply_to=entry["message"])
        except RefusedError as refused:
            return not is_passing(refused) and not self.line.is_closed()
        return True

    def _is_waiting(self, plan: PlanName) -> bool:
        return bool(self.kit.approvals.outcome(plan["id"])[0] == "waiting")

    def _remember(self, chat: int, here: str, messages: list[int]) -> None:
        with self._lock:
            for message in messages if here else ():
                self._places[chat, message] = here
            for old in list(self._places)[:-_PLACES]:
                del self._places[old]

    def _is_paired(self, person: Person) -> bool:
        return any(one["id"] == person["id"] for one in self._part.people().all())

    def _here(self, person: Person) -> str:
        """Return the chat here that somebody talks in, "" for none."""
        return str(next((one.get("talk", "") for one in self._part.people().all() if one["id"] == person["id"]), ""))

    def _asked(self, person: Person, update: Update, text: str, service: str) -> str:
        """Begin the run of a message; return its id."""
        with self._lock:
            here = self._places.get((update["chat"], update.get("reply_to", 0)), "")
        here = here or self._here(person)
        if here and not any(item["id"] == here for item in self.kit.chats.items()):
            here = ""  # deleted meanwhile
        asked: Asked = {"message": text or _FILE_TEXT % update["file"]["name"], "chat": here}
        if service:
            asked["service"] = service
        if person["role"] == "owner":
            if update.get("file"):
                asked["attachments"] = [self._taken(update["file"])]
            chat, name = self._forwarded(asked) if update.get("is_forwarded") else self._ordered(asked)
        else:
            begun = self.kit.turn_starter().start(_as_turn(asked, WORDS), (), Guest())
            chat, name = begun.chat, begun.id
        self._part.people().talk(person["id"], chat)
        return name

    def _ordered(self, asked: Asked) -> tuple[str, str]:
        """Begin the run of the owner's own words; return its chat and its id."""
        run = self.kit.call("run.start", {**asked}, OWNER)
        return str(run["chat"]), str(run["run"])

    def _forwarded(self, asked: Asked) -> tuple[str, str]:
        """Begin the run of words that the owner passes on: somebody else's, whoever sent them."""
        uploads, talks = asked.pop("attachments", []), self.kit.conversations()
        files = talks.files(uploads) if uploads else []
        run = self.kit.turn_starter().start({**_as_turn(asked, FORWARDED), "files": files}, (), MESSENGER)
        if uploads:
            talks.uploads.drop(uploads)
        return run.chat, run.id

    def _taken(self, file: File) -> str:
        """Fetch a file and put it among the uploads; return its id.

        Raises: UsageError for one that is too large.
        """
        if file["bytes"] > FILE_BYTES:
            raise UsageError("the file has more than %d MiB" % (FILE_BYTES >> 20), "send the part that matters")
        data = self.line.file(file["id"], FILE_BYTES)
        return str(self.kit.conversations().uploads.put(clean.name(file["name"], 120) or "file", data)[0])

    def _say(self, update: Update, words: str, is_reply: bool = True) -> None:
        reply_to = update["message"] if is_reply and update["kind"] == "message" else 0
        telegram_answer.put(self.line, update["chat"], words, reply_to=reply_to)


def _as_turn(asked: Asked, whose: str) -> TurnAsked:
    """Return a message of others as it begins a turn."""
    return {
        "message": asked["message"], "chat": asked["chat"], "service": asked.get("service", ""), "taint": [whose],
    }  # fmt: skip


def _noted(card: Card | None) -> PlanName | None:
    """Return what is kept of a plan that waits."""
    if card is None:
        return None
    return {"id": card["id"], "short": card["short"], "summary": clean.line(card["summary"])[:_SUMMARY_CHARS]}


_OPEN = ("running", "waiting")
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
    """Follows a run in one chat, with the role of who is there; `number` is that of what the chat waits for."""

    def __init__(self, talks: Talks, chat: int, role: Role, number: int) -> None:
        self._talks = talks
        self._line = talks.line
        self._chat = chat
        self._role = role
        self._number = number
        self._buttons = talks.buttons
        self._approval = talks.approval
        self._now_s = talks.kit.clock.now_s
        self._typed_s = 0.0
        self._unshown: list[CardEvent] = []  # events whose cards are still to be shown
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
                self._take(event)
            since, is_over = reply["next"], reply["state"] not in _OPEN
            if not self._show_cards(is_over):
                told.note(_UNSHOWN)
            text = told.text(not is_over and self._now_s() - began_s > _PATIENCE_S)
            if is_over:
                if text or not (self._cards or self._changes):
                    answer.show(text or "Done.", True)
                break
            if text and self._line.may_say(self._chat):
                answer.show(text, False)
            elif not text and reply["state"] == "running":
                self._type()
            wait_ms = _WAIT_MS if reply["state"] == "running" else _WAITING_MS
            if reply["events"]:
                self._line.wait(_JOIN_S)
        return answer

    def _type(self) -> None:
        if self._now_s() - self._typed_s >= _TYPING_S:
            self._typed_s = self._now_s()
            self._line.tell("sendChatAction", {"chat_id": self._chat, "action": "typing"})

    def _take(self, event: Event) -> None:
        """Take what an event tells of a plan or a change."""
        if event["type"] == "plan" and event["plan"]["needs_approval"]:
            self._talks.owed.note(self._number, "plan", _noted(event["plan"]))
        elif event["type"] == "approval":
            self._talks.owed.note(self._number, "plan", None)
        if event["type"] == "plan" or event["type"] == "approval" or event["type"] == "change":
            self._unshown.append(event)

    def _show_cards(self, is_last: bool) -> bool:
        """Show the cards that are due; those not taken now come later. False when one cannot be shown at all."""
        is_shown = True
        while self._unshown and not self._line.is_closed() and (is_last or self._now_s() >= self._again_s):
            event = self._unshown[0]
            try:
                if is_last:
                    self._last_card(event)
                else:
                    self._card(event, 1)
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

    def _last_card(self, event: CardEvent) -> None:
        self._line.lasting(lambda tries: self._card(event, tries))

    def _card(self, event: CardEvent, tries: int) -> None:
        """Show what an event tells of a plan or a change in a message of its own."""
        if event["type"] == "plan" and event["plan"]["needs_approval"]:
            self._cards[event["plan"]["id"]] = show_plan(
                self._line, self._chat, event["plan"], self._buttons, self._approval, tries
            )
        elif event["type"] == "approval" and event["plan"] in self._cards:
            message, card = self._cards[event["plan"]]
            words = telegram_card.of_decision(card, event["decision"])
            telegram_answer.change(self._line, self._chat, message, words, tries=tries)
        elif event["type"] == "change":
            self._change(event["change"], tries)

    def _change(self, change: Change, tries: int) -> None:
        self._talks.tell_change(change["id"])
        text = telegram_card.of_change(change, self._approval.is_keeping())
        buttons = [[self._buttons.make("Undo", self._chat, "undo", change=change["id"])]]
        if change["state"] not in ("applied", "confirmed"):
            buttons = []
        message = self._changes.get(change["id"], 0)
        if message:
            telegram_answer.change(self._line, self._chat, message, text, buttons=buttons, tries=tries)
        else:
            self._changes[change["id"]] = telegram_answer.put(
                self._line, self._chat, text, buttons=buttons, tries=tries
            )


def show_plan(
    line: Line, chat: int, card: Card, buttons: Buttons, approval: Approval, tries: int = TRIES
) -> tuple[int, Card]:
    """Show a plan that waits, with its buttons; return its message and the card."""
    is_approvable = approval.is_possible(card)
    row = [buttons.make("Decline", chat, "decline", card=card)]
    if is_approvable:
        row.insert(0, buttons.make("Approve", chat, "approve", card=card))
    return telegram_answer.put(line, chat, telegram_card.of_plan(card, is_approvable), buttons=[row], tries=tries), card


def reason(error: OasisError) -> str:
    """Return an error as it is said in a chat."""
    return "\n".join(filter(None, (error.message, error.hint)))
