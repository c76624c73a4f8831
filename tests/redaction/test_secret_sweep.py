"""No planted secret in any byte that leaves: every secret option, tool and method, errors, every child process.

The values are planted in the router's files; then everything is asked that a model or a front-end can ask, and all that
was sent, stored, logged or shown is searched for them, and for the two forms that encoding gives them.
"""

import base64
import glob
import json
import os
import threading
import time

import pytest

from oasis.api.methods import TABLE
from oasis.catalogue import entries
from oasis.redaction import secret_options
from oasis.tools.builtin import BuiltIn
from tests.daemon.test_wiring import approve, follow, of_type
from tests.llm.test_workers import root_with
from tests.oasisd import start_daemon
from tests.recorder import Recorder

KEY = "sk-planted-0f9e8d7c6b5a4938"
OTHER_KEY = "gsk-planted-77aa88bb99cc"
PLAN_KEY = b"planted-plan-key-of-32-bytes-...."[:32]
ACCOUNT, TOKEN = "planted-account-31415926", "planted-token-27182818"
LOGIN = "$p$planted-login-16180339"
# Names of options that no catalogue knows, in packages that have none.
NAMED = (
    "api_key",
    "bot_token",
    "psk",
    "passphrase",
    "Secret",
    "auth_key",
    "wpa_psk",
    "pre_shared_key",
    "admin_password",
)


# Where the router keeps its secrets itself, beside the images that undo needs: the configuration, what its services
# run with, our keys.
HELD = ("/etc/config/", "/var/run/running/", "/etc/init.d/", "/etc/oasis/keys.json", "/etc/oasis/plan.key")

# What nobody told Oasis is a secret, and a line in which it is one by its form.
BY_FORM = {
    "Pl4nt3dFormPsk": "a log line", "Pl4nt3dFormBearer": "a header", "Pl4nt3dFormUrl": "an address",
    "$6$salt$Pl4nt3dFormHashPl4nt3dFormHash": "a hash", "Pl4nt3dFormPemPl4nt3dFormPemPl4nt3dFormPem": "a key file",
    "0f1e2d3c4b5a69788796a5b4c3d2e1f0": "a session",
}  # fmt: skip
LINES = (
    "hostapd: wpa_passphrase=Pl4nt3dFormPsk", "> Authorization: Bearer Pl4nt3dFormBearer",
    "GET https://x.example/update?token=Pl4nt3dFormUrl", "root:$6$salt$Pl4nt3dFormHashPl4nt3dFormHash:1::",
    "-----BEGIN PRIVATE KEY-----", "Pl4nt3dFormPemPl4nt3dFormPemPl4nt3dFormPem",
    '{"ubus_rpc_session":"0f1e2d3c4b5a69788796a5b4c3d2e1f0"}',
)  # fmt: skip


class Planted:
    """Secrets written into a router root: `values` maps each to where it is."""

    def __init__(self, root):
        self.values = {}
        self._config = root + "/etc/config/"
        for package in (*entries.by_hand(), "zerotier", "opennds"):
            for kind in entries.types(package):
                options = [
                    name
                    for name in entries.types(package)[kind]["options"]
                    if name != "*" and secret_options.is_secret(package, kind.replace("*", "wg0"), name)
                ]
                if options:
                    self._section(package, kind.replace("*", "wg0"), options)
        for package in ("planted_vpn", "planted-app"):
            self._section(package, "settings", NAMED)
        with open(self._config + "rpcd") as handle:
            text = handle.read().replace("$p$root", LOGIN)
        with open(self._config + "rpcd", "w") as handle:
            handle.write(text)
        self.values[LOGIN] = "rpcd.@login[0].password"
        self._append("planted_vpn", "config feed 'feed'\n")
        self._append("planted_vpn", f"\toption url 'https://me:{ACCOUNT}@feed.example/x?a=1&token={TOKEN}'\n")
        self.values.update({ACCOUNT: "an account", TOKEN: "a token", KEY: "keys.json", OTHER_KEY: "keys.json"})

    def _section(self, package, kind, options):
        self._append(package, f"\nconfig {kind} 'planted_{len(self.values)}'\n")
        for name in options:
            value = f"Pl4nt3d{len(self.values):04d}'{package}\"{name}"
            quoted = value.replace("'", "'\\''")
            self._append(package, f"\toption {name} '{quoted}'\n")
            self.values[value] = f"{package}.{kind}.{name}"

    def _append(self, package, text):
        with open(self._config + package, "a") as handle:
            handle.write(text)

    def found_in(self, data):
        """Return where the secrets come from that stand in some bytes."""
        raw = data if isinstance(data, bytes) else data.encode("utf-8")
        forms = ((value, form) for value in self.values for form in _forms(value))
        return sorted({self.values[value] for value, form in forms if form in raw})


