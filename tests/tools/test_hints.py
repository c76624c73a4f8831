"""A hint that reaches a model names a tool, or says that it is for the owner; people get the command."""

import ast
import json
import os
import re

import pytest

from oasis.errors import ToolError
from oasis.tools.hints import _TOOLS, for_model
from tests.oasisd import REPOSITORY
from tests.tools.kit import Hands, Source, registry

# What only people read: the command line, their pages, the bus and the messengers.
PEOPLES = ("cli/", "bus/", "parts/lua/", "parts/telegram/", "parts/mcp/server", "/command.py", "/manifest.py")


def commands():
    """Return the names of all commands of the command line."""
    with open(REPOSITORY + "/oasis/cli/commands.json") as handle:
        names = set(json.load(handle)["commands"])
    for folder in os.listdir(REPOSITORY + "/oasis/parts"):
        path = f"{REPOSITORY}/oasis/parts/{folder}/manifest.py"
        if os.path.exists(path):
            with open(path) as handle:
                found = re.search(r"^COMMANDS = \{(.*?)^\}", handle.read(), re.M | re.S)
            names |= set(re.findall(r'^    "(\w+)": ', found[1], re.M)) if found else set()
    return names


def texts():
    """Return each text of the code that names a command, with its place; what people alone read is left out."""
    named = re.compile(r"(?<![/\w.-])oasis (%s)\b" % "|".join(commands()))
    for folder, _, files in os.walk(REPOSITORY + "/oasis"):
        for name in files:
            path = os.path.join(folder, name)
            if not name.endswith(".py") or any(part in path for part in PEOPLES):
                continue
            with open(path) as handle:
                tree = ast.parse(handle.read())
            docs = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
            for node in ast.walk(tree):
                is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
                if is_text and named.search(node.value):
                    yield pytest.param(node.value, id=f"{os.path.relpath(path, REPOSITORY)}:{node.lineno}")


HINTS = list(texts())


def test_many_hints_name_commands():
    assert len(HINTS) > 50 and {"changes", "undo", "confirm", "look", "schedule"} <= commands()


@pytest.mark.parametrize("hint", HINTS)
def test_no_hint_sends_a_model_to_a_command(hint):
    told = for_model(hint)
    assert not re.search(r"\boasis (%s)\b" % "|".join(commands()), told) or "owner" in told


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("see: oasis changes", "see: the tool status, what=changes"),
        ("what it did: oasis changes abc", "what it did: the tool status, what=changes"),
        ("list them with: oasis schedule", "list them with: the tool schedule_list"),
        ("it is undone by `oasis undo`, or wait", "it is undone by the tool undo, or wait"),
        ("oasis look speed ADDRESS", "the tool look"),
        ("keep it with `oasis confirm` or undo it with `oasis rollback`, then try again",
         "only the owner can do this, tell them: keep it with `oasis confirm` or undo it with `oasis rollback`, then "
         "try again"),
        ("to undo the rest: oasis undo --skip-conflicts abc",
         "only the owner can do this, tell them: to undo the rest: oasis undo --skip-conflicts abc"),
        ("leave that part out; only the owner does it: oasis apply --force exec",
         "leave that part out; only the owner does it: oasis apply --force exec"),
        ("try again when it runs: service oasis status", "try again when it runs: service oasis status"),
        ("/etc/init.d/oasis restart makes it", "/etc/init.d/oasis restart makes it"),
        ("its log tells more: logread -e oasis", "its log tells more: logread -e oasis"), ("", ""),
    ],
)  # fmt: skip
def test_hint_of_a_command_becomes_one_of_a_tool_where_there_is_one(hint, told):
    assert for_model(hint) == told


@pytest.mark.parametrize("is_model", [True, False])
def test_models_get_tools_and_people_commands_in_errors_and_notes(is_model):
    def fail(*_):
        raise ToolError("there is no change to undo", "see: oasis changes")

    hands = Hands()
    hands.is_model = is_model
    notes = ["there are no documents yet: oasis knowledge add FILE"]
    found = registry(Source(fails=({}, fail), notes=({}, lambda *_: {"notes": notes})))
    error = json.loads(found.call("fails", {}, hands)[0])["error"]
    told = json.loads(found.call("notes", {}, hands)[0])["notes"]
    assert error["hint"] == ("see: the tool status, what=changes" if is_model else "see: oasis changes")
    assert told == (["only the owner can do this, tell them: " + notes[0]] if is_model else notes)


def test_each_tool_of_the_table_is_one():
    names = set()
    for folder, _, files in os.walk(REPOSITORY + "/oasis"):
        for name in files:
            if name.endswith(".json"):
                with open(os.path.join(folder, name)) as handle:
                    found = json.load(handle)
                tools = found.get("tools") if isinstance(found, dict) else None
                names |= {one["name"] for one in tools} if isinstance(tools, list) else set()
    assert {words.split()[2].rstrip(",") for words, _ in _TOOLS.values()} <= names
    assert set(_TOOLS) <= commands()
