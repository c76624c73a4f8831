"""The messenger Telegram, seen from the router: what its owner sets, who is paired, and the thread that serves them.

Off until the owner turns it on and gives a bot's token: then a thread waits for messages by a worker of its own, the
only program here that has the token and a network (worker/telegram.py), and poll.py looks at what comes. All
else of telegram_*.py is loaded with the first use.

Section `telegram` of /etc/config/oasis: enabled, approve, notices ('1' unless set), base_url (a server of one's own in
the place of api.telegram.org), ca_file, proxy, pace_ms (the least time between two messages in a chat). The token is
in keys.json under `telegram`, the secret of the codes under `telegram/codes`.
"""

from __future__ import annotations

import os
import threading

from oasis.config.settings import write
from oasis.errors import SettingsError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.api.parts import Kit
    from oasis.parts.telegram.card import Buttons
    from oasis.parts.telegram.owed import Owed
    from oasis.parts.telegram.people import Codes, Pairing, People
    from oasis.parts.telegram.poll import Poller

TYPE = "telegram"
TOKEN, SECRET = "telegram", "telegram/codes"  # names in keys.json
FILE, OWED = "/messenger.json", "/messenger-open.json"
_SWITCHES = ("enabled", "approve", "notices")
_DEFAULTS = {"enabled": "0", "approve": "0", "notices": "1"}
# A secret that is shown and not entered anywhere is worth nothing.
_ENROL_S = 600.0
_STOP_S = 3.0


class Telegram:
    """The messenger of one daemon; `kit` is that of parts.py."""

    def __init__(self, kit: Kit) -> None:
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
            return self._people  # without the lock: who ends the thread holds it
        with self._lock:
            if self._people is None:
                from oasis.parts.telegram.people import People

                kit = self.kit
                self._people = People(kit.files, kit.root.state_folder + FILE, kit.new_id, kit.clock.unix_s)
                if self._people.is_damaged:
                    kit.log("telegram: %s is damaged; nobody is paired any more" % (kit.root.state_folder + FILE))
            return self._people

    def buttons(self) -> Buttons:
        """Return the buttons that mean something: a plan outlives the messenger's being off for a while."""
        if self._buttons is None:
            from oasis.parts.telegram.card import Buttons

            self._buttons = Buttons(self.kit.clock.now_s)
        return self._buttons

    def owed(self) -> Owed:
        """Return what is open in the chats, of an earlier daemon or thread too."""
        from oasis.parts.telegram.owed import Owed

        root = self.kit.root
        return Owed(self.kit.files, root.run_folder + OWED, root.state_folder + OWED, self.kit.log)

    def pairing(self) -> Pairing:
        """Return the code that is open, if any."""
        if self._pairing is not None:
            return self._pairing
        with self._lock:
            if self._pairing is None:
                from oasis.parts.telegram.people import Pairing

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

    def _made_codes(self, secret: Any, kept: dict[str, Any]) -> Codes:
        from oasis.parts.telegram.people import Codes

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
                from oasis.parts.telegram.poll import Poller

                self._poller = Poller(self)
                self._poller.start()

    def close(self) -> None:
        """End the thread and its workers."""
        with self._lock:
            self._is_closed = True
            self.settle()

    # Methods

    def telegram_list(self) -> dict[str, object]:
        """Return what is set, how it goes, and who is paired; numbers of Telegram's stay here."""
        self.settle()  # a token may have come since
        options, poller = self.options(), self._poller
        people = [{key: one[key] for key in ("id", "role", "name", "paired_unix_s")} for one in self.people().all()]
        reply: dict[str, object] = {switch: options[switch] == "1" for switch in _SWITCHES}
        reply.update(has_token=bool(self.token()), has_secret=self.codes().has_secret(), people=people)
        reply.update(poller.state() if poller is not None else {"state": "off", "bot": "", "problem": ""})
        return reply

    def telegram_pair(self, who: str = "owner") -> dict[str, object]:
        """Open a code; who sends it to the bot is let in."""
        from oasis.parts.telegram.people import ROLES

        if who not in ROLES:
            raise UsageError("nobody is paired as %r" % who, "one of " + ", ".join(ROLES))
        if not self.is_on("enabled") or not self.token():
            raise SettingsError("the messenger is off", "oasis key telegram, then oasis telegram on")
        self.settle()
        code, expires_in_s = self.pairing().open(who)
        bot = str(self._poller.state()["bot"]) if self._poller is not None else ""
        return {"code": code, "role": who, "expires_in_s": expires_in_s, "bot": bot}

    def telegram_forget(self, id: str) -> dict[str, object]:
        """Make somebody a stranger again."""
        person = self.people().forget(id)
        if self._poller is not None:
            self._poller.forgotten(person)
        return {"status": "OK"}

    def telegram_secret(self, code: str = "") -> dict[str, object]:
        """Without a code show a new secret; with the code that it gives now, keep it. The old one ends with that."""
        from oasis.parts.telegram import people as telegram_codes

        if code:
            return self._enrolled(code)
        secret = telegram_codes.encoded(os.urandom(telegram_codes.SECRET_BYTES))
        with self._lock:
            self._offered = (secret, self.kit.clock.now_s() + _ENROL_S)
        return {"uri": telegram_codes.uri(secret, self._hostname()), "secret": secret, "expires_in_s": int(_ENROL_S)}

    def _hostname(self) -> str:
        sections = self.kit.facts.config("system") or {}
        return str(next((one["hostname"] for one in sections.values() if one.get("hostname")), "OpenWrt"))

    def _enrolled(self, code: str) -> dict[str, object]:
        with self._lock:
            secret, until_s = self._offered
            if not secret or self.kit.clock.now_s() > until_s:
                raise UsageError("no secret waits for a code", "begin again: oasis telegram secret")
            tried: dict[str, Any] = {}
            self._made_codes(lambda: secret, tried).use(code)
            self._offered = ("", 0.0)
            self.kit.settings.set_key(SECRET, secret)
            kept = self.people().codes
            kept.clear()
            kept.update(last=tried["last"])  # the code that proved it is used up
            self.people().keep()
        return {"status": "OK"}

    def telegram_set(
        self, enabled: bool | None = None, approve: bool | None = None, notices: bool | None = None
    ) -> dict[str, object]:
        """Turn switches of the section on or off; what is not named stays."""
        given = {"enabled": enabled, "approve": approve, "notices": notices}
        switches = {name: value for name, value in given.items() if value is not None}
        own = next((str(one.name) for one in self.kit.settings.uci_sections() if one.type == TYPE), "")
        place = {"section": own or TYPE}  # the owner may have another name for it
        steps: list[dict[str, object]] = [] if own else [{"op": "set", **place, "type": TYPE}]
        steps += [
            {"op": "set", **place, "option": name, "value": "1" if switches[name] else "0"}
            for name in _SWITCHES
            if name in switches
        ]
        write(self.kit.cursor(), steps)
        self.settle()
        return self.telegram_list()


def gather(kit: Kit) -> Telegram:
    """Return the messenger of a daemon."""
    return Telegram(kit)
