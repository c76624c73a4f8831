"""Datatypes of UCI options: which text is a good value, in LuCI's words, and what to say when it is not.

A datatype is an expression like `port`, `range(1,4094)`, `or(ip4addr,'ignore')`, `list(macaddr)`; its words are the
names of validators.py. Knows no package, no option.
"""

from __future__ import annotations

import re

from oasis.catalogue import address_text, validators

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST = 4096  # no option of a router is longer; Python makes no number of more than 4300 digits
_TOKEN = re.compile(r"\s*(?:'([^']*)'|([(),])|([^\s'(),]+))")


def error(expression: str, value: str) -> str:
    """Return what a value of that datatype must be, "" when it is one.

    Raises: KeyError for a datatype that does not exist, which is a fault of the catalogue.
    """
    control = _control(value)
    if control and expression != "text":
        # init scripts write values into configuration files line by line: a line break adds a line of its own
        return "must be one line without control characters"
    if len(value) > _LONGEST and expression != "text":
        return f"must be {_LONGEST} characters long at most"
    return _run(_parse(expression), value)


def truth(value: object) -> bool | None:
    """Tell what a UCI boolean means; None when it is none."""
    return value in validators.TRUE if value in validators.TRUE + validators.FALSE else None


def _control(value: str) -> bool:
    return any(char < " " or char == "\x7f" for char in value)


# Expressions: a node is (name, [argument nodes]); a literal is ("'", its text).


def _parse(expression: str) -> tuple[str, list[object]]:
    tokens = [match.groups() for match in _TOKEN.finditer(expression)]
    node, rest = _node(tokens)
    if rest:
        raise KeyError(expression)
    return node


def _node(tokens: list[tuple[str | None, ...]]) -> tuple[tuple[str, list[object]], list[tuple[str | None, ...]]]:
    literal, _, word = tokens[0]
    rest = tokens[1:]
    if literal is not None:
        return ("'", [literal]), rest
    arguments: list[object] = []
    if rest and rest[0][1] == "(":
        while rest[0][1] != ")":
            argument, rest = _node(rest[1:])
            arguments.append(argument)
        rest = rest[1:]
    return (str(word), arguments), rest


def _run(node: object, value: str) -> str:
    assert isinstance(node, tuple)
    name, arguments = node
    if name == "'" or address_text.is_number(name):
        wanted = arguments[0] if name == "'" else name
        return "" if value == wanted else f"must be {wanted}"
    if name in _COMBINED:
        return _COMBINED[name](value, arguments)
    return validators.PLAIN[name](value, *[_literal(argument) for argument in arguments])


def _literal(node: object) -> str:
    assert isinstance(node, tuple)
    return str(node[1][0] if node[0] == "'" else node[0])


def _or(value: str, choices: list[object]) -> str:
    found = [_run(choice, value) for choice in choices]
    if "" in found:
        return ""
    return "must be " + ", or ".join(text[8:] if text.startswith("must be ") else text for text in found)


def _and(value: str, choices: list[object]) -> str:
    return next((text for text in (_run(choice, value) for choice in choices) if text), "")


def _neg(value: str, choices: list[object]) -> str:
    # firewall4 takes "!x" and "! x"
    return _run(choices[0], value[1:].strip() if value.startswith("!") else value)


def _list(value: str, choices: list[object]) -> str:
    return next((text for text in (_run(choices[0], word) for word in value.split()) if text), "")


_COMBINED: dict[str, Callable[[str, list[object]], str]] = {"or": _or, "and": _and, "neg": _neg, "list": _list}
