"""What each threshold of the built-in service is worth: the same sentences with it half as large, and twice.

    python3 tests/eval/offline/thresholds.py --every 8 [NAME …]     prints the rows of the table in docs/offline.md

A threshold is a number with a point and a name in capitals in one of MODULES. Counted are the held-out and later
sentences, which are never shown: right at once, right in a question, wrong (at once or asked about), and sentences
that ask for nothing but were taken for a request. A row has how many more there are than as it stands; each count is
made in a process of its own, in which that one number is another.
"""

import argparse
import collections
import multiprocessing
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.dirname(HERE))), HERE]

from oasis.parts.offline import frames, understanding  # noqa: E402
from tests.eval.offline.score import ASKED, LANGUAGES, NOW, WRONG_ASKED, WRONG_NOW, Reader, lines  # noqa: E402

MODULES = (understanding, frames)
COLUMNS = ("right", "asked", "wrong", "taken")
CHANGES = (0.5, 2.0)
WISHES = (*(f"{kind}_{name}" for kind in ("held", "later") for name in LANGUAGES), "held_model")
OTHERS = ("out_of_scope", "later.out")


def thresholds():
    """Return {name: value}, in the order of the modules."""
    return {
        name: value
        for module in MODULES
        for name, value in vars(module).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, float)
    }


class Sentences:
    """One in so many of the sentences, with what each wants."""

    def __init__(self, every):
        self._reader = Reader()
        self._wishes = [(line, self._reader.wanted(line)) for line in _lines(WISHES)[::every]]
        self._others = _lines(OTHERS)[::every]

    def counts(self, name="", factor=1.0):
        """Return the counts of COLUMNS, with a threshold so many times as large."""
        for module in MODULES if name else ():
            if name in vars(module):
                setattr(module, name, vars(module)[name] * factor)
        found = collections.Counter(self._reader.verdict(*wish)[0] for wish in self._wishes)
        answers = [self._reader.answer(line)[0] for line in self._others]
        taken = sum(bool(one.calls or (one.parts and one.is_sure and not one.is_guess)) for one in answers)
        return found[NOW], found[ASKED], found[WRONG_NOW] + found[WRONG_ASKED], taken


def _lines(names):
    return [line for name in names for line in lines(os.path.join(HERE, name + ".jsonl"))]


_READ = []  # the sentences, which each process has from the one that began it


def counted(name, factor):
    return _READ[0].counts(name, factor)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=8, help="one of so many sentences")
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    known = thresholds()
    _READ.append(Sentences(options.every))
    whole = _READ[0].counts()
    print(", ".join(COLUMNS) + ":", *whole, flush=True)
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        for name in options.name or known:
            found = [pool.apply(counted, (name, factor)) for factor in CHANGES]
            cells = [" ".join(f"{now - then:+d}" for now, then in zip(one, whole, strict=True)) for one in found]
            print(f"| `{name}` | {known[name]:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
