"""Facts kept, merged, reinforced, fading by days of use, forgotten; and what a clock that jumps does to them."""

import json
import os

import pytest

from oasis.errors import StoreError, UsageError
from oasis.parts.memory import ranking
from oasis.parts.memory.owner_facts import DAY_S, FADES_AFTER_DAYS, MOST, Facts, faded
from oasis.parts.memory.ranking import likeness
from oasis.system.files import Files
from oasis.system.records import Records

NOON = 20000 * DAY_S + DAY_S // 2
EMPTY = {"the", "owner", "s", "is", "a", "in"}


def alike(text, facts):
    return [likeness(text, fact["fact"], EMPTY) for fact in facts], ranking.SAME


def by_vector(scores):
    """Compare as vectors would: by the scores that a test gives for each known fact."""
    return lambda text, facts: ([scores.get(fact["fact"], 0.0) for fact in facts], 0.85)


class Home:
    """Facts of one router whose clock the test sets."""

    def __init__(self, folder):
        self.path = str(folder / "memory/facts.jsonl")
        self.unix_s = NOON
        self.is_trusted = True
        self.count = 0
        self.facts = self.opened()

    def opened(self):
        def new_id():
            self.count += 1
            return f"fact{self.count}"

        return Facts(Records(Files(), self.path, MOST + 1), lambda: self.unix_s, lambda newest: self.is_trusted, new_id)

    def say(self, text, **more):
        return self.facts.say(text, "personal", more.pop("alike", alike), **more)

    def live(self, days, facts=None):
        for _ in range(days):
            self.unix_s += DAY_S
            (facts or self.facts).begin_day()

    def lines(self):
        with open(self.path) as handle:
            return handle.read().splitlines()


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


# Merging


def test_a_new_fact_is_sure_and_one_that_says_the_same_takes_its_place(home):
    first = home.say("The owner has a NAS in the basement.")
    assert first["confidence"] == 1.0 and first["created_unix_s"] == NOON
    home.live(10)
    second = home.say("A NAS is in the owner's basement.")
    assert second["id"] == first["id"] and second["created_unix_s"] == NOON and second["updated_unix_s"] == home.unix_s
    assert [fact["fact"] for fact in home.facts.all()] == ["A NAS is in the owner's basement."]


def test_what_is_said_again_becomes_surer_up_to_one(home):
    home.say("The owner drinks tea.")
    home.live(FADES_AFTER_DAYS + 5)
    (faint,) = home.facts.all()
    assert faint["confidence"] == pytest.approx(0.95**5, abs=1e-3)
    assert home.say("The owner drinks tea.")["confidence"] == pytest.approx(faint["confidence"] + 0.1)
    home.say("The owner drinks tea.")
    assert home.say("The owner drinks tea.")["confidence"] == 1.0


@pytest.mark.parametrize(("score", "count"), [(0.86, 1), (0.85, 2), (0.5, 2)])
def test_vectors_are_one_fact_strictly_above_the_seeds_number(home, score, count):
    home.say("The owner drinks tea.")
    home.say("Tea is what is drunk here.", alike=by_vector({"The owner drinks tea.": score}))
    assert len(home.facts.all()) == count


def test_the_nearest_fact_is_the_one_that_is_replaced(home):
    for text in ("one", "two", "three"):
        home.say(text, alike=by_vector({}))
    home.say("new", alike=by_vector({"one": 0.9, "two": 0.95, "three": 0.87}))
    assert {fact["fact"] for fact in home.facts.all()} == {"one", "new", "three"}


def test_a_superseded_fact_goes_and_no_other_that_only_contains_its_words(home):
    home.say("The owner has a car.", alike=by_vector({}))
    home.say("The owner has a carport.", alike=by_vector({}))
    home.say("The owner cycles.", alike=by_vector({}), supersedes="The owner has a car.")
    assert {fact["fact"] for fact in home.facts.all()} == {"The owner has a carport.", "The owner cycles."}
    home.say("The owner swims.", alike=by_vector({}), supersedes="owner")
    assert len(home.facts.all()) == 3, "words that stand in every fact name none"


def test_a_fact_that_supersedes_one_and_repeats_another_leaves_one(home):
    home.say("The owner cycles.", alike=by_vector({}))
    home.say("The owner drives.", alike=by_vector({}))
    home.say("The owner cycles.", alike=by_vector({}), supersedes="The owner drives.")
    assert [fact["fact"] for fact in home.facts.all()] == ["The owner cycles."]
    assert not any("drives" in line for line in home.lines())


def test_words_of_others_touch_no_fact_of_the_owners(home):
    home.say("The owner drinks tea.")
    tainted = home.say("The owner drinks tea.", taint=["names of devices"], supersedes="The owner drinks tea.")
    assert tainted["taint"] == ["names of devices"] and len(home.facts.all()) == 2
    clean = home.say("The owner drinks tea.")
    assert "taint" not in clean


def test_there_are_not_more_facts_than_a_person_keeps_in_order(home):
    with open_folder(home) as handle:
        for number in range(MOST):
            handle.write(json.dumps(record(f"id{number}", f"fact number {number}")) + "\n")
    with pytest.raises(StoreError):
        home.say("one more", alike=by_vector({}))
    assert home.say("fact number 7")["id"] == "id7"


def open_folder(home):
    os.makedirs(os.path.dirname(home.path))
    return open(home.path, "w")


def record(name, fact, **more):
    return {
        "id": name, "fact": fact, "category": "personal", "confidence": 1.0, "created_unix_s": 1, "updated_unix_s": 1,
        "day": 0, **more,
    }  # fmt: skip


