"""Fuzz target: files on their way into the owner's documents, and records that were read from bad flash.

Whatever comes in is refused with a hint, or becomes chunks that are none too long and hold what the text held; a file
of records gives what it can and takes the next record.
"""

from __future__ import annotations

import os
import tempfile

from oasis.errors import OasisError
from oasis.parts.memory import knowledge as chunking
from oasis.parts.memory.knowledge import CHUNK_CHARS, Ingest
from oasis.system.files import Files
from oasis.system.records import Records

NAMES = ("a.txt", "a.md", "notes", "a.html", "a.pdf")
MOST, OVERLAP = 60, 10

SEEDS = [
    b"# Head\n\n> quoted **bold** and [link](http://x)\n\n- one\n- two\n\n```sh\nuci set a.b.c=1\n```\n",
    "路由器的无线网络。需要密码！\n\nÜber alles e.g. nothing. And so on?".encode(),
    b'{"id":"a","fact":"x"}\n{"id":"a","deleted":true}\n{"id":"b"}\n{"id":"c","fact":"to',
]
WORDS = [
    *b"# |> |- |**|__|`|```|~~~|[|](|)|*|\n\n|\n|. |! |\xe3\x80\x82|\xe2\x80\x8b|\xff\xfe|\0|%PDF-".split(b"|"),
    *b'PK\x03\x04|\x1f\x8b|<html|{"id":"|","deleted":true}|"}\n|\xf0\x9f\x98\x80|\xcc\x81'.split(b"|"),
]


class _Swift(Files):
    def sync(self, handle: object) -> None:
        """Wait for no disk."""

    def sync_folder(self, path: str) -> None:
        """Wait for no disk."""


class _Ingest(Ingest):
    def html(self, text: str) -> dict[str, str]:
        return {"text": text, "title": text[:9]}

    def pdf(self, name: str, data: bytes) -> dict[str, str]:
        return {"text": "x"}


def documents(data: bytes) -> None:
    """Read a file as each kind that its name can say."""
    for name in NAMES:
        ingest = _Ingest(None, bool)
        try:
            draft, chunks = ingest.file(name, data)
        except OasisError as error:
            assert error.hint
            continue
        assert chunks and all(0 < len(chunk) <= CHUNK_CHARS and chunk.strip() for chunk in chunks)
        assert draft["title"] and "\n" not in draft["title"] and draft["chars"] > 0
    text = data.decode("utf-8", "replace")
    plain = "".join(chunking.chunks(text, MOST, 0)).split()
    assert "".join(plain) == "".join(text.split())


def records(data: bytes) -> None:
    """Open a file of records that holds anything, and write to it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "facts.jsonl")
        with open(path, "wb") as handle:
            handle.write(data)
        opened = Records(_Swift(), path)
        before = opened.all()
        opened.put({"id": "fuzz", "fact": "is there"})
        after = Records(_Swift(), path).all()
        assert {one["id"]: one for one in after} == {**{one["id"]: one for one in before}, "fuzz": opened.get("fuzz")}
        opened.delete(["fuzz"], forget=True)
        opened.compact()
        kept = [one for one in Records(_Swift(), path).all() if one["id"] != "fuzz"]
        assert kept == [one for one in before if one["id"] != "fuzz"]
