"""A healthy router for the doctor, and how it is made ill: by UCI commands, the bus, files, silence."""

from __future__ import annotations

import copy
from typing import Any

from oasis.doctor.rounds import examine
from oasis.doctor.scene import Scene
from oasis.errors import UsageError
from tests.router.stock import GUEST, NOW_S, Router

# What an owner does in the first hour; the stock router as it comes out of the box is open.
SET_UP = """
uci set wireless.radio0.country='DE'
uci set wireless.radio1.country='DE'
uci set wireless.radio0.disabled='0'
uci set wireless.radio1.disabled='0'
uci set wireless.default_radio0.encryption='sae-mixed'
uci set wireless.default_radio0.key='quiet-river-stone'
uci set wireless.default_radio1.encryption='psk2'
uci set wireless.default_radio1.key='quiet-river-stone'
"""
GUEST_POOL = "uci set dhcp.guest.start='100'\nuci set dhcp.guest.limit='50'\n"
RADIO = {"up": True, "pending": False, "autostart": True, "disabled": False}


class Clinic:
    """One router, and the words of a round over it."""

    def __init__(self, commands: str = "", with_guest: bool = False) -> None:
        before = SET_UP + (GUEST + GUEST_POOL if with_guest else "") + commands
        self.router = Router(before)
        self.bus: dict[str, Any] = self.router.bus
        self.files: dict[str, bytes] = self.router.host_files
        self.files["/etc/passwd"] = b"root:x:0:0:root:/root:/bin/ash\n"
        self.files["/etc/shadow"] = b"root:$5$saltsalt$hash:20000:0:99999:7:::\n"
        self.files["/proc/net/arp"] = _arp("203.0.113.1 0x2 f2:6d:61:1b:b2:1e")
        self.files["/proc/net/snmp"] = _snmp(12, 90000)
        self.files["/tmp/resolv.conf.d/resolv.conf.auto"] = b"# Interface wan\nnameserver 203.0.113.1\n"
        self.files["/sys/class/thermal/thermal_zone0/temp"] = b"61000\n"
        self.files["/proc/sys/net/netfilter/nf_conntrack_count"] = b"312\n"
        self.files["/proc/sys/net/netfilter/nf_conntrack_max"] = b"16384\n"
        for name, data in self.router.files.items():
            self.files["/etc/config/" + name] = data
        self.bus["network.wireless status"] = {"radio0": dict(RADIO), "radio1": dict(RADIO)}
        self.bus["network.device status"] = copy.deepcopy(self.bus["network.device status"])
        self.place("203.0.113.9", 24, "203.0.113.1")
        self.pings = {"203.0.113.1": True}
        self.lookups = {"127.0.0.1": True, "203.0.113.1": True}
        self.is_clock_set = True
        self.history: list[dict[str, Any]] = []
        self.refused: dict[str, UsageError] = {}
        self.now_s = NOW_S

    def place(self, address: str, mask: int, hop: str) -> None:
        """Give the interface to the internet an address and a way out."""
        self.interface("wan")["ipv4-address"] = [{"address": address, "mask": mask}]
        self.interface("wan")["route"][0]["nexthop"] = hop

    def interface(self, name: str) -> dict[str, Any]:
        """Return what the bus says of an interface; it may be changed."""
        entries = self.bus["network.interface dump"]["interface"]
        return next(entry for entry in entries if entry["interface"] == name)

    def device(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.bus["network.device status"][name]
        return found

    def log(self, *lines: str) -> None:
        self.bus["log read"] = {"log": [{"msg": line} for line in lines]}

    def ping(self, address: str, seconds: int) -> bool | None:
        return self.pings.get(address)

    def lookup(self, name: str, server: str, seconds: int) -> bool | None:
        return self.lookups.get(server)

    def names(self, path: str) -> list[str]:
        starts = [name[len(path) + 1 :] for name in self.files if name.startswith(path + "/")]
        return sorted({name.partition("/")[0] for name in starts})

    def round(self) -> dict[str, Any]:
        facts = self.router.facts
        facts.history = lambda: self.history
        facts.refused = lambda: self.refused
        facts.now_s = lambda: self.now_s
        return examine(Scene(facts, self.names, self, lambda: self.is_clock_set), lambda: 0.0)

    def found(self) -> list[str]:
        return [one["id"] for one in self.round()["findings"]]


def _arp(*entries: str) -> bytes:
    lines = ["IP address       HW type     Flags       HW address            Mask     Device"]
    for entry in entries:
        address, flags, mac = entry.split()
        lines.append(f"{address}  0x1  {flags}  {mac}  *  wan")
    return ("\n".join(lines) + "\n").encode()


def _snmp(failed: int, forwarded: int) -> bytes:
    return f"Ip: Forwarding ForwDatagrams FragFails\nIp: 1 {forwarded} {failed}\nIcmp: InMsgs\nIcmp: 4\n".encode()
