"""A daemon that lives for months may not grow with what it did: objects, memory, descriptors, threads, its log."""

import gc
import tracemalloc

import pytest

from tests.bench import growth, turns
from tests.oasisd import copy_root, set_option, start_daemon
from tests.tools.test_force import Router

# More runs than are kept after their end (runs.ENDED), and than fill the small caches: full before it is looked at.
FIRST, MORE = 75, 45
PLANS, MORE_PLANS = 13, 4
# What may stay of a turn: an entry of an index, no text; of a plan and its undo: a notice, as long as those are kept.
STAYS_BYTES, OF_A_PLAN_BYTES = 250, 4000


class Unhurried:
    """In the place of what spaces out the requests to a service."""

    def wait(self, *_):
        return True


@pytest.fixture
def router(tmp_path):
    running = Router(tmp_path)
    set_option(running.root.folder, "titles", "words")
    running.turn_starter().asking._pace = Unhurried()
    yield running
    running.stop()


def held():
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def grown(work, first, more):
    """Return how many bytes more are held after doing something so often, once it was done a first few times."""
    tracemalloc.start()
    try:
        for _ in range(first):
            work()
        before = held()
        for _ in range(more):
            work()
        return (held() - before) / more
    finally:
        tracemalloc.stop()


def test_what_a_turn_leaves_in_memory_is_next_to_nothing(router):
    router.models.call = ("read_config", {"package": "system"})
    turn = lambda: router.follow(router.ask("run.start", message="what is it called?", service="scripted"))  # noqa: E731
    assert grown(turn, FIRST, MORE) < STAYS_BYTES


@pytest.mark.long
def test_what_a_plan_and_its_undo_leave_in_memory_is_next_to_nothing(router):
    def plan():
        router.proposed("uci set system.@system[0].hostname='attic'")
        router.follow(router.ask("change.undo"))

    assert grown(plan, PLANS, MORE_PLANS) < OF_A_PLAN_BYTES


def looked_at(samples):
    (_, first), (_, last) = samples
    return {column: last[column] - first[column] for column in growth.COLUMNS}


def test_what_grew_beyond_its_tolerance_is_told():
    held = dict(zip(growth.COLUMNS, (12000, 6000, 11, 3, 76), strict=True))
    within = {**held, "rss": 12000 + growth.MORE_KIB, "private_dirty": 9000, "log_bytes": 76 + growth.MORE_LOG_BYTES}
    assert growth.grown([("400 turns", held), ("2000 turns", within)]) == []
    for column in ("rss", "fds", "threads", "log_bytes"):
        more = {**within, column: within[column] + 1}
        (text,) = growth.grown([("400 turns", held), ("2000 turns", more)])
        assert text.startswith(f"from 400 turns to 2000 turns: {column} {held[column]} to {more[column]}, at most ")


def test_a_running_daemon_keeps_its_size(tmp_path):
    daemon = start_daemon(copy_root(str(tmp_path / "router")))
    try:
        growth.live(daemon, "turns", FIRST, lambda _: turns.ask(daemon, turns.WORDS))
        more = looked_at(growth.live(daemon, "turns", MORE, lambda _: turns.ask(daemon, turns.WORDS)))
        turns.change_and_undo(daemon, "attic")
    finally:
        daemon.stop()
    assert more["rss"] <= 2 * growth.MORE_KIB and more["fds"] <= 0 and more["threads"] <= 0, more
    assert more["log_bytes"] == 0, daemon.log()


@pytest.mark.long  # a quarter of an hour each
@pytest.mark.parametrize("asked", [growth.asked, growth.asked_model])
def test_a_daemon_is_flat_over_two_thousand_turns_and_a_hundred_plans(tmp_path, asked):
    with turns.model() as url:
        root = turns.with_model(copy_root(str(tmp_path / "router")), url)
        with turns.bus(root):
            daemon = start_daemon(root)
            try:
                assert growth.grown(asked(daemon, 2000)) + growth.grown(growth.changed(daemon, 100)) == []
            finally:
                daemon.stop()
