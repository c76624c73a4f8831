"""The messenger Telegram: its settings, the people who are paired, and the thread that waits for messages.

Disabled until the owner enables it and gives a bot's token: then a thread waits for updates through a worker of its
own, the only program here that has the token and a network (exchange.py).

Section `telegram` of /etc/config/oasis: enabled, approve, notices ('1' unless set), base_url (the owner's own server
instead of api.telegram.org), ca_file, proxy, pace_ms (the least time between two messages in a chat). The token is
in keys.json under `telegram`, the secret of the codes under `telegram/codes`.

An update is noted before it is handled, on flash where it can have an effect, so it is handled at most once. Strangers
get no answer, except one line while a pairing code is open and theirs is wrong. An error is logged once and shown by
telegram.list; only disabling the messenger ends the thread. Notices to the owners are joined, at most one message a
minute; the result of a message in Telegram is left out, because its sender sees it there.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback

from oasis.change.audit import NO_PLAN
from oasis.config.settings import write
from oasis.errors import OasisError, SettingsError, UsageError
from oasis.parts.telegram.card import Buttons, plain
from oasis.parts.telegram.line import PACE_S, Line, RefusedError
from oasis.parts.telegram.people import ROLES, SECRET_BYTES, Codes, Pairing, People, encoded, uri
from oasis.parts.telegram.talk import Talks
from oasis.parts.telegram.text import put
from oasis.tools import router

if False:  # annotations only
    from collections.abc import Callable

    from oasis.api.parts import Services
    from oasis.parts.telegram import shapes
    from oasis.parts.telegram.shapes import CodesUsed, Done, Notice, Update
    from oasis.uci.edit import Step


TYPE = "telegram"
TOKEN, SECRET = "telegram", "telegram/codes"  # names in keys.json
FILE = "/messenger.json"
_SWITCHES = {"enabled": "0", "approve": "0", "notices": "1"}
# A secret that is shown and not entered anywhere is worth nothing.
_ENROL_S = 600.0
_STOP_S = 3.0


class Telegram:
    """The messenger of one daemon. The valid buttons are here: a plan outlives a while in which it is disabled."""

    def __init__(self, kit: Services) -> None:
        self.kit = kit
        self._lock = threading.RLock()
        path = kit.root.state_folder + FILE
        self.people = People(kit.files, path, kit.new_id, kit.clock.unix_s)
        if self.people.is_damaged:
            kit.log("telegram: %s is damaged; nobody is paired any more" % path)
        self.pairing = Pairing(kit.clock.now_s, os.urandom)
        self.buttons = Buttons(kit.clock.now_s)
        self.codes = self._codes(lambda: str(kit.settings.key(SECRET)), self.people.codes)
        self._poller: Poller | None = None
        self._offered = ("", 0.0)  # a secret that was shown and waits for its first code, and until when
        self._is_closed = False

    def _codes(self, secret: Callable[[], str], kept: CodesUsed) -> Codes:
        return Codes(secret, kept, self.people.keep, self.kit.clock.unix_s, self.kit.is_clock_trusted)

    # What is set

    def options(self) -> dict[str, str]:
        """Return the options of the section, the switches always among them."""
        found = {**_SWITCHES}
        for section in self.kit.settings.uci_sections():
            if section.type == TYPE:
                found.update({key: value for key, value in section.options.items() if isinstance(value, str)})
        return found

    def is_on(self, switch: str) -> bool:
        """Tell whether a switch of the section is on."""
        return self.options()[switch] == "1"

    def token(self) -> str:
        """Return the bot's token, "" for none."""
        return str(self.kit.settings.key(TOKEN))

    def place(self) -> shapes.Service:
        """Return what a bot's line is made of; the switches are looked at each time they matter."""
        found = self.options()
        base_url, ca_file, proxy = (found.get(name, "") for name in ("base_url", "ca_file", "proxy"))
        return {"key": self.token(), "base_url": base_url, "ca_file": ca_file, "proxy": proxy}

    # The thread

    def settle(self) -> None:
        """Start or end the thread as the settings say; called at the start and whenever they may be others."""
        with self._lock:
            wanted = not self._is_closed and self.is_on("enabled") and bool(self.token())
            poller, place = self._poller, self.place() if wanted else None
            if poller is not None and poller.place != place:
                self._poller = None
                poller.stop(_STOP_S)
            if place and self._poller is None:
                self._poller = Poller(self, place)

    def close(self) -> None:
        """End the thread and its workers."""
        with self._lock:
            self._is_closed = True
            self.settle()

    # Methods

    def telegram_list(self) -> shapes.Overview:
        """Return what is set, how it goes, and who is paired; numbers of Telegram's stay here."""
        self.settle()  # a token may have come since
        options, poller = self.options(), self._poller
        state: shapes.State = poller.state() if poller is not None else {"state": "off", "bot": "", "problem": ""}
        people: list[shapes.PersonRow] = [
            {"id": one["id"], "role": one["role"], "name": one["name"], "paired_unix_s": one["paired_unix_s"]}
            for one in self.people.all()
        ]
        return {
            **state, "enabled": options["enabled"] == "1", "approve": options["approve"] == "1",
            "notices": options["notices"] == "1", "has_token": bool(self.token()),
            "has_secret": self.codes.has_secret(), "people": people,
        }  # fmt: skip

    def telegram_pair(self, who: str = "owner") -> shapes.Opened:
        """Open a code; who sends it to the bot is let in."""
        if who not in ROLES:
            raise UsageError("nobody is paired as %r" % who, "one of " + ", ".join(ROLES))
        if not self.is_on("enabled") or not self.token():
            raise SettingsError("the messenger is off", "oasis key telegram, then oasis telegram on")
        self.settle()
        code, expires_in_s = self.pairing.open(who)
        bot = self._poller.state()["bot"] if self._poller is not None else ""
        return {"code": code, "role": who, "expires_in_s": expires_in_s, "bot": bot}

    def telegram_forget(self, id: str) -> Done:
        """Make somebody a stranger again, and invalidate everything that they were shown."""
        person = self.people.forget(id)
        if self._poller is not None:
            self._poller.talks.forget(person["chat"])
        return {"status": "OK"}

    def telegram_secret(self, code: str = "") -> shapes.Offered | Done:
        """Without a code show a new secret; with the code that it gives now, keep it. The old one ends with that."""
        if not code:
            secret = encoded(os.urandom(SECRET_BYTES))
            with self._lock:
                self._offered = (secret, self.kit.clock.now_s() + _ENROL_S)
            sections = (self.kit.facts.config("system") or {}).values()
            name = str(next((one["hostname"] for one in sections if one.get("hostname")), "OpenWrt"))
            return {"uri": uri(secret, name), "secret": secret, "expires_in_s": int(_ENROL_S)}
        with self._lock:
            secret, until_s = self._offered
            if not secret or self.kit.clock.now_s() > until_s:
                raise UsageError("no secret waits for a code", "begin again: oasis telegram secret")
            tried: CodesUsed = {}
            self._codes(lambda: secret, tried).use(code)
            self._offered = ("", 0.0)
            self.kit.settings.set_key(SECRET, secret)
            self.people.codes.clear()
            self.people.codes["last"] = tried["last"]  # the code that proved it is used up
            self.people.keep()
        return {"status": "OK"}

    def telegram_set(
        self, enabled: bool | None = None, approve: bool | None = None, notices: bool | None = None
    ) -> shapes.Overview:
        """Turn switches of the section on or off; what is not named stays."""
        own = next((str(one.name) for one in self.kit.settings.uci_sections() if one.type == TYPE), "")
        section = own or TYPE  # the owner may have another name for it
        steps: list[Step] = [] if own else [{"op": "set", "section": section, "type": TYPE}]
        for name, value in {"enabled": enabled, "approve": approve, "notices": notices}.items():
            if value is not None:
                steps.append({"op": "set", "section": section, "option": name, "value": "1" if value else "0"})
        write(self.kit.cursor(), steps)
        self.settle()
        return self.telegram_list()


