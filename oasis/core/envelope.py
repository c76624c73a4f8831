"""Upstream's `tool_outputs` envelope: what tools gave, as its page and its phone app exchange it, read and written.

    {"service", "tool_outputs": [{"tool_call_id"?, "name", "output": a JSON TEXT}], "reboot"?: bool, "shutdown"?: bool}

A tool's output is foreign: it is measured before it is parsed, and the fields in it that mean something to the program
are split off, so that no model sees them and nothing happens by itself:

    effects: {"user_only": [texts for the owner], "reboot": bool, "shutdown": bool,
              "services": [{"action": restart, enable, disable, start or stop, "name"}], "notes": [what was ignored]}

Whether an effect is offered to the owner is decided elsewhere. Imports under MicroPython.
Source: reserved fields of upstream's tool client at 3.2.6. Its own reader leaves `user_only` inside of `result`.
"""

from oasis.core import jsonl
from oasis.core.schema import text_of, tool_result
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Block, Json

    Effects = dict[str, Json]

# A quarter of a line of the chat: a result is stored there with others, and a model reads less.
OUTPUT_BYTES = 256 * 1024
# More calls than one answer may make (8), for envelopes that join a few rounds.
OUTPUTS = 64
# What rpcd tools give is flat; nothing they have is near this.
DEPTH = 16
WORD_CHARS = 1024

USER_ONLY = "user_only"
_FLAGS = ("reboot", "shutdown")
_SERVICES = ("restart", "enable", "disable", "start", "stop")
_SERVICE_CHARS = 64
_SERVICE_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"


def read(given: "Json", path: str = "envelope") -> "dict[str, Json]":
    """Return an envelope, given as bytes, text or value, with every output parsed and its effects apart.

    Shape: {"service", "outputs": [{"id", "name", "text": what a model may see, "is_error", "effects"}], "effects":
    those of the whole}.
    Raises: SchemaError naming the path.
    """
    value = jsonl.loads(given) if isinstance(given, (str, bytes)) else given
    _need(isinstance(value, dict), path, "an object")
    items = value.get("tool_outputs")
    _need(isinstance(items, list), path + ".tool_outputs", "a list")
    _need(len(items) <= OUTPUTS, path + ".tool_outputs", "%d entries at most" % OUTPUTS)
    service = _word(value.get("service", ""), path + ".service")
    outputs = [_output(item, "%s.tool_outputs[%d]" % (path, number)) for number, item in enumerate(items)]
    whole = no_effects()
    for name in _FLAGS:
        flag = value.get(name, False)
        _need(isinstance(flag, bool), path + "." + name, "true or false")
        whole[name] = flag or any([output["effects"][name] for output in outputs])
    for output in outputs:
        for name in (USER_ONLY, "services", "notes"):
            whole[name] += output["effects"][name]
    return {"service": service, "outputs": outputs, "effects": whole}


def _output(item: "Json", path: str) -> "dict[str, Json]":
    _need(isinstance(item, dict), path, "an object")
    name = _word(item.get("name"), path + ".name")
    ident = _word(item.get("tool_call_id") or "", path + ".tool_call_id")
    text, is_error, effects = split(item.get("output"), path + ".output")
    return {"id": ident, "name": name, "text": text, "is_error": is_error, "effects": effects}


def split(output: "Json", path: str = "output") -> "tuple[str, bool, Effects]":
    """Return what a model may see of a tool's output (a JSON text), whether the tool failed, and the effects.

    A text alone under `result` or `error` is the tool's words; JSON there counts as the output's own fields. Where
    nothing was split off, the text is returned as it came.
    Raises: SchemaError naming the path.
    """
    effects = no_effects()
    text, value, is_error = _opened(output, _parsed(output, path), effects)
    rest = _without_user_only(value, effects)
    if text is None or rest != value:
        text = rest if isinstance(rest, str) else jsonl.dumps(rest)
    return text, is_error or (isinstance(rest, dict) and bool(rest.get("error"))), effects


def no_effects() -> "Effects":
    """Return the effects of an output that has none."""
    return {USER_ONLY: [], "reboot": False, "shutdown": False, "services": [], "notes": []}


def _parsed(output: "Json", path: str) -> "Json":
    _need(isinstance(output, str), path, "a JSON text")
    try:
        return jsonl.loads(output, OUTPUT_BYTES, DEPTH)
    except SchemaError as error:
        raise SchemaError("%s: %s" % (path, error.message), error.hint)


