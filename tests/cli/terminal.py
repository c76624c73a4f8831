"""A person at a terminal: starts a command on a pseudo-terminal, waits for what appears, types."""

import os
import pty
import select
import subprocess
import sys
import time

TIMEOUT_S = 20
REACTION_S = 0.05  # faster than any person; readline misses a signal between showing its prompt and waiting
# The first terminal that the leader of a session opens becomes the session's: Ctrl-C then reaches the command.
ON_TERMINAL = """
import os, sys
terminal = os.open(sys.argv[1], os.O_RDWR)
for descriptor in range(3):
    os.dup2(terminal, descriptor)
os.write(1, b"$ ")
os.execv(sys.argv[2], sys.argv[2:])
"""


class Terminal:
    def __init__(self, argv, environment):
        self.text = ""
        self._seen = 0
        self._end, other_end = pty.openpty()
        command = [sys.executable, "-IS", "-c", ON_TERMINAL, os.ttyname(other_end), *argv]
        self._process = subprocess.Popen(command, env=environment, start_new_session=True)
        self.wait_for("$ ")  # the command has the terminal now: its other end may be closed here
        os.close(other_end)

    @property
    def process_id(self):
        return self._process.pid

    def wait_for(self, text):
        """Read until `text` appears behind what was waited for before."""
        deadline_s = time.monotonic() + TIMEOUT_S
        while text not in self.text[self._seen :]:
            assert self._read(deadline_s), f"{text!r} did not appear in:\n{self.text}"
        self._seen = self.text.index(text, self._seen) + len(text)

    def type(self, text):
        os.write(self._end, text.encode())

    def press_ctrl_c(self):
        time.sleep(REACTION_S)
        self.type("\x03")

    def close(self):
        """Close the window: what runs in it is told by SIGHUP."""
        os.close(self._end)
        self._process.wait(TIMEOUT_S)

    def leave(self):
        """Read to the end and return the exit status."""
        deadline_s = time.monotonic() + TIMEOUT_S
        while self._read(deadline_s):
            pass
        os.close(self._end)
        return self._process.wait(TIMEOUT_S)

    def _read(self, deadline_s):
        """Take what appeared; False at the end of the command, or when it takes too long."""
        if not select.select([self._end], [], [], max(0, deadline_s - time.monotonic()))[0]:
            self._process.kill()
            return False
        try:
            self.text += os.read(self._end, 4096).decode("utf-8", "replace")
        except OSError:  # the other side is closed
            return False
        return True
