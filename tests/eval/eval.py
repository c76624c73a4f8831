"""`make eval`: plain language to a working router, judged by what came of it.

    python3 tests/eval/eval.py [--service NAME] [--base-url URL] [--model NAME] [--key-file FILE] [--answers FILE]
                               [--folder DIR] [--context-tokens N] [--record FILE] [--costs] [--sample N] [--sets]
                               [--results] [--json FILE] [WORD…]

WORDs choose tasks by id, kind, language or fresh set. A fresh set, and the kind operator, which has two halves, are
played only when they are said (operator-a and operator-b each half); --sets plays the fresh sets as well and prints
them next to the others. --costs prints what each task's requests took. A key is read from the file, or from the
environment variable that the service's other programs read it from; never from the command line. What a service
answered is recorded on request, with what it was sent, and judged again with --service recorded --answers FILE.
Services: services.py; by hand: hand.py; gates: judge.py; tasks: tasks.py.

Exit status: 0 it ran (the score is no error), 2 it could not run.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
# Not the folder itself: a module of it must not hide one of the standard library.
sys.path[:] = [REPOSITORY, *[one for one in sys.path if os.path.abspath(one or ".") != HERE]]

from oasis import providers  # noqa: E402
from tests.eval import report, services, tasks, transcript  # noqa: E402
from tests.eval.judge import has_secret, judge  # noqa: E402
from tests.eval.play import Played, play  # noqa: E402

BUILD = os.path.join(REPOSITORY, "build/eval")
_SAID_CHARS = 300


def run(
    chosen: list[tasks.Task], service: services.Service, record: str = "", tell: Any = lambda result: None
) -> list[report.Result]:
    """Play and judge tasks, as many at once as the service bears; return the results in the tasks' order."""
    head: dict[str, Any] = {
        "service": service.name,
        "profile": service.profile,
        "model": service.model,
        "base_url": service.base_url,
    }
    head["context_tokens"] = service.context_tokens
    lines: dict[str, dict[str, Any]] = {}
    guard = threading.Lock()

    def one(task: tasks.Task) -> report.Result:
        found, played = _one(task, service)
        service.ended(task["id"])
        tell(found)
        with guard:
            lines[task["id"]] = _kept(task, played, found)
            if record:  # after each task: what took hours is not lost with the last of them
                _write_lines(record, [{**head, "keyed": service.is_keyed()}, *lines.values()])
        return found

    pool = concurrent.futures.ThreadPoolExecutor(service.parallel)
    try:
        results = list(pool.map(one, chosen))
    finally:
        pool.shutdown(cancel_futures=True)  # who stops waits for the tasks at work only: their daemons end with them
    if record:
        _write_lines(record, [{**head, "keyed": service.is_keyed()}, *[lines[one["id"]] for one in chosen]])
    return results


def _kept(task: tasks.Task, played: Played, found: report.Result) -> dict[str, Any]:
    """Return the line of a recording: what was answered, and what was sent where no secret of the router is in it."""
    sent = transcript.of(played.requests)
    rounds = [] if has_secret(task, json.dumps(sent, ensure_ascii=False)) else sent["rounds"]
    return {"task": task["id"], "passed": found["passed"], "answers": played.answers, "rounds": rounds}


def _write_lines(path: str, lines: list[dict[str, Any]]) -> None:
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".part", "w", encoding="utf-8") as handle:
        handle.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    os.replace(path + ".part", path)


def _one(task: tasks.Task, service: services.Service) -> tuple[report.Result, Played]:
    folder = tempfile.mkdtemp(prefix="oasis-eval-")
    try:
        played = play(task, service, folder, service.limit_s)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return result(task, played), played


def result(task: tasks.Task, played: Played) -> report.Result:
    """Return the result of a task, see report.py."""
    gate, why = judge(task, played)
    repairs = played.refusals()
    return {
        **{key: task[key] for key in ("id", "kind", "language", "expect", "set") if key in task},
        "passed": not gate, "gate": gate, "why": why, "first_try": not gate and not repairs and not played.questions,
        "is_wrong": bool(gate) and played.is_last_changing, "repairs": repairs, "questions": played.questions,
        "calls": len(played.requests), **played.usage(),
        "sent_tokens": [transcript.tokens(json.loads(body)) for body in played.requests],
        "seconds": round(played.seconds, 2), "said": played.said()[-_SAID_CHARS:],
    }  # fmt: skip


