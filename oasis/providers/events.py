"""The events every decoder speaks, made in one place; among them what a service says when it fails.

    {"type": "delta", "text"}                 a piece of the answer
    {"type": "thinking", "text", "provider_metadata"?: {}}
    {"type": "tool_use", "id", "name", "input": {}, "invalid"?: str, "provider_metadata"?: {}}
    {"type": "usage", "usage": {...}}
    {"type": "done", "stop_reason", "model"}                  ends the answer
    {"type": "error", "error": {"code", "message", "hint", "retryable", "status"?, "retry_after_s"?, "parameter"?}}

The last one ends it too; `parameter` is one that the model does not take. Stop reasons: end_turn, tool_use, max_tokens,
stop_sequence, refusal, pause, error, other.

`tool_use` comes only when the whole turn is complete. `invalid` holds the first 200 characters of arguments that were
no JSON object; then `input` is {} and the call must be answered with an error result, never run. `invalid` is for
the caller only and never goes out again (gate.py removes it).
`provider_metadata` is {profile name: {...}}: what that service wants back unchanged; others ignore it. A thinking event
with it ends its block: the texts of the thinking events before it belong to the same block, those after it do not.

A failure has a kind (failures.json). The error bodies of all services are known here, because they imitate each other;
no key is. Words of a service are shown cut, on one line and with everything that looks like a key masked; when a key
was refused they are not shown at all, since some services quote part of it.
Source: the HTTP status tables of the services, RFC 9110 section 10.2.3 (Retry-After).
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Mapping

from oasis.core import jsonl
from oasis.core.framing import text as decoded
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.providers.shapes import Dict, Event, Failure, Headers, Kind, Request, Usage

INVALID_CHARS = 200  # enough for a model to recognise its own slip, too little to fill a log

# Metadata travels that deep in a stored message, and may not be deeper there than half of a line.
ECHO_LEVEL = 34
# An answer is stored in 256 KiB; encrypted thoughts of a hundred are seen.
ECHO_BYTES = 160 * 1024

# A thousand times the longest context of today. A number with thousands of digits cannot even be written again.
MOST_TOKENS = 10**9


def text(kind: str, piece: object) -> list[Event]:
    """Return the event of a piece of text, of the kind delta or thinking; nothing for what is none."""
    return [{"type": kind, "text": clean(piece)}] if isinstance(piece, str) and piece else []


def echo(owner: str, kept: Dict) -> list[Event]:
    """Return the event that ends a thinking block with what `owner` wants back.

    Nothing for what JSON cannot hold, nor for more than a message has room for: then the answer is worth more.
    """
    try:
        jsonl.check(kept, "what goes back", ECHO_LEVEL)
    except SchemaError:
        return []
    event: Event = {"type": "thinking", "text": "", "provider_metadata": {owner: kept}}  # type: ignore[dict-item]
    return [event] if len(jsonl.dumps(kept)) <= ECHO_BYTES else []


def count(value: object) -> int | None:
    """Return a number of tokens as a service reports it, None (unknown) for an invalid number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


def total(*counts: object) -> int | None:
    """Return the sum of the counts that are numbers, None where there are none."""
    numbers = [one for one in counts if isinstance(one, int)]
    return sum(numbers) if numbers else None


def usage(counts: Mapping[str, object]) -> list[Event]:
    """Return the usage event of the counts that are known; none at all gives no event."""
    found = {name: count(value) for name, value in counts.items()}
    known: Usage = {name: number for name, number in found.items() if number is not None}  # type: ignore[assignment]
    return [{"type": "usage", "usage": known}] if known else []


def done(stop_reason: str, model: str) -> Event:
    return {"type": "done", "stop_reason": stop_reason, "model": clean(model)}


def error(code: str, message: str, hint: str = "", retryable: bool = False, **more: float | None) -> Event:
    """Return the event of a failure; `more` are status and retry_after_s."""
    body: Failure = {"code": code, "message": clean(message), "hint": hint, "retryable": retryable}
    body.update({name: value for name, value in more.items() if value is not None})  # type: ignore[typeddict-item]
    return {"type": "error", "error": body}


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can spell and no file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


# What a service says when it fails

BODY_BYTES = 65536  # of an error body: the longest real ones (whole HTML pages) say nothing new after that
WORDS_CHARS = 300

_TABLES = jsonl.table(__file__, "failures.json")
_KINDS: dict[str, Kind] = _TABLES["kinds"]
_BY_STATUS = {status: name for name, kind in _KINDS.items() for status in kind.get("status", ())}

