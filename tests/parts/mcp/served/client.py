"""Our client as a program for a judge: `client.py URL` connects, lists the tools, and calls the first that adds."""

import os
import sys
import threading

sys.path.insert(
    0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))
)

from oasis.llm.pool import Pool, default_argv
from oasis.parts.mcp.server_connection import Http, Peer

pool = Pool(default_argv())
peer = Peer("judged", Http("judged", sys.argv[-1], "", pool.post))
peer.connect()
for tool in peer.listed("tools"):
    if "add" in tool["name"]:
        call = {"name": tool["name"], "arguments": {"a": 2, "b": 3}}
        peer.request("tools/call", call, 20, lambda *_: None, threading.Event().is_set)
pool.close()
