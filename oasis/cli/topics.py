"""`oasis topics`, and upstream's `sysmsg`: the system messages that a chat can begin with.

The text of a topic comes on standard input, as it is: no shell history and no process list has it.
"""

from __future__ import annotations

from oasis.cli.commands import DECLINED, OK
from oasis.cli.terminal import is_meant, read_text
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Call, Mapping, Params, Topic
    from oasis.cli.terminal import Screen

_USAGE = "usage: oasis topics [list|show KEY|add TITLE|edit KEY|delete KEY]"
_TITLE_CHARS = 40  # of a topic that upstream's words gave no title


def topics(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what the first word says."""
    action, rest = arguments["ACTION"] or "list", arguments["NAME"]
    if action not in ACTIONS:
        raise UsageError(f"unknown word {action!r}", _USAGE)
    if bool(rest) == (action == "list"):
        raise UsageError(f"`topics {action}` {'takes nothing more' if rest else 'needs one word more'}", _USAGE)
    return ACTIONS[action](call, rest, arguments["--title"], screen)


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
        return _done(call("topic.add", {"title": title, "text": text}), "added", screen)
    if option == "-s":
        raise UsageError("the topic of a chat is given when it begins", "oasis chat --topic KEY")
    return _list(call, "", "", screen)


def _list(call: Call, rest: str, title: str, screen: Screen) -> int:
    reply = call("topic.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    width = max((len(topic["key"]) for topic in reply["topics"]), default=0)
    for topic in reply["topics"]:
        mark = "" if topic["is_shipped"] else "  (yours)"
        screen.line(clean.line(f"{topic['key']:{width}}  {topic['title']}{mark}"))
    return OK


def _show(call: Call, key: str, title: str, screen: Screen) -> int:
    topic = _find(call, key)
    if screen.is_json:
        screen.json(topic)
    else:
        screen.line(clean.line(f"{topic['title']} ({topic['key']})"), "bold")
        screen.line()
        screen.line(topic["text"])
    return OK


def _add(call: Call, title: str, other: str, screen: Screen) -> int:
    return _done(call("topic.add", {"title": title, "text": _text(screen)}), "added", screen)


def _edit(call: Call, key: str, title: str, screen: Screen) -> int:
    """Give a topic the text of standard input; its title stays unless another is given."""
    topic = _find(call, key)
    params: Params = {"key": key, "title": title or topic["title"], "text": _text(screen)}
    return _done({"key": key, **call("topic.update", params)}, "changed", screen)


def _delete(call: Call, key: str, title: str, screen: Screen) -> int:
    if screen.can_ask:
        shown = clean.line(_find(call, key)["title"])
        if not is_meant(screen, f'Delete the topic "{shown}"?'):
            return DECLINED
    return _done({"key": key, **call("topic.delete", {"key": key})}, "deleted", screen)


def _find(call: Call, key: str) -> Topic:
    for topic in call("topic.list", {})["topics"]:
        if topic["key"] == key:
            return topic
    raise UsageError(f"there is no topic {key!r}", "`oasis topics` lists them")


def _text(screen: Screen) -> str:
    """Return the text that is on standard input.

    Raises: UsageError for none.
    """
    if screen.can_ask:
        screen.progress("the text, ended by Ctrl-D on a line of its own:")
    text = read_text().strip()
    if not text:
        raise UsageError("the text is empty", "give it on standard input: oasis topics add TITLE < file")
    return text


def _done(reply: Mapping[str, object], what: str, screen: Screen) -> int:
    return screen.result(reply, f"topic {reply['key']} {what}")


ACTIONS = {"list": _list, "show": _show, "add": _add, "edit": _edit, "delete": _delete}
