"""The registry of tools: their sources, which of them a model is offered, who permits a call, and its result.

Tools come from sources, which join with `add(load)`: `load()` returns the sources that there are now, cheaply and
without waiting; it is first called when somebody needs tools, so an idle daemon loads none. A source is an object with

    name                 "built-in", "plugin:NAME", "mcp:SERVER", "seed": shown to the owner, whose permits are for it
    specs() -> [Spec]    what it has now: from memory, without waiting, never raising. The same list object while
                         nothing changes: what is made of it is kept as long
    call(name, arguments, operator, watch) -> result
                         arguments are checked, the owner said yes; runs in a thread when the spec has a timeout
    preview(name, arguments, operator, watch) -> [words]
                         where a spec has "previews": what the approval card says of a call; it raises
                         when the call could not be made anyway; what it puts into operator.ahead is approved with
                         the card, and there when the call is made

    Spec      {"name", "description", "input_schema": JSON Schema, "class", "timeout_s"}, and where that is so
              "enabled": bool     where the owner set nothing: True for built-in ones, False for all others
              "approval": text    where the owner set nothing: `allow` for class read and what is built in, else `ask`
              "untrusted": text   whose words every result and error holds, as "words of the MCP server x": taints
              "near": argument             calls for one machine at home that it names let nothing out
              "safe": {argument: [values]}    calls that only read although the class says more, by an argument
              "plans": True       the tool carries out plans (operator.change …), at which policy and owner are asked
              "core": True, "words": [beginnings of words]    when small models are offered it (specs.py)
              "spoken": True      no model is offered it until the owner speaks of it, in one of these words
              "note": text        for the owner's list
              "reason": text      why each call of class danger is asked, where it can be taken back
    class     read    looks, and has no effect
              change  has an effect
              danger  one that cannot be taken back: the owner is asked for each call, whatever is set
              net     talks to others, so they get the arguments
    timeout_s 60 without a word; 0: it ends by itself, as what waits for the owner does, and runs in the caller's thread
    operator  acts for the run (operator.py): `facts`, `change`, `act`, `taint`
    watch     `left_s(most)`, `is_cancelled()`, `progress(text, done, total)` (router.py)
    result    a dict that JSON can hold, bounded by the source; these keys of it are for us and do not go on:
              "is_error": True    what the dict tells is a failure
              "user_only": text   for the owner alone: shown in the run, never to a model and never stored
              "untrusted": [text] stays: whose words are in it; marks it for the model and taints the stored block

Whatever a tool does, a call ends in a result: any OasisError, a fault and a hang included. What leaves is cleaned,
without secrets and at most RESULT_BYTES long. What is longer loses whole entries, and "left_out" says how many, and for
sections of which types and names; only a text of others is cut where it is too long, and one of ours is refused.
A model can neither switch a tool on nor let a call through: both are methods of the owner's.

Permits stand in sections `tool` of /etc/config/oasis, which are upstream's: `name`, `server` and `enable` mean the same
there. Ours are `approval`, and `revision`: the sum of what the owner saw when they set it. Where a tool from outside
has another description, other arguments or another class than then, the permit does not count any more. A section
counts for one server's tool, never for another of the same name.
"""

from __future__ import annotations

import threading
import time

from oasis import parts
from oasis.config.settings import write
from oasis.core import clean, jsonl
from oasis.errors import OasisError, PolicyError, ToolError, UsageError
from oasis.redaction import placeholders
from oasis.redaction.redactor import walk
from oasis.redaction.secret_forms import hide_typed
from oasis.system.digest import sha256
from oasis.tools.hints import for_model
from oasis.tools.principal import may_use
from oasis.tools.router import Watch, Watched
from oasis.tools.specs import brief, check, checked, chosen, is_outside, tokens

if False:  # annotations only
    from typing import Any, TypeVar

    from oasis.core.shapes import Callable, Iterator, Mapping, Sequence
    from oasis.tools.operator import Operator
    from oasis.tools.shapes import Answered, Arguments, OfferedTool, Permit, Result, Source, ToolRow, ToolSpec
    from oasis.uci.cursor import Cursor
    from oasis.uci.edit import Step
    from oasis.uci.model import Section

    Found = tuple[Source, ToolSpec, Permit]
    T = TypeVar("T")


