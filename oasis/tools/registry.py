"""The tools that a model may call: one table, arguments checked against each tool's schema.

A tool is a module with SPEC {"name", "description", "input_schema", "kind"} and `run(input, …)`, which returns a
JSON-able dict and gets the Facts of the router when its kind is "read", else the Operator that carries out plans. Any
OasisError becomes a tool result with is_error, never an exception for the model's side.

What leaves is cleaned here, and without secrets. A result that holds words of others (devices, networks, logs) says
whose under the key "untrusted", which marks it for the model and taints the stored block.
"""

from __future__ import annotations

from oasis.change.redact import walk
from oasis.core import clean, jsonl
from oasis.errors import OasisError, ToolError
from oasis.tools import configure, read_config, service, status, undo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from oasis.tools.operator import Operator

# What one result may cost of a small model's context.
RESULT_BYTES = 16 * 1024
# Of each text in an error: it may repeat what it was called with.
ERROR_CHARS = 2000

_TYPES = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


class Registry:
    """The tools of one daemon."""

    def __init__(self) -> None:
        self._tools: dict[str, ModuleType] = {}
        for module in (status, read_config, configure, service, undo):
            self._tools[module.SPEC["name"]] = module

    def specs(self) -> list[dict[str, Any]]:
        """Return what providers are told: name, description and input_schema of each tool."""
        keys = ("name", "description", "input_schema")
        return [{key: module.SPEC[key] for key in keys} for module in self._tools.values()]

    def call(self, name: str, arguments: dict[str, Any], operator: Operator) -> tuple[str, bool, list[str]]:
        """Run a tool; return its result as text, whether it is an error, and whose words it holds."""
        try:
            module = self._tools.get(name)
            if module is None:
                raise ToolError("there is no tool %r" % name, "there are: " + ", ".join(self._tools))
            if "invalid" in arguments and "invalid" not in module.SPEC["input_schema"].get("properties", {}):
                raise ToolError("the arguments were no JSON object: %s" % arguments["invalid"], "call it again")
            check_arguments(arguments, module.SPEC["input_schema"], name)
            _refuse_placeholders(name, arguments)
            target = operator.facts if module.SPEC["kind"] == "read" else operator
            result = operator.masked(clean.value(module.run(arguments, target)))
            return _text(result), False, list(result.get("untrusted", []))
        except OasisError as error:
            from oasis.change import typed  # an idle daemon does without

            # Masked whole, then cut: half a secret would pass.
            told = walk(operator.masked(typed.hide(clean.value({"error": error.as_dict()}))), _cut)
            if len(jsonl.dumps(told)) > RESULT_BYTES:  # a list of conflicts: the message names the first ones
                told = {"error": {key: told["error"][key] for key in ("code", "message", "hint")}}
            if error.untrusted:
                told = {**told, "untrusted": list(error.untrusted)}
            return jsonl.dumps(told), True, list(error.untrusted)


def _refuse_placeholders(name: str, arguments: dict[str, Any]) -> None:
    """Raise PolicyError for a placeholder of a secret anywhere but in commands, where each has its place."""
    from oasis.change import placeholders

    for key, item in arguments.items():
        if (name, key) != ("configure", "commands"):
            placeholders.refuse(item, "%s.%s" % (name, key))


def _cut(text: str) -> str:
    return text if len(text) <= ERROR_CHARS else text[:ERROR_CHARS] + "…"


def _text(result: dict[str, Any]) -> str:
    text = jsonl.dumps(result)
    if len(text.encode("utf-8")) > RESULT_BYTES:
        raise ToolError("the answer is longer than %d bytes" % RESULT_BYTES, "ask for less, for example one section")
    return text


def check_arguments(value: Any, schema: dict[str, Any], path: str) -> None:
    """Raise ToolError, naming the argument, unless `value` fits the JSON Schema.

    Understood: type, enum, required, properties, items, maxItems; an argument the schema does not name is an error.
    """
    kind = str(schema.get("type", ""))
    fits = isinstance(value, _TYPES[kind]) if kind else True
    if kind == "integer" and isinstance(value, bool):
        fits = False
    if not fits:
        raise ToolError("%s must be %s %s" % (path, "an" if kind[0] in "aeio" else "a", kind))
    if "enum" in schema and value not in schema["enum"]:
        raise ToolError("%s is %r; allowed are %s" % (path, value, ", ".join(schema["enum"])))
    if kind == "object":
        _check_object(value, schema, path)
    if kind == "array":
        if len(value) > schema.get("maxItems", len(value)):
            raise ToolError("%s has %d items, %d are allowed" % (path, len(value), schema["maxItems"]))
        for index, item in enumerate(value):
            check_arguments(item, schema.get("items", {}), "%s[%d]" % (path, index))


def _check_object(value: dict[str, Any], schema: dict[str, Any], path: str) -> None:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise ToolError("%s needs the argument %s" % (path, name))
    for name, item in value.items():
        if name not in properties:
            raise ToolError("%s has no argument %s" % (path, name), "it has: " + ", ".join(properties))
        check_arguments(item, properties[name], path + "." + name)
