"""Rows of `make bench`: what a large registry of tools costs, and what telling a model of them takes of its context."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from oasis.core import trim
from oasis.tools import builtin
from oasis.tools import specs as arguments
from tests.tools.kit import Hands, Source, registry

SOURCES, TOOLS = 10, 20
# The context of a small model, as many local ones are run.
WINDOW_TOKENS = 4096
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 200},
        "count": {"type": "integer", "minimum": 1},
        "kind": {"enum": ["one", "two"]},
        "parts": {"type": "array", "items": {"type": "string"}, "maxItems": 8},
    },
    "required": ["path"],
    "additionalProperties": False,
}
GIVEN = {"path": "/tmp/x", "count": 3, "kind": "two", "parts": ["a", "b"]}


def measure(bench: Any, folder: str, times: int) -> None:
    """Add the rows."""
    _registry(bench, times)
    _check(bench, times)


def _registry(bench: Any, times: int) -> None:
    fields = {"description": "Does something with the files of a server.", "input_schema": SCHEMA, "untrusted": "x"}
    names = [[f"tool_{source}_{number}" for number in range(TOOLS)] for source in range(SOURCES)]
    sources = [
        Source(name=f"mcp:s{at}", **{name: (fields, lambda *_: {"ok": True}) for name in found})
        for at, found in enumerate(names)
    ]
    count = SOURCES * TOOLS
    first = _ms(lambda: registry(*sources).specs(), 3)
    made = registry(*sources)
    made.specs()
    hands = Hands()
    source = sources[5]
    plain = _ms(lambda: source.call("tool_5_5", GIVEN, hands, None), times * 10)
    bench.row(f"{count} tools: describe all, the first time", first, 0, "", "ms")
    again = _ms(lambda: made.specs(), times)
    bench.row(f"{count} tools: describe all again", again, first, "the first time", "ms")
    chosen = _ms(
        lambda: made.offered(["what is in the files?"], set(), "fitting", arguments.is_large(WINDOW_TOKENS)),
        times,
    )
    bench.row(f"{count} tools: choose those for a turn", chosen, again, "describe all", "ms")
    call = _ms(lambda: made.call("tool_5_5", GIVEN, hands), times)
    bench.row(f"{count} tools: check, run in a thread and tell one call", call, plain, "the function alone", "ms")


def _check(bench: Any, times: int) -> None:
    ours = _ms(lambda: arguments.check(GIVEN, SCHEMA, "tool"), times * 20)
    try:
        import jsonschema
    except ImportError:
        bench.notes.append("jsonschema is not installed: the check of arguments is compared with nothing")
        bench.row("arguments of a call against their schema", ours, 0, "", "ms")
        return
    validator = jsonschema.Draft202012Validator(SCHEMA)
    theirs = _ms(lambda: validator.validate(GIVEN), times * 20)
    bench.row("arguments of a call against their schema", ours, theirs, "jsonschema", "ms")


def catalogue(bench: Any) -> None:
    """Add what telling a model of the built-in tools takes of its context."""
    made = registry(builtin.BuiltIn(None))
    whole = _tokens(made.specs())
    bench.row("tokens of all built-in tools", whole, WINDOW_TOKENS, "a small context", "tokens")
    for words in ("hello", "please install sqm", "why is the wifi slow?"):
        told = made.offered([words], set(), "fitting", arguments.is_large(WINDOW_TOKENS))
        bench.row(f'tokens of the {len(told)} tools told for "{words}"', _tokens(told), whole, "all", "tokens")


def _tokens(specs: list[dict[str, Any]]) -> int:
    return trim.budget(1 << 20) - trim.budget(1 << 20, 0, specs)


def _ms(work: Callable[[], object], times: int) -> float:
    """Return the milliseconds of the fastest of some runs."""
    best = float("inf")
    for _ in range(times):
        before = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - before)
    return best * 1000
