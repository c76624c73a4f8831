"""How plans, changes and stored chats look as text: pure functions from a method's values to lines for the Screen.

A card is a list of (text, look); looks are the keys of terminal.COLOURS, or "". Texts are cleaned here, one line
each, because they hold names from the router and words of the model.
"""

from __future__ import annotations

import time

from oasis.core import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Change, Json, LineDiff, PlanCard, RefusalEvent, StoredBlock, StoredMessage, WholeChange

    Card = list[tuple[str, str]]

STATES = {"applied": "applied", "confirmed": "kept", "rolled_back": "rolled back", "rollback_failed": "ROLLBACK FAILED"}

_RESULTS = {"seen": "verified", "not read back": "not verified"}
_PROOFS = {
    "connection": "proved by a new connection",
    "login": "proved by a new login",
    "console": "at the console, which proves nothing of the network",
    "word": "not proved, the owner said so",
}
_IN_SIGHT = "  words of others were in sight when it was made"


def plan_card(plan: PlanCard, with_hash: bool) -> Card:
    """Return a plan: in words, as UCI, what follows from it; `with_hash` adds what an approval elsewhere needs."""
    card = [(f"Plan {plan['short']}: {plan['summary']}", "bold"), *[(f"  - {word}", "") for word in plan["words"]]]
    for secret in plan.get("secrets", []):
        if secret.get("value"):
            card.append((f"  in clear: {secret['where']} is '{secret['value']}'", "bold"))
    if plan["risk"] == "risky":
        card.append(("  risky: " + ", ".join(plan["reasons"] or ["it may cut the connection"]), ""))
    card += _diff(plan["diff"])
    if plan["services"]:
        services = ", ".join(f"{service['action']} {service['name']}" for service in plan["services"])
        card.append((f"  then: {services}", ""))
    if plan["confirm_s"]:
        limit = f"within {plan['confirm_s']} s"
        card.append((f"  afterwards it must be kept {limit}, or everything is undone automatically", ""))
    if plan.get("verdict"):
        verdict = plan["verdict"]
        words = "; ".join([verdict["verdict"].replace("_", " "), *verdict["reasons"]])
        card.append((f"  will you still reach it: {words}", "-" if verdict["verdict"] == "no" else ""))
    if plan.get("untrusted"):
        card.append((f"  words of others are in it: {', '.join(plan['untrusted'])}", ""))
    elif plan.get("tainted"):
        card.append((_IN_SIGHT, ""))
    if plan.get("forces"):
        card.append((f"  forced by you: {', '.join(plan['forces'])}", "-"))
    if plan.get("typed_word"):
        words = f"type {plan['typed_word']} to approve it: the AI worker is not confined, {plan['unconfined']}"
        card.append((f"  {words}", ""))
    if plan.get("choice"):
        card.append((f"  {plan['choice']['say']}: {plan['choice']['text']}", ""))
    if plan.get("new_address"):
        card.append((f"  afterwards the router is at http://{plan['new_address']}/", "bold"))
    card += [(f"  plan {plan['id']}", ""), (f"  hash {plan['hash']}", "")] if with_hash else []
    return [(clean.shown(text), look) for text, look in card]


def refused_card(event: RefusalEvent) -> Card:
    card = [(f"Refused: {event['summary']}", "bold"), *[(f"  - {reason}", "") for reason in event["reasons"]]]
    card += [(f"  {line}", "dim") for line in event["uci"]]
    card += [(_IN_SIGHT, "")] if event.get("tainted") else []
    if event["refused"]:
        card.append((f"  to propose it all the same: oasis force {event['refused']}", ""))
    elif event.get("hint"):
        card.append((f"  {event['hint']}", ""))
    return [(clean.shown(text), look) for text, look in card]


def _diff(packages: list[LineDiff]) -> Card:
    card: Card = []
    for package in packages:
        card.append((clean.shown(f"  {package['package']}:"), "dim"))
        for line in package["lines"]:
            text = line["text"].replace("\t", "    ")
            card.append((clean.shown(f"  {line['op']} {text}"), line["op"].strip()))
    return card


