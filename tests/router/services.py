"""The stand-in's init scripts as procd and rpcd see them: what their heads say, which run, what an event starts."""

import os
import re
import subprocess
import time

import confread

_HEAD = re.compile(r'^([A-Z]+)="?([^"\n]*)"?$', re.M)
_WAIT_S = 10  # a script that was told to hang must not hang the caller of an event: procd is asynchronous there
_FAULT_POLL_S = 0.01


def heads(root):
    """Return {service: {"START": "20", "TRIGGERS": "network wireless", …}} of every init script."""
    found = {}
    folder = os.path.join(root, "etc/init.d")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            found[name] = dict(_HEAD.findall(file.read()))
    return found


def state(root, name):
    """Return ("running", pid), ("active", 0), ("dead", 0) or ("stopped", 0)."""
    try:
        with open(os.path.join(root, "var/run/services", name), encoding="utf-8") as file:
            words = file.read().split()
    except FileNotFoundError:
        return "stopped", 0
    return (words[0], int(words[1]) if len(words) > 1 else 0) if words else ("stopped", 0)


def is_enabled(root, name, start):
    """Tell whether the script is linked into rc.d; a root that never ran has no rc.d and every script enabled."""
    folder = os.path.join(root, "etc/rc.d")
    return not os.path.isdir(folder) or os.path.islink(os.path.join(folder, f"S{start}{name}"))


def rc_list(root, wanted=""):
    """Answer `rc list`."""
    reply = {}
    for name, head in heads(root).items():
        entry = {"start": int(head["START"])} if "START" in head else {}
        if "STOP" in head:
            entry["stop"] = int(head["STOP"])
        entry["enabled"] = is_enabled(root, name, head.get("START", ""))
        entry["running"] = state(root, name)[0] == "running"
        if wanted in ("", name):
            reply[name] = entry
    return reply


def init_list(root, wanted=""):
    """Answer `luci getInitList`."""
    return {
        name: {"index": entry.get("start"), "stop": entry.get("stop"), "enabled": entry["enabled"]}
        for name, entry in rc_list(root, wanted).items()
    }


def service_list(root, templates, wanted=""):
    """Answer `service list`: the recorded instances, with what the running state and configuration change."""
    reply = {}
    for name in sorted(heads(root)):
        word, pid = state(root, name)
        if word == "stopped" or wanted not in ("", name):
            continue
        entry = reply[name] = {}
        for number, (label, instance) in enumerate(templates.get(name, {}).get("instances", {}).items()):
            entry.setdefault("instances", {})[label] = _instance(root, name, instance, word, pid + number)
    return reply


def _instance(root, name, template, word, pid):
    instance = dict(template, running=word == "running", pid=pid, command=_command(root, name, template["command"]))
    if word != "running":
        del instance["pid"]
        instance["exit_code"] = 1
    return instance


def _command(root, name, command):
    """Return the command line with the listeners that are configured now."""
    read = {"dropbear": ("dropbear", {"-p": "Port"}), "uhttpd": ("uhttpd", {"-p": "listen_http", "-s": "listen_https"})}
    read["log"] = ("system", {"-S": "log_size"})
    if name not in read:
        return command
    package, switches = read[name]
    kind = "system" if name == "log" else name
    words = list(command)
    chosen = [s for s in confread.read(os.path.join(root, "var/run/running", package)) if s[".type"] == kind][:1]
    for section in chosen:
        for switch, option in switches.items():
            words = _replace(words, switch, confread.as_list(section.get(option)))
    return words


def _replace(words, switch, values):
    at = words.index(switch) if switch in words else len(words)
    rest = [w for i, w in enumerate(words) if w != switch and (i == 0 or words[i - 1] != switch)]
    return rest[:at] + [word for value in values for word in (switch, value)] + rest[at:]


def run(root, name, action):
    """Run an init script and return its exit status; one that was told to hang is left alone."""
    path = os.path.join(root, "etc/init.d", name)
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "OASIS_ROOT": root}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen([path, action], env=env, start_new_session=True, **quiet)
    deadline = time.monotonic() + _WAIT_S
    while child.poll() is None and time.monotonic() < deadline and not _hangs(root, name):
        time.sleep(_FAULT_POLL_S)
    return child.returncode or 0


def _hangs(root, name):
    try:
        with open(os.path.join(root, "var/run/faults", name), encoding="utf-8") as file:
            return file.read().startswith("sleep")
    except FileNotFoundError:
        return False


def config_change(root, package):
    """Reload every service that has a trigger for the package, in start order, as procd does."""
    found = [(int(h.get("START", "99")), n) for n, h in heads(root).items() if package in h.get("TRIGGERS", "").split()]
    for _, name in sorted(found):
        run(root, name, "reload")
