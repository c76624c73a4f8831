"""HTTP for the worker: one `open` with two makes, over `requests` and over http.client; the same behaviour.

    open_plain(request, limits) -> Response          standard library
    open_requests(request, limits) -> Response       when `requests` is installed
    best()                                           the make to use

`request` is a provider's {"method", "url", "headers", "body"}; `limits` {"connect_s", "idle_s", "ca_file"?, "proxy"?
(http://HOST:PORT), "proxy_auth"? (USER:PASSWORD), "walled"? (true: the router's own rules keep workers from there)}.
A Response has `status`, `headers` (lower-case names), `read() -> bytes` (what has arrived; b"" at the end) and
`close()`. TLS is always verified, no redirect is followed, nothing is unpacked, and neither proxy nor .netrc of the
environment is looked at. Through a proxy, TLS goes in a tunnel (CONNECT), so that the proxy reads neither key nor text.

Raises: ProviderError (codes in failures.py) naming host and port, SettingsError for an address that is none and for a
ca_file that cannot be used.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import signal
import ssl
import threading
import urllib.parse

from oasis.core.framing import TOTAL_BYTES
from oasis.errors import OasisError, ProviderError, ProviderTimeout, SettingsError
from oasis.providers import wire
from oasis.worker import failures, hostnames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Session

    Open = Callable[[dict[str, object], dict[str, object]], "Response"]
    Now = Callable[[], float]


Request = dict[str, object]
Limits = dict[str, object]

PIECE_BYTES = 65536


class Response:
    def __init__(
        self,
        status: int,
        headers: dict[str, str],
        read1: Callable[[int], bytes],
        close: Callable[[], None],
        explain: Callable[[BaseException], ProviderError],
    ):
        self.status = status
        self.headers = headers
        self.close = close
        self._read1 = read1
        self._explain = explain

    def read(self) -> bytes:
        """Return the bytes that have arrived; waits for the first, b"" at the end or when the peer cuts the body."""
        try:
            return self._read1(PIECE_BYTES)
        except Exception as error:
            explained = self._explain(error)
            if explained.code == "network":
                return b""  # the decoder knows whether the answer was complete
            raise explained


def best() -> Callable[[Request, Limits], Response]:
    """Return the make to use: `requests` when it is installed with an urllib3 that can stream (2 or newer)."""
    try:
        import requests  # noqa: F401
        import urllib3
    except ImportError:
        return open_plain
    return open_requests if hasattr(urllib3.HTTPResponse, "read1") else open_plain


def open_plain(request: Request, limits: Limits) -> Response:
    """Send the request over http.client and return its response as soon as the head has arrived."""
    url, proxy = split(str(request["url"])), _proxy(limits)
    explain = failures.explainer(url, limits, _place(proxy))
    try:
        connection = _connection(url, proxy, limits)
        connection.connect()
        connection.sock.settimeout(_seconds(limits, "idle_s"))
    except OasisError:
        raise
    except Exception as error:
        raise explain(error, "connect")
    target, headers = _target(url, proxy, request, limits)
    try:
        connection.request(str(request["method"]), target, request["body"], headers)  # type: ignore[arg-type]
        response = connection.getresponse()
    except Exception as error:
        connection.close()
        raise explain(error)

    def close() -> None:
        response.close()
        connection.close()

    arrived = {name.lower(): value for name, value in response.getheaders()}
    return _checked(Response(response.status, arrived, response.read1, close, explain), url, proxy)


def split(url: str) -> urllib.parse.SplitResult:
    """Take an address apart.

    Raises: SettingsError when host or port are no host and port.
    """
    try:
        parts = hostnames.split(url)
        if parts.hostname and parts.port != 0:
            return parts
    except ValueError:
        pass  # a port out of range, a broken IPv6 address, letters that only python3-codecs knows
    raise SettingsError(f"the endpoint leads to {url!r}, which is no address", "write http://HOST:PORT/v1")


def _connection(
    url: urllib.parse.SplitResult, proxy: urllib.parse.SplitResult | None, limits: Limits
) -> http.client.HTTPConnection:
    timeout_s, there = _seconds(limits, "connect_s"), proxy or url
    host, port = there.hostname or "", there.port
    if url.scheme != "https":
        return http.client.HTTPConnection(host, port, timeout=timeout_s)
    ca_file = _ca_file(limits)
    context = ssl.create_default_context(cafile=ca_file or None)
    connection = http.client.HTTPSConnection(host, port, timeout=timeout_s, context=context)
    if proxy:
        connection.set_tunnel(url.hostname or "", url.port or 443, _proxy_headers(limits))
    return connection


def _target(
    url: urllib.parse.SplitResult, proxy: urllib.parse.SplitResult | None, request: Request, limits: Limits
) -> tuple[str, dict[str, str]]:
    """Return what the request line names, and the headers; a proxy gets the whole address of what goes without TLS."""
    headers = dict(request["headers"])  # type: ignore[call-overload]
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    if proxy and url.scheme != "https":
        return f"http://{url.netloc}{target}", {**headers, **_proxy_headers(limits)}
    return target, headers


def open_requests(request: Request, limits: Limits) -> Response:
    """Send the request over `requests` and return its response as soon as the head has arrived."""
    import requests

    url, proxy = split(str(request["url"])), _proxy(limits)
    explain, ca_file = failures.explainer(url, limits, _place(proxy)), _ca_file(limits)
    session = _session(limits)
    try:
        response = session.request(
            str(request["method"]),
            str(request["url"]),
            data=request["body"],  # type: ignore[arg-type]
            headers=request["headers"],  # type: ignore[arg-type]
            timeout=(_seconds(limits, "connect_s"), _seconds(limits, "idle_s")),
            verify=ca_file or True,
            proxies=dict.fromkeys(("http", "https"), proxy.geturl()) if proxy else None,
            allow_redirects=False,
            stream=True,
        )
    except Exception as error:
        session.close()
        is_connecting = isinstance(error, requests.exceptions.ConnectTimeout)
        raise explain(error, "connect" if is_connecting else "read")

    def close() -> None:
        response.close()
        session.close()

    headers = {name.lower(): value for name, value in response.headers.items()}
    return _checked(Response(response.status_code, headers, response.raw.read1, close, explain), url, proxy)


def _session(limits: Limits) -> Session:
    from requests import Session
    from requests.adapters import HTTPAdapter

    class Adapter(HTTPAdapter):
        def proxy_headers(self, proxy: str) -> dict[str, str]:
            return _proxy_headers(limits)

    session = Session()
    session.trust_env = False  # no proxy from the environment, no key from ~/.netrc instead of ours
    session.mount("http://", Adapter())
    session.mount("https://", Adapter())
    return session


# What both makes have in common


def _checked(response: Response, url: urllib.parse.SplitResult, proxy: urllib.parse.SplitResult | None) -> Response:
    """Return a response that comes from the service itself.

    Raises: ProviderError when it is the proxy that wants a password.
    """
    if proxy and response.status == http.client.PROXY_AUTHENTICATION_REQUIRED:
        response.close()
        raise failures.refused_by_proxy(response.status, _place(proxy), url.netloc)
    return response


def _proxy(limits: Limits) -> urllib.parse.SplitResult | None:
    """Return the address of the proxy, None without one.

    Raises: SettingsError when it is no http address with a port.
    """
    text = limits.get("proxy")
    if not text:
        return None
    try:
        parts = hostnames.split(str(text))
        if parts.scheme == "http" and parts.hostname and parts.port and "@" not in parts.netloc:
            return parts
    except ValueError:
        pass  # a port out of range, a broken IPv6 address
    raise SettingsError("the option proxy of this service is no http proxy", "write http://HOST:PORT")


def _place(proxy: urllib.parse.SplitResult | None) -> str:
    return f"{proxy.hostname}:{proxy.port}" if proxy else ""


def _proxy_headers(limits: Limits) -> dict[str, str]:
    auth = str(limits.get("proxy_auth") or "")
    if not auth:
        return {}
    return {"Proxy-Authorization": "Basic " + base64.b64encode(auth.encode()).decode("ascii")}


def _ca_file(limits: Limits) -> str:
    """Return the file of additional authorities, "" when none is set.

    Raises: SettingsError when it cannot be read or holds no certificate.
    """
    path = str(limits.get("ca_file") or "")
    if not path:
        return ""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        raise SettingsError(f"ca_file {path} holds no certificate", "it must hold certificates in PEM form")
    except OSError as error:
        hint = "the worker is a user of its own: make the file readable for all (chmod 644)"
        raise SettingsError(f"ca_file {path} cannot be read: {error.strerror}", hint)
    return path


def _seconds(limits: Limits, name: str) -> float:
    value = limits[name]
    assert isinstance(value, (int, float))
    return float(value)


@contextlib.contextmanager
def within(seconds: float, error: OasisError) -> Iterator[None]:
    """Raise `error` out of the block when it is not done in time."""
    if seconds <= 0:
        raise error
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def strike(*_: object) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# One exchange: sent, followed within its own host, read to its end

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
