"""The library: found by words, by nearness, by both; whole on bad flash; a damaged file stops no other."""

import math
import os
import random

import pytest

from oasis.errors import OasisError, SchemaError, StoreError, UsageError
from oasis.parts.memory import ranking
from oasis.parts.memory.documents import Vectors
from tests.parts.memory.store import Meanings, Shelf, Swift
from tests.system.test_power_cut import Careless, Forgetful, PowerCut

# Words and BM25


def order(query, *texts):
    words = ranking.Words(query)
    for at, text in enumerate(texts):
        if words.may_have(text):
            words.take(at, text)
        else:
            words.skip(len(text))
    return [key for _, key in words.order(10)]


def test_rare_words_count_more_than_common_ones_and_short_texts_more_than_long_ones():
    assert order("lan vlan", "the lan", "a lan", "this vlan", "lan of mine")[0] == 2
    assert order("camera", "camera " + "word " * 200, "camera") == [1, 0]
    assert order("camera", "camera word", "camera camera word")[0] == 1


def test_words_that_say_nothing_are_not_looked_for_unless_there_are_no_others():
    assert order("what is the vlan of the line", "the of is the of", "vlan")[0] == 1
    assert order("who is it", "who is it", "something")[0] == 0
    assert order("", "something") == [] == order("!?", "something")


def test_plural_case_and_scripts_without_spaces():
    assert order("Channels", "the channel is 36", "other") == [0]
    assert order("ÜBERSICHT", "eine übersicht", "other") == [0]
    assert order("无线密码", "路由器的无线网络", "密码很长", "其他") in ([0, 1], [1, 0])
    assert ranking.terms("WPA3-SAE, 192.168.1.1: dhcp_option") == [
        "wpa3",
        "sae",
        "192",
        "168",
        "1",
        "1",
        "dhcp",
        "option",
    ]


def test_latin_words_within_unspaced_scripts_are_words():
    assert order("wifi", "设置wifi密码", "其他") == [0]
    assert set(ranking.terms("设置WiFi密码7天")) == {"设置", "wifi", "密码", "7", "天"}


@pytest.mark.parametrize("seed", range(40))
def test_counting_the_words_of_a_question_agrees_with_all_the_terms_of_a_text(seed):
    chance = random.Random(seed)
    letters = "lans wifi_-.,3 Ü é 路由网络 カメラ ß\u0301"
    text = "".join(chance.choice(letters) for _ in range(300))
    query = "".join(chance.choice(letters) for _ in range(20)) + " lan lans wifi 路由网"
    words = ranking.Words(query)
    expected = {}
    for term in ranking.terms(text):
        if term in ranking.terms(query) and term not in ranking.COMMON:
            expected[term] = expected.get(term, 0) + 1
    seen = words.counts(text)
    assert set(expected) <= set(seen)
    spaced = [term for term in seen if term < "\u3040"]
    assert {term: seen[term] for term in spaced} == {term: expected[term] for term in spaced}


def test_what_stands_high_in_two_orders_comes_first_and_ties_keep_their_order():
    assert [key for _, key in ranking.fused([["a", "b", "c"], ["c", "a", "d"]], 4)] == ["a", "c", "b", "d"]
    assert [key for _, key in ranking.fused([["a"], ["b"]], 4)] == ["a", "b"]
    assert ranking.fused([], 3) == []


# Vectors


