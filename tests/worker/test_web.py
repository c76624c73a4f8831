"""Pages and searches by a worker: bounded, judged at each hop, connected to what was judged; a server on this host."""

import base64
import http.server
import json
import ssl
import threading
import time
import urllib.parse

import pytest

from oasis.errors import OasisError, PolicyError, ProviderError, UsageError
from oasis.worker import lines, web

PAGE = """<!doctype html><html><head><title>The &amp; title</title><style>p{}</style>
<script>if (1<2) var hidden = 1</script></head>
<body><nav>Menu</nav><!-- left <b>out</b> -->
<article><h1>Heading</h1><p>First&nbsp;words of the article.</p><p>%s</p></article>
<footer>Imprint</footer></body></html>""" % ("The mesh network needs batman-adv on each node. " * 10)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers by path; `seen` of the server holds (path, headers) of every request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        path, _, query = self.path.partition("?")
        getattr(self, "get_" + path.strip("/").replace("/", "_"), self.get_missing)(urllib.parse.parse_qs(query))

    def answer(self, body, kind="text/html; charset=utf-8", status=200, **headers):
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def get_missing(self, query):
        self.answer("<p>gone</p>", status=404)

    def get_page(self, query):
        self.answer(PAGE)

    def get_plain(self, query):
        self.answer("words\n", "text/plain")

    def get_latin(self, query):
        self.answer("<p>gr\xfc\xdfe</p>".encode("latin-1"), "text/html; charset=iso-8859-1")

    def get_image(self, query):
        self.answer(b"\x89PNG", "image/png")

    def get_paper(self, query):
        self.answer(b"%PDF-1.7\n" + b"x" * int(query.get("size", ["9"])[0]), "application/pdf")

    def get_packed(self, query):
        self.answer(b"\x1f\x8b", "text/html", Content_Encoding="gzip")

    def get_big(self, query):
        self.answer("<p>" + "x" * (3 * 1024 * 1024) + "</p>")

    def get_long(self, query):
        self.answer("word " * 5000, "text/plain")

    def get_moved(self, query):
        self.answer("", status=302, Location=query["to"][0])

    def get_loop(self, query):
        self.answer("", status=301, Location="/loop")

    def get_drip(self, query):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            try:
                self.wfile.write(b"1\r\nx\r\n")
                self.wfile.flush()
            except OSError:
                return
            time.sleep(0.05)

    def get_drip_head(self, query):
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while True:
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.05)
        except OSError:
            return

    def get_rubbish(self, query):
        self.wfile.write(b"SSH-2.0-dropbear\r\n")
        self.close_connection = True

    def get_search(self, query):
        hits = [{"url": self.server.url + "/page", "title": "Mesh <b>guide</b>", "content": "about networks"},
                {"url": self.server.url + "/missing", "title": "Gone", "content": "batman of the cinema"},
                {"url": "javascript:alert(1)", "title": "x", "content": "y"}, "junk", {"url": 5}]  # fmt: skip
        self.answer(json.dumps({"results": hits}), "application/json")

    def get_res_v1_web_search(self, query):
        hits = [{"url": self.server.url + "/plain?%d" % n, "title": "t%d" % n, "description": "d%d" % n}
                for n in range(int(query["count"][0]))]  # fmt: skip
        self.answer(json.dumps({"web": {"results": hits}}), "application/json")

    def get_none_search(self, query):
        self.answer('{"results": []}', "application/json")

    def get_html_search(self, query):
        self.answer("<p>JSON is off</p>")

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    made.seen = []
    made.url = "http://127.0.0.1:%d" % made.server_port
    made.place = "127.0.0.1:%d" % made.server_port
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def fetch(server, path, opened=None, ask=web.resolve, **more):
    url = path if path.startswith("http") else server.url + path
    opened = [server.place] if opened is None else opened
    return web.Web({"op": "fetch", "url": url, "open": opened, **more}, ask).run()


def test_a_page_is_its_article_as_text(server):
    found = fetch(server, "/page")
    assert found["title"] == "The & title" and found["url"] == server.url + "/page"
    assert found["text"].startswith("Heading\n\nFirst words of the article.") and "cut" not in found
    for word in ("Menu", "Imprint", "hidden", "p{}", "left"):
        assert word not in found["text"]


def test_plain_text_and_other_charsets(server):
    assert fetch(server, "/plain")["text"] == "words"
    assert fetch(server, "/latin")["text"] == "grüße"


