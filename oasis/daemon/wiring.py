"""oasisd: put the parts together, recover, serve, stop.

Order at start: lock, settings, recovery of an unconfirmed change, then the socket:
nobody is served before the router is in a known state.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from oasis import parts
from oasis.agent.runs import Runs
from oasis.api.methods import Methods, shown
from oasis.api.parts import Beside, Kit
from oasis.change.apply.commit import Committer
from oasis.change.apply.journal import Journal
from oasis.change.apply.transaction import Transaction
from oasis.change.approval import Desk
from oasis.change.audit import Audit
from oasis.change.history.expiry import Expiry
from oasis.change.plan import Planner, ahead
from oasis.change.policy import APPROVALS, Policy
from oasis.chats.collection import TAKEN
from oasis.chats.collection import gather as gather_chats
from oasis.config.settings import Settings
from oasis.core import rpc
from oasis.core.ids import Scru128, Xid
from oasis.daemon import migration
from oasis.errors import OasisError, StoreError, UsageError
from oasis.llm.usage import Metered
from oasis.llm.workers import Models
from oasis.redaction.redactor import Redactor
from oasis.system.child import Executor
from oasis.system.clock import Clock, is_trusted
from oasis.system.confinement import USER, Confinement
from oasis.system.files import Files, free_bytes, hold
from oasis.system.line_server import LineServer
from oasis.system.root import Root
from oasis.tools.facts import Facts
from oasis.tools.operator import Workshop
from oasis.ubus.objects import Ubus, opener
from oasis.uci import model
from oasis.uci.cursor import BACKENDS, NAMES, chosen
from oasis.uci.model import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping, Sequence

    from oasis.agent.client import Offline
    from oasis.agent.start import Exchanges
    from oasis.api.chat_methods import Conversations
    from oasis.change.apply.evidence import Evidence
    from oasis.change.origin import Origins
    from oasis.change.plan import Plan
    from oasis.change.reach.shapes import Answer
    from oasis.change.shapes import Images, Record
    from oasis.change.text_origin import Texts
    from oasis.llm.services import Book
    from oasis.llm.usage import Usage
    from oasis.system.connections import Connection
    from oasis.uci.cursor import Cursor

_SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/change"


class Daemon:
    """One oasisd on one router root; `notes` collects what the start has to tell."""

    def __init__(self, root: Root, environment: MutableMapping[str, str] | None = None) -> None:
        self.root = root
        self.notes: list[str] = []
        self.files = files = Files()
        files.folder(root.run_folder)
        self._lock = hold(root.run_folder + "/lock", root.folder)
        self._parts: Evidence | None = None
        self._origins: Origins | None = None
        self._whose: Texts | None = None
        self._making = threading.RLock()  # of what is made with its first use: calls come in many threads
        self._clock = clock = Clock()
        self.settings = Settings(root, files, environment)
        self._executor = Executor(root.environment(), root.allowed(_SCRIPTS))
        self._main = self.settings.main()
        self._backend = self.settings.choice("uci_backend", BACKENDS)
        self.runs = Runs(self._new_record_id, clock.now_s, lambda text: self.redactor.open_end(text))
        self._shop = shop = self._workshop()
        self.transaction = shop.transaction
        self._journal = shop.journal
        self.confinement = Confinement(
            root, files.read, self._executor.run, self._service_urls, os.geteuid(), clock.now_s
        )
        shop.unconfined = self.confinement.shown
        idle_s = self.settings.number("worker_idle_s", 60)
        # In a folder a worker may stay who started it; on a router it never is root.
        user = USER if root.folder == "/" and os.geteuid() == 0 else ""
        self._workers = Models(self.settings.number("worker_max", 2), idle_s, user, self.confinement.prepare)
        self.models = Metered(self._workers, self._usage)
        self.chats = gather_chats(files, self.settings, root.run_folder, self._new_record_id, self.redactor.first_words,
                                  clock.unix_s, free_bytes, fault)  # fmt: skip
        messages = Scru128(lambda: int(time.time() * 1000), os.urandom)
        self.offline = _offline(idle_s)
        shop.times = lambda said: self.offline.times(said, shop.facts)
        name = NAMES[chosen(self._backend, bool(root.program("uci")))]
        self._new_message_id = _serialised(messages.next)
        self._made: Exchanges | None = None
        self._talks: Conversations | None = None
        self._book: Book | None = None
        self.methods = Methods(
            root.folder, name, self.chats, self.settings, self.exchanges, self.runs, shop, self._services_book,
            self.conversations, self._has_old, self._stand_beside(),
        )  # fmt: skip
        self.server: LineServer | None = None

    def _workshop(self) -> Workshop:
        files, clock, root = self.files, self._clock, self.root
        self.redactor = Redactor(files, root.confdir, self.settings.install_key(), self.settings.keys)
        self._policy = policy = Policy(
            self.settings.choice("approval", APPROVALS),
            self.settings.number("confirm_s", 0),
            self.settings.number("management_confirm_s", 0),
        )
        journal = Journal(files, root.state_folder, free_bytes)
        planner = Planner(
            root, files, policy, self.settings.install_key(), self._new_record_id, clock.now_s, self._owner_way,
            self._unconfined, self._texts, self._luci_waits, journal,
        )  # fmt: skip
        self.ubus = ubus = Ubus(self._executor, root.program("ubus"), opener(root.bus_socket), root.folder == "/")
        self._records = Xid(clock.unix_s, os.urandom, None, journal.next_s())
        transaction = Transaction(
            root, journal, planner, self._executor, Committer(root, files, self._cursor), clock, _SCRIPTS, self._tell,
            self._evidence, self._announce,
        )  # fmt: skip
        facts = Facts(self._config, ubus.call, lambda path: files.read(root.path(path)), clock.unix_s)
        facts.history = lambda: [{**record} for record in journal.records()]
        facts.ending = lambda: _ending(journal, planner)
        facts.key = self.settings.install_key()
        facts.texts = self._texts
        audit = Audit(files, root.state_folder + "/audit.jsonl", clock.unix_s)
        self.expiry = Expiry(journal, planner, transaction, audit, clock, self._is_clock_trusted, log)
        self.expiry.failed = lambda *told: self.beside.part("notice").expiry_failed(*told)
        self.expiry.spoken = lambda words, now_s: _spoken(words, now_s, facts, root)
        shop = Workshop(
            facts, planner, Desk(clock.now_s), transaction, journal, audit, clock.now_s, self.expiry.moment,
            self.redactor,
        )  # fmt: skip
        shop.origins = self._came
        shop.examine = lambda: self._examine(facts)
        return shop

    def _texts(self) -> Texts:
        with self._making:
            if self._whose is None:
                from oasis.change.text_origin import Texts  # with the first words of the configuration that are told

                self._whose = Texts(self.root, self.files, self.settings.install_key(), self._journal)
            return self._whose

    def _stand_beside(self) -> Beside:
        kit = Kit()
        kit.root, kit.files, kit.settings, kit.clock = self.root, self.files, self.settings, self._clock
        kit.new_id, kit.redactor, kit.models, kit.runs = self._new_record_id, self.redactor, self.models, self.runs
        kit.chats, kit.executor, kit.cursor, kit.shop = self.chats, self._executor, self._cursor, self._shop
        kit.ubus_call, kit.facts, kit.exchanges, kit.conversations = (
            self.ubus.call, self._shop.facts, self.exchanges, self.conversations)  # fmt: skip
        kit.is_clock_trusted, kit.free_bytes, kit.log = self._is_clock_trusted, free_bytes, fault
        kit.call = lambda *asked: self.methods.call(*asked)
        self.beside = Beside(kit)
        return self.beside

    def exchanges(self) -> Exchanges:
        """Return what answers messages: tools, agent and all, which an idle daemon does without."""
        with self._making:
            if self._made is None:
                from oasis.agent.start import gather

                self._made = gather(
                    self.chats, self.settings, self._shop, self.runs, self.models, self.offline, self.redactor,
                    self._clock, self._new_message_id, self.root, self._executor, self.files, self._cursor, self.beside,
                )  # fmt: skip
            return self._made

    def conversations(self) -> Conversations:
        """Return what knows the chats, beside talking in them."""
        with self._making:
            if self._talks is None:
                from oasis.api.chat_methods import Conversations  # with the first chat that is looked at
                from oasis.tools.replies import without_typed

                self._talks = Conversations(
                    self.chats, self.runs, self.files, self.root.state_folder, self.root.run_folder,
                    self._new_message_id, self._new_record_id, self._clock.now_s,
                    lambda value: self.redactor.hide(without_typed(value)), self.settings.sections, self.root.path,
                )  # fmt: skip
            return self._talks

    def _has_old(self) -> bool:
        state = self.root.state_folder
        return bool(self.files.names(state + "/chat_data")) and self.files.read(state + TAKEN) is None

    def _owner_way(self, images: Images, run: str) -> Answer | None:
        from oasis.change.owner import OwnerWay  # with the first risky plan: an idle daemon does without

        return OwnerWay(self.root, self.files, self.ubus.call)(images, self.runs.came(run))

    def came(self, role: dict[str, object]) -> Sequence[Connection]:
        """Return by which connections somebody came, () when nothing tells."""
        return self._came().of(role)

    def _came(self) -> Origins:
        with self._making:
            if self._origins is None:
                from oasis.change.origin import gather

                self._origins = gather(self.ubus.call, self._clock.now_s)
            return self._origins

    def _unconfined(self) -> str:
        """Return why the worker could reach the router by itself, "" when it cannot."""
        return self.confinement.reason()

    def _luci_waits(self) -> bool:
        from oasis.change.apply.evidence import luci_waits  # with the first change: an idle daemon does without

        return luci_waits(self.ubus.call)

    def _examine(self, facts: Facts) -> dict[str, object]:
        from oasis.tools.builtin.diagnose import examined  # an idle daemon does without

        return examined(self.root, self.files, self._executor.run, facts)

    def _evidence(self) -> Evidence:
        if self._parts is None:
            from oasis.change.apply.evidence import gather

            is_here_fine = self.settings.choice("alive_loopback", ("0", "1")) == "1"
            self._parts = gather(self.root, self._executor, self.files, self.ubus.call, self._clock, is_here_fine)
        return self._parts

    def _service_urls(self) -> list[str]:
        try:
            return self.settings.urls()
        except OasisError:
            return []  # settings that cannot be read open nothing; whoever needs them says what is wrong

    def _is_clock_trusted(self, newest_unix_s: int) -> bool:
        return is_trusted(self.root, self.files, self._clock.unix_s(), newest_unix_s)

    def _new_record_id(self) -> str:
        with _IDS:
            return self._records.next()

    def _cursor(self) -> Cursor:
        from oasis.uci.cursor import open_cursor  # with the first change: an idle daemon does without

        return open_cursor(
            self.root.confdir,
            self.root.run_folder + "/uci",
            backend=self._backend,
            run=self._executor.run if self.root.program("uci") else None,
            program=self.root.program("uci"),
        )

    def _config(self, package: str) -> dict[str, dict[str, object]] | None:
        try:
            data = self.files.read(self.root.confdir + "/" + package) if "/" not in package else None
        except StoreError:
            return None  # a folder, a FIFO, a device: UCI has no such package either
        return None if data is None else tables(model.parse(data, package))

    def _services_book(self) -> Book:
        with self._making:
            if self._book is None:
                from oasis.llm.services import Book  # when services are managed, which is seldom

                self._book = Book(self.settings, self._cursor, self.models, self._clock.now_s, self.chats.look)
            return self._book

    def _usage(self) -> Usage:
        from oasis.llm.usage import Usage

        state, scratch = self.root.state_folder + "/usage.json", self.root.run_folder + "/usage.json"
        tell = lambda text: self.beside.part("notice").tell("budget_reached", text)  # noqa: E731
        is_set = lambda: self._is_clock_trusted(0)  # noqa: E731
        return Usage(self.settings, self.files, state, scratch, self._clock.unix_s, tell, is_set)

    def _tell(self, record: Record) -> None:
        """Tell the run that made a change, the log and who reads notices, that the change has a new state."""
        self._texts().hear(record)
        change = shown(self.transaction.pending() or record)
        nonce = self.transaction.nonce(str(record["id"]))
        if nonce:  # for the front-end that follows this run, and nobody else
            change["nonce"] = nonce
        self.runs.tell(str(record.get("run", "")), "change", change=change)
        self.beside.part("notice").changed(record)
        if record.get("until_unix_s") or record.get("ends"):
            self.expiry.schedule()
        if record["state"] in ("rolled_back", "rollback_failed"):
            words = "change %s: %s (%s)" % (record["id"], record["state"], record.get("reason", ""))
            log(words, record["state"] == "rollback_failed")

    def _announce(self, plan: Plan) -> None:
        """Tell the run that makes a change what its front-end must know before the router may be elsewhere."""
        told = ahead(plan)
        if told:
            self.runs.tell(str(plan["run"]), "applying", applying=told)

    def start(self) -> None:
        """Recover, then listen and serve."""
        record = self.transaction.recover()
        if record is not None:
            self.notes.append("change %s was not kept before the stop and is put back" % record["id"])
        self.notes += filter(None, (migration.rollbacks(self._journal, self.files, self.root.state_folder),
                                    migration.keys(self.settings, self.root, self._cursor)))  # fmt: skip
        if self._has_old():
            self.notes.append(migration.WAITING)
        loose = self.confinement.reason()
        if loose:
            self.notes.append("workers are not kept from the router: " + loose)
        self.expiry.schedule()
        self.server = LineServer(self.root.socket, self.answer)
        threading.Thread(target=self.server.serve, name="accept", daemon=True).start()
        self.beside.start()

    def answer(self, line: bytes, peer: dict[str, object]) -> bytes:
        """Return the reply line to a request line."""
        number: object = None
        try:
            request = rpc.parse_request(line)
            number = request["id"]
            return rpc.result(number, self.methods.call(request.get("method", ""), request["params"], role_of(peer)))
        except OasisError as error:
            return rpc.failure(number, rpc.FAILED, error.message, error.as_dict())
        except Exception as bug:
            import traceback

            traceback.print_exc(file=sys.stderr)
            fault = OasisError("a fault in oasis: %s" % type(bug).__name__, "its log tells more: logread -e oasis")
            return rpc.failure(number, rpc.FAILED, fault.message, fault.as_dict())

    def reload(self) -> None:
        """Take over settings that need no new start."""
        from oasis.daemon.reload import take

        for note in take(self.settings, self._policy, self._workers, self._main):
            log(note)

    def stop(self) -> None:
        """Put back what nobody kept, stop serving, end runs and workers; each step whatever the one before did.

        The transaction is first, and has a thread of its own: it may have to wait for a reload that hangs.
        """
        undoing = threading.Thread(target=_tried, args=("transaction", self.transaction.stop), name="put-back")
        undoing.start()
        steps: list[tuple[str, Callable[[], object]]] = [
            *([("server", self.server.stop)] if self.server is not None else []),
            ("runs", self.runs.cancel_all),
            ("runs", lambda: self.runs.wait_ended(_STOP_S)),
            ("models", self.models.close),
            ("parts", self.beside.close),
            ("expiry", self.expiry.stop),
            ("offline", self.offline.close),
            ("chats", self.chats.close),
        ]
        for name, step in steps:
            _tried(name, step)
        undoing.join()


def _tried(name: str, step: Callable[[], object]) -> None:
    """Do one step of stopping; a fault of it is told, and holds up nothing else."""
    try:
        step()
    except Exception:
        import traceback

        print("oasisd: stopping %s failed:\n%s" % (name, traceback.format_exc()), file=sys.stderr)


_IDS = threading.Lock()
# procd kills 5 s after it asked; the transaction needs the rest.
_STOP_S = 2.0


def _ending(journal: Journal, planner: Planner) -> list[str]:
    from oasis.change.history import ends  # an idle daemon does without

    return ends.ending(journal, planner.read)


def role_of(peer: dict[str, object]) -> dict[str, object]:
    """Return the role of a connection: the user that runs us, or root, is the owner; others only look.

    Shape: {"name", "terminal", "pid", "peer", "client"?: how an MCP client calls itself}
    """
    is_owner = peer["uid"] in (0, os.geteuid())
    role = {"name": "owner" if is_owner else "viewer", "terminal": peer["terminal"], "pid": peer["pid"], "peer": peer}
    if is_owner and "client" in peer:  # lowered by itself, for as long as the connection lives (client.join)
        role.update(name="client", client=peer["client"], terminal=False)
    return role


def _spoken(words: str, now_s: int, facts: Facts, root: Root) -> int:
    """Return the time that words mean in the router's zone.

    Raises: UsageError, also where no part reads words.
    """
    moment = parts.first("moment")
    if moment is None:
        raise UsageError("%r is no time" % words, "write it like 2h, 22:00 or 2026-12-24 18:00")
    return int(moment(words, now_s, facts, root))


def _offline(idle_s: int) -> Offline:
    """Return the built-in service; its process ends when nobody asks for so long."""
    make = parts.first("offline")
    if make is None:
        from oasis.agent.client import NoOffline

        return NoOffline()
    made: Offline = make(idle_s)
    return made


def _serialised(next_id: Callable[[], str]) -> Callable[[], str]:
    def make() -> str:
        with _IDS:
            return next_id()

    return make


def log(text: str, is_fault: bool = False) -> None:
    """Tell whoever reads the log: procd gives standard output the level daemon.info, standard error daemon.err."""
    print("oasisd: " + text, file=sys.stderr if is_fault else sys.stdout, flush=True)


def fault(text: str, is_fault: bool = True) -> None:
    """Tell whoever reads the log of what went wrong; most of what parts have to tell is that."""
    log(text, is_fault)
