"""What holds for every verdict: several ways, unchanged doubts, rules of services, what is not known."""

import pytest

from oasis.change.reach.verdict import verdict
from tests.change.reach import corpus
from tests.change.reach.test_corpus import apply, facts_of, files_of


def told(change, ways=("web",), base="stock", more=None):
    before = files_of(base)
    return verdict(
        before, apply(before, change), [corpus.PATHS[way] for way in ways], {**facts_of("usual", base), **(more or {})}
    )


def test_without_a_way_nothing_can_be_told():
    assert told("set firewall.@zone[0].name=home", ())["verdict"] == "cannot_tell"


def test_one_way_that_ends_is_a_no_and_its_reason_names_the_option():
    answer = told("set firewall.@zone[0].input=DROP", ("outside", "web"), "outside")
    assert answer["verdict"] == "no"
    assert answer["reasons"] == ["firewall.@zone[0] (lan).input of zone lan is drop"]


def test_one_way_that_is_not_known_makes_all_unknown():
    answer = told("set dropbear.main.PasswordAuth=off", ("web", "ssh"))
    assert answer["verdict"] == "cannot_tell"
    assert len(answer["reasons"]) == 1


def test_a_firewall_that_looks_shut_before_is_not_understood():
    answer = told("set firewall.@zone[1].masq=0", ("outside",))
    assert answer["verdict"] == "cannot_tell"
    assert "already" in answer["reasons"][0]


def test_without_facts_a_firewall_change_is_still_judged_by_the_configured_networks():
    before = files_of("stock")
    after = apply(before, "set firewall.@zone[0].input=DROP")
    assert verdict(before, after, [corpus.PATHS["web"]], {})["verdict"] == "no"
    assert verdict(before, apply(before, "set firewall.@zone[1].masq=0"), [corpus.PATHS["web"]], {})["verdict"] == "yes"


def test_rules_that_services_add_come_first():
    rule = {"type": "rule", "src": "lan", "proto": "tcp", "dest_port": 80, "target": "DROP"}
    shut = "set firewall.@zone[0].input=REJECT"
    assert told(shut, more={"firewall": [{**rule, "target": "ACCEPT"}]})["verdict"] == "yes"
    assert told("set firewall.@zone[0].masq=1", more={"firewall": [rule]})["verdict"] == "cannot_tell"


@pytest.mark.parametrize(
    "change, ways",
    [
        ("set network.a=alias\nset network.a.interface=lan\nset network.a.proto=static\n"
         "set network.a.ipaddr=192.168.1.142/32", ("web",)),
        ("set network.n=neighbor\nset network.n.interface=lan\nset network.n.ipaddr=192.168.1.142\n"
         "set network.n.mac=02:00:00:00:00:99", ("web",)),
        ("set network.e=device\nset network.e.name=br-lan\nset network.e.enabled=0", ("web",)),
        ("reorder network.@device[0]=0\nset network.e=device\nset network.e.name=br-lan\n"
         "set network.e.type=bridge\nset network.e.ports=eth2", ("web",)),
        ("set network.lan.ipv6=0", ("web6",)),
        ("set network.lan.netmask=255.255.255.128", ("web",)),
        ("set network.x=interface\nset network.x.proto=static\nset network.x.device=eth7\n"
         "set network.x.ipaddr=240.0.0.1/24", ("web",)),
        ("set network.wg=interface\nset network.wg.proto=wireguard\nset network.p=wireguard_wg\n"
         "set network.p.allowed_ips=192.168.1.128/25\nset network.p.route_allowed_ips=1", ("web",)),
        ("delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=192.168.7.1:80\n"
         "add_list uhttpd.main.listen_http=0.0.0.0:80", ("web",)),
        ("delete uhttpd.main.listen_http\nadd_list uhttpd.main.listen_http=localhost:80\n"
         "add_list uhttpd.main.listen_http=0.0.0.0:80", ("web",)),
        ("set uhttpd.main.max_requests=0", ("web",)),
        ("set uhttpd.main.max_connections=1", ("web",)),
        ("set uhttpd.main.network_timeout=x", ("web",)),
        ("set dropbear.main.enable=perhaps", ("ssh",)),
        ("set dropbear.main.SSHKeepAlive=often", ("ssh",)),
        ("set dropbear.main.BannerFile=/nowhere", ("ssh",)),
        ("set dropbear.main.IdleTimeout=5", ("ssh",)),
        ("set dropbear.main.MaxAuthTries=0", ("ssh",)),
    ],
)  # fmt: skip
def test_what_shut_a_real_router_or_may_shut_it_is_never_a_yes(change, ways):
    assert told(change, ways)["verdict"] != "yes"


AIR = {"ports": {"192.168.1.142": "phy0-ap0"}, "wifi": {"phy0-ap0": "default_radio0"}}
MOVE = "set network.lan.ipaddr=192.168.5.1\n"
_DEVICE = "set network.x=device\nset network.x.name=%s\n"


