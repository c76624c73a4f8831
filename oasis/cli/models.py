"""Model services and what a model is sent: services, aliases, usage, tools, topics, privacy, and `oasis setup`.

Contract: a key is typed unseen or comes on standard input, never in the words of a command, which every user of the
router can read while it runs; so does the text of a topic. What is asked for on a terminal can also be given by
arguments. `setup` explains each step before it searches, sends or stores anything, and each step can be skipped; a
service that does not answer is not put into use.
"""

from __future__ import annotations

import binascii

from oasis import parts
from oasis.cli import cards
from oasis.cli.commands import CANCELLED, DECLINED, FAILED, OK, TEXTS, given, whole
from oasis.cli.request import chat_id, service_id
from oasis.cli.terminal import is_meant, read_line, read_secret, read_text
from oasis.core import clean, jsonl
from oasis.errors import OasisError, SettingsError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli import shapes
    from oasis.cli.shapes import Call, Iterator, Mapping, Params, Provider, ToolRow
    from oasis.cli.terminal import Screen


def list_services(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    reply = call("service.list", {})
    lines = []
    for number, service in enumerate(reply["service"], 1):
        mark = "*" if service["active"] else " "
        note = "" if service["ready"] else f"  not ready: {service.get('note') or 'settings are missing'}"
        words = f"{number:3} {mark} {service['identifier']}  {service['name']}  {service['model']}"
        lines.append(words.rstrip() + note)
    return screen.result(reply, lines or ["no services are set up"])


def select(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    identifier = service_id(call, arguments["SERVICE"])
    screen.result(call("service.select", {"identifier": identifier}), f"{identifier} answers from now on")
    if screen.is_json or identifier == "offline" or not parts.first("offline"):
        return OK
    if "chat" not in [one["name"] for one in call("alias.list", {})["alias"]]:
        screen.notice("nothing stands in when it fails; to let the built-in service: oasis alias chat offline")
    return OK


def status(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    info = call("info", {})
    provider = info["provider"]
    note = f"  not ready: {clean.line(provider['note'])}" if provider.get("note") else ""
    lines: list[str | tuple[str, str]] = [
        f"Oasis {info['version']} on {info['root']}, UCI by {info['backend']}",
        f"AI service: {provider['name']} {provider['model']} ({provider['identifier']}){note}",
        f"approval: {info['approval']}",
    ]
    if info.get("unconfined"):
        lines.append(f"the AI worker is not confined: {info['unconfined']}")
    lines += [*info.get("bus", []), *([info["parts_wait"]] if info.get("parts_wait") else [])]
    lines += [*info.get("refused", []), *([info["settings_wrong"]] if info.get("settings_wrong") else [])]
    if info.get("upstream"):
        lines.append("the older Oasis has chats here; to take them over: oasis import --upstream")
    lines += [f"plan {plan['id']} waits for approval: {plan['summary']} (oasis plans)" for plan in info["waiting"]]
    lines += cards.change_card(info["pending"]) if info["pending"] else []
    return screen.result(info, [*lines, *map(cards.ending_line, info.get("ending", []))])


def alias(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    name, targets = arguments["NAME"], [target for target in arguments["TARGET"].split("\n") if target]
    if arguments["-d"] and (not name or targets):
        raise UsageError("which alias is to go is not clear", "oasis alias -d NAME")
    if targets:
        reply = call("alias.set", {"name": name, "targets": targets})
        return screen.result(reply, f"{name} stands for {', then '.join(targets)}")
    if arguments["-d"]:
        return screen.result(call("alias.delete", {"name": name}), f"{name} is no alias any more")
    known = call("alias.list", {})
    found = [item for item in known["alias"] if name in ("", item["name"])]
    if name and not found:
        raise UsageError(f"there is no alias {name!r}", "set one: oasis alias NAME SERVICE/MODEL")
    lines = []
    for item in found:
        note = "" if item["ready"] else f"  cannot be used: {item['note']}"
        lines.append(f"{item['name']}  {', then '.join(item['targets'])}{note}")
    none = "no aliases are set; usual names are " + ", ".join(known["usual"])
    return screen.result({**known, "alias": found}, lines or [none])


_SHOWN = 40  # models of a list that a person looks through; the others are found by --filter
# What has a key and is no service: search engines (tools/seed.py), and the messenger's bot.
ENGINES = ("brave", "telegram")
_NUMBERS = ("max_tokens", "context_tokens")
_OPTIONS = ("endpoint", "model", "thinking", "temperature", "tool_mode", "search", *_NUMBERS)


def add(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Add a service; what is missing is asked for where somebody can be asked."""
    _refuse_key(arguments)
    known, name = call("service.providers", {})["providers"], arguments["NAME"]
    if not name and screen.can_ask:
        name = _chosen([item["name"] for item in known], "Provider (name or number): ", screen)
    provider = next((item for item in known if name.lower() in (item["profile"], item["name"].lower())), None)
    if provider is None:
        wrong = f"no provider is called {name!r}" if name else "NAME is missing"
        raise UsageError(wrong, f"there are: {', '.join(item['profile'] for item in known)}")
    options = _given(arguments)
    endpoint, usual = str(options.get("endpoint") or arguments["ENDPOINT"]), provider["endpoint"]
    # The address of a server at home is asked for; a service on the internet has a known one.
    if not endpoint and screen.can_ask and (provider["local"] or not usual):
        endpoint = read_line(screen, f"Endpoint{f' [{usual}]' if usual else ''}: ") or ""
    model = str(options.get("model") or arguments["MODEL"])
    # From a pipe a key is read only when one is needed or asked for.
    needs_key = provider["key"] == "required"
    key = ""
    if arguments["--key"] or needs_key or (screen.can_ask and provider["key"] != "none"):
        key = read_secret(screen, f"Key (not shown{'' if needs_key else ', empty for none'}): ").strip()
    options.update(given(endpoint=endpoint, model=model, key=key))
    identifier = call("service.add", {"name": provider["profile"], **options})["identifier"]
    if not model and screen.can_ask:
        choose_model(call, identifier, provider, screen)
    lacks = "" if key or not needs_key else f"its key is missing: oasis key {identifier}; then "
    words = f"{identifier} is added; {lacks}try it: oasis test {identifier}; let it answer: oasis select {identifier}"
    return screen.result({"identifier": identifier}, words)


def _chosen(names: list[str], question: str, screen: Screen, more: str = "") -> str:
    """Return the name that a person typed, or chose by its number from the list; "" for none."""
    for number, name in enumerate(names, 1):
        screen.line(f"{number:3}  {clean.line(name)}")
    if more:
        screen.line(more)
    word = read_line(screen, question) or ""
    return names[whole(word) - 1] if 1 <= whole(word) <= len(names) else word


def choose_model(call: Call, identifier: str, provider: Provider, screen: Screen) -> None:
    """Let a person choose from the models that the service has now."""
    usual = provider["model"]
    models: list[str] = []
    try:
        screen.progress("asking for its models")
        models = [item["id"] for item in call("service.models", {"identifier": identifier})["models"]]
    except OasisError as error:
        screen.notice(f"its models are not known: {error.message}")
    question = f"Model (name or number){f' [{usual}]' if usual else ''}: "
    more = f"     and {len(models) - _SHOWN} more: oasis models {identifier}" if len(models) > _SHOWN else ""
    word = _chosen(models[:_SHOWN], question, screen, more)
    if word:
        call("service.change", {"identifier": identifier, "model": word})


def change(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Change options of a service; without SERVICE list them, as upstream does."""
    _refuse_key(arguments)
    if not arguments["SERVICE"]:
        return list_services(call, arguments, screen)
    identifier = service_id(call, arguments["SERVICE"])
    short = given(endpoint=arguments["-u"], model=arguments["-m"], name=arguments["-n"])
    options = {**_given(arguments), **short}
    for name in filter(None, arguments["--unset"].split("\n")):
        if name not in _OPTIONS:
            raise UsageError(f"{name!r} is no option of a service", "there are: " + ", ".join(_OPTIONS))
        options[name] = 0 if name in _NUMBERS else ""
    if not options:
        raise UsageError("nothing to change is named", "like: --model MODEL, or --unset thinking")
    return screen.result(call("service.change", {"identifier": identifier, **options}), f"{identifier} is changed")


def remove(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    identifier = service_id(call, arguments["SERVICE"])
    if not is_meant(screen, f"Remove the service {clean.line(identifier)} and its key?"):
        return DECLINED
    return screen.result(call("service.delete", {"identifier": identifier}), f"{identifier} is removed")


def key(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    _refuse_key(arguments)
    name = arguments["SERVICE"]
    identifier = name if name in ENGINES else service_id(call, name)
    if identifier not in [*ENGINES, *[one["identifier"] for one in call("service.list", {})["service"]]]:
        raise SettingsError(f"there is no service {identifier!r}", "list them with: oasis services")
    if identifier == "offline" and not arguments["-d"]:
        raise UsageError("the built-in service needs no key", "for a model's service: oasis add")
    text = "" if arguments["-d"] else read_secret(screen, f"Key of {clean.line(identifier)} (not shown): ").strip()
    if not text and not arguments["-d"]:
        raise UsageError("no key was typed", f"to take the one away that is kept: oasis key -d {identifier}")
    reply = call("service.key", {"identifier": identifier, "key": text})
    lines = [f"the key of {identifier} is {'kept' if text else 'taken away'}"]
    if identifier == "telegram":
        absent = parts.all_missing().get(identifier)
        if absent is None:
            call("telegram.list", {})  # which looks at the settings again
        else:
            lines.append(f"{absent.message} ({absent.hint})")
    return screen.result(reply, lines)


def models(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    identifier = _or_active(call, arguments["SERVICE"])
    reply = call("service.models", {"identifier": identifier})
    lines = []
    for item in reply["models"]:
        if arguments["--filter"].lower() in item["id"].lower():
            lines.append(item["id"] + (f"  {item['context_tokens']} tokens" if item.get("context_tokens") else ""))
    screen.result(reply, lines)
    if reply["is_cut"]:
        screen.notice("there are more than are shown")
    return OK


def test(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    identifier = _or_active(call, arguments["SERVICE"])
    screen.progress(f"asking {identifier}")
    reply = call("service.test", {"identifier": identifier})
    if screen.is_json or reply["ok"]:
        screen.result(reply, f"{identifier} answers: {reply.get('model')}, {reply.get('ms')} ms")
    else:
        _show_fault(identifier, reply, screen)
    return OK if reply["ok"] else FAILED


def _show_fault(identifier: str, reply: shapes.Trial, screen: Screen) -> None:
    fault = reply["fault"]
    screen.failure(OasisError(f"{identifier} does not answer: {fault['message']}", fault["hint"]))


def _or_active(call: Call, name: str) -> str:
    return service_id(call, name) if name else call("info", {})["provider"]["identifier"]


def _given(arguments: dict[str, str]) -> Params:
    """Return the options that were given; numbers as such.

    Raises: UsageError for a number that is none.
    """
    options: Params = {}
    for name in _OPTIONS:
        word = arguments["--" + name.replace("_", "-")]
        if name in _NUMBERS and word and whole(word) < 0:
            raise UsageError(f"{word!r} is no whole number of tokens", "like: 4000")
        if word:
            options[name] = whole(word) if name in _NUMBERS else word
    return options


def _refuse_key(arguments: dict[str, str]) -> None:
    """Refuse a key among the words, without repeating it."""
    if arguments.get("KEY") or arguments.get("-k"):
        raise UsageError(
            "a key among the words of a command can be read by every program on the router",
            "leave it out and type it when asked, or send it on standard input: oasis key SERVICE < FILE",
        )


def usage(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    if arguments["CHAT"]:
        reply = call("usage.chat", {"id": chat_id(call, arguments["CHAT"])})
    else:
        month = arguments["--month"]
        if month and not (len(month) == 7 and month[4] == "-" and whole(month[:4] + month[5:]) >= 0):
            raise UsageError(f"{month!r} is no month", "like 2026-11")
        reply = call("usage.list", {"month": month} if month else {})
    lines: list[str | tuple[str, str]] = []
    month = ""
    for item in reply["usage"]:
        if item.get("month", "") != month:
            month = item["month"]
            lines.append((clean.line(month), "bold"))
        cached = f" ({item['cached_tokens']} from the cache)" if item["cached_tokens"] else ""
        cost = f", {item['cost']} {reply.get('currency', '')}".rstrip() if "cost" in item else ""
        counts = f"{item['input_tokens']} tokens in{cached}, {item['output_tokens']} out{cost}"
        lines.append(f"  {item['service']}  {item['model']}  {item['requests']} requests, {counts}")
    if not lines:
        lines.append("no model was asked")
    budget = reply.get("budget")
    if budget:
        parts = [f"{budget['tokens_used']} of {budget['tokens']} tokens"] if "tokens" in budget else []
        parts += [f"{budget['cost_used']} of {budget['cost']}"] if "cost" in budget else []
        lines.append(f"this month's budget: {', '.join(parts)}, {budget['percent']} %")
    return screen.result(reply, lines)


SETUP = TEXTS["setup"]


def setup(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    if not screen.can_ask:
        raise UsageError("oasis setup asks questions and needs a terminal", "without one: oasis add, oasis select")
    absent = None if parts.first("offline") else parts.absent("offline")
    screen.line("\n".join([*SETUP["welcome"], SETUP["lacking"] + absent.hint if absent else SETUP["built_in"]]))
    state = call("setup.state", {})
    if state["unconfined"]:
        screen.notice(f"first of all: {clean.line(state['unconfined'])}")
    if state["models"]:
        screen.line(clean.line(f"Set up already: {', '.join(state['models'])}; `oasis services` shows which answers."))
    answer = _ask_number(SETUP["choices"], "Your choice [3]: ", 3, screen)
    if answer is None:
        return CANCELLED
    identifier = ""
    if answer < len(SETUP["choices"]):
        identifier = _at_home(call, screen) if answer == 1 else _online(call, screen)
    if identifier:
        _put_into_use(call, identifier, screen)
    screen.line()
    if absent and call("info", {})["provider"]["note"]:
        screen.line(SETUP["nothing"] + absent.hint)
    else:
        screen.line("\n".join(SETUP["last"]))
    return OK


def _ask_number(rows: list[str], question: str, usual: int, screen: Screen) -> int | None:
    """Show rows with their numbers; return the number that a person chose, None when they left."""
    for number, row in enumerate(rows, 1):
        screen.line(clean.line(f"  {number}  {row}"))
    while True:
        word = read_line(screen, question)
        if word is None:
            return None
        if not word:
            return usual
        if 1 <= whole(word) <= len(rows):
            return whole(word)
        screen.line(f"a number from 1 to {len(rows)}, please")


def _at_home(call: Call, screen: Screen) -> str:
    """Return the identifier of a server at home that a person chose, "" for none."""
    answer = read_line(screen, SETUP["looking"])
    if answer is None or answer.lower() not in ("", "y", "yes"):
        return ""
    screen.progress("looking for model servers")
    reply = call("setup.find", {})
    found = [one for one in reply["servers"] if not one["is_set"]]
    if not found:
        screen.line(f"None answered, of {reply['asked']} devices.")
        screen.line("A server must listen on the network, not only on its own machine: for Ollama OLLAMA_HOST=0.0.0.0.")
        return ""
    rows = []
    for one in found:
        where = one["name"] or ("this machine" if one["host"] == "127.0.0.1" else one["host"])
        rows.append(f"{one['profile']} on {where}: {', '.join(one['models'][:3]) or 'no model yet'}")
    choice = _ask_number(rows, "Which one [1]: ", 1, screen)
    if choice is None:
        return ""
    server = found[choice - 1]
    options = {"name": server["profile"], "endpoint": server["endpoint"]}
    models = server["models"]
    if models:
        number = _ask_number(models, "Model [1]: ", 1, screen) if len(models) > 1 else 1
        options["model"] = models[(number or 1) - 1]
    return call("service.add", options)["identifier"]


def _online(call: Call, screen: Screen) -> str:
    """Return the identifier of a service on the internet that a person has a key for, "" for none."""
    screen.line("\n".join(SETUP["online"]))
    known = [one for one in call("service.providers", {})["providers"] if one["key"] == "required"]
    choice = _ask_number([one["name"] for one in known], "Service (empty for none): ", 0, screen)
    if not choice:
        return ""
    provider = known[choice - 1]
    key = read_secret(screen, "Key (not shown): ").strip()
    if not key:
        screen.line("No key, no service.")
        return ""
    identifier = call("service.add", {"name": provider["profile"], "key": key})["identifier"]
    choose_model(call, identifier, provider, screen)
    return identifier


def _put_into_use(call: Call, identifier: str, screen: Screen) -> None:
    """Try a service and put it into use; one that does not answer is left aside, and said so."""
    screen.progress(f"asking {identifier} for a word")
    reply = call("service.test", {"identifier": identifier})
    if not reply["ok"]:
        _show_fault(identifier, reply, screen)
        screen.line(clean.line(f"It is kept, and not in use. Try again with: oasis test {identifier}"))
        return
    call("service.select", {"identifier": identifier})
    screen.line(clean.line(f"{identifier} answers ({reply['model']}, {reply['ms']} ms) and is in use from now on."))
    shown = call("privacy.show", {"message": "which devices are here?"})
    screen.line(f"A short question sends about {shown['tokens']} tokens.")
    screen.line("`oasis privacy TEXT` shows each byte before it is sent; `oasis usage` counts what was used.")
    if not parts.first("offline"):
        return
    # The built-in service stands in for it, unless the owner said who does.
    targets = {alias["name"]: alias["targets"] for alias in call("alias.list", {})["alias"]}
    if "chat" not in targets:
        call("alias.set", {"name": "chat", "targets": ["offline"]})
    if "offline" in targets.get("chat", ["offline"]):
        screen.line("When it cannot be reached, the built-in service answers what it understands (oasis alias chat).")


# Tools: what a model may call

# What each word sets; to ask or allow a tool that is off does not switch it on.
_SETS: dict[str, Params] = {
    "enable": {"enabled": True},
    "disable": {"enabled": False},
    "ask": {"approval": "ask"},
    "allow": {"approval": "allow"},
    "deny": {"approval": "deny"},
}
TOOLS_ACTIONS = ("list", "show", *_SETS)
_SUMMARY_CHARS = 60


def tools(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    action, name = arguments["ACTION"], arguments["NAME"]
    if action in ("", "list", "show"):
        reply = call("tool.list", {})
        found = [tool for tool in reply["tools"] if not name or tool["name"] == name]
        if not found:
            raise UsageError(f"there is no tool {name!r}", "list them with: oasis tools")
        lines: list[str | tuple[str, str]] = []
        if name:
            tool = found[0]
            state = f"{'on' if tool['enabled'] else 'off'}, approval {tool['approval']}, class {tool['class']}"
            lines += [(clean.line(f"{name} ({tool['source']})"), "bold"), f"  {state}, about {tool['tokens']} tokens"]
            lines += [(clean.line(f"  {tool['note']}"), "-")] if tool.get("note") else []
            return screen.result({"tools": found}, [*lines, (tool["description"], "")])
        source = ""
        for tool in found:
            if tool["source"] != source:
                source = tool["source"]
                lines.append((clean.line(source), "bold"))
            lines += _tool_row(tool)
        tokens = f"telling a model of all of these costs about {reply['tokens']} tokens"
        lines.append(f"{sum(tool['enabled'] for tool in found)} of {len(found)} are on; {tokens}")
        return screen.result(reply, lines)
    if action not in _SETS or not name:
        wrong = f"`tools {action}` needs the name of a tool" if action in _SETS else f"unknown word {action!r}"
        raise UsageError(wrong, f"usage: oasis tools [list|show NAME|{'|'.join(f'{word} NAME' for word in _SETS)}]")
    done = call("tool.set", {"name": name, **_SETS[action]})
    return screen.result(done, _tool_row(done["tool"]))


def _tool_row(tool: ToolRow) -> Iterator[str | tuple[str, str]]:
    state = tool["approval"] if tool["enabled"] else "off"
    text = clean.line(tool["description"])
    short = text if len(text) <= _SUMMARY_CHARS else text[:_SUMMARY_CHARS] + "…"
    yield f"  {tool['name']:<16} {tool['class']:<7} {state:<6} {tool['tokens']:>5}  {short}"
    if tool.get("note"):
        yield clean.line(f"      {tool['note']}"), "-"


# Privacy: what a message would send


def privacy(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    chosen = given(chat=chat_id(call, arguments["--chat"]), service=arguments["--service"])
    params: Params = {"message": arguments["TEXT"], **chosen}
    reply = call("privacy.show", params)
    body = binascii.a2b_base64(reply["data"])
    for part in range(1, reply["parts"]):
        body += binascii.a2b_base64(call("privacy.show", {**params, "part": part})["data"])
    text = body.decode("utf-8")
    if screen.is_json:
        screen.json({**reply, "data": text, "parts": 1})
    elif arguments["--raw"]:
        screen.document(text)
    elif not reply["url"]:
        screen.card([f"Nothing: {reply['service']['name']} answers on the router itself."])
    else:
        _show_request(reply, text, screen)
    return OK


def _show_request(reply: shapes.SentRequest, text: str, screen: Screen) -> None:
    service = reply["service"]
    where = "a server of your own" if service["is_local"] else "a service outside your home"
    screen.card([
        (clean.line(f"To {service['name']} ({service['model']}), {where}:"), "bold"),
        f"{reply['method']} {reply['url']}", *[f"{name}: {value}" for name, value in reply["headers"].items()],
        f"{reply['bytes']} bytes, about {reply['tokens']} tokens:",
    ])  # fmt: skip
    import json  # which loads `re`: too much for the other commands

    try:
        text = json.dumps(jsonl.loads(text, max_bytes=4 * len(text) + 1), ensure_ascii=False, indent=2)
    except OasisError:
        pass  # no JSON: it is shown as it is
    screen.text(text + "\n")
    screen.notice("nothing was sent; the router's secrets are placeholders, the key is shown as ***")
    screen.notice("these lines are drawn for reading; the bytes as they would go: oasis privacy --raw TEXT")


# Topics: system messages that a chat can begin with

_TOPICS_USAGE = "usage: oasis topics [list|show KEY|add TITLE|edit KEY|delete KEY]"
_TITLE_CHARS = 40  # of a topic that upstream's words gave no title


TOPICS_ACTIONS = ("list", "show", "add", "edit", "delete")


def topics(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    action, rest, title = arguments["ACTION"] or "list", arguments["NAME"], arguments["--title"]
    if action not in TOPICS_ACTIONS:
        raise UsageError(f"unknown word {action!r}", _TOPICS_USAGE)
    if bool(rest) == (action == "list"):
        raise UsageError(f"`topics {action}` {'takes nothing more' if rest else 'needs one word more'}", _TOPICS_USAGE)
    if action == "list":
        return _list_topics(call, screen)
    if action == "add":
        return _topic_done(call("topic.add", {"title": rest, "text": _topic_text(screen)}), "added", screen)
    if action == "show":
        topic = _topic(call, rest)
        head = clean.line(f"{topic['title']} ({topic['key']})")
        return screen.result(topic, [(head, "bold"), "", (topic["text"], "")])
    if action == "edit":  # the title stays unless another is given
        known = _topic(call, rest)["title"]
        params: Params = {"key": rest, "title": title or known, "text": _topic_text(screen)}
        return _topic_done({"key": rest, **call("topic.update", params)}, "changed", screen)
    if screen.can_ask and not is_meant(screen, f'Delete the topic "{clean.line(_topic(call, rest)["title"])}"?'):
        return DECLINED
    return _topic_done({"key": rest, **call("topic.delete", {"key": rest})}, "deleted", screen)


def sysmsg(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """List the topics, or make one, in upstream's words.

    Raises: UsageError for -s: what a chat begins with is said when it begins.
    """
    option, text = "-c" if arguments["-c"] else "-s" if arguments["-s"] else "", arguments["WORDS"]
    if not option:
        option, _, text = text.partition(" ")
        if option in ("chat", "prompt"):
            option, _, text = text.partition(" ")
    if option == "-c" and text:
        title = " ".join(text.split())[:_TITLE_CHARS]
        return _topic_done(call("topic.add", {"title": title, "text": text}), "added", screen)
    if option == "-s":
        raise UsageError("the topic of a chat is given when it begins", "oasis chat --topic KEY")
    return _list_topics(call, screen)


def _list_topics(call: Call, screen: Screen) -> int:
    reply = call("topic.list", {})
    width = max((len(topic["key"]) for topic in reply["topics"]), default=0)
    rows = [(one["key"], one["title"], "" if one["is_shipped"] else "  (yours)") for one in reply["topics"]]
    return screen.result(reply, [f"{key:{width}}  {title}{mark}" for key, title, mark in rows])


def _topic(call: Call, key: str) -> shapes.Topic:
    for topic in call("topic.list", {})["topics"]:
        if topic["key"] == key:
            return topic
    raise UsageError(f"there is no topic {key!r}", "`oasis topics` lists them")


def _topic_text(screen: Screen) -> str:
    """Return the text that is on standard input.

    Raises: UsageError for none.
    """
    if screen.can_ask:
        screen.progress("the text, ended by Ctrl-D on a line of its own:")
    text = read_text().strip()
    if not text:
        raise UsageError("the text is empty", "give it on standard input: oasis topics add TITLE < file")
    return text


def _topic_done(reply: Mapping[str, object], what: str, screen: Screen) -> int:
    return screen.result(reply, f"topic {reply['key']} {what}")
