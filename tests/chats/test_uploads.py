"""Files on their way in: that those which nobody uses block no other, and that none is lost that is being sent."""

import base64

import pytest

from oasis.chats.uploads import IDLE_S, UPLOADS, Uploads
from oasis.errors import UsageError
from oasis.system.files import Files

PIECE = base64.b64encode(b"hello").decode()


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def uploads(tmp_path, clock):
    names = iter("abcdefghijklmnop")
    return Uploads(Files(), str(tmp_path / "uploads"), lambda: next(names), lambda: clock[0])


def test_whole_uploads_that_nobody_uses_block_no_other(uploads, clock):
    first, *others = [uploads.take("", "file", PIECE)[0] for _ in range(UPLOADS)]
    with pytest.raises(UsageError, match="8 files are on their way") as caught:
        uploads.take("", "file", PIECE)
    assert "a minute" in caught.value.hint
    clock[0] += IDLE_S
    for upload in others:
        uploads.take(upload, "", PIECE)
    new, size = uploads.take("", "file", PIECE)
    assert size == 5 and uploads.read(new) == ("file", b"hello")
    assert all(uploads.size(upload) == 10 for upload in others)
    with pytest.raises(UsageError, match="no upload") as caught:
        uploads.read(first)
    assert "send the file again" in caught.value.hint


def test_the_one_that_was_touched_longest_ago_makes_room(uploads, clock):
    first, second, *_ = [uploads.take("", "file", PIECE)[0] for _ in range(UPLOADS)]
    clock[0] += 1
    uploads.take(first, "", PIECE)
    clock[0] += IDLE_S
    uploads.take("", "file", PIECE)
    assert uploads.size(first) == 10
    with pytest.raises(UsageError):
        uploads.size(second)
