"""Start of a turn: store the owner's message on flash, then answer it in a run with the chosen service and the tools.

Also what a model is asked outside of turns: a title for a new chat, a summary of a long thread to go on from. Both are
the model's words about words of others: they carry the taint of what it was shown, and nothing in them is ever a call.
Joins chat store, settings, services, tools and runs; knows no front-end and no socket.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time

from oasis import parts
from oasis.agent import briefing, context
from oasis.agent.briefing import rounds_of
from oasis.agent.client import Asker, Asking, Failover, Offline, allowed, failing, prompts, silent
from oasis.agent.context import Elsewhere, fitting, newest
from oasis.agent.goal import Goal, checked
from oasis.agent.loop_guard import CorrectionRounds, Repeats, result_of
from oasis.agent.runs import Run, Runs
from oasis.agent.turn import ROUNDS, Turn
from oasis.chats.index import TITLE_CHARS, first_words
from oasis.config.settings import APPROVALS, OFFLINE, OFFLINE_SERVICE, Settings
from oasis.core import clean, jsonl, schema, thread, trim
from oasis.errors import OasisError, StoreError, UsageError
from oasis.system.clock import Clock, Wait, is_trusted
from oasis.system.rate_limit import Pace, Patience
from oasis.tools import specs
from oasis.tools.builtin import BuiltIn
from oasis.tools.operator import NoRun, Operator, said_in
from oasis.tools.principal import OWNER, Principal, may_use
from oasis.tools.registry import Registry
from oasis.tools.router import Router
from oasis.tools.seed import BRAVE, USER, Seed

if False:  # annotations only
    from oasis.agent import shapes
    from oasis.agent.shapes import Ask, Asked, Came, Emit, OfferedTool, ToolCaller, TurnAbout, TurnExtras
    from oasis.chats.collection import Collection
    from oasis.config.shapes import Service
    from oasis.core.shapes import Callable, ChatRecord, Message, Options, Protocol
    from oasis.core.store import Chat
    from oasis.llm.workers import Models
    from oasis.system.child import Executor
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.tools.shapes import Arguments, ChatContext, PlanResult, Workshop
    from oasis.uci.cursor import Cursor

    class Services(Workshop, Protocol):
        """What turns are made of, of the daemon's services (daemon/wiring.py)."""

        root: Root
        files: Files
        settings: Settings
        clock: Clock
        executor: Executor
        runs: Runs
        models: Models
        offline: Offline

        @property
        def chats(self) -> Collection: ...
        @property
        def parts(self) -> shapes.Parts: ...

        def cursor(self) -> Cursor: ...
        def new_message_id(self) -> str: ...  # SCRU128

    Taken = tuple[Chat, Message, Options, Elsewhere, Goal | None, Principal]


# A title is worth waiting for while somebody reads the answer, and no longer; it needs the beginning of what was said.
TITLE_S, _TITLE_TOKENS = 60, 1000
# While the chat is being answered again, its title waits.
_TRIES, _PAUSE_S = 40, 0.5
# Of a call that asked the owner, who did not want it.
_NOT_DONE = ("declined", "expired", "cancelled", "noted")
# Of the reason of a rollback, for a model.
REASON_CHARS = 120
WORDS_CHARS = 60
SUMMARY = "[Summary of what was said before; a model wrote it, not the owner:]\n"
# The alias of a small model for titles.
TITLE = "title"
# Who makes titles: the model, or the owner's first words do.
TITLES = ("model", "words")
# Who answers where no service can be used: the turn ends with the reason.
NOBODY: Service = {**OFFLINE_SERVICE, "identifier": "", "model": "", "vendor": "", "is_local": False, "ready": False}
# Where a principal answers by itself: no model hears or says anything, as with the built-in service.
ITSELF: Service = {**OFFLINE_SERVICE, "identifier": "", "model": ""}


