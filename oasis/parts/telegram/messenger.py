"""The messenger Telegram: its settings, the people who are paired, and the thread that waits for messages.

Disabled until the owner enables it and gives a bot's token: then a thread waits for updates through a worker of its
own, the only program here that has the token and a network (worker/telegram.py).

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
from oasis.parts.telegram import text as answer
from oasis.parts.telegram.card import Buttons, plain
from oasis.parts.telegram.line import Line, RefusedError
from oasis.parts.telegram.owed import Owed
from oasis.parts.telegram.people import ROLES, SECRET_BYTES, Codes, Pairing, People, encoded, uri
from oasis.parts.telegram.talk import Talks
from oasis.tools import router

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services
    from oasis.parts.telegram.shapes import (
        Bot,
        Callable,
        CodesUsed,
        Done,
        Notice,
        Offered,
        Opened,
        Overview,
        Person,
        Service,
        State,
        Update,
    )
    from oasis.uci.edit import Step


TYPE = "telegram"
TOKEN, SECRET = "telegram", "telegram/codes"  # names in keys.json
FILE, OWED = "/messenger.json", "/messenger-open.json"
_SWITCHES = ("enabled", "approve", "notices")
_DEFAULTS = {"enabled": "0", "approve": "0", "notices": "1"}
# A secret that is shown and not entered anywhere is worth nothing.
_ENROL_S = 600.0
_STOP_S = 3.0


class Telegram:
    """The messenger of one daemon."""

    def __init__(self, kit: Services) -> None:
        self.kit = kit
        self._lock = threading.RLock()
        self._people: People | None = None
        self._pairing: Pairing | None = None
        self._codes: Codes | None = None
        self._buttons: Buttons | None = None
        self._poller: Poller | None = None
        self._offered = ("", 0.0)  # a secret that was shown and waits for its first code, and until when
        self._is_closed = False

    # What is set

    def options(self) -> dict[str, str]:
        """Return the options of the section, the switches always among them."""
        found = {**_DEFAULTS}
        for section in self.kit.settings.uci_sections():
            if section.type == TYPE:
                found.update({key: value for key, value in section.options.items() if isinstance(value, str)})
        return found

    def is_on(self, switch: str) -> bool:
        """Tell whether a switch of the section is on."""
        return self.options()[switch] == "1"

    def pace_s(self) -> float:
        """Return the least time between two messages in a chat."""
        text = self.options().get("pace_ms", "1200")
        if not (text.isascii() and text.isdigit() and len(text) < 6):
            raise SettingsError("oasis.telegram.pace_ms is %r" % text, "a whole number of milliseconds")
        return int(text) / 1000

    def token(self) -> str:
        """Return the bot's token, "" for none."""
        return str(self.kit.settings.key(TOKEN))

    def people(self) -> People:
        """Return who is paired."""
        if self._people is not None:
            return self._people  # without the lock, which settle() holds while it ends the thread
        with self._lock:
            if self._people is None:
                kit = self.kit
                self._people = People(kit.files, kit.root.state_folder + FILE, kit.new_id, kit.clock.unix_s)
                if self._people.is_damaged:
                    kit.log("telegram: %s is damaged; nobody is paired any more" % (kit.root.state_folder + FILE))
            return self._people

    def buttons(self) -> Buttons:
        """Return the valid buttons: a plan outlives a while in which the messenger is disabled."""
        if self._buttons is None:
            self._buttons = Buttons(self.kit.clock.now_s)
        return self._buttons

    def owed(self) -> Owed:
        """Return what is open in the chats, also from an earlier daemon or thread."""
        root = self.kit.root
        return Owed(self.kit.files, root.run_folder + OWED, root.state_folder + OWED, self.kit.log)

    def pairing(self) -> Pairing:
        """Return the code that is open, if any."""
        if self._pairing is not None:
            return self._pairing
        with self._lock:
            if self._pairing is None:
                self._pairing = Pairing(self.kit.clock.now_s, os.urandom)
            return self._pairing

    def codes(self) -> Codes:
        """Return what judges codes of six digits."""
        if self._codes is not None:
            return self._codes
        with self._lock:
            if self._codes is None:
                self._codes = self._made_codes(lambda: str(self.kit.settings.key(SECRET)), self.people().codes)
            return self._codes

    def _made_codes(self, secret: Callable[[], str], kept: CodesUsed) -> Codes:
        return Codes(secret, kept, self.people().keep, self.kit.clock.unix_s, self.kit.is_clock_trusted)

    # The thread

    def settle(self) -> None:
        """Start or end the thread as the settings say; called at the start and whenever they may be others."""
        with self._lock:
            wanted = not self._is_closed and self.is_on("enabled") and bool(self.token())
            poller = self._poller
            if poller is not None and (not wanted or not poller.is_for(self.token(), self.options())):
                self._poller = None
                poller.stop(_STOP_S)
            if wanted and self._poller is None:
                self._poller = Poller(self)
                self._poller.start()

    def close(self) -> None:
        """End the thread and its workers."""
        with self._lock:
            self._is_closed = True
            self.settle()

    # Methods

    def telegram_list(self) -> Overview:
        """Return what is set, how it goes, and who is paired; numbers of Telegram's stay here."""
        self.settle()  # a token may have come since
        options, poller = self.options(), self._poller
        state: State = poller.state() if poller is not None else {"state": "off", "bot": "", "problem": ""}
        return {
            **state,
            "enabled": options["enabled"] == "1",
            "approve": options["approve"] == "1",
            "notices": options["notices"] == "1",
            "has_token": bool(self.token()),
            "has_secret": self.codes().has_secret(),
            "people": [
                {"id": one["id"], "role": one["role"], "name": one["name"], "paired_unix_s": one["paired_unix_s"]}
                for one in self.people().all()
            ],
        }

    def telegram_pair(self, who: str = "owner") -> Opened:
        """Open a code; who sends it to the bot is let in."""
        if who not in ROLES:
            raise UsageError("nobody is paired as %r" % who, "one of " + ", ".join(ROLES))
        if not self.is_on("enabled") or not self.token():
            raise SettingsError("the messenger is off", "oasis key telegram, then oasis telegram on")
        self.settle()
        code, expires_in_s = self.pairing().open(who)
        bot = str(self._poller.state()["bot"]) if self._poller is not None else ""
        return {"code": code, "role": who, "expires_in_s": expires_in_s, "bot": bot}

    def telegram_forget(self, id: str) -> Done:
        """Make somebody a stranger again."""
        person = self.people().forget(id)
        if self._poller is not None:
            self._poller.forgotten(person)
        return {"status": "OK"}

    def telegram_secret(self, code: str = "") -> Offered | Done:
        """Without a code show a new secret; with the code that it gives now, keep it. The old one ends with that."""
        if code:
            return self._enrolled(code)
        secret = encoded(os.urandom(SECRET_BYTES))
        with self._lock:
            self._offered = (secret, self.kit.clock.now_s() + _ENROL_S)
        return {"uri": uri(secret, self._hostname()), "secret": secret, "expires_in_s": int(_ENROL_S)}

    def _hostname(self) -> str:
        sections = self.kit.facts.config("system") or {}
        return str(next((one["hostname"] for one in sections.values() if one.get("hostname")), "OpenWrt"))

    def _enrolled(self, code: str) -> Done:
        with self._lock:
            secret, until_s = self._offered
            if not secret or self.kit.clock.now_s() > until_s:
                raise UsageError("no secret waits for a code", "begin again: oasis telegram secret")
            tried: CodesUsed = {}
            self._made_codes(lambda: secret, tried).use(code)
            self._offered = ("", 0.0)
            self.kit.settings.set_key(SECRET, secret)
            kept = self.people().codes
            kept.clear()
            kept["last"] = tried["last"]  # the code that proved it is used up
            self.people().keep()
        return {"status": "OK"}

    def telegram_set(
        self, enabled: bool | None = None, approve: bool | None = None, notices: bool | None = None
    ) -> Overview:
        """Turn switches of the section on or off; what is not named stays."""
        given = {"enabled": enabled, "approve": approve, "notices": notices}
        switches = {name: value for name, value in given.items() if value is not None}
        own = next((str(one.name) for one in self.kit.settings.uci_sections() if one.type == TYPE), "")
        section = own or TYPE  # the owner may have another name for it
        steps: list[Step] = [] if own else [{"op": "set", "section": section, "type": TYPE}]
        steps += [
            {"op": "set", "section": section, "option": name, "value": "1" if switches[name] else "0"}
            for name in _SWITCHES
            if name in switches
        ]
        write(self.kit.cursor(), steps)
        self.settle()
        return self.telegram_list()


