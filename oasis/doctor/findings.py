"""What some checks find, in the words of findings.json; the shapes are in rounds.py."""

from __future__ import annotations

import sys

from oasis.core import clean
from oasis.doctor.scene import Scene, SkippedError, data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis.doctor.shapes import Any, Check, Finding, Sight

_SEVERITIES = ("error", "warning", "info")
EVIDENCE = 6
EVIDENCE_CHARS = 200


def judged(scene: Scene, given: Iterable[tuple[str, Check]]) -> tuple[list[Finding], list[dict[str, Any]]]:
    """Return what some checks find, worst first, and how each of them went."""
    texts = data()
    findings: list[Finding] = []
    checks: list[dict[str, Any]] = []
    for name, check in given:
        entry, before = {"id": name, "title": texts["checks"][name], "state": "ok"}, len(findings)
        try:
            for sight in check(scene):
                findings.append(_finding(texts, sight))
        except SkippedError as reason:
            entry.update(state="skipped", why=str(reason))
        except Exception as bug:
            # A fault in one check must not stop the others.
            sys.excepthook(type(bug), bug, bug.__traceback__)
            entry.update(state="skipped", why="a fault in this check (%s); the log tells more" % type(bug).__name__)
        if len(findings) > before:
            entry["state"] = "found"
        checks.append(entry)
    findings.sort(key=lambda one: _SEVERITIES.index(one["severity"]))
    return findings, checks


def _finding(texts: dict[str, Any], sight: Sight) -> Finding:
    key, subject, values, evidence, commands = sight
    text = texts["findings"][key]
    plain = {name: clean.line(value) for name, value in values.items()}
    found: Finding = {
        "id": "%s:%s" % (key, subject) if subject else key,
        "severity": text["severity"],
        "title": text["title"] % plain,
        "explanation": text["explanation"] % plain,
        "evidence": [clean.line(one)[:EVIDENCE_CHARS] for one in evidence[:EVIDENCE]],
    }
    if key in texts["foreign"]:
        found["foreign"] = True
    if "advice" in text:
        found["advice"] = text["advice"] % plain
    if commands:
        found["fix"] = {"words": [text["fix"] % plain], "commands": commands}
    return found
