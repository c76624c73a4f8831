"""Names of tools as every service takes them, and back: those of MCP servers hold dots, blanks and other letters.

Legal everywhere: a letter or _ first, then letters, digits, _ and -, at most 64. Source: the API descriptions of
OpenAI, Anthropic and Gemini.
"""

from __future__ import annotations

CHARS = 64
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_LEGAL = _LETTERS + "0123456789-"


def legal(name: str) -> str:
    """Return a name with every other character replaced; two names may become one, see Names."""
    word = "".join([char if char in _LEGAL else "_" for char in name[:CHARS]])
    return word if word[:1] in tuple(_LETTERS) else ("_" + word)[:CHARS]


class Names:
    """The names of one request. Those that are legal stay, others get a word of their own."""

    def __init__(self, names: list[str]):
        self._legal = {name: name for name in names if legal(name) == name}
        self._original = dict(self._legal)
        for name in names:
            self.legal(name)

    def legal(self, name: str) -> str:
        """Return the name for the wire; one that was never heard before is kept for the way back, too."""
        if name not in self._legal:
            word, number = legal(name), 2
            while word in self._original:
                tail = f"_{number}"
                word, number = legal(name)[: CHARS - len(tail)] + tail, number + 1
            self._legal[name], self._original[word] = word, name
        return self._legal[name]

    def original(self, word: str) -> str:
        """Return the name behind one of the wire; what no request named stays as it is."""
        return self._original.get(word, word)
