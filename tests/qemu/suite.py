"""The steps of a run, in order, and what comes of each: ok, FAILED, or skipped with the reason."""

from __future__ import annotations

import time
import traceback

from tests.qemu.router import Failed, Router

STEPS: list[Step] = []
# Without these every later step would fail for the same reason.
VITAL = ("install",)
MISSING = {
    "bus": "there is no ubusd in this guest",
    "rpcd": "there is no rpcd in this guest",
    "uhttpd": "there is no uhttpd in this guest",
    "luci": "LuCI is not in this guest",
    "disk": "this image lives in memory: nothing of it outlasts a restart",
    "sysupgrade": "this guest has no sysupgrade",
}


class Step:
    def __init__(self, function, title: str, needs: tuple[str, ...]) -> None:
        self.run = function
        self.name = function.__name__
        self.title = title
        self.needs = needs


def step(title: str, *needs: str):
    """Add a function to the suite; it is skipped where one of `needs` is not among the router's features."""

    def add(function):
        STEPS.append(Step(function, title, needs))
        return function

    return add


class Report:
    """The outcome of each step: (title, "ok" | "FAILED" | "skipped", seconds, why)."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, float, str]] = []

    @property
    def failures(self) -> list[str]:
        return ["%s: %s" % (title, why) for title, outcome, _, why in self.rows if outcome == "FAILED"]

    def count(self, outcome: str) -> int:
        return sum(row[1] == outcome for row in self.rows)


def run(router: Router, steps: list[Step]) -> Report:
    """Run steps in order; one that fails stops the others only when it is vital."""
    report = Report()
    stopped = ""
    for each in steps:
        lacking = [
            MISSING.get(need, "no %s in this guest" % need) for need in each.needs if need not in router.features
        ]
        why = stopped or "; ".join(lacking)
        if why:
            report.rows.append((each.title, "skipped", 0.0, why))
            router.log.head("%s: skipped, %s" % (each.title, why))
            continue
        router.log.head(each.title)
        begin_s = time.monotonic()
        outcome, why = _outcome(each, router)
        report.rows.append((each.title, outcome, time.monotonic() - begin_s, why))
        router.log.line("  %s, %.1f s%s" % (outcome, time.monotonic() - begin_s, ": " + why if why else ""))
        if outcome == "FAILED" and each.name in VITAL:
            stopped = "%s failed" % each.title
        elif outcome == "FAILED":
            router.recover()
    return report


def _outcome(each: Step, router: Router) -> tuple[str, str]:
    try:
        each.run(router)
    except Failed as error:
        return "FAILED", str(error)
    except Exception as bug:  # a fault of the suite itself must not hide what later steps find
        router.log.said(traceback.format_exc())
        return "FAILED", "%s: %s" % (type(bug).__name__, bug)
    return "ok", ""
