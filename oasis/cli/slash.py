"""The commands inside `oasis chat`: lines that begin with / and one word.

Each takes the Conversation and the words behind it and returns an exit status. What has a command of its own on the
command line is that command here as well; its module is loaded when it is asked for.
"""

from __future__ import annotations

from oasis import parts
from oasis.cli import cards
from oasis.cli.commands import OK
from oasis.cli.named import place
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.cli.conversation import Conversation

_HELP = """\
/plan              show the plans that wait for approval, and ask about them
/undo              undo the newest change
/history           print this thread
/tree              draw the branches of this chat
/branch NAME       set a bookmark here; the talk goes on under it
/continue HEADISH  go on from a message (its id) or a bookmark
/service SERVICE   let another AI service answer in this thread; off: the usual one again
/topic KEY         begin this chat with a system message of `oasis topics`
/title TEXT        give this chat a title
/summarise         let the model sum this thread up; the talk goes on from that
/attach FILE       send a document or picture with the next message
%s/secret            enter a secret unseen; written inside a message, it stands there
/exit              leave (as does Ctrl-C at the prompt)
Everything else is said to the router. Ctrl-C cancels an answer."""
_STANDS = r"(?<!\S)/secret(?![\w/-])"
_SHOWN = 2  # messages of a thread that one goes on with: the last question and its answer


def run(conversation: Conversation, line: str) -> int | None:
    """Do what a line says when it is a command; None when it is words for the router.

    Raises: UsageError for a command that there is not, or wrong words behind one.
    """
    command, _, rest = line.partition(" ")
    rest = rest.strip()
    if command == "/secret" and rest:
        return None  # a message that begins with a secret
    if command[:1] != "/" or not command[1:].isalpha():
        return None
    part = None if command in _COMMANDS else parts.merged("CHAT_COMMANDS").get(command)
    if part is None and command not in _COMMANDS:
        raise UsageError(f"unknown command {command}", "/help lists the commands")
    function, takes = _COMMANDS.get(command, (None, ""))
    if bool(rest) != bool(takes):
        raise UsageError(f"{command} {'takes nothing more' if rest else 'needs ' + takes}", "/help lists the commands")
    return function(conversation, rest) if function else _of_part(conversation, *part[1:])


def with_secrets(conversation: Conversation, text: str) -> str:
    """Return a message with what is entered unseen kept by the daemon, its placeholder where /secret stood.

    Raises: UsageError when nothing was entered; nothing is said then.
    """
    if "/secret" not in text:
        return text
    import re

    return re.sub(_STANDS, lambda _: _enter(conversation), text)


def _enter(conversation: Conversation) -> str:
    from oasis.cli.input import secret

    value = secret(conversation.screen, "the secret (it is not shown): ")
    if not value:
        raise UsageError("no secret was entered, and nothing is said", "/secret asks again")
    return str(conversation.call("secret.keep", {"value": value})["secret"])


def _secret(conversation: Conversation, rest: str) -> int:
    placeholder = _enter(conversation)
    if conversation.screen.is_json:
        conversation.screen.json({"secret": placeholder})
    return _tell(conversation, f"{placeholder} stands for it in your messages")


def _tell(conversation: Conversation, words: str) -> int:
    if not conversation.screen.is_json:
        conversation.screen.line(clean.line(words))
    return OK


def _help(conversation: Conversation, rest: str) -> int:
    if not conversation.screen.is_json:
        more = "".join(f"{name:18} {one[0]}\n" for name, one in parts.merged("CHAT_COMMANDS").items())
        conversation.screen.line(_HELP % more)
    return OK


def _undo(conversation: Conversation, rest: str) -> int:
    from oasis.cli.run import run as follow

    return follow(conversation.call, conversation.call("change.undo", {}), conversation.screen)


def _history(conversation: Conversation, rest: str) -> int:
    if not conversation.chat:
        return _tell(conversation, "nothing was said yet")
    conversation.print()
    return OK


def _tree(conversation: Conversation, rest: str) -> int:
    from oasis.cli.tree import draw

    conversation.end()
    return draw(conversation.call, conversation.chat, conversation.here, conversation.screen)


def _branch(conversation: Conversation, name: str) -> int:
    """Set a bookmark where the talk stands; before the first words it goes with them."""
    from oasis.cli.tree import set_bookmark

    if not conversation.chat:
        conversation.next["head"] = name
        return _tell(conversation, f"{name} begins with your next message")
    params: dict[str, object] = {"name": name, "message": conversation.end()}
    status = set_bookmark(conversation.call, params, conversation.chat, False, conversation.screen)
    if status == OK:
        conversation.go_to(conversation.chat, name)
    return status


