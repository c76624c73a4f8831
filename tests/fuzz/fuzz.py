"""`make fuzz`: feed the targets with changed inputs, for as long as asked.

    python3 tests/fuzz/fuzz.py [--seconds N] [--seed N] [TARGET…]      changes the seeds at random
    python3 tests/fuzz/fuzz.py --atheris TARGET [libFuzzer's words]    led by coverage, where atheris is installed

A fault is printed with the input as a Python literal and ends with status 1; the same seed finds it again. Put what was
found into tests/fuzz/corpus.
"""

import argparse
import os
import random
import sys
import time
import traceback

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, REPOSITORY)

from tests.fuzz.targets import SEEDS, TARGETS, WORDS  # noqa: E402

INPUT_BYTES = 8192
# One input takes milliseconds; one that takes this long is a fault of its own.
SLOW_S = 2.0


class Fault(AssertionError):
    """A target that failed: the input, and how."""


def changed(data, seeds, words, chance):
    """Return an input a few steps away from another one."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at, end = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
        how = chance.randrange(7)
        if how == 0:
            data[at:at] = chance.choice(words)
        elif how == 1:
            del data[at : min(end, at + chance.randint(1, 40))]
        elif how == 2 and data:
            data[min(at, len(data) - 1)] = chance.randrange(256)
        elif how == 3:
            other = chance.choice(seeds)
            start = chance.randint(0, len(other))
            data[at:end] = other[start : start + chance.randint(0, 200)]
        elif how == 4:
            data[at:at] = data[at : min(end, at + 100)] * chance.choice((1, 2, 50))
        elif how == 5:
            data[at:at] = chance.choice(words) * chance.choice((2, 3, 100))
        else:
            data[at:at] = bytes([chance.randrange(256)])
    return bytes(data[:INPUT_BYTES])


def run(name, seconds, seed):
    """Run one target for so long; return how many inputs it had.

    Raises: Fault with what makes it happen again.
    """
    chance = random.Random(seed)
    seeds, words, target = list(SEEDS[name]), WORDS[name], TARGETS[name]
    deadline, count = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        data = seeds[count] if count < len(SEEDS[name]) else changed(chance.choice(seeds), seeds, words, chance)
        count += 1
        began = time.monotonic()
        try:
            target(data)
        except Exception as error:
            raise Fault(
                f"{name}: {error!r} for {data!r}\n(seed {seed}, input {count})\n{traceback.format_exc()}"
            ) from None
        if time.monotonic() - began > SLOW_S:
            raise Fault(f"{name}: {time.monotonic() - began:.1f} s for {data!r}")
        if count % 50 == 0:
            seeds.append(data)  # steps from steps
    return count


def led_by_coverage(name, words):
    import atheris

    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *words], TARGETS[name])
    atheris.Fuzz()


def main():
    if sys.argv[1:2] == ["--atheris"]:
        led_by_coverage(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("targets", nargs="*", metavar="TARGET", choices=[[], *TARGETS], default=[])
    read = parser.parse_args()
    for name in read.targets or TARGETS:
        try:
            count = run(name, read.seconds, read.seed)
        except Fault as fault:
            print(fault, file=sys.stderr)
            return 1
        print(f"{name}: {count} inputs in {read.seconds:g} s, seed {read.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
