"""The firewall part of the corpus: zones, policies, rules by order, addresses, redirects, includes."""

from tests.change.reach.corpus import _RULE_OUTSIDE, case, rule

SHUT = "set firewall.@zone[0].input=REJECT\n"
LAN_TCP = ("src=lan", "proto=tcp")


def firewall_cases():
    """Add the cases."""
    zones()
    rules_that_open()
    rules_that_close()
    rules_skipped()
    depending()
    redirects()
    includes()
    sixth()
    outside()


def zones():
    case("zone lan rejects", "no", "the zone's input policy is all that let the owner in", SHUT)
    case("zone lan drops", "no", "DROP is as shut as REJECT", "set firewall.@zone[0].input=DROP")
    case(
        "zone lan without input, defaults reject",
        "no",
        "a zone without a policy takes the default one",
        "delete firewall.@zone[0].input",
    )
    case(
        "zone lan without input, defaults accept",
        "yes",
        "the default policy is ACCEPT now",
        "delete firewall.@zone[0].input\nset firewall.@defaults[0].input=ACCEPT",
    )
    case("defaults input drop", "yes", "the zone decides before the default", "set firewall.@defaults[0].input=DROP")
    case(
        "zone lan loses its network",
        "no",
        "no zone has br-lan any more; the default rejects",
        "del_list firewall.@zone[0].network=lan",
    )
    case(
        "zone lan loses its network, default accepts",
        "yes",
        "what no zone covers meets the default",
        "del_list firewall.@zone[0].network=lan\nset firewall.@defaults[0].input=ACCEPT",
    )
    case(
        "zone lan names the device instead",
        "yes",
        "device br-lan is the same traffic",
        "del_list firewall.@zone[0].network=lan\nadd_list firewall.@zone[0].device=br-lan",
    )
    case(
        "zone lan by device pattern",
        "yes",
        "br-+ matches br-lan",
        "del_list firewall.@zone[0].network=lan\nadd_list firewall.@zone[0].device=br-+",
    )
    case(
        "zone lan names another device",
        "no",
        "eth9 is not where the owner is",
        "del_list firewall.@zone[0].network=lan\nadd_list firewall.@zone[0].device=eth9",
    )
    case("zone lan is deleted", "no", "the whole zone is gone", "delete firewall.@zone[0]")
    case("zone lan is disabled", "no", "fw4 does not read a disabled zone", "set firewall.@zone[0].enabled=0")
    case(
        "zone lan has an unknown policy",
        "no",
        "fw4 skips a zone with an invalid option: the default rejects",
        "set firewall.@zone[0].input=ALLOW",
    )
    case(
        "zone lan has a policy cut short", "yes", "fw4 takes the beginning of a word", "set firewall.@zone[0].input=acc"
    )
    case("zone lan renamed", "yes", "only forwardings and rules ask for the name", "set firewall.@zone[0].name=home")
    case("zone lan for IPv6 only", "no", "an IPv4 owner is in no zone then", "set firewall.@zone[0].family=ipv6")
    case("zone lan for IPv4 only", "yes", "the owner comes by IPv4", "set firewall.@zone[0].family=ipv4")
    case(
        "zone lan limited to the owner's half",
        "yes",
        "192.168.1.142 is in the upper half",
        "add_list firewall.@zone[0].subnet=192.168.1.128/25",
    )
    case(
        "zone lan limited to the other half",
        "no",
        "192.168.1.142 is in no zone then",
        "add_list firewall.@zone[0].subnet=192.168.1.0/25",
    )
    case(
        "zone lan without the owner",
        "no",
        "an inverted subnet leaves him out",
        "add_list firewall.@zone[0].subnet=!192.168.1.142",
    )
    case(
        "zone of br-lan before lan",
        "no",
        "the first zone that matches decides, and it rejects",
        rule("name=early", "network=lan", "input=REJECT", kind="zone", first=True),
    )
    case(
        "zone of br-lan after lan",
        "yes",
        "zone lan accepted already",
        rule("name=late", "network=lan", "input=REJECT", kind="zone"),
    )
    case("lan also in zone wan, behind lan", "yes", "zone lan stands first", "add_list firewall.@zone[1].network=lan")
    case(
        "zones swapped with lan in both",
        "no",
        "now zone wan, which rejects, stands first",
        "add_list firewall.@zone[1].network=lan\nreorder firewall.@zone[1]=0",
    )
    case("zones swapped", "yes", "no network is in two zones, so their order is nothing", "reorder firewall.@zone[1]=0")
    case(
        "lan moves into zone wan",
        "no",
        "what is not asked for is rejected there",
        "del_list firewall.@zone[0].network=lan\nadd_list firewall.@zone[1].network=lan",
    )
    case("masquerading on lan", "yes", "it is for what goes out", "set firewall.@zone[0].masq=1")
    case("forwarding removed", "yes", "the router itself is not behind a forwarding", "delete firewall.@forwarding[0]")
    case(
        "zone lan forwards and sends nothing",
        "yes",
        "answers belong to a connection and go out anyway",
        "set firewall.@zone[0].output=DROP\nset firewall.@zone[0].forward=DROP",
    )
    case(
        "firewall emptied",
        "no",
        "without a section fw4 drops what comes in",
        "\n".join(["delete firewall.@defaults[0]", "delete firewall.@zone[1]", "delete firewall.@zone[0]"]),
    )
    case(
        "bad subnet in the zone",
        "cannot_tell",
        "nft refuses the rules; which ones stay loaded is not in the files",
        "add_list firewall.@zone[0].subnet=192.168.1.0/33",
    )


