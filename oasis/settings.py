"""What the owner set: /etc/config/oasis, the key file and the install key.

API keys are in state/keys.json (0600), never in UCI, and leave this module only inside a worker's request. Read afresh
for each run, so that an edit needs no restart. Knows nothing of how a setting is used.
"""

from __future__ import annotations

import os

from oasis import providers
from oasis.core import jsonl
from oasis.errors import SchemaError, SettingsError
from oasis.uci import model

if False:  # annotations only
    from oasis.core.shapes import Any
    from oasis.system.files import Files
    from oasis.system.root import Root

PACKAGE = "oasis"
OFFLINE = "offline"
TOOL_MODES = ("auto", "none")
_KEY_BYTES = 32


class Settings:
    """The settings of one router root."""

    def __init__(self, root: Root, files: Files) -> None:
        self._root = root
        self._files = files

    def main(self) -> dict[str, str]:
        """Return the options of the section `main`; absent ones are absent."""
        for section in self.sections():
            if section.name == "main":
                return {key: value for key, value in section.options.items() if isinstance(value, str)}
        return {}

    def sections(self) -> list[model.Section]:
        """Return all sections of our package, upstream's chats and services among them."""
        data = self._files.read(self._root.confdir + "/" + PACKAGE)
        return list(model.parse(data, PACKAGE).sections) if data else []

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

    def services(self) -> list[dict[str, Any]]:
        """Return the model services, the active one first.

        Shape: {"identifier", "name", "model", "profile", "vendor", "base_url", "tool_mode", "context_tokens", "ready",
        "active", "note"}.
        `tool_mode`: auto, or none for a model that cannot call tools and writes commands instead. `context_tokens`:
        what the model takes, 0 where nobody said it.
        """
        known = providers.profiles()
        keys = self._keys()
        found = [_service(section, known, keys) for section in self.sections() if section.type == "service"]
        if not any(item["identifier"] == OFFLINE for item in found):
            found.append({**_OFFLINE_SERVICE})
        for number, item in enumerate(found):
            item["active"] = number == 0
        return found

    def service(self, identifier: str = "") -> dict[str, Any]:
        """Return one service, the active one without an identifier.

        Raises: SettingsError when it does not exist or cannot be used.
        """
        services = self.services()
        chosen = [item for item in services if item["identifier"] == identifier] if identifier else services[:1]
        if not chosen:
            raise SettingsError("there is no service %r" % identifier, "list them with: oasis services")
        if not chosen[0]["ready"]:
            raise SettingsError("service %s cannot be used: %s" % (chosen[0]["name"], chosen[0]["note"]))
        return chosen[0]

    def key(self, identifier: str) -> str:
        """Return the API key of a service, "" when none is set; for a worker's request only."""
        return self._keys().get(identifier, "")

    def keys(self) -> list[str]:
        """Return all API keys, for nothing but to look whether a text holds one; none when the file is damaged."""
        try:
            return list(self._keys().values())
        except SettingsError:
            return []  # then nobody can have taken one from it

    def set_key(self, identifier: str, key: str) -> None:
        """Store the API key of a service; an empty one removes it."""
        keys = self._keys()
        keys[identifier] = key
        self._files.folder(self._root.state_folder)
        self._files.replace(self._key_path, jsonl.line({name: value for name, value in keys.items() if value}))

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


_OFFLINE_SERVICE: dict[str, Any] = {
    "identifier": OFFLINE, "name": "offline", "model": "built-in", "profile": "", "vendor": OFFLINE, "base_url": "",
    "tool_mode": TOOL_MODES[0], "context_tokens": 0, "ready": True, "note": "",
}  # fmt: skip


def _service(section: model.Section, known: dict[str, dict[str, object]], keys: dict[str, str]) -> dict[str, Any]:
    options = section.options
    name = str(options.get("name", ""))
    identifier = str(options.get("identifier", section.name))
    if name.lower() == OFFLINE:
        return {**_OFFLINE_SERVICE, "identifier": identifier}
    profile = _profile(name, known)
    entry = known.get(profile, {})
    context_tokens = _count(options.get("context_tokens", entry.get("context_tokens", 0)))
    item = {
        "identifier": identifier,
        "name": name,
        "model": str(options.get("model", "") or entry.get("model", "")),
        "profile": profile,
        "vendor": entry.get("vendor", ""),
        "base_url": str(options.get("endpoint", "") or entry.get("base_url", "")),
        "tool_mode": str(options.get("tool_mode", TOOL_MODES[0])),
        "context_tokens": context_tokens,
        "note": "",
    }
    if not profile:
        item["note"] = "no provider is called %r; there are: %s" % (name, ", ".join(sorted(known)))
    elif entry.get("key") == "required" and not keys.get(identifier):
        item["note"] = "no key is set"
    elif not item["model"]:
        item["note"] = "no model is set"
    elif item["tool_mode"] not in TOOL_MODES:
        item["note"] = "tool_mode is %r, allowed are %s" % (item["tool_mode"], ", ".join(TOOL_MODES))
    elif context_tokens < 0:
        item["note"] = "context_tokens is %r, not a whole number" % options.get("context_tokens")
    item["ready"] = not item["note"]
    return item


def _count(value: object) -> int:
    """Return a whole number, -1 for what is none."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else -1


def _profile(name: str, known: dict[str, dict[str, object]]) -> str:
    for profile, entry in known.items():
        if name.lower() in (profile, str(entry["name"]).lower()):
            return profile
    return ""