def test_what_the_file_has_that_is_no_fact_is_passed_over(home):
    with open_folder(home) as handle:
        for other in (record("a", "good"), record("b", 7), {"id": "c"}, record("d", "x", confidence="much"),
                      {"id": "days", "last": "today", "count": 5}):  # fmt: skip
            handle.write(json.dumps(other) + "\n")
    assert [fact["fact"] for fact in home.facts.all()] == ["good"]
    home.live(1)
    assert [fact["fact"] for fact in home.facts.all()] == ["good"]


def test_what_is_dropped_while_it_is_read_is_not_kept(home):
    assert home.say("The owner drinks tea.", is_dropped=lambda: True) is None
    assert home.facts.all() == [] and not os.path.exists(home.path)


# Days


def test_a_fact_fades_after_a_week_and_no_further_than_out_of_sight(home):
    home.say("The owner drinks tea.")
    home.live(FADES_AFTER_DAYS)
    assert home.facts.all()[0]["confidence"] == 1.0
    home.live(2)
    assert home.facts.all()[0]["confidence"] < 1.0
    counts = [faded({"confidence": 1.0, "day": 0}, count) for count in range(60)]
    assert counts[FADES_AFTER_DAYS] == 1.0 and counts[FADES_AFTER_DAYS + 1] == 0.95
    assert min(counts) == counts[-1] == pytest.approx(0.2920, abs=1e-3)


def test_a_day_costs_one_short_line_however_many_facts_there_are(home):
    for number in range(40):
        home.say(f"fact number {number}", alike=by_vector({}))
    before = os.path.getsize(home.path)
    for _ in range(5):
        home.facts.begin_day()
    size = os.path.getsize(home.path)
    assert 0 < size - before < 60
    home.live(1)
    assert os.path.getsize(home.path) - size < 60


def test_no_day_counts_twice_not_after_a_restart_and_not_when_the_clock_jumps(home):
    home.say("The owner drinks tea.")
    home.live(20)
    sure = home.facts.all()[0]["confidence"]
    again = home.opened()
    for _ in range(3):
        again.begin_day()
    assert again.all()[0]["confidence"] == sure
    home.unix_s += 4000 * DAY_S  # ahead by years: one day more
    again.begin_day()
    assert again.all()[0]["confidence"] == pytest.approx(sure * 0.95, abs=1e-3)
    home.unix_s -= 4000 * DAY_S  # and back: none
    again.begin_day()
    assert again.all()[0]["confidence"] == pytest.approx(sure * 0.95, abs=1e-3)
    home.live(1, again)
    assert again.all()[0]["confidence"] == pytest.approx(sure * 0.95 * 0.95, abs=1e-3)


def test_no_day_begins_while_nobody_trusts_the_clock(home):
    home.say("The owner drinks tea.")
    home.live(20)
    sure, lines = home.facts.all()[0]["confidence"], home.lines()
    home.is_trusted = False
    home.live(30)
    assert home.facts.all()[0]["confidence"] == sure and home.lines() == lines
    home.unix_s = 1000
    assert home.say("The owner also drinks coffee.", alike=by_vector({}))["updated_unix_s"] >= NOON


def test_a_first_fact_has_the_day_of_a_clock_that_nobody_trusts_yet(home):
    home.is_trusted = False
    assert home.say("The owner drinks tea.")["created_unix_s"] == NOON


def test_a_router_that_was_off_for_a_year_still_knows_its_owner(home):
    home.say("The owner drinks tea.")
    home.live(3)
    home.unix_s += 365 * DAY_S
    home.facts.begin_day()
    assert home.facts.sure()[0]["confidence"] == 1.0


def test_what_faded_is_told_to_nobody_and_goes_when_it_is_old(home):
    with open_folder(home) as handle:
        handle.write(json.dumps(record("a", "The owner drinks tea.", confidence=0.31, updated_unix_s=NOON)) + "\n")
        handle.write(json.dumps(record("b", "The owner swims.", updated_unix_s=NOON, day=20)) + "\n")
    home.live(FADES_AFTER_DAYS + 1)
    assert len(home.facts.all()) == 2 and [fact["id"] for fact in home.facts.sure()] == ["b"]
    home.live(30 - FADES_AFTER_DAYS - 1)
    assert any("tea" in line for line in home.lines()), "thirty days are not over"
    home.live(1)
    assert [fact["id"] for fact in home.facts.all()] == ["b"]
    assert not any("tea" in line for line in home.lines()), "what goes leaves the flash"


def test_without_facts_nothing_is_written(home):
    home.live(3)
    assert not os.path.exists(os.path.dirname(home.path))


# Forgetting


def test_forgetting_and_correcting_leave_no_word_on_the_flash(home):
    first = home.say("The owner drinks tea.", alike=by_vector({}))
    second = home.say("The owner swims.", alike=by_vector({}), taint=["names of devices"])
    assert home.facts.forget([first["id"]]) == 1
    assert not any("tea" in line for line in home.lines())
    corrected = home.facts.correct(second["id"], "The owner dives.", "")
    assert "taint" not in corrected and corrected["id"] == second["id"] and corrected["confidence"] == 1.0
    assert not any("swims" in line for line in home.lines())
    assert home.facts.forget_all() == 1 and not os.path.exists(home.path)
    assert home.facts.forget_all() == 0
    for act in (home.facts.get, lambda name: home.facts.correct(name, "x y", "")):
        with pytest.raises(UsageError):
            act("nothing")
