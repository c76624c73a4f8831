"""`oasis setup` at a real terminal, with the real daemon and its worker, and a model server on the home network."""

import http.server
import json
import os
import random
import subprocess
import threading

import pytest

from tests.cli import launcher
from tests.cli.terminal import Terminal
from tests.oasisd import copy_root, set_option, start_daemon
from tests.recorder import Recorder


class Home:
    """A machine of the home network with llama.cpp's port open; its address is a loopback one of its own."""

    def __init__(self):
        self.recorder = Recorder("OK.")
        self.paths = []
        self.is_closed = False
        home = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                home.paths.append(self.path)
                self.reply(200, "application/json", json.dumps(home.models()).encode())

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                home.paths.append(self.path)
                self.reply(*home.recorder.answer(body, str(self.headers)))

            def reply(self, status, kind, data):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.host = f"127.{random.randint(10, 250)}.{random.randint(1, 250)}.{random.randint(2, 250)}"
        self._server = http.server.ThreadingHTTPServer((self.host, 8080), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def models(self):
        return {"object": "list", "data": [{"id": "small-model"}, {"id": "large\x1b[31m-model"}]}

    def close(self):
        if self.is_closed:
            return
        self.is_closed = True
        self.recorder.close()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def home():
    made = Home()
    yield made
    made.close()


@pytest.fixture
def daemon(tmp_path, home):
    root = copy_root(str(tmp_path / "router"))
    set_option(root, "titles", "words")
    with open(root + "/tmp/dhcp.leases", "w") as handle:
        handle.write(f"0 00:1e:8f:4a:c2:11 {home.host} big-pc *\n")
    if os.path.exists(root + "/proc/net/arp"):
        os.unlink(root + "/proc/net/arp")
    running = start_daemon(root)
    yield running
    running.stop()


@pytest.fixture
def terminal(daemon, tmp_path):
    return Terminal([*launcher.install(tmp_path), "setup"], launcher.environment(daemon.root, TERM="xterm"))


def in_use(daemon):
    return next(one["identifier"] for one in daemon.call("service.list")["service"] if one["active"])


@pytest.mark.part("offline")
def test_a_server_at_home_is_found_tried_and_put_into_use(terminal, daemon, home):
    terminal.wait_for("Your choice [3]: ")
    assert home.paths == []
    terminal.type("1\n")
    terminal.wait_for("Look now? [Y/n] ")
    assert home.paths == []
    terminal.type("\n")
    terminal.wait_for("llamacpp on big-pc: small-model")
    terminal.wait_for("Which one [1]: ")
    terminal.type("7\n")
    terminal.wait_for("a number from 1 to 1, please")
    terminal.type("1\n")
    terminal.wait_for("Model [1]: ")
    terminal.type("1\n")
    terminal.wait_for("llamacpp answers (")
    terminal.wait_for("and is in use")
    terminal.wait_for("A short question sends about ")
    assert terminal.leave() == 0
    assert "\x1b[31m" not in terminal.text
    assert in_use(daemon) == "llamacpp"
    assert home.paths == ["/v1/models", "/v1/chat/completions"]
    assert [(one["name"], one["targets"]) for one in daemon.call("alias.list")["alias"]] == [("chat", ["offline"])]


@pytest.mark.part("offline")
def test_when_the_server_is_off_the_built_in_service_answers_as_setup_said(terminal, daemon, home, tmp_path):
    for question, answer in (("Your choice [3]: ", "1"), ("[Y/n] ", ""), ("Which one [1]: ", ""), ("Model [1]: ", "")):
        terminal.wait_for(question)
        terminal.type(answer + "\n")
    terminal.wait_for("When it cannot be reached, the built-in service answers")
    assert terminal.leave() == 0
    home.close()
    argv = [*launcher.install(tmp_path), "prompt", "which devices are here?"]
    done = subprocess.run(argv, env=launcher.environment(daemon.root), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert home.host in done.stdout
    assert "trying the built-in service" in done.stderr


@pytest.mark.part("offline")
def test_nothing_is_looked_for_by_who_says_no(terminal, daemon, home):
    terminal.wait_for("Your choice [3]: ")
    terminal.type("1\n")
    terminal.wait_for("Look now? [Y/n] ")
    terminal.type("n\n")
    terminal.wait_for("oasis doctor")
    assert terminal.leave() == 0
    assert home.paths == []
    assert in_use(daemon) == "offline"


@pytest.mark.part("offline")
def test_a_home_without_a_server_is_told_what_a_server_needs(terminal, daemon, home):
    home.models = lambda: {"what": "another program"}
    terminal.wait_for("Your choice [3]: ")
    terminal.type("1\n")
    terminal.wait_for("Look now? [Y/n] ")
    terminal.type("y\n")
    terminal.wait_for("None answered, of 2 devices.")
    assert terminal.leave() == 0
    assert in_use(daemon) == "offline"


@pytest.mark.part("offline")
def test_a_service_that_does_not_answer_is_kept_and_not_used(terminal, daemon, home):
    home.recorder.script[:] = [(500, "out of memory")] * 5
    terminal.wait_for("Your choice [3]: ")
    terminal.type("1\n")
    terminal.wait_for("Look now? [Y/n] ")
    terminal.type("y\n")
    terminal.wait_for("Which one [1]: ")
    terminal.type("\n")
    terminal.wait_for("Model [1]: ")
    terminal.type("\n")
    terminal.wait_for("llamacpp does not answer: ")
    terminal.wait_for("It is kept, and not in use.")
    assert terminal.leave() == 0
    assert in_use(daemon) == "offline"


@pytest.mark.part("offline")
def test_what_goes_to_a_service_is_said_before_its_key_is_asked_for(terminal, daemon):
    terminal.wait_for("Your choice [3]: ")
    terminal.type("2\n")
    terminal.wait_for("What goes to the service: ")
    terminal.wait_for("1  OpenAI")
    terminal.wait_for("Service (empty for none): ")
    terminal.type("\n")
    terminal.wait_for("oasis doctor")
    assert terminal.leave() == 0
    assert [one["identifier"] for one in daemon.call("service.list")["service"]] == ["offline"]


def test_without_a_terminal_it_says_what_to_use_instead(daemon, tmp_path):

    program = launcher.install(tmp_path)
    done = subprocess.run([*program, "setup"], env=launcher.environment(daemon.root), capture_output=True, text=True)
    assert done.returncode == 2
    assert "oasis add" in done.stderr
