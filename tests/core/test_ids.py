"""SCRU128 and xid: order, form, counters, a clock that falls back."""

from oasis.core.ids import Scru128, Xid, at, is_scru128, is_xid, looks_like_id, scru128_ms


class Clock:
    def __init__(self, *times):
        self.times = list(times)

    def __call__(self):
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


def ones(size):
    return b"\xff" * size


def zeros(size):
    return b"\x00" * size


def test_ids_made_in_one_millisecond_differ_and_sort():
    ids = Scru128(Clock(1_700_000_000_000), zeros)
    made = [ids.next() for _ in range(100)]
    assert made == sorted(made)
    assert len(set(made)) == 100


def test_the_time_is_read_back():
    assert scru128_ms(Scru128(Clock(1_700_000_000_123), zeros).next()) == 1_700_000_000_123


def test_both_counters_full_borrow_a_millisecond():
    ids = Scru128(Clock(1_700_000_000_000), ones)
    first, second = ids.next(), ids.next()
    assert scru128_ms(second) == scru128_ms(first) + 1
    assert second > first


def test_a_clock_that_steps_back_little_keeps_the_order():
    ids = Scru128(Clock(1_700_000_005_000, 1_700_000_000_000), zeros)
    first, second = ids.next(), ids.next()
    assert second > first


def test_a_clock_that_falls_back_far_starts_again():
    ids = Scru128(Clock(1_700_000_060_000, 1_700_000_000_000), zeros)
    ids.next()
    assert scru128_ms(ids.next()) == 1_700_000_000_000


def test_the_largest_id_is_the_specifications():
    ids = Scru128(Clock((1 << 48) - 1), ones)
    assert ids.next() == "f5lxx1zz5pnorynqglhzmsp33"


def test_forms_are_recognised():
    largest = "f5lxx1zz5pnorynqglhzmsp33"
    assert is_scru128(largest) and is_scru128("0" * 25)
    for wrong in (largest.upper(), largest[:-1] + "4", "z" * 25, "home-wifi", "\u212a" * 25, None):
        assert not is_scru128(wrong), wrong
    for meant in (largest, largest.upper(), "z" * 25):
        assert looks_like_id(meant), meant
    for other in ("a" * 24, "a" * 26, "a" * 24 + "-", "\u212a" * 25, None):
        assert not looks_like_id(other), other
    assert not is_xid("0" * 19)


def test_an_xid_is_the_published_example():
    # Source: the example of the xid documentation, 9m4e2mr0ui3e8a215n4g = 4d88e15b 60f486 e428 412dc9.
    raw = bytes([0x60, 0xF4, 0x86, 0xE4, 0x28])
    ids = Xid(lambda: 0x4D88E15B, lambda size: b"\x41\x2d\xc8"[:size], raw)
    made = ids.next()
    assert made == "9m4e2mr0ui3e8a215n4g"
    assert is_xid(made)


def test_an_id_of_another_time_differs_from_all_others_still():
    ids = Scru128(Clock(1_700_000_000_123), zeros)
    first, second = at(ids.next(), 1_600_000_000_000), at(ids.next(), 1_600_000_000_000)
    assert scru128_ms(first) == scru128_ms(second) == 1_600_000_000_000
    assert first < second and is_scru128(first)
    assert scru128_ms(at(ids.next(), -5)) == 1, "a clock that was never set"
