"""Turn what a service says when it fails into one error event: kind, words for people, whether and when to retry.

Knows the error bodies of all services, because they imitate each other; knows no key. Words of a service are shown
cut, on one line and with everything that looks like a key masked; when a key was refused they are not shown at all,
since some services quote part of it.

Source of kinds and retry rules: the HTTP status tables of the services, RFC 9110 section 10.2.3 (Retry-After).
"""

from __future__ import annotations

import re

from oasis.core import jsonl
from oasis.core.framing import text as decoded
from oasis.errors import SchemaError
from oasis.providers import events

BODY_BYTES = 65536  # of an error body: the longest real ones (whole HTML pages) say nothing new after that
WORDS_CHARS = 300

_BY_STATUS = {
    400: "invalid_request",
    401: "authentication",
    402: "no_credit",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    422: "invalid_request",
    429: "rate_limit",
    498: "overloaded",
    503: "overloaded",
    511: "portal",
    529: "overloaded",
}

# Words of a body that say more than its status; the first that is found wins.
_BY_WORDS = (
    ("context_length", "context_length"),
    ("exceed_context_size", "context_length"),
    ("maximum context length", "context_length"),
    ("prompt is too long", "context_length"),
    ("exceeds the maximum number of tokens", "context_length"),  # Gemini
    ("exceeds the available context size", "context_length"),  # llama.cpp, both
    ("context size has been exceeded", "context_length"),
    ("input is too large to process", "context_length"),
    ("insufficient_quota", "no_credit"),
    ("credit_balance", "no_credit"),
    ("credit balance", "no_credit"),
    ("billing", "no_credit"),
    ("payment_required", "no_credit"),
    ("enforced_spend_limit", "no_credit"),
    ("perday", "quota"),
    ("api calls / month", "quota"),
    ("invalid_api_key", "authentication"),
    ("api_key_invalid", "authentication"),
    ("api key not valid", "authentication"),
    ("authentication", "authentication"),
    ("model_not_found", "not_found"),
    ("location is not supported", "permission"),
    ("tool_use_failed", "bad_tool_call"),
    ("rate_limit_exceeded", "rate_limit"),
    ("overloaded", "overloaded"),
    ("loading model", "overloaded"),
    ("provider_unavailable", "overloaded"),
)

# How services say that a model, or they, take no tools; the statuses differ (400, 404, 405, 422, 500).
# Source: Ollama, OpenRouter, vLLM, llama.cpp, Groq, Google, DeepInfra, OpenAI and Azure, reports on their error bodies.
_NO_TOOLS = (
    "does not support tool", "does not support function call", "support tool use", "tools is not supported",
    "tools are not supported", "tool calling is not supported", "tool calling` is not supported",
    "tool use is not supported", "function calling is not supported", "function calling is not enabled",
    "supports tool calling for this model", "unsupported param: tools", "tools param requires",
    "argument supplied: tools", "requires --enable-auto-tool-choice",
)  # fmt: skip

_RETRYABLE = ("timeout", "conflict", "rate_limit", "overloaded", "server", "bad_tool_call")

_HINTS = {
    "invalid_request": "check the model name and the extra options of this service",
    "authentication": "enter the key of this service again (oasis key SERVICE); it must belong to this endpoint",
    "no_credit": "add credit at the service or choose another service",
    "quota": "wait until the quota is renewed or choose another service",
    "permission": "the key may not use this model, or the service is not offered in this region",
    "not_found": "check the model name and the endpoint; `oasis models SERVICE` lists what it offers",
    "timeout": "try again",
    "conflict": "try again",
    "too_large": "start a new chat or ask for less at once",
    "context_length": "start a new chat or choose a model with a longer context",
    "rate_limit": "wait a little and try again",
    "overloaded": "try again in a minute or choose another service",
    "server": "try again; if it stays, look at the status page of the service",
    "no_tools": "choose a model that can call tools, or set tool_mode 'none' for this service",
    "bad_tool_call": "ask again in other words or choose a stronger model",
    "redirect": "enter that address as endpoint; in a hotel or café, open a web page and log in to the network first",
    "portal": "open a web page in a browser and log in to the network (captive portal), or check endpoint and proxy",
    "empty_answer": "check the endpoint and the model; the server closed the connection without a word",
    "bad_answer": "check the endpoint: this does not look like the API of this service",
    "truncated": "the connection was cut; try again",
}

# Masked remains of keys and the prefixes keys are known by.
_KEY_LIKE = re.compile(r"\S*\*{3,}\S*|\b(?:sk|rk|pk|gsk|xai|csk|AIza|key|hf|nvapi|pplx|Bearer )[-_A-Za-z0-9*.]{8,}")


def event(code: str, message: str, status: int | None = None) -> events.Event:
    """Return the error event of a kind that needs no body."""
    return events.error(code, message, _HINTS.get(code, ""), code in _RETRYABLE, status=status)


