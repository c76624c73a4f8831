"""The stock router's `ubus` program: answers from fixtures, changed by what is running in the router root.

    ubus [-S] [-v] [-t N] call OBJECT METHOD [JSON] | list [PATTERN] | wait_for OBJECT… | send TYPE [JSON]

The root is OASIS_ROOT. Fixtures are ROOT/ubus/NAME.json, then tests/router/ubus/NAME.json, where NAME is
OBJECT~METHOD~KEY-VALUE…, the longest first, down to OBJECT~METHOD. A fixture holds the reply, null for a reply
without data, or a number for that ubus status. Without -S a failed call has the status 256 minus the ubus status,
and a missing object 4, as the real program.
"""

import json
import os
import subprocess
import sys
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.append(FOLDER)  # at the end: copy.py here must not hide the standard library's

import confread  # noqa: E402
import netstate  # noqa: E402
import services  # noqa: E402

BAD_COMMAND, BAD_ARGUMENT, NO_METHOD, NOT_FOUND, NO_DATA, DENIED, TIMEOUT, PARSE, NO_BUS = 1, 2, 3, 4, 5, 6, 7, 12, 255
_WORDS = {2: "Invalid argument", 3: "Method not found", 4: "Not found", 5: "No response", 6: "Permission denied"}
_WORDS.update({7: "Request timed out", 12: "Parsing message data failed"})
_WAIT_S = 30.0  # ubus's own default


class Failed(Exception):
    """A call that failed; `is_lookup`: the object itself is missing, the same exit status in both modes."""

    def __init__(self, status, note="", is_lookup=False):
        super().__init__(note)
        self.status = status
        self.note = note
        self.is_lookup = is_lookup


class Router:
    """One router root and its fixtures."""

    def __init__(self, root):
        self.root = root

    def fixture(self, name, method, arguments=None):
        """Return the content of the most special fixture that there is.

        Raises: Failed(NOT_FOUND) with the file names that would do.
        """
        tail = "".join(f"~{key}-{value}" for key, value in sorted((arguments or {}).items()))
        names = ["{}~{}{}.json".format(name, method, tail.replace("/", "_")), f"{name}~{method}.json"]
        for folder in (os.path.join(self.root, "ubus"), os.path.join(FOLDER, "ubus")):
            for file_name in names:
                try:
                    with open(os.path.join(folder, file_name), encoding="utf-8") as file:
                        return json.load(file)
                except (FileNotFoundError, OSError):
                    continue
        raise Failed(
            NOT_FOUND,
            "no fixture; one of these in {}/ubus or ROOT/ubus would do: {}".format(FOLDER, " ".join(names)),
            True,
        )

    def host_name(self):
        try:
            with open(os.path.join(self.root, "proc/sys/kernel/hostname"), encoding="utf-8") as file:
                return file.read().strip()
        except FileNotFoundError:
            return "OpenWrt"

    def is_running(self, service):
        return services.state(self.root, service)[0] == "running"

    def objects(self):
        """Return {object: {method: {argument: type}}}; objects of a service that does not run are gone."""
        with open(os.path.join(FOLDER, "ubus/objects.json"), encoding="utf-8") as file:
            found = json.load(file)
        one = found.pop("network.interface.NAME")
        if self.is_running("network"):
            for entry in self.interfaces()["interface"]:
                found["network.interface." + entry["interface"]] = one
        gone = [s for s in ("network", "dnsmasq", "log") if not self.is_running(s)]
        rpcd = () if self.is_running("rpcd") else ("file", "luci", "rc", "rpc-sys", "session", "uci")
        return {n: m for n, m in sorted(found.items()) if n.split(".")[0] not in gone and n not in rpcd}

    def devices(self):
        return netstate.devices(self.root, self.fixture("network.device", "status"))

    def interfaces(self):
        recorded = self.fixture("network.interface", "dump")
        return netstate.interfaces(self.root, recorded, self.devices(), self.host_name())


def call(router, name, method, arguments):
    """Return the reply of one call, None for a reply without data."""
    objects = router.objects()
    if name not in objects:
        override = os.path.join(router.root, "ubus", f"{name}~{method}.json")
        if os.path.exists(override):
            return router.fixture(name, method, arguments)
        return _plugin(router, name, method, arguments)
    if method not in objects[name]:
        raise Failed(NO_METHOD)
    _check_types(objects[name][method], arguments)
    if name.startswith("network.interface."):
        return _one_interface(router, name.split(".", 2)[2], method, arguments)
    handler = HANDLERS.get((name, method))
    reply = handler(router, arguments) if handler else router.fixture(name, method, arguments)
    if isinstance(reply, int) and not isinstance(reply, bool):
        raise Failed(reply)
    return reply


