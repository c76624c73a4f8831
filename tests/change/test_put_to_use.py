"""What a section holds already is not put to use unasked: secrets that get a way out, code that gets started."""

import pytest

from oasis.change import difference, harmless
from oasis.change.policy import Policy
from oasis.uci import model

DDNS = (
    "config service 'home'\n\toption enabled '0'\n\toption service_name 'good.example'\n"
    "\toption domain 'home.example'\n\toption username 'me'\n\toption password 'correct-horse'\n"
)
TUNNEL = (
    "config openvpn 'work'\n\toption enabled '0'\n\toption remote 'vpn.example'\n"
    "\toption script_security '2'\n\toption up '/etc/openvpn/up.sh'\n"
)


def told(package, before, after):
    old, new = (model.parse(text.encode(), package) for text in (before, after))
    return harmless.put_to_use(new, difference.compare(old, new, package), Policy().rules["switches"])


def line(option, value):
    return "\toption %s '%s'\n" % (option, value)


WAYS = [
    ("ddns", DDNS, DDNS.replace("good.example", "bad.example"), "ddns.home", "service_name"),
    ("ddns", DDNS, DDNS + line("ip_url", "http://bad.example/"), "ddns.home", "ip_url"),
    ("ddns", DDNS + line("dns_server", "192.0.2.1"), DDNS, "ddns.home", "dns_server"),
    ("ddns", DDNS.replace(line("password", "correct-horse"), ""), DDNS, "ddns.home", "service_name, domain, username"),
    ("snmpd", "config trapsink\n\toption community 'correct-horse'\n\toption host '192.0.2.1'\n",
     "config trapsink\n\toption community 'correct-horse'\n\toption host '192.0.2.2'\n", "snmpd.@trapsink[0]", "host"),
]  # fmt: skip


@pytest.mark.parametrize("package, before, after, where, ways", WAYS)
def test_a_secret_that_gets_a_way_out_is_told(package, before, after, where, ways):
    assert told(package, before, after) == ["%s holds a secret and says where it may be sent (%s)" % (where, ways)]


@pytest.mark.parametrize("package, before, after", [
    ("ddns", DDNS, DDNS + line("check_interval", "20")),
    ("ddns", DDNS, DDNS.replace("'home'", "'house'")),
    ("ddns", DDNS, ""),
    ("network", "config interface 'wan'\n\toption proto 'dhcp'\n",
     "config interface 'wan'\n\toption proto 'dhcp'\n\tlist dns '192.0.2.1'\n"),
    ("wireless", "config wifi-iface 'a'\n\toption key 'correct-horse'\n",
     "config wifi-iface 'a'\n\toption key 'battery-staple'\n\toption ssid 'Attic'\n"),
])  # fmt: skip
def test_without_a_secret_or_a_way_nothing_is_told(package, before, after):
    assert told(package, before, after) == []


def test_several_ways_out_of_a_section_are_one_sentence():
    after = DDNS.replace("good.example", "bad.example") + line("ip_url", "http://bad.example/")
    (found,) = told("ddns", DDNS, after)
    assert found == "ddns.home holds a secret and says where it may be sent (service_name, ip_url)"


def test_a_new_way_out_of_the_section_beside_the_secret_is_not_meant():
    other = "config service 'other'\n\toption domain 'a.example'\n"
    assert told("ddns", DDNS + "\n" + other, DDNS + "\n" + other.replace("a.ex", "b.ex")) == []


