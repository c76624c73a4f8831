"""What optional services say of themselves: whether they are installed, enabled and running, and their own status.

Sources, each of the package itself: `mwan3 status`, `luci.wireguard getWgInstances`, `luci.ddns get_services_status`
and `luci.upnp get_status` on the bus; the runtime files of adblock and banIP; the folder of sqm. No key is shown.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.errors import UsageError
from oasis.parts.monitor.look import is_about
from oasis.redaction.foreign import DEVICES
from oasis.tools.router import dicts, tunnels, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.parts.monitor.look import Scene
    from oasis.tools.shapes import Result

ENTRIES = 20
# Where releases keep it: newer ones first.
_ADBLOCK = ("/var/run/adblock/adblock.runtime.json", "/var/run/adb_runtime.json", "/tmp/adb_runtime.json")  # noqa: S108 - theirs
_BANIP = ("/var/run/banIP/banIP.runtime.json", "/var/run/banip/banip_runtime.json", "/tmp/ban_runtime.json")  # noqa: S108 - theirs
_LISTS = ("adblock_status", "status", "blocked_domains", "element_count", "active_feeds", "last_run", "frontend_ver")
_NOTHING = "it says nothing: it does not run, or its status is not on this bus"


def services(scene: Scene, target: str) -> Result:
    """Return {"services": {name: {"enabled"?, "running"?, …}}, "not_installed": [names]}."""
    known = scene.facts.services()
    found: dict[str, object] = {}
    missing = []
    for name, (init, own) in _SERVICES.items():
        if not is_about(target, name, init):
            continue
        said = own(scene)
        row = {**known.get(init, {}), **said}
        if row:
            found[name] = row if said else {**row, "notes": [_NOTHING]}
        else:
            missing.append(name)
    if not found and not missing:
        raise UsageError(f"look knows no service {target!r}", "one of " + ", ".join(_SERVICES))
    return {"services": found, "not_installed": missing}


def _mwan3(scene: Scene) -> dict[str, object]:
    told = scene.facts.ubus("mwan3", "status")
    interfaces = told.get("interfaces")
    rows = {}
    for name, one in list(interfaces.items())[:ENTRIES] if isinstance(interfaces, dict) else ():
        if isinstance(one, dict):
            row = {key: one[key] for key in ("status", "tracking", "up", "score", "online", "offline") if key in one}
            row["tracked"] = [{key: track[key] for key in ("ip", "status", "latency", "packetloss") if key in track}
                              for track in dicts(one.get("track_ip"))[:ENTRIES]]  # fmt: skip
            rows[clean.name(name)] = row
    return {"interfaces": rows} if rows else {}


def _lists(scene: Scene, places: tuple[str, ...], package: str) -> dict[str, object]:
    for path in places:
        told = scene.json(scene.read(path))
        if told:
            return {key: _short(told[key]) for key in _LISTS if told.get(key)}
    return {"notes": ["installed, and no list was loaded yet"]} if scene.facts.has_package(package) else {}


def _short(value: object) -> object:
    if isinstance(value, list):
        return [clean.name(one.get("feed") if isinstance(one, dict) else one) for one in value[:ENTRIES]]
    return clean.name(value, 120)


def _sqm(scene: Scene) -> dict[str, object]:
    queues = []
    for section in scene.facts.sections("sqm", "queue")[:ENTRIES]:
        device = str(section.get("interface") or "")
        row: dict[str, object] = {"interface": device, "enabled": section.get("enabled") == "1"}
        row.update({key + "_kbit_s": section[key] for key in ("download", "upload") if section.get(key)})
        row["shaping_now"] = bool(device and "/" not in device and scene.read(f"/var/run/sqm/{device}.state"))
        queues.append(row)
    return {"queues": queues} if queues else {}


def _wireguard(scene: Scene) -> dict[str, object]:
    told = scene.facts.ubus("luci.wireguard", "getWgInstances")
    live = tunnels(scene.run(["wg", "show", "all", "dump"]))  # as wireguard list has it
    rows = []
    for section in scene.facts.sections("network", "interface"):
        name = str(section[".name"])
        if section.get("proto") != "wireguard":
            continue
        up = next((item for item in scene.facts.interfaces() if item.get("interface") == name), {})
        row: dict[str, object] = {"interface": name, "up": name in live if live else up.get("up") is True}
        one = {"peers": _told_peers(scene, name, live[name])} if name in live else told.get(name)
        peers = dicts(one.get("peers")) if isinstance(one, dict) else []
        row["peers"] = [_peer(scene, peer) for peer in peers[:ENTRIES]]
        if not one:
            row["notes"] = ["nothing tells of handshakes: the interface is down, or wireguard-tools is missing"]
        rows.append(row)
    return {"interfaces": rows[:ENTRIES]} if rows else {}


def _told_peers(scene: Scene, name: str, live: dict[str, list[str]]) -> list[dict[str, object]]:
    """Return the peers of an interface as luci.wireguard has them, from what wg says."""
    rows: list[dict[str, object]] = []
    for one in scene.facts.sections("network", "wireguard_" + name):
        key = str(one.get("public_key") or "")
        counts = zip(("latest_handshake", "transfer_rx", "transfer_tx"), live.get(key, ()), strict=False)
        rows.append({"public_key": key, "allowed_ips": one.get("allowed_ips"), **dict(counts)})
    return rows


def _peer(scene: Scene, peer: dict[str, object]) -> dict[str, object]:
    row: dict[str, object] = {
        "public_key": clean.name(peer.get("public_key")),
        "allowed": words(peer.get("allowed_ips")),
    }
    sections = [one for kind in {str(one.get(".type")) for one in scene.facts.config("network").values()}
                if kind.startswith("wireguard_") for one in scene.facts.sections("network", kind)]  # fmt: skip
    own = next((one for one in sections if one.get("public_key") == peer.get("public_key")), None)
    if own and own.get("description"):
        row["name"] = clean.name(scene.facts.text("network", own, "description"))
    for key, shown in (
        ("latest_handshake", "handshake_s_ago"),
        ("transfer_rx", "received_bytes"),
        ("transfer_tx", "sent_bytes"),
    ):
        text = str(peer.get(key) or "")
        if text.isdecimal():
            row[shown] = (
                int(text) if key != "latest_handshake" else scene.facts.now_s() - int(text) if int(text) else "never"
            )
    return row


def _ddns(scene: Scene) -> dict[str, object]:
    told = scene.facts.ubus("luci.ddns", "get_services_status")
    rows = []
    for section in scene.facts.sections("ddns", "service")[:ENTRIES]:
        name = str(section[".name"])
        row: dict[str, object] = {
            "section": name,
            "name": clean.name(section.get("lookup_host") or section.get("domain")),
        }
        row["enabled"] = section.get("enabled") == "1"
        said = told.get(name)
        if isinstance(said, dict):
            row.update({key: clean.name(said[key]) for key in ("ip", "last_update", "next_update") if said.get(key)})
        elif "/" not in name:
            ip = clean.name(scene.read(f"/var/run/ddns/{name}.ip").decode("utf-8", "replace").strip())
            row.update({"ip": ip} if ip else {})
        rows.append(row)
    return {"names": rows} if rows else {}


def _upnp(scene: Scene) -> dict[str, object]:
    told = scene.facts.ubus("luci.upnp", "get_status")
    rules = []
    for rule in dicts(told.get("rules"))[:ENTRIES]:
        row = {key: rule[key] for key in ("proto", "extport", "intaddr", "intport") if rule.get(key)}
        if scene.facts.shows_names and rule.get("descr"):
            row["text"] = clean.name(rule["descr"])
            scene.facts.shown.add(DEVICES)
        rules.append(row)
    sections = scene.facts.sections("upnpd", "upnpd")
    return {"opened_by_devices": rules} if told or sections else {}


_SERVICES: dict[str, tuple[str, Callable[[Scene], dict[str, object]]]] = {
    "mwan3": ("mwan3", _mwan3),
    "adblock": ("adblock", lambda scene: _lists(scene, _ADBLOCK, "adblock")),
    "banip": ("banip", lambda scene: _lists(scene, _BANIP, "banip")),
    "sqm": ("sqm", _sqm),
    "wireguard": ("wireguard", _wireguard),
    "ddns": ("ddns", _ddns),
    "upnp": ("miniupnpd", _upnp),
}
