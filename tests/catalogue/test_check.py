"""The catalogue's checks of UCI operations, on the stock router's packages."""

import json
import os
import re
import subprocess
import sys

import pytest

from oasis.catalogue import check as catalogue
from oasis.catalogue import entries
from oasis.catalogue.bounds import WORDS
from tests.change.drafting import ENTRIES, STOCK, TOP, as_operations, check, is_exec, kinds, nothing, stock

# the stock router


@pytest.mark.parametrize("package", STOCK)
def test_stock_router_passes(package):
    operations = as_operations(package, stock(package))
    # adding to a list what it has is a change, setting an option to what it is is none
    kept = [item for item in operations if item["op"] != "add_list" or not is_exec(item, stock(package))]
    assert catalogue.check(kept, stock) == []


@pytest.mark.parametrize("package", STOCK)
def test_all_that_the_stock_router_has_is_known_and_only_exec_is_refused(package):
    found = catalogue.check(as_operations(package, stock(package)), nothing)
    assert {finding["kind"] for finding in found} <= {"exec"}


@pytest.mark.parametrize("package", STOCK)
def test_every_option_of_the_stock_router_has_an_entry_of_its_own(package):
    for name, section in stock(package).items():
        for option in section:
            if not option.startswith("."):
                assert entries.option(package, section[".type"], option) is not None, (name, option)


# exec: what runs code, names a file or folder, or passes raw arguments


def test_changing_the_type_of_a_section_brings_its_options_under_the_new_rules():
    assert kinds("set firewall.@rule[0]=include", read=lambda name: {"mine": {".type": "rule", "path": "/tmp/x"}}) == [
        "exec"
    ]
    there = {"mine": {".type": "domain", "name": "x", "leasetrigger": "/tmp/x"}}
    assert "exec" in kinds("set dhcp.mine=odhcpd", read=lambda name: there)


def test_sections_that_can_only_run_code_are_not_made():
    assert kinds("add firewall include") == ["exec"]
    assert kinds("set luci.mine=command") == ["exec"]
    assert kinds("add rpcd login") == ["exec"]


def test_exec_option_set_to_what_it_is_is_no_change_but_once_removed_it_is():
    same = "set uhttpd.main.home=/www"
    assert kinds(same) == []
    assert kinds("set uhttpd.main.home=/") == ["exec"]
    assert kinds("delete uhttpd.main.home", same) == ["exec"]


def test_removing_an_exec_option_is_allowed():
    assert kinds("delete dhcp.odhcpd.leasetrigger") == []
    assert kinds("set dhcp.odhcpd.leasetrigger=") == []


def test_option_without_an_entry_is_exec():
    assert catalogue.mark("network", "interface", "no_such_option") == "exec"
    assert catalogue.mark("network", "no_such_type", "x") == "exec"
    assert catalogue.mark("no_such_package", "x", "y") == "exec"
    assert catalogue.mark("../policy", "x", "y") == "exec"


# unknown names


@pytest.mark.parametrize(
    ("line", "kind", "hint"),
    [
        ("set netwrok.lan.ipaddr=1.2.3.4", "unknown_package", "network"),
        ("set passwd.root.shell=x", "unknown_package", "there are: "),
        ("add firewall rules", "unknown_type", "rule"),
        ("add firewall allow", "unknown_type", "there are: "),
        ("set dhcp.printer=static_host", "unknown_type", "host"),
        ("set firewall.@rule[0].dest_prot=80", "unknown_option", "dest_port"),
        ("set wireless.default_radio0.passphrase=secret123", "unknown_option", "did you mean key"),
        ("set wireless.radio0.channel_width=80", "unknown_option", "did you mean htmode"),
        ("set network.lan.ip=192.168.2.1", "unknown_option", "did you mean ipaddr"),
        ("set firewall.@rule[0].port=80", "unknown_option", "did you mean dest_port"),
        ("set system.@system[0].Hostname=x", "unknown_option", "hostname"),
        ("add_list system.ntp.servers=x.example", "unknown_option", "did you mean server"),
        ("del_list system.ntp.servers=x.example", "unknown_option", "server"),
        ("set network.lan.ipaddr.x=1", "unknown_option", "ipaddr"),
        ("rename network.lan.ipaddr=ipadr", "unknown_option", "ipaddr"),
        ("set network.gest.proto=static", "missing_reference", "there are: "),
        ("set network.wann.proto=dhcp", "missing_reference", "did you mean wan"),
        ("set firewall.@rule[99].name=x", "missing_reference", "@rule[0] to @rule[8]"),
        ("delete dhcp.@host[0]", "missing_reference", "read the package"),
        ("reorder firewall.@rule[50]=1", "missing_reference", ""),
    ],
)
def test_unknown_names_are_told_with_the_nearest_real_ones(line, kind, hint):
    found = check(line)
    assert [finding["kind"] for finding in found] == [kind]
    assert hint in found[0]["hint"]
    assert found[0]["number"] == 0 and found[0]["message"] and not found[0]["message"].endswith(".")


