"""The packages of Python that the manifest names are those that are needed: all of them, and no other.

On OpenWrt the standard library comes in parts. Programs are run here without the parts that are not named, and each
must work; without one part more, something must fail.
"""

from __future__ import annotations

import ast
import functools
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading

import pytest

from tests.oasisd import PARTS, REPOSITORY, copy_root, start_daemon
from tests.package import asking
from tests.worker import certificates

HERE = os.path.dirname(os.path.abspath(__file__))
# Used when it is there: (module, why it works without).
OPTIONAL = {
    "ctypes": "no_new_privs is procd's on a router",
    "readline": "lines can be typed without",
    "requests": "oasis-requests pulls it",
    "ujson": "MicroPython's name for json",
    "urllib3": "comes with requests",
}
TIMEOUT_S = 60
SSE = 'data: {"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def release():
    """Return the table of the OpenWrt release whose Python is the nearest one that is not newer than ours."""
    with open(HERE + "/python_packages.json", encoding="utf-8") as file:
        known = json.load(file)["releases"].values()
    ours = sys.version_info[:2]
    older = [one for one in known if tuple(map(int, one["python"].split("."))) <= ours]
    return max(older, key=lambda one: tuple(map(int, one["python"].split("."))))


def closure(names, table):
    """Return the packages that come with some."""
    found = set(names)
    for name in names:
        found |= closure(table["depends"].get(name, []), table)
    return found


def missing(names):
    """Return the modules that a router without further packages than `names` lacks; third parties' are never there."""
    table = release()
    there = closure(names, table)
    parts = table["packages"]
    lacking = {module for package, modules in parts.items() if package not in there for module in modules}
    if "python3-light" not in there:
        others = {module for modules in parts.values() for module in modules}
        lacking |= set(sys.stdlib_module_names) - set(table["python3-base"]) - others - set(sys.builtin_module_names)
        lacking -= {"__future__", "zipimport"} | {name for name in sys.stdlib_module_names if "frozen" in name}
    return lacking | set(table["nowhere"]) | {"requests", "urllib3", "uci", "certifi", "idna"}


@pytest.fixture(scope="module")
def declared(packaging):
    depends = packaging.manifest.load()["packages"]["oasis"]["depends"]
    assert all(name.startswith("python3-") for name in depends)
    return depends


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    """Return a function that makes a Python without some modules: a program's path."""

    @functools.cache
    def make(names):
        folder = tmp_path_factory.mktemp("python")
        path = str(folder / "python3")
        argv = [sys.executable, "-IS", HERE + "/blocked.py", path, ",".join(sorted(names))]
        words = " ".join("'%s'" % word for word in argv)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {words} "$@"\n')
        os.chmod(path, 0o755)
        return path

    return lambda names: make(frozenset(names))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Serve one streamed answer over TLS to whoever asks; return (address, certificate)."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl on this host")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(SSE.encode())

        def log_message(self, *_):
            pass

    certificate, key = certificates.make(tmp_path_factory.mktemp("tls") / "good", "good")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield f"https://localhost:{httpd.server_port}/v1", certificate
    httpd.shutdown()
    httpd.server_close()


def run(python, *words, stdin="", **env):
    argv = [python, "-IS", *words]
    done = subprocess.run(argv, input=stdin, env={"PATH": os.environ["PATH"], **env}, capture_output=True, text=True,
                          check=False, timeout=TIMEOUT_S)  # fmt: skip
    return done.stdout + done.stderr


def every_module():
    for folder, _, names in os.walk(REPOSITORY + "/oasis"):
        for name in names:
            if name.endswith(".py") and name != "__main__.py":
                path = os.path.relpath(os.path.join(folder, name), REPOSITORY)[:-3]
                yield path.replace(os.sep, ".").removesuffix(".__init__")


def imports(python, *_):
    """Import every module."""
    code = "import sys, importlib\nsys.path.insert(0, %r)\nfor name in %r: importlib.import_module(name)\nprint('ok')"
    said = run(python, "-c", code % (REPOSITORY, sorted(every_module())))
    return "" if said == "ok\n" else said


