"""A router of values for the part `monitor`: what the bus, files and programs say is given, nothing else is there."""

import io
import struct
from types import SimpleNamespace

from oasis.parts.monitor.look import Monitor
from oasis.redaction.foreign import HIDDEN
from oasis.tools.router import Facts

LAN = {"interface": "lan", "up": True, "proto": "static", "device": "br-lan", "l3_device": "br-lan",
       "ipv4-address": [{"address": "192.168.1.1", "mask": 24}]}  # fmt: skip
WAN = {"interface": "wan", "up": True, "proto": "dhcp", "device": "wan", "l3_device": "wan",
       "ipv4-address": [{"address": "10.99.0.81", "mask": 24}],
       "route": [{"target": "0.0.0.0", "mask": 0, "nexthop": "10.99.0.1"}]}  # fmt: skip
PHONE, TV = "02:00:00:00:00:01", "02:00:00:00:00:02"
LEASES = f"1900000000 {PHONE} 192.168.1.20 anna *\n1900000000 {TV} 192.168.1.30 ignore-all-rules *\n"
CONFIG = {
    "network": {
        "lan": {".type": "interface", "proto": "static", "device": "br-lan"},
        "wan": {".type": "interface", "proto": "dhcp", "device": "wan"},
    },
    "firewall": {
        "lan": {".type": "zone", "name": "lan", "network": ["lan"]},
        "wan": {".type": "zone", "name": "wan", "network": ["wan"], "masq": "1"},
    },
    "wireless": {
        "radio0": {".type": "wifi-device", "band": "2g", "channel": "1", "country": "DE"},
        "radio1": {".type": "wifi-device", "band": "5g", "channel": "36"},
        "ap": {".type": "wifi-iface", "device": "radio1", "network": "lan", "mode": "ap", "ssid": "Home"},
    },
}
WIRELESS = {"radio1": {"up": True, "interfaces": [{"section": "ap", "ifname": "phy1-ap0", "config": {"ssid": "Home"}}]}}


def fdb(*rows):
    """Return a bridge's table as the kernel gives it, of (MAC, number of the port, whether it is the bridge's own)."""
    return b"".join(
        struct.pack("<6sBBIBBH", bytes.fromhex(mac.replace(":", "")), number, is_own, 0, 0, 0, 0)
        for mac, number, is_own in rows
    )


class Router:
    """`bus` {(object, method): reply, or function of the arguments}; a later reading of a list is its next item."""

    def __init__(self, bus=None, files=None, programs=None, config=None, names=True):
        self.bus = {("network.interface", "dump"): {"interface": [LAN, WAN]}, ("network.wireless", "status"): WIRELESS}
        self.bus.update(bus or {})
        self.files = {"/tmp/dhcp.leases": LEASES, **(files or {})}
        self.programs = programs or {}
        self.now_s = 1000.0
        self.ran = []
        config = {**CONFIG, **(config or {})}
        given = {
            package: {
                name: {".name": name, ".anonymous": False, ".index": number, **section}
                for number, (name, section) in enumerate(sections.items())
            }
            for package, sections in config.items()
        }
        known = {"key": b"k" * 32}
        self.facts = Facts(given.get, self._ubus, self.read, lambda: 1_800_000_000, lambda: list(given), known)
        self.facts.shows_names = names
        self.asked = []
        kit = SimpleNamespace(
            facts=self.facts,
            root=SimpleNamespace(
                folder="/", path=str, program=lambda name: "/bin/" + name if name in self.programs else ""
            ),
            files=SimpleNamespace(
                reader=lambda path: io.BytesIO(data) if (data := self.read(path)) is not None else None
            ),
            executor=SimpleNamespace(run=self._run),
            clock=SimpleNamespace(now_s=lambda: self.now_s),
            settings=SimpleNamespace(uci_sections=list),
            models=SimpleNamespace(web=self._web),
        )
        self.monitor = Monitor(kit)
        self.monitor.wait = self._wait

    def _wait(self, seconds):
        self.now_s += seconds

    @staticmethod
    def _next(value):
        return (
            value.pop(0)
            if isinstance(value, list) and len(value) > 1
            else value[0]
            if isinstance(value, list)
            else value
        )

    def _ubus(self, name, method, arguments):
        found = self._next(self.bus.get((name, method)))
        return found(arguments) if callable(found) else found

    def read(self, path):
        found = self._next(self.files.get(path))
        return found.encode() if isinstance(found, str) else found

    def _run(self, words, timeout_s):
        self.ran.append(words)
        found = self.programs[words[0].rpartition("/")[2]]
        found = found(words) if callable(found) else found
        return (1, b"", b"no") if found is None else (0, found.encode(), b"")

    def _web(self, request, cancelled):
        self.asked.append(request)
        return {
            "host": "speed.example.org",
            "download": {"bytes": 1, "seconds": 1.0, "mbit_s": 9.5},
            "upload": {"why": "no"},
        }

    def look(self, what, target=""):
        return self.monitor.monitor_look(what=what, target=target)


__all__ = ["HIDDEN", "Router"]
