"""The part of the daemon's test double that keeps what the pages beside the chat list: decisions, tools, findings, and
what undoing meets.

In memory only. A change whose summary holds "twice" was changed again since: undoing it meets a conflict.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import time
from typing import TYPE_CHECKING

from fake_chats import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

Value = dict[str, object]
LINES_MAX = 200
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_records.json"), encoding="utf-8") as _file:
    RECORDS = json.load(_file)


class Records:
    """Kept beside the chats; `begin_records` fills it."""

    changes: list[Value]
    _start: Callable[..., Value]

    def begin_records(self) -> None:
        """Begin with some tools and findings, no changes and no decisions."""
        self.tools: list[Value] = copy.deepcopy(RECORDS["tools"])
        self.findings: list[Value] = copy.deepcopy(RECORDS["findings"])
        self.lines: list[str] = []
        self.broken: Value | None = None

    def add_history(self, decisions: int = 0) -> None:
        """Add the changes of a router that has been in use for a while, and as many decisions."""
        for number, record in enumerate(RECORDS["changes"]):
            when = int(time.time()) - 3600 * 7 * (len(RECORDS["changes"]) - number)
            self.changes.append({**RECORDS["change"], "id": f"h{number}", "when_unix_s": when, **record})
        kinds = (("approved", "owner"), ("automatic", "policy"), ("declined", "owner"), ("expired", "daemon"))
        for number in range(decisions):
            self.decide(*kinds[number % len(kinds)], number)

    def decide(self, what: str, role: str, number: int) -> None:
        """Add a decision to the log."""
        last = self.lines[-1].encode() if self.lines else b""
        line: Value = {"forces": ["reachability"]} if number % 7 == 6 else {}
        line.update(when_unix_s=int(time.time()) - 86400 + number, what=what, plan=f"p{number}")
        line.update(plan_hash=hashlib.sha256(b"%d" % number).hexdigest(), role=role)
        line.update(packages=["wireless", "firewall"][: 1 + number % 2], services=["network"])
        line["previous"] = hashlib.sha256(last).hexdigest() if last else ""
        self.lines.append(json.dumps(line, separators=(",", ":")))

    def m_change_load(self, change: str) -> Value:
        found = next((item for item in self.changes if item["id"] == change), None)
        if found is None:
            raise Fault("usage", f"there is no change {change}", "see: oasis changes")
        if found["state"] == "rollback_failed":
            raise Fault("store", "the image of dhcp before the change is damaged", "restore a backup")
        return {"change": {**found, "diff": found.get("diff", RECORDS["diff"])}}

    def m_audit_list(self, limit: int = LINES_MAX, skip: int = 0) -> Value:
        lines = self.lines[::-1][skip : skip + min(limit, LINES_MAX)]
        return {"lines": [json.loads(line) for line in lines]}

    def m_audit_verify(self) -> Value:
        reply: Value = {"lines": len(self.lines), "is_whole": self.broken is None}
        return {**reply, "broken": self.broken} if self.broken else reply

    def m_tool_list(self) -> Value:
        tokens = sum(int(str(tool["tokens"])) for tool in self.tools if tool["enabled"])
        return {"tools": self.tools, "tokens": tokens}

    def m_tool_set(self, name: str, enabled: bool | None = None, approval: str = "") -> Value:
        tool = next(item for item in self.tools if item["name"] == name)
        if tool["name"] == "shell_exec" and enabled:
            raise Fault("policy", "shell_exec needs the user oasis-tool", "install the package again")
        tool.update({} if enabled is None else {"enabled": enabled}, **({"approval": approval} if approval else {}))
        return {"tool": tool}

    def m_doctor_run(self) -> Value:
        return {"findings": self.findings, "checks": RECORDS["checks"], "took_ms": 1340}

    def refuse_conflict(self, change: Value) -> None:
        """Undo what was changed again since: the refusal that names what stands in the way."""
        error = {"code": "apply", "message": f"changed since change {change['id']}; nothing was written", "hint": ""}
        raise Conflict({**error, "conflicts": RECORDS["conflicts"]})


class Conflict(Exception):
    """An undo is refused. Shape: args = (the error of the run,)."""
