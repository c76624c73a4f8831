"""Wire what judges a change afterwards: its services, the verification, the proof of life.

Loaded with the first change: an idle daemon does without.
"""

from __future__ import annotations

import os
import time

from oasis.change.apply.init_scripts import Services, bystanders, turned_off
from oasis.change.apply.proof_of_life import Life
from oasis.change.apply.verification import SETTLE_S, Verification
from oasis.errors import ToolError
from oasis.system.connections import connections, login_of
from oasis.ubus.message import NO_DATA, NOT_FOUND
from oasis.ubus.outgoing import SESSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.verification import Bus
    from oasis.change.shapes import Clock
    from oasis.system.child import Executor
    from oasis.system.files import Files
    from oasis.system.root import Root

_HEX = "0123456789abcdef"
# In a folder nothing goes on after an init script has returned.
_FOLDER_SETTLE_S = 0.1


class Evidence:
    """The three parts: `services`, `verification`, `life`; and which services a change turns off, or is not about."""

    turned_off = staticmethod(turned_off)
    bystanders = staticmethod(bystanders)

    def __init__(self, services: Services, verification: Verification, life: Life) -> None:
        self.services = services
        self.verification = verification
        self.life = life


def gather(root: Root, executor: Executor, files: Files, bus: Bus, clock: Clock, is_here_fine: bool) -> Evidence:
    """Return the parts for one router. `is_here_fine`: loopback proves as well, in a folder only."""
    is_folder = root.folder != "/"

    def ruleset() -> str | None:
        nft = root.program("nft")
        if not nft or not nft.startswith(root.folder):  # the rules of this host are not those of a folder
            return None
        status, out, _ = executor.run([nft, "list", "table", "inet", "fw4"])
        return None if status else out.decode("utf-8", "replace")

    verification = Verification(
        bus, ruleset, lambda path: files.read(root.path(path)), lambda folder: files.names(root.path(folder)),
        clock.now_s, time.sleep, settle_s=_FOLDER_SETTLE_S if is_folder else SETTLE_S,
    )  # fmt: skip
    life = Life(connections, lambda session: may_keep(bus, session), login_of, clock.up_s, is_here_fine and is_folder)
    return Evidence(Services(root, executor, files.names), verification, life)


def luci_waits(bus: Bus) -> bool:
    """Return whether rpcd waits for the confirmation of an apply; nothing is confirmed by asking.

    Source: rpcd's uci.c, rpc_uci_confirm: no data when nobody waits, permission denied when it waits for another
    session than the one that asks.
    """
    try:
        bus("uci", "confirm", {SESSION: os.urandom(16).hex()})
    except ToolError as error:
        return error.status not in (NO_DATA, NOT_FOUND)  # a new rpcd knows nothing of what waited in the old one
    return True


def may_keep(bus: Bus, session: str) -> bool:
    """Return whether a session of rpcd may keep changes."""
    if len(session) != 32 or session.strip(_HEX):
        return False
    wanted: dict[str, object] = {"scope": "ubus", "object": "oasis.change", "function": "confirm"}
    try:
        reply = bus("session", "access", {SESSION: session, **wanted})
    except ToolError:  # rpcd knows no such session
        return False
    return bool(reply) and (reply or {}).get("access") is True
