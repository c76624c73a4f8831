"""What the requests of all vendors have in common: addresses, headers, bodies, and reading a plain JSON answer."""

from __future__ import annotations

import base64
import string
import struct

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import AuthenticationError, ProviderError, RateLimitError, SchemaError, SettingsError, UsageError
from oasis.providers import events, gate, schemas

if False:  # annotations only
    from oasis.providers.shapes import Block, Dict, Event, Headers, Model, Options, Request, Rule, Tool, Turn

# Levels of thinking, least first; tokens to think with, and the level that services know instead.
_LEVELS = ("none", "minimal", "low", "default", "medium", "high", "xhigh", "max")
_EFFORTS = (("none", 0), ("low", 2048), ("medium", 8192))


def label_of(options: Options) -> str:
    return options["profile"]["name"]


def base_url_of(options: Options, *tails: str) -> str:
    """Return the address without a slash at its end, nor the tails that other programs write down with it.

    Raises: SettingsError when it is missing or no http address.
    """
    base = str(options.get("base_url") or options["profile"].get("base_url") or "").rstrip("/")
    if not base.startswith(("http://", "https://")) or any(char.isspace() for char in base):
        example = "for example http://192.168.1.10:8080/v1"
        raise SettingsError(f"the endpoint {base!r} of {label_of(options)} is no http address", example)
    for tail in tails:
        base = base.removesuffix(tail)
    return base


def model_of(options: Options) -> str:
    """Return the model's name. Raises: SettingsError when neither the settings nor the profile name one."""
    model = options.get("model") or options["profile"].get("model")
    if not model:
        raise SettingsError(f"no model is set for {label_of(options)}", "list the models of this service and set one")
    return model


def rule_of(options: Options) -> Rule:
    """Return what the profile knows of the model: its first entry of `models` with a prefix of the model's name."""
    model, rules = model_of(options), options["profile"].get("models", [])
    fitting = [rule for rule in rules if model.startswith(tuple(rule["prefix"]))]
    return fitting[0] if fitting else {}


def takes_of(options: Options) -> tuple[str, ...]:
    """Return which kinds of files (see kind_of) this model reads; text is a part of every prompt."""
    return ("text", *rule_of(options).get("takes", options["profile"].get("takes", ["image"])))


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
    if known is None or level in known or level not in _LEVELS:
        return level
    return next((name for name in _LEVELS[_LEVELS.index(level) :] if name in known), known[-1])


def search_of(options: Options) -> Dict:
    """Return the body fields, or the tool, that switch the service's own search on. Raises: SettingsError for none."""
    known = options["profile"].get("search")
    if known is None:
        raise no_search(options, "", "another service")
    return {**known}


def no_search(options: Options, how: str, other: str) -> SettingsError:
    message = f"search is not offered{how} by {model_of(options)} of {label_of(options)}"
    return SettingsError(message, f"choose {other} for this chat, or switch its search off")


def begun(options: Options, **fields: object) -> Dict:
    """Return the body of a chat: the model, what comes next in the vendor's own words, whether the answer streams."""
    return {"model": model_of(options), **fields, "stream": bool(options.get("stream"))}


def post(options: Options, url: str, body: Dict, auth: Headers | None = None) -> Request:
    """Return a POST of `body`; the fields in options["extra"] are merged into it, objects key by key.

    `auth` are the headers that hold the key; without it, it goes as a bearer token.
    """
    for name, value in options.get("extra", {}).items():
        here = body.get(name)
        body[name] = {**here, **value} if isinstance(here, dict) and isinstance(value, dict) else value
    request = get(options, url, auth)
    request["headers"]["content-type"] = "application/json"
    if options.get("stream"):
        request["headers"]["accept"] = "text/event-stream, application/x-ndjson, application/json"
    return {**request, "method": "POST", "body": jsonl.dumps(body).encode("utf-8")}


def get(options: Options, url: str, auth: Headers | None = None) -> Request:
    # identity: a compressed stream would come in lumps, and unpacking costs a router more than the bytes
    headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "oasis"}
    headers.update({name.lower(): str(value) for name, value in options["profile"].get("headers", {}).items()})
    if options.get("key"):
        headers.update({"authorization": f"Bearer {options['key']}"} if auth is None else auth)
    return {"method": "GET", "url": url, "headers": headers, "body": b""}


def put(body: Dict, name: str, value: object) -> None:
    """Set a field that has a value."""
    if value is not None:
        body[name] = value


# Plain answers


