"""Every intent that changes the configuration, carried out: what is asked comes about, once, and can be taken back."""

import pytest

from oasis.catalogue import check
from oasis.change.history.reverse import reverse
from oasis.parts.offline import provider
from oasis.uci import model
from oasis.uci.model import preview
from tests.parts.offline.stock import GUEST, HOME, LEASES, Router, calls_of, steps_of, text_of

INTENTS = provider.load("intents")["intents"]
MORE_LEASES = LEASES + "1795300000 aa:bb:cc:00:00:08 192.168.1.108 kids-tablet *\n"
# Packages that the stock router has not, as they are installed.
EXTRA = {
    "sqm": b"config queue 'eth1'\n\toption enabled '0'\n\toption interface 'wan'\n\toption download '85000'\n",
    "upnpd": b"config upnpd 'config'\n\toption enabled '0'\n\toption enable_natpmp '1'\n",
    "adblock": b"config adblock 'global'\n\toption adb_enabled '1'\n",
}
VPN = """
uci set network.wg0=interface
uci set network.wg0.proto='wireguard'
uci add network wireguard_wg0
uci set network.@wireguard_wg0[-1].description='phone'
uci add network wireguard_wg0
uci set network.@wireguard_wg0[-1].description='work'
"""
LED = """
uci add system led
uci set system.@led[-1].name='power'
uci set system.@led[-1].sysfs='green:power'
uci set system.@led[-1].trigger='default-on'
uci add system led
uci set system.@led[-1].name='wan'
uci set system.@led[-1].sysfs='green:wan'
uci set system.@led[-1].trigger='netdev'
"""
DARK = LED.replace("'default-on'", "'none'")
HOURS = """
uci set firewall.oasis_hours_1=rule
uci set firewall.oasis_hours_1.name='Hours kids-tablet'
uci set firewall.oasis_hours_1.src='lan'
uci set firewall.oasis_hours_1.src_mac='aa:bb:cc:00:00:08'
uci set firewall.oasis_hours_1.dest='wan'
uci set firewall.oasis_hours_1.start_time='20:00'
uci set firewall.oasis_hours_1.stop_time='22:00'
uci set firewall.oasis_hours_1.target='REJECT'
"""
BLOCKED = "uci add_list dhcp.@dnsmasq[0].address='/example.com/'\n"
RELAY = "uci set network.wan6.disabled='1'\nuci set dhcp.lan.ra='relay'\n"
NO_IPV6 = {"network.wan6.disabled": "1", "dhcp.lan.ra": "disabled", "dhcp.lan.dhcpv6": "disabled"}
PPPOE = """
uci set network.wan.proto='pppoe'
uci set network.wan.username='otto@isp.example'
uci set network.wan.password='the old one'
uci set network.wan.device='wan.7'
"""
FIXED = """
uci set network.wan.proto='static'
uci set network.wan.ipaddr='203.0.113.5'
uci set network.wan.netmask='255.255.255.0'
uci set network.wan.gateway='203.0.113.1'
uci add_list network.wan.dns='203.0.113.2'
"""
OPENED = """
uci set firewall.oasis_open_1=rule
uci set firewall.oasis_open_1.src='wan'
uci set firewall.oasis_open_1.dest_port='8443'
uci set firewall.oasis_open_1.target='ACCEPT'
"""
DMZ = """
uci add firewall redirect
uci set firewall.@redirect[-1].name='all'
uci set firewall.@redirect[-1].src='wan'
uci set firewall.@redirect[-1].dest='lan'
uci set firewall.@redirect[-1].proto='all'
uci set firewall.@redirect[-1].dest_ip='192.168.1.104'
uci set firewall.@redirect[-1].target='DNAT'
"""
ANNOUNCED = "uci set dhcp.lan.dns_service='0'\nuci add_list dhcp.lan.dhcp_option='6,9.9.9.9'\n"
LINE = {"ipaddr": None, "netmask": None, "gateway": None}
RADIOS = ("wireless.radio0.", "wireless.radio1.")
NETWORKS = ("wireless.default_radio0.", "wireless.default_radio1.")