# Masked remains of keys and the prefixes keys are known by.
_KEY_LIKE = re.compile(r"\S*\*{3,}\S*|\b(?:sk|rk|pk|gsk|xai|csk|AIza|key|hf|nvapi|pplx|Bearer )[-_A-Za-z0-9*.]{8,}")


def failure(code: str, message: str, status: int | None = None) -> Event:
    """Return the error event of a kind that needs no body."""
    return error(code, message, _KINDS[code]["hint"], bool(_KINDS[code].get("retry")), status=status)


def of_status(label: str, status: int, headers: Headers, body: bytes) -> Event:
    """Return the error event of an answer whose status says that it failed. `headers` have lower-case names."""
    body = body[:BODY_BYTES]
    if 300 <= status < 400:
        target = headers.get("location", "?")[:200]
        return failure("redirect", f"{label} is not there: it points to {target}", status)
    value = _parsed(body)
    is_web = value is None and is_page(body)
    message, codes = words_of(value) if value is not None else ("" if is_web else decoded(body), "")
    event = _judged(label, status, headers, message, codes, value)
    known = event["error"]
    if is_web:  # a service speaks JSON, so something before it has answered
        known["message"] = f"{label} answered with a web page instead of data (status {status})"
        known["hint"] = known["hint"] if known["retryable"] else _KINDS["portal"]["hint"]
    is_anthropic = isinstance(value, dict) and value.get("type") == "error"
    if status == 429 and is_anthropic and not {"retry-after", "retry-after-ms", "x-should-retry"} & set(headers):
        known["retryable"] = False  # a limit of money: those of time always say how long to wait
    return event


def of_object(label: str, value: object, headers: Headers) -> Event:
    """Return the error event of an error object that came with status 200, whole or in the middle of a stream."""
    inner = value.get("error", value) if isinstance(value, dict) else value
    code = inner.get("code") if isinstance(inner, dict) else None
    if isinstance(code, str) and len(code) == 3 and code.isascii() and code.isdigit():
        code = int(code)
    status = code if isinstance(code, int) and 400 <= code <= 599 else 200  # what it names itself
    return _judged(label, status, headers, *words_of(value), value)


def has_error(value: Mapping[str, object]) -> bool:
    """Tell whether a JSON object is one of the error shapes."""
    if value.get("error") or value.get("object") == "error" or value.get("type") == "error":
        return True
    return "choices" not in value and ("detail" in value or isinstance(value.get("message"), str))


def is_page(body: bytes) -> bool:
    """Tell whether a body is a web page instead of data."""
    return body[:256].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"


def words_of(value: object) -> tuple[str, str]:
    """Return the message of an error body and its codes as one lower-case text; both may be empty."""
    if isinstance(value, list):
        return words_of(value[0]) if value else ("", "")
    if not isinstance(value, dict):
        return (value if isinstance(value, str) else "", "")
    inner = value.get("error")
    if isinstance(inner, str) and inner:
        return inner, ""
    source = inner if isinstance(inner, dict) else value
    message = source.get("message") or source.get("detail")
    if not isinstance(message, str):
        message = jsonl.dumps(message) if message else ""
    codes = [source[name] for name in ("code", "type", "status", "details", "metadata") if source.get(name)]
    metadata = source.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if isinstance(raw, str) and raw.strip():  # of the service behind OpenRouter, which says itself only that one failed
        inner = _parsed(raw[:BODY_BYTES].encode("utf-8", "replace"))
        has_words = isinstance(inner, dict) and "raw" not in str(inner.get("error"))[:2000]
        words = (words_of(inner)[0] if has_words else "") or raw
        message = message if words in message else f"{message}: {words}".removeprefix(": ")
    return message, " ".join(map(jsonl.dumps, codes)).lower()


def scrub(words: str) -> str:
    """Return foreign words on one line, cut, with all that looks like a key masked."""
    words = words[: 4 * WORDS_CHARS]  # first: the pattern takes quadratic time on a long word
    return _KEY_LIKE.sub("…", clean(" ".join(words.split())))[:WORDS_CHARS]


def _judged(label: str, status: int, headers: Headers, words: str, codes: str, value: object) -> Event:
    kind, both = "", codes + " " + words.lower()
    for name, known in _KINDS.items():
        sure = (401, 402) if name == "no_tools" else (401, 402, 404, 413)
        if not kind and status not in sure and any(part in both for part in known.get("words", ())):
            kind = name
    if not kind:  # in the middle of a stream there is no status to tell
        is_ours = 400 <= status < 500 or (status == 200 and "invalid" in codes)
        kind = _BY_STATUS.get(status) or ("invalid_request" if is_ours else "server")
    message = f"{label} refused the key" if kind == "authentication" else f"{label} failed"
    if kind != "authentication" and words.strip():
        message = f"{label}: {scrub(words)}"
    if status != 200:
        message += f" (status {status})"
    event = failure(kind, message, status if status != 200 else None)
    error = event["error"]
    if headers.get("x-should-retry") in ("true", "false"):
        error["retryable"] = headers["x-should-retry"] == "true"
    wait_s = _wait_s(headers, value) if error["retryable"] else None
    if wait_s is not None:
        error["retry_after_s"] = wait_s
    parameter = named(words, codes, value) if kind == "invalid_request" else ""
    if parameter:
        error["parameter"] = parameter
    return event