def _continue(conversation: Conversation, headish: str) -> int:
    """Go on elsewhere; a bookmark of this chat comes before one of another that is called the same."""
    chat, head = conversation.chat, headish
    if not chat or headish not in _bookmarks(conversation):
        chat, head = place(conversation.call, headish)
    conversation.go_to(chat, head)
    conversation.print(_SHOWN)
    return OK


def _bookmarks(conversation: Conversation) -> list[str]:
    return [mark["name"] for mark in conversation.call("bookmark.list", {"chat": conversation.chat})["bookmarks"]]


def _service(conversation: Conversation, name: str) -> int:
    from oasis.cli.request import service

    known = [item["identifier"] for item in conversation.call("service.list", {})["service"]]
    given = service(conversation.call, name)
    chosen = given["options"]["provider_ptr"]
    if chosen and chosen not in known:
        raise UsageError(f"there is no service {name!r}", "there are: " + ", ".join(known))
    conversation.next.update(given)
    words = f"{chosen} answers in this thread" if chosen else "the usual service answers"
    return _tell(conversation, f"{words} from your next message on")


def _topic(conversation: Conversation, key: str) -> int:
    if conversation.chat:
        raise UsageError("this chat has begun, its topic stays", "oasis chat --topic KEY begins another one")
    topics = conversation.call("topic.list", {})["topics"]
    if key not in [topic["key"] for topic in topics]:
        raise UsageError(f"there is no topic {key!r}", "there are: " + ", ".join(topic["key"] for topic in topics))
    conversation.next["topic"] = key
    return _tell(conversation, f"the chat begins with {key}")


def _title(conversation: Conversation, title: str) -> int:
    from oasis.cli.shelf import rename

    conversation.end()
    return rename(conversation.call, {"CHAT": conversation.chat, "TITLE": title}, conversation.screen)


def _attach(conversation: Conversation, path: str) -> int:
    from oasis.cli.upload import attach

    sent = attach(conversation.call, path, conversation.screen)
    conversation.next.setdefault("attachments", []).append(sent["upload"])
    kind = f", {sent['media_type']}" if sent.get("media_type") else ""
    return _tell(conversation, f"{path} ({sent['size_bytes']} bytes{kind}) goes with your next message")


def _summarise(conversation: Conversation, rest: str) -> int:
    """Have this thread summed up, and go on from the summary."""
    from oasis.cli.conversation import follow_new

    started = conversation.call("chat.summarise", {"id": conversation.chat, "head": conversation.end()})
    message, status = follow_new(conversation.call, started, conversation.screen)
    if message:
        conversation.go_to(conversation.chat, message)
    return status


def _plan(conversation: Conversation, rest: str) -> int:
    """Show the waiting plans and ask about each; what comes of one is followed to its end."""
    from oasis.cli.plans import ask_approval
    from oasis.cli.run import run as follow

    call, screen = conversation.call, conversation.screen
    plans = call("plan.list", {})["plans"]
    if screen.is_json:
        screen.json({"plans": plans})
        return OK
    if not plans:
        screen.line("no plan is waiting")
    status = OK
    for plan in plans:
        cards.show(cards.plan_card(plan, with_hash=not screen.can_ask), screen)
        if screen.can_ask:
            ask_approval(call, plan, screen)
            status = follow(call, plan, screen, after_plan=plan["id"])
    return status


def _of_part(conversation: Conversation, place: str, arguments: dict[str, str]) -> int:
    """Run a command of an optional part, as its manifest names it."""
    module, _, function = place.partition(":")
    run_: Callable[..., int] = getattr(__import__("oasis." + module, fromlist=(function,)), function)
    return run_(conversation.call, arguments, conversation.screen)


# command: (function, the words that it needs, "" for none)
_COMMANDS = {
    "/help": (_help, ""),
    "/plan": (_plan, ""),
    "/undo": (_undo, ""),
    "/history": (_history, ""),
    "/tree": (_tree, ""),
    "/branch": (_branch, "NAME"),
    "/continue": (_continue, "HEADISH"),
    "/service": (_service, "SERVICE"),
    "/topic": (_topic, "KEY"),
    "/title": (_title, "TEXT"),
    "/summarise": (_summarise, ""),
    "/attach": (_attach, "FILE"),
    "/secret": (_secret, ""),
}
