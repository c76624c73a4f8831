"""A small stand-in for uhttpd, rpcd and LuCI's page frame, so that the chat page runs on any host.

It keeps the limits that a real router has and a page is likely to forget: sessions that expire, a request body of
64 KiB, a bus message of 1 MiB, batches worked off one by one, three script slots, idle connections closed after 20 s.
It knows nothing of chats: calls of `oasis*` go to the daemon's socket below the router root given.

    python tests/luci/server.py --root ROUTERROOT --port 8080

It listens on 127.0.0.1 unless told otherwise, prints its address, and ends on SIGTERM or SIGINT.
"""

from __future__ import annotations

import argparse
import html
import http.server
import json
import mimetypes
import os
import signal
import socketserver
import sys
import threading
import urllib.parse
from http.cookies import SimpleCookie

import hostile
import languages
import scripts
from bridge import Bridge
from jsonrpc import JsonRpc
from sessions import Sessions

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "files")
COOKIE = "sysauth_http"
LUCI = "/cgi-bin/luci"
TOP = "admin/network/oasis/"
# uhttpd's defaults on a router: script_timeout, keep-alive, max_connections, max_requests.
CALL_LIMIT_S = 60
IDLE_S = 20
CONNECTIONS_MAX = 100
SCRIPTS_MAX = 3
# A body is read this far and then refused, so that the client can still read the answer.
DRAIN_MAX_BYTES = 4 << 20


