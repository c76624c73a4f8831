"""Attachments: stored once by hash, typed by name or first bytes, checked when read, found when nobody needs them."""

from oasis.core import blobs
from oasis.core.schema import check_block, tool_result
from oasis.errors import StoreError, UsageError

FOLDER = "/chats/blobs"


def digest(data):
    """Stand in for SHA-256: 64 hex digits that differ for the data of these tests."""
    state = 7
    for byte in data[:64] + bytes([len(data) % 251]):
        state = (state * 131 + byte) % 0xFFFFFFFFFFFFFFC5
    return "%064x" % state


class Memory:
    def __init__(self):
        self.data = {}
        self.writes = []

    def read(self, path):
        return self.data.get(path)

    def replace(self, path, data):
        self.writes.append(path)
        self.data[path] = data

    def remove(self, path):
        self.data.pop(path, None)

    def folder(self, path):
        pass

    def names(self, path):
        return sorted([name[len(path) + 1 :] for name in self.data if name.startswith(path + "/")])


def store(files=None):
    return blobs.Blobs(files or Memory(), FOLDER, digest)


def refusal(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        return error.message
    raise AssertionError("it was taken")


def test_the_name_says_the_type():
    for name, kind in (
        ("a.pdf", "application/pdf"), ("a.txt", "text/plain"), ("a.md", "text/markdown"),
        ("a.json", "application/json"), ("a.csv", "text/csv"), ("a.jpg", "image/jpeg"),
        ("a.jpeg", "image/jpeg"), ("a.png", "image/png"),
        ("a.webp", "image/webp"), ("a.gif", "image/gif"), ("A.B.PDF", "application/pdf"),
        ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ):  # fmt: skip
        assert blobs.media_type(name, b"\0") == (kind, ""), name


def test_a_name_that_says_nothing_is_helped_by_the_first_bytes_and_told():
    for data, kind in (
        (b"%PDF-1.7", "application/pdf"), (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"), (b"RIFF\0\0\0\0WEBP", "image/webp"), ("Grüße\n".encode(), "text/plain"),
    ):  # fmt: skip
        for name in ("log", "log.conf"):
            found, note = blobs.media_type(name, data)
            assert found == kind and kind in note, name
    for data in (b"\x7fELF\0", b"\xff\xfe", b"a\0b", b"RIFF\0\0\0\0WAVE"):
        found, note = blobs.media_type("x.bin", data)
        assert found == blobs.OCTETS and ".bin" in note


def test_a_file_is_stored_by_its_hash_and_its_block_passes_the_schema():
    files = Memory()
    block, note = store(files).put("photos/router.png", b"\x89PNG")
    check_block(block)
    assert block == {
        "type": "image", "media_type": "image/png", "sha256": digest(b"\x89PNG"), "name": "router.png", "size_bytes": 4,
    }  # fmt: skip
    assert note == ""
    assert files.data == {FOLDER + "/" + digest(b"\x89PNG"): b"\x89PNG"}
    assert store(files).put("x.pdf", b"%PDF")[0]["type"] == "document"


def test_the_same_bytes_are_written_once_and_a_damaged_file_again():
    files = Memory()
    first, _ = store(files).put("a.txt", b"same")
    second, _ = store(files).put("b.txt", b"same")
    assert first["sha256"] == second["sha256"]
    assert len(files.writes) == 1
    files.data[files.writes[0]] = b"sa"
    store(files).put("a.txt", b"same")
    assert len(files.writes) == 2
    assert store(files).get(first["sha256"]) == b"same"


def test_names_are_names_not_paths_nor_tricks():
    for given, name in (
        ("../../etc/passwd", "passwd"), ("C:\\temp\\a.txt", "a.txt"), ("a\u202etxt.exe", "atxt.exe"), ("", "file"),
        ("x/", "file"), ("\n", "file"), ("x" * 200, "x" * blobs.NAME_CHARS),
    ):  # fmt: skip
        assert store().put(given, b"x")[0]["name"] == name


def test_too_much_and_nothing_are_refused():
    files = Memory()
    assert "1048577" in refusal(UsageError, store(files).put, "a.txt", b"x" * (blobs.BLOB_BYTES + 1))
    assert "empty" in refusal(UsageError, store(files).put, "a.txt", b"")
    assert files.data == {}
    store(files).put("a.txt", b"x" * blobs.BLOB_BYTES)


def test_a_file_is_read_with_its_bytes_and_what_is_gone_or_damaged_is_told():
    files = Memory()
    kept = store(files)
    block, _ = kept.put("a.txt", b"hello")
    loaded = kept.load(block)
    assert loaded["data"] == "aGVsbG8="
    assert "data" not in block
    files.data[FOLDER + "/" + block["sha256"]] = b"jello"
    assert "damaged" in refusal(StoreError, kept.get, block["sha256"])
    kept.remove(block["sha256"])
    assert "gone" in refusal(StoreError, kept.load, block)
    for wrong in ("../x", "", "A" * 64, block["sha256"] + "0"):
        assert "cannot be the name" in refusal(StoreError, kept.get, wrong)
        assert "cannot be the name" in refusal(StoreError, kept.remove, wrong)


def test_messages_refer_to_files_also_in_results_and_foreign_files_are_nobodys():
    files = Memory()
    kept = store(files)
    one, two = [kept.put("a.txt", data)[0] for data in (b"one", b"two")]
    files.data[FOLDER + "/README"] = b""
    files.data[FOLDER + "/" + one["sha256"] + ".new"] = b"half"
    assert kept.digests() == sorted([one["sha256"], two["sha256"]])
    messages = [
        {"role": "user", "content": [one]},
        {"role": "user", "content": "text"},
        {"role": "tool", "content": [dict(tool_result({"id": "", "name": ""}, ""), content=[two, one])]},
    ]
    assert blobs.references(messages) == [one["sha256"], two["sha256"]]
