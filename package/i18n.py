"""Write what translators work on: `python3 package/i18n.py`; `--check` only tells what is not up to date (status 1).

po/templates/oasis.pot holds every text that the pages put through _() and N_(), the titles of the menu and the names of
the access groups, as LuCI's own scanner would find them. Each po/LANGUAGE/oasis.po is brought up to date with it: texts
that are new wait for their translation, those that are gone go. A text that is no plain literal is an error, because
nothing could translate it. Source: LuCI's build/i18n-scan.pl and the PO format of GNU gettext.
"""

from __future__ import annotations

import glob
import json
import os
import re
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEMPLATE = "po/templates/oasis.pot"
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
