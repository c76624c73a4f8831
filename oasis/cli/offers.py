"""`oasis add`, `change`, `remove`, `key`, `models` and `test`: the AI services that can be chosen from.

Contract: a key is typed unseen or comes on standard input, never in the words of a command, which every user of the
router can read while it runs. What is asked for on a terminal can all be given by arguments.
"""

from __future__ import annotations

from oasis.cli import input as cli_input
from oasis.cli.commands import DECLINED, FAILED, OK
from oasis.cli.named import service_id
from oasis.core import clean
from oasis.errors import OasisError, SettingsError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

_SHOWN = 40  # models of a list that a person looks through; the others are found by --filter
# What has a key and is no service: search engines (tools/workspace/web.py), and the messenger's bot.
ENGINES = ("brave", "telegram")
_NUMBERS = ("max_tokens", "context_tokens")
_OPTIONS = ("endpoint", "model", "thinking", "temperature", "tool_mode", "search", *_NUMBERS)


def add(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Add a service; what is missing is asked for where somebody can be asked."""
    _refuse_key(arguments)
    provider = _provider(call, arguments["NAME"], screen)
    given = _given(arguments)
    endpoint = str(given.get("endpoint") or arguments["ENDPOINT"] or _endpoint(provider, screen))
    if endpoint:
        given["endpoint"] = endpoint
    model = str(given.get("model") or arguments["MODEL"])
    if model:
        given["model"] = model
    key = _key(provider, arguments, screen)
    if key:
        given["key"] = key
    identifier = str(call("service.add", {"name": provider["profile"], **given})["identifier"])
    if not model and screen.can_ask:
        choose_model(call, identifier, provider, screen)
    if screen.is_json:
        screen.json({"identifier": identifier})
        return OK
    lacks = "" if key or provider["key"] != "required" else f"its key is missing: oasis key {identifier}; then "
    screen.line(
        f"{identifier} is added; {lacks}try it: oasis test {identifier}; let it answer: oasis select {identifier}"
    )
    return OK


def _provider(call: Call, name: str, screen: Screen) -> dict[str, Any]:
    """Return what a service shall be of, chosen from a list when no name is given.

    Raises: UsageError when there is nobody to choose, or nothing of that name.
    """
    known: list[dict[str, Any]] = call("service.providers", {})["providers"]
    if not name and screen.can_ask:
        for number, item in enumerate(known, 1):
            screen.line(f"{number:3}  {item['name']}")
        name = cli_input.line(screen, "Provider (name or number): ") or ""
        if name.isascii() and name.isdigit() and 1 <= int(name[:4]) <= len(known):
            return known[int(name[:4]) - 1]
    for item in known:
        if name.lower() in (item["profile"], str(item["name"]).lower()):
            return item
    names = ", ".join(str(item["profile"]) for item in known)
    raise UsageError(f"no provider is called {name!r}" if name else "NAME is missing", f"there are: {names}")


def _endpoint(provider: dict[str, Any], screen: Screen) -> str:
    """Ask for the address of a server at home; a service on the internet has a known one."""
    usual = str(provider["endpoint"])
    if not screen.can_ask or (usual and not provider["local"]):
        return ""
    return cli_input.line(screen, f"Endpoint{f' [{usual}]' if usual else ''}: ") or ""


def _key(provider: dict[str, Any], arguments: dict[str, str], screen: Screen) -> str:
    """Read a key unseen; from a pipe only when one is needed or asked for."""
    is_wanted = arguments["--key"] or ((provider["key"] == "required" or screen.can_ask) and provider["key"] != "none")
    hint = "" if provider["key"] == "required" else ", empty for none"
    return cli_input.secret(screen, f"Key (not shown{hint}): ").strip() if is_wanted else ""


def choose_model(call: Call, identifier: str, provider: dict[str, Any], screen: Screen) -> None:
    """Let a person choose from the models that the service has now."""
    usual = str(provider["model"])
    models: list[str] = []
    try:
        screen.progress("asking for its models")
        models = [str(item["id"]) for item in call("service.models", {"identifier": identifier})["models"]]
    except OasisError as error:
        screen.notice(f"its models are not known: {error.message}")
    for number, model in enumerate(models[:_SHOWN], 1):
        screen.line(f"{number:3}  {clean.line(model)}")
    if len(models) > _SHOWN:
        screen.line(f"     and {len(models) - _SHOWN} more: oasis models {identifier}")
    word = cli_input.line(screen, f"Model (name or number){f' [{usual}]' if usual else ''}: ") or ""
    if word.isascii() and word.isdigit() and 1 <= int(word[:4]) <= len(models[:_SHOWN]):
        word = models[int(word[:4]) - 1]
    if word:
        call("service.change", {"identifier": identifier, "model": word})


def change(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Change options of a service; without SERVICE list them, as upstream does."""
    _refuse_key(arguments)
    if not arguments["SERVICE"]:
        from oasis.cli.services import show_list

        return show_list(call, arguments, screen)
    identifier = service_id(call, arguments["SERVICE"])
    given = _given(arguments)
    for name, short in (("endpoint", "-u"), ("model", "-m"), ("name", "-n")):
        if arguments[short]:
            given[name] = arguments[short]
    for name in filter(None, arguments["--unset"].split("\n")):
        if name not in _OPTIONS:
            raise UsageError(f"{name!r} is no option of a service", "there are: " + ", ".join(_OPTIONS))
        given[name] = 0 if name in _NUMBERS else ""
    if not given:
        raise UsageError("nothing to change is named", "like: --model MODEL, or --unset thinking")
    return _done(call("service.change", {"identifier": identifier, **given}), f"{identifier} is changed", screen)


def remove(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Take a service and its key away."""
    identifier = service_id(call, arguments["SERVICE"])
    if screen.can_ask:
        from oasis.cli import ask

        if ask.ask(screen, f"Remove the service {clean.line(identifier)} and its key? [y/N]", lambda: True) != "yes":
            return DECLINED
    return _done(call("service.delete", {"identifier": identifier}), f"{identifier} is removed", screen)


def key(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Keep the key of a service, or take it away with -d."""
    _refuse_key(arguments)
    given = arguments["SERVICE"]
    identifier = given if given in ENGINES else service_id(call, given)
    if identifier not in [*ENGINES, *[one["identifier"] for one in call("service.list", {})["service"]]]:
        raise SettingsError(f"there is no service {identifier!r}", "list them with: oasis services")
    if identifier == "offline" and not arguments["-d"]:
        raise UsageError("the built-in service needs no key", "for a model's service: oasis add")
    text = "" if arguments["-d"] else cli_input.secret(screen, f"Key of {clean.line(identifier)} (not shown): ").strip()
    if not text and not arguments["-d"]:
        raise UsageError("no key was typed", f"to take the one away that is kept: oasis key -d {identifier}")
    reply = call("service.key", {"identifier": identifier, "key": text})
    if identifier == "telegram":
        call("telegram.list", {})  # which looks at the settings again
    return _done(reply, f"the key of {identifier} is {'kept' if text else 'taken away'}", screen)


def models(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print what models a service has, one a line."""
    identifier = _or_active(call, arguments["SERVICE"])
    reply = call("service.models", {"identifier": identifier})
    if screen.is_json:
        screen.json(reply)
        return OK
    for item in reply["models"]:
        if arguments["--filter"].lower() in str(item["id"]).lower():
            room = f"  {item['context_tokens']} tokens" if item.get("context_tokens") else ""
            screen.line(clean.line(str(item["id"])) + room)
    if reply["is_cut"]:
        screen.notice("there are more than are shown")
    return OK


def test(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Ask a service for a word and tell how long it took."""
    identifier = _or_active(call, arguments["SERVICE"])
    screen.progress(f"asking {identifier}")
    reply = call("service.test", {"identifier": identifier})
    if screen.is_json:
        screen.json(reply)
    elif reply["ok"]:
        screen.line(clean.line(f"{identifier} answers: {reply['model']}, {reply['ms']} ms"))
    else:
        fault = reply["fault"]
        screen.failure(OasisError(f"{identifier} does not answer: {fault['message']}", fault["hint"]))
    return OK if reply["ok"] else FAILED


def _or_active(call: Call, name: str) -> str:
    return service_id(call, name) if name else str(call("info", {})["provider"]["identifier"])


def _given(arguments: dict[str, str]) -> dict[str, object]:
    """Return the options that were given; numbers as such.

    Raises: UsageError for a number that is none.
    """
    given: dict[str, object] = {}
    for name in _OPTIONS:
        word = arguments["--" + name.replace("_", "-")]
        if name in _NUMBERS and word and not (word.isascii() and word.isdigit() and len(word) < 10):
            raise UsageError(f"{word!r} is no whole number of tokens", "like: 4000")
        if word:
            given[name] = int(word) if name in _NUMBERS else word
    return given


def _refuse_key(arguments: dict[str, str]) -> None:
    """Refuse a key among the words, without repeating it."""
    if arguments.get("KEY") or arguments.get("-k"):
        raise UsageError(
            "a key among the words of a command can be read by every program on the router",
            "leave it out and type it when asked, or send it on standard input: oasis key SERVICE < FILE",
        )


def _done(reply: dict[str, Any], words: str, screen: Screen) -> int:
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(words))
    return OK
