"""Records on bad flash: what was acknowledged is there, what was forgotten is nowhere, and the file stays small."""

import os
import random
import threading

import pytest

from oasis.errors import SchemaError, StoreError
from oasis.system.files import Files
from oasis.system.records import DEAD_BYTES, LINE_BYTES, SPARE_BYTES, Records
from tests.change.kit import FailingFiles
from tests.system.test_power_cut import Careless, Forgetful, PowerCut

NAMES = [f"c000000000000000{number:04d}" for number in range(40)]


class Swift(Files):
    """Files of a disk that this host need not wait for; counts the writes."""

    writes = 0

    def write(self, handle, data):
        self.writes += 1
        super().write(handle, data)

    def sync(self, handle):
        pass

    def sync_folder(self, path):
        pass


def fact(number, text="the owner likes short names"):
    return {"id": NAMES[number], "fact": text}


def path_in(folder):
    return str(folder / "memory" / "facts.jsonl")


def texts(records):
    return {one["id"]: one["fact"] for one in records.all()}


def test_nothing_is_made_before_the_first_write(tmp_path):
    records = Records(Swift(), path_in(tmp_path))
    assert records.all() == [] and records.get(NAMES[0]) is None and records.delete([NAMES[0]], forget=True) == 0
    records.compact()
    assert os.listdir(tmp_path) == []


def test_the_newest_of_an_id_counts_and_the_order_is_of_first_writing(tmp_path):
    records = Records(Swift(), path_in(tmp_path))
    for number in (3, 1, 2):
        records.put(fact(number))
    records.put(fact(3, "changed"))
    for seen in (records, Records(Swift(), path_in(tmp_path))):
        assert [(one["id"], one["fact"][:7]) for one in seen.all()] == [
            (NAMES[3], "changed"), (NAMES[1], "the own"), (NAMES[2], "the own"),
        ]  # fmt: skip
    records.compact()
    assert [one["id"] for one in Records(Swift(), path_in(tmp_path)).all()] == [NAMES[3], NAMES[1], NAMES[2]]


def test_what_is_returned_is_a_copy(tmp_path):
    records = Records(Swift(), path_in(tmp_path))
    records.put(fact(1))
    records.get(NAMES[1])["fact"] = "other"
    assert records.get(NAMES[1]) == fact(1)


def test_files_are_private_and_one_put_is_one_write(tmp_path):
    files = Swift()
    records = Records(files, path_in(tmp_path))
    records.put(fact(1))
    records.put_all([fact(2), fact(3)])
    assert files.writes == 2
    assert os.stat(path_in(tmp_path)).st_mode & 0o777 == 0o600
    assert os.stat(tmp_path / "memory").st_mode & 0o777 == 0o700


def test_a_deleted_record_is_gone_and_may_come_again_at_the_end(tmp_path):
    records = Records(Swift(), path_in(tmp_path))
    records.put_all([fact(1), fact(2)])
    assert records.delete([NAMES[1], NAMES[9]]) == 1
    assert texts(Records(Swift(), path_in(tmp_path))) == texts(records) == {NAMES[2]: fact(2)["fact"]}
    records.put(fact(1))
    assert [one["id"] for one in Records(Swift(), path_in(tmp_path)).all()] == [NAMES[2], NAMES[1]]


def test_what_is_forgotten_stands_nowhere_in_the_file(tmp_path):
    path = path_in(tmp_path)
    records = Records(Swift(), path)
    records.put_all([fact(1, "first words"), fact(2), fact(3, "deleted words")])
    records.put(fact(1, "second words"))
    records.delete([NAMES[3]])
    with open(path, "ab") as handle:
        handle.write(b'{"id":"' + NAMES[1].encode() + b'","fact":"torn wor')
    assert records.delete([NAMES[1], NAMES[3]], forget=True) == 1
    with open(path, "rb") as handle:
        left = handle.read()
    assert b"words" not in left and b"torn" not in left and NAMES[1].encode() not in left
    assert texts(records) == {NAMES[2]: fact(2)["fact"]}
    assert records.delete([NAMES[2]], forget=True) == 1
    assert os.listdir(tmp_path / "memory") == []


@pytest.mark.parametrize(
    "bad",
    [{}, {"id": ""}, {"id": 3}, {"id": "x" * 65}, {"id": "a", "deleted": False}, {"id": "a", "f": float("nan")}, 3],
)
def test_what_could_not_be_read_again_is_refused(tmp_path, bad):
    records = Records(Swift(), path_in(tmp_path))
    with pytest.raises(SchemaError):
        records.put_all([fact(1), bad])
    assert records.all() == []