def cosine(one, other):
    lengths = math.sqrt(sum(a * a for a in one)) * math.sqrt(sum(b * b for b in other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def cloud(count, dims, seed=1):
    chance = random.Random(seed)
    return [[chance.gauss(0, 1) for _ in range(dims)] for _ in range(count)]


def test_cosines_are_right_to_a_hundredth_and_come_in_order(tmp_path):
    vectors = Vectors(Swift(), str(tmp_path / "v"))
    rows, asked = cloud(60, 96), cloud(1, 96, 2)[0]
    vectors.write("a", "m", list(map(ranking.packed, rows[:40])))
    vectors.write("b", "m", list(map(ranking.packed, rows[40:])))
    found = vectors.nearest(ranking.packed(asked), ["a", "b"], 10)
    assert [score for score, _ in found] == sorted([score for score, _ in found], reverse=True)
    for score, (name, number) in found:
        assert abs(score - cosine(asked, rows[number + (40 if name == "b" else 0)])) < 0.01
    best = max(range(60), key=lambda at: cosine(asked, rows[at]))
    assert found[0][1] == ("a", best) if best < 40 else ("b", best - 40)
    assert vectors.nearest(ranking.packed(rows[3]), ["a"], 1)[0] == (pytest.approx(1, abs=0.001), ("a", 3))


def test_of_many_rows_the_nearest_are_found(tmp_path):
    vectors = Vectors(Swift(), str(tmp_path / "v"))
    chance = random.Random(3)
    asked = cloud(1, 256, 4)[0]
    rows = cloud(1500, 256)
    near = chance.sample(range(len(rows)), 10)
    for at, number in enumerate(near):  # as passages about the same thing are: well above chance
        rows[number] = [a + (1.0 + 0.1 * at) * b for a, b in zip(asked, rows[number], strict=True)]
    vectors.write("a", "m", list(map(ranking.packed, rows)))
    found = vectors.nearest(ranking.packed(asked), ["a"], 10)
    assert {number for _, (_, number) in found} == set(near)


def test_other_lengths_labels_and_zero_vectors_are_passed_over(tmp_path):
    vectors = Vectors(Swift(), str(tmp_path / "v"))
    vectors.write("long", "m", list(map(ranking.packed, cloud(3, 16))))
    vectors.write("other", "n", list(map(ranking.packed, cloud(3, 8))))
    vectors.write("own", "m", list(map(ranking.packed, [[0.0] * 8, [1.0] * 8, [1e300] * 8])))
    found = vectors.nearest(ranking.packed([1.0] * 8), ["long", "other", "own", "none"], 10, "m")
    assert [(round(score, 2), row) for score, row in found] == [(1.0, ("own", 1)), (0.0, ("own", 0)), (0.0, ("own", 2))]
    assert vectors.nearest(ranking.packed([0.0] * 8), ["own"], 3) == []


@pytest.mark.parametrize("rows", [[], [[1.0], [1.0, 2.0]], [[]]])
def test_vectors_of_several_lengths_are_refused(tmp_path, rows):
    with pytest.raises(SchemaError):
        Vectors(Swift(), str(tmp_path / "v")).write("a", "m", list(map(ranking.packed, rows)))


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\n", b"no json\n", b"[]\n", b'{"label":"m","dims":8}\n', b'{"label":"m","dims":8,"count":-1}\n',
        b'{"label":"m","dims":8,"count":1000000000}\n', b'{"label":3,"dims":8,"count":1}\n' + b"x" * 12,
        b"x" * 100_000, b'{"label":"m","dims":8,"count":2}\n' + b"\xff\xff\xff\x7f" + b"x" * 8 + b"torn",
        b'{"label":"m","dims":8,"count":1}\n' + b"\0\0\xc0\x7f" + b"x" * 8,
    ],
)  # fmt: skip
def test_vectors_that_cannot_be_read_are_passed_over(tmp_path, data):
    vectors = Vectors(Swift(), str(tmp_path / "v"))
    vectors.write("good", "m", [ranking.packed([1.0] * 8)])
    (tmp_path / "v" / "bad.vec").write_bytes(data)
    found = vectors.nearest(ranking.packed([1.0] * 8), ["bad", "good"], 5, "m")
    assert found[0][1] == ("good", 0) and all(score == 0 for score, _ in found[1:])


# Documents


def test_what_is_added_is_found_with_its_source(tmp_path):
    shelf = Shelf(tmp_path)
    kept = shelf.add("Provider letter", "The hotline is 0800 123.", "The VLAN of the line is 7.", url="https://e.org/")
    shelf.add("Camera manual", "Press reset for ten seconds.")
    found = shelf.library.search("which VLAN is it")
    assert [one["text"] for one in found["passages"]] == ["The VLAN of the line is 7."]
    assert found["sources"] == [
        {"number": 1, "id": kept["id"], "title": "Provider letter", "kind": "text", "url": "https://e.org/"}
    ]
    assert shelf.titles("reset the camera") == ["Camera manual"], "a title is found as well"
    assert shelf.library.search("nothing of it")["passages"] == []


def test_the_same_text_is_there_once_and_another_of_the_same_length_beside_it(tmp_path):
    shelf = Shelf(tmp_path)
    kept = shelf.add("Provider letter", "The hotline is 0800 123.", "The VLAN of the line is 7.")
    with pytest.raises(UsageError, match="there already: Provider letter") as caught:
        shelf.add("A copy", "The hotline is 0800 123.", "The VLAN of the line is 7.")
    assert kept["id"] in caught.value.message and kept["id"] in caught.value.hint
    shelf.add("Provider letter", "The hotline is 0800 123.", "The VLAN of the line is 8.")
    assert len(shelf.library.all()) == 2
    shelf.library.delete(kept["id"])
    shelf.add("A copy", "The hotline is 0800 123.", "The VLAN of the line is 7.")
    assert len(shelf.library.all()) == 2


