"""The owner's services and aliases: added, changed, put in order, taken away, tried.

Sections of /etc/config/oasis are written through a cursor, keys by the settings; a key goes in and never comes out.
What is written is judged first as it will be read, so that nothing enters that could not be used. `models` does the
talking: models.chat and models.models. Loaded when somebody manages services: an idle daemon does without.
"""

from __future__ import annotations

import threading

from oasis.config import settings as sections
from oasis.config.settings import OFFLINE, PROXY, write
from oasis.core import clean
from oasis.errors import OasisError, ProviderError, SettingsError, UsageError
from oasis.uci import model as uci

if False:  # annotations only
    from oasis.config.settings import Settings
    from oasis.config.shapes import Service
    from oasis.llm.shapes import (
        Alias,
        AliasList,
        Callable,
        ChatUsage,
        Done,
        Fault,
        Look,
        Made,
        Mapping,
        Model,
        ModelList,
        Protocol,
        Provider,
        ProviderList,
        Trial,
        UsageList,
        Value,
    )
    from oasis.llm.usage import Usage
    from oasis.llm.workers import Cancelled, Event, OnEvent
    from oasis.uci.cursor import Cursor
    from oasis.uci.edit import Operation, Step

    class Models(Protocol):
        def chat(self, request: Event, on_event: OnEvent, cancelled: Cancelled) -> None: ...
        def models(self, request: Event, cancelled: Cancelled) -> list[Event]: ...
        def usage(self) -> Usage: ...


