"""One table of bad servers over both transports: what the worker says about each."""

import shutil
import socket
import time
import tracemalloc

import pytest

from oasis import providers
from oasis.worker import protocol, transport
from tests.worker import certificates
from tests.worker.misbehaving import Server

KEY = "sk-secret-0123456789"

try:
    import requests  # noqa: F401

    SENDS = [transport.open_plain, transport.open_requests]
except ImportError:  # the standard library alone is tested on such hosts
    SENDS = [transport.open_plain]


@pytest.fixture(params=SENDS, ids=lambda send: send.__name__)
def send(request):
    return request.param


def ask(send, base_url, op="chat", sleeps=None, on_event=None, key=KEY, now_s=time.monotonic, **options):
    """Return the events of one request; waiting times go to `sleeps` instead of passing."""
    request = {
        "op": op, "id": 1, "profile": "compatible", "base_url": base_url, "key": key, "model": "m",
        "messages": [{"role": "user", "content": "hi"}], "tools": [], "options": {"idle_s": 5, **options},
    }  # fmt: skip
    events = []

    def emit(event):
        events.append(event)
        if on_event:
            on_event(event)

    protocol.answer(request, providers.profiles(), send, emit, [].append if sleeps is None else sleeps.append, now_s)
    assert [e["type"] for e in events if e["type"] in ("done", "models", "error")] == [events[-1]["type"]]
    assert key not in str(events)
    return events


def said(events):
    return "".join([e["text"] for e in events if e["type"] == "delta"])


def error_of(events):
    assert events[-1]["type"] == "error", events
    return events[-1]["error"]


@pytest.mark.parametrize("behaviour", ["good", "good_until_closed", "byte_by_byte", "plain_json", "moved_here"])
def test_good_answers(send, server, behaviour):
    events = ask(send, server.url(behaviour))
    assert said(events) == "Hello world" and events[-1]["stop_reason"] == "end_turn"


def test_what_goes_over_the_wire(send, server):
    ask(send, server.url("good"))
    (request,) = server.seen
    assert request["path"] == "/good/v1/chat/completions"
    assert request["headers"]["authorization"] == "Bearer " + KEY
    assert request["headers"]["accept-encoding"] == "identity"
    assert request["headers"]["content-type"] == "application/json"
    assert request["headers"]["user-agent"] == "oasis"
    assert request["body"]["messages"] == [{"role": "user", "content": "hi"}] and request["body"]["stream"] is True


def test_text_is_shown_when_it_arrives_also_without_chunks(send, server):
    times = []
    started = time.monotonic()
    ask(send, server.url("paused"), on_event=lambda event: times.append(time.monotonic() - started))
    assert times[0] < 0.7 < times[-1]


@pytest.mark.parametrize(
    ("behaviour", "code", "requests"),
    [
        ("refused_key", "authentication", 1),
        ("limited_for_long", "rate_limit", 1),
        ("broken", "server", 3),
        ("hung_up", "network", 3),
        ("cut", "truncated", 1),
        ("cut_until_closed", "truncated", 1),
        ("reset", "truncated", 1),
        ("portal", "portal", 1),
        ("portal_redirect", "redirect", 1),
        ("moved_in_circles", "redirect", 3),
        ("moved_away", "redirect", 1),
        ("error_at_200", "not_found", 1),
        ("error_in_stream", "overloaded", 1),
        ("wrong_json", "bad_answer", 1),
        ("nothing", "empty_answer", 1),
        ("packed", "provider", 1),
        ("no_http", "network", 3),
        ("endless", "bad_answer", 1),
        ("endless_error", "server", 3),
        ("page_with_a_status", "server", 3),
        ("page_called_json", "portal", 1),
        ("text_called_stream", "truncated", 3),
        ("empty_error", "server", 3),
        ("login_page_elsewhere", "redirect", 1),
        ("no_body_at_all", "empty_answer", 1),
    ],
)
def test_bad_answers(send, server, behaviour, code, requests):
    events = ask(send, server.url(behaviour))
    error = error_of(events)
    assert error["code"] == code, error
    assert error["message"] and error["hint"]
    assert len(server.seen) == requests
    assert not [e for e in events if e["type"] == "tool_use"]


def test_a_rate_limit_is_waited_out_as_the_server_wishes(send, server):
    sleeps = []
    assert said(ask(send, server.url("limited_once"), sleeps=sleeps)) == "Hello world"
    assert sleeps == [3]


def test_waits_double_and_vary_without_a_wish(send, server):
    sleeps = []
    assert said(ask(send, server.url("broken_twice"), sleeps=sleeps)) == "Hello world"
    assert 0.37 < sleeps[0] <= 0.5 and 0.75 <= sleeps[1] <= 1.0


def test_a_stream_cut_before_any_output_is_asked_for_again(send, server):
    assert said(ask(send, server.url("cut_before_output"))) == "Hello world"
    assert len(server.seen) == 2


