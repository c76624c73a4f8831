"""One change at a time, with proof: prepared, applied, then confirmed or rolled back.

                prepare          commit, reload             keep
    (nothing) ──────────▶ prepared ──────────▶ applied ──────────▶ confirmed
                             │                    │ deadline, rollback, daemon started again
                             ▼                    ▼
                           rolled_back ◀──────────┘      rollback_failed: tried again at each start

Before the first commit: record, images and ready-to-rename copies are synced (journal.py) and a guard process waits for
the deadline by itself: guard.sh reads it from the pending record, and ends within a second of the record's going. What
is staged must export to the text that was worked out with the plan, else nothing is written. After the reload the
running state is checked (verification.py); what is not as promised rolls all back at once. A change of low risk needs
no keeping and is confirmed then. While one change waits, every other write is refused. An unconfirmed change never
survives the daemon: a start rolls it back first. All waiting is done in monotonic time. Knows nothing of models, chats
or front-ends.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from oasis.change.apply.journal import SPARE_BYTES, unknown
from oasis.core.ids import xid_s
from oasis.errors import (  # fmt: skip
    ApplyError,
    OasisError,
    RollbackError,
    StoreError,
    ToolError,
    UciError,
    UnwrittenError,
    UsageError,
)
from oasis.system.digest import sha256
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.evidence import Evidence
    from oasis.change.apply.journal import Journal
    from oasis.change.plan import Planner
    from oasis.change.shapes import Action, Any, Callable, Collection, Plan, Record, Role
    from oasis.core.shapes import Protocol
    from oasis.system.child import Child
    from oasis.system.connections import Connection
    from oasis.system.root import Machine
    from oasis.uci.cursor import Cursor

    class HasPlanner(Protocol):
        """Makes its planner when it is wanted: an idle daemon has none."""

        @property
        def planner(self) -> Planner: ...


# The guard waits longer than the daemon, so that the daemon's own timer acts first while it lives.
GUARD_GRACE_S = 10
# How often the daemon looks whether its guard lives; only while a change waits.
GUARD_LOOK_S = 5.0
# restore.sh and guard.sh.
SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What an init script gets: a slow router restarts its network in 20 s, and ends a hung service after 5. The guard waits
# for all of a change.
ACTION_S = 60
# How long a change may take apart from the actions on its services, each of which has a limit: staging and commit, the
# verification and its last look at a slow bus.
BESIDE_S = 60
# An owner may ask for more time again and again, but the old files must not wait for ever (others chose 10 minutes).
LONGEST_S = 900

# What restore.sh says of a file of somebody else that it could not keep.
_LOST = "no space to keep a copy"
_TOLD_CHARS = 300  # of what a package manager said
INSTALL_S = 280.0  # what a package manager gets
# So long a change of the address waits for the new address to reach the browser: one poll over a slow Wi-Fi.
_FOLLOW_S = 1.0

STATES = {
    "": ("prepared",),
    "prepared": ("applied", "confirmed", "rolled_back", "rollback_failed"),
    "applied": ("confirmed", "rolled_back", "rollback_failed"),
    "rollback_failed": ("rolled_back", "rollback_failed"),
    "confirmed": (),
    "rolled_back": (),
}


class Transaction:
    """The only writer of the router's configuration.

    `plans` has what makes plans, `cursor()` gives a UCI cursor on a private save folder, `evidence()` services,
    verification and proof of life (evidence.py). `followers` are two: tell(record) gets every new state, announce(plan)
    a plan that is about to be applied.
    """

    def __init__(
        self, machine: Machine, journal: Journal, plans: HasPlanner, cursor: Callable[[], Cursor],
        evidence: Callable[[], Evidence], followers: tuple[Callable[[Record], object], Callable[[Plan], object]],
    ) -> None:  # fmt: skip
        self._root, self._files, self._executor, self._clock = (
            machine.root, machine.files, machine.executor, machine.clock,
        )  # fmt: skip
        self._free_bytes = machine.free_bytes
        self._journal, self._plans, self._cursor, self._evidence = journal, plans, cursor, evidence
        self._tell, self._announce = followers
        self._lock = threading.RLock()
        self._installing: Record | None = None
        self._wake = threading.Condition(self._lock)
        self._record: Record | None = None  # the change that waits to be kept
        self._is_stopped = False
        self._deadline_s = self._applied_s = 0.0
        self._window_s = 0
        self._guard: Child | None = None
        scripts = [SCRIPTS + name for name in ("/guard.sh", "/restore.sh")]
        self._guard_argv = ["/bin/sh", scripts[0], journal.pending, machine.root.folder, scripts[1]]

    def recover(self) -> Record | None:
        """Roll back what an earlier run left unconfirmed; call this first. Return its record, if any."""
        with self._lock:
            change = self._journal.pending_id()
            if not change:
                self._close_interrupted()
                return None
            try:
                record = self._journal.read(change)
            except UsageError:  # damaged
                record = unknown(change, xid_s(change))
            if not STATES[str(record["state"])]:
                # The power failed between the last word on the record and the removal of what was pending, or that was
                # not synced: whole copies that are still listed are restored, whatever the record says.
                record["state"] = "prepared"
            self._put_back(record, "the daemon or the router stopped before the change was kept")
            return record

    def _close_interrupted(self) -> None:
        """Tell the end of changes whose records were not written any more: removing the list is what confirms one."""
        for record in self._journal.records():
            if record["state"] == "prepared" and record.get("installed") and not record["after"]:
                record["reason"] = "the daemon or the router stopped while packages were installed"
                record["state"] = "rolled_back"
                self._uninstall(record)
                self._journal.write(record)
            elif record["state"] in ("prepared", "applied"):
                try:
                    sums = {name: sha256(self._plans.planner.read(name)) for name in record["after"]}
                except StoreError:
                    continue  # the flash does not tell now; the next start does
                except UciError:
                    sums = {}  # a package is gone
                is_written = sums == record["after"]
                record["state"] = "confirmed" if is_written else "rolled_back"
                if is_written and not self._set_ends(record):
                    continue
                self._journal.write(record)
            if record["state"] == "confirmed" and record.get("undoes") and not record.get("undone_by"):
                self._mark_undone(record)

    def apply(self, plan: Plan, message: str = "", own: Collection[str] = ()) -> Record:
        """Make a plan real; return the record of the change, state `confirmed` or, waiting to be kept, `applied`.

        `own` are the keys of the texts in it that the owner wrote (text_origin.py).
        Raises: ApplyError when nothing was changed or all is undone again; RollbackError when undoing failed.
        """
        with self._lock:
            if self._is_stopped:
                raise ApplyError("oasis is stopping; nothing was written", "try again when it runs")
            self.check_idle("nothing was written")
            self._plans.planner.check_current(plan)
            evidence = self._evidence()
            record = self._new_record(plan, message, own)
            before = evidence.verification.look(plan)
            if plan["images"]:
                record["init"] = evidence.services.states(plan["services"], before["services"])
                self._prepare(record, plan)
            try:
                if plan["images"]:
                    # While the old address is there: front-ends need it to follow the router to another one.
                    self._announce(plan)
                    if plan["new_address"]:
                        time.sleep(_FOLLOW_S)
                    self._write(plan)
                    self._check_written(plan)
                init = record.get("init", [])
                record["services"] = evidence.services.act(
                    plan, init, before["services"], lambda one: self._fails_anyway(one, plan)
                )
                record["verified"] = evidence.verification.verify({**plan, "services": record["services"]}, before)
                self._finish(record, plan)
            except UnwrittenError as error:
                self._abandon(record)
                raise ApplyError(error.message, error.hint)
            except Exception as error:
                self._undo_half(record, plan, error)
                raise
            return record.copy()

    def install(
        self, plan: Plan, work: Callable[[str], object], make: Callable[[], Plan | None],
        message: str = "", own: Callable[[Plan], Collection[str]] = lambda plan: (),
    ) -> Record:  # fmt: skip
        """Install packages by work(folder), then apply what make() plans on what they brought; return the record.

        What is replaced work() leaves in the folder as NAME.ipk, where opkg needs it for the way back. What it installs
        is on flash before it begins, so a power cut in it ends with the next start (`recover`). The services that the
        packages bring are enabled and started. Whatever fails, the packages go again.
        Raises: what work() and make() raise, and what `apply` does.
        """
        with self._lock:
            if self._is_stopped:
                raise ApplyError("oasis is stopping; nothing was installed", "try again when it runs")
            self.check_idle("nothing was installed")
            self._plans.planner.check_current(plan)
            # of its images nothing is written yet
            record = self._new_record({**plan, "images": {}, "after": {}}, message, ())
            scripts = set(self._files.names(self._root.path("/etc/init.d")))
            self._journal.add(record, {})
            try:
                self._run_manager(lambda: work(self._journal.folder(record["id"])), record)
                new = [name for name in self._files.names(self._root.path("/etc/init.d")) if name not in scripts]
                for name in new:
                    self._executor.run([self._root.init_script(name), "enable"], timeout_s=ACTION_S)
                self._installing = record
                # The owner may be asked again: nothing waits in silence until they answer, check_idle() says why.
                self._lock.release()
                try:
                    made = make()
                finally:
                    self._lock.acquire()
                    self._installing = None
                if made is None:
                    self._close(record, "confirmed")
                    return record.copy()
                acted = [item["name"] for item in made["services"]]
                starts: list[Action] = [{"name": name, "action": "start"} for name in new if name not in acted]
                made = self._plans.planner.bind(
                    made, id=plan["id"], call=plan["call"], services=[*made["services"], *starts], needs_approval=False
                )
                return self.apply(made, message, own(made))
            except BaseException as error:
                self._uninstall_half(record, error)
                raise

    def _run_manager(self, work: Callable[[], object], record: Record) -> None:
        """Let the package manager work, and keep its list of packages, which opkg empties when the flash gets full."""
        path, spare = self._root.path("/usr/lib/opkg/status"), self._root.state_folder + "/spare"
        known = self._files.read(path) or b""
        self._files.replace(spare, os.urandom(len(known) + SPARE_BYTES))  # that nothing packs
        try:
            work()
        finally:
            is_full = self._free_bytes(self._root.confdir) < SPARE_BYTES
            self._files.remove(spare)
            goes = {b"Package: " + old.encode() for every in record.get("replaced", {}).values() for old in every}
            is_lost = not _listed(known) - goes <= _listed(self._files.read(path) or b"")
            if is_lost:
                self._files.replace(path, known, 0o644)
        if is_full or is_lost:  # opkg calls installed what it wrote half
            words = "the flash became full; files of %s may be left" % ", ".join(record["installed"])
            raise ApplyError(words, "extend the flash by a USB drive, or remove something, then try again")

    def _uninstall_half(self, record: Record, error: BaseException) -> None:
        """Remove what was installed for a change that failed, unless its rollback did already."""
        try:
            record = self._journal.read(record["id"])
        except UsageError:
            pass  # its preparation failed, and the record went with it
        if record["state"] == "prepared":
            record["reason"] = getattr(error, "message", "a fault in oasis: %s" % type(error).__name__)
            self._close(record, "rolled_back")
        if isinstance(error, OasisError) and "may be left" not in error.message:
            left = record.get("installed")
            error.message += "; %s" % (
                "these packages stay: " + ", ".join(left) if left else "the packages are gone again"
            )

    def _uninstall(self, record: Record) -> None:
        """Remove the packages that a change installed, those that need others first; tell which stay.

        A package that something else needs by now stays: the package manager refuses.
        """
        left, swaps, words = list(record.get("installed", ())), record.get("replaced", {}), ""
        apk, opkg = self._root.program("apk"), self._root.program("opkg")
        steps = [(name, [apk, "del", name]) for name in left if name not in swaps]
        steps += [(new, [apk, "add", *old, "!" + new]) for new, old in swaps.items()]
        if not apk:
            force = {name: ["--force-depends"] for name in swaps}
            # again and again, for those that another one needed
            steps = [(name, [opkg, "remove", *force.get(name, ()), name]) for name in left] * len(left)
            folder = self._journal.folder(record["id"])
            held = [name for name in self._files.names(folder) if name.endswith(".ipk")]
            steps += [(name, [opkg, "install", folder + "/" + name]) for name in held]
            left += held
        refused = set[str]()  # until another one is gone
        for name, argv in steps if apk or opkg else ():
            if name not in left or name in refused:
                continue
            try:
                status, out, err = self._executor.run(argv, timeout_s=INSTALL_S)
            except ToolError as error:
                status, out, err = 1, b"", error.message.encode()
            if status:
                refused.add(name)
            else:
                left.remove(name)
                refused.clear()
            words = (err or out).decode("utf-8", "replace").strip() if status else words
        if left:
            told = "; these packages are not as they were before: %s (%s)" % (
                ", ".join(left),
                words[:_TOLD_CHARS],
            )
            record["reason"] = record.get("reason", "") + told
            record["installed"] = left
        else:
            record.pop("installed", None)

    def check_idle(self, outcome: str) -> None:
        """Raise ApplyError while a change waits to be kept: what is done meanwhile might take its way back.

        So it is while an installation waits for its second decision: without a yes its packages go again.
        """
        if self._installing is not None:
            raise ApplyError(
                "change %s has installed packages and waits for a decision on them; %s"
                % (self._installing["id"], outcome),
                "decide it first: `oasis plans`",
            )
        record = self._record
        if record is not None:
            raise ApplyError(
                "change %s waits to be kept or rolled back; %s" % (record["id"], outcome),
                "keep it with `oasis confirm` or undo it with `oasis rollback`, then try again",
            )

    def _undo_half(self, record: Record, plan: Plan, error: Exception) -> None:
        """Roll back a change that could not be finished, whatever stopped it; a fault of ours is re-raised."""
        if not plan["images"] or isinstance(error, RollbackError):
            return
        self._put_back(record, getattr(error, "message", "a fault in oasis: %s" % type(error).__name__))
        if isinstance(error, OasisError):
            hint = error.hint
            if getattr(error, "failed", None) in record.get("failed_after", []):
                hint = "it fails in the same way without the change: ask again, then it is only reported"
            raise ApplyError("%s; everything was rolled back" % error.message, hint, untrusted=error.untrusted)

    def _fails_anyway(self, failed: Action, plan: Plan) -> bool:
        """Return whether a service failed in the same way with the files as they were before this change.

        That is known from an earlier change that was rolled back for it: reloading services beforehand, only to see
        whether they would fail, would interrupt a network that works.
        """
        for record in self._journal.records():
            if failed in record.get("failed_after", []):
                known = record["before"].items()
                if all((plan["before"].get(name) or self._sum(name)) == sum_ for name, sum_ in known):
                    return True
        return False

    def _new_record(self, plan: Plan, message: str, own: Collection[str]) -> Record:
        every: dict[str, Any] = {**plan}
        where_set = {
            **{key: every[key] for key in ("undoes", "until_unix_s", "new_address", "tainted")}, "own": list(own),
            "ends": [entry for entry in plan["ends"] if entry["before"] != entry["after"]],
            "automatic": plan["is_automatic"], "untrusted": sorted(set(plan["untrusted"])),
        }  # fmt: skip
        if plan["call"]:  # of `install`
            arguments: dict[str, Any] = plan["call"]["arguments"]
            where_set |= {"installed": arguments["names"], "replaced": arguments.get("replaces", {})}
        return {
            **{key: every[key] for key in ("run", "chat", "summary", "words", "risk", "services")},  # type: ignore[typeddict-item]
            **{key: value for key, value in where_set.items() if value},
            "id": plan["id"], "plan_hash": plan["hash"], "message": message, "packages": list(plan["images"]),
            "state": "prepared", "when_unix_s": self._clock.unix_s(), "after": plan["after"],
            "before": {name: plan["before"][name] for name in plan["images"]},
        }  # fmt: skip

    def _prepare(self, record: Record, plan: Plan) -> None:
        """Put on flash what undoes the change and start its guard; forget both when one of them fails."""
        modes = {name: os.stat(self._root.confdir + "/" + name).st_mode & 0o777 for name in plan["images"]}
        seconds = int(plan["confirm_s"]) + lasts_s(plan["services"]) + GUARD_GRACE_S
        try:
            self._journal.prepare(record, plan["images"], modes, int(self._clock.up_s()) + seconds)
            self._guard = self._executor.detach(self._guard_argv)
        except OasisError:
            self._abandon(record)
            raise

    def _abandon(self, record: Record) -> None:
        """Forget a change of which nothing was written: what is in the files is somebody else's and stays."""
        self._journal.abandon(str(record["id"]))
        self._end_guard()

    def _end_guard(self) -> None:
        """End the guard; one of a daemon before this one ends by itself."""
        if self._guard is not None:
            self._guard.end_group()
            self._guard = None

    def _write(self, plan: Plan) -> None:
        """Write a plan's files: staged in a private save folder, compared, and committed.

        Raises: UciError, StoreError; the journal restores files committed before the failing one.
        """
        images = plan["images"]
        if plan["is_restore"]:
            for package, (_, after) in images.items():
                path = os.path.realpath(self._root.confdir + "/" + package)  # a link stays one
                self._files.replace(path, after, os.stat(path).st_mode & 0o777)
        else:
            expected = {name: model.export_text(model.parse(after, name)) for name, (_, after) in images.items()}
            # What a killed daemon left staged is dropped by this: the folder is ours alone.
            self._cursor().write([one for one in plan["operations"] if one["package"] in images], expected)

    def _check_written(self, plan: Plan) -> None:
        for package in plan["images"]:
            if sha256(self._plans.planner.read(package)) != plan["after"][package]:
                raise ApplyError("%s on flash is not what the plan promised" % package, "nothing of it was kept")

    def _finish(self, record: Record, plan: Plan) -> None:
        if not plan["images"]:
            if record.get("ends") or record.get("undoes"):
                self._journal.write(record)
                self._close(record, "confirmed")
            else:
                self._move(record, "confirmed", False)
            return
        is_kept = not plan["confirm_s"]
        why = self._journal.keep(str(record["id"]), lambda: self._moved(record), is_kept)
        if why:
            raise ApplyError(why, "nothing of it was kept")
        if is_kept:
            self._close(record, "confirmed")
            return
        seconds = int(plan["confirm_s"])
        self._journal.set_deadline(int(self._clock.up_s()) + seconds + GUARD_GRACE_S)
        self._evidence().life.begin(str(record["id"]), str(plan["nonce"]))
        self._record = record
        self._window_s = seconds
        self._applied_s = self._clock.now_s()
        self._deadline_s = self._applied_s + seconds
        self._move(record, "applied", True)
        threading.Thread(target=self._watch, args=(record,), name="deadline", daemon=True).start()

    def _moved(self, record: Record) -> list[str]:
        """Return the packages that are not as the plan made them."""
        return [name for name, sum_ in record["after"].items() if self._sum(name) != sum_]

    def _sum(self, package: str) -> str:
        try:
            return sha256(self._plans.planner.read(package))
        except OasisError:
            return ""

    def _watch(self, record: Record) -> None:
        with self._lock:
            while self._record is record:
                left_s = self._deadline_s - self._clock.now_s()
                if left_s > 0:
                    self._keep_guard()
                    self._wake.wait(min(left_s, GUARD_LOOK_S))
                    continue
                try:
                    self._put_back(record, "nobody kept the change in time")
                except RollbackError:
                    return  # its state is stored and reported; every write is refused until a retry succeeds

    def _keep_guard(self) -> None:
        """Start another guard when the one that waits was killed: it reads the same deadline."""
        if self._guard is None or self._guard.poll() is None or not self._journal.is_pending():
            return
        try:
            self._guard = self._executor.detach(self._guard_argv)
        except ToolError as error:
            print("oasisd: no guard, tried again: %s" % error.message, file=sys.stderr)

    def extend(self, change: str, seconds: int = 0) -> Record:
        """Give the owner more time: so many seconds from now, or the whole window again; never less than there is.

        Raises: UsageError when the change has had LONGEST_S.
        """
        with self._lock:
            record = self._waiting(change)
            now_s = self._clock.now_s()
            deadline_s = min(now_s + (seconds or self._window_s), self._applied_s + LONGEST_S)
            if record["state"] != "applied" or deadline_s <= self._deadline_s:
                raise UsageError(
                    "change %s gets no more time: it may wait %d minutes in all" % (record["id"], LONGEST_S // 60),
                    "keep it, or let it be rolled back and make it again",
                )
            self._journal.set_deadline(int(self._clock.up_s() + deadline_s - now_s) + 1 + GUARD_GRACE_S)
            self._deadline_s = deadline_s
            self._tell(record.copy())
            return {**record, "confirm_in_s": int(deadline_s - now_s)}

    def judge(self, change: str, nonce: str, session: str, one: Connection) -> str:
        """Return what a connection proves, see proof_of_life.py; it is recorded and reported, and confirms nothing."""
        answer = self._evidence().life.judge(change, nonce, session, one)
        with self._lock:
            if answer == "proved" and self._record is not None and not self._record.get("proof"):
                self._record["proof"] = "connection"
                self._tell(self._record.copy())
        return answer

    def arrive(self, session: str, one: Connection) -> dict[str, str]:
        """Return what the connection of a page proves that did not make the change that waits; {} where none does.

        Shape: {"change", "proof": one of the words of proof_of_life.py}
        """
        record = self._record
        answer = self._evidence().life.arrive(session, one) if record is not None else ""
        return {"change": str(record["id"]), "proof": answer} if record is not None and answer else {}

    def nonce(self, change: str) -> str:
        """Return what the front-end of the change that waits must show; "" for every other change."""
        return self._evidence().life.nonce(change) if self._record is not None else ""

    def witness(self, role: Role, is_unproved: bool) -> str:
        """Return what speaks for keeping the change that waits.

        Raises: UnprovedError; see proof_of_life.py.
        """
        record = self._record
        if record is None:
            return ""  # `confirm` tells what became of it
        return str(record.get("proof") or self._evidence().life.witness(role, is_unproved))

    def confirm(self, change: str, proof: str = "") -> Record:
        """Keep the change that waits: the owner said that all is well, and `proof` is what speaks for it.

        The record that is returned says what became of it: when it was rolled back already, or a file of it was changed
        by somebody else, that is `rolled_back` with the reason.
        """
        with self._lock:
            if self._record is None and change:
                record = self._journal.read(change)
                if record["state"] == "rolled_back":
                    return record
            record = self._waiting(change)
            if proof:
                record.setdefault("proof", proof)
            why = self._journal.keep(str(record["id"]), lambda: self._moved(record))
            if why:
                record.pop("proof", None)
                self._put_back(record, why)
            else:
                self._close(record, "confirmed")
            return record.copy()

    def roll_back(self, change: str, reason: str) -> Record:
        """Roll back the change that waits, now.

        Raises: RollbackError when that failed.
        """
        with self._lock:
            record = self._waiting(change)
            self._put_back(record, reason)
            return record.copy()

    def stop(self) -> None:
        """Roll back what waits, because nobody could confirm it any more."""
        with self._lock:
            self._is_stopped = True  # a turn that has not ended yet applies nothing any more
            if self._record is not None:
                self._put_back(self._record, "the daemon stopped before the change was kept")

    def pending(self, session: str = "") -> Record | None:
        """Return the change that waits to be kept, with `confirm_in_s`, or None.

        A session that may keep it as a login of its own learns it: `proof` is "login" for it alone (proof_of_life.py).
        """
        record = self._record  # without the lock: an apply may hold it for as long as a network restarts
        if record is None:
            return None
        found: Record = {**record, "confirm_in_s": max(int(self._deadline_s - self._clock.now_s()), 0)}
        if session and self._evidence().life.has_arrived(session):
            found.setdefault("proof", "login")
        return found

    def wait_idle(self) -> None:
        """Return when nothing is being applied: everything reported so far is on flash then."""
        with self._lock:
            return

    def _waiting(self, change: str) -> Record:
        if self._record is None:
            raise UsageError("no change waits to be kept", "see what happened with: oasis changes")
        if change and self._record["id"] != change:
            raise UsageError("change %s does not wait; %s does" % (change, self._record["id"]), "see: oasis pending")
        return self._record

    def _close(self, record: Record, state: str) -> None:
        # The moment that confirms is the removal of the list, the moment that rolls back is its restoring: the record
        # only describes it, so a power cut between the two is read correctly at the next start.
        if self._record is not None:
            self._evidence().life.end()
        self._record = None
        self._wake.notify_all()
        self._end_guard()
        if state == "rolled_back":
            self._uninstall(record)
        is_stored = state != "confirmed" or self._set_ends(record)
        try:
            self._move(record, state, is_stored)
            if state != "confirmed":
                self._journal.clear()
            elif record.get("undoes"):
                self._mark_undone(record)
            self._journal.trim()
        except StoreError as error:
            # What happened stands and was reported; the next start reads it from what is on flash.
            print("oasisd: the record of change %s: %s" % (record["id"], error.message), file=sys.stderr)

    def _set_ends(self, record: Record) -> bool:
        """Give earlier changes the ends that a change sets; False when the flash refuses.

        The record on flash is not confirmed before that, so the next start does what is left.
        """
        if not record.get("ends"):
            return True
        from oasis.change.history import ends  # an idle daemon does without

        for entry in record["ends"]:
            try:
                self._journal.update(str(entry["change"]), **ends.fields(entry["after"]))
            except UsageError:
                continue  # too old to be in the history
            except StoreError as error:
                print("oasisd: the end of change %s: %s" % (entry["change"], error.message), file=sys.stderr)
                return False
        return True

    def _put_back(self, record: Record, reason: str) -> None:
        """Restore with the same script that the boot hook uses, then reload what the change had reloaded."""
        argv = ["/bin/sh", SCRIPTS + "/restore.sh", self._journal.pending, self._root.folder, "services"]
        limit_s = lasts_s(record["services"])
        try:
            status, _, err = self._executor.run(argv, timeout_s=limit_s)
            words = err.decode("utf-8", "replace").strip()
        except ToolError as error:
            status, words = 1, error.message
        if self._guard is not None and _is_restoring(self._guard.pid):
            self._guard.wait(limit_s)  # until it has reloaded the services
        record["reason"] = reason
        if status and self._journal.is_pending():
            self._record = record
            self._move(record, "rollback_failed", True)
            raise RollbackError(
                "rolling back change %s failed: %s" % (record["id"], words), "restart oasis: it tries again"
            )
        failed: list[Action] = []  # with the old files, as restore.sh says
        for item in record["services"]:
            start = "oasis-restore: %s %s failed with status " % (item["name"], item["action"])
            codes = [line[len(start) :] for line in words.split("\n") if line.startswith(start)]
            same = [int(code) for code in codes if code.isdigit()]
            failed += [{"name": item["name"], "action": item["action"], "ok": False, "status": code} for code in same]
        if failed:
            record["failed_after"] = failed
        if status:  # the files are back, a service is not sure to be
            record["reason"] += "; then " + words
        record["reason"] += "".join("; " + line.partition(": ")[2] for line in words.split("\n") if _LOST in line)
        kept = self._journal.keep_foreign(str(record["id"]))
        if kept:
            record["kept"] = kept
        self._close(record, "rolled_back")

    def _mark_undone(self, record: Record) -> None:
        try:
            other = self._journal.update(str(record["undoes"]), undone_by=record["id"])
            if other.get("installed"):
                self._uninstall(other)
                self._journal.write(other)
            if other.get("undoes"):  # undoing an undo: what that had undone stands again
                self._journal.update(str(other["undoes"]), undone_by="")
        except UsageError:
            pass  # too old to be in the history

    def _move(self, record: Record, state: str, is_stored: bool) -> None:
        old = str(record["state"])
        if state not in STATES[old]:
            raise RollbackError("change %s cannot go from %s to %s" % (record["id"], old, state), "this is a bug")
        record["state"] = state
        self._tell(record.copy())
        if is_stored:
            self._journal.write(record)


def _listed(status: bytes) -> set[bytes]:
    """Return the lines that name the packages in opkg's list, without one that is torn."""
    return {one.split(b"\n")[0] for one in status.split(b"\n\n") if b"\nStatus: " in one}


def _is_restoring(pid: int) -> bool:
    """Return whether a guard has become restore.sh."""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as handle:
            return b"/guard.sh\0" not in handle.read()
    except OSError:
        return False


def lasts_s(services: list[Action]) -> int:
    """Return how long the actions on a change's services and all else may take."""
    return ACTION_S * len(services) + BESIDE_S
