"""The tool `diagnose`: a round of the doctor in few words, and the round itself for others."""

from __future__ import annotations

import time

from oasis.doctor.rounds import examine
from oasis.doctor.scene import Scene
from oasis.system import clock
from oasis.system.connections import Probe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.tools.facts import Facts
    from oasis.tools.operator import Operator

    Run = Any  # the executor's

# What a result tells: the worst ones; each is about 100 tokens.
FINDINGS = 12
EVIDENCE = 2
# Of whom the words in evidence are.
FOREIGN = "names and log lines of the router"


def examined(root: Root, files: Files, run: Run, facts: Facts) -> dict[str, Any]:
    """Return a round of the doctor over a router root (the shape is in doctor/rounds.py)."""

    def program(name: str) -> str:
        path = root.program(name)
        # In a folder only what stands in it asks: the network of this host is not the router's.
        return path if root.folder == "/" or path.startswith(root.folder + "/") else ""

    def is_clock_trusted() -> bool:
        return clock.is_trusted(root, files, facts.now_s(), 0)

    scene = Scene(facts, lambda path: files.names(root.path(path)), Probe(run, program), is_clock_trusted)
    return examine(scene, time.monotonic)


def run(arguments: dict[str, Any], operator: Operator) -> dict[str, Any]:
    """Return what a round found, worst first."""
    found = operator.examine()
    findings = found["findings"]
    skipped = {check["title"]: check["why"] for check in found["checks"] if check["state"] == "skipped"}
    answer: dict[str, Any] = {"findings": [_short(one) for one in findings[:FINDINGS]]}
    answer["checked"] = len(found["checks"]) - len(skipped)
    if skipped:
        answer["not_checked"] = skipped
    if len(findings) > FINDINGS:
        answer["notes"] = ["%d lesser findings are left out" % (len(findings) - FINDINGS)]
    if any(one.get("foreign") for one in findings[:FINDINGS]):
        answer["untrusted"] = [FOREIGN]
    return answer


def _short(finding: dict[str, Any]) -> dict[str, Any]:
    keys = ("severity", "title", "explanation", "advice")
    short = {key: finding[key] for key in keys if key in finding}
    short["evidence"] = finding["evidence"][:EVIDENCE]
    if "fix" in finding:
        short["commands"] = finding["fix"]["commands"]
    return short
