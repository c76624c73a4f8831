"""`oasis chat` and `oasis resume`: lines in, answers out, until /exit.

Contract: without a choice of the owner, the daemon continues the newest end of the chat. Once the owner chose a message
or a bookmark, the chat continues there, whatever is added elsewhere, and the bookmark moves along. What is set for the
next message goes with that one only; the daemon lets a thread inherit it. A line that begins with / and one word is a
command of the chat and never reaches the model. Without a terminal the lines of standard input are sent one after the
other, and the exit status is that of the last answer.
"""

from __future__ import annotations

import re

from oasis import VERSION, parts
from oasis.cli import cards
from oasis.cli.chats import draw_tree, load_thread, rename, set_bookmark, show_thread
from oasis.cli.commands import OK, TEXTS, given, named
from oasis.cli.prompt import Turn, ask_approval, checked, follow, followed
from oasis.cli.request import along, attach, chat_id, end_of, newest_chat, place, run_params, service
from oasis.cli.rpc_client import BrokenOff, NoDaemon
from oasis.cli.terminal import ANSWERS, read_line, read_secret
from oasis.errors import OasisError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Call, Params, RunParams
    from oasis.cli.terminal import Screen


# command: (the argument that it needs, "" for none, what it does)
CHAT_COMMANDS = TEXTS["chat_commands"]
_STANDS = r"(?<!\S)/secret(?![\w/-])"
_SHOWN = 2  # messages of a thread that one goes on with: the last question and its answer


