"""The runs of entries: ordinary turns in a chat of the entry's own, one at work at a time.

What is due at once is started in order, each when the one before has ended or waits for the owner, so that "off at 22"
and "on at 8" end as they should after a night without power. A plan that waits gives way to the next run of its entry,
and the oldest of them to another entry when too many wait: the daemon has few runs. Each run begins a thread of its own
in the chat, so neither costs nor taint grow from run to run; the bookmark `schedule:ID` stands at the newest.
"""

from __future__ import annotations

import os
import threading

from oasis.config.settings import OFFLINE
from oasis.core import clean, jsonl
from oasis.errors import OasisError, SettingsError, UsageError
from oasis.parts.schedule.calls import Calls
from oasis.parts.schedule.entry import STATES, of_plan
from oasis.parts.schedule.unattended import WAIT_S, Unattended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.agent.runs import Run
    from oasis.parts.schedule.zone import Zone

    Entry = dict[str, Any]
    Item = dict[str, Any]

# Plans that wait: the owner's own messages must find room among the runs of a daemon (runs.py).
WAITING = 4
# The daemon has no room for another run, or the chat is in use.
RETRY_S, TRIES = 60, 10
# After so many exchanges an entry gets another chat: the quota of chats gives up whole ones.
EXCHANGES = 60
# Where results are told in words: the smallest alias that the owner made.
_SMALL = ("nano", "milli", "kilo")
_FILE = os.path.dirname(os.path.abspath(__file__)) + "/prompts.json"
TITLE_CHARS, SUMMARY_CHARS = 60, 160


