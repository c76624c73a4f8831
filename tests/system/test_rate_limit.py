"""How often a service may be asked: bursts, waits in order, cancelling, and that names do not share."""

import threading

from oasis.system.rate_limit import Pace


class Clock:
    def __init__(self):
        self.now_s = 100.0
        self.slept_s = 0.0

    def sleep_s(self, seconds):
        self.now_s += seconds
        self.slept_s += seconds


def never():
    return False


def waits(pace, clock, count, per_s=2.0, burst=3, name="ollama"):
    """Return how long each of some requests waited."""
    found = []
    for _ in range(count):
        before = clock.slept_s
        assert pace.wait(name, per_s, burst, never)
        found.append(round(clock.slept_s - before, 3))
    return found


def make():
    clock = Clock()
    return Pace(lambda: clock.now_s, clock.sleep_s), clock


def test_a_burst_goes_through_and_then_the_rate_holds():
    pace, clock = make()
    assert waits(pace, clock, 6) == [0, 0, 0, 0.5, 0.5, 0.5]


def test_a_pause_fills_the_bucket_but_never_above_the_burst():
    pace, clock = make()
    waits(pace, clock, 3)
    clock.now_s += 1
    assert waits(pace, clock, 3) == [0, 0, 0.5]
    clock.now_s += 3600
    assert waits(pace, clock, 4) == [0, 0, 0, 0.5]


def test_services_do_not_share_a_bucket():
    pace, clock = make()
    waits(pace, clock, 3)
    assert waits(pace, clock, 5, per_s=10, burst=5, name="openai") == [0] * 5


def test_a_cancelled_wait_ends_soon_and_takes_nothing():
    pace, clock = make()
    waits(pace, clock, 3, per_s=0.1)
    asked = iter([False, False, True])
    assert not pace.wait("ollama", 0.1, 3, lambda: next(asked))
    assert clock.slept_s <= 0.2
    assert waits(pace, clock, 1, per_s=0.1) == [9.8]
    assert not pace.wait("ollama", 0.1, 3, lambda: True)


def test_threads_share_a_bucket():
    pace, clock = make()
    lock = threading.Lock()
    done = []

    def ask():
        pace.wait("x", 1000.0, 1, never)
        with lock:
            done.append(1)

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(done) == 20
    assert waits(pace, clock, 1, per_s=1000.0, burst=1, name="x")[0] <= 0.02
