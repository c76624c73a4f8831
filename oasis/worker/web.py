"""Pages and searches of the web, for the ops `fetch` and `search` of a worker; `read`, for a page that is here already;
`find`, for model servers of the home network. See shapes.pyi.

Which addresses a page may be fetched from is data of the request: `open` lists places that are let through (HOST,
HOST:PORT, an address or a network), `closed` networks that are not although they look like the internet, as the
router's own addresses and the prefixes of its home network. All else that is not of the internet (core/addresses.py) is
closed: loopback, private, link-local, with the metadata addresses of clouds, shared, multicast, reserved, and IPv6
addresses that such an IPv4 address is in.

A name is resolved once; the addresses are judged, and the connection goes to one of these and nowhere else, with the
name in Host and TLS: what the name means a moment later does not matter. Each redirect is a new address and judged like
the first. Bodies are bounded, packed ones are refused, only text is read.
"""

from __future__ import annotations

import binascii
import collections
import errno
import functools
import html.parser
import http.client
import math
import re
import select
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Sequence

from oasis import VERSION
from oasis.core import clean, jsonl
from oasis.core.addresses import not_of_internet, number, wrapped
from oasis.errors import OasisError, PolicyError, ProviderError, ProviderTimeout, SchemaError, UsageError
from oasis.providers import wire
from oasis.worker import transport

if False:  # annotations only
    from oasis.worker.shapes import Findings, Found, Hit, Page, Request, Row, Server

    Connection = http.client.HTTPConnection
    Attributes = list[tuple[str, str | None]]
    Place = tuple[str, int]  # host and port
    Resolve = Callable[[str, int], list[str]]


# Which addresses a page may be fetched from

# A name with more is nobody's web page.
ADDRESSES = 16
_BITS = {4: 32, 6: 128}


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system gives them.

    Raises: ProviderError when it has none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ProviderError(f"{host} has no address: {error}", "is the name right, and the router online?")
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))[:ADDRESSES]


def checked(host: str, port: int, opened: list[str], closed: list[str], ask: Resolve) -> list[str]:
    """Return the addresses to connect to: those that were judged, so that a name cannot mean another one later.

    One closed address among them closes all: a name that leads both ways is a trick. `opened` are HOST, HOST:PORT, an
    address, a network, or [IPV6]:PORT.
    Raises: PolicyError when it is not let through, ProviderError when there is no address.
    """
    found = ask(host, port)
    if not found:
        raise ProviderError(f"{host} has no address", "is the name right?")
    places: list[str] = []  # of the entries that are about this port
    for entry in opened:
        place, wanted = entry.strip().lower(), ""
        if place.startswith("["):
            place, _, rest = place[1:].partition("]")
            wanted = rest[1:] if rest.startswith(":") else ""
        elif place.count(":") == 1:
            place, _, wanted = place.partition(":")
        if not (wanted.isascii() and wanted.isdigit()) or int(wanted) in (0, port):
            places.append(place)
    if host and host.lower() in places:
        return found
    for text in found:
        why = reason(text, closed)
        if why and not _is_within([number(text.partition("%")[0])], places):
            hint = "the owner lists what may be, in oasis.web.reach"
            raise PolicyError(f"{host} is not fetched: {text} is {why}", hint)
    return found


def reason(text: str, closed: list[str]) -> str:
    """Return what is wrong with an address, "" for one of the internet."""
    why = not_of_internet(text)
    if why:
        return why
    address = number(text.partition("%")[0])
    assert address is not None
    inner = [(4, one) for one in wrapped(address[1])] if address[0] == 6 else []
    return "of this router or its home network" if _is_within([address, *inner], closed) else ""


def _is_within(addresses: Sequence[tuple[int, int] | None], networks: list[str]) -> bool:
    """Tell whether one of some addresses is one of these, or lies in one of these networks."""
    for text in networks:
        place, slash, bits = text.partition("/")
        first = number(place)
        most = 0 if first is None else _BITS[first[0]]
        length = int(bits) if bits.isascii() and bits.isdigit() and len(bits) < 4 else -1 if slash else most
        for address in addresses if first and 0 <= length <= most else ():
            if address and first and address[0] == first[0] and (address[1] ^ first[1]) >> (most - length) == 0:
                return True
    return False


# Pages and searches

