"""Calls to other objects of the bus, through the `ubus` program.

`-S` is used because only then the exit status is the plain ubus status and a failure does not echo its arguments.
Source: ubus's own cli.c and the recorded behaviour of 24.10 (a reply without data is status 0 and empty output).
"""

from oasis.core import jsonl
from oasis.errors import SchemaError, ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.system.executor import Executor

_TIMEOUT_S = 10
_WORDS = {
    1: "invalid command",
    2: "invalid argument",
    3: "no such method",
    4: "not found",
    5: "no data",
    6: "permission denied",
    7: "timed out",
    8: "not supported",
    9: "unknown error",
    10: "connection failed",
    12: "the arguments are no JSON object",
    255: "cannot connect to ubusd",
}


class Ubus:
    """The bus as seen through one program; `program` is "" where the host has none."""

    def __init__(self, executor: "Executor", program: str) -> None:
        self._executor = executor
        self._program = program

    def call(self, name: str, method: str, arguments: "dict[str, object] | None" = None) -> "dict[str, object] | None":
        """Call `method` of object `name`; return its reply, None when it has no data.

        Arguments stand in the process list for a moment: never call this with a secret.
        Raises: ToolError naming object and method.
        """
        if not self._program:
            raise ToolError("there is no ubus on this host", "on a router it is part of the system")
        words = [self._program, "-S", "-t", str(_TIMEOUT_S), "call", name, method]
        if arguments:
            words.append(jsonl.dumps(arguments))
        status, out, _ = self._executor.run(words, timeout_s=_TIMEOUT_S + 5)
        if status:
            raise ToolError("ubus call %s %s: %s" % (name, method, _WORDS.get(status, "status %d" % status)))
        if not out.strip():
            return None
        try:
            reply = jsonl.loads(out)
        except SchemaError as error:
            raise ToolError("ubus call %s %s answered with %s" % (name, method, error.message))
        return reply if isinstance(reply, dict) else None
