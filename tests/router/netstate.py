"""What netifd of the stand-in would say: the recorded replies, changed by the running network and wireless packages."""

import os

import confread

_EMPTY = ("ipv4-address", "ipv6-address", "ipv6-prefix", "ipv6-prefix-assignment", "route")
_NAMES = ("dns-server", "dns-search", "neighbors")
_BOOLEANS = ("disabled", "hidden", "isolate", "wmm", "noscan", "legacy_rates", "ieee80211r", "wds")


def _running(root, package, kind):
    path = os.path.join(root, "var/run/running", package)
    return [s for s in confread.read(path) if s[".type"] == kind]


def devices(root, recorded):
    """Answer `network.device status`: recorded ports, and bridges as they are configured now."""
    configured = {s["name"]: s for s in _running(root, "network", "device") if "name" in s}
    bridge = recorded["br-lan"]
    found = {name: entry for name, entry in recorded.items() if name != "br-lan"}
    for name, section in configured.items():
        if section.get("type") == "bridge":
            found[name] = dict(bridge, **{"bridge-members": confread.as_list(section.get("ports"))})
        elif section.get("type") == "8021q":
            found[name] = dict(recorded["lan1"], devtype="vlan")
    for _, status in wireless(root).items():
        for interface in status["interfaces"]:
            if "ifname" in interface:
                found[interface["ifname"]] = dict(recorded["lan1"], devtype="wlan")
    return dict(sorted(found.items()))


def interfaces(root, recorded, device_names, host_name):
    """Answer `network.interface dump`."""
    known = {entry["interface"]: entry for entry in recorded["interface"]}
    found = []
    for section in _running(root, "network", "interface"):
        if not confread.is_true(section.get("disabled")):
            found.append(_interface(section, known.get(section[".name"]), device_names, host_name))
    return {"interface": sorted(found, key=lambda entry: entry["interface"])}


def _interface(section, known, device_names, host_name):
    name, proto, device = section[".name"], section.get("proto", "none"), section.get("device", "")
    if known and known["proto"] == proto and known["device"] == device:
        entry = dict(known)
    else:
        entry = _blank(name, proto, device, proto in ("static", "none") and device in device_names)
    if confread.is_true(section.get("auto", "1")) is False:
        entry = dict(_blank(name, proto, device, False), autostart=False)
    if device and device not in device_names:
        entry = dict(_blank(name, proto, device, False), available=False)
        entry["errors"] = [{"subsystem": "interface", "code": "NO_DEVICE"}]
    if proto == "static" and entry["up"]:
        entry["ipv4-address"] = _addresses(section)
    if proto == "dhcp" and "hostname" in entry["data"]:
        entry["data"] = dict(entry["data"], hostname=section.get("hostname", host_name))
    return entry


def _blank(name, proto, device, is_up):
    entry = {
        "interface": name,
        "up": is_up,
        "pending": not is_up and proto not in ("static", "none"),
        "available": True,
    }
    entry.update(autostart=True, dynamic=False)
    if is_up:
        entry.update(uptime=30, l3_device=device)
    entry.update({"proto": proto, "device": device, "metric": 0, "dns_metric": 0, "delegation": True})
    entry.update({key: [] for key in _EMPTY + _NAMES})
    entry["inactive"] = {key: [] for key in ("ipv4-address", "ipv6-address", "route", *_NAMES)}
    entry["data"] = {}
    return entry


def _addresses(section):
    found = []
    for word in confread.as_list(section.get("ipaddr")):
        address, _, bits = word.partition("/")
        mask = section.get("netmask", "255.255.255.255")
        size = int(bits) if bits else sum(bin(int(part)).count("1") for part in mask.split("."))
        found.append({"address": address, "mask": size})
    return found


def wireless(root):
    """Answer `network.wireless status` from the running package alone; a disabled interface is not listed."""
    stations = _running(root, "wireless", "wifi-iface")
    found = {}
    for index, radio in enumerate(_running(root, "wireless", "wifi-device")):
        config = _typed(radio, ("type",))
        is_up = not config.get("disabled", False)
        mine = [s for s in stations if s.get("device") == radio[".name"] and not confread.is_true(s.get("disabled"))]
        entry = {"up": is_up, "pending": False, "autostart": True, "disabled": not is_up, "retry_setup_failed": False}
        entry["config"] = config
        entry["interfaces"] = [_station(s, index, number, is_up) for number, s in enumerate(mine)]
        found[radio[".name"]] = entry
    return found


def _station(section, radio, number, is_up):
    config = dict(_typed(section, ("device", "disabled")), network=confread.as_list(section.get("network")))
    entry = {"section": section[".name"], "config": config, "vlans": [], "stations": []}
    if is_up:
        entry["ifname"] = f"phy{radio}-{section.get('mode', 'ap')}{number}"
    return entry


def _typed(section, without):
    kept = {key: value for key, value in section.items() if key[0] != "." and key not in without}
    return {key: confread.is_true(value) if key in _BOOLEANS else value for key, value in kept.items()}
