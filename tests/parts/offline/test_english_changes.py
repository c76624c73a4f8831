"""What the router's configuration becomes after an English sentence, applied and compared option by option."""

import pytest

from tests.parts.offline.stock import GUEST, HOME, Router, calls_of, text_of

NAME = "system.@system[0].hostname"
KEYS = {
    "wireless.default_radio0.encryption": "psk2",
    "wireless.default_radio0.key": "hunter2hunter",
    "wireless.default_radio1.encryption": "psk2",
    "wireless.default_radio1.key": "hunter2hunter",
}
ENTERED = {path: value.replace("hunter2hunter", "«secret:0a1b2c3d»") for path, value in KEYS.items()}
SSIDS = {"wireless.default_radio0.ssid": "Attic", "wireless.default_radio1.ssid": "Attic"}
ON = {"wireless.radio0.disabled": "0", "wireless.radio1.disabled": "0"}
OFF = {"wireless.radio0.disabled": "1", "wireless.radio1.disabled": "1"}
DNS = {"network.wan.peerdns": "0", "network.wan.dns": ["1.1.1.1", "9.9.9.9"], "network.wan6.peerdns": "0"}
ZONES = {
    "Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3",
    "America/New_York": "EST5EDT,M3.2.0,M11.1.0",
    "Asia/Tokyo": "JST-9",
    "Asia/Kolkata": "IST-5:30",
    "UTC": "UTC",
}


def key(value):
    return {path: value if path.endswith("key") else found for path, found in KEYS.items()}


def ssid(value):
    return dict.fromkeys(SSIDS, value)


def zone(name):
    found = {"system.@system[0].zonename": name}
    return found if name == "UTC" else {**found, "system.@system[0].timezone": ZONES[name]}


def block(number, mac, name):
    path = f"firewall.oasis_block_{number}"
    options = {"name": "Block " + name, "src": "lan", "src_mac": mac, "dest": "wan", "proto": "all", "target": "REJECT"}
    return {path: "rule", **{path + "." + option: value for option, value in options.items()}}


def lease(mac, name, ip):
    path = "dhcp.oasis_host_1"
    return {path: "host", path + ".name": name, path + ".mac": mac, path + ".ip": ip}


def forward(port, ip, name, inner=None, proto=("tcp", "udp"), number=1):
    path = f"firewall.oasis_forward_{number}"
    options = {"name": f"Forward {port} to {name}", "src": "wan", "src_dport": port, "dest": "lan", "dest_ip": ip}
    options.update(dest_port=inner or port, proto=list(proto), target="DNAT")
    return {path: "redirect", **{path + "." + option: value for option, value in options.items()}}


def guest(ssid, key, radio="radio0", ap="default_radio0", encryption="psk2"):
    changes = {
        "network.guest": "interface",
        "network.guest.proto": "static",
        "network.guest.ipaddr": "192.168.3.1",
        "network.guest.netmask": "255.255.255.0",
        "wireless.guest": "wifi-iface",
        "wireless.guest.device": radio,
        "wireless.guest.mode": "ap",
        "wireless.guest.network": "guest",
        "wireless.guest.ssid": ssid,
        "wireless.guest.encryption": encryption,
        "wireless.guest.isolate": "1",
        "dhcp.guest": "dhcp",
        "dhcp.guest.interface": "guest",
        "dhcp.guest.start": "100",
        "dhcp.guest.limit": "150",
        "dhcp.guest.leasetime": "1h",
        "firewall.guest": "zone",
        "firewall.guest.name": "guest",
        "firewall.guest.network": ["guest"],
        "firewall.guest.input": "REJECT",
        "firewall.guest.output": "ACCEPT",
        "firewall.guest.forward": "REJECT",
        "firewall.guest_wan": "forwarding",
        "firewall.guest_wan.src": "guest",
        "firewall.guest_wan.dest": "wan",
        "firewall.guest_dns": "rule",
        "firewall.guest_dns.name": "Allow-DNS-Guest",
        "firewall.guest_dns.src": "guest",
        "firewall.guest_dns.proto": ["tcp", "udp"],
        "firewall.guest_dns.dest_port": "53",
        "firewall.guest_dns.target": "ACCEPT",
        "firewall.guest_dhcp": "rule",
        "firewall.guest_dhcp.name": "Allow-DHCP-Guest",
        "firewall.guest_dhcp.src": "guest",
        "firewall.guest_dhcp.proto": "udp",
        "firewall.guest_dhcp.dest_port": "67",
        "firewall.guest_dhcp.family": "ipv4",
        "firewall.guest_dhcp.target": "ACCEPT",
    }
    if key:
        changes["wireless.guest.key"] = key
    if ap:
        changes.update({f"wireless.{radio}.disabled": "0", f"wireless.{ap}.disabled": "1"})
    return changes