def test_the_number_of_retries_is_an_option(send, server):
    ask(send, server.url("broken"), retries=0)
    assert len(server.seen) == 1


def test_a_key_of_any_form_is_masked(send, server):
    assert "the word … is wrong" in error_of(ask(send, server.url("quotes_the_key"), key="open sesame"))["message"]


def test_a_stalled_stream_ends_with_what_came(send, server):
    started = time.monotonic()
    events = ask(send, server.url("stalled"), idle_s=0.3)
    assert said(events) == "Hello" and error_of(events)["code"] == "timeout"
    assert time.monotonic() - started < 3
    assert f"127.0.0.1:{server.port} sent nothing for 0.3 s" in error_of(events)["message"]


def test_a_silent_server_is_given_up(send, server):
    error = error_of(ask(send, server.url("silent"), idle_s=0.3, retries=1))
    assert error["code"] == "timeout" and error["retryable"] and len(server.seen) == 2


def test_the_key_never_follows_a_redirect_to_another_host(send, server):
    other = Server()
    try:
        ask(send, server.url("portal_redirect"))
        assert other.seen == []
    finally:
        other.close()


def test_a_long_line_comes_whole(send, server):
    assert len(said(ask(send, server.url("huge_line")))) == 3_000_000 + len(" world")


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("goes_on_for_ever", "did not begin within"),
        ("drips_its_head", "did not begin within"),
        ("drips_its_length", "longer than it may"),
        ("drips_comments", "longer than it may"),
        ("drips_text", "longer than it may"),
    ],
)
def test_a_service_that_drips_is_given_up(send, server, behaviour, words):
    started = time.monotonic()
    events = ask(send, server.url(behaviour), idle_s=0.3, connect_s=0.1, total_s=0.8, retries=0)
    assert time.monotonic() - started < 3
    error = error_of(events)
    assert error["code"] == "timeout" and words in error["message"] and error["hint"]
    assert said(events).startswith("Hello") == (behaviour == "drips_text")


@pytest.mark.parametrize(
    ("behaviour", "code"), [("huge_head", "network"), ("many_headers", "network"), ("line_without_end", "bad_answer")]
)
def test_what_has_no_end_is_cut_off_before_it_fills_the_memory(send, server, behaviour, code):
    tracemalloc.start()
    try:
        error = error_of(ask(send, server.url(behaviour), retries=0))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert error["code"] == code, error
    assert peak_bytes < (80 if behaviour == "line_without_end" else 5) * 1024 * 1024


def test_characters_come_whole_whatever_the_pieces(send, server):
    assert said(ask(send, server.url("cut_in_a_character"))) == "Größe 😀 €"


def test_a_stream_that_is_called_json_is_read_all_the_same(send, server):
    assert said(ask(send, server.url("stream_called_json"))) == "Hello world"


def test_a_redirect_to_a_login_page_names_both_explanations(send, server):
    error = error_of(ask(send, server.url("login_page_elsewhere")))
    assert error["code"] == "redirect" and "http://hotspot.invalid/login" in error["message"]
    assert "endpoint" in error["hint"] and "log in" in error["hint"]
    assert len(server.seen) == 1


def test_each_retry_is_told_and_none_begins_when_the_time_is_over(send, server):
    sleeps, clock = [], iter([*range(0, 1000, 50)])
    told = [e for e in ask(send, server.url("broken"), sleeps=sleeps) if e["type"] == "retry"]
    assert [e["wait_s"] for e in told] == sleeps and len(sleeps) == 2
    assert "boom (status 500); asking again in" in told[0]["text"]
    server.seen.clear()
    late = ask(send, server.url("broken"), sleeps=[], now_s=lambda: next(clock))
    assert len(server.seen) < 3 and error_of(late)["code"] == "server"


def test_a_retry_never_shows_the_key(send, server):
    told = ask(send, server.url("quotes_the_key_in_a_failure"), key="open sesame")
    assert [e["type"] for e in told] == ["retry", "retry", "error"] and "the word … is wrong" in told[0]["text"]


@pytest.mark.parametrize(
    ("behaviour", "parameters"),
    [
        ("refuses_temperature", ["temperature"]),
        ("refuses_max_tokens", ["max_tokens=max_completion_tokens"]),
        ("refuses_both", ["temperature", "max_tokens"]),
    ],
)
def test_what_a_model_refuses_is_left_out_once_told_and_asked_for_again(send, server, behaviour, parameters):
    sleeps = []
    events = ask(send, server.url(behaviour), sleeps=sleeps, temperature=0.2, max_tokens=50, retries=0)
    assert said(events) == "Hello world" and sleeps == []
    assert [e["parameter"] for e in events if e["type"] == "refused"] == parameters
    first, last = server.seen[0]["body"], server.seen[-1]["body"]
    plain = {name.partition("=")[0] for name in parameters}
    assert plain <= set(first) and not plain & set(last) and last["messages"] == first["messages"]
    if "=" in parameters[0]:
        assert last["max_completion_tokens"] == 50
    server.seen.clear()
    again = ask(send, server.url(behaviour), temperature=0.2, max_tokens=50, without=parameters)
    assert said(again) == "Hello world" and len(server.seen) == 1
    assert not [e for e in again if e["type"] == "refused"]


