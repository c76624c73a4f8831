"""The audit log: one line a decision, chained, private, bounded, without contents."""

import hashlib
import json
import os
import stat
import threading

import pytest

from oasis.change.audit import AUDIT_BYTES, Audit
from oasis.errors import StoreError
from oasis.system.files import Files

HASH = "0123456789abcdef" * 4


def plan(name="plan1", packages=("wireless", "network"), secret="correct-horse"):
    return {
        "id": name,
        "hash": HASH,
        "summary": f"set the password to {secret}",
        "words": [secret],
        "uci": [f"set wireless.a.key={secret}"],
        "operations": [{"op": "set", "value": secret}],
        "images": {package: (b"", secret.encode()) for package in packages},
        "services": [{"name": "network", "action": "reload"}],
    }


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "audit.jsonl")


def audit(path, times=None, files=None):
    moments = iter(times or range(1_700_000_000, 1_800_000_000))
    return Audit(files or Files(), path, lambda: next(moments))


def lines(path):
    with open(path, "rb") as handle:
        return handle.read().split(b"\n")[:-1]


def check_chain(found, previous=b""):
    """Return whether each line holds the hash of the line before it."""
    for line in found:
        wanted = hashlib.sha256(previous).hexdigest() if previous else ""
        if json.loads(line)["previous"] != wanted:
            return False
        previous = line
    return True


def test_a_decision_is_one_line_that_says_what_by_whom(path):
    audit(path, [1_700_000_000]).write("approved", plan(), "owner")
    assert [json.loads(line) for line in lines(path)] == [
        {
            "when_unix_s": 1_700_000_000,
            "what": "approved",
            "plan": "plan1",
            "plan_hash": HASH,
            "role": "owner",
            "packages": ["network", "wireless"],
            "services": ["network"],
            "previous": "",
        }
    ]


def test_each_line_holds_the_hash_of_the_line_before(path):
    log = audit(path)
    for number in range(5):
        log.write("automatic", plan(f"plan{number}"), "policy")
    found = lines(path)
    assert len(found) == 5
    assert check_chain(found)


def test_a_changed_or_missing_line_shows(path):
    log = audit(path)
    for number in range(4):
        log.write("approved", plan(f"plan{number}"), "owner")
    found = lines(path)
    assert not check_chain([found[0], *found[2:]])
    assert not check_chain([found[0], found[1].replace(b"owner", b"viewer"), *found[2:]])
    assert not check_chain([found[0], found[2], found[1], found[3]])


def test_the_chain_goes_on_after_a_restart(path):
    audit(path).write("approved", plan(), "owner")
    audit(path).write("declined", plan("plan2"), "owner")
    assert check_chain(lines(path)) and len(lines(path)) == 2


def test_no_content_of_a_plan_is_written(path):
    audit(path).write("approved", plan(secret="correct-horse"), "owner")
    with open(path, "rb") as handle:
        assert b"correct-horse" not in handle.read()


def test_the_log_is_private(path):
    before = os.umask(0)
    try:
        audit(path).write("approved", plan(), "owner")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_full_log_becomes_the_second_file_and_the_chain_goes_on(path):
    log = audit(path)
    count = 0
    while not os.path.exists(path + ".1"):
        log.write("approved", plan(f"plan{count}"), "owner")
        count += 1
        assert count < 5000
    assert os.path.getsize(path + ".1") <= AUDIT_BYTES
    assert len(lines(path + ".1")) == count - 1
    assert check_chain(lines(path + ".1"))
    assert check_chain(lines(path), lines(path + ".1")[-1])
    log.write("approved", plan("after"), "owner")
    assert check_chain(lines(path)[1:], lines(path)[0])
    assert os.path.getsize(path) + os.path.getsize(path + ".1") <= 2 * AUDIT_BYTES


