"""A stock router as the offline provider sees it, and what its answers come to."""

import copy
import json
import os

from oasis.catalogue import check
from oasis.change import uci_commands
from oasis.parts.offline.provider import Provider
from oasis.tools.router import Facts
from oasis.uci import model
from oasis.uci.model import preview

ONE = Provider()  # what it read of the files is kept


def reply(messages, facts, now_s):
    """Answer as the provider does; its files are read once for all tests."""
    return ONE.reply(messages, facts, now_s)


FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "router")
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

    def ask(self, *lines):
        """Say the lines one after another; return the events of the last answer."""
        messages = []
        for line in lines:
            messages.append({"role": "user", "content": line})
            events = reply(messages, self.facts, NOW_S)
            messages.append(assistant(events))
        return events

    def changes(self, events):
        """Carry out the uci commands of an answer; return {path: value or None when it is gone}."""
        steps = steps_of(events)
        after = preview(self.files, steps)
        before, now = _flat(self.files), _flat(after)
        found = {path: now.get(path) for path in {**before, **now} if before.get(path) != now.get(path)}
        assert check.check(steps, self.config) == []
        return found


def steps_of(events):
    """Return the operations of the configure call, read as the tool reads them."""
    calls = [event for event in events if event["type"] == "tool_use" and event["name"] == "configure"]
    assert len(calls) <= 1
    return [step for call in calls for step in uci_commands.parse("\n".join(call["input"]["commands"]))[0]]


def assistant(events):
    """Return the message that an answer is stored as."""
    blocks = [{"type": "text", "text": event["text"]} for event in events if event["type"] == "delta"]
    for event in events:
        if event["type"] == "tool_use":
            blocks.append({key: event[key] for key in ("type", "id", "name", "input")})
    return {"role": "assistant", "content": blocks}


def text_of(events):
    """Return the words of an answer."""
    return "".join(event["text"] for event in events if event["type"] == "delta")


def calls_of(events):
    """Return the tool calls of an answer as (name, input)."""
    return [(event["name"], event["input"]) for event in events if event["type"] == "tool_use"]


def _flat(files):
    found = {}
    for package, data in files.items():
        count = {}
        for section in model.parse(data, package).sections:
            index = count[section.type] = count.get(section.type, -1) + 1
            path = package + "." + (f"@{section.type}[{index}]" if section.anonymous else section.name)
            found[path] = section.type
            for option, value in section.options.items():
                found[path + "." + option] = value
    return found


def _bus():
    found = {"rc list": SERVICES}
    for name in os.listdir(os.path.join(FOLDER, "ubus")):
        if "~" in name:
            with open(os.path.join(FOLDER, "ubus", name), encoding="utf-8") as handle:
                found[name[: -len(".json")].replace("~", " ")] = json.load(handle)
    return found