def test_hints_never_offer_an_exec_option():
    assert "confdir" not in check("set dhcp.@dnsmasq[0].confdirs=x")[0]["hint"]


# values


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("set network.lan.ipaddr=192.168.1.256", "an IPv4 address"),
        ("set network.lan.netmask=24", "255.255.255.0"),
        ("set network.wan.proto=pppeo", "did you mean pppoe"),
        ("set wireless.radio0.channel=auto6", "1 to 233, or auto"),
        ("set wireless.radio0.htmode=VHT 80", "did you mean VHT80"),
        ("set wireless.radio0.country=de", "two capital letters"),
        ("set wireless.radio0.disabled=maybe", "1 or 0"),
        ("set wireless.default_radio0.encryption=WPA2", "psk2"),
        ("set wireless.default_radio0.ssid=" + "x" * 33, "32"),
        ("set system.@system[0].hostname=my router", "a host name"),
        ("set system.@system[0].zonename=../../etc/passwd", "a time zone name"),
        ("set system.@system[0].timezone=../../etc/shadow", "a POSIX time zone"),
        ("set system.@system[0].log_port=99999", "a port number"),
        ("set dropbear.main.Port=22;reboot", "a port number"),
        ("set dhcp.lan.start=1 $(reboot)", "a whole number"),
        ("set dhcp.lan.leasetime=12 hours", "12h"),
        ("set dhcp.lan.ra=on", "one of: server"),
        ("add_list dhcp.@dnsmasq[0].server=not an address", "an address"),
        ("set dhcp.@dnsmasq[0].logfacility=/etc/rc.local", "one of: KERN"),
        ("set network.wan.clientid=aa -s /tmp/x", "hexadecimal"),
        ("set network.wan.vendorid=x -s /tmp/x", "without blanks"),
        ("set firewall.@rule[0].target=ALLOW", "ACCEPT"),
        ("set firewall.@rule[0].proto=tcp htttp", "a protocol"),
        ("set firewall.@zone[0].name=a-very-long-zone", "letters, digits"),
        ("add_list network.lan.netmask=255.255.255.0", "use set"),
        ("rename network.lan.proto=ipaddr", "an IPv4 address"),
    ],
)
def test_bad_values_are_told_with_what_is_expected(line, hint):
    found = check(line)
    assert [finding["kind"] for finding in found] == ["bad_value"]
    assert hint in found[0]["hint"]


@pytest.mark.parametrize(
    "line",
    [
        "set network.lan.dns=1.1.1.1 9.9.9.9",
        "add_list network.lan.ipaddr=10.0.0.1/24",
        "set firewall.@rule[0].proto=tcp udp",
        "set firewall.@rule[0].src=*",
        "set firewall.@rule[0].src_ip=!192.168.1.0/24",
        "set firewall.@rule[0].target=accept",
        "set wireless.default_radio0.network=lan wan",
        "set firewall.@zone[1].network=!lan",
        "add_list dhcp.lan.dhcp_option=6,192.168.1.1,1.1.1.1",
        "add_list dhcp.@dnsmasq[0].address=/ads.example/",
        "set system.@system[0].notes=one\ntwo",
        "set system.@system[0].timezone=CET-1CEST,M3.5.0,M10.5.0/3",
        "set system.@system[0].zonename=America/Argentina/Buenos Aires",
        "set wireless.radio0.disabled=off",
        "delete wireless.radio0.disabled",
        "set network.lan.ip6assign=",
        "del_list system.ntp.server=0.openwrt.pool.ntp.org",
        "reorder firewall.@rule[0]=3",
    ],
)
def test_good_operations_pass(line):
    assert check(line) == []


@pytest.mark.parametrize("option", ["ssid", "encryption", "key"])
def test_no_value_may_add_a_line_to_a_generated_file(option):
    found = check(f"set wireless.default_radio0.{option}=long enough\nwpa_psk_file=/tmp/x")
    assert [finding["kind"] for finding in found] == ["bad_value"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("wireless.default_radio0.key", "short"),
        ("wireless.default_radio0.auth_secret", "x" * 200),
        ("wireless.default_radio0.wps_pin", "notapin"),
    ],
)
def test_secret_values_are_in_no_message(path, value):
    found = check(f"set {path}={value}")
    assert found and value not in json.dumps(found)