def test_the_request_says_who_asks_and_takes_nothing_packed(server):
    fetch(server, "/plain")
    headers = server.seen[0][1]
    assert "oasis" in headers["User-Agent"] and headers["Accept-Encoding"] == "identity"
    assert headers["Host"] == server.place and "Cookie" not in headers and "Authorization" not in headers


def test_without_the_owners_word_nothing_at_home_is_asked(server):
    for opened in ([], ["127.0.0.1:1"], ["192.168.1.0/24"]):
        with pytest.raises(PolicyError, match="this router itself"):
            fetch(server, "/page", opened)
    assert server.seen == []


def test_each_redirect_is_judged_like_the_first(server):
    assert fetch(server, "/moved?to=/plain")["text"] == "words"
    for target in ("http://192.168.1.1/", "http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://127.0.0.1:1/",
                   "http://10.0.0.1/", "//192.168.1.1/x"):  # fmt: skip
        with pytest.raises(PolicyError, match="is not fetched"):
            fetch(server, "/moved?to=" + target)
    for target in (
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://x/",
        "javascript:1",
        "http://u:p@example.org/",
    ):
        with pytest.raises(UsageError):
            fetch(server, "/moved?to=" + target)


def test_redirects_end(server):
    with pytest.raises(ProviderError, match="redirects"):
        fetch(server, "/loop")
    assert len(server.seen) == web.REDIRECTS + 1


def test_a_name_is_resolved_once_and_means_what_was_judged(server):
    """A name that means another address a moment later: the connection goes where it was judged to go."""
    answers = [["127.0.0.1"], ["192.168.1.1"], ["10.0.0.1"]]
    asked = []

    def ask(host, port):
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    found = fetch(server, "http://rebind.example:%d/plain" % server.server_port, ["127.0.0.1"], ask)
    assert found["text"] == "words" and asked == ["rebind.example"]
    assert server.seen[0][1]["Host"] == "rebind.example:%d" % server.server_port


def test_a_name_that_means_home_later_is_refused_at_the_redirect(server):
    answers = iter([["127.0.0.1"], ["192.168.1.1"]])
    url = "http://rebind.example:%d/moved?to=/plain" % server.server_port
    with pytest.raises(PolicyError):
        fetch(server, url, ["127.0.0.1"], lambda *_: next(answers))


def test_bodies_are_cut_and_only_text_is_read(server):
    found = fetch(server, "/big")
    assert found["cut"] and len(found["text"]) == web.TEXT_CHARS
    assert fetch(server, "/long")["cut"]
    for path, words in (
        ("/image", "no text"),
        ("/packed", "packs"),
        ("/missing", "HTTP 404"),
        ("/rubbish", "cannot be read"),
    ):
        with pytest.raises(ProviderError, match=words):
            fetch(server, path)


def test_a_pdf_comes_whole_to_who_wants_one_and_to_nobody_else(server):
    found = fetch(server, "/paper", pdf=True)
    assert base64.b64decode(found["pdf"]).startswith(b"%PDF-1.7") and "text" not in found
    with pytest.raises(ProviderError, match="no text"):
        fetch(server, "/paper")
    for size in (web.PDF_BYTES, 2 * web.FETCH_BYTES):
        with pytest.raises(UsageError, match="more than 700 kB"):
            fetch(server, "/paper?size=%d" % size, pdf=True)
    largest = fetch(server, "/paper?size=%d" % (web.PDF_BYTES - 9), pdf=True)
    assert len(largest["pdf"]) < lines.EVENT_BYTES - 4096, "an event holds it"


def test_no_more_is_taken_than_allowed_and_a_key_is_for_the_first_host_alone(server):
    asked = web.Web({"op": "fetch", "open": [server.place]})
    where, _, body, is_cut = asked._got(server.url + "/moved?to=/big", {"X-Subscription-Token": "k"}, 10.0, 1000)
    assert (where, len(body), is_cut) == (server.url + "/big", 1000, True)
    assert ["X-Subscription-Token" in headers for _, headers in server.seen] == [True, False]


@pytest.mark.parametrize("path", ["/drip", "/drip_head"])
def test_a_server_that_drips_is_cut_off(server, path):
    asked = web.Web({"op": "fetch", "open": [server.place]})
    before = time.monotonic()
    with pytest.raises(ProviderError):
        asked._got(server.url + path, {}, 1.0, 1000_000)
    assert time.monotonic() - before < 8