FETCH_S, FETCH_BYTES = 15.0, 1024 * 1024
PAGE_S, PAGE_BYTES = 8.0, 512 * 1024
SEARCH_S = 10.0
REDIRECTS = 5
TEXT_CHARS = 8000
# For who wants a whole document; an event has 1 MiB.
MOST_CHARS, MOST_BYTES = 500_000, 960 * 1024
# As base64 the same; larger ones are uploaded.
PDF_BYTES = 700 * 1024
CONNECT_S = 5.0
RESULTS, MORE_RESULTS = 8, 12
# Below this the best passage hardly fits: more pages are asked for, once.
GOOD = 0.35
_AT_ONCE = 4
_TITLE_CHARS = 200
BRAVE = "https://api.search.brave.com"
_TEXT = ("text/", "application/json", "application/xml", "application/xhtml+xml", "application/rss+xml",
         "application/atom+xml", "application/ld+json", "application/javascript")  # fmt: skip
_PDF = "application/pdf"
USUAL = {
    "User-Agent": f"Mozilla/5.0 (compatible; oasis/{VERSION}; reads pages for the owner of a router)",
    "Accept": "text/html, text/plain;q=0.9, */*;q=0.1",
    "Accept-Encoding": "identity",
}


class Web:
    """One request; `ask` resolves names, so that it can be a value in tests."""

    def __init__(self, request: Request, ask: Resolve = resolve) -> None:
        self._request = request
        self._ask = ask

    def run(self) -> Page | Findings:
        """Return the result of the op.

        Raises: ProviderError, PolicyError and UsageError with what was wrong.
        """
        if self._request["op"] == "fetch":
            return self.fetch(self._request["url"])
        if self._request["op"] == "read":
            return self._page(*of_html(self._request["html"]))
        return self.search(self._request["query"])

    def most_s(self) -> float:
        """Return how long the op may take at most, with everything that waits by itself."""
        return 2 * FETCH_S if self._request["op"] in ("fetch", "read") else 2 * (SEARCH_S + 3 * PAGE_S)

    # Fetching

    def fetch(self, url: str) -> Page:
        """Return a page, or the file of a PDF."""
        where, kind, body, is_cut = self._got(url, {}, FETCH_S, FETCH_BYTES)
        if kind.lower().startswith(_PDF):
            if is_cut or len(body) > PDF_BYTES:
                raise UsageError(f"{where[:200]} has more than {PDF_BYTES >> 10} kB", "save it, and add the file")
            return {"url": where, "pdf": binascii.b2a_base64(body, newline=False).decode()}
        return {"url": where, **self._page(*_read(body, kind), is_cut)}

    def _page(self, title: str, text: str, is_cut: bool = False) -> Page:
        """Return a page without its address, no longer than was asked for and an event may be."""
        kept = text[: min(self._request.get("chars") or TEXT_CHARS, MOST_CHARS)]
        while len(jsonl.dumps(kept).encode("utf-8")) > MOST_BYTES:
            kept = kept[: len(kept) * 3 // 4]
        titled: Page = {"text": kept, "title": title} if title else {"text": kept}
        return {**titled, "cut": True} if is_cut or len(kept) < len(text) else titled

    def _got(self, url: str, headers: dict[str, str], seconds: float, most: int) -> tuple[str, str, bytes, bool]:
        """Return the last address, the content type, the body, and whether it was longer than `most`."""
        until_s = time.monotonic() + seconds
        for _ in range(REDIRECTS + 1):
            parts = split(url)
            connection = self.connected(parts, until_s)
            stop = threading.Timer(max(until_s - time.monotonic(), 0.01), cut_off, (connection.sock,))
            stop.daemon = True
            stop.start()
            try:
                target = urllib.parse.quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
                if parts.query:
                    target += "?" + urllib.parse.quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
                connection.request("GET", target, headers={**USUAL, **headers, "Connection": "close"})
                response = connection.getresponse()
                target = response.headers.get("Location", "").strip()[:2048]
                if response.status in (301, 302, 303, 307, 308) and target:
                    before, url = url, urllib.parse.urljoin(url, target)
                    if before.startswith("https:") and url.startswith("http:"):
                        hint = "what comes there anybody could have written"
                        raise ProviderError(f"{before[:200]} leads from https to http", hint)
                    headers = {}  # a key is for the first host alone
                    continue
                _check(response, parts.hostname or "", (*_TEXT, _PDF) if self._request.get("pdf") else _TEXT)
                kind = response.headers.get("Content-Type", "text/plain").strip()[:200]
                return url, kind, *_body(response, most, until_s)
            except (http.client.HTTPException, OSError, ValueError) as error:
                raise failed(error, parts.hostname or "", until_s)
            finally:
                stop.cancel()
                connection.close()
        raise ProviderError(f"{url[:200]}: more than {REDIRECTS} redirects", "there is nothing to read")

    def connected(self, parts: urllib.parse.SplitResult, until_s: float) -> http.client.HTTPConnection:
        """Return a connection to one of the addresses of a host that may be asked.

        Raises: ProviderError when none answers, and what `checked` raises.
        """
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = checked(host, port, self._request.get("open", []), self._request.get("closed", []), self._ask)
        failure: Exception = OSError("no address")
        for address in found[:3]:
            try:
                left_s = max(min(until_s - time.monotonic(), CONNECT_S), 0.1)
                sock = socket.create_connection((address, port), timeout=left_s)
                if parts.scheme == "https":
                    context = ssl.create_default_context(cafile=self._request.get("ca_file") or None)
                    sock = context.wrap_socket(sock, server_hostname=host)
                connection = http.client.HTTPConnection(host, port)
                connection.default_port = 443 if parts.scheme == "https" else 80  # which Host leaves out
                connection.sock = sock
                return connection
            except (OSError, ValueError) as error:
                failure = error
        raise failed(failure, host, until_s)

    # Searching

    def search(self, query: str) -> Findings:
        """Return the passages of the pages found that answer a query best."""
        found = self._hits(query, RESULTS)
        passages = self._ranked(query, found)
        if found and (not passages or passages[0]["score"] < GOOD):
            known = {one["url"] for one in found}
            more = [one for one in self._hits(query, MORE_RESULTS) if one["url"] not in known]
            if more:
                found += more
                passages = self._ranked(query, found)
        if not passages:
            return {"query": query, "passages": [], "sources": [], "note": "nothing was found; ask with other words"}
        titles = {row["hit"]["url"]: row["hit"]["title"] for row in passages}
        urls = list(titles)
        return {
            "query": query,
            "passages": [
                {"score": row["score"], "title": row["hit"]["title"], "text": row["text"],
                 "source": urls.index(row["hit"]["url"]) + 1} for row in passages
            ],
            "sources": [{"number": at + 1, "title": titles[url], "url": url} for at, url in enumerate(urls)],
        }  # fmt: skip

    def _hits(self, query: str, count: int) -> list[Hit]:
        """Return what the engine found."""
        base, headers = (self._request.get("base_url") or BRAVE).rstrip("/"), {"Accept": "application/json"}
        is_searxng = self._request.get("engine") == "searxng"
        if is_searxng:
            url = f"{base}/search?" + urllib.parse.urlencode({"q": query, "format": "json"})
        else:
            url = f"{base}/res/v1/web/search?" + urllib.parse.urlencode({"q": query, "count": str(count)})
            headers["X-Subscription-Token"] = self._request.get("key", "")
        _, _, body, is_cut = self._got(url, headers, SEARCH_S, FETCH_BYTES)
        try:
            reply = jsonl.loads(body, FETCH_BYTES) if not is_cut else None
        except SchemaError:
            reply = None
        items = wire.part(reply, *([] if is_searxng else ["web"])).get("results")
        if not isinstance(items, list):
            raise ProviderError("the search engine sent what is no answer", "is its address right, and JSON on there?")
        found: dict[str, Hit] = {}
        for item in wire.parts(items):
            where = wire.words(item.get("url"))
            if where.startswith(("http://", "https://")) and len(where) <= 2048:
                words = item.get("content" if is_searxng else "description")
                snippet = of_html(str(words or ""))[1][:CHUNK_CHARS]
                title = of_html(str(item.get("title") or ""))[1].replace("\n", " ")
                found.setdefault(where, {"url": where, "title": title[:_TITLE_CHARS], "snippet": snippet})
        return list(found.values())[:count]

    def _ranked(self, query: str, found: list[Hit]) -> list[Row]:
        """Return the passages of the pages and their snippets, the best first.

        Pages that were not read yet are, at the same time; of those that cannot be, the snippet is left.
        """
        waiting = [one for one in found if "text" not in one]

        def work() -> None:
            while waiting:
                try:
                    one = waiting.pop()
                except IndexError:
                    return  # another thread was quicker
                try:
                    _, kind, body, _ = self._got(one["url"], {}, PAGE_S, PAGE_BYTES)
                    one["text"] = _read(body, kind)[1][:TEXT_CHARS]
                except OasisError:
                    one["text"] = ""

        _run([work] * min(_AT_ONCE, len(waiting)), 3 * PAGE_S)
        for one in found:
            one.setdefault("text", "")
        pieces = [(one, text) for one in found for text in [one["snippet"], *chunks(one["text"])] if text]
        points = scores(query, [text for _, text in pieces])
        rows: list[Row] = [
            {"score": round(score, 3), "text": text, "hit": one}
            for score, (one, text) in zip(points, pieces, strict=True)
        ]
        return sorted(rows, key=lambda row: -float(row["score"]))[:RESULTS]  # the engine's order where equal


def _run(works: list[Callable[[], None]], seconds: float) -> None:
    """Have works done at the same time, and wait for their ends, or until the time is over."""
    until_s = time.monotonic() + seconds
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(until_s - time.monotonic(), 0))


