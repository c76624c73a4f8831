"""Changes and what becomes of the owner's way, worked out by hand; test_corpus.py checks the evaluator against them.

`case(name, verdict, why, change, ways, base, knows, new_address)`: `change` holds uci commands without the word
uci, applied to a router of BASES (the stock router of tests/router, set up by commands); `ways` names
PATHS, `knows` the facts that test_corpus.py gives.
A verdict follows from what OpenWrt 24.10 does, never from what the evaluator says.

A move counts as "yes" only when the owner gets to the new place without setting up anything by hand: `new_address`
says where.
"""

ANNA, TV, DESK, OUTSIDE, ROAD = "192.168.1.142", "192.168.1.153", "192.168.1.20", "203.0.113.50", "10.8.0.2"
GUEST, OFFICE = "192.168.3.20", "172.16.5.9"


def _path(source, address, port, **more):
    family = 6 if ":" in address else 4
    return {
        "family": family,
        "source": source,
        "source_port": 51234,
        "address": address,
        "port": port,
        "protocol": "tcp",
        **more,
    }


PATHS = {
    "web": _path(ANNA, "192.168.1.1", 80),
    "ssh": _path(ANNA, "192.168.1.1", 22),
    "tls": _path(ANNA, "192.168.1.1", 443),
    "tv": _path(TV, "192.168.1.1", 80),
    "desk": _path(DESK, "192.168.1.1", 80),
    "web6": _path("fd8c:fe35:ec99::8e", "fd8c:fe35:ec99::1", 80),
    "ssh6": _path("fd8c:fe35:ec99::8e", "fd8c:fe35:ec99::1", 22),
    "local6": _path("fe80::8e", "fe80::1", 22, device="br-lan"),
    "by wan address": _path(ANNA, "10.99.0.81", 80),
    "outside": _path(OUTSIDE, "10.99.0.81", 22, device="wan"),
    "road": _path(ROAD, "10.8.0.1", 22, device="vpn"),
    "guest": _path(GUEST, "192.168.3.1", 80),
    "office": _path(OFFICE, "192.168.1.1", 22, device="br-lan"),
    "own server": _path(ANNA, "192.168.1.1", 8443),
}

_RULE_OUTSIDE = """
add firewall rule
set firewall.@rule[-1].name=Allow-SSH
set firewall.@rule[-1].src=wan
set firewall.@rule[-1].proto=tcp
set firewall.@rule[-1].dest_port=22
set firewall.@rule[-1].target=ACCEPT
"""
_GUEST_NET = """
set network.guest=interface
set network.guest.proto=static
set network.guest.device=br-guest
set network.guest.ipaddr=192.168.3.1
set network.guest.netmask=255.255.255.0
set network.brguest=device
set network.brguest.name=br-guest
set network.brguest.type=bridge
set network.brguest.ports=lan4
del_list network.@device[0].ports=lan4
set dhcp.guest=dhcp
set dhcp.guest.interface=guest
set dhcp.guest.start=100
set dhcp.guest.limit=150
"""
# The stock file has no IPv6 listener for pages; owners who use one have it.
BASES = {
    "stock": "add_list uhttpd.main.listen_http=[::]:80",
    "plain": "",
    "tls": """
add_list uhttpd.main.listen_https=0.0.0.0:443
add_list uhttpd.main.listen_https=[::]:443
""",
    "outside": _RULE_OUTSIDE,
    "vlan": """
set network.v10=bridge-vlan
set network.v10.device=br-lan
set network.v10.vlan=10
add_list network.v10.ports=lan1:u*
add_list network.v10.ports=lan2:u*
add_list network.v10.ports=lan3:t
set network.v20=bridge-vlan
set network.v20.device=br-lan
set network.v20.vlan=20
add_list network.v20.ports=lan4:u*
add_list network.v20.ports=lan3:t
set network.lan.device=br-lan.10
set network.guest=interface
set network.guest.device=br-lan.20
set network.guest.proto=static
set network.guest.ipaddr=192.168.3.1
set network.guest.netmask=255.255.255.0
set firewall.guest=zone
set firewall.guest.name=guest
add_list firewall.guest.network=guest
set firewall.guest.input=REJECT
""",
    "guest": _GUEST_NET
    + """
set firewall.guest=zone
set firewall.guest.name=guest
add_list firewall.guest.network=guest
set firewall.guest.input=ACCEPT
""",
    "trunk": """
set network.lan.device=eth0.5
""",
    "wifi": """
delete wireless.radio0.disabled
set wireless.default_radio0.encryption=psk2
set wireless.default_radio0.key=correct-horse
""",
    "vpn": """
set network.vpn=interface
set network.vpn.proto=wireguard
set network.vpn.private_key=placeholder
add_list network.vpn.addresses=10.8.0.1/24
set firewall.vpn=zone
set firewall.vpn.name=vpn
add_list firewall.vpn.network=vpn
set firewall.vpn.input=ACCEPT
""",
    "include": """
set firewall.own=include
set firewall.own.type=nftables
set firewall.own.path=/etc/own.nft
set firewall.own.position=chain-prepend
set firewall.own.chain=input_lan
""",
    "script": """
set firewall.own=include
set firewall.own.type=script
set firewall.own.path=/etc/own.sh
""",
    "bound": """
delete uhttpd.main.listen_http
add_list uhttpd.main.listen_http=192.168.1.1:80
set dropbear.main.Interface=lan
""",
    "switch": """
set network.sw=switch
set network.sw.name=switch0
set network.sw.enable_vlan=1
set network.sw1=switch_vlan
set network.sw1.device=switch0
set network.sw1.vlan=1
set network.sw1.ports='0 1 2 3 6t'
set network.lan.device=eth0.1
""",
    "routed": """
set network.office=route
set network.office.interface=lan
set network.office.target=172.16.5.0/24
set network.office.gateway=192.168.1.2
""",
    "named": """
set firewall.@zone[0].input=REJECT
add firewall rule
set firewall.@rule[-1].name=Admin
set firewall.@rule[-1].src=lan
set firewall.@rule[-1].src_ip=192.168.1.142
set firewall.@rule[-1].proto=tcp
set firewall.@rule[-1].dest_port='22 80'
set firewall.@rule[-1].target=ACCEPT
""",
}

CASES = []


def case(name, verdict, why, change, ways="web ssh", base="stock", knows="usual", new_address=""):
    """Add a case; `ways` are separated by blanks, a way with a blank in its name stands in a tuple."""
    CASES.append({
        "name": name, "verdict": verdict, "why": why, "change": change,
        "ways": ways.split() if isinstance(ways, str) else list(ways), "base": base, "knows": knows,
        "new_address": new_address,
    })  # fmt: skip


def rule(*options, kind="rule", first=False):
    """Return the commands that add a firewall section."""
    lines = ["add firewall " + kind] + ["set firewall.@%s[-1].%s" % (kind, option) for option in options]
    return "\n".join(lines + ["reorder firewall.@%s[-1]=0" % kind] * first)
