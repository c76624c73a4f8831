"""Model services: list, choose, add, change and test them, their aliases, what they used, and `oasis setup`.

Contract: a key is typed unseen or comes on standard input, never in the words of a command, which every user of the
router can read while it runs. What is asked for on a terminal can also be given by arguments. `setup` explains each
step before it searches, sends or stores anything, and each step can be skipped; a service that does not answer is not
put into use.
"""

from __future__ import annotations

from oasis.cli import cards
from oasis.cli.commands import CANCELLED, DECLINED, FAILED, OK
from oasis.cli.request import chat_id, service_id
from oasis.cli.terminal import is_meant, read_line, read_secret
from oasis.core import clean
from oasis.errors import OasisError, SettingsError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Budget, Call, Params, Provider, Server, UsageSum
    from oasis.cli.terminal import Screen


def list_services(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the services; a star marks the one in use."""
    reply = call("service.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    for number, service in enumerate(reply["service"], 1):
        mark = "*" if service["active"] else " "
        note = "" if service["ready"] else f"  not ready: {service.get('note') or 'settings are missing'}"
        words = f"{number:3} {mark} {service['identifier']}  {service['name']}  {service['model']}"
        screen.line(clean.line(words).rstrip() + clean.line(note))
    if not reply["service"]:
        screen.line("no services are set up")
    return OK


def select(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Use another service from now on."""
    identifier = service_id(call, arguments["SERVICE"])
    reply = call("service.select", {"identifier": identifier})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(f"{identifier} answers from now on"))
        if identifier != "offline" and "chat" not in [one["name"] for one in call("alias.list", {})["alias"]]:
            screen.notice("nothing stands in when it fails; to let the built-in service: oasis alias chat offline")
    return OK


