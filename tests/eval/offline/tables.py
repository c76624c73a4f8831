"""What each table of the offline intents earns: sentences are read with the table emptied, and what is lost is counted.

    python3 tests/eval/offline/tables.py                       every table of every language
    python3 tests/eval/offline/tables.py --language de --table words --blocks       each concept of one table
    python3 tests/eval/offline/tables.py --every 3 --markdown FILE                  every third sentence

The counts choose what is kept, so the sentences are a development set here: held-out and later ones, those that ask for
nothing, the owner's sentences of the tasks of `make eval`, and the example of each intent. Of the last two it counts
whether the answer is another one.
A table that loses nothing here may still be needed: for rare words, for what must never be taken for a request, for
another way to write a language. So nothing is dropped because of a row of zeros alone.
"""

import argparse
import collections
import gzip
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [ROOT, HERE]

from oasis.parts.offline import provider  # noqa: E402
from tests.eval import tasks  # noqa: E402
from tests.eval.offline.score import ASKED, LANGUAGES, NOTHING, NOW, WRONG_ASKED, WRONG_NOW, Reader, lines  # noqa: E402

SAID = {"language", "labels", "asks", "intents", "texts", "closing", "status"}  # what the owner is told
BY_LANGUAGE = ("cautions", "moments", "naming")  # files that hold all languages; their sentences stay
IN_INTENTS = ("patterns", "about")  # of each intent: what is read of it
OUTSIDE = ("out_of_scope.jsonl", "later.out.jsonl", os.path.join(ROOT, "tests", "parts", "offline", "nearly.jsonl"))
TAKEN, OTHER = "taken for a request", "other answer"
COLUMNS = (NOW, ASKED, WRONG_NOW, WRONG_ASKED, NOTHING, TAKEN, OTHER)


def emptied(data):
    """Return a language's part of a file with its tables empty; the sentences that are said stay."""
    return {name: one if isinstance(one, str) else type(one)() for name, one in data.items()}


def tables(language):
    """Return {name: (file, what makes a file's data without the table)}."""
    found = {}

    def add(name, file, change):
        found[name] = file, change

    own = provider.load(language)
    for name, value in own.items():
        if name not in SAID and value:
            empty = dict.fromkeys(value, "~") if name == "classes" else type(value)()  # patterns name classes
            add(name, language, lambda data, name=name, empty=empty: {**data, name: empty})
    for name in IN_INTENTS:
        if any(name in one for one in own["intents"].values()):
            add(name, language, lambda data, name=name: {
                **data, "intents": {intent: {**one, name: []} for intent, one in data["intents"].items()}
            })  # fmt: skip
    for file in BY_LANGUAGE:
        add(file, file, lambda data: {**data, language: emptied(data[language])})
    for file in ("evidence_" + language, "evidence"):
        for block in sorted({_block(name) for name in provider.load(file)["weights"]} - {""}):
            add(f"{file} {block}", file, lambda data, block=block: {
                **data, "weights": {name: one for name, one in data["weights"].items() if _block(name) != block}
            })  # fmt: skip
    return found


def _block(feature):
    """Return the kind of a feature: concepts, values, signs, words, beginnings of words."""
    return feature[:1] + (feature[-1:] if feature[:1] == "w" and feature[-1:] == "*" else "")


def blocks(language, table):
    """Return the same for each key of a table of the language's own file."""
    keys = provider.load(language)[table]
    return {
        f"{table} {key}": (
            language,
            lambda data, key=key: {**data, table: {name: one for name, one in data[table].items() if name != key}},
        )
        for key in keys
    }


def packed(data):
    """Return the bytes that a file takes in a package."""
    return len(gzip.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), 9))


class Sentences:
    """The sentences of one language."""

    def __init__(self, language, every):
        named = [f"held_{language}.jsonl", "held_model.jsonl", f"later_{language}.jsonl"]
        whole = Reader()
        self.wishes = [(line, whole.wanted(line)) for line in self._of(language, named)[::every]]
        self.others = self._of(language, OUTSIDE)[::every]
        turns = [tasks.sentences(task) for task in tasks.load().values() if task["language"] == language]
        turns += [[one["example"]] for one in provider.load(language)["intents"].values() if "example" in one]
        self.alike = [{"text": said, "before": one[:at]} for one in turns for at, said in enumerate(one)][::every]

    @staticmethod
    def _of(language, files):
        return [line for file in files for line in lines(os.path.join(HERE, file)) if line["language"] == language]

    def read(self, read):
        """Return (the counts, the answers that are compared) with the data that `read` gives."""
        reader = Reader(read)
        counts = collections.Counter(reader.verdict(*wish)[0] for wish in self.wishes)
        for line in self.others:
            found, _ = reader.answer(line)
            counts[TAKEN] += bool(found.calls or (found.parts and found.is_sure and not found.is_guess))
        return counts, [_answer(*reader.answer(line)) for line in self.alike]


def _answer(found, language):
    """Return what of an answer can be told; a value says whether it was found in quotes, which nobody is told."""
    parts = [(part.intent, sorted((name, raw) for name, (raw, _) in part.slots.items())) for part in found.parts]
    return language, found.text, found.calls, found.is_guess, parts


def earned(language, chosen, sentences):
    """Yield (table, its packed bytes, how much more there is without it of each column), whole first."""
    counts, answers = sentences.read(provider.load)
    yield "all of it is there", 0, [counts[name] for name in COLUMNS]
    for name, (file, change) in chosen.items():
        without, others = sentences.read(
            lambda wanted, file=file, change=change: (change if wanted == file else lambda data: data)(
                provider.load(wanted)
            )
        )
        without[OTHER] = sum(one != other for one, other in zip(answers, others, strict=True))
        less = packed(provider.load(file)) - packed(change(provider.load(file)))
        yield name, less, [without[name] - counts[name] for name in COLUMNS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--language", nargs="+", default=LANGUAGES, choices=LANGUAGES)
    parser.add_argument("--table", nargs="+", default=[])
    parser.add_argument("--blocks", action="store_true", help="each key of the chosen tables by itself")
    parser.add_argument("--every", type=int, default=1, help="one of so many sentences")
    parser.add_argument("--markdown", help="a file for the tables")
    options = parser.parse_args()
    text = ""
    for language in options.language:
        chosen = tables(language)
        if options.blocks:
            chosen = {name: one for table in options.table for name, one in blocks(language, table).items()}
        elif options.table:
            chosen = {name: one for name, one in chosen.items() if name in options.table}
        text += f"\n| {language} | packed | " + " | ".join(COLUMNS) + " |\n" + "| --- " * (len(COLUMNS) + 2) + "|\n"
        for name, size, row in earned(language, chosen, Sentences(language, options.every)):
            is_whole = not size
            cells = [f"{one}" if is_whole else f"{one:+d}" if one else "" for one in row]
            text += f"| {name} | {size or ''} | " + " | ".join(cells) + " |\n"
            print(text.splitlines()[-1], flush=True)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as handle:
            handle.write(text.lstrip())


if __name__ == "__main__":
    main()
