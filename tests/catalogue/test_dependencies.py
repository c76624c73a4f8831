"""Options that call for others, and options that nothing reads under a protocol or mode."""

import pytest

from oasis.catalogue import check as rules
from oasis.catalogue import entries
from tests.change.drafting import check, kinds


def found(*lines):
    return [(finding["kind"], finding["where"]) for finding in check(*lines)]


def missing(*lines):
    assert {kind for kind, _ in found(*lines)} <= {"missing_dependency"}
    return [where for _, where in found(*lines)]


NEW = ("set network.new=interface",)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("proto=static", "ipaddr"),
        ("proto=static ipaddr=10.0.0.1", "netmask"),
        ("proto=pppoe username=me password=secret", "device"),
        ("proto=pptp username=me password=secret", "server"),
        ("proto=l2tp username=me", "server"),
        ("proto=6in4 ip6addr=2001:db8::2/64", "peeraddr"),
        ("proto=6rd peeraddr=192.0.2.1", "ip6prefix"),
        ("proto=dslite", "peeraddr"),
        ("proto=gre ipaddr=10.0.0.1", "peeraddr"),
        ("proto=grev6", "peer6addr"),
        ("proto=vti6", "peer6addr"),
        ("proto=map", "ip6prefix"),
        ("proto=qmi apn=internet", "device"),
        ("proto=mbim device=/dev/cdc-wdm0", "apn"),
        ("proto=wireguard addresses=10.9.0.1/24", "private_key"),
        ("proto=relay", "network"),
        ("proto=xfrm", "ifid"),
        ("proto=batadv_hardif device=eth1", "master"),
    ],
)
def test_a_network_needs_what_its_protocol_needs(options, wanted):
    lines = [f"set network.new.{option}" for option in options.split()]
    assert missing(*NEW, *lines) == [f"network.new.{wanted}"]


@pytest.mark.parametrize(
    "options",
    [
        "proto=static ipaddr=10.0.0.1 netmask=255.255.255.0",
        "proto=static ipaddr=10.0.0.1/24",
        "proto=static ip6addr=fd00::1/64",
        "proto=static ip6assign=64",
        "proto=dhcp hostname=attic device=eth1",
        "proto=dhcpv6 reqprefix=auto device=@wan",
        "proto=pppoe username=me password=secret device=eth1",
        "proto=pppoa vpi=1 vci=32 encaps=vc username=me password=secret",
        "proto=ppp device=/dev/ttyUSB0 username=me",
        "proto=pptp server=vpn.example.org username=me password=secret",
        "proto=l2tp server=vpn.example.org:1701",
        "proto=3g device=/dev/ttyUSB0 service=umts apn=internet dialnumber=*99#",
        "proto=qmi device=/dev/cdc-wdm0 apn=internet pdptype=ipv4v6 pincode=1234",
        "proto=ncm device=/dev/ttyACM0 apn=internet",
        "proto=wwan apn=internet",
        "proto=modemmanager apn=internet iptype=ipv4v6",
        "proto=6in4 peeraddr=192.0.2.1 tunnelid=123 username=me updatekey=abcdef",
        "proto=6to4",
        "proto=6rd peeraddr=192.0.2.1 ip6prefix=2001:db8::/32 ip6prefixlen=32",
        "proto=dslite peeraddr=aftr.example.org",
        "proto=map maptype=map-e ip6prefix=2001:db8::/32 ealen=16 psidlen=8 offset=4 peeraddr=2001:db8::1",
        "proto=ipip peeraddr=192.0.2.1",
        "proto=ipip6 peeraddr=2001:db8::1",
        "proto=gretap peeraddr=192.0.2.1 network=lan",
        "proto=grev6 peer6addr=2001:db8::1",
        "proto=vti peeraddr=192.0.2.1 ikey=1 okey=1",
        "proto=vxlan peeraddr=192.0.2.1 vid=100 port=4789",
        "proto=wireguard private_key=generate listen_port=51820 addresses=10.9.0.1/24",
        "proto=relay network=lan ipaddr=192.168.1.2 gateway=192.168.1.1",
        "proto=bonding bonding_policy=802.3ad slaves=eth1",
        "proto=batadv routing_algo=BATMAN_IV",
        "proto=batadv_hardif device=eth1 master=lan",
        "proto=none device=eth1",
    ],
)
def test_networks_of_every_protocol_pass(options):
    assert check(*NEW, *[f"set network.new.{option}" for option in options.split()]) == []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("set network.wan.username=me", "pppoe"),
        ("set network.wan.netmask=255.255.255.0", "static"),
        ("set network.wan.gateway=192.0.2.1", "static"),
        ("set network.wan.apn=internet", "qmi"),
        ("set network.lan.listen_port=51820", "wireguard"),
        ("set network.lan.vendorid=abc", "dhcp"),
        ("set network.lan.private_key=generate", "wireguard"),
        ("set network.wan.peeraddr=192.0.2.1", "6in4"),
    ],
)
def test_an_option_that_the_protocol_does_not_read_is_told_with_those_that_do(line, wanted):
    [finding] = check(line)
    assert finding["kind"] == "missing_dependency" and "is not read with proto" in finding["message"]
    assert wanted in finding["hint"]