def _object(text: str) -> "dict[str, Json] | None":
    """Return the object that a text is the JSON of, None for any other text."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value: dict[str, Json] = jsonl.loads(text, OUTPUT_BYTES, DEPTH)
    except SchemaError:
        return None
    return value


def _opened(text: str, value: "Json", effects: "Effects") -> "tuple[str | None, Json, bool]":
    """Return the text that stands for an output (None: it has to be written anew), its value, and whether it failed."""
    if not isinstance(value, dict):
        return (value if isinstance(value, str) else text), value, False
    rest = _without_reserved(value, effects)
    words = rest.get("result", rest.get("error"))
    if len(rest) == 1 and isinstance(words, str):
        inner = _object(words)
        if inner is None:
            return words, words, "error" in rest
        opened = _without_reserved(inner, effects)
        return (words if opened == inner else None), opened, "error" in rest
    inner = _object(rest["result"]) if isinstance(rest.get("result"), str) else None
    if inner is not None:
        return None, _lifted(rest, _without_reserved(inner, effects)), False
    return (text if rest == value else None), rest, False


def _lifted(outer: "dict[str, Json]", inner: "dict[str, Json]") -> "dict[str, Json]":
    """Return an output with the fields of its `result` beside its own; those of one name stay under `result`."""
    found = dict([(key, outer[key]) for key in outer if key != "result"])
    double = dict([(key, inner[key]) for key in inner if key in found])
    for key in inner:
        if key not in double:
            found[key] = inner[key]
    if double:
        found["result"] = double
    return found


def _without_reserved(value: "dict[str, Json]", effects: "Effects") -> "dict[str, Json]":
    rest = dict([(key, value[key]) for key in value])
    if USER_ONLY in rest:
        _keep_for_owner(rest.pop(USER_ONLY), effects)
    for name in _FLAGS:
        if name in rest:
            flag = rest.pop(name)
            effects[name] = effects[name] or flag is True
            _note(isinstance(flag, bool), name, effects)
    for action in _SERVICES:
        field = "prepare_service_" + action
        if field in rest:
            service = rest.pop(field)
            is_name = _is_service(service)
            _note(is_name, field, effects)
            if is_name:
                effects["services"].append({"action": action, "name": service})
    return rest


def _keep_for_owner(words: "Json", effects: "Effects") -> None:
    effects[USER_ONLY].append(words if isinstance(words, str) else jsonl.dumps(words))


def _note(is_right: bool, field: str, effects: "Effects") -> None:
    if not is_right:
        effects["notes"].append("%s was ignored: it has a value of the wrong kind" % field)


def _is_service(value: "Json") -> bool:
    is_text = isinstance(value, str) and 0 < len(value) <= _SERVICE_CHARS
    return is_text and value[0] not in ".-" and all([char in _SERVICE_NAME for char in value])


def _without_user_only(value: "Json", effects: "Effects") -> "Json":
    """Return a value without `user_only` at any depth, also inside of texts that are JSON themselves."""
    if isinstance(value, dict):
        rest = {}
        for key in value:
            if key == USER_ONLY:
                _keep_for_owner(value[key], effects)
            else:
                rest[key] = _without_user_only(value[key], effects)
        return rest
    if isinstance(value, list):
        return [_without_user_only(item, effects) for item in value]
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"') and (USER_ONLY in value or "\\u" in value):
        return _clean_text(value, effects)
    return value


def _clean_text(text: str, effects: "Effects") -> str:
    try:
        value = jsonl.loads(text, OUTPUT_BYTES, DEPTH)
    except SchemaError:
        return text
    # Each text inside is shorter than the one around it, so that this ends.
    rest = _without_user_only(value, effects)
    return text if rest == value else jsonl.dumps(rest)


def to_results(
    envelope: "dict[str, Json]", calls: "list[Block] | None" = None, taint: "list[str] | None" = None
) -> "list[Block]":
    """Return the tool_result blocks of an envelope that was read.

    An output without an id answers the first of `calls` (tool_use blocks) of its name that has no answer yet. Words for
    the owner alone stand in the block's `user_only`.
    """
    open_calls = list(calls or [])
    found = []
    for output in envelope["outputs"]:
        call = {"id": output["id"], "name": output["name"]}
        for one in open_calls:
            if one["name"] == call["name"] and call["id"] in ("", one["id"]):
                call["id"] = one["id"]
                open_calls.remove(one)
                break
        block = tool_result(call, output["text"], output["is_error"], taint)
        if output["effects"][USER_ONLY]:
            block[USER_ONLY] = "\n\n".join(output["effects"][USER_ONLY])
        found.append(block)
    return found


def write(
    results: "list[Block]", service: str, reboot: bool = False, shutdown: bool = False, for_owner: bool = False
) -> "dict[str, Json]":
    """Return tool_result blocks as an envelope; `read` and `to_results` give the same words back.

    `for_owner`: words for the owner alone are in it.
    """
    outputs = []
    for block in results:
        fields = _fields(text_of(block), block.get("is_error", False))
        if for_owner and USER_ONLY in block:
            fields = dict(fields if isinstance(fields, dict) else _object(fields) or {}, user_only=block[USER_ONLY])
        output = fields if isinstance(fields, str) else jsonl.dumps(fields)
        outputs.append({"tool_call_id": block["tool_use_id"], "name": block["name"], "output": output})
    return {"service": service, "tool_outputs": outputs, "reboot": reboot, "shutdown": shutdown}


def _fields(text: str, is_error: bool) -> "Json":
    """Return a text that can be an output as it is, else the fields that a reader finds it in."""
    if _object(text) is not None:
        found = split(text)
        if found[0] == text and found[1] == is_error:
            return text
    return {"error" if is_error else "result": text}


def _word(value: "Json", path: str) -> str:
    _need(isinstance(value, str) and len(value) <= WORD_CHARS, path, "a text of %d characters at most" % WORD_CHARS)
    return str(value)


def _need(ok: bool, path: str, what: str) -> None:
    if not ok:
        raise SchemaError("%s must be %s" % (path, what))