def rules_that_open():
    case(
        "lan shut, its pages and SSH allowed",
        "yes",
        "rules stand before the zone's policy",
        SHUT + rule("name=Admin", *LAN_TCP, "dest_port='22 80 443'", "target=ACCEPT"),
    )
    case(
        "lan shut, pages allowed only",
        "no",
        "SSH is not among the ports",
        SHUT + rule("name=Admin", *LAN_TCP, "dest_port=80", "target=ACCEPT"),
    )
    case(
        "lan shut, pages allowed, pages used",
        "yes",
        "the owner uses nothing else",
        SHUT + rule("name=Admin", *LAN_TCP, "dest_port=80", "target=ACCEPT"),
        "web",
    )
    case(
        "lan shut, a range allowed",
        "yes",
        "22 and 80 are in 20-90",
        SHUT + rule(*LAN_TCP, "dest_port=20-90", "target=ACCEPT"),
    )
    case(
        "lan shut, all but SSH allowed",
        "no",
        "!22 leaves SSH out",
        SHUT + rule(*LAN_TCP, "dest_port=!22", "target=ACCEPT"),
    )
    case(
        "lan shut, udp allowed",
        "no",
        "pages and SSH are TCP",
        SHUT + rule("src=lan", "proto=udp", "dest_port='22 80'", "target=ACCEPT"),
    )
    case(
        "lan shut, rule without protocol",
        "yes",
        "a rule without one is for TCP and UDP",
        SHUT + rule("src=lan", "dest_port='22 80'", "target=ACCEPT"),
    )
    case(
        "lan shut, rule of all protocols with a port",
        "yes",
        "fw4 drops ports of a rule for all protocols: all is open",
        SHUT + rule("src=lan", "proto=all", "dest_port=53", "target=ACCEPT"),
    )
    case(
        "lan shut, from any zone allowed",
        "yes",
        "src * is in the chain before the zones",
        SHUT + rule("src=*", "proto=tcp", "dest_port='22 80'", "target=ACCEPT"),
    )
    case(
        "lan shut, rule without src",
        "no",
        "without src a rule is about what the router sends",
        SHUT + rule("proto=tcp", "dest_port='22 80'", "target=ACCEPT"),
    )
    case(
        "lan shut, rule with dest lan",
        "no",
        "with dest it is about forwarded traffic",
        SHUT + rule("src=lan", "dest=lan", "proto=tcp", "dest_port='22 80'", "target=ACCEPT"),
    )
    case(
        "lan shut, the owner's address allowed",
        "yes",
        "192.168.1.142 is the owner",
        SHUT + rule(*LAN_TCP, "src_ip=192.168.1.142", "target=ACCEPT"),
    )
    case(
        "lan shut, another address allowed",
        "no",
        "the owner is not .10",
        SHUT + rule(*LAN_TCP, "src_ip=192.168.1.10", "target=ACCEPT"),
    )
    case(
        "lan shut, the network lan allowed by name",
        "yes",
        "src_ip lan stands for its networks",
        SHUT + rule(*LAN_TCP, "src_ip=lan", "target=ACCEPT"),
    )
    case(
        "lan shut, a name without addresses",
        "yes",
        "fw4 then asks for no address at all",
        SHUT
        + "set network.empty=interface\nset network.empty.proto=none\n"
        + rule(*LAN_TCP, "src_ip=empty", "target=ACCEPT"),
    )
    case(
        "lan shut, a name with addresses from elsewhere",
        "cannot_tell",
        "wan6 has none now and may get some",
        SHUT + rule(*LAN_TCP, "src_ip=wan6", "target=ACCEPT"),
    )
    case(
        "lan shut, dest_ip of the router",
        "yes",
        "the owner uses 192.168.1.1",
        SHUT + rule(*LAN_TCP, "dest_ip=192.168.1.1", "target=ACCEPT"),
    )
    case(
        "lan shut, dest_ip elsewhere",
        "no",
        "the owner uses another address of the router",
        SHUT + rule(*LAN_TCP, "dest_ip=10.99.0.81", "target=ACCEPT"),
    )
    case(
        "lan shut, dest_ip all but the router's",
        "no",
        "the inverted address is the one that he uses",
        SHUT + rule(*LAN_TCP, "dest_ip=!192.168.1.1", "target=ACCEPT"),
    )
    case(
        "lan shut, source range",
        "yes",
        "the owner is between .100 and .200",
        SHUT + rule(*LAN_TCP, "src_ip=192.168.1.100-192.168.1.200", "target=ACCEPT"),
    )
    case(
        "lan shut, the owner's MAC allowed",
        "yes",
        "the ARP table tells the MAC",
        SHUT + rule(*LAN_TCP, "src_mac=D4:3B:04:9E:65:2A", "target=ACCEPT"),
    )
    case(
        "lan shut, another MAC allowed",
        "no",
        "it is not the owner's",
        SHUT + rule(*LAN_TCP, "src_mac=00:11:22:33:44:55", "target=ACCEPT"),
    )
    case(
        "lan shut, a MAC allowed, the owner's not known",
        "cannot_tell",
        "no ARP entry tells it",
        SHUT + rule(*LAN_TCP, "src_mac=D4:3B:04:9E:65:2A", "target=ACCEPT"),
        "desk",
    )
    case(
        "lan shut, rule of the old source port",
        "no",
        "a new connection comes from another port above 1023",
        SHUT + rule(*LAN_TCP, "src_port=1-1023", "target=ACCEPT"),
    )
    case(
        "lan shut, rule by device",
        "yes",
        "what comes in by br-lan is the owner's traffic",
        SHUT + rule("src=*", "proto=tcp", "device=br-lan", "target=ACCEPT"),
    )
    case(
        "accept before a drop",
        "yes",
        "the first rule that matches decides",
        rule(*LAN_TCP, "dest_port='22 80'", "target=ACCEPT") + "\n" + rule(*LAN_TCP, "target=DROP"),
    )