@pytest.mark.parametrize(
    "url",
    ["", "x", "example.org", "file:///etc/passwd", "ftp://example.org", "http://", "https:///x", "http://u:p@example.org/",
     "http://example.org:0/", "http://example.org:99999/", "http://exa mple.org/", "http://example.org/\r\nX: y",
     "http://[::1", "HTTP:/x"],
)  # fmt: skip
def test_what_is_no_web_address_is_refused(server, url):
    with pytest.raises(UsageError):
        web.Web({"op": "fetch", "url": url, "open": ["0.0.0.0/0"]}).run()


def test_tls_is_verified_with_the_name_that_was_asked_for(server, tmp_path):
    tls = make_tls(tmp_path)
    if tls is None:
        pytest.skip("NOT RUN: no openssl to make a certificate")
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.seen, made.daemon_threads = [], True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls)
    made.socket = context.wrap_socket(made.socket, server_side=True)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        url = "https://{}:%d/plain" % made.server_port
        known = {"opened": ["127.0.0.1"], "ask": lambda *_: ["127.0.0.1"]}
        assert fetch(made, url.format("right.example"), ca_file=tls, **known)["text"] == "words"
        with pytest.raises(ProviderError, match="cannot be read"):
            fetch(made, url.format("wrong.example"), ca_file=tls, **known)
        with pytest.raises(ProviderError, match="cannot be read"):
            fetch(made, url.format("right.example"), **known)
        with pytest.raises(ProviderError, match="from https to http"):
            fetch(
                made, url.format("right.example").replace("/plain", "/moved?to=http://x.example/"), ca_file=tls, **known
            )
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


def make_tls(folder):
    import shutil
    import subprocess

    if shutil.which("openssl") is None:
        return None
    path = str(folder / "tls.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", path + ".key", "-out", path, "-days",
         "2", "-subj", "/CN=right.example", "-addext", "subjectAltName=DNS:right.example"],
        check=True, capture_output=True,
    )  # fmt: skip
    with open(path, "a", encoding="ascii") as whole, open(path + ".key", encoding="ascii") as key:
        whole.write(key.read())
    return path


# Searching


def search(server, query, engine="searxng", path="", **more):
    return web.Web({"op": "search", "query": query, "engine": engine, "base_url": server.url + path,
                    "open": [server.place], **more}).run()  # fmt: skip


def test_a_search_gives_the_passages_that_fit_best_with_their_sources(server):
    found = search(server, "batman-adv mesh")
    assert "batman-adv" in found["passages"][0]["text"] and found["passages"][0]["score"] >= web.GOOD
    assert found["sources"][0]["url"] == server.url + "/page"
    assert found["sources"][0]["title"] == "Mesh guide" and found["passages"][0]["source"] == 1
    assert "javascript" not in json.dumps(found) and len(found["passages"]) <= web.RESULTS
    points = [one["score"] for one in found["passages"]]
    assert points == sorted(points, reverse=True)


def test_a_page_that_is_gone_leaves_its_snippet(server):
    assert any(one["text"] == "batman of the cinema" for one in search(server, "batman cinema")["passages"])


def test_poor_hits_are_asked_for_once_more(server):
    search(server, "nothing like that", "brave", key="sk-brave-test")
    asked = [path for path, _ in server.seen if path.startswith("/res/")]
    assert ["count=8" in asked[0], "count=12" in asked[1], len(asked)] == [True, True, 2]
    keys = [headers.get("X-Subscription-Token") for _, headers in server.seen]
    assert keys.count("sk-brave-test") == 2, "the key goes to the engine alone"


def test_nothing_found_is_said(server):
    assert search(server, "x", path="/none")["note"].startswith("nothing was found")


def test_an_engine_that_sends_something_else_is_told(server):
    with pytest.raises(OasisError, match="no answer"):
        search(server, "x", path="/html")


def test_pages_that_an_engine_names_at_home_are_not_fetched(server):
    asked = web.Web({"op": "search", "query": "mesh", "engine": "searxng", "base_url": "http://searx.example:%d" %
                     server.server_port, "open": ["searx.example"]},
                    lambda host, port: ["127.0.0.1"])  # fmt: skip
    found = asked.run()
    assert [path for path, _ in server.seen] and all(path.startswith("/search") for path, _ in server.seen)
    assert {one["text"] for one in found["passages"]} <= {"about networks", "batman of the cinema"}


# Text and ranking


