"""The layers above UCI on a host that is no router: oasis.toml, then the environment.

    [main]           options of the section main            OASIS_<OPTION>=value does the same, and wins
    [[service]]      a service, before those of UCI          without its key: that is in the environment or kept by
                                                             `oasis key`
    [[alias]]        name, target
    [[price]]        model, service, input, output, cached

A key that nobody knows and a value of the wrong kind are errors that name file and line, or the variable. Variables
that hold API keys (OPENAI_API_KEY and the like, one for each provider; OASIS_LLM_API_KEY for the active service) are
read once and taken out of the environment, before anything is started that could inherit them.
"""

from __future__ import annotations

from oasis.config import toml
from oasis.errors import SettingsError
from oasis.uci.model import Section

if False:  # annotations only
    from collections.abc import MutableMapping

    from oasis.core.shapes import Any, Callable
    from oasis.system.files import Files

FILE = "oasis.toml"
PLACE = "OASIS_CONFIG"
PREFIX = "OASIS_"
ACTIVE_KEY = "OASIS_LLM_API_KEY"
# Variables with this beginning that are no settings.
_OTHERS = (PLACE, ACTIVE_KEY, "OASIS_ROOT")

_TEXT, _NUMBER, _TRUTH = (str,), (int,), (bool,)
_AMOUNT = (int, float, str)
_MAIN: dict[str, tuple[type, ...]] = {
    "approval": _TEXT, "chat_path": _TEXT, "sync": _TEXT, "titles": _TEXT, "uci_backend": _TEXT, "currency": _TEXT,
    "quota": _NUMBER, "worker_max": _NUMBER, "worker_idle_s": _NUMBER, "confirm_s": _NUMBER, "budget_tokens": _NUMBER,
    "sync_interval_s": _NUMBER,
    "management_confirm_s": _NUMBER, "archive_gzip": _TRUTH, "alive_loopback": _TRUTH, "enabled": _TRUTH, "bus": _TRUTH,
    "budget_cost": _AMOUNT,
}  # fmt: skip
_SERVICE: dict[str, tuple[type, ...]] = {
    "name": _TEXT, "identifier": _TEXT, "model": _TEXT, "endpoint": _TEXT, "tool_mode": _TEXT, "ca_file": _TEXT,
    "proxy": _TEXT, "thinking": (str, int), "temperature": (int, float), "max_tokens": _NUMBER,
    "context_tokens": _NUMBER, "idle_s": _NUMBER, "connect_s": _NUMBER, "retries": _NUMBER, "extra": (list,),
    "search": _TRUTH, "cache": _TRUTH, "strict": _TRUTH, "dimensions": _NUMBER,
}  # fmt: skip
_TABLES: dict[str, dict[str, tuple[type, ...]]] = {
    "service": _SERVICE,
    "alias": {"name": _TEXT, "target": (str, list)},
    "price": {"model": _TEXT, "service": _TEXT, "input": _AMOUNT, "output": _AMOUNT, "cached": _AMOUNT},
}
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list of texts"}


class Layers:
    """What was found: `main` options, `sections` of services, aliases and prices, `keys` by profile, "" for the active.

    `path` is the file, for those who tell where a setting comes from.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.main: dict[str, str] = {}
        self.sections: list[Section] = []
        self.keys: dict[str, str] = {}


def load(
    files: Files, folder: str, environment: MutableMapping[str, str], profiles: Callable[[], dict[str, dict[str, Any]]]
) -> Layers:
    """Return the layers of a host; the keys are taken out of `environment`.

    Raises: SettingsError for what nobody knows or what is no value.
    """
    given = environment.get(PLACE, "")
    layers = Layers(given or folder + "/" + FILE)
    layers.keys = _keys(environment, profiles())
    data = files.read(layers.path)
    if data is None and given:
        raise SettingsError("%s names %s, which is not there" % (PLACE, given))
    try:
        tables = toml.read((data or b"").decode("utf-8"), layers.path)
    except UnicodeError:
        raise SettingsError("%s is not UTF-8" % layers.path)
    for table in tables:
        _take(table, layers)
    _take_variables(environment, layers)
    return layers


def _keys(environment: MutableMapping[str, str], profiles: dict[str, dict[str, Any]]) -> dict[str, str]:
    names = {ACTIVE_KEY: [""]}
    for profile, entry in profiles.items():
        if entry.get("key_env"):
            names.setdefault(str(entry["key_env"]), []).append(profile)
    found: dict[str, str] = {}
    for name, owners in names.items():
        key = environment.pop(name, "").strip()
        found.update({owner: key for owner in owners if key})
    return found


def _take(table: dict[str, Any], layers: Layers) -> None:
    name, path = table["name"], layers.path
    if name == "main" and not table["is_array"]:
        for key, (line, value) in table["values"].items():
            text = _checked("%s:%d" % (path, line), "main", key, value, _MAIN)
            layers.main[key] = str(text)
        return
    if name == "" and not table["values"]:
        return
    where = "%s:%d" % (path, table["line"])
    if name not in _TABLES or not table["is_array"]:
        known = "[main], " + ", ".join("[[%s]]" % word for word in _TABLES)
        raise SettingsError("%s: no settings are called %s" % (where, name or "that, outside of a table"), known)
    section = Section(name, "%s%d" % (name, len(layers.sections) + 1), True)
    for key, (line, value) in table["values"].items():
        section.options[key] = _checked("%s:%d" % (path, line), name, key, value, _TABLES[name])
    if name in ("service", "alias") and not section.options.get("name"):
        raise SettingsError("%s: [[%s]] needs a name" % (where, name))
    if name == "service":
        section.options.setdefault("identifier", str(section.options["name"]).lower().replace(" ", ""))
    layers.sections.append(section)


def _checked(where: str, table: str, key: str, value: object, known: dict[str, tuple[type, ...]]) -> str | list[str]:
    """Return a value as UCI has it."""
    if key not in known:
        raise SettingsError("%s: %s has no setting %r" % (where, table, key), "there are: " + ", ".join(known))
    kinds = known[key]
    is_right = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if isinstance(value, list):
        is_right = is_right and all(isinstance(item, str) for item in value)
    if not is_right:
        raise SettingsError("%s: %s is not %s" % (where, key, " or ".join(_WORDS[kind] for kind in kinds)))
    if isinstance(value, bool):
        return "1" if value else "0"
    return list(value) if isinstance(value, list) else str(value)


def _take_variables(environment: MutableMapping[str, str], layers: Layers) -> None:
    for name in sorted(environment):
        if not name.startswith(PREFIX) or name in _OTHERS:
            continue
        key, text = name[len(PREFIX) :].lower(), environment[name]
        kinds = _MAIN.get(key, ())
        value: object = text
        if bool in kinds and text in ("0", "1", "true", "false"):
            value = text in ("1", "true")
        elif int in kinds and text.isascii() and text.isdigit():
            value = int(text)
        layers.main[key] = str(_checked("the variable " + name, "main", key, value, _MAIN))