def test_a_decision_that_cannot_be_written_is_a_store_error_and_leaves_no_half_line(path):
    class Full(Files):
        def write(self, handle, data):
            handle.write(bytes(data)[: len(data) // 2])
            raise OSError(28, "No space left on device")

    audit(path).write("approved", plan(), "owner")
    before = lines(path)
    with pytest.raises(StoreError):
        audit(path, files=Full()).write("approved", plan("plan2"), "owner")
    assert lines(path) == before
    audit(path).write("approved", plan("plan3"), "owner")
    assert check_chain(lines(path)) and len(lines(path)) == 2


def test_a_line_torn_by_a_power_cut_is_cut_off_and_the_chain_goes_on(path):
    log = audit(path)
    log.write("approved", plan(), "owner")
    with open(path, "ab") as handle:
        handle.write(b'{"when_unix')
    log.write("approved", plan("plan2"), "owner")
    assert [json.loads(line)["plan"] for line in lines(path)] == ["plan1", "plan2"]
    assert check_chain(lines(path))


def test_the_chain_holds_with_several_writers(path):
    log = audit(path)
    writers = [threading.Thread(target=lambda: [log.write("a", plan(), "owner") for _ in range(20)]) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(lines(path)) == 80
    assert check_chain(lines(path))


def filled(path, count=4):
    log = audit(path)
    for number in range(count):
        log.write("approved", plan(f"plan{number}"), "owner")
    return log


def rewrite(path, lines_):
    with open(path, "wb") as handle:
        handle.write(b"".join(line + b"\n" for line in lines_))


def test_a_whole_log_verifies_and_so_does_none(path):
    assert audit(path).verify() == {"lines": 0, "is_whole": True}
    assert filled(path).verify() == {"lines": 4, "is_whole": True}


@pytest.mark.parametrize(
    "harm, line",
    [
        (lambda found: [found[0], *found[2:]], 2),
        (lambda found: found[1:], 1),
        (lambda found: [found[0], found[1].replace(b"owner", b"viewer"), *found[2:]], 3),
        (lambda found: [found[0], found[2], found[1], found[3]], 2),
        (lambda found: [*found[:2], b"nonsense", *found[2:]], 3),
        (lambda found: [*found[:2], b"[1]", *found[2:]], 3),
        (lambda found: [*found[:2], b"", *found[2:]], 3),
        (lambda found: [*found, found[3]], 5),
        (lambda found: [*found, b'{"what":"approved","previous":7}'], 5),
    ],
)
def test_the_first_line_that_does_not_fit_is_named(path, harm, line):
    log = filled(path)
    rewrite(path, harm(lines(path)))
    reply = log.verify()
    assert (reply["is_whole"], reply["lines"]) == (False, line - 1)
    broken = reply["broken"]
    assert (broken["file"], broken["line"]) == (path, line) and broken["reason"]


def test_a_torn_last_line_is_told_and_breaks_nothing(path):
    log = filled(path)
    with open(path, "ab") as handle:
        handle.write(b'{"when_unix')
    assert log.verify() == {"lines": 4, "is_whole": True, "torn": path}


def test_the_chain_is_followed_through_the_rotated_file(path):
    log = filled(path, 6)
    found = lines(path)
    rewrite(path + ".1", found[2:4])  # what was before them has been rotated away
    rewrite(path, found[4:])
    assert log.verify() == {"lines": 4, "is_whole": True}
    rewrite(path + ".1", [found[2], found[3].replace(b"plan3", b"plan9")])
    assert log.verify()["broken"]["file"] == path
    rewrite(path + ".1", [found[3]])
    assert log.verify()["is_whole"]
    rewrite(path + ".1", found[2:3])
    assert log.verify()["broken"] == {"file": path, "line": 1, "reason": log.verify()["broken"]["reason"]}
    os.remove(path + ".1")
    assert "there is none" in log.verify()["broken"]["reason"]


def test_the_newest_lines_come_first_and_no_more_than_asked_for(path):
    log = filled(path, 5)
    found = lines(path)
    rewrite(path + ".1", [*found[:2], b"nonsense"])
    rewrite(path, found[2:])
    assert [line["plan"] for line in log.lines(4)] == ["plan4", "plan3", "plan2", "plan1"]
    assert log.lines(0) == []


def test_older_lines_are_read_page_by_page_across_the_rotation(path):
    log = audit(path)
    while not os.path.exists(path + ".1"):
        log.write("approved", plan("plan%d" % len(log.lines(9999))), "owner")
    whole = [line["plan"] for line in log.lines(9999)]
    pages = []
    while found := log.lines(150, len(pages)):
        pages += [line["plan"] for line in found]
    assert len(whole) > 300 and pages == whole


def rotated(path, times):
    """Return a log that was rotated so many times, and the lines that it ever had."""
    log, count = audit(path), 0
    for _ in range(times):
        size = -1
        while size < 0 or os.path.getsize(path) > size:
            size = os.path.getsize(path) if os.path.exists(path) else 0
            log.write("automatic", plan("p" * 4000), "policy")
            count += 1
    return log, count


def test_a_rotation_is_a_line_of_the_chain_and_tells_what_went(path):
    log, _ = rotated(path, 1)
    first = json.loads(lines(path)[0])
    with open(path + ".1", "rb") as handle:
        old = handle.read()
    assert (first["what"], first["role"]) == ("rotated", "daemon")
    assert first["rotated"] == {"lines": old.count(b"\n"), "gone": 0, "sha256": hashlib.sha256(old).hexdigest()}
    assert check_chain(lines(path), lines(path + ".1")[-1])
    assert log.verify()["is_whole"] and "gone" not in log.verify()
    assert "rotated" in {line["what"] for line in log.lines(9)}


def test_what_was_rotated_out_for_good_is_counted(path):
    log, count = rotated(path, 3)
    found = log.verify()
    assert found["is_whole"]
    assert found["gone"] + found["lines"] == count + 3  # each rotation is a line as well
    assert found["gone"] > found["lines"] > 0


CUTS = {
    "lost": lambda old: None,
    "without its beginning": lambda old: old[2:],
    "without its first line": lambda old: old[1:],
    "without its end": lambda old: old[:-1],
    "without a middle": lambda old: [*old[:3], *old[4:]],
    "empty": lambda old: [],
    "another": lambda old: [b'{"previous":"","what":"approved"}'],
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("times", [1, 3])
def test_a_rotated_part_that_is_lost_or_shortened_is_found(path, cut, times):
    log, _ = rotated(path, times)
    left = CUTS[cut](lines(path + ".1"))
    os.remove(path + ".1") if left is None else rewrite(path + ".1", left)
    found = log.verify()
    assert found["is_whole"] is False and found["broken"]["file"] == path + ".1"
    log.write("approved", plan(), "owner")
    assert log.verify()["is_whole"] is False


def test_a_rotated_part_that_was_renamed_is_found(path):
    log, _ = rotated(path, 1)
    os.rename(path + ".1", path + ".2")
    assert log.verify()["is_whole"] is False


@pytest.mark.parametrize("part", ["null", "1", "{}", '{"lines":"x","gone":[],"sha256":1}'])
def test_a_first_line_that_somebody_wrote_is_no_fault_of_ours(path, part):
    rotated(path, 1)
    rewrite(path, [('{"what":"rotated","previous":"","rotated":%s}' % part).encode()])
    assert audit(path).verify()["is_whole"] is False


def test_a_power_cut_between_the_move_and_the_line_that_tells_it_is_mended(path):
    log, _ = rotated(path, 1)
    os.remove(path)
    log.write("approved", plan(), "owner")
    assert [json.loads(line)["what"] for line in lines(path)] == ["rotated", "approved"]
    assert log.verify()["is_whole"]
