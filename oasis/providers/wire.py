"""What the requests of all vendors have in common: addresses, headers, bodies, and reading a plain JSON answer."""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import AuthenticationError, ProviderError, RateLimitError, SchemaError, SettingsError
from oasis.providers import faults

Options = dict[str, object]
Request = dict[str, object]

# Levels of thinking, least first; tokens to think with, and the level that services know instead.
_LEVELS = ("none", "minimal", "low", "default", "medium", "high", "xhigh", "max")
_EFFORTS = (("none", 0), ("low", 2048), ("medium", 8192))

_CLASSES = {"authentication": AuthenticationError, "rate_limit": RateLimitError}


def profile_of(options: Options) -> dict[str, object]:
    profile = options.get("profile")
    return profile if isinstance(profile, dict) else {}


def label_of(options: Options) -> str:
    return str(profile_of(options).get("name") or "the service")


def base_url_of(options: Options) -> str:
    """Return the address without a slash at its end.

    Raises: SettingsError when it is missing or no http address.
    """
    base = str(options.get("base_url") or profile_of(options).get("base_url") or "").rstrip("/")
    if not base.startswith(("http://", "https://")) or any(char.isspace() for char in base):
        example = "for example http://192.168.1.10:8080/v1"
        raise SettingsError(f"the endpoint {base!r} of {label_of(options)} is no http address", example)
    return base


def model_of(options: Options) -> str:
    """Return the model's name.

    Raises: SettingsError when neither the settings nor the profile name one.
    """
    model = options.get("model") or profile_of(options).get("model")
    if not model:
        raise SettingsError(f"no model is set for {label_of(options)}", "list the models of this service and set one")
    return str(model)


def rule_of(options: Options) -> dict[str, object]:
    """Return what the profile knows of the model: its first entry of `models` with a prefix of the model's name."""
    model, rules = model_of(options), profile_of(options).get("models")
    for rule in rules if isinstance(rules, list) else []:
        if model.startswith(tuple(rule["prefix"])):
            found: dict[str, object] = rule
            return found
    return {}


def takes_of(options: Options) -> tuple[str, ...]:
    """Return which kinds of files (see documents.kind_of) this model reads; text is a part of every prompt."""
    known = rule_of(options).get("takes", profile_of(options).get("takes"))
    return ("text", *known) if isinstance(known, list) else ("text", "image")


def effort_of(options: Options) -> str:
    """Return how much to think, as a level that the model knows; empty when nothing was said of it.

    options["thinking"] is off, adaptive, one of the levels, or a number of tokens.
    """
    wished = options.get("thinking")
    if wished is None or wished == "adaptive":
        return ""
    level = "none" if wished == "off" else str(wished)
    if isinstance(wished, int):
        level = next((name for name, tokens in _EFFORTS if wished <= tokens), "high")
    known = rule_of(options).get("levels")
    if not isinstance(known, list) or level in known or level not in _LEVELS:
        return level
    more = _LEVELS[_LEVELS.index(level) :]
    return str(next((name for name in more if name in known), known[-1]))


def search_of(options: Options) -> dict[str, object]:
    """Return the body fields, or the tool, that switch the service's own search on.

    Raises: SettingsError when it has none.
    """
    known = profile_of(options).get("search")
    if not isinstance(known, dict):
        hint = "choose another service for this chat, or switch its search off"
        raise SettingsError(f"search is not offered by {model_of(options)} of {label_of(options)}", hint)
    return known


def post(options: Options, url: str, body: dict[str, object], auth: dict[str, str] | None = None) -> Request:
    """Return a POST of `body`; the fields in options["extra"] are merged into it, objects key by key.

    `auth` are the headers that hold the key; without it, it goes as a bearer token.
    """
    extra = options.get("extra")
    for name, value in (extra if isinstance(extra, dict) else {}).items():
        here = body.get(name)
        body[name] = {**here, **value} if isinstance(here, dict) and isinstance(value, dict) else value
    headers = {**_headers(options, auth), "content-type": "application/json"}
    if options.get("stream"):
        headers["accept"] = "text/event-stream, application/x-ndjson, application/json"
    return {"method": "POST", "url": url, "headers": headers, "body": jsonl.dumps(body).encode("utf-8")}


def get(options: Options, url: str, auth: dict[str, str] | None = None) -> Request:
    return {"method": "GET", "url": url, "headers": _headers(options, auth), "body": b""}


def answer_of(status: int, headers: dict[str, str], body: bytes, options: Options) -> object:
    """Return the JSON of a plain answer.

    Raises: ProviderError with the kind of failure as `code`.
    """
    label = label_of(options)
    if not 200 <= status < 300:
        raise raised(faults.read(label, status, headers, body))
    if faults.is_page(body):
        raise raised(faults.event("portal", f"{label} answered with a web page instead of data"))
    try:
        answer = jsonl.loads(body, max_bytes=TOTAL_BYTES)
    except SchemaError as error:
        raise bad_answer(options, error.message)
    if isinstance(answer, dict) and faults.has_error(answer):
        raise raised(faults.read_object(label, answer, headers))
    return answer


def models_of(
    status: int, headers: dict[str, str], body: bytes, options: Options, key: str, name: str, is_bare: bool = False
) -> list[dict[str, object]]:
    """Return the entries of a list of models that have a `name`; `is_bare`: some services send the list alone.

    Raises: ProviderError with the kind of failure.
    """
    answer = answer_of(status, headers, body, options)
    listed = answer.get(key) if isinstance(answer, dict) else answer if is_bare else None
    if not isinstance(listed, list):
        raise bad_answer(options, "it holds no list of models")
    return [entry for entry in listed if isinstance(entry, dict) and isinstance(entry.get(name), str)]


def bad_answer(options: Options, reason: str) -> ProviderError:
    return raised(faults.event("bad_answer", f"{label_of(options)} sent an answer nobody can read: {reason}"))


def raised(event: dict[str, object]) -> ProviderError:
    """Return an error event as the exception of its kind."""
    body = event["error"]
    assert isinstance(body, dict)
    error = _CLASSES.get(body["code"], ProviderError)(body["message"], body["hint"])
    error.code = body["code"]
    error.retryable = body["retryable"]
    return error


def metadata_of(block: dict[str, object], profile: dict[str, object]) -> dict[str, object]:
    """Return what a block keeps for this very service; empty when it came from another one."""
    kept = block.get("provider_metadata")
    own = kept.get(profile.get("id")) if isinstance(kept, dict) else None
    return own if isinstance(own, dict) else {}


def _headers(options: Options, auth: dict[str, str] | None) -> dict[str, str]:
    # identity: a compressed stream would come in lumps, and unpacking costs a router more than the bytes
    headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "oasis"}
    extra = profile_of(options).get("headers")
    for name, value in (extra if isinstance(extra, dict) else {}).items():
        headers[name.lower()] = str(value)
    key = options.get("key")
    if key:
        headers.update({"authorization": f"Bearer {key}"} if auth is None else auth)
    return headers
