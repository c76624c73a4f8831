"""The op `find` of a worker: which machines of the home network have a model server?

Asks the ports that such servers have by default for a connection, all at once, and those that answer for their models.
Only addresses that the daemon names are asked, one request each; nothing is said to them but GET. See lines.py.
"""

from __future__ import annotations

import errno
import http.client
import select
import socket
import threading
import time

from oasis.core import clean, jsonl
from oasis.errors import SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class Server(TypedDict):
        """A model server; `models` are names."""

        host: str
        profile: str
        endpoint: str
        models: list[str]

    class Found(TypedDict):
        """The servers in the order of the machines, and how many machines were asked."""

        servers: list[Server]
        asked: int


CONNECT_S = 1.0
ANSWER_S = 4.0
HOSTS, SERVERS, MODELS = 64, 16, 12
BODY_BYTES = 512 * 1024
_AT_ONCE = 40  # connections: a worker may hold few open files
_NAME_CHARS = 120
# Port -> profile (profiles.json), what to ask for, the path below which its service lies.
PORTS: dict[int, tuple[str, str, str]] = {
    11434: ("ollama", "/api/tags", ""),
    1234: ("lmstudio", "/v1/models", "/v1"),
    8080: ("llamacpp", "/v1/models", "/v1"),
    8000: ("vllm", "/v1/models", "/v1"),
}


def find(hosts: list[str], ports: dict[int, tuple[str, str, str]] | None = None) -> Found:
    """Return the model servers of some machines."""
    known = PORTS if ports is None else ports
    asked = hosts[:HOSTS]
    places = [(host, port) for host in asked for port in known]
    places = [place for at in range(0, len(places), _AT_ONCE) for place in _open(places[at : at + _AT_ONCE])]
    found: dict[tuple[str, int], Server | None] = {}

    def ask(place: tuple[str, int]) -> None:
        found[place] = _server(place, known[place[1]])

    threads = [threading.Thread(target=ask, args=(place,), daemon=True) for place in places[:SERVERS]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"servers": [one for one in (found.get(place) for place in places) if one], "asked": len(asked)}


def _open(places: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the places that take a connection."""
    waiting: dict[socket.socket, tuple[str, int]] = {}
    taken: list[tuple[str, int]] = []
    for place in places:
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setblocking(False)
        try:
            status = one.connect_ex(place)
        except OSError:
            status = errno.EINVAL  # no address
        if status in (0, errno.EINPROGRESS):
            waiting[one] = place
        else:
            one.close()
    until_s = time.monotonic() + CONNECT_S
    while waiting and time.monotonic() < until_s:
        ready = select.select([], list(waiting), [], max(until_s - time.monotonic(), 0))[1]
        for one in ready:
            place = waiting.pop(one)
            if not one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                taken.append(place)
            one.close()
    for one in waiting:
        one.close()
    return [place for place in places if place in taken]


def _server(place: tuple[str, int], kind: tuple[str, str, str]) -> Server | None:
    """Return what a server says of itself, None for one of another kind."""
    profile, path, below = kind
    connection = http.client.HTTPConnection(*place, timeout=ANSWER_S)
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = response.read(BODY_BYTES + 1)
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    models = _models(body) if response.status == 200 else None
    if models is None:
        return None
    return {"host": place[0], "profile": profile, "endpoint": "http://%s:%d%s" % (*place, below), "models": models}


def _models(body: bytes) -> list[str] | None:
    """Return the names in a list of models, None for anything that is none."""
    try:
        value = jsonl.loads(body, max_bytes=BODY_BYTES)
    except SchemaError:
        return None
    found = (value.get("models"), value.get("data")) if isinstance(value, dict) else ()
    entries = next((one for one in found if isinstance(one, list)), None)
    if entries is None:
        return None
    names = [one.get("id") or one.get("name") or "" for one in entries if isinstance(one, dict)]
    return [clean.line(str(name))[:_NAME_CHARS] for name in names if name][:MODELS]
