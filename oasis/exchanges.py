"""Exchanges: an owner's message put on flash, then answered in a run by the chosen service and the tools.

Joins chat store, settings, providers, tools and runs; knows no front-end and no socket. `models` does the talking to
model services in worker processes: models.chat(request, on_event, is_cancelled).
"""

from __future__ import annotations

import os

from oasis.agent import Turn
from oasis.change.foreign import DEVICES
from oasis.core import jsonl, thread
from oasis.errors import OasisError, UsageError
from oasis.runs import Run
from oasis.settings import OFFLINE
from oasis.tools.operator import Operator

if False:  # annotations only
    from collections.abc import Sequence

    from oasis.agent import Ask, OnEvent
    from oasis.chats.collection import Collection
    from oasis.core.shapes import Any, Callable, Message, Protocol
    from oasis.core.store import Chat
    from oasis.offline.process import Offline
    from oasis.runs import Runs
    from oasis.settings import Settings
    from oasis.tools.facts import Facts
    from oasis.tools.operator import Workshop
    from oasis.tools.refused import Refused
    from oasis.tools.registry import Registry

    class Models(Protocol):
        def chat(self, request: dict[str, object], on_event: OnEvent, cancelled: Callable[[], bool]) -> None: ...


# A message longer than this is a file, and files are attached, not typed.
MESSAGE_CHARS = 32 * 1024
_PROMPTS = os.path.dirname(os.path.abspath(__file__)) + "/prompts.json"
_OUTPUT = ("delta", "thinking", "tool_use")


class Exchanges:
    """Starts the runs of one daemon. `new_id()` gives message ids (SCRU128), `unix_s()` the wall time."""

    def __init__(
        self, chats: Collection, settings: Settings, registry: Registry, shop: Workshop, runs: Runs, models: Models,
        offline: Offline, new_id: Callable[[], str], unix_s: Callable[[], int],
    ) -> None:  # fmt: skip
        self._chats = chats
        self._settings = settings
        self._registry = registry
        self._shop = shop
        self._runs = runs
        self._models = models
        self._offline = offline
        self._new_id = new_id
        self._unix_s = unix_s
        self._without_tools: set[tuple[str, ...]] = set()  # services that said that they know no tools

    def start(
        self, message: str, chat: str = "", service: str = "", continues: list[str] | None = None,
        came: Sequence[Any] = (),
    ) -> Run:  # fmt: skip
        """Put the owner's message on flash and start its run.

        Raises: UsageError for an unusable message or chat, SettingsError for the service, StoreError for the flash.
        """
        text = message.strip()
        if not text:
            raise UsageError("the message is empty", 'say what the router should do, like: "call this router attic"')
        if len(text) > MESSAGE_CHARS:
            raise UsageError("the message has more than %d characters" % MESSAGE_CHARS, "send it in parts")
        chosen = self._settings.service(service)
        new = None if chat else self._chats.store.create()

        def take() -> tuple[Chat, str]:
            # The chat is reserved now: nobody writes to it between this reading and the end of the run.
            opened = new or self._chats.open(chat, continues)
            opened.reports += self._chats.make_room(len(text))
            return opened, self._take(opened, text, self._heads(opened, continues))

        return self._runs.start(
            new.id if new else chat, lambda run, taken: self._answer(run, taken[0], taken[1], chosen), take, came
        )

    def _heads(self, chat: Chat, continues: list[str] | None) -> list[str]:
        chat.load(continues or [])
        return list(continues or chat.heads)

    def undo(self, change: str = "", skip_conflicts: bool = False, came: Sequence[Any] = ()) -> Run:
        """Start a run that undoes a change: the newest one without an id."""
        return self._runs.start("", lambda run: self._undo(run, change, skip_conflicts), None, came)

    def _undo(self, run: Run, change: str, skip_conflicts: bool) -> tuple[str, str]:
        operator = Operator(self._shop, run.id, "", "", run.emit, _nothing, run.is_cancelled)
        result = operator.undo(change, skip_conflicts)
        run.emit("tool_result", tool_use_id="", name="undo", text=jsonl.dumps(result), is_error=False)
        return ("cancelled" if result["status"] == "cancelled" else "done"), "end_turn"

    def propose(
        self, operations: list[dict[str, Any]], summary: str, forces: tuple[str, ...], came: Sequence[Any] = ()
    ) -> Run:
        """Start a run that proposes the owner's own operations; `forces` is what he lets through."""
        return self._runs.start(
            "", lambda run: self._force(run, forces, lambda hands: hands.change(operations, summary)), None, came
        )

    def force(self, kept: Refused, forces: tuple[str, ...], came: Sequence[Any] = ()) -> Run:
        """Start a run that proposes again what another run was refused."""
        return self._runs.start(
            "", lambda run: self._force(run, forces, lambda hands: hands.force(kept), kept), None, came
        )

    def _force(
        self, run: Run, forces: tuple[str, ...], work: Callable[[Operator], dict[str, Any]], of: Refused | None = None
    ) -> tuple[str, str]:
        chat, message = (of["chat"], of["message"]) if of else ("", "")
        operator = Operator(self._shop, run.id, chat, message, run.emit, _nothing, run.is_cancelled, forces=forces)
        result = operator.masked(work(operator))
        if result["status"] == "unchanged":
            run.emit("note", text="nothing to change: all of it is so already")
        run.emit("tool_result", tool_use_id="", name="configure", text=jsonl.dumps(result), is_error=False)
        return ("cancelled" if result["status"] == "cancelled" else "done"), "end_turn"

    def _answer(self, run: Run, chat: Chat, message: str, service: dict[str, object]) -> tuple[str, str]:
        run.emit("message", id=message, role="user")
        is_model = service["vendor"] != OFFLINE
        operator = Operator(self._shop, run.id, chat.id, message, run.emit, chat.secure, run.is_cancelled, is_model)
        turn = Turn(
            chat,
            self._ask(service, run) if is_model else self._ask_offline,
            lambda name, arguments, taint: self._registry.call(name, arguments, operator.seeing(taint)),
            self._registry.specs(),
            _prompts()["system"],
            self._new_id,
            run.emit,
            run.is_cancelled,
            {"provider": str(service["identifier"]), "model": str(service["model"])},
        )
        state = turn.run()
        for report in chat.reports:
            run.emit("note", text=report)
        return state, turn.stop_reason

    def _take(self, chat: Chat, text: str, heads: list[str]) -> str:
        """Add the owner's message, closing calls that a crash left open, and sync it before anybody works on it."""
        open_calls = thread.unanswered(thread.context(chat.messages, heads))
        if open_calls:
            chat.add(
                {"id": self._new_id(), "role": "tool", "content": thread.interruption(open_calls), "continues": heads}
            )
            heads = list(chat.heads)
        message: Message = {"id": self._new_id(), "role": "user", "content": text}
        if heads:
            message["continues"] = heads
        chat.add(message)
        try:
            chat.flush()
        except OasisError:
            chat.discard()
            raise
        return str(message["id"])

    def _ask(self, service: dict[str, object], run: Run) -> Ask:
        request: dict[str, object] = {
            "op": "chat",
            "vendor": service["vendor"],
            "profile": service["profile"],
            "base_url": service["base_url"],
            "key": self._settings.key(str(service["identifier"])),
            "model": service["model"],
            "options": {"stream": True},
        }

        hide = self._shop.redactor.hide
        place = tuple(str(service[key]) for key in ("identifier", "base_url", "model"))

        def send(messages: list[Message], tools: list[dict[str, object]], on_event: OnEvent) -> None:
            def hear(event: dict[str, Any]) -> None:
                # A service may repeat what it was sent.
                on_event(hide(event) if event["type"] == "error" else event)

            # The descriptions of tools are our own words; what could be secret is in the messages.
            sent = [_outgoing(message, hide(message, run.chat)) for message in messages]
            self._models.chat({**request, "messages": sent, "tools": tools}, hear, run.is_cancelled)

        def ask(messages: list[Message], tools: list[dict[str, object]], on_event: OnEvent) -> None:
            if service["tool_mode"] != "none" and place not in self._without_tools:
                first = _First(on_event)
                send(_instructed(messages, "tools" if tools else ""), tools, first.take if tools else on_event)
                if not first.has_no_tools:
                    return
                self._without_tools.add(place)
                run.emit("note", text="%s cannot call tools: it writes commands instead" % service["model"])
            from oasis.tools import fences  # only models without tools need it

            on_event({"type": "fences"})
            told = [fences.as_text(message) for message in _instructed(messages, "fences" if tools else "")]
            send(told, [], on_event)

        return ask

    def _ask_offline(self, messages: list[Message], tools: list[dict[str, object]], on_event: OnEvent) -> None:
        facts = _Listening(self._shop.facts)
        for event in self._offline.reply(messages, facts, self._unix_s()):
            on_event(event)
            if any(name in jsonl.dumps(event) for name in facts.names):
                on_event({"type": "taint", "taint": [DEVICES]})