def split(url: str) -> urllib.parse.SplitResult:
    """Take an address apart.

    Raises: UsageError for what is none that may be fetched.
    """
    parts, wrong = transport.parts_of(url), ""
    if parts is None:
        wrong = "is no address"
    elif parts.scheme not in ("http", "https"):
        wrong = "is neither http nor https"
    elif not parts.hostname or parts.port == 0 or "@" in parts.netloc or any(ord(char) <= 32 for char in url):
        wrong = "is no address that is fetched"
    if parts is None or wrong:
        raise UsageError(f"{url[:200]!r} {wrong}", "like https://example.org/page")
    return parts


def _check(response: http.client.HTTPResponse, host: str, kinds: tuple[str, ...]) -> None:
    if response.status >= 400 or response.status < 200:
        raise ProviderError(f"{host} answered with HTTP {response.status}", "is the address right?", code="status")
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("", "identity"):
        raise ProviderError(f"{host} packs what it was asked for plainly ({packing[:40]})", "take another page")
    kind = response.headers.get("Content-Type", "text/plain").strip().lower()
    if not kind.startswith(kinds):
        raise ProviderError(f"{host} sent {kind[:60]!r}, which is no text", "take another page")


def _body(response: http.client.HTTPResponse, most: int, until_s: float) -> tuple[bytes, bool]:
    body = bytearray()
    while len(body) <= most:
        if time.monotonic() > until_s:
            raise TimeoutError
        piece = response.read1(65536)
        if not piece:
            return bytes(body), False
        body += piece
    return bytes(body[:most]), True


