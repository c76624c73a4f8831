"""Placeholders in proposed operations: a secret goes from one option into another of its class, and nowhere else.

Followed operation by operation, because the type of a section says what its options hold. A mask, which a model may
have read and given back, is refused as well; so is moving a secret to an option or a type of section where it would be
shown.
"""

from __future__ import annotations

from collections.abc import Callable

from oasis.catalogue.draft import Draft, find
from oasis.errors import PolicyError
from oasis.redaction import secret_options
from oasis.redaction.foreign import HIDDEN
from oasis.redaction.redactor import ENTERED
from oasis.system.late import late

if False:  # annotations only
    from oasis.redaction.redactor import Redactor
    from oasis.uci.edit import Operation

_WHOLE = late(r"«secret:[0-9a-f]+»\Z")
# Also without its marks: a model may lose them, and the rest must not become a password.
_ANY = late(r"secret:[0-9a-f]{8}")
# Where a secret comes from, as a plan card tells it; see change/text_origin.py.
FROM_KEY_BUTTON = "entered with the key button"
COPIED_FROM = "copied from %s"
_MASKS = (secret_options.MASK, "(secret)", "(new secret)")


def refuse(given: object, where: str) -> None:
    """Raise PolicyError when a placeholder stands anywhere in a JSON value, keys too."""
    if isinstance(given, str) and _ANY.search(given):
        raise PolicyError(
            "%s: a placeholder of a secret has no place here" % where,
            "it stands only for the whole value of an option that holds a secret of the same kind, in configure",
        )
    if isinstance(given, (list, tuple)):
        for item in given:
            refuse(item, where)
    elif isinstance(given, dict):
        for key, item in given.items():
            refuse(key, where)
            refuse(item, "%s.%s" % (where, key))


class Restorer:
    """Puts secrets in the place of a chat's placeholders.

    `read_package(name)` gives the sections as they are; `known` tells by value, after `restore`, where
    secrets come from.
    """

    def __init__(
        self, redactor: Redactor, chat: str, read_package: Callable[[str], dict[str, dict[str, object]]]
    ) -> None:
        self._redactor = redactor
        self._chat = chat
        self._draft = Draft(read_package)
        self.known: dict[str, str] = {}

    def restore(self, operations: list[Operation]) -> list[Operation]:
        """Return the operations with secrets where placeholders stood.

        Raises: PolicyError for a placeholder in any other place, a mask, or a secret that would be shown.
        """
        restored = []
        for operation in operations:
            operation, kind = operation.copy(), ""
            package = operation["package"]
            section = find(self._draft.sections(package), operation["section"]) if "section" in operation else ""
            if section:
                kind = str(self._draft.sections(package)[section][".type"])
            if "value" in operation:
                operation["value"] = self._value(operation, kind, operation["value"])
            # No secret is left in an option where it is one no more, or another one.
            held = []
            now = self._draft.sections(package)[section] if section else {}
            if section and operation["op"] == "rename" and "option" in operation:
                held = [(operation["option"], kind, operation["name"])]
            elif section and operation["op"] == "set" and "option" not in operation:
                held = [(name, operation["type"], name) for name in now if not name.startswith(".")]
            for option, new_kind, new_option in held:
                was = secret_options.kind(package, kind, option)
                if was and option in now and secret_options.kind(package, new_kind, new_option) != was:
                    raise PolicyError(
                        "%s: the secret in %s would be shown" % (_where(operation), option), "delete the option first"
                    )
            if operation["op"] != "del_list":  # it makes no secret another option's
                self._draft.follow(operation, section)
            restored.append(operation)
        return restored

    def _value(self, operation: Operation, kind: str, value: str) -> str:
        wanted = secret_options.kind(operation["package"], kind, operation["option"]) if kind else ""
        if value in _MASKS and wanted:
            raise PolicyError(
                "%s: %s is a mask and no value" % (_where(operation), value),
                "leave the option as it is, or give the placeholder that read_config shows",
            )
        if HIDDEN in value:
            raise PolicyError(
                "%s: %s stands for a text that was not shown" % (_where(operation), HIDDEN),
                "leave the option as it is, or read the text with names",
            )
        if not _ANY.search(value):
            return value
        if not _WHOLE.match(value) or operation["op"] not in ("set", "add_list"):
            refuse(value, _where(operation))
        held = self._redactor.named(self._chat, value)
        if held is None:
            raise PolicyError(
                "%s: nothing in this chat is called %s" % (_where(operation), value),
                "read the configuration again; what the owner entered before a restart is entered once more",
            )
        package, section, held_kind, option, secret = held
        if package == ENTERED and wanted and self._redactor.is_typed(value):
            return secret  # whether it was given as the new one, the owner's words tell (forms.given)
        if package == ENTERED and wanted:
            self.known[secret] = FROM_KEY_BUTTON
            return secret
        if package == ENTERED:
            raise PolicyError("%s holds no secret" % _where(operation), "what was entered as one goes nowhere else")
        if not wanted or secret_options.kind(package, held_kind, option) != wanted:
            raise PolicyError(
                "%s does not hold a secret like %s.%s.%s" % (_where(operation), package, section, option),
                "a placeholder goes only into an option that holds a secret of the same kind",
            )
        self.known[secret] = COPIED_FROM % ".".join((package, section, option))
        return secret


def _where(operation: Operation) -> str:
    return ".".join(str(operation[key]) for key in ("package", "section", "option") if key in operation)