def status(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print what the daemon is and what waits in it."""
    info = call("info", {})
    if screen.is_json:
        screen.json(info)
        return OK
    provider = info["provider"]
    screen.line(clean.line(f"Oasis {info['version']} on {info['root']}, UCI by {info['backend']}"))
    screen.line(clean.line(f"AI service: {provider['name']} {provider['model']} ({provider['identifier']})"))
    screen.line(clean.line(f"approval: {info['approval']}"))
    if info.get("unconfined"):
        screen.line(clean.line(f"the AI worker is not confined: {info['unconfined']}"))
    for fault in info.get("bus", []):
        screen.line(clean.line(fault))
    if info.get("upstream"):
        screen.line("the older Oasis has chats here; to take them over: oasis import --upstream")
    for plan in info["waiting"]:
        screen.line(clean.line(f"plan {plan['id']} waits for approval: {plan['summary']} (oasis plans)"))
    if info["pending"]:
        cards.show(cards.change_card(info["pending"]), screen)
    for change in info.get("ending", []):
        screen.line(cards.ending_line(change))
    return OK


def alias(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """List the aliases, set one, or delete one with -d."""
    name, targets = arguments["NAME"], [target for target in arguments["TARGET"].split("\n") if target]
    if arguments["-d"] and (not name or targets):
        raise UsageError("which alias is to go is not clear", "oasis alias -d NAME")
    if not targets and not arguments["-d"]:
        return _show_aliases(call, name, screen)
    if arguments["-d"]:
        reply, words = call("alias.delete", {"name": name}), f"{name} is no alias any more"
    else:
        reply = call("alias.set", {"name": name, "targets": targets})
        words = f"{name} stands for {', then '.join(targets)}"
    return screen.result(reply, words)


def _show_aliases(call: Call, name: str, screen: Screen) -> int:
    reply = call("alias.list", {})
    found = [item for item in reply["alias"] if name in ("", item["name"])]
    if name and not found:
        raise UsageError(f"there is no alias {name!r}", "set one: oasis alias NAME SERVICE/MODEL")
    if screen.is_json:
        screen.json({**reply, "alias": found})
        return OK
    for item in found:
        note = "" if item["ready"] else f"  cannot be used: {item['note']}"
        screen.line(clean.line(f"{item['name']}  {', then '.join(item['targets'])}{note}"))
    if not found:
        screen.line("no aliases are set; usual names are " + ", ".join(reply["usual"]))
    return OK


_SHOWN = 40  # models of a list that a person looks through; the others are found by --filter
# What has a key and is no service: search engines (tools/seed.py), and the messenger's bot.
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


def _provider(call: Call, name: str, screen: Screen) -> Provider:
    """Return what a service shall be of, chosen from a list when no name is given.

    Raises: UsageError when there is nobody to choose, or nothing of that name.
    """
    known = call("service.providers", {})["providers"]
    if not name and screen.can_ask:
        for number, item in enumerate(known, 1):
            screen.line(f"{number:3}  {item['name']}")
        name = read_line(screen, "Provider (name or number): ") or ""
        if name.isascii() and name.isdigit() and 1 <= int(name[:4]) <= len(known):
            return known[int(name[:4]) - 1]
    for item in known:
        if name.lower() in (item["profile"], str(item["name"]).lower()):
            return item
    names = ", ".join(str(item["profile"]) for item in known)
    raise UsageError(f"no provider is called {name!r}" if name else "NAME is missing", f"there are: {names}")


def _endpoint(provider: Provider, screen: Screen) -> str:
    """Ask for the address of a server at home; a service on the internet has a known one."""
    usual = str(provider["endpoint"])
    if not screen.can_ask or (usual and not provider["local"]):
        return ""
    return read_line(screen, f"Endpoint{f' [{usual}]' if usual else ''}: ") or ""


def _key(provider: Provider, arguments: dict[str, str], screen: Screen) -> str:
    """Read a key unseen; from a pipe only when one is needed or asked for."""
    is_wanted = arguments["--key"] or ((provider["key"] == "required" or screen.can_ask) and provider["key"] != "none")
    hint = "" if provider["key"] == "required" else ", empty for none"
    return read_secret(screen, f"Key (not shown{hint}): ").strip() if is_wanted else ""


def choose_model(call: Call, identifier: str, provider: Provider, screen: Screen) -> None:
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
    word = read_line(screen, f"Model (name or number){f' [{usual}]' if usual else ''}: ") or ""
    if word.isascii() and word.isdigit() and 1 <= int(word[:4]) <= len(models[:_SHOWN]):
        word = models[int(word[:4]) - 1]
    if word:
        call("service.change", {"identifier": identifier, "model": word})


def change(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Change options of a service; without SERVICE list them, as upstream does."""
    _refuse_key(arguments)
    if not arguments["SERVICE"]:
        return list_services(call, arguments, screen)
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
    return screen.result(call("service.change", {"identifier": identifier, **given}), f"{identifier} is changed")


def remove(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Take a service and its key away."""
    identifier = service_id(call, arguments["SERVICE"])
    if not is_meant(screen, f"Remove the service {clean.line(identifier)} and its key?"):
        return DECLINED
    return screen.result(call("service.delete", {"identifier": identifier}), f"{identifier} is removed")


def key(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Keep the key of a service, or take it away with -d."""
    _refuse_key(arguments)
    given = arguments["SERVICE"]
    identifier = given if given in ENGINES else service_id(call, given)
    if identifier not in [*ENGINES, *[one["identifier"] for one in call("service.list", {})["service"]]]:
        raise SettingsError(f"there is no service {identifier!r}", "list them with: oasis services")
    if identifier == "offline" and not arguments["-d"]:
        raise UsageError("the built-in service needs no key", "for a model's service: oasis add")
    text = "" if arguments["-d"] else read_secret(screen, f"Key of {clean.line(identifier)} (not shown): ").strip()
    if not text and not arguments["-d"]:
        raise UsageError("no key was typed", f"to take the one away that is kept: oasis key -d {identifier}")
    reply = call("service.key", {"identifier": identifier, "key": text})
    if identifier == "telegram":
        call("telegram.list", {})  # which looks at the settings again
    return screen.result(reply, f"the key of {identifier} is {'kept' if text else 'taken away'}")


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


def _given(arguments: dict[str, str]) -> Params:
    """Return the options that were given; numbers as such.

    Raises: UsageError for a number that is none.
    """
    given: Params = {}
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


def usage(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the sums of the months, newest first, or those of one chat."""
    if arguments["CHAT"]:
        reply = call("usage.chat", {"id": chat_id(call, arguments["CHAT"])})
    else:
        month = arguments["--month"]
        if month and not (len(month) == 7 and month[4] == "-" and (month[:4] + month[5:]).isdigit()):
            raise UsageError(f"{month!r} is no month", "like 2026-11")
        reply = call("usage.list", {"month": month} if month else {})
    if screen.is_json:
        screen.json(reply)
        return OK
    month = ""
    for item in reply["usage"]:
        if item.get("month", "") != month:
            month = item["month"]
            screen.line(clean.line(month), "bold")
        screen.line(clean.line(_usage_line(item, reply.get("currency", ""))))
    if not reply["usage"]:
        screen.line("no model was asked")
    _show_budget(reply.get("budget"), screen)
    return OK


def _usage_line(item: UsageSum, currency: str) -> str:
    cached = f" ({item['cached_tokens']} from the cache)" if item["cached_tokens"] else ""
    cost = f", {item['cost']} {currency}".rstrip() if "cost" in item else ""
    counts = f"{item['input_tokens']} tokens in{cached}, {item['output_tokens']} out{cost}"
    return f"  {item['service']}  {item['model']}  {item['requests']} requests, {counts}"


def _show_budget(budget: Budget | None, screen: Screen) -> None:
    if not budget:
        return
    parts = [f"{budget['tokens_used']} of {budget['tokens']} tokens"] if "tokens" in budget else []
    parts += [f"{budget['cost_used']} of {budget['cost']}"] if "cost" in budget else []
    screen.line(clean.line(f"this month's budget: {', '.join(parts)}, {budget['percent']} %"))


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
    answer = _ask_number(screen, len(_CHOICES), "Your choice [3]: ", 3)
    if answer is None:
        return CANCELLED
    identifier = (_at_home, _online, _without)[answer - 1](call, screen)
    if identifier:
        _put_into_use(call, identifier, screen)
    screen.line()
    screen.text(_LAST)
    return OK


def _ask_number(screen: Screen, most: int, question: str, usual: int) -> int | None:
    """Return the number that a person chose, None when they left."""
    while True:
        word = read_line(screen, question)
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
    answer = read_line(screen, _LOOKING)
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
    choice = _ask_number(screen, len(found), "Which one [1]: ", 1)
    if choice is None:
        return ""
    server = found[choice - 1]
    model = _model(server, screen)
    given = {"name": server["profile"], "endpoint": server["endpoint"], **({"model": model} if model else {})}
    return str(call("service.add", given)["identifier"])


def _model(server: Server, screen: Screen) -> str:
    models = server["models"]
    if len(models) < 2:
        return str(models[0]) if models else ""
    for number, model in enumerate(models, 1):
        screen.line(clean.line(f"  {number}  {model}"))
    choice = _ask_number(screen, len(models), "Model [1]: ", 1)
    return str(models[choice - 1]) if choice else str(models[0])


def _online(call: Call, screen: Screen) -> str:
    """Return the identifier of a service on the internet that a person has a key for, "" for none."""
    screen.text(_ONLINE)
    known = [one for one in call("service.providers", {})["providers"] if one["key"] == "required"]
    for number, one in enumerate(known, 1):
        screen.line(f"  {number}  {one['name']}")
    choice = _ask_number(screen, len(known), "Service (empty for none): ", 0)
    if not choice:
        return ""
    provider = known[choice - 1]
    key = read_secret(screen, "Key (not shown): ").strip()
    if not key:
        screen.line("No key, no service.")
        return ""
    identifier = str(call("service.add", {"name": provider["profile"], "key": key})["identifier"])
    choose_model(call, identifier, provider, screen)
    return identifier


def _put_into_use(call: Call, identifier: str, screen: Screen) -> None:
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