STOCK = {
    # the router's name
    "call this router attic": {NAME: "attic"},
    "Call this router Attic.": {NAME: "Attic"},
    "please call my router attic": {NAME: "attic"},
    "Could you please rename the router to attic?": {NAME: "attic"},
    "rename router attic": {NAME: "attic"},
    "hey oasis, name the router attic, thanks!": {NAME: "attic"},
    "set the hostname to attic": {NAME: "attic"},
    "change the host name of the router to attic": {NAME: "attic"},
    "I'd like to change the router's name to kitchen-gw": {NAME: "kitchen-gw"},
    "the router should be called attic": {NAME: "attic"},
    "SET THE HOSTNAME TO ATTIC": {NAME: "ATTIC"},
    'rename this router to "attic"': {NAME: "attic"},
    "renmae the router to attic": {NAME: "attic"},
    "chnage the hostname to attic": {NAME: "attic"},
    "rename the ruoter to attic": {NAME: "attic"},
    "give the router the name attic": {NAME: "attic"},
    # the name of the Wi-Fi
    "set the wifi name to Attic": SSIDS,
    "Rename my Wi-Fi to Attic, please": SSIDS,
    "call my wifi Attic": SSIDS,
    "change the SSID to Attic": SSIDS,
    "change the name of the wireless network to Attic": SSIDS,
    "change the wlan name to “Attic”": SSIDS,
    "my wifi should be called Attic": SSIDS,
    "set the wifi name to Tom and Jerry": ssid("Tom and Jerry"),
    "set the wifi name to Café": ssid("Café"),
    "set the wifi name to 'attic and restart dnsmasq'": ssid("attic and restart dnsmasq"),
    'set the wifi name to "it\'s $(reboot) `id` & ;"': ssid("it's $(reboot) `id` & ;"),
    "set the wifi name to ' padded '": ssid(" padded "),
    'call my wifi "FRITZ!Box #7 {json: [1]}"': ssid("FRITZ!Box #7 {json: [1]}"),
    "set the 5 GHz wifi name to Attic": {"wireless.default_radio1.ssid": "Attic"},
    "set the wifi name on 2.4 ghz to Attic": {"wireless.default_radio0.ssid": "Attic"},
    "set the wifi name to Attic on both bands": SSIDS,
    # its password
    "set the wifi password to hunter2hunter": KEYS,
    "change my wi-fi password to hunter2hunter": KEYS,
    "Can you change the wireless key to hunter2hunter?": KEYS,
    "change the password of the wifi to hunter2hunter": KEYS,
    "use hunter2hunter as the wifi password": KEYS,
    "protect the wifi with the password hunter2hunter": KEYS,
    "the wifi password should be hunter2hunter": KEYS,
    "the password for the wifi should be hunter2hunter": KEYS,
    "change the wifi password from the-old-key to hunter2hunter": KEYS,
    "set the wifi password to hunter2hunter.": KEYS,
    "set the wifi password to «secret:0a1b2c3d»": ENTERED,
    "use «secret:0a1b2c3d» as the wifi password, please": ENTERED,
    "set the wifi password to «hunter2hunter»": KEYS,
    "set the wifi password to hunter2hunter!": key("hunter2hunter!"),
    "chagne wfi pasword to hunter2hunter": KEYS,
    "set the wifi pasword to hunter2hunter": KEYS,
    'set the wifi password to "correct horse 7"': key("correct horse 7"),
    "set the wifi password to 'it\"s;reboot#'": key('it"s;reboot#'),
    'set the wifi password to "don\'t $HOME `id`"': key("don't $HOME `id`"),
    "set the wifi password to (abc)def[1]": key("(abc)def[1]"),
    "set the wifi password to a\\b\\c\\d'e": key("a\\b\\c\\d'e"),
    "set the 2.4GHz wifi password to hunter2hunter": {
        "wireless.default_radio0.encryption": "psk2",
        "wireless.default_radio0.key": "hunter2hunter",
    },
    # both
    "set the wifi name to Attic and the password to hunter2hunter": {**SSIDS, **KEYS},
    "change the wifi name to Attic and password to hunter2hunter": {**SSIDS, **KEYS},
    "Set SSID Attic with key hunter2hunter": {**SSIDS, **KEYS},
    "call my wifi Attic with password hunter2hunter": {**SSIDS, **KEYS},
    'rename the wifi to Attic and set the password to "hunter2hunter"': {**SSIDS, **KEYS},
    "set up a wifi called Attic with the password hunter2hunter": {**SSIDS, **KEYS},
    # on
    "turn on the wifi": ON,
    "switch the wifi on": ON,
    "enable wifi": ON,
    "Please turn Wi-Fi on": ON,
    "wifi on": ON,
    "trun on teh wifi": ON,
    "turn on the 5 GHz wifi": {"wireless.radio1.disabled": "0"},
    "enable the 2.4 ghz band": {"wireless.radio0.disabled": "0"},
    # guests
    "set up a guest wifi called Visitors with password welcome123": guest("Visitors", "welcome123"),
    "create a guest network named Visitors with the password welcome123": guest("Visitors", "welcome123"),
    "create a separate wifi for guests called Visitors with password welcome123": guest("Visitors", "welcome123"),
    "add guest wifi Visitors password welcome123": guest("Visitors", "welcome123"),
    "make a guest wifi named Visitors protected with welcome123": guest("Visitors", "welcome123"),
    "Please make a guest Wi-Fi called 'Our Guests' and password 'wel come 1'": guest("Our Guests", "wel come 1"),
    "I need a guest wifi called Visitors with password welcome123 on 5 ghz": guest(
        "Visitors", "welcome123", "radio1", "default_radio1"
    ),
    "set up an open guest wifi called Visitors": guest("Visitors", "", encryption="none"),
    "set up a guest wifi called Visitors without password": guest("Visitors", "", encryption="none"),
    # the LAN
    "change the LAN address to 192.168.2.1": {"network.lan.ipaddr": "192.168.2.1"},
    "set the router's ip to 10.0.0.1": {"network.lan.ipaddr": "10.0.0.1"},
    "change the lan ip from 192.168.1.1 to 192.168.2.1": {"network.lan.ipaddr": "192.168.2.1"},
    "move the router to 192.168.50.1": {"network.lan.ipaddr": "192.168.50.1"},
    "change the ip address of the router to 192.168.2.1/23": {
        "network.lan.ipaddr": "192.168.2.1",
        "network.lan.netmask": "255.255.254.0",
    },
    # fixed addresses
    "always give the printer 192.168.1.50": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "reserve 192.168.1.50 for hp-printer": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "give the printer a static ip": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.107"),
    "give the printer the static ip 192.168.1.50": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "add a static lease for 192.168.1.107 at 192.168.1.50": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "set a static IP of 192.168.1.50 for the printer": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "make the printer's IP static": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.107"),
    "create a dhcp reservation for the printer": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.107"),
    "the printer should always get 192.168.1.50": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "set the ip of the printer to 192.168.1.50": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    # ports
    "forward port 443 to nas": forward("443", "192.168.1.105", "nas"),
    "Please forward port 443 to the NAS": forward("443", "192.168.1.105", "nas"),
    "forward tcp port 443 to nas": forward("443", "192.168.1.105", "nas", proto=("tcp",)),
    "forward udp 51820 to 192.168.1.7": forward("51820", "192.168.1.7", "192.168.1.7", proto=("udp",)),
    "forward port 8080 to nas port 80": forward("8080", "192.168.1.105", "nas", inner="80"),
    "forward port 8080 to port 80 on nas": forward("8080", "192.168.1.105", "nas", inner="80"),
    "open port 25565 for the xbox": forward("25565", "192.168.1.104", "xbox"),
    "forward ports 8000-8010 to nas": forward("8000-8010", "192.168.1.105", "nas"),
    "set up a port forward for 443 to nas": forward("443", "192.168.1.105", "nas"),
    "forward ports 80 and 443 to nas": {
        **forward("80", "192.168.1.105", "nas"),
        **forward("443", "192.168.1.105", "nas", number=2),
    },
    "forward external port 8443 to nas port 443": forward("8443", "192.168.1.105", "nas", inner="443"),
    "forward TCP 443 from WAN to nas": forward("443", "192.168.1.105", "nas", proto=("tcp",)),
    "redirect port 443 from the internet to nas": forward("443", "192.168.1.105", "nas"),
    "foward port 443 to nas": forward("443", "192.168.1.105", "nas"),
    # names
    "use 1.1.1.1 and 9.9.9.9 as dns": DNS,
    "use 1.1.1.1, 9.9.9.9 as DNS servers": DNS,
    "set the dns servers to 1.1.1.1 and 9.9.9.9": DNS,
    "change my DNS to 1.1.1.1 and 9.9.9.9 please": DNS,
    "set dns to cloudflare": {**DNS, "network.wan.dns": ["1.1.1.1", "1.0.0.1"]},
    "use google dns": {**DNS, "network.wan.dns": ["8.8.8.8", "8.8.4.4"]},
    "use quad9 as dns server": {**DNS, "network.wan.dns": ["9.9.9.9", "149.112.112.112"]},
    "use 1.1.1.1 and 2606:4700:4700::1111 as dns servers": {
        **DNS,
        "network.wan.dns": ["1.1.1.1"],
        "network.wan6.dns": ["2606:4700:4700::1111"],
    },
    # the clock
    "set the time zone to Berlin": zone("Europe/Berlin"),
    "set the timezone to Europe/Berlin": zone("Europe/Berlin"),
    "change the router's time zone to New York": zone("America/New_York"),
    "use tokyo time": zone("Asia/Tokyo"),
    "set the clock to india": zone("Asia/Kolkata"),
    "set timezone to UTC": zone("UTC"),
    "the router is in Munich": zone("Europe/Berlin"),
    "timezone: America/New_York": zone("America/New_York"),
    # who may go online
    "block the xbox": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "Block the Xbox from the internet!": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "blcok teh xbox": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "no internet for the xbox": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "cut off the internet for the tv": block(1, "aa:bb:cc:00:00:02", "living-room-tv"),
    "take the tv off the internet": block(1, "aa:bb:cc:00:00:02", "living-room-tv"),
    "block Anna's iPhone": block(1, "aa:bb:cc:00:00:01", "annas-iphone"),
    "block 192.168.1.106": block(1, "aa:bb:cc:00:00:06", "192.168.1.106"),
    "block AA-BB-CC-00-00-09": block(1, "aa:bb:cc:00:00:09", "aa:bb:cc:00:00:09"),
    "block aabb.cc00.0009 from the internet": block(1, "aa:bb:cc:00:00:09", "aa:bb:cc:00:00:09"),
    "block the tv and the xbox": {
        **block(1, "aa:bb:cc:00:00:02", "living-room-tv"),
        **block(2, "aa:bb:cc:00:00:04", "xbox"),
    },
    # two wishes
    "call this router attic and set the time zone to Berlin": {NAME: "attic", **zone("Europe/Berlin")},
    "Rename the router to attic. Then block the xbox.": {NAME: "attic", **block(1, "aa:bb:cc:00:00:04", "xbox")},
    "set the wifi password to hunter2hunter and turn on the wifi": {**KEYS, **ON},
    "block the xbox and also block the tv": {
        **block(1, "aa:bb:cc:00:00:04", "xbox"),
        **block(2, "aa:bb:cc:00:00:02", "living-room-tv"),
    },
}

