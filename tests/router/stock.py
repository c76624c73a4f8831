"""A stock router in a test's memory: its configuration after some commands, leases and the answers of its bus."""

import copy
import json
import os

from oasis.change import uci_commands
from oasis.tools.router import Facts
from oasis.uci import model
from oasis.uci.model import preview

FOLDER = os.path.dirname(os.path.abspath(__file__))
NOW_S = 1_795_295_120
LEASES = """\
1795300000 aa:bb:cc:00:00:01 192.168.1.101 annas-iphone 01:aa:bb:cc:00:00:01
1795300000 aa:bb:cc:00:00:02 192.168.1.102 living-room-tv *
1795300000 aa:bb:cc:00:00:03 192.168.1.103 johns-iphone *
0 aa:bb:cc:00:00:04 192.168.1.104 xbox *
1795300000 aa:bb:cc:00:00:05 192.168.1.105 nas *
1795300000 aa:bb:cc:00:00:06 192.168.1.106 * *
1795300000 aa:bb:cc:00:00:07 192.168.1.107 HP-Printer *
"""
SERVICES = {
    name: {"enabled": True, "running": True} for name in ("dnsmasq", "dropbear", "firewall", "log", "network", "uhttpd")
}
# What happened on the router before, as uci commands on the stock configuration.
HOME = """
uci set wireless.radio0.disabled='0'
uci set wireless.radio1.disabled='0'
uci set wireless.default_radio0.ssid='Home'
uci set wireless.default_radio0.encryption='sae-mixed'
uci set wireless.default_radio0.key='the-old-key'
uci set wireless.default_radio1.ssid='Home'
uci set wireless.default_radio1.encryption='psk2'
uci set wireless.default_radio1.key='the-old-key'
uci set firewall.oasis_block_1=rule
uci set firewall.oasis_block_1.src='lan'
uci set firewall.oasis_block_1.src_mac='AA:BB:CC:00:00:04'
uci set firewall.oasis_block_1.dest='wan'
uci set firewall.oasis_block_1.target='REJECT'
uci set firewall.mine=rule
uci set firewall.mine.name='homework'
uci set firewall.mine.src='lan'
uci set firewall.mine.src_mac='aa:bb:cc:00:00:03'
uci set firewall.mine.dest='wan'
uci set firewall.mine.target='DROP'
uci add firewall redirect
uci set firewall.@redirect[-1].name='web'
uci set firewall.@redirect[-1].src='wan'
uci set firewall.@redirect[-1].dest='lan'
uci set firewall.@redirect[-1].src_dport='80'
uci set firewall.@redirect[-1].dest_ip='192.168.1.105'
uci set firewall.@redirect[-1].target='DNAT'
uci add dhcp host
uci set dhcp.@host[-1].name='nas'
uci set dhcp.@host[-1].mac='AA:BB:CC:00:00:05'
uci set dhcp.@host[-1].ip='192.168.1.20'
uci set network.wan.peerdns='0'
uci add_list network.wan.dns='9.9.9.9'
"""
GUEST = """
uci set network.guest=interface
uci set network.guest.proto='static'
uci set network.guest.ipaddr='192.168.3.1'
uci set network.guest.netmask='255.255.255.0'
uci set wireless.guest=wifi-iface
uci set wireless.guest.device='radio0'
uci set wireless.guest.mode='ap'
uci set wireless.guest.network='guest'
uci set wireless.guest.ssid='Visitors'
uci set wireless.guest.encryption='psk2'
uci set wireless.guest.key='the-old-key'
uci set dhcp.guest=dhcp
uci set dhcp.guest.interface='guest'
uci set firewall.guest=zone
uci set firewall.guest.name='guest'
uci add_list firewall.guest.network='guest'
uci set firewall.guest_wan=forwarding
uci set firewall.guest_wan.src='guest'
uci set firewall.guest_wan.dest='wan'
"""


class Router:
    """The stock configuration after some commands, with leases and a bus."""

    def __init__(self, before="", ubus=True, leases=LEASES):
        folder = os.path.join(FOLDER, "root/etc/config")
        self.files = {}
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as handle:
                self.files[name] = handle.read()
        self.files = preview(self.files, uci_commands.parse(before)[0])
        self.bus = _bus() if ubus else {}
        self.host_files = {"/tmp/dhcp.leases": leases.encode()}
        self.facts = Facts(self.config, self._call, self.host_files.get, lambda: NOW_S, lambda: list(self.files))

    def config(self, package):
        """Return a package as the cursor's get_all does."""
        if package not in self.files:
            return None
        found = {}
        for index, section in enumerate(model.parse(self.files[package], package).sections):
            head = {".name": section.name, ".type": section.type, ".anonymous": section.anonymous, ".index": index}
            found[section.name] = {**head, **copy.deepcopy(section.options)}
        return found

    def _call(self, name, method, arguments):
        return self.bus.get(name + " " + method)


def _bus():
    found = {"rc list": SERVICES}
    for name in os.listdir(os.path.join(FOLDER, "ubus")):
        if "~" in name:
            with open(os.path.join(FOLDER, "ubus", name), encoding="utf-8") as handle:
                found[name[: -len(".json")].replace("~", " ")] = json.load(handle)
    return found
