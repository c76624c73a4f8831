"""What a run shows and keeps: steps with their times, and below each what was typed and said."""

from __future__ import annotations

import time

# Lines of one command's output; more says nothing more to a reader.
LINES = 60
COLUMNS = 200


class Transcript:
    """Writes to a file and to `out`; `show` are the lines that matter to whoever waits for the run."""

    def __init__(self, path: str, out) -> None:
        self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed by close()
        self._out = out
        self._began_s = time.monotonic()

    def line(self, text: str = "") -> None:
        """Write a line."""
        for target in (self._file, self._out):
            target.write(text + "\n")
            target.flush()

    def head(self, text: str) -> None:
        """Begin a step."""
        self.line()
        self.line("[%6.1f s] == %s" % (time.monotonic() - self._began_s, text))

    def typed(self, where: str, command: str) -> None:
        """Tell a command and where it is run."""
        first, *rest = command.strip().split("\n")
        self.line("  %s %s" % (where, first))
        for line in rest:
            self.line("  > " + line)

    def said(self, text: str) -> None:
        """Tell what came back."""
        lines = [line[:COLUMNS] for line in text.split("\n")] if text else []
        if len(lines) > LINES:
            lines = [*lines[: LINES // 2], "… %d lines …" % (len(lines) - LINES), *lines[-LINES // 2 :]]
        for line in lines:
            self.line("  | " + line.rstrip())

    def close(self) -> None:
        self._file.close()