AT_HOME = {
    # encryption stays as it is where it takes a password
    "set the wifi password to hunter2hunter": {path: value for path, value in KEYS.items() if path.endswith("key")},
    "turn off the wifi": OFF,
    "disable the wireless network": OFF,
    "switch off the 5ghz wifi": {"wireless.radio1.disabled": "1"},
    "kill the wifi": OFF,
    "unblock the xbox": {path: None for path in block(1, "", "") if "name" not in path and "proto" not in path},
    "let the xbox go online again": {path: None for path in block(1, "", "") if not path.endswith(("name", "proto"))},
    "allow internet for the xbox": {path: None for path in block(1, "", "") if not path.endswith(("name", "proto"))},
    "block the tv": block(2, "aa:bb:cc:00:00:02", "living-room-tv"),
    "stop forwarding port 80": dict.fromkeys(
        ["firewall.@redirect[0]"]
        + ["firewall.@redirect[0]." + name for name in ("name", "src", "dest", "src_dport", "dest_ip", "target")]
    ),
    "close port 80": dict.fromkeys(
        ["firewall.@redirect[0]"]
        + ["firewall.@redirect[0]." + name for name in ("name", "src", "dest", "src_dport", "dest_ip", "target")]
    ),
    "always give nas 192.168.1.21": {"dhcp.@host[0].ip": "192.168.1.21"},
    "remove the static lease of nas": dict.fromkeys(
        ["dhcp.@host[0]", "dhcp.@host[0].name", "dhcp.@host[0].mac", "dhcp.@host[0].ip"]
    ),
    "use the provider's dns": {"network.wan.peerdns": None, "network.wan.dns": None},
    "set dns to 1.1.1.1": {"network.wan.dns": ["1.1.1.1"], "network.wan6.peerdns": "0"},
    "set up a guest wifi called Visitors with password welcome123": guest("Visitors", "welcome123", ap=""),
}