def test_protocol_and_its_options_may_come_in_any_order():
    lines = ["set network.wan.username=me", "set network.wan.password=secret", "set network.wan.proto=pppoe"]
    assert check(*lines) == check(*reversed(lines)) == []


def test_what_another_protocol_left_behind_is_no_finding():
    assert check("set network.lan.proto=dhcp") == []


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["set wireless.default_radio0.encryption=psk2"], "key"),
        (["set wireless.default_radio0.encryption=sae-mixed"], "key"),
        (["set wireless.default_radio0.encryption=wpa2"], "auth_server"),
        (["set wireless.default_radio0.mode=mesh"], "mesh_id"),
        (["delete wireless.default_radio0.ssid"], "ssid"),
        (["set wireless.new=wifi-iface", "set wireless.new.ssid=Attic"], "device"),
        (["set wireless.default_radio0.mode=sta", "set wireless.default_radio0.encryption=wpa2"], "eap_type"),
    ],
)
def test_a_wireless_network_needs_what_its_encryption_and_mode_need(lines, wanted):
    [where] = missing(*lines)
    assert where.endswith(wanted)


def test_a_key_satisfies_the_encryption_and_its_length_is_checked():
    encryption = "set wireless.default_radio0.encryption=psk2"
    assert check(encryption, "set wireless.default_radio0.key=correct-horse") == []
    assert kinds(encryption, "set wireless.default_radio0.key=short") == ["bad_value"]
    assert check("set wireless.default_radio0.encryption=owe") == []


def test_hints_and_messages_name_no_option_that_is_forbidden():
    [finding] = check("set wireless.default_radio0.encryption=psk2")
    assert "set key" in finding["hint"]
    assert "file" not in finding["message"] + finding["hint"]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["add firewall zone", "set firewall.@zone[-1].input=REJECT"], "firewall.@zone[2].name"),
        (["add firewall forwarding", "set firewall.@forwarding[-1].src=lan"], "firewall.@forwarding[1].dest"),
        (["set firewall.x=redirect", "set firewall.x.dest_ip=192.168.1.5"], "firewall.x.src"),
        (["set firewall.x=redirect", "set firewall.x.src=wan", "set firewall.x.src_dport=80"], "firewall.x.dest_ip"),
        (["add network device", "set network.@device[-1].type=bridge"], "network.@device[1].name"),
        (["set network.x=bridge-vlan", "set network.x.vlan=10"], "network.x.device"),
        (["add network route", "set network.@route[-1].target=10.0.0.0/8"], "network.@route[0].interface"),
        (["add network wireguard_w", "set network.@wireguard_w[-1].disabled=0"], "network.@wireguard_w[0].public_key"),
    ],
)  # fmt: skip
def test_new_sections_are_named_by_type_and_place(lines, wanted):
    assert missing(*lines) == [wanted]