gather = Telegram


# How long Telegram may keep a poll open without news; its own limit is 50, and routers in between forget a
# connection that is silent for a minute.
POLL_S = 45
# The first and the longest pause after a failure; each is twice the one before.
_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
# A token that is refused, or that another program polls with, is the owner's to mend: asked again by and by.
_OWNERS_PAUSE_S = {"authentication": 600.0, "conflict": 30.0}
# A server that answers at once, though it was asked to wait, is not asked without end.
_EMPTY_S = 1.0
_PAIRED = {
    "owner": "Paired: you are the owner here. Say what the router should do, or ask. /help tells more.",
    "guest": "Paired: you are a guest here. Ask how the router is. /help tells more.",
}


class Poller:
    """The thread of one bot, whose server is at `place`; `part` is the messenger of the daemon."""

    def __init__(self, part: Telegram, place: shapes.Service) -> None:
        self._part = part
        self._kit = kit = part.kit
        self.place = place
        pace_ms = part.options().get("pace_ms", "%d" % (PACE_S * 1000))
        if not (pace_ms.isascii() and pace_ms.isdigit() and len(pace_ms) < 6):
            raise SettingsError("oasis.telegram.pace_ms is %r" % pace_ms, "a whole number of milliseconds")
        self._line = Line(kit.models.messenger(), place, kit.clock.now_s, int(pace_ms) / 1000)
        self._line.languages.update((one["chat"], one.get("language", "")) for one in part.people.all())
        self.talks = Talks(part, self._line)
        self._teller = Teller(part, self._line, self.talks)
        self._bot: shapes.Bot | None = None
        self._problem = "connecting"
        self._last = 0
        kit.parts.part("notice").listen(self._teller.hear)
        self._thread = threading.Thread(target=self._run, name="telegram", daemon=True)
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """End the thread and its workers, within so many seconds."""
        self._kit.parts.part("notice").ignore(self._teller.hear)
        self._line.close()
        self._thread.join(seconds)

    def state(self) -> shapes.State:
        """Return how it goes."""
        problem, bot = self._problem, self._bot["name"] if self._bot else ""
        return {"state": "waiting" if problem else "on", "bot": bot, "problem": problem}

    # The thread

    def _run(self) -> None:
        log, line, pause_s = self._kit.log, self._line, 0.0
        while not line.is_closed():
            try:
                updates = self._updates()
            except OasisError as error:
                if line.is_closed():
                    return
                if error.message != self._problem:
                    log("telegram: %s%s" % (error.message, "; " + error.hint if error.hint else ""))
                self._problem = error.message
                pause_s = min(pause_s * 2 or _PAUSE_S, _LONGEST_PAUSE_S)
                wanted_s = error.wait_s if isinstance(error, RefusedError) else 0.0
                line.wait(max(wanted_s, _OWNERS_PAUSE_S.get(error.code, pause_s)))
                continue
            if self._problem:
                log("telegram: waiting for messages as %s" % self.state()["bot"], False)
                self.talks.tell_owed()
            self._problem, pause_s = "", 0.0
            for update in updates:
                self._handle(update)

    def _updates(self) -> list[Update]:
        """Wait for the next updates of the bot, which is asked for its name first."""
        people = self._part.people
        if self._bot is None:
            self._bot = self._line.who()
            self._last = people.offset(self._bot["id"])
        began_s = self._kit.clock.now_s()
        updates = self._line.poll(self._last + 1 if self._last else 0, 0 if self._problem else POLL_S)
        if not updates:
            self._last = people.offset(self._bot["id"]) if self._last else 0  # after a week without one
            if not self._problem:
                self._line.wait(began_s + _EMPTY_S - self._kit.clock.now_s())
        return updates

    def _handle(self, update: Update) -> None:
        if update["id"] <= self._last or self._line.is_closed():
            return
        person = None
        if update["kind"] != "other":
            person = self._part.people.find(update["chat"], update["from"], update["is_private"])
        if update["kind"] == "message" and (person is not None or self._part.pairing.is_open()):
            self._line.languages[update["chat"]] = update.get("language", "")
        self._last = update["id"]
        try:
            is_kept = person is not None or self._part.pairing.is_open()
            self._part.people.handled(self._bot["id"] if self._bot else 0, update["id"], is_kept)
            if person is None:
                self._stranger(update)
            elif update["kind"] == "button":
                self.talks.press(person, update)
            else:
                if update["is_private"]:
                    self._part.people.reads(person["id"], update.get("language", ""))
                self.talks.message(person, update)
        except OasisError as error:
            self._kit.log("telegram: a message could not be answered: %s" % error.message)
        except Exception:
            traceback.print_exc(file=sys.stderr)

    def _stranger(self, update: Update) -> None:
        """Pair a stranger who has the code, tell one who has another; nothing else is answered."""
        if update["kind"] != "message":
            return
        kit, chat, is_private = self._kit, update["chat"], update["is_private"]
        words = update["text"].split()
        text = words[-1] if len(words) == 2 and words[0].split("@")[0] in ("/start", "/pair") else update["text"]
        role = self._part.pairing.take(text, is_private)
        if role == "wrong":
            put(self._line, chat, "That is not the code.")
        if role not in _PAIRED:
            return
        user, name = (update["from"], update["name"]) if is_private else (0, "a group")
        try:
            person = self._part.people.add(role, chat, user, name)
        except OasisError as error:
            put(self._line, chat, error.message)
            raise
        self.talks.forget(chat)  # who had another role here before has nothing of it
        kit.audit.write("messenger %s paired" % role, NO_PLAN, "messenger")
        notice = "%s may write to the bot now, as %s" % (person["name"] or "Somebody", role)
        self._teller.leave_out(chat, kit.parts.part("notice").tell("event", notice)["id"])
        put(self._line, chat, _PAIRED[role])


