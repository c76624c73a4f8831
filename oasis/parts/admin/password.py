"""The password of root, as its owner enters it: by way of `passwd`, on its standard input.

No tool, no model and no argument has it. LuCI's own method puts it into a shell's arguments, where every process of the
router may read it for a second; so that is not called. There is no way back: the old one is not known.

Source: busybox's passwd.c, which reads the new password twice; luci's rpcd plugin, setPassword.
"""

from __future__ import annotations

from oasis.change.audit import NO_PLAN
from oasis.errors import ToolError, UsageError
from oasis.parts.admin import programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services
    from oasis.change.shapes import Role

# What busybox takes of one; crypt looks at all of them but for the oldest hashes.
_BYTES = 128
_SHORT_CHARS = 10
_PROGRAM_S = 20.0


class Password:
    """The password of one router."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit

    def password_set(self, role: Role, password: str) -> dict[str, object]:
        """Set it. Shape: {"set": True, "notes": [text]}. Raises: UsageError, ToolError."""
        if not 0 < len(password.encode("utf-8", "replace")) <= _BYTES:
            raise UsageError("a password has 1 to %d bytes" % _BYTES, "enter another one")
        if any(ord(char) < 32 or ord(char) == 127 for char in password):
            raise UsageError("a password has no control characters", "enter another one")
        status = programs.fed(self._kit, ["passwd", "root"], ("%s\n" % password * 2).encode("utf-8"), _PROGRAM_S)
        if status:
            raise ToolError(
                "passwd failed with status %d; the password is as before" % status, "log in and call passwd"
            )
        self._kit.audit.write("password set", NO_PLAN, str(role["name"]))
        notes = ["it is short: whoever is in your network may guess it"] if len(password) < _SHORT_CHARS else []
        return {"set": True, "notes": notes}


def gather(kit: Services) -> Password:
    return Password(kit)
