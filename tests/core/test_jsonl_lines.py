"""Lines of a file from either end: every way to cut blocks gives the same lines; long ones are never held."""

import io

from oasis.core import jsonl

TEXTS = (
    b"", b"\n", b"\n\n", b"a", b"a\n", b"a\nb\n", b"a\n\nbcd\n\n", b"abcdefghij\nk\n", b"\n\nabc", b"abc\ndefgh",
    b"x" * 40 + b"\ny\n", b"y\n" + b"x" * 40 + b"\n", b" \na\n\r\n\t \n",
    b"\nab\n" * 9 + b"torn", "Grüße\u2028mehr\n".encode(),
)  # fmt: skip


def wanted(data, most):
    found, at = [], 0
    for line in data.split(b"\n")[:-1]:
        if line.strip() or len(line) > most:  # a blank line is none, as far as anybody looks
            found.append((at, line if len(line) <= most else None))
        at += len(line) + 1
    return found


def test_every_size_of_block_gives_the_same_lines_from_both_ends():
    kept = jsonl.BLOCK_BYTES, jsonl.LINE_BYTES
    try:
        for jsonl.BLOCK_BYTES in (1, 2, 3, 5, 64):
            for jsonl.LINE_BYTES in (0, 3, 20, 1000):
                for data in TEXTS:
                    handle = io.BytesIO(data)
                    size, rest = jsonl.whole_bytes(handle)
                    assert size == data.rfind(b"\n") + 1 and size + rest == len(data)
                    found = wanted(data, jsonl.LINE_BYTES)
                    assert list(jsonl.forwards(handle, 0, size)) == found, data
                    assert list(jsonl.backwards(handle, size))[::-1] == found, data
    finally:
        jsonl.BLOCK_BYTES, jsonl.LINE_BYTES = kept


def test_a_part_of_a_file_is_read_from_where_a_line_begins():
    handle = io.BytesIO(b"ab\ncd\nef\n")
    assert list(jsonl.forwards(handle, 3, 9)) == [(3, b"cd"), (6, b"ef")]
    assert list(jsonl.backwards(handle, 6)) == [(3, b"cd"), (0, b"ab")]


def test_words_are_found_across_blocks_and_only_before_a_place():
    kept = jsonl.BLOCK_BYTES
    try:
        for jsonl.BLOCK_BYTES in (1, 2, 3, 64):
            handle = io.BytesIO(b"abc needle def")
            assert jsonl.holds(handle, 14, b"needle") and jsonl.holds(handle, 10, b"needle")
            assert not jsonl.holds(handle, 9, b"needle") and not jsonl.holds(handle, 14, b"nettle")
    finally:
        jsonl.BLOCK_BYTES = kept


def test_pieces_put_in_leave_all_other_bytes():
    kept = jsonl.BLOCK_BYTES
    try:
        for jsonl.BLOCK_BYTES in (1, 4, 64):
            handle = io.BytesIO(b"one\ntwo\nthree\ntorn")
            assert b"".join(jsonl.spliced(handle, [(4, 8, b"2\n")])) == b"one\n2\nthree\ntorn"
            assert b"".join(jsonl.spliced(handle, [(0, 4, b""), (8, 14, b"")])) == b"two\ntorn"
            assert b"".join(jsonl.spliced(handle, [])) == b"one\ntwo\nthree\ntorn"
    finally:
        jsonl.BLOCK_BYTES = kept


def test_small_pieces_are_joined_to_blocks_and_nothing_is_lost():
    pieces = [bytes([number % 256]) * (number * 97 % 9000) for number in range(100)]
    found = list(jsonl.blocks(pieces))
    assert b"".join(found) == b"".join(pieces) and len(found) < len(pieces) // 5
    assert all(len(piece) >= jsonl.BLOCK_BYTES for piece in found[:-1])
    assert list(jsonl.blocks([])) == []
