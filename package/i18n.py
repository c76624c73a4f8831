"""Write what translators work on: `python3 package/i18n.py`; `--check` only tells what is not up to date (status 1).

Pages and service are two domains. What the service says to people (SPOKEN) has po/templates/oasisd.pot, and a file for
each language beside the code that reads it, oasis/texts/LANGUAGE.po: LuCI sends all of po/ to the browser with each of
its pages. A text there is a literal with a blank, or an f-string or a sum of texts with %s for what is put in.

po/templates/oasis.pot holds every text that the pages put through _() and N_(), the titles of the menu and the names of
the access groups, as LuCI's own scanner would find them. Each po/LANGUAGE/oasis.po is brought up to date with it: texts
that are new wait for their translation, those that are gone go. A text that is no plain literal is an error, because
nothing could translate it. Source: LuCI's build/i18n-scan.pl and the PO format of GNU gettext.
"""

from __future__ import annotations

import ast
import glob
import json
import os
import re
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEMPLATE = "po/templates/oasis.pot"
SPOKEN_TEMPLATE = "po/templates/oasisd.pot"
# Where texts for people stand in the service; what only models and programs read is elsewhere.
SPOKEN = (
    "oasis/change/*.py", "oasis/change/apply/*.py", "oasis/change/history/*.py", "oasis/change/reach/*.py",
    "oasis/doctor/*.py", "oasis/api/notices.py", "oasis/system/confinement.py", "oasis/tools/operator.py",
    "oasis/tools/warnings.py", "oasis/cli/cards.py", "oasis/cli/plans.py", "oasis/cli/prompt.py",
    "oasis/parts/telegram/card.py",
    "oasis/parts/telegram/messenger.py", "oasis/parts/telegram/talk.py", "oasis/parts/telegram/people.py",
    "oasis/parts/telegram/text.py", "oasis/agent/turn.py", "oasis/agent/runs.py", "oasis/llm/pool.py",
    "oasis/llm/usage.py", "oasis/parts/__init__.py", "oasis/cli/rpc_client.py", "oasis/cli/without_daemon.py",
)  # fmt: skip
SILENT = (  # of these: what a model, a log or nobody reads
    "oasis/change/audit.py", "oasis/change/uci_commands.py", "oasis/change/reach/sections.py",
    "oasis/change/apply/evidence.py", "oasis/change/history/lua_rollbacks.py",
)  # fmt: skip
# Of JSON files the texts under these keys, at any depth.
SPOKEN_TABLES = {
    "oasis/providers/failures.json": ("hint",),
    "oasis/doctor/findings.json": ("checks", "title", "explanation", "advice", "fix"),
    "oasis/change/policy.json": ("forbidden", "reason", "forbidden_services", "stops", "restarts"),
    **{
        f"oasis/catalogue/packages/{name}.json": ("title",)
        for name in ("dhcp", "dropbear", "firewall", "network", "system", "uhttpd", "wireless")
    },
}
# What the rules below do not see: single words, and what a sentence is put together from.
WORDS = (
    "kept", "applied", "unknown", "verified", "yes", "no", "cannot tell", "nobody", "out of", "made", "risky",
    "; ", ", ", " and ", "warning: %s. %s",
    "%s: new %s", "%s: new %s with %s", "%s: removed %s", "%s: removed %s with %s", "%s: %s is renamed to %s",
    "%s.input of zone %s is %s", "%s.output of zone %s is %s", "%s are on the way by which you reach the router",
    "**Done:** %s", "**Applied:** %s", "**Rolled back:** %s", "**Rolled back:** %s (%s)", "Approve", "Decline", "Undo",
    "Kept.", "Risk: %s", "Risk: %s (%s)", "Then: %s",
    "%s is on the way by which you reach the router", "reload %s", "restart %s", "start %s", "stop %s", "enable %s",
    "disable %s",
)  # fmt: skip
HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8"\n'

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    # (context, text, plural), "" where there is none
    Key = tuple[str, str, str]
    Texts = dict[Key, list[str]]

