"""Read LuCI's forms: which options a view shows, of which section types, with which datatypes and choices.

A view is JavaScript that builds the form as it runs. This follows it as far as that is possible without running it:
statements in their order, both sides of each condition, functions of the same file where they are called, loops over
lists that stand in the file. What it cannot follow, like an option whose name is made from an answer of the router, is
noted. Texts for people are never looked at.

Source: luci-base's form.js and tools/widgets.js.
"""

from __future__ import annotations

import re
from typing import Any

import tree_sitter
import tree_sitter_javascript
from facts import Book, Facts, Named

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))
_SECTIONS = ("TypedSection", "TableSection", "GridSection", "NamedSection")
_NOT_STORED = ("Button", "DummyValue", "SectionValue")
_DEPTH = 6  # calls of functions into each other
_STEPS = 60_000  # nodes of one file; the longest view has 20,000
_TURNS = 64  # of a loop over a list


class Map:
    def __init__(self, package: str | None) -> None:
        self.package = package  # None: no UCI package, or one whose name is made when the view runs


class Section:
    def __init__(self, package: str | None, types: list[str], is_ours: bool = True) -> None:
        self.package, self.types, self.is_ours = package, types, is_ours


class Field:
    """An option of a form while it is built."""

    def __init__(self, kind: str, name: str | None, section: Section) -> None:
        self.kind, self.name, self.section = kind, name, section
        self.facts = Facts()
        self.on, self.off = "1", "0"
        self.subsection: Section | None = None


class Class:
    """A class of form elements: form.Value, widgets.NetworkSelect, or one that the view derives from them."""

    def __init__(self, name: str) -> None:
        self.name = name


class Function:
    def __init__(self, node: Any, scope: Scope) -> None:
        self.node, self.scope = node, scope


class Scope(dict[str, object]):
    """Variables of a function, with those around it."""

    def __init__(self, around: Scope | None = None) -> None:
        super().__init__()
        self.around = around

    def find(self, name: str) -> object:
        scope: Scope | None = self
        while scope is not None:
            if name in scope:
                return scope[name]
            scope = scope.around
        return None

    def put(self, name: str, value: object) -> None:
        scope: Scope | None = self
        while scope is not None and name not in scope:
            scope = scope.around
        (self if scope is None else scope)[name] = value


def read(text: bytes, path: str, own: str, book: Book) -> None:
    """Read a view into the book; `own` is the package of its app, for a form that says it by a variable."""
    view = _View(text, path, own, book)
    view.run()


