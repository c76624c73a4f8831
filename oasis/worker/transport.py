"""HTTP for the worker: one `open` with two makes, over `requests` and over http.client; the same behaviour.

    open_plain(request, limits) -> Response          standard library
    open_requests(request, limits) -> Response       when `requests` is installed
    best()                                           the make to use

`request` is a provider's {"method", "url", "headers", "body"}; `limits` {"connect_s", "idle_s", "total_s", "ca_file",
"proxy" (http://HOST:PORT), "proxy_auth" (USER:PASSWORD), "walled" (the router's own rules keep workers from there)}.
A Response has `status`, `headers` (lower-case names), `read() -> bytes` (what has arrived; b"" at the end) and
`close()`. TLS is always verified, no redirect is followed, nothing is unpacked, and neither proxy nor .netrc of the
environment is looked at. Through a proxy, TLS goes in a tunnel (CONNECT), so that the proxy reads neither key nor text.

What went wrong on the way to a service is said with host and port, and with what to do about it; the code is dns,
refused, unreachable, network, tls, clock, proxy, walled or timeout.

A router has no python3-codecs, which is large and holds what the codec `idna` needs. Sockets and TLS encode every name
with that codec, also names that need nothing of it. Where it cannot be imported, one takes its place that takes ASCII
and refuses the rest (UnicodeEncodeError); such names can be written as xn--….

Raises: ProviderError, SettingsError for an address that is none and for a ca_file that cannot be used.
"""

from __future__ import annotations

import base64
import codecs
import contextlib
import errno
import functools
import http.client
import re
import signal
import socket
import ssl
import threading
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import SplitResult

from oasis.errors import OasisError, ProviderError, ProviderTimeout, SettingsError

if False:  # annotations only
    import requests

    from oasis.providers.shapes import Headers, Request
    from oasis.worker.shapes import Limits, Open

    Closes = http.client.HTTPResponse | http.client.HTTPConnection | requests.Response | requests.Session
    Explain = Callable[[BaseException, str], ProviderError]

PIECE_BYTES = 65536
_WANTS_PASSWORD = http.client.PROXY_AUTHENTICATION_REQUIRED


class Response:
    def __init__(
        self, status: int, headers: Iterable[tuple[str, str]], read1: Callable[[int], bytes],
        opened: tuple[Closes, ...], explain: Explain,
    ) -> None:  # fmt: skip
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self._read1 = read1
        self._opened = opened
        self._explain = explain

    def close(self) -> None:
        for one in self._opened:
            one.close()

    def read(self) -> bytes:
        """Return the bytes that have arrived; waits for the first, b"" at the end or when the peer cuts the body."""
        try:
            return self._read1(PIECE_BYTES)
        except Exception as error:
            explained = self._explain(error, "read")
            if explained.code == "network":
                return b""  # the decoder knows whether the answer was complete
            raise explained


def best() -> Open:
    """Return the make to use: `requests` when it is installed with an urllib3 that can stream (2 or newer)."""
    try:
        import requests  # noqa: F401
        import urllib3
    except ImportError:
        return open_plain
    return open_requests if hasattr(urllib3.HTTPResponse, "read1") else open_plain


def open_plain(request: Request, limits: Limits) -> Response:
    """Send the request over http.client and return its response as soon as the head has arrived."""
    url, proxy = split(request["url"]), _proxy(limits)
    explain = functools.partial(_explained, url=url, limits=limits, proxy=_place(proxy))
    there, timeout_s = proxy or url, limits["connect_s"]
    host, port, is_tls = there.hostname or "", there.port, url.scheme == "https"
    ca_file = _ca_file(limits) if is_tls else ""
    try:
        if is_tls:
            context = ssl.create_default_context(cafile=ca_file or None)
            connection = http.client.HTTPSConnection(host, port, timeout=timeout_s, context=context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=timeout_s)  # type: ignore[assignment]
        if is_tls and proxy:
            connection.set_tunnel(url.hostname or "", url.port or 443, _proxy_headers(limits))
        connection.connect()
        connection.sock.settimeout(limits["idle_s"])
    except Exception as error:
        raise explain(error, "connect")
    target, headers = (url.path or "/") + (f"?{url.query}" if url.query else ""), request["headers"]
    if proxy and not is_tls:  # a proxy gets the whole address of what goes without TLS
        target, headers = f"http://{url.netloc}{target}", {**headers, **_proxy_headers(limits)}
    try:
        connection.request(request["method"], target, request["body"], headers)
        response = connection.getresponse()
    except Exception as error:
        connection.close()
        raise explain(error, "read")
    opened = (response, connection)
    return Response(response.status, response.getheaders(), response.read1, opened, explain)


