"""What the owner set: /etc/config/oasis, the key file and the install key.

API keys are in state/keys.json (0600), never in UCI, and leave this module only inside a worker's request. A file is
read again when it is another one, so an edit needs no restart. Knows nothing of how a setting is used.
"""

from __future__ import annotations

import os

from oasis import parts, providers
from oasis.core import addresses, jsonl
from oasis.errors import SchemaError, SettingsError
from oasis.system.files import KnownFiles
from oasis.uci import model
from oasis.uci.backends import BACKENDS

if False:  # annotations only
    from collections.abc import Mapping, MutableMapping, Sequence

    from oasis.config.host import Layers
    from oasis.config.shapes import Service
    from oasis.core.shapes import Any, Callable, Json
    from oasis.providers.shapes import Options, Profile
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.uci.cursor import Cursor
    from oasis.uci.edit import Step

    Profiles = dict[str, Profile]

PACKAGE = "oasis"
# The alias whose services stand in for the active one.
STAND_INS = "chat"
# When the built-in provider answers: where it is chosen or stands in, before a model where it is certain, alone, never.
OFFLINE_MODES = ("fallback", "first", "only", "never")
# When what is said reaches the flash: chats/collection.py.
SYNC = ("exchange", "interval", "exit")
APPROVALS = ("risky", "all", "none")  # what the owner is asked about: change/policy.py
_CHOICES = {
    "approval": APPROVALS, "uci_backend": BACKENDS, "sync": SYNC, "bus": ("1", "0"), "alive_loopback": ("0", "1"),
}  # fmt: skip
_NUMBERS = ("worker_max", "worker_idle_s", "confirm_s", "management_confirm_s", "sync_interval_s")
INTERVAL_S = 30
_KEY_BYTES = 32
# What stands behind a service's identifier where the key file holds USER:PASSWORD of its proxy.
PROXY = "/proxy"


def _number(main: Mapping[str, object], option: str, default: int) -> int:
    text = str(main.get(option, default))
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise SettingsError("oasis.main.%s is %r" % (option, text), "a whole number")
    return int(text)


def _choice(main: Mapping[str, object], option: str, allowed: tuple[str, ...]) -> str:
    text = str(main.get(option, allowed[0]))
    if text not in allowed:
        raise SettingsError("oasis.main.%s is %r" % (option, text), "one of " + ", ".join(allowed))
    return text


def fault_of(package: Mapping[str, Mapping[str, object]]) -> str:
    """Return what of our package, as `model.stored` gives it, no service begins with or takes over, "" for nothing."""
    try:
        main = package.get("main", {})
        for option in _NUMBERS:
            _number(main, option, 0)
        for option, allowed in _CHOICES.items():
            _choice(main, option, allowed)
        for section in package.values():
            enabled = section.get("enabled", "1")
            if enabled not in _ON + _OFF:
                where = model.label(package, section)
                raise SettingsError("oasis.%s.enabled is %r" % (where, enabled), "1 or 0")
    except SettingsError as error:
        return "/etc/config/oasis: %s (%s)" % (error.message, error.hint)
    return ""


# What can hold a setting or a key in the environment; without one of these, and without the file, nothing is loaded.
_OURS, _KEYS = "OASIS_", ("_API_KEY", "_TOKEN")


def found(files: Files, folder: str, environment: MutableMapping[str, str]) -> Layers | None:
    """Return the layers above UCI on a host that is no router, None on a router and where there are none.

    Raises: SettingsError for unknown settings and invalid values.
    """
    words = [name for name in environment if name.startswith(_OURS) or name.endswith(_KEYS)]
    if folder == "/" or (words in ([], ["OASIS_ROOT"]) and not os.path.exists(folder + "/oasis.toml")):
        return None
    from oasis.config import host  # needs `re`, which no router's idle daemon loads

    return host.load(files, folder, environment)


