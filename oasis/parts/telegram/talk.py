"""Who is paired talks with the router: messages become runs, presses become words on plans, commands are few.

An owner here has the role messenger: what he says is his word as it is in a chat, but what would wait for his word on
the page waits here too (card.py). A guest's runs are begun by people.py. Each answer is told in a
thread of its own, one at a time in a chat; commands and presses are done at once. Knows no worker.
"""

from __future__ import annotations

import sys
import threading

from oasis.agent.principal import MESSENGER
from oasis.core import clean
from oasis.errors import OasisError, UsageError
from oasis.parts.telegram import people
from oasis.parts.telegram import text as telegram_answer
from oasis.parts.telegram.card import Approval, of_decision, plain
from oasis.parts.telegram.line import RefusedError, is_passing
from oasis.parts.telegram.people import AN_HOUR, WORDS, Guest
from oasis.parts.telegram.run import Following, poller, reason, show_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.telegram.line import Line
    from oasis.parts.telegram.telegram import Telegram

    Values = dict[str, Any]

OWNER: dict[str, object] = {"name": "messenger", "terminal": False, "pid": 0}
GUEST: dict[str, object] = {"name": "guest", "terminal": False, "pid": 0}
# As much as a chat takes in one piece (chats/uploads.py).
FILE_BYTES = 4 * 1024 * 1024
# What waited longer at Telegram was meant for then, not for now.
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
_LOST_PRESS = "I was stopped before I told what came of an Undo here. The router's page shows it."
_LOST_PLAN = "I was stopped, and with that ended what waited here: plan %s (%s). Nothing of it was done; ask again."
_UNSENT = "I could not send the answer to this. It is in its chat on the router's page."
_UNSENT_NOTICE = "An answer could not be sent by Telegram; it is in its chat here"
_FILE_TEXT = "Here is the file %s."


