"""Read shell scripts: which options they ask for, with which datatypes, and what they do with the values.

A script is followed without running it: statements in their order, both sides of each condition, functions where they
are called, callbacks of config_foreach with the section type. A variable holds a text, a section, or the values of
options; what is made of such a value counts as that value. From how it is used come the `uses` of an option:

    code     evaluated, given to sh -c, sourced, or the name of a command
    path     names a file or folder: a redirection, a test of a file, an argument of mkdir, rm, cat …
    user     the user or group that a service runs as
    raw      an argument without quotes, so that blanks make several of it
    argument one argument of a program
    text     written or printed
    made     built into another text first

Source: OpenWrt's functions.sh, uci.sh, procd.sh and netifd-proto.sh.
"""

from __future__ import annotations

import re
from typing import Any

import tree_sitter
import tree_sitter_bash
from facts import Book, Facts, Named

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
_DEPTH = 8
_STEPS = 200_000
_FILE_COMMANDS = {
    "mkdir", "rm", "cp", "mv", "ln", "touch", "chmod", "chown", "cat", "ls", "dd", "tar", "mount", "umount", "install",
    "readlink", "realpath", "dirname", "basename", "find", "rmdir", "tee", "sort", "head", "tail", "md5sum", "stat",
    "mktemp", "gzip", "gunzip", "cd", "swapon", "block", "losetup", "blkid", "start-stop-daemon", "service_start",
}  # fmt: skip
_SHELLS = {
    "sh",
    "ash",
    "bash",
    "/bin/sh",
    "/bin/ash",
    "/bin/bash",
    "su",
    "xargs",
    "env",
    "nohup",
    "setsid",
    "nice",
    "trap",
}
_TEXTS = {"echo", "printf", "logger", "json_add_string", "json_add_int", "json_add_boolean", "xappend", "_log", "log"}
_QUIET = {"[", "test", "[[", "return", "exit", "unset", "continue", "break", "json_load"}
_UNQUOTED = ("simple_expansion", "expansion", "concatenation", "command_substitution")
_FILE_TESTS = ("-f", "-d", "-e", "-s", "-x", "-r", "-w", "-L", "-S", "-b", "-c", "-h")


class Section:
    """A section in a variable: its package, and its types or, as a Named, its name."""

    def __init__(self, package: str, types: tuple[str, ...]) -> None:
        self.package, self.types = package, types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Section) and (self.package, self.types) == (other.package, other.types)

    def __hash__(self) -> int:
        return hash((self.package, self.types))


class Values(frozenset):  # type: ignore[type-arg]
    """The values of options, as their facts."""


class Scope(dict[str, object]):
    """Variables; a function sees those of its callers, as shells do."""

    def __init__(self, around: Scope | None = None) -> None:
        super().__init__()
        self.around = around

    def find(self, name: str) -> object:
        scope: Scope | None = self
        while scope is not None:
            if name in scope:
                return scope[name]
            scope = None if name.isdigit() else scope.around
        return None

    def put(self, name: str, value: object) -> None:
        scope: Scope = self
        while name not in scope and scope.around is not None:
            scope = scope.around
        before = scope.get(name)
        if isinstance(before, Values) and isinstance(value, Values):
            value = Values(before | value)  # either may be in it
        elif isinstance(before, Values) and value is None:
            value = before
        scope[name] = value


def read(text: bytes, path: str, own: str, book: Book) -> set[str]:
    """Read a script into the book; `own` is the package that it is about when it does not say one itself.

    Return the packages that it loads, or at whose change it is reloaded.
    """
    script = _Script(text, path, own, book)
    script.run()
    return script.loaded


