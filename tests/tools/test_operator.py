"""What the operator of a run reports of a change, and when a plan can be decided."""

from types import SimpleNamespace

import pytest

from oasis.change.approval import ApprovalQueue
from oasis.core import jsonl
from oasis.tools.operator import NoRun, Operator
from oasis.tools.principal import OWNER
from oasis.tools.registry import RESULT_BYTES
from tests.change.kit import WIFI, Kit


def carry_out(kit, plan, run=None, approvals=None):
    """Carry out a plan; return the result."""
    facts = SimpleNamespace(seen=lambda hide, **shown: SimpleNamespace())
    audit = SimpleNamespace(write=lambda what, plan, role: None)
    shop = SimpleNamespace(
        facts=facts, planner=kit.planner, approvals=approvals, transaction=kit.transaction, audit=audit,
        now_s=kit.clock.now_s,
    )  # fmt: skip
    return Operator(shop, run or NoRun(), OWNER).carry_out(plan)


class Approving(NoRun):
    """A run whose follower decides a plan the moment it is shown."""

    def __init__(self, decide):
        self._decide = decide

    def emit(self, kind, **fields):
        if kind == "plan":
            self._decide(fields["plan"])


def test_a_plan_can_be_approved_the_moment_it_is_shown(tmp_path):
    kit = Kit(tmp_path / "router")
    queue = ApprovalQueue(kit.clock.now_s)
    try:
        run = Approving(lambda card: queue.approve(card["id"], card["hash"], {"name": "owner", "terminal": False}))
        assert carry_out(kit, kit.plan(WIFI), run, queue)["status"] == "waiting_confirm"
    finally:
        kit.transaction.stop()
    assert queue.plans() == []


def test_a_plan_that_cannot_be_shown_waits_for_nobody(tmp_path):
    def fail(card):
        raise MemoryError

    kit = Kit(tmp_path / "router")
    queue = ApprovalQueue(kit.clock.now_s)
    try:
        with pytest.raises(MemoryError):
            carry_out(kit, kit.plan(WIFI), Approving(fail), queue)
    finally:
        kit.transaction.stop()
    assert queue.plans() == []


def test_a_long_change_that_was_made_is_told_as_made(tmp_path):
    kit = Kit(tmp_path / "router", approval="none")
    try:
        lines = []
        for number in range(60):
            name = "d%03d-%s" % (number, "x" * 50)
            lines += ["uci add dhcp host", "uci set dhcp.@host[-1].name=" + name]
            lines.append("uci set dhcp.@host[-1].mac=00:11:22:33:44:%02x" % number)
        plan = kit.plan("\n".join([*lines, "uci set system.@system[0].notes=" + "n" * 20000]))
        result = carry_out(kit, plan)
    finally:
        kit.transaction.stop()
    assert result["status"] == "waiting_confirm"
    assert len(jsonl.dumps(result)) < RESULT_BYTES
    assert result["words"][-1] == "and %d more" % (len(plan["words"]) - len(result["words"]) + 1)
