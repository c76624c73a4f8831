"""A stock router as the offline provider sees it, and what its answers come to."""

from oasis.catalogue import check
from oasis.change import uci_commands
from oasis.parts.offline.provider import Provider
from oasis.uci import model
from oasis.uci.model import preview
from tests.router import stock
from tests.router.stock import GUEST, HOME, LEASES, NOW_S

__all__ = (
    "GUEST", "HOME", "LEASES", "NOW_S", "ONE", "Router", "assistant", "calls_of", "reply", "steps_of", "text_of",
)  # fmt: skip

ONE = Provider()  # what it read of the files is kept


def reply(messages, facts, now_s):
    """Answer as the provider does; its files are read once for all tests."""
    return ONE.reply(messages, facts, now_s)


class Router(stock.Router):
    """The stock router, which can be talked to."""

    def ask(self, *lines):
        """Say the lines one after another; return the events of the last answer."""
        messages = []
        for line in lines:
            messages.append({"role": "user", "content": line})
            events = reply(messages, self.facts, NOW_S)
            messages.append(assistant(events))
        return events

    def changes(self, events):
        """Carry out the uci commands of an answer; return {path: value or None when it is gone}."""
        steps = steps_of(events)
        after = preview(self.files, steps)
        before, now = _flat(self.files), _flat(after)
        found = {path: now.get(path) for path in {**before, **now} if before.get(path) != now.get(path)}
        assert check.check(steps, self.config) == []
        return found


def steps_of(events):
    """Return the operations of the configure call, read as the tool reads them."""
    calls = [event for event in events if event["type"] == "tool_use" and event["name"] == "configure"]
    assert len(calls) <= 1
    return [step for call in calls for step in uci_commands.parse("\n".join(call["input"]["commands"]))[0]]


def assistant(events):
    """Return the message that an answer is stored as."""
    blocks = [{"type": "text", "text": event["text"]} for event in events if event["type"] == "delta"]
    for event in events:
        if event["type"] == "tool_use":
            blocks.append({key: event[key] for key in ("type", "id", "name", "input")})
    return {"role": "assistant", "content": blocks}


def text_of(events):
    """Return the words of an answer."""
    return "".join(event["text"] for event in events if event["type"] == "delta")


def calls_of(events):
    """Return the tool calls of an answer as (name, input)."""
    return [(event["name"], event["input"]) for event in events if event["type"] == "tool_use"]


def _flat(files):
    found = {}
    for package, data in files.items():
        count = {}
        for section in model.parse(data, package).sections:
            index = count[section.type] = count.get(section.type, -1) + 1
            path = package + "." + (f"@{section.type}[{index}]" if section.anonymous else section.name)
            found[path] = section.type
            for option, value in section.options.items():
                found[path + "." + option] = value
    return found
