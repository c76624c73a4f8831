"""The desk: an approval fits one plan, once, by the owner, in time."""

import threading
import time

import pytest

from oasis.change.approval import SHORT, ApprovalQueue
from oasis.errors import PolicyError, UsageError

HASH = "0123456789abcdef" * 4
OTHER = "f" * 64
OWNER = {"name": "owner", "terminal": False}
TERMINAL = {"name": "owner", "terminal": True}
VIEWERS = [
    {"name": name, "terminal": terminal} for name in ("viewer", "client", "schedule", "") for terminal in (True, False)
]


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s


class Waiting:
    """A plan that waits in a thread; `decision()` gives what came of it."""

    def __init__(self, desk, name="plan1", hash_=HASH, expires_s=600, **more):
        self.approvals = desk
        self.cancelled = False
        self.result = None
        self.plan = {"id": name, "hash": hash_, "expires_s": expires_s, **more}
        self.thread = threading.Thread(target=self._wait, daemon=True)
        self.thread.start()
        deadline = time.monotonic() + 5
        while self.plan not in desk.plans() and self.thread.is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def _wait(self):
        self.result = self.approvals.wait(self.plan, lambda: self.cancelled)

    def decision(self):
        self.thread.join(5)
        assert not self.thread.is_alive(), "it still waits"
        return self.result


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def desk(clock):
    return ApprovalQueue(clock)


def test_the_whole_hash_approves(desk):
    waiting = Waiting(desk)
    desk.approve("plan1", HASH, OWNER)
    assert waiting.decision() == ("approved", "owner")
    assert desk.plans() == []


def test_a_hash_in_capitals_is_the_same(desk):
    waiting = Waiting(desk)
    desk.approve("plan1", HASH.upper(), OWNER)
    assert waiting.decision()[0] == "approved"


@pytest.mark.parametrize("hash_", [
    "", OTHER, HASH[:-1], HASH + "0", HASH[:-1] + "0", HASH[:SHORT - 1], HASH[:SHORT + 1], OTHER[:SHORT], HASH[-SHORT:],
    "ä" * 64, "\ud800" * 64, " " + HASH,
])  # fmt: skip
@pytest.mark.parametrize("role", [OWNER, TERMINAL])
def test_a_wrong_hash_approves_nothing_and_the_plan_waits_on(desk, hash_, role):
    waiting = Waiting(desk)
    with pytest.raises(PolicyError) as caught:
        desk.approve("plan1", hash_, role)
    assert "plan1" in caught.value.message and caught.value.hint
    assert HASH not in caught.value.message + caught.value.hint
    assert desk.plans() == [waiting.plan]
    desk.decline("plan1", "")
    assert waiting.decision()[0] == "declined"


def test_the_short_hash_is_for_somebody_at_a_terminal(desk):
    waiting = Waiting(desk)
    with pytest.raises(PolicyError):
        desk.approve("plan1", HASH[:SHORT], OWNER)
    desk.approve("plan1", HASH[:SHORT], TERMINAL)
    assert waiting.decision() == ("approved", "owner")


@pytest.mark.parametrize("role", VIEWERS)
def test_only_the_owner_approves(desk, role):
    waiting = Waiting(desk)
    for hash_ in (HASH, HASH[:SHORT]):
        with pytest.raises(PolicyError, match="only the owner"):
            desk.approve("plan1", hash_, role)
    assert desk.plans() == [waiting.plan]
    desk.decline("plan1", "")
    waiting.decision()


def test_an_approval_of_one_plan_fits_no_other(desk):
    first, second = Waiting(desk, "plan1", HASH), Waiting(desk, "plan2", OTHER)
    with pytest.raises(PolicyError):
        desk.approve("plan2", HASH, OWNER)
    desk.approve("plan1", HASH, OWNER)
    assert first.decision()[0] == "approved"
    assert desk.plans() == [second.plan]
    desk.decline("plan2", "")
    second.decision()


def test_an_approval_is_used_once(desk):
    waiting = Waiting(desk)
    desk.approve("plan1", HASH, OWNER)
    waiting.decision()
    with pytest.raises(UsageError, match="no plan 'plan1' waits"):
        desk.approve("plan1", HASH, OWNER)
    again = Waiting(desk)
    time.sleep(0.05)
    assert again.thread.is_alive(), "the old word does not count for a new plan"
    desk.decline("plan1", "")
    assert again.decision()[0] == "declined"


