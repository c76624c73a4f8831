"""The registry of tools: whose they are, which of them a model is told of, who lets a call through, what comes back.

Tools come from sources, which join with `add(load)`: `load()` returns the sources that there are now, cheaply and
without waiting; it is first called when somebody needs tools, so an idle daemon loads none. A source is an object with

    name                 "built-in", "plugin:NAME", "mcp:SERVER", "seed": shown to the owner, whose permits are for it
    specs() -> [Spec]    what it has now: from memory, without waiting, never raising. The same list object while
                         nothing changes: what is made of it is kept as long
    call(name, arguments, operator, watch) -> result
                         arguments are checked, the owner said yes; runs in a thread when the spec has a timeout
    preview(name, arguments, operator, watch) -> [words]
                         where a spec has "previews": what the owner is told of a call that he is asked about; it raises
                         when the call could not be made anyway

    Spec      {"name", "description", "input_schema": JSON Schema, "class", "timeout_s"}, and where that is so
              "enabled": bool     without the owner's word: True for built-in ones, False for all others
              "approval": text    without the owner's word: `allow` for class read and what is built in, else `ask`
              "untrusted": text   whose words every result and error holds, as "words of the MCP server x": taints
              "safe": {argument: [values]}    calls that only read although the class says more, by an argument
              "plans": True       the tool carries out plans (operator.change …), at which policy and owner are asked
              "core": True, "words": [beginnings of words]    when small models are told of it (specs.py)
              "note": text        for the owner's list
    class     read    looks, and has no effect
              change  has an effect
              danger  one that cannot be taken back: the owner is asked for each call, whatever is set
              net     talks to others, whom what is said reaches
    timeout_s 60 without a word; 0: it ends by itself, as what waits for the owner does, and runs in the caller's thread
    operator  the hands of the run (operator.py): `facts`, `change`, `act`, `taint`
    watch     `left_s(most)`, `is_cancelled()`, `progress(text, done, total)` (watch.py)
    result    a dict that JSON can hold, bounded by the source; these keys of it are for us and do not go on:
              "is_error": True    what the dict tells is a failure
              "user_only": text   for the owner alone: shown in the run, never to a model and never stored
              "untrusted": [text] stays: whose words are in it; marks it for the model and taints the stored block

Whatever a tool does, a call ends in a result: any OasisError, a fault and a hang included. What leaves is cleaned,
without secrets and at most RESULT_BYTES long; text of others is cut there, our own answers are refused as too long.
A model can neither switch a tool on nor let a call through: both are methods of the owner's.
"""

from __future__ import annotations

import time

from oasis.core import clean, jsonl
from oasis.errors import OasisError, PolicyError, ToolError, UsageError
from oasis.redaction.redactor import walk
from oasis.tools.router import Watch, Watched
from oasis.tools.specs import Prepared, check, chosen, is_large, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Protocol

    from oasis.tools.operator import Operator
    from oasis.tools.permissions import Permits

    Spec = dict[str, Any]
    Found = tuple["Source", Spec, dict[str, Any]]

    class Source(Protocol):
        name: str

        def specs(self) -> list[Spec]: ...
        def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]: ...


# What one result may cost of a small model's context.
RESULT_BYTES = 16 * 1024
# Of each text in an error: it may repeat what it was called with.
ERROR_CHARS = 2000
TIMEOUT_S = 60
_TOLD = ("name", "description", "input_schema")
# Of the calls that no permit lets through unasked, why the owner is asked.
_DANGER = "what this does cannot be taken back"
_SET = "you asked to be asked for this tool"
_REHEARSED = "this is a rehearsal, and nothing is done in it"
_TAINTED = "text from devices or networks is in the conversation, and this has an effect or reaches others"