def _plugin(router, name, method, arguments):
    """Return what a program of rpcd's answers, as rpcd has it: one object, or a status for what is none."""
    program = os.path.join(router.root, "usr/libexec/rpcd", name)
    if not os.access(program, os.X_OK):
        raise Failed(NOT_FOUND, is_lookup=True)
    if method not in json.loads(subprocess.run([program, "list"], capture_output=True, check=False).stdout):
        raise Failed(NO_METHOD)
    line = json.dumps(arguments).encode() + b"\n"
    out = subprocess.run([program, "call", method], input=line, capture_output=True, check=False).stdout
    if not out.strip():
        raise Failed(NO_DATA)
    try:
        reply = json.loads(out)
    except ValueError:
        raise Failed(BAD_ARGUMENT)
    if not isinstance(reply, dict):
        raise Failed(BAD_ARGUMENT)
    return reply


def _check_types(declared, arguments):
    kinds = {"String": str, "Integer": int, "Boolean": (bool, int), "Array": list, "Table": dict}
    for key, value in arguments.items():
        if key in declared and not isinstance(value, kinds.get(declared[key], object)):
            raise Failed(BAD_ARGUMENT)


def _one_interface(router, name, method, arguments):
    if method != "status":
        return router.fixture("network.interface." + name, method, arguments)
    entry = next(entry for entry in router.interfaces()["interface"] if entry["interface"] == name)
    return {key: value for key, value in entry.items() if key != "interface"}


def _board(router, _):
    return dict(router.fixture("system", "board"), hostname=router.host_name())


def _device_status(router, arguments):
    found = router.devices()
    if "name" not in arguments:
        return found
    if arguments["name"] not in found:
        raise Failed(NOT_FOUND)
    return found[arguments["name"]]


def _log_read(router, arguments):
    lines = router.fixture("log", "read")["log"]
    return {"log": lines[-arguments["lines"] :] if arguments.get("lines") else lines}


def _network_reload(router, _):
    services.run(router.root, "network", "reload")


def _session_access(router, arguments):
    """Answer from var/run/rpcd/sessions.json ({session: {object: [method]}}) where a web server keeps one."""
    try:
        with open(os.path.join(router.root, "var/run/rpcd/sessions.json"), encoding="utf-8") as file:
            sessions = json.load(file)
    except FileNotFoundError:
        return router.fixture("session", "access", arguments)
    if arguments.get("ubus_rpc_session") not in sessions:
        raise Failed(NOT_FOUND)
    methods = sessions[arguments["ubus_rpc_session"]].get(arguments.get("object"), [])
    return {"access": arguments.get("scope") == "ubus" and (arguments.get("function") in methods or "*" in methods)}


def _service_list(router, arguments):
    return services.service_list(router.root, router.fixture("service", "list"), arguments.get("name", ""))


def _service_event(router, arguments):
    if "type" not in arguments:
        raise Failed(BAD_ARGUMENT)
    if arguments["type"] == "config.change":
        services.config_change(router.root, str(arguments.get("data", {}).get("package", "")))


def _rc_init(router, arguments):
    if arguments.get("action") not in ("start", "stop", "restart", "reload", "enable", "disable", "running", "enabled"):
        raise Failed(BAD_ARGUMENT)
    if arguments.get("name") not in services.heads(router.root):
        raise Failed(NOT_FOUND)
    services.run(router.root, arguments["name"], arguments["action"])


def _system_reboot(router, _):
    with open(os.path.join(router.root, "var/log/programs.log"), "a", encoding="utf-8") as file:
        file.write("reboot\n")


def _packages(router, _):
    own = os.path.join(router.root, "packages.json")
    with open(own if os.path.exists(own) else os.path.join(FOLDER, "packages.json"), encoding="utf-8") as file:
        return {"packages": json.load(file)["installed"]}


def _uci_configs(router, _):
    return {"configs": sorted(os.listdir(os.path.join(router.root, "etc/config")))}


def _uci_get(router, arguments):
    """Answer from the committed files; what is only staged is not seen."""
    package = str(arguments.get("config", ""))
    if package not in _uci_configs(router, None)["configs"]:
        raise Failed(NOT_FOUND)
    found = confread.read(os.path.join(router.root, "etc/config", package))
    if "section" not in arguments:
        wanted = [s for s in found if arguments.get("type") in (None, s[".type"])]
        return {"values": {s[".name"]: s for s in wanted}}
    section = next((s for s in found if s[".name"] == arguments["section"]), None)
    if section is None:
        return None
    if "option" not in arguments:
        return {"values": {key: value for key, value in section.items() if key != ".index"}}
    return {"value": section[arguments["option"]]} if arguments["option"] in section else None


def _uci_confirm(router, arguments):
    """rpcd waits while var/run/rpcd/waits is there, for a session that the caller's is not."""
    raise Failed(DENIED if os.path.exists(os.path.join(router.root, "var/run/rpcd/waits")) else NO_DATA)


