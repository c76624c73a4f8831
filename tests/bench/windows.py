"""What a model is sent of one long task when it takes 8,192, 32,000 or 200,000 tokens at once, as a table.

    python3 tests/bench/windows.py [TOKENS…]

A simulated service says how much it takes and then reads a large configuration round by round, more rounds than any
turn has. A row is what it was sent: the tools and the tokens of the first request, the rounds that it may make and
made, the most tokens of a request, how many results were cut, each with a count of the entries that are missing, and of
the last request the results that are there and the line that says what is left out.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys
import tempfile
from typing import Any

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, REPOSITORY)

from oasis.core import trim  # noqa: E402
from tests.daemon.test_wiring import follow  # noqa: E402
from tests.llm.test_workers import root_with  # noqa: E402
from tests.llm.window_service import Call, WindowService  # noqa: E402
from tests.oasisd import start_daemon  # noqa: E402

WINDOWS = (8192, 32_000, 200_000)
# Of each of these so many sections are added: results of about 9 kB; one may have 16.
SECTIONS = 50
ADDED = {
    "firewall": "config rule 'x%d'\n\toption name 'Rule %d of the house'\n\toption src 'wan'\n\toption target 'DROP'\n",
    "dhcp": "config host 'x%d'\n\toption name 'device-%d'\n\toption leasetime 'infinite'\n\toption dns '1'\n",
    "network": "config route 'x%d'\n\toption comment 'Way %d'\n\toption interface 'lan'\n\toption type 'blackhole'\n",
}
PACKAGES = ("firewall", "dhcp", "network", "wireless", "system")
ROUNDS = 45
_CUT = re.compile(r"… \d+ (?:entries|lines) are left out here …")
_COLUMNS = ("window", "tools", "first", "rounds", "made", "most", "cut", "results", "left out")


def script() -> list[list[Call]]:
    """Return the calls of each round: all packages at once, then rule by rule, and now and then all of them."""
    whole: list[Call] = [("read_config", {"package": package}) for package in PACKAGES]
    rounds = [[("read_config", {"package": "firewall", "section": f"x{number}"})] for number in range(ROUNDS)]
    for number in range(4, 34, 5):  # no call more than three times, which would be a loop
        rounds[number] = [("read_config", {"package": PACKAGES[number // 5 % len(ADDED)]})]
    return [whole, *rounds]


def measured(tokens: int, folder: str) -> dict[str, Any]:
    """Return the row of a window."""
    service = WindowService(script(), {"/v1/models": {"data": [{"id": "m", "context_length": tokens}]}})
    root = root_with(pathlib.Path(folder), "openrouter", service.url, "m", "key-1234")
    for package, section in ADDED.items():
        with open(f"{root}/etc/config/{package}", "a", encoding="utf-8") as file:
            file.writelines("\n" + section % (number, number) for number in range(SECTIONS))
    daemon = start_daemon(root)
    try:
        events = follow(daemon, daemon.call("run.start", message="Read the whole configuration, rule by rule."))
    finally:
        daemon.stop()
        service.close()
    assert [one["state"] for one in events if one["type"] == "end"] == ["done"], events
    return {"window": tokens, **row(service.bodies)}


def row(bodies: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what requests say of a window."""
    last = next(body for body in reversed(bodies) if body.get("tools"))
    texts = [[one["content"] for one in body["messages"] if one["role"] == "tool"] for body in bodies]
    system = last["messages"][0]["content"]
    left_out = re.search(r"Left out for want of room: .*", system)
    limit = re.search(r"Up to (\d+) answers", bodies[0]["messages"][0]["content"])
    return {
        "tools": len(bodies[0]["tools"]),
        "first": _tokens(bodies[0]),
        "rounds": int(limit[1]) if limit else 0,
        "made": sum(1 for body in bodies if body.get("tools")),
        "most": max(map(_tokens, bodies)),
        "cut": len({one for results in texts for one in results if _CUT.search(one)}),
        "results": sum(1 for one in last["messages"] if one["role"] == "tool"),
        "left out": left_out[0] if left_out else "",
        "texts": texts,
    }


def _tokens(body: dict[str, Any]) -> int:
    """Return about how many tokens a model sees of a request: its texts, not the marks that JSON puts before quotes."""
    calls = [one["function"] for message in body["messages"] for one in message.get("tool_calls", [])]
    texts = [message["content"] or "" for message in body["messages"]]
    texts += [one["name"] + one["arguments"] for one in calls] + [json.dumps(body.get("tools", []))]
    return sum(trim.tokens(text) + trim.BLOCK_TOKENS for text in texts)


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows as text."""
    lines = [[*_COLUMNS]] + [[str(one[name]) for name in _COLUMNS] for one in rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(_COLUMNS) - 1)]
    return "\n".join(
        "  ".join([*[text.rjust(width) for text, width in zip(line, widths, strict=False)], line[-1]]) for line in lines
    )


def main(words: list[str]) -> int:
    rows = []
    for tokens in map(int, words or WINDOWS):
        with tempfile.TemporaryDirectory(prefix="oasis-windows") as folder:
            rows.append(measured(tokens, folder))
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