def rules_that_close():
    case(
        "drop before an accept",
        "no",
        "the first rule that matches decides",
        rule(*LAN_TCP, "target=DROP") + "\n" + rule(*LAN_TCP, "dest_port='22 80'", "target=ACCEPT"),
    )
    case(
        "accept moved before the drop",
        "yes",
        "reordering makes the accept first",
        rule(*LAN_TCP, "target=DROP") + "\n" + rule(*LAN_TCP, "dest_port='22 80'", "target=ACCEPT", first=True),
    )
    case("SSH from lan rejected", "no", "the owner is on SSH", rule(*LAN_TCP, "dest_port=22", "target=REJECT"))
    case(
        "SSH from lan rejected, pages used",
        "yes",
        "the owner uses the pages only",
        rule(*LAN_TCP, "dest_port=22", "target=REJECT"),
        "web",
    )
    case(
        "SSH from everywhere dropped",
        "no",
        "src * comes before the zones",
        rule("src=*", "proto=tcp", "dest_port=22", "target=DROP"),
        "ssh",
    )
    case(
        "all protocols and a port dropped",
        "no",
        "for all protocols the port is forgotten: everything is dropped",
        rule("src=lan", "proto=all", "dest_port=9999", "target=DROP"),
    )
    case(
        "own rule for the owner dropped",
        "no",
        "src_ip is the owner's network",
        rule(*LAN_TCP, "src_ip=192.168.1.0/24", "target=DROP"),
    )
    case(
        "all others dropped",
        "yes",
        "everybody but the owner is meant",
        rule(*LAN_TCP, "src_ip=!192.168.1.142", "target=DROP"),
    )
    case(
        "all but one device dropped by MAC",
        "no",
        "the owner's MAC is not the one left out",
        rule(*LAN_TCP, "src_mac=!00:11:22:33:44:55", "target=DROP"),
    )
    case(
        "two networks, one of them the owner's",
        "no",
        "a list matches when one matches",
        rule(*LAN_TCP, "src_ip='10.0.0.0/8 192.168.0.0/16'", "target=REJECT"),
    )
    case(
        "mask with holes hits the owner",
        "no",
        "every address that ends in .142 is meant",
        rule(*LAN_TCP, "src_ip=0.0.0.142/0.0.0.255", "target=DROP"),
    )
    case(
        "mask with holes misses the owner",
        "yes",
        "it is for addresses that end in .10",
        rule(*LAN_TCP, "src_ip=0.0.0.10/0.0.0.255", "target=DROP"),
    )
    case(
        "a device is blocked from the internet",
        "yes",
        "with dest wan the rule is about forwarded traffic",
        rule("src=lan", "dest=wan", "proto=all", "src_mac=D4:3B:04:9E:65:2A", "target=REJECT"),
    )
    case("ping from lan dropped", "yes", "ping is no TCP", rule("src=lan", "proto=icmp", "target=DROP"))
    case(
        "an accepted owner loses the rule", "no", "zone lan rejects the rest", "delete firewall.@rule[-1]", base="named"
    )
    case(
        "the owner's rule is switched off",
        "no",
        "zone lan rejects the rest",
        "set firewall.@rule[-1].enabled=0",
        base="named",
    )
    case(
        "the owner's rule gets another address",
        "no",
        "it was his only way in",
        "set firewall.@rule[-1].src_ip=192.168.1.143",
        base="named",
    )
    case(
        "the owner's rule loses a port",
        "no",
        "SSH is not allowed any more",
        "set firewall.@rule[-1].dest_port=80",
        base="named",
    )
    case(
        "the owner's rule becomes wider",
        "yes",
        "his address is in the network",
        "set firewall.@rule[-1].src_ip=192.168.1.0/24",
        base="named",
    )


