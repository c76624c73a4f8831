"""What of a thread fits into a model's context: an estimate of tokens, a budget, and what is left out.

Works on messages alone; imports under MicroPython. The order in which things go, until the rest fits:

 1. the oldest turns, each whole; files that the newest question continues go last
 2. in the newest exchange, the oldest rounds of tool calls, each with its results; the last round stays
 3. the longest texts of results lose whole entries from their middle, with a count of them

System messages and the owner's newest message stay as they are, and no result stands without its call. A summary, when
the caller has one, stands where the turns were and has the taint of all that is left out. Words that a tool gave
for the owner alone are not in what is returned. What fits is returned unchanged: trimming twice is trimming once.
"""

from oasis.core import jsonl
from oasis.core.schema import OPAQUE, blocks, taint_of
from oasis.core.thread import CONTEXT_MESSAGES
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Block, Fitted, Json, Message, Sequence

# Of a model of which nobody said how much it takes: local servers often start with 8,192 or more.
WINDOW_TOKENS = 8192
# Kept free for the answer, where nobody said how long it may be: at most a quarter of the window.
ANSWER_TOKENS = 4096
# One part in twenty of the window stays free for what the service's own template puts around messages.
SLACK = 20
# Less holds no question with its answer; a smaller window is an error.
LEAST_TOKENS = 256

# Tokens that a service puts around a message, and around a call or a result.
MESSAGE_TOKENS = 4
BLOCK_TOKENS = 8
# The largest that the vendors count for one picture in their usual resolution.
IMAGE_TOKENS = 1600
# Bytes of a file to a token: text as text; a page of a PDF of 30 kB counts 2,000 or so, as text and as picture.
_TEXT_BYTES = 3
_FILE_BYTES = 12

# A result is not cut below this: its first and last lines still say what it was.
CUT_CHARS = 600
# A summary that takes more than this part of the budget is cut as well.
_SUMMARY_PART = 4
_SUMMARY = "[Summary of %d earlier messages that are left out here; a model wrote it, not the owner:]\n%s"
_MARKER = "\n[… %d characters are left out here …]\n"
_LINES = "[… %d lines are left out here …]"
_ENTRIES = "… %d entries are left out here …"
# An entry gets no less room than holds something to read.
_LEAST_ROOM = 80

# Hundredths of a token to a character. Digits one by one, as several vocabularies have them; marks and line ends from
# UCI and JSON; letters from languages that are not English.
_LETTER, _DIGIT, _MARK, _BLANK, _LINE = 32, 120, 55, 6, 20
_DIGITS = "0123456789"
_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
# First code point beyond -> hundredths: Cyrillic is known better than its neighbours.
_SCRIPTS = ((0x400, 110), (0x530, 55), (0x800, 110), (0x10000, 120), (0x110000, 300))


def tokens(text: str) -> int:
    """Return about how many tokens a text is: rather too many than too few."""
    hundredths = 0
    others = 0
    if text and max(text) > "\x7f":
        for char in text:
            if char > "\x7f":
                others += 1
                hundredths += next(cost for beyond, cost in _SCRIPTS if ord(char) < beyond)
    marks = sum([text.count(char) for char in _MARKS])
    digits = sum([text.count(char) for char in _DIGITS])
    blanks = text.count(" ")
    lines = text.count("\n") + text.count("\t")
    letters = len(text) - others - marks - digits - blanks - lines
    hundredths += _LETTER * letters + _MARK * marks + _DIGIT * digits + _BLANK * blanks + _LINE * lines
    return (hundredths + 99) // 100


def message_tokens(message: "Message") -> int:
    """Return about how many tokens a message is."""
    return MESSAGE_TOKENS + sum([block_tokens(block) for block in blocks(message)])


def block_tokens(block: "Block") -> int:
    """Return about how many tokens a block is; what a service wants back unchanged with it is not counted."""
    kind = block["type"]
    if kind in ("text", "thinking"):
        return tokens(block["text"])
    if kind == "tool_use":
        return BLOCK_TOKENS + tokens(block["name"]) + tokens(jsonl.dumps(block["input"]))
    if kind == "tool_result":
        return BLOCK_TOKENS + sum([block_tokens(item) for item in block["content"]])
    if kind == "image":
        return IMAGE_TOKENS
    if kind == "document":
        is_text = block["media_type"].startswith("text/") or block["media_type"] == "application/json"
        size_bytes: int = block.get("size_bytes", 0)
        return BLOCK_TOKENS + size_bytes // (_TEXT_BYTES if is_text else _FILE_BYTES)
    return tokens(jsonl.dumps(block)) if kind in OPAQUE else 0