HANDLERS = {
    ("system", "board"): _board,
    ("system", "info"): lambda router, _: dict(router.fixture("system", "info"), localtime=int(time.time())),
    ("system", "reboot"): _system_reboot,
    ("rpc-sys", "packagelist"): _packages,
    ("network", "reload"): _network_reload,
    ("network", "restart"): _network_reload,
    ("network.interface", "dump"): lambda router, _: router.interfaces(),
    ("network.device", "status"): _device_status,
    ("network.wireless", "status"): lambda router, _: netstate.wireless(router.root),
    ("log", "read"): _log_read,
    ("service", "list"): _service_list,
    ("session", "access"): _session_access,
    ("service", "event"): _service_event,
    ("rc", "list"): lambda router, arguments: services.rc_list(router.root, arguments.get("name", "")),
    ("rc", "init"): _rc_init,
    ("luci", "getInitList"): lambda router, arguments: services.init_list(router.root, arguments.get("name", "")),
    ("uci", "configs"): _uci_configs,
    ("uci", "get"): _uci_get,
    ("uci", "changes"): lambda router, arguments: {"changes": [] if "config" in arguments else {}},
    ("uci", "confirm"): _uci_confirm,
    ("uci", "reload_config"): lambda router, _: None,
}


def pretty(value, level=0):
    """Return a reply as the real program prints it without -S: tabs, and an empty object over three lines."""
    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    inner, outer = "\n" + "\t" * (level + 1), "\n" + "\t" * level
    if isinstance(value, dict):
        parts = [json.dumps(key, ensure_ascii=False) + ": " + pretty(item, level + 1) for key, item in value.items()]
    else:
        parts = [pretty(item, level + 1) for item in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return ends[0] + inner + ("," + inner).join(parts) + outer + ends[1]


def run_call(router, words, is_simple):
    if len(words) < 2:
        raise Failed(BAD_ARGUMENT)
    try:
        arguments = json.loads(words[2]) if len(words) > 2 else {}
    except ValueError:
        raise Failed(PARSE)
    if not isinstance(arguments, dict):
        raise Failed(PARSE)
    reply = call(router, words[0], words[1], arguments)
    if reply is not None:
        print(json.dumps(reply, ensure_ascii=False, separators=(",", ":")) if is_simple else pretty(reply))


def run_list(router, words, is_verbose):
    pattern = words[0] if words else "*"
    stem = pattern[:-1] if pattern.endswith("*") else None
    found = {n: m for n, m in router.objects().items() if (n == pattern if stem is None else n.startswith(stem))}
    if not found:
        raise Failed(NOT_FOUND)
    for number, (name, methods) in enumerate(found.items()):
        print(f"'{name}' @{0xA0000000 + number:08x}" if is_verbose else name)
        for method, arguments in methods.items() if is_verbose else ():
            print('\t"{}":{}'.format(method, json.dumps(arguments, separators=(",", ":"))))


def run_wait(router, words, wait_s):
    deadline = time.monotonic() + wait_s
    while not set(words) <= set(router.objects()):
        if time.monotonic() >= deadline:
            raise Failed(TIMEOUT)
        time.sleep(0.02)


def run_send(router, words):
    try:
        data = json.loads(words[1]) if len(words) > 1 else {}
    except ValueError:
        raise Failed(PARSE)
    if not isinstance(data, dict):
        raise Failed(PARSE)
    with open(os.path.join(router.root, "var/log/events.log"), "a", encoding="utf-8") as file:
        file.write(json.dumps({words[0]: data}) + "\n")


def _options(words):
    chosen = {"-S": False, "-v": False, "-t": _WAIT_S}
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "-t":
            chosen["-t"] = float(words.pop(0))
        elif word in chosen:
            chosen[word] = True
        else:
            raise Failed(BAD_COMMAND)
    return chosen


def main(root, words):
    """Run one command and return its exit status."""
    chosen = {"-S": False}
    try:
        rest = list(words)
        chosen = _options(rest)
        command, rest = (rest[0], rest[1:]) if rest else ("", [])
        router = _started(root)
        if command == "call":
            run_call(router, rest, chosen["-S"])
        elif command == "list":
            run_list(router, rest, chosen["-v"])
        elif command == "wait_for" and rest:
            run_wait(router, rest, chosen["-t"])
        elif command == "send" and rest:
            run_send(router, rest)
        else:
            raise Failed(BAD_COMMAND)
    except Failed as error:
        return _complain(error, words, chosen["-S"])
    return 0


def _complain(error, words, is_simple):
    if error.note:
        sys.stderr.write(f"ubus stand-in: {error.note}\n")
    is_call = "call" in words
    if not is_call or is_simple or error.status == NO_BUS:
        return error.status
    sys.stderr.write(
        "Command failed: ubus {} ({})\n".format(" ".join(words), _WORDS.get(error.status, "Unknown error"))
    )
    return error.status if error.is_lookup else 256 - error.status


def _started(root):
    if not os.path.isdir(os.path.join(root, "var/run/running")):
        raise Failed(NO_BUS, f"OASIS_ROOT is no root made by tests/router/copy.py: {root!r}")
    return Router(root)


if __name__ == "__main__":
    sys.exit(main(os.environ.get("OASIS_ROOT", ""), sys.argv[1:]))