def test_what_is_written_is_there_for_the_next_daemon_and_private(tmp_path):
    kept = Shelf(tmp_path).add("A", "some words", "more words")
    shelf = Shelf(tmp_path)
    assert shelf.library.all() == [{**kept, "vectors": "none"}]
    assert shelf.texts(kept["id"]) == ["some words", "more words"]
    for name in os.listdir(shelf.folder):
        assert os.stat(os.path.join(shelf.folder, name)).st_mode & 0o777 == 0o600


def test_what_is_deleted_leaves_nothing(tmp_path):
    shelf = Shelf(tmp_path)
    shelf.embedder = Meanings()
    kept = shelf.add("A", "wifi words")
    shelf.library.embed_one(kept, lambda: False, lambda done, total: None)
    assert len(os.listdir(shelf.folder)) == 2
    shelf.library.delete(kept["id"])
    assert os.listdir(shelf.folder) == [] and shelf.titles("wifi") == []
    for name in (kept["id"], "../../etc/passwd", ""):
        with pytest.raises(UsageError, match="no document"):
            shelf.library.delete(name)


def test_a_search_for_nothing_is_refused_and_none_finds_anything_in_an_empty_library(tmp_path):
    shelf = Shelf(tmp_path)
    with pytest.raises(UsageError):
        shelf.library.search("  ")
    assert shelf.library.search("words") == {"query": "words", "passages": [], "sources": []}
    assert not os.path.exists(shelf.folder)


def test_there_is_room_for_so_much_and_no_more(tmp_path):
    shelf = Shelf(tmp_path, limit=1000)
    kept = shelf.add("A", "x" * 500)
    with pytest.raises(StoreError, match="above their") as caught:
        shelf.add("B", "y" * 500)
    assert "knowledge_quota" in caught.value.hint
    shelf.limit, shelf.free = 1 << 20, 60 * 1024
    with pytest.raises(StoreError, match="full"):
        shelf.add("B", "x")
    shelf.library.delete(kept["id"])
    assert shelf.library.used_bytes() == 0


# With a model for vectors


def filled(folder):
    shelf = Shelf(folder)
    shelf.add("One", "The wlan has a secret.", "Nothing else here.")
    shelf.add("Two", "How the uplink is made.")
    shelf.embedder = Meanings()
    return shelf


def embed(shelf):
    return shelf.library.embed(lambda: False)


def test_without_vectors_words_are_found_and_with_them_meanings_too(tmp_path):
    shelf = filled(tmp_path)
    assert shelf.titles("wireless password") == []
    assert "embed" in shelf.library.search("wireless password")["note"]
    assert embed(shelf) == 3 and embed(shelf) == 0
    assert shelf.titles("wireless password") == ["One"] and shelf.titles("internet") == ["Two"]
    assert shelf.titles("wireless password", "words") == []
    assert [one["vectors"] for one in shelf.library.all()] == ["current", "current"]


def test_another_model_or_length_makes_them_old_until_they_are_made_anew(tmp_path):
    shelf = filled(tmp_path)
    embed(shelf)
    for model in (Meanings("s/m2"), Meanings("s/m2", 12)):
        shelf.embedder = model
        if model.dims == 8:
            assert [one["vectors"] for one in shelf.library.all()] == ["other", "other"]
            assert shelf.titles("wireless") == [] and "s/m2" in shelf.library.search("wireless")["note"]
        embed(shelf)
    shelf.embedder = Meanings("s/m3", 12)
    assert embed(shelf) == 3 and shelf.titles("wireless") == ["One"]
    shelf.add("Three", "Another wlan.")
    found = shelf.library.search("wlan")
    assert len(found["passages"]) == 2 and "1 documents" in found["note"]


def test_a_model_that_fails_leaves_the_words_and_says_so(tmp_path):
    shelf = filled(tmp_path)
    embed(shelf)
    shelf.embedder.fault = "the service is away"
    found = shelf.library.search("uplink")
    assert found["note"] == "looked for by words alone: the service is away"
    assert found["sources"][0]["title"] == "Two"
    kept = shelf.add("Three", "words")
    with pytest.raises(OasisError):
        shelf.library.embed_one(kept, lambda: False, lambda done, total: None)
    assert [one["vectors"] for one in shelf.library.all()] == ["current", "current", "none"]


def test_what_is_asked_at_home_goes_to_no_model_elsewhere(tmp_path):
    shelf = filled(tmp_path)
    shelf.embedder = Meanings(is_local=False)
    embed(shelf)
    before = shelf.embedder.asked
    found = shelf.library.search("wireless uplink", is_home=True)
    assert found["sources"][0]["title"] == "Two" and "not at home" in found["note"]
    note = shelf.add("Three", "The camera is in the attic.")
    assert shelf.library.embed_one(note, lambda: False, lambda done, total: None, True) == 0
    assert shelf.embedder.asked == before
    shelf.library.search("wireless uplink")
    assert shelf.embedder.asked == before + 1