def budget(window_tokens: int = 0, answer_tokens: int = 0, tools: "Sequence[object] | None" = None) -> int:
    """Return how many tokens of messages a model takes.

    `window_tokens` is the whole context of the model, `answer_tokens` the longest answer asked for, 0 where it is not
    known; `tools` are the tool specs sent along.
    """
    window = window_tokens or WINDOW_TOKENS
    answer = answer_tokens or min(ANSWER_TOKENS, window // 4)
    specs = sum([BLOCK_TOKENS + tokens(jsonl.dumps(spec)) for spec in tools or []])
    return max(window - answer - specs - window // SLACK, LEAST_TOKENS)


def fit(messages: "list[Message]", budget_tokens: int, summary: str = "", most: int = CONTEXT_MESSAGES) -> "Fitted":
    """Return the part of a context that fits into a budget; the given messages are not changed.

    `summary` tells, in a model's words, what a call without it named as left out; `most` caps the count of messages.
    """
    given = list(messages)
    for at, message in enumerate(messages):
        if any(["user_only" in block for block in blocks(message)]):  # words for the owner alone
            content = [block.copy() for block in blocks(message)]
            for block in content:
                block.pop("user_only", None)
            given[at] = _with(message, content)
    sizes = [message_tokens(message) for message in given]
    dropped: set[int] = set()  # places in `given`
    total = sum(sizes)
    reserve = message_tokens(_summary_message(summary, [], budget_tokens)) if summary else 0
    for group in _groups(given):
        if total + (reserve if dropped else 0) <= budget_tokens and len(given) - len(dropped) <= most:
            break
        dropped.update(group)
        total -= sum([sizes[place] for place in group])
    parts = _without_lost_results(given, dropped)
    kept = [parts.get(place, message) for place, message in enumerate(given) if place not in dropped]
    if dropped and summary:
        first = 0  # behind the first system messages
        while first < len(kept) and kept[first]["role"] == "system":
            first += 1
        kept.insert(first, _summary_message(summary, [given[place] for place in sorted(dropped)], budget_tokens))
    cut = _cut_results(kept, sum([message_tokens(message) for message in kept]) - budget_tokens)
    total = sum([message_tokens(message) for message in kept])
    left_out = [message for at, message in enumerate(messages) if at in dropped]
    return {
        "messages": kept,
        "tokens": total,
        "left_out": left_out,
        "left_out_tokens": sum([message_tokens(message) for message in left_out]),
        "cut": cut,
        "is_over": total > budget_tokens,
    }


def _with(message: "Message", content: "list[Block]") -> "Message":
    """Return a copy of a message with another content."""
    made = message.copy()
    made["content"] = content
    return made


def _without_lost_results(given: "list[Message]", dropped: "set[int]") -> "dict[int, Message]":
    """Return, by their places, messages that answer calls of dropped ones, with the other results alone.

    Of branches that join, some stand far from their call. A message without other results is dropped as well.
    """
    parts: dict[int, Message] = {}
    lost: set[str] = set()  # ids of calls; some services number those of each answer afresh
    for place, message in enumerate(given if dropped else []):
        found = blocks(message)
        called = set([block["id"] for block in found if block["type"] == "tool_use"])
        lost = lost | called if place in dropped else lost - called
        left = [block for block in found if block["type"] != "tool_result" or block["tool_use_id"] not in lost]
        if found and not left:
            dropped.add(place)
        elif len(left) < len(found):
            parts[place] = _with(message, left)
    return parts


def _summary_message(summary: str, left_out: "list[Message]", budget_tokens: int) -> "Message":
    limit = max(budget_tokens // _SUMMARY_PART * 100 // _LETTER, CUT_CHARS)
    count = sum([message.get("stands_for", 1) for message in left_out])
    message: Message = {"role": "user", "content": _SUMMARY % (count, _shortened(summary, limit)), "stands_for": count}
    taint: list[str] = []
    for one in left_out:
        taint += [label for label in taint_of(one) if label not in taint]
    if taint:
        message["taint"] = taint
    return message


def _groups(given: "list[Message]") -> "list[list[int]]":
    """Return the places of what can be left out, in the order in which it goes."""
    owners = [place for place, message in enumerate(given) if message["role"] == "user"]
    newest = owners[-1] if owners else -1
    exchanges: list[list[int]] = []
    for place in range(newest):
        if given[place]["role"] == "system":
            continue
        if given[place]["role"] == "user" or not exchanges:
            exchanges.append([])
        exchanges[-1].append(place)
    needed = given[newest].get("continues", []) if owners else []
    files = [group for group in exchanges if len(group) == 1 and given[group[0]].get("id") in needed]
    rounds: list[list[int]] = []  # each answer of the newest exchange, with the results of its calls
    for place in range(newest + 1, len(given)):
        role = given[place]["role"]
        if role == "assistant" or (role == "tool" and not rounds):
            rounds.append([])
        if role != "system":
            rounds[-1].append(place)
    return [group for group in exchanges if group not in files] + files + rounds[:-1]


def _cut_results(kept: "list[Message]", excess: int) -> int:
    """Cut the longest texts of results, longest first, until `excess` tokens are gone; return how many were cut.

    Puts new messages into `kept`; those given stay as they are.
    """
    texts: list[tuple[int, int, int, int]] = []  # tokens below zero, so that the longest come first, and the place
    for at, message in enumerate(kept if excess > 0 else []):
        for number, block in enumerate(blocks(message)):
            for index, item in enumerate(block["content"] if block["type"] == "tool_result" else []):
                if item["type"] == "text" and len(item["text"]) > CUT_CHARS:
                    texts.append((-tokens(item["text"]), at, number, index))
    cut = 0
    for below, at, number, index in sorted(texts):
        if excess <= 0:
            break
        size = -below
        content = list(blocks(kept[at]))
        block = content[number] = content[number].copy()
        items = block["content"] = list(block["content"])
        item = items[index] = items[index].copy()
        text = item["text"]
        wanted = max(size - excess, 0) * len(text) // size - len(_MARKER)
        shorter = _shortened(text, max(wanted, CUT_CHARS))
        while tokens(shorter) > size - excess and wanted > CUT_CHARS:
            wanted = min(wanted, len(shorter)) * 7 // 8
            shorter = _shortened(text, max(wanted, CUT_CHARS))
        item["text"] = shorter
        kept[at] = _with(kept[at], content)
        excess -= size - tokens(shorter)
        cut += 1
    return cut


def _shortened(text: str, limit: int) -> str:
    """Return a text of about `limit` characters at most: of JSON and of lines whole entries, with a count of the rest.

    One line that is longer keeps its beginning and its end.
    """
    if len(text) <= limit:
        return text
    if text[:1] in ("{", "["):
        try:
            whole = jsonl.dumps(_smaller(jsonl.loads(text, len(text) * 4), limit))
            if len(whole) <= limit:  # a number of a thousand digits has no entries
                return whole
        except SchemaError:  # it only looks like JSON
            pass
    lines = text.split("\n")
    kept = _ends([len(line) + 1 for line in lines], limit - len(_LINES) - 8)
    if kept[0] + kept[1]:
        count = len(lines) - kept[0] - kept[1]
        lines[kept[0] : len(lines) - kept[1]] = [_LINES % count]
        return "\n".join(lines)
    room = max(limit - len(_MARKER) - 8, 2)  # the number in the marker has at most as many digits
    first = room * 2 // 3
    last = room - first
    return text[:first] + _MARKER % (len(text) - room) + text[len(text) - last :]


def _smaller(value: "Json", room: int) -> "Json":
    """Return a value whose JSON has about `room` characters at most, of its lists and objects whole entries."""
    if len(jsonl.dumps(value)) <= room:
        return value
    if isinstance(value, str):
        limit = room
        text = _shortened(value, limit)
        while len(jsonl.dumps(text)) > room and limit > _LEAST_ROOM:  # marks that JSON writes as two
            limit = limit * 3 // 4
            text = _shortened(value, limit)
        return text
    if isinstance(value, list):
        first, last = _ends([len(jsonl.dumps(one)) + 1 for one in value], room - len(_ENTRIES) - 8)
        if first + last == 0 and room > _LEAST_ROOM:
            first, value = 1, value.copy()
            value[0] = _smaller(value[0], room - len(_ENTRIES) - 8)
        left = len(value) - first - last
        return value[:first] + ([_ENTRIES % left] if left else []) + value[len(value) - last :]
    if not isinstance(value, dict):
        return value
    room -= len(_ENTRIES) + 16
    kept: dict[str, Json] = {}
    # The short ones whole; what they leave is shared by the long ones.
    order = sorted([(len(jsonl.dumps(value[name])), name) for name in value])
    for at, (size, name) in enumerate(order):
        share = room // (len(order) - at) - len(name) - 4
        if size <= share or (share >= _LEAST_ROOM and isinstance(value[name], (str, list, dict))):
            kept[name] = _smaller(value[name], share)
            room -= len(jsonl.dumps(kept[name])) + len(name) + 4
    found: dict[str, Json] = {name: kept[name] for name in value if name in kept}
    if len(found) < len(value):
        found["…"] = _ENTRIES % (len(value) - len(found))
    return found


def _ends(sizes: "list[int]", room: int) -> "tuple[int, int]":
    """Return how many of a row's first entries, and of its last, fit: two thirds of the room are for the first."""
    counts: list[int] = []
    for part, row in ((room * 2 // 3, sizes), (room - room * 2 // 3, sizes[::-1])):
        count = 0
        while count < len(row) and part >= row[count]:
            part -= row[count]
            count += 1
        counts.append(count)
    return counts[0], min(counts[1], len(sizes) - counts[0])