def rules_skipped():
    case("rule of an unknown zone", "yes", "fw4 skips it", rule("src=attic", "proto=tcp", "target=DROP"))
    case(
        "lan shut, opened for an unknown zone",
        "no",
        "fw4 skips the only rule that would let him in",
        SHUT + rule("src=lann", "proto=tcp", "target=ACCEPT"),
    )
    case("rule with a bad port", "yes", "fw4 skips it", rule(*LAN_TCP, "dest_port=ssh", "target=DROP"))
    case(
        "lan shut, opened with a bad port",
        "no",
        "fw4 skips it",
        SHUT + rule(*LAN_TCP, "dest_port=70000", "target=ACCEPT"),
    )
    case("rule that is switched off", "yes", "it does nothing", rule(*LAN_TCP, "enabled=0", "target=DROP"))
    case("rule without target", "yes", "it only counts", rule(*LAN_TCP))
    case(
        "rule of both families at odds",
        "yes",
        "an IPv6 rule with an IPv4 address is skipped",
        rule(*LAN_TCP, "family=ipv6", "src_ip=192.168.1.142", "target=DROP"),
    )
    case(
        "rule with a mark as target",
        "yes",
        "it decides nothing about coming in",
        rule(*LAN_TCP, "target=MARK", "set_mark=0x1"),
    )
    case("rule of an unknown set", "yes", "fw4 skips it", rule(*LAN_TCP, "ipset=nobody", "target=DROP"))
    case(
        "rule for what goes out of a device",
        "yes",
        "nothing that comes in has an outgoing device",
        rule("src=lan", "proto=tcp", "device=br-lan", "direction=out", "target=DROP"),
    )


def depending():
    case(
        "drop by the hour",
        "cannot_tell",
        "at nine in the evening it shuts him out",
        rule(*LAN_TCP, "start_time=21:00", "stop_time=06:00", "target=DROP"),
    )
    case(
        "drop on other ports by the hour",
        "yes",
        "his ports are not among them",
        rule(*LAN_TCP, "dest_port=25", "start_time=21:00", "target=DROP"),
    )
    case(
        "drop above a rate", "cannot_tell", "it depends on the traffic", rule(*LAN_TCP, "limit=3/minute", "target=DROP")
    )
    case(
        "accept below a rate on top of ACCEPT",
        "yes",
        "what the rule lets go, the zone accepts",
        rule(*LAN_TCP, "limit=3/minute", "target=ACCEPT"),
    )
    case(
        "drop by a set",
        "cannot_tell",
        "other programs fill sets",
        "add firewall ipset\nset firewall.@ipset[-1].name=bad\nadd_list firewall.@ipset[-1].match=src_ip\n"
        + rule(*LAN_TCP, "ipset=bad", "target=DROP"),
    )
    case(
        "connections without tracking",
        "cannot_tell",
        "answers are no longer accepted as such",
        rule(*LAN_TCP, "target=NOTRACK"),
    )


