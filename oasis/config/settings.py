"""What the owner set: /etc/config/oasis, the key file and the install key.

API keys are in state/keys.json (0600), never in UCI, and leave this module only inside a worker's request. Read afresh
for each run, so that an edit needs no restart. Knows nothing of how a setting is used.
"""

from __future__ import annotations

import os

from oasis import providers
from oasis.config import layers, sections
from oasis.config.sections import OFFLINE_SERVICE
from oasis.core import jsonl
from oasis.errors import SchemaError, SettingsError
from oasis.uci import model

if False:  # annotations only
    from collections.abc import MutableMapping

    from oasis.core.shapes import Any, Callable
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.uci.cursor import Cursor

PACKAGE = "oasis"
OFFLINE = sections.OFFLINE
# The alias whose services stand in for the active one.
STAND_INS = "chat"
# When the built-in provider answers: where it is chosen or stands in, before a model where it is certain, alone, never.
OFFLINE_MODES = ("fallback", "first", "only", "never")
_KEY_BYTES = 32
# What stands behind a service's identifier where the key file holds USER:PASSWORD of its proxy.
PROXY = "/proxy"


class Settings:
    """The settings of one router root; on a host that is no router those of an `environment` lie above UCI (layers/).

    Raises: SettingsError for a layer that is not understood.
    """

    def __init__(self, root: Root, files: Files, environment: MutableMapping[str, str] | None = None) -> None:
        self._root = root
        self._files = files
        self._layers = None if environment is None else layers.found(files, root.folder, environment, self.profiles)

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
        """Return the sections that are in UCI."""
        data = self._files.read(self._root.confdir + "/" + PACKAGE)
        return list(model.parse(data, PACKAGE).sections) if data else []

    def layer_of(self, section: model.Section) -> str:
        """Return the file of the layer that a section is from, "" for UCI."""
        over = self._layers
        return over.path if over and any(one is section for one in over.sections) else ""

    def chat_folder(self) -> str:
        """Return where chats are kept."""
        path = self.main().get("chat_path", "/etc/oasis/chats")
        if not path.startswith("/") or ".." in path.split("/"):
            raise SettingsError("oasis.main.chat_path is %r" % path, "an absolute path, without ..")
        return self._root.path(path)

    def number(self, option: str, default: int) -> int:
        """Return a whole number of the section `main`."""
        text = self.main().get(option, str(default))
        if not (text.isascii() and text.isdigit()):
            raise SettingsError("oasis.main.%s is %r" % (option, text), "a whole number")
        return int(text)

    def choice(self, option: str, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed words; the first is the default."""
        text = self.main().get(option, allowed[0])
        if text not in allowed:
            raise SettingsError("oasis.main.%s is %r" % (option, text), "one of " + ", ".join(allowed))
        return text

    def offline(self) -> str:
        """Return when the built-in provider answers, one of OFFLINE_MODES."""
        return self.choice("offline", OFFLINE_MODES)

    def profiles(self) -> dict[str, dict[str, object]]:
        """Return what a service can be of, by the profile's name; see providers/profiles.json."""
        return providers.profiles()

    def services(self) -> list[dict[str, Any]]:
        """Return the model services, the active one first.

        Shape: {"identifier", "name", "model", "profile", "vendor", "base_url", "tool_mode", "context_tokens", "key",
        "is_local", "options", "ready", "active", "note"}.
        `tool_mode`: auto, or none for a model that cannot call tools and writes commands instead. `context_tokens`:
        what the model takes, 0 where nobody said it. `key`: required, optional or none. `options`: of a request.
        """
        return [item for item, _ in self._offered()]

    def urls(self) -> list[str]:
        """Return the addresses that workers connect to: of services, their proxies, and MCP servers."""
        places = [(item["base_url"], item["options"].get("proxy", "")) for item in self.services()]
        urls = [url for pair in places for url in pair]
        servers = [section for section in self.sections() if section.type.endswith("mcp_server")]
        urls += [str(one.options.get("url") or one.options.get("server_url") or "") for one in servers]
        return [url for url in urls if url]

    def _offered(self) -> list[tuple[dict[str, Any], Callable[[str], dict[str, Any]]]]:
        """Return the services, each with what gives it with another model."""
        known, keys = providers.profiles(), self._all_keys()
        found = []
        for section in self.sections():
            if section.type == "service":
                found.append((_reader(section, known, keys)(""), _reader(section, known, keys)))
        if not any(item["identifier"] == OFFLINE for item, _ in found):
            found.append(({**OFFLINE_SERVICE}, lambda model: {**OFFLINE_SERVICE}))
        for number, (item, _) in enumerate(found):
            item["active"] = number == 0
        return found

    def service(self, wanted: str = "") -> dict[str, Any]:
        """Return one service by its identifier or alias, the active one without any.

        Raises: SettingsError when it does not exist or cannot be used.
        """
        return self.chain(wanted)[0]

    def chain(self, wanted: str = "") -> list[dict[str, Any]]:
        """Return the services to try in order for an identifier, an alias or identifier/model; never none.

        Without any: the active one, then those that the alias `chat` names to stand in for it.
        Raises: SettingsError when there is nothing of that name, or nothing of it can be used.
        """
        offered = self._offered()
        targets = self._targets(wanted, {item["identifier"] for item, _ in offered}) if wanted else None
        if targets is None:
            first = offered[0][0]["identifier"]
            targets = [first, *[target for target in self.aliases().get(STAND_INS, []) if target != first]]
        found = [_meant(target, offered) for target in targets]
        usable = [item for item in found if item["ready"]]
        if not usable:
            lacks = "; ".join("service %s cannot be used: %s" % (i["name"], i["note"]) for i in found)
            raise SettingsError(lacks, "mend it (oasis key, oasis change), or let another one answer: oasis select")
        return usable

    def aliases(self) -> dict[str, list[str]]:
        """Return the aliases: name -> what it stands for, service or service/model, in the order to try them."""
        found = [sections.alias(section) for section in self.sections() if section.type == "alias"]
        return {item["name"]: item["targets"] for item in reversed(found) if item["targets"]}

    def _targets(self, wanted: str, identifiers: set[str]) -> list[str]:
        if wanted in identifiers:
            return [wanted]
        aliases = self.aliases()
        if wanted in aliases:
            return aliases[wanted]
        if wanted.partition("/")[0] in identifiers:
            return [wanted]
        raise SettingsError("there is no service %r" % wanted, "list them with: oasis services")

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
        if key != self._keys().get(identifier, ""):
            self.add_keys({identifier: key})

    def add_keys(self, more: dict[str, str]) -> None:
        """Store keys beside the others, all or none of them."""
        keys = {**self._keys(), **more}
        self._files.folder(self._root.state_folder)
        self._files.replace(self._key_path, jsonl.line({name: value for name, value in keys.items() if value}))

    def request(self, service: dict[str, Any]) -> dict[str, Any]:
        """Return the part of a worker's request that says whom to ask; it holds the key, and the proxy's password."""
        whom = {name: service[name] for name in ("vendor", "profile", "base_url", "model")}
        options = {"stream": True, **service["options"]}
        if "proxy" in options:
            options["proxy_auth"] = self.key(str(service["identifier"]) + PROXY)
        return {**whom, "service": service["identifier"], "key": self.key(service["identifier"]), "options": options}

    def _all_keys(self) -> dict[str, str]:
        """Return the keys by service: those of the key file, and where it has none those of the environment."""
        keys = self._keys()
        if not self._layers or not self._layers.keys:
            return keys
        known = providers.profiles()
        found: dict[str, str] = {}
        for section in self.sections():
            if section.type == "service":
                given = "" if found else self._layers.keys.get("", "")
                profile = sections.profile_of(str(section.options.get("name", "")), known)
                name = str(section.options.get("identifier") or section.name)
                found[name] = keys.get(name) or given or self._layers.keys.get(profile, "")
        return {**keys, **{name: key for name, key in found.items() if key}}

    def _keys(self) -> dict[str, str]:
        data = self._files.read(self._key_path)
        try:
            keys = jsonl.loads(data) if data else {}
        except SchemaError:
            keys = None  # its words may hold a part of a key
        if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
            raise SettingsError("the key file %s is damaged" % self._key_path, "remove it and enter the keys again")
        return keys

    @property
    def _key_path(self) -> str:
        return self._root.state_folder + "/keys.json"

    def install_key(self) -> bytes:
        """Return the key that binds approvals to this installation, made at its first start."""
        path = self._root.state_folder + "/plan.key"
        key = self._files.read(path)
        if not key or len(key) != _KEY_BYTES:
            key = os.urandom(_KEY_BYTES)
            self._files.folder(self._root.state_folder)
            self._files.replace(path, key)
        return key


def write(cursor: Cursor, steps: list[dict[str, Any]]) -> None:
    """Carry out operations on our own package; what a crash left half done there is taken back before."""
    if cursor.changes(PACKAGE):
        cursor.revert(PACKAGE)
    cursor.stage([{"package": PACKAGE, **step} for step in steps])
    cursor.commit(PACKAGE)


def _reader(
    section: model.Section, known: dict[str, dict[str, object]], keys: dict[str, str]
) -> Callable[[str], dict[str, Any]]:
    return lambda model: sections.service(section, known, keys, model)


def _meant(target: str, offered: list[tuple[dict[str, Any], Callable[[str], dict[str, Any]]]]) -> dict[str, Any]:
    """Return the service that a target names; one that is not there cannot be used, which stops no other."""
    name, _, model = target.partition("/")
    for item, of_model in offered:
        if item["identifier"] == name:
            return {**of_model(model), "active": item["active"]} if model else item
    return {"name": name, "ready": False, "note": "there is none of that name"}
