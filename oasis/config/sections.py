"""What a section of /etc/config/oasis says: a model service in our options or in those of upstream, an alias.

Reads values and judges them; a fault is told in the service's `note`, all of them at once, and stops no other service.
Knows no file, no key and no network.
"""

from __future__ import annotations

from oasis.core import addresses, jsonl
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Any, Callable
    from oasis.uci import model

    Profiles = dict[str, dict[str, object]]

OFFLINE = "offline"
TOOL_MODES = ("auto", "none")
# How often a service is asked, where its profile does not say it: faster than anybody types, slower than a fault.
PER_S, BURST = 10, 5
# What has a meaning of its own in a list of aliases; every other name is the owner's.
RESERVED = ("chat", "title", "intent", "embedding")
SIZES = ("nano", "milli", "kilo", "mega", "giga")

OFFLINE_SERVICE: dict[str, Any] = {
    "identifier": OFFLINE, "name": "offline", "model": "built-in", "profile": "", "vendor": OFFLINE, "base_url": "",
    "tool_mode": TOOL_MODES[0], "context_tokens": 0, "key": "none", "is_local": True, "options": {}, "is_wrong": False,
    "ready": True, "note": "",
}  # fmt: skip

# Upstream's options for the address, by profile; those of the second kind count when their type is `custom`.
UPSTREAM_ENDPOINTS = {"ollama": "ollama_endpoint", "lmstudio": "lmstudio_endpoint"}
UPSTREAM_CUSTOM = ("openai", "anthropic", "gemini", "openrouter")
# Upstream, and many a service's own page, tell the address of one method; ours is what stands before it.
_METHODS = ("/chat/completions", "/responses", "/messages", "/api/chat", "/api/generate")
_NO_KEY = "no key is set"
_LEVELS = ("off", "adaptive", "low", "medium", "high")


def service(section: model.Section, known: Profiles, keys: dict[str, str], model: str = "") -> dict[str, Any]:
    """Return a section as a service, of another model than its own when one is given.

    Shape: see Settings.services; without `active`.
    """
    problems: list[str] = []
    texts = _texts(section, problems)
    name, identifier = texts.get("name", ""), texts.get("identifier") or section.name
    if name.lower() == OFFLINE:
        return {**OFFLINE_SERVICE, "identifier": identifier}
    profile, base_url = _place(texts, known, problems)
    entry = known.get(profile, {})
    item: dict[str, Any] = {
        "identifier": identifier,
        "name": name,
        "model": model or texts.get("model", "") or entry.get("model", ""),
        "profile": profile,
        "vendor": entry.get("vendor", ""),
        "base_url": base_url,
        "tool_mode": texts.get("tool_mode", TOOL_MODES[0]),
        "context_tokens": _tokens(texts.get("context_tokens", str(entry.get("context_tokens", 0))), problems),
        "key": entry.get("key", "none"),
        # What is told at home stays there: a server that only speaks like one at home is none.
        "is_local": bool(entry.get("local")) and (not base_url or is_at_home(base_url)),
        "pace": {"per_s": entry.get("per_s", PER_S), "burst": entry.get("burst", BURST)},
        "options": _options(texts, section.options.get("extra", []), problems),
    }
    if item["tool_mode"] not in TOOL_MODES:
        problems.append("tool_mode is %r, allowed are %s" % (item["tool_mode"], ", ".join(TOOL_MODES)))
    is_wrong = bool(problems)
    if profile:
        problems += _missing(item, keys)
    if _NO_KEY in problems and texts.get("api_key"):
        problems[problems.index(_NO_KEY)] = "its api_key is moved out of UCI when oasis starts again"
    item.update(is_wrong=is_wrong, ready=not problems, note="; ".join(problems))
    return item


