"""The network part of the corpus: addresses, devices, bridges, VLANs, Wi-Fi, IPv6, routes."""

from tests.change.reach.corpus import _GUEST_NET, case

GUEST_ZONE = "set firewall.guest=zone\nset firewall.guest.name=guest\nadd_list firewall.guest.network=guest\n"


def network_cases():
    """Add the cases."""
    addresses()
    interfaces()
    bridges()
    vlans()
    moved()
    sixth()
    wifi()
    beyond()


def addresses():
    case(
        "lan moves to another network",
        "yes",
        "he has a lease and gets one there",
        "set network.lan.ipaddr=192.168.5.1",
        new_address="192.168.5.1",
    )
    case(
        "lan moves, no lease",
        "cannot_tell",
        "a device with an address of its own stays behind",
        "set network.lan.ipaddr=192.168.5.1",
        "desk",
    )
    case(
        "lan moves, DHCP off",
        "no",
        "nobody gives him an address in the new network",
        "set network.lan.ipaddr=192.168.5.1\nset dhcp.lan.ignore=1",
    )
    case(
        "lan moves, DHCP of IPv4 disabled",
        "no",
        "nobody gives him an address in the new network",
        "set network.lan.ipaddr=192.168.5.1\nset dhcp.lan.dhcpv4=disabled",
    )
    case(
        "lan moves within its network",
        "yes",
        "he reaches .254 without another address",
        "set network.lan.ipaddr=192.168.1.254",
        new_address="192.168.1.254",
    )
    case(
        "lan moves within its network, no lease",
        "yes",
        "no lease is needed for that",
        "set network.lan.ipaddr=192.168.1.254",
        "desk",
        new_address="192.168.1.254",
    )
    case("lan takes the owner's address", "no", "two of the same address", "set network.lan.ipaddr=192.168.1.142")
    case(
        "lan takes the network of wan",
        "cannot_tell",
        "two networks then hold the same addresses",
        "set network.lan.ipaddr=10.99.0.1",
    )
    case(
        "lan gets a broken address", "no", "netifd sets up no interface with it", "set network.lan.ipaddr=192.168.1.300"
    )
    case("lan gets a broken broadcast", "no", "netifd sets up no interface with it", "set network.lan.broadcast=bad")
    case(
        "lan gets a broken IPv6 gateway",
        "no",
        "netifd asks for one as soon as there is an IPv6 address",
        "set network.lan.ip6addr=fd00:2::1/64\nset network.lan.ip6gw=bad",
    )
    case(
        "lan also takes the owner's address",
        "no",
        "the router answers itself then",
        "delete network.lan.ipaddr\nadd_list network.lan.ipaddr=192.168.1.1/24\n"
        "add_list network.lan.ipaddr=192.168.1.142/24",
    )
    case(
        "a neighbour that is not the owner's is set",
        "yes",
        "his own is found as before",
        "set network.n=neighbor\nset network.n.interface=lan\nset network.n.ipaddr=192.168.1.9\n"
        "set network.n.mac=02:00:00:00:00:99",
    )
    case(
        "another section with an own prefix",
        "yes",
        "netifd reads the one that is called globals",
        "set network.more=globals\nset network.more.ula_prefix=fd00:9::/48",
        "web6",
    )
    case("lan gets a broken mask", "no", "netifd sets up no interface with it", "set network.lan.netmask=255.255.0.255")
    case(
        "lan gets a second address",
        "yes",
        "the old one stays",
        "delete network.lan.ipaddr\nadd_list network.lan.ipaddr=192.168.1.1/24\n"
        "add_list network.lan.ipaddr=192.168.7.1/24",
    )
    case(
        "lan's address with its mask in one",
        "yes",
        "192.168.1.1/24 says the same",
        "delete network.lan.netmask\nset network.lan.ipaddr=192.168.1.1/24",
    )
    case(
        "lan without a mask",
        "no",
        "with /32 no device is in its network, and DHCP has no room",
        "delete network.lan.netmask\nset dhcp.lan.ignore=1",
    )
    case("lan gets wider", "yes", "192.168.1.142 is in 192.168.0.0/16", "set network.lan.netmask=255.255.0.0")
    case(
        "lan gets narrower around the owner",
        "yes",
        "he is above .128 and so is the router",
        "set network.lan.ipaddr=192.168.1.129\nset network.lan.netmask=255.255.255.128",
        new_address="192.168.1.129",
    )
    case(
        "lan gets narrower without the owner",
        "no",
        "he is outside of .0/28, and the pool does not give addresses",
        "set network.lan.netmask=255.255.255.240\nset dhcp.lan.ignore=1",
    )
    case(
        "lan moves and the pool does not fit",
        "cannot_tell",
        "the pool begins behind the end of /28",
        "set network.lan.ipaddr=192.168.5.1\nset network.lan.netmask=255.255.255.240",
    )
    case(
        "lan moves, the owner's lease is fixed",
        "cannot_tell",
        "his fixed lease lies in the old network",
        "set network.lan.ipaddr=192.168.5.1\nadd dhcp host\nset dhcp.@host[-1].mac=d4:3b:04:9e:65:2a\n"
        "set dhcp.@host[-1].ip=192.168.1.142",
    )
    case(
        "lan moves, but a rule wants the old address",
        "no",
        "dest_ip names an address that is gone",
        "set network.lan.ipaddr=192.168.5.1\nset firewall.@zone[0].input=REJECT\nadd firewall rule\n"
        "set firewall.@rule[-1].src=lan\nset firewall.@rule[-1].proto=tcp\nset firewall.@rule[-1].dest_ip=192.168.1.1\n"
        "set firewall.@rule[-1].target=ACCEPT",
    )
    case(
        "lan moves, and the rule with it",
        "no",
        "his device may not ask for an address of the new network",
        "set network.lan.ipaddr=192.168.5.1\nset firewall.@zone[0].input=REJECT\nadd firewall rule\n"
        "set firewall.@rule[-1].src=lan\nset firewall.@rule[-1].proto=tcp\nset firewall.@rule[-1].dest_ip=192.168.5.1\n"
        "set firewall.@rule[-1].target=ACCEPT",
    )
    case(
        "lan moves, and the rule with it, and DHCP",
        "yes",
        "dest_ip names the new address, and his device may ask for its own",
        "set network.lan.ipaddr=192.168.5.1\nset firewall.@zone[0].input=REJECT\nadd firewall rule\n"
        "set firewall.@rule[-1].src=lan\nset firewall.@rule[-1].proto=tcp\nset firewall.@rule[-1].dest_ip=192.168.5.1\n"
        "set firewall.@rule[-1].target=ACCEPT\nadd firewall rule\nset firewall.@rule[-1].src=lan\n"
        "set firewall.@rule[-1].proto=udp\nset firewall.@rule[-1].dest_port=67\nset firewall.@rule[-1].target=ACCEPT",
        new_address="192.168.5.1",
    )
    case(
        "lan moves, DHCP from addresses of the lan only",
        "no",
        "who asks has no address yet: the request is rejected",
        "set network.lan.ipaddr=192.168.5.1\nset firewall.@zone[0].input=REJECT\nadd firewall rule\n"
        "set firewall.@rule[-1].src=lan\nset firewall.@rule[-1].proto=all\n"
        "set firewall.@rule[-1].src_ip=192.168.0.0/16\n"
        "set firewall.@rule[-1].target=ACCEPT",
    )
    case(
        "lan moves, and only the old network may in",
        "no",
        "his new address is not in 192.168.1.0/24",
        "set network.lan.ipaddr=192.168.5.1\nset firewall.@zone[0].input=REJECT\nadd firewall rule\n"
        "set firewall.@rule[-1].src=lan\nset firewall.@rule[-1].proto=tcp\n"
        "set firewall.@rule[-1].src_ip=192.168.1.0/24\n"
        "set firewall.@rule[-1].target=ACCEPT",
    )
    case(
        "lan moves, pages are bound to the old address",
        "no",
        "uhttpd does not listen on the new one",
        "set network.lan.ipaddr=192.168.5.1",
        "web",
        base="bound",
    )
    case(
        "lan moves, SSH follows its interface",
        "yes",
        "dropbear takes the addresses of lan",
        "set network.lan.ipaddr=192.168.5.1",
        "ssh",
        base="bound",
        new_address="192.168.5.1",
    )
    case("a DNS server on lan", "yes", "that is for the router's own questions", "add_list network.lan.dns=9.9.9.9")
    case(
        "lan asks somebody else for its address",
        "cannot_tell",
        "which address it gets is up to another router",
        "set network.lan.proto=dhcp\ndelete network.lan.ipaddr\ndelete network.lan.netmask",
    )
    case("lan's address removed", "no", "no IPv4 address is left", "delete network.lan.ipaddr")