def test_without_a_model_nothing_is_embedded(tmp_path):
    shelf = Shelf(tmp_path)
    kept = shelf.add("A", "words")
    assert shelf.library.embed_one(kept, lambda: False, lambda done, total: None) == 0
    with pytest.raises(UsageError, match="no model"):
        embed(shelf)


# Bad flash


@pytest.mark.parametrize("work", ["add", "embed", "delete"])
def test_after_any_failing_step_a_document_is_whole_or_not_there(tmp_path, work):
    for fail_at in range(1, 40):
        shelf = filled(tmp_path / str(fail_at))
        files = Swift(fail_at)
        broken = Shelf(tmp_path / str(fail_at), files)
        broken.embedder = shelf.embedder
        failed = False
        try:
            do(broken, work)
        except StoreError:
            failed = True
        check(tmp_path / str(fail_at), work)
        if not failed and files.steps < fail_at:
            return
    raise AssertionError("this takes more steps than anybody thought")


@pytest.mark.parametrize("work", ["add", "embed", "delete"])
@pytest.mark.parametrize("kind", ["forgets", 1, 2, 3])
def test_after_a_power_cut_a_document_is_whole_or_not_there(tmp_path, work, kind):
    for fail_at in range(1, 40):
        folder = tmp_path / str(fail_at)
        shelf = filled(folder)
        where = shelf.folder
        files = Forgetful(where, fail_at) if kind == "forgets" else Careless(where, random.Random(kind), fail_at)
        broken = Shelf(folder, files)
        broken.embedder = shelf.embedder
        is_done = False
        try:
            do(broken, work)
            is_done = True
        except PowerCut:
            pass
        files.cut_power()
        check(folder, work, is_done)
        if is_done:
            return
    raise AssertionError("this takes more steps than anybody thought")


def do(shelf, work):
    if work == "add":
        shelf.add("New", "new words about the camera", "and more")
    elif work == "embed":
        embed(shelf)
    else:
        shelf.library.delete(shelf.library.all()[0]["id"])


def check(folder, work, is_done=False):
    shelf = Shelf(folder)
    shelf.embedder = Meanings()
    reports = []
    titles = [one["title"] for one in shelf.library.all(reports)]
    assert reports == []
    after = {"add": ["One", "Two", "New"], "embed": ["One", "Two"], "delete": ["Two"]}[work]
    assert titles in ([after] if is_done else [["One", "Two"], after])
    for one in shelf.library.all():
        assert len(shelf.texts(one["id"])) == one["chunks"]
        assert one["vectors"] in (["current"] if is_done and work == "embed" else ["none", "current"])
    embed(shelf)
    shelf.add("Last", "the last words")
    assert shelf.titles("last words", limit=1) == ["Last"]
    left = {name.rpartition(".")[0] for name in os.listdir(shelf.folder)}
    assert left == {one["id"] for one in shelf.library.all()}, "nothing unfinished stays"


@pytest.mark.parametrize(
    "damage", [b"", b"\0" * 200, b"no json\n{}\n", b'{"id":"other","title":"x"}\n', b"x" * 300_000]
)
def test_a_damaged_document_is_kept_aside_and_told(tmp_path, damage):
    shelf = filled(tmp_path)
    bad = shelf.library.all()[0]["id"]
    (tmp_path / "documents" / (bad + ".jsonl")).write_bytes(damage)
    reports = []
    assert [one["title"] for one in shelf.library.all(reports)] == ["Two"] and bad in reports[0]
    assert shelf.titles("uplink") == ["Two"]
    embed(shelf)
    shelf.library.delete(bad)


def test_a_damaged_chunk_is_passed_over_and_the_others_keep_their_numbers(tmp_path):
    shelf = Shelf(tmp_path)
    kept = shelf.add("A", "first wlan", "second", "third uplink")
    path = tmp_path / "documents" / (kept["id"] + ".jsonl")
    lines = path.read_bytes().split(b"\n")
    lines[2] = b'{"n":1,"te' + b"\0" * 9
    path.write_bytes(b"\n".join(lines))
    shelf.embedder = Meanings()
    assert embed(shelf) == 3
    assert [one["text"] for one in shelf.library.search("internet")["passages"]] == ["third uplink"]
    assert sorted(shelf.texts(kept["id"])) == ["first wlan", "third uplink"]
