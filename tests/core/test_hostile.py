"""Any value at all: the schema takes it or names what is wrong, and what it took no other part stumbles over."""

from oasis.core import blobs, bookmarks, jsonl, schema, thread, trim
from oasis.errors import SchemaError

ROUNDS = 3000


class Dice:
    """A plain seeded generator; the same numbers under both interpreters."""

    def __init__(self, seed):
        self.state = seed * 2654435761 % 4294967291 + 1

    def below(self, limit):
        self.state = self.state * 48271 % 2147483647
        return self.state // 7 % limit

    def one(self, values):
        return values[self.below(len(values))]


IDS = ["%025d" % number for number in range(8)]
PLAIN = (
    None, True, False, 0, 1, -1, 2**60, 1.5, "", "x", "home", "\u202e", "user", "tool", "text", "tool_use",
    "a" * 25, "0" * 64, [], {}, ["x"], [5], {"type": "text"}, "\ud83d\ude00",
)  # fmt: skip
FIELDS = (
    "id", "role", "content", "continues", "head", "options", "cache", "provider", "model", "stop_reason", "usage",
    "taint", "error", "type", "text", "input", "name", "tool_use_id", "is_error", "user_only", "provider_metadata",
    "media_type", "sha256", "size_bytes", "title", "by", "target", "archived", "unix_s", "invalid",
)  # fmt: skip


def block(dice, depth=1):
    kind = dice.one(("text", "thinking", "tool_use", "tool_result", "document", "image", "server_tool_use"))
    value = {"type": kind}
    if kind in ("text", "thinking"):
        value["text"] = dice.one(("", "words", "ü"))
    elif kind == "tool_use":
        value.update({"id": dice.one(("", "c1", "c2")), "name": "status", "input": {"a": [1]}})
    elif kind == "tool_result":
        inner = [block(dice, 0) for _ in range(dice.below(3))] if depth else []
        value.update({"tool_use_id": dice.one(("", "c1", "c2")), "name": "status", "content": inner})
    elif kind in ("document", "image"):
        value.update({"media_type": "text/plain", "sha256": dice.one(("0" * 64, "ab" * 32))})
    return value


def line(dice):
    """Return a line that is right but for at most two places."""
    kind = dice.below(5)
    if kind == 0:
        value = {"type": dice.one(("title", "bookmark", "archived", "forgotten", "newer"))}
        value.update({"title": "x", "name": "home", "target": dice.one(IDS), "archived": True, "id": dice.one(IDS)})
    else:
        content = [block(dice) for _ in range(dice.below(4))] if dice.below(3) else "words"
        value = {"id": dice.one(IDS), "role": dice.one(schema.ROLES), "content": content}
        value["continues"] = [dice.one(IDS) for _ in range(dice.below(3))]
        if dice.below(2):
            value["head"] = dice.one(("home", "work"))
        if dice.below(3) == 0:
            value["options"] = {"servers": dice.one(([], ["a"], [])), "x": dice.one(PLAIN)}
    for _ in range(dice.below(3)):
        where = value
        if dice.below(2) and isinstance(value.get("content"), list) and value["content"]:
            where = dice.one(value["content"])
        if isinstance(where, dict):
            where[dice.one(FIELDS)] = dice.one(PLAIN)
    return value


def test_a_line_is_taken_or_refused_with_a_path_and_what_was_taken_is_handled_everywhere():
    dice = Dice(11)
    taken, messages = [], {}
    refused = 0
    for _ in range(ROUNDS):
        value = line(dice)
        try:
            schema.check_line(value)
            jsonl.dumps(value)
        except SchemaError as error:
            assert error.message
            refused += 1
            continue
        taken.append(value)
        if "role" in value:
            messages[value["id"]] = value
        if dice.below(20) == 0:
            everywhere(taken, messages)
            taken, messages = [], {}
    assert ROUNDS // 10 < refused < ROUNDS * 9 // 10


def everywhere(lines, messages):
    bookmarks.table(lines)
    ends = sorted(messages)[-2:]
    for value in messages.values():
        schema.text_of(value), schema.taint_of(value), schema.compact(schema.blocks(value))
        schema.check_response(thread.response(value))
    ordered = thread.resolve(messages, ends)["messages"]
    thread.lineage(messages, ends), thread.taint(ordered), thread.unanswered(ordered)
    blobs.references(ordered)
    trim.fit(ordered, 50, "summary")


def content_of(given):
    return thread.message("0" * 25, "user", given)


def test_any_value_is_no_fault():
    dice = Dice(5)

    def value(depth):
        if not depth or dice.below(3) == 0:
            return dice.one(PLAIN)
        if dice.below(2):
            return [value(depth - 1) for _ in range(dice.below(3))]
        return {dice.one(FIELDS): value(depth - 1) for _ in range(dice.below(6))}

    for _ in range(ROUNDS):
        given = value(4)
        for check in (schema.check_line, schema.check_block, schema.check_response, content_of):
            try:
                check(given)
            except SchemaError as error:
                assert error.message