def interfaces():
    case("lan is deleted", "no", "the interface is gone", "delete network.lan")
    case("lan is disabled", "no", "netifd does not make it", "set network.lan.disabled=1")
    case("lan does not start", "no", "netifd takes it down and does not bring it up", "set network.lan.auto=0")
    case("lan without protocol", "no", "proto none gives no address", "set network.lan.proto=none")
    case(
        "lan is renamed with its firewall",
        "yes",
        "zone and pool name the new interface",
        "rename network.lan=home\ndel_list firewall.@zone[0].network=lan\nadd_list firewall.@zone[0].network=home\n"
        "set dhcp.lan.interface=home",
    )
    case(
        "lan is renamed alone",
        "no",
        "the zone names an interface that does not exist any more",
        "rename network.lan=home",
    )
    case("wan becomes PPPoE", "yes", "he is on the lan", "set network.wan.proto=pppoe\nset network.wan.username=me")
    case("wan is deleted", "yes", "he is on the lan", "delete network.wan\ndelete network.wan6")
    case(
        "wan takes the lan's network",
        "cannot_tell",
        "answers may leave by wan",
        "set network.wan.proto=static\nset network.wan.ipaddr=192.168.1.2\nset network.wan.netmask=255.255.255.0",
    )
    case(
        "wan becomes PPPoE, owner outside",
        "cannot_tell",
        "its address and device are others then",
        "set network.wan.proto=pppoe\nset network.wan.username=me",
        "outside",
        base="outside",
    )
    case(
        "a guest network beside",
        "yes",
        "it has a port of its own and he is on lan2",
        _GUEST_NET + GUEST_ZONE,
        knows="port",
    )
    case(
        "a guest network takes the owner's port",
        "no",
        "lan4 now leads to the guest network, which rejects",
        _GUEST_NET + GUEST_ZONE,
        "tv",
        knows="port",
    )
    case("a table of its own for lan", "cannot_tell", "answers then follow other rules", "set network.lan.ip4table=100")


