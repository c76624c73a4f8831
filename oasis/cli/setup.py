"""`oasis setup`: the first hour, question by question: a model server at home, a service with a key, or none.

Contract: nothing is looked for, sent or stored before it was said what that means; each step can be left out, and all
of it can be done with other commands too. What exists is kept; a service that does not answer is not put into use.
"""

from __future__ import annotations

from oasis.cli import input as cli_input
from oasis.cli import offers
from oasis.cli.commands import CANCELLED, OK
from oasis.core import clean
from oasis.errors import OasisError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

_WELCOME = """\
Oasis changes this router by what you say in plain words. Each change is shown first; risky ones wait for your yes,
and come undone by themselves when you lose the way to the router. `oasis undo` takes back the last one.

Common requests it understands by itself, without any AI model. With a model you can say anything.
"""
_CHOICES = (
    ("look for a model server at home", "Ollama, LM Studio, llama.cpp, vLLM; free, and nothing leaves your home"),
    ("use a service on the internet", "needs a key; costs money by the words; what you say goes there"),
    ("no model for now", "nothing is sent anywhere"),
)
_LOOKING = (
    "Every device that the router knows is asked on the four ports that model servers usually have. Look now? [Y/n] "
)
_ONLINE = """\
What goes to the service: your words, the chat so far, and what Oasis looks up on the router for the answer. Passwords
and keys that the router holds are replaced by placeholders. Your key stays on the router.
"""
_LAST = """\
Try:  oasis prompt "which devices are here?"
      oasis doctor            looks for faults, without a model
      oasis                   lists all commands; LuCI has the same under Network, Oasis
"""


def setup(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Lead through the first hour; return the exit status."""
    if not screen.can_ask:
        raise UsageError("oasis setup asks questions and needs a terminal", "without one: oasis add, oasis select")
    screen.text(_WELCOME)
    state = call("setup.state", {})
    if state["unconfined"]:
        screen.notice(f"first of all: {clean.line(state['unconfined'])}")
    if state["models"]:
        screen.line(clean.line(f"Set up already: {', '.join(state['models'])}; `oasis services` shows which answers."))
    for number, (what, why) in enumerate(_CHOICES, 1):
        screen.line(f"  {number}  {what} ({why})")
    answer = _chosen(screen, len(_CHOICES), "Your choice [3]: ", 3)
    if answer is None:
        return CANCELLED
    identifier = (_at_home, _online, _without)[answer - 1](call, screen)
    if identifier:
        _take(call, identifier, screen)
    screen.line()
    screen.text(_LAST)
    return OK


def _chosen(screen: Screen, most: int, question: str, usual: int) -> int | None:
    """Return the number that a person chose, None when he left."""
    while True:
        word = cli_input.line(screen, question)
        if word is None:
            return None
        if not word:
            return usual
        if word.isascii() and word.isdigit() and len(word) < 4 and 1 <= int(word) <= most:
            return int(word)
        screen.line(f"a number from 1 to {most}, please")


def _without(call: Call, screen: Screen) -> str:
    return ""


def _at_home(call: Call, screen: Screen) -> str:
    """Return the identifier of a server at home that a person chose, "" for none."""
    answer = cli_input.line(screen, _LOOKING)
    if answer is None or answer.lower() not in ("", "y", "yes"):
        return ""
    screen.progress("looking for model servers")
    reply = call("setup.find", {})
    found = [one for one in reply["servers"] if not one["is_set"]]
    if not found:
        screen.line(f"None answered, of {reply['asked']} devices.")
        screen.line("A server must listen on the network, not only on its own machine: for Ollama OLLAMA_HOST=0.0.0.0.")
        return ""
    for number, one in enumerate(found, 1):
        models = ", ".join(one["models"][:3]) or "no model yet"
        where = one["name"] or ("this machine" if one["host"] == "127.0.0.1" else one["host"])
        screen.line(clean.line(f"  {number}  {one['profile']} on {where}: {models}"))
    choice = _chosen(screen, len(found), "Which one [1]: ", 1)
    if choice is None:
        return ""
    server = found[choice - 1]
    model = _model(server, screen)
    given = {"name": server["profile"], "endpoint": server["endpoint"], **({"model": model} if model else {})}
    return str(call("service.add", given)["identifier"])


def _model(server: dict[str, Any], screen: Screen) -> str:
    models = server["models"]
    if len(models) < 2:
        return str(models[0]) if models else ""
    for number, model in enumerate(models, 1):
        screen.line(clean.line(f"  {number}  {model}"))
    choice = _chosen(screen, len(models), "Model [1]: ", 1)
    return str(models[choice - 1]) if choice else str(models[0])


def _online(call: Call, screen: Screen) -> str:
    """Return the identifier of a service on the internet that a person has a key for, "" for none."""
    screen.text(_ONLINE)
    known = [one for one in call("service.providers", {})["providers"] if one["key"] == "required"]
    for number, one in enumerate(known, 1):
        screen.line(f"  {number}  {one['name']}")
    choice = _chosen(screen, len(known), "Service (empty for none): ", 0)
    if not choice:
        return ""
    provider = known[choice - 1]
    key = cli_input.secret(screen, "Key (not shown): ").strip()
    if not key:
        screen.line("No key, no service.")
        return ""
    identifier = str(call("service.add", {"name": provider["profile"], "key": key})["identifier"])
    offers.choose_model(call, identifier, provider, screen)
    return identifier


def _take(call: Call, identifier: str, screen: Screen) -> None:
    """Try a service and put it into use; one that does not answer is left aside, and said so."""
    screen.progress(f"asking {identifier} for a word")
    reply = call("service.test", {"identifier": identifier})
    if not reply["ok"]:
        fault = reply["fault"]
        screen.failure(OasisError(f"{identifier} does not answer: {fault['message']}", fault["hint"]))
        screen.line(clean.line(f"It is kept, and not in use. Try again with: oasis test {identifier}"))
        return
    call("service.select", {"identifier": identifier})
    screen.line(clean.line(f"{identifier} answers ({reply['model']}, {reply['ms']} ms) and is in use from now on."))
    shown = call("privacy.show", {"message": "which devices are here?"})
    screen.line(f"A short question sends about {shown['tokens']} tokens.")
    screen.line("`oasis privacy TEXT` shows each byte before it is sent; `oasis usage` counts what was used.")
    if _stands_in(call):
        screen.line("When it cannot be reached, the built-in service answers what it understands (oasis alias chat).")


def _stands_in(call: Call) -> bool:
    """Let the built-in service stand in for the one in use, unless the owner said who does; return whether it does."""
    for alias in call("alias.list", {})["alias"]:
        if alias["name"] == "chat":
            return "offline" in alias["targets"]
    call("alias.set", {"name": "chat", "targets": ["offline"]})
    return True