def service(arguments: argparse.Namespace) -> services.Service:
    """Return the service that is asked for.

    Raises: ValueError, OSError.
    """
    if arguments.service == "recorded":
        return services.recorded(arguments.answers)
    if arguments.service == "hand":
        return services.by_hand(arguments.folder, arguments.context_tokens, arguments.model)
    if arguments.service in services.OWN:
        return services.OWN[arguments.service]()
    known = providers.profiles().get(arguments.service, {})
    key = os.environ.pop(str(known.get("key_env") or "-"), "")
    if arguments.key_file:
        with open(arguments.key_file, encoding="utf-8") as handle:
            key = handle.read().strip()
    return services.named(arguments.service, arguments.base_url, arguments.model, key)


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--service", default="offline")
    for name in ("--base-url", "--model", "--key-file", "--answers", "--record", "--json", "--note", "--folder"):
        parser.add_argument(name, default="")
    parser.add_argument("--context-tokens", type=int, default=0, help="of the service hand: its window")
    parser.add_argument("--sets", action="store_true", help="the built-in service on the fresh sets as well")
    parser.add_argument("--costs", action="store_true", help="print rounds and tokens of each task")
    parser.add_argument("--sample", type=int, default=0, help="so many tasks, evenly over all")
    parser.add_argument("--results", action="store_true", help="put the table into RESULTS.md")
    parser.add_argument("words", nargs="*")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    arguments = _arguments(argv)
    try:
        chosen = tasks.chosen(arguments.words)
        if arguments.sets:
            chosen += tasks.chosen(tasks.sets())
        asked = service(arguments)
    except (ValueError, OSError) as error:
        print(f"eval: {error}", file=sys.stderr)
        return 2
    if arguments.service == "recorded":
        chosen = [one for one in tasks.chosen(arguments.words or list(tasks.KINDS)) if one["id"] in asked.has]
    if arguments.sample:
        chosen = tasks.sample(chosen, arguments.sample)
    begun_s = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: _stop(asked))
    try:
        results = run(chosen, asked, arguments.record, _tell)
    finally:
        asked.close()
    seconds = time.monotonic() - begun_s
    _write(arguments, asked, results, seconds)
    return 0


def _stop(asked: services.Service) -> None:
    asked.close()  # who waits for an answer waits no more
    sys.exit(143)


def _tell(result: report.Result) -> None:
    print("." if result["passed"] else "x", end="", file=sys.stderr, flush=True)


def _write(
    arguments: argparse.Namespace, asked: services.Service, results: list[report.Result], seconds: float
) -> None:
    name = asked.name if asked.model == asked.name else f"{asked.name} ({asked.model})"
    every = tasks.chosen(list({one["kind"] for one in results}))
    note = arguments.note or f"{len(results)} of {len(every)} tasks, {seconds:.0f} s."
    note = " ".join(filter(None, (note, report.half(asked.name, results))))
    text = report.table(name, results, note)
    if arguments.sets:
        text = report.sets(results)
    if arguments.costs:
        text += "\n" + transcript.table([(one["id"], one["sent_tokens"], one["passed"]) for one in results])
    os.makedirs(BUILD, exist_ok=True)
    name = "sets" if arguments.sets else asked.name
    path = arguments.json or f"{BUILD}/{name}.json"
    with open(path, "w", encoding="utf-8") as handle:
        json.dump(
            {"service": asked.name, "model": asked.model, "seconds": seconds, "results": results}, handle, indent=1
        )
    with open(f"{BUILD}/{name}.md", "w", encoding="utf-8") as handle:
        handle.write(text)
    print(f"\n{text}\n{report.failures(results)}\n\nall of it: {os.path.relpath(path, REPOSITORY)}")
    if arguments.results:
        report.put(name, text)


if __name__ == "__main__":
    sys.exit(main())