@pytest.mark.parametrize(
    "change, ways, base, more",
    [
        ("set network.@device[0].vlan_filtering=1", ("web",), "stock", {}),
        ("set network.@device[0].vlan_filtering=0", ("web",), "vlan", {}),
        ("set network.v10.vlan=010", ("web",), "vlan", {}),
        (_DEVICE % "br-lan.10" + "set network.x.type=8021q\nset network.x.ifname=br-lan\nset network.x.vid=20",
         ("web",), "vlan", {}),
        (_DEVICE % "br-lan.10" + "set network.x.enabled=0", ("web",), "vlan", {}),
        (_DEVICE % "lan1" + "set network.x.type=8021q\nset network.x.ifname=eth0\nset network.x.vid=5", ("web",),
         "stock", {}),
        (_DEVICE % "br-guest" + "set network.x.type=bridge\nset network.x.ports='lan1 lan2 lan3 lan4'", ("web",),
         "stock", {}),
        ("set network.lan.device='br-lan br-x'", ("web",), "stock", {}),
        ("delete network.lan.device\nadd_list network.lan.device=br-lan", ("web",), "stock", {}),
        ("delete network.lan.netmask\nadd_list network.lan.netmask=255.255.255.0", ("web",), "stock", {}),
        ("set network.@device[0].multicast=0", ("web6",), "stock", {}),
        ("set network.@device[0].igmp_snooping=1", ("web6",), "stock", {}),
        ("set network.@device[0].mtu=68", ("web",), "stock", {}),
        ("set network.lan.mtu=200", ("web",), "stock", {}),
        ("set network.@device[0].macaddr=bad", ("web",), "stock", {}),
        ("set network.@device[0].macaddr=ff:ff:ff:ff:ff:ff", ("web",), "stock", {}),
        ("set network.@device[0].macaddr=d4:3b:04:9e:65:2a", ("web",), "stock", {}),
        ("set network.@device[0].stp=1\nset network.@device[0].forward_delay=3000", ("web",), "stock", {}),
        ("set network.lan.zone=wan", ("web",), "stock", {}),
        ("set network.aaa=interface\nset network.aaa.proto=static\nset network.aaa.device=eth7\n"
         "set network.aaa.ip6assign=60", ("web6",), "stock", {}),
        ("set network.wan6.ip6prefix=fd8c:fe35:ec99::/48", ("web6",), "stock", {}),
        ("set wireless.x=wifi-iface\nset wireless.x.device=radio0\nset wireless.x.mode=sta\n"
         "set wireless.x.network=wan\nset wireless.x.ssid=cafe", ("web",), "wifi", AIR),
        ("set wireless.default_radio0.network='lan guest'", ("web",), "wifi", AIR),
        ("set wireless.s=wifi-station\nset wireless.s.key=otherkey99", ("web",), "wifi", AIR),
        ("set dropbear.main.Port=0", ("ssh",), "stock", {}),
        ("set dropbear.main.Interface='guest lan'", ("ssh",), "stock", {}),
        ("set dropbear.main.RecvWindowSize=1", ("ssh",), "stock", {}),
        (MOVE + "set dhcp.@dnsmasq[0].interface=wan", ("web",), "stock", {}),
        (MOVE + "set dhcp.@dnsmasq[0].listen_address=192.168.1.1", ("web",), "stock", {}),
        (MOVE + "set dhcp.lan.limit=0", ("web",), "stock", {}),
        (MOVE + "set dhcp.lan.start=200\nset dhcp.lan.limit=500", ("web",), "stock", {}),
        (MOVE + "set dhcp.lan.leasetime=bad", ("web",), "stock", {}),
        (MOVE + "set dhcp.lan.tag=x", ("web",), "stock", {}),
        (MOVE + "set dhcp.h=host\nset dhcp.h.mac=d4:3b:04:9e:65:2a\nset dhcp.h.ip=ignore", ("web",), "stock", {}),
    ],
)  # fmt: skip
def test_what_programs_read_otherwise_than_it_is_written_is_never_a_yes(change, ways, base, more):
    assert told("set network.lan.mtu=1500", ways, base, more)["verdict"] == "yes"
    assert told(change, ways, base, more)["verdict"] != "yes"


def test_a_package_that_is_gone_is_judged_as_gone():
    before = files_of("stock")
    after = {name: data for name, data in before.items() if name != "dropbear"}
    assert verdict(before, after, [corpus.PATHS["ssh"]], {})["verdict"] == "no"


def test_a_router_without_firewall_is_judged_without():
    before = {name: data for name, data in files_of("stock").items() if name != "firewall"}
    after = apply(before, "set network.lan.ipaddr=192.168.1.254")
    assert verdict(before, after, [corpus.PATHS["web"]], facts_of("usual", "stock"))["verdict"] == "yes"