# What happens at once comes together.
JOIN_S = 3.0
_TELLING_PACE_S = 60.0
# Of one message; more are counted.
MOST = 10


class Teller:
    """Sends the notices of one daemon to the owners of one bot; its thread lives while there is something to send."""

    def __init__(self, part: Telegram, line: Line, talks: Talks) -> None:
        self._part = part
        self._line = line
        self._talks = talks
        self._lock = threading.Lock()
        self._waiting: list[Notice] = []
        self._is_telling = False
        self._next_s = 0.0
        self._left_out: dict[str, int] = {}  # notice -> the chat that knows it already

    def leave_out(self, chat: int, notice: str) -> None:
        """Do not send a notice to a chat whose owner caused it a moment ago."""
        self._left_out[notice] = chat
        for old in list(self._left_out)[:-MOST]:
            del self._left_out[old]

    def hear(self, notice: Notice) -> None:
        """Take a notice; never waits, because the caller may hold locks."""
        with self._lock:
            self._waiting = [*self._waiting, notice][-4 * MOST :]
            if self._is_telling or self._line.is_closed():
                return
            self._is_telling = True
        threading.Thread(target=self._run, name="telegram notices", daemon=True).start()

    def _run(self) -> None:
        now_s = self._part.kit.clock.now_s
        while self._line.wait(max(JOIN_S, self._next_s - now_s())):
            with self._lock:
                notices, self._waiting = self._waiting, []
                if not notices:
                    self._is_telling = False
                    return
            self._next_s = now_s() + _TELLING_PACE_S
            try:
                self._tell(notices)
            except OasisError as error:
                self._part.kit.log("telegram: notices could not be sent: %s" % error.message)
        with self._lock:
            self._is_telling = False

    def _tell(self, waiting: list[Notice]) -> None:
        kit, talks, is_on = self._part.kit, self._talks, self._part.is_on("notices")
        notices = [one for one in waiting if is_on and not talks.is_said_here(one)]
        for owner in self._part.people.owners():
            mine = [one for one in notices if self._left_out.get(one["id"]) != owner["chat"]]
            # With names of devices instead of handles.
            texts = [router.with_names(one["text"], lambda: router.known_devices(kit.facts)) for one in mine[-MOST:]]
            lines = ["- and %d before" % (len(mine) - MOST)] if len(mine) > MOST else []
            lines += ["- %s" % plain(text) for text in texts]
            try:
                if lines:
                    put(self._line, owner["chat"], "**From your router**\n" + "\n".join(lines))
            except OasisError as error:  # they blocked the bot; the other owners did not
                kit.log("telegram: notices could not be sent to one owner: %s" % error.message)
        for one in notices:
            if one["kind"] == "schedule_waiting" and one.get("plan"):
                talks.show_waiting(one["plan"], [owner["chat"] for owner in self._part.people.owners()])