def gather(kit: Services) -> Telegram:
    """Return the messenger of a daemon."""
    return Telegram(kit)


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
_WRONG = "That is not the code."


class Poller:
    """The thread of one bot. `part` is the messenger of the daemon."""

    def __init__(self, part: Telegram) -> None:
        self._part = part
        self._kit = kit = part.kit
        self._token, self._options = part.token(), part.options()
        base_url, ca_file, proxy = (self._options.get(name, "") for name in ("base_url", "ca_file", "proxy"))
        service: Service = {"key": self._token, "base_url": base_url, "ca_file": ca_file, "proxy": proxy}
        self._line = Line(kit.models.messenger(), service, kit.clock.now_s, part.pace_s())
        self._talks = Talks(part, self._line)
        self._teller = Teller(part, self._line, self._talks)
        self._bot: Bot | None = None
        self._problem = "connecting"
        self._pause_s = 0.0
        self._last = 0
        self._thread = threading.Thread(target=self._run, name="telegram", daemon=True)

    def start(self) -> None:
        """Begin to wait for messages."""
        self._kit.parts.part("notice").listen(self._teller.hear)
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """End the thread and its workers, within so many seconds."""
        self._kit.parts.part("notice").ignore(self._teller.hear)
        self._line.close()
        self._thread.join(seconds)

    def is_for(self, token: str, options: dict[str, str]) -> bool:
        """Tell whether the thread is as the settings want it; switches are looked at each time they matter."""
        places = ("base_url", "ca_file", "proxy")
        return token == self._token and all(options.get(one) == self._options.get(one) for one in places)

    def state(self) -> State:
        """Return how it goes."""
        problem = self._problem
        return {
            "state": "waiting" if problem else "on",
            "bot": self._bot["name"] if self._bot else "",
            "problem": problem,
        }

    def forgotten(self, person: Person) -> None:
        """Invalidate everything that somebody was shown."""
        self._talks.forget(person["chat"])

    # The thread

    def _run(self) -> None:
        while not self._line.is_closed():
            try:
                updates = self._updates()
            except OasisError as error:
                self._line.wait(self._fail(error))
                continue
            if self._problem:
                self._kit.log("telegram: waiting for messages as %s" % self.state()["bot"], False)
                self._talks.tell_owed()
            self._problem, self._pause_s = "", 0.0
            for update in updates:
                self._handle(update)

    def _updates(self) -> list[Update]:
        """Return what has come, after a wait for it."""
        if self._bot is None:
            self._bot = self._line.who()
            self._last = self._part.people().offset(self._bot["id"])
        began_s = self._kit.clock.now_s()
        updates = self._line.poll(self._last + 1 if self._last else 0, 0 if self._problem else POLL_S)
        if not updates:
            took_s = self._kit.clock.now_s() - began_s
            self._last = self._part.people().offset(self._bot["id"]) if self._last else 0  # after a week without one
            if not self._problem:
                self._line.wait(_EMPTY_S - took_s)
        return updates

    def _fail(self, error: OasisError) -> float:
        """Log an error once; return how long to wait before the next try."""
        if self._line.is_closed():
            return 0.0
        if error.message != self._problem:
            self._kit.log("telegram: %s%s" % (error.message, "; " + error.hint if error.hint else ""))
        self._problem = error.message
        wanted_s = error.wait_s if isinstance(error, RefusedError) else 0.0
        self._pause_s = min(self._pause_s * 2 or _PAUSE_S, _LONGEST_PAUSE_S)
        return max(wanted_s, _OWNERS_PAUSE_S.get(error.code, self._pause_s))

    def _handle(self, update: Update) -> None:
        """Handle one update, once."""
        if update["id"] <= self._last or self._line.is_closed():
            return
        person = None
        if update["kind"] != "other":
            person = self._part.people().find(update["chat"], update["from"], update["is_private"])
        self._last = update["id"]
        try:
            is_kept = person is not None or self._part.pairing().is_open()
            self._part.people().handled(self._bot["id"] if self._bot else 0, update["id"], is_kept)
            if person is None:
                self._stranger(update)
            elif update["kind"] == "button":
                self._talks.press(person, update)
            else:
                self._talks.message(person, update)
        except OasisError as error:
            self._kit.log("telegram: a message could not be answered: %s" % error.message)
        except Exception:
            traceback.print_exc(file=sys.stderr)

    def _stranger(self, update: Update) -> None:
        """See whether a stranger has the pairing code; nothing else is answered."""
        if update["kind"] != "message":
            return
        words = update["text"].split()
        text = words[-1] if len(words) == 2 and words[0].split("@")[0] in ("/start", "/pair") else update["text"]
        role = self._part.pairing().take(text, update["is_private"])
        if role == "wrong":
            answer.put(self._line, update["chat"], _WRONG)
        if role in _PAIRED:
            self._pair(update, role)

    def _pair(self, update: Update, role: str) -> None:
        kit, is_private = self._kit, update["is_private"]
        user = update["from"] if is_private else 0
        try:
            person = self._part.people().add(role, update["chat"], user, update["name"] if is_private else "a group")
        except OasisError as error:
            answer.put(self._line, update["chat"], error.message)
            raise
        self._talks.forget(person["chat"])  # who had another role here before has nothing of it
        kit.audit.write("messenger %s paired" % role, NO_PLAN, "messenger")
        words = "%s may write to the bot now, as %s" % (person["name"] or "Somebody", role)
        self._teller.leave_out(person["chat"], kit.parts.part("notice").tell("event", words)["id"])
        answer.put(self._line, update["chat"], _PAIRED[role])