class _Script:
    def __init__(self, text: bytes, path: str, own: str, book: Book) -> None:
        self._text, self._root = text, _PARSER.parse(text).root_node
        self._path, self._own, self._book = path, own, book
        self._package = own
        self.loaded: set[str] = {own} if own else set()
        self._functions: dict[str, Any] = {}
        self._globals = Scope()
        self._seen: set[tuple[object, ...]] = set()
        self._running: list[str] = []
        self._steps = 0
        self._is_protocol = b"add_protocol" in text

    def run(self) -> None:
        for node in _walk(self._root):
            if node.type == "function_definition":
                self._functions.setdefault(_text(node.child_by_field_name("name")), node)
        for child in self._root.named_children:
            if child.type != "function_definition":
                self._do(child, self._globals)
        # What starts and reloads first: they load the configuration and set what others read.
        names = sorted(self._functions, key=lambda name: not name.startswith(("start", "boot", "reload", "proto_")))
        for name in names:
            self._call(name, [], self._globals)
        if self._steps > _STEPS:
            self._book.miss(self._path, 0, "too long to follow to its end")

    # Values of words.

    def _word(self, node: Any, scope: Scope) -> object:
        """Return the value of a word: a text, a Section, Values, or None."""
        kind = node.type
        if kind in ("word", "number", "variable_name", "command_name", "test_operator"):
            inner = node.named_children
            if kind == "command_name" and inner:
                return self._word(inner[0], scope)
            return _text(node).replace("\\", "")
        if kind == "raw_string":
            return _text(node)[1:-1]
        if kind == "simple_expansion":
            return scope.find(_text(node)[1:])
        if kind == "expansion":
            return self._expansion(node, scope)
        if kind in ("command_substitution", "process_substitution"):
            return self._substitution(node, scope)
        parts: list[object] = []
        if kind in ("string", "concatenation"):
            at = node.start_byte + (1 if kind == "string" else 0)
            for child in node.named_children:
                if child.start_byte > at and kind == "string":
                    parts.append(self._text[at : child.start_byte].decode("utf-8", "replace"))
                parts.append(_text(child) if child.type == "string_content" else self._word(child, scope))
                at = child.end_byte
            return _joined(parts)
        return self._all(node, scope)

    def _expansion(self, node: Any, scope: Scope) -> object:
        name = next((child for child in node.named_children if child.type == "variable_name"), None)
        found = scope.find(_text(name)) if name is not None else None
        number = re.match(r"\$\{(\d)", _text(node))
        if name is None and number:
            found = scope.find(number[1])
        others = [
            self._word(child, scope) for child in node.named_children if child is not name and child.type != "regex"
        ]
        if isinstance(found, (Section, str)) or (found is not None and not others):
            plain = re.fullmatch(r"\$\{\w+\}", _text(node)) or isinstance(found, Section)
            return found if plain or re.match(r"\$\{\w+:?-", _text(node)) else None
        if found is None and len(others) == 1 and re.match(r"\$\{\w+:?-", _text(node)):
            return others[0]
        return _joined([found, *others, None]) if others else found

    def _substitution(self, node: Any, scope: Scope) -> object:
        """Return what a command prints: of uci the option, else what was put into the command."""
        found: list[object] = []
        for child in node.named_children:
            option = self._do(child, scope)
            found.append(option if isinstance(option, Values) else self._all(child, scope))
        return _joined([*found, None])

    def _all(self, node: Any, scope: Scope) -> object:
        """Return the values of all options in a tree."""
        found: set[object] = set()
        for child in _walk(node):
            if child.type in ("simple_expansion", "expansion"):
                name = re.search(r"\w+", _text(child))
                one = scope.find(name[0]) if name else None
                found |= one if isinstance(one, Values) else set()
        return Values(found) if found else None

    # Statements.

    def _do(self, node: Any, scope: Scope) -> object:
        self._steps += 1
        if self._steps > _STEPS or node.type in ("function_definition", "comment"):
            return None
        handler = getattr(self, "_do_" + node.type, None)
        if handler is not None:
            return handler(node, scope)  # type: ignore[no-any-return]
        found = None
        for child in node.named_children:
            one = self._do(child, scope)
            found = one if isinstance(one, Values) else found
        return found

    def _do_variable_assignment(self, node: Any, scope: Scope, is_local: bool = False) -> object:
        name, value = _text(node.child_by_field_name("name")), node.child_by_field_name("value")
        found = self._word(value, scope) if value is not None else ""
        if "+=" in _text(node)[: len(name) + 2]:
            found = _joined([scope.find(name), found])
        if is_local:
            scope[name] = found
        else:
            scope.put(name, found)
        return None

    def _do_declaration_command(self, node: Any, scope: Scope) -> object:
        is_local = _text(node).startswith(("local", "declare", "typeset"))
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._do_variable_assignment(child, scope, is_local)
            elif child.type == "variable_name" and is_local:
                scope[_text(child)] = None
            else:
                self._do(child, scope)
        return None

    def _do_for_statement(self, node: Any, scope: Scope) -> object:
        name, body = _text(node.child_by_field_name("variable")), node.child_by_field_name("body")
        nodes = [child for child in node.named_children if child != body and child.type != "variable_name"]
        values = [self._word(child, scope) for child in nodes]
        if [_text(one).strip('"') for one in nodes] == ["$@"]:
            values = [scope[key] for key in sorted(key for key in scope if key.isdigit())]
        for value in values if values and all(isinstance(one, str) for one in values) else [_joined([*values, None])]:
            scope.put(name, value)
            if isinstance(value, Values):
                for facts in value:
                    facts.uses.add("list")
            self._do(body, scope)
        return None

    def _do_redirected_statement(self, node: Any, scope: Scope) -> object:
        found = None
        for child in node.named_children:
            if child.type == "file_redirect":
                for target in child.named_children:
                    _use(self._all(target, scope), "path")
                    self._inside(target, scope)
            elif child.type == "heredoc_redirect":
                _use(self._all(child, scope), "text")
                self._inside(child, scope)
            elif child.type == "herestring_redirect":
                _use(self._all(child, scope), "text")
            else:
                one = self._do(child, scope)
                found = one if isinstance(one, Values) else found
        return found

    def _do_test_command(self, node: Any, scope: Scope) -> object:
        for child in _walk(node):
            if child.type == "unary_expression":
                operator = child.child_by_field_name("operator")
                if operator is not None and _text(operator) in _FILE_TESTS:
                    _use(self._all(child, scope), "path")
        self._inside(node, scope)
        return None

    def _inside(self, node: Any, scope: Scope) -> None:
        """Do the commands in substitutions, which no statement holds."""
        for child in _walk(node):
            if child.type == "command_substitution":
                self._word(child, scope)

    def _do_command(self, node: Any, scope: Scope) -> object:
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._do_variable_assignment(child, scope)
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return None
        nodes = list(node.children_by_field_name("argument"))
        name, given = self._word(name_node, scope), [self._word(one, scope) for one in nodes]
        if not isinstance(name, str):
            _use(self._all(name_node, scope), "code")
            name = ""
        handler = _CALLS.get(name.rpartition("/")[2])
        if handler is not None:
            return handler(self, given, scope)  # type: ignore[no-any-return]
        if name in self._functions:
            self._call(name, given, scope)
            return None
        if name in ("uci", "uci_get") or name.endswith("/uci"):
            return self._uci(name, given)
        self._used(name, nodes, given, scope)
        return None

    def _used(self, name: str, nodes: list[Any], given: list[object], scope: Scope) -> None:
        """Note how a command uses the values among its arguments."""
        if name == "eval" or name in (".", "source") or name in _SHELLS:
            use = "code"
        elif name in ("procd_set_param", "procd_append_param") and given and given[0] in ("user", "group", "file"):
            use = "path" if given[0] == "file" else "user"
        elif name in _FILE_COMMANDS:
            use = "path"
        elif name in _TEXTS:
            use = "text"
        elif name in _QUIET:
            use = ""
        else:
            use = "argument"
        for node, value in zip(nodes, given, strict=False):
            values = value if isinstance(value, Values) else self._all(node, scope)
            is_raw = use == "argument" and node.type in _UNQUOTED
            _use(values, "raw" if is_raw else use)

    def _call(self, name: str, given: list[object], scope: Scope, package: str = "") -> None:
        """Follow a function of the file with its arguments; the same call is followed once."""
        node = self._functions.get(name)
        key = (name, self._package, *(one if isinstance(one, (str, Section, Values)) else None for one in given))
        if node is None or key in self._seen or name in self._running or len(self._running) > _DEPTH:
            return
        if len([one for one in self._seen if one[0] == name]) > 200:
            return
        self._seen.add(key)
        inner = Scope(scope)
        inner.update({str(at): value for at, value in enumerate(given, 1)})
        self._running.append(name)
        self._do(node.child_by_field_name("body"), inner)
        self._running.pop()

    # Commands that read the configuration.

    def _section(self, value: object) -> Section | None:
        if isinstance(value, Section):
            return value
        if isinstance(value, str) and re.fullmatch(r"@?[A-Za-z0-9_-]+(?:\[-?\d+\])?", value):
            typed = re.match(r"@([A-Za-z0-9_-]+)\[", value)
            return Section(self._package, (typed[1] if typed else Named(value),))
        return None

    def _option(self, section: object, name: object, kind: str = "") -> Values | None:
        where = self._section(section)
        if where is None or not where.package or not isinstance(name, str) or not re.fullmatch("[A-Za-z0-9_]+", name):
            return None
        found: set[Facts] = set()
        for type_ in where.types:
            facts = self._book.option(where.package, type_, name, "script")
            facts.kinds += [kind] if kind and kind not in facts.kinds else []
            found.add(facts)
        return Values(found)

    def _config_load(self, given: list[object], scope: Scope) -> None:
        if given and isinstance(given[0], str) and re.fullmatch("[A-Za-z0-9_-]+", given[0]):
            self._package = given[0]
            self.loaded.add(given[0])

    def _reload_trigger(self, given: list[object], scope: Scope) -> None:
        self.loaded.update(one for one in given if isinstance(one, str))

    def _config_foreach(self, given: list[object], scope: Scope) -> None:
        called, type_ = [*given, None, None][:2]
        if isinstance(called, str):
            types = (type_,) if isinstance(type_, str) and type_ else tuple(self._book.packages.get(self._package, {}))
            self._call(called, [Section(self._package, types), *given[2:]], scope)

    def _config_get(self, given: list[object], scope: Scope, kind: str = "") -> Values | None:
        variable, section, name, default = [*given, None, None, None, None][:4]
        found = self._option(section, name, kind)
        if found is None and isinstance(name, Values):
            return None
        if found is not None and isinstance(default, str) and default:
            for facts in found:
                facts.defaults += [default] if default not in facts.defaults else []
        if isinstance(variable, str) and re.fullmatch(r"\w+", variable):
            scope.put(variable, found)
        return found

    def _config_get_bool(self, given: list[object], scope: Scope) -> Values | None:
        return self._config_get(given, scope, "bool")

    def _config_list_foreach(self, given: list[object], scope: Scope) -> None:
        section, name, called = [*given, None, None, None][:3]
        found = self._option(section, name)
        for facts in found or ():
            facts.is_list = True
        if isinstance(called, str):
            self._call(called, [found, *given[3:]], scope)

    def _uci_load_validate(self, given: list[object], scope: Scope) -> None:
        package, type_, section, called = [*given, None, None, None, None][:4]
        inner = Scope(scope)
        self._validate(package, type_, given[4:], inner)
        if isinstance(called, str) and called and isinstance(package, str) and isinstance(type_, str):
            name = called.split()[0]
            self._call(name, [section if isinstance(section, Section) else Section(package, (type_,))], inner)

    def _uci_validate_section(self, given: list[object], scope: Scope) -> None:
        package, type_ = [*given, None, None][:2]
        self._validate(package, type_, given[3:], scope)

    def _validate(self, package: object, type_: object, rules: list[object], scope: Scope) -> None:
        if not isinstance(package, str) or not isinstance(type_, str):
            self._book.miss(self._path, 0, "uci_validate_section of a package or type that is made as it runs")
            return
        for rule in rules:
            parts = rule.split(":") if isinstance(rule, str) else []
            if len(parts) < 2 or not re.fullmatch("[A-Za-z0-9_]+", parts[0]):
                continue
            facts = self._book.option(package, type_, parts[0], "validate")
            facts.datatypes += [parts[1]] if parts[1] not in facts.datatypes else []
            default = ":".join(parts[2:])
            facts.defaults += [default] if default and default not in facts.defaults else []
            scope.put(parts[0], Values({facts}))

    def _uci(self, command: str, given: list[object]) -> Values | None:
        """Return the option that `uci get package.section.option` or `uci_get package section option` reads."""
        texts = [one for one in given if not (isinstance(one, str) and one.startswith("-"))]
        if texts[:1] == ["get"] or texts[:1] == ["set"] or texts[:1] == ["add_list"]:
            path = texts[1] if len(texts) > 1 else None
            match = re.match(r"([\w-]+)\.(@?[\w-]+(?:\[-?\d+\])?)\.(\w+)", path) if isinstance(path, str) else None
            if match is None:
                return None
            package, section, name = match.groups()
        elif command == "uci_get" and len(texts) >= 3 and all(isinstance(one, str) for one in texts[:3]):
            package, section, name = map(str, texts[:3])
        else:
            return None
        before, self._package = self._package, package
        found = self._option(section, name) if re.fullmatch(r"[\w-]+", package) else None
        self._package = before
        return found

    def _shift(self, given: list[object], scope: Scope) -> None:
        places = sorted((key for key in scope if key.isdigit()), key=int)
        moved = [scope.pop(key) for key in places][1:]
        scope.update({str(at): value for at, value in enumerate(moved, 1)})

    def _append(self, given: list[object], scope: Scope) -> None:
        if given and isinstance(given[0], str):
            scope.put(given[0], _joined([scope.find(given[0]), *given[1:], None]))

    # netifd's protocol handlers.

    def _add_protocol(self, given: list[object], scope: Scope) -> None:
        self._book.protocols.update(one for one in given if isinstance(one, str))

    def _proto_option(self, given: list[object], kind: str) -> None:
        name = given[0].partition(":")[0] if given and isinstance(given[0], str) else ""
        if re.fullmatch("[A-Za-z0-9_]+", name):
            facts = self._book.option("network", "interface", name, "script")
            facts.kinds += [kind] if kind and kind not in facts.kinds else []
            facts.is_list |= kind == "array"
            self._globals["." + name] = Values({facts})

    def _json_get(self, given: list[object], scope: Scope, is_one: bool = False) -> None:
        pairs = [(given[0], given[-1])] if is_one and given else [(one, one) for one in given]
        for variable, name in pairs:
            name = name.partition(":")[0] if isinstance(name, str) else name
            variable = variable.partition(":")[0] if isinstance(variable, str) else variable
            found = self._globals.get("." + name) if isinstance(name, str) else None
            if isinstance(variable, str) and isinstance(found, Values):
                scope.put(variable, found)


