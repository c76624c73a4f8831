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
        self.source = {"provider": str(self.service["identifier"]), "model": str(self.service["model"])}

    def context(self, chat: Chat, system: str, tools: list[OfferedTool]) -> list[Message]:
        """Return what the present service is sent of a chat."""
        self._seen = (chat, system, tools)
        return self._window(self.service)(chat, system, tools)

    def ask(self, messages: list[Message], tools: list[OfferedTool], on_event: OnEvent) -> None:
        """Ask the present service, and the next ones where it fails before a word."""
        failures: list[Failure] = []
        wanted = self.service
        while True:
            failure = self._failure(messages, tools, on_event)
            if failure is None:
                self._has_answered = True
                return
            failures.append(failure)
            following = self._following(failure)
            if following is None:
                on_event(_source(wanted))
                if len(failures) > 1:  # those between were reported on the way
                    words = "%s; and the last one: %s" % (failures[0]["message"], failure["message"])
                    failure = {**failures[0], "message": words}
                on_event({"type": "error", "error": failure})
                return
            messages = self._moved(following, messages, failure)
            on_event(_source(following))

    def _failure(self, messages: list[Message], tools: list[OfferedTool], on_event: OnEvent) -> Failure | None:
        """Ask the present service; return its failure where that came before anything was shown."""
        failure: Failure | None = None
        has_output = False

        def take(event: AnswerEvent) -> None:
            nonlocal failure, has_output
            has_output = has_output or event["type"] in _SHOWN
            if event["type"] == "error" and not has_output:
                failure = event["error"]
            else:
                on_event(event)

        self._asker(self.service)(messages, tools, take)
        return failure

    def _following(self, failure: Failure) -> Service | None:
        while self._left and failure["code"] not in _STAYS:
            service = self._left.pop(0)
            if service["vendor"] != OFFLINE or not self._has_answered:
                return service
        return None

    def _moved(self, service: Service, messages: list[Message], failure: Failure) -> list[Message]:
        """Make a service the present one; return what it is sent."""
        name = "the built-in service, which knows common tasks and no model"
        if service["vendor"] != OFFLINE:
            name = str(service["identifier"])
        self._emit("note", text="%s: %s; trying %s" % (self.service["identifier"], failure["message"], name))
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


def _source(service: Service) -> AnswerEvent:
    return {"type": "source", "provider": str(service["identifier"]), "model": str(service["model"])}