# references


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("set firewall.@rule[0].src=gest", "the zone 'gest'"),
        ("set firewall.@forwarding[0].dest=wann", "the zone 'wann'"),
        ("add_list firewall.@zone[0].network=guest", "the interface 'guest'"),
        ("set wireless.default_radio0.network=lan guest", "the interface 'guest'"),
        ("set wireless.default_radio0.device=radio2", "the radio 'radio2'"),
        ("set dhcp.lan.interface=lann", "the interface 'lann'"),
        ("set dropbear.main.Interface=lann", "the interface 'lann'"),
        ("set network.wan.device=@lann", "the interface 'lann'"),
    ],
)
def test_names_of_what_does_not_exist_are_found(line, names):
    found = check(line)
    assert [finding["kind"] for finding in found] == ["missing_reference"]
    assert names in found[0]["message"]


GUEST_NETWORK = """set network.guest=interface
set network.guest.proto=static
set network.guest.device=br-guest
set network.guest.ipaddr=192.168.3.1
set network.guest.netmask=255.255.255.0
add network device
set network.@device[-1].name=br-guest
set network.@device[-1].type=bridge
set wireless.guest=wifi-iface
set wireless.guest.device=radio0
set wireless.guest.mode=ap
set wireless.guest.network=guest
set wireless.guest.ssid=Guests
set wireless.guest.encryption=psk2
set wireless.guest.key=only for guests
set wireless.guest.isolate=1
set dhcp.guest=dhcp
set dhcp.guest.interface=guest
set dhcp.guest.start=100
set dhcp.guest.limit=50
set dhcp.guest.leasetime=1h
add firewall zone
set firewall.@zone[-1].name=guest
add_list firewall.@zone[-1].network=guest
set firewall.@zone[-1].input=REJECT
set firewall.@zone[-1].output=ACCEPT
set firewall.@zone[-1].forward=REJECT
add firewall forwarding
set firewall.@forwarding[-1].src=guest
set firewall.@forwarding[-1].dest=wan
add firewall rule
set firewall.@rule[-1].name=Guest-DNS
set firewall.@rule[-1].src=guest
set firewall.@rule[-1].proto=tcp udp
set firewall.@rule[-1].dest_port=53
set firewall.@rule[-1].target=ACCEPT"""
GUEST = GUEST_NETWORK.split("\n")


def test_whole_guest_network_passes_in_any_order():
    assert check(*GUEST) == []
    wireless = [line for line in GUEST if " wireless." in line]
    assert check(*wireless, *[line for line in GUEST if line not in wireless]) == []


def test_parts_of_it_miss_the_rest():
    found = check(*[line for line in GUEST if " network" not in line])
    assert {finding["kind"] for finding in found} == {"missing_reference"}
    assert {finding["where"] for finding in found} == {
        "wireless.guest.network",
        "dhcp.guest.interface",
        "firewall.@zone[-1].network",
    }


def test_what_still_names_a_removed_zone_is_found():
    found = check("delete firewall.@zone[0]")
    assert {finding["kind"] for finding in found} == {"missing_reference"}
    assert "still names the zone 'lan'" in found[0]["message"]
    assert len(found) == 3  # a forwarding and two rules
    assert kinds("set firewall.@zone[0].name=home", "set firewall.@forwarding[0].src=home") == ["missing_reference"] * 2


def test_removing_a_zone_with_all_that_names_it_passes():
    lines = ["delete firewall.@forwarding[0]", "delete firewall.@rule[8]", "delete firewall.@rule[7]"]
    assert check(*lines, "delete firewall.@zone[0]") == []


# the state between the operations


def test_indexes_follow_added_removed_and_moved_sections():
    assert kinds("add dhcp host", "set dhcp.@host[0].ip=192.168.1.9", "delete dhcp.@host[0]") == []
    assert kinds("add dhcp host", "delete dhcp.@host[0]", "set dhcp.@host[0].ip=1.2.3.4") == ["missing_reference"]
    read = {"a": {".type": "host"}, "b": {".type": "host", "name": "x"}}
    lines = ("reorder dhcp.b=0", "delete dhcp.@host[0]", "delete dhcp.b")
    assert kinds(*lines, read=lambda name: read) == ["missing_reference"]
    assert list(read) == ["a", "b"]


def test_renamed_sections_go_by_their_new_name():
    found = check("rename dhcp.lan=home", "set dhcp.home.limit=20", "set dhcp.lan.limit=20")
    assert [(finding["number"], finding["kind"]) for finding in found] == [(2, "missing_reference")]


def test_checked_packages_are_not_changed():
    read = stock("network")
    before = json.dumps(read)
    check(
        "set network.lan.ipaddr=10.0.0.1",
        "delete network.wan6",
        "add_list network.lan.dns=1.1.1.1",
        read=lambda _: read,
    )
    assert json.dumps(read) == before


