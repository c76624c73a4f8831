"""Whose words the texts of the configuration are: the owner's, the system's own, or perhaps somebody else's.

A free text (foreign.py) is the owner's when they wrote it through Oasis: in commands of their own, in words of theirs
that stand in the chat, or by approving a plan that was made with nobody else's words in sight. What OpenWrt and its
packages write themselves (stock.json, and the files in /rom) is nobody's. All else taints who reads it.

A record of it is a keyed hash of place and text: nothing can be read from it, and who sets other words in the same
place has no record. It follows the changes: it comes with one that is kept, goes with the text, and comes back when the
removal is undone. One small file, written only when something came or went; without it texts count as foreign.

Where the new secrets of a plan come from its card tells (`of_secrets`), for the values stand behind masks. What the
owner typed, what is copied and what the router makes by itself may stay masked, since they know it or nobody need know
it. What somebody else chose is shown in clear and is a reason for risk: it may be a key that others know.
"""

from __future__ import annotations

import sys
import threading

from oasis.change import difference
from oasis.core import clean, jsonl
from oasis.core.clean import shown as plain
from oasis.errors import OasisError, StoreError
from oasis.redaction import foreign, secret_options
from oasis.system.digest import hmac_sha256
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from oasis.change.apply.journal import Journal
    from oasis.change.shapes import Difference, Images, Moved, OwnTexts, Plan, Record, Source
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.uci.model import Package

    # (key of place and text, option, text, whose)
    Text = tuple[str, str, str, str]

# Of the file; a home router has some dozens, and the oldest go first.
MOST = 1000
# Changes whose removals can still be undone, as many as the journal keeps.
_CHANGES = 30
_DIGITS = 16
_OURS = "oasis"  # no tool reads that package
# Shorter texts stand in others by chance; where they are shown by their place, they count whatever their length.
_LOOKED_FOR_CHARS = 12
# Of a long text that is looked for: somewhere it may be shown cut.
_HEAD_CHARS = 60
# Where a secret comes from.
WROTE = "as you wrote it"
GENERATED = "generated on the router"
MODEL = "chosen by the model"
OTHERS = "chosen by somebody else"
BEFORE = "as it was before"
_CLEAR = (MODEL, OTHERS)  # of these the card holds the value