ON = TUNNEL.replace("enabled '0'", "enabled '1'")
HOOK = "config dnsmasq\n\toption dhcpscript '/etc/hello.sh'\n"
UPDATE = "config service 'home'\n\toption enabled '0'\n\toption update_script '/etc/update.sh'\n"
SNMP = "config snmpd 'general'\n\toption enabled '0'\n\nconfig exec\n\toption name 'x'\n\toption prog '/etc/x.sh'\n"
STARTS = [
    ("openvpn", TUNNEL, ON, "openvpn.work", "script_security, up"),
    ("openvpn", TUNNEL, TUNNEL.replace("enabled '0'", "enabled 'on'"), "openvpn.work", "script_security, up"),
    ("openvpn", TUNNEL, ON.replace("option enabled", "list enabled"), "openvpn.work", "script_security, up"),
    ("openvpn", TUNNEL.replace(line("enabled", "0"), ""), ON, "openvpn.work", "script_security, up"),
    ("openvpn", TUNNEL, TUNNEL.replace(line("enabled", "0"), ""), "openvpn.work", "script_security, up"),
    ("ddns", UPDATE, UPDATE.replace("enabled '0'", "enabled '1'"), "ddns.home", "update_script"),
    ("dhcp", HOOK + line("disabled", "1"), HOOK + line("disabled", "0"), "dhcp.@dnsmasq[0]", "dhcpscript"),
    ("dhcp", HOOK + line("disabled", "1"), HOOK, "dhcp.@dnsmasq[0]", "dhcpscript"),
    ("dhcp", HOOK, HOOK + line("scriptarp", "1"), "dhcp.@dnsmasq[0]", "dhcpscript"),
    ("snmpd", SNMP, SNMP.replace("enabled '0'", "enabled '1'"), "snmpd.general", "@exec[0]"),
    ("sqm", "config queue 'eth1'\n\toption enabled '0'\n\toption script '../../../etc/x'\n",
     "config queue 'eth1'\n\toption enabled '1'\n\toption script '../../../etc/x'\n", "sqm.eth1", "script"),
]  # fmt: skip


@pytest.mark.parametrize("package, off, on, where, code", STARTS)
def test_code_that_gets_started_is_told_and_ending_it_is_not(package, off, on, where, code):
    assert told(package, off, on) == ["%s: this starts code that was set there before (%s)" % (where, code)]
    assert told(package, on, off) == []
    assert told(package, on, on + line("label", "x")) == []


RADIO = "config wifi-device 'radio0'\n\toption path 'platform/soc/18000000.wifi'\n\toption disabled '1'\n"
QUEUE = "config queue 'eth1'\n\toption enabled '0'\n\toption script 'piece_of_cake.qos'\n"


@pytest.mark.parametrize("package, off, on", [
    ("wireless", RADIO, RADIO.replace("'1'", "'0'")),
    ("sqm", QUEUE, QUEUE.replace("'0'", "'1'")),
    ("openvpn", "config openvpn 'a'\n\toption up '0'\n", "config openvpn 'a'\n\toption up '0'\n\toption enabled '1'\n"),
    ("firewall", "config rule\n\toption enabled '0'\n\nconfig include 'a'\n\toption path '/etc/a.sh'\n",
     "config rule\n\toption enabled '1'\n\nconfig include 'a'\n\toption path '/etc/a.sh'\n"),
])  # fmt: skip
def test_what_starts_no_code_with_its_section_is_not_told(package, off, on):
    assert told(package, off, on) == []


def test_code_that_the_same_change_sets_was_not_there_before():
    assert told("openvpn", "config openvpn 'a'\n", "config openvpn 'a'\n\toption up '/a'\n\toption enabled '1'\n") == []


@pytest.mark.parametrize("approval", ["none", "risky", "all"])
@pytest.mark.parametrize("package, before, command, reason", [
    ("openvpn", TUNNEL, "uci set openvpn.work.enabled=1", "this starts code that was set there before"),
    ("ddns", DDNS, "uci set ddns.home.domain=bad.example", "ddns.home holds a secret"),
])  # fmt: skip
def test_the_owner_is_asked_under_every_setting_and_told_first(make_kit, approval, package, before, command, reason):
    kit = make_kit(approval=approval)
    kit.write(package, before.encode())
    plan = kit.plan(command)
    assert (plan["risk"], plan["needs_approval"]) == ("risky", True)
    assert any(reason in one for one in plan["reasons"][:2]), plan["reasons"]


def test_undoing_what_turned_code_off_asks_too(make_kit):
    kit = make_kit(approval="none")
    kit.write("openvpn", ON.encode())
    plan = kit.plan("uci set openvpn.work.enabled=0")
    assert plan["needs_approval"] is False
    old, new = plan["images"]["openvpn"]
    back = kit.planner.restore({"openvpn": (new, old)}, [], "run1", "chat1", "undo", "x")
    assert back["needs_approval"] is True and "starts code" in "; ".join(back["reasons"])


def test_code_is_started_though_a_section_goes_that_was_called_as_its_own_is_now():
    first, tunnel = TUNNEL.replace(" 'work'", "").replace("vpn.", "old."), TUNNEL.replace(" 'work'", "")
    last = "\nconfig openvpn 'last'\n"
    after = tunnel.replace("enabled '0'", "enabled '1'")
    assert told("openvpn", first + "\n" + tunnel + last, last + after) == [
        "openvpn.@openvpn[1]: this starts code that was set there before (script_security, up)"
    ]