def _texts(section: model.Section, problems: list[str]) -> dict[str, str]:
    """Return the options that have one value; a list in the place of one is a fault."""
    texts = {}
    for name, value in section.options.items():
        if isinstance(value, str):
            texts[name] = value
        elif name != "extra":
            problems.append("%s is a list, not one value" % name)
    return texts


def _missing(item: dict[str, Any], keys: dict[str, str]) -> list[str]:
    problems = []
    if item["key"] == "required" and not keys.get(item["identifier"]):
        problems.append(_NO_KEY)
    if not item["model"]:
        problems.append("no model is set")
    if not item["base_url"]:
        problems.append("no endpoint is set")
    return problems


def _place(texts: dict[str, str], known: Profiles, problems: list[str]) -> tuple[str, str]:
    """Return the profile and the address of a service."""
    name = texts.get("name", "")
    profile = profile_of(name, known)
    if not profile:
        problems.append("no provider is called %r; there are: %s" % (name, ", ".join(sorted(known))))
        return "", ""
    given, custom = texts.get("endpoint", ""), ""
    if profile in UPSTREAM_ENDPOINTS:
        given = given or texts.get(UPSTREAM_ENDPOINTS[profile], "")
    elif profile in UPSTREAM_CUSTOM and texts.get(profile + "_endpoint_type") == "custom":
        custom = "" if given else texts.get(profile + "_custom_endpoint", "")
    base_url = base(given or custom, profile)
    if base_url and not is_address(base_url):
        problems.append("the endpoint is %r, it needs http:// or https:// and a host" % base_url)
    if profile == "openai":
        is_elsewhere = bool(custom) and not custom.startswith("https://api.openai.com/")
        is_new = texts.get("openai_api_mode") == "responses"
        # Upstream has its users call every server that speaks as OpenAI does "OpenAI".
        profile = ("responses" if is_new else "openai") if not is_elsewhere else "compatible"
        profile = "responses_compatible" if is_elsewhere and is_new else profile
    return profile, base_url or str(known[profile].get("base_url", ""))


def base(url: str, profile: str) -> str:
    """Return the address of a service without the method's path that people copy along."""
    url = url.strip().rstrip("/")
    for method in _METHODS:
        if url.endswith(method):
            return url[: -len(method)]
    if profile == "gemini" and "/models/" in url:
        return url.partition("/models/")[0]
    if profile == "lmstudio" and url.endswith("/api/v1/chat"):
        return url[: -len("/api/v1/chat")] + "/v1"
    is_bare = url and "/" not in url.partition("://")[2]
    return url + {"gemini": "/v1beta", "lmstudio": "/v1"}.get(profile, "") if is_bare else url


def is_address(url: str) -> bool:
    """Tell whether a text is an http address with a host, and nothing that a key could hide in."""
    scheme, slashes, rest = url.partition("://")
    host = rest.partition("/")[0]
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(" @?#\"'<>\\")
    return scheme in ("http", "https") and bool(slashes) and is_plain and bool(host.partition(":")[0])


# Names that no resolver of the internet answers: RFC 6761, 6762, 8375, and what routers call their own network.
_HOME_NAMES = ("localhost", "local", "lan", "home", "internal", "localdomain", "home.arpa")


def is_at_home(url: str) -> bool:
    """Tell whether the server of an address is this machine or in its own network, by what is written there."""
    place = url.partition("://")[2].partition("/")[0].partition("?")[0].lower()
    host = place[1:].partition("]")[0] if place.startswith("[") else place.partition(":")[0].rstrip(".")
    host = host.partition("%")[0]
    if addresses.number(host):
        return addresses.is_home(host)
    return "." not in host or host.endswith(tuple("." + name for name in _HOME_NAMES))


def profile_of(name: str, known: Profiles) -> str:
    """Return the profile that a name, of its own or of people, means; "" for none."""
    wanted = name.strip().lower()
    # Upstream says Gemini where people now read Google Gemini.
    for profile, entry in known.items():
        if wanted in (profile, str(entry["name"]).lower()):
            return profile
    return ""


