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
    "port_forward": [("", "forward port 443 to nas", {"firewall.oasis_forward_1.dest_ip": "192.168.1.105"})],
    "port_forward_remove": [(HOME, "remove the port forward for port 80", None)],
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
WHOLE = {"guest_setup", "block", "static_lease", "port_forward", "dns_servers", "time_zone", "device_name"}
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
