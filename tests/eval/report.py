"""A run of the evaluation as Markdown and as JSON; and RESULTS.md, which holds one table for each service.

A result is {"id", "kind", "language", "expect", "passed", "gate": the one that was shut, "why", "first_try": passed
without a refused proposal and without a question, "set"?: the fresh set that it is of, "is_wrong": the last sentence
changed something and the task did not pass, "repairs": refused proposals, "questions", "input_tokens",
"output_tokens", "calls": requests to the service, "seconds", "said"}.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from tests.eval import tasks

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "RESULTS.md")

Result = dict[str, Any]
_DEVELOPMENT = "development"
# Of the controls: what each is judged by, and which tasks these are.
HALVES: dict[str, tuple[str, Callable[[tasks.Task], bool]]] = {
    "nothing": ("Where something was to come of it", lambda task: task["expect"] in ("change", "answer")),
    "yes": (
        "Where it was wrong to obey",
        lambda task: task["expect"] in ("refuse", "ask") or "bait" in task,
    ),
    "knows": ("Where it has a solution", lambda task: "solution" in task),
}


def table(name: str, results: list[Result], note: str = "") -> str:
    """Return the table of one service: a row for each kind, each language, and all."""
    lines = [f"### {name}", ""]
    if note:
        lines += [note, ""]
    lines += ["| tasks | number | first try | after repair | seconds | calls | tokens in | tokens out |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    lines += [_row(kind, [one for one in results if one["kind"] == kind]) for kind in tasks.KINDS]
    for language in tasks.LANGUAGES:
        of = [one for one in results if one["language"] == language]
        lines.append(_row(f"in {language}", of))
    lines.append(_row("**all**", results))
    return "\n".join([line for line in lines if line is not None]) + "\n" + _gates(results)


def sets(results: list[Result]) -> str:
    """Return how tasks of the development set and of the fresh sets came out, and each wrong change in a line."""
    lines = ["| tasks | number | right at once | after an answer | wrong change at once | wrong after an answer |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name in dict.fromkeys(one.get("set", _DEVELOPMENT) for one in results):
        of = [one for one in results if one.get("set", _DEVELOPMENT) == name]
        lines.append(_set_row(f"**{name}**", of))
        lines += [_set_row(f"{name}, {kind}", [one for one in of if one["kind"] == kind]) for kind in tasks.KINDS]
        lines += [
            _set_row(f"{name}, in {word}", [one for one in of if one["language"] == word]) for word in tasks.LANGUAGES
        ]
    said = {one["id"]: " / ".join(tasks.sentences(tasks.load()[one["id"]])) for one in results}
    wrong = [f'- {one["id"]}: "{said[one["id"]]}": {_line(one["why"])}' for one in results if one["is_wrong"]]
    return "\n".join([*filter(None, lines), "", "Wrong changes:", "", *(wrong or ["none"])]) + "\n"


def _set_row(name: str, results: list[Result]) -> str:
    if not results:
        return ""
    columns = (
        [one["first_try"] for one in results], [one["passed"] for one in results],
        [one["is_wrong"] and not one["questions"] for one in results],
        [one["is_wrong"] and bool(one["questions"]) for one in results],
    )  # fmt: skip
    return f"| {name} | {len(results)} | {' | '.join([_share(sum(of), len(results)) for of in columns])} |"


def half(name: str, results: list[Result]) -> str:
    """Return how a control did on the half that it is there for, "" for a service that is none."""
    if name not in HALVES:
        return ""
    told, is_of = HALVES[name]
    of = [one for one in results if is_of(tasks.load()[one["id"]])]
    return f"{told}: {sum(1 for one in of if one['passed'])} of {len(of)} passed."


def _row(name: str, results: list[Result]) -> str | None:
    if not results:
        return None
    number = len(results)
    first, passed = (sum(1 for one in results if one[key]) for key in ("first_try", "passed"))
    means = [sum(one[key] for one in results) / number for key in ("seconds", "calls", "input_tokens", "output_tokens")]
    cells = [f"{means[0]:.1f}", f"{means[1]:.1f}", f"{means[2]:.0f}", f"{means[3]:.0f}"]
    return f"| {name} | {number} | {_share(first, number)} | {_share(passed, number)} | {' | '.join(cells)} |"


def _share(number: int, of: int) -> str:
    return f"{number} ({100 * number / of:.0f} %)"


def _gates(results: list[Result]) -> str:
    shut: dict[str, int] = {}
    for one in results:
        if not one["passed"]:
            shut[one["gate"]] = shut.get(one["gate"], 0) + 1
    if not shut:
        return ""
    told = ", ".join(f"{gate} {number}" for gate, number in sorted(shut.items(), key=lambda pair: -pair[1]))
    return f"\nWhere it stopped: {told}.\n"


def failures(results: list[Result]) -> str:
    """Return a line for each task that did not pass."""
    lines = [f"{one['id']}: {one['gate']}: {_line(one['why'])}" for one in results if not one["passed"]]
    return "\n".join(lines)


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text)[:240]


def put(name: str, text: str, path: str = RESULTS) -> None:
    """Put the table of a service into RESULTS.md, between its marks."""
    with open(path, encoding="utf-8") as handle:
        whole = handle.read()
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    if begin not in whole:
        raise ValueError(f"RESULTS.md has no place for {name}: add {begin.strip()} and {end.strip()}")
    before, rest = whole.split(begin, 1)
    after = rest.split(end, 1)[1]
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(before + begin + text + end + after)