def _tokens(text: str, problems: list[str]) -> int:
    if is_whole(text):
        return int(text)
    problems.append("context_tokens is %r, not a whole number" % text)
    return -1


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number of a size that means something."""
    return text.isascii() and text.isdigit() and len(text) < 10


def _is_temperature(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdigit() and len(text) < 10 and float(text) <= 2


# The words of UCI's own scripts for yes and no.
_ON, _OFF = ("1", "on", "true", "yes", "enabled"), ("0", "off", "false", "no", "disabled")


def _is_switch(text: str) -> bool:
    return text in _ON + _OFF


def _is_on(text: str) -> bool:
    return text in _ON


# Option -> (is it one, what it must be, how it is read); they go into a request's options.
_REQUEST: dict[str, tuple[Callable[[str], bool], str, Callable[[str], object]]] = {
    "max_tokens": (lambda text: is_whole(text) and int(text) > 0, "a whole number above 0", int),
    "temperature": (_is_temperature, "a number from 0 to 2", float),
    "idle_s": (lambda text: is_whole(text) and int(text) > 0, "seconds", int),
    "connect_s": (lambda text: is_whole(text) and int(text) > 0, "seconds", int),
    "total_s": (lambda text: is_whole(text) and int(text) > 0, "seconds", int),
    "retries": (lambda text: is_whole(text) and int(text) < 10, "a number up to 9", int),
    "ca_file": (lambda text: text.startswith("/"), "an absolute path", str),
    "proxy": (is_address, "http:// or https:// and a host", str),
    "search": (_is_switch, "on or off", _is_on),
    "cache": (_is_switch, "on or off", _is_on),
    "strict": (_is_switch, "on or off", _is_on),
    "dimensions": (lambda text: is_whole(text) and int(text) > 0, "a whole number above 0", int),
}


def _options(texts: dict[str, str], extra: object, problems: list[str]) -> dict[str, object]:
    """Return what a request to the service asks beside the message."""
    options: dict[str, object] = {}
    for name, (is_one, words, read) in _REQUEST.items():
        text = texts.get(name, "")
        if text and is_one(text):
            options[name] = read(text)
        elif text:
            problems.append("%s is %r, not %s" % (name, text, words))
    thinking = _thinking(texts, problems)
    if thinking:
        options["thinking"] = thinking
    fields = _extra(extra, problems)
    if fields:
        options["extra"] = fields
    return options


def _thinking(texts: dict[str, str], problems: list[str]) -> str | int:
    """Return how much a model shall think, "" where nobody says; upstream's command line calls the option `type`."""
    text = texts.get("thinking") or texts.get("type", "")
    if text == "disabled":
        return "off"
    budget = texts.get("budget_tokens", "")
    if text == "enabled":
        if budget and not is_whole(budget):
            problems.append("budget_tokens is %r, not a whole number" % budget)
        return int(budget) if is_whole(budget) else "medium"
    if is_whole(text):
        return int(text)
    if text and text not in _LEVELS:
        problems.append("thinking is %r, allowed are %s or a number of tokens" % (text, ", ".join(_LEVELS)))
    return text


def _extra(given: object, problems: list[str]) -> dict[str, object]:
    """Return the body fields of a list of NAME=JSON."""
    fields: dict[str, object] = {}
    for item in [given] if isinstance(given, str) else list(given) if isinstance(given, list) else []:
        name, _, text = str(item).partition("=")
        try:
            fields[name] = jsonl.loads(text.encode())
        except SchemaError:
            problems.append("extra holds %r, not NAME=JSON" % item)
    return fields


def alias(section: model.Section) -> dict[str, Any]:
    """Return a section as an alias. Shape: {"name", "targets": [service or service/model]}."""
    targets = section.options.get("target", [])
    return {
        "name": str(section.options.get("name", section.name)),
        "targets": [targets] if isinstance(targets, str) else list(targets),
    }