def _parsed(body: bytes) -> object:
    try:
        return jsonl.loads(body, max_bytes=BODY_BYTES)
    except SchemaError:
        return None


def _wait_s(headers: Headers, value: object) -> float | None:
    """Return how long the service asks to wait: headers first, then the body's own fields."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        number = _number(headers.get(name))
        if number is not None:
            return number * unit
    if "retry-after" in headers:  # a date: the answer's own Date is the clock
        try:
            then, now = (email.utils.parsedate_to_datetime(headers[name]) for name in ("retry-after", "date"))
            return _number(max(0.0, (then - now).total_seconds()))
        except (KeyError, ValueError, TypeError):
            return None
    if isinstance(value, list):
        value = value[0] if value else None
    inner = value.get("error") if isinstance(value, dict) else None
    if not isinstance(inner, dict):
        return None
    details, availability = inner.get("details"), inner.get("availability")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and "retryDelay" in detail:
            return _number(str(detail["retryDelay"]).rstrip("s"))
    return _number(availability.get("retry_after")) if isinstance(availability, dict) else None


def _number(text: object) -> float | None:
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if 0 <= number < 1e6 else None


# Parameters that a model does not take
#
# Only what the answer can do without is ever left out: a limit, a temperature, how much to think; never the messages,
# the model or the tools.

_OTHERS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
# Anthropic and DeepSeek call `thinking` what Ollama calls `think`; services say either.
_TWINS = {"think": ("think", "thinking"), "thinking": ("thinking", "think")}
# Where vendors keep them, other than in the body itself.
_PLACES = ("generationConfig", "options")

# What makes a 400 that names a parameter one that refuses it; a value that is too large is for a person to correct.
_REFUSING = re.compile(
    r"not support|unsupported|unrecogni[sz]ed|unknown (?:name|field|parameter|argument)|not permitted|not allowed"
    r"|extra_forbidden|deprecated|unexpected|cannot find field|may only be|no longer|not available"
)
_FIRST_CHARS = 2000  # of the words that are searched; a page of them refuses nothing


def named(words: str, codes: str, value: object) -> str:
    """Return the parameter that an error object refuses, "" for none; NAME=OTHER for one that has another name there.

    `words` and `codes` are those of the object (words_of).
    """
    text = (words + " " + codes)[:_FIRST_CHARS].lower()
    if not _REFUSING.search(text):
        return ""
    place, found = "", []  # what the object itself says it is about
    inner = value.get("error") if isinstance(value, dict) else None
    source = inner if isinstance(inner, dict) else value if isinstance(value, dict) else {}
    detail, parameter = source.get("detail"), source.get("param")
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):  # FastAPI's
        steps = detail[0].get("loc")
        place = ".".join([str(step) for step in steps[1:]]) if isinstance(steps, list) else ""
    elif isinstance(parameter, str):  # OpenAI's
        place = parameter
    place = place.lower() or text
    for name, others in _TABLES["parameters"].items():
        for spelling in (name.lower(), *others):
            match = re.search(rf"\b{re.escape(spelling)}\b", place)
            if match:
                found.append((match.start(), -len(spelling), name))
    name = min(found)[2] if found else ""  # the first; of two at one place the longer
    other = _OTHERS.get(name, "")
    return f"{name}={other}" if other and re.search(rf"\b{other}\b", text.replace(name, "", 1)) else name


def without(request: Request, names: list[str]) -> Request:
    """Return a request that leaves parameters out, or calls them otherwise; the very same when it has none of them."""
    raw = request["body"]
    body: object = jsonl.loads(raw, max_bytes=len(raw)) if names and raw else None
    if not isinstance(body, dict):
        return request
    is_changed = False
    for name in names:
        name, _, other = name.partition("=")
        for place in [body, *[body[key] for key in _PLACES if isinstance(body.get(key), dict)]]:
            for field in _TWINS.get(name, (name,)):
                if field in place:
                    is_changed, value = True, place.pop(field)
                    if other:
                        place[other] = value
    return {**request, "body": jsonl.dumps(body).encode("utf-8")} if is_changed else request
