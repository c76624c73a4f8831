"""Heads: what a headish names, and where the bookmarks of a chat stand.

A headish is the id of a message (25 letters and digits, in any case) or the name of a bookmark. The bookmarks of a chat
are a table, name to id, made of its lines in order:

    a record {"type": "bookmark", "name", "target"}   sets the bookmark there; "" removes it
    a message with "head"                             sets a bookmark that is not there yet, and moves one only when
                                                      the message descends from where it stands

A removed bookmark stays in the table as "": messages go on carrying its name, and only a record brings it back. A new
message carries the bookmark of what it continues, so that the bookmark goes along with the talk.
Works on values alone; imports under MicroPython.
"""

from oasis.core.ids import is_scru128, looks_like_id
from oasis.core.schema import bookmark_fault, is_message
from oasis.errors import UsageError

if False:  # annotations only
    from oasis.core.shapes import Callable, ChatRecord, Entry, Iterator, Message

    Table = dict[str, str]
    Links = tuple[list[str], list[str | list[str]]]  # ids, and what each continues: one alone, or several


def resolve(headish: str, table: "Table", newest: str = "") -> str:
    """Return the id that a headish names; without one, `newest`. Whether such a message exists is not looked at.

    Raises: UsageError naming the headish.
    """
    if looks_like_id(headish):
        return headish.lower()
    if not headish:
        if not newest:
            raise UsageError("there is no message yet to continue", "begin with a message of your own")
        return newest
    if not table.get(headish):
        known = names(table)
        raise UsageError(
            "there is no message and no bookmark %r" % headish,
            "there are: " + ", ".join(known) if known else "ids of messages have 25 letters and digits",
        )
    return table[headish]


def check_name(name: str) -> None:
    """Raise UsageError, saying why, unless a bookmark can have this name."""
    fault = bookmark_fault(name)
    if fault:
        raise UsageError("a bookmark cannot be named %r: %s" % (name[:80], fault), "use a word or two, like home-wifi")


def record(name: str, target: str) -> "ChatRecord":
    """Return the record that sets or moves a bookmark, or removes it with "" as target.

    Raises: UsageError for a name that a bookmark cannot have, or a target that is no id.
    """
    check_name(name)
    if target and not is_scru128(target.lower()):
        raise UsageError("%r is not the id of a message" % target, "ids have 25 letters and digits")
    return {"type": "bookmark", "name": name, "target": target.lower()}


def names(table: "Table") -> "list[str]":
    """Return the names of the bookmarks that stand somewhere, sorted."""
    return sorted([name for name in table if table[name]])


def table(lines: "Iterator[Entry] | list[Entry]") -> "Table":
    """Return the bookmarks of a chat from all of its checked lines, in file order; they are gone through once."""
    found: Table = {}
    links: Links = ([], [])
    below: dict[str, set[str]] = {}  # bookmark -> the messages that descend from where it stands, itself included
    for line in lines:
        if is_message(line):
            name, parents, head = line["id"], line.get("continues", []), line.get("head")
            for mark in below:
                if any([parent in below[mark] for parent in parents]):
                    below[mark].add(name)
            if head and (head not in found or name in below[head]):
                found[head] = name
                below[head] = {name}
            links[0].append(name)
            links[1].append(parents[0] if len(parents) == 1 else parents)
        elif line.get("type") == "bookmark":
            mark, target = line["name"], line["target"].lower()
            found[mark] = target
            below[mark] = {target} if target else set()
            for at, before in enumerate(links[1] if target else []):  # parents come first
                if any([parent in below[mark] for parent in ([before] if isinstance(before, str) else before)]):
                    below[mark].add(links[0][at])
    return found


def descends(names: "list[str]", ancestor: str, parents: "Callable[[str], list[str]]") -> bool:
    """Return whether one of some messages is `ancestor` or continues it; `parents(id)` is what a message continues."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        one = waiting.pop()
        if one == ancestor:
            return True
        if one not in seen:
            seen.add(one)
            waiting += parents(one)
    return False


def head_of_turn(
    continues: "list[str]", messages: "dict[str, Message]", table: "Table", explicit: str = ""
) -> "tuple[str, bool]":
    """Return the bookmark that a new message of the owner carries, "" for none, and whether a record must move it.

    An explicit name wins; else it is that of the LAST message continued, unless the bookmark was removed since. True
    when an explicit one stands where the new message does not descend from: `record(name, id)` goes behind the message.
    Raises: UsageError for a name that a bookmark cannot have.
    """
    if explicit:
        check_name(explicit)
        stands = table.get(explicit)
        reached = stands and descends(continues, stands, lambda one: messages.get(one, {}).get("continues", []))
        return explicit, stands is not None and not reached
    last = messages.get(continues[-1]) if continues else None
    head = last.get("head", "") if last else ""
    return ("" if table.get(head) == "" else head), False
