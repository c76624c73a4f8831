"""What went wrong between the router and a model service, in words that say what to do about it.

    explainer(url, limits) -> explain(error, phase) -> ProviderError

Looks through all that libraries have wrapped in an exception; `phase` is connect or read. The code is dns, refused,
unreachable, network, tls, clock, proxy, walled or timeout.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl

from oasis.errors import ProviderError, ProviderTimeout

TYPE_CHECKING = False
if TYPE_CHECKING:
    import urllib.parse
    from collections.abc import Callable, Iterator

    Limits = dict[str, object]
    Explain = Callable[..., ProviderError]

# OpenSSL verify results (openssl/x509_vfy.h) that people can do something about.
_NOT_YET_VALID, _EXPIRED, _SELF_SIGNED, _SELF_SIGNED_CHAIN, _NO_ISSUER = 9, 10, 18, 19, 20
_OTHER_NAME, _OTHER_ADDRESS = 62, 64

# How http.client, and so urllib3, says that a proxy did not open the way.
_TUNNEL = re.compile(r"Tunnel connection failed: (\d+)")
_PROXY_LOGIN = 407

_TRY_AGAIN = "check that the router is online (ping, DNS) and try again"
_PORTAL = "; in a hotel or café, open a web page and log in to the network first"


def explainer(url: urllib.parse.SplitResult, limits: Limits, proxy: str = "") -> Explain:
    """Return what explains failures on the way to `url`, through the proxy "host:port" when one is given."""
    place = f"{url.hostname}:{url.port or (443 if url.scheme == 'https' else 80)}"

    def explain(error: BaseException, phase: str = "read") -> ProviderError:
        causes = list(_causes(error))
        for cause in causes:
            if isinstance(cause, ProviderError):
                return cause
        if proxy:
            failure = _of_proxy(causes, proxy, place, phase, limits)
            if failure:
                return failure
        for kind, make in _EXPLANATIONS:
            for cause in causes:
                if isinstance(cause, kind):
                    return make(cause, place, phase, limits)
        return failed("network", f"the connection to {place} failed: {type(error).__name__}", _TRY_AGAIN, True)

    return explain


def failed(code: str, message: str, hint: str, retryable: bool) -> ProviderError:
    kind = ProviderTimeout if code == "timeout" else ProviderError
    return kind(message, hint, code=code, retryable=retryable)


def refused_by_proxy(status: int, proxy: str, place: str) -> ProviderError:
    """Return what it means that a proxy answered a request for `place` itself."""
    if status == _PROXY_LOGIN:
        hint = "enter the user and password of the proxy of this service"
        return failed("proxy", f"the proxy {proxy} wants a user and password, or others (status {status})", hint, False)
    hint = "check proxy and endpoint of this service; the proxy may not allow this host or port"
    return failed("proxy", f"the proxy {proxy} opens no way to {place} (status {status})", hint, status >= 500)


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


def _of_proxy(causes: list[BaseException], proxy: str, place: str, phase: str, limits: Limits) -> ProviderError | None:
    """Return what a failure means when a proxy is on the way, None when it is not about the proxy."""
    for cause in causes:
        found = _TUNNEL.search(str(cause))
        if found:
            return refused_by_proxy(int(found[1]), proxy, place)
    for kind, words in _PROXY_KINDS:
        if any(isinstance(cause, kind) for cause in causes) and (kind is not TimeoutError or phase == "connect"):
            hint = "check the option proxy of this service and that the proxy runs"
            return failed("proxy", f"the proxy {proxy} {words}", hint, kind is not socket.gaierror)
    return None


# The router itself looks up and connects to nothing but the proxy.
_PROXY_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (socket.gaierror, "is not found by its name"),
    (ConnectionRefusedError, "refuses the connection: nothing listens there"),
    (TimeoutError, "does not answer"),
)


def _bad_certificate(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    code = getattr(error, "verify_code", 0)
    reason = getattr(error, "verify_message", "") or "unknown reason"
    if code == _NOT_YET_VALID:
        hint = "the clock of this router is not set; set the time or let NTP do it, then try again"
        return failed("clock", f"the certificate of {place} is not yet valid", hint, False)
    hint = "check the host in the endpoint, and that nothing between here and there replaces certificates"
    if code == _EXPIRED:
        hint = "check the clock of this router first; if it is right, the service must renew its certificate"
    elif code in (_SELF_SIGNED, _SELF_SIGNED_CHAIN, _NO_ISSUER):
        hint = "install the package ca-bundle; for a server of your own, name its certificate in ca_file" + _PORTAL
    elif code in (_OTHER_NAME, _OTHER_ADDRESS):
        hint = "write the host in the endpoint as the certificate names it" + _PORTAL
    return failed("tls", f"the certificate of {place} is not trusted: {reason}", hint, False)


def _bad_tls(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    hint = "check that the endpoint begins with http:// for a server without TLS, and that its port is right"
    reason = getattr(error, "reason", "") or "handshake failed"
    return failed("tls", f"no TLS connection with {place}: {reason}", hint, False)


def _no_name(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    hint = "look at the internet connection and its DNS (oasis doctor), and at the host in the endpoint"
    return failed("dns", f"the name of {place} is not found", hint, True)


def _refused(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    if limits.get("walled") and _is_here(place):
        hint = "the endpoint needs the server's address and port, like http://127.0.0.1:8080/v1; not port 22, 80 or 443"
        message = f"{place} is this router, which lets workers reach no port of its own but those of model servers"
        return failed("walled", message, hint, False)
    hint = f"start the server that should listen on {place}, or correct the endpoint"
    return failed("refused", f"{place} refuses the connection: nothing listens there", hint, True)


def _is_here(place: str) -> bool:
    """Tell whether an address is one of this host: then the kernel would send from that very address. Sends nothing."""
    host, _, port = place.rpartition(":")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)
    except OSError:
        return False
    return any(_source(family, address) == address[0] for family, _, _, _, address in found)


def _source(family: int, address: tuple[object, ...]) -> str:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(address)
            return str(probe.getsockname()[0])
    except OSError:
        return ""


def _too_slow(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    if phase == "connect":
        message = f"no connection to {place} within {limits['connect_s']:g} s"
        return failed("timeout", message, "check the endpoint, the internet connection and firewalls on the way", True)
    message = f"{place} sent nothing for {limits['idle_s']:g} s"
    return failed("timeout", message, "try again; a local model may need a longer idle_s", True)


def _unreachable(error: BaseException, place: str, phase: str, limits: Limits) -> ProviderError:
    if getattr(error, "errno", None) in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        return failed("unreachable", f"there is no route to {place}", "check the internet connection and routes", True)
    if isinstance(error, ConnectionError):
        return failed("network", f"{place} closed the connection", _TRY_AGAIN, True)
    return failed("network", f"the connection to {place} failed: {type(error).__name__}", _TRY_AGAIN, True)


# The first kind that is found among the causes explains them; order matters, since most are OSErrors.
_EXPLANATIONS: tuple[tuple[type[BaseException], Explain], ...] = (
    (ssl.SSLCertVerificationError, _bad_certificate),
    (ssl.SSLError, _bad_tls),
    (socket.gaierror, _no_name),
    (ConnectionRefusedError, _refused),
    (TimeoutError, _too_slow),
    (OSError, _unreachable),
)