class Site:
    """What the handlers of one server share."""

    def __init__(self, options: argparse.Namespace) -> None:
        passwords = {"root": options.password}
        if options.viewer is not None:
            passwords["viewer"] = options.viewer
        self.root = os.path.abspath(options.root)
        self.www = os.path.abspath(options.www)
        self.has_ubus = not options.no_ubus
        self.sessions = Sessions(
            os.path.join(FILES, "usr/share/rpcd/acl.d"), passwords, options.session_s,
            os.path.join(self.root, "var/run/rpcd/sessions.json"),
        )  # fmt: skip
        bus = Bridge(self.root, CALL_LIMIT_S)
        self.rpc = JsonRpc(self.sessions, bus if options.hostile is None else hostile.Bus(bus, options.hostile))
        self.slots = threading.BoundedSemaphore(SCRIPTS_MAX)
        self._library = os.path.abspath(options.library)
        self.language, self.texts = options.language, languages.load(options.language)

    @property
    def menu(self) -> dict[str, dict[str, object]]:
        """Nodes by their path, of what is installed now; the browser keeps what it got (see runtime.js)."""
        return _menu(os.path.join(FILES, "usr/share/luci/menu.d"), self._library)


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        """Serve a file, a page or a script."""
        self._serve()

    def do_POST(self) -> None:
        """Serve a call, a login or a script."""
        self._serve()

    def log_message(self, *args: object) -> None:
        """Stay silent: a session id stands in some addresses."""

    def _serve(self) -> None:
        site, path = self.server.site, urllib.parse.unquote(self.path.partition("?")[0])
        body = self._body()
        if body is None:
            return
        if site.has_ubus and (path == "/ubus" or path.startswith("/ubus/")):
            self._ubus(body)
        elif path == "/":
            self._send(302, [("Location", LUCI)])
        elif path == LUCI or path.startswith(LUCI + "/"):
            with site.slots:
                self._luci(path[len(LUCI) :], body)
        elif path.startswith("/cgi-bin/"):
            with site.slots:
                self._script(path[len("/cgi-bin/") :], body)
        else:
            self._file(path)

    def _body(self) -> bytes | None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > DRAIN_MAX_BYTES:
            self.close_connection = True
            self._send(413, [], b"Payload Too Large\n")
            return None
        return self.rfile.read(length)

    def _ubus(self, body: bytes) -> None:
        if self.command != "POST":
            self._send(404, [], b"Not Found\n")
            return
        self._send(200, [("Content-Type", "application/json")], self.server.site.rpc.answer(body))

    def _script(self, name: str, body: bytes) -> None:
        site = self.server.site
        path = os.path.join(site.www, "cgi-bin", name)
        if "/" in name or name.startswith(".") or not os.path.isfile(path):
            self._send(404, [], b"Not Found\n")
            return
        request = {
            "REQUEST_METHOD": self.command,
            "REQUEST_URI": self.path,
            "QUERY_STRING": self.path.partition("?")[2],
            "SCRIPT_NAME": "/cgi-bin/" + name,
            "SCRIPT_FILENAME": path,
            "DOCUMENT_ROOT": site.www,
        }
        here = self.connection.getsockname()
        env = scripts.environment(self.headers, request, self.client_address[:2], here[:2], site.root)
        self._send(*scripts.run(path, env, body))

    def _luci(self, path: str, body: bytes) -> None:
        session = self._session()
        if path == "/admin/ubus" and self.command == "POST":
            self._send(200, [("Content-Type", "application/json")], self.server.site.rpc.answer(body))
        elif path == "/admin/logout":
            self.server.site.sessions.destroy(session)
            self._send(302, [("Location", LUCI), ("Set-Cookie", f"{COOKIE}=; Max-Age=0; Path={LUCI}")])
        elif not self.server.site.sessions.is_alive(session):
            self._login(body)
        elif path.strip("/") in self.server.site.menu:
            self._page(path.strip("/"), session)
        elif path.strip("/") in ("", "admin"):
            self._send(302, [("Location", f"{LUCI}/{next(iter(self.server.site.menu))}")])
        elif path.strip("/").startswith(TOP):
            # The menu has an alias for whatever else is below this.
            self._page(TOP + "chat", session)
        else:
            self._send(404, [], b"Not Found\n")

    def _session(self) -> str:
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get(COOKIE)
        return cookie.value if cookie else ""

    def _login(self, body: bytes) -> None:
        form = urllib.parse.parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
        wrong = False
        if self.command == "POST" and "luci_username" in form:
            password = form.get("luci_password", [""])[0]
            session = self.server.site.sessions.login(form["luci_username"][0], password)
            if session:
                cookie = f"{COOKIE}={session}; Path={LUCI}; HttpOnly; SameSite=strict"
                self._send(302, [("Location", self.path), ("Set-Cookie", cookie)])
                return
            wrong = True
        text = _template("login.html").replace("@WRONG@", "" if wrong else "hidden")
        self._send(403, [("Content-Type", "text/html; charset=utf-8"), ("X-LuCI-Login-Required", "yes")], text.encode())

    def _page(self, path: str, session: str) -> None:
        node = self.server.site.menu[path]
        groups = self.server.site.sessions.groups(session)
        wanted = node.get("depends", {}).get("acl", [])
        kinds = [groups[name] for name in wanted if name in groups]
        if wanted and not kinds:
            self._send(403, [], b"Forbidden\n")
            return
        env = {
            "sessionid": session,
            "scriptname": LUCI,
            "resource": "/luci-static/resources",
            "base_url": "/luci-static/resources",
            "ubuspath": "/ubus/",
            "requestpath": path.split("/"),
            "nodespec": {"satisfied": True, "readonly": not any("write" in kind for kind in kinds)},
        }
        site = self.server.site
        title = str(node.get("title", ""))
        text = _template("page.html").replace("@TITLE@", html.escape(site.texts.get(title, title)))
        text = text.replace("@TABS@", _tabs(site.menu, path, site.texts)).replace("@LANG@", site.language)
        text = text.replace("@TEXTS@", json.dumps(site.texts))
        text = text.replace("@ENV@", json.dumps(env)).replace("@VIEW@", node["action"]["path"].replace("/", "."))
        headers = [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-cache")]
        self._send(200, [*headers, ("X-Frame-Options", "SAMEORIGIN")], text.encode())

    def _file(self, path: str) -> None:
        clean = os.path.normpath("/" + path).lstrip("/")
        standin = clean.removeprefix("luci-static/standin/")
        full = os.path.join(HERE, standin) if standin != clean else os.path.join(self.server.site.www, clean)
        inside = clean.startswith("luci-static/") and (standin == clean or standin in ("runtime.js", "theme.css"))
        if not inside or self.command != "GET" or not os.path.isfile(full):
            self._send(404, [], b"Not Found\n")
            return
        with open(full, "rb") as file:
            kind = mimetypes.guess_type(full)[0] or "application/octet-stream"
            self._send(200, [("Content-Type", kind), ("Cache-Control", "no-cache")], file.read())

    def _send(self, status: int, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Threads up to the number of connections that uhttpd holds; the next one waits in the backlog."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], site: Site) -> None:
        super().__init__(address, Handler)
        self.site = site
        self._places = threading.BoundedSemaphore(CONNECTIONS_MAX)

    def process_request(self, request: object, client_address: object) -> None:
        """Wait for a place, then serve the connection in a thread."""
        self._places.acquire()
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def process_request_thread(self, request: object, client_address: object) -> None:
        """Serve a connection and give its place back."""
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self._places.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that leaves in the middle of a reply is no fault of ours; anything else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _menu(folder: str, library: str) -> dict[str, dict[str, object]]:
    nodes: dict[str, dict[str, object]] = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            nodes.update(json.load(file))
    return {
        path: node
        for path, node in nodes.items()
        if node.get("action", {}).get("type") == "view"
        and all(os.path.isdir(one.replace("/usr/lib/oasis", library, 1)) for one in node["depends"].get("fs", ()))
    }


def _tabs(menu: dict[str, dict[str, object]], path: str, texts: dict[str, str]) -> str:
    """Return the tabs of a page: it and its neighbours, in order."""
    folder = path.rpartition("/")[0]
    near = [(node.get("order", 0), name, node) for name, node in menu.items() if name.rpartition("/")[0] == folder]
    line = '<li class="tabmenu-item%s"><a href="%s/%s">%s</a></li>'
    near.sort(key=lambda item: str(item[0]).zfill(5))
    titles = [(name, str(node.get("title", ""))) for _, name, node in near]
    return "".join(
        line % (" active" if name == path else "", LUCI, name, html.escape(texts.get(title, title)))
        for name, title in titles
    )


def _template(name: str) -> str:
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Serve the chat page of a router root on this host.")
    parser.add_argument("--root", required=True, help="folder that stands for the router's root")
    parser.add_argument("--address", default="127.0.0.1", help="where to listen (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--session-s", type=float, default=3600, help="life of an idle session in seconds")
    parser.add_argument("--password", help="root's password (default: none is set, any one is let in)")
    parser.add_argument("--viewer", help="password of a second user `viewer` who may only read")
    parser.add_argument("--www", default=os.path.join(FILES, "www"), help="folder of the web server (default: ours)")
    parser.add_argument("--hostile", type=int, metavar="TURN", help="put hostile texts into every reply")
    parser.add_argument("--language", default="en", help="of the pages, one of po/ (default: %(default)s)")
    parser.add_argument("--library", default=os.path.dirname(FILES), help="folder that oasis/ is in (default: ours)")
    parser.add_argument("--no-ubus", action="store_true", help="as without uhttpd-mod-ubus: calls go through LuCI")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Serve until a signal comes."""
    options = _options(arguments)
    server = Server((options.address, options.port), Site(options))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"http://{options.address}:{server.server_address[1]}/", flush=True)
    server.serve_forever(poll_interval=0.1)
    server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
