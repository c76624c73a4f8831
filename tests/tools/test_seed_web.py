"""The tools of the web as a run uses them: what a worker is asked, by whose word, and the way through a daemon."""

import json
import threading

import pytest

from oasis.errors import ProviderError
from oasis.tools.router import Facts
from oasis.tools.seed import closed
from tests.daemon.test_wiring import follow, of_type
from tests.oasisd import copy_root, start_daemon
from tests.tools.seed_bench import Bench
from tests.worker.test_web import Handler

WHOSE = ["words of the web"]
DUMP = {"interface": [
    {"interface": "lan", "ipv4-address": [{"address": "192.168.1.1", "mask": 24}],
     "ipv6-prefix-assignment": [{"address": "2a02:810d:1::", "mask": 60}], "ipv6-address": []},
    {"interface": "wan", "ipv4-address": [{"address": "203.0.113.9", "mask": 24}],
     "ipv6-address": [{"address": "2a02:810d:9::2", "mask": 64}],
     "ipv6-prefix": [{"address": "2a02:810d::", "mask": 56}],
     "route": [{"target": "0.0.0.0", "mask": 0}]},
    "junk", {"interface": "odd", "ipv4-address": [5, {"address": None}], "route": {}},
]}  # fmt: skip


def facts():
    replies = {("network.interface", "dump"): DUMP}
    return Facts(lambda package: None, lambda name, method, _: replies[name, method], lambda path: None, lambda: 0)


class Asked:
    """Stands for a worker; `answer` is its result, or what it raises."""

    def __init__(self, answer=None):
        self.requests, self.answer = [], answer or {"text": "words"}

    def __call__(self, request, cancelled):
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def made():
    benches = []

    def make(more="", key="", answer=None):
        asked = Asked(answer)
        bench = Bench(more=more, ask=asked, key=key)
        bench.hands.facts = facts()
        bench.asked = asked.requests
        benches.append(bench)
        return bench

    yield make
    for bench in benches:
        bench.close()


WEB = "config web 'web'\n\tlist reach 'nas.lan:8080'\n\tlist reach '192.168.1.9'\n"


def test_a_fetch_says_what_the_owner_opened_and_what_is_home(made):
    bench = made(WEB)
    told, is_error, taint = bench.call("http_fetch", url="https://example.org/")
    assert told == {"text": "words", "untrusted": WHOSE} and not is_error and taint == WHOSE
    request = bench.asked[0]
    assert (request["op"], request["url"]) == ("fetch", "https://example.org/")
    assert request["open"] == ["nas.lan:8080", "192.168.1.9"]
    assert request["closed"] == ["192.168.1.1/24", "2a02:810d:1::/60", "203.0.113.9", "2a02:810d:9::2",
                                 "2a02:810d::/56"]  # fmt: skip


def test_words_of_others_in_sight_make_the_owner_asked(made):
    """What is fetched tells the server something: an address can carry a secret out."""
    bench = made()
    bench.hands.taint = ["words of a device"]
    bench.hands.answer = {"status": "declined"}
    assert bench.call("http_fetch", url="https://example.org/?secret")[0]["status"] == "declined" and not bench.asked


def test_an_error_of_the_worker_is_one_of_the_web(made):
    bench = made(answer=ProviderError("example.org answered with HTTP 404 \x1b[2J"))
    told, is_error, taint = bench.call("http_fetch", url="https://example.org/")
    assert is_error and taint == WHOSE and "404 [2J" in told["error"]["message"]


def test_a_search_needs_an_engine(made):
    bench = made()
    told, is_error, _ = bench.call("web_search", query="mesh")
    assert is_error and "no search engine" in told["error"]["message"]
    assert not bench.call("http_fetch", url="https://example.org/")[1], "which a fetch does not"