def both(places, option, *values):
    """Return {path: value} of an option in two places."""
    return {place + option: values[min(at, len(values) - 1)] for at, place in enumerate(places)}


def hours(number, start, stop, days=None, mac="aa:bb:cc:00:00:08", name="kids-tablet"):
    head = "firewall.oasis_hours_%d" % number
    found = {"name": "Hours " + name, "src": "lan", "src_mac": mac, "dest": "wan", "proto": "all"}
    found.update(start_time=start, stop_time=stop, target="REJECT", **({"weekdays": days} if days else {}))
    return {head: "rule", **{"%s.%s" % (head, key): value for key, value in found.items()}}


# intent: [(commands before, sentence, what is different afterwards; None: sections that are gone, by their beginning)]
CASES = {
    "ssh_port": [("", "move ssh to port 2222", {"dropbear.main.Port": "2222"})],
    "ssh_passwords": [
        ("", "disable password login over ssh",
         {"dropbear.main.PasswordAuth": "off", "dropbear.main.RootPasswordAuth": "off"})
    ],
    "https_redirect": [
        ("uci add_list uhttpd.main.listen_https='0.0.0.0:443'", "redirect http to https",
         {"uhttpd.main.redirect_https": "1"})
    ],
    "guest_ipv6": [
        (GUEST, "turn on ipv6 on the guest network",
         {"dhcp.guest.ra": "server", "dhcp.guest.dhcpv6": "server", "network.guest.ip6assign": "64"})
    ],
    "rename_router": [("", "call this router attic", {"system.@system[0].hostname": "attic"})],
    "wifi_name": [("", "das WLAN soll Attic heißen", both(NETWORKS, "ssid", "Attic"))],
    "wifi_password": [(HOME, "set the wifi password to hunter2hunter", both(NETWORKS, "key", "hunter2hunter"))],
    "wifi_both": [
        (HOME, "set the wifi name to Attic and the password to hunter2hunter",
         {**both(NETWORKS, "ssid", "Attic"), **both(NETWORKS, "key", "hunter2hunter")}),
    ],
    "wifi_switch": [
        ("", "turn on the wifi", both(RADIOS, "disabled", "0")),
        (HOME, "turn off the 5 GHz wifi", {"wireless.radio1.disabled": "1"}),
    ],
    "wifi_channel": [
        ("", "set the 2.4 GHz channel to 11", {"wireless.radio0.channel": "11"}),
        ("", "set the wifi channel to 100", {"wireless.radio1.channel": "100"}),
        ("", "set the wifi channel to auto", both(RADIOS, "channel", "auto")),
    ],
    "wifi_width": [
        ("", "set the 5 GHz channel width to 20 MHz", {"wireless.radio1.htmode": "HE20"}),
        ("", "set the 2.4 GHz channel width to 40 MHz", {"wireless.radio0.htmode": "HE40"}),
        ("", "set the channel width to 160 MHz", {"wireless.radio1.htmode": "HE160"}),
    ],
    "wifi_country": [("", "set the wifi country to Germany", both(RADIOS, "country", "DE"))],
    "wifi_power": [("", "set the 5 GHz wifi power to 15 dBm", {"wireless.radio1.txpower": "15"})],
    "wifi_hide": [("", "hide the wifi name", both(NETWORKS, "hidden", "1"))],
    "wifi_encryption": [(HOME, "use wpa3 for the wifi", both(NETWORKS, "encryption", "sae"))],
    "wifi_isolate": [("", "turn on wifi client isolation", both(NETWORKS, "isolate", "1"))],
    "guest_setup": [
        ("", "set up a guest wifi called Visitors with password welcome123", {"wireless.guest.ssid": "Visitors"}),
    ],
    "guest_name": [(HOME + GUEST, "rename the guest wifi to Friends", {"wireless.guest.ssid": "Friends"})],
    "guest_password": [
        (HOME + GUEST, "set the guest wifi password to welcome123", {"wireless.guest.key": "welcome123"}),
    ],
    "guest_switch": [(HOME + GUEST, "schalte das Gäste-WLAN aus", {"wireless.guest.disabled": "1"})],
    "guest_remove": [(HOME + GUEST, "remove the guest wifi", None)],
    "block": [("", "block the xbox", {"firewall.oasis_block_1.src_mac": "aa:bb:cc:00:00:04"})],
    "unblock": [(HOME, "unblock the xbox", None)],
    "parental_times": [
        ("", "no internet for kids-tablet from 20:00 to 22:00", hours(1, "20:00", "22:00")),
        ("", "no internet for kids-tablet from 22:00 to 06:00",
         {**hours(1, "22:00", "23:59:59"), **hours(2, "00:00", "06:00")}),
        ("", "no internet for kids-tablet from 21:00 to 00:00", hours(1, "21:00", "23:59:59")),
        ("", "no internet for kids-tablet from 21:00 to 07:00 on weekdays",
         {**hours(1, "21:00", "23:59:59", "Mon Tue Wed Thu Fri"), **hours(2, "00:00", "07:00", "Tue Wed Thu Fri Sat")}),
        (HOURS, "no internet for the xbox from 20:00 to 22:00 on sunday",
         hours(2, "20:00", "22:00", "Sun", "aa:bb:cc:00:00:04", "xbox")),
    ],
    "parental_remove": [(HOURS, "remove the internet hours of kids-tablet", None)],
    "lan_address": [("", "change the LAN address to 192.168.2.1", {"network.lan.ipaddr": "192.168.2.1"})],
    "static_lease": [("", "always give nas 192.168.1.50", {"dhcp.oasis_host_1.ip": "192.168.1.50"})],
    "static_lease_remove": [(HOME, "remove the fixed address of nas", None)],
    "lease_time": [
        ("", "set the dhcp lease time to 24 hours", {"dhcp.lan.leasetime": "24h"}),
        ("", "set the dhcp lease time to 90 minutes", {"dhcp.lan.leasetime": "90m"}),
    ],
    "dhcp_range": [
        ("", "set the dhcp range from 192.168.1.50 to 192.168.1.99", {"dhcp.lan.start": "50", "dhcp.lan.limit": "50"}),
    ],
    "ipv6_switch": [
        ("", "turn off ipv6", NO_IPV6),
        (RELAY, "turn on ipv6", {"network.wan6.disabled": "0"}),
        ("uci set network.wan.proto='pppoe'\n", "turn off ipv6", {**NO_IPV6, "network.wan.ipv6": "0"}),
    ],
    "upnp_switch": [("", "turn on upnp", {"upnpd.config.enabled": "1"})],
    "port_forward": [
        ("", "forward port 443 to nas", {"firewall.oasis_forward_1.dest_ip": "192.168.1.105"}),
        ("", "forward ports 5000 to 5010 to nas",
         {"firewall.oasis_forward_1.src_dport": "5000-5010", "firewall.oasis_forward_1.dest_port": "5000-5010"}),
    ],
    "port_forward_remove": [(HOME, "remove the port forward for port 80", None), (OPENED, "close port 8443", None)],
    "router_port_open": [
        ("", "open udp port 51820 on the router",
         {"firewall.oasis_open_1": "rule", "firewall.oasis_open_1.name": "Open 51820",
          "firewall.oasis_open_1.src": "wan", "firewall.oasis_open_1.proto": ["udp"],
          "firewall.oasis_open_1.dest_port": "51820", "firewall.oasis_open_1.target": "ACCEPT"}),
        ("", "open ports 5000-5010 on the router", {"firewall.oasis_open_1.dest_port": "5000-5010"}),
        ("", "open ports 80 and 443 on the router",
         {"firewall.oasis_open_1.dest_port": "80", "firewall.oasis_open_2.dest_port": "443"}),
    ],
    "dmz": [
        ("", "make the nas the dmz host",
         {"firewall.oasis_dmz": "redirect", "firewall.oasis_dmz.name": "DMZ", "firewall.oasis_dmz.src": "wan",
          "firewall.oasis_dmz.dest": "lan", "firewall.oasis_dmz.proto": "all",
          "firewall.oasis_dmz.dest_ip": "192.168.1.105", "firewall.oasis_dmz.target": "DNAT"}),
        (DMZ, "make the nas the dmz host",
         {"firewall.@redirect[0].name": "DMZ", "firewall.@redirect[0].dest_ip": "192.168.1.105"}),
    ],
    "dmz_remove": [(DMZ, "turn off the dmz", None)],
    "wan_pppoe": [
        ("", "PPPoE login otto@isp.example password secret7x",
         {"network.wan.proto": "pppoe", "network.wan.username": "otto@isp.example", "network.wan.password": "secret7x",
          "network.wan.ipv6": "auto", "network.wan6.device": "@wan"}),
        (FIXED, "PPPoE, Benutzer otto@isp.example, Passwort geheim7x, VLAN 7",
         {**{"network.wan." + name: None for name in LINE}, "network.wan.dns": None, "network.wan.proto": "pppoe",
          "network.wan.username": "otto@isp.example", "network.wan.password": "geheim7x", "network.wan.ipv6": "auto",
          "network.wan.device": "wan.7", "network.wan6.device": "@wan"}),
    ],
    "wan_static": [
        (PPPOE, "set the wan to 203.0.113.5/24, gateway 203.0.113.1",
         {"network.wan.username": None, "network.wan.password": None, "network.wan.proto": "static",
          "network.wan.ipaddr": "203.0.113.5", "network.wan.netmask": "255.255.255.0",
          "network.wan.gateway": "203.0.113.1"}),
        ("", "wan static ip 203.0.113.5 netmask 255.255.255.0 gateway 203.0.113.1 dns 9.9.9.9 and 1.1.1.1",
         {"network.wan.proto": "static", "network.wan.ipaddr": "203.0.113.5", "network.wan.netmask": "255.255.255.0",
          "network.wan.gateway": "203.0.113.1", "network.wan.dns": ["9.9.9.9", "1.1.1.1"],
          "network.wan6.device": "@wan"}),
    ],
    "wan_dhcp": [
        (FIXED, "set the wan back to dhcp",
         {**{"network.wan." + name: None for name in LINE}, "network.wan.dns": None, "network.wan.proto": "dhcp",
          "network.wan6.device": "@wan"}),
        (PPPOE, "set the wan back to dhcp",
         {"network.wan.proto": "dhcp", "network.wan.username": None, "network.wan.password": None}),
    ],
    "wan_vlan": [
        ("", "put the internet on vlan 7", {"network.wan.device": "wan.7", "network.wan6.device": "@wan"}),
        (PPPOE, "remove the vlan from the wan", {"network.wan.device": "wan"}),
        (PPPOE, "set vlan 20 on the internet connection", {"network.wan.device": "wan.20"}),
    ],
    "dhcp_dns": [
        ("", "hand out 9.9.9.9 and 1.1.1.1 as dns by dhcp",
         {"dhcp.lan.dhcp_option": ["6,9.9.9.9,1.1.1.1"], "dhcp.lan.dns_service": "0"}),
        (ANNOUNCED, "hand out 1.1.1.1 as dns by dhcp", {"dhcp.lan.dhcp_option": ["6,1.1.1.1"]}),
        ("", "announce the dns servers 9.9.9.9 and 2620:fe::fe to all devices",
         {"dhcp.lan.dhcp_option": ["6,9.9.9.9"], "dhcp.lan.dns": ["2620:fe::fe"]}),
    ],
    "dhcp_dns_own": [
        (ANNOUNCED, "announce the router itself as dns to the clients again",
         {"dhcp.lan.dhcp_option": None, "dhcp.lan.dns_service": None}),
    ],
    "port_network": [
        ("", "put lan3 into a network of its own",
         {"network.@device[0].ports": ["lan1", "lan2", "lan4"], "network.net_lan3.device": "lan3",
          "network.net_lan3.ipaddr": "192.168.3.1", "dhcp.net_lan3.interface": "net_lan3",
          "firewall.net_lan3.input": "REJECT", "firewall.net_lan3_wan.dest": "wan",
          "firewall.net_lan3_in.dest_port": "53 67"}),
        ("", "lan3 should be a separate network with 192.168.50.1",
         {"network.net_lan3.ipaddr": "192.168.50.1", "network.net_lan3.netmask": "255.255.255.0"}),
    ],
    "zone_policy": [
        ("", "set the input policy of the lan zone to reject", {"firewall.@zone[0].input": "REJECT"}),
        ("", "set the forward policy of the wan zone to drop", {"firewall.@zone[1].forward": "DROP"}),
    ],
    "dns_servers": [("", "use cloudflare dns", {"network.wan.peerdns": "0", "network.wan6.peerdns": "0"})],
    "dns_own": [(HOME, "use the provider's dns again", {"network.wan.peerdns": None, "network.wan.dns": None})],
    "dns_name": [
        ("", "let cloud.lan point to 192.168.1.105",
         {"dhcp.oasis_name_1": "domain", "dhcp.oasis_name_1.name": "cloud.lan",
          "dhcp.oasis_name_1.ip": "192.168.1.105"}),
    ],
    "dns_block": [("", "block the domain example.com", {"dhcp.@dnsmasq[0].address": ["/example.com/"]})],
    "dns_unblock": [(BLOCKED, "unblock the domain example.com", {"dhcp.@dnsmasq[0].address": None})],
    "adblock_switch": [("", "turn off the ad blocker", {"adblock.global.adb_enabled": "0"})],
    "vpn_switch": [(VPN, "turn off the vpn", {"network.wg0.disabled": "1"})],
    "vpn_peer_remove": [(VPN, "remove the vpn peer phone", None)],
    "qos_limit": [
        ("", "limit the download to 20 Mbit/s", {"sqm.eth1.download": "20000", "sqm.eth1.enabled": "1"}),
        ("", "limit the upload to 5 Mbit/s", {"sqm.eth1.upload": "5000", "sqm.eth1.enabled": "1"}),
    ],
    "qos_switch": [("", "turn on qos", {"sqm.eth1.enabled": "1"})],
    "time_zone": [("", "set the time zone to Tokyo", {"system.@system[0].zonename": "Asia/Tokyo"})],
    "ntp_server": [("", "use ptbtime1.ptb.de as time server", {"system.ntp.server": ["ptbtime1.ptb.de"]})],
    "ntp_switch": [("", "turn off ntp", {"system.ntp.enabled": "0"})],
    "led_switch": [
        (LED, "turn off the leds", {"system.@led[0].trigger": "none", "system.@led[0].default": "0",
                                    "system.@led[1].trigger": "none", "system.@led[1].default": "0"}),
        (DARK, "turn on the leds", {"system.@led[0].trigger": "default-on", "system.@led[0].default": "1"}),
    ],
    "device_name": [
        ("", "rename the device 192.168.1.105 to archive",
         {"dhcp.oasis_host_1.name": "archive", "dhcp.oasis_host_1.mac": "aa:bb:cc:00:00:05"}),
        (HOME, "rename the device 192.168.1.105 to archive", {"dhcp.@host[0].name": "archive"}),
    ],
}  # fmt: skip
# Some cases change more than what stands there: new sections as a whole, tested in test_english_changes.py.
WHOLE = {
    "guest_setup",
    "block",
    "static_lease",
    "port_forward",
    "dns_servers",
    "time_zone",
    "device_name",
    "port_network",
    "router_port_open",
}
# What cannot be, and words of the answer.
REFUSED = {
    "set the 5 GHz channel to 6": "5 GHz",
    "set the 2.4 GHz channel to 36": "2.4 GHz",
    "set the wifi channel to 37": "37",
    "set the 2.4 GHz channel width to 160 MHz": "160",
    "use wpa3 for the wifi": "password",
    "set the dhcp range from 192.168.2.100 to 192.168.2.200": "192.168.1.1/24",
    "set the dhcp range from 192.168.1.100 to 10.0.0.7": "192.168.1.1/24",
    "set the dhcp range from 192.168.1.200 to 192.168.1.100": "192.168.1.200",
    "set the dhcp lease time to 1 minute": "",
    "let cloud.lan point to 8.8.8.8": "8.8.8.8",
    "no internet for kids-tablet from 20:00 to 20:00": "20:00",
    "limit the download to 20 Mbit/s": "sqm-scripts",
    "turn on upnp": "miniupnpd",
    "turn off the ad blocker": "adblock",
    "turn off the leds": "",
    "turn off the vpn": "",
    "remove the vpn peer phone": "",
    "set the wifi power to 99 dBm": "99",
    "unblock the domain example.com": "example.com",
    "wan static 203.0.113.5 gateway 203.0.113.1": "netmask",
    "set the wan to 203.0.113.5/24, gateway 198.51.100.1": "198.51.100.1",
    "set the wan to 192.168.1.77/24, gateway 192.168.1.254": "192.168.1.1/24",
    "put the internet on vlan 5000": "4094",
    "connect by pppoe with user otto@isp.example": "password",
    "put lan9 into a network of its own": "lan3",
    "lan3 should be a separate network with 192.168.1.1": "lan",
    "turn off the dmz": "",
    "close port 68": "Allow-DHCP-Renew",
    "open udp port 68 on the router": "already",
}
TABLE = [(intent, *case) for intent, cases in CASES.items() for case in cases]
IDS = ["%s-%d" % (intent, at) for intent, cases in CASES.items() for at in range(len(cases))]


