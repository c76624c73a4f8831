"""The one redactor: no secret that the router holds leaves it, by whatever text.

Secrets are the values of secret options (secret_options.py), the accounts and tokens inside addresses, and the keys
of model services. Tools hide them where they stand; here every text is searched for those of SECRET_CHARS characters
and more, in the forms that quoting and encoding give them, and for what is a secret by its form (secret_forms.py). On
the way to a model a placeholder stands for the value, everywhere else, and for what only looks like one, a mask.

A placeholder names one value of one option in one chat. It is made from these by HMAC, so that it is the same after a
restart, another one in the next chat, and nobody can make one up. What the owner enters as a secret (`keep`) has a
placeholder from the start, is in memory alone, and is gone with the daemon. What they type as one in a message has a
placeholder that is made of chat and value, before anything of it is sent: it stays the same when the value was set on
the router, after a restart too, and so does the beginning of what a service is sent. What a model chose as one in a
call is stored as the placeholder of its option (`stored`), whatever becomes of the call. Read afresh when a file
changed; knows no front-end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

from oasis.core import jsonl
from oasis.errors import OasisError, StoreError, UciError, UsageError
from oasis.redaction import secret_options
from oasis.redaction.secret_options import MASK
from oasis.system.digest import hmac_sha256
from oasis.uci import model

if False:  # annotations only
    from typing import Any, TextIO, TypeVar

    from oasis.core.shapes import Message
    from oasis.system.files import Files

    T = TypeVar("T")

    # (package, section, type, option, value); type "" is a secret that no placeholder stands for; of an entered one
    # package and type are ENTERED, and section is its placeholder
    Secret = tuple[str, str, str, str, str]

# Shorter ones are hidden by their place alone: four digits stand in every address and number.
SECRET_CHARS = 8
ENTERED = "(entered)"
# A front-end that repeats itself must not fill the memory.
_ENTERED = 32
# Passwords in messages of all chats, the newest; a chat that goes on enters its own again.
_TYPED = 256
_CLEAN = 512
# Without one of these no text holds what secret_forms.py looks for; an idle daemon does without it.
_MARKS = ("=", ":", "$", "<", "--", "sk-", "eyJ", "_", "{S", "option", "list", "AKIA", "ASIA", "AIza", " -u", "LS0t",
          "earer ", "EARER ", "sshpass", "csk-", "xox", "tskey-", "AGE-", "nmcli", "login ", " -", " *", "ommunity",
          "com2sec", "asswd", "PASS ", "LOGIN ", "AUTH", "asic ", "%3", "\uff1a", "\uff1d")  # fmt: skip
# Fields in which tools give lines that programs wrote; a field of the configuration has a key that may be public.
_LOGS = (("text",), ("lines",), ("output",))
_PROGRAM = "oasisd: "
_SECRET_BYTES = 4096  # a private key; an SSH or VPN key has less
_DIGITS = 8
_ACCOUNT = rb"://[^/@\s:'\"]*:([^/@\s'\"]+)@"
_TOKEN = rb"[?&](?:token|key|api_?key|pass|passwd|password|pwd|secret|auth)=([^&\s'\"]+)"
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


class Redactor:
    """What the router holds in secret, and texts without it.

    `key` is the install key, `keys()` gives the keys of model services.
    """

    def __init__(self, files: Files, confdir: str, key: bytes, keys: Callable[[], list[str]]) -> None:
        self._files = files
        self._confdir = confdir
        self._key = key
        self._keys = keys
        self._known: dict[str, tuple[object, list[Secret]]] = {}  # package: (stamp of its file, what it holds)
        self._entered: list[Secret] = []
        self._typed: dict[str, tuple[str, str, list[str]]] = {}  # placeholder: (chat, value, its forms)
        self._clean: set[int] = set()  # of texts in which nothing was found by its form
        self._cached: tuple[list[Secret], list[tuple[str, Secret]]] = ([], [])  # the secrets and their forms

    def held(self) -> list[Secret]:
        """Return all secrets of the configuration, in the order of packages and files."""
        known: dict[str, tuple[object, list[Secret]]] = {}
        for package in self._files.names(self._confdir):
            try:
                stamp = self._files.stamp(self._confdir + "/" + package)
                old = self._known.get(package)
                known[package] = old if old and old[0] == stamp else (stamp, self._read(package))
            except StoreError:
                continue  # a folder, a FIFO, a loop of links: no tool reads it either
        self._known = known
        return [secret for _, found in known.values() for secret in found] + self._entered

    def keep(self, value: str, random: str) -> str:
        """Keep what the owner enters as a secret; return its placeholder, made with a random text.

        Raises: UsageError for what cannot be a secret.
        """
        if not value or len(value.encode("utf-8", "replace")) > _SECRET_BYTES or "\x00" in value:
            raise UsageError("a secret has 1 to %d bytes" % _SECRET_BYTES, "enter it again")
        name = self.placeholder(random, (ENTERED, "", "", "", value))
        self._entered = [*self._entered, (ENTERED, name, ENTERED, "", value)][-_ENTERED:]
        return name

    def _read(self, package: str) -> list[Secret]:
        data = self._files.read(self._confdir + "/" + package) or b""
        found: list[Secret] = []
        # No match goes over blanks, so each is in one line.
        lines = data.split(b"\n")
        if any((b"://" in one and b"@" in one) or (b"=" in one and (b"?" in one or b"&" in one)) for one in lines):
            import re  # with the first address that could hold one: an idle daemon does without

            matches = re.findall(_ACCOUNT, data) + re.findall(_TOKEN, data, re.I)
            found = [(package, "", "", "", match.decode("utf-8", "replace")) for match in matches]
        try:
            sections = model.parse(data, package).sections
        except UciError:
            return found  # no tool reads it either
        for section in sections:
            for option, value in section.options.items():
                if secret_options.looks_secret(package, section.type, option):
                    values = value if isinstance(value, list) else [value]
                    rest = (package, str(section.name), section.type, option)
                    found += [(*rest, one) for one in values if not secret_options.is_word(one)]
        return found

    def placeholder(self, chat: str, secret: Secret) -> str:
        """Return what stands for a secret in a chat: the same for one value of an option wherever it stands."""
        package, section, kind, option, value = secret
        if kind == ENTERED:
            return section
        bound = jsonl.canonical(["placeholder", chat, package, option, value])
        return "«secret:%s»" % hmac_sha256(self._key, bound.encode("utf-8"))[:_DIGITS]

    def named(self, chat: str, placeholder: str) -> Secret | None:
        """Return the secret that a placeholder of a chat stands for, None when it stands for nothing any more."""
        told, value, _ = self._typed.get(placeholder, ("", "", []))
        if value and told == chat:
            return ENTERED, placeholder, ENTERED, "", value
        for secret in self.held():
            if secret[2] and self.placeholder(chat, secret) == placeholder:
                return secret
        return None

    def is_typed(self, placeholder: str) -> bool:
        """Tell whether a placeholder stands for what somebody typed in a message."""
        return placeholder in self._typed

    def hide(self, value: T, chat: str = "") -> T:
        """Return a JSON value without secrets in its texts: with placeholders of a chat, without one masked."""
        held = self._forms()
        replaced = [(form, self.placeholder(chat, secret) if chat and secret[2] else MASK) for form, secret in held]
        marked: list[bool] = []

        def change(text: str, is_owner: bool = False) -> str:
            # Most lines of a private key are short and have none of its marks.
            is_edge = "-----" in text or "Private-" in text or "</" in text
            if is_edge or (44 <= len(text) <= 64 and text.rstrip().endswith("=")):
                marked.append(True)
            if is_owner:  # its sentences are somebody's own, who may type a password
                from oasis.redaction import secret_forms as forms  # an idle daemon does without

                text = forms.replaced(text, forms.said(text), lambda value: self._typed_as(value, chat))
            for name, (told, _, written) in list(self._typed.items()):
                for form in written:
                    text = text.replace(form, name if chat and told == chat else MASK)
            for form, shown in replaced:
                text = text.replace(form, shown)
            if is_owner or not any(mark in text for mark in _MARKS):
                return text
            seen = hash(text)  # a chat is sent again and again, and what is long in it has no secret
            if seen in self._clean:
                return text
            from oasis.redaction import secret_forms as forms

            found = forms.within_json(text, forms.spans(text))
            if not found:
                if len(self._clean) >= _CLEAN:
                    self._clean.clear()
                self._clean.add(seen)
            return forms.replaced(text, found, lambda value: MASK)

        turned = walk(value, change, functools.partial(change, is_owner=True))
        hidden: Any = _without_blocks(turned) if marked and not isinstance(value, str) else turned
        return hidden  # type: ignore[no-any-return]  # only its texts are others

    def _typed_as(self, value: str, chat: str) -> str:
        """Return what stands for a password that was typed in a message of a chat."""
        if not chat:
            return MASK
        bound = jsonl.canonical(["placeholder", chat, "typed", value])
        name = "«secret:%s»" % hmac_sha256(self._key, bound.encode("utf-8", "surrogatepass"))[:_DIGITS]
        self._remember(name, chat, value)
        return name

    def _remember(self, name: str, chat: str, value: str) -> None:
        self._typed.pop(name, None)
        self._typed[name] = chat, value, written_forms(value) if len(value) >= SECRET_CHARS else []
        while len(self._typed) > _TYPED:
            del self._typed[next(iter(self._typed))]

    def stored(self, message: Message, chat: str, said: str) -> Message:
        """Return an answer as its chat keeps it: with placeholders for the secrets that its calls or commands set.

        They stay those of the options when the router holds the values. What stands in `said`, the owner's own words,
        stays: the chat holds it as they typed it. Thinking that had to be changed is left out, for it is signed.
        """
        content = message["content"]
        if "=" in str(content):
            from oasis.redaction import secret_forms as forms  # with the first call that sets something

            def note(text: str) -> str:
                found = []
                for start, end, value, package, option in forms.places(text):
                    if value in said or "secret:" in value or value == MASK:
                        continue
                    name = self.placeholder(chat, (package, "", "", option, value))
                    self._remember(name, chat, value)
                    found.append((start, end, name))
                for start, end, name in reversed(found):
                    text = text[:start] + name + text[end:]
                return text

            content = walk(content, note)
        typed = [(form, name) for name, (told, _, written) in list(self._typed.items()) if told == chat
                 for form in written if form not in said]  # fmt: skip
        if typed:
            content = walk(content, lambda text: functools.reduce(lambda cut, pair: cut.replace(*pair), typed, text))
        if content is message["content"]:
            return message
        if not isinstance(content, str):
            pairs = zip(content, message["content"], strict=True)
            content = [new for new, old in pairs if new is old or new["type"] != "thinking"]
        return {**message, "content": content}

    def text(self, text: str) -> str:
        """Return a text with every secret masked."""
        return str(self.hide(text))

    def first_words(self, text: str, inputs: Sequence[object]) -> str:
        """Return the owner's text with every secret masked, also those that tools were called with: they typed them."""
        text = self.hide({"role": "user", "content": text})["content"]
        if not text or "=" not in str(inputs):
            return self.text(text)
        from oasis.redaction import secret_forms as forms  # with the first call that sets something

        return forms.masker(forms.typed_values(inputs))(self.hide(text))

    def open_end(self, text: str) -> int:
        """Return how many characters at the end of a text must wait for what follows, lest a secret be cut in two."""
        forms = [form for form, _ in self._forms()]
        cut = len(text)
        for form in forms:  # of which the text's end may be the beginning
            at = text.find(form[0], max(len(text) - len(form) + 1, 0))
            while 0 <= at < cut and not form.startswith(text[at:]):
                at = text.find(form[0], at + 1)
            cut = at if 0 <= at < cut else cut
        moved = -1
        while moved != cut:  # neither may the cut go through a secret that is whole
            moved = cut
            for form in forms:
                found = text.find(form, max(cut - len(form) + 1, 0), cut + len(form) - 1)
                cut = min(cut, found) if found >= 0 else cut
        return len(text) - cut

    def _forms(self) -> list[tuple[str, Secret]]:
        found = self.held() + [("", "", "", "", key) for key in self._keys()]
        if found != self._cached[0]:
            long = [secret for secret in found if len(secret[4]) >= SECRET_CHARS]
            forms = [(form, secret) for secret in long for form in written_forms(secret[4])]
            # A secret inside another one must not cut it.
            self._cached = found, sorted(forms, key=lambda pair: -len(pair[0]))
        return self._cached[1]


