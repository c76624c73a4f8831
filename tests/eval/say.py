"""What the built-in service answers, to be read by people: sentences and dialogues played on the real daemon.

    python3 tests/eval/say.py FILE… >transcript.jsonl
    python3 tests/eval/say.py --counts FILE…        of lines with a "verdict", how many have which

A line of FILE is {"id", "root", "sentence" or "turns": [sentences]} and more that is kept. A line of the transcript has
also "said": for each sentence {"owner", "oasis", "cards": what was shown for approval, "changes": what came of it in
words, "choices"?: what could be pressed}. The owner approves every card and keeps every change. The root is one of
roots.json and fresh/*/roots.json.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import shutil
import sys
import tempfile
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path[:] = [REPOSITORY, *[one for one in sys.path if os.path.abspath(one or ".") != HERE]]

from tests.eval import play, roots  # noqa: E402
from tests.oasisd import Daemon, start_daemon  # noqa: E402

_AT_ONCE, _LIMIT_S = 2, 60
_VERDICTS = ("right", "partly", "asked", "no", "wrong")


def said(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line with what was said."""
    folder = tempfile.mkdtemp(prefix="oasis-say-")
    daemon = start_daemon(roots.make(line["root"], folder + "/router"))
    try:
        chat, answers = "", []
        for sentence in line.get("turns") or [line["sentence"]]:
            chat, answer = _say(daemon, chat, sentence)
            answers.append(answer)
        return {**line, "said": answers}
    finally:
        daemon.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _say(daemon: Daemon, chat: str, sentence: str) -> tuple[str, dict[str, Any]]:
    before = len(play.messages(daemon.root, chat))
    started = daemon.call("run.start", message=sentence, chat=chat)
    if "run" not in started:
        return chat, {"owner": sentence, "oasis": started["error"]["message"], "cards": [], "changes": []}
    until_s = time.monotonic() + _LIMIT_S
    events, _ = play.follow(
        daemon, started, lambda plan: play.approve(daemon, plan), until_s, lambda: play.keep(daemon)
    )
    play.keep(daemon)
    chat = str(started["chat"])
    texts = [play.text(one["content"]) for one in play.messages(daemon.root, chat)[before:] if one["role"] != "user"]
    plans = [event["plan"] for event in events if event["type"] == "plan"]
    return chat, {
        "owner": sentence,
        "oasis": "\n".join(filter(None, texts)),
        "cards": [plan["words"] for plan in plans if plan["needs_approval"]],
        "changes": [plan["words"] for plan in plans if not plan["needs_approval"]],
        "notes": [event["text"] for event in events if event["type"] == "note"],
        "errors": [event["error"]["message"] for event in events if event["type"] == "error"],
        "choices": [event["choices"] for event in events if event.get("choices")],
    }


def counts(lines: list[dict[str, Any]]) -> str:
    """Return a table of the verdicts that readers gave, a row for each language and for all."""
    verdicts = list(dict.fromkeys(sorted((one["verdict"] for one in lines), key=_VERDICTS.index)))
    rows = [f"| language | number | {' | '.join(verdicts)} |", f"| --- |{' ---: |' * (len(verdicts) + 1)}"]
    for name in [*sorted({one["language"] for one in lines}), "**all**"]:
        of = [one["verdict"] for one in lines if name in (one["language"], "**all**")]
        cells = [f"{of.count(one)} ({100 * of.count(one) / len(of):.0f} %)" for one in verdicts]
        rows.append(f"| {name} | {len(of)} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main(paths: list[str]) -> int:
    is_counted, paths = "--counts" in paths, [path for path in paths if path != "--counts"]
    lines = []
    for path in paths:
        with open(path, encoding="utf-8") as handle:
            lines += [json.loads(line) for line in handle]
    if is_counted:
        print(counts(lines))
        return 0
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        for line in pool.map(said, lines):
            print(json.dumps(line, ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