def redirects():
    case(
        "port forward of another port",
        "yes",
        "8080 from wan is not his way",
        rule(
            "src=wan",
            "src_dport=8080",
            "dest=lan",
            "dest_ip=192.168.1.10",
            "dest_port=80",
            "target=DNAT",
            kind="redirect",
        ),
    )
    case(
        "pages of the lan sent elsewhere",
        "no",
        "port 80 then ends at another device",
        rule("src=lan", "src_dport=80", "dest_ip=192.168.1.10", "target=DNAT", kind="redirect"),
    )
    case(
        "DNS of the lan caught",
        "yes",
        "port 53 is not his way",
        rule("src=lan", "proto='tcp udp'", "src_dport=53", "dest_ip=192.168.1.1", "target=DNAT", kind="redirect"),
    )
    case(
        "a wan forward with reflection",
        "yes",
        "reflection is for the wan address, he uses the other one",
        rule("src=wan", "src_dport=80", "dest=lan", "dest_ip=192.168.1.10", "target=DNAT", kind="redirect"),
    )
    case(
        "a wan forward with reflection, wan address used",
        "no",
        "port 80 of the wan address now leads to .10 from inside too",
        rule("src=wan", "src_dport=80", "dest=lan", "dest_ip=192.168.1.10", "target=DNAT", kind="redirect"),
        ["by wan address"],
    )
    case(
        "the same without reflection",
        "yes",
        "inside nothing is redirected",
        rule(
            "src=wan",
            "src_dport=80",
            "dest=lan",
            "dest_ip=192.168.1.10",
            "reflection=0",
            "target=DNAT",
            kind="redirect",
        ),
        ["by wan address"],
    )
    case(
        "a redirect to where nobody listens",
        "no",
        "port 80 of the lan then ends at a shut port of the router",
        rule("src=lan", "proto=tcp", "src_dport=80", "dest_port=8099", "target=DNAT", kind="redirect"),
        "web",
    )
    case(
        "SSH forwarded from wan to a server",
        "no",
        "he comes from outside on that port",
        rule("src=wan", "src_dport=22", "dest=lan", "dest_ip=192.168.1.10", "target=DNAT", kind="redirect"),
        "outside",
        base="outside",
    )


def includes():
    case(
        "a new include in the chain of lan",
        "cannot_tell",
        "what the file does is not known",
        "set firewall.own=include\nset firewall.own.type=nftables\nset firewall.own.path=/etc/own.nft\n"
        "set firewall.own.position=chain-prepend\nset firewall.own.chain=input_lan",
    )
    case(
        "a new include in a chain of wan",
        "yes",
        "his traffic never comes there",
        "set firewall.own=include\nset firewall.own.type=nftables\nset firewall.own.path=/etc/own.nft\n"
        "set firewall.own.position=chain-prepend\nset firewall.own.chain=input_wan",
    )
    case(
        "a new include behind the forwarding",
        "yes",
        "chain forward is not on the way to the router",
        "set firewall.own=include\nset firewall.own.type=nftables\nset firewall.own.path=/etc/own.nft\n"
        "set firewall.own.position=chain-append\nset firewall.own.chain=forward",
    )
    case(
        "a new script",
        "cannot_tell",
        "a script may do anything",
        "set firewall.own=include\nset firewall.own.type=script\nset firewall.own.path=/etc/own.sh",
    )
    case(
        "the old user script",
        "yes",
        "fw4 ignores it unless it is marked as compatible",
        "set firewall.own=include\nset firewall.own.path=/etc/firewall.user",
    )
    case(
        "a known include and something else",
        "yes",
        "the include is passed today as it is afterwards",
        rule("src=wan", "proto=icmp", "target=DROP"),
        base="include",
    )
    case(
        "a known include and the zone shut",
        "cannot_tell",
        "whether the include lets him in is not known",
        SHUT,
        base="include",
    )
    case(
        "a known script and something else",
        "yes",
        "nothing changes on his way",
        rule("src=wan", "proto=icmp", "target=DROP"),
        base="script",
    )
    case("an include is removed", "yes", "the zone accepts by itself", "delete firewall.own", base="include")


