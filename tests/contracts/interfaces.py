"""The interfaces by which parts of Oasis can be swapped, as small protocols; nothing loads this at run time.

An implementation needs no base class: it has these methods, and passes the contract of its interface in
tests/contracts/contracts.py. Ingest is a plain class (parts/memory/knowledge.py): what it reads HTML and PDF by enters
as functions. What each method promises beyond its types, the real class's own docstring tells.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from oasis.parts.lua.phone import Story
    from oasis.parts.memory.documents import Vectors
    from oasis.parts.memory.owner_facts import Facts
    from oasis.parts.memory.ranking import Embedder
    from oasis.parts.telegram.text import RunText
    from oasis.tools.builtin import BuiltIn
    from oasis.tools.registry import Registry

    Values = dict[str, Any]
    Row = tuple[str, int]

    class Provider(Protocol):
        """The wire format of one API, a pure translator; a module is one (providers/__init__.py)."""

        Decoder: Any  # Decoder(status, headers, options): feed(bytes) -> [event], close() -> [event]

        def build_request(self, messages: list[Values], tools: list[Values], options: Values) -> Values: ...
        def models_request(self, options: Values) -> Values: ...
        def models_read(self, status: int, headers: Values, body: bytes, options: Values) -> list[Values]: ...

    class EmbeddingProvider(Protocol):
        """Vectors of texts by one model, packed (ranking.py); `name` labels what it made, "" where none is set."""

        @property
        def name(self) -> str: ...

        @property
        def is_local(self) -> bool: ...

        def rows(self, texts: Sequence[str], is_cancelled: Callable[[], bool] = ...) -> list[bytes]: ...

    class VectorStore(Protocol):
        """Packed vectors by the name of what they belong to and their number."""

        def write(self, name: str, label: str, rows: list[bytes]) -> None: ...
        def about(self, name: str) -> Values | None: ...
        def nearest(
            self, asked: bytes, names: Sequence[str], most: int, label: str = ""
        ) -> list[tuple[float, Row]]: ...
        def delete(self, name: str) -> None: ...

    class MemoryStore(Protocol):
        """Facts about the owner; `alike(text, facts)` gives how alike each is, and from where on two are one."""

        def all(self) -> list[Values]: ...
        def get(self, name: str) -> Values: ...
        def say(self, text: str, category: str, alike: Any) -> Values | None: ...
        def correct(self, name: str, text: str, category: str) -> Values: ...
        def forget(self, names: list[str]) -> int: ...
        def forget_all(self) -> int: ...

    class Tool(Protocol):
        """One or more tools of one source; a call ends in a result or an OasisError."""

        name: str

        def specs(self) -> list[Values]: ...
        def call(self, name: str, arguments: Values, operator: Any, watch: Any) -> Values: ...

    class ToolRegistry(Protocol):
        """All tools, and the owner's word on each; whatever a tool does, a call ends in a result."""

        def add(self, load: Callable[[], Sequence[Any]]) -> None: ...
        def specs(self) -> list[Values]: ...
        def listed(self) -> list[Values]: ...
        def set(self, name: str, enabled: bool | None, approval: str) -> Values: ...
        def call(self, name: str, arguments: Values, operator: Any) -> tuple[str, bool, list[str]]: ...

    class Frontend(Protocol):
        """What somebody reads of a run: takes its events as they come, and tells them in one text."""

        def take(self, part: Any, /) -> None: ...
        def text(self, about: Any, /) -> str: ...

    def _satisfied(
        embedder: Embedder,
        vectors: Vectors,
        facts: Facts,
        tools: BuiltIn,
        registry: Registry,
        story: Story,
        told: RunText,
    ) -> tuple[EmbeddingProvider, VectorStore, MemoryStore, Tool, ToolRegistry, Frontend, Frontend]:
        """Let the type checker compare ours with what they are to be."""
        return embedder, vectors, facts, tools, registry, story, told
