"""`oasis.chat.send`: a whole exchange in one call, for programs that cannot follow a run.

The phone app gives a call 30 s, needs a text in every reply, and sends its message again after any failure, then once
more after a new login. So the reply comes within SEND_S, with the answer or with what there is to say meanwhile, and a
message that is sent again joins the exchange which it began:

    while that runs or waits for the owner          whoever sends it again, for the chat or for a new one
    for AGAIN_S after it was last asked for         until its end is known to have arrived: the session that got it has
                                                    called anything else, as the app does, or came without the web

Only methods are called here, by the role of the caller.
"""

from __future__ import annotations

import threading

from oasis.core import jsonl
from oasis.errors import UsageError
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.bus.calls import Waiters

    Role = dict[str, object]
    Call = Callable[[str, dict[str, object], Role], dict[str, Any]]

# With the start of a run and the way through the web server well below the 30 s of the app.
SEND_S = 23.0
AGAIN_S = 120.0
_SLICE_MS = 3000
# Exchanges that are remembered: more than one phone begins in two minutes.
_KEPT = 16
_OPEN = ("running", "waiting")
# A reply of the bus has 256 KiB, and one that is too long would have no content: then the app sends once more. Of what
# tools said it shows the names.
_CONTENT_CHARS = 40_000
_OUTPUTS, _OUTPUT_CHARS = 16, 500
_NOTES, _NOTE_CHARS = 8, 2000
_VERBS = ("set", "add", "add_list", "del_list", "delete", "reorder")


class Sending:
    """The exchanges of one daemon that came in one call. `call(name, arguments, role)` calls a method."""

    def __init__(self, call: Call, waiters: Waiters, now_s: Callable[[], float]) -> None:
        self._call = call
        self._waiters = waiters
        self._now_s = now_s
        self._lock = threading.Lock()
        self._known: list[dict[str, Any]] = []

    def send(self, role: Role, chat: str, topic: str, message: str) -> dict[str, object]:
        """Give a message to a chat, "" for a new one, and return its answer in upstream's shape.

        Raises: what the start of a run raises; a run that fails is told in the reply.
        """
        until_s = self._now_s() + SEND_S
        with self._lock:
            sent = self._sent(role, chat, message) or self._begin(role, chat, topic, message)
        story = self.follow(sent["run"], role, until_s)
        with self._lock:
            session = str(role.get("session", ""))
            sent.update(since_s=self._now_s(), session=session)
            sent["is_told"] = not story.is_open
            sent["is_heard"] = sent["is_told"] and not session
        return {**story.reply(sent["chat"]), "id": sent["chat"], "title": self._title(role, sent["chat"])}

    def heard(self, session: str) -> None:
        """Note that a session calls something else: what it was told last has arrived."""
        with self._lock:
            for sent in self._known:
                if session and sent["is_told"] and sent["session"] == session:
                    sent["is_heard"] = True

    def follow(self, run: str, role: Role, until_s: float) -> Story:
        """Follow a run to its end, or until it waits for its owner, or the time is over; return what it told."""
        story, since = Story(), 0
        place = self._waiters.enter()
        try:
            while True:
                left_ms = max(int((until_s - self._now_s()) * 1000), 0)
                wait_ms = 0 if place[0] else min(left_ms, _SLICE_MS)
                reply = self._call("run.poll", {"run": run, "since": since, "wait_ms": wait_ms}, role)
                story.take(reply)
                since = reply["next"]
                if reply["state"] != "running" or wait_ms == 0:
                    return story
        finally:
            self._waiters.leave(place)

    def _sent(self, role: Role, chat: str, message: str) -> dict[str, Any] | None:
        """Return the exchange that a message began before, when it is to be joined."""
        digest = sha256(message.encode("utf-8", "replace"))
        sent: dict[str, Any]
        for sent in reversed(self._known):
            if sent["message"] == digest and chat in (sent["chat"], sent["asked"]):
                is_late = sent["is_heard"] or self._now_s() - sent["since_s"] > AGAIN_S
                if self._is_open(role, sent["run"]) or not is_late:
                    return sent
        return None

    def _is_open(self, role: Role, run: str) -> bool:
        try:
            return self._call("run.poll", {"run": run, "since": 1 << 30}, role)["state"] in _OPEN
        except UsageError:
            return False  # long over

    def _begin(self, role: Role, chat: str, topic: str, message: str) -> dict[str, Any]:
        asked: dict[str, object] = {"message": message, "chat": chat}
        if topic and not chat:
            known = [item["key"] for item in self._call("topic.list", {}, role)["topics"]]
            asked["topic"] = topic if topic in known else "default"  # as upstream does
        run = self._call("run.start", asked, role)
        sent = {"run": run["run"], "chat": run["chat"], "asked": chat, "since_s": self._now_s(), "session": ""}
        sent.update(message=sha256(message.encode("utf-8", "replace")), is_told=False, is_heard=False)
        self._known = [*self._known[1 - _KEPT :], sent]
        return sent

    def _title(self, role: Role, chat: str) -> str:
        for item in self._call("chat.list", {}, role)["item"]:
            if item["id"] == chat:
                return str(item["title"])
        return ""