def whole_change(change: WholeChange) -> Card:
    """Return all that is known about a change: when, what in words and lines, and what became of it."""
    card = [*change_card(change), (f"  made {local_time(change['when_unix_s'])}", "")]
    if change.get("source"):
        card.append((clean.line(f"  taken over from {change['source']}"), ""))
    card += [(clean.line(f"  - {word}"), "") for word in change["words"]]
    card += _diff(change["diff"])
    for service in change["services"]:
        action = f"{service['action']} {service['name']}"
        card.append((clean.line(f"  then: {action}"), ""))
    for result in ("seen", "not read back"):
        looked = [item["what"] for item in change.get("verified", []) if item["result"] == result]
        if looked:
            card.append((clean.line(f"  {_RESULTS[result]}: {', '.join(looked)}"), ""))
    if change.get("proof"):
        card.append((clean.line(f"  still reached: {_PROOFS.get(change['proof'], change['proof'])}"), ""))
    if change.get("until_unix_s") and not _will_end(change):
        card.append((f"  until {local_time(change['until_unix_s'])}", ""))
    if change.get("expiry"):
        card.append((clean.line(f"  {change['expiry']}"), "-"))
    card += [(clean.line(f"  what somebody else wrote meanwhile is in {path}"), "") for path in change.get("kept", [])]
    return card


def change_card(change: Change) -> Card:
    undone = f", undone by {change['undone_by']}" if change.get("undone_by") else ""
    undoes = f", undoes {change['undoes']}" if change.get("undoes") else ""
    card = [(clean.line(f"Change {change['id']} {_state(change)}: {change['summary']}{undoes}{undone}"), "bold")]
    for service in change["services"]:
        if not service.get("ok", True):
            card.append((clean.line(f"  {service['action']} {service['name']} failed"), "-"))
    if change["state"] in ("rolled_back", "rollback_failed") and change.get("reason"):
        card.append((clean.line(f"  because {change['reason']}"), ""))
    if change["state"] == "applied" and change.get("new_address"):
        card.append((clean.line(f"  the router is now at http://{change['new_address']}/"), "bold"))
    left_s = change.get("confirm_in_s")
    if change["state"] == "applied" and left_s:
        card.append((f"  it is undone automatically in {left_s} s unless it is kept", ""))
    if _will_end(change):
        card.append((f"  until {local_time(change['until_unix_s'])}: then it is undone by itself", ""))
    return card


def _will_end(change: Change) -> bool:
    stands = change["state"] in ("applied", "confirmed") and not change.get("undone_by")
    return bool(stands and change.get("until_unix_s") and not change.get("expiry"))


def ending_line(change: Change) -> str:
    when = local_time(change["until_unix_s"])
    return clean.line(f"{change['summary']}: until {when}, then it is undone by itself ({change['id']})")


def change_line(change: Change) -> str:
    state = "undone" if change.get("undone_by") else _state(change)
    end = ""
    if change.get("expiry"):
        end = f" ({change['expiry']})"
    elif change.get("until_unix_s") and state != "undone":
        end = f" (until {local_time(change['until_unix_s'])})"
    return clean.line(f"{change['id']}  {local_time(change['when_unix_s'])}  {state:11}  {change['summary']}{end}")


def transcript(messages: list[StoredMessage]) -> list[str]:
    """Return a stored chat as paragraphs: who said it, then the text; tools as one line each."""
    paragraphs = []
    for message in messages:
        content = message["content"]
        blocks: list[StoredBlock] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        speaker = {"user": "you", "assistant": "oasis"}.get(message["role"], message["role"])
        for block in blocks:
            if block["type"] == "text" and block["text"]:
                paragraphs.append(clean.text(f"{speaker}: {block['text']}").rstrip("\n"))
            elif block["type"] == "tool_use":
                paragraphs.append(tool_line(block["name"], block["input"]))
            elif block["type"] == "tool_result" and block.get("is_error"):
                result = block["content"]
                text = result if isinstance(result, str) else " ".join(part.get("text", "") for part in result)
                paragraphs.append(clean.line(f"[{block['name']} failed: {text}]"))
            elif block["type"] in ("document", "image"):
                paragraphs.append(clean.line(f"[attached: {block.get('name') or block['type']}]"))
        if message.get("error"):
            paragraphs.append(clean.line(f"[the turn ended: {message['error'].get('message', '')}]"))
    return paragraphs


def tool_line(name: str, arguments: dict[str, Json]) -> str:
    words = []
    for value in arguments.values():
        words += [str(item) for item in value] if isinstance(value, list) else [str(value)]
    return clean.line(f"[{name}{': ' if words else ''}{'; '.join(words)}]")


def local_time(unix_s: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(unix_s))


def _state(change: Change) -> str:
    """Return the state in words; a change that nobody was asked to keep is just made."""
    if change["state"] == "confirmed" and change["risk"] == "low":
        return "made"
    return STATES.get(change["state"], str(change["state"]))
