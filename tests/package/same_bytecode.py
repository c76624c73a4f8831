"""Compare what package/bytecode.py writes with what this Python compiles; print the bytes that are saved.

python3.13 -X no_debug_ranges -B tests/package/same_bytecode.py      of all modules, and two equal functions
"""

import __future__

import ast
import marshal
import os
import sys
import types

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, REPOSITORY + "/package")

import bytecode  # noqa: E402

# The first is compared value by value, the second is the name with that of the class, the third another form of lines.
_OTHERWISE = ("co_consts", "co_qualname", "co_lnotab")
EQUAL = "def a():\n return ('so so', 2.5, x)\ndef b():\n return ('so so', 2.5, x)\n"


def every(code):
    """Yield a code object and those in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from every(one)


def shown(code):
    """Return all that a code object holds, but for other code objects."""
    names = [name for name in dir(code) if name.startswith("co_") and name not in _OTHERWISE]
    values = {name: getattr(code, name) for name in names if not callable(getattr(code, name))}
    constants = [(type(one), one) for one in code.co_consts if not isinstance(one, types.CodeType)]
    return values, [*code.co_lines()], constants


def main():
    saved = 0
    for folder, _, names in os.walk(REPOSITORY + "/oasis"):
        for path in (os.path.join(folder, name) for name in names if name.endswith(".py")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            bare = bytecode._Bare().visit(ast.parse(text))
            flags = __future__.annotations.compiler_flag
            plain = bytecode._unnamed(compile(bare, path, "exec", flags, dont_inherit=True, optimize=2))
            data = bytecode.bytecode(text, path)[16:]
            assert [*map(shown, every(marshal.loads(data)))] == [*map(shown, every(plain))], path
            saved += len(marshal.dumps(plain)) - len(data)
    _, one, other = every(marshal.loads(bytecode.bytecode(EQUAL, "equal.py")[16:]))
    assert one.co_consts is other.co_consts and one.co_names is other.co_names
    print(saved)


main()
