"""The process that talks to the network, and the daemon's side of it.

`python3 -I -B …/worker/__main__.py` reads one request a line on stdin and writes events on stdout (lines.py has the
form). llm/pool.py and lines.py run in the daemon; everything else here runs in the worker only.
"""
