"""What the Oasis that was here before left behind is taken over, at start: its rollback list, and keys in UCI.

What cannot be migrated yet is logged and tried again at the next start. Keys go in three steps, each whole on the disk
before the next: services get an identifier of their own, for a key is kept by it; the key file gets the keys; then the
options go. After a crash between two of them the next start does the rest: a key is in one of the two places at all
times, and in both it is the same.
"""

from __future__ import annotations

import os

from oasis.config.settings import PACKAGE, write
from oasis.errors import OasisError

if False:  # annotations only
    from oasis.change.apply.journal import Journal
    from oasis.config.settings import Settings
    from oasis.core.shapes import Callable
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.uci.cursor import Cursor
    from oasis.uci.edit import Step
    from oasis.uci.model import Section

# Of what is taken over when the owner says so: it may be much, and they may want none of it.
WAITING = "chats and system messages of the earlier Oasis wait: oasis import --upstream takes them over"


def rollbacks(journal: Journal, files: Files, state: str) -> str:
    """Put the old rollback list into the history, once; return what there is to tell, "" for nothing."""
    if not files.names(state + "/backup"):
        return ""
    from oasis.change.history.lua_rollbacks import import_rollbacks

    try:
        count = import_rollbacks(journal, files, state)
    except OasisError as error:
        return "the old rollback list is not taken over yet: %s" % error.message
    return "%d changes of the old rollback list are in the history" % count if count else ""


def keys(settings: Settings, root: Root, cursor: Callable[[], Cursor]) -> str:
    """Take keys out of the settings' file, and the file out of others' sight; return what there is to tell."""
    path = root.confdir + "/" + PACKAGE
    sections = settings.uci_sections()
    is_open = bool(sections) and os.stat(path).st_mode & 0o077
    services = [section for section in sections if section.type == "service"]
    if not is_open and not any(OPTION in section.options or _is_nameless(section) for section in services):
        return ""
    try:
        _close(path)
        count = move_keys(settings, cursor())
        _close(path)
    except OasisError as error:
        return "the keys in %s are not moved yet: %s" % (path, error.message)
    return "%d keys were moved from %s to the key file" % (count, path) if count else ""


def _close(path: str) -> None:
    """Take a file from the eyes of others: chats' titles are in it, and it held keys."""
    mode = os.stat(path).st_mode
    if mode & 0o077:
        os.chmod(path, mode & 0o700)


OPTION = "api_key"


def move_keys(settings: Settings, cursor: Cursor) -> int:
    """Move the keys of all services to the key file; return how many there were.

    Raises: SettingsError when the key file is damaged, StoreError, UciError; nothing is lost then.
    """
    if cursor.changes(PACKAGE):
        cursor.revert(PACKAGE)
    seen: set[str] = set()
    named: list[Step] = []
    for section in settings.uci_sections():
        if section.type == "service":
            name = _identifier(section)
            if name in seen or _is_nameless(section):
                name = "%010d" % (int.from_bytes(os.urandom(8), "big") % 10**10)  # ten digits, as upstream's
                named.append({"op": "set", "section": section.name, "option": "identifier", "value": name})
            seen.add(name)
    if named:
        write(cursor, named)
    old = [section for section in settings.uci_sections() if section.type == "service" and OPTION in section.options]
    keys = {}
    for section in old:
        value = section.options[OPTION]
        keys[_identifier(section)] = (value if isinstance(value, str) else "".join(value[:1])).strip()
    found = {identifier: key for identifier, key in keys.items() if key}
    settings.add_keys(found)
    if old:
        write(cursor, [{"op": "delete", "section": section.name, "option": OPTION} for section in old])
    return len(found)


def _identifier(section: Section) -> str:
    return str(section.options.get("identifier") or section.name)


def _is_nameless(section: Section) -> bool:
    """Tell whether a service has no name but one that changes when sections move."""
    return section.anonymous and not section.options.get("identifier")
