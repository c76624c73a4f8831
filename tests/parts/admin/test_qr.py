"""QR codes are read back by somebody else's reader, to the letter."""

import random

import pytest

from oasis.errors import UsageError
from oasis.parts.admin import qr
from tests.parts.admin.codes import from_lines, read

pytestmark = pytest.mark.part("admin")

# Of level L in byte mode, versions 1 to 20. Source: ISO/IEC 18004:2015, table 7.
ROOM = (17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425, 458, 520, 586, 644, 718, 792, 858)


@pytest.mark.parametrize(
    "text",
    ["a", 'Léa\'s "phone" & `tablet` $(x)', "漢字的手机 “引号” 「電話」", "line\nline\r\n\ttab", "\\'\"", "😀" * 20],
)
def test_what_is_written_is_read(text):
    assert read(qr.modules(text)) == [text]


def test_each_version_holds_what_the_standard_says():
    source = random.Random(18004)
    for version, room in enumerate(ROOM, 1):
        for size in (ROOM[version - 2] + 1 if version > 1 else 1, room):
            text = "".join(source.choice("abcXYZ019+/= é") for _ in range(size))
            while len(text.encode()) > size:
                text = text[:-1]
            text += "x" * (size - len(text.encode()))
            rows = qr.modules(text)
            assert len(rows) == 17 + 4 * version
            assert read(rows) == [text]


def test_one_byte_more_than_fits_is_refused():
    with pytest.raises(UsageError, match="859 bytes"):
        qr.modules("x" * 859)


def test_lines_of_a_terminal_are_the_same_code():
    text = "[Interface]\n# 「Léa's」\nPrivateKey = " + "x" * 44
    lines = qr.half_blocks(qr.modules(text))
    assert len({len(line) for line in lines}) == 1
    assert read(from_lines(lines)) == [text]