class TurnStarter:
    """Starts the runs of one daemon."""

    def __init__(self, services: Services, registry: Registry, asking: Asking) -> None:
        self._parts = services.parts
        self._chats = services.chats
        self._settings = services.settings
        self.registry = registry
        self._shop: Workshop = services
        self._runs = services.runs
        self.asking = asking
        self._new_id = services.new_message_id

    def start(self, asked: Asked, came: Came = (), who: Principal = OWNER) -> Run:
        """Put a message (context.py) on flash and start its run; `who` it is for: tools/principal.py.

        Raises: UsageError for an unusable message or chat, SettingsError for the service, StoreError for the flash.
        """
        parts.check_role(who.role)
        goal_turns = checked(asked["turns"]) if "turns" in asked else 0
        name = context.place(asked, self._chats)
        wanted = asked.get("service") or (asked.get("options") or {}).get("provider_ptr")
        if who.needs_service and (wanted or not (asked.get("chat") or asked.get("continues"))):
            self._settings.service(str(wanted or ""))  # before anything is stored
        new = None if name else self._chats.store.create()

        def take(run: Run) -> Taken:
            # The chat is reserved now: nobody writes to it between this reading and the end of the run.
            chat, elsewhere, is_full = new or self._chats.open(name), Elsewhere(self._chats), False
            size = len(asked["message"].strip())  # as it is stored: for blanks no archived chat gives way
            try:
                chat.reports.extend(self._chats.make_room(size))
            except StoreError as error:
                # It may still fit because the built-in service is brief.
                if not self._chats.has_reserve(size):
                    raise
                chat.reports.append("%s: only the built-in service answers until you %s" % (error.message, error.hint))
                is_full = True
            try:
                message, options = context.add(chat, asked, self._new_id, elsewhere)
                chat.flush()  # before anybody works on it
            except OasisError:
                chat.discard()
                raise
            run.answers(message["id"])
            if asked.get("service") or is_full:
                options = {**options, "provider_ptr": OFFLINE if is_full else asked["service"]}
            return chat, message, options, elsewhere, Goal(goal_turns) if goal_turns else None, who

        return self._runs.start(new.id if new else name, self._work, take, came)

    def _work(self, run: Run, taken: Taken) -> tuple[str, str]:
        """Answer a message in its run; see runs.py."""
        chat, message, options, elsewhere, goal, who = taken
        state = "error"
        who.began(run.cancel)
        try:
            run.emit("message", id=message["id"], role="user")
            said = schema.text_of(message)
            about: TurnAbout = {"run": run.id, "chat": chat.id, "message": message["id"], "said": said}
            is_first = self._settings.offline() == "first"
            asker = Asker(self.asking, chat.id, run.emit, run.is_cancelled, is_first)
            ask: Ask = asker.ask
            try:
                services, extras = [ITSELF], None
                if who.needs_service:
                    services, extras = self._asked(run.emit, options, about, who.is_told, run.is_cancelled)
                services, ask = who.asking(services, extras, ask)
            except OasisError as error:
                services, extras, ask = [NOBODY], None, failing(error)
            is_model = any(service["vendor"] != OFFLINE for service in services)
            make = fitting(elsewhere, run.emit, extras.taint if extras else [], self._became) if is_model else newest
            failover = Failover(services, ask, run.emit, make, self.asking.windows)
            tools: list[OfferedTool] | None = None
            looking: list[OfferedTool] = []
            rounds, system = goal.turns if goal else ROUNDS, ""
            if is_model:
                rounds = rounds_of(failover.service, goal)
                system = self._system(goal, extras, rounds, who)
                offered = self._offered(chat, failover.service, extras)
                tools = [spec for spec in offered if may_use(who.role, spec["name"])]
                looking = self.registry.looking(tools)

            def as_stored(answer: Message) -> Message:
                typed = [schema.text_of(one) for one in chat.messages.values() if one["role"] == "user"]
                return self._shop.redactor.stored(answer, chat.id, "\n".join(typed))

            brief: shapes.Brief = {
                "tools": tools, "looking": looking, "rounds": rounds, "as_stored": as_stored,
                "said": said, "outcome": self._outcome,
                "system": system, "head": message.get("head", ""),
                "correction": CorrectionRounds() if is_model else None,
            }  # fmt: skip
            call = self._caller(run, taken, failover, is_model, asker)
            turn = Turn(chat, failover, call, brief, run, self._new_id)
            state = turn.run()
            if goal:
                messages = list(chat.messages.values())
                run.emit("agent", **goal.outcome(messages[messages.index(message) + 1 :], state))
            for report in chat.reports:
                run.emit("note", text=report)
            if is_model and state == "done" and who.is_attended:
                self._entitle(run, chat, failover.service)
                taint = [*message.get("taint", []), *who.taint]
                self._parts.after({**about, "service": failover.service, "taint": taint})
            return state, turn.stop_reason
        finally:
            who.ended(chat, state)

    def _caller(self, run: Run, taken: Taken, failover: Failover, is_model: bool, asker: Asker) -> ToolCaller:
        """Return the tool caller for a run, acting with its principal's permissions."""
        chat, message, _, _, goal, who = taken

        def own_words() -> str:
            said = [one for one in chat.messages.values() if one["role"] == "user" and not one.get("taint")]
            return "\n".join(map(schema.text_of, said))

        # Whose words stand in the chat where the owner's do; the built-in service reads nothing else.
        heard = [one for one in chat.messages.values() if one["role"] in ("system", "user")]
        others = tuple(dict.fromkeys([label for one in heard for label in one.get("taint", [])]))
        said: ChatContext = {
            "id": chat.id, "message": message["id"], "flush": chat.secure, "others": others, "said": own_words,
            "turn": lambda: said_in(list(chat.messages.values()), message["id"], schema.text_of),
            "is_home": lambda: bool(failover.service.get("is_local")),
        }  # fmt: skip
        # A model that only hears of results has no rights of the owner either.
        operator = Operator(self._shop, run, who, said, is_model or who.has_teller)

        def call(name: str, given: Arguments, taint: list[str]) -> tuple[str, bool, list[str]]:
            operator.reading = asker.reading
            return self.registry.call(name, given, operator.seeing(taint))

        if goal:
            return goal.repeats.watched(call)
        return Repeats().watched(call) if is_model else call

    def _asked(
        self, emit: Emit, options: Options, about: TurnAbout, is_told: bool, is_cancelled: Callable[[], bool] | None
    ) -> tuple[list[Service], TurnExtras | None]:
        """Return the services for a turn and what the optional parts add to it, None where no model answers.

        `is_told` False: the principal gets nothing from the parts, and its words choose no service. Without
        `is_cancelled` no service is asked how much it takes.
        """
        services = self._services(emit, options, is_cancelled)
        if all(service["vendor"] == OFFLINE for service in services):
            return services, None
        about["service"] = services[0]
        extras = self._parts.added(about if is_told else None)
        if extras.service and not options.get("provider_ptr"):
            services = self._services(emit, {**options, "provider_ptr": extras.service}, is_cancelled)
        return services, extras

    def show(self, asked: Asked) -> shapes.Preview:
        """Return the service that a message would go to first, and the request that it would make; nothing is sent.

        Shape: {"service": as settings have it, "request": as llm/pool.py has it, {} for the built-in service}
        Raises: as start.
        """
        name = context.place(asked, self._chats)

        def preview() -> shapes.Preview:
            chat, elsewhere = self._chats.open(name) if name else self._chats.store.create(), Elsewhere(self._chats)
            try:
                message, options = context.add(chat, asked, self._new_id, elsewhere)
                if asked.get("service"):
                    options = {**options, "provider_ptr": asked["service"]}
                said = schema.text_of(message)
                about: TurnAbout = {"run": "", "chat": chat.id, "message": message["id"], "said": said}
                services, extras = self._asked(silent, options, about, True, None)
                service = services[0]
                if extras is None or service["vendor"] == OFFLINE:
                    return {"service": service, "request": {}}
                tools = self._offered(chat, service, extras)
                messages = fitting(elsewhere, silent, extras.taint, self._became)(
                    service, chat, self._system(None, extras, rounds_of(service), OWNER), tools
                )
                return {"service": service, "request": self.asking.show(service, chat.id, messages, tools)}
            finally:
                chat.discard()

        return self._runs.alone(name, preview) if name else preview()

    def _system(self, goal: Goal | None, extras: TurnExtras | None, rounds: int, who: Principal) -> str:
        """Return the system prompt of a turn."""
        approval = self._settings.choice("approval", APPROVALS)
        return briefing.system(self.asking, goal, extras, rounds, approval, who.role)

    def _became(self, change: str, status: str) -> str:
        """Return what a model has to know of a change that it made, "" where nothing has happened since."""
        try:
            record = self._shop.journal.read(change)
        except OasisError:  # too old to be in the history
            return ""
        state, reason = record.get("state"), str(record.get("reason") or "")[:REASON_CHARS]
        words = record.get("words") or []
        if words and not record.get("untrusted"):  # words of others do not get into a system prompt
            more = ", …" if len(words) > 1 else ""
            change = "%s (%s%s)" % (change, clean.line(words[0])[:WORDS_CHARS], more)
        if record.get("undone_by"):
            return "change %s was undone by %s" % (change, record["undone_by"])
        if state == "rolled_back":
            return "change %s was rolled back, the router is as before it%s" % (change, reason and " (%s)" % reason)
        if state == "rollback_failed":
            return "change %s was to be rolled back, which failed (%s)" % (change, reason)
        return "change %s was kept" % change if (status, state) == ("waiting_confirm", "confirmed") else ""

    def _outcome(self, name: str, given: Arguments, text: str) -> str:
        """Return what a call did by its result: "changed", "unchanged" where all was so already, "" for nothing."""
        found = result_of(text)
        status = str(found.get("status", ""))
        if self.registry.kind(name, given) in ("read", "net") or status in _NOT_DONE:
            return ""
        is_back = "was rolled back" in self._became(str(found["change"]), status) if found.get("change") else False
        return "" if is_back else "unchanged" if status == "unchanged" else "changed"

    def _offered(self, chat: Chat, service: Service, extras: TurnExtras | None) -> list[OfferedTool]:
        """Return the tools that a service gets in a turn, chosen by the owner's words in the chat and by the parts."""
        only, also = (extras.tools, extras.also) if extras else (None, list[str]())
        messages = list(chat.messages.values())
        said = [schema.text_of(message) for message in messages if message["role"] == "user"]
        used = {call["name"] for message in messages for call in schema.tool_uses(message)} | {*(only or ()), *also}
        mode = self._settings.choice("tools", specs.MODES)
        large = specs.is_large(service["context_tokens"])
        offered = self.registry.offered(said[-specs.MESSAGES :], used, mode, large)
        return [spec for spec in offered if only is None or spec["name"] in only]

    def _entitle(self, run: Run, chat: Chat, service: Service) -> None:
        """Have a model make a title after the first exchange: one at home where a service of this house answered."""
        first = sum(message["role"] == "user" for message in chat.messages.values()) == 1 and not chat.left_out
        if service["vendor"] == OFFLINE or not first or self._settings.choice("titles", TITLES) != TITLES[0]:
            return
        try:
            found = self._settings.service(TITLE) if TITLE in self._settings.aliases() else service
        except OasisError:
            found = service  # nobody waits for a title: what is wrong with the alias, its list tells
        if service["is_local"] and not found["is_local"]:
            found = service
        if found["vendor"] != OFFLINE:
            words = (run, chat.id, found, list(chat.messages.values()))
            threading.Thread(target=self._title, args=words, daemon=True).start()

    def _title(self, run: Run, chat: str, service: Service, messages: list[Message]) -> None:
        """Have a title made for a chat, for a thread of its own; when it fails the first words stay."""
        until_s = time.monotonic() + TITLE_S
        said = trim.fit([message for message in messages if message["content"]], _TITLE_TOKENS)["messages"]
        order: Message = {"role": "user", "content": prompts()["title"]}
        try:
            answer = self.asking.side_request(service, chat, [*said, order], lambda: time.monotonic() > until_s)
            # Its first line of words, without the marks that models put around it.
            lines = [clean.line(line).strip(" \t#*_`\"'“”„«»「」.") for line in answer.split("\n")]
            title = first_words(next(filter(None, lines), ""))[: TITLE_CHARS + 1]
            if title:
                self._note(chat, {"type": "title", "title": title, "by": "model"})
                run.emit("title", chat=chat, title=title)
        except OasisError as error:
            print("oasisd: no title for chat %s: %s" % (chat, error.message), file=sys.stderr)

    def _note(self, name: str, record: ChatRecord) -> None:
        """Write a record once nobody answers the chat; raise UsageError when that takes too long, or it is gone."""

        def write() -> None:
            opened = self._chats.store.open(name)
            opened.note(record)
            opened.flush()

        for left in reversed(range(_TRIES)):
            try:
                return self._runs.alone(name, write)
            except UsageError:
                if not left or not self._chats.store.has(name):
                    raise
                time.sleep(_PAUSE_S)

    def summarise(self, chat: str, head: str = "", service: str = "", came: Came = ()) -> Run:
        """Start a run that puts a summary of a thread into its chat; the next message goes on from it.

        Raises: UsageError for a chat or message that is none, or a service without a model; SettingsError.
        """
        chosen = self.asking.windows.known(self._settings.service(service))
        if chosen["vendor"] == OFFLINE:
            raise UsageError("the built-in service sums nothing up", "choose a service with a model: oasis services")
        end = self._chats.head(chat, head) if head else ""
        work = lambda run: self._summarise(run, chat, end, chosen)  # noqa: E731
        return self._runs.start(chat, work, None, came)

    def _summarise(self, run: Run, name: str, head: str, service: Service) -> tuple[str, str]:
        """Put a summary of a thread into its chat, as a message to go on from: the work of a run."""
        chat = self._chats.open(name)
        end = head or (chat.heads or [""])[0]
        if not end:
            raise UsageError("chat %s is empty" % name, "say something first")
        chat.load([end])
        found = thread.resolve(chat.messages, [end], Elsewhere(self._chats), chat.left_out, chat.older_options)
        order: Message = {"role": "user", "content": prompts()["summary"]}
        room = trim.budget(int(service["context_tokens"])) - trim.message_tokens(order)
        fit = trim.fit([message for message in found["messages"] if message["content"]], room)
        words = self.asking.side_request(service, name, [*fit["messages"], order], run.is_cancelled)
        message: Message = {"id": self._new_id(), "role": "user", "content": SUMMARY + words.strip(), "summary_of": end}
        message["provider"], message["model"] = str(service["identifier"]), str(service["model"])
        taint = thread.taint(found["messages"])
        if taint:
            message["taint"] = taint
        schema.check_message(message)
        chat.add(message)
        chat.flush()
        run.emit("delta", text=words.strip())
        run.emit("message", id=message["id"], role="user")
        return "done", "end_turn"

    def _services(self, emit: Emit, options: Options, is_cancelled: Callable[[], bool] | None = None) -> list[Service]:
        """Return the services for a thread, or the active ones when those are gone; a note says that others answer."""
        found: list[Service] = []
        mode, wanted = self._settings.offline(), options.get("provider_ptr")
        if mode == "only":
            return [self._settings.service(OFFLINE)]
        try:
            found = allowed(self._settings.chain(str(wanted)), mode) if wanted else []
        except OasisError as error:
            emit("note", text="%s; the active service answers instead" % error.message)
        # The options of a thread count more than those of a service.
        chosen: list[Service] = []
        for one in found or allowed(self._settings.chain(), mode):
            given = one["options"]
            if "search" in options:
                given = {**given, "search": options["search"]}
            tool_mode = "none" if options.get("tool_mode") == "none" else one["tool_mode"]
            chosen.append({**one, "tool_mode": tool_mode, "options": given})
        if len(chosen) == 1 and chosen[0]["vendor"] == OFFLINE:
            return chosen
        windows = self.asking.windows
        # Where the built-in service may be all that is needed, nobody waits for another one.
        if is_cancelled and mode != "first" and chosen[0]["vendor"] != OFFLINE:
            return [windows.asked(chosen[0], is_cancelled), *map(windows.known, chosen[1:])]
        return list(map(windows.known, chosen))

    # What the owner does without a model: each a run of its own that a front-end follows as any other, acting through
    # the same operator as a turn (tools/operator.py).

    def propose(
        self, propose: Callable[[Operator], PlanResult], came: Came, forces: tuple[str, ...] | None = None,
        chat: ChatContext | None = None, name: str = "configure",
    ) -> Run:  # fmt: skip
        """Start a run that proposes something of the owner's own; `forces` is what they let through."""

        def work(run: Run) -> tuple[str, str]:
            operator = Operator(self._shop, run, OWNER, chat, forces=forces)
            result = operator.masked(propose(operator))
            if result["status"] == "unchanged":
                run.emit("note", text="nothing to change: all of it is so already")
            run.emit("tool_result", tool_use_id="", name=name, text=jsonl.dumps(result), is_error=False)
            return ("cancelled" if result["status"] == "cancelled" else "done"), "end_turn"

        return self._runs.start("", work, None, came)

    def look(self, name: str, arguments: Arguments) -> str:
        """Return the result of a read-only tool as JSON, for the owner alone and outside any chat."""
        return self.registry.call(name, arguments, Operator(self._shop, NoRun(), OWNER))[0]

    def use(self, name: str, arguments: Arguments, came: Came = (), words: str = "", client: str = "") -> Run:
        """Start a run that makes one call of a tool, for the owner or, with `words`, for somebody else.

        What others ask for is treated as what a model asks for with their words in sight.
        """
        who = Principal("client" if client else OWNER.role)

        def work(run: Run) -> tuple[str, str]:
            operator = Operator(self._shop, run, who, is_model=bool(words))
            text, is_error, taint = self.registry.call(name, arguments, operator.seeing([words] if words else []))
            run.emit("tool_result", tool_use_id="", name=name, text=text, is_error=is_error, taint=taint)
            return ("cancelled" if run.is_cancelled() else "error" if is_error else "done"), "end_turn"

        return self._runs.start("", work, None, came, client)


def gather(services: Services) -> TurnStarter:
    """Return the starter of turns of a daemon, with its tools and the client of its services."""
    root, files, clock = services.root, services.files, services.clock
    asking = Asking(
        services,
        Pace(clock.now_s, time.sleep),
        Patience(clock.now_s, lambda: files.read(root.run_folder + "/online")),
        Wait(lambda: is_trusted(root, files, clock.unix_s(), 0), time.sleep),
    )
    built_in = BuiltIn(Router(root, services.executor.run, files))
    registry = Registry([built_in], services.settings.sections, services.cursor, clock.now_s)
    for load in services.parts.outside():
        registry.add(load)
    # The tools of the workspace and the web, made when the tools are first listed.
    user = USER if os.geteuid() == 0 else ""
    ask = lambda *asked: services.models.web(*asked)  # noqa: E731
    key = lambda: services.settings.key(BRAVE)  # noqa: E731
    seed = functools.cache(lambda: [Seed(root, services.settings.uci_sections, user, ask, key)])
    registry.add(seed)
    registry.add(services.parts.sources)
    return TurnStarter(services, registry, asking)
