"""The part "schedule" of parts.py: the methods of standing orders (entry.py), and what keeps and fires them."""

from __future__ import annotations

import os
import threading

from oasis.config.settings import OFFLINE, is_at_home
from oasis.core import clean
from oasis.errors import OasisError, UsageError
from oasis.parts.schedule import calls as direct
from oasis.parts.schedule import spoken, telling, when
from oasis.parts.schedule.clockwork import Clockwork, moment
from oasis.parts.schedule.devices import MOST as DEVICES
from oasis.parts.schedule.devices import Devices
from oasis.parts.schedule.entry import fault, of_plan, unreadable
from oasis.parts.schedule.events import Watch
from oasis.parts.schedule.pipe import Pipe
from oasis.parts.schedule.running import Runner
from oasis.parts.schedule.tools import Orders
from oasis.parts.schedule.zone import Zone
from oasis.parts.schedule.zones import Zones
from oasis.system.records import Records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Entry = dict[str, Any]

ENTRIES = 64
# Of a wish: a message of the owner's may be longer, an order that nobody reads again not.
WISH_CHARS, SYNTHESIS_CHARS = 2000, 1000
PAUSE_S = (60, 7 * 86400)
# When memory is tended: nobody asks for anything then.
_DAILY_HOUR = 3
# What the owner sees of an order in its rehearsal: with another of these his word is for another order.
_SHOWN_AHEAD = ("when", "timezone", "wish", "calls")
_NEVER_S = 1 << 40  # behind those that have a time
_SHOWN = ("id", "when", "wish", "enabled", "fired_unix_s", "calls", "synthesis", "service", "timezone", "pause_s",
          "chat", "note")  # fmt: skip