def read(label: str, status: int, headers: dict[str, str], body: bytes) -> events.Event:
    """Return the error event of an answer whose status says that it failed. `headers` have lower-case names."""
    body = body[:BODY_BYTES]
    if 300 <= status < 400:
        target = headers.get("location", "?")[:200]
        return event("redirect", f"{label} is not there: it points to {target}", status)
    value = _parsed(body)
    if value is None:
        is_web = is_page(body)
        failure = _judged(label, status, headers, "" if is_web else decoded(body), "", value)
        return _of_page(label, status, failure) if is_web else failure
    message, codes = words_of(value)
    failure = _judged(label, status, headers, message, codes, value)
    if _is_spent(status, headers, value) and isinstance(failure["error"], dict):
        failure["error"]["retryable"] = False
    return failure


def _of_page(label: str, status: int, failure: events.Event) -> events.Event:
    """Return the failure that came as a web page: a service speaks JSON, so something before it has answered."""
    error = failure["error"]
    assert isinstance(error, dict)
    told = {**error, "message": f"{label} answered with a web page instead of data (status {status})"}
    if not error["retryable"]:
        told["hint"] = _HINTS["portal"]
    return {"type": "error", "error": told}


def read_object(label: str, value: object, headers: dict[str, str]) -> events.Event:
    """Return the error event of an error object that came with status 200, whole or in the middle of a stream."""
    message, codes = words_of(value)
    return _judged(label, _status_in(value), headers, message, codes, value)


def has_error(value: dict[str, object]) -> bool:
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
    message = _with_upstream(message, source.get("metadata"))
    codes = [
        jsonl.dumps(source[name]) for name in ("code", "type", "status", "details", "metadata") if source.get(name)
    ]
    return message, " ".join(codes).lower()


def _with_upstream(message: str, metadata: object) -> str:
    """Return a message with the words of the service behind OpenRouter, which says itself only that one failed."""
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if not isinstance(raw, str) or not raw.strip():
        return message
    inner = _parsed(raw[:BODY_BYTES].encode("utf-8", "replace"))
    told = words_of(inner)[0] if isinstance(inner, dict) and "raw" not in str(inner.get("error"))[:2000] else ""
    words = told or raw
    return message if words in message else f"{message}: {words}" if message else words


def scrub(words: str) -> str:
    """Return foreign words on one line, cut, with all that looks like a key masked."""
    words = words[: 4 * WORDS_CHARS]  # first: the pattern takes quadratic time on a long word
    return _KEY_LIKE.sub("…", events.clean(" ".join(words.split())))[:WORDS_CHARS]


def _judged(label: str, status: int, headers: dict[str, str], words: str, codes: str, value: object) -> events.Event:
    kind = _kind(status, words, codes)
    message = f"{label} refused the key" if kind == "authentication" else f"{label} failed"
    if kind != "authentication" and words.strip():
        message = f"{label}: {scrub(words)}"
    if status != 200:
        message += f" (status {status})"
    retryable = kind in _RETRYABLE
    if headers.get("x-should-retry") in ("true", "false"):
        retryable = headers["x-should-retry"] == "true"
    wait_s = _wait_s(headers, value) if retryable else None
    parameter = named(words, codes, value) if kind == "invalid_request" else ""
    shown = status if status != 200 else None
    return events.error(
        kind, message, _HINTS.get(kind, ""), retryable, status=shown, retry_after_s=wait_s, parameter=parameter
    )


def _is_spent(status: int, headers: dict[str, str], value: object) -> bool:
    """Tell whether a 429 in Anthropic's form is a limit of money: those of time always say how long to wait."""
    is_theirs = isinstance(value, dict) and value.get("type") == "error"
    return status == 429 and is_theirs and not {"retry-after", "retry-after-ms", "x-should-retry"} & set(headers)


def _kind(status: int, words: str, codes: str) -> str:
    both = codes + " " + words.lower()
    if status not in (401, 402) and any(part in both for part in _NO_TOOLS):
        return "no_tools"
    if status not in (401, 402, 404, 413):
        for part, kind in _BY_WORDS:
            if part in both:
                return kind
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status == 200 and "invalid" in codes:  # in the middle of a stream there is no status to tell
        return "invalid_request"
    return "invalid_request" if 400 <= status < 500 else "server"


def _status_in(value: object) -> int:
    """Return the status that an error object names itself; 200 when it names none."""
    inner = value.get("error", value) if isinstance(value, dict) else value
    code = inner.get("code") if isinstance(inner, dict) else None
    if isinstance(code, str) and len(code) == 3 and code.isascii() and code.isdigit():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code <= 599 else 200


def _parsed(body: bytes) -> object:
    try:
        return jsonl.loads(body, max_bytes=BODY_BYTES)
    except SchemaError:
        return None


def _wait_s(headers: dict[str, str], value: object) -> float | None:
    """Return how long the service asks to wait: headers first, then the body's own fields."""
    for text, unit in ((headers.get("retry-after-ms"), 0.001), (headers.get("retry-after"), 1.0)):
        number = _number(text)
        if number is not None:
            return number * unit
    return _until(headers) if "retry-after" in headers else _wait_in_body(value)


def _number(text: object) -> float | None:
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if 0 <= number < 1e6 else None


