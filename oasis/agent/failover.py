"""Try services in order until one starts to answer; report each failed attempt.

    Failover(services, asker, emit, window)       `asker(service)` gives what asks it (asking.py), `window(service)` the
                                                  context that fits it (context.py)

Another service is asked only as long as nothing of the answer was shown, and the one that answered stays for the rest
of the turn. Any failure of a service counts, a refused key too: an answer is wanted wherever there is one, and the note
that names the failure is shown each time, so that a wrong key does not stay unseen. What the owner stopped
stays stopped. The built-in provider stands in only at the start of a turn, for it knows nothing of what a model was
about to do with its tools.
"""

from __future__ import annotations

from oasis.config.settings import OFFLINE
from oasis.errors import OasisError, SettingsError

if False:  # annotations only
    from oasis.agent.shapes import AnswerEvent, Ask, Callable, Emit, Failure, MakeContext, OfferedTool, OnEvent
    from oasis.config.shapes import Service
    from oasis.core.shapes import Message
    from oasis.core.store import Chat

_SHOWN = ("delta", "thinking", "tool_use")
# Not a failure of the service: the owner stopped it, or oasis ends.
_STAYS = ("cancelled",)


class Failover:
    """The services of one turn, in the order to try them; `service` is the one that answers."""

    def __init__(
        self, services: list[Service], asker: Callable[[Service], Ask], emit: Emit,
        window: Callable[[Service], MakeContext],
    ) -> None:  # fmt: skip
        self._left = list(services)
        self._asker = asker
        self._emit = emit
        self._window = window
        self._seen: tuple[Chat, str, list[OfferedTool]] | None = None
        self._has_answered = False
        self.service = self._left.pop(0)
        self.source = source(self.service)

    def context(self, chat: Chat, system: str, tools: list[OfferedTool]) -> list[Message]:
        """Return what the present service is sent of a chat."""
        self._seen = (chat, system, tools)
        return self._window(self.service)(chat, system, tools)

    def ask(self, messages: list[Message], tools: list[OfferedTool], on_event: OnEvent) -> None:
        """Ask the present service, and the next ones where it fails before a word."""
        failures: list[Failure] = []
        wanted = self.service
        while True:
            first = _Unshown(on_event)
            self._asker(self.service)(messages, tools, first.take)
            if first.failure is None:
                self._has_answered = True
                return
            failures.append(first.failure)
            following = self._following(first.failure)
            if following is None:
                on_event(_source_event(wanted))
                on_event({"type": "error", "error": _all(failures)})
                return
            messages = self._moved(following, messages, first.failure)
            on_event(_source_event(following))

    def _following(self, failure: Failure) -> Service | None:
        if failure["code"] in _STAYS:
            return None
        while self._left:
            service = self._left.pop(0)
            if service["vendor"] != OFFLINE or not self._has_answered:
                return service
        return None

    def _moved(self, service: Service, messages: list[Message], failure: Failure) -> list[Message]:
        """Make a service the present one; return what it is sent."""
        name = "the built-in service, which knows common tasks and no model" if service["vendor"] == OFFLINE else ""
        self._emit(
            "note",
            text="%s: %s; trying %s" % (self.service["identifier"], failure["message"], name or service["identifier"]),
        )
        before, self.service = self.service["context_tokens"], service
        is_smaller = service["context_tokens"] and (not before or service["context_tokens"] < before)
        if self._seen is None or not is_smaller:
            return messages  # never more than before: what taints the answer was looked for in that
        return self._window(service)(*self._seen)


def allowed(services: list[Service], mode: str) -> list[Service]:
    """Return the services that may answer under a setting of OFFLINE_MODES.

    Raises: SettingsError when it is the built-in one alone, and turned off.
    """
    found = [service for service in services if mode != "never" or service["vendor"] != OFFLINE]
    if not found:
        raise SettingsError("oasis.main.offline is 'never', and there is no other service", "add one: oasis services")
    return found


def failing(error: OasisError) -> Callable[[Service], Ask]:
    """Return what ends a turn with an error, which is then stored like any other."""

    def ask(*_: object) -> None:
        raise error

    return lambda service: ask


def source(service: Service) -> dict[str, str]:
    """Return who answers, as it is stored with the answer."""
    return {"provider": str(service["identifier"]), "model": str(service["model"])}


def _source_event(service: Service) -> AnswerEvent:
    return {"type": "source", "provider": str(service["identifier"]), "model": str(service["model"])}


def _all(failures: list[Failure]) -> Failure:
    """Return the failure of the wanted service, with the last one's; those between were reported on the way."""
    if len(failures) == 1:
        return failures[0]
    return {**failures[0], "message": "%s; and the last one: %s" % (failures[0]["message"], failures[-1]["message"])}


class _Unshown:
    """The events of a service's answer, up to a failure before anything of it was shown."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._has_output = False
        self.failure: Failure | None = None

    def take(self, event: AnswerEvent) -> None:
        self._has_output = self._has_output or event["type"] in _SHOWN
        if event["type"] == "error" and not self._has_output:
            self.failure = event["error"]
        else:
            self._on_event(event)
