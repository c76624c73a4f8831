"""Which UCI options hold a secret, decided by name and never by value.

The catalogue's mark decides where it tells it; for what has no entry, or is exec there, the rules in secrets.json do.

One place for every way out of the router: tool results, diffs, logs and chats ask here before they show a value.
"""

from __future__ import annotations

from oasis.catalogue import entries
from oasis.core import jsonl

MASK = "********"  # always as long, so that it tells nothing about the value

# By these an option asks the router for a secret: netifd's WireGuard makes a key. They are none themselves.
_WORDS = ("generate",)

# Of secrets.json: how options are named that hold a secret in any package, and the rules for one package.
_named: dict[str, tuple[str, ...]] = {}
_rules: dict[str, list[list[str]]] = {}


def is_secret(package: str, type: str, option: str) -> bool:
    """Tell whether `option` of a section of `type` holds a secret."""
    known = entries.is_secret(package, type, option)
    return looks_secret(package, type, option) if known is None else known


def looks_secret(package: str, type: str, option: str) -> bool:
    """Tell it by the name alone, without the catalogue's help and memory: never False for what is_secret says."""
    is_one = is_named(option)
    package, type, option = package.lower(), type.lower(), option.lower()  # UCI names differ in case between packages
    for name, rules in _rules.items():
        for own, kind, wanted in rules:
            is_type = kind == type or (kind[-1] == "*" and type.startswith(kind[:-1]))
            if is_type and own == package and wanted == option:
                is_one = name == "secret"
    return is_one


def is_named(option: str) -> bool:
    """Tell it by the name of an option of any package: for texts in which it stands."""
    if not _named:
        data = jsonl.table(__file__, "secrets.json")
        parts = {name: [rule.lower().split(".") for rule in data[name]] for name in ("secret", "shown")}
        # `shown` comes last and wins.
        _rules.update({name: [rule for rule in rules if rule[0] != "*"] for name, rules in parts.items()})
        names, shown = ([rule[2] for rule in rules if rule[0] == "*"] for rules in parts.values())
        # At once: another thread may ask meanwhile.
        _named.update({"is": tuple(name for name in names if "*" not in name),
                       "ends": tuple(name[1:] for name in names if name.startswith("*")),
                       "begins": tuple(name[:-1] for name in names if name.endswith("*")),
                       "shown": tuple(shown)})  # fmt: skip
    option = option.lower()
    is_one = option in _named["is"] or option.endswith(_named["ends"]) or option.startswith(_named["begins"])
    return is_one and option not in _named["shown"]


def may_hold(package: str, option: str) -> bool:
    """Tell whether an option of that name holds a secret in a section of any type: for who does not know the type."""
    known = [type for type in entries.types(package) if entries.option(package, type, option)]
    return any(is_secret(package, type, option) for type in known or [""])


def kind(package: str, type: str, option: str) -> str:
    """Return the class of the secret that an option holds, "" for none; without a catalogue every name is its own."""
    if not is_secret(package, type, option):
        return ""
    found = entries.mark(package, type, option)
    return found if found.startswith("secret:") else "secret %s.%s" % (package, option)


def is_word(value: str) -> bool:
    """Tell whether a value of an option for secrets is none, but asks for one to be made."""
    return value in _WORDS


def mask(value: object) -> object:
    """Return what is shown in place of a secret, in the shape of the value: a text or a list."""
    if isinstance(value, list):
        return [mask(one) for one in value]
    return value if is_word(str(value)) else MASK