def test_too_many_and_too_long_are_refused_and_changes_still_fit(tmp_path):
    records = Records(Swift(), path_in(tmp_path), most=2)
    records.put_all([fact(1), fact(2)])
    with pytest.raises(StoreError, match="room for 2"):
        records.put(fact(3))
    records.put(fact(2, "changed"))
    with pytest.raises(StoreError, match="bytes"):
        records.put(fact(2, "x" * LINE_BYTES))
    assert texts(records)[NAMES[2]] == "changed" and records.count() == 2
    small = Records(Swift(), path_in(tmp_path / "b"), most_bytes=300)
    small.put(fact(1, "x" * 200))
    with pytest.raises(StoreError, match="room"):
        small.put(fact(2, "x" * 200))
    small.put(fact(1, "y" * 100))


def test_a_full_disk_is_told_before_anything_is_written_and_deleting_still_works(tmp_path):
    free = [1 << 30]
    records = Records(Swift(), path_in(tmp_path), free_bytes=lambda folder: free[0])
    records.put_all([fact(1), fact(2)])
    free[0] = SPARE_BYTES
    with pytest.raises(StoreError, match="full") as caught:
        records.put(fact(3))
    assert "delete" in caught.value.hint
    assert records.delete([NAMES[1]]) == 1
    assert texts(records) == {NAMES[2]: fact(2)["fact"]}


def test_the_file_stays_small_by_itself(tmp_path):
    records = Records(Swift(), path_in(tmp_path))
    records.put_all([fact(number) for number in range(10)])
    for number in range(1000):
        records.put(fact(number % 10, f"the fact number {number} is as long as facts are"))
        assert os.path.getsize(path_in(tmp_path)) < 2 * DEAD_BYTES + 2000
    assert len(records.all()) == 10


FOREIGN = (b"no json\n", b"[1,2]\n", b'{"fact":"without an id"}\n', b"\0" * 300 + b"\n", b'{"id":3}\n')


@pytest.mark.parametrize("foreign", [*FOREIGN, b"x" * (1 << 20) + b"xx\n", b'{"id":"' + b"x" * 70000 + b'"}\n'])
def test_what_cannot_be_read_is_kept_and_told_once(tmp_path, foreign):
    told = []
    path = path_in(tmp_path)
    Records(Swift(), path).put(fact(1))
    with open(path, "ab") as handle:
        handle.write(foreign)
    records = Records(Swift(), path, tell=told.append)
    records.put(fact(2))
    records.compact()
    records.put(fact(1, "changed"))
    assert texts(records) == {NAMES[1]: "changed", NAMES[2]: fact(2)["fact"]}
    assert len(told) == 1 and told[0].startswith("facts.jsonl: 1 place")
    with open(path, "rb") as handle:
        assert foreign in handle.read()


def test_a_blank_line_is_no_damage(tmp_path):
    told = []
    path = path_in(tmp_path)
    Records(Swift(), path).put_all([fact(1), fact(2)])
    with open(path, "rb") as handle:
        lines = handle.read().splitlines(keepends=True)
    with open(path, "wb") as handle:
        handle.write(b"\n" + b"\n\n".join(lines) + b"\n\n")
    records = Records(Swift(), path, tell=told.append)
    assert texts(records) == texts_of(fact(1), fact(2))
    records.put(fact(1, "changed"))
    records.compact()
    again = Records(Swift(), path, tell=told.append)
    assert texts(again) == {NAMES[1]: "changed", NAMES[2]: fact(2)["fact"]} and told == []
    with open(path, "rb") as handle:
        assert len(handle.read().splitlines()) == 2, "a rewrite leaves them out"


def test_a_torn_line_does_not_spoil_the_next_one(tmp_path):
    path = path_in(tmp_path)
    Records(Swift(), path).put_all([fact(1), fact(2)])
    whole = os.path.getsize(path)
    for size in range(whole):
        with open(path, "rb") as handle:
            data = handle.read()[:size]
        torn = tmp_path / str(size)
        torn.mkdir()
        (torn / "facts.jsonl").write_bytes(data)
        records = Records(Swift(), str(torn / "facts.jsonl"))
        before = texts(records)
        records.put(fact(3))
        assert texts(records) == texts(Records(Swift(), str(torn / "facts.jsonl"))) == {**before, **texts_of(fact(3))}


def texts_of(*facts):
    return {one["id"]: one["fact"] for one in facts}


def test_a_file_that_was_put_back_by_others_is_read_again(tmp_path):
    path = path_in(tmp_path)
    records = Records(Swift(), path)
    records.put(fact(1))
    with open(path, "rb") as handle:
        saved = handle.read()
    records.put(fact(2))
    os.remove(path)
    assert records.all() == []
    with open(path, "wb") as handle:
        handle.write(saved)
    assert texts(records) == texts_of(fact(1))