def open_requests(request: Request, limits: Limits) -> Response:
    """Send the request over `requests` and return its response as soon as the head has arrived."""
    import requests

    url, proxy = split(request["url"]), _proxy(limits)
    explain, ca_file = functools.partial(_explained, url=url, limits=limits, proxy=_place(proxy)), _ca_file(limits)

    class Adapter(requests.adapters.HTTPAdapter):
        def proxy_headers(self, proxy: str) -> dict[str, str]:
            return _proxy_headers(limits)

    session = requests.Session()
    session.trust_env = False  # no proxy from the environment, no key from ~/.netrc instead of ours
    session.mount("http://", Adapter())
    session.mount("https://", Adapter())
    try:
        response = session.request(
            request["method"], request["url"], data=request["body"], headers=request["headers"],
            timeout=(limits["connect_s"], limits["idle_s"]), verify=ca_file or True,
            proxies=dict.fromkeys(("http", "https"), proxy.geturl()) if proxy else None,
            allow_redirects=False, stream=True,
        )  # fmt: skip
    except Exception as error:
        session.close()
        is_connecting = isinstance(error, requests.exceptions.ConnectTimeout)
        raise explain(error, "connect" if is_connecting else "read")
    read1, opened = response.raw.read1, (response, session)
    return Response(response.status_code, response.headers.items(), read1, opened, explain)


# What both makes have in common


def prepare() -> bool:
    """Have names encoded by something, before rights are dropped; return whether that is the whole codec."""
    try:
        import encodings.idna  # noqa: F401
    except ImportError:
        plain = codecs.CodecInfo(codecs.ascii_encode, codecs.ascii_decode, name="idna")
        codecs.register(lambda name: plain if name == "idna" else None)
        return False
    return True


def parts_of(url: str) -> SplitResult | None:
    """Take an address apart; None for what is none, as with a port out of range or a broken IPv6 address.

    And for letters that cannot be judged here, without python3-codecs (urllib asks unicodedata).
    """
    try:
        parts = urllib.parse.urlsplit(url)
        return parts if parts.port is None or parts.port >= 0 else None
    except (ValueError, ImportError):
        return None


def split(url: str) -> SplitResult:
    """Take the address of a service apart.

    Raises: SettingsError when host or port are no host and port.
    """
    parts = parts_of(url)
    if parts is None or not parts.hostname or parts.port == 0:
        raise SettingsError(f"the endpoint leads to {url!r}, which is no address", "write http://HOST:PORT/v1")
    return parts


def _proxy(limits: Limits) -> SplitResult | None:
    """Return the address of the proxy, None without one."""
    parts = parts_of(limits["proxy"]) if limits["proxy"] else None
    is_good = parts and parts.scheme == "http" and parts.hostname and parts.port and "@" not in parts.netloc
    if limits["proxy"] and not is_good:
        raise SettingsError("the option proxy of this service is no http proxy", "write http://HOST:PORT")
    return parts


def _place(proxy: SplitResult | None) -> str:
    return f"{proxy.hostname}:{proxy.port}" if proxy else ""


def _proxy_headers(limits: Limits) -> Headers:
    if not limits["proxy_auth"]:
        return {}
    return {"Proxy-Authorization": "Basic " + base64.b64encode(limits["proxy_auth"].encode()).decode("ascii")}