class Registry:
    """All tools of one daemon. `now_s()` is monotonic."""

    def __init__(
        self, loads: list[Callable[[], Sequence[Source]]], permits: Permits, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._loads = [(load, Prepared()) for load in loads]
        self._permits = permits
        self._now_s = now_s
        self._watched = Watched()

    def add(self, load: Callable[[], Sequence[Source]]) -> None:
        """Let sources join; see the head of this module."""
        self._loads.append((load, Prepared()))

    # What there is

    def specs(self) -> list[dict[str, Any]]:
        """Return what providers are told of every tool that is on: name, description and input_schema."""
        return [{key: spec[key] for key in _TOLD} for spec in self._on()]

    def own(self) -> list[dict[str, Any]]:
        """Return what the built-in service may call: those that are built in, which is all that it knows."""
        load, ready = self._loads[0]
        return [{key: spec[key] for key in _TOLD} for _, spec in ready.of(load(), set())]

    def offered(
        self, texts: list[str], used: set[str], mode: str, context_tokens: int, is_local: bool
    ) -> list[dict[str, Any]]:
        """Return what a model is told of for a turn; see specs.py."""
        found = chosen(self._on(), texts, used, mode, is_large(context_tokens, is_local))
        return [{key: spec[key] for key in _TOLD} for spec in found]

    def listed(self) -> list[dict[str, Any]]:
        """Return every tool, also those that are off or cannot be used.

        Shape: [{"name", "description", "class", "source", "enabled", "approval", "tokens": about, "note"?}].
        """
        return [_shown(spec, permit) for _, spec, permit in self._all()]

    def set(self, name: str, enabled: bool | None, approval: str) -> dict[str, Any]:
        """Set what the owner wants of a tool; return it as listed.

        Raises: UsageError for a tool that there is not, or what no owner can set.
        """
        self._permits.write(self._named(name)[1], enabled, approval)
        _, spec, permit = self._named(name)
        return _shown(spec, permit)

    def _all(self) -> list[Found]:
        pairs = list(self._pairs())
        permits = self._permits.read([spec for _, spec in pairs])
        return [(source, spec, permit) for (source, spec), permit in zip(pairs, permits, strict=True)]

    def _pairs(self) -> Iterator[tuple[Source, Spec]]:
        """Yield what there is; who has found what he wants does not have the other sources loaded."""
        names: set[str] = set()
        for load, ready in self._loads:
            yield from ready.of(load(), names)

    def _on(self) -> list[Spec]:
        return [
            spec for _, spec, permit in self._all()
            if permit["enabled"] and permit["approval"] != "deny" and not spec["fault"]
        ]  # fmt: skip

    def _named(self, name: str) -> Found:
        for found in self._all():
            if found[1]["name"] == name:
                return found
        raise UsageError("there is no tool %r" % name, "list them with: oasis tools")

    # A call

    def call(self, name: str, arguments: dict[str, Any], operator: Operator) -> tuple[str, bool, list[str]]:
        """Run a tool; return its result as text, whether it is an error, and whose words it holds."""
        whose: list[str] = []
        try:
            if not operator.may(name):
                raise PolicyError("the tool %s is not for who asks here" % name, "only the router's owner may use it")
            source, spec, permit = self._allowed(name)
            if "invalid" in arguments and "invalid" not in spec["input_schema"].get("properties", {}):
                raise ToolError("the arguments were no JSON object: %s" % arguments["invalid"], "call it again")
            check(arguments, spec["input_schema"], name)
            _refuse_placeholders(name, arguments)
            refusal = self._ask(source, spec, permit, arguments, operator)
            if refusal is None:
                whose += [spec["untrusted"]] if spec.get("untrusted") else []
                result = self._run(source, spec, arguments, operator, "call")
            else:
                result = refusal
            return self._told(result, spec, whose, operator, arguments)
        except OasisError as error:
            return _failure(error, whose, operator, arguments)

    def _allowed(self, name: str) -> Found:
        found = next((pair for pair in self._pairs() if pair[1]["name"] == name), None)
        if found is None:
            names = [spec["name"] for _, spec, permit in self._all() if permit["enabled"]]
            raise ToolError("there is no tool %r" % name, "there are: " + ", ".join(dict.fromkeys(names)))
        source, spec = found
        permit = self._permits.read([spec])[0]
        if spec["fault"]:
            raise ToolError("the tool %s cannot be used: %s" % (name, spec["fault"]))
        if not permit["enabled"]:
            raise PolicyError(
                "the tool %s is off" % name, "only the owner switches it on: oasis tools enable %s" % name
            )
        if permit["approval"] == "deny":
            raise PolicyError("the owner does not allow the tool %s" % name, "do without it")
        return source, spec, permit

    def _ask(
        self, source: Source, spec: Spec, permit: dict[str, Any], arguments: dict[str, Any], operator: Operator
    ) -> dict[str, Any] | None:
        """Wait for the owner where a call needs him; return what is told when he does not let it through."""
        kind = class_of(spec, arguments)
        is_asked = permit["approval"] == "ask" and kind == spec["class"]
        if spec.get("plans"):
            operator.asking(is_asked)
            return None
        reasons = [_DANGER] if kind == "danger" else [_SET] if is_asked else []
        if operator.taint and kind in ("change", "net"):
            reasons.append(_TAINTED)
        if operator.rehearses and kind != "read":
            reasons.append(_REHEARSED)
        if not reasons:
            return None
        words = self._run(source, spec, arguments, operator, "preview") if spec.get("previews") else []
        return operator.permit(spec, arguments, reasons, words)

    def _run(self, source: Source, spec: Spec, arguments: dict[str, Any], operator: Operator, what: str) -> Any:
        name, seconds = spec["name"], spec.get("timeout_s", TIMEOUT_S)
        watch = Watch(lambda text: operator.progress(name, text), operator.is_cancelled, self._now_s, seconds)
        work = getattr(source, what)
        if not seconds:
            return work(name, arguments, operator, watch)
        return self._watched.run(name, lambda: work(name, arguments, operator, watch), watch)

    def _told(
        self, result: Any, spec: Spec, whose: list[str], operator: Operator, arguments: dict[str, Any]
    ) -> tuple[str, bool, list[str]]:
        if not isinstance(result, dict):
            raise ToolError("the tool %s answered with something that is no object" % spec["name"])
        result = dict(result)
        is_error = result.pop("is_error", False) is True
        for_owner = result.pop("user_only", None)
        if isinstance(for_owner, str) and for_owner:
            operator.tell(clean.text(for_owner))
        labels = [*whose, *[str(label) for label in result.get("untrusted") or [] if label not in whose]]
        shown = operator.masked(clean.value(result))
        labels += [label for label in operator.whose(jsonl.dumps(shown), arguments) if label not in labels]
        if labels:
            shown["untrusted"] = labels
        text = jsonl.dumps(shown)
        if len(text.encode("utf-8")) > RESULT_BYTES:
            if not whose:
                raise ToolError(
                    "the answer is longer than %d bytes" % RESULT_BYTES, "ask for less, for example one section"
                )
            is_plain = set(shown) <= {"text", "untrusted"} and isinstance(shown.get("text"), str)
            text = _cut(shown["text"] if is_plain else text, labels)
        return text, is_error, labels


def class_of(spec: Spec, arguments: dict[str, Any]) -> str:
    """Return of which class one call is."""
    is_safe = any(arguments.get(name) in values for name, values in spec.get("safe", {}).items())
    return "read" if is_safe else str(spec["class"])


def _cut(text: str, labels: list[str]) -> str:
    """Return the beginning of a result of somebody else's, and what is missing of it."""
    piece = text[:RESULT_BYTES]
    while True:
        told = jsonl.dumps({"text": piece, "cut": "the first of %d characters" % len(text), "untrusted": labels})
        over = len(told.encode("utf-8")) - RESULT_BYTES
        if over <= 0:
            return told
        piece = piece[: len(piece) - max(over // 4, 1)]


def _failure(
    error: OasisError, whose: list[str], operator: Operator, arguments: dict[str, Any]
) -> tuple[str, bool, list[str]]:
    from oasis.redaction import typed  # an idle daemon does without

    # Masked whole, then cut: half a secret would pass.
    told = walk(operator.masked(typed.hide(clean.value({"error": error.as_dict()}))), _short)
    if len(jsonl.dumps(told)) > RESULT_BYTES:  # a list of conflicts: the message names the first ones
        told = {"error": {key: told["error"][key] for key in ("code", "message", "hint")}}
    labels = [*whose, *[label for label in error.untrusted if label not in whose]]
    labels += [label for label in operator.whose(jsonl.dumps(told), arguments) if label not in labels]
    if labels:
        told = {**told, "untrusted": labels}
    return jsonl.dumps(told), True, labels


def _short(text: str) -> str:
    return text if len(text) <= ERROR_CHARS else text[:ERROR_CHARS] + "…"


def _refuse_placeholders(name: str, arguments: dict[str, Any]) -> None:
    """Raise PolicyError for a placeholder of a secret anywhere but in commands, where each has its place."""
    if "secret:" not in str(arguments):
        return
    from oasis.redaction import placeholders  # an idle daemon does without

    for key, item in arguments.items():
        if (name, key) != ("configure", "commands"):
            placeholders.refuse(item, "%s.%s" % (name, key))


def _shown(spec: Spec, permit: dict[str, Any]) -> dict[str, Any]:
    entry = {key: spec[key] for key in ("name", "description", "class", "source")}
    entry.update(enabled=permit["enabled"] and not spec["fault"], approval=permit["approval"], tokens=tokens(spec))
    note = "; ".join(filter(None, (spec["fault"], permit["note"], spec.get("note", ""))))
    return {**entry, "note": note} if note else entry