def router_with(before="", files=None, extra=EXTRA):
    """Return a router with packages beside the stock ones, its files as UCI writes them."""
    router = Router(before, leases=MORE_LEASES)
    router.files.update(extra)
    router.files = {name: model.file_text(model.parse(data, name)) for name, data in router.files.items()}
    router.files = {name: data.encode() if isinstance(data, str) else data for name, data in router.files.items()}
    router.files.update(files or {})
    return router


def test_every_intent_that_changes_something_has_a_case():
    assert set(CASES) == {name for name, one in INTENTS.items() if "commands" in one}


@pytest.mark.parametrize(("intent", "before", "sentence", "wanted"), TABLE, ids=IDS)
def test_what_is_asked_comes_about(intent, before, sentence, wanted):
    router = router_with(before)
    events = router.ask(sentence)
    assert [name for name, _ in calls_of(events)] == ["configure"], text_of(events)
    assert check.check(steps_of(events), router.config) == []
    changes = router.changes(events)
    if wanted is None:
        gone = {path for path, value in changes.items() if value is None and path.count(".") == 1}
        assert gone and all(value is None or "@" in path for path, value in changes.items()), changes
    elif intent in WHOLE:
        assert {path: changes.get(path, "unchanged") for path in wanted} == wanted
    else:
        assert changes == wanted