def daemon(python, tmp_path, _):
    """Start the service, talk to it and have it change something; the command line talks to it too."""
    root = copy_root(tmp_path / "root")
    try:
        running = start_daemon(root, python=python)
    except AssertionError as error:
        return str(error)
    try:
        said = asking.answer(running, "what can you do?") + asking.answer(running, "call this router attic")
        code = f"import sys; sys.path.insert(0, {REPOSITORY!r}); from oasis.cli.main import main; sys.exit(main())"
        code = code.replace("main()", "main(['prompt', 'what can you do?'])")
        told = run(python, "-c", code, OASIS_ROOT=root)
    finally:
        running.stop()
    with open(root + "/etc/config/system", encoding="utf-8") as file:
        is_changed = "attic" in file.read()
    is_well = "undo the last change" in said and "undo the last change" in told and is_changed
    return "" if is_well else said + told + running.log()


def worker(python, _, server):
    """Have a worker ask a service over TLS, by a name."""
    url, certificate = server
    asked = {"id": 1, "op": "chat", "profile": "compatible", "base_url": url, "key": "k", "model": "m", "tools": [],
             "messages": [{"id": "1", "role": "user", "content": "hi"}],
             "options": {"ca_file": certificate, "retries": 0}}  # fmt: skip
    said = asking.worker([python, "-I", "-B", REPOSITORY + "/oasis/worker/__main__.py"], asked)
    return "" if '"hello"' in said else said or "silence"


def compiling(python, tmp_path, _):
    """Compile as the package does when it is installed."""
    os.makedirs(tmp_path / "compiling")
    (tmp_path / "compiling" / "a.py").write_text("x = 1\n")
    code = "import compileall, sys; sys.exit(not compileall.compile_dir(sys.argv[1], quiet=1))"
    return run(python, "-c", code, str(tmp_path / "compiling"))


SCENARIOS = (imports, daemon, worker, compiling)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.part(*PARTS)
def test_everything_works_with_the_packages_that_are_named(scenario, declared, router, server, tmp_path):
    assert scenario(router(missing(declared)), tmp_path, server) == ""


@pytest.mark.parametrize("left_out", ["python3-light", "python3-openssl", "python3-urllib"])
def test_each_package_that_is_named_is_needed(left_out, declared, router, server, tmp_path):
    assert left_out in declared
    python = router(missing([name for name in declared if name != left_out]))
    assert any(scenario(python, tmp_path, server) for scenario in (worker, imports))


def test_no_package_is_named_without_a_test(declared):
    marks = test_each_package_that_is_named_is_needed.pytestmark
    assert sorted(declared) == sorted(marks[0].args[1])


def modules_imported(text):
    """Yield (line, module) of every import that is not for annotations alone, at any depth."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    guards = [node for node in nodes if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"]
    left_out = {id(node) for guard in guards for node in ast.walk(guard)}
    for node in nodes:
        if id(node) not in left_out and isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif id(node) not in left_out and isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module


@pytest.mark.part(*PARTS)
def test_what_is_imported_late_is_named_as_well_or_optional(declared):
    lacking, wrong, optional = missing(declared), [], set()
    for name in [*every_module(), "oasis.worker.__main__", "oasis.parts.offline.__main__"]:
        path = REPOSITORY + "/" + name.replace(".", "/")
        path = path + ".py" if os.path.exists(path + ".py") else path + "/__init__.py"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for line, module in modules_imported(text):
            top = module.partition(".")[0]
            is_known = top == "oasis" or top in sys.stdlib_module_names or top.startswith("_")
            if top in OPTIONAL:
                optional.add(top)
            elif top in lacking or not is_known:
                wrong.append(f"{name}:{line} imports {module}")
    assert wrong == []
    assert optional == set(OPTIONAL), "the list of what is optional names what nobody imports"
