"""The owner's services and aliases: added, changed, put in order, taken away, tried.

Sections of /etc/config/oasis are written through a cursor, keys by the settings; a key goes in and never comes out.
What is written is judged first as it will be read, so that nothing enters that could not be used. `models` does the
talking: models.chat and models.models. Loaded when somebody manages services: an idle daemon does without.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping

from oasis import providers
from oasis.config import settings as sections
from oasis.config.settings import OFFLINE, PROXY, Settings, write
from oasis.core import clean
from oasis.errors import OasisError, ProviderError, SettingsError, UsageError
from oasis.llm.usage import PRICE, amount, of_chat
from oasis.uci import model as uci

if False:  # annotations only
    from oasis.config.shapes import Service
    from oasis.llm import shapes
    from oasis.llm.shapes import Done, Event, Fault, Model, Models, Trial, Value
    from oasis.llm.workers import Plain
    from oasis.uci.cursor import Cursor
    from oasis.uci.edit import Step

# A call of LuCI's gives up after 20 s.
TRIAL_S = 15.0
_CONNECT_S = 8
# OpenRouter has some four hundred; a reply of the bus stays far below its limit.
MODELS = 600
_WORD_CHARS = 256
TARGETS = 8
_KEY_CHARS = 4096
_CURRENCY_CHARS = 8
# Of tokens in a month; libuci holds any text, a budget beyond this is none.
_MOST_TOKENS = 10**12
# What of a service's options tells the way to it, not what it says.
_WAY = ("ca_file", "proxy", "idle_s")
# Upstream's options that ours take the place of.
_OLD = {"endpoint": ("{0}_endpoint", "{0}_endpoint_type", "{0}_custom_endpoint"), "thinking": ("type", "budget_tokens")}
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
# Not services, but with a key: search engines of the tool web_search (tools/seed.py), and the messenger's bot.
ENGINES = ("brave", "telegram")


class Book:
    """The services of one router root. `now_s()` is monotonic; `look(chat, work)` reads a chat."""

    def __init__(
        self, settings: Settings, cursor: Callable[[], Cursor], models: Models, now_s: Callable[[], float],
        look: shapes.Look,
    ) -> None:  # fmt: skip
        self._settings = settings
        self._cursor = cursor
        self._models = models
        self._now_s = now_s
        self._look = look
        self._lock = threading.Lock()

    # Services

    def service_providers(self) -> shapes.ProviderList:
        """Return what a service can be of."""
        return {"providers": [
            {"profile": name, "name": entry["name"], "endpoint": entry.get("base_url", ""),
             "model": entry.get("model", ""), "key": entry.get("key", "none"), "local": bool(entry.get("local"))}
            for name, entry in providers.profiles().items()
        ]}  # fmt: skip

    def service_add(self, name: str, key: str = "", **given: str | int) -> shapes.Made:
        """Add a service behind the others; return its identifier."""
        with self._lock:
            known = providers.profiles()
            profile = sections.profile_of(name, known)
            if not profile:
                raise UsageError("no provider is called %r" % name, "there are: " + ", ".join(sorted(known)))
            taken = {item["identifier"] for item in self._settings.services()} | set(self._settings.aliases())
            names = itertools.chain([profile], (profile + str(number) for number in itertools.count(2)))
            identifier = next(name for name in names if name not in taken)
            values = {"name": str(known[profile]["name"]), "identifier": identifier, **_words(given)}
            self._judge(values)
            if not known[profile].get("base_url") and not values.get("endpoint"):
                hint = "its address, like http://192.168.1.20:8000/v1"
                raise UsageError("%s needs an endpoint" % values["name"], hint)
            # The key first: a service is never there with the key of one that was here before.
            self._settings.set_key(identifier, _checked(key))
            self._write(_added("service", values))
            return {"identifier": identifier}

    def service_change(self, identifier: str, name: str = "", position: int = -1, **given: str | int) -> Done:
        """Change options of a service; an empty text or 0 takes one back. `position`: among the services, from 0."""
        with self._lock:
            section = self._section(identifier)
            words = _words({**given, "name": name} if name else given)
            # The options of upstream that ours take the place of.
            kind = str(section.options.get("name", "")).lower()
            prefix = "lmstudio" if kind == "lm studio" else kind
            old = [name.format(prefix) for option in words for name in _OLD.get(option, ())]
            gone = [name for name in old if name in section.options]
            kept = {name: value for name, value in section.options.items() if name not in gone}
            self._judge({**kept, **words})
            steps: list[Step] = [_step("delete", section.name, option) for option in gone]
            for option, value in words.items():
                if value:
                    steps.append(_step("set", section.name, option, value))
                elif option in section.options:
                    steps.append(_step("delete", section.name, option))
            return self._write(steps + self._moved(section.name, position))

    def service_select(self, identifier: str) -> Done:
        """Make a service the active one: it becomes the first, as upstream does it."""
        self._settings.service(identifier)
        for section in [one for one in self._settings.sections() if one.type == "service"][:1]:
            self._own(section, "the service in use")
        with self._lock:
            if identifier == OFFLINE and not any(_named(s, OFFLINE) for s in self._settings.sections()):
                self._write(_added("service", {"name": OFFLINE, "identifier": OFFLINE}))
            return self._write(self._moved(self._section(identifier).name, 0))

    def service_delete(self, identifier: str) -> Done:
        """Take a service and its key away."""
        if identifier == OFFLINE:
            raise UsageError("the built-in service is always there", "choose another one: oasis select")
        with self._lock:
            section = self._section(identifier)
            self._settings.set_key(identifier, "")
            self._settings.set_key(identifier + PROXY, "")
            return self._write([_step("delete", section.name)])

    def service_key(self, identifier: str, key: str) -> Done:
        """Keep the key of a service, or take it away with an empty one.

        IDENTIFIER/proxy keeps USER:PASSWORD of its proxy; the name of a search engine, that one's key.
        """
        with self._lock:
            if identifier not in ENGINES:
                self._section(identifier.removesuffix(PROXY))
            key = _checked(key)
            number, colon, rest = key.partition(":")
            is_word = 20 <= len(rest) <= 64 and rest.replace("-", "").replace("_", "").isalnum()
            # A bot's goes into the path of each request to Telegram.
            if key and identifier == "telegram" and not (colon and number.isdigit() and is_word):
                hint = "@BotFather shows it"
                raise UsageError("this is no bot's token: it has digits, a colon and some 35 letters", hint)
            self._settings.set_key(identifier, key)
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
        return [{"op": "reorder", "section": name, "index": index}]

    def _judge(self, values: Mapping[str, Value]) -> None:
        """Raise UsageError for what would be no service when it is read, or what a file of UCI cannot hold."""
        for option, value in values.items():
            if isinstance(value, str):
                _printable(option, value)
        section = uci.Section("service", "new", True)
        section.options.update((name, value) for name, value in values.items() if value)
        item = sections.service(section, providers.profiles(), {})
        if item.get("is_wrong"):
            raise UsageError(str(item["note"]))

    def _write(self, steps: list[Step]) -> Done:
        if steps:
            write(self._cursor(), steps)
        return {"status": "OK"}

    # Trying

    def service_test(self, identifier: str) -> Trial:
        """Have a service say a word; a reply with `error` would be a failed call, so what failed is `fault`."""
        service = self._settings.service(identifier)
        if service["vendor"] == OFFLINE:
            return {"ok": True, "ms": 0, "model": service["model"]}
        events: list[Event] = []
        messages = [{"role": "user", "content": "Answer with the word OK."}]
        request = {**self._request(service, {"max_tokens": 16}), "messages": messages, "tools": []}
        began_s = self._now_s()
        self._models.chat(request, events.append, lambda: self._now_s() - began_s > TRIAL_S)  # type: ignore[arg-type]
        ms, last = int((self._now_s() - began_s) * 1000), events[-1]
        if last["type"] == "done":
            return {"ok": True, "ms": ms, "model": last.get("model") or service["model"]}
        error = last["error"]
        fault: Fault = {"code": error["code"], "message": error["message"], "hint": error["hint"]}
        fault = _late(service) if error["code"] == "cancelled" else fault
        return {"ok": False, "ms": ms, "model": service["model"], "fault": fault}

    def service_models(self, identifier: str) -> shapes.ModelList:
        """Return what models a service has."""
        service = next((one for one in self._settings.services() if one["identifier"] == identifier), None)
        if service is None:
            raise SettingsError("there is no service %r" % identifier, "list them with: oasis services")
        if not service["ready"]:  # the model that it may lack is what is looked for
            service = self._settings.service(identifier + "/unknown")
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
        known: list[Model] = [{**one, "id": clean.line(one["id"])[:_WORD_CHARS]} for one in found if one["id"]]
        return {"models": known[:MODELS], "is_cut": len(known) > MODELS}

    def _request(self, service: Service, more: Mapping[str, object]) -> Plain:
        given = {name: value for name, value in service["options"].items() if name in _WAY}
        options = {**given, "stream": True, "retries": 0, "connect_s": _CONNECT_S, **more}
        return {**self._settings.request(service), "options": options}

    # Usage

    def usage_list(self, month: str = "") -> shapes.UsageList:
        """Return what models used; see usage.py."""
        return self._models.usage().list(month)

    def usage_chat(self, id: str) -> shapes.ChatUsage:
        """Return what a chat used, as its messages tell it; as usage_list, without months."""
        prices = self._models.usage().prices()
        found = self._look(id, lambda chat: of_chat(chat.entries(), prices))
        return {"usage": found, "currency": self._settings.main().get("currency", "")}

    def usage_limit(self, **given: str | int) -> Done:
        """Set the budget of a month: budget_tokens, budget_cost and currency; 0 or an empty text takes one back."""
        words = {name: "" if word == "0" else word for name, word in _words(given).items()}
        if words.get("budget_tokens") and not 0 < int(words["budget_tokens"]) <= _MOST_TOKENS:
            raise UsageError("a budget has 1 to %d tokens" % _MOST_TOKENS, "like: 2000000; empty for none")
        if words.get("budget_cost"):
            amount("budget_cost", words["budget_cost"])
        _printable("currency", words.get("currency", ""), _CURRENCY_CHARS)
        with self._lock:
            present = self._settings.main()
            steps = [_step("set", "main", name, word) for name, word in words.items() if word]
            steps += [_step("delete", "main", name) for name, word in words.items() if not word and name in present]
            return self._write(steps)

    def usage_price(self, **given: str) -> Done:
        """Set what a model costs, or take it away when it costs nothing; without a service it is that of any."""
        given = {name: text.strip() for name, text in given.items() if text.strip()}
        for name in ("service", "model"):
            _printable(name, given.get(name, ""))
        if not given.get("model"):
            raise UsageError("a price needs the name of a model", "as `oasis usage` shows it")
        costs = [name for name in PRICE[2:] if name in given]
        for name in costs:
            amount(name, given[name])
        if costs and not {"input", "output"} <= set(costs):
            hint = "an amount like 2.50 for a million tokens"
            raise UsageError("a price needs what is read and what is written", hint)
        whose = given.get("service", ""), given["model"]
        with self._lock:
            steps = [
                _step("delete", section.name)
                for section in self._settings.uci_sections()
                if section.type == "price"
                and (section.options.get("service", ""), section.options.get("model")) == whose
            ]
            if costs:
                steps += _added("price", {name: given.get(name, "") for name in PRICE})
            return self._write(steps)

    # Aliases

    def alias_list(self) -> shapes.AliasList:
        """Return the aliases."""
        found = []
        for name, targets in self._settings.aliases().items():
            item: shapes.Alias = {"name": name, "targets": targets, "ready": True, "note": ""}
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
            steps = self._without(name) + _added("alias", {"name": name})
            steps += [_step("add_list", "@alias[-1]", "target", target) for target in targets]
            return self._write(steps)

    def alias_delete(self, name: str) -> Done:
        """Take an alias away."""
        with self._lock:
            steps = self._without(name)
            if not steps:
                raise UsageError("there is no alias %r" % name, "list them with: oasis alias")
            return self._write(steps)

    def _without(self, name: str) -> list[Step]:
        same = [s for s in self._settings.sections() if s.type == "alias" and sections.alias(s)["name"] == name]
        return [_step("delete", self._own(section, "alias " + name).name) for section in same]


def _step(op: str, *place: str) -> Step:
    """Return a step on a section, or its option and value."""
    return {"op": op, **dict(zip(("section", "option", "value"), place, strict=False))}  # type: ignore[typeddict-item]


def _added(kind: str, options: Mapping[str, str]) -> list[Step]:
    """Return the steps that add a section, with those of its options that hold something."""
    added: Step = {"op": "add", "type": kind}
    return [added, *[_step("set", f"@{kind}[-1]", name, value) for name, value in options.items() if value]]


def _printable(name: str, text: str, most: int = _WORD_CHARS) -> None:
    if not text.isprintable() or len(text) > most:
        raise UsageError("%s holds what no setting can" % name, "%d printable characters" % most)


def _named(section: uci.Section, identifier: str) -> bool:
    return section.type == "service" and identifier == (section.options.get("identifier") or section.name)


def _words(given: Mapping[str, str | int]) -> dict[str, str]:
    """Return arguments as options are written; 0 is how a number is taken back."""
    return {name: "" if value in (0, "") else str(value).strip() for name, value in given.items()}


def _checked(key: str) -> str:
    """Return a key without the blanks that come along when it is copied; an error holds nothing of it."""
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key or len(key) > _KEY_CHARS:
        raise UsageError("this is no key: it holds blanks or characters that no key has", "copy it again")
    return key


def _late(service: Service) -> Fault:
    hint = "a model that is loaded first takes its time: try again" if service["is_local"] else "try again later"
    return {"code": "timeout", "message": "no answer within %d s" % TRIAL_S, "hint": hint}