class Talks:
    """The chats of one bot."""

    def __init__(self, part: Telegram, line: Line) -> None:
        self._part = part
        self._kit = kit = part.kit
        self._line = line
        self._lock = threading.Lock()
        self._busy: dict[int, str] = {}  # Telegram's chat -> the run that is told there, "" before it began
        self._queues: dict[int, list[tuple[Values, Values, Any, int]]] = {}  # what waits for its turn there
        self._owed = part.owed()
        self._is_telling = False
        self._said_here: list[str] = []  # notices that are no news in Telegram
        self._places: dict[tuple[int, int], str] = {}  # (Telegram's chat, message) -> chat here
        self._asked_s: dict[int, list[float]] = {}  # when a guest asked
        self._told_changes: list[str] = []
        self.buttons = part.buttons()
        self.approval = Approval(
            kit.call, part.codes, lambda: part.is_on("approve"), kit.clock.now_s, kit.shop.desk.outcome
        )

    def forget(self, chat: int) -> None:
        """Let nothing in a chat mean anything any more, and end what was asked there: who is there is another one."""
        self.buttons.forget(chat)
        self.approval.forget(chat)
        self._owed.forget(chat)
        with self._lock:
            run = self._busy.get(chat, "")
            self._queues.get(chat, []).clear()
            self._places = {place: here for place, here in self._places.items() if place[0] != chat}
        if run:
            self._kit.call("run.cancel", {"run": run}, OWNER)

    def was_told(self, change: str) -> bool:
        """Tell whether a change was told in Telegram as a part of a run there."""
        with self._lock:
            return change in self._told_changes

    def is_said_here(self, notice: str) -> bool:
        """Tell whether Telegram hears otherwise of what a notice says."""
        return notice in self._said_here

    def _tell_change(self, change: str) -> None:
        with self._lock:
            self._told_changes = [*self._told_changes, change][-_PLACES:]

    # What comes

    def message(self, person: Values, update: Values) -> None:
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

    def _is_stale(self, update: Values) -> bool:
        age_s = self._kit.clock.unix_s() - update["when_unix_s"]
        return bool(age_s > STALE_S and self._kit.is_clock_trusted(0))

    def _code(self, update: Values, text: str) -> None:
        """Take six digits: off the chat first, then judged; they are in no log and no chat of ours."""
        self._line.tell("deleteMessage", {"chat_id": update["chat"], "message_id": update["message"]})
        words = self.approval.code(update["chat"], people.plain(text))
        if words:
            self._say(update, words, is_reply=False)

    def _command(self, person: Values, update: Values, command: str) -> None:
        is_owner, chat = person["role"] == "owner", update["chat"]
        if command == "/new":
            self._part.people().talk(person["id"], "")
            self._say(update, "A new chat begins with your next message.")
        elif command == "/stop":
            self._say(update, self._stop(person, chat))
        elif command == "/status":
            self._begin(person, update, "status", "offline")
        elif command == "/undo" and is_owner:
            self._undo(person, update, {})
        elif command in ("/help", "/start"):
            self._say(update, HELP if is_owner else GUEST_HELP)
        else:
            self._say(update, "There is no command %s here. /help lists them." % clean.name(command, 20))

    def _stop(self, person: Values, chat: int) -> str:
        """End the answer being given and drop what waits behind it; return what to say."""
        with self._lock:
            run, queue = self._busy.get(chat, ""), self._queues.get(chat, [])
            dropped = [number for _, _, _, number in queue]
            queue.clear()
        for number in dropped:
            self._owed.end(number)
        if run:
            self._kit.call("run.cancel", {"run": run}, OWNER if person["role"] == "owner" else GUEST)
        words = "Stopping." if run else "" if dropped else "Nothing is being answered here."
        count = "the message" if len(dropped) == 1 else "the %d messages" % len(dropped)
        return (words + (" I do not answer %s that waited." % count if dropped else "")).strip()

    def press(self, person: Values, update: Values) -> None:
        """Take a press of a button."""
        chat, words = update["chat"], _UNKNOWN_BUTTON
        found = self.buttons.take(update["data"], chat) if person["role"] == "owner" else None
        if found is not None:
            words = self._pressed(person, update, found)
        self._line.tell("answerCallbackQuery", {"callback_query_id": update["button"], "text": words[:190]})

    def _pressed(self, person: Values, update: Values, found: Values) -> str:
        """Do what a button means; return what to say."""
        if found["what"] == "pressed":
            return "This was pressed already."
        if found["what"] == "undo":
            self._undo(person, update, {"change": found["change"]})
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

    def _declined(self, card: Values) -> str:
        self._kit.call("plan.decline", {"plan": card["id"], "reason": "declined by messenger"}, OWNER)
        return "Declined."

    def _show_decision(self, update: Values, card: Values) -> None:
        """Put what became of a plan in the place of its card: nobody else may have, where another run proposed it."""
        decision, _ = self._kit.shop.desk.outcome(card["id"])
        if decision not in ("", "waiting"):
            telegram_answer.change(self._line, update["chat"], update["message"], of_decision(card, decision))

    def waiting(self, plan: str) -> None:
        """Show a plan that waits, of somebody else's run, to the owners."""
        self._show(plan, [owner["chat"] for owner in self._part.people().owners()])

    def _show(self, plan: str, to: list[int]) -> None:
        for card in self._kit.call("plan.list", {}, OWNER)["plans"]:
            for chat in to if card["id"] == plan else ():
                show_plan(self._line, chat, card, self.buttons, self.approval)

    # Runs

    def _begin(self, person: Values, update: Values, text: str, service: str = "") -> None:
        if person["role"] != "owner" and not self._has_room(update["chat"]):
            self._say(update, "That is enough for an hour.")
            return
        self._start(person, update, lambda: self._asked(person, update, text, service))

    def _undo(self, person: Values, update: Values, asked: Values) -> None:
        self._start(person, update, lambda: str(self._kit.call("change.undo", asked, OWNER)["run"]))

    def _has_room(self, chat: int) -> bool:
        """Tell whether a guest may ask once more within an hour, and count it."""
        now_s = self._kit.clock.now_s()
        times = [one for one in self._asked_s.get(chat, []) if now_s - one < 3600]
        self._asked_s[chat] = [*times, now_s] if len(times) < AN_HOUR else times
        return len(times) < AN_HOUR

    def _start(self, person: Values, update: Values, begin: Any) -> None:
        """Begin a run by `begin()` and tell it, in a thread of the chat's; one after the other there."""
        chat = update["chat"]
        message = update["message"] if update["kind"] == "message" else 0
        with self._lock:
            queue = self._queues.setdefault(chat, [])
            is_full, is_busy = len(queue) >= QUEUE, chat in self._busy
            if not is_full:
                queue.append((person, update, begin, self._owed.begin(chat, message, is_busy)))
                self._busy.setdefault(chat, "")
        if not is_busy:
            threading.Thread(target=self._work_off, args=(chat,), name="telegram chat", daemon=True).start()
        elif is_full or message or self._owed.plan(chat):  # a press shows words of its own
            self._say(update, self._later(chat, is_full))

    def _later(self, chat: int, is_full: bool) -> str:
        """Return what is said at once to a message that comes while something else is being answered."""
        plan = self._owed.plan(chat)
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
        """Tell what waits in a chat, until nothing does."""
        while True:
            with self._lock:
                if not self._queues[chat] or self._line.is_closed():
                    del self._busy[chat], self._queues[chat]
                    return
                person, update, begin, number = self._queues[chat].pop(0)
                self._busy[chat] = ""
            self._owed.note(number, "is_queued", None)
            if self._told(person, update, begin, number) and not self._line.is_closed():
                self._owed.end(number)

    def _told(self, person: Values, update: Values, begin: Any, number: int) -> bool:
        """Begin a run and tell it; False where its answer could not be sent."""
        chat, role, run = update["chat"], OWNER if person["role"] == "owner" else GUEST, ""
        clock = self._kit.clock
        try:
            if not self._is_paired(person):
                return True
            run = begin()
            with self._lock:
                self._busy[chat] = run
            if not self._is_paired(person):  # forgotten a moment ago, when there was no run to end yet
                self._kit.call("run.cancel", {"run": run}, OWNER)
            following = Following(
                self._line,
                chat,
                poller(self._kit.call, role),
                self.buttons,
                self.approval,
                clock.now_s,
                self._tell_change,
                lambda card: self._owed.note(number, "plan", _noted(card)),
            )
            answer = following.follow(run, update["message"] if update["kind"] == "message" else 0)
            # /new may have been said while it was told: the place of an answer is where its run was.
            here = str(self._kit.runs.get(run).chat) or self._here(person)
            self._remember(chat, here if self._is_paired(person) else "", answer.messages)
            return True
        except RefusedError as error:
            if not run:  # it was the message's file that could not be had: that can be told
                return self._fail(update, error, run, number)
            return self._unsent(run, number, error)
        except OasisError as error:
            return self._fail(update, error, run, number)
        except Exception:
            import traceback

            traceback.print_exc(file=sys.stderr)
            fault = OasisError("a fault in oasis ended this answer", "its log tells more")
            return self._fail(update, fault, run, number)

    def _fail(self, update: Values, error: OasisError, run: str, number: int) -> bool:
        reply_to = update["message"] if update["kind"] == "message" else 0
        try:
            self._line.lasting(
                lambda tries: telegram_answer.put(
                    self._line, update["chat"], reason(error), reply_to=reply_to, tries=tries
                )
            )
            return True
        except RefusedError as refused:
            return self._unsent(run, number, refused)

    # What is owed

    def _unsent(self, run: str, number: int, refused: RefusedError) -> bool:
        """Note an answer that Telegram did not take, where it can be read, and that its chat is told later."""
        if self._line.is_closed():
            return False
        self._kit.log("telegram: an answer could not be sent: %s" % refused.message)
        self._owed.note(number, "plan", None)
        self._owed.note(number, "is_unsent", True)
        here = str(self._kit.runs.get(run).chat) if run else ""
        told = self._kit.beside.part("notice").tell("event", _UNSENT_NOTICE, chat=here)
        self._said_here = [*self._said_here, str(told["id"])][-_PLACES:]
        return False

    def tell_owed(self) -> None:
        """Tell each chat what was lost there when the daemon ended, and what could not be sent; never waits."""
        with self._lock:
            if self._is_telling or not self._owed.untold():
                return
            self._is_telling = True
        threading.Thread(target=self._tell_owed, name="telegram owed", daemon=True).start()

    def _tell_owed(self) -> None:
        try:
            for entry in self._owed.untold():
                is_there = any(one["chat"] == entry["chat"] for one in self._part.people().all())
                if is_there and not self._tell_entry(entry):
                    return  # with the next message, or the next start
                self._owed.told(entry)
        finally:
            with self._lock:
                self._is_telling = False

    def _tell_entry(self, entry: Values) -> bool:
        """Tell what became of one message or plan; False where it has to be told later."""
        plan, chat = entry.get("plan"), entry["chat"]
        try:
            if plan and self._is_waiting(plan):  # the messenger was off meanwhile, and not the daemon
                self._show(plan["id"], [chat])
            else:
                words = _UNSENT if entry.get("is_unsent") else _LOST if entry["message"] else _LOST_PRESS
                words = _LOST_PLAN % (plan["short"], plain(plan["summary"])) if plan else words
                telegram_answer.put(self._line, chat, words, reply_to=entry["message"])
        except RefusedError as refused:
            return not is_passing(refused) and not self._line.is_closed()
        return True

    def _is_waiting(self, plan: Values) -> bool:
        return bool(self._kit.shop.desk.outcome(plan["id"])[0] == "waiting")

    def _remember(self, chat: int, here: str, messages: list[int]) -> None:
        with self._lock:
            for message in messages if here else ():
                self._places[chat, message] = here
            for old in list(self._places)[:-_PLACES]:
                del self._places[old]

    def _is_paired(self, person: Values) -> bool:
        return any(one["id"] == person["id"] for one in self._part.people().all())

    def _here(self, person: Values) -> str:
        """Return the chat here that somebody talks in, "" for none."""
        return str(next((one.get("talk", "") for one in self._part.people().all() if one["id"] == person["id"]), ""))

    def _asked(self, person: Values, update: Values, text: str, service: str) -> str:
        """Begin the run of a message; return its id."""
        with self._lock:
            here = self._places.get((update["chat"], update.get("reply_to", 0)), "")
        here = here or self._here(person)
        if here and not any(item["id"] == here for item in self._kit.chats.items()):
            here = ""  # deleted meanwhile
        asked: dict[str, object] = {"message": text or _FILE_TEXT % update["file"]["name"], "chat": here}
        if service:
            asked["service"] = service
        if person["role"] == "owner":
            if update.get("file"):
                asked["attachments"] = [self._taken(update["file"])]
            chat, name = self._forwarded(asked) if update.get("is_forwarded") else self._ordered(asked)
        else:
            begun = self._kit.exchanges().start({**asked, "taint": [WORDS]}, (), Guest())
            chat, name = begun.chat, begun.id
        self._part.people().talk(person["id"], chat)
        return name

    def _ordered(self, asked: Values) -> tuple[str, str]:
        """Begin the run of the owner's own words; return its chat and its id."""
        run = self._kit.call("run.start", asked, OWNER)
        return str(run["chat"]), str(run["run"])

    def _forwarded(self, asked: Values) -> tuple[str, str]:
        """Begin the run of words that the owner passes on: somebody else's, whoever sent them."""
        uploads, talks = asked.pop("attachments", []), self._kit.conversations()
        files = talks.files(uploads) if uploads else []
        run = self._kit.exchanges().start({**asked, "files": files, "taint": [FORWARDED]}, (), MESSENGER)
        if uploads:
            talks.uploads.drop(uploads)
        return run.chat, run.id

    def _taken(self, file: Values) -> str:
        """Fetch a file and put it among the uploads; return its id.

        Raises: UsageError for one that is too large.
        """
        if file["bytes"] > FILE_BYTES:
            raise UsageError("the file has more than %d MiB" % (FILE_BYTES >> 20), "send the part that matters")
        data = self._line.file(file["id"], FILE_BYTES)
        return str(self._kit.conversations().uploads.put(clean.name(file["name"], 120) or "file", data)[0])

    def _say(self, update: Values, words: str, is_reply: bool = True) -> None:
        reply_to = update["message"] if is_reply and update["kind"] == "message" else 0
        telegram_answer.put(self._line, update["chat"], words, reply_to=reply_to)


def _noted(card: Values | None) -> Values | None:
    """Return what is kept of a plan that waits."""
    if card is None:
        return None
    return {"id": card["id"], "short": card["short"], "summary": clean.line(card["summary"])[:_SUMMARY_CHARS]}