def answer_of(status: int, headers: Headers, body: bytes, options: Options) -> object:
    """Return the JSON of a plain answer. Raises: ProviderError with the kind of failure as `code`."""
    label = label_of(options)
    if not 200 <= status < 300:
        raise raised(events.of_status(label, status, headers, body))
    if events.is_page(body):
        raise raised(events.failure("portal", f"{label} answered with a web page instead of data"))
    try:
        answer: object = jsonl.loads(body, max_bytes=TOTAL_BYTES)
    except SchemaError as error:
        raise bad_answer(options, error.message)
    if isinstance(answer, dict) and events.has_error(answer):
        raise raised(events.of_object(label, answer, headers))
    return answer


def part(value: object, *names: str) -> Dict:
    """Return an object inside an answer by the names that lead to it, {} where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def parts(value: object) -> list[Dict]:
    """Return the objects of a list inside an answer, none where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def words(value: object) -> str:
    """Return a text inside an answer, "" for what is none."""
    return value if isinstance(value, str) else ""


def models_of(answer: object, key: str, name: str, options: Options) -> list[Dict]:
    """Return the entries of a list of models that have a `name`. Raises: ProviderError where there is no list."""
    listed = part(answer).get(key)
    if not isinstance(listed, list):
        raise bad_answer(options, "it holds no list of models")
    return [entry for entry in parts(listed) if isinstance(entry.get(name), str)]


def model(name: object, context: object = None, abilities: object = None) -> Model:
    """Return one of the models that a service lists; `abilities` are what it can, where it says that."""
    found: Dict = {"id": events.clean(str(name))}
    put(found, "context_tokens", events.count(context))
    put(found, "tools", "tools" in abilities if isinstance(abilities, list) else None)
    return found  # type: ignore[return-value]


# Names of the length of a prompt, the one that counts first: what is loaded, before what a model could take.
_ROOM = (
    "loaded_context_length", "n_ctx", "max_model_len", "max_context_length", "context_window", "context_length",
)  # fmt: skip


def room_of(answer: object) -> int | None:
    """Return how many tokens a model takes by what a service says of it, None where it says nothing.

    Sources: the models of vLLM, Mistral, Groq, OpenRouter and LM Studio, llama.cpp's /props, Ollama's /api/show, whose
    name for it begins with that of the model's architecture.
    """
    places = [
        part(answer),
        part(answer, "default_generation_settings"),
        part(answer, "meta"),
        part(answer, "model_info"),
    ]
    if places[0].get("state") == "not-loaded":  # it will be loaded with less than it could take
        return None
    kind = words(places[3].get("general.architecture"))  # a part that sees has a name of its own
    for name in _ROOM:
        for place in places:
            for key in (name, f"{kind}.{name}"):
                if events.count(place.get(key)):
                    return events.count(place[key])
    return None


def bad_answer(options: Options, reason: str) -> ProviderError:
    return raised(events.failure("bad_answer", f"{label_of(options)} sent an answer nobody can read: {reason}"))


def raised(event: Event) -> ProviderError:
    """Return an error event as the exception of its kind."""
    body = event["error"]
    kind = {"authentication": AuthenticationError, "rate_limit": RateLimitError}.get(body["code"], ProviderError)
    return kind(body["message"], body["hint"], code=body["code"], retryable=body["retryable"])


# Embeddings: lists of finite numbers, all of one length

NUMBERS = 8192  # of one vector; the longest today have 4096


def asked(texts: list[str], most: int, options: Options) -> list[str]:
    """Return the texts to embed. Raises: UsageError for none, more than the service takes at once, or an empty one."""
    label = label_of(options)
    if not 1 <= len(texts) <= most:
        raise UsageError(f"{label} embeds 1 to {most} texts at once, these are {len(texts)}", "ask in several steps")
    if not all(text.strip() for text in texts):
        raise UsageError(f"{label} cannot embed an empty text", "leave empty texts out")
    return texts


def vectors(values: object, options: Options) -> list[list[float]]:
    """Return embeddings as lists of numbers; base64 is that of little-endian 32-bit numbers.

    Raises: ProviderError when they are none.
    """
    found: list[list[float]] = []
    for numbers in values if isinstance(values, list) else []:
        if isinstance(numbers, str):
            raw = unpacked(numbers) or b""
            numbers = list(struct.unpack(f"<{len(raw) // 4}f", raw)) if len(raw) % 4 == 0 else []
        if not isinstance(numbers, list) or not 1 <= len(numbers) <= NUMBERS:
            raise bad_answer(options, "an embedding is no list of numbers")
        if not all(type(number) in (int, float) and -1e38 < number < 1e38 for number in numbers):
            raise bad_answer(options, "an embedding holds what is no number")
        found.append([float(number) for number in numbers])
    if len({len(vector) for vector in found}) != 1:
        raise bad_answer(options, "it holds no embeddings of one length")
    return found


