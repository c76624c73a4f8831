"""What a run was refused is kept for the owner: some of it, for a while, and never code."""

import types

import pytest

from oasis.change.plan import RefusedError
from oasis.errors import ApplyError, UsageError
from oasis.tools import operator

ORDER = {
    "operations": [], "summary": "a test", "until_unix_s": 0, "words": [], "chat": "c", "message": "m", "taint": [],
}  # fmt: skip


class Shop:
    """A workshop's clock, ids and list."""

    def __init__(self):
        self.time_s = 0.0
        self.refused = []
        self.made = 0
        self.planner = types.SimpleNamespace(new_id=self.new_id)

    def new_id(self):
        self.made += 1
        return "r%d" % self.made

    def now_s(self):
        return self.time_s


@pytest.fixture
def shop():
    return Shop()


def keep(shop, *kinds, **more):
    error = RefusedError(list(kinds), ["it is not known"], ["uci set a.b.c='(new secret)'"])
    return operator.keep_refused(shop, error, {**ORDER, **more})


def test_a_refusal_is_told_and_found(shop):
    event = keep(shop, "reachability", "unknown", taint=["device names"])
    assert event == {
        "refused": "r1", "summary": "a test", "uci": ["uci set a.b.c='(new secret)'"], "reasons": ["it is not known"],
        "force": ["reachability", "unknown"], "tainted": True,
    }  # fmt: skip
    assert operator.find_refused(shop, "r1")["taint"] == ["device names"]


@pytest.mark.parametrize("kinds", [["exec"], ["exec", "unknown"], ["exec", "reachability"]])
def test_code_is_told_and_not_kept(shop, kinds):
    event = keep(shop, *kinds)
    assert event["refused"] == "" and "oasis apply --force exec" in event["hint"]
    assert shop.refused == []


def test_it_is_kept_for_ten_minutes(shop):
    keep(shop, "unknown")
    shop.time_s = 599.9
    assert operator.find_refused(shop, "r1")
    shop.time_s = 600
    with pytest.raises(UsageError, match="'r1'"):
        operator.find_refused(shop, "r1")


def test_the_oldest_give_way(shop):
    for _ in range(operator.KEPT + 3):
        keep(shop, "unknown")
    assert [one["id"] for one in shop.refused] == ["r%d" % number for number in range(4, operator.KEPT + 4)]


@pytest.mark.parametrize("name", ["", "r2", "R1"])
def test_what_is_not_kept_is_not_found(shop, name):
    keep(shop, "unknown")
    with pytest.raises(UsageError):
        operator.find_refused(shop, name)


def test_what_it_needs_is_forced_or_what_was_asked_for(shop):
    keep(shop, "reachability", "unknown")
    kept = operator.find_refused(shop, "r1")
    assert operator.forced_kinds(kept, None) == ("reachability", "unknown") == operator.forced_kinds(kept, [])
    assert operator.forced_kinds(kept, ["unknown"]) == ("unknown",)


@pytest.mark.parametrize("kind", ["exec", "reachability", "all", ""])
def test_nothing_else_is_forced_by_a_refusal(shop, kind):
    keep(shop, "unknown")
    with pytest.raises(UsageError, match="does not need"):
        operator.forced_kinds(operator.find_refused(shop, "r1"), ["unknown", kind])


def test_it_stands_only_for_the_packages_as_they_were(shop):
    error = RefusedError(["unknown"], ["it is not known"], [], {"firewall": "a" * 64, "dhcp": "b" * 64})
    operator.keep_refused(shop, error, ORDER)
    kept = operator.find_refused(shop, "r1")
    operator.check_unmoved(kept, {"firewall": "a" * 64, "dhcp": "b" * 64, "system": "c" * 64})
    operator.check_unmoved(kept, {"dhcp": "b" * 64})
    with pytest.raises(ApplyError, match="not as it was when this was proposed: firewall was changed"):
        operator.check_unmoved(kept, {"firewall": "c" * 64, "dhcp": "b" * 64})