# What one result may cost of a small model's context.
RESULT_BYTES = 16 * 1024
# Of the names of sections that are left out; the others are counted.
NAMES = 20
# Of each text in an error: it may repeat what it was called with.
ERROR_CHARS = 2000
# Kept free for what tells of entries that are left out.
_TOLD_BYTES = 700
# A part that makes more of a list than this is looked into: it is what is too long.
_MOST = 0.6
TIMEOUT_S = 60
# What a result tells us, and not the model.
_OURS = ("is_error", "user_only")
_TAKEN = "another tool has this name"
# Of the calls that no permit lets through unasked, why the owner is asked.
_DANGER = "what this does cannot be taken back"
_SET = "you asked to be asked for this tool"
_REHEARSED = "this is a dry run; nothing is done"
_TAINTED = "text from devices or networks is in the conversation, and this has an effect or reaches others"


class Registry:
    """All tools of one daemon; `built_in` are those that it brings.

    `sections()` gives those of our package, `cursor()` opens it for writing; `now_s()` is monotonic.
    """

    def __init__(
        self, built_in: list[Source], sections: Callable[[], list[Section]], cursor: Callable[[], Cursor],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._loads: list[Callable[[], Sequence[Source]]] = [built_in.copy]
        self._known: dict[str, tuple[object, list[ToolSpec]]] = {}  # by source: the list it gave last, checked
        self._sections = sections
        self._cursor = cursor
        self._setting = threading.Lock()
        self._now_s = now_s
        self._watched = Watched()

    def add(self, load: Callable[[], Sequence[Source]]) -> None:
        """Let sources join; see the head of this module."""
        self._loads.append(load)

    # What there is

    def specs(self) -> list[OfferedTool]:
        """Return every enabled tool as a model service gets it."""
        return [_offered(spec) for spec in self._on()]

    def offered(self, texts: list[str], used: set[str], mode: str, large: bool) -> list[OfferedTool]:
        """Return the tools that a model is offered in a turn, as short as they can be; see specs.py."""
        return [_offered(brief(spec)) for spec in chosen(self._on(), texts, used, mode, large)]

    def looking(self, tools: list[OfferedTool]) -> list[OfferedTool]:
        """Return those of some offered tools that change nothing."""
        reading = {spec["name"] for spec in self._on() if spec["class"] in ("read", "net")}
        return [tool for tool in tools if tool["name"] in reading]

    def kind(self, name: str, arguments: Arguments) -> str:
        """Return the class of one call. Raises: ToolError or PolicyError for a tool that cannot be used."""
        return class_of(self._allowed(name)[1], arguments)

    def listed(self) -> list[ToolRow]:
        """Return every tool, also those that are off or cannot be used."""
        return [_shown(spec, permit) for _, spec, permit in self._tools()]

    def set(self, name: str, enabled: bool | None, approval: str) -> ToolRow:
        """Set what the owner wants of a tool; return it as listed, or raise UsageError for what is invalid."""
        spec, _ = self._find(name)
        if approval and approval not in APPROVALS:
            raise UsageError("approval is %r" % approval, "one of " + ", ".join(APPROVALS))
        if approval == "allow" and spec["class"] == "danger":
            raise UsageError("%s is dangerous: the owner is always asked" % name, "ask or deny")
        with self._setting:
            now = self._find(name)[1]
            is_on = now["enabled"] if enabled is None else enabled  # what is not given stays as it is
            values = {"enable": "1" if is_on else "0", "approval": approval or now["approval"]}
            if is_outside(spec):
                values["revision"] = revision(spec)
            own = [str(one.name) for one in self._sections() if one.type == "tool" and _is_of(one.options, spec)]
            steps: list[Step] = []
            if not own:
                steps.append({"op": "add", "type": "tool"})
                values = {"name": name, "server": _server(spec), **values}
            section = own[0] if own else "@tool[-1]"
            for option, value in values.items():
                steps.append({"op": "set", "section": section, "option": option, "value": value})
            write(self._cursor(), steps)
        return _shown(*self._find(name))

    def _find(self, name: str) -> tuple[ToolSpec, Permit]:
        for _, spec, permit in self._tools():
            if spec["name"] == name:
                return spec, permit
        raise parts.missing("tools", name) or UsageError("there is no tool %r" % name, "list them with: oasis tools")

    def _tools(self) -> Iterator[Found]:
        """Yield all tools with what the owner set; a caller that stops early does not load the other sources."""
        names: set[str] = set()
        given = [section.options for section in self._sections() if section.type == "tool"]
        for source in (one for load in self._loads for one in load()):
            specs = source.specs()
            known = self._known.get(source.name)
            if known is None or known[0] is not specs:
                known = self._known[source.name] = (specs, [checked(one, source.name) for one in specs])
            for spec in known[1]:
                if spec["name"] in names:
                    spec = {**spec, "fault": _TAKEN}
                names.add(spec["name"])
                yield source, spec, _permit(spec, next((one for one in given if _is_of(one, spec)), {}))

    def _on(self) -> list[ToolSpec]:
        return [
            spec for _, spec, permit in self._tools()
            if permit["enabled"] and permit["approval"] != "deny" and not spec["fault"]
        ]  # fmt: skip

    # A call

    def call(self, name: str, arguments: Arguments, operator: Operator) -> Answered:
        """Run a tool; return its result as text, whether it is an error, and whose words it holds."""
        whose: list[str] = []
        try:
            if not may_use(operator.role, name):
                raise PolicyError("the tool %s is not for who asks here" % name, "only the router's owner may use it")
            source, spec, permit = self._allowed(name)
            if name == "configure" and arguments.get("install"):
                if not may_use(operator.role, "packages"):
                    raise PolicyError("installing is not for who asks here", "only the router's owner may do it")
                self._allowed("packages")
            known = spec["input_schema"].get("properties")
            if "invalid" in arguments and not (isinstance(known, dict) and "invalid" in known):
                raise ToolError("the arguments were no JSON object: %s" % arguments["invalid"], "call it again")
            form = known.get("commands") if isinstance(known, dict) else None
            given = arguments.get("commands")
            if isinstance(given, str) and isinstance(form, dict) and form.get("type") == "array":
                arguments = {**arguments, "commands": [*given.splitlines()]}
            check(arguments, spec["input_schema"], name)
            if "secret:" in str(arguments):
                for key, item in arguments.items():
                    if (name, key) != ("configure", "commands"):  # in commands each has its place
                        placeholders.refuse(item, "%s.%s" % (name, key))
            result: Result | None = self._ask(source, spec, permit, arguments, operator)
            if result is None:
                whose += [spec["untrusted"]] if spec.get("untrusted") else []
                result = self._run(spec, arguments, operator, source.call)
            return self._answer(result, spec, whose, operator, arguments)
        except OasisError as error:
            told = error.as_dict()
            if operator.is_model:
                told["hint"] = for_model(error.hint)
            # Masked whole, then cut: half a secret would pass.
            shown = walk(
                operator.masked(hide_typed(clean.value({"error": told}))),
                lambda text: text if len(text) <= ERROR_CHARS else text[:ERROR_CHARS] + "…",
            )
            if len(jsonl.dumps(shown)) > RESULT_BYTES:  # a list of conflicts: the message names the first ones
                shown = {"error": {key: shown["error"][key] for key in ("code", "message", "hint")}}
            labels = _labels(shown, [*whose, *error.untrusted], operator, arguments)
            return jsonl.dumps(shown), True, labels

    def _allowed(self, name: str) -> Found:
        found = next((one for one in self._tools() if one[1]["name"] == name), None)
        if found is None:
            absent = parts.missing("tools", name)
            if absent:
                raise absent
            names = [spec["name"] for _, spec, permit in self._tools() if permit["enabled"]]
            raise ToolError("there is no tool %r" % name, "there are: " + ", ".join(dict.fromkeys(names)))
        _, spec, permit = found
        if spec["fault"]:
            raise ToolError("the tool %s cannot be used: %s" % (name, spec["fault"]))
        if not permit["enabled"]:
            hint = "only the owner switches it on: oasis tools enable %s" % name
            raise PolicyError("the tool %s is off" % name, hint)
        if permit["approval"] == "deny":
            raise PolicyError("the owner does not allow the tool %s" % name, "do without it")
        return found

    def _ask(
        self, source: Source, spec: ToolSpec, permit: Permit, arguments: Arguments, operator: Operator
    ) -> Result | None:
        """Wait for approval where a call needs it; return the result of a refusal."""
        operator.ahead = ()
        kind = class_of(spec, arguments)
        is_asked = permit["approval"] == "ask" and kind == spec["class"]
        if spec.get("plans"):
            operator.asking(is_asked)
            return None
        reasons = [spec.get("reason", _DANGER)] if kind == "danger" else [_SET] if is_asked else []
        # What goes to one machine at home lets nothing out.
        is_near = "near" in spec and len(operator.facts.called(str(arguments.get(spec["near"])))) == 1
        if operator.taint and kind in ("change", "net") and not is_near:
            reasons.append(_TAINTED)
        if operator.rehearses and kind != "read":
            reasons.append(_REHEARSED)
        if not reasons:
            return None
        words = self._run(spec, arguments, operator, source.preview) if spec.get("previews") else []  # type: ignore[attr-defined]  # see "previews"
        return operator.permit(spec, arguments, reasons, words)

    def _run(
        self, spec: ToolSpec, arguments: Arguments, operator: Operator,
        work: Callable[[str, Arguments, Operator, Watch], T],
    ) -> T:  # fmt: skip
        name, seconds = spec["name"], spec.get("timeout_s", TIMEOUT_S)
        watch = Watch(lambda text: operator.progress(name, text), operator.is_cancelled, self._now_s, seconds)
        if not seconds:
            return work(name, arguments, operator, watch)
        return self._watched.run(name, lambda: work(name, arguments, operator, watch), watch)

    def _answer(
        self, result: Result, spec: ToolSpec, whose: list[str], operator: Operator, arguments: Arguments
    ) -> Answered:
        if not isinstance(result, dict):
            raise ToolError("the tool %s answered with something that is no object" % spec["name"])
        is_error, for_owner = result.get("is_error") is True, result.get("user_only")
        untrusted = result.get("untrusted")
        untrusted = untrusted if isinstance(untrusted, (list, tuple)) else []
        if isinstance(for_owner, str) and for_owner:
            operator.tell(clean.text(for_owner))
        ours = {key: result[key] for key in result if key not in _OURS}
        if operator.is_model and isinstance(ours.get("notes"), list):
            ours["notes"] = [for_model(note) if isinstance(note, str) else note for note in ours["notes"]]
        shown = operator.masked(clean.value(ours))
        labels = _labels(shown, [*whose, *map(str, untrusted)], operator, arguments)
        text = jsonl.dumps(shown)
        if _size(text) > RESULT_BYTES:
            fitting = _fitted(text)
            if fitting:
                return fitting, is_error, labels
            if not whose:
                hint = "ask for less, for example one section"
                raise ToolError("the answer is longer than %d bytes" % RESULT_BYTES, hint)
            is_plain = set(shown) <= {"text", "untrusted"} and isinstance(shown.get("text"), str)
            text = _cut(shown["text"] if is_plain else text, labels)
        return text, is_error, labels


def class_of(spec: ToolSpec, arguments: Arguments) -> str:
    """Return of which class one call is."""
    is_safe = any(arguments.get(name) in values for name, values in spec.get("safe", {}).items())
    return "read" if is_safe else str(spec["class"])


def _fitted(text: str) -> str:
    """Return a result that is too long without the last entries of its longest list or object, "" where it has none.

    Shape: "left_out": {path: {"count", "of"}}, for sections {path: {type: {"count", "names"?: some of those with one,
    "from", "to": the places of the first and the last}}}.
    """
    shown: Any = jsonl.shipped(text.encode("utf-8"))
    left_out: dict[str, Any] = {}
    over = _size(text) - RESULT_BYTES
    while over > 0:
        path = _longest({key: one for key, one in shown.items() if key not in ("untrusted", "notes", "left_out")})
        if not path or ".".join(map(str, path)) in left_out:
            return ""
        holder = shown
        for key in path[:-1]:
            holder = holder[key]
        entries = _entries(holder[path[-1]])
        kept, gone = len(entries), 0
        while kept and gone < over + _TOLD_BYTES:
            kept -= 1
            name, one = entries[kept]
            gone += _size(jsonl.dumps(one)) + (_size(jsonl.dumps(name)) + 2 if isinstance(name, str) else 1)
        rest = entries[:kept]
        holder[path[-1]] = dict(rest) if isinstance(holder[path[-1]], dict) else [one for _, one in rest]
        left_out[".".join(map(str, path))] = _counted(entries, kept)
        over = _size(jsonl.dumps({**shown, "left_out": left_out})) - RESULT_BYTES
    return jsonl.dumps({**shown, "left_out": left_out})


def _entries(value: Any) -> list[tuple[Any, Any]]:
    return [*(value.items() if isinstance(value, dict) else enumerate(value))]


def _longest(value: Any) -> list[Any]:
    """Return the path to the list or object that makes a value long, [] where a text does."""
    sizes = {key: _size(jsonl.dumps(one)) for key, one in _entries(value)}
    key = max(sizes, key=lambda key: sizes[key], default=None)
    inner = value[key] if sizes else None
    if not isinstance(inner, (dict, list)) or not inner:
        return []
    parts = [_size(jsonl.dumps(one)) for _, one in _entries(inner)]
    deeper = _longest(inner) if max(parts) > _MOST * sum(parts) else []
    return [key, *deeper] if deeper or len(inner) > 1 else []


def _counted(entries: list[tuple[Any, Any]], kept: int) -> dict[str, Any]:
    """Return what is left out of entries: how many, and of sections which, so that one can be asked for."""
    if not all(isinstance(one, dict) and one.get(".type") for _, one in entries):
        return {"count": len(entries) - kept, "of": len(entries)}
    found: dict[str, Any] = {}
    places: dict[str, int] = {}
    for number, (name, one) in enumerate(entries):
        kind = str(one[".type"])
        place = "@%s[%d]" % (kind, places.get(kind, 0))
        places[kind] = places.get(kind, 0) + 1
        if number >= kept:
            told = found.setdefault(kind, {"count": 0, "from": place})
            told.update(count=told["count"] + 1, to=place)
            if not one.get(".anonymous") and len(told.get("names", ())) < NAMES:
                told.setdefault("names", []).append(name)
    return found


def _size(text: str) -> int:
    return len(text.encode("utf-8"))


def _cut(text: str, labels: list[str]) -> str:
    """Return the beginning of a result of somebody else's, and what is missing of it."""
    piece = text[:RESULT_BYTES]
    while True:
        told = jsonl.dumps({"text": piece, "cut": "the first of %d characters" % len(text), "untrusted": labels})
        over = len(told.encode("utf-8")) - RESULT_BYTES
        if over <= 0:
            return told
        piece = piece[: len(piece) - max(over // 4, 1)]


def _labels(shown: dict[str, Any], known: list[str], operator: Operator, arguments: Arguments) -> list[str]:
    """Return whose words an answer holds, and note it there: the ones that are known, and those found in the text."""
    labels = list(dict.fromkeys([*known, *operator.whose(jsonl.dumps(shown), arguments)]))
    if labels:
        shown["untrusted"] = labels
    return labels


def _offered(spec: ToolSpec) -> OfferedTool:
    return {"name": spec["name"], "description": spec["description"], "input_schema": spec["input_schema"]}


def _shown(spec: ToolSpec, permit: Permit) -> ToolRow:
    entry: ToolRow = {
        "name": spec["name"], "description": spec["description"], "class": spec["class"], "source": spec["source"],
        "enabled": permit["enabled"] and not spec["fault"], "approval": permit["approval"], "tokens": tokens(spec),
    }  # fmt: skip
    note = "; ".join(filter(None, (spec["fault"], permit["note"], spec.get("note", ""))))
    return {**entry, "note": note} if note else entry


APPROVALS = ("ask", "allow", "deny")
BUILT_IN = "built-in"
_SUM_CHARS = 16
_CHANGED = "it is not what it was when it was switched on: look at it again"
_SWITCH = {"0": False, "1": True, "off": False, "on": True, "no": False, "yes": True, "false": False, "true": True}


def _server(spec: ToolSpec) -> str:
    return spec["source"].removeprefix("plugin:")  # upstream's plugins are called by their object alone


def revision(spec: ToolSpec) -> str:
    """Return a short sum of what the owner sees of a tool."""
    seen = [spec["description"], spec["input_schema"], spec["class"]]
    return sha256(jsonl.canonical(seen).encode("utf-8"))[:_SUM_CHARS]


def _is_of(options: Mapping[str, str | list[str]], spec: ToolSpec) -> bool:
    return options.get("name") == spec["name"] and options.get("server", BUILT_IN) == _server(spec)


def _permit(spec: ToolSpec, options: Mapping[str, str | list[str]]) -> Permit:
    is_ours = spec["source"] == BUILT_IN
    is_harmless = spec["class"] == "read" or (is_ours and spec["class"] != "danger")
    approval = str(spec.get("approval", "allow" if is_harmless else "ask"))
    permit: Permit = {"enabled": spec.get("enabled", is_ours), "approval": approval, "note": ""}
    if is_outside(spec) and "revision" in options and options["revision"] != revision(spec):
        return {**permit, "enabled": False, "note": _CHANGED}
    permit["enabled"] = _SWITCH.get(str(options.get("enable", "")).lower(), permit["enabled"])
    if options.get("approval") in APPROVALS:
        permit["approval"] = str(options["approval"])
    if spec["class"] == "danger" and permit["approval"] == "allow":
        permit["approval"] = "ask"
    return permit