@pytest.mark.parametrize(("intent", "before", "sentence", "wanted"), TABLE, ids=IDS)
def test_a_second_time_changes_nothing(intent, before, sentence, wanted):
    router = router_with(before)
    after = preview(router.files, steps_of(router.ask(sentence)))
    assert after != router.files
    again = router_with(files=after)
    events = again.ask(sentence)
    assert again.changes(events) == {}, text_of(events)
    assert calls_of(events) or len(text_of(events)) > 10


@pytest.mark.parametrize(("intent", "before", "sentence", "wanted"), TABLE, ids=IDS)
def test_taking_it_back_gives_the_same_bytes(intent, before, sentence, wanted):
    files = router_with(before).files
    after = preview(files, steps_of(router_with(before).ask(sentence)))
    back = dict(after)
    for name in files:
        if files[name] != after[name]:
            old, new, now = (model.parse(data, name) for data in (files[name], after[name], after[name]))
            steps, conflicts = reverse(old, new, now)
            assert not conflicts
            back = preview(back, steps)
    assert back == files


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_is_refused_and_told_why(sentence):
    events = router_with(extra={}).ask(sentence)
    assert not calls_of(events)
    assert REFUSED[sentence] in text_of(events) and "did not understand" not in text_of(events)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("no internet for the xbox from 20:00 to 22:00 on mondays and fridays", "Mondays, Fridays"),
        ("no internet for the xbox from 20:00 to 22:00 on weekdays", "Mondays to Fridays"),
        ("kein Internet für die xbox von 20 bis 22 Uhr am Wochenende", "am Wochenende"),
    ],
)
def test_days_are_told_in_the_owners_words(sentence, words):
    assert calls_of(router_with().ask(sentence))[0][1]["summary"].endswith(words)