@pytest.mark.parametrize(
    "text", ["<" * 50_000, "<a " * 20_000, "&" * 50_000, "<!--" * 10_000, "<p>" * 50_000, "</p>" * 50_000,
             "<![CDATA[" * 9999, "<a href='" * 20_000, "<!--" + "<!-->" * 20_000,
             "<script>" + "x" * 50_000, "<title>" * 9999, "\0" * 1000, "<svg><p>" * 9999],
)  # fmt: skip
def test_broken_pages_are_read_in_time(text):
    before = time.monotonic()
    web.of_html(text)
    assert time.monotonic() - before < 10


def test_a_head_that_never_ends_hides_no_body():
    assert web.of_html("<head><title>T</title><body><p>words</p>")[1] == "words"


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden>secret orders</div>",
        "<div style='display: none'>secret orders</div>",
        "<div style='color:red;DISPLAY:/* x */NONE!important'>a <div>nested</div> secret orders</div>",
        "<span style='visibility:hidden'>secret orders</span>",
        "<span style='opacity: 0'>secret orders</span>",
        "<span style='font-size:0px'>secret orders</span>",
        "<div style='height:0;overflow:hidden'>secret orders</div>",
        "<div style='position:absolute; left:-9999px'>secret orders</div>",
        "<div style='text-indent:-999em'>secret orders</div>",
        "<div style='clip:rect(0 0 0 0)'>secret orders</div>",
        "<b aria-hidden='true'>secret orders</b>",
        "<p hidden>secret orders",
        "<div hidden><br><img alt=x>secret orders</div>",
        "<ul><li hidden>secret <ul><li>inner</li></ul> orders</li></ul>",
    ],
)
def test_what_a_browser_does_not_show_is_not_read(hidden):
    assert web.of_html(f"<body><p>before</p>{hidden}<p>after</p>")[1].split() == ["before", "after"]


@pytest.mark.parametrize(
    "shown",
    [
        "<p style='opacity:0.8'>words</p>",
        "<p style='max-width:600px;height:0.5em;font-size:0.9em'>words</p>",
        "<p style='text-indent:-1em;left:0;top:-2px'>words</p>",
        "<p aria-hidden='false'>words</p>",
        "<p style='width:100%'>words</p>",
    ],
)
def test_what_only_looks_like_it_is_read(shown):
    assert web.of_html(f"<body>{shown}")[1] == "words"


def test_chunks_are_bounded_and_short_ones_left_out():
    assert web.chunks("short") == []
    found = web.chunks("word " * 400 + "x" * 1200)
    assert all(web.LEAST_CHARS <= len(one) <= web.CHUNK_CHARS for one in found) and len(found) >= 5


def test_scores_are_from_none_to_all_and_rare_words_count_more():
    passages = [
        "the router is slow",
        "wireguard on the router",
        "wireguard wireguard wireguard peers on a router",
        "cats",
    ]
    found = web.scores("wireguard peers router", passages)
    assert found[2] == max(found) and found[3] == 0 and found[1] > found[0] and all(0 <= one <= 1 for one in found)
    assert web.scores("", passages) == [0.0] * 4 and web.scores("x", []) == []
    assert web.scores("the", ["the cat"])[0] > 0, "nothing but common words is still a question"


def test_words_without_spaces_are_compared_in_pairs():
    found = web.scores("無線の設定", ["無線LANの設定方法です", "今日の天気"])
    assert found[0] > found[1]


def read(html, **more):
    return web.Web({"op": "read", "html": html, **more}).run()


def test_a_page_at_hand_is_read_without_any_network():
    found = read(PAGE)
    assert found["title"] == "The & title" and found["text"].startswith(
        "Heading\n\nFirst words of the article.\n\nThe mesh"
    )
    assert "hidden" not in found["text"] and "cut" not in found


@pytest.mark.parametrize("char", ["a", '"', "路", "\\"])
def test_a_long_page_is_cut_to_what_was_asked_for_and_an_event_holds(char):
    page = "<p>" + char * 2_000_000
    assert len(read(page)["text"]) == web.TEXT_CHARS
    assert len(read(page, chars=20_000)["text"]) == 20_000
    found = read(page, chars=10**9)
    assert found["cut"] is True and 200_000 < len(found["text"]) <= web.MOST_CHARS
    assert len(json.dumps(found, ensure_ascii=False).encode()) < 1 << 20


def test_a_deep_page_is_read_like_any_other():
    assert read("<div>" * 100_000 + "words" + "</div>" * 100_000)["text"] == "words"
