"""What is fuzzed: each target takes bytes, raises only for a fault, and holds what must be true of any input.

`SEEDS[name]` are inputs to begin with, `WORDS[name]` pieces worth putting in anywhere.
"""

import io
import os

from oasis.api.methods import ROLES, TABLE, check
from oasis.change import uci_commands
from oasis.change.approval import SHORT, ApprovalQueue
from oasis.core import export, framing, jsonl, lua_chats, rpc, schema
from oasis.core.thread import IMPORTED
from oasis.errors import OasisError, PeerError, PolicyError, SchemaError, UsageError
from oasis.uci import libuci, model
from oasis.uci.parser import Importer
from oasis.worker import lines
from tests.fuzz import answers, bus, calls, chat_file
from tests.fuzz.corpora import texts
from tests.oasisd import REPOSITORY, has_part

if has_part("memory"):
    from tests.fuzz import knowledge

HASH = "0123456789abcdef" * 4


def uci(data):
    """Both readers, the quick and the exact one, agree; what was read and written is read as the same."""
    quick, exact = _read(data, True), _read(data, False)
    assert quick == exact
    if isinstance(quick, list):
        package = model.parse(data, "fuzz")
        text = model.file_text(package)
        if any(set(one.type) & set("'\"\\#;") for one in package.sections):
            return  # libuci writes such a type in a form that it does not read as the same
        again = model.parse(text, "fuzz")
        assert model.file_text(again) == text
        assert model.export_text(again) == model.export_text(package)


def _read(data, is_quick):
    try:
        package = Importer("fuzz").read(data, 0 if is_quick else len(data) + 1)[0]
    except libuci.Refused as error:
        return (error.status, error.place)
    return [(one.type, one.name, one.anonymous, list(one.options.items())) for one in package.sections]


def words(data):
    """A text is refused, or its operations have plain names, values of text and are the same when written out."""
    try:
        operations, _ = uci_commands.parse(data.decode("utf-8", "replace"))
    except UsageError as error:
        assert error.message and len(error.message) < 1000
        return
    for operation in operations:
        names = [operation[key] for key in ("package", "section", "option", "type", "name") if key in operation]
        assert all(name and not set(name) & set("/;&|<>$`\"'\\ \n\0.") for name in names), operation
        assert not any(
            (ord(char) < 32 and char not in "\t\n") or ord(char) == 127 for char in operation.get("value", "")
        )
    if all("\ufffd" not in str(operation) for operation in operations):
        assert uci_commands.parse("\n".join(uci_commands.as_commands(operations)))[0] == operations


def fences(data):
    """Changes of an answer are commands of the tool, only from fences; every other item says why; ends in time."""
    text = data.decode("utf-8", "replace")
    items = uci_commands.fenced(text)
    for item in items:
        assert item["command"] and item["kind"] in ("change", "read", "offer", "refused")
        if item["kind"] == "change":
            operations, notes = uci_commands.parse(item["command"])
            assert len(operations) == 1 and notes == []
        else:
            assert len(item["command"]) <= uci_commands.SHOWN_CHARS
        if item["kind"] == "refused":
            assert item["reason"] and item["hint"]
        if item["kind"] == "offer":
            assert item["words"] and set(item["input"]) in (set(), {"name", "action"})
            assert not set("".join(item["input"].values())) & set("/;&|<>$`\"'\\ \n\0")
    assert items == uci_commands.fenced(text.replace("\r\n", "\n"))
    if "```" not in text and "~~~" not in text:
        assert items == []


def approval(data):
    """Only the owner with the whole hash, or its first 8 digits at a terminal, approves; and only once."""
    pieces = data.decode("utf-8", "replace").split("\n")
    role = {"name": pieces[0], "terminal": len(pieces[1:]) % 2 == 1}
    given = pieces[1] if len(pieces) > 1 else ""
    desk = ApprovalQueue(lambda: 0.0)
    desk._plans["p"] = {"id": "p", "hash": HASH, "expires_s": 1.0}
    is_right = given.lower() == HASH or (role["terminal"] and given.lower() == HASH[:SHORT])
    try:
        desk.approve("p", given, role)
    except PolicyError:
        assert not (is_right and role["name"] == "owner")
        return
    assert is_right and role["name"] == "owner"
    try:
        desk.approve("p", given, role)
    except UsageError:
        return
    raise AssertionError("approved twice")