class _First:
    """The events of a service's answer up to the news, before a word, that it knows no tools."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._has_output = False
        self.has_no_tools = False

    def take(self, event: dict[str, Any]) -> None:
        self._has_output = self._has_output or event["type"] in _OUTPUT
        if event["type"] == "error" and event["error"]["code"] == "no_tools" and not self._has_output:
            self.has_no_tools = True
        else:
            self._on_event(event)


class _Listening:
    """The facts that the built-in provider asks for; remembers the names of devices that it was told."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.names: set[str] = set()
        self.config = facts.config
        self.interfaces = facts.interfaces
        self.services = facts.services

    def devices(self) -> list[dict[str, object]]:
        found = self._facts.devices()
        self.names.update(str(device["name"]) for device in found if device["name"])
        return found


def _outgoing(message: Message, hidden: Message) -> Message:
    """Return a message as a model gets it: thinking that had to be changed is left out, for it is signed."""
    if hidden is message or isinstance(hidden["content"], str):
        return hidden
    pairs = zip(message["content"], hidden["content"], strict=True)
    return {**hidden, "content": [new for old, new in pairs if new is old or new["type"] != "thinking"]}


def _nothing() -> None:
    """Flush the chat of a run that has none."""


def _instructed(messages: list[Message], part: str) -> list[Message]:
    """Return messages that begin with how this service acts on the router; "" for not at all any more."""
    if not part:
        return messages
    return [{**messages[0], "content": "%s\n%s" % (messages[0]["content"], _prompts()[part])}, *messages[1:]]


def _prompts() -> dict[str, str]:
    with open(_PROMPTS, "rb") as handle:
        prompts: dict[str, str] = jsonl.loads(handle.read())
    return prompts