def test_a_refusal_of_what_was_not_sent_is_an_error(send, server):
    error = error_of(ask(send, server.url("refuses_for_ever"), temperature=0.2))
    assert error["code"] == "invalid_request" and len(server.seen) == 2


def test_a_service_that_wants_now_this_name_and_now_that_is_an_error(send, server):
    events = ask(send, server.url("refuses_either"), max_tokens=50)
    assert error_of(events)["code"] == "invalid_request" and len(server.seen) == 3


@pytest.mark.parametrize(("content", "words"), [(None, "cannot be read"), ("no PEM", "holds no certificate")])
def test_a_ca_file_that_cannot_be_used_is_a_setting_to_correct(send, server, tmp_path, content, words):
    path = tmp_path / "ca.pem"
    if content:
        path.write_text(content)
    error = error_of(ask(send, server.url("good", "https"), ca_file=str(path)))
    assert error["code"] == "settings" and words in error["message"] and str(path) in error["message"] and error["hint"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_wall_of_our_own_is_not_taken_for_a_server_that_does_not_run(send, host):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    walled = error_of(ask(send, f"http://{host}:{port}/v1", walled=True))
    assert walled["code"] == "walled" and "is this router" in walled["message"] and "endpoint" in walled["hint"]
    assert not walled["retryable"] and "nothing listens" not in walled["message"]
    assert error_of(ask(send, f"http://{host}:{port}/v1", retries=0))["code"] == "refused"


def test_nobody_listens(send):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    error = error_of(ask(send, f"http://127.0.0.1:{port}/v1"))
    assert error["code"] == "refused" and f"127.0.0.1:{port}" in error["message"] and str(port) in error["hint"]


def test_a_name_that_nobody_knows(send):
    error = error_of(ask(send, "http://nobody.invalid:8080/v1"))
    assert error["code"] == "dns" and "nobody.invalid:8080" in error["message"] and "DNS" in error["hint"]


def test_a_connection_that_is_never_accepted(send):
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:  # fill the queue of the listener
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        error = error_of(ask(send, f"http://127.0.0.1:{port}/v1", connect_s=0.3, retries=0))
        for client in waiting:
            client.close()
    assert error["code"] == "timeout" and "no connection" in error["message"], error


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:99999/v1", "http://[::1/v1", "http:///v1", "http://h:x/v1"])
def test_addresses_that_are_none(send, base_url):
    assert error_of(ask(send, base_url, retries=0))["message"]


def test_models(send, server):
    assert ask(send, server.url("models"), op="models")[-1]["models"] == [{"id": "m-1"}, {"id": "m-2"}]
    assert error_of(ask(send, server.url("refused_key"), op="models"))["code"] == "authentication"
    assert error_of(ask(send, server.url("portal"), op="models"))["code"] == "portal"


def test_unknown_requests(send):
    for change in ({"op": "dance"}, {"profile": "nobody"}, {"vendor": "nobody"}):
        events = []
        request = {"op": "chat", "base_url": "http://h", "model": "m", **change}
        protocol.answer(request, providers.profiles(), send, events.append, [].append)
        assert error_of(events)["message"] and len(events) == 1


# TLS


needs_openssl = pytest.mark.skipif(not shutil.which("openssl"), reason="install the openssl program to run TLS tests")


@pytest.fixture(scope="module", params=sorted(certificates.DATES))
def certificate(request, tmp_path_factory):
    return (request.param, *certificates.make(tmp_path_factory.mktemp("tls") / request.param, request.param))


@needs_openssl
def test_certificates_are_verified_and_the_clock_is_suspected(send, certificate):
    kind, file, key = certificate
    server = Server(file, key)
    try:
        events = ask(send, server.url("good", "https"), ca_file=file)
        untrusted = error_of(ask(send, server.url("good", "https")))
    finally:
        server.close()
    if kind == "good":
        assert said(events) == "Hello world"
        assert untrusted["code"] == "tls" and "ca-bundle" in untrusted["hint"]
        return
    error = error_of(events)
    assert error["code"] == {"not_yet": "clock", "expired": "tls", "other_name": "tls"}[kind]
    assert ("clock" in error["hint"]) == (kind in ("not_yet", "expired"))
    assert len([e for e in events if e["type"] == "error"]) == 1 and server.seen == (
        [] if kind != "good" else server.seen
    )


def test_a_server_without_tls_is_recognised(send, server):
    error = error_of(ask(send, server.url("good", "https"), idle_s=2))
    assert error["code"] == "tls" and "http://" in error["hint"]