def _forms(value):
    plain = value.encode("utf-8")
    escaped = json.dumps(value)[1:-1]
    yield plain
    yield escaped.encode("utf-8")
    yield json.dumps(escaped)[1:-1].encode("utf-8")  # a tool's JSON inside a message
    yield value.replace("'", "'\\''").encode("utf-8")
    yield base64.b64encode(plain)
    yield plain.hex().encode("ascii")


class Watch:
    """Looks at the command lines and environments of a process and all its children, as often as it can."""

    def __init__(self, pid):
        self._pid = pid
        self._is_over = False
        self.seen = set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._is_over:
            for pid in self._family():
                for name in ("cmdline", "environ"):
                    try:
                        with open(f"/proc/{pid}/{name}", "rb") as handle:
                            self.seen.add((name, handle.read()))
                    except OSError:
                        pass  # it ended
            time.sleep(0.005)

    def _family(self):
        parents = {}
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path, "rb") as handle:
                    parents[int(path.split("/")[2])] = int(handle.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue
        family, size = {self._pid}, 0
        while size != len(family):
            size = len(family)
            family |= {pid for pid, parent in parents.items() if parent in family}
        return family

    def end(self):
        self._is_over = True
        self._thread.join()
        return self.seen


class Sweep:
    """A router full of secrets, a model that asks for everything, and all that came out."""

    def __init__(self, tmp_path):
        self.model = Recorder()
        self.root = root_with(tmp_path, "openai", self.model.url, "scripted")
        os.makedirs(self.root + "/etc/oasis", 0o700, exist_ok=True)
        with open(self.root + "/etc/oasis/keys.json", "w") as handle:
            json.dump({"openai": KEY, "groq": OTHER_KEY}, handle)
        with open(self.root + "/etc/oasis/plan.key", "wb") as handle:
            handle.write(PLAN_KEY)
        with open(self.root + "/etc/config/oasis", "a") as handle:
            handle.write(
                "\nconfig service 'groq'\n\toption name 'Groq'\n\toption identifier 'groq'\n\toption model 'm'\n"
            )
            handle.write(f"\toption endpoint 'http://me:{ACCOUNT}@127.0.0.1:9/v1?token={TOKEN}'\n")
        self.planted = Planted(self.root)
        self.daemon = start_daemon(self.root)
        self.watch = Watch(self.daemon.process.pid)
        self.replies = []
        self.chat = ""

    def call(self, method, **params):
        reply = self.daemon.call(method, **params)
        self.replies.append(json.dumps(reply, ensure_ascii=False))
        return reply

    def say(self, message, *script, decide="", **more):
        """Have a message answered by a script; decide about a plan that waits."""
        self.model.script = list(script)
        started = self.call("run.start", message=message, chat=self.chat, **more)
        self.chat = started.get("chat", self.chat)
        if "run" not in started:
            return []
        events = follow(self.daemon, started, ("end", "plan") if decide else ("end",))
        plans = [event["plan"] for event in of_type(events, "plan") if event["plan"]["needs_approval"]]
        if plans and not of_type(events, "end"):
            self.call("plan.list")
            self.call("info")
            if decide == "approve":
                approve(self.daemon, events)
            else:
                self.call("plan.decline", plan=plans[-1]["id"])
            events = follow(self.daemon, started)
        self.replies.append(json.dumps(events, ensure_ascii=False))
        return events

    def outputs(self):
        """Return everything that left, named."""
        found = {f"request {at}": one["body"] + one["line"].encode() for at, one in enumerate(self.model.requests)}
        for at, one in enumerate(self.model.requests):
            found[f"headers {at}"] = one["headers"].replace("Bearer " + KEY, "").encode()
        found.update({f"reply {at}": text.encode() for at, text in enumerate(self.replies)})
        found.update({f"{name} of a process {at}": data for at, (name, data) in enumerate(self.watch.end())})
        for path in self._files():
            with open(path, "rb") as handle:
                found[path[len(self.root) :]] = handle.read()
        return found

    def _files(self):
        for path in glob.glob(self.root + "/**", recursive=True):
            own = path[len(self.root) :]
            images = own.startswith("/etc/oasis/") and own.split("/")[-2] in ("before", "after", "files", "kept")
            if os.path.isfile(path) and not images and not own.startswith(HELD):
                yield path


# Those that read or write what may be secret get every wrong value, the others some.
OF_CONFIGURATION = ("status", "read_config", "configure", "undo", "service")


def shapes():
    """Return every argument shape that the tools are asked in: fitting, wrong, too many, none at all."""
    wrong = (None, 5, True, "x", [], ["x"], {}, {"a": [1]}, "../../etc/oasis/keys.json", "@login[0]", "oasis")
    for spec in BuiltIn(None).specs():
        properties = spec["input_schema"]["properties"]
        yield spec["name"], {}
        yield spec["name"], "{broken"
        yield spec["name"], {"unknown": "x"}
        for name, rules in properties.items():
            for value in (*(wrong if spec["name"] in OF_CONFIGURATION else wrong[2:6]), *rules.get("enum", ())):
                yield spec["name"], {name: value}
    yield "no_such_tool", {"a": 1}


def reads(root):
    """Return calls that read every package and every section of it."""
    for package in sorted(os.listdir(root + "/etc/config")):
        yield "read_config", {"package": package}
        with open(f"{root}/etc/config/{package}") as handle:
            for line in handle:
                words = line.split()
                if words[:1] == ["config"]:
                    section = words[2].strip("'") if len(words) > 2 else f"@{words[1]}[0]"
                    yield "read_config", {"package": package, "section": section}


WIFI = "wireless.planted_wifi"
CHANGES = (
    ("decline", [f"uci delete {WIFI}.key"]),
    ("decline", [f"uci delete {WIFI}"]),
    ("decline", [f"uci set {WIFI}.ssid=other"]),
    ("decline", [f"uci set {WIFI}.key=a-new-password"]),
    ("decline", [f"uci rename {WIFI}=other"]),
    ("decline", [f"uci reorder {WIFI}=0"]),
    ("decline", ["uci add_list system.ntp.server=a.example", "uci delete network.planted_dsl"]),
    ("", [f"uci rename {WIFI}.key=ssid"]),
    ("", [f"uci set {WIFI}.key"]),
    ("", [f"uci get {WIFI}.key"]),
    ("", ["uci show wireless"]),
    ("", [f"uci del_list {WIFI}.key=x"]),
    ("", ["uci set rpcd.@login[0].password=x"]),
    ("", ["uci set oasis.main.approval=none"]),
    ("", ["cat /etc/config/wireless"]),
    ("approve", [f"uci set {WIFI}.ssid=Attic"]),  # the last: a write waits until it is decided
)


def eights(calls):
    calls = list(calls)
    return [calls[at : at + 8] for at in range(0, len(calls), 8)]


@pytest.fixture
def sweep(tmp_path):
    made = Sweep(tmp_path)
    yield made
    made.daemon.stop()
    made.model.close()


class Declining:
    """Somebody who says no to whatever is asked, while a run calls one tool after another."""

    def __init__(self, daemon):
        self._daemon = daemon
        self._is_over = threading.Event()
        self.count = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self._is_over.wait(0.02):
            for plan in self._daemon.call("plan.list")["plans"]:
                self._daemon.call("plan.decline", plan=plan["id"])
                self.count += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()


def drive_tools(sweep):
    rounds = eights([*shapes(), *reads(sweep.root)])
    with Declining(sweep.daemon) as owner:
        for at in range(0, len(rounds), 9):
            sweep.chat = "" if at % 2 else sweep.chat
            sweep.say("look at everything", *rounds[at : at + 9], "Seen.")
    assert owner.count > 0, "a dangerous tool, or an effect with words of others in sight, asks"
    for decide, commands in CHANGES:
        sweep.say("change it", [("configure", {"commands": commands, "summary": "planted"})], "Done.", decide=decide)
    pending = sweep.call("change.pending")["change"]
    sweep.call("change.load", change=pending["id"])
    sweep.call("change.rollback", change=pending["id"])
    assert sweep.call("change.load", change=pending["id"])["change"]["state"] == "rolled_back"


def drive_errors(sweep):
    """Let services print the configuration, a service of models repeat what it got, and one be out of reach."""
    script = sweep.root + "/etc/init.d/log"
    with open(script, "w") as handle:
        known = next(value for value, at in sweep.planted.values.items() if at == "wireless.planted_wifi.key").encode()
        coded = [base64.b64encode(known).decode(), base64.b64encode(b"me:" + known).decode(), known.hex()]
        sweep.planted.values.update(BY_FORM)
        handle.write(f"#!/bin/sh\ngrep -h Pl4nt3d {sweep.root}/etc/config/wireless | head -n 2 >&2\n")
        handle.write(f"cat {sweep.root}/var/run/running/planted-lines >&2\nexit 3\n")
    with open(sweep.root + "/var/run/running/planted-lines", "w") as handle:
        handle.write("\n".join([*coded, *LINES]) + "\n")
    events = sweep.say("restart log", [("service", {"name": "log"})], "It failed.", decide="approve")
    assert "********" in json.dumps(events) or "«secret:" in json.dumps(events, ensure_ascii=False), (
        "it was told, masked"
    )
    sweep.say("hello", lambda body, headers: (401, "refused: " + headers + json.dumps(body)))
    sweep.say("hello", lambda body, headers: (400, "bad: " + json.dumps(body, ensure_ascii=False)))
    sweep.say("hello", service="groq")


def drive_methods(sweep):
    values = {str: "x", int: 3, list: ["x"], bool: True, dict: {"x": 1}}
    wrong = {str: 5, int: "x", list: "x", bool: "x", dict: "x"}
    for name, method in TABLE.items():
        if name in ("service.select", "chat.delete", "run.start"):
            continue
        sweep.call(name)
        for table in (values, wrong):
            sweep.call(name, **{key: table[kind] for key, (kind, _) in method.arguments.items()})
    for item in sweep.call("chat.list")["item"]:
        sweep.call("chat.load", id=item["id"])
    for change in sweep.call("change.list")["changes"]:
        sweep.call("change.load", change=change["id"])
    sweep.call("service.list")
    sweep.call("nothing.like_that", key=1)


def drive_built_in(sweep):
    for message in (
        "show the config of wireless", "show the config of network", "what is the wifi password?", "status", "wifi",
        "set the wifi password to another-secret", "who is on my network?", "show the config of rpcd", "undo",
    ):  # fmt: skip
        sweep.say(message, service="offline", decide="decline")


@pytest.mark.timeout(300)  # a thousand calls of tools, some of which start programs
def test_no_planted_secret_leaves_in_any_byte(sweep):
    with open(sweep.root + "/etc/config/wireless", "a") as handle:
        value = "Pl4nt3dWifiKey-5812"
        sweep.planted.values[value] = "wireless.planted_wifi.key"
        handle.write("\nconfig wifi-iface 'planted_wifi'\n\toption device 'radio0'\n\toption mode 'ap'\n")
        handle.write(
            f"\toption network 'lan'\n\toption ssid 'Home'\n\toption encryption 'psk2'\n\toption key '{value}'\n"
        )
    with open(sweep.root + "/etc/config/network", "a") as handle:
        sweep.planted.values["Pl4nt3dDsl-99120"] = "network.planted_dsl.password"
        handle.write("\nconfig interface 'planted_dsl'\n\toption proto 'pppoe'\n\toption password 'Pl4nt3dDsl-99120'\n")
    assert len(sweep.planted.values) > 60
    drive_tools(sweep)
    drive_errors(sweep)
    drive_built_in(sweep)
    drive_methods(sweep)
    outputs = sweep.outputs()
    assert len(sweep.model.requests) > 20 and len(outputs) > 100
    assert any("«secret:" in body for body in sweep.model.bodies())
    assert {name: found for name, data in outputs.items() if (found := sweep.planted.found_in(data))} == {}
    assert [name for name, data in outputs.items() if PLAN_KEY in data or PLAN_KEY.hex().encode() in data] == []
    assert all("Bearer " + KEY in request["headers"] for request in sweep.model.requests), "it went where it belongs"


def test_the_sweep_would_find_what_it_looks_for(sweep):
    """A sweep that looks in the wrong place finds nothing, too."""
    planted = sweep.planted
    value = next(iter(planted.values))
    for form in (value, json.dumps({"a": value}), json.dumps(json.dumps({"a": value})), value.encode().hex()):
        assert planted.found_in("x" + form + "y") == [planted.values[value]]
    with open(sweep.root + "/var/log/oasisd.log", "a") as handle:
        handle.write("planted: " + value + "\n")
    sweep.call("info")
    named = [name for name, data in sweep.outputs().items() if planted.found_in(data)]
    assert named == ["/var/log/oasisd.log"]