def _until(headers: dict[str, str]) -> float | None:
    """Return the seconds from the answer's own Date to the date in Retry-After; no clock is needed."""
    from email.utils import parsedate_to_datetime

    try:
        wait = parsedate_to_datetime(headers["retry-after"]) - parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError, TypeError):
        return None
    return _number(max(0.0, wait.total_seconds()))


def _wait_in_body(value: object) -> float | None:
    if isinstance(value, list):
        value = value[0] if value else None
    inner = value.get("error") if isinstance(value, dict) else None
    if not isinstance(inner, dict):
        return None
    details = inner.get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and "retryDelay" in detail:
            return _number(str(detail["retryDelay"]).rstrip("s"))
    availability = inner.get("availability")
    return _number(availability.get("retry_after")) if isinstance(availability, dict) else None


# Parameters that a model does not take
#
# Only what the answer can do without is ever left out: a limit, a temperature, how much to think; never the messages,
# the model or the tools. Source: error bodies of OpenAI and Azure (`param`), Anthropic, Gemini, Groq, Mistral and vLLM
# (`detail[].loc`), xAI, Ollama and llama.cpp.

# Name in a body -> how services call it in their own words, in addition to that name.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "max_tokens": (),
    "max_completion_tokens": (),
    "max_output_tokens": (),
    "temperature": (),
    "top_p": (),
    "top_k": (),
    "seed": (),
    "stream_options": ("include_usage",),
    "parallel_tool_calls": (),
    "reasoning_effort": ("reasoningeffort", "reasoning effort"),
    "reasoning": ("reasoning.effort", "reasoning.summary"),
    "include": ("encrypted content",),
    "thinking": ("budget_tokens",),
    "think": ("thinking",),
    "thinkingConfig": ("thinking_config", "thinkinglevel", "thinkingbudget", "thinking level", "thinking budget"),
    "chat_template_kwargs": ("enable_thinking",),
    "verbosity": (),
    "frequency_penalty": (),
    "presence_penalty": (),
    "prompt_cache_key": (),
    "service_tier": (),
}
_OTHERS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
# Where vendors keep them, other than in the body itself.
_PLACES = ("generationConfig", "options")

# What makes a 400 that names a parameter one that refuses it; a value that is too large is for a person to correct.
_REFUSING = re.compile(
    r"not support|unsupported|unrecogni[sz]ed|unknown (?:name|field|parameter|argument)|not permitted|not allowed"
    r"|extra_forbidden|deprecated|unexpected|cannot find field|may only be|no longer|not available"
)
_FIRST_CHARS = 2000  # of the words that are searched; a page of them refuses nothing


def named(words: str, codes: str, value: object) -> str:
    """Return the parameter that an error object refuses, "" for none.

    `words` and `codes` are those of the object (faults.words_of).
    """
    text = (words + " " + codes)[:_FIRST_CHARS].lower()
    if not _REFUSING.search(text):
        return ""
    said = _pointed_at(value).lower()
    name = _first(said) if said else _first(text)
    other = _OTHERS.get(name, "")
    return f"{name}={other}" if other and re.search(rf"\b{other}\b", text.replace(name, "", 1)) else name


def _pointed_at(value: object) -> str:
    """Return what the object itself says it is about: OpenAI's `param`, the last step of FastAPI's `loc`."""
    if not isinstance(value, dict):
        return ""
    inner = value.get("error")
    source = inner if isinstance(inner, dict) else value
    detail = source.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        steps = detail[0].get("loc")
        return ".".join([str(step) for step in steps[1:]]) if isinstance(steps, list) else ""
    parameter = source.get("param")
    return parameter if isinstance(parameter, str) else ""


def _first(text: str) -> str:
    """Return the known parameter that a text names first; of two at one place the longer."""
    best = (len(text) + 1, 0, "")
    for name, others in _PARAMETERS.items():
        for spelling in (name.lower(), *others):
            found = re.search(rf"\b{re.escape(spelling)}\b", text)
            if found:
                best = min(best, (found.start(), -len(spelling), name))
    return best[2]


def has(request: dict[str, object], name: str) -> bool:
    """Tell whether a request says anything of a parameter, as `named` gives it."""
    return without(request, [name]) is not request


def without(request: dict[str, object], names: list[str]) -> dict[str, object]:
    """Return a request that leaves parameters out, or calls them otherwise; the very same when it has none of them."""
    raw = request["body"]
    if not names or not isinstance(raw, bytes) or not raw:
        return request
    body: object = jsonl.loads(raw, max_bytes=len(raw))
    if not isinstance(body, dict):
        return request
    dropped = [name for name in names if _drop(body, *name.partition("=")[::2])]
    if not dropped:
        return request
    return {**request, "body": jsonl.dumps(body).encode("utf-8")}


def _drop(body: dict[str, object], name: str, other: str) -> bool:
    is_found = False
    # Anthropic and DeepSeek call `thinking` what Ollama calls `think`; services say either.
    for field in (name, *{"think": ("thinking",), "thinking": ("think",)}.get(name, ())):
        for place in (body, *[body[key] for key in _PLACES if key in body]):
            if isinstance(place, dict) and field in place:
                value = place.pop(field)
                is_found = True
                if other:
                    place[other] = value
    return is_found