def test_hours_that_are_partly_there_are_completed():
    router = router_with(HOURS)
    changes = router.changes(router.ask("no internet for kids-tablet and the xbox from 20:00 to 22:00"))
    assert changes == hours(2, "20:00", "22:00", None, "aa:bb:cc:00:00:04", "xbox")


def test_number_of_a_channel_that_two_bands_have_means_the_lower_one():
    six = "uci set wireless.radio2=wifi-device\nuci set wireless.radio2.%s\n" % "band='6g'"
    router = router_with(six)
    assert router.changes(router.ask("set the wifi channel to 5")) == {"wireless.radio0.channel": "5"}


def test_new_forward_stands_before_that_of_all_ports():
    router = router_with(DMZ)
    after = preview(router.files, steps_of(router.ask("forward port 443 to nas")))
    names = [
        one.options["name"] for one in model.parse(after["firewall"], "firewall").sections if one.type == "redirect"
    ]
    assert names == ["Forward 443 to nas", "all"]


def test_port_that_is_not_ours_to_split_is_left_alone():
    old = "uci add network switch\nuci set network.@switch[-1].name='switch0'\n"
    sorted_by_vlan = "uci add network bridge-vlan\nuci set network.@bridge-vlan[-1].device='br-lan'\n"
    for before, words in ((old, "swconfig"), (sorted_by_vlan, "VLANs")):
        events = router_with(before).ask("put lan3 into a network of its own")
        assert not calls_of(events) and words in text_of(events)
    assert "swconfig" in text_of(router_with(old).ask("put the internet on vlan 7"))


