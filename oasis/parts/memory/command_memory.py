"""`oasis memory`: what is remembered of the owner; shown to nobody who does not ask for it."""

from __future__ import annotations

import time

from oasis.cli.commands import DECLINED, OK
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.terminal import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

_USAGE = "usage: oasis memory [list|on|off|add FACT|change ID FACT|forget ID|forget all|export]"
_ALL = "all"


def memory(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list the facts without one."""
    action, rest = arguments["ACTION"] or "list", arguments["WORDS"]
    if action not in ACTIONS:
        raise UsageError(f"unknown word {action!r}", _USAGE)
    function, needs = ACTIONS[action]
    if len(rest.split(" ", needs)) < needs or bool(rest) != bool(needs):
        raise UsageError(f"`memory {action}` needs {('nothing', 'a word', 'an id and a fact')[needs]} more", _USAGE)
    return function(call, rest, screen)


def _list(call: Call, rest: str, screen: Screen) -> int:
    reply = call("memory.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    for fact in reply["facts"]:
        when = time.strftime("%Y-%m-%d", time.localtime(fact["updated_unix_s"]))
        whose = "  (holds " + ", ".join(fact["taint"]) + ")" if fact.get("taint") else ""
        screen.line(
            clean.line(
                f"{fact['id']}  {fact['confidence']:4.0%}  {when}  {fact['category']:<12}  {fact['fact']}{whose}"
            )
        )
    if not reply["facts"]:
        screen.line("nothing is remembered")
    if reply["extract"]:
        screen.line("facts are taken out of what you say; no more: oasis memory off", "-")
    else:
        screen.line("nothing is taken out of what you say; to have that: oasis memory on", "-")
    return OK


def _set(is_on: bool) -> Callable[[Call, str, Screen], int]:
    def act(call: Call, rest: str, screen: Screen) -> int:
        reply = call("memory.set", {"extract": is_on})
        words = "from now on facts are taken out of what you say, by a model: look at them with `oasis memory`"
        status = _told(reply, words if is_on else "nothing is taken out of what you say any more", screen)
        if reply.get("note"):
            screen.notice(clean.line(reply["note"]))
        return status

    return act


def _add(call: Call, rest: str, screen: Screen) -> int:
    reply = call("memory.add", {"fact": rest})
    return _told(reply, f"{reply['fact']['id']} is remembered", screen)


def _change(call: Call, rest: str, screen: Screen) -> int:
    name, _, fact = rest.partition(" ")
    return _told(call("memory.change", {"id": name, "fact": fact}), f"{name} is changed", screen)


def _forget(call: Call, rest: str, screen: Screen) -> int:
    if rest == _ALL and screen.can_ask:
        from oasis.cli.terminal import YES, ask

        if ask(screen, "Forget everything that is remembered of you? [y/N]", lambda: True) != YES:
            return DECLINED
    reply = call("memory.forget", {"all": True} if rest == _ALL else {"id": rest})
    return _told(reply, f"{reply['forgotten']} forgotten; what you said stands in its chat still", screen)


def _export(call: Call, rest: str, screen: Screen) -> int:
    screen.json(call("memory.export", {}))
    return OK


def _told(reply: dict[str, Any], words: str, screen: Screen) -> int:
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(words))
    return OK


ACTIONS: dict[str, tuple[Callable[[Call, str, Screen], int], int]] = {
    "list": (_list, 0),
    "on": (_set(True), 0),
    "off": (_set(False), 0),
    "add": (_add, 1),
    "change": (_change, 2),
    "forget": (_forget, 1),
    "export": (_export, 0),
}
