"""The optional parts of one daemon, and methods of our own that are made the same way; each with its first use.

Which parts there are, and what each offers, their manifests say: see oasis/parts. An idle daemon makes none of them.

A part is made by `gather(kit)` of its module. What it may have, each called only where it is there:

    METHOD(**arguments)   of table.py, "_" for "."; who may call it is judged before
    source                makes the calls of its tools; a file next to it has their specs
    sources()             further sources of tools
    added(turn, extras)   what a model gets before it answers; see Extras
    after(turn)           looks at a turn that a model ended well; what takes long it does in a thread or run of its own
    start(), settle()     begins to work by itself; follows the settings
    close()               ends its threads, within a second

Shape of a turn: {"run": "" where nothing is sent, "chat", "message": id of the owner's, "said": its text, "service":
the first that is asked, afterwards the one that answered, "taint": of the message, afterwards}
"""

from __future__ import annotations

import functools
import os
import sys
import threading

from oasis import parts
from oasis.config.settings import OFFLINE
from oasis.core import jsonl
from oasis.errors import OasisError, UsageError

if False:  # annotations only
    from oasis.agent import start as agent
    from oasis.agent.shapes import Came, TurnAbout
    from oasis.agent.start import TurnStarter
    from oasis.api.chat_methods import Conversations
    from oasis.change.policy import Policy
    from oasis.change.shapes import Role
    from oasis.core.shapes import Any, Callable, Protocol
    from oasis.llm.services import Book
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch

    class Services(agent.Services, Protocol):
        """What parts and methods are made of; daemon/wiring.py makes it. What is called is made when it is."""

        ubus_call: Callable[..., dict[str, object] | None]  # object, method, arguments: ubus/outgoing.py
        parts: OptionalParts
        backend_name: str
        policy: Policy

        def new_id(self) -> str: ...  # of a record: xid
        def came(self, role: Role, /) -> Came: ...  # by which connections somebody came, () when nothing tells
        def turn_starter(self) -> TurnStarter: ...
        def conversations(self) -> Conversations: ...
        def book(self) -> Book: ...
        def parts_wait(self) -> str: ...  # what other parts wait for that are installed now
        def bus_faults(self) -> list[str]: ...  # what is wrong with our place on the bus
        def has_old(self) -> bool: ...  # whether chats of the Lua Oasis wait to be imported
        def is_clock_trusted(self, newest_unix_s: int, /) -> bool: ...
        def free_bytes(self, path: str, /) -> int: ...
        def log(self, text: str, is_fault: bool = True, /) -> object: ...
        def call(self, name: str, params: dict[str, object], role: Role, /) -> dict[str, Any]: ...  # see methods.py


class Extras:
    """What the parts add to a turn: text for the system prompt, whose words it holds, and what a skill wants.

    `tools` None lets all through, a list only these; `also` are offered whatever was said; `service` is an alias or
    service, "" for what the thread has.
    """

    def __init__(self) -> None:
        self.system: list[str] = []
        self.taint: list[str] = []
        self.tools: list[str] | None = None
        self.also: list[str] = []
        self.service = ""

    def allow(self, tools: list[str]) -> None:
        """Let only these tools through, of those that got through so far."""
        self.tools = tools if self.tools is None else [name for name in self.tools if name in tools]

    def prefer(self, service: str) -> None:
        """Have an alias or service answer, where one is given."""
        self.service = service or self.service


