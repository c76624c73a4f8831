"""Compile sources for the Python that runs this: `python3.13 -X no_debug_ranges package/bytecode.py`, JSON in.

In: {path on the router: source}. Out: {path: bytecode, base64}, the same bytes each time. Docstrings, asserts (as by
`-OO`), the columns of tracebacks, annotations of functions and modules with what is imported for them, the names of
functions with that of the class, and those of variables in functions stay out: nothing reads them on a router. Lines
stay. What is equal in a module is written once, and then also loaded as one object.
"""

from __future__ import annotations
import __future__

import ast
import base64
import importlib.util
import inspect
import json
import marshal
import sys
import types

# PEP 552: bytecode by the hash of its source, never looked at; there is no source beside it.
_HEAD = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)


class _Bare(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        own = node.args
        for one in (*own.posonlyargs, *own.args, *own.kwonlyargs, own.vararg, own.kwarg):
            if one is not None:
                one.annotation = None
        return node

    def visit_Module(self, node: ast.Module) -> ast.Module:
        self.generic_visit(node)
        kept: list[ast.stmt] = []
        for one in node.body:
            if isinstance(one, ast.AnnAssign):
                if one.value is not None:
                    kept.append(ast.copy_location(ast.Assign([one.target], one.value), one))
            elif not _is_for_types(one):
                kept.append(one)
        node.body = kept
        return node


def _is_for_types(one: ast.stmt) -> bool:
    """Tell whether a statement is there for who checks types alone; `bytecode` has the flag of the import by itself."""
    if isinstance(one, ast.If):
        return ast.unparse(one.test) in ("TYPE_CHECKING", "False") and not one.orelse
    return ast.unparse(one) in ("TYPE_CHECKING = False", "from __future__ import annotations")


# What follows the letter of a value (Python/marshal.c, version 4): so many bytes; or the number of bytes, or of values,
# that come next, in so many bytes.
_BYTES = {"N": 0, "F": 0, "T": 0, "S": 0, ".": 0, "i": 4, "g": 8, "y": 16}
_COUNTED = {"s": 4, "u": 4, "a": 4, "z": 1}
# Texts that are to be interned; in one process more of them are than in another.
_INTERNED = {"t": "u", "A": "a", "Z": "z"}
_ROWS = {"(": 4, ")": 1, ">": 4}
_FLAG = 0x80  # of a letter: what comes may be referred to by its number, in five bytes
_REFERENCE = 5
# A code object: so many numbers of four bytes, values, the number of its first line, values.
_IS_NEW = sys.version_info >= (3, 11)
_NUMBERS, _BEFORE, _AFTER = (5, 8, 2) if _IS_NEW else (6, 8, 1)
# Among these the name of a function, and its name with that of its class.
_NAME, _WITH_CLASS = 6, 7

_Value = tuple[str, bytes, tuple[int, ...]]  # letter, what is no value in it, the numbers of its values


class _Shared:
    """The values of a module, each once, by their numbers.

    `marshal` writes equal constants of two functions twice, and they are two objects when they are loaded.
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._referred: list[int] = []
        self._interned: dict[int, str] = {}
        self._number_of: dict[_Value, int] = {}
        self._values: list[_Value] = []
        self._top = self._read()
        self._uses = [0] * len(self._values)
        for _, _, parts in self._values:
            for part in parts:
                self._uses[part] += 1

    def _take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _read(self) -> int:
        first = self._take(1)[0]
        given, own = chr(first & ~_FLAG), b""
        letter = _INTERNED.get(given, given)
        parts: list[int] = []
        if letter == "r":
            return self._referred[int.from_bytes(self._take(4), "little")]
        place = len(self._referred)
        if first & _FLAG:
            self._referred.append(-1)  # its number is given before those of what is in it
        if letter == "c":
            own = self._take(4 * _NUMBERS)
            parts = [self._read() for _ in range(_BEFORE)]
            own += self._take(4)
            parts += [self._read() for _ in range(_AFTER)]
            if _IS_NEW:
                parts[_WITH_CLASS] = parts[_NAME]
        elif letter in _ROWS:
            own = self._take(_ROWS[letter])
            parts = [self._read() for _ in range(int.from_bytes(own, "little"))]
        elif letter in _COUNTED:
            own = self._take(_COUNTED[letter])
            own += self._take(int.from_bytes(own, "little"))
        elif letter == "l":  # digits of 15 bits; the sign is that of their number
            own = self._take(4)
            own += self._take(2 * abs(int.from_bytes(own, "little", signed=True)))
        else:
            own = self._take(_BYTES[letter])
        value = (letter, own, tuple(parts))
        number = self._number_of.setdefault(value, len(self._values))
        if number == len(self._values):
            self._values.append(value)
        if given != letter:
            self._interned[number] = given
        if first & _FLAG:
            self._referred[place] = number
        return number

    def written(self) -> bytes:
        """Return the module as `marshal` reads it."""
        out: list[bytes] = []
        places: dict[int, int] = {}

        def write(number: int) -> None:
            if number in places:
                out.append(b"r" + places[number].to_bytes(4, "little"))
                return
            letter, own, parts = self._values[number]
            letter = self._interned.get(number, letter)
            if self._uses[number] > 1 and (parts or 1 + len(own) > _REFERENCE):
                places[number] = len(places)
                out.append(bytes([ord(letter) | _FLAG]))
            else:
                out.append(letter.encode())
            split = 4 * _NUMBERS if letter == "c" else len(own)
            out.append(own[:split])
            for part in parts[:_BEFORE] if letter == "c" else parts:
                write(part)
            out.append(own[split:])
            for part in parts[_BEFORE:] if letter == "c" else ():
                write(part)

        write(self._top)
        return b"".join(out)


def _unnamed(code: types.CodeType) -> types.CodeType:
    """Return code whose functions call their variables by number, apart from arguments and what inner ones see."""
    consts = tuple([_unnamed(one) if isinstance(one, types.CodeType) else one for one in code.co_consts])
    names = list(code.co_varnames)
    if code.co_flags & inspect.CO_OPTIMIZED:
        marks = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
        first = code.co_argcount + code.co_kwonlyargcount + sum([bool(code.co_flags & one) for one in marks])
        for at in range(first, len(names)):
            names[at] = names[at] if names[at] in code.co_cellvars else "_%d" % (at - first)
    return code.replace(co_consts=consts, co_varnames=tuple(names))


def bytecode(source: str, path: str) -> bytes:
    """Return the content of a .pyc. Raises: SyntaxError where this Python does not understand the source."""
    bare, flags = _Bare().visit(ast.parse(source, path)), __future__.annotations.compiler_flag
    code = _unnamed(compile(bare, path, "exec", flags, dont_inherit=True, optimize=2))
    # Loaded once and written again: what is the same object then depends on the code alone, not on what ran before.
    data = marshal.dumps(marshal.loads(marshal.dumps(code)))  # noqa: S302 # ours, made just now
    # The format of a later Python may be another one.
    return _HEAD + (_Shared(data).written() if sys.version_info < (3, 14) else data)


if __name__ == "__main__":
    made = {path: base64.b64encode(bytecode(text, path)).decode() for path, text in json.load(sys.stdin).items()}
    json.dump(made, sys.stdout)
