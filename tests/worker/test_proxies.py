"""Services behind a proxy, over both transports: what the proxy sees, and whom a failure is blamed on."""

import shutil
import socket

import pytest

from tests.worker import certificates
from tests.worker.misbehaving import Server
from tests.worker.proxy import Proxy
from tests.worker.test_transport import KEY, SENDS, ask, error_of, said


@pytest.fixture(params=SENDS, ids=lambda send: send.__name__)
def send(request):
    return request.param


@pytest.fixture
def proxied(server):
    made = []

    def make(port=None, **options):
        made.append(Proxy(server.port if port is None else port, **options))
        return made[-1]

    yield make
    for proxy in made:
        proxy.close()


def test_what_goes_without_tls_is_asked_for_by_its_whole_address(send, server, proxied):
    proxy = proxied()
    events = ask(send, "http://nowhere.invalid/good/v1", proxy=proxy.url)
    assert said(events) == "Hello world"
    (seen,) = proxy.seen
    assert (seen["method"], seen["target"]) == ("POST", "http://nowhere.invalid/good/v1/chat/completions")
    assert server.seen[0]["headers"]["host"] == "nowhere.invalid"
    assert "proxy-authorization" not in server.seen[0]["headers"]


@pytest.mark.skipif(not shutil.which("openssl"), reason="install the openssl program to run TLS tests")
def test_tls_goes_through_a_tunnel_that_shows_the_proxy_nothing(send, proxied, tmp_path):
    file, key = certificates.make(tmp_path / "tls", "good")
    server = Server(file, key)
    try:
        proxy = proxied(server.port, auth="me:pass word:ü")
        options = {"proxy": proxy.url, "proxy_auth": "me:pass word:ü", "ca_file": file}
        assert said(ask(send, "https://localhost:7777/good/v1", **options)) == "Hello world"
        (seen,) = proxy.seen
        assert (seen["method"], seen["target"]) == ("CONNECT", "localhost:7777")
        assert KEY not in str(proxy.seen) and server.seen[0]["headers"]["authorization"] == "Bearer " + KEY
        assert "proxy-authorization" not in server.seen[0]["headers"]
        wrong = error_of(ask(send, "https://elsewhere.invalid/good/v1", **options))
        assert wrong["code"] == "tls" and "elsewhere.invalid:443" in wrong["message"]
    finally:
        server.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("given", ["", "me:wrong"])
def test_a_proxy_that_wants_a_password_says_so(send, proxied, scheme, given):
    proxy = proxied(auth="me:right")
    error = error_of(ask(send, f"{scheme}://nowhere.invalid/good/v1", proxy=proxy.url, proxy_auth=given, retries=0))
    assert error["code"] == "proxy" and f"127.0.0.1:{proxy.port}" in error["message"] and "407" in error["message"]
    assert "password" in error["hint"] and "wrong" not in str(error) and not error["retryable"]


def test_the_password_is_sent_with_what_goes_without_tls(send, proxied):
    proxy = proxied(auth="me:right")
    assert said(ask(send, "http://nowhere.invalid/good/v1", proxy=proxy.url, proxy_auth="me:right")) == "Hello world"


def test_a_proxy_that_opens_no_way(send, proxied):
    proxy = proxied(status=403)
    error = error_of(ask(send, "https://nowhere.invalid/v1", proxy=proxy.url))
    assert error["code"] == "proxy" and "nowhere.invalid:443" in error["message"] and "403" in error["message"]
    assert len(proxy.seen) == 1


def test_a_proxy_that_is_not_there_is_blamed_and_not_the_service(send):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for scheme in ("http", "https"):
        error = error_of(ask(send, f"{scheme}://nowhere.invalid/v1", proxy=f"http://127.0.0.1:{port}"))
        assert error["code"] == "proxy" and f"the proxy 127.0.0.1:{port}" in error["message"], error
        assert "nothing listens" in error["message"] and "proxy" in error["hint"]
    error = error_of(ask(send, "https://nowhere.invalid/v1", proxy="http://nobody.invalid:3128", retries=0))
    assert error["code"] == "proxy" and "nobody.invalid:3128" in error["message"]


@pytest.mark.parametrize("proxy", ["socks5://h:1", "https://h:1", "http://h", "http://u:p4ssword@h:1", "http://[:1"])
def test_a_proxy_that_is_none_is_a_setting_to_correct(send, server, proxy):
    error = error_of(ask(send, server.url("good"), proxy=proxy))
    assert error["code"] == "settings" and "http://HOST:PORT" in error["hint"] and "p4ssword" not in str(error)
    assert server.seen == []