# A call of LuCI's gives up after 20 s.
TRIAL_S = 15.0
_CONNECT_S = 8
# OpenRouter has some four hundred; a reply of the bus stays far below its limit.
MODELS = 600
_WORD_CHARS = 256
TARGETS = 8
_KEY_CHARS = 4096
# Upstream's options that ours take the place of.
_OLD = {
    "endpoint": ("{0}_endpoint", "{0}_endpoint_type", "{0}_custom_endpoint"),
    "thinking": ("type", "budget_tokens"),
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
# Not services, but with a key: search engines of the tool web_search (tools/seed.py), and the messenger's bot.
ENGINES = ("brave", "telegram")


class Book:
    """The services of one router root. `now_s()` is monotonic; `look(chat, work)` reads a chat."""

    def __init__(
        self, settings: Settings, cursor: Callable[[], Cursor], models: Models, now_s: Callable[[], float],
        look: Look,
    ) -> None:  # fmt: skip
        self._settings = settings
        self._cursor = cursor
        self._models = models
        self._now_s = now_s
        self._look = look
        self._lock = threading.Lock()

    # Services

    def service_providers(self) -> ProviderList:
        """Return what a service can be of."""
        known = self._settings.profiles()
        kinds: list[Provider] = [
            {"profile": name, "name": entry["name"], "endpoint": entry.get("base_url", ""),
             "model": entry.get("model", ""), "key": entry.get("key", "none"), "local": bool(entry.get("local"))}
            for name, entry in known.items()
        ]  # fmt: skip
        return {"providers": kinds}

    def service_add(self, name: str, key: str = "", **given: str | int) -> Made:
        """Add a service behind the others; return its identifier."""
        with self._lock:
            known = self._settings.profiles()
            profile = sections.profile_of(name, known)
            if not profile:
                raise UsageError("no provider is called %r" % name, "there are: " + ", ".join(sorted(known)))
            taken = {item["identifier"] for item in self._settings.services()} | set(self._settings.aliases())
            identifier = _free(profile, taken)
            values = {"name": str(known[profile]["name"]), "identifier": identifier, **_words(given)}
            self._judge(values)
            if known[profile].get("base_url", "") == "" and not values.get("endpoint"):
                raise UsageError(
                    "%s needs an endpoint" % values["name"], "its address, like http://192.168.1.20:8000/v1"
                )
            # The key first: a service is never there with the key of one that was here before.
            self._settings.set_key(identifier, _checked(key))
            steps = [_step("add", type="service")]
            steps += [_step("set", "@service[-1]", option, value) for option, value in values.items() if value]
            self._write(steps)
            return {"identifier": identifier}

    def service_change(self, identifier: str, name: str = "", position: int = -1, **given: str | int) -> Done:
        """Change options of a service; an empty text or 0 takes one back. `position`: among the services, from 0."""
        with self._lock:
            section = self._section(identifier)
            words = _words({**given, "name": name} if name else given)
            gone = [name for option in words for name in _replaced(option, section)]
            kept = {name: value for name, value in section.options.items() if name not in gone}
            self._judge({**kept, **words})
            steps = [_step("delete", section.name, option) for option in gone]
            for option, value in words.items():
                if value:
                    steps.append(_step("set", section.name, option, value))
                elif option in section.options:
                    steps.append(_step("delete", section.name, option))
            self._write(steps + self._moved(section.name, position))
            return {"status": "OK"}

    def service_select(self, identifier: str) -> Done:
        """Make a service the active one: it becomes the first, as upstream does it."""
        self._settings.service(identifier)
        for section in [one for one in self._settings.sections() if one.type == "service"][:1]:
            self._own(section, "the service in use")
        if identifier == OFFLINE and not any(_named(s, OFFLINE) for s in self._settings.sections()):
            steps = [_step("add", type="service"), _step("set", "@service[-1]", "name", OFFLINE)]
            steps += [_step("set", "@service[-1]", "identifier", OFFLINE)]
            with self._lock:
                self._write(steps)
        with self._lock:
            self._write(self._moved(self._section(identifier).name, 0))
        return {"status": "OK"}

    def service_delete(self, identifier: str) -> Done:
        """Take a service and its key away."""
        if identifier == OFFLINE:
            raise UsageError("the built-in service is always there", "choose another one: oasis select")
        with self._lock:
            section = self._section(identifier)
            self._settings.set_key(identifier, "")
            self._settings.set_key(identifier + PROXY, "")
            self._write([_step("delete", section.name)])
        return {"status": "OK"}

    def service_key(self, identifier: str, key: str) -> Done:
        """Keep the key of a service, or take it away with an empty one.

        IDENTIFIER/proxy keeps USER:PASSWORD of its proxy; the name of a search engine, that one's key.
        """
        with self._lock:
            if identifier not in ENGINES:
                self._section(identifier.removesuffix(PROXY))
            self._settings.set_key(identifier, _bot_token(_checked(key)) if identifier == "telegram" else _checked(key))
        return {"status": "OK"}

    def _section(self, identifier: str) -> uci.Section:
        for section in self._settings.sections():
            if _named(section, identifier):
                return self._own(section, "service " + identifier)
        raise SettingsError("there is no service %r" % identifier, "list them with: oasis services")

    def _own(self, section: uci.Section, what: str) -> uci.Section:
        """Return a section that can be written: not one of a layer."""
        path = self._settings.layer_of(section)
        if path:
            raise UsageError("%s is set in %s" % (what, path), "change it there, and start oasis again")
        return section

    def _moved(self, name: str, position: int) -> list[Step]:
        """Return the steps that move a section before the service which has that position without it."""
        if position < 0:
            return []
        rest = [section for section in self._settings.uci_sections() if section.name != name]
        places = [number for number, section in enumerate(rest) if section.type == "service"]
        if not places:
            return []
        index = 0 if position == 0 else places[position] if position < len(places) else places[-1] + 1
        return [{**_step("reorder", name), "index": index}]

    def _judge(self, values: Mapping[str, Value]) -> None:
        """Look at a section as it will be read.

        Raises: UsageError for a value that is none, or that a file of UCI cannot hold.
        """
        for option, value in values.items():
            if isinstance(value, str) and (not value.isprintable() or len(value) > _WORD_CHARS):
                raise UsageError("%s holds what no setting can" % option, "%d printable characters" % _WORD_CHARS)
        section = uci.Section("service", "new", True)
        section.options = {name: value for name, value in values.items() if value}
        item = sections.service(section, self._settings.profiles(), {})
        if item.get("is_wrong"):
            raise UsageError(str(item["note"]))

    def _write(self, steps: list[Step] | list[Operation]) -> None:
        if steps:
            write(self._cursor(), steps)

    # Trying

    def service_test(self, identifier: str) -> Trial:
        """Have a service say a word; a reply with `error` would be a failed call, so what failed is `fault`.

        Shape: {"ok", "ms", "model", "fault"?: {"code", "message", "hint"}}.
        """
        service = self._settings.service(identifier)
        if service["vendor"] == OFFLINE:
            return {"ok": True, "ms": 0, "model": service["model"]}
        heard: list[Event] = []
        request = self._request(service, {"max_tokens": 16})
        request.update(messages=[{"role": "user", "content": "Answer with the word OK."}], tools=[])
        began_s = self._now_s()
        self._models.chat(request, heard.append, lambda: self._now_s() - began_s > TRIAL_S)
        ms = int((self._now_s() - began_s) * 1000)
        last = heard[-1]
        if last["type"] == "done":
            return {"ok": True, "ms": ms, "model": str(last.get("model") or service["model"])}
        error = last["error"]
        assert isinstance(error, dict)
        fault = _late(service) if error["code"] == "cancelled" else _fault(error)
        return {"ok": False, "ms": ms, "model": service["model"], "fault": fault}

    def service_models(self, identifier: str) -> ModelList:
        """Return what models a service has. Shape: {"models": [{"id", "context_tokens"?, "tools"?}], "is_cut"}."""
        service = self._usable(identifier)
        if service["vendor"] == OFFLINE:
            return {"models": [{"id": service["model"]}], "is_cut": False}
        until_s = self._now_s() + TRIAL_S
        try:
            found = self._models.models(self._request(service, {}), lambda: self._now_s() > until_s)
        except ProviderError as error:
            if error.code != "cancelled":
                raise
            late = _late(service)
            raise ProviderError(late["message"], late["hint"])
        known = [_model(item) for item in found if isinstance(item, dict) and item.get("id")]
        return {"models": known[:MODELS], "is_cut": len(known) > MODELS}

    def _usable(self, identifier: str) -> Service:
        """Return a service that can be asked for its models: the one that it lacks is what is looked for.

        Raises: SettingsError when it lacks more.
        """
        offered = self._settings.services()
        if all(item["identifier"] != identifier for item in offered):
            raise SettingsError("there is no service %r" % identifier, "list them with: oasis services")
        item = next(item for item in offered if item["identifier"] == identifier)
        return item if item["ready"] else self._settings.service(identifier + "/unknown")

    def _request(self, service: Service, more: Mapping[str, object]) -> Event:
        given = {name: value for name, value in service["options"].items() if name in _WAY}
        request = self._settings.request(service)
        request["options"] = {**given, "stream": True, "retries": 0, "connect_s": _CONNECT_S, **more}
        return request

    # Usage

    def usage_list(self, month: str = "") -> UsageList:
        """Return what models used; see usage.py."""
        return self._models.usage().list(month)

    def usage_chat(self, id: str) -> ChatUsage:
        """Return what a chat used, as its messages tell it; shape as that of usage_list, without months."""
        from oasis.llm.usage import of_chat

        prices = self._models.usage().prices()
        found = self._look(id, lambda chat: of_chat(chat.entries(), prices))
        return {"usage": found, "currency": self._settings.main().get("currency", "")}

    def usage_limit(self, **given: str | int) -> Done:
        """Set the budget of a month; see usage.py."""
        from oasis.llm import usage as prices

        with self._lock:
            self._write(prices.budget(self._settings.main(), given))
        return {"status": "OK"}

    def usage_price(self, model: str, **given: str) -> Done:
        """Set what a model costs; see usage.py."""
        from oasis.llm import usage as prices

        with self._lock:
            self._write(prices.price(self._settings.uci_sections(), {"model": model, **given}))
        return {"status": "OK"}

    # Aliases

    def alias_list(self) -> AliasList:
        """Return the aliases. Shape: {"alias": [{"name", "targets", "ready", "note"}], "usual": [name]}."""
        found = []
        for name, targets in self._settings.aliases().items():
            item: Alias = {"name": name, "targets": targets, "ready": True, "note": ""}
            try:
                self._settings.chain(name)
            except OasisError as error:
                item["ready"], item["note"] = False, error.message
            found.append(item)
        return {"alias": found, "usual": [*sections.RESERVED, *sections.SIZES]}

    def alias_set(self, name: str, targets: list[str]) -> Done:
        """Let a name stand for services, or models of them, in the order to try them."""
        identifiers = {item["identifier"] for item in self._settings.services()}
        if not name or name.strip(_LETTERS + "._-") or len(name) > 32:
            raise UsageError("%r cannot be an alias" % name[:40], "small letters, digits, . _ and -, at most 32")
        if name in identifiers:
            raise UsageError("%r is a service already" % name, "take another name")
        if not 0 < len(targets) <= TARGETS:
            raise UsageError("an alias has 1 to %d services" % TARGETS, "like: openai/gpt-5.6")
        for target in targets:
            if target.partition("/")[0] not in identifiers:
                raise UsageError("there is no service %r" % target.partition("/")[0], "list them with: oasis services")
            if not target.isprintable() or len(target) > _WORD_CHARS or target.endswith("/"):
                raise UsageError("%r is no model" % target, "like: openai/gpt-5.6")
        with self._lock:
            steps = [*self._without(name), _step("add", type="alias"), _step("set", "@alias[-1]", "name", name)]
            steps += [_step("add_list", "@alias[-1]", "target", target) for target in targets]
            self._write(steps)
        return {"status": "OK"}

    def alias_delete(self, name: str) -> Done:
        """Take an alias away."""
        with self._lock:
            steps = self._without(name)
            if not steps:
                raise UsageError("there is no alias %r" % name, "list them with: oasis alias")
            self._write(steps)
        return {"status": "OK"}

    def _without(self, name: str) -> list[Step]:
        same = [s for s in self._settings.sections() if s.type == "alias" and sections.alias(s)["name"] == name]
        return [_step("delete", self._own(section, "alias " + name).name) for section in same]


# What of a service's options tells the way to it, not what it says.
_WAY = ("ca_file", "proxy", "idle_s")


def _step(op: str, section: str = "", option: str = "", value: str = "", type: str = "") -> Step:
    step: Step = {"op": op}
    if section:
        step["section"] = section
    if option:
        step["option"] = option
    if value:
        step["value"] = value
    if type:
        step["type"] = type
    return step


def _named(section: uci.Section, identifier: str) -> bool:
    return section.type == "service" and identifier == (section.options.get("identifier") or section.name)


def _words(given: Mapping[str, str | int]) -> dict[str, str]:
    """Return arguments as options are written; 0 is how a number is taken back."""
    return {name: "" if value in (0, "") else str(value).strip() for name, value in given.items()}


def _replaced(option: str, section: uci.Section) -> list[str]:
    """Return the options of upstream in a section that one of ours takes the place of."""
    name = str(section.options.get("name", ""))
    prefix = {"lm studio": "lmstudio"}.get(name.lower(), name.lower())
    return [old.format(prefix) for old in _OLD.get(option, ()) if old.format(prefix) in section.options]


def _free(profile: str, taken: set[str]) -> str:
    """Return an identifier that nobody has: the profile's name, with a number from the second one on."""
    number, name = 1, profile
    while name in taken:
        number += 1
        name = profile + str(number)
    return name


def _checked(key: str) -> str:
    """Return a key without the blanks that come along when it is copied.

    Raises: UsageError for what no service takes as one; the words hold nothing of it.
    """
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key or len(key) > _KEY_CHARS:
        raise UsageError("this is no key: it holds blanks or characters that no key has", "copy it again")
    return key


def _bot_token(key: str) -> str:
    """Return a bot's token; it goes into the path of each request to Telegram. Raises: UsageError for any other key."""
    number, colon, rest = key.partition(":")
    is_token = colon and number.isdigit() and 20 <= len(rest) <= 64 and rest.replace("-", "").replace("_", "").isalnum()
    if key and not is_token:
        raise UsageError("this is no bot's token: it has digits, a colon and some 35 letters", "@BotFather shows it")
    return key


def _fault(error: Mapping[str, str]) -> Fault:
    return {"code": error.get("code", ""), "message": error.get("message", ""), "hint": error.get("hint", "")}


def _late(service: Service) -> Fault:
    hint = "a model that is loaded first takes its time: try again" if service["is_local"] else "try again later"
    return {"code": "timeout", "message": "no answer within %d s" % TRIAL_S, "hint": hint}


def _model(item: Event) -> Model:
    model: Model = {"id": clean.line(str(item["id"]))[:_WORD_CHARS]}
    context_tokens, tools = item.get("context_tokens"), item.get("tools")
    if isinstance(context_tokens, int):
        model["context_tokens"] = context_tokens
    if isinstance(tools, bool):
        model["tools"] = tools
    return model
