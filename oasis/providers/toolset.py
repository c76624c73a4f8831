"""The tools of one request as the wire has them, and the calls that come back as the caller knows them.

Names become legal for every service and are themselves again in the calls; arguments that came in strict form lose the
nulls that stand for what was left out. No vendor needs to think of either.
"""

from __future__ import annotations

from oasis.providers import schemas
from oasis.providers.names import Names

Dict = dict[str, object]


def of_request(request: Dict, options: Dict) -> Toolset:
    """Return the tools of a worker's request; what is no list counts as an empty one."""
    messages, tools = request.get("messages"), request.get("tools")
    return Toolset(messages if isinstance(messages, list) else [], tools if isinstance(tools, list) else [], options)


class Toolset:
    """`messages`, `tools` and `options` are what a vendor is given; see the package's contract."""

    def __init__(self, messages: list[Dict], tools: list[Dict], options: Dict):
        self._names = Names([str(tool.get("name") or "") for tool in tools])
        self._schemas = {tool.get("name"): tool.get("input_schema") for tool in tools}
        self._is_strict = bool(options.get("strict"))
        self.tools = [{**tool, "name": self._names.legal(str(tool.get("name") or ""))} for tool in tools]
        choice = options.get("tool_choice")
        self.options = {**options, "tool_choice": self._named(choice)} if isinstance(choice, dict) else options
        self.messages = [self._message(message) for message in messages]

    def event(self, event: Dict) -> Dict:
        """Return an event as the caller knows the tools."""
        if event.get("type") != "tool_use":
            return event
        name = self._names.original(str(event["name"]))
        if not self._is_strict:
            return {**event, "name": name}
        return {**event, "name": name, "input": schemas.without_nulls(event["input"], self._schemas.get(name))}

    def _message(self, message: Dict) -> Dict:
        content = message.get("content")
        return {**message, "content": [self._block(one) for one in content]} if isinstance(content, list) else message

    def _block(self, block: object) -> object:
        is_of_tool = isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result")
        return self._named(block) if is_of_tool and isinstance(block, dict) else block

    def _named(self, value: Dict) -> Dict:
        name = value.get("name")
        return {**value, "name": self._names.legal(name)} if isinstance(name, str) and name else value