def sixth():
    case("lan shut, IPv6 owner", "no", "a zone is for both families", SHUT, "web6")
    case(
        "zone lan for IPv4 only, IPv6 owner", "no", "he is in no zone then", "set firewall.@zone[0].family=ipv4", "web6"
    )
    case(
        "drop for IPv4, IPv6 owner",
        "yes",
        "the rule is for the other family",
        rule(*LAN_TCP, "family=ipv4", "target=DROP"),
        "web6 ssh6",
    )
    case(
        "drop for IPv6, IPv6 owner",
        "no",
        "the rule is for his family",
        rule(*LAN_TCP, "family=ipv6", "target=DROP"),
        "web6",
    )
    case(
        "drop of an IPv4 network, IPv6 owner",
        "yes",
        "the address makes it an IPv4 rule",
        rule(*LAN_TCP, "src_ip=192.168.1.0/24", "target=DROP"),
        "web6",
    )
    case(
        "lan shut, local addresses allowed",
        "no",
        "fe80::/10 is not where he comes from",
        SHUT + rule(*LAN_TCP, "src_ip=fe80::/10", "target=ACCEPT"),
        "web6",
    )
    with_icmp = ("src=lan", "proto='tcp icmp'")
    case(
        "lan shut, local addresses allowed, he is local",
        "yes",
        "fe80::8e is in fe80::/10, and neighbours find each other by ICMP",
        SHUT + rule(*with_icmp, "src_ip=fe80::/10", "target=ACCEPT"),
        "local6",
    )
    case(
        "lan shut, a suffix allowed",
        "yes",
        "::8e/-64 asks for the last 64 bits only",
        SHUT + rule(*with_icmp, "src_ip=::8e/-64", "target=ACCEPT"),
        "web6",
    )
    case(
        "lan shut, TCP allowed, IPv6 owner",
        "cannot_tell",
        "his device cannot ask for the router's link address any more, but knows it for a while",
        SHUT + rule(*LAN_TCP, "target=ACCEPT"),
        "web6",
    )
    case(
        "lan shut, TCP and the needed ICMP allowed, IPv6 owner",
        "yes",
        "solicitations and advertisements of neighbours are let in",
        SHUT
        + rule(*LAN_TCP, "target=ACCEPT")
        + "\n"
        + rule("src=lan", "proto=icmp", "icmp_type='neighbour-solicitation neighbour-advertisement'", "target=ACCEPT"),
        "web6",
    )
    case(
        "ping from lan dropped, IPv6 owner",
        "yes",
        "echo requests are not what neighbours find each other by",
        rule("src=lan", "proto=icmp", "icmp_type=echo-request", "family=ipv6", "target=DROP"),
        "web6",
    )
    case(
        "a zone that sends nothing, IPv4 owner",
        "yes",
        "ARP is no matter of the firewall",
        "set firewall.@zone[0].output=REJECT",
        "web",
    )
    case(
        "both families used, one dropped",
        "no",
        "yes needs all his ways",
        rule(*LAN_TCP, "family=ipv6", "target=DROP"),
        "web web6",
    )


def outside():
    case(
        "the outside rule is removed",
        "no",
        "zone wan rejects the rest",
        "delete firewall.@rule[-1]",
        "outside",
        base="outside",
    )
    case(
        "the outside rule is limited to others",
        "no",
        "he does not come from there",
        "set firewall.@rule[-1].src_ip=198.51.100.0/24",
        "outside",
        base="outside",
    )
    case(
        "the outside rule is limited to him",
        "yes",
        "203.0.113.50 is in the network",
        "set firewall.@rule[-1].src_ip=203.0.113.0/24",
        "outside",
        base="outside",
    )
    case("lan shut, owner outside", "yes", "he comes by zone wan", SHUT, "outside", base="outside")
    case(
        "the outside rule becomes slow",
        "cannot_tell",
        "the limit may be used up by others",
        "set firewall.@rule[-1].limit=3/minute",
        "outside",
        base="outside",
    )
    case("outside is opened to somebody inside", "yes", "nothing changes for the lan", _RULE_OUTSIDE)
    case("shut for all, two owners", "no", "one of two ways ends", SHUT, "outside web", base="outside")
