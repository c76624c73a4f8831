"""oasisd: put the parts together, recover, serve, stop.

Order at start: lock, settings, recovery of an unconfirmed change, then the socket:
nobody is served before the router is in a known state.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, MutableMapping, Sequence

from oasis import parts
from oasis.agent.runs import Runs
from oasis.api.methods import Methods, bug_fault, shown
from oasis.api.parts import OptionalParts
from oasis.change.apply.journal import Journal
from oasis.change.apply.transaction import SCRIPTS, Transaction
from oasis.change.approval import Allowance, ApprovalQueue
from oasis.change.audit import Audit
from oasis.change.history.expiry import Expiry
from oasis.change.plan_card import ahead
from oasis.change.policy import Policy
from oasis.config.settings import APPROVALS, Settings
from oasis.core import rpc
from oasis.core.ids import Scru128, Xid
from oasis.daemon import migration
from oasis.errors import OasisError, UsageError
from oasis.llm.workers import Models
from oasis.redaction.redactor import Redactor
from oasis.system.child import Executor
from oasis.system.clock import Clock, is_trusted
from oasis.system.confinement import USER, Confinement
from oasis.system.connections import LineServer, connections
from oasis.system.files import Files, free_bytes, hold
from oasis.system.root import Machine, Root
from oasis.ubus.outgoing import Ubus, opener
from oasis.uci import model
from oasis.uci.backends import BACKENDS, NAMES, chosen, open_cursor

if False:  # annotations only
    from typing import Any, TypeVar

    T = TypeVar("T")

    from oasis.agent.client import Offline
    from oasis.agent.start import TurnStarter
    from oasis.api.chat_methods import Conversations
    from oasis.change.apply.evidence import Evidence
    from oasis.change.apply.proof_of_life import Origins
    from oasis.change.plan import Planner
    from oasis.change.reach.shapes import Answer
    from oasis.change.shapes import Images, Plan, Record, Role
    from oasis.change.text_origin import Texts
    from oasis.chats.collection import Collection
    from oasis.llm.services import Book
    from oasis.llm.usage import Usage
    from oasis.system.connections import Connection
    from oasis.tools.router import Facts
    from oasis.tools.shapes import OwnRecords, Refused
    from oasis.ubus.peer import Peer
    from oasis.uci.cursor import Cursor


def once(make: Callable[[Daemon], T]) -> Callable[[Daemon], T]:
    """Have a method make what it returns with its first use, once; calls come in many threads."""

    def made(daemon: Daemon) -> T:
        with daemon._making:
            if make.__name__ not in daemon._made:
                daemon._made[make.__name__] = make(daemon)
            found: T = daemon._made[make.__name__]
            return found

    return made


class Lasting:
    """An attribute that is made with its first use, once; then it is one like the others, and costs no call."""

    def __init__(self, make: Callable[[Daemon], object]) -> None:
        self._name, self._make = make.__name__, once(make)

    def __get__(self, daemon: Daemon, _: object) -> Any:
        found = vars(daemon)[self._name] = self._make(daemon)
        return found


class Daemon:
    """One oasisd on one router root: everything that it has, its start, reload and stop, the answers on its socket.

    All is made here and in the order in which one thing needs another, and never set later. What an idle daemon does
    without is made with its first use, by a method. `notes` is what the start has to say.
    """

    def __init__(self, root: Root, environment: MutableMapping[str, str] | None = None) -> None:
        self.root = root
        self.notes: list[str] = []
        self.files = files = Files()
        files.folder(root.run_folder)
        self._lock = hold(root.run_folder + "/lock", root.folder)
        self._made: dict[str, Any] = {}
        self._making = threading.RLock()
        self.clock = clock = Clock()
        self.now_s = clock.now_s
        self.log, self.free_bytes = fault, free_bytes
        self.settings = Settings(root, files, environment)
        self.executor = Executor(root.environment(), root.allowed(SCRIPTS))
        self.machine = Machine(root, files, self.executor, clock)
        self.backend = self.settings.choice("uci_backend", BACKENDS)
        self.backend_name = NAMES[chosen(self.backend, bool(root.program("uci")))]
        self._install_key = self.settings.install_key()
        self.redactor = Redactor(files, root.confdir, self._install_key, self.settings.keys)
        self.ubus = Ubus(self.executor, root.program("ubus"), opener(root.bus_socket), root.folder == "/")
        self.ubus_call = self.ubus.call
        self.runs = Runs(self.new_id, clock.now_s, self.redactor.open_end)
        self._wire_changes()
        self._wire_models()
        self._chat_settings = self.settings.chats()  # those of the start, see AT_START
        self._message_ids = Scru128(lambda: int(time.time() * 1000), os.urandom)
        self.parts = OptionalParts(self)
        self.methods = Methods(self)
        self.call = self.methods.call
        self._main = self.settings.main()
        self._server: LineServer | None = None
        self._peer: Peer | None = None

    def _wire_changes(self) -> None:
        files, clock, root = self.files, self.clock, self.root
        number = self.settings.number
        approval = self.settings.choice("approval", APPROVALS)
        self.policy = Policy(approval, number("confirm_s", 0), number("management_confirm_s", 0))
        self.journal = journal = Journal(files, root.state_folder, free_bytes)
        self._records = Xid(clock.unix_s, os.urandom, None, journal.next_s())
        followers = (self._tell, self._announce)
        self.transaction = Transaction(self.machine, journal, self, self.cursor, self._evidence, followers)
        self.audit = Audit(files, root.state_folder + "/audit.jsonl", clock.unix_s)
        self.approvals, self.allowance = ApprovalQueue(clock.now_s), Allowance(clock.now_s)
        self.refused: list[Refused] = []  # what the owner may still force, see tools/operator.py
        self.expiry = Expiry(self)
        self.moment = self.expiry.moment

    def _wire_models(self) -> None:
        """Make what asks model services: the workers, confined, and the built-in service."""
        root, clock = self.root, self.clock
        self.confinement = Confinement(
            root, self.files.read, self.executor.run, self._service_urls, os.geteuid(), clock.now_s
        )
        self.unconfined = self.confinement.shown
        idle_s = self.settings.number("worker_idle_s", 60)
        # With a test root the worker keeps our uid; on a router it must not run as root.
        user = USER if root.folder == "/" and os.geteuid() == 0 else ""
        most = self.settings.number("worker_max", 2)
        self.models = Models(most, idle_s, user, self.confinement.prepare, self._usage)
        make = parts.first("offline")  # the built-in service; its process ends when nobody asks for so long
        try:
            self.offline: Offline = make(idle_s)
        except (Exception, SystemExit) as error:
            from oasis.agent import client

            self.offline = client.Offline()
            if make is not None:
                log(parts.broken("offline", error).message, True)

    def times(self, words: str) -> list[tuple[str, list[str]]]:
        """Return what of a sentence is a time or a condition; see tools/operator.py."""
        return self.offline.times(words, self.facts)

    def expiry_failed(self, record: Record, words: str) -> None:
        self.parts.part("notice").expiry_failed(record, words)

    def spoken(self, words: str, now_s: int) -> int:
        """Return the time that words mean in the router's zone.

        Raises: UsageError, also where no part reads words.
        """
        moment = parts.first("moment")
        if moment is None:
            raise UsageError("%r is no time" % words, "write it like 2h, 22:00 or 2026-12-24 18:00")
        return int(moment(words, now_s, self.facts, self.root))

    @Lasting
    def planner(self) -> Planner:
        from oasis.change.plan import Planner, Questions  # an idle daemon does without

        reason, texts = self.confinement.reason, self._texts
        questions = Questions(self._owner_way, reason, texts, self._luci_waits, self._warnings)
        return Planner(self.machine, self.policy, self._install_key, self.new_id, self.journal, questions)

    @Lasting
    def facts(self) -> Facts:
        from oasis.tools.router import Facts  # an idle daemon does without

        files, root, journal = self.files, self.root, self.journal
        known: OwnRecords = {
            "key": self._install_key, "texts": self._texts, "ending": lambda: _ending(journal, self.planner),
            "history": lambda: [record.copy() for record in journal.records()],
        }  # fmt: skip
        read_file = lambda path: files.read(root.path(path))  # noqa: E731
        config = functools.partial(model.stored, self.machine.known.read, root.confdir)
        packages = lambda: model.listed(files.names(root.confdir))  # noqa: E731
        return Facts(config, self.ubus.call, read_file, self.clock.unix_s, packages, known)

    @Lasting
    def chats(self) -> Collection:
        from oasis.chats.collection import gather  # an idle daemon does without

        hide, number = self.redactor.first_words, self.settings.number
        return gather(self.machine, self._chat_settings, number, self.new_id, hide, fault)

    @once
    def _texts(self) -> Texts:
        from oasis.change.text_origin import Texts  # with the first words of the configuration that are shown

        return Texts(self.root, self.files, self._install_key, self.journal)

    @once
    def turn_starter(self) -> TurnStarter:
        """Return what answers messages: tools, agent and all, which an idle daemon does without."""
        from oasis.agent.start import gather

        return gather(self)

    @once
    def conversations(self) -> Conversations:
        from oasis.api.chat_methods import Conversations  # with the first chat that is looked at

        return Conversations(self)

    def has_old(self) -> bool:
        """Tell whether chats of the Lua Oasis wait to be imported."""
        state = self.root.state_folder
        if not self.files.names(state + "/chat_data"):
            return False
        from oasis.chats.collection import TAKEN  # only where there was a Lua Oasis

        return self.files.read(state + TAKEN) is None

    def _owner_way(self, images: Images, run: str) -> Answer | None:
        from oasis.change.reach.owner_way import OwnerWay  # with the first risky plan: an idle daemon does without

        return OwnerWay(self.root, self.files, self.ubus.call)(images, self.runs.came(run))

    def came(self, role: Role) -> Sequence[Connection]:
        """Return by which connections somebody came, () when nothing tells."""
        return self.origins().of(role)

    @once
    def origins(self) -> Origins:
        from oasis.change.apply.proof_of_life import Origins, may_keep, of_login

        can_keep = lambda session: may_keep(self.ubus.call, session)  # noqa: E731
        return Origins(connections, can_keep, of_login, self.clock.now_s)

    def _warnings(self, images: Images, brings_packages: bool) -> list[str]:
        if set(images) <= {"system"} and not any(b"/mnt/" in pair[1] for pair in images.values()):
            return []  # a name, the clock, lights: nothing of them leaves a network unusable
        from oasis.tools.warnings import warnings  # with the first change: an idle daemon does without

        return warnings(images, self.root, self.files, brings_packages)

    def _luci_waits(self) -> bool:
        from oasis.change.apply.evidence import luci_waits  # with the first change: an idle daemon does without

        return luci_waits(self.ubus.call)

    def examine(self) -> dict[str, Any]:
        """Return a round of the doctor; see tools/builtin/diagnose.py."""
        from oasis.tools.builtin.diagnose import examined  # an idle daemon does without

        return examined(self.root, self.files, self.executor.run, self.facts)

    @once
    def _evidence(self) -> Evidence:
        from oasis.change.apply.evidence import Evidence

        is_here_fine = self.settings.choice("alive_loopback", ("0", "1")) == "1"
        return Evidence(self.machine, self.ubus.call, is_here_fine)

    def _service_urls(self) -> list[str]:
        try:
            return self.settings.urls()
        except OasisError:
            return []  # settings that cannot be read open nothing; whoever needs them says what is wrong

    def is_clock_trusted(self, newest_unix_s: int) -> bool:
        """Tell whether the wall clock may be believed; see system/clock.py."""
        return is_trusted(self.root, self.files, self.clock.unix_s(), newest_unix_s)

    def new_id(self) -> str:
        with _IDS:
            return self._records.next()

    def new_message_id(self) -> str:
        with _IDS:
            return self._message_ids.next()

    def cursor(self) -> Cursor:
        program = self.root.program("uci")
        run = self.executor.run if program else None
        return open_cursor(self.root.confdir, self.root.run_folder + "/uci", self.backend, run, program)

    @once
    def book(self) -> Book:
        from oasis.llm.services import Book  # when services are managed, which is seldom

        return Book(self.settings, self.cursor, self.models, self.clock.now_s, self.chats.look)

    def _usage(self) -> Usage:
        from oasis.llm.usage import Usage

        state, scratch = self.root.state_folder + "/usage.json", self.root.run_folder + "/usage.json"
        tell = lambda text: self.parts.part("notice").tell("budget_reached", text)  # noqa: E731
        is_set = lambda: self.is_clock_trusted(0)  # noqa: E731
        return Usage(self.settings, self.files, self.clock.unix_s, tell, is_set, state=state, scratch=scratch)

    def _tell(self, record: Record) -> None:
        """Tell the run that made a change, the log and who reads notices, that the change has a new state."""
        self._texts().hear(record)
        change = shown(self.transaction.pending() or record)
        nonce = self.transaction.nonce(str(record["id"]))
        if nonce:  # for the front-end that follows this run, and nobody else
            change["nonce"] = nonce
        self.runs.tell(str(record.get("run", "")), "change", change=change)
        self.parts.part("notice").changed(record)
        if record.get("until_unix_s") or record.get("ends"):
            self.expiry.schedule()
        if record["state"] in ("rolled_back", "rollback_failed"):
            words = "change %s: %s (%s)" % (record["id"], record["state"], record.get("reason", ""))
            log(words, record["state"] == "rollback_failed")

    def _announce(self, plan: Plan) -> None:
        """Tell the run that makes a change what its front-end must know before the router may be elsewhere."""
        news = ahead(plan)
        if news:
            self.runs.tell(str(plan["run"]), "applying", applying=news)

    def join_bus(self) -> None:
        # A folder on a host: whoever wants a bus in it starts that first. A router always has one, sooner or later.
        if self.root.folder == "/" or os.path.exists(self.root.bus_socket):
            from oasis.bus.objects import front

            self._peer = front(self, log)

    def bus_faults(self) -> list[str]:
        """Return what is wrong with our place on the bus, nothing where we have none."""
        from oasis.bus.objects import faults

        return faults(self._peer) if self._peer is not None else []

    def leave_bus(self) -> None:
        if self._peer is not None:
            self._peer.stop()

    def start(self) -> None:
        """Recover, then listen and serve."""
        record = self.transaction.recover()
        if record is not None:
            self.notes.append("change %s was not kept before the stop and is rolled back" % record["id"])
        self.notes += filter(None, (migration.rollbacks(self.journal, self.files, self.root.state_folder),
                                    migration.keys(self.settings, self.root, self.cursor)))  # fmt: skip
        if self.has_old():
            self.notes.append(migration.WAITING)
        loose = self.confinement.reason()
        if loose:
            self.notes.append("workers are not kept from the router: " + loose)
        for note in self.notes:  # before anybody is served, so that whoever is can find them in the log
            log(note)
        self.expiry.schedule()
        self._server = LineServer(self.root.socket, self.answer)
        threading.Thread(target=self._server.serve, name="accept", daemon=True).start()
        self.parts.start()

    def answer(self, line: bytes, peer: dict[str, object]) -> bytes:
        number: object = None
        try:
            request = rpc.parse(line, is_request=True)
            number = request["id"]
            method, params = request["method"], request["params"]
            assert isinstance(method, str) and isinstance(params, dict)  # rpc.py saw to that
            return rpc.result(number, self.methods.call(method, dict(params), role_of(peer)))
        except OasisError as error:
            failed = error
        except Exception as bug:
            failed = bug_fault(bug)
        return rpc.failure(number, rpc.FAILED, failed.message, failed.as_dict())

    def reload(self) -> None:
        """Take over settings that changed, as procd tells with SIGHUP.

        What is read afresh each time (services, keys, budgets, tools, titles, the chats' quota) needs none of this. A
        setting that needs a restart is reported, and so is an invalid value: then everything stays as it was.
        """
        settings = self.settings
        self.parts.leave()
        self.offline.close()  # its next process sees which languages are installed
        fault = settings.fault()
        self.parts.part("notice").forget("settings_wrong")
        if fault:
            self.parts.part("notice").tell("settings_wrong", fault)
        try:
            confirm_s, management_s = settings.number("confirm_s", 0), settings.number("management_confirm_s", 0)
            approval = settings.choice("approval", APPROVALS)
            worker_max, idle_s = settings.number("worker_max", 2), settings.number("worker_idle_s", 60)
        except OasisError as error:
            log("the settings stay as they were: %s" % error.message)
            return
        self.policy.set(approval, confirm_s, management_s)
        self.models.set(worker_max, idle_s)
        before, self._main = self._main, settings.main()
        changed = [name for name in sorted({*before, *self._main}) if before.get(name) != self._main.get(name)]
        at_once = ", ".join(name for name in changed if name not in AT_START)
        late = ", ".join(name for name in changed if name in AT_START)
        if at_once:
            log("settings taken over: " + at_once)
        if late:
            log("taken over at the next start (service oasis restart): " + late)

    def parts_wait(self) -> str:
        """Return what other parts that are installed now wait for, "" for nothing.

        A run that only waits for an approval is none of it: it may never end.
        """
        news = parts.news()
        if not news:
            return ""
        pending = self.transaction.pending()
        busy = ["change %s waits for your Keep" % pending["id"]] if pending else []
        for run in self.runs.active():
            if run.state != "waiting" and not run.is_cancelled():
                busy.append("run %s%s" % (run.id, " in chat " + run.chat if run.chat else ""))
        return _WAIT % (news, ", ".join(busy)) if busy else ""

    def note_waiting(self, words: str, is_new: bool) -> None:
        """Note for the init script what other parts wait for, "" for nothing; tell the owner of the first of it."""
        path, data = self.root.run_folder + "/waits", words.encode() + b"\n"
        _tried("waits", (lambda: self.files.replace(path, data)) if words else lambda: self.files.remove(path))
        if words and is_new:
            log(words)
            self.parts.part("notice").tell("parts_waiting", words)
        elif not words:
            self.parts.part("notice").forget("parts_waiting")

    def may_begin_again(self) -> bool:
        """Tell whether the program may begin again now; what only waits for an approval is ended for that."""
        if self.parts_wait():
            return False
        self._end_runs("the service, which takes up other parts")
        return not self.runs.active()

    def _end_runs(self, by: str) -> None:
        """Have all runs end, with a notice of each plan that waits no more because of that."""
        plans = self.approvals.plans()
        for run in self.runs.active():
            if not run.is_cancelled():
                run.cancel(by)
                for plan in plans:
                    if plan["run"] == run.id:
                        words = "A plan that waited for you was dropped by %s; nothing of it was done, ask again: %s"
                        self.parts.part("notice").tell("plan_dropped", words % (by, plan["summary"]), chat=run.chat)

    def stop(self) -> None:
        """Roll back what nobody confirmed, stop serving, end runs and workers; each step whatever the one before did.

        The transaction is first, and has a thread of its own: it may have to wait for a reload that hangs.
        """
        undoing = threading.Thread(target=_tried, args=("transaction", self.transaction.stop), name="put-back")
        undoing.start()
        steps: list[tuple[str, Callable[[], object]]] = [
            *([("server", self._server.stop)] if self._server is not None else []),
            ("runs", lambda: self._end_runs("the service, which was stopped")),
            ("runs", lambda: self.runs.wait_ended(_STOP_S)),
            ("models", self.models.close),
            ("parts", self.parts.close),
            ("expiry", self.expiry.stop),
            ("offline", self.offline.close),
            *([("chats", self.chats.close)] if "chats" in self._made else []),
        ]
        for name, step in steps:
            _tried(name, step)
        undoing.join()


def _tried(name: str, step: Callable[[], object]) -> None:
    """Do one step, as of stopping; log a fault of it and go on."""
    try:
        step()
    except Exception:
        import traceback

        print("oasisd: stopping %s failed:\n%s" % (name, traceback.format_exc()), file=sys.stderr)


_IDS = threading.Lock()
_WAIT = "%s: this is taken up when nothing runs and no change waits (now: %s)"
# What is built once at the start, and would pull the rug from under what is going on.
AT_START = ("alive_loopback", "bus", "chat_path", "sync", "sync_interval_s", "uci_backend")
# procd kills 5 s after it asked; the transaction needs the rest.
_STOP_S = 2.0


def _ending(journal: Journal, planner: Planner) -> list[str]:
    from oasis.change.history import ends  # an idle daemon does without

    return ends.ending(journal, planner.read)


def role_of(peer: dict[str, object]) -> Role:
    """Return the role of a connection: the user that runs us, or root, is the owner; others only look.

    Shape: {"name", "terminal", "pid", "peer", "client"?: how an MCP client calls itself}
    """
    is_owner = peer["uid"] in (0, os.geteuid())
    pid = peer["pid"]
    assert isinstance(pid, int)  # of the kernel
    role: Role = {
        "name": "owner" if is_owner else "viewer", "terminal": bool(peer["terminal"]), "pid": pid, "peer": peer,
    }  # fmt: skip
    if is_owner and "client" in peer:  # lowered by itself, for as long as the connection lives (client.join)
        role.update({"name": "client", "client": str(peer["client"]), "terminal": False})
    return role


def log(text: str, is_fault: bool = False) -> None:
    """Tell whoever reads the log: procd gives standard output the level daemon.info, standard error daemon.err."""
    print("oasisd: " + text, file=sys.stderr if is_fault else sys.stdout, flush=True)


def fault(text: str, is_fault: bool = True) -> None:
    """Tell whoever reads the log of what went wrong; most of what parts have to tell is that."""
    log(text, is_fault)
