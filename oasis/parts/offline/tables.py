"""The data of the built-in service, in the form in which it is used: tables by section, for all languages and for each.

In a package with bytecode each language is one file, and what all of them share is another ("common"), written when the
package was built. Elsewhere there is intents/*.json, and derive.py makes the same of it when it is asked for.

    intents/NAME.tables    a line of text, `oasis VERSION NAME section:bytes …`; then these sections, one after the
                           other, each as marshal writes it (format 2, which every Python reads) and zlib packs it

Sections of "common": intents, frames, moments, evidence, places; of a language: grammar, words, evidence.
"""

from __future__ import annotations

import marshal
import os

from oasis import VERSION
from oasis.core import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.offline.shapes import Callable

FOLDER = os.path.dirname(os.path.abspath(__file__)) + "/intents"
COMMON = "common"
BASE, FIRST = 90, ord("%")  # numbers in texts: how many figures there are, and the first of them
_HEAD_BYTES = 400


def is_here(language: str) -> bool:
    """Tell whether the files of a language are installed."""
    return any(os.path.exists(f"{FOLDER}/{language}.{suffix}") for suffix in ("tables", "json"))


def load(name: str) -> Any:
    """Return a file of intents/ as people write it, by its name; the types of these files are in shapes.pyi."""
    return jsonl.table(__file__, f"intents/{name}.json")


def section(name: str, part: str, read: Callable[[str], Any] | None = None) -> Any:
    """Return a section of the tables of a language or of what all share; `read` gives other files than intents/*.json.

    Raises: ValueError for a file that is damaged or of another version; OSError, ImportError where nothing is there.
    """
    path = f"{FOLDER}/{name}.tables"
    if read is None and os.path.exists(path):
        with open(path, "rb") as file:
            return unpacked(file.read(), name, part)
    from oasis.parts.offline import derive

    return derive.section(name, part, read or load)


def unpacked(data: bytes, name: str, part: str) -> Any:
    """Return a section of a file of tables. Raises: ValueError."""
    import zlib  # it maps a library, which a clone can do without

    head, end, _ = data[:_HEAD_BYTES].partition(b"\n")
    words = head.decode("ascii", "replace").split(" ")
    if not end or words[:3] != ["oasis", VERSION, name]:
        raise ValueError(f"intents/{name}.tables is no table of Oasis {VERSION}")
    try:
        at, place, size = len(head) + 1, 0, 0
        for known, _, length in [word.partition(":") for word in words[3:]]:
            place, size = (at, int(length)) if known == part else (place, size)
            at += int(length)
        if at != len(data):
            raise ValueError(f"{len(data)} bytes and not {at}")
        return marshal.loads(zlib.decompress(data[place : place + size]))  # noqa: S302 # whole, as zlib's sum says
    except (ValueError, zlib.error) as error:
        raise ValueError(f"intents/{name}.tables is damaged: {error}") from error


def block_of(name: str) -> str:
    """Return by what the text that holds a name is found: it is neither short nor long in any script."""
    if name >= "\u3000":
        return str(ord(name[0]) // 32)
    return name[: 4 if name[1:2] == ":" else 2]  # "w:word" is of the evidence


class Texts:
    """Texts by name. All whose names begin alike are one text: in memory thousands of them take a tenth of a dict.

    `blocks` is {beginning of the names: "\\0name\\ntext\\0name\\ntext\\0"}; derive.py makes it.
    """

    def __init__(self, blocks: dict[str, str]) -> None:
        self._blocks = blocks
        self._found: dict[str, str | None] = {}  # sentences ask for the same names again and again

    def get(self, name: str) -> str | None:
        """Return a text, None for a name without one."""
        if name not in self._found:
            block = self._blocks.get(block_of(name), "")
            at = block.find(f"\0{name}\n")
            start = at + len(name) + 2
            self._found[name] = block[start : block.index("\0", start)] if at >= 0 else None
        return self._found[name]

    def names(self, first: str) -> list[str]:
        """Return the names that begin with a character."""
        wide = block_of(first) if first >= "\u3000" else ""
        blocks = [block for begin, block in self._blocks.items() if begin == wide or (not wide and begin[0] == first)]
        names = [text.partition("\n")[0] for block in blocks for text in block[1:-1].split("\0")]
        return [name for name in names if name[0] == first]