class Runner:
    """The runs of one daemon; `kit` is that of parts.py.

    `zone(entry)` is that of an entry, `disable(entry, why)` ends one that cannot be run, `keep(entry, approvals)` keeps
    what was approved ahead, `mark(entry, plan)` what became of a plan that waited, None for nothing to tell, `wake()`
    lets the clockwork pump again.
    """

    def __init__(
        self, kit: Any, zone: Callable[[Entry], Zone], disable: Callable[[Entry, str], None],
        keep: Callable[[Entry, list[Any]], None], mark: Callable[[Entry, dict[str, Any] | None], None],
        wake: Callable[[], None],
    ) -> None:  # fmt: skip
        self._kit = kit
        self._zone = zone
        self._disable = disable
        self._keep = keep
        self._mark = mark
        self._wake = wake
        self._lock = threading.RLock()
        self._queue: list[Item] = []
        self._roles: list[Unattended] = []
        self._chats: dict[str, str] = {}

    def add(self, entry: Entry, event: dict[str, Any] | None = None) -> None:
        """Put a run of an entry behind those that wait to begin."""
        with self._lock:
            self._queue.append({"entry": entry, "event": event, "tries": 0, "from_s": 0.0})

    def chat(self, entry: Entry) -> str:
        """Return the chat of an entry, "" where it has none yet."""
        return self._chats.get(entry["id"]) or str(entry.get("chat", ""))

    def is_active(self, entry: Entry) -> bool:
        """Return whether a run of an entry is at work or waits."""
        with self._lock:
            return any(role.entry["id"] == entry["id"] for role in self._roles)

    def is_waiting(self, entry: Entry) -> bool:
        """Return whether a plan of an entry waits for its owner."""
        with self._lock:
            return any(role.entry["id"] == entry["id"] and role.is_waiting for role in self._roles)

    def is_idle(self) -> bool:
        """Return whether no run waits to begin."""
        with self._lock:
            return not self._queue

    def pump(self) -> float | None:
        """Begin what can begin now; return the seconds until another try, None when an end or an entry brings it."""
        with self._lock:
            while self._queue:
                item = self._queue[0]
                wait_s = item["from_s"] - self._kit.clock.now_s()
                if wait_s > 0:
                    return float(wait_s)
                if not self._has_room(item):
                    return None
                self._queue.pop(0)
                self._begin(item)
            return None

    def _has_room(self, item: Item) -> bool:
        """Return whether an entry's run may begin; what waits in its way is asked to stop, and wakes us when it has."""
        own = [role for role in self._roles if role.entry["id"] == item["entry"]["id"]]
        waiting = [role for role in self._roles if role.is_waiting]
        if any(not role.is_waiting for role in self._roles):
            return False
        for role in own or waiting[: max(len(waiting) - WAITING + 1, 0)]:
            if role.run is not None:
                role.run.cancel()
            return False
        return True

    def _begin(self, item: Item) -> None:
        entry = item["entry"]
        try:
            self.start(entry, item["event"])
        except SettingsError as error:
            self._disable(entry, error.message)
        except UsageError as error:  # too many runs, or somebody talks in its chat
            item["tries"] += 1
            if item["tries"] < TRIES:
                item["from_s"] = self._kit.clock.now_s() + RETRY_S
                self._queue.insert(0, item)
            else:
                self._tell(entry, "could not be run: " + error.message)
        except OasisError as error:
            self._tell(entry, "could not be run: " + error.message)

    def start(self, entry: Entry, event: dict[str, Any] | None = None, rehearses: bool = False) -> Run:
        """Start a run of an entry.

        Raises: as exchanges.start.
        """
        with self._lock:
            role = self._role(entry, event, rehearses)
            service = OFFLINE if entry.get("calls") else entry.get("service", "")
            asked = {"message": entry["wish"], "chat": self._open_chat(entry), "service": service}
            # Each run begins a thread of its own, and the entry's bookmark goes there with it.
            begun = {**asked, "continues": [], "head": "schedule:" + entry["id"], "moves_head": True}
            run = self._kit.exchanges().start(begun, (), role)
            self._chats[entry["id"]] = run.chat
            if not rehearses:  # nobody waits for the end of one
                self._roles.append(role)
            return run  # type: ignore[no-any-return]

    def _open_chat(self, entry: Entry) -> str:
        chats, name = self._kit.chats, self.chat(entry)
        if not name:  # it is noted with the next firing: after a restart the bookmark tells
            try:
                name = chats.find("schedule:" + entry["id"])[0]
            except UsageError:
                return ""
        if not chats.store.has(name) or chats.item(name).get("exchanges", 0) >= EXCHANGES:
            return ""
        return name

    def _role(self, entry: Entry, event: dict[str, Any] | None, rehearses: bool) -> Unattended:
        words = prompts()
        system, taint = [words["system"] % entry["when"]], []
        if event is not None:
            system.append(words["event"] % jsonl.dumps(event["text"]))
            taint += event["taint"]
        if rehearses:
            system.append(words["rehearsal"])
        calls = None
        if entry.get("calls"):
            now = self._zone(entry).shown(self._kit.clock.unix_s())
            instruction = words["synthesis"] % (now, entry["wish"], entry.get("synthesis", ""))
            calls = Calls(entry, instruction, None if rehearses else self._teller(entry))
        return Unattended(
            entry, "\n".join(system), taint, self._kit.shop, self._waits, self._wake, self._ended, calls, rehearses
        )

    def _teller(self, entry: Entry) -> dict[str, Any] | None:
        if not entry.get("synthesis"):
            return None
        try:
            found = self._small(entry.get("service", ""))
        except OasisError:
            return None  # the results are told as they are
        return found if found["vendor"] != OFFLINE else None

    def _small(self, wanted: str) -> dict[str, Any]:
        """Return the service that tells results: the wanted one, else the smallest that is no farther than the usual.

        Raises: SettingsError when there is none.
        """
        settings = self._kit.settings
        usual: dict[str, Any] = settings.service(wanted)
        name = next((name for name in _SMALL if name in settings.aliases()), "")
        if wanted or not name:
            return usual
        small: dict[str, Any] = settings.service(name)
        is_home = usual["is_local"] and usual["vendor"] != OFFLINE
        return small if small["is_local"] or not is_home else usual  # what is told at home stays there

    def _waits(self, role: Unattended, plan: dict[str, Any]) -> None:
        until_s = self._kit.clock.unix_s() + WAIT_S
        until = self._zone(role.entry).shown(until_s)
        kept = {"id": str(plan["id"]), "summary": self._short(plan["summary"] or "a plan"), "until_unix_s": until_s}
        role.kept = kept
        self._mark(role.entry, {"state": "waiting", **kept})
        text = "waits for you until %s: %s" % (until, plan["summary"] or "a plan")
        self._tell(role.entry, text, "schedule_waiting", str(plan["id"]))

    def _ended(self, role: Unattended, state: str, words: str) -> None:
        with self._lock:
            self._roles = [one for one in self._roles if one is not role]
        if role.rehearses:
            self._keep(role.entry, role.approved)
        else:
            is_over = role.decided in STATES
            plan = {"state": role.decided, **role.kept}
            if is_over or not self.is_waiting(role.entry):
                self._mark(role.entry, plan if is_over else None)
            begin = {"done": "", "cancelled": "was stopped. "}.get(state, "failed: ")
            if is_over:
                until = self._zone(role.entry).shown(int(plan.get("until_unix_s", 0)))
                begin = "%s. " % of_plan(plan, until)
            self._tell(role.entry, begin + (words or "nothing was said"))
        self._wake()

    def _short(self, text: str) -> str:
        """Return words of a plan as they are kept on flash and told."""
        hidden = str(self._kit.redactor.text(clean.line(text)))
        return hidden[:SUMMARY_CHARS] + ("…" if len(hidden) > SUMMARY_CHARS else "")

    def _tell(self, entry: Entry, text: str, kind: str = "schedule_result", plan: str = "") -> None:
        notices = self._kit.beside.part("notice")
        title = entry["wish"][:TITLE_CHARS] + ("…" if len(entry["wish"]) > TITLE_CHARS else "")
        notices.tell(
            kind, "%s (%s): %s" % (title, entry["when"], text), chat=self.chat(entry), schedule=entry["id"], plan=plan
        )

    def tell(self, entry: Entry, text: str) -> None:
        """Tell the owner what became of an entry."""
        self._tell(entry, text)


def prompts() -> dict[str, str]:
    """Return the words for models."""
    with open(_FILE, "rb") as handle:
        found: dict[str, str] = jsonl.loads(handle.read())
        return found