# What happens at once comes together.
JOIN_S = 3.0
PACE_S = 60.0
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
            self._next_s = now_s() + PACE_S
            try:
                self._tell([one for one in notices if self._is_news(one)])
            except OasisError as error:
                self._part.kit.log("telegram: notices could not be sent: %s" % error.message)
        with self._lock:
            self._is_telling = False

    def _is_news(self, notice: Notice) -> bool:
        is_told = notice["kind"] == "change_applied" and self._talks.was_told(str(notice.get("change", "")))
        return not is_told and not self._talks.is_said_here(notice["id"]) and self._part.is_on("notices")

    def _tell(self, notices: list[Notice]) -> None:
        for owner in self._part.people().owners():
            mine = [one for one in notices if self._left_out.get(one["id"]) != owner["chat"]]
            lines = ["- %s" % plain(self._named(one["text"])) for one in mine[-MOST:]]
            if len(mine) > MOST:
                lines.insert(0, "- and %d before" % (len(mine) - MOST))
            try:
                if lines:
                    answer.put(self._line, owner["chat"], "**From your router**\n" + "\n".join(lines))
            except OasisError as error:  # they blocked the bot; the other owners did not
                self._part.kit.log("telegram: notices could not be sent to one owner: %s" % error.message)
        for plan in [str(one["plan"]) for one in notices if one["kind"] == "schedule_waiting" and one.get("plan")]:
            self._talks.waiting(plan)

    def _named(self, text: str) -> str:
        """Return the text of a notice with names of devices instead of handles."""
        return router.with_names(text, lambda: router.known_devices(self._part.kit.facts))