class Masked:
    """A stream that writes what it is given with every secret masked: what standard error is for a daemon.

    Where it cannot be written, nothing is raised: the log tells of a change, and must not break it off. The name of the
    program before a line is no secret, and its colon is no reason to load the forms in an idle daemon.
    """

    def __init__(self, stream: TextIO, mask: Callable[[str], str]) -> None:
        self._stream = stream
        self._mask = mask

    def write(self, text: str) -> int:
        name = _PROGRAM if text.startswith(_PROGRAM) else ""
        try:
            shown = name + self._mask(text[len(name) :])
        except OasisError as error:
            shown = "(a line is left out because it may hold a secret: %s)\n" % error.code
        try:
            self._stream.write(shown)
        except OSError:
            pass  # nobody reads it any more, or its flash is full: there is no other place to report this
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            pass


def written_forms(value: str) -> list[str]:
    """Return how a value stands in a text: plain, in JSON, in a shell's or UCI's quotes, in an address, encoded."""
    percent = "".join([c if c in _PLAIN else "".join(["%%%02X" % byte for byte in c.encode("utf-8")]) for c in value])
    found = [value, jsonl.dumps(value)[1:-1], value.replace("'", "'\\''"), percent]
    data = value.encode("utf-8", "surrogatepass")
    if len(data) >= SECRET_CHARS:
        found += [data.hex(), data.hex().upper()]
        for before in range(3):  # base64 also as it stands inside something longer
            whole = _base64(b"\0" * before + data)
            # A sixth of a byte at each end belongs to what stands around it.
            end = len(whole) if (before + len(data)) % 3 == 0 else len(whole) - 1
            core = whole[(8 * before + 5) // 6 : end]
            found += [core, core.replace("+", "-").replace("/", "_")]
    return list(dict.fromkeys(found))


def _base64(data: bytes) -> str:
    """Return bytes in base64 without the signs at its end. `binascii` would map two libraries for it in each daemon."""
    bits = 8 * len(data)
    short = -bits % 6
    number = int.from_bytes(data, "big") << short
    return "".join([_BASE64[(number >> at) & 63] for at in range(bits + short - 6, -1, -6)])


def walk(value: T, change: Callable[[str], str], of_owner: Callable[[str], str] | None = None) -> T:
    """Return a JSON value with every text in it changed, keys not; parts without a change are the same objects.

    The texts of an owner's message are changed by `of_owner`, where it is given.
    """
    found: Any = value  # only its texts are others
    if isinstance(value, str):
        return change(value)  # type: ignore[return-value]
    if isinstance(value, (list, tuple)):
        found = [walk(item, change, of_owner) for item in value]
        return value if all(new is old for new, old in zip(found, value, strict=True)) else found
    if isinstance(value, dict):
        change = of_owner if of_owner and value.get("role") == "user" else change
        found = {key: walk(item, change, of_owner) for key, item in value.items()}
        return value if all(found[key] is item for key, item in value.items()) else found
    return value


def _without_blocks(value: object) -> object:
    """Return a JSON value in which private keys are masked whose lines are texts of their own, as those of a log."""
    from oasis.redaction import secret_forms as forms  # an idle daemon does without

    # The result of a tool is JSON in a text, and was judged before.
    placed = [(None if forms.is_json(text) else name, text) for name, text in _placed(value)]
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, text in placed:
        if name is not None:
            groups.setdefault(name, []).append(text)
    changed: dict[tuple[str, ...] | None, Iterator[str]] = {}
    for name, texts in groups.items():
        whole = "\n".join(texts)
        found = forms.blocks(whole, name[-1:] in _LOGS)
        if found:  # what is masked never goes over the end of a line, so that all lines are still there
            changed[name] = iter(forms.replaced(whole, found, lambda value: MASK).split("\n"))
    shown = []
    for name, text in placed:
        new = "\n".join([next(changed[name]) for _ in text.split("\n")]) if name in changed else text
        shown.append(text if new == text else new)
    left = iter(shown)
    return walk(value, lambda text: next(left)) if changed else value


def _placed(value: object, name: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of a JSON value as `walk` comes to them, each with the keys that lead to it."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _placed(item, (*name, str(key)))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _placed(item, name)
