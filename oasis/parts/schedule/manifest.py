"""The manifest of the part `schedule`: jobs at a time or when something happens."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.system.root import Root
    from oasis.tools.router import Facts

VERSION = "0.2.0"

METHODS = {"schedule": "parts.schedule.scheduler"}
# The fields of a scheduled job, see shapes.pyi.
JOB = {"timezone": str, "calls": list, "synthesis": str, "service": str, "pause_s": int}

ROWS = {
    "schedule.list": ("read", "schedule.schedule_list", {}),
    "schedule.add": ("write", "schedule.schedule_add", {"when": str, "wish": str}, {"approve": bool, **JOB}),
    "schedule.change": (
        "write",
        "schedule.schedule_change",
        {"id": str},
        {"when": str, "wish": str, "enabled": bool, **JOB},
    ),
    "schedule.delete": ("write", "schedule.schedule_delete", {}, {"id": str, "all": bool}),
    "schedule.run": ("write", "schedule.schedule_run", {"id": str}),
    "schedule.approve": ("write", "schedule.schedule_approve", {"id": str}),
}
# A scheduled job works through tools and calls no method. It makes no schedule: one wish would grow.
ROLE_METHODS = {"viewer": ("schedule.list",), "schedule": ()}
ROLE_TOOLS = {"schedule": ("*", "no schedule_create", "no schedule_update", "no schedule_delete")}
TOOLS = {"schedule": "parts/schedule/tools.json"}


def has_enabled(data: bytes | None) -> bool:
    """Tell whether the file of the entries may have one that is enabled, or whose plan waited when the daemon ended."""
    return data is not None and (b'"enabled":true' in data or b'"state":"waiting"' in data)


STARTING = {"schedule": lambda kit: has_enabled(kit.files.read(kit.root.state_folder + "/schedule.jsonl"))}


def moment(words: str, now_s: int, facts: Facts, root: Root) -> int:
    """Return the time that words mean in the router's zone. Raises: UsageError."""
    from oasis.parts.schedule import phrases
    from oasis.parts.schedule.zone import Zones

    return phrases.moment(words, now_s, Zones(facts).router())


COMMANDS = {
    "schedule": (
        "[--zone ZONE] [--service SERVICE] [--pause SECONDS] [--when WHEN] [--ahead] [--no-wait] [ACTION] [NAME] "
        "[WISH…]",
        "what is done at a time, again and again, or when something happens",
        "parts.schedule.command:schedule",
        "ACTION is list, add WHEN WISH, change ID WISH, on, off, run, approve or delete ID; delete all. WHEN is like\n"
        "'every weekday at 7:00', 'tomorrow at 8 pm', 'jeden Tag um 22 Uhr', '22:00 daily', '07:00 monthly(31)',\n"
        "'2026-12-24 18:00', '30 22 * * mon-fri' or 'on wan_down' (wan_up, new_device, disk_full, failed_logins).\n"
        "WISH is said then as you would say it; nobody is there, so only low risk is applied: what is risky waits\n"
        "for you, unless you approve it ahead (--ahead).",
    )
}