def cut_off(sock: socket.socket) -> None:
    """End a connection whose time is over: a peer that drips would hold it for ever."""
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has ended by itself


def failed(error: Exception, host: str, until_s: float) -> ProviderError:
    if isinstance(error, OasisError):
        return error  # type: ignore[return-value]  # raised by us above
    if isinstance(error, TimeoutError) or time.monotonic() >= until_s:
        return ProviderTimeout(f"{host} did not answer in time", "try again later, or take another page")
    words = str(getattr(error, "strerror", "") or error)[:200]
    return ProviderError(f"{host} cannot be read: {words or type(error).__name__}", "is the address right?")


def _read(body: bytes, kind: str) -> tuple[str, str]:
    """Return title and text of a body."""
    text = decoded(body, kind)
    is_page = "html" in kind.lower() or text.lstrip()[:15].lower().startswith(("<!doctype html", "<html"))
    return of_html(text) if is_page else ("", text.strip())


# The text of a page: HTML without its tags, scripts and what stands around an article

_HIDDEN = frozenset(["script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "select",
                     "textarea", "button", "head"])  # fmt: skip
# Around an article, where the page says which part that is.
_AROUND = frozenset(["nav", "header", "footer", "aside", "form"])
_BLOCKS = _AROUND | frozenset(["p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "main", "h1",
                               "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "dt", "dd", "hr"])  # fmt: skip
_MAIN = ("article", "main")
# An article with less is a frame around something else.
_ARTICLE_CHARS = 200
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
TITLE_CHARS = 300
_STYLE_CHARS = 2000
# What a browser shows nowhere: text for a model alone, that whoever reads the page never sees.
_INVISIBLE = re.compile(
    r"display:none|visibility:(hidden|collapse)|(opacity|font-size):0+(\.0*)?(px|em|rem|%|pt)?(;|$|!)"
    r"|(^|;)(max-)?(width|height):0(px)?(;|$|!)"
    r"|text-indent:-\d{3}|(^|;)(left|top|right|bottom):-\d{3}|clip:rect\(0|clip-path:inset\((50|100)%"
    r"|transform:scale\(0\)|color:transparent"
)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
# Whose end tag may be left out, and which hold none of their own kind: the next of them ends one that is hidden.
_ENDS_ITSELF = frozenset(["p", "dt", "dd", "option"])


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.whole: list[str] = []
        self.article: list[str] = []
        self._hidden: dict[str, int] = {}
        self._around = self._main = 0
        self._is_title = False

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag == "body":
            self._hidden.pop("head", None)  # whose end tag may be left out
        if tag in _ENDS_ITSELF and self._hidden.get(tag):
            self._hidden[tag] -= 1
        values = {name: value or "" for name, value in attrs}  # rules in style sheets are not read
        style = re.sub(r"/\*.*?\*/|\s", "", values.get("style", "").lower()[:_STYLE_CHARS])
        is_aria_hidden = values.get("aria-hidden", "").strip().lower() == "true"
        is_invisible = "hidden" in values or is_aria_hidden or bool(style and _INVISIBLE.search(style))
        # Elements of the same name within a hidden one are counted, so that its own end tag is not mistaken for theirs.
        if tag in _HIDDEN or (tag not in _VOID and (self._hidden.get(tag) or is_invisible)):
            self._hidden[tag] = self._hidden.get(tag, 0) + 1
        self._is_title = tag == "title" and not self.title
        self._around += tag in _AROUND
        self._main += tag in _MAIN
        self._add("\n" if tag in _BLOCKS else "")

    def handle_endtag(self, tag: str) -> None:
        if self._hidden.get(tag):
            self._hidden[tag] -= 1
        self._is_title = False
        self._add("\n" if tag in _BLOCKS else "")
        self._around = max(self._around - (tag in _AROUND), 0)
        self._main = max(self._main - (tag in _MAIN), 0)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self._add("\n" if tag in _BLOCKS else "")

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title.append(data)
        elif not any(self._hidden.values()):
            self._add(data)

    def _add(self, text: str) -> None:
        if not text or (text != "\n" and any(self._hidden.values())):
            return
        self.whole.append(text)
        if self._main and not self._around:
            self.article.append(text)


def of_html(text: str) -> tuple[str, str]:
    """Return the title and the text of a page: of its article where it has one."""
    page = _Page()
    page.feed(calmed(text))
    page.close()
    article = tidy("".join(page.article))
    title = " ".join("".join(page.title).split())[:TITLE_CHARS]
    return title, article if len(article) >= _ARTICLE_CHARS else tidy("".join(page.whole))


def calmed(text: str) -> str:
    """Return a page without comments, and with every `<` that opens no tag as text.

    The parser looks for the end of each of those through all that follows: a minute for a page of nothing else.
    """
    kept, at = [], 0
    while True:
        start = text.find("<!--", at)
        end = text.find("-->", start + 4) if start >= 0 else -1
        if end < 0:  # none, or one without an end: then what follows is text
            break
        kept.append(text[at:start])
        at = end + 3
    first, *others = "".join([*kept, text[at:]]).split("<")
    return first + "".join(("<" if ">" in part else "&lt;") + part for part in others)


def tidy(text: str) -> str:
    """Return text with single spaces and at most one empty line at a time."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def decoded(body: bytes, kind: str) -> str:
    """Return a body as text, by the charset of the content type or of the page's own head."""
    named = re.search(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", kind, re.IGNORECASE)
    found = _CHARSET.search(body[:2048])
    name = named.group(1) if named else found.group(1).decode("ascii") if found else "utf-8"
    try:
        return body.decode(name, "replace")
    except (LookupError, UnicodeError):  # an unknown codec, or one that is not for text
        return body.decode("utf-8", "replace")


# Which passages answer a question best, by its words alone
#
# Words are compared in small letters; of scripts without spaces, pairs of characters. A word counts the more the fewer
# passages have it. A score is 1 when every word of the question is there, often; 0 when none is.

CHUNK_CHARS = 500
LEAST_CHARS = 50
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
# Hiragana, katakana, CJK and Hangul: there words are not spaced, or change their ends.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# Words of most questions say nothing about what is asked.
_COMMON = frozenset([
    "a", "an", "and", "are", "as", "at", "be", "by", "der", "des", "die", "do", "does", "el", "en", "es", "est",
    "et", "for", "from", "how", "i", "in", "is", "it", "la", "le", "les", "of", "on", "or", "the", "to", "und",
    "was", "what", "when", "where", "which", "who", "why", "wie", "with", "you",
])  # fmt: skip


def chunks(text: str) -> list[str]:
    """Return a text in passages of at most CHUNK_CHARS, cut at line ends and spaces; short ones are left out."""
    found: list[str] = []
    here = ""
    for word in re.split(r"(?<=\n)|(?<= )", text):
        while len(word) > CHUNK_CHARS:
            found, here, word = [*found, here, word[:CHUNK_CHARS]], "", word[CHUNK_CHARS:]
        if len(here) + len(word) > CHUNK_CHARS:
            found.append(here)
            here = ""
        here += word
    return [chunk.strip() for chunk in [*found, here] if len(chunk.strip()) >= LEAST_CHARS]


def terms(text: str) -> list[str]:
    """Return the words of a text that are compared."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        pieces = _UNSPACED.findall(word)
        for piece in pieces:
            found += [piece[at : at + 2] for at in range(max(len(piece) - 1, 1))]
        found += [] if pieces else [word]
    return found


def scores(query: str, passages: list[str]) -> list[float]:
    """Return how well each passage fits, from 0 to 1."""
    asked = list(dict.fromkeys(terms(query)))
    wanted = [term for term in asked if term not in _COMMON] or asked
    counted = [collections.Counter(term for term in terms(passage) if term in wanted) for passage in passages]
    known = {term: sum(term in counts for counts in counted) for term in wanted}
    weight = {term: math.log(1 + (len(passages) + 1) / (1 + count)) for term, count in known.items()}
    total = sum(weight.values())
    return [
        sum(weight[term] * count / (count + 0.5) for term, count in counts.items()) / total if total else 0.0
        for counts in counted
    ]


# Which machines of the home network have a model server?
#
# Asks the ports that such servers have by default for a connection, all at once, and those that answer for their
# models. Only addresses that the daemon names are asked, one request each; nothing is said to them but GET.

_ANSWERS_S = 1.0  # to open a connection
ANSWER_S = 4.0
HOSTS, SERVERS, MODELS = 64, 16, 12
_LIST_BYTES = 512 * 1024
_SOCKETS = 40  # connections: a worker may hold few open files
_NAME_CHARS = 120
# Port -> profile (profiles.json), what to ask for, the path below which its service lies.
PORTS: dict[int, tuple[str, str, str]] = {
    11434: ("ollama", "/api/tags", ""),
    1234: ("lmstudio", "/v1/models", "/v1"),
    8080: ("llamacpp", "/v1/models", "/v1"),
    8000: ("vllm", "/v1/models", "/v1"),
}


def find(hosts: list[str]) -> Found:
    """Return the model servers of some machines."""
    asked = hosts[:HOSTS]
    places = [(host, port) for host in asked for port in PORTS]
    places = [place for at in range(0, len(places), _SOCKETS) for place in _open(places[at : at + _SOCKETS])]
    found: dict[Place, Server] = {}

    def ask(place: Place) -> None:
        """Take what a server says of itself; nothing of one of another kind."""
        profile, path, below = PORTS[place[1]]
        connection = http.client.HTTPConnection(*place, timeout=ANSWER_S)
        try:
            connection.request("GET", path, headers={"Accept": "application/json"})
            response = connection.getresponse()
            value = wire.part(jsonl.loads(response.read(_LIST_BYTES + 1), max_bytes=_LIST_BYTES))
        except (OSError, http.client.HTTPException, SchemaError):
            return
        finally:
            connection.close()
        listed = next((one for one in (value.get("models"), value.get("data")) if isinstance(one, list)), None)
        if response.status == 200 and listed is not None:
            names = [str(one.get("id") or one.get("name") or "") for one in wire.parts(listed)]
            models = [clean.line(name)[:_NAME_CHARS] for name in names if name][:MODELS]
            endpoint = "http://%s:%d%s" % (*place, below)
            found[place] = {"host": place[0], "profile": profile, "endpoint": endpoint, "models": models}

    _run([functools.partial(ask, place) for place in places[:SERVERS]], 60)
    return {"servers": [found[place] for place in places if place in found], "asked": len(asked)}


def _open(places: list[Place]) -> list[Place]:
    """Return the places that take a connection."""
    waiting: dict[socket.socket, Place] = {}
    taken: list[Place] = []
    for place in places:
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setblocking(False)
        waiting[one] = place
        try:
            status = one.connect_ex(place)
        except OSError:
            status = errno.EINVAL  # no address
        if status not in (0, errno.EINPROGRESS):
            del waiting[one]
            one.close()
    until_s = time.monotonic() + _ANSWERS_S
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