WITH_GUESTS = {
    "change the guest wifi password to welcome123": {"wireless.guest.key": "welcome123"},
    "rename the guest wifi to Friends": {"wireless.guest.ssid": "Friends"},
    "turn off the guest wifi": {"wireless.guest.disabled": "1"},
    # the owner's own Wi-Fi is not the guests'
    "set the wifi name to Attic": SSIDS,
    "set the password of the wifi to hunter2hunter": {
        path: value for path, value in KEYS.items() if path.endswith("key")
    },
}


def _cases():
    for before, table in (("", STOCK), (HOME, AT_HOME), (HOME + GUEST, WITH_GUESTS)):
        for sentence, changes in table.items():
            yield pytest.param(before, sentence, changes, id=sentence)


@pytest.mark.parametrize(("before", "sentence", "changes"), list(_cases()))
def test_sentence_changes_exactly_this(before, sentence, changes):
    router = Router(before)
    events = router.ask(sentence)
    assert [name for name, _ in calls_of(events)] == ["configure"], text_of(events)
    assert router.changes(events) == changes
    assert events[-1]["stop_reason"] == "tool_use"


def test_guest_on_both_bands_gets_a_bridge():
    router = Router(HOME)
    changes = router.changes(router.ask("set up a guest wifi called Visitors with password welcome123 on both bands"))
    assert changes["network.guest.device"] == changes["network.guest_bridge.name"] == "br-guest"
    assert (changes["wireless.guest.device"], changes["wireless.guest_2.device"]) == ("radio0", "radio1")