def unpacked(text: str) -> bytes | None:
    """Return what base64 stands for, None for a text that is none."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


# Images and documents
#
# A block is {"type": "image" | "document", "media_type", "sha256", "name"?, "data"?: base64}; `data` was read by the
# caller, it is missing where the file is gone. What a vendor cannot take becomes a note, so that the model knows of it
# and the chat goes on; `checked` makes it an error where the owner has just attached it and asks about it.

# What all services take that take images; others (TIFF, HEIC, BMP) some refuse and some misread.
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")

# Written by people and programs as text, though their type does not begin with text/.
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
          "application/javascript", "application/x-sh")  # fmt: skip

_READABLE = {"text": "a text file", "image": "an image (PNG, JPEG, GIF, WebP)", "pdf": "a PDF"}


def media_type_of(block: Block) -> str:
    """Return the media type in lower case, without parameters."""
    return str(block.get("media_type") or "").partition(";")[0].strip().lower()


def kind_of(block: Block) -> str:
    """Return text, image or pdf; empty for what no service reads."""
    kind = media_type_of(block)
    if kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml")):
        return "text"
    return "pdf" if kind == "application/pdf" else "image" if kind in IMAGES else ""


def data_url(block: Block) -> str:
    """Return the content as a URL. Source: RFC 2397."""
    return f"data:{media_type_of(block)};base64,{block['data']}"


def file_name(block: Block) -> str:
    """Return a name for a service that wants one, with the ending it expects."""
    return _name_of(block) or "document." + (media_type_of(block).rpartition("/")[2] or "bin")


def text_of(block: Block) -> str:
    """Return the content of a text document, its name on the first line."""
    content = (unpacked(str(block.get("data") or "")) or b"").decode("utf-8-sig", "replace")
    name = _name_of(block)
    return f"{name}:\n\n{content}" if name else content


def checked(
    messages: list[Dict], takes: tuple[str, ...], options: Options, in_results: tuple[str, ...] = ()
) -> list[Dict]:
    """Return the messages with only files of the kinds a service takes, a note in the place of every other one.

    `in_results` are the kinds it takes in the result of a tool.

    Raises: UsageError for a file in the newest message of the owner that it cannot take.
    """
    out: list[Dict] = []
    label = label_of(options)  # until that message was found
    for message in messages[::-1]:
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        # A user's message of results alone is a program's.
        is_from_owner = not blocks or any(block.get("type") != "tool_result" for block in parts(blocks))
        is_it = message.get("role") == "user" and is_from_owner
        kept = [_checked(block, takes, label if is_it else "", in_results) for block in blocks]
        label = "" if is_it else label
        out.append({**message, "content": kept} if blocks else message)
    return out[::-1]


def _checked(block: object, takes: tuple[str, ...], label: str, in_results: tuple[str, ...]) -> object:
    """Return the block, or a text in its place; `label` names the service where a refusal is an error."""
    if not isinstance(block, dict):
        return block
    content = block.get("content")
    if block.get("type") == "tool_result" and isinstance(content, list):
        return {**block, "content": [_checked(one, in_results, "", ()) for one in content]}
    if block.get("type") not in ("image", "document"):
        return block
    file: Block = block  # type: ignore[assignment]
    kind, data, name = kind_of(file), block.get("data"), _name_of(file)
    if not (isinstance(data, str) and data and unpacked(data) is not None):
        note = "no longer stored"
    elif kind in takes:
        return block
    elif label:
        what = f"{name or 'the attached file'} ({media_type_of(file) or 'of no known type'})"
        readable = " or ".join([_READABLE[kind] for kind in takes]) or "text in the message itself"
        raise UsageError(f"{label} cannot read {what}", f"attach it as {readable}, or choose another service")
    elif kind == "text":
        return {"type": "text", "text": text_of(file)}
    else:
        note = f"this model cannot read {media_type_of(file) or 'files without a type'}"
    return {"type": "text", "text": f"[{' '.join([block['type'], *name.split()])}: {note}]"}


def _name_of(block: Block) -> str:
    return " ".join(str(block.get("name") or "").split())


def content_of(message: Turn) -> object:
    """Return a text, or the list of parts when there are files: not all servers know parts."""
    found: list[Dict] = []
    for block in message["content"]:
        kind = kind_of(block) if block["type"] in ("image", "document") else block["type"]
        if kind == "image":
            found.append({"type": "image_url", "image_url": {"url": data_url(block)}})
        elif kind == "pdf":
            found.append({"type": "file", "file": {"filename": file_name(block), "file_data": data_url(block)}})
        elif kind == "text":
            found.append({"type": "text", "text": block["text"] if block["type"] == "text" else text_of(block)})
    has_files = any(block["type"] in ("image", "document") for block in message["content"])
    return found if has_files else gate.text_of(message)


def metadata_of(block: Block, options: Options) -> Dict:
    """Return what a block keeps for this very service; empty when it came from another one."""
    return part(block.get("provider_metadata"), options["profile"].get("id", ""))


# Tools: their calls and results in the form of OpenAI, which others took over, and their names. Legal everywhere is a
# letter or _ first, then letters, digits, _ and -, at most 64. Source: API descriptions of OpenAI, Anthropic and Gemini

CHARS = 64
_FIRST = string.ascii_letters + "_"
_LEGAL = _FIRST + string.digits + "-"


def legal(name: str) -> str:
    """Return a name with every other character replaced; two names may become one, see Names."""
    word = "".join([char if char in _LEGAL else "_" for char in name[:CHARS]])
    return word if word[:1] in tuple(_FIRST) else ("_" + word)[:CHARS]


def chosen(tools: list[Tool], choice: object) -> list[Tool]:
    """Return the one tool that must be called, for a service that has no word for that; else all of them."""
    name = choice["name"] if isinstance(choice, dict) else None
    return [tool for tool in tools if tool["name"] == name] or tools


def function_of(tool: Tool, schema: Dict) -> Dict:
    return {"name": legal(tool["name"]), "description": tool.get("description") or "", "parameters": schema}


def call_of(block: Block, ident: str) -> Dict:
    function = {"name": legal(block["name"]), "arguments": jsonl.dumps(block["input"])}
    return {"id": ident, "type": "function", "function": function}


def result_of(block: Block) -> str:
    """Return the text of a result for a format that has no flag for a failure."""
    text = gate.text_of(block)
    return "Error: " + text if block.get("is_error") and not text.lower().startswith("error") else text


class Names:
    """The names of one request. Those that are legal stay, others get a word of their own."""

    def __init__(self, names: list[str]):
        self._legal = {name: name for name in names if legal(name) == name}
        self._original = dict(self._legal)
        for name in names:
            self.legal(name)

    def legal(self, name: str) -> str:
        """Return the name for the wire; one that was never heard before is kept for the way back, too."""
        if name not in self._legal:
            word, number = legal(name), 2
            while word in self._original:
                tail = f"_{number}"
                word, number = legal(name)[: CHARS - len(tail)] + tail, number + 1
            self._legal[name], self._original[word] = word, name
        return self._legal[name]

    def original(self, word: str) -> str:
        """Return the name behind one of the wire; what no request named stays as it is."""
        return self._original.get(word, word)


class Toolset:
    """The tools of one request as the wire has them, and the calls that come back as the caller knows them.

    `messages`, `tools` and `options` are what a vendor is given; see the package's contract.
    """

    def __init__(self, messages: list[Dict], tools: list[Tool], options: Options):
        self._names = Names([tool.get("name") or "" for tool in tools])
        self._schemas = {tool.get("name"): tool.get("input_schema") for tool in tools}
        self.tools: list[Tool] = [{**tool, "name": self._names.legal(tool.get("name") or "")} for tool in tools]
        choice, self.options = options.get("tool_choice"), options
        if isinstance(choice, dict):
            self.options = {**options, "tool_choice": {**choice, "name": self._names.legal(choice["name"])}}
        self.messages: list[Dict] = []
        for message in messages:
            content = message.get("content")
            blocks = list(content) if isinstance(content, list) else []
            for at, block in enumerate(blocks):
                is_named = isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result")
                if is_named and words(block.get("name")):
                    blocks[at] = {**block, "name": self._names.legal(block["name"])}
            self.messages.append({**message, "content": blocks} if blocks else message)

    def event(self, event: Event) -> Event:
        """Return an event as the caller knows the tools."""
        if event["type"] != "tool_use":
            return event
        name, given = self._names.original(event["name"]), event["input"]
        if self.options.get("strict"):
            given = schemas.without_nulls(given, self._schemas.get(name))  # type: ignore[assignment]
        return {**event, "name": name, "input": given}
