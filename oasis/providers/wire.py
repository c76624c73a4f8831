"""What the requests of all vendors have in common: addresses, headers, bodies, and reading a plain JSON answer."""

from __future__ import annotations

import base64
import binascii
import struct

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import AuthenticationError, ProviderError, RateLimitError, SchemaError, SettingsError, UsageError
from oasis.providers import faults, gate, schemas

Dict = dict[str, object]
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
        answer: object = jsonl.loads(body, max_bytes=TOTAL_BYTES)
    except SchemaError as error:
        raise bad_answer(options, error.message)
    if isinstance(answer, dict) and faults.has_error(answer):
        raise raised(faults.read_object(label, answer, headers))
    return answer


def models_of(
    status: int,
    headers: dict[str, str],
    body: bytes,
    options: Options,
    key: str,
    name: str,
    *,
    is_bare: bool = False,
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
    kind = _CLASSES.get(body["code"], ProviderError)
    return kind(body["message"], body["hint"], code=body["code"], retryable=body["retryable"])


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


# Names of tools: legal everywhere is a letter or _ first, then letters, digits, _ and -, at most 64. Source: the API
# descriptions of OpenAI, Anthropic and Gemini.

CHARS = 64
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_LEGAL = _LETTERS + "0123456789-"


def legal(name: str) -> str:
    """Return a name with every other character replaced; two names may become one, see Names."""
    word = "".join([char if char in _LEGAL else "_" for char in name[:CHARS]])
    return word if word[:1] in tuple(_LETTERS) else ("_" + word)[:CHARS]


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


# Embeddings: lists of finite numbers, all of one length

NUMBERS = 8192  # of one vector; the longest today have 4096

Made = tuple[list[list[float]], dict[str, object]]  # vectors, and the counts of tokens as events.usage takes them


def asked(texts: list[str], most: int, options: Options) -> list[str]:
    """Return the texts to embed.

    Raises: UsageError for none, more than the service takes at once, or an empty one.
    """
    label = label_of(options)
    if not 1 <= len(texts) <= most:
        raise UsageError(f"{label} embeds 1 to {most} texts at once, these are {len(texts)}", "ask in several steps")
    if not all(text.strip() for text in texts):
        raise UsageError(f"{label} cannot embed an empty text", "leave empty texts out")
    return texts


def read(values: object, options: Options) -> list[list[float]]:
    """Return embeddings as lists of numbers; base64 is that of little-endian 32-bit numbers.

    Raises: ProviderError when they are none.
    """
    vectors = [_vector(value, options) for value in values] if isinstance(values, list) else []
    if not vectors or len({len(vector) for vector in vectors}) > 1:
        raise bad_answer(options, "it holds no embeddings of one length")
    return vectors


def part(answer: object, *names: str) -> dict[str, object]:
    """Return an object inside an answer by the names that lead to it, {} where there is none."""
    for name in names:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer if isinstance(answer, dict) else {}


def _vector(value: object, options: Options) -> list[float]:
    numbers = _packed(value) if isinstance(value, str) else value
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= NUMBERS:
        raise bad_answer(options, "an embedding is no list of numbers")
    if not all(_is_finite(number) for number in numbers):
        raise bad_answer(options, "an embedding holds what is no number")
    return [float(number) for number in numbers]


def _is_finite(number: object) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and -1e38 < number < 1e38


def _packed(text: str) -> list[float]:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return []
    return list(struct.unpack(f"<{len(raw) // 4}f", raw)) if len(raw) % 4 == 0 else []


# Images and documents
#
# A block is {"type": "image" | "document", "media_type", "sha256", "name"?, "data"?: base64}; `data` was read by the
# caller, it is missing where the file is gone. What a vendor cannot take becomes a note, so that the model knows of it
# and the chat goes on; `checked` makes it an error where the owner has just attached it and asks about it.


PDF = "application/pdf"

# What all services take that take images; others (TIFF, HEIC, BMP) some refuse and some misread.
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")

# Written by people and programs as text, though their type does not begin with text/.
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
          "application/javascript", "application/x-sh")  # fmt: skip


def media_type_of(block: gate.Block) -> str:
    """Return the media type in lower case, without parameters."""
    return str(block.get("media_type") or "").partition(";")[0].strip().lower()


def data_of(block: gate.Block) -> str:
    """Return the content in base64; empty when it is not there or no base64."""
    data = block.get("data")
    return data if isinstance(data, str) and _decoded(data) is not None else ""


def is_text(block: gate.Block) -> bool:
    kind = media_type_of(block)
    return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))


def kind_of(block: gate.Block) -> str:
    """Return text, image or pdf; empty for what no service reads."""
    if is_text(block):
        return "text"
    kind = media_type_of(block)
    return "pdf" if kind == PDF else "image" if kind in IMAGES else ""


def data_url(block: gate.Block) -> str:
    """Return the content as a URL. Source: RFC 2397."""
    return f"data:{media_type_of(block)};base64,{data_of(block)}"


def file_name(block: gate.Block) -> str:
    """Return a name for a service that wants one, with the ending it expects."""
    return _name_of(block) or "document." + (media_type_of(block).rpartition("/")[2] or "bin")