_CALL = re.compile(r"(?<![\w$.])(_|N_)\(")
_LITERAL = re.compile(r"\s*'((?:[^'\\\n]|\\.)*)'\s*|\s*\"((?:[^\"\\\n]|\\.)*)\"\s*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
# A string may hold what looks like a comment.
_COMMENT = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|/\*.*?\*/", re.S)
_QUOTED = re.compile(r'^(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?)?\s*"(.*)"$')


def texts(repository: str = REPOSITORY) -> Texts:
    """Return every text with the files that it stands in, ordered as the template is.

    Lines are left out: each edit of a script would change the template and every language.
    Raises: ValueError for a text that is no literal, or that is there with a plural and without.
    """
    found: Texts = {}
    for path in _sources(repository, "files/www/luci-static/resources/**/*.js"):
        for key in _calls(path, _read(repository, path)):
            places = found.setdefault(key, [])
            if path not in places:
                places.append(path)
    for pattern, field in (("luci/menu.d", "title"), ("rpcd/acl.d", "description")):
        for path in _sources(repository, f"files/usr/share/{pattern}/*.json"):
            for node in json.loads(_read(repository, path)).values():
                if node.get(field):
                    found.setdefault(("", node[field], ""), []).append(path)
    names = [key[:2] for key in found]
    twice = sorted({name[1] for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"with a plural and without: {', '.join(twice)}")
    return {key: found[key] for key in sorted(found, key=lambda key: (key[1].encode(), key))}


def spoken(repository: str = REPOSITORY) -> Texts:
    """Return every text of the service for people with the files that it stands in, ordered as the template is."""
    found: Texts = {}

    def add(text: str, path: str) -> None:
        places = found.setdefault(("", text, ""), [])
        if path not in places:
            places.append(path)

    for pattern in SPOKEN:
        for path in _sources(repository, pattern):
            for text in _said(ast.parse(_read(repository, path))) if path not in SILENT else ():
                add(text, path)
    for path, keys in SPOKEN_TABLES.items():
        if os.path.exists(os.path.join(repository, path)):
            for text in _under(json.loads(_read(repository, path)), keys):
                add(text, path)
    for text in WORDS if found else ():
        add(text, "package/i18n.py")
    return {key: found[key] for key in sorted(found, key=lambda key: (key[1].encode(), key))}


_WORDY = re.compile(r"[A-Za-z]{2,}[,:;]? +[A-Za-z(%'`]|[a-z%][)'`]?[,:;]? +[A-Za-z]{2,}|: %s$")
# Lists of options, regular expressions, commands, messages of other programs, and what a log gets.
_NO_SAYING = re.compile(
    r"\(\?|\\|\[\^|^oasis(d|-restore)?[:-]|^oasis \w+ --|^uci |^/|[{\t]|\b\w+:\w+[ *]"
    r"|^[A-Za-z_0-9]+( [A-Za-z_0-9-]+){7,}$|^Maximum number|^Out of memory|[Ss]ending discover|broadcasting"
    r"|^Timeout waiting|[Ll]ink (is )?down|Link is|crash loop|^nf_|^is no $|^[A-Z]+: %s|^config %|^system board"
    r"|^(file|init|service|rc|nslookup|ping|tool|set) %|^no lease|^netifd|CHAP|PAP|AUTH|carrier|dnsmasq\."
    r"|rebind|%[A-Z]|manifest|^telegram:? |<\w+ \w+=|^(apk|opkg) |bad magic|^messenger %s|base32"
    r"|^%s is the name of another"
)
_PLACEHOLDER = re.compile(r"%(\(\w+\))?[-0-9.]*[a-z%]")
_LETTERS, _WORDS_OF_A_TEXT = 4, 5  # and fewer say nothing


def _is_saying(text: str) -> bool:
    """Tell whether a literal looks like one for people."""
    bare = _PLACEHOLDER.sub("", text)
    is_word = sum(char.isalpha() for char in bare) >= _LETTERS and bool(_WORDY.search(text))
    # "%s: until %s …" says something, "%s: mtu %d" what only evidence does
    is_evidence = text.startswith(("%s:", "%s.")) and len(bare.split()) < _WORDS_OF_A_TEXT
    return is_word and not is_evidence and not _NO_SAYING.search(text)


def _said(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module that look like ones for people; a sum of texts is one."""
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return  # a docstring
    text = _written(tree)
    if text is not None and _is_saying(text):
        yield text
    if isinstance(tree, ast.Constant):
        return
    for child in ast.iter_child_nodes(tree):
        # the pieces of a sum are no texts of their own, what is put between them may be
        is_piece = isinstance(tree, (ast.JoinedStr, ast.BinOp)) and text is not None and isinstance(child, ast.Constant)
        if not is_piece:
            yield from _said(child)


def _written(tree: ast.AST) -> str | None:
    """Return the text of a literal, of an f-string, or of a sum with a literal in it; None for all else."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return tree.value
    if isinstance(tree, ast.JoinedStr):
        pieces = [_escaped(one) if isinstance(one, ast.Constant) else _form(one) for one in tree.values]
        return "".join(pieces)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        sides = [_written(side) for side in (tree.left, tree.right)]
        if sides != [None, None]:
            return "".join("%s" if side is None else side for side in sides)
    return None


def _escaped(piece: ast.Constant) -> str:
    return str(piece.value).replace("%", "%%")


def _form(value: ast.AST) -> str:
    return "%r" if isinstance(value, ast.FormattedValue) and value.conversion == ord("r") else "%s"


def _under(value: object, keys: tuple[str, ...], is_inside: bool = False) -> Iterator[str]:
    """Yield the texts below some keys of a table."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _under(one, keys, is_inside or key in keys)
    elif isinstance(value, list):
        for one in value:
            yield from _under(one, keys, is_inside)
    elif isinstance(value, str) and is_inside:
        yield value


def _sources(repository: str, pattern: str) -> list[str]:
    return sorted(os.path.relpath(path, repository) for path in glob.glob(f"{repository}/{pattern}", recursive=True))


def _read(repository: str, path: str) -> str:
    with open(os.path.join(repository, path), encoding="utf-8") as file:
        return file.read()


def _calls(path: str, source: str) -> Iterator[Key]:
    """Yield the texts of a script."""
    # Comments go, their lines stay.
    source = _COMMENT.sub(lambda part: "\n" * part[0].count("\n") if part[0][0] == "/" else part[0], source)
    for call in _CALL.finditer(source):
        line = source.count("\n", 0, call.start()) + 1
        rest = call.end() if call[1] == "_" else _behind(source, call.end())
        words, rest = _literals(source, rest)
        wanted = 1 if call[1] == "_" else 2
        if not wanted <= len(words) <= wanted + 1 or source[rest : rest + 1] != ")" or not words[0].strip():
            raise ValueError(f"{path}:{line}: {call[1]}() takes plain literals")
        context = words[wanted] if len(words) > wanted else ""
        yield context, words[0], words[1] if wanted == 2 else ""


def _behind(source: str, place: int) -> int:
    """Return where the second argument of a call begins."""
    depth = 0
    while depth or source[place] != ",":
        depth += (source[place] in "([") - (source[place] in ")]")
        place += 1
    return place + 1


def _literals(source: str, place: int) -> tuple[list[str], int]:
    """Return the literals from a place on that are parted by commas, and where they end."""
    words = []
    while literal := _LITERAL.match(source, place):
        words.append(_ESCAPE.sub(_unescaped, literal[1] if literal[1] is not None else literal[2]))
        place = literal.end()
        if source[place : place + 1] != ",":
            break
        place += 1
    return [" ".join(word.split()) for word in words], place


def _unescaped(escape: re.Match[str]) -> str:
    name = escape[1]
    return chr(int(name[1:], 16)) if len(name) == 5 else {"n": "\n", "t": "\t"}.get(name, name)


def entries(text: str) -> dict[Key, dict[str, str]]:
    """Return the entries of a PO file by their key; fields are msgctxt, msgid, msgid_plural, msgstr, msgstr[0] …"""
    found: dict[Key, dict[str, str]] = {}
    fields: dict[str, str] = {}
    name = ""
    for line in [*text.split("\n"), ""]:
        quoted = _QUOTED.match(line)
        if quoted:
            name = quoted[1] or name
            fields[name] = fields.get(name, "") + re.sub(r"\\(.)", _plain, quoted[2])
        elif not line and fields:
            found[(fields.get("msgctxt", ""), fields["msgid"], fields.get("msgid_plural", ""))] = fields
            fields = {}
    return found


def _plain(escape: re.Match[str]) -> str:
    return {"n": "\n"}.get(escape[1], escape[1])


def _line(name: str, value: str) -> str:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name} "{quoted}"\n'


def catalogue(
    found: Texts, known: dict[Key, dict[str, str]] | None = None, header: str = HEADER, forms: int = 2
) -> str:
    """Return a PO file of the texts with the translations that are known."""
    parts = [header]
    for key, places in found.items():
        context, text, plural = key
        old = known.get(key, {})
        names = [f"msgstr[{form}]" for form in range(forms)] if plural else ["msgstr"]
        part = "".join(f"#: {place}\n" for place in places)
        part += _line("msgctxt", context) if context else ""
        part += _line("msgid", text) + (_line("msgid_plural", plural) if plural else "")
        parts.append(part + "".join(_line(name, old.get(name, "")) for name in names))
    return "\n".join(parts)


def outdated(repository: str = REPOSITORY) -> dict[str, str]:
    """Return the files that are not up to date, and what should be in them."""
    found = texts(repository)
    wanted = {TEMPLATE: catalogue(found, {})}
    for path in _sources(repository, "po/*/oasis.po"):
        text = _read(repository, path)
        forms = re.search(r"nplurals=(\d)", text)
        header = text.partition("\n\n")[0] + "\n"
        wanted[path] = catalogue(found, entries(text), header, int(forms[1]) if forms else 2)
    texts_of_service = spoken(repository)
    wanted[SPOKEN_TEMPLATE] = catalogue(texts_of_service, {})
    for path in _sources(repository, "oasis/texts/*.po"):
        text = _read(repository, path)
        header = text.partition("\n\n")[0] + "\n"
        wanted[path] = catalogue(texts_of_service, entries(text), header)
    return {path: text for path, text in wanted.items() if text != _present(repository, path)}


def _present(repository: str, path: str) -> str:
    return _read(repository, path) if os.path.exists(os.path.join(repository, path)) else ""


def main(arguments: list[str]) -> int:
    """Write the files that are not up to date, or tell them."""
    changed = outdated()
    for path, text in changed.items():
        print(path)
        if "--check" not in arguments:
            os.makedirs(os.path.dirname(os.path.join(REPOSITORY, path)), exist_ok=True)
            with open(os.path.join(REPOSITORY, path), "w", encoding="utf-8") as file:
                file.write(text)
    return 1 if changed and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
