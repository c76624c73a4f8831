"""One exchange over HTTP, bounded in time: sent, followed within its own host, read to its end.

Knows a transport that is given, and no service.
"""

from __future__ import annotations

import urllib.parse

from oasis.core.framing import TOTAL_BYTES
from oasis.errors import ProviderError, ProviderTimeout
from oasis.providers import wire
from oasis.worker.deadline import within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.worker.transport import Response

    Open = Callable[[dict[str, object], dict[str, object]], Response]
    Now = Callable[[], float]

# Several addresses may be tried; then the request goes out, and the head of the answer comes in.
_CONNECTS, _IDLES = 3, 2
REDIRECTS = 3


def begun(http: wire.Request, limits: dict[str, object], send: Open) -> Response:
    """Send a request and return its response; follow a redirect only within the same host, for the key goes along."""
    head_s = _CONNECTS * seconds(limits, "connect_s") + _IDLES * seconds(limits, "idle_s")
    for _ in range(REDIRECTS):
        host = str(http["url"]).partition("://")[2].partition("/")[0]
        message = f"the answer of {host} did not begin within {head_s:g} s"
        with within(head_s, ProviderTimeout(message, "try again; a local model may need a longer idle_s")):
            response = send(http, limits)
        target = moved(str(http["url"]), response)
        if not target:
            break
        response.close()
        http = {**http, "url": target}
    packing = response.headers.get("content-encoding", "identity").lower()
    if packing not in ("", "identity"):
        response.close()
        hint = "something between here and the service compresses answers; turn that off"
        raise ProviderError(f"the answer is compressed ({packing[:40]}) though that was not asked for", hint)
    return response


def moved(url: str, response: Response) -> str:
    """Return where a redirect within the same host leads, "" for every other answer."""
    if response.status not in (307, 308):
        return ""
    try:
        target = urllib.parse.urljoin(url, response.headers.get("location", ""))
        return target if _origin(target) == _origin(url) else ""
    except (ValueError, ImportError):
        return ""  # no address, or letters that are judged by python3-codecs, which may be missing


def _origin(url: str) -> tuple[str, str]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def read(response: Response, left_s: float) -> bytes:
    """Return what comes next of a body, b"" at its end.

    Raises: ProviderTimeout after `left_s`.
    """
    late = ProviderTimeout("the answer takes longer than it may", "ask for less at once, or raise total_s")
    with within(left_s, late):
        return response.read()


def fetched(http: wire.Request, limits: dict[str, object], send: Open, now_s: Now) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and the whole body of an answer."""
    until_s = now_s() + seconds(limits, "total_s")
    response = begun(http, limits, send)
    try:
        body = b""
        while len(body) <= TOTAL_BYTES:
            data = read(response, until_s - now_s())
            if not data:
                break
            body += data
    finally:
        response.close()
    return response.status, response.headers, body


def seconds(limits: dict[str, object], name: str) -> float:
    """Return a limit of a request that is a time."""
    value = limits[name]
    assert isinstance(value, (int, float))
    return float(value)