def _ca_file(limits: Limits) -> str:
    """Return the file of additional authorities, "" when none is set."""
    path = limits["ca_file"]
    try:
        if path:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        raise SettingsError(f"ca_file {path} holds no certificate", "it must hold certificates in PEM form")
    except OSError as error:
        hint = "the worker is a user of its own: make the file readable for all (chmod 644)"
        raise SettingsError(f"ca_file {path} cannot be read: {error.strerror}", hint)
    return path


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


def begun(http: Request, limits: Limits, send: Open) -> Response:
    """Send a request and return its response; follow a redirect only within the same host, for the key goes along."""
    head_s = _CONNECTS * limits["connect_s"] + _IDLES * limits["idle_s"]
    for _ in range(REDIRECTS):
        host = http["url"].partition("://")[2].partition("/")[0]
        message = f"the answer of {host} did not begin within {head_s:g} s"
        with within(head_s, ProviderTimeout(message, "try again; a local model may need a longer idle_s")):
            response = send(http, limits)
        target = moved(http["url"], response)
        if not target:
            break
        response.close()
        http = {**http, "url": target}
    proxy = _proxy(limits)
    if proxy and response.status == _WANTS_PASSWORD:
        response.close()
        raise _refused_by_proxy(response.status, _place(proxy), split(http["url"]).netloc)
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


def pieces(response: Response, read: Callable[[Response], bytes], most: int, whose: str, hint: str) -> Iterator[bytes]:
    """Yield a body as it comes.

    Raises: ProviderError for one of more than `most` bytes.
    """
    taken = 0
    while piece := read(response):
        taken += len(piece)
        if taken > most:
            raise ProviderError(f"{whose} sent more than {most} bytes", hint)
        yield piece


# What went wrong on the way

# OpenSSL verify results (openssl/x509_vfy.h) that people can do something about.
_NOT_YET_VALID, _EXPIRED, _SELF_SIGNED, _SELF_SIGNED_CHAIN, _NO_ISSUER = 9, 10, 18, 19, 20
_OTHER_NAME, _OTHER_ADDRESS = 62, 64

# How http.client, and so urllib3, says that a proxy did not open the way.
_TUNNEL = re.compile(r"Tunnel connection failed: (\d+)")

_TRY_AGAIN = "check that the router is online (ping, DNS) and try again"
_PORTAL = "; in a hotel or café, open a web page and log in to the network first"

# The first kind that is found among the causes explains them; order matters, since most are OSErrors.
_KINDS = (ssl.SSLCertVerificationError, ssl.SSLError, socket.gaierror, ConnectionRefusedError, TimeoutError, OSError)
# The router itself looks up and connects to nothing but the proxy.
_PROXY_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (socket.gaierror, "is not found by its name"),
    (ConnectionRefusedError, "refuses the connection: nothing listens there"),
    (TimeoutError, "does not answer"),
)


def _explained(error: BaseException, phase: str, *, url: SplitResult, limits: Limits, proxy: str) -> ProviderError:
    """Return what a failure on the way to `url` means, through the proxy "host:port" when one is given.

    Looks through all that libraries have wrapped in an exception; `phase` is connect or read.
    """
    place = f"{url.hostname}:{url.port or (443 if url.scheme == 'https' else 80)}"
    waiting: list[object] = [error]
    causes: list[BaseException] = []
    while waiting:
        here = waiting.pop(0)
        if isinstance(here, BaseException) and not any(here is other for other in causes):
            causes.append(here)
            waiting.extend([getattr(here, "reason", None), here.__cause__, here.__context__, *here.args])
    for cause in causes:
        if isinstance(cause, ProviderError):
            return cause
    for cause in causes if proxy else ():
        found = _TUNNEL.search(str(cause))
        if found:
            return _refused_by_proxy(int(found[1]), proxy, place)
    for kind, words in _PROXY_KINDS if proxy else ():
        if any(isinstance(cause, kind) for cause in causes) and (kind is not TimeoutError or phase == "connect"):
            hint = "check the option proxy of this service and that the proxy runs"
            return _failed("proxy", f"the proxy {proxy} {words}", hint, kind is not socket.gaierror)
    return _of_service(causes, place, phase, limits)