def test_the_first_word_counts_also_before_the_run_has_heard_it(desk):
    heard = threading.Event()

    def is_cancelled():
        heard.wait(5)
        return False

    plan = {"id": "plan1", "hash": HASH, "expires_s": 600}
    result = []
    thread = threading.Thread(target=lambda: result.append(desk.wait(plan, is_cancelled)), daemon=True)
    thread.start()
    heard.set()
    while not desk.plans():
        time.sleep(0.001)
    desk.decline("plan1", "no")
    with pytest.raises(UsageError):
        desk.approve("plan1", HASH, OWNER)
    thread.join(5)
    assert result == [("declined", "no")]


def test_of_many_words_at_once_one_counts(desk):
    waiting = Waiting(desk)
    outcomes = []
    barrier = threading.Barrier(8)

    def say(number):
        barrier.wait()
        try:
            desk.approve("plan1", HASH, OWNER) if number % 2 else desk.decline("plan1", "no")
            outcomes.append("taken")
        except UsageError:
            outcomes.append("late")

    threads = [threading.Thread(target=say, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert sorted(outcomes) == ["late"] * 7 + ["taken"]
    assert waiting.decision()[0] in ("approved", "declined")


def test_a_declined_plan_gives_the_reason(desk):
    waiting = Waiting(desk)
    desk.decline("plan1", "not while I am on the phone")
    assert waiting.decision() == ("declined", "not while I am on the phone")


def test_an_expired_plan_can_not_be_approved(desk, clock):
    waiting = Waiting(desk, expires_s=600)
    clock.now_s = 600
    time.sleep(0.3)
    assert waiting.thread.is_alive()
    clock.now_s = 600.1
    assert waiting.decision() == ("expired", "")
    with pytest.raises(UsageError, match="expired"):
        try:
            desk.approve("plan1", HASH, OWNER)
        except UsageError as error:
            raise UsageError(error.hint) from error
    assert desk.plans() == []


def test_a_cancelled_run_waits_no_longer(desk):
    waiting = Waiting(desk)
    waiting.cancelled = True
    assert waiting.decision() == ("cancelled", "")
    with pytest.raises(UsageError):
        desk.approve("plan1", HASH, OWNER)


@pytest.mark.parametrize("name", ["", "plan2", "PLAN1"])
def test_a_plan_that_does_not_wait_cannot_be_decided(desk, name):
    waiting = Waiting(desk)
    with pytest.raises(UsageError):
        desk.approve(name, HASH, OWNER)
    with pytest.raises(UsageError):
        desk.decline(name, "")
    desk.decline("plan1", "")
    waiting.decision()


def test_plans_are_listed_oldest_first(desk):
    waiting = [Waiting(desk, f"plan{number}") for number in range(3)]
    assert [plan["id"] for plan in desk.plans()] == ["plan0", "plan1", "plan2"]
    for one in waiting:
        desk.decline(one.plan["id"], "")
        one.decision()


@pytest.mark.parametrize("word", ["", "RISKY", "risky ", "yes", HASH])
def test_where_a_word_is_asked_for_only_that_word_approves(desk, word):
    waiting = Waiting(desk, typed_word="risky", unconfined="nft is missing")
    for role, hash_ in ((OWNER, HASH), (TERMINAL, HASH[:SHORT])):
        with pytest.raises(PolicyError, match="nft is missing") as caught:
            desk.approve("plan1", hash_, role, word)
        assert "oasis approve plan1 --word risky" in caught.value.hint
    assert desk.plans() == [waiting.plan]
    desk.approve("plan1", HASH, OWNER, "risky")
    assert waiting.decision() == ("approved", "owner")


def test_the_word_alone_does_not_approve(desk):
    waiting = Waiting(desk, typed_word="risky", unconfined="nft is missing")
    with pytest.raises(PolicyError, match="hash"):
        desk.approve("plan1", OTHER, OWNER, "risky")
    desk.decline("plan1", "")
    waiting.decision()


def test_a_word_that_nobody_asked_for_does_no_harm(desk):
    waiting = Waiting(desk)
    desk.approve("plan1", HASH, OWNER, "risky")
    assert waiting.decision()[0] == "approved"


def test_a_plan_that_is_queued_before_it_is_shown_can_be_approved_at_once(desk):
    plan = {"id": "plan1", "hash": HASH, "expires_s": 600}
    desk.put(plan)
    desk.approve("plan1", HASH, OWNER)
    assert desk.wait(plan, lambda: False) == ("approved", "owner")
    assert desk.plans() == []
