"""Ask what the packages hold: a running daemon, and a worker that is started by its path."""

from __future__ import annotations

import json
import subprocess
import threading

TIMEOUT_S = 60


def answer(running, question):
    """Return all text of the answer to a question."""
    started = running.call("run.start", message=question)
    assert "run" in started, (started, running.log())
    text, since = "", 0
    while True:
        reply = running.call("run.poll", run=started["run"], since=since, wait_ms=5000)
        text += "".join(str(event.get("text", "")) for event in reply["events"])
        since = reply["next"]
        if reply["state"] != "running":
            return text


def worker(argv, request):
    """Return what a worker says until it is done with a request, and its complaints if it ends before."""
    pipe = subprocess.PIPE
    child = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    watch = threading.Timer(TIMEOUT_S, child.kill)
    watch.start()
    try:
        said = ""
        try:
            child.stdin.write(json.dumps(request) + "\n")
            child.stdin.flush()
        except BrokenPipeError:
            pass  # it ended before it was asked; what it complained of says why
        for line in child.stdout:
            said += line
            if '"type":"done"' in line or '"type":"error"' in line:
                return said
        return said + child.stderr.read()
    finally:
        watch.cancel()
        child.kill()
        child.wait()
        child.stdout.close()
        child.stderr.close()
