"""Compile sources for the Python that runs this: `python3.13 -X no_debug_ranges package/bytecode.py`, JSON in.

In: {path on the router: source}. Out: {path: bytecode, base64}, the same bytes each time. Docstrings, asserts (as by
`-OO`), the columns of tracebacks and the annotations of functions stay out: nothing reads them on a router. Lines stay.
"""

from __future__ import annotations

import ast
import base64
import importlib.util
import json
import marshal
import sys

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


def bytecode(source: str, path: str) -> bytes:
    """Return the content of a .pyc. Raises: SyntaxError where this Python does not understand the source."""
    code = compile(_Bare().visit(ast.parse(source, path)), path, "exec", dont_inherit=True, optimize=2)
    # Loaded once and written again: what is the same object then depends on the code alone, not on what ran before.
    return _HEAD + marshal.dumps(marshal.loads(marshal.dumps(code)))  # noqa: S302 # ours, made just now


if __name__ == "__main__":
    made = {path: base64.b64encode(bytecode(text, path)).decode() for path, text in json.load(sys.stdin).items()}
    json.dump(made, sys.stdout)