class Texts:
    """The texts of one router's configuration. `said` are words of the owner's own, which may be shown again."""

    def __init__(self, root: Root, files: Files, key: bytes, journal: Journal) -> None:
        self._root, self._files, self._key, self._journal = root, files, key, journal
        self._path = root.state_folder + "/own_texts.json"
        self._lock = threading.Lock()
        self._roms: dict[str, set[str]] = {}  # package: "type.option text" of what the image brought it with
        self._records: OwnTexts | None = None
        self._known: dict[str, tuple[object, list[Text]]] = {}  # package: (stamp of its file, its free texts)

    # Whose a text is

    def foreign(
        self, package: str, section: str, type: str, values: Mapping[str, object], said: str = ""
    ) -> dict[str, str]:
        """Return {option: whose words} of a section's texts that may be somebody else's.

        `section` is "" for an anonymous one; its name counts as the option foreign.NAME.
        """
        found = self._of_section(package, section, type, values)
        return {option: whose for key, option, text, whose in found if self._is_foreign(key, text, said)}

    def _of_section(self, package: str, section: str, type: str, values: Mapping[str, object]) -> Iterator[Text]:
        for option, text, whose in foreign.texts(package, section, type, values):
            if "%s.%s %s" % (type, option, text) not in self._rom(package):
                place = jsonl.canonical(["text", package, section, type, option, text])
                yield hmac_sha256(self._key, place.encode("utf-8", "surrogatepass"))[:_DIGITS], option, text, whose

    def _of(self, package: Package) -> list[Text]:
        found: list[Text] = []
        for one in package.sections:
            found += self._of_section(package.name, "" if one.anonymous else one.name, one.type, one.options)
        return found

    def _is_foreign(self, key: str, text: str, said: str) -> bool:
        return key not in self._read()["own"] and not is_said(text, said)

    def _rom(self, package: str) -> set[str]:
        if package not in self._roms:
            found = self._roms[package] = set()
            for section in self._parsed("/rom/etc/config/", package).sections:
                name = "" if section.anonymous else section.name
                texts = foreign.texts(package, name, section.type, section.options)
                found.update("%s.%s %s" % (section.type, option, text) for option, text, _ in texts)
        return self._roms[package]

    def _parsed(self, folder: str, package: str) -> Package:
        try:
            return model.parse(self._files.read(self._root.path(folder) + package) or b"", package)
        except OasisError:
            return model.parse(b"", package)  # no tool reads it either

    # Where texts stand

    def told(self, package: Package, words: list[str]) -> list[str]:
        """Return whose words stand in sentences about a package."""
        together = "\n".join(words)
        found = [one for one in self._of(package) if self._is_foreign(one[0], one[2], "")]
        return list(dict.fromkeys(whose for _, _, text, whose in found if plain(text) in together))

    def hide(self, packages: list[Package], lines: list[str], said: str) -> tuple[list[str], list[str]]:
        """Return sentences about packages without the quoted texts of others, and whose words are left in them."""
        found = [one for package in packages for one in self._of(package) if self._is_foreign(one[0], one[2], said)]
        for _, _, text, _ in found:
            quoted = "'%s'" % plain(text)
            lines = [line.replace(quoted, "'%s'" % foreign.HIDDEN) if quoted in line else line for line in lines]
        together = "\n".join(lines)
        return lines, list(dict.fromkeys(whose for _, _, text, whose in found if plain(text) in together))

    def within(self, text: str, said: str) -> list[str]:
        """Return whose words of the configuration stand in a text of any kind, as JSON holds them too.

        What is shorter than a sentence is not looked for: it stands anywhere by chance.
        """
        known: dict[str, tuple[object, list[Text]]] = {}
        for package in self._files.names(self._root.confdir):
            try:
                stamp, old = self._files.stamp(self._root.confdir + "/" + package), self._known.get(package)
            except StoreError:
                continue  # a loop of links: no tool reads it either
            if package != _OURS:
                is_same = old is not None and old[0] == stamp
                known[package] = old if old and is_same else (stamp, self._of(self._parsed("/etc/config/", package)))
        self._known = known
        labels: dict[str, None] = {}
        for key, _, found, whose in [one for _, texts in known.values() for one in texts]:
            head = clean.line(found)[:_HEAD_CHARS]
            if whose in labels or len(head) < _LOOKED_FOR_CHARS or not self._is_foreign(key, found, said):
                continue
            if head in text or jsonl.dumps(head)[1:-1] in text:
                labels[whose] = None
        return list(labels)

    # What the owner wrote

    def new(self, images: Images) -> list[tuple[str, str]]:
        """Return (key, text) of what a change would write that was not there before."""
        before, after = self._sides(images)
        return [(key, text) for key, text in after.items() if key not in before]

    def hear(self, change: Record) -> None:
        """Follow a change that is kept: its record's "own" are keys of texts that the owner wrote."""
        if change["state"] != "confirmed" or not change["packages"]:
            return
        try:
            with self._lock:
                records = self._read()
                if not records["own"] and not change.get("own") and change.get("undoes", "") not in records["gone"]:
                    return
                name, image = str(change["id"]), self._journal.image
                before, after = self._sides(
                    {one: (image(name, "before", one), image(name, "after", one)) for one in change["packages"]}
                )
                gone = [key for key in records["own"] if key in before and key not in after]
                back = [*change.get("own", ()), *records["gone"].get(change.get("undoes", ""), ())]
                own = [key for key in records["own"] if key not in gone]
                own += [key for key in dict.fromkeys(back) if key in after and key not in own]
                if own == list(records["own"]):
                    return
                left = {**records["gone"], **({name: gone} if gone else {})}
                kept = dict(list(left.items())[-_CHANGES:])
                self._files.replace(self._path, jsonl.line({"own": own[-MOST:], "gone": kept}))
                self._records = {"own": dict.fromkeys(own[-MOST:]), "gone": kept}
        except OasisError as error:  # the change stands; its texts count as foreign
            print("oasisd: the texts of change %s: %s" % (change["id"], error.message), file=sys.stderr)

    def _sides(self, images: Images) -> list[dict[str, str]]:
        """Return {key: text} of packages before a change and after it."""
        return [
            {key: text for name, pair in images.items() for key, _, text, _ in self._of(model.parse(pair[side], name))}
            for side in (0, 1)
        ]

    def _read(self) -> OwnTexts:
        if self._records is None:
            data = self._files.read(self._path)
            try:
                value: Any = jsonl.loads(data) if data else {"own": [], "gone": {}}
                self._records = {"own": dict.fromkeys(map(str, value["own"])), "gone": dict(value["gone"])}
            except (OasisError, KeyError, TypeError, ValueError):
                self._records = {"own": {}, "gone": {}}  # damaged: texts count as foreign until they are written again
        return self._records


def is_said(text: str, said: str) -> bool:
    """Tell whether a text stands in somebody's own words."""
    return bool(said) and text.casefold() in said.casefold()


# Secrets


def of_secrets(plan: Plan, known: dict[str, str], otherwise: str) -> Moved:
    """Return what changes in a plan that names where its new secrets come from, {} when it has none.

    `known` tells it by value, `otherwise` of any other one.
    """
    found: list[Source] = []
    for name, images in plan["images"].items():
        before, after = (model.parse(data, name) for data in images)
        held = [  # what the options for secrets hold, in their order
            [one.options[key] for one in side.sections for key in one.options
             if secret_options.is_secret(name, one.type, key)]
            for side in (before, after)
        ]  # fmt: skip
        if held[0] != held[1]:
            for item in difference.compare(before, after, name):
                found += _sources(item, known, otherwise)
    if not found:
        return {}
    words = [*plan["words"], *["%s: %s" % (one["where"], one["from"]) for one in found]]
    made: Moved = {"secrets": found, "words": words}
    chosen = dict.fromkeys(one["where"] for one in found if one["from"] in _CLEAR)
    if chosen:
        reasons = ["the secret of %s is %s, who knows it" % (where, otherwise) for where in chosen]
        made["risk"], made["reasons"] = "risky", [*reasons, *plan["reasons"]]
    return made


def _sources(item: Difference, known: dict[str, str], otherwise: str) -> list[Source]:
    """Return the sources of the new secrets of a difference, and of the word by which the router makes one."""
    package, option = item["package"], item.get("option", "")
    if "new" not in item or not option or not secret_options.is_secret(package, item["type"], option):
        return []
    new, old = [[one] if isinstance(one, str) else one for one in (item["new"], item.get("old", []))]
    found: list[Source] = []
    for value in [one for one in new if one not in old]:
        source = GENERATED if secret_options.is_word(value) else known.get(value, otherwise)
        one: Source = {"where": "%s.%s.%s" % (package, item["section"], option), "from": source}
        # A plain word of the owner's sentence may mean something else and is not worth a mask.
        if source in _CLEAR or (source == WROTE and value.replace(" ", "").isalpha()):
            one["value"] = value
        found.append(one)
    return found
