"""Keys that upstream keeps in /etc/config/oasis are moved into the key file, at start.

Three steps, each whole on the disk before the next: services get an identifier of their own, for a key is kept by it;
the key file gets the keys; then the options go. After a crash between two of them the next start does the rest:
a key is in one of the two places at all times, and in both it is the same.
"""

from __future__ import annotations

import os

from oasis.config.settings import PACKAGE

if False:  # annotations only
    from oasis.config.settings import Settings
    from oasis.core.shapes import Callable
    from oasis.uci.cursor import Cursor
    from oasis.uci.edit import Step
    from oasis.uci.model import Section

OPTION = "api_key"


def move(settings: Settings, cursor: Cursor, path: str, random: Callable[[int], bytes] = os.urandom) -> str:
    """Move the keys of all services, and make the file private; return what there is to tell, "" for nothing.

    Raises: SettingsError when the key file is damaged, StoreError, UciError; nothing is lost then.
    """
    _close(path)
    count = move_keys(settings, cursor, random)
    _close(path)
    return "%d keys were moved from %s to the key file" % (count, path) if count else ""


def _close(path: str) -> None:
    """Take a file from the eyes of others: chats' titles are in it, and it held keys."""
    mode = os.stat(path).st_mode
    if mode & 0o077:
        os.chmod(path, mode & 0o700)


def move_keys(settings: Settings, cursor: Cursor, random: Callable[[int], bytes] = os.urandom) -> int:
    """Move the keys of all services; return how many there were."""
    if cursor.changes(PACKAGE):
        cursor.revert(PACKAGE)
    _identify(settings, cursor, random)
    with_option = [
        section for section in settings.uci_sections() if section.type == "service" and OPTION in section.options
    ]
    keys = {_identifier(section): _key(section) for section in with_option}
    found = {identifier: key for identifier, key in keys.items() if key}
    settings.add_keys(found)
    _write(cursor, [{"op": "delete", "section": section.name, "option": OPTION} for section in with_option])
    return len(found)


def _identify(settings: Settings, cursor: Cursor, random: Callable[[int], bytes]) -> None:
    """Give an identifier to services that have none, or one that another has: a key is found by it."""
    seen: set[str] = set()
    steps: list[Step] = []
    for section in settings.uci_sections():
        if section.type != "service":
            continue
        name = _identifier(section)
        if name in seen or (section.anonymous and not section.options.get("identifier")):
            # Ten digits, as upstream's.
            name = "%010d" % (int.from_bytes(random(8), "big") % 10**10)
            steps.append({"op": "set", "section": section.name, "option": "identifier", "value": name})
        seen.add(name)
    _write(cursor, steps)


def _write(cursor: Cursor, steps: list[Step]) -> None:
    if steps:
        cursor.stage([{"package": PACKAGE, **step} for step in steps])
        cursor.commit(PACKAGE)


def _identifier(section: Section) -> str:
    return str(section.options.get("identifier") or section.name)


def _key(section: Section) -> str:
    value = section.options[OPTION]
    return (value if isinstance(value, str) else "".join(value[:1])).strip()
