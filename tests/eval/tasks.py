"""The tasks: data in data/*.jsonl and fresh/SET/tasks.jsonl, read and checked.

A task is one line:
    {"id", "kind", "language", "sentence" or "turns": [sentences], "root": start state, "expect", "goal": [predicates],
     "allowed"?: [sections that may change], "forbidden"?: [predicates that must not hold], "bait"?: what a service that
     obeys everybody would do, "reply"?: what the owner answers to a question, "like"?: the task whose rest this has,
     "solution"?: one way to do it, of many, "owner"?: what the owner does}
expect: "change" (the router is another one afterwards), "answer", "refuse", "ask" (nothing changes in these three).
allowed: package, package.type or package.section, with * for any letters.
bait, solution: uci commands, and {"tool", "input"} for calls that are made before, one answer each; of a solution with
several turns, a list for each.
owner: "approves" (and keeps), "declines", "rolls back" (approves, and rolls back what waits to be kept); of several
turns a list. Without it the owner approves where something is to change, and declines elsewhere.
The kind `operator` is for strong models: a task of it says {"say": words} in its solution where the words count. It is
played only when it is asked for, and has a table of its own.
A set in fresh/ was written by people who had seen neither grammar nor data nor results, for routers of their own
(fresh/SET/roots.json); its name is the day on which it was first played. It is played only when it is asked for.
"""

from __future__ import annotations

import functools
import glob
import json
import os
from typing import Any

from tests.eval import predicates, roots

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("everyday", "diagnose", "refuse_or_ask", "lockout", "injection", "secrets", "languages", "operator")
# Played only when it is asked for by id, kind or half: the tables of the others stay comparable.
APART = "operator"
OWNERS = ("approves", "declines", "rolls back")
LANGUAGES = ("en", "de", "es", "ja", "zh")
EXPECTED = ("change", "answer", "refuse", "ask")
_NEEDED = {"id", "kind", "language", "root", "expect", "goal"}
_MAY_HAVE = {"sentence", "turns", "allowed", "forbidden", "bait", "reply", "like", "solution", "owner"}
# In these, what a service proposes counts as much as what becomes of it: nobody asked for it.
STRICT = ("refuse_or_ask", "injection", "secrets", APART)

Task = dict[str, Any]


@functools.cache
def load() -> dict[str, Task]:
    """Return every task by its id, checked.

    Raises: ValueError naming the line that is none.
    """
    found: dict[str, Task] = {}
    # languages last: its tasks are like those before
    for path in [*[f"{HERE}/data/{kind}.jsonl" for kind in KINDS], *sorted(glob.glob(f"{HERE}/fresh/*/tasks.jsonl"))]:
        with open(path, encoding="utf-8") as handle:
            for line in handle:
                task = json.loads(line)
                if "like" in task:
                    task = {**found[task["like"]], **task}
                    if "turns" in task and "sentence" in task:
                        del task["turns"]
                if task["id"] in found:
                    raise ValueError(f"two tasks are {task['id']}")
                check(task)
                if "/fresh/" in path:
                    task["set"] = os.path.basename(os.path.dirname(path))
                found[task["id"]] = task
    return found


def check(task: Task) -> None:
    """Raise ValueError unless a task is one."""
    where = f"task {task.get('id')}"
    if not set(task) >= _NEEDED or not set(task) <= _NEEDED | _MAY_HAVE:
        raise ValueError(f"{where}: {sorted(_NEEDED - set(task))} are missing, or {sorted(set(task))} is too much")
    if ("sentence" in task) == ("turns" in task):
        raise ValueError(f"{where}: one of sentence and turns")
    if task["kind"] not in KINDS or task["language"] not in LANGUAGES or task["expect"] not in EXPECTED:
        raise ValueError(f"{where}: unknown kind, language or expectation")
    if task["root"] not in roots.named():
        raise ValueError(f"{where}: there is no root {task['root']}")
    if task["expect"] != "change" and task.get("allowed"):
        raise ValueError(f"{where}: nothing may change")
    if not set(owners(task)) <= set(OWNERS) or len(owners(task)) != len(sentences(task)):
        raise ValueError(f"{where}: the owner is one of {OWNERS}, or one for each turn")
    for one in [*task["goal"], *task.get("forbidden", [])]:
        _check_predicate(where, one)


def _check_predicate(where: str, one: dict[str, Any]) -> None:
    if one.get("is") not in predicates.TABLE:
        raise ValueError(f"{where}: there is no predicate {one.get('is')}")
    for part in one.get("of", []):
        _check_predicate(where, part)
    _, needed, more = predicates.TABLE[one["is"]]
    given = set(one) - {"is", "not"}
    if not given >= set(needed) or not given <= {*needed, *more}:
        raise ValueError(f"{where}: {one['is']} takes {needed} and may have {more}, not {sorted(given)}")


def sentences(task: Task) -> list[str]:
    """Return what the owner says, in order."""
    return list(task["turns"]) if "turns" in task else [task["sentence"]]


def owners(task: Task) -> list[str]:
    """Return what the owner does in each turn."""
    given = task.get("owner") or ("approves" if task["expect"] == "change" else "declines")
    return given if isinstance(given, list) else [given] * len(sentences(task))


def about(task: Task) -> str:
    """Return the kind of a task, of one in another language that of the task it is like."""
    return str(load()[task["like"]]["kind"] if "like" in task else task["kind"])


def sample(tasks: list[Task], number: int) -> list[Task]:
    """Return so many tasks, evenly over their order, which is by kind; always the same ones."""
    if number >= len(tasks):
        return tasks
    return [tasks[index * len(tasks) // number] for index in range(number)]


def chosen(words: list[str]) -> list[Task]:
    """Return the tasks whose id, kind, language or set is among the words; without any, all but those apart."""
    every = [one for one in load().values() if not _apart(one) or _apart(one) & set(words)]
    return [one for one in every if not words or {one["kind"], one["language"], *_apart(one), one["id"]} & set(words)]


def sets() -> list[str]:
    """Return the names of the fresh sets, the newest last."""
    return sorted({one["set"] for one in load().values() if "set" in one})


def _apart(task: Task) -> set[str]:
    """Return the words of which one has to be said for a task, {} for one that is always played."""
    if "set" in task:
        return {task["set"], task["id"]}
    return {task["id"], APART, half(task)} if task["kind"] == APART else set()


def half(task: Task) -> str:
    """Return the name of the half that a task apart is in, like operator-a: each can be played by itself."""
    return f"{APART}-{'ab'[int(task['id'].rsplit('-', 1)[1]) % 2]}" if task["kind"] == APART else ""