def bridges():
    case(
        "a port leaves the bridge, his is another",
        "yes",
        "he is behind lan2",
        "del_list network.@device[0].ports=lan3",
        knows="port",
    )
    case(
        "his port leaves the bridge",
        "no",
        "nothing is on lan2 any more",
        "del_list network.@device[0].ports=lan2",
        knows="port",
    )
    case(
        "a port leaves the bridge, his is not known",
        "cannot_tell",
        "it may be his",
        "del_list network.@device[0].ports=lan3",
    )
    case("all ports leave the bridge", "no", "wherever he is, nothing is there", "delete network.@device[0].ports")
    case("a port joins the bridge", "yes", "the others stay", "add_list network.@device[0].ports=eth9")
    case("the bridge is deleted", "no", "br-lan does not exist any more", "delete network.@device[0]")
    case("the bridge is renamed alone", "no", "lan waits for br-lan", "set network.@device[0].name=br-home")
    case(
        "the bridge is renamed with lan",
        "yes",
        "lan names the new one",
        "set network.@device[0].name=br-home\nset network.lan.device=br-home",
    )
    case(
        "the bridge is renamed, the zone names its device",
        "no",
        "the zone is for br-lan, which is gone",
        "set network.@device[0].name=br-home\nset network.lan.device=br-home\n"
        "del_list firewall.@zone[0].network=lan\nadd_list firewall.@zone[0].device=br-lan",
    )
    case("the bridge is switched off", "no", "a device that is off carries nothing", "set network.@device[0].enabled=0")
    case(
        "his port is switched off",
        "no",
        "lan2 is off",
        "add network device\nset network.@device[-1].name=lan2\nset network.@device[-1].enabled=0",
        knows="port",
    )
    case(
        "another port is switched off",
        "yes",
        "his is lan2",
        "add network device\nset network.@device[-1].name=lan3\nset network.@device[-1].enabled=0",
        knows="port",
    )
    case("spanning tree on the bridge", "yes", "it costs half a minute, not the way", "set network.@device[0].stp=1")
    case(
        "the bridge gets another MAC",
        "yes",
        "his device asks again",
        "set network.@device[0].macaddr=02:00:00:00:00:01",
    )
    case("ports need a login", "cannot_tell", "802.1X on the bridge", "set network.@device[0].auth=1")