class Offered:
    """The tools of a part as its file tells of them: a source of the registry. A call makes the part."""

    def __init__(self, name: str, file: str, part: Callable[[str], Any], log: Callable[[str], object]) -> None:
        self.name = name
        self._file = file
        self._part = part
        self._log = log
        self._is_broken = False
        self._specs: list[dict[str, Any]] = []

    def specs(self) -> list[dict[str, Any]]:
        """Return the specs, always the same list while the part is installed."""
        if not parts.is_here(self._file.split("/")[1]):
            return []
        if not self._specs and not self._is_broken:
            try:
                self._specs = jsonl.table(os.path.dirname(__file__), self._file)["tools"]
            except Exception as error:
                self._is_broken = True  # its tools are gone, and all else goes on
                self._log(str(parts.broken(self._file.split("/")[1], error)))
        return self._specs

    def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Call a tool of the part."""
        result: dict[str, Any] = self._part(self.name).source.call(name, arguments, operator, watch)
        return result

    def preview(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> list[str]:
        """Return what a call of a tool whose spec has "previews" would do."""
        words: list[str] = self._part(self.name).source.preview(name, arguments, operator, watch)
        return words


class OptionalParts:
    """The parts of one daemon."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._lock = threading.RLock()
        self._parts: dict[str, Any] = {}
        self.modules: dict[str, str] = {**OWN, **parts.merged("METHODS")}
        self._offered = [Offered(name, file, self.part, kit.log) for name, file in parts.merged("TOOLS").items()]

    def part(self, name: str) -> Any:
        """Return a part by the first word of its methods, made now if need be; raise UsageError where there is none.

        One whose package was removed is none from that moment on.
        """
        with self._lock:
            if name not in self.modules:
                raise parts.missing("methods", name) or UsageError("there is no part %r" % name)
            place = self.modules[name]
            if name not in OWN:
                parts.check_here(place)
            if name not in self._parts:
                try:
                    gather = __import__("oasis." + place, fromlist=["gather"]).gather
                except (Exception, SystemExit) as error:
                    if name in OWN:
                        raise
                    raise parts.broken(place.split(".")[1], error)
                self._parts[name] = gather(self._kit)
            return self._parts[name]

    def is_made(self, name: str) -> bool:
        """Tell whether a part was used already."""
        return name in self._parts

    def find(self, name: str) -> Any:
        """Return a part, None where it is not installed."""
        return self.part(name) if name in self.modules and not self._is_gone(name) else None

    def _is_gone(self, name: str) -> bool:
        """Tell whether the package of a part was removed since the daemon began."""
        return name not in OWN and not parts.is_here(self.modules[name].split(".")[1])

    def outside(self) -> list[Callable[[], list[Any]]]:
        """Return what gives the sources of tools that others wrote, one for each part that has some."""
        return [functools.partial(self._outside, *one) for one in parts.merged("OUTSIDE").items()]

    def _outside(self, name: str, has_any: Callable[[Services], bool]) -> Any:
        part = self._usable(name) if self.is_made(name) or has_any(self._kit) else None
        return part.sources() if part is not None else []

    def _usable(self, name: str) -> Any:
        """Return a part; None, and a line in the log, where it cannot be loaded: everything else goes on without it."""
        if self._is_gone(name):
            return None
        try:
            return self.part(name)
        except UsageError as error:
            self._kit.log(error.message)
            return None

    def _tried(self, name: str, step: str, is_wanted: Callable[[Services], bool]) -> None:
        """Have a part begin or follow the settings; a fault of it is logged, and stops nobody else."""
        try:
            if not self._is_gone(name) and (self.is_made(name) or is_wanted(self._kit)):
                getattr(self.part(name), step)()
        except OasisError as error:
            self._kit.log("%s stays as it was: %s" % (name, error.message))
        except Exception as bug:
            sys.excepthook(type(bug), bug, bug.__traceback__)

    def sources(self) -> list[Any]:
        """Return the sources of tools of all parts; called at every listing of the tools."""
        return self._offered

    def added(self, turn: TurnAbout | None) -> Extras:
        """Return what the parts add to a turn of a model that begins; None: its principal has no memory or skills."""
        extras = Extras()
        for name in parts.listed("ADDING") if turn else ():
            part = self._usable(name)
            if part is not None:
                part.added(turn, extras)
        return extras

    def after(self, turn: TurnAbout) -> None:
        """Let the parts look at a turn that ended."""
        for name in parts.listed("LOOKING"):
            part = self._usable(name)
            if part is not None:
                part.after(turn)

    def start(self) -> None:
        """Let parts that work by themselves begin."""
        for name, is_wanted in parts.merged("STARTING").items():
            self._tried(name, "start", is_wanted)
        kit = self._kit
        types = {section.type for section in kit.settings.sections() if section.options.get("enabled") != "0"}
        waits = parts.all_missing(kit.root.state_folder, types)
        texts = ["%s, and what it keeps for you waits for it: %s" % (one.message, one.hint) for one in waits.values()]
        offline = parts.all_missing().get("offline")
        # Where nothing was asked yet, the owner is only about to choose a service.
        is_used = kit.settings.services()[0]["vendor"] == OFFLINE and kit.files.names(kit.settings.chat_folder())
        if offline is not None and is_used:
            what = (offline.message, offline.hint)
            texts.append("%s, and no other AI service is set up, so nothing answers: %s" % what)
        told = (*waits, *(["offline"] if is_used else []))
        texts += ["%s: %s" % (one.message, one.hint) for one in parts.all_refused(told).values()]
        self.part("notice").missing(texts)
        for text in texts:
            kit.log(text)

    def settle(self) -> None:
        """Let parts be as the settings want them; where nobody turned one on, nothing of it is loaded."""
        for name, is_wanted in parts.merged("SETTLING").items():
            self._tried(name, "settle", is_wanted)

    def leave(self) -> None:
        """End what parts have running whose packages were removed, whatever else runs."""
        with self._lock:
            gone = [self._parts.pop(name) for name in list(self._parts) if self._is_gone(name)]
        self._close(gone)

    def close(self) -> None:
        """End what parts have running."""
        self._close(list(self._parts.values()))

    def _close(self, made: list[Any]) -> None:
        for part in made:
            if getattr(part, "close", None) is not None:
                try:
                    part.close()
                except Exception as bug:  # the next one is ended all the same
                    sys.excepthook(type(bug), bug, bug.__traceback__)


# As METHODS of a manifest, of what is no optional part.
OWN = {"notice": "api.notices"}
