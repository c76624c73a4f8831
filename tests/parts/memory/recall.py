"""How often the right chunk is among the first five, by words, by vectors, and by both: over labelled.jsonl.

A line of that is a chunk, {"document", "chunk": its name, "text"}, or a question and the chunk that answers it. All of
it was written for this measure, before the ranking was tuned; some questions share no word with their answer.
"""

import json
import os

from oasis.parts.memory.ranking import packed
from tests.parts.memory.store import Shelf, Swift

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "labelled.jsonl")
MODES = ("words", "vectors", "fused")


class Given:
    """An embedder of a model that is here; what it was asked before it knows."""

    def __init__(self, model, name="minilm"):
        self.name = name
        self._model = model
        self._known = {}

    def service(self):
        return {"name": self.name}

    def rows(self, texts, is_cancelled=None, told=None):
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, map(packed, self._model.embed(new)), strict=True))
        return [self._known[text] for text in texts]


def labelled():
    """Return {document: [(name, text)]} and [(question, name)]."""
    documents, questions = {}, []
    with open(_FILE, encoding="utf-8") as handle:
        for line in handle:
            row = json.loads(line)
            if "question" in row:
                questions.append((row["question"], row["chunk"]))
            else:
                documents.setdefault(row["document"], []).append((row["chunk"], row["text"]))
    return documents, questions


def shelved(folder, model=None):
    """Return a library with the labelled documents, and {text: name}."""
    documents, _ = labelled()
    shelf = Shelf(folder, Swift())
    names = {}
    for title, chunks in documents.items():
        shelf.add(title, *[text for _, text in chunks])
        names.update({text: name for name, text in chunks})
    if model is not None:
        shelf.embedder = Given(model)
        shelf.library.embed(lambda: False)
        shelf.embedder.rows([question for question, _ in labelled()[1]])  # many at once take a tenth of the time
    return shelf, names


def recall(shelf, names, mode, most=5):
    """Return the share of questions whose chunk is among the first `most`, and those where it is not."""
    _, questions = labelled()
    missed = []
    for question, name in questions:
        found = [names[one["text"]] for one in shelf.library.search(question, most, mode)["passages"]]
        if name not in found:
            missed.append(question)
    return 1 - len(missed) / len(questions), missed