def test_a_searxng_at_home_is_opened_by_being_set(made):
    for url, place in (("http://192.168.1.5:8888/sx", "192.168.1.5:8888"),
                       ("https://searx.example", "searx.example:443"),
                       ("http://[fd00::5]/", "[fd00::5]:80")):  # fmt: skip
        bench = made("config web 'web'\n\toption searxng '%s'\n" % url, "brave-key")
        bench.call("web_search", query="mesh")
        assert (
            bench.asked[0]["open"] == [place] and bench.asked[0]["engine"] == "searxng" and "key" not in bench.asked[0]
        )


def test_brave_is_asked_with_its_key(made):
    bench = made("", "brave-key")
    bench.call("web_search", query="mesh")
    assert (bench.asked[0]["engine"], bench.asked[0]["key"]) == ("brave", "brave-key")


@pytest.mark.parametrize(
    "name, arguments",
    [("http_fetch", {}), ("http_fetch", {"url": 5}), ("http_fetch", {"url": "x"}), ("web_search", {}),
     ("http_fetch", {"url": "http://" + "x" * 3000}), ("web_search", {"query": ""}),
     ("web_search", {"query": "x", "n": 1})],
)  # fmt: skip
def test_wrong_arguments_never_reach_a_worker(made, name, arguments):
    bench = made("", "brave-key")
    assert bench.call(name, **arguments)[1] and not bench.asked


def test_a_router_that_tells_nothing_of_its_networks_closes_none():
    silent = Facts(lambda package: None, lambda *call: None, lambda path: None, lambda: 0)
    assert closed(silent) == []


# Through a daemon and its worker


@pytest.fixture
def server():
    import http.server

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads, made.seen = True, []
    made.url, made.place = "http://127.0.0.1:%d" % made.server_port, "127.0.0.1:%d" % made.server_port
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def test_the_owner_gives_braves_key_as_he_gives_any(tmp_path):
    daemon = start_daemon(copy_root(str(tmp_path / "router")))
    try:
        find = lambda: next(one for one in daemon.call("tool.list")["tools"] if one["name"] == "web_search")  # noqa: E731
        assert "oasis key brave" in find()["note"]
        assert daemon.call("service.key", identifier="brave", key="sk-brave-0123456789") == {"status": "OK"}
        assert "note" not in find()
        with open(daemon.root + "/etc/oasis/keys.json", encoding="utf-8") as handle:
            assert json.load(handle)["brave"] == "sk-brave-0123456789"
    finally:
        daemon.stop()


def use(daemon, name, **arguments):
    events = follow(daemon, daemon.call("tool.call", name=name, arguments=arguments))
    return json.loads(of_type(events, "tool_result")[0]["text"])


def test_the_whole_way_through_a_daemon_and_a_worker(tmp_path, server):
    root = copy_root(str(tmp_path / "router"))
    with open(root + "/etc/config/oasis", "a", encoding="utf-8") as handle:
        handle.write("\nconfig web 'web'\n\tlist reach '%s'\n\toption searxng '%s'\n" % (server.place, server.url))
    daemon = start_daemon(root)
    try:
        assert "is off" in use(daemon, "http_fetch", url=server.url + "/page")["error"]["message"] and not server.seen
        for name in ("http_fetch", "web_search"):
            assert daemon.call("tool.set", name=name, enabled=True, approval="allow")["tool"]["enabled"]
        told = use(daemon, "http_fetch", url=server.url + "/page")
        assert "First words of the article." in told["text"] and told["untrusted"] == WHOSE
        assert use(daemon, "web_search", query="batman-adv mesh")["sources"][0]["title"] == "Mesh guide"
        for url in ("http://127.0.0.1:1/", "http://192.168.1.1/", "http://169.254.169.254/", "file:///etc/shadow"):
            assert use(daemon, "http_fetch", url=url)["error"]["code"] in ("policy", "usage")
        assert use(daemon, "http_fetch", url=server.url + "/missing")["error"]["code"] == "status"
    finally:
        daemon.stop()
