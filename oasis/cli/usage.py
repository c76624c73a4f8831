"""`oasis usage`: what models used, by month, service and model, and how much of the budget that is."""

from __future__ import annotations

from oasis.cli.commands import OK
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def usage(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the sums of the months, newest first, or those of one chat."""
    if arguments["CHAT"]:
        from oasis.cli.named import chat_id

        reply = call("usage.chat", {"id": chat_id(call, arguments["CHAT"])})
    else:
        month = arguments["--month"]
        if month and not (len(month) == 7 and month[4] == "-" and (month[:4] + month[5:]).isdigit()):
            raise UsageError(f"{month!r} is no month", "like 2026-11")
        reply = call("usage.list", {"month": month} if month else {})
    if screen.is_json:
        screen.json(reply)
        return OK
    month = ""
    for item in reply["usage"]:
        if item.get("month", "") != month:
            month = item["month"]
            screen.line(clean.line(month), "bold")
        screen.line(clean.line(_words(item, reply.get("currency", ""))))
    if not reply["usage"]:
        screen.line("no model was asked")
    _show_budget(reply.get("budget"), screen)
    return OK


def _words(item: dict[str, Any], currency: str) -> str:
    cached = f" ({item['cached_tokens']} from the cache)" if item["cached_tokens"] else ""
    cost = f", {item['cost']} {currency}".rstrip() if "cost" in item else ""
    counts = f"{item['input_tokens']} tokens in{cached}, {item['output_tokens']} out{cost}"
    return f"  {item['service']}  {item['model']}  {item['requests']} requests, {counts}"


def _show_budget(budget: dict[str, Any] | None, screen: Screen) -> None:
    if not budget:
        return
    parts = [f"{budget['tokens_used']} of {budget['tokens']} tokens"] if "tokens" in budget else []
    parts += [f"{budget['cost_used']} of {budget['cost']}"] if "cost" in budget else []
    screen.line(clean.line(f"this month's budget: {', '.join(parts)}, {budget['percent']} %"))