_CALLS: dict[str, Any] = {
    "config_load": _Script._config_load,
    "uci_load": _Script._config_load,
    "config_foreach": _Script._config_foreach,
    "config_get": _Script._config_get,
    "config_get_bool": _Script._config_get_bool,
    "config_list_foreach": _Script._config_list_foreach,
    "uci_load_validate": _Script._uci_load_validate,
    "uci_validate_section": _Script._uci_validate_section,
    "append": _Script._append,
    "procd_add_reload_trigger": _Script._reload_trigger,
    "shift": _Script._shift,
    "add_protocol": _Script._add_protocol,
    "proto_config_add_string": lambda self, given, scope: self._proto_option(given, ""),
    "proto_config_add_int": lambda self, given, scope: self._proto_option(given, "int"),
    "proto_config_add_boolean": lambda self, given, scope: self._proto_option(given, "bool"),
    "proto_config_add_array": lambda self, given, scope: self._proto_option(given, "array"),
    "json_get_vars": lambda self, given, scope: self._json_get(given, scope),
    "json_get_var": lambda self, given, scope: self._json_get(given, scope, True),
    "json_get_values": lambda self, given, scope: self._json_get(given, scope, True),
}


def _use(values: object, use: str) -> None:
    for facts in values if use and isinstance(values, Values) else ():
        facts.uses.add(use)


def _joined(parts: list[object]) -> object:
    """Return the text of parts that are all known, else the values of the options in them."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(one, str) for one in parts):
        return "".join(map(str, parts))
    found = {facts for one in parts if isinstance(one, Values) for facts in one}
    for facts in found:
        if len([one for one in parts if one is not None and one != ""]) > 1:
            facts.uses.add("made")
    return Values(found) if found else None


def _walk(node: Any) -> Any:
    yield node
    for child in node.named_children:
        yield from _walk(child)


def _text(node: Any) -> str:
    return node.text.decode("utf-8", "replace") if node is not None else ""
