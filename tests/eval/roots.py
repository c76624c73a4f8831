"""Start states of tasks: the stock router root and what an owner, or bad luck, has made of it.

roots.json names them: {name: {"is"?: the root that it begins as, "uci": [commands], "append"?: {file: text}, "file"?:
{file: text}, "init"?: {service: packages that it reads}, "leases"?: [[mac, address, name]], "same"?: {fixture: the
stock one that it is like}, "ubus"?: {fixture: what is laid over the stock one}, "interfaces"?: {name: fields},
"log"?: [lines], "alive"?: {address: ms or null}, "secrets"?: [values that nobody else may see], "settings"?: {option
of Oasis: value}, "feed"?: {package: {"description", "depends"?, "files"?: {file: text}}}, which opkg has then, "page"?:
HTML of a web page that {page} in a task leads to}}. Files are paths in the root; those in bin/ are programs.
"""

from __future__ import annotations

import functools
import glob
import importlib.util
import json
import os
import shutil
from typing import Any

from oasis.change import uci_commands
from oasis.uci.model import preview
from tests.oasisd import copy_root, set_option

HERE = os.path.dirname(os.path.abspath(__file__))
ROUTER = os.path.join(os.path.dirname(HERE), "router")
_INIT = '#!/bin/sh\nSTART=%d\nCONFIGS="%s"\nTRIGGERS="%s"\nPROCESS=none\n. "${0%%/*}/../rc.common"\n'
# Everybody has one of these at home; Linux network names of more would tell nothing more.
LEASE_END = 4102444800


@functools.cache
def named() -> dict[str, dict[str, Any]]:
    """Return all start states by name, each with what it inherits."""
    raw: dict[str, Any] = {}
    for path in (f"{HERE}/roots.json", *sorted(glob.glob(f"{HERE}/fresh/*/roots.json"))):
        with open(path, encoding="utf-8") as handle:
            raw.update(json.load(handle))
    return {name: _whole(raw, name) for name in raw}


def _whole(raw: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    own = raw[name]
    whole = _whole(raw, own["is"]) if "is" in own else {}
    for key, value in own.items():
        if key == "is":
            continue
        if isinstance(value, list):
            whole[key] = [*whole.get(key, []), *value]
        else:
            whole[key] = {**whole.get(key, {}), **value} if isinstance(value, dict) else value
    return whole


def make(name: str, target: str) -> str:
    """Make a router root in that state in a folder; return its absolute path."""
    spec = named()[name]
    root = copy_root(target)
    for path, text in spec.get("file", {}).items():
        _write(root, path, text)
    for path, text in spec.get("append", {}).items():
        _write(root, path, text, "a")
    for service, packages in spec.get("init", {}).items():
        _add_service(root, service, packages)
    _configure(root, spec.get("uci", []))
    for mac, address, device in spec.get("leases", []):
        _write(root, "tmp/dhcp.leases", f"{LEASE_END} {mac} {address} {device} *\n", "a")
        _write(root, "proc/net/arp", f"{address}    0x1         0x2         {mac}     *        br-lan\n", "a")
    _fixtures(root, spec)
    if "feed" in spec:
        _feed(root, spec["feed"])
    for option, value in spec.get("settings", {}).items():
        set_option(root, option, value)
    for package in os.listdir(root + "/etc/config"):
        shutil.copy2(f"{root}/etc/config/{package}", f"{root}/var/run/running/{package}")
    return root


def let_reach(root: str, place: str) -> None:
    """Let the tools of a root that fetch pages have those of a server on this host."""
    _write(root, "etc/config/oasis", f"\nconfig web 'web'\n\tlist reach '{place}'\n", "a")


def devices(root: str) -> dict[str, tuple[str, str]]:
    """Return (mac, address) of every device by its name, as the leases of a root have it."""
    with open(root + "/tmp/dhcp.leases", encoding="utf-8") as handle:
        words = [line.split() for line in handle if line.strip()]
    return {word[3]: (word[1].lower(), word[2]) for word in words}


def _configure(root: str, lines: list[str]) -> None:
    operations, _ = uci_commands.parse("\n".join(lines)) if lines else ([], [])
    names = {str(one["package"]) for one in operations}
    before = {name: _read(f"{root}/etc/config/{name}") for name in names}
    for name, data in preview(before, operations).items():
        with open(f"{root}/etc/config/{name}", "wb") as handle:
            handle.write(data)
        os.chmod(f"{root}/etc/config/{name}", 0o600)


def _fixtures(root: str, spec: dict[str, Any]) -> None:
    for name, stock in spec.get("same", {}).items():
        shutil.copy2(f"{ROUTER}/ubus/{stock}", f"{root}/ubus/{name}")
    for name, change in spec.get("ubus", {}).items():
        _fixture(root, name, lambda stock, change=change: _laid(stock, change))
    if "interfaces" in spec:
        _fixture(root, "network.interface~dump.json", lambda stock: _interfaces(stock, spec["interfaces"]))
    if "log" in spec:
        _fixture(root, "log~read.json", lambda stock: _log(stock, spec["log"]))
    if "alive" in spec:
        with open(ROUTER + "/net.json", encoding="utf-8") as handle:
            net = json.load(handle)
        net["alive"].update(spec["alive"])
        net["alive"] = {address: ms for address, ms in net["alive"].items() if ms is not None}
        _write(root, "net.json", json.dumps(net))


def _fixture(root: str, name: str, change: Any) -> None:
    try:
        with open(f"{ROUTER}/ubus/{name}", encoding="utf-8") as handle:
            stock = json.load(handle)
    except FileNotFoundError:
        stock = {}
    _write(root, "ubus/" + name, json.dumps(change(stock)))


def _feed(root: str, more: dict[str, Any]) -> None:
    with open(ROUTER + "/packages.json", encoding="utf-8") as handle:
        packages = json.load(handle)
    for name, given in more.items():
        entry = {"version": "1.0-r1", "size": 24310, "installed": 71680, "depends": [], "description": name}
        packages["feed"][name] = {**entry, **given}
    _write(root, "packages.json", json.dumps(packages))


def _laid(stock: Any, change: Any) -> Any:
    if not isinstance(stock, dict) or not isinstance(change, dict):
        return change
    return {**stock, **{key: _laid(stock.get(key), value) for key, value in change.items()}}


def _interfaces(stock: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {"interface": [{**entry, **changes.get(entry["interface"], {})} for entry in stock["interface"]]}


def _log(stock: dict[str, Any], lines: list[str]) -> dict[str, Any]:
    last = stock["log"][-1]
    more = [
        {**last, "msg": line, "id": last["id"] + number, "time": last["time"] + number * 1000}
        for number, line in enumerate(lines, 1)
    ]
    return {"log": [*stock["log"], *more]}


def _add_service(root: str, service: str, packages: str) -> None:
    path = f"{root}/etc/init.d/{service}"
    _write(root, "etc/init.d/" + service, _INIT % (60, packages, packages))
    os.chmod(path, 0o755)
    os.symlink("../init.d/" + service, f"{root}/etc/rc.d/S60{service}")
    _write(root, "var/run/services/" + service, "active\n")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as handle:
            return handle.read()
    except FileNotFoundError:
        return b""


def _write(root: str, path: str, text: str, mode: str = "w") -> None:
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, mode, encoding="utf-8") as handle:
        handle.write(text)
    if path.startswith("bin/"):
        os.chmod(full, 0o755)


def confread() -> Any:
    """Return the stand-in's own reader of UCI files, which knows nothing of Oasis."""
    spec = importlib.util.spec_from_file_location("router_confread", ROUTER + "/confread.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
