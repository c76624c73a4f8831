"""The firmware: what runs, what there is, and an upgrade that keeps settings, with a backup before anybody says yes.

An image with the owner's packages is made by OpenWrt's build server, by way of owut (24.10 and later) or auc; without
one of them this says so and does nothing. Their words are a server's, and taint. The tool is of class danger and the
owner's at the router. The image is downloaded and verified in the call; it is installed a moment after the answer.

Source: owut(1) `download`, `install`, -V; auc -c, -y, -B; sysupgrade -l for what is kept.
"""

from __future__ import annotations

import re

from oasis.core import clean
from oasis.errors import PolicyError, ToolError, UsageError
from oasis.parts.admin import programs
from oasis.tools.builtin import changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch
    from oasis.tools.shapes import Arguments, Result

LABEL = "words of the upgrade server"
_VERSION = re.compile(r"[0-9]{2}\.[0-9]{2}(\.[0-9]{1,3})?(-rc[0-9]{1,2}|-SNAPSHOT)?\Z|SNAPSHOT\Z")
_CHECK_S, _BUILD_S, _INSTALL_S = 120.0, 1080.0, 300.0
_LINES, _LINE_CHARS = 40, 200
# Of a check, on the card: its end says whether it can be done.
_CARD_LINES = 12
_NONE = "neither owut nor auc is installed: no image with your packages can be made from here"
_HINT = "install owut (24.10 and later) or auc, or take an image from firmware-selector.openwrt.org to LuCI"
# Packages that the build server of OpenWrt does not have.
_OURS = re.compile(r"(oasis|luci-app-oasis|luci-i18n-oasis)(-|\Z)")


class Firmware:
    """The firmware of one router."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._router = programs.router(kit)
        self.source = self

    def firmware_look(self) -> dict[str, object]:
        """Return what runs. Shape: {"release", "board", "target", "program": "" without one, "notes"}."""
        board = self._kit.facts.ubus("system", "board")
        release = board.get("release")
        known = release if isinstance(release, dict) else {}
        program = self._program()
        return {
            "release": str(known.get("description") or "unknown"), "target": str(known.get("target") or "unknown"),
            "board": "%s (%s)" % (board.get("model") or "unknown", board.get("board_name") or "unknown"),
            "program": program, "notes": [] if program else ["%s; %s" % (_NONE, _HINT)],
        }  # fmt: skip

    def preview(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> list[str]:
        """Return what an upgrade would do, after a backup and a check; raises where it cannot be done."""
        program, version = self._asked(arguments, operator)
        lines = self._checked(program, version, watch)
        backup = changes.backup({}, self._router, operator, watch)
        return [
            "builds an image with %s%s and installs it" % (program, " for " + version if version else ""),
            "the router restarts and is away for some minutes; if it does not come back, only its recovery helps",
            "there is no undo; a backup is %s (%d kB), in memory: fetch it before you say yes, like scp -O root@%s:%s ."
            % (backup["file"], int(str(backup["size_bytes"])) + 1023 >> 10, "ROUTER", backup["file"]),
            *self._lost(watch),
            *("%s says: %s" % (program, line) for line in lines[-_CARD_LINES:]),
        ]

    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result:
        """Call the tool."""
        if arguments["action"] == "status":
            return {**self.firmware_look()}
        if arguments["action"] == "check":
            program, version = self._needed(arguments)
            return {"program": program, "lines": self._checked(program, version, watch), "untrusted": [LABEL]}
        program, version = self._asked(arguments, operator)
        if program == "owut":
            watch.progress("building and downloading the image")
            self._run(["owut", "download", *(["-V", version] if version else [])], watch, _BUILD_S)
            last = ["owut", "install"]
        else:
            last = ["auc", "-y", *(["-B", version] if version else [])]

        def end() -> None:
            self._router.run(last, programs.watch(self._kit, _INSTALL_S), _INSTALL_S)

        self._router.later(changes.DELAY_S, end)
        note = "tell the owner now: the connection is about to end, and the router is away for some minutes"
        return {"status": "installing", "in_s": int(changes.DELAY_S), "notes": [note]}

    def _program(self) -> str:
        return next((name for name in ("owut", "auc") if self._router.has(name)), "")

    def _needed(self, arguments: Arguments) -> tuple[str, str]:
        program, version = self._program(), str(arguments.get("version") or "")
        if version and not _VERSION.match(version):
            raise UsageError("%r is no version of OpenWrt" % version[:40], "like 24.10.4")
        if not program:
            raise ToolError(_NONE, _HINT)
        return program, version

    def _asked(self, arguments: Arguments, operator: Operator) -> tuple[str, str]:
        if operator.role != "owner":
            raise PolicyError("firmware is upgraded by the owner at the router", "ask them to do it there")
        return self._needed(arguments)

    def _checked(self, program: str, version: str, watch: Watch) -> list[str]:
        """Return what the program says of an upgrade, without one."""
        to = [("-V" if program == "owut" else "-B"), version] if version else []
        words = ["owut", "check", *to] if program == "owut" else ["auc", "-c", *to]
        return self._run(words, watch, _CHECK_S)

    def _run(self, words: list[str], watch: Watch, most_s: float) -> list[str]:
        status, out, err = self._router.run(words, watch, most_s)
        lines = [clean.line(line)[:_LINE_CHARS] for line in (out + "\n" + err).split("\n") if line.strip()]
        if status:
            message = "%s %s failed: %s" % (words[0], words[1], "; ".join(lines[-3:])[:400])
            raise ToolError(message, "nothing was changed", untrusted=(LABEL,))
        return lines[-_LINES:]

    def _lost(self, watch: Watch) -> list[str]:
        """Return what an upgrade does not keep, in words."""
        kit = self._kit
        words = []
        if self._router.has("sysupgrade"):
            status, out, _ = self._router.run(["sysupgrade", "-l"], watch, 30.0)
            if not status:
                words.append("keeps %d files, those of sysupgrade -l; every other one is lost" % len(out.split()))
        own = len(kit.files.names(kit.root.path("/root")))
        if own:
            words.append("lost: %d files and folders in /root" % own)
        listed = kit.facts.ubus("rpc-sys", "packagelist", {"all": True}).get("packages")
        gone = sorted(name for name in listed if _OURS.match(name)) if isinstance(listed, dict) else []
        if gone:
            words.append("to be installed again, as OpenWrt's build server has none: " + ", ".join(gone))
        return [*words, "lost: packages from elsewhere than OpenWrt's feeds, and what they keep outside of that list"]


def gather(kit: Services) -> Firmware:
    return Firmware(kit)