@pytest.mark.parametrize(
    "sentence",
    [
        "PPPoE login otto@isp.example password secret7x",
        "das Internet braucht Benutzername und Passwort: otto@isp.example / secret7x",
        "configura internet con usuario otto@isp.example y contraseña secret7x",
        "PPPoEで接続して、ユーザー名はotto@isp.example、パスワードはsecret7x",
        "宽带拨号，账号otto@isp.example，密码secret7x",
    ],
)
def test_password_of_the_provider_is_in_no_words(sentence):
    events = router_with().ask(sentence)
    summary = calls_of(events)[0][1]["summary"]
    assert "otto@isp.example" in summary and "secret7x" not in summary + text_of(events)
    assert "uci set network.wan.password='secret7x'" in calls_of(events)[0][1]["commands"]


@pytest.mark.parametrize(
    "sentence",
    [
        "set the input policy of the lan zone to reject",
        "setze die Input-Richtlinie der LAN-Zone auf reject",
        "pon la política de entrada de la zona lan en reject",
        "lanゾーンのinputポリシーをrejectにして",
        "把lan区域的input策略设成reject",
    ],
)
def test_policy_that_locks_the_owner_out_is_a_plan_and_no_time_zone(sentence):
    router = router_with()
    assert router.changes(router.ask(sentence)) == {"firewall.@zone[0].input": "REJECT"}


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("forward ports 8000 and 9000 to nas", ["8000", "9000"]),
        ("leite die Ports 8000 bis 8010 und 9000 an nas weiter", ["8000-8010", "9000"]),
        ("redirige los puertos 27015 a 27030 al nas", ["27015-27030"]),
        ("ポート27015から27030をnasに転送して", ["27015-27030"]),
        ("把端口27015到27030转发到nas", ["27015-27030"]),
    ],
)
def test_every_port_and_range_is_forwarded(sentence, wanted):
    router = router_with()
    changes = router.changes(router.ask(sentence))
    assert [value for path, value in sorted(changes.items()) if path.endswith(".src_dport")] == wanted


def test_ports_of_two_protocols_are_said_one_after_the_other():
    for sentence in ("forward udp 5000-5010 and tcp 6000 to nas", "UDP 5000-5010とTCP 6000をnasに転送して"):
        assert not calls_of(router_with().ask(sentence))
