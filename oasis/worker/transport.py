"""HTTP for the worker: one `open` with two makes, over `requests` and over http.client; the same behaviour.

    open_plain(request, limits) -> Response          standard library
    open_requests(request, limits) -> Response       when `requests` is installed
    best()                                           the make to use

`request` is a provider's {"method", "url", "headers", "body"}; `limits` {"connect_s", "idle_s", "ca_file"?}.
A Response has `status`, `headers` (lower-case names), `read() -> bytes` (what has arrived; b"" at the end) and
`close()`. TLS is always verified, no redirect is followed, no proxy or .netrc is read, nothing is unpacked.

Raises: ProviderError (code dns, refused, unreachable, network, tls, clock; ProviderTimeout) naming host and port,
SettingsError for an address that is none.
"""

from __future__ import annotations

import errno
import http.client
import socket
import ssl
import urllib.parse

from oasis.errors import ProviderError, ProviderTimeout, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Request = dict[str, object]
Limits = dict[str, object]

PIECE_BYTES = 65536

# OpenSSL verify results (openssl/x509_vfy.h) that people can do something about.
_NOT_YET_VALID, _EXPIRED, _SELF_SIGNED, _SELF_SIGNED_CHAIN, _NO_ISSUER = 9, 10, 18, 19, 20


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
    url = split(str(request["url"]))
    explain = _explainer(url, limits)
    try:
        connection = _connection(url, limits)
        connection.connect()
        connection.sock.settimeout(_seconds(limits, "idle_s"))
    except Exception as error:
        raise explain(error, "connect")
    try:
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.request(str(request["method"]), target, request["body"], request["headers"])  # type: ignore[arg-type]
        response = connection.getresponse()
    except Exception as error:
        connection.close()
        raise explain(error)

    def close() -> None:
        response.close()
        connection.close()

    headers = {name.lower(): value for name, value in response.getheaders()}
    return Response(response.status, headers, response.read1, close, explain)


def split(url: str) -> urllib.parse.SplitResult:
    """Take an address apart.

    Raises: SettingsError when host or port are no host and port.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        if parts.hostname and parts.port != 0:
            return parts
    except ValueError:
        pass  # a port out of range, a broken IPv6 address
    raise SettingsError(f"base_url leads to {url!r}, which is no address", "write http://HOST:PORT/v1")


def _connection(url: urllib.parse.SplitResult, limits: Limits) -> http.client.HTTPConnection:
    timeout_s = _seconds(limits, "connect_s")
    if url.scheme != "https":
        return http.client.HTTPConnection(url.hostname or "", url.port, timeout=timeout_s)
    ca_file = limits.get("ca_file")
    context = ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    return http.client.HTTPSConnection(url.hostname or "", url.port, timeout=timeout_s, context=context)


def open_requests(request: Request, limits: Limits) -> Response:
    """Send the request over `requests` and return its response as soon as the head has arrived."""
    import requests

    explain = _explainer(split(str(request["url"])), limits)
    session = requests.Session()
    session.trust_env = False  # no proxy from the environment, no key from ~/.netrc instead of ours
    try:
        response = session.request(
            str(request["method"]),
            str(request["url"]),
            data=request["body"],  # type: ignore[arg-type]
            headers=request["headers"],  # type: ignore[arg-type]
            timeout=(_seconds(limits, "connect_s"), _seconds(limits, "idle_s")),
            verify=str(limits["ca_file"]) if limits.get("ca_file") else True,
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
    return Response(response.status_code, headers, response.raw.read1, close, explain)


# Words for what went wrong


def _explainer(url: urllib.parse.SplitResult, limits: Limits) -> Callable[..., ProviderError]:
    place = f"{url.hostname}:{url.port or (443 if url.scheme == 'https' else 80)}"

    def explain(error: BaseException, phase: str = "read") -> ProviderError:
        causes = list(_causes(error))
        for kind, make in _EXPLANATIONS:
            for cause in causes:
                if isinstance(cause, kind):
                    return make(cause, place, phase, limits)
        return _failure("network", f"the connection to {place} failed: {type(error).__name__}", _TRY_AGAIN, True)

    return explain


_TRY_AGAIN = "check that the router is online (ping, DNS) and try again"


def _failure(code: str, message: str, hint: str, retryable: bool) -> ProviderError:
    error = ProviderTimeout(message, hint) if code == "timeout" else ProviderError(message, hint)
    error.code = code
    error.retryable = retryable
    return error


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all that libraries have wrapped in it."""
    queue: list[object] = [error]
    seen: list[object] = []
    while queue:
        here = queue.pop(0)
        if not isinstance(here, BaseException) or any(here is other for other in seen):
            continue
        seen.append(here)
        yield here
        queue.extend([getattr(here, "reason", None), here.__cause__, here.__context__, *here.args])


def _bad_certificate(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    code = getattr(error, "verify_code", 0)
    reason = getattr(error, "verify_message", "") or "unknown reason"
    if code == _NOT_YET_VALID:
        hint = "the clock of this router is not set; set the time or let NTP do it, then try again"
        return _failure("clock", f"the certificate of {place} is not yet valid", hint, False)
    hint = "check the host in base_url, and that nothing between here and there replaces certificates"
    if code == _EXPIRED:
        hint = "check the clock of this router first; if it is right, the service must renew its certificate"
    elif code in (_SELF_SIGNED, _SELF_SIGNED_CHAIN, _NO_ISSUER):
        hint = "install the package ca-bundle; for a server of your own, name its certificate in ca_file"
    return _failure("tls", f"the certificate of {place} is not trusted: {reason}", hint, False)


def _bad_tls(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    hint = "check that base_url begins with http:// for a server without TLS, and that its port is right"
    return _failure(
        "tls", f"no TLS connection with {place}: {getattr(error, 'reason', '') or 'handshake failed'}", hint, False
    )


def _no_name(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    hint = "check the host in base_url, the internet connection and the DNS of this router"
    return _failure("dns", f"the name of {place} is not found", hint, True)


def _refused(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    hint = f"start the server that should listen on {place}, or correct base_url"
    return _failure("refused", f"{place} refuses the connection: nothing listens there", hint, True)


def _too_slow(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    if phase == "connect":
        message = f"no connection to {place} within {_seconds(limits, 'connect_s'):g} s"
        return _failure("timeout", message, "check base_url, the internet connection and firewalls on the way", True)
    message = f"{place} sent nothing for {_seconds(limits, 'idle_s'):g} s"
    return _failure("timeout", message, "try again; a local model may need a longer idle_s", True)


def _unreachable(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    if getattr(error, "errno", None) in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        return _failure(
            "unreachable", f"there is no route to {place}", "check the internet connection and routes", True
        )
    if isinstance(error, ConnectionError):
        return _failure("network", f"{place} closed the connection", _TRY_AGAIN, True)
    return _failure("network", f"the connection to {place} failed: {type(error).__name__}", _TRY_AGAIN, True)


# The first kind that is found among the causes explains them; order matters, since most are OSErrors.
_EXPLANATIONS: tuple[tuple[type[BaseException], Callable[..., ProviderError]], ...] = (
    (ssl.SSLCertVerificationError, _bad_certificate),
    (ssl.SSLError, _bad_tls),
    (socket.gaierror, _no_name),
    (ConnectionRefusedError, _refused),
    (TimeoutError, _too_slow),
    (OSError, _unreachable),
)


def _seconds(limits: Limits, name: str) -> float:
    value = limits[name]
    assert isinstance(value, (int, float))
    return float(value)
