"""One firewall for each kind of thing that fw4 reads, on top of the stock one; record.py renders them with fw4 itself.

`KINDS`: {name: uci commands without the word uci}. The first zone is lan, the second wan.
"""

from tests.change.reach.corpus import rule

LAN = ("src=lan", "proto=tcp")
_NO_ZONES = "delete firewall.@zone[1]\ndelete firewall.@zone[0]\n"
SHUT = "set firewall.@zone[0].input=REJECT\n"
_SET = "add firewall ipset\nset firewall.@ipset[-1].name=known\nset firewall.@ipset[-1].match=src_ip\n"


def opened(*options):
    """Return a shut lan with one rule that accepts."""
    return SHUT + rule(*LAN, *options, "target=ACCEPT")


def forward(*options):
    return rule(*options, "target=DNAT", kind="redirect")


KINDS = {
    "stock": "",
    "input DROP": "set firewall.@zone[0].input=DROP",
    "input REJECT": SHUT,
    "wan open": "set firewall.@zone[1].input=ACCEPT",
    "default DROP without zones": _NO_ZONES + "set firewall.@defaults[0].input=DROP",
    "default ACCEPT without zones": _NO_ZONES + "set firewall.@defaults[0].input=ACCEPT",
    "zone of a device": "delete firewall.@zone[0].network\nset firewall.@zone[0].device=br-lan",
    "zone of another device": "delete firewall.@zone[0].network\nset firewall.@zone[0].device=tun0",
    "zone of a pattern": "delete firewall.@zone[0].network\nset firewall.@zone[0].device=br-+",
    "zone of a subnet": "delete firewall.@zone[0].network\nset firewall.@zone[0].subnet=192.168.1.128/25",
    "zone of an inverted subnet": "set firewall.@zone[0].subnet=!192.168.1.142",
    "zone of a subnet of IPv6": "set firewall.@zone[0].subnet=fdd9:4418:ff9d::/60",
    "zone of a tunnel": "add firewall zone\nset firewall.@zone[-1].name=vpn\nset firewall.@zone[-1].device=tun0\n"
    "set firewall.@zone[-1].input=ACCEPT",
    "zone for IPv4": "set firewall.@zone[0].family=ipv4",
    "zone for IPv6": "set firewall.@zone[0].family=ipv6",
    "zone switched off": "set firewall.@zone[0].enabled=0",
    "zone in front": "add firewall zone\nset firewall.@zone[-1].name=guest\nset firewall.@zone[-1].device=br-lan\n"
    "set firewall.@zone[-1].input=DROP\nreorder firewall.@zone[-1]=0",
    "two zones of a network": "add_list firewall.@zone[1].network=lan",
    "lan masquerades": "set firewall.@zone[0].masq=1",
    "lan masquerades some": "set firewall.@zone[0].masq=1\nset firewall.@zone[0].masq_src=!192.168.1.142",
    "lan masquerades IPv6": "set firewall.@zone[0].masq6=1",
    "lan logs": "set firewall.@zone[0].log=1\nset firewall.@zone[0].log_limit=10/minute",
    "lan sends nothing": "set firewall.@zone[0].output=DROP",
    "router sends nothing": "set firewall.@defaults[0].output=REJECT",
    "no forwarding": "delete firewall.@forwarding[0]",
    "invalid dropped": "set firewall.@defaults[0].drop_invalid=1",
    "no flood protection": "set firewall.@defaults[0].syn_flood=0\nset firewall.@defaults[0].synflood_protect=0",
    "a port": opened("dest_port=80"),
    "ports": opened("dest_port='22 443'"),
    "a range": opened("dest_port=20-90"),
    "not a port": opened("dest_port=!80"),
    "a source": opened("src_ip=192.168.1.142"),
    "sources": opened("src_ip='192.168.1.10 fdd9:4418:ff9d::/60'"),
    "not a source": opened("src_ip=!192.168.1.142"),
    "a range of sources": opened("src_ip=192.168.1.100-192.168.1.150"),
    "a mask with holes": opened("src_ip=192.168.1.142/255.255.0.255"),
    "a suffix of IPv6": opened("src_ip=::8e/-64"),
    "a network by name": opened("src_ip=lan"),
    "a target": opened("dest_ip=192.168.1.1"),
    "not a target": opened("dest_ip=!192.168.1.1"),
    "a target of IPv6": opened("dest_ip=fdd9:4418:ff9d::1"),
    "IPv6 only": opened("family=ipv6"),
    "IPv4 only": opened("family=ipv4"),
    "any family": opened("family=any"),
    "a MAC": opened("src_mac=02:0a:00:00:00:53"),
    "not a MAC": opened("src_mac=!02:0a:00:00:00:53"),
    "a device": opened("device=br-lan"),
    "another device": opened("device=wan"),
    "what goes out": opened("device=br-lan", "direction=out"),
    "a set": _SET + "set firewall.@ipset[-1].entry=192.168.1.142\n" + opened("ipset=known"),
    "not in a set": _SET + "set firewall.@ipset[-1].entry=192.168.1.142\n" + opened("ipset=!known"),
    "an unknown set": opened("ipset=nobody"),
    "a limit": opened("limit=3/minute"),
    "a mark": opened("mark=0x1"),
    "hours": opened("start_time=00:00:00", "stop_time=23:59:59"),
    "days": opened("weekdays='Mon Tue'"),
    "a source port": opened("src_port=1024-65535"),
    "switched off": opened("enabled=0"),
    "a bad value": opened("dest_port=ssh"),
    "an unknown zone": rule("src=attic", "proto=tcp", "target=DROP"),
    "every zone": rule("src=*", "proto=tcp", "dest_port=22", "target=DROP"),
    "every protocol": rule("src=lan", "proto=all", "target=DROP"),
    "udp": rule("src=lan", "proto=udp", "target=DROP"),
    "tcp and udp": rule("src=lan", "dest_port=80", "target=DROP"),
    "to another zone": rule("src=lan", "dest=wan", "proto=tcp", "target=DROP"),
    "from the router": rule("dest=lan", "proto=tcp", "target=DROP"),
    "in order": rule(*LAN, "dest_port=80", "target=ACCEPT") + "\n" + rule(*LAN, "dest_port=80", "target=DROP"),
    "out of order": rule(*LAN, "dest_port=80", "target=ACCEPT") + "\n" + rule(*LAN, "target=DROP", first=True),
    "marking": rule(*LAN, "target=MARK", "set_mark=0x5"),
    "no target": rule(*LAN, "dest_port=80"),
    "wan open to one": rule("src=wan", "proto=tcp", "src_ip=10.99.0.1", "dest_port=22", "target=ACCEPT"),
    "a forward": forward("src=wan", "dest=lan", "proto=tcp", "src_dport=8080", "dest_ip=192.168.1.50", "dest_port=80"),
    "a forward of pages": forward("src=wan", "dest=lan", "proto=tcp", "src_dport=80", "dest_ip=192.168.1.50"),
    "a forward without reflection": forward(
        "src=wan", "dest=lan", "proto=tcp", "src_dport=80", "dest_ip=192.168.1.50", "reflection=0"
    ),
    "a forward of the lan": forward("src=lan", "proto=tcp", "src_dport=80", "dest_ip=192.168.1.50"),
    "a forward to the router": forward("src=wan", "dest=lan", "proto=tcp", "src_dport=8080", "dest_ip=192.168.1.1",
                                       "dest_port=80"),
    "a forward of an address": forward("src=lan", "proto=tcp", "src_dip=192.168.1.1", "src_dport=80",
                                       "dest_ip=192.168.1.50"),
    "a forward of IPv6": forward("src=lan", "family=ipv6", "proto=tcp", "src_dport=80", "dest_ip=fdd9:4418:ff9d::99"),
    "a source rewritten": rule("src=lan", "proto=tcp", "target=SNAT", "snat_ip=192.168.1.9", kind="nat"),
    "an include of nothing": "add firewall include\nset firewall.@include[-1].path=/etc/firewall.user",
}  # fmt: skip