def vlans():
    all_ports = "\n".join("add_list network.v1.ports=lan%d" % n for n in range(1, 5))
    v1 = "set network.v1=bridge-vlan\nset network.v1.device=br-lan\nset network.v1.vlan=1\n"
    case(
        "VLAN filtering without moving lan",
        "no",
        "a bridge that filters passes nothing to br-lan itself",
        v1 + all_ports,
    )
    case(
        "VLAN filtering and lan moves along",
        "yes",
        "lan is on br-lan.1, of which all ports are untagged members",
        v1 + all_ports + "\nset network.lan.device=br-lan.1",
    )
    case(
        "VLAN filtering with tagged ports",
        "no",
        "his frames carry no tag",
        v1
        + "\n".join("add_list network.v1.ports=lan%d:t" % n for n in range(1, 5))
        + "\nset network.lan.device=br-lan.1",
    )
    case(
        "VLAN filtering that leaves one port out",
        "cannot_tell",
        "he may be behind lan4",
        v1
        + "\n".join("add_list network.v1.ports=lan%d" % n for n in range(1, 4))
        + "\nset network.lan.device=br-lan.1",
    )
    case(
        "the same, he is behind lan2",
        "yes",
        "lan2 is a member",
        v1
        + "\n".join("add_list network.v1.ports=lan%d" % n for n in range(1, 4))
        + "\nset network.lan.device=br-lan.1",
        knows="port",
    )
    case(
        "the same, he is behind lan4",
        "no",
        "lan4 is none",
        v1
        + "\n".join("add_list network.v1.ports=lan%d" % n for n in range(1, 4))
        + "\nset network.lan.device=br-lan.1",
        "tv",
        knows="port",
    )
    case(
        "VLAN 1 does not reach the router",
        "no",
        "local 0 keeps it among the ports",
        v1 + all_ports + "\nset network.v1.local=0\nset network.lan.device=br-lan.1",
    )
    case(
        "lan on a VLAN that does not exist",
        "no",
        "br-lan.30 has no member",
        "set network.lan.device=br-lan.30",
        base="vlan",
    )
    case(
        "lan goes back below the VLANs",
        "no",
        "the filtering bridge itself gets nothing",
        "set network.lan.device=br-lan",
        base="vlan",
    )
    case(
        "his port changes its VLAN",
        "no",
        "lan2 then leads to the guest network, which rejects",
        "del_list network.v10.ports=lan2:u*\nadd_list network.v20.ports=lan2:u*",
        base="vlan",
        knows="port",
    )
    case(
        "another port changes its VLAN",
        "yes",
        "he is behind lan2",
        "del_list network.v10.ports=lan1:u*\nadd_list network.v20.ports=lan1:u*",
        base="vlan",
        knows="port",
    )
    case(
        "his port becomes tagged",
        "no",
        "his frames carry no tag",
        "del_list network.v10.ports=lan2:u*\nadd_list network.v10.ports=lan2:t",
        base="vlan",
        knows="port",
    )
    case(
        "VLAN filtering is taken away",
        "yes",
        "without VLANs br-lan carries all ports",
        "delete network.v10\ndelete network.v20\ndelete network.guest\nset network.lan.device=br-lan",
        base="vlan",
        knows="port",
    )
    case(
        "the guest VLAN is deleted",
        "yes",
        "he is in VLAN 10",
        "delete network.v20\ndelete network.guest",
        base="vlan",
        knows="port",
    )
    case(
        "the number of his VLAN changes everywhere",
        "yes",
        "members and interface agree on 11",
        "set network.v10.vlan=11\nset network.lan.device=br-lan.11",
        base="vlan",
        knows="port",
    )
    case(
        "a second PVID on his port",
        "no",
        "his untagged frames now belong to VLAN 20",
        "add_list network.v20.ports=lan2:u*",
        base="vlan",
        knows="port",
    )
    case(
        "the trunk's VLAN changes",
        "no",
        "his frames carry 5",
        "set network.lan.device=eth0.6",
        ["web"],
        base="trunk",
        knows="trunk",
    )
    case(
        "the trunk's VLAN gets a name",
        "yes",
        "home is VLAN 5 of eth0",
        "add network device\nset network.@device[-1].type=8021q\nset network.@device[-1].ifname=eth0\n"
        "set network.@device[-1].vid=5\n"
        "set network.@device[-1].name=home\nset network.lan.device=home",
        ["web"],
        base="trunk",
        knows="trunk",
    )
    case(
        "the old switch is set up anew",
        "cannot_tell",
        "which socket is his is not known",
        "set network.sw1.ports='0 1 2 6t'",
        ["web"],
        base="switch",
        knows="switch",
    )
    case(
        "the old switch stays",
        "yes",
        "only a DNS server is added",
        "add_list network.lan.dns=9.9.9.9",
        ["web"],
        base="switch",
        knows="switch",
    )