class Story:
    """What the events of a run come to, told in one text."""

    def __init__(self) -> None:
        self.is_open = True
        self._state = "running"
        self._said = [""]
        self._tools: list[dict[str, str]] = []
        self._notes: list[str] = []
        self._plan: dict[str, Any] | None = None
        self._change: dict[str, Any] | None = None
        self._error: dict[str, Any] | None = None

    def take(self, reply: dict[str, Any]) -> None:
        """Take the next part of a run's events, as run.poll gives it."""
        self._state = reply["state"]
        self.is_open = self._state in _OPEN
        for event in reply["events"]:
            kind = event["type"]
            if kind == "delta":
                self._said[-1] += event["text"]
            elif kind == "reset":
                self._said = [event["text"]]
            elif kind == "message":
                self._said.append("")
            elif kind == "tool_result":
                self._tools.append({"tool_call_id": event["tool_use_id"], "name": event["name"],
                                    "output": event["text"][:_OUTPUT_CHARS]})  # fmt: skip
            elif kind == "note":  # what a tool has for the owner alone is one too
                self._notes.append(event["text"][:_NOTE_CHARS])
            elif kind == "approval":
                self._plan = None
            elif kind in ("plan", "change", "error"):
                setattr(self, "_" + kind, event[kind])

    @property
    def is_failed(self) -> bool:
        """Whether the run ended in an error."""
        return self._error is not None

    def reply(self, chat: str) -> dict[str, object]:
        """Return the story in upstream's shape; `content` is never empty."""
        found: dict[str, object] = {"content": self.text(chat), "reboot": False, "shutdown": False}
        if self._tools:
            outputs = {"service": "oasis", "tool_outputs": self._tools[-_OUTPUTS:], "reboot": False, "shutdown": False}
            found["tool_info"] = jsonl.dumps(outputs)
        if self._plan is not None:
            found["uci_parse_tbl"] = proposal(self._plan["uci"])
        return found

    def text(self, chat: str) -> str:
        """Return what was said, and what goes on or waits."""
        said = "\n\n".join([text.strip() for text in self._said if text.strip()])
        if len(said) > _CONTENT_CHARS:
            said = "%s…\n(the rest is in chat %s on the router's Oasis page)" % (said[:_CONTENT_CHARS], chat)
        parts = [*([said] if said else []), *self._notes[-_NOTES:]]
        change = self._change
        if self._plan is not None:
            parts.append(_waits(self._plan, chat))
        elif self._state == "waiting":
            parts.append("This waits for your word. Open chat %s on the router's Oasis page." % chat)
        elif change is not None and change["state"] == "applied" and change.get("confirm_in_s"):
            parts.append(
                "The change is applied and is put back in %d s unless you keep it: open chat %s on the router's Oasis "
                "page and press Keep, or run: oasis confirm" % (change["confirm_in_s"], chat)
            )
        elif self.is_open:
            parts.append(
                "I am still working on this. Open chat %s again in a moment for the rest; a change that needs your "
                "word is approved on the router's Oasis page." % chat
            )
        if self._error is not None:
            parts.append("\n".join(filter(None, (self._error["message"], self._error["hint"]))))
        if self._state == "cancelled":
            parts.append("This was stopped.")
        return "\n\n".join(parts) or "Done."


def _waits(plan: dict[str, Any], chat: str) -> str:
    words = "\n".join("- " + word for word in plan["words"])
    return (
        "A change waits for your approval: %s\n%s\n"
        "Approve or decline it in chat %s on the router's Oasis page, or in a shell with: oasis approve %s"
        % (plan["summary"], words, chat, plan["id"])
    )


def proposal(commands: list[str]) -> dict[str, Any]:
    """Return UCI commands as upstream tells of a proposal: {"uci_notify", "uci_list": {verb: [{"param"}]}}."""
    found: dict[str, list[dict[str, str]]] = {verb: [] for verb in _VERBS}
    for command in commands:
        verb, _, rest = command.removeprefix("uci ").partition(" ")
        if verb in found:
            is_quoted = rest[:1] + rest[-1:] == "''" and rest.count("'") == 2
            found[verb].append({"param": rest[1:-1] if is_quoted else rest})
    return {"uci_notify": True, "uci_list": found}