def _failed(code: str, message: str, hint: str, retryable: bool) -> ProviderError:
    kind = ProviderTimeout if code == "timeout" else ProviderError
    return kind(message, hint, code=code, retryable=retryable)


def _refused_by_proxy(status: int, proxy: str, place: str) -> ProviderError:
    """Return what it means that a proxy answered a request for `place` itself."""
    if status == _WANTS_PASSWORD:
        message = f"the proxy {proxy} wants a user and password, or others (status {status})"
        return _failed("proxy", message, "enter the user and password of the proxy of this service", False)
    hint = "check proxy and endpoint of this service; the proxy may not allow this host or port"
    return _failed("proxy", f"the proxy {proxy} opens no way to {place} (status {status})", hint, status >= 500)


def _of_service(causes: list[BaseException], place: str, phase: str, limits: Limits) -> ProviderError:
    error = next((cause for kind in _KINDS for cause in causes if isinstance(cause, kind)), causes[0])
    if isinstance(error, ssl.SSLCertVerificationError):
        number, reason = getattr(error, "verify_code", 0), getattr(error, "verify_message", "") or "unknown reason"
        if number == _NOT_YET_VALID:
            hint = "the clock of this router is not set; set the time or let NTP do it, then try again"
            return _failed("clock", f"the certificate of {place} is not yet valid", hint, False)
        hint = "check the host in the endpoint, and that nothing between here and there replaces certificates"
        if number == _EXPIRED:
            hint = "check the clock of this router first; if it is right, the service must renew its certificate"
        elif number in (_SELF_SIGNED, _SELF_SIGNED_CHAIN, _NO_ISSUER):
            hint = "install the package ca-bundle; for a server of your own, name its certificate in ca_file" + _PORTAL
        elif number in (_OTHER_NAME, _OTHER_ADDRESS):
            hint = "write the host in the endpoint as the certificate names it" + _PORTAL
        return _failed("tls", f"the certificate of {place} is not trusted: {reason}", hint, False)
    if isinstance(error, ssl.SSLError):
        hint = "check that the endpoint begins with http:// for a server without TLS, and that its port is right"
        reason = getattr(error, "reason", "") or "handshake failed"
        return _failed("tls", f"no TLS connection with {place}: {reason}", hint, False)
    if isinstance(error, socket.gaierror):
        hint = "look at the internet connection and its DNS (oasis doctor), and at the host in the endpoint"
        return _failed("dns", f"the name of {place} is not found", hint, True)
    if isinstance(error, ConnectionRefusedError):
        if limits["walled"] and _is_here(place):
            hint = "the endpoint needs the server's address and port, like http://127.0.0.1:8080/v1"
            hint += "; not port 22, 80 or 443"
            message = f"{place} is this router, which lets workers reach no port of its own but those of model servers"
            return _failed("walled", message, hint, False)
        hint = f"start the server that should listen on {place}, or correct the endpoint"
        return _failed("refused", f"{place} refuses the connection: nothing listens there", hint, True)
    if isinstance(error, TimeoutError) and phase == "connect":
        message = f"no connection to {place} within {limits['connect_s']:g} s"
        return _failed("timeout", message, "check the endpoint, the internet connection and firewalls on the way", True)
    if isinstance(error, TimeoutError):
        message = f"{place} sent nothing for {limits['idle_s']:g} s"
        return _failed("timeout", message, "try again; a local model may need a longer idle_s", True)
    if getattr(error, "errno", None) in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        return _failed("unreachable", f"there is no route to {place}", "check the internet connection and routes", True)
    if isinstance(error, ConnectionError):
        return _failed("network", f"{place} closed the connection", _TRY_AGAIN, True)
    return _failed("network", f"the connection to {place} failed: {type(error).__name__}", _TRY_AGAIN, True)


def _is_here(place: str) -> bool:
    """Tell whether an address is one of this host: then the kernel would send from that very address. Sends nothing."""
    host, _, port = place.rpartition(":")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)
    except OSError:
        return False
    for family, _, _, _, address in found:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect(address)
                if probe.getsockname()[0] == address[0]:
                    return True
        except OSError:
            continue
    return False