def test_only_what_the_change_brought_about_counts():
    broken = {"radio": {".type": "wifi-iface", "ssid": "x", "device": "radio0", "encryption": "psk2"}}
    assert check("set wireless.radio.hidden=1", read=lambda name: broken) == []
    assert check("set wireless.radio.encryption=sae", read=lambda name: broken)[0]["kind"] == "missing_dependency"
    assert check("rename wireless.radio=attic", read=lambda name: broken) == []


def test_a_section_that_is_removed_again_lacks_nothing():
    assert check("add firewall zone", "delete firewall.@zone[-1]") == []


def test_bridges_must_be_there():
    [finding] = check("set network.lan.device=br-lam")
    assert finding["kind"] == "missing_reference" and "br-lan" in finding["hint"]
    assert check("set network.lan.device=br-lan.5") == []
    assert check("set network.lan.device=br-0123456789ab") == []  # Docker's
    assert check("set network.lan.device=eth1") == []
    left = check("delete network.@device[0]")
    assert {finding["kind"] for finding in left} == {"missing_reference"}


def test_the_parts_of_mwan3_name_each_other():
    sections = {
        "wan": {".type": "interface"},
        "wan_m1": {".type": "member", "interface": "wan"},
        "only": {".type": "policy", "use_member": ["wan_m1"]},
        "all": {".type": "rule", "use_policy": "only"},
    }
    read = {"mwan3": sections, "network": {"wan": {".type": "interface"}}}.get
    assert check("set mwan3.all.use_policy=default", read=read) == []
    assert kinds("set mwan3.all.use_policy=onli", read=read) == ["missing_reference"]
    assert kinds("add_list mwan3.only.use_member=wanb_m1", read=read) == ["missing_reference"]
    assert kinds("set mwan3.wan_m1.interface=wanb", read=read) == ["missing_reference"]


def test_rules_of_the_data_are_about_options_that_exist_and_never_about_secrets():
    for package in entries.packages():
        for kind in entries.types(package):
            for rule in [one for part in ("needs", "only", "never") for one in entries.rules(package, kind, part)]:
                assert set(rule) <= {"when", "one_of", "options", "hint"}
                for name in [*rule["when"], *rule.get("one_of", []), *rule.get("options", [])]:
                    assert entries.option(package, kind, name) is not None, (package, kind, name)
                for name in rule["when"]:
                    assert entries.is_secret(package, kind, name) is False, (package, kind, name)


def test_a_section_is_compared_with_what_it_was():
    now = {".type": "zone", "input": "REJECT"}
    assert [item[0] for item in rules.missing("firewall", None, now)] == ["name"]
    assert rules.missing("firewall", now, dict(now, output="ACCEPT")) == []


@pytest.mark.parametrize(("radio", "channel"), [("radio0", "99"), ("radio0", "36"), ("radio1", "6"), ("radio1", "99")])
def test_a_band_has_its_channels_and_no_others(radio, channel):
    assert missing(f"set wireless.{radio}.channel={channel}") == [f"wireless.{radio}.channel"]


@pytest.mark.parametrize(
    ("radio", "channel"), [("radio0", "13"), ("radio0", "auto"), ("radio1", "149"), ("radio1", "auto")]
)
def test_the_channels_of_a_band_are_taken(radio, channel):
    assert missing(f"set wireless.{radio}.channel={channel}") == []


def test_a_channel_may_go_to_another_band_together_with_it():
    assert (
        missing("set wireless.radio0.band=5g", "set wireless.radio0.channel=44", "set wireless.radio0.htmode=HE40")
        == []
    )
    assert missing("set wireless.radio0.band=5g") == ["wireless.radio0.channel"]


def test_an_option_that_is_needed_and_the_owners_alone_is_named():
    there = {"w": {".type": "watchcat", "mode": "ping_reboot"}}
    (one,) = check("set watchcat.w.mode=run_script", read=lambda name: there)
    assert "needs script, which only the owner sets, by hand" in one["message"]
