"""What the ranking finds on the labelled set: by words everywhere, by a real model's vectors where one is here."""

import pytest

from tests.parts.memory import minilm
from tests.parts.memory.recall import MODES, labelled, recall, shelved

ABOUT = pytest.mark.skipif(not minilm.find(), reason="no model of embeddings here; " + minilm.ADVICE)


@pytest.fixture(scope="module")
def model():
    return minilm.Model(minilm.find())


def test_the_labelled_set_is_large_enough_and_each_question_has_its_chunk():
    documents, questions = labelled()
    names = [name for chunks in documents.values() for name, _ in chunks]
    assert len(questions) >= 60 and len(names) >= 60 and len(set(names)) == len(names)
    assert {name for _, name in questions} == set(names)


def test_two_of_three_questions_are_answered_by_words_alone(tmp_path):
    shelf, names = shelved(tmp_path)
    found, missed = recall(shelf, names, "fused")
    assert found >= 0.65, missed


@ABOUT
def test_the_model_says_what_it_says_elsewhere(model):
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    one, two, three = model.embed(texts)

    def near(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True))

    assert [round(near(*pair), 4) for pair in ((one, two), (one, three), (two, three))] == pytest.approx(
        [0.6660, 0.1046, 0.1411], abs=0.0005
    )


@ABOUT
def test_with_a_real_model_nine_of_ten_are_found_and_words_take_nothing_away(tmp_path, model):
    shelf, names = shelved(tmp_path, model)
    shares = {mode: recall(shelf, names, mode)[0] for mode in MODES}
    assert shares["vectors"] >= 0.88 and shares["fused"] >= 0.9 and shares["fused"] >= shares["vectors"], shares


@ABOUT
def test_a_byte_a_number_finds_what_whole_numbers_find(tmp_path, model):
    shelf, names = shelved(tmp_path, model)
    _, questions = labelled()
    texts = list(names)
    whole = model.embed([f"{document['title']}\n{text}" for document in shelf.library.all()
                         for text in shelf.texts(document["id"])])  # fmt: skip
    rows = [text for document in shelf.library.all() for text in shelf.texts(document["id"])]
    assert sorted(rows) == sorted(texts)
    agreed = 0
    for question, vector in zip(questions, model.embed([question for question, _ in questions]), strict=True):
        scores = [sum(a * b for a, b in zip(vector, row, strict=True)) for row in whole]
        best = rows[max(range(len(rows)), key=lambda at: scores[at])]
        agreed += shelf.library.search(question[0], 1, "vectors")["passages"][0]["text"] == best
    assert agreed >= len(questions) - 1
