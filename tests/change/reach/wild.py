"""Firewall packages by chance: all that fw4 reads, right and wrong, to compare the evaluator with fw4 and nftables."""

import random

_ADDRESSES = (
    "192.168.1.142", "192.168.1.10", "192.168.1.0/24", "192.168.1.128/25", "192.168.1.0/255.255.255.0", "10.99.0.0/16",
    "!192.168.1.142", "192.168.1.100-192.168.1.150", "192.168.9.9", "10.8.0.0/24", "0.0.0.0/0", "lan", "wan",
    "wan6", "!lan",
    "fdd9:4418:ff9d::/60", "fdd9:4418:ff9d::8e", "!fdd9:4418:ff9d::8e", "::8e/-64", "::8e/::ffff:ffff:ffff:ffff",
    "fd00::/8",
    "192.168.1.142/0.0.0.255", "!192.168.0.10/255.255.0.255", "nowhere", "192.168.1.300",
)  # fmt: skip
_HOSTS = (
    "192.168.1.1",
    "10.99.0.75",
    "fdd9:4418:ff9d::1",
    "10.8.0.1",
    "192.168.1.0/24",
    "!192.168.1.1",
    "lan",
    "wan",
    "203.0.113.1",
)
_PORTS = ("22", "80", "443", "1-1023", "80:443", "!22", "8080", "0-65535", "99999", "ssh", "443-80")
_PROTOCOLS = ("tcp", "udp", "tcpudp", "all", "any", "icmp", "6", "17", "TCP", "!tcp", "*", "58", "igmp")
_NETWORKS = ("lan", "wan", "wan6", "loopback", "nothing", "!lan")
_DEVICES = ("br-lan", "tun0", "tun+", "wan", "!wan", "+", "br-+", "!tun+", "eth9", "a+b")
_POLICIES = ("ACCEPT", "REJECT", "DROP", "accept", "r", "ACCEPTED")


class Wild:
    """A source of packages; the same seed gives the same ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def firewall(self):
        """Return the text of a package."""
        zones = self.random.sample(["lan", "wan", "vpn", "guest"], self.random.randint(1, 4))
        sections = [self._defaults()] + [self._zone(name) for name in zones]
        sections += [self._rule(zones) for _ in range(self.random.randint(0, 7))]
        sections += [self._redirect(zones) for _ in range(self.random.choice((0, 0, 0, 1, 2)))]
        sections += [("ipset", [("name", "known"), ("match", ["src_ip"]), ("entry", ["192.168.1.142"])])]
        if self.random.random() < 0.3:
            self.random.shuffle(sections)
        return "".join(self._text(kind, options) for kind, options in sections)

    def _text(self, kind, options):
        lines = ["config %s" % kind]
        for name, value in options:
            if isinstance(value, list):
                lines += ["\tlist %s '%s'" % (name, one) for one in value]
            else:
                lines.append("\toption %s '%s'" % (name, value))
        return "\n".join(lines) + "\n\n"

    def _some(self, chance, name, choices):
        return [(name, self.random.choice(choices))] if self.random.random() < chance else []

    def _many(self, chance, name, choices):
        if self.random.random() >= chance:
            return []
        found = [self.random.choice(choices) for _ in range(self.random.choice((1, 1, 1, 2, 3)))]
        return [(name, found if self.random.random() < 0.7 else " ".join(found))]

    def _defaults(self):
        return "defaults", [
            *self._some(0.9, "input", _POLICIES[:5]), *self._some(0.9, "forward", ("REJECT", "DROP")),
            ("output", self.random.choice(("ACCEPT", "ACCEPT", "DROP"))), *self._some(0.3, "drop_invalid", ("1", "0")),
            *self._some(0.3, "synflood_protect", ("1", "0")),
        ]  # fmt: skip

    def _zone(self, name):
        usual = {"lan": "lan", "wan": "wan"}.get(name)
        places = (
            [("network", [usual])] if usual and self.random.random() < 0.8 else self._many(0.5, "network", _NETWORKS)
        )
        return "zone", [
            ("name", name), *places, *self._many(0.3 if usual else 0.6, "device", _DEVICES),
            *self._some(0.9, "input", _POLICIES), *self._many(0.15, "subnet", _ADDRESSES),
            *self._some(0.2, "family", ("ipv4", "ipv6", "any", "4")), *self._some(0.3, "masq", ("1", "0", "maybe")),
            *self._some(0.1, "enabled", ("0", "1")), *self._some(0.1, "log", ("1", "3")),
        ]  # fmt: skip

    def _rule(self, zones):
        return "rule", [
            *self._some(0.9, "name", ("first", "second")),
            *self._some(0.9, "src", [*zones, *zones, *zones, "*", "gone"]),
            *self._some(0.1, "dest", [*zones, "*"]), *self._many(0.8, "proto", _PROTOCOLS),
            *self._many(0.5, "dest_port", _PORTS[:8] * 4 + _PORTS), *self._many(0.3, "src_ip", _ADDRESSES),
            *self._many(0.2, "dest_ip", _HOSTS), *self._some(0.2, "family", ("ipv4", "ipv6", "any")),
            *self._many(0.1, "src_mac", ("02:0a:00:00:00:%02x" % (sum(b"br-lan") % 256), "!02:0A:00:00:00:01", "no")),
            *self._some(0.07, "device", ("br-lan", "tun0", "tun*", "!wan", "*")),
            *self._some(0.05, "direction", ("in", "out")),
            *self._many(0.05, "src_port", ("1024-65535", "1-1023", "5000")),
            *self._some(0.05, "limit", ("5/minute", "10/sec")),
            *self._some(0.05, "mark", ("0x1", "0x0/0xff")), *self._some(0.04, "ipset", ("known", "unknown")),
            *self._some(0.05, "enabled", ("0", "1", "x")), *self._some(0.04, "weekdays", ("Mon Tue", "!Sun")),
            *self._some(0.03, "extra", ("-m x",)), *self._some(0.05, "dscp", ("EF", "0")),
            *self._some(0.05, "log", ("1",)),
            *self._some(0.95, "target", ("ACCEPT", "REJECT", "DROP", "ACCEPT", "DROP", "acc", "MARK", "NOTRACK")),
            *self._some(0.05, "set_mark", ("0x5",)),
        ]  # fmt: skip

    def _redirect(self, zones):
        return "redirect", [
            *self._some(0.9, "src", [*zones, "*"]), *self._some(0.6, "dest", zones),
            *self._many(0.8, "proto", _PROTOCOLS[:6]),
            *self._some(0.8, "src_dport", ("22", "80", "443", "8080", "1-1023")),
            *self._some(0.8, "dest_ip", ("192.168.1.50", "192.168.1.1", "fdd9:4418:ff9d::99", "10.99.0.75")),
            *self._some(0.5, "dest_port", ("80", "22", "2222")),
            *self._some(0.2, "src_dip", ("10.99.0.75", "192.168.1.1")),
            *self._some(0.2, "src_ip", _ADDRESSES), *self._some(0.2, "family", ("ipv4", "ipv6", "any")),
            *self._some(0.3, "reflection", ("0", "1")), *self._some(0.5, "target", ("DNAT", "SNAT", "ACCEPT")),
        ]  # fmt: skip