OPERATIONS = {
    "first": (lambda records: records.put(fact(1)), {NAMES[1]: fact(1)["fact"]}, False),
    "put": (lambda records: records.put(fact(5)), None, True),
    "change": (lambda records: records.put(fact(1, "new")), None, True),
    "several": (lambda records: records.put_all([fact(5), fact(6)]), None, True),
    "delete": (lambda records: records.delete([NAMES[1]]), None, True),
    "forget": (lambda records: records.delete([NAMES[1]], forget=True), None, True),
    "forget all": (lambda records: records.delete(NAMES, forget=True), {}, True),
    "compact": (lambda records: records.compact(), None, True),
    "tidy": (lambda records: [records.put(fact(1, "x" * 9000)) for _ in range(3)][-1], None, True),
}


def started(folder, is_filled):
    if is_filled:
        records = Records(Swift(), path_in(folder))
        records.put_all([fact(1, "old"), fact(2), fact(3, "gone")])
        records.put(fact(1, "older"))
        records.delete([NAMES[3]])
    return texts(Records(Swift(), path_in(folder)))


@pytest.mark.parametrize("name", OPERATIONS)
def test_after_any_failing_step_the_records_are_as_before_or_as_after(tmp_path, name):
    work, _, is_filled = OPERATIONS[name]
    is_done = False
    for fail_at in range(1, 40):
        folder = tmp_path / str(fail_at)
        old = started(folder, is_filled)
        files = FailingFiles(fail_at)
        records = Records(files, path_in(folder))
        failed = False
        try:
            work(records)
        except StoreError:
            failed = True
        seen = texts(Records(Swift(), path_in(folder)))
        assert texts(records) == seen, "the daemon sees what a new one would see"
        files.fail_at = 0
        work(records)  # it can be done again
        new = texts(Records(Swift(), path_in(folder)))
        assert texts(records) == new
        if name != "tidy":
            assert seen in (old, new)
        assert not os.path.exists(path_in(folder) + ".new")
        if not failed and files.steps < fail_at:
            is_done = True
            break
    assert is_done, "this takes more steps than anybody thought"


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("kind", ["forgets", 1, 2, 3, 4, 5])
def test_after_a_power_cut_the_records_are_as_before_or_as_after(tmp_path, name, kind):
    work, _, is_filled = OPERATIONS[name]
    states = None
    for fail_at in range(1, 40):
        folder = tmp_path / str(fail_at)
        old = started(folder, is_filled)
        (folder / "memory").mkdir(parents=True, exist_ok=True)
        chance = random.Random(kind * 1000 + fail_at) if kind != "forgets" else None
        files = Forgetful(folder, fail_at) if chance is None else Careless(folder, chance, fail_at)
        acknowledged = False
        try:
            work(Records(files, path_in(folder)))
            acknowledged = True
        except PowerCut:
            pass
        files.cut_power()
        records = Records(Swift(), path_in(folder))
        seen = texts(records)
        work(records)
        new = texts(records)
        states = (old, new)
        if name != "tidy":
            assert seen in ((new,) if acknowledged else states)
        records.put(fact(9, "afterwards"))
        assert texts(Records(Swift(), path_in(folder))) == {**new, NAMES[9]: "afterwards"}
        if acknowledged:
            return
    raise AssertionError("this takes more steps than anybody thought")


def test_what_was_forgotten_before_a_power_cut_does_not_come_back(tmp_path):
    started(tmp_path, True)
    files = Forgetful(tmp_path)
    Records(files, path_in(tmp_path)).delete([NAMES[1]], forget=True)
    files.cut_power()
    for name in os.listdir(tmp_path / "memory"):
        assert NAMES[1].encode() not in (tmp_path / "memory" / name).read_bytes()


def test_random_work_with_reopening_agrees_with_a_plain_dict(tmp_path):
    chance = random.Random(9)
    plain = {}
    records = Records(Swift(), path_in(tmp_path))
    for _ in range(1500):
        step = chance.random()
        name = chance.randrange(len(NAMES))
        if step < 0.6:
            text = "x" * chance.randrange(400)
            records.put(fact(name, text))
            plain[NAMES[name]] = text
        elif step < 0.9:
            records.delete([NAMES[name]], forget=step > 0.85)
            plain.pop(NAMES[name], None)
        elif step < 0.95:
            records = Records(Swift(), path_in(tmp_path))
        else:
            records.compact()
        assert texts(records) == plain and list(texts(records)) == list(plain)


def test_threads_lose_nothing(tmp_path):
    records = Records(Swift(), path_in(tmp_path))

    def work(first):
        for number in range(200):
            records.put(fact(first + number % 10, f"{number}"))
            records.all()

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 10, 20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert len(texts(records)) == 30 and texts(Records(Swift(), path_in(tmp_path))) == texts(records)
    assert {text for name, text in texts(records).items()} == {str(number) for number in range(190, 200)}