def moved():
    case(
        "lan moves to one port, he is there",
        "yes",
        "lan2 alone carries lan, and he is there",
        "del_list network.@device[0].ports=lan2\nset network.lan.device=lan2",
        knows="port",
    )
    case(
        "lan moves to one port, he is elsewhere",
        "no",
        "lan3 is not his",
        "del_list network.@device[0].ports=lan3\nset network.lan.device=lan3",
        knows="port",
    )
    case(
        "lan moves to one port, the zone does not",
        "no",
        "the zone is for device br-lan",
        "del_list network.@device[0].ports=lan2\nset network.lan.device=lan2\ndel_list firewall.@zone[0].network=lan\n"
        "add_list firewall.@zone[0].device=br-lan",
        knows="port",
    )
    case(
        "lan moves to a VLAN of its bridge",
        "no",
        "untagged frames are not in br-lan.5",
        "set network.lan.device=br-lan.5",
    )
    case(
        "lan moves to a device that nobody has",
        "no",
        "his port is in a bridge without an interface",
        "set network.lan.device=usb0",
    )
    case(
        "lan and wan swap devices",
        "no",
        "he then meets the interface wan, which is a client and rejects",
        "set network.lan.device=wan\nset network.wan.device=br-lan\nset network.wan6.device=br-lan",
    )
    case(
        "his port becomes wan",
        "no",
        "lan2 then carries wan, which rejects",
        "del_list network.@device[0].ports=lan2\nset network.wan.device=lan2\nset network.wan.proto=none",
        knows="port",
    )


def sixth():
    case(
        "another own prefix",
        "cannot_tell",
        "the router tells the new one, but ::8e may be an address that somebody set by hand",
        "set network.globals.ula_prefix=fd11:2233:4455::/48",
        "web6",
    )
    case("no own prefix", "no", "his way is an address of it", "delete network.globals.ula_prefix", "web6")
    case("no own prefix, IPv4 owner", "yes", "he does not use it", "delete network.globals.ula_prefix")
    case("no prefix for lan", "no", "lan has no IPv6 address then", "delete network.lan.ip6assign", "web6")
    case(
        "another length for lan",
        "cannot_tell",
        "which part of the prefix lan gets is not in the files",
        "set network.lan.ip6assign=64",
        "web6",
    )
    case("IPv6 off on the bridge", "no", "no IPv6 at all", "set network.@device[0].ipv6=0", "web6")
    case("IPv6 off on the bridge, link-local", "no", "no IPv6 at all", "set network.@device[0].ipv6=0", "local6")
    case("IPv6 off on the bridge, IPv4 owner", "yes", "he does not use it", "set network.@device[0].ipv6=0")
    case(
        "lan moves, link-local owner",
        "yes",
        "his address has nothing to do with it",
        "set network.lan.ipaddr=192.168.5.1",
        "local6",
    )
    case("lan moves, IPv6 owner", "yes", "his address stays", "set network.lan.ipaddr=192.168.5.1", "web6 ssh6")
    case(
        "another prefix and no announcements",
        "no",
        "nobody tells him",
        "set network.globals.ula_prefix=fd11:2233:4455::/48\nset dhcp.lan.ra=disabled",
        "web6",
    )
    case(
        "another own prefix, zone lan sends nothing",
        "cannot_tell",
        "announcements of the router do not get out",
        "set network.globals.ula_prefix=fd11:2233:4455::/48\nset firewall.@zone[0].output=DROP",
        "web6",
    )
    case(
        "another MAC, link-local owner",
        "cannot_tell",
        "the address is made of the MAC",
        "set network.@device[0].macaddr=02:00:00:00:00:01",
        "local6",
    )


