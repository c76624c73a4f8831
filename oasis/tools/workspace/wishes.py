"""What the owner set for the tools of the workspace and the web, in sections of /etc/config/oasis; wrong is told.

config workspace 'workspace'
    option path '/tmp/oasis-work'        where files are, and programs run
    list command 'ping -c 3'             words that a command of shell_exec may begin with, a program or more
config web 'web'
    list reach '192.168.1.10:8080'       what is in the home network, and may be fetched all the same
    option searxng 'https://…'           where web_search asks; else Brave, with its key in keys.json under `brave`
"""

from __future__ import annotations

from oasis.errors import OasisError, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.uci.model import Section

WORKSPACE = "/tmp/oasis-work"  # noqa: S108 - in RAM, and made by us for the user alone
# Elsewhere lies what belongs to the system.
PLACES = ("tmp", "mnt", "opt", "srv", "home")
# Who may run one of these may run anything, or speaks to the router's own services.
SHELLS = frozenset(
    ["sh", "ash", "bash", "dash", "zsh", "ksh", "busybox", "env", "nohup", "setsid", "timeout", "time", "nice", "xargs",
     "find", "awk", "su", "sudo", "start-stop-daemon", "ubus", "oasis", "chroot", "unshare", "nsenter", "script"]
)  # fmt: skip


def workspace(sections: list[Section]) -> tuple[str, list[list[str]], list[str]]:
    """Return the folder, the commands as words, and what is wrong with the settings.

    Raises: SettingsError when the folder cannot be one.
    """
    options = _options(sections, "workspace")
    folder = str(options.get("path") or WORKSPACE)
    parts = folder.split("/")[1:]
    is_plain = folder.startswith("/") and len(parts) > 1 and parts[0] in PLACES and all(parts)
    if not is_plain or ".." in parts or "." in parts or "\0" in folder:
        raise SettingsError(
            "oasis.workspace.path is %r" % folder[:200], "a folder below " + ", ".join("/" + one for one in PLACES)
        )
    allowed, notes = [], []
    for text in _texts(options.get("command")):
        words, fault = _command(text)
        if fault:
            notes.append("command %r does not count: %s" % (text[:60], fault))
        else:
            allowed.append(words)
    return folder, allowed, notes


def _command(text: str) -> tuple[list[str], str]:
    from oasis.uci import shell_words

    try:
        found = shell_words.commands(text)
    except OasisError as error:
        return [], error.message
    if len(found) != 1:
        return [], "it is not one command"
    if found[0][0].rpartition("/")[2] in SHELLS:
        return [], "whoever may run %s may run anything" % found[0][0]
    return found[0], ""


def web(sections: list[Section]) -> tuple[list[str], str]:
    """Return the places at home that may be fetched, and the address of a SearXNG or ""."""
    options = _options(sections, "web")
    return _texts(options.get("reach")), str(options.get("searxng") or "")


def _options(sections: list[Section], kind: str) -> dict[str, Any]:
    for section in sections:
        if section.type == kind:
            return section.options
    return {}


def _texts(given: object) -> list[str]:
    return [str(one) for one in given if one] if isinstance(given, list) else [str(given)] if given else []