def test_findings_come_in_the_order_of_the_operations():
    found = check("set wireless.default_radio0.network=nowhere", "set network.lan.ipaddr=x", "set nothing.x.y=z")
    assert [finding["number"] for finding in found] == [0, 1, 2]
    assert set(found[0]) == {"number", "kind", "where", "message", "hint"}


# marks and titles


def test_marks():
    assert catalogue.mark("system", "system", "hostname") == "plain"
    assert catalogue.mark("wireless", "wifi-iface", "key") == "secret:wpa-key"
    assert catalogue.mark("network", "interface", "password") == "secret:ppp-password"
    assert catalogue.mark("luci", "extern", "uci") == "exec"


@pytest.mark.parametrize(
    "path",
    [
        "system.system.log_ip", "system.timeserver.server", "network.interface.dns", "network.interface.gateway",
        "dhcp.dnsmasq.server", "dhcp.dnsmasq.localservice", "dhcp.domain.ip", "dhcp.cname.target",
        "dhcp.dhcp.dhcp_option", "network.interface.server", "network.interface.peeraddr",
        "network.interface.listen_port", "network.wireguard_wg0.endpoint_host", "network.wireguard_wg0.allowed_ips",
        "ddns.service.service_name", "ddns.service.dns_server", "openvpn.openvpn.remote",
        "openvpn.openvpn.redirect_gateway", "upnpd.upnpd.enabled", "adblock.adblock.adb_feed", "banip.banip.ban_feed",
        "banip.banip.ban_remotelog", "mwan3.interface.track_ip", "https-dns-proxy.https-dns-proxy.resolver_url",
        "https-dns-proxy.main.proxy_server", "collectd.network_server.host",
        "luci_statistics.collectd_network_listen.host", "samba4.sambashare.guest_ok", "snmpd.agent.agentaddress",
        "snmpd.trapsink.host", "stubby.resolver.address", "unbound.zone.server",
        "transmission.transmission.rpc_whitelist",
        "prometheus-node-exporter-lua.prometheus-node-exporter-lua.listen_interface", "acme.cert.acme_server",
        "watchcat.watchcat.pinghosts", "minidlna.minidlna.enabled", "dhcp.dhcp.dns", "dhcp.relay.server_addr",
        "firewall.redirect.dest_ip", "uhttpd.uhttpd.listen_http", "wireless.wifi-iface.auth_server",
        "dropbear.dropbear.GatewayPorts",
    ],
)  # fmt: skip
def test_options_that_send_elsewhere_are_outward(path):
    assert catalogue.mark(*path.split(".")) == "outward"


def test_titles_of_options_and_types():
    assert catalogue.title("system", "system", "hostname") == "Host name"
    assert catalogue.title("wireless", "wifi-iface", "") == "Wireless network"
    assert catalogue.title("nothing", "x", "y") == catalogue.title("system", "led", "nothing") == ""


# the data


@pytest.mark.parametrize("path", ENTRIES, ids=os.path.basename)
def test_data_have_the_documented_shape(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    assert data["package"] == os.path.basename(path)[:-5] and data["source"]
    marks = re.compile(r"outward|exec|secret:[a-z-]+")
    for whole in data["types"].values():
        assert whole["title"] and marks.fullmatch(whole.get("mark", "exec"))
        for option, entry in whole["options"].items():
            assert re.fullmatch(r"\*|[A-Za-z0-9_]+", option)
            entry = {"type": entry} if isinstance(entry, str) else entry
            assert set(entry) <= {"type", "values", "title", "list", "mark", "ref", "aka", "bound"}
            assert "bound" not in entry or (
                entry["bound"] in WORDS and "exec" in (entry.get("mark"), whole.get("mark"))
            )
            assert ("type" in entry) != ("values" in entry)
            assert marks.fullmatch(entry.get("mark", "exec"))
            assert entry.get("ref", "zone") in {*catalogue.TARGETS, "device"}


def test_wrong_names_are_no_options_themselves():
    for package in entries.packages():
        for kind, whole in entries.types(package).items():
            for name in whole["options"]:
                wrong = entries.option(package, kind, name).get("aka", [])
                assert not set(wrong) & set(whole["options"]), (package, kind, name)


def test_only_two_packages_are_kept_in_memory():
    for package in entries.packages():
        entries.types(package)
    assert len(entries._cache) == 2


def test_importing_reads_nothing_and_maps_no_library_of_its_own():
    code = "import sys; from oasis.catalogue import check, entries; m = sys.modules;"
    code += " print(len(entries._cache), 'ipaddress' in m, 'difflib' in m, 'typing' in m)"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=TOP, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["0", "False", "False", "False"], done.stderr


def test_nearest_names_are_looked_for_in_the_first_findings_alone():
    lines = ["set network.lan.prot%03d=1" % number for number in range(60)]
    found = check(*lines)
    assert len(found) == 60 and found[0]["hint"] and not found[-1]["hint"]