class Schedule:
    """The standing orders of one daemon."""

    def __init__(self, kit: Any) -> None:
        self._kit = kit
        self._lock = threading.RLock()  # of reading a record and writing it back
        state = kit.root.state_folder
        self._records = Records(kit.files, state + "/schedule.jsonl", ENTRIES, kit.free_bytes, kit.log)
        devices = Records(kit.files, state + "/devices.jsonl", DEVICES, kit.free_bytes, kit.log)
        self._devices = Devices(devices, kit.clock.now_s, kit.log)
        self._zones = Zones(kit.facts, kit.root)
        self._runner = Runner(kit, self._zone, self._disable, self._approve, self._mark, lambda: self._clockwork.wake())
        watch = Watch(kit.facts, self._devices.is_known, self._space, kit.clock.now_s)
        self._clockwork = Clockwork(
            self._records, self._lock, self._runner, watch, Pipe(kit.root.run_folder + "/events"), kit.clock,
            kit.is_clock_trusted, self._zone, self._disable, self._tend, kit.log,
        )  # fmt: skip
        self._tended = ""
        self.source = Orders(self)

    def start(self) -> None:
        """Tell whose plan was lost with the last daemon, then wait where an entry is enabled: at the daemon's start."""
        for entry in self._records.all():
            if not fault(entry) and entry.get("plan", {}).get("state") == "waiting":
                lost = {**entry["plan"], "state": "lost"}
                self._mark(entry, lost)
                self._runner.tell(entry, of_plan(lost, self._until(entry)))
        self._clockwork.look()

    def close(self) -> None:
        """End the thread."""
        self._clockwork.stop()
        self._devices.close()

    # Methods

    def schedule_list(self) -> dict[str, Any]:
        """Return the entries, what is next first, and what the clock says.

        Shape: {"entries": [Entry, with "understood"?: its time in words, "next"?, "next_unix_s"?, "moments"?: the next
        three as its zone's clocks show them, "ahead": how many plans are approved, "active"],
        "now", "zone": its rule, "events": [names], "trusted": is the clock, "note": what is wrong with the zone or ""}
        """
        now_s = self._kit.clock.unix_s()
        zone = self._zones.router()
        entries = [self._shown(entry) for entry in self._records.all()]
        entries.sort(key=lambda entry: (not entry["enabled"], entry.get("next_unix_s", _NEVER_S)))
        reply = {"entries": entries, "now": zone.shown(now_s), "zone": zone.rule, "events": list(when.EVENTS)}
        return {**reply, "trusted": self._kit.is_clock_trusted(0), "note": self._zones.fault}

    def schedule_add(
        self, when: str, wish: str, timezone: str = "", calls: list[Any] | None = None, synthesis: str = "",
        service: str = "", pause_s: int = 0, approve: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """Make an entry, {"entry", "run"?, "chat"?}; with `approve` its plans are shown now, to be approved ahead."""
        entry = self.add(when, wish, timezone, calls, synthesis, service, pause_s)
        return {"entry": entry, **(self.schedule_approve(entry["id"]) if approve else {})}

    def add(
        self, when: str, wish: str, timezone: str = "", calls: list[Any] | None = None, synthesis: str = "",
        service: str = "", pause_s: int = 0,
    ) -> Entry:  # fmt: skip
        """Make an entry; return it as shown, with "assumed": what its words left open, and how that was taken.

        Raises: UsageError for what is no time, no zone, no tool; SettingsError; StoreError.
        """
        form, assumed = self._form(when, timezone)
        given = {"when": form, "wish": wish, "timezone": timezone, "calls": calls or [], "synthesis": synthesis}
        now_s = self._kit.clock.unix_s()
        entry = {"id": self._kit.new_id(), "enabled": True, "created_unix_s": now_s, "since_unix_s": now_s}
        entry = {**entry, **self._checked({**given, "service": service, "pause_s": pause_s})}
        self._records.put(entry)
        return {**self._warned(entry), "assumed": assumed}

    def schedule_change(
        self, id: str, when: str | None = None, wish: str | None = None, enabled: bool | None = None,
        timezone: str | None = None, calls: list[Any] | None = None, synthesis: str | None = None,
        service: str | None = None, pause_s: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Change what is given, {"entry"}; moments before are over, and what was approved ahead is not any more."""
        given: dict[str, Any] = {"when": when, "wish": wish, "enabled": enabled, "timezone": timezone, "calls": calls}
        given.update(synthesis=synthesis, service=service, pause_s=pause_s)
        return {"entry": self.change(id, {key: value for key, value in given.items() if value is not None})}

    def change(self, id: str, changes: dict[str, Any]) -> Entry:
        """Change an entry; return it as shown, with "assumed" as `add` does."""
        assumed: list[str] = []
        with self._lock:
            entry = self._entry(id)
            if "when" in changes:
                changes["when"], assumed = self._form(
                    changes["when"], changes.get("timezone") or entry.get("timezone", "")
                )
            is_on = bool(changes.pop("enabled", "when" in changes or entry["enabled"]))
            if changes:
                entry = {**entry, **self._checked({**entry, **changes})}
                entry.pop("approved", None)
            for key in ("note", "fired_unix_s") if is_on else ():
                entry.pop(key, None)
            if not self._runner.is_waiting(entry):
                entry.pop("plan", None)  # its owner has seen it
            entry.update(enabled=is_on, since_unix_s=self._kit.clock.unix_s())
            if is_on:  # what was a time once may be over by now
                when.checked(entry["when"], entry["since_unix_s"], self._zone(entry))
            self._records.put(entry)
        # Without the lock: who begins a run holds its own, and may want this one.
        return {**self._warned(entry), "assumed": assumed}

    def schedule_delete(self, id: str = "", all: bool = False) -> dict[str, Any]:
        """Delete one entry, or all of them: {"deleted": how many}."""
        if bool(id) == all:
            raise UsageError("schedule.delete needs an id, or all", "list them with: oasis schedule")
        with self._lock:
            names = [entry["id"] for entry in self._records.all()] if all else [self._kept(id)["id"]]
            count = self._records.delete(names, forget=True)
        self._clockwork.look()
        return {"deleted": count}

    def schedule_run(self, id: str) -> dict[str, Any]:
        """Run an entry now, as when its time has come: {"run", "chat"}."""
        run = self._runner.start(self._entry(id))
        return {"run": run.id, "chat": run.chat}

    def schedule_approve(self, id: str) -> dict[str, Any]:
        """Begin a rehearsal, whose plans may be approved ahead: {"run", "chat"}."""
        run = self._runner.start(self._entry(id), rehearses=True)
        return {"run": run.id, "chat": run.chat}

    # Entries

    def _kept(self, name: str) -> Entry:
        entry = self._records.get(name)
        if entry is None:
            raise UsageError("there is no standing order %r" % name, "list them with: oasis schedule")
        return entry

    def _entry(self, name: str) -> Entry:
        entry = self._kept(name)
        why = fault(entry)
        if why:
            raise UsageError("the standing order %s cannot be read: %s" % (name, why), "delete it, and make it again")
        return entry

    def _form(self, words: str, timezone: str) -> tuple[str, list[str]]:
        """Return a time as entries keep it, and what was assumed."""
        return spoken.form(words, self._kit.clock.unix_s(), self._zones.named(timezone or "") or self._zones.router())

    def _warned(self, entry: Entry) -> Entry:
        """Let the clockwork see an entry; return it as shown, with "needs": what its moment may lack, where it may."""
        self._clockwork.look()
        needs = self._needs(entry)
        return {**self._shown(entry), **({"needs": needs} if needs else {})}

    def _needs(self, entry: Entry) -> str:
        """Return what a wish needs that may not be there when its moment comes, "" where this house can answer it."""
        if entry.get("calls") or not entry["enabled"]:
            return ""
        settings = self._kit.settings
        mode, ready = settings.offline(), [one for one in settings.services() if one["ready"]]
        models = [one for one in ready if one["vendor"] != OFFLINE and mode != "only"]
        if any(one["is_local"] or is_at_home(one["base_url"]) for one in models):
            return ""
        if mode != "never" and self._kit.exchanges().asking.is_sure_offline(entry["wish"]):
            return ""
        if not models:
            return "no AI service is set up, and the built-in one does not understand this wish"
        return "this wish needs the internet when its moment comes: no service at home understands it"

    def _shown(self, entry: Entry) -> Entry:
        why = fault(entry)
        if why:
            return unreadable(entry, why)
        found = {key: entry[key] for key in _SHOWN if entry.get(key) not in (None, "", [])}
        found["enabled"] = bool(entry.get("enabled"))
        found["ahead"] = len(entry.get("approved", []))
        found["active"] = self._runner.is_active(entry)
        plan = entry.get("plan", {})
        words = of_plan(plan, self._until(entry))
        if words and (plan["state"] != "waiting" or self._runner.is_waiting(entry)):
            found["plan"] = {**plan, "words": words}
        try:
            meant, zone = when.parse(entry["when"]), self._zone(entry)
            at = moment(meant, entry, self._kit.clock.unix_s(), zone)
        except OasisError as error:
            return {**found, "note": found.get("note") or error.message}
        found["understood"] = telling.words(entry["when"])
        if found["enabled"] and at is not None:
            found.update(next_unix_s=at, next=zone.shown(at), moments=telling.moments(entry["when"], at - 1, zone))
        return found

    def _checked(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of an entry, each as it is kept; a tool that there is not is told now and not at night."""
        wish, synthesis = clean.text(given["wish"]).strip(), clean.text(given.get("synthesis") or "").strip()
        if not wish or len(wish) > WISH_CHARS or len(synthesis) > SYNTHESIS_CHARS:
            raise UsageError("an order has 1 to %d characters" % WISH_CHARS, "say what is to be done")
        zone = self._zones.named(given.get("timezone") or "")
        meant = when.checked(given["when"], self._kit.clock.unix_s(), zone or self._zones.router())
        if given.get("service"):
            self._kit.settings.service(given["service"])
        pause_s = int(given.get("pause_s") or 0)
        if pause_s and not (meant.event and PAUSE_S[0] <= pause_s <= PAUSE_S[1]):
            raise UsageError("pause_s is %d" % pause_s, "for events alone, %d to %d seconds" % PAUSE_S)
        found = direct.parse(given.get("calls") or [])
        self._check_tools(found)
        if meant.event == "new_device":
            self._devices.seed([str(device["mac"]).lower() for device in self._kit.facts.devices()])
        return {"when": given["when"].strip(), "wish": wish, "calls": found, "synthesis": synthesis,
                "timezone": zone.rule if zone else "", "service": given.get("service") or "",
                "pause_s": pause_s}  # fmt: skip

    def _check_tools(self, found: list[direct.Call]) -> None:
        if not found:
            return
        from oasis.tools import specs as arguments

        specs = {spec["name"]: spec for spec in self._kit.exchanges().registry.specs()}
        for call in found:
            name = call["tool"]
            if name not in specs or name.startswith("schedule_"):
                raise UsageError("there is no tool %r for a schedule" % name, "those that are on: oasis tools")
            arguments.check(call["params"], specs[name]["input_schema"], name)

    def _disable(self, entry: Entry, why: str) -> None:
        with self._lock:
            now = self._records.get(entry["id"])
            if now is None or now["when"] != entry["when"]:
                return  # its owner was faster
            self._records.put({**now, "enabled": False, "note": why})
        self._runner.tell(entry, "is switched off: " + why)

    def _approve(self, entry: Entry, approvals: list[dict[str, Any]]) -> None:
        with self._lock:
            now = self._records.get(entry["id"])
            if now is not None and approvals and all(now.get(key) == entry.get(key) for key in _SHOWN_AHEAD):
                self._records.put({**now, "approved": approvals})

    def _mark(self, entry: Entry, plan: dict[str, Any] | None) -> None:
        """Keep what became of a plan that an entry's run waited with; nothing is written where nothing is new."""
        try:
            with self._lock:
                now = self._records.get(entry["id"])
                if now is None or now.get("plan") == plan:
                    return
                kept = {key: value for key, value in now.items() if key != "plan"}
                self._records.put({**kept, **({"plan": plan} if plan else {})})
        except OasisError as error:  # the notice tells it all the same
            self._kit.log("schedule: %s" % error.message)

    def _until(self, entry: Entry) -> str:
        until_s = entry.get("plan", {}).get("until_unix_s", 0)
        try:
            return self._zone(entry).shown(until_s if isinstance(until_s, int) else 0)
        except OasisError:
            return ""

    def _zone(self, entry: Entry) -> Zone:
        return Zone(entry["timezone"]) if entry.get("timezone") else self._zones.router()

    # The router

    def _space(self) -> tuple[int, int]:
        found = os.statvfs(self._kit.root.state_folder)
        return found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize

    def _tend(self, now_s: int) -> None:
        """Let memory do its work of the day, once, in the small hours."""
        year, month, day, hour, _, _ = self._zones.router().local(now_s)
        today = "%d-%d-%d" % (year, month, day)
        if hour != _DAILY_HOUR or today == self._tended:
            return
        self._tended = today
        memory = self._kit.beside.of("memory.daily")
        if memory is not None and hasattr(memory, "daily"):
            try:
                memory.daily()
            except OasisError as error:
                self._kit.log("memory: " + error.message)


def gather(kit: Any) -> Schedule:
    """Return the schedule of a daemon; `kit` is that of parts.py."""
    return Schedule(kit)
