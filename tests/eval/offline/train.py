"""Learns from the training sentences of all languages what their words speak for.

The weights are read by oasis/parts/offline/understanding.py.

    python3 tests/eval/offline/train.py        writes oasis/parts/offline/intents/evidence.json and evidence_XX.json

A linear model (multinomial logistic regression): the same sentences and lexicons give the same weights. Held-out
sentences are not read. Needs numpy. To be run anew when training sentences or words of a lexicon were added.
"""

import argparse
import collections
import json
import os
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [ROOT, HERE]

from oasis.parts.offline import understanding  # noqa: E402
from oasis.parts.offline.provider import Session  # noqa: E402
from tests.eval.offline.score import LANGUAGES, Reader, lines  # noqa: E402

ROUNDS, RATE, DECAY = 150, 0.5, 1e-5
SHARPER = 1.75  # weights that fit sentences which were not learned are that much larger: what decay took
NEGATIVE = 2.5  # a sentence that asks for nothing counts so much: there are few of them, and they matter
SEEN = 3  # a word that stands in fewer sentences is not learned
LEAST = 0.4  # weights below are left out
OUTSIDE = ("training_out.jsonl", os.path.join(ROOT, "tests", "parts", "offline", "nearly.jsonl"))


def request_of(part):
    slots = {name: part["slots"][name] for name in ("switch", "action") if name in part["slots"]}
    if "run" in part["slots"]:
        slots["action"] = part["slots"]["run"]
    return understanding.request_name(part["intent"], slots)


class Sentences:
    """The sentences as (language, features, requests)."""

    def __init__(self):
        reader = Reader()
        self._session = Session(reader.provider, reader.facts)
        self._readers = {}
        self.found = []

    def read(self, language):
        if language not in self._readers:
            self._readers[language] = self._session.by_concepts(language)
        return self._readers[language]

    def add(self, language, text, requests):
        clause = self.read(language).clause(text)
        if clause.segments:
            self.found.append((language, understanding.features(clause), requests))

    def add_all(self):
        for language in LANGUAGES:
            for line in lines(os.path.join(HERE, f"training_{language}.jsonl")):
                if not line.get("before"):
                    self.add(language, line["text"], [request_of(part) for part in line["parts"]])
        for name in OUTSIDE:
            for line in lines(os.path.join(HERE, name)):
                self.add(line["language"], line["text"], [understanding.NOTHING])


def own(language, name):
    """Return the name of a feature among those of all languages: words are of one language."""
    return f"{language} {name}" if name.startswith("w:") else name


def learned(found):
    """Return (features, requests, weights)."""
    counts = collections.Counter(own(language, name) for language, names, _ in found for name in names)
    features = sorted(name for name, count in counts.items() if count >= SEEN)
    requests = sorted({request for _, _, asked in found for request in asked})
    column, row = {name: at for at, name in enumerate(features)}, {name: at for at, name in enumerate(requests)}
    shown = numpy.zeros((len(found), len(features) + 1), dtype=numpy.float32)
    meant = numpy.zeros((len(found), len(requests)), dtype=numpy.float32)
    for at, (language, names, asked) in enumerate(found):
        known = [column[own(language, name)] for name in names if own(language, name) in column]
        shown[at, known] = 1 / numpy.sqrt(max(len(known), 1))
        shown[at, -1] = 1
        for request in asked:
            meant[at, row[request]] += 1 / len(asked)
    counted = numpy.array(
        [[NEGATIVE if asked == [understanding.NOTHING] else 1.0] for _, _, asked in found], numpy.float32
    )
    weights = numpy.zeros((len(features) + 1, len(requests)), dtype=numpy.float32)
    steps = numpy.full(weights.shape, 1e-2, dtype=numpy.float32)
    for _ in range(ROUNDS):
        scores = shown @ weights
        scores -= scores.max(1, keepdims=True)
        odds = numpy.exp(scores)
        slope = shown.T @ ((odds / odds.sum(1, keepdims=True) - meant) * counted) + DECAY * len(found) * weights
        steps += slope * slope
        weights -= RATE * slope / numpy.sqrt(steps)
    return features, requests, weights


def written(features, weights, which):
    """Return {feature: "gap weight gap weight …"} of the features that `which` names anew; None leaves one out.

    A gap is how many requests further the weight's request is: small numbers, of which a package packs twice as many.
    """
    table = {}
    for at, name in enumerate([*features, ""]):
        renamed = which(name)
        if renamed is None:
            continue
        exact = weights[at] * SHARPER
        places = numpy.flatnonzero(abs(exact) >= LEAST)
        gaps = numpy.diff(places, prepend=0)
        pairs = [f"{gap} {round(exact[place] * understanding.SCALE)}" for gap, place in zip(gaps, places, strict=True)]
        if pairs:
            table[renamed] = " ".join(pairs)
    return table


def word_of(language, name):
    """Return the name of a word of a language without its language, None for everything else."""
    return name[len(language) + 1 :] if name.startswith(language + " w:") else None


def save(name, content):
    path = os.path.join(ROOT, "oasis", "parts", "offline", "intents", name + ".json")
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(json.dumps(content, ensure_ascii=False, indent=0) + "\n")


def main():
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    sentences = Sentences()
    sentences.add_all()
    features, requests, weights = learned(sentences.found)
    shared = written(features, weights, lambda name: None if " w:" in name else name)
    save("evidence", {"classes": requests, "weights": shared})
    for language in LANGUAGES:
        save(
            "evidence_" + language, {"weights": written(features, weights, lambda name, of=language: word_of(of, name))}
        )
    print(len(sentences.found), "sentences,", len(requests), "requests,", len(features), "features")


if __name__ == "__main__":
    main()
