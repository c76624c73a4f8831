"""What the Oasis that was here before left behind is taken over, at start: its rollback list, and keys in UCI.

Looks first, and loads what does the work only where there is some. What cannot be migrated yet is logged and tried
again at the next start.
"""

from __future__ import annotations

import os

from oasis.config.settings import PACKAGE
from oasis.errors import OasisError

if False:  # annotations only
    from oasis.change.apply.journal import Journal
    from oasis.config.settings import Settings
    from oasis.core.shapes import Callable
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.uci.cursor import Cursor
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
    if not is_open and not any(_is_old(section) for section in sections):
        return ""
    from oasis.config import key_migration

    try:
        return key_migration.move(settings, cursor(), path)
    except OasisError as error:
        return "the keys in %s are not moved yet: %s" % (path, error.message)


def _is_old(section: Section) -> bool:
    """Tell whether a service has a key in its section, or no name but one that changes when sections move."""
    is_nameless = section.anonymous and not section.options.get("identifier")
    return section.type == "service" and ("api_key" in section.options or is_nameless)