class Conversation:
    def __init__(self, call: Call, screen: Screen, params: RunParams) -> None:
        """Begin where the parameters of run.start say; without any, a new chat begins with the first words."""
        self.call = call
        self.screen = screen
        self.next: RunParams = {**params}  # goes with the next message alone
        self.chat: str = self.next.pop("chat", "")
        self.continues: list[str] = self.next.pop("continues", [])
        self._late: tuple[str, ...] = ()  # words that would have answered a question which is over: no message
        if self.continues and not self.chat:
            self.chat = place(call, self.continues[0])[0]

    def say(self, text: str) -> int:
        """Say something, follow what comes of it, and return its exit status."""
        there = given(chat=self.chat, continues=self.continues)
        started = self.call("run.start", {"message": checked(text), **there, **self.next})
        self.chat = started["chat"]
        is_chosen = bool(self.continues) or "head" in self.next
        self.next = {}
        if self.screen.is_json:
            self.screen.json({"type": "run", "run": started["run"], "chat": started["chat"]})
        turn = Turn(self.call, started["run"], self.screen)
        try:
            return self._follow(turn)
        finally:
            if is_chosen and turn.message:
                self.continues = [turn.message]

    def _follow(self, turn: Turn) -> int:
        status = followed(turn)
        if turn.unanswered:
            self._late = (*ANSWERS, turn.unanswered.get("typed_word", ""))
        return status

    def go_to(self, chat: str, headish: str) -> None:
        """Go on from a message or a bookmark, "" for the end of the chat."""
        self.chat, self.continues = chat, [headish] if headish else []
        self.next.pop("head", None)
        self.next.update(along(self.continues))

    @property
    def here(self) -> str:
        """The headish that the next words continue, "" for the end of the chat."""
        return self.continues[-1] if self.continues else ""

    def end(self) -> str:
        """Return the message or bookmark that the next words continue.

        Raises: UsageError when nothing was said yet.
        """
        if not self.chat:
            raise UsageError("nothing was said yet", "say something first")
        return self.here or end_of(self.call, self.chat)

    def print(self, last: int = 0) -> None:
        show_thread(load_thread(self.call, self.chat, self.here, last), self.screen)

    def take(self, line: str) -> int:
        """Do what a line says when it is a command, or else say it to the router; return its exit status.

        Raises: UsageError for an unknown command, or wrong arguments.
        """
        if line.lower() in self._late or line in self._late:
            raise UsageError("nothing waits for an answer any more, and this is not sent", "say what you want again")
        self._late = ()
        command, _, rest = line.partition(" ")
        rest = rest.strip()
        begins_with_secret = command == "/secret" and rest
        if command[:1] != "/" or not command[1:].isalpha() or begins_with_secret:
            # What is entered unseen is kept by the daemon, and its placeholder goes into the message.
            return self.say(re.sub(_STANDS, lambda _: self._enter(), line))
        part = () if command in CHAT_COMMANDS else parts.merged("CHAT_COMMANDS").get(command)
        if part is None:
            absent = parts.missing("chat_commands", command)
            raise absent or UsageError(f"unknown command {command}", "/help lists the commands")
        takes = "" if part else CHAT_COMMANDS[command][0]
        if bool(rest) != bool(takes):
            fault = "takes nothing more" if rest else "needs " + takes
            raise UsageError(f"{command} {fault}", "/help lists the commands")
        status: int
        status = named(part[1])(self.call, part[2], self.screen) if part else getattr(self, "_" + command[1:])(rest)
        return status

    def _enter(self) -> str:
        value = read_secret(self.screen, "the secret (it is not shown): ")
        if not value:
            raise UsageError("no secret was entered, and nothing is said", "/secret asks again")
        return str(self.call("secret.keep", {"value": value})["secret"])

    def _secret(self, rest: str) -> int:
        placeholder = self._enter()
        return self.screen.result({"secret": placeholder}, f"{placeholder} stands for it in your messages")

    def _tell(self, words: str) -> int:
        self.screen.card([words])
        return OK

    def _help(self, rest: str) -> int:
        lines = [f"{f'{name} {takes}':18} {what}" for name, (takes, what) in CHAT_COMMANDS.items() if what]
        lines[-1:-1] = [f"{name:18} {one[0]}" for name, one in parts.merged("CHAT_COMMANDS").items()]
        self.screen.card([*lines, *TEXTS["chat_help"]])
        return OK

    def _undo(self, rest: str) -> int:
        return follow(self.call, self.call("change.undo", {}), self.screen)

    def _history(self, rest: str) -> int:
        if not self.chat:
            return self._tell("nothing was said yet")
        self.print()
        return OK

    def _tree(self, rest: str) -> int:
        self.end()
        return draw_tree(self.call, self.chat, self.here, self.screen)

    def _branch(self, name: str) -> int:
        """Set a bookmark where the talk stands; before the first words it goes with them."""
        if not self.chat:
            self.next["head"] = name
            return self._tell(f"{name} begins with your next message")
        marked: Params = {"name": name, "message": self.end()}
        status = set_bookmark(self.call, marked, self.chat, False, self.screen)
        if status == OK:
            self.go_to(self.chat, name)
        return status

    def _continue(self, headish: str) -> int:
        """Go on elsewhere; a bookmark of this chat comes before one of another that is called the same."""
        chat, head = self.chat, headish
        marks = self.call("bookmark.list", {"chat": chat})["bookmarks"] if chat else []
        if headish not in [mark["name"] for mark in marks]:
            chat, head = place(self.call, headish)
        self.go_to(chat, head)
        self.print(_SHOWN)
        return OK

    def _service(self, name: str) -> int:
        known = [item["identifier"] for item in self.call("service.list", {})["service"]]
        given = service(self.call, name)
        chosen = given["options"]["provider_ptr"]
        if chosen and chosen not in known:
            raise UsageError(f"there is no service {name!r}", "there are: " + ", ".join(known))
        self.next.update(given)
        words = f"{chosen} answers in this thread" if chosen else "the usual service answers"
        return self._tell(f"{words} from your next message on")

    def _topic(self, key: str) -> int:
        if self.chat:
            raise UsageError("this chat has begun, its topic stays", "oasis chat --topic KEY begins another one")
        topics = self.call("topic.list", {})["topics"]
        if key not in [topic["key"] for topic in topics]:
            raise UsageError(f"there is no topic {key!r}", "there are: " + ", ".join(topic["key"] for topic in topics))
        self.next["topic"] = key
        return self._tell(f"the chat begins with {key}")

    def _title(self, title: str) -> int:
        self.end()
        return rename(self.call, {"CHAT": self.chat, "TITLE": title}, self.screen)

    def _attach(self, path: str) -> int:
        sent = attach(self.call, path, self.screen)
        self.next.setdefault("attachments", []).append(sent["upload"])
        kind = f", {sent['media_type']}" if sent.get("media_type") else ""
        return self._tell(f"{path} ({sent['size_bytes']} bytes{kind}) goes with your next message")

    def _summarise(self, rest: str) -> int:
        started = self.call("chat.summarise", {"id": self.chat, "head": self.end()})
        turn = Turn(self.call, started["run"], self.screen)
        status = followed(turn)
        if turn.message:
            self.go_to(self.chat, turn.message)
        return status

    def _plan(self, rest: str) -> int:
        """Show the waiting plans and ask about each; what comes of one is followed to its end."""
        call, screen = self.call, self.screen
        plans = call("plan.list", {})["plans"]
        status = screen.result({"plans": plans}, [] if plans else "no plan is waiting")
        for plan in [] if screen.is_json else plans:
            screen.card(cards.plan_card(plan, with_hash=not screen.can_ask))
            if screen.can_ask:
                ask_approval(call, plan, screen)
                status = follow(call, plan, screen, after_plan=plan["id"])
        return status


def chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    return _talk(Conversation(call, screen, run_params(call, arguments, screen)))


def resume(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Talk on in the chat used last, or another one; an answer that is still being given is shown first."""
    name = chat_id(call, arguments["CHAT"]) if arguments["CHAT"] else newest_chat(call)
    return _talk(Conversation(call, screen, {"chat": name}), is_resumed=True)


def _talk(conversation: Conversation, is_resumed: bool = False) -> int:
    """Greet a person, show what is still being answered in a chat that is resumed, and take lines until the end."""
    call, screen, status = conversation.call, conversation.screen, OK
    if conversation.chat and screen.can_ask:
        conversation.print()
    provider = call("info", {})["provider"]  # also tells at once when the service is not running
    screen.progress(f"Oasis {VERSION}, {provider['name']} {provider['model']}: /help lists the commands")
    for run in call("run.active", {})["runs"] if is_resumed else ():
        if run["chat"] == conversation.chat:
            followed(Turn(call, run["run"], screen))
    while True:
        line = read_line(screen, "you: ")
        if line is None or line == "/exit":
            return OK if screen.is_terminal else status
        try:
            status = conversation.take(line) if line else status
        except OasisError as error:
            if isinstance(error, NoDaemon) and not isinstance(error, BrokenOff):
                raise
            status = screen.failure(error)
