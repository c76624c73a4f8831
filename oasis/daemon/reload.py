"""Settings that a running daemon takes over: procd sends SIGHUP when /etc/config/oasis was changed.

What is read afresh each time (services, keys, budgets, tools, titles, the chats' quota) needs none of this. A setting
that needs a restart is reported, and so is an invalid value: then everything stays as it was.
"""

from __future__ import annotations

from oasis.change.policy import APPROVALS
from oasis.errors import OasisError

if False:  # annotations only
    from oasis.change.policy import Policy
    from oasis.config.settings import Settings
    from oasis.llm.workers import Models

# What is built once at the start, and would pull the rug from under what is going on.
AT_START = ("alive_loopback", "bus", "chat_path", "sync", "sync_interval_s", "uci_backend")


def take(settings: Settings, policy: Policy, models: Models, before: dict[str, str]) -> list[str]:
    """Take over what changed since `before`, which becomes what is now; return what there is to tell."""
    try:
        rules = (settings.choice("approval", APPROVALS), *_numbers(settings, confirm_s=0, management_confirm_s=0))
        sizes = _numbers(settings, worker_max=2, worker_idle_s=60)
    except OasisError as error:
        return ["the settings stay as they were: %s" % error.message]
    policy.set(*rules)
    models.set(*sizes)
    now = settings.main()
    changed = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    before.clear()
    before.update(now)
    late = ", ".join(name for name in changed if name in AT_START)
    at_once = ", ".join(name for name in changed if name not in AT_START)
    notes = ["settings taken over: " + at_once] if at_once else []
    return notes + (["taken over at the next start (service oasis restart): " + late] if late else [])


def _numbers(settings: Settings, **defaults: int) -> tuple[int, int]:
    first, second = [settings.number(option, default) for option, default in defaults.items()]
    return first, second