class Settings:
    """The settings of one router root; on a host that is no router those of an `environment` lie above UCI (host.py).

    Raises: SettingsError for a layer that is not understood.
    """

    def __init__(self, root: Root, files: Files, environment: MutableMapping[str, str] | None = None) -> None:
        self._root = root
        self._files = files
        self._known = KnownFiles(files, most_bytes=1 << 20)
        self._config_path = root.confdir + "/" + PACKAGE
        self._key_path = root.state_folder + "/keys.json"
        self._layers = None if environment is None else found(files, root.folder, environment)

    def main(self) -> dict[str, str]:
        """Return the options of the section `main`; absent ones are absent."""
        over = self._layers.main if self._layers else {}
        for section in self.uci_sections():
            if section.name == "main":
                return {**{key: value for key, value in section.options.items() if isinstance(value, str)}, **over}
        return {**over}

    def sections(self) -> list[model.Section]:
        """Return all sections of our package, upstream's chats and services among them; those of layers first."""
        return [*(self._layers.sections if self._layers else []), *self.uci_sections()]

    def uci_sections(self) -> list[model.Section]:
        data = self._known.read(self._config_path)
        return list(model.parse(data, PACKAGE).sections) if data else []

    def layer_of(self, section: model.Section) -> str:
        """Return the file of the layer that a section is from, "" for UCI."""
        over = self._layers
        return over.path if over and any(one is section for one in over.sections) else ""

    def chat_folder(self) -> str:
        path = self.main().get("chat_path", "/etc/oasis/chats")
        if not path.startswith("/") or ".." in path.split("/"):
            raise SettingsError("oasis.main.chat_path is %r" % path, "an absolute path, without ..")
        return self._root.path(path)

    def chats(self) -> tuple[str, str, int]:
        """Return the folder of the chats, which of SYNC, and the seconds of an interval (0: of another mode)."""
        mode = self.choice("sync", SYNC)
        return self.chat_folder(), mode, self.number("sync_interval_s", INTERVAL_S) if mode == "interval" else 0

    def number(self, option: str, default: int) -> int:
        return _number(self.main(), option, default)

    def choice(self, option: str, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed words; the first is the default."""
        return _choice(self.main(), option, allowed)

    def fault(self) -> str:
        """Return what of our package cannot be taken over, "" for nothing; see `fault_of`."""
        error = fault_of(model.stored(self._files.read, self._root.confdir, PACKAGE) or {})
        return "%s; what was in force before stays" % error if error else ""

    def offline(self) -> str:
        """Return when the built-in provider answers, one of OFFLINE_MODES."""
        return self.choice("offline", OFFLINE_MODES)

    def services(self, name: str = "", model: str = "") -> list[Service]:
        """Return the model services, the active one first; one of them with another model than its own."""
        sections = [section for section in self.sections() if section.type == "service"]
        known, keys = providers.profiles() if sections else {}, self._all_keys()
        found = [service(section, known, keys) for section in sections]
        for number, section in enumerate(sections):
            if model and found[number]["identifier"] == name:
                found[number] = service(section, known, keys, model)
        if not any(item["identifier"] == OFFLINE for item in found):
            found.append(built_in(OFFLINE))
        for number, item in enumerate(found):
            item["active"] = number == 0
        return found

    def urls(self) -> list[str]:
        """Return the addresses that workers connect to: of services, their proxies, and MCP servers."""
        places = [(item["base_url"], item["options"].get("proxy", "")) for item in self.services()]
        urls = [url for pair in places for url in pair]
        servers = [section for section in self.sections() if section.type.endswith("mcp_server")]
        urls += [str(one.options.get("url") or one.options.get("server_url") or "") for one in servers]
        return [url for url in urls if url]

    def service(self, wanted: str = "") -> Service:
        """Return one service by its identifier or alias, the active one without any.

        Raises: SettingsError when it does not exist or cannot be used.
        """
        return self.chain(wanted)[0]

    def chain(self, wanted: str = "") -> list[Service]:
        """Return the services to try in order for an identifier, an alias or identifier/model; never none.

        Without any: the active one, then those that the alias `chat` names to stand in for it.
        Raises: SettingsError when there is nothing of that name, or nothing of it can be used.
        """
        identifiers = [item["identifier"] for item in self.services()]
        aliases = self.aliases()
        if not wanted:
            targets = [identifiers[0], *[name for name in aliases.get(STAND_INS, []) if name != identifiers[0]]]
        elif wanted not in identifiers and wanted in aliases:
            targets = aliases[wanted]
        elif wanted in identifiers or wanted.partition("/")[0] in identifiers:
            targets = [wanted]
        else:
            raise SettingsError("there is no service %r" % wanted, "list them with: oasis services")
        found: list[Service] = []
        for name, _, other in [target.partition("/") for target in targets]:
            # One that is not there cannot be used, which stops no other.
            lacking = {"name": name, "vendor": "", "ready": False, "note": "there is none of that name"}
            none: Service = {**OFFLINE_SERVICE, **lacking}  # type: ignore[typeddict-item]
            found.append(next((item for item in self.services(name, other) if item["identifier"] == name), none))
        usable = [item for item in found if item["ready"]]
        if all(item["vendor"] == OFFLINE for item in found) and not usable:
            absent = parts.absent(OFFLINE)
            if any(item["ready"] for item in self.services()):
                raise SettingsError(absent.message, "%s; or let another service answer: oasis select" % absent.hint)
            hint = "%s; or set up a service with a model: oasis setup" % absent.hint
            raise SettingsError("%s; and no service with a model is in use" % absent.message, hint)
        if not usable:
            lacks = "; ".join("service %s cannot be used: %s" % (i["name"], i["note"]) for i in found)
            raise SettingsError(
                lacks, "mend it (oasis key, oasis change), or let another answer: oasis add, oasis select"
            )
        return usable

    def aliases(self) -> dict[str, list[str]]:
        """Return the aliases: name -> what it stands for, service or service/model, in the order to try them."""
        found = [alias(section) for section in self.sections() if section.type == "alias"]
        return {item["name"]: item["targets"] for item in reversed(found) if item["targets"]}

    def key(self, identifier: str) -> str:
        """Return the API key of a service, "" when none is set; for a worker's request only."""
        return self._all_keys().get(identifier, "")

    def keys(self) -> list[str]:
        """Return all API keys, for nothing but to look whether a text holds one; none when the file is damaged."""
        try:
            return list(self._all_keys().values())
        except SettingsError:
            return []  # then nobody can have taken one from it

    def set_key(self, identifier: str, key: str) -> None:
        """Store the API key of a service; an empty one removes it."""
        if key != self._keys(self._files.read(self._key_path)).get(identifier, ""):
            self.add_keys({identifier: key})

    def add_keys(self, more: dict[str, str]) -> None:
        """Add keys to the key file, all or none of them."""
        keys = {**self._keys(self._files.read(self._key_path)), **more}
        self._files.folder(self._root.state_folder)
        self._files.replace(self._key_path, jsonl.line({name: value for name, value in keys.items() if value}))

    def request(self, service: Service) -> dict[str, Any]:
        """Return the part of a worker's request that names the service; it holds the key and the proxy's password."""
        target = {name: service[name] for name in ("vendor", "profile", "base_url", "model")}
        options = {"stream": True, **service["options"]}
        if service["context_tokens"]:
            options["context_tokens"] = service["context_tokens"]
        if "proxy" in options:
            options["proxy_auth"] = self.key(str(service["identifier"]) + PROXY)
        return {**target, "service": service["identifier"], "key": self.key(service["identifier"]), "options": options}

    def _all_keys(self) -> dict[str, str]:
        """Return the keys by service: those of the key file, and where it has none those of the environment."""
        keys = self._keys(self._known.read(self._key_path))
        if not self._layers or not self._layers.keys:
            return keys
        known = providers.profiles()
        found: dict[str, str] = {}
        for section in self.sections():
            if section.type == "service":
                given = "" if found else self._layers.keys.get("", "")
                profile = profile_of(str(section.options.get("name", "")), known)
                name = str(section.options.get("identifier") or section.name)
                found[name] = keys.get(name) or given or self._layers.keys.get(profile, "")
        return {**keys, **{name: key for name, key in found.items() if key}}

    def _keys(self, data: bytes | None) -> dict[str, str]:
        try:
            keys: object = jsonl.loads(data) if data else {}
        except SchemaError:
            keys = None  # its words may hold a part of a key
        if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
            raise SettingsError("the key file %s is damaged" % self._key_path, "remove it and enter the keys again")
        return keys

    def install_key(self) -> bytes:
        """Return the key that binds approvals to this installation, made at its first start."""
        path = self._root.state_folder + "/plan.key"
        key = self._files.read(path)
        if not key or len(key) != _KEY_BYTES:
            key = os.urandom(_KEY_BYTES)
            self._files.folder(self._root.state_folder)
            self._files.replace(path, key)
        return key


def write(cursor: Cursor, steps: Sequence[Step]) -> None:
    """Carry out operations on our own package; what a crash left half done there is taken back before."""
    if cursor.changes(PACKAGE):
        cursor.revert(PACKAGE)
    cursor.stage([{"package": PACKAGE, **step} for step in steps])
    cursor.commit(PACKAGE)


# Sections: a model service in our options or in those of upstream, an alias
#
# What is wrong goes into the service's `note`, all of it at once, and stops no other service.

OFFLINE = "offline"
TOOL_MODES = ("auto", "none")
# How often a service is asked, where its profile does not say it: faster than anybody types, slower than a fault.
PER_S, BURST = 10, 5
# What has a meaning of its own in a list of aliases; every other name is the owner's.
RESERVED = ("chat", "title", "intent", "embedding")
SIZES = ("nano", "milli", "kilo", "mega", "giga")

OFFLINE_SERVICE: Service = {
    "identifier": OFFLINE, "name": "offline", "model": "built-in", "profile": "", "vendor": OFFLINE, "base_url": "",
    "tool_mode": TOOL_MODES[0], "context_tokens": 0, "key": "none", "is_local": True,
    "pace": {"per_s": PER_S, "burst": BURST}, "options": {}, "is_wrong": False, "ready": True, "note": "",
}  # fmt: skip

# Upstream's options for the address, by profile; those of the second kind count when their type is `custom`.
UPSTREAM_ENDPOINTS = {"ollama": "ollama_endpoint", "lmstudio": "lmstudio_endpoint"}
UPSTREAM_CUSTOM = ("openai", "anthropic", "gemini", "openrouter")
# Upstream, and many a service's own page, tell the address of one method; ours is what stands before it.
_METHODS = ("/chat/completions", "/responses", "/messages", "/api/chat", "/api/generate")
_LEVELS = ("off", "adaptive", "low", "medium", "high")


def built_in(identifier: str) -> Service:
    """Return the built-in service, which cannot be used where its part is missing."""
    if parts.first("offline") and "offline" not in parts.refused:
        return {**OFFLINE_SERVICE, "identifier": identifier}
    absent = parts.absent("offline")
    note = "%s: %s" % (absent.message.partition(": ")[2], absent.hint)
    return {**OFFLINE_SERVICE, "identifier": identifier, "ready": False, "note": note}


def service(section: model.Section, known: Profiles, keys: dict[str, str], model: str = "") -> Service:
    """Return a section as a service, of another model than its own when one is given; without `active`."""
    problems: list[str] = []
    # A list in the place of one value is a fault.
    texts = {name: value for name, value in section.options.items() if isinstance(value, str)}
    problems += ["%s is a list, not one value" % name for name in section.options if name not in (*texts, "extra")]
    name, identifier = texts.get("name", ""), texts.get("identifier") or section.name
    if name.lower() == OFFLINE:
        return built_in(identifier)
    profile, base_url = _place(texts, known, problems)
    entry = known.get(profile, {})
    tokens = texts.get("context_tokens", str(entry.get("context_tokens", 0)))
    if not is_whole(tokens):
        problems.append("context_tokens is %r, not a whole number" % tokens)
    item: Service = {
        "identifier": identifier, "name": name, "model": model or texts.get("model", "") or entry.get("model", ""),
        "profile": profile, "vendor": entry.get("vendor", ""), "base_url": base_url,
        "tool_mode": texts.get("tool_mode", TOOL_MODES[0]), "context_tokens": int(tokens) if is_whole(tokens) else -1,
        "key": entry.get("key", "none"),
        # What is sent to a local server stays at home, so a remote server of a local kind is not local.
        "is_local": bool(entry.get("local")) and (not base_url or is_at_home(base_url)),
        "pace": {"per_s": entry.get("per_s", PER_S), "burst": entry.get("burst", BURST)},
        "options": _options(texts, section.options.get("extra", []), problems),
        "is_wrong": False, "ready": False, "note": "",
    }  # fmt: skip
    if item["tool_mode"] not in TOOL_MODES:
        problems.append("tool_mode is %r, allowed are %s" % (item["tool_mode"], ", ".join(TOOL_MODES)))
    item["is_wrong"] = bool(problems)
    if profile and item["key"] == "required" and not keys.get(identifier):
        is_old = texts.get("api_key")
        problems.append("its api_key is moved out of UCI when oasis starts again" if is_old else "no key is set")
    if profile and not item["model"]:
        problems.append("no model is set")
    if profile and not base_url:
        problems.append("no endpoint is set")
    item["ready"], item["note"] = not problems, "; ".join(problems)
    return item


def _place(texts: dict[str, str], known: Profiles, problems: list[str]) -> tuple[str, str]:
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


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number of a size that means something."""
    return text.isascii() and text.isdigit() and len(text) < 10


def _is_temperature(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdigit() and len(text) < 10 and float(text) <= 2


# The words of UCI's own scripts for yes and no.
_ON, _OFF = ("1", "on", "true", "yes", "enabled"), ("0", "off", "false", "no", "disabled")


# What it must be: (is it that, how it is read).
_KINDS: dict[str, tuple[Callable[[str], bool], Callable[[str], object]]] = {
    "a whole number above 0": (lambda text: is_whole(text) and int(text) > 0, int),
    "seconds": (lambda text: is_whole(text) and int(text) > 0, int),
    "a number up to 9": (lambda text: is_whole(text) and int(text) < 10, int),
    "a number from 0 to 2": (_is_temperature, float),
    "on or off": (lambda text: text in _ON + _OFF, lambda text: text in _ON),
    "an absolute path": (lambda text: text.startswith("/"), str),
    "http:// or https:// and a host": (is_address, str),
}
# Option: what it must be; they go into a request's options.
_REQUEST = {
    "max_tokens": "a whole number above 0", "temperature": "a number from 0 to 2", "idle_s": "seconds",
    "connect_s": "seconds", "total_s": "seconds", "retries": "a number up to 9", "ca_file": "an absolute path",
    "proxy": "http:// or https:// and a host", "search": "on or off", "cache": "on or off", "strict": "on or off",
    "dimensions": "a whole number above 0",
}  # fmt: skip


def _options(texts: dict[str, str], extra: object, problems: list[str]) -> Options:
    options: Options = {}
    for name, words in _REQUEST.items():
        (is_one, read), text = _KINDS[words], texts.get(name, "")
        if text and is_one(text):
            options[name] = read(text)  # type: ignore[literal-required]  # the table names its keys
        elif text:
            problems.append("%s is %r, not %s" % (name, text, words))
    thinking = _thinking(texts, problems)
    if thinking:
        options["thinking"] = thinking
    fields: dict[str, Json] = {}
    for item in [extra] if isinstance(extra, str) else list(extra) if isinstance(extra, list) else []:
        name, _, text = str(item).partition("=")
        try:
            fields[name] = jsonl.loads(text.encode())
        except SchemaError:
            problems.append("extra holds %r, not NAME=JSON" % item)
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


def alias(section: model.Section) -> dict[str, Any]:
    """Return a section as an alias. Shape: {"name", "targets": [service or service/model]}."""
    targets = section.options.get("target", [])
    return {
        "name": str(section.options.get("name", section.name)),
        "targets": [targets] if isinstance(targets, str) else list(targets),
    }