def test_guest_network_avoids_networks_in_use():
    router = Router("uci set network.lan.ipaddr='192.168.3.1'", ubus=False)
    changes = router.changes(router.ask("set up a guest wifi called Visitors with password welcome123"))
    assert changes["network.guest.ipaddr"] == "192.168.4.1"


def test_removing_the_guest_network_leaves_nothing_of_it():
    router = Router(HOME)
    made = router.ask("set up a guest wifi called Visitors with password welcome123 on both bands")
    before = dict(router.files)
    with_guests = Router(HOME + "\n".join(calls_of(made)[0][1]["commands"]))
    gone = with_guests.ask("remove the guest wifi")
    removed = Router(HOME + "\n".join(calls_of(made)[0][1]["commands"] + calls_of(gone)[0][1]["commands"]))
    assert removed.files == before


def test_turning_wifi_on_wakes_what_was_kept_off_for_guests():
    router = Router("uci set wireless.radio0.disabled='0'\nuci set wireless.default_radio0.disabled='1'")
    changes = router.changes(router.ask("turn on the wifi"))
    assert changes == {"wireless.radio1.disabled": "0", "wireless.default_radio0.disabled": "0"}


def test_enhanced_open_becomes_wpa3_and_six_gigahertz_gets_sae():
    router = Router("uci set wireless.default_radio0.encryption='owe'\nuci set wireless.radio1.band='6g'")
    changes = router.changes(router.ask("set the wifi password to hunter2hunter"))
    assert changes["wireless.default_radio0.encryption"] == "sae-mixed"
    assert changes["wireless.default_radio1.encryption"] == "sae"


def test_sections_are_those_of_this_router():
    router = Router("uci rename wireless.default_radio0=upstairs\nuci delete wireless.default_radio1")
    assert router.changes(router.ask("call my wifi Attic")) == {"wireless.upstairs.ssid": "Attic"}


def test_lan_address_keeps_the_form_it_has():
    steps = ("delete network.lan.netmask", "delete network.lan.ipaddr", "add_list network.lan.ipaddr=192.168.1.1/24")
    router = Router("\n".join("uci " + step for step in steps))
    changes = router.changes(router.ask("change the lan address to 192.168.2.1"))
    assert changes == {"network.lan.ipaddr": ["192.168.2.1/24"]}


def test_two_wishes_are_one_plan_in_order_with_the_other_calls():
    events = Router().ask("call this router attic and restart dnsmasq and show status")
    assert [name for name, _ in calls_of(events)] == ["configure", "service", "status"]
    assert calls_of(events)[1][1] == {"name": "dnsmasq", "action": "restart"}


def test_summary_is_one_line_and_holds_no_password():
    events = Router().ask('set the wifi name to Attic and the password to "correct horse 7"')
    summary = calls_of(events)[0][1]["summary"]
    assert "Attic" in summary and "correct" not in summary and "\n" not in summary
    assert "correct" not in text_of(events)
