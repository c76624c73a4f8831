"""What the hands of a run tell of a change that was made."""

from types import SimpleNamespace

from oasis.core import jsonl
from oasis.tools.operator import NoRun, Operator
from oasis.tools.principal import OWNER
from oasis.tools.registry import RESULT_BYTES
from tests.change.kit import Kit


def carry_out(kit, plan):
    """Carry out a plan that needs no approval; return the result."""
    facts = SimpleNamespace(seen=lambda hide, **shown: SimpleNamespace())
    audit = SimpleNamespace(write=lambda what, plan, role: None)
    shop = SimpleNamespace(
        facts=facts, planner=kit.planner, desk=None, transaction=kit.transaction, audit=audit, now_s=kit.clock.now_s
    )
    return Operator(shop, NoRun(), OWNER).carry_out(plan)


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