def wifi():
    case(
        "another name for his Wi-Fi",
        "cannot_tell",
        "his device has to join again",
        "set wireless.default_radio0.ssid=Attic",
        base="wifi",
        knows="air",
    )
    case(
        "another name, he is on a cable",
        "yes",
        "his way is lan2",
        "set wireless.default_radio0.ssid=Attic",
        base="wifi",
        knows="port",
    )
    case("his radio is switched off", "no", "he is on it", "set wireless.radio0.disabled=1", base="wifi", knows="air")
    case(
        "his radio is switched off, he is on a cable",
        "yes",
        "his way is lan2",
        "set wireless.radio0.disabled=1",
        base="wifi",
        knows="port",
    )
    case(
        "the other radio is switched on", "yes", "his stays", "set wireless.radio1.disabled=0", base="wifi", knows="air"
    )
    case(
        "his Wi-Fi leads elsewhere",
        "no",
        "it leads to wan, which rejects",
        "set wireless.default_radio0.network=wan",
        base="wifi",
        knows="air",
    )
    case(
        "a radio that is off gets a name",
        "yes",
        "nobody is on it",
        "set wireless.default_radio1.ssid=Attic",
        base="wifi",
    )
    case(
        "all ports leave, he is on Wi-Fi",
        "yes",
        "the access point joins br-lan by itself",
        "delete network.@device[0].ports",
        base="wifi",
        knows="air",
    )
    case("his Wi-Fi is deleted", "no", "he is on it", "delete wireless.default_radio0", base="wifi", knows="air")


def beyond():
    case("his tunnel goes", "no", "he comes by it", "delete network.vpn", "road", base="vpn", knows="vpn")
    case(
        "the tunnel's zone rejects",
        "no",
        "he comes by it",
        "set firewall.vpn.input=REJECT",
        "road",
        base="vpn",
        knows="vpn",
    )
    case(
        "the tunnel's key changes",
        "cannot_tell",
        "whether he knows the new key is not to be seen",
        "set network.vpn.private_key=other",
        "road",
        base="vpn",
        knows="vpn",
    )
    case(
        "lan moves, he comes by the tunnel",
        "yes",
        "his way is 10.8.0.1",
        "set network.lan.ipaddr=192.168.5.1",
        "road",
        base="vpn",
        knows="vpn",
    )
    case(
        "his route goes",
        "cannot_tell",
        "answers may find another way",
        "delete network.office",
        "office",
        base="routed",
    )
    case(
        "a route to another network",
        "yes",
        "it is not about him",
        "add network route\nset network.@route[-1].interface=lan\nset network.@route[-1].target=172.31.0.0/16\n"
        "set network.@route[-1].gateway=192.168.1.3",
    )
    case(
        "a route that takes his address away",
        "cannot_tell",
        "a longer prefix than his network's",
        "add network route\nset network.@route[-1].interface=wan\nset network.@route[-1].target=192.168.1.142/32\n"
        "set network.@route[-1].gateway=10.99.0.1",
    )
    case(
        "rules of routing",
        "cannot_tell",
        "answers may follow another table",
        "add network rule\nset network.@rule[-1].src=192.168.1.0/24\nset network.@rule[-1].lookup=100",
    )
    case("nobody is connected", "cannot_tell", "there is no way to check", "set firewall.@zone[0].input=REJECT", ())