def text_of(block: gate.Block) -> str:
    """Return the content of a text document, its name on the first line."""
    raw = _decoded(str(block.get("data") or "")) or b""
    words = raw.decode("utf-8-sig", "replace")
    name = _name_of(block)
    return f"{name}:\n\n{words}" if name else words


def note_of(block: gate.Block) -> str:
    """Return what stands in the place of a file that cannot be sent."""
    what = f"{block.get('type')} {_name_of(block)}".strip()
    if not data_of(block):
        return f"[{what}: no longer stored]"
    return f"[{what}: this model cannot read {media_type_of(block) or 'files without a type'}]"


def checked(
    messages: list[gate.Block], takes: tuple[str, ...], label: str, in_results: tuple[str, ...] = ()
) -> list[gate.Block]:
    """Return the messages with only files of the kinds a service takes, a note in the place of every other one.

    `in_results` are the kinds it takes in the result of a tool.

    Raises: UsageError for a file in the newest message of the owner that it cannot take.
    """
    newest = [number for number, message in enumerate(messages) if _is_owners(message)][-1:]
    out: list[gate.Block] = []
    for number, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, list):
            kept = [_checked(block, takes, label if number in newest else "", in_results) for block in content]
            message = {**message, "content": kept}
        out.append(message)
    return out


def _is_owners(message: gate.Block) -> bool:
    """Tell whether the owner said something here: a user's message of results alone is a program's."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    is_said = any(isinstance(block, dict) and block.get("type") != "tool_result" for block in blocks)
    return message.get("role") == "user" and (is_said or not blocks)


def _checked(block: object, takes: tuple[str, ...], label: str, in_results: tuple[str, ...]) -> object:
    """Return the block, or a text in its place; `label` names the service where a refusal is an error."""
    if not isinstance(block, dict):
        return block
    content = block.get("content")
    if block.get("type") == "tool_result" and isinstance(content, list):
        return {**block, "content": [_checked(part, in_results, "", ()) for part in content]}
    if block.get("type") not in ("image", "document") or (kind_of(block) in takes and data_of(block)):
        return block
    if label and data_of(block):
        what = f"{_name_of(block) or 'the attached file'} ({media_type_of(block) or 'of no known type'})"
        readable = " or ".join([_WORDS[kind] for kind in takes]) or "text in the message itself"
        raise UsageError(f"{label} cannot read {what}", f"attach it as {readable}, or choose another service")
    if kind_of(block) == "text" and data_of(block):
        return {"type": "text", "text": text_of(block)}
    return {"type": "text", "text": note_of(block)}


_WORDS = {"text": "a text file", "image": "an image (PNG, JPEG, GIF, WebP)", "pdf": "a PDF"}


def _name_of(block: gate.Block) -> str:
    return " ".join(str(block.get("name") or "").split())


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def content_of(message: gate.Message) -> object:
    """Return a text, or the list of parts when there are files: not all servers know parts."""
    content = message["content"]
    assert isinstance(content, list)
    if all(block["type"] not in ("image", "document") for block in content):
        return gate.text_of(message)
    return [_part(block) for block in content if block["type"] in ("text", "image", "document")]


def _part(block: gate.Block) -> Dict:
    kind = "words" if block["type"] == "text" else kind_of(block)
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": data_url(block)}}
    if kind == "pdf":
        file = {"filename": file_name(block), "file_data": data_url(block)}
        return {"type": "file", "file": file}
    return {"type": "text", "text": block["text"] if kind == "words" else text_of(block)}


# The tools of one request as the wire has them, and the calls that come back as the caller knows them


def of_request(request: Dict, options: Dict) -> Toolset:
    """Return the tools of a worker's request; what is no list counts as an empty one."""
    messages, tools = request.get("messages"), request.get("tools")
    return Toolset(messages if isinstance(messages, list) else [], tools if isinstance(tools, list) else [], options)


class Toolset:
    """`messages`, `tools` and `options` are what a vendor is given; see the package's contract."""

    def __init__(self, messages: list[Dict], tools: list[Dict], options: Dict):
        self._names = Names([str(tool.get("name") or "") for tool in tools])
        self._schemas = {tool.get("name"): tool.get("input_schema") for tool in tools}
        self._is_strict = bool(options.get("strict"))
        self.tools = [{**tool, "name": self._names.legal(str(tool.get("name") or ""))} for tool in tools]
        choice = options.get("tool_choice")
        self.options = {**options, "tool_choice": self._named(choice)} if isinstance(choice, dict) else options
        self.messages = [self._message(message) for message in messages]

    def event(self, event: Dict) -> Dict:
        """Return an event as the caller knows the tools."""
        if event.get("type") != "tool_use":
            return event
        name = self._names.original(str(event["name"]))
        if not self._is_strict:
            return {**event, "name": name}
        return {**event, "name": name, "input": schemas.without_nulls(event["input"], self._schemas.get(name))}

    def _message(self, message: Dict) -> Dict:
        content = message.get("content")
        return {**message, "content": [self._block(one) for one in content]} if isinstance(content, list) else message

    def _block(self, block: object) -> object:
        is_of_tool = isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result")
        return self._named(block) if is_of_tool and isinstance(block, dict) else block

    def _named(self, value: Dict) -> Dict:
        name = value.get("name")
        return {**value, "name": self._names.legal(name)} if isinstance(name, str) and name else value
