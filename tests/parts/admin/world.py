"""A router with WireGuard: the stock root, netifd's handler, and programs that a test writes."""

import json
import os

from tests.daemon.test_wiring import follow, of_type
from tests.oasisd import copy_root


def router(folder):
    """Return the path of a root that can do WireGuard."""
    root = copy_root(str(folder))
    put(root, "/lib/netifd/proto/wireguard.sh", "#!/bin/sh\n")
    return root


def put(root, path, text, mode=0o644):
    """Write a file of the router."""
    os.makedirs(os.path.dirname(root + path), exist_ok=True)
    with open(root + path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(root + path, mode)


def program(root, name, text):
    """Put a program on the router's PATH that also writes what it was called with into var/log/NAME."""
    put(root, "/bin/" + name, f'#!/bin/sh\necho "$*" >>{root}/var/log/{name}\n{text}\n', 0o755)


def called(root, name):
    """Return the arguments with which a program of `program` was called, a line each."""
    try:
        with open(f"{root}/var/log/{name}", encoding="utf-8") as file:
            return file.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


def result(events):
    """Return the tool result of a run, or its error."""
    found = of_type(events, "tool_result")
    return json.loads(found[-1]["text"]) if found else {"error": of_type(events, "error")[-1]["error"]}


def approve(daemon, card):
    word = {"word": card["typed_word"]} if card.get("typed_word") else {}
    return daemon.call("plan.approve", plan=card["id"], hash=card["hash"], **word)


def carried_out(daemon, started):
    """Follow a run, approve its plan and keep the change; return the card, None without one, and the result."""
    events = follow(daemon, started, ("plan", "end"))
    cards = of_type(events, "plan")
    if not cards:
        return None, result(events)
    card = cards[-1]["plan"]
    assert card["needs_approval"] and approve(daemon, card)["decision"] == "approved"
    told = result(follow(daemon, started))
    if "change" in told:
        daemon.call("change.confirm", change=told["change"], unproved=True)
    return card, told
