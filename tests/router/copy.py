"""Make a router root that is up and running: a copy of root/, with what a boot leaves behind.

Used by tests and by `make run`. In the copy, etc/config has a router's modes, the running configuration equals it,
and bin/ubus answers for this root without any environment variable.
"""

import json
import os
import shutil
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
_NOT_RUNNING = ("cron",)  # nothing in /etc/crontabs
_AT_RUN_TIME = (
    "var/log",
    "var/run/faults",
    "var/run/running",
    "var/run/services",
    "tmp/.uci",
    "etc/rc.d",
    "bin",
    "ubus",
)
_UBUS = '#!/bin/sh\nOASIS_ROOT=%s exec %s -IS %s/ubus.py "$@"\n'
_PROGRAM = '#!/bin/sh\nOASIS_ROOT=%s exec %s -IS %s/programs.py %s "$@"\n'
PROGRAMS = ("ping", "traceroute", "nslookup", "opkg", "poweroff", "sysupgrade")


def copy_root(target):
    """Copy the stock root to `target` (missing or empty), start it, and return its absolute path."""
    target = os.path.abspath(str(target))
    shutil.copytree(os.path.join(FOLDER, "root"), target, dirs_exist_ok=True, symlinks=True)
    for name in _AT_RUN_TIME:
        os.makedirs(os.path.join(target, name), exist_ok=True)
    _set_modes(target)
    for package in os.listdir(os.path.join(target, "etc/config")):
        shutil.copy2(os.path.join(target, "etc/config", package), os.path.join(target, "var/run/running", package))
    for service, head in _heads(target).items():
        _start(target, service, head)
    _write(target, "bin/ubus", _UBUS % (_quoted(target), _quoted(sys.executable), _quoted(FOLDER)), 0o755)
    for name in PROGRAMS:
        words = (_quoted(target), _quoted(sys.executable), _quoted(FOLDER), name)
        _write(target, "bin/" + name, _PROGRAM % words, 0o755)
    return target


def _set_modes(target):
    for folder, mode in (("etc/config", 0o600), ("etc/init.d", 0o755)):
        for name in os.listdir(os.path.join(target, folder)):
            os.chmod(os.path.join(target, folder, name), mode)
    os.chmod(os.path.join(target, "tmp/.uci"), 0o700)


def _heads(target):
    found = {}
    for name in sorted(os.listdir(os.path.join(target, "etc/init.d"))):
        with open(os.path.join(target, "etc/init.d", name), encoding="utf-8") as file:
            lines = [line.strip().split("=", 1) for line in file if "=" in line and line[0].isupper()]
        found[name] = {key: value.strip('"') for key, value in lines}
    return found


def _start(target, service, head):
    for letter, key in (("S", "START"), ("K", "STOP")):
        if key in head:
            os.symlink("../init.d/" + service, os.path.join(target, "etc/rc.d", letter + head[key] + service))
    if service not in _NOT_RUNNING:
        line = "active\n" if head.get("PROCESS") == "none" else f"running {_first_pid(service)}\n"
        _write(target, "var/run/services/" + service, line, 0o644)


def _first_pid(service):
    with open(os.path.join(FOLDER, "ubus/service~list.json"), encoding="utf-8") as file:
        return min(instance["pid"] for instance in json.load(file)[service]["instances"].values())


def _write(target, name, text, mode):
    path = os.path.join(target, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def _quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"


if __name__ == "__main__":
    sys.stdout.write(copy_root(sys.argv[1]) + "\n")