def lines_of_json(data):
    """A line is refused or a request whose arguments are of the table's types; what was read is written as the same."""
    try:
        value = jsonl.loads(data)
    except SchemaError:
        value = None
    else:
        _is_written_as_read(value)
    try:
        request = rpc.parse(data, is_request=True)
        name, params = request["method"], request["params"]
        rpc.result(request["id"], params)
        if name in TABLE:
            kept = check(name, params, TABLE[name].arguments)
            assert all(isinstance(kept[key], TABLE[name].arguments[key][0]) for key in kept)
            assert "role" not in kept
    except OasisError:
        pass
    try:
        assert lines.decode(data, 7)["type"] in lines._SHAPES
    except PeerError:
        pass


def _is_written_as_read(value):
    try:
        line = jsonl.dumps(value)
    except SchemaError as error:
        # JSON has no limit for numbers and no halves of characters; what is written has both.
        assert "finite" in error.message or "surrogate" in error.message, error.message
        return
    assert jsonl.loads(line) == value


def stream(data):
    """Server-sent events and lines are the same, wherever the pieces are cut."""
    sizes = [1, 2, 3, 7, len(data) // 2 or 1]
    for reader in (framing.Events, framing.Lines):
        wanted = _fed(reader(), [data])
        for size in sizes:
            assert _fed(reader(), [data[at : at + size] for at in range(0, len(data), size)]) == wanted, size


def _fed(reader, pieces):
    found = []
    for piece in pieces:
        found += reader.feed(piece)
    return found + reader.close()


def imports(data):
    """A chat file is refused, or each of its messages can be stored and is marked, and goes out and in as the same."""
    numbers = iter(range(1 << 20))
    try:
        found = export.read(io.BytesIO(data), lambda: "04%023d" % next(numbers))
    except SchemaError as error:
        assert error.message
        return
    if len(data) % 2:
        found.rename()
    messages = list(found.messages())
    assert messages and len(messages) == found.count
    known = set()
    for message in messages:
        known.add(message["id"])
    for record in found.records():
        schema.check_record(record)
    for message in messages:
        schema.check_message(message)
        assert message["taint"][0] == IMPORTED
        assert jsonl.loads(jsonl.line(message)) == message
    assert len(known) == len(messages), "each id once"
    export.markdown("fuzz", messages)
    again = jsonl.line(lua_chats.write(messages))
    said = (
        list(export.read(io.BytesIO(again), lambda: "04%023d" % next(numbers)).messages()) if b"role" in again else []
    )
    assert jsonl.line(lua_chats.write(said)) == again, "what went out comes in as the same"


TARGETS = {"uci": uci, "words": words, "fences": fences, "approval": approval, "json": lines_of_json, "stream": stream}
TARGETS["chat"] = chat_file.chat
TARGETS["import"] = imports
TARGETS["bus"] = bus.bus
TARGETS |= {"answers": answers.answers, "tools": answers.tools}
TARGETS |= {"arguments": calls.schemas, "programs": calls.programs}


def _configs():
    folder = os.path.join(REPOSITORY, "tests/router/root/etc/config")
    found = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as handle:
            found.append(handle.read())
    return found


def _answers():
    with open(os.path.join(REPOSITORY, "tests/change/fenced.txt"), "rb") as handle:
        return [answer.partition(b"\n")[2].partition(b"\n@>")[0] for answer in handle.read().split(b"\n@ ")[1:]]


def _encoded(names):
    return [text.encode("utf-8", "replace")[:4096] for name in names for text in texts(name)]


_CALL = '{"jsonrpc":"2.0","id":1,"method":"%s","params":{"message":"x","plan":"p","since":0,"continues":["a"]}}'
_EVENT = '{"id":7,"event":{"type":"%s","text":"x","id":"c","name":"configure","input":{"commands":["uci"]}}}'

SEEDS = {
    "answers": answers.SEEDS,
    "arguments": calls.SEEDS,
    "programs": calls.PROGRAM_SEEDS,
    "tools": answers.TOOL_SEEDS,
    "bus": bus.SEEDS,
    "chat": chat_file.SEEDS,
    "uci": [*_configs(), *_encoded(["uci"])],
    "words": _encoded(["refused", "plain", "commands"]),
    "fences": _answers(),
    "approval": [f"{role}\n{given}{end}".encode() for role in (*ROLES, "Owner", "") for end in ("", "\n", "\n\n")
                 for given in (HASH, HASH[:8], HASH[:9], HASH.upper(), "", "*", HASH + "0")],
    "json": [(_CALL % name).encode() for name in TABLE] + [(_EVENT % kind).encode() for kind in lines._SHAPES]
            + _encoded(["json"]),
    "stream": _encoded(["stream"]),
    "import": [
        b'{"messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"},{"role":"assistant","content":"A"},'
        b'{"role":"user","content":"hi"},{"role":"assistant","content":"A"},{"role":"developer","content":{"a":[1]}}]}',
        jsonl.line(export.document("x", "t", [
            {"id": "03jrq2tcl18qk2nxfr9wpzdna", "role": "user", "content": "Hello", "head": "home"},
            {"id": "03jrq2tcl18qk2nxfr9wpzdnb", "role": "assistant", "continues": ["03jrq2tcl18qk2nxfr9wpzdna"],
             "content": [{"type": "text", "text": "Hi"}, {"type": "tool_use", "id": "c", "name": "x", "input": {}}]},
        ], [{"type": "bookmark", "name": "home", "target": "03jrq2tcl18qk2nxfr9wpzdna"}], {"ab" * 32: "aGk="})),
    ],
}  # fmt: skip

WORDS = {
    "answers": answers.WORDS,
    "arguments": calls.WORDS,
    "programs": calls.PROGRAM_WORDS,
    "tools": answers.TOOL_WORDS,
    "bus": bus.WORDS,
    "chat": chat_file.WORDS,
    "uci": b"config |option |list |package |'|\"|\\|'\\''|\n|\t|#|;|\0|\r\n|\xc3\xa9|\xff|@".split(b"|"),
    "words": b"uci set |uci add |'|\"|\\|$(|`|;|&&|\n|\0|#|=|.|@a[-1]|\xe2\x80\xae| -q |{|}|root@x:~# ".split(b"|"),
    "fences": b"```|~~~|````sh\n|```\n|uci set a.b.c=1\n|uci show |service x restart|if |fi\n|{\n|}\n|<<X\n|X\n"
    b"|'|\"|\\\n|# |$ |root@x:~# |> |- |1. |markdown\n|&&|; |sudo |\t|\r\n|\0|opkg install x|reload_config".split(b"|"),
    "import": b'"|{|}|[|]|,|"role":|"user"|"assistant"|"tool"|"content":|"messages":|"foreign_role":'
    b'|"continues":|null|"taint":[]|"error":{}|"type":"thinking"|"type":"tool_result"|\\n|```|9|[]'.split(b"|"),
    "approval": [HASH.encode(), HASH[:8].encode(), b"owner", b"\n", b"\0", "\u00df".encode(), "\u2170".encode()],
    "json": [
        *b'{|}|[|]|"|:|,|\\u0000|\\ud800|1e999|NaN|-0|null|true|"role":"owner"|\xff'.split(b"|"),
        b"[" * 70,
        b"9" * 20,
    ],
    "stream": b"data: |data:|event: |id: |retry: |\n|\n\n|\r|\r\n|: x|\xef\xbb\xbf|[DONE]|\0|\xe2\x80\xa8|\xe2".split(
        b"|"
    ),
}

if has_part("memory"):
    TARGETS |= {"documents": knowledge.documents, "records": knowledge.records}
    SEEDS |= dict.fromkeys(("documents", "records"), knowledge.SEEDS)
    WORDS |= dict.fromkeys(("documents", "records"), knowledge.WORDS)
