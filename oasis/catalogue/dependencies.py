"""What a section lacks: options that others call for, options that nothing reads under its protocol or mode, and values
that do not go together.

Only what the change itself brought about counts: a section that was already so can still be changed elsewhere. The
rules are data of the catalogue (see entries.py), and never about secrets: the values that they look at are told.
"""

from __future__ import annotations

import re

from oasis.catalogue import entries


def missing(package: str, before: dict[str, object] | None, now: dict[str, object]) -> list[tuple[str, str, str]]:
    """Return (option, what is wrong, what to do) for each rule that the section breaks and did not break before.

    `before` is the section as it was, None when it is new. Shape of both: {".type", option: str | [str]}.
    """
    type_ = str(now[".type"])
    if before is not None and before[".type"] != type_:
        before = None
    return [
        *_lacking(package, type_, before, now),
        *_unread(package, type_, before, now),
        *_clashing(package, type_, before, now),
    ]


def _lacking(
    package: str, type_: str, before: dict[str, object] | None, now: dict[str, object]
) -> list[tuple[str, str, str]]:
    found = []
    for rule in entries.rules(package, type_, "needs"):
        names, when = rule["one_of"], rule["when"]
        assert isinstance(names, list) and isinstance(when, dict)
        if _holds(when, now) and not any(now.get(name) for name in names) and _differs([*when, *names], before, now):
            first = " or ".join(name for name in names if entries.mark(package, type_, name) != "exec")
            cause = " with " + _condition(when, now) if when else ""
            found.append(
                (names[0], f"a {type_} section{cause} needs {first}", str(rule.get("hint", f"set {first} too")))
            )
    return found


def _unread(
    package: str, type_: str, before: dict[str, object] | None, now: dict[str, object]
) -> list[tuple[str, str, str]]:
    rules = entries.rules(package, type_, "only")
    found = []
    for name in now if rules else ():
        about = [rule["when"] for rule in rules if name in _words(rule["options"])]
        if about and _differs([name], before, now) and not any(_holds(when, now) for when in about):
            keys = sorted({key for when in about if isinstance(when, dict) for key in when})
            wanted = " or ".join(_alternatives(when) for when in about)
            text = f"{name} is not read with " + _condition(dict.fromkeys(keys, ""), now)
            found.append((name, text, f"it belongs to {wanted}; leave it out, or change that first"))
    return found


def _clashing(
    package: str, type_: str, before: dict[str, object] | None, now: dict[str, object]
) -> list[tuple[str, str, str]]:
    found = []
    for rule in entries.rules(package, type_, "never"):
        when = rule["when"]
        assert isinstance(when, dict)
        if _holds(when, now) and _differs(list(when), before, now):
            found.append((next(iter(when)), "there is no " + _condition(when, now), str(rule["hint"])))
    return found


def _holds(when: object, section: dict[str, object]) -> bool:
    assert isinstance(when, dict)
    return all(any(_matches(str(pattern), word) for word in _words(section.get(key))) for key, pattern in when.items())


def _matches(pattern: str, word: str) -> bool:
    return re.match(f"(?:{pattern})\\Z", word) is not None


def _words(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [str(value or "")]


def _differs(names: list[str], before: dict[str, object] | None, now: dict[str, object]) -> bool:
    return before is None or any(before.get(name) != now.get(name) for name in names)


def _condition(when: dict[str, object], section: dict[str, object]) -> str:
    return " and ".join(f"{key} {' '.join(_words(section.get(key))) or '(not set)'}" for key in when)


def _alternatives(when: object) -> str:
    assert isinstance(when, dict)
    return " and ".join("{} {}".format(key, str(pattern).replace("|", ", ")) for key, pattern in when.items())
