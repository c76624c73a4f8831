"""Drive a router's serial console: log in, run commands, get their output and status.

Commands do not go to the shell that is at the console: another one reads the terminal as its script. Without a line
editor there is no limit of 512 characters, no redrawn line and no prompt between the outputs. What was typed comes
back as an echo where the system has no stty; the marks are written so that an echo of them is not one of them.

Contract: `run` returns when the command has ended, with everything it wrote to stdout and stderr and nothing else.
"""

from __future__ import annotations

import codecs
import os
import re
import select
import time

PRESS_ENTER = "Please press Enter to activate this console"
PROMPT = re.compile(r"[#$] (\x1b\[6n)?$")
COMMAND_S = 60
# A first Enter may be lost while the console's terminal is being opened.
KNOCK_S = 2
# What a command that is interrupted needs to end, on a busy machine.
INTERRUPTED_S = 20
# A console that says so much between two looks is out of control.
PIECE = 65536
_TOLD_CHARS = 2000


class ConsoleError(Exception):
    """The other end did not say what was waited for."""


class Result:
    """What a command said: `status`, `text` without the last line end."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.text = text

    def __repr__(self) -> str:
        return "Result(%d, %r)" % (self.status, self.text)


class Console:
    """A console that is read from one descriptor and written to another; `record(bytes)` is given all that is read."""

    knock_s: float = KNOCK_S

    def __init__(self, source: int, sink: int, record=lambda data: None) -> None:
        self._source = source
        self._sink = sink
        self._record = record
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._text = ""
        self._number = 0

    def wait_for(self, pattern: str | re.Pattern[str], timeout_s: float) -> re.Match[str]:
        """Read until a pattern appears behind what was waited for before.

        Raises: ConsoleError with the last of what was read instead.
        """
        wanted = re.compile(pattern)
        deadline_s = time.monotonic() + timeout_s
        while not (found := wanted.search(self._text)):
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise ConsoleError(
                    "%r did not appear in %d s; the last was:\n%s" % (wanted.pattern, timeout_s, self.last())
                )
            self._read(left_s)
        self._text = self._text[found.end() :]
        return found

    def drain(self, timeout_s: float) -> None:
        """Read what there is, for at most so long; the end of the console is none of this call's business."""
        try:
            self._read(timeout_s)
        except ConsoleError:
            time.sleep(timeout_s)

    def last(self) -> str:
        """Return the last of what was read and not waited for."""
        return self._text[-_TOLD_CHARS:]

    def send(self, text: str) -> None:
        """Type a text."""
        data = text.encode()
        while data:
            data = data[os.write(self._sink, data) :]

    def login(self, timeout_s: float) -> None:
        """Wait for the console of a booting router, press Enter, and prepare it for `run`."""
        self.wait_for(PRESS_ENTER, timeout_s)
        deadline_s = time.monotonic() + timeout_s
        while True:
            self.send("\n")
            try:
                self.wait_for(PROMPT, self.knock_s)
                break
            except ConsoleError:
                if time.monotonic() > deadline_s:
                    raise
        self.enter()

    def enter(self) -> None:
        """Begin to take commands; the shell of the console waits at its prompt."""
        # Typed ahead it would be lost: the shell's line editor throws away what waits when it gives the terminal back.
        self.send('stty -echo 2>/dev/null; dmesg -n 1 2>/dev/null; echo "@@""ready"; /bin/sh /proc/self/fd/0\n')
        self.wait_for("@@ready\r?\n", COMMAND_S)

    def run(self, command: str, timeout_s: float = COMMAND_S) -> Result:
        """Run a command, without a standard input, to its end.

        Raises: ConsoleError when it takes too long; it is ended then, and the console can be used again.
        """
        self._number += 1
        number = self._number
        # Brackets on lines of their own: a command may end in a comment or a here-document.
        wrapped = 'echo "@@""begin %d"; (\n%s\n) </dev/null 2>&1; status=$?; echo; echo "@@""end %d $status"\n'
        self.send(wrapped % (number, command, number))
        try:
            deadline_s = time.monotonic() + timeout_s
            self.wait_for(r"@@begin %d\r?\n" % number, timeout_s)
            ended = r"(?s)\A(.*?)\r?\n@@end %d (\d+)\r?\n" % number
            found = self.wait_for(ended, max(deadline_s - time.monotonic(), 1))
        except ConsoleError as error:
            self._interrupt()
            raise ConsoleError("%s\nin the command: %s" % (error, command)) from None
        text = found.group(1).replace("\r\n", "\n").replace("\r", "")
        return Result(int(found.group(2)), text.removesuffix("\n"))

    def _interrupt(self) -> None:
        """End what runs, and begin anew; a console that is dead stays so."""
        self.send("\x03\n")
        try:
            self.wait_for(PROMPT, INTERRUPTED_S)
        except ConsoleError:
            return
        self.enter()

    def _read(self, timeout_s: float) -> None:
        if not select.select([self._source], [], [], timeout_s)[0]:
            return
        data = os.read(self._source, PIECE)
        if not data:
            raise ConsoleError("the console was closed; the last was:\n%s" % self.last())
        self._record(data)
        self._text += self._decode(data)