class _View:
    def __init__(self, text: bytes, path: str, own: str, book: Book) -> None:
        self._root = _PARSER.parse(text).root_node
        self._path, self._own, self._book = path, own, book
        self._own_text = ""  # how the view writes the name of its package
        self._methods: dict[str, Function] = {}
        self._fields: list[Field] = []
        self._open: dict[int, int] = {}  # places of options without a section, which another call may give
        self._done: set[int] = set()
        self._calls: list[tuple[int, list[object]]] = []
        self._running: list[int] = []
        self._returned: list[object] = []
        self._steps = 0

    def run(self) -> None:
        scope = Scope()
        # protocol handlers get the section of their network
        self._section = Section("network", ["interface"]) if "/protocol/" in self._path else None
        self._functions(self._root, scope)
        self._eval(self._root, scope)
        for place, line in self._open.items():
            if place not in self._done:
                self._book.miss(self._path, line, "options of a section that is made elsewhere")
        if self._steps > _STEPS:
            self._book.miss(self._path, 0, "too long to follow to its end")
        for field in self._fields:
            self._store(field)

    def _store(self, field: Field) -> None:
        section = field.section
        if field.kind in _NOT_STORED or field.name is None or section.package is None:
            return
        if not re.fullmatch("[A-Za-z0-9_]+", field.name) or field.name.startswith("_"):
            return
        facts = field.facts
        facts.kinds.append(field.kind)
        if field.kind == "Flag" and (field.on, field.off) != ("1", "0"):
            facts.values = [field.off, field.on]
        facts.is_list |= field.kind in ("DynamicList", "MultiValue")
        for type_ in section.types:
            self._book.option(section.package, type_, field.name, "form").take(facts)

    def _functions(self, node: Any, scope: Scope) -> None:
        """Find the functions of the file by their names: a view's methods call each other through `this`."""
        for child in _walk(node):
            name = None
            if child.type in ("function_declaration", "method_definition"):
                name, body = child.child_by_field_name("name"), child
            elif child.type == "pair":
                name, body = child.child_by_field_name("key"), child.child_by_field_name("value")
            elif child.type == "variable_declarator":
                name, body = child.child_by_field_name("name"), child.child_by_field_name("value")
            if name is not None and body is not None and body.type in _FUNCTIONS:
                self._methods.setdefault(_text(name), Function(body, scope))

    # Statements and expressions. Each returns what is known of the value, None for nothing.

    def _eval(self, node: Any, scope: Scope) -> object:
        self._steps += 1
        if node is None or self._steps > _STEPS:
            return None
        handler = getattr(self, "_eval_" + node.type, None)
        if handler is not None:
            return handler(node, scope)  # type: ignore[no-any-return]
        found = None
        for child in node.named_children:
            found = self._eval(child, scope)
        return found if node.type in ("parenthesized_expression", "expression_statement", "await_expression") else None

    def _eval_string(self, node: Any, scope: Scope) -> object:
        return "".join(_text(one) for one in node.named_children if one.type == "string_fragment")

    def _eval_number(self, node: Any, scope: Scope) -> object:
        return _text(node)

    def _eval_template_string(self, node: Any, scope: Scope) -> object:
        parts = []
        for child in node.named_children:
            if child.type == "template_substitution":
                parts.append(self._eval(child.named_children[0], scope) if child.named_children else None)
            else:
                parts.append(_text(child))
        return _joined(parts)

    def _eval_identifier(self, node: Any, scope: Scope) -> object:
        found = scope.find(_text(node))
        return found if found is not None else self._methods.get(_text(node))

    def _eval_true(self, node: Any, scope: Scope) -> object:
        return True

    def _eval_false(self, node: Any, scope: Scope) -> object:
        return False

    def _eval_array(self, node: Any, scope: Scope) -> object:
        return [self._eval(child, scope) for child in node.named_children]

    def _eval_object(self, node: Any, scope: Scope) -> object:
        found: dict[str, object] = {}
        for child in node.named_children:
            if child.type == "pair":
                key = child.child_by_field_name("key")
                name = self._eval(key, scope) if key.type in ("string", "computed_property_name") else _text(key)
                value = self._eval(child.child_by_field_name("value"), scope)
                if isinstance(name, str):
                    found[name] = value
            elif child.type == "method_definition":
                found[_text(child.child_by_field_name("name"))] = self._function(child, scope)
            else:
                self._eval(child, scope)
        return found

    def _function(self, node: Any, scope: Scope) -> Function:
        """Return a function; its body is read once with unknown arguments, as nobody may call it in this file."""
        found = Function(node, scope)
        self._call(found, [])
        return found

    _eval_method_definition = _eval_function_declaration = _eval_function_expression = _function
    _eval_arrow_function = _eval_generator_function = _function

    def _eval_variable_declarator(self, node: Any, scope: Scope) -> object:
        name, value = node.child_by_field_name("name"), self._eval(node.child_by_field_name("value"), scope)
        self._bind(name, value, scope)
        return value

    def _bind(self, name: Any, value: object, scope: Scope) -> None:
        if name.type in ("identifier", "shorthand_property_identifier_pattern"):
            scope[_text(name)] = value
        elif name.type == "array_pattern":
            for at, child in enumerate(name.named_children):
                self._bind(child, value[at] if isinstance(value, list) and at < len(value) else None, scope)
        elif name.type == "object_pattern":
            for child in name.named_children:
                key = _text(child)
                self._bind(child, value.get(key) if isinstance(value, dict) else None, scope)
        elif name.type == "assignment_pattern":
            left, right = name.child_by_field_name("left"), name.child_by_field_name("right")
            self._bind(left, self._eval(right, scope) if value is None else value, scope)

    def _eval_assignment_expression(self, node: Any, scope: Scope) -> object:
        left, value = node.child_by_field_name("left"), self._eval(node.child_by_field_name("right"), scope)
        if left.type == "identifier":
            scope.put(_text(left), value)
        elif left.type == "member_expression":
            self._set(
                self._eval(left.child_by_field_name("object"), scope),
                _text(left.child_by_field_name("property")),
                value,
            )
        return value

    def _set(self, owner: object, name: str, value: object) -> None:
        """Note what a form sets at one of its options."""
        if isinstance(owner, dict):
            owner[name] = value
        if not isinstance(owner, Field):
            return
        facts = owner.facts
        if name == "datatype":
            facts.datatypes += [value] if isinstance(value, str) else []
        elif name == "password":
            facts.is_password |= value is not False
        elif name == "multiple":
            facts.is_list |= value is not False
        elif name == "enabled":
            owner.on = value if isinstance(value, str) else owner.on
        elif name == "disabled":
            owner.off = value if isinstance(value, str) else owner.off
        elif name in ("default", "placeholder"):
            facts.defaults += [value] if isinstance(value, str) else []
        elif name == "ucioption":
            owner.name = value if isinstance(value, str) else None
        elif name == "uciconfig":
            owner.section = Section(value if isinstance(value, str) else None, owner.section.types)
        elif name in ("write", "cfgvalue", "load", "textvalue") and owner.kind in ("ListValue", "MultiValue"):
            facts.is_open = True  # what is stored may be something else than what is shown

    def _eval_member_expression(self, node: Any, scope: Scope) -> object:
        owner, name = node.child_by_field_name("object"), _text(node.child_by_field_name("property"))
        if _text(owner) in ("form", "widgets", "cbi") and name[:1].isupper():
            return Class(name)
        if owner.type == "this":
            return scope.find("this." + name) or self._methods.get(name)
        if _text(node) == self._own_text:
            return self._own
        found = self._eval(owner, scope)
        if isinstance(found, Field) and name == "subsection":
            return found.subsection
        if isinstance(found, Section) and name == "map":
            return Map(found.package)
        return found.get(name) if isinstance(found, dict) else None

    def _eval_subscript_expression(self, node: Any, scope: Scope) -> object:
        found, key = (self._eval(node.child_by_field_name(name), scope) for name in ("object", "index"))
        if isinstance(found, list) and isinstance(key, str) and key.isdigit() and int(key) < len(found):
            return found[int(key)]
        return found.get(key) if isinstance(found, dict) and isinstance(key, str) else None

    def _eval_binary_expression(self, node: Any, scope: Scope) -> object:
        left, right = (self._eval(node.child_by_field_name(name), scope) for name in ("left", "right"))
        operator = _text(node.child_by_field_name("operator"))
        if operator in ("||", "??"):
            return left if left is not None else right
        return _joined([left, right]) if operator == "+" else None

    def _eval_ternary_expression(self, node: Any, scope: Scope) -> object:
        found = [self._eval(child, scope) for child in node.named_children][1:]
        return next((one for one in found if one is not None), None)

    def _eval_for_in_statement(self, node: Any, scope: Scope) -> object:
        name, body = node.child_by_field_name("left"), node.child_by_field_name("body")
        found = self._eval(node.child_by_field_name("right"), scope)
        is_in = _text(node.child_by_field_name("operator")) == "in"
        items: list[object] = [None]
        if isinstance(found, dict):
            items = list(found)
        elif isinstance(found, list):
            items = [str(at) for at in range(len(found))] if is_in else list(found)
        for item in items[:_TURNS]:
            inner = Scope(scope)
            self._bind(name, item, inner)
            self._eval(body, inner)
        return None

    def _eval_for_statement(self, node: Any, scope: Scope) -> object:
        inner = Scope(scope)
        self._eval(node.child_by_field_name("initializer"), inner)
        counted = re.match(r"\s*(\w+)\s*<\s*([\w.]+)\.length", _text(node.child_by_field_name("condition") or node))
        over = None
        if counted:
            over = inner.find(counted[2].rpartition(".")[2]) if "." not in counted[2] else None
        for at in range(min(len(over), _TURNS) if isinstance(over, list) else 1):
            if counted:
                inner[counted[1]] = str(at) if isinstance(over, list) else None
            self._eval(node.child_by_field_name("body"), inner)
        return None

    # Calls: those of form.js, and of the file's own functions.

    def _eval_new_expression(self, node: Any, scope: Scope) -> object:
        made = self._eval(node.child_by_field_name("constructor"), scope)
        given = self._arguments(node, scope)
        if isinstance(made, Class) and made.name in ("Map", "JSONMap"):
            name = given[0] if given and made.name == "Map" else None
            if made.name == "Map" and not isinstance(name, str):
                if self._own:
                    name, self._own_text = self._own, _text(node.child_by_field_name("arguments").named_children[0])
                else:
                    self._book.miss(self._path, _line(node), "a form for a package whose name is made as it runs")
            return Map(name if isinstance(name, str) else None)
        return None

    def _arguments(self, node: Any, scope: Scope) -> list[object]:
        listed = node.child_by_field_name("arguments")
        children = [] if listed is None or listed.type != "arguments" else listed.named_children
        return [self._eval(child, scope) for child in children if child.type != "comment"]

    def _eval_call_expression(self, node: Any, scope: Scope) -> object:
        callee = node.child_by_field_name("function")
        if callee.type != "member_expression":
            if callee.type == "identifier" and _text(callee) in ("_", "E", "N_"):
                for child in node.child_by_field_name("arguments").named_children:
                    self._eval(child, scope)  # texts for people
                return None
            called, given = self._eval(callee, scope), self._arguments(node, scope)
            return self._call(called, given) if isinstance(called, Function) else None
        name = _text(callee.child_by_field_name("property"))
        owner = self._eval(callee.child_by_field_name("object"), scope)
        given = self._arguments(node, scope)
        if name == "extend" and isinstance(owner, Class):
            return owner
        if isinstance(owner, Map) and name == "section" and given:
            return self._section_of(owner, given, node)
        if name in ("option", "taboption") and (
            isinstance(owner, Section) or any(isinstance(one, Class) for one in given)
        ):
            return self._field(owner, given[1:] if name == "taboption" else given, node)
        if isinstance(owner, Field) and name == "value":
            self._choice(owner, given)
            return None
        return self._other(owner, name, given, callee, scope)

    def _section_of(self, owner: Map, given: list[object], node: Any) -> object:
        kind = given[0].name if isinstance(given[0], Class) else ""
        wanted = 2 if kind == "NamedSection" else 1
        if owner.package is None or kind not in _SECTIONS:
            return Section(None, [], owner.package is not None)
        type_ = given[wanted] if wanted < len(given) else None
        if not isinstance(type_, str) and wanted == 2 and isinstance(given[1] if given[1:] else None, str):
            type_ = Named(given[1])
        if len(given) == 1:
            return Section(None, [])  # shows what is no configuration
        if not isinstance(type_, str):
            self._book.miss(self._path, _line(node), "a section whose type is made as the view runs")
            return Section(None, [])
        name = given[1] if len(given) > 1 else None
        if kind == "NamedSection" and isinstance(name, str) and not isinstance(type_, Named):
            self._book.names.setdefault(owner.package, {}).setdefault(name, type_)
        self._book.section(owner.package, type_)
        return Section(owner.package, [type_])

    def _field(self, owner: object, given: list[object], node: Any) -> object:
        kind = given[0].name if given and isinstance(given[0], Class) else ""
        if not isinstance(owner, Section):
            owner = self._section if self._section is not None and kind else None
        if owner is None:
            self._open[node.id] = _line(node)
            return Field(kind, None, Section(None, []))
        self._done.add(node.id)
        name = given[1] if len(given) > 1 else None
        found = Field(kind, name if isinstance(name, str) else None, owner)
        if owner.package is None:
            return found
        if not isinstance(name, str):
            self._book.miss(self._path, _line(node), "an option whose name is made as the view runs")
        elif not kind:
            self._book.miss(self._path, _line(node), f"option {name}: a field of a class that is defined elsewhere")
        if kind == "SectionValue":
            found.subsection = Section(None, [])
            if len(given) > 3:
                made = self._section_of(Map(owner.package), given[2:], node)
                found.subsection = made if isinstance(made, Section) else None
        self._fields.append(found)
        return found

    def _choice(self, owner: Field, given: list[object]) -> None:
        value = given[0] if given else None
        if isinstance(value, str):
            owner.facts.values += [value] if value and value not in owner.facts.values else []
        else:
            owner.facts.is_open = True

    def _other(self, owner: object, name: str, given: list[object], callee: Any, scope: Scope) -> object:
        """Return what is known of a call that builds no form itself."""
        if name == "format" and isinstance(owner, str):
            return _formatted(owner, given)
        if isinstance(owner, list) and name in ("forEach", "map") and given and isinstance(given[0], Function):
            for at, item in enumerate(owner[:_TURNS]):
                self._call(given[0], [item, str(at)])
            return None
        first = given[0] if given else None
        if _text(callee) in ("Object.keys", "Object.values", "Object.entries") and isinstance(first, dict):
            return {"keys": list(first), "values": list(first.values()), "entries": [[*one] for one in first.items()]}[
                name
            ]
        if name == "bind" and isinstance(first, Function):
            self._call(first, given[2:])
            return first
        called = self._eval_member_expression(callee, scope)
        if name == "call" and isinstance(owner, Function):
            called, given = owner, given[1:]
        return self._call(called, given) if isinstance(called, Function) else None

    def _call(self, called: Function, given: list[object]) -> object:
        """Read the body of a function with its arguments; the same call is read once."""
        earlier = [one for node_id, one in self._calls if node_id == called.node.id]
        if called.node.id in self._running or len(self._running) > _DEPTH or len(earlier) > _TURNS:
            return None
        if any(len(one) == len(given) and all(map(_is_same, one, given)) for one in earlier):
            return None
        self._calls.append((called.node.id, given))
        inner = Scope(called.scope)
        single = called.node.child_by_field_name("parameter")
        listed = called.node.child_by_field_name("parameters")
        names = [single] if single is not None else listed.named_children if listed is not None else []
        for at, name in enumerate(names):
            self._bind(name, given[at] if at < len(given) else None, inner)
        body = called.node.child_by_field_name("body")
        self._running.append(called.node.id)
        self._returned.append(None)
        found = self._eval(body, inner)
        self._running.pop()
        returned = self._returned.pop()
        return returned if body is not None and body.type == "statement_block" else found

    def _eval_return_statement(self, node: Any, scope: Scope) -> object:
        found = None
        for child in node.named_children:
            found = self._eval(child, scope)
        if self._returned and found is not None:
            self._returned[-1] = found
        return None


_FUNCTIONS = (
    "function_declaration", "method_definition", "function_expression", "arrow_function", "generator_function",
)  # fmt: skip


def _is_same(one: object, other: object) -> bool:
    return one is other or (isinstance(one, str) and one == other)


def _walk(node: Any) -> Any:
    yield node
    for child in node.named_children:
        yield from _walk(child)


def _text(node: Any) -> str:
    return node.text.decode("utf-8", "replace") if node is not None else ""


def _line(node: Any) -> int:
    return int(node.start_point[0]) + 1


def _joined(parts: list[object]) -> str | None:
    texts = [one for one in parts if isinstance(one, str)]
    return "".join(texts) if len(texts) == len(parts) else None


def _formatted(text: str, given: list[object]) -> str | None:
    """Return "%s" filled in; a place of which nothing is known is a star, as in wireguard_*."""
    pieces = text.split("%s")
    filled = pieces[0]
    for at, piece in enumerate(pieces[1:]):
        one = given[at] if at < len(given) else None
        filled += (one if isinstance(one, str) else "*") + piece
    return filled
