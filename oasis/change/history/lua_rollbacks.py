"""Take over the rollback list of the Oasis that was here before: each stored change becomes a record of the history.

It left, below backup/listN (1 is the oldest), the `uci export` of each package before a change, their names in
backup_uci_list.json, and the change in uci_list.json: {verb: [{"class": {"config", "section"?, "option"?, "value"?}}]}.
What the change made of the packages was not kept, so it is worked out as that program applied it: verb by verb, quotes
taken out of values, one commit a command, a list replaced by what is added to it, and an end at the first `reorder`, in
which it crashed. Nothing of its files is removed or changed. Done once; a part that was done already is done over.
"""

from __future__ import annotations

import contextlib
import os
import re

from oasis.change import difference
from oasis.change.apply.journal import unknown
from oasis.core import jsonl
from oasis.core.ids import Xid
from oasis.errors import SchemaError, UciError
from oasis.system.digest import sha256
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.journal import Journal
    from oasis.change.shapes import Images, Operation, Record
    from oasis.core.shapes import Json
    from oasis.system.files import Files

FOLDER = "/backup"
_DONE = "/backup.imported"
_LIST = re.compile(r"list([0-9]{1,3})\Z")
_PACKAGE = re.compile(r"[A-Za-z0-9_-]+\Z")
_OWN = "oasis"  # holds keys, and is not undone by a change
# Five bytes in the ids that no machine has, so that a second import makes the same ids.
_PLACE = b"\0\0\0up"


def import_rollbacks(journal: Journal, files: Files, state_folder: str) -> int:
    """Put the stored changes into the history, unless that was done; return how many.

    Raises: ApplyError or StoreError when the flash is full; it is tried again at the next start.
    """
    if files.read(state_folder + _DONE) is not None:
        return 0
    folder = state_folder + FOLDER
    count, when = 0, 0
    for number in sorted(int(found[1]) for found in map(_LIST.match, files.names(folder)) if found):
        place = "%s/list%d" % (folder, number)
        images = _images(files, place)
        if images:
            when = max(when, int(os.stat(place).st_mtime))  # moving the list up has made all of them as new as the last
            journal.add(_record(number, when, images), images)
            count += 1
    journal.trim()
    files.replace(state_folder + _DONE, b"%d\n" % count)
    return count


def _images(files: Files, place: str) -> Images:
    """Return what a stored change did to each package that it changed: {name: (before, after)}."""
    listed = _json(files, place + "/backup_uci_list.json")
    before: dict[str, bytes] = {}
    for name in listed if isinstance(listed, list) else []:
        if not isinstance(name, str) or not _PACKAGE.match(name):
            continue
        data = files.read(place + "/" + name)
        if data and name != _OWN:
            try:
                before[name] = model.file_text(model.parse(data, name))  # without the line that names the package
            except UciError:
                continue  # nobody could put that back
    after = before
    commands = _json(files, place + "/uci_list.json")
    for step in _steps(commands if isinstance(commands, dict) else {}):
        with contextlib.suppress(UciError):  # that program went on as well
            after = model.preview(after, [step])
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def _json(files: Files, path: str) -> Json:
    try:
        return jsonl.loads(files.read(path) or b"null")
    except SchemaError:
        return None


def _steps(commands: dict[str, Json]) -> list[Operation]:
    steps: list[Operation] = []
    replaced = []
    for verb in ("add", "set", "add_list", "del_list", "reorder", "delete"):
        items = commands.get(verb)
        found = [item.get("class") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        for where in [{key: str(value) for key, value in one.items()} for one in found if isinstance(one, dict)]:
            if verb == "reorder":
                return steps
            step = _step(verb, where)
            place = (where.get("config"), where.get("section"), where.get("option"))
            if verb == "add_list" and place not in replaced:
                replaced.append(place)
                steps.append(_step("delete", where))
            steps.append(step)
    return steps


def _step(verb: str, where: dict[str, str]) -> Operation:
    """Return an operation; one that is not whole is refused by UCI later."""
    value = where.get("value", "").replace("'", "").replace('"', "")
    step: Operation = {"op": verb, "package": where.get("config", "")}
    if verb == "add":
        return {**step, "type": where.get("section", "")}
    step["section"] = where.get("section", "")
    if "option" in where:
        step["option"] = where["option"]
    if verb == "set" and "option" not in where:
        step["type"] = value
    elif verb != "delete":
        step["value"] = value
    return step


def _record(number: int, when: int, images: Images) -> Record:
    words = []
    for name, pair in images.items():
        before, after = (model.parse(data, name) for data in pair)
        words += difference.sentences(difference.compare(before, after, name))
    identifier = Xid(lambda: when, lambda size: number.to_bytes(size, "big"), _PLACE).next()
    return {
        **unknown(identifier, when), "summary": ", ".join(words[:2])[:200], "words": words, "packages": list(images),
        "state": "confirmed", "after": {name: sha256(pair[1]) for name, pair in images.items()}, "source": "upstream",
    }  # fmt: skip
