"""Write the generated part of the catalogue from checkouts of OpenWrt, and a report of what could not be read.

    python3 package/options/generate.py --luci FOLDER --feed FOLDER [--feed FOLDER …] [--check]
    python3 package/options/generate.py --review [--check]

`--feed` is a checkout of OpenWrt's packages feed, of its routing feed, or of OpenWrt itself. Written are
oasis/catalogue/generated/PACKAGE.json, one for each UCI package, and package/options/report.txt. Only facts are taken:
names, datatypes and choices. What was `exec` stays so, unless review.json says otherwise; what review.json says of an
option wins over every rule. --check writes nothing and fails where something would change. --review reads no checkout:
it puts what review.json and code_words.json say now into the entries that are there.

Needs the Python packages tree-sitter, tree-sitter-javascript and tree-sitter-bash (`make setup`).
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, REPOSITORY]

import marks  # noqa: E402
import sources  # noqa: E402
from facts import Book  # noqa: E402

from oasis.catalogue import installed  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Types = dict[str, dict[str, Any]]

FOLDER = os.path.join(REPOSITORY, "oasis", "catalogue", "generated")
BY_HAND = [os.path.join(REPOSITORY, "oasis", "catalogue", folder) for folder in ("packages", "feed")]
REVIEW = os.path.join(HERE, "review.json")
REPORT = os.path.join(HERE, "report.txt")
# Of LuCI's examples and tests, and of no package.
_NONE = {"example", "testing", "test"}
_NAME = re.compile("[A-Za-z0-9_-]{1,64}")


def entries(book: Book, review: dict[str, Any], before: dict[str, Types]) -> tuple[dict[str, Types], list[str]]:
    """Return {package: section types} of all that was read, and the options that stay exec although no rule says so.

    `review` is review.json, `before` what is in the catalogue now.
    """
    made: dict[str, Types] = {}
    kept: list[str] = []
    for package in sorted(book.packages):
        if package in installed.whole() | _NONE or not _NAME.fullmatch(package):
            continue
        looked = review.get(package, {}).get("options", {})
        types: Types = {}
        for type_, options in sorted(book.packages[package].items()):
            if not _NAME.fullmatch(type_.replace("*", "_")):
                continue
            entry: dict[str, Any] = {
                "options": {name: marks.entry(package, name, options[name]) for name in sorted(options)}
            }
            if installed.is_code_type(type_):
                entry["mark"] = "exec"
            was = before.get(package, {}).get(type_, {})
            if was.get("mark") == "exec" and "mark" not in entry:
                entry["mark"] = "exec"
                kept.append(f"{package}.{type_}")
            for name, old in was.get("options", {}).items():
                new = entry["options"].get(name)
                if new is not None and _is_exec(old) and not _is_exec(new) and f"{type_}.{name}" not in looked:
                    entry["options"][name] = old
                    kept.append(f"{package}.{type_}.{name}")
            types[type_] = entry
        _reviewed(types, looked)
        types = {type_: entry for type_, entry in types.items() if entry["options"]}
        if types:
            made[package] = types
    return made, kept


def by_hand() -> dict[str, Types]:
    """Return {package: section types} of what is written by hand."""
    return {name: types for folder in BY_HAND for name, types in stored(folder).items()}


def without(types: Types, hand: Types) -> Types:
    """Return what generated types add to those that are written by hand, which win over them."""
    found: Types = {}
    for type_, entry in types.items():
        ours = hand.get(type_, {"options": {}})
        if "mark" in ours or "*" in ours["options"]:
            continue
        options = {name: one for name, one in entry["options"].items() if name not in ours["options"]}
        if options:
            found[type_] = {**entry, "options": options}
    return found


def _is_exec(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("mark") == "exec"


def _reviewed(types: Types, looked: dict[str, Any]) -> None:
    """Put what a person found into the types: a key is type.option or type, a value the entry, its type or exec.

    None takes an option out. In a type that is exec all options are.
    """
    for place, found in looked.items():
        type_, _, name = place.partition(".")
        whole = types.setdefault(type_, {"options": {}})
        if not name:
            whole["mark"] = found
        elif found is None:
            whole["options"].pop(name, None)
        elif found == "exec":
            whole["options"][name] = _as_exec(whole["options"].get(name, {}))
        else:
            whole["options"][name] = {"type": found} if isinstance(found, str) else found
    for whole in types.values():
        if whole.get("mark") == "exec":
            whole["options"] = {name: _as_exec(one) for name, one in whole["options"].items()}


def _told(package: str, types: Types, data: dict[str, Any]) -> None:
    """Put into the types what review.json says of any package: `exec`, `bounds` and `opens`."""
    bounds = {place: kind for kind, places in data.get("bounds", {}).items() for place in places}
    for place in [*data.get("exec", ()), *bounds]:
        name, type_, option = place.split(".")
        if name == package and option in types.get(type_, {"options": {}})["options"]:
            entry = types[type_]["options"][option]
            is_list = {"list": True} if entry.get("list") else {}
            bound = {"bound": bounds[place]} if place in bounds else {}
            types[type_]["options"][option] = {**_as_exec(entry), **is_list, **bound}
    for place, opens in data.get("opens", {}).items():
        name, type_ = place.split(".")
        if name == package and type_ in types:
            types[type_]["opens"] = opens


def again(data: dict[str, Any]) -> dict[str, str]:
    """Return {path: text} of the entries that are there, with what the review and the names of code say now."""
    files, hand = {}, by_hand()
    for name in stored(FOLDER):
        path = os.path.join(FOLDER, name + ".json")
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)
        looked = data["packages"].get(name, {}).get("options", {})
        for type_, kind in whole["types"].items():
            for option, short in kind["options"].items():
                one = kind["options"][option] = {"type": short} if isinstance(short, str) else short
                if f"{type_}.{option}" not in looked and marks.is_code_again(option, one):
                    kind["options"][option] = _as_exec(one)
        _reviewed(whole["types"], looked)
        _told(name, whole["types"], data)
        files[path] = text(
            without(whole["types"], hand.get(name, {})), name in data["packages"], whole.get("services", [])
        )
    return files


def _as_exec(entry: dict[str, Any]) -> dict[str, Any]:
    is_secret = entry.get("secret") or str(entry.get("mark", "")).startswith("secret:")
    return {"type": "string", "mark": "exec", **({"secret": True} if is_secret else {})}


def text(types: Types, is_reviewed: bool, services: list[str]) -> str:
    """Return the file of a package, one line for each option."""
    lines = []
    for type_, entry in sorted(types.items()):
        options = [f"   {json.dumps(name)}: {_short(one)}" for name, one in sorted(entry["options"].items())]
        mark = "".join(
            f"{json.dumps(key)}: {json.dumps(entry[key], ensure_ascii=False)}, "
            for key in ("mark", "opens")
            if key in entry
        )
        lines.append(f'  {json.dumps(type_)}: {{{mark}"options": {{\n' + ",\n".join(options) + "\n  }}")
    head = '"reviewed": true, ' if is_reviewed else ""
    head += f'"services": {json.dumps(services)}, ' if services else ""
    return "{" + head + '"types": {\n' + ",\n".join(lines) + "\n}}\n"


def _short(entry: dict[str, Any]) -> str:
    return json.dumps(entry["type"] if set(entry) == {"type"} else entry)


def stored(folder: str) -> dict[str, Types]:
    """Return {package: section types} of the files in a folder."""
    found = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            found[name.removesuffix(".json")] = json.load(file)["types"]
    return found


def read(luci: str, feeds: list[str]) -> tuple[Book, list[str]]:
    """Read all sources; return their facts and the applications that have a form."""
    book = Book()
    for feed in feeds:
        sources.read_feed(feed, book)
    apps = sources.read_luci(luci, book) if luci else []
    book.settle()
    return book, apps


def commit(folder: str) -> str:
    """Return the commit of a checkout, "unknown" where it is none: then COMMIT in it says it."""
    if os.path.exists(folder + "/COMMIT"):
        with open(folder + "/COMMIT", encoding="utf-8") as file:
            return file.read().strip()
    done = subprocess.run(
        ["git", "-C", folder, "log", "-1", "--format=%H"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def formless(luci: str, apps: list[str]) -> list[str]:
    """Return the applications and protocols of which no form was read: pages that show a state, or change no UCI."""
    there = [
        os.path.basename(one) for folder in ("applications", "protocols") for one in glob.glob(f"{luci}/{folder}/*")
    ]
    return sorted(name for name in there if name not in apps)


def report(book: Book, made: dict[str, Types], kept: list[str], review: dict[str, Any]) -> list[str]:
    """Return what was read, what is exec and why it stays so, and what could not be read."""
    every = [(package, type_, name, one) for package, types in made.items() for type_, whole in types.items()
             for name, one in whole["options"].items()]  # fmt: skip
    hand = {name.removesuffix(".json") for folder in BY_HAND for name in os.listdir(folder)}
    exec_ = [f"{package}.{type_}.{name}" for package, type_, name, one in every
             if _is_exec(one) or made[package][type_].get("mark") == "exec"]  # fmt: skip
    lines = [f"{len(made)} packages, {len(every)} options; {len(exec_)} exec; {len(review)} packages reviewed"]
    lines += ["", "Packages (options, exec; r: reviewed, h: also written by hand):"]
    for package, types in made.items():
        count = sum(len(whole["options"]) for whole in types.values())
        runs = len([one for one in exec_ if one.startswith(package + ".")])
        letters = ("r" if package in review else "") + ("h" if package in hand else "")
        lines.append(f"  {package} {count} {runs} {letters}".rstrip())
    lines += ["", "exec although no rule says so any more:", *[f"  {one}" for one in kept]]
    lines += ["", "Not read:", *[f"  {path}:{line}: {what}" for path, line, what in sorted(set(book.unread))]]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--luci", default="", help="a checkout of LuCI")
    parser.add_argument("--feed", action="append", default=[], help="a checkout of a feed, or of OpenWrt")
    parser.add_argument("--review", action="store_true", help="read no checkout: what is there, reviewed again")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something would change")
    given = parser.parse_args()
    with open(REVIEW, encoding="utf-8") as file:
        data = json.load(file)
    if given.review:
        return written(again(data), given.check)
    review = data["packages"]
    book, apps = read(given.luci, given.feed)
    made, kept = entries(book, review, stored(FOLDER))
    for name, types in made.items():
        _told(name, types, data)
    hand, files = by_hand(), {}
    for name, types in made.items():
        added, services = without(types, hand.get(name, {})), sorted(book.services.get(name, ()))
        files[os.path.join(FOLDER, name + ".json")] = text(added, name in review, services)
    at = [f"  {os.path.basename(os.path.abspath(one))} {commit(one)}" for one in (given.luci, *given.feed) if one]
    head = ["Sources:", *at, "", f"LuCI has a form for {len(apps)} of its applications, protocols and modules."]
    if given.luci:
        head += ["No form was read of: " + ", ".join(formless(given.luci, apps))]
    head += [
        "Not by UCI, or under another name: " + "; ".join(f"{name} ({why})" for name, why in data["without"].items())
    ]
    lines = [*head, "", *report(book, made, kept, review)]
    files[REPORT] = "\n".join(lines) + "\n"
    print("\n".join(lines[: len(head) + 2]))
    return written(files, given.check)


def written(files: dict[str, str], is_check: bool) -> int:
    """Write files, or with `is_check` none; return the exit status."""
    changed = []
    for path, wanted in files.items():
        old = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                old = file.read()
        if old != wanted:
            changed.append(path)
        if old != wanted and not is_check:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(wanted)
    print(f"{len(changed)} of {len(files)} files " + ("would change" if is_check else "written"))
    return 1 if is_check and changed else 0


if __name__ == "__main__":
    raise SystemExit(main())
