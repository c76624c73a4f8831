"""WireGuard: a server and peers as plans, keys that nobody sees but the owner, what peers do."""

import json
import os
import re
import time
from types import SimpleNamespace

import pytest

from oasis.errors import UsageError
from oasis.parts.admin import x25519
from oasis.parts.admin.wireguard import WireGuard
from oasis.tools.router import Facts
from oasis.uci.model import parse, preview, tables
from tests.daemon.test_wiring import config, follow, of_type
from tests.llm.test_workers import root_with
from tests.oasisd import copy_root, start_daemon
from tests.parts.admin.codes import from_lines, read
from tests.parts.admin.world import approve, carried_out, program, put, router
from tests.recorder import Recorder, results

pytestmark = pytest.mark.part("admin")
NAME = 'Léa\'s "漢字" phone'
KEY = re.compile(r"private_key '([A-Za-z0-9+/]{43}=)'")


@pytest.fixture
def daemon(tmp_path):
    running = start_daemon(router(tmp_path / "router"))
    yield running
    running.stop()


def change(daemon, action, **given):
    return carried_out(daemon, daemon.call("wireguard.change", action=action, **given))


def refused(daemon, action, **given):
    """Return the message of a proposal that is refused."""
    card, told = change(daemon, action, **given)
    assert card is None, card
    return told["error"]["message"]


def shown(daemon, name, **given):
    found = daemon.call("wireguard.show", name=name, file=True, endpoint="vpn.example.org", **given)
    return taken(found), found


def taken(found):
    """Return the configuration that was left for the owner."""
    assert "file" in found, found
    assert os.stat(found["file"]).st_mode & 0o777 == 0o600
    with open(found["file"], encoding="utf-8") as file:
        text = file.read()
    os.remove(found["file"])
    return text


def keys(root):
    return KEY.findall(config(root, "network").decode())


def test_a_server_is_one_plan_with_its_firewall(daemon):
    card, told = change(daemon, "server")
    assert card["risk"] == "risky" and [one["package"] for one in card["diff"]] == ["network", "firewall"]
    assert card["secrets"] == [{"where": "network.wg0.private_key", "from": "generated on the router"}]
    assert any("from wan to the router, udp 51820" in reason for reason in card["reasons"])
    network, firewall = config(daemon.root, "network").decode(), config(daemon.root, "firewall").decode()
    (private,) = keys(daemon.root)
    assert told["public_key"] == x25519.public(private)
    assert "option proto 'wireguard'" in network and "list addresses '10.14.0.1/24'" in network
    assert firewall.count("list network 'wg0'") == 1 and "option dest_port '51820'" in firewall
    assert private not in json.dumps([card, told]) and private not in daemon.log()


def test_one_undo_takes_the_server_and_its_rule_back(daemon):
    before = config(daemon.root, "network"), config(daemon.root, "firewall")
    _, told = change(daemon, "server")
    started = daemon.call("change.undo", change=told["change"])
    carried_out(daemon, started)
    assert (config(daemon.root, "network"), config(daemon.root, "firewall")) == before


def test_the_tunnel_is_where_nothing_is(tmp_path):
    root = router(tmp_path / "router")
    text = config(root, "network").decode().replace("192.168.1.1", "10.20.0.1").replace("255.255.255.0", "255.0.0.0")
    put(root, "/etc/config/network", text, 0o600)
    daemon = start_daemon(root)
    try:
        assert change(daemon, "server")[1]["address"] == "172.29.0.1/24"
    finally:
        daemon.stop()


def test_the_owner_gets_a_code_that_a_phone_reads(daemon):
    change(daemon, "server")
    card, told = change(daemon, "add", name=NAME)
    assert told["address"] == "10.14.0.2" and any("everything (of 10.14.0.2)" in one for one in card["reasons"])
    text, found = shown(daemon, NAME)
    server, peer = keys(daemon.root)
    assert read(from_lines(found["qr"])) == [text]
    assert text.split("\n") == [
        f"# {NAME}", "[Interface]", f"PrivateKey = {peer}", "Address = 10.14.0.2/32", "DNS = 10.14.0.1", "", "[Peer]",
        f"PublicKey = {x25519.public(server)}", "Endpoint = vpn.example.org:51820", "AllowedIPs = 0.0.0.0/0, ::/0",
        "PersistentKeepalive = 25", "",
    ]  # fmt: skip
    assert server not in text
    assert "AllowedIPs = 10.14.0.0/24, 192.168.1.0/24\n" in shown(daemon, NAME, home=True)[0]
    assert daemon.call("audit.list")["lines"][0]["what"] == "shown"


def test_no_key_is_in_the_card_the_result_the_log_or_a_file_of_ours(daemon):
    change(daemon, "server")
    told = change(daemon, "add", name="phone")
    secrets = keys(daemon.root)
    assert len(secrets) == 2
    seen = json.dumps([told, daemon.call("wireguard.list"), daemon.call("change.list"), daemon.call("plan.list"),
                       daemon.call("audit.list")]) + daemon.log()  # fmt: skip
    for folder, _, names in os.walk(daemon.root + "/var/run/oasis"):
        for name in names:
            if os.path.isfile(os.path.join(folder, name)):
                with open(os.path.join(folder, name), "rb") as file:
                    seen += file.read().decode("latin-1")
    assert not [key for key in secrets if key in seen]


def test_peers_get_the_next_free_address_until_there_is_none(daemon):
    change(daemon, "server")
    path = daemon.root + "/etc/config/network"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    peers = "".join(
        f"\nconfig wireguard_wg0\n\toption public_key '{x25519.public(x25519.generate())}'\n"
        f"\tlist allowed_ips '10.14.0.{host}/32'\n" for host in range(2, 255) if host != 77
    )  # fmt: skip
    put(daemon.root, "/etc/config/network", text + peers, 0o600)
    assert change(daemon, "add", name="last")[1]["address"] == "10.14.0.77"
    assert refused(daemon, "add", name="one more") == "no address is free in 10.14.0.0/24"


def test_a_peer_gets_an_address_of_ipv6_too_where_the_tunnel_has_some(daemon):
    change(daemon, "server")
    path = daemon.root + "/etc/config/network"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    first = "\tlist addresses '10.14.0.1/24'\n"
    assert first in text
    only6 = ("\nconfig interface 'wg6'\n\toption proto 'wireguard'\n\toption listen_port '51821'\n"
             f"\toption private_key '{x25519.generate()}'\n\tlist addresses 'fd66::1/126'\n")  # fmt: skip
    text = text.replace(first, first + "\tlist addresses 'fd14:0:0:1::1/64'\n") + only6
    put(daemon.root, "/etc/config/network", text, 0o600)
    for name, host in (("one", 2), ("two", 3)):
        told = change(daemon, "add", name=name, interface="wg0")[1]
        assert told["address"] == f"10.14.0.{host}, fd14:0:0:1::{host}"
    text, found = shown(daemon, "two", interface="wg0")
    assert "Address = 10.14.0.3/32, fd14:0:0:1::3/128\nDNS = 10.14.0.1\n" in text
    assert read(from_lines(found["qr"])) == [text]
    home = shown(daemon, "two", interface="wg0", home=True)[0]
    inside = "10.14.0.0/24, fd14:0:0:1::/64, fd8c:fe35:ec99::/60, 192.168.1.0/24"
    assert f"AllowedIPs = {inside}\n" in home

    assert change(daemon, "add", name="six", interface="wg6")[1]["address"] == "fd66::2"
    assert "AllowedIPs = fd66::/126, fd8c:fe35:ec99::/60\n" in shown(daemon, "six", interface="wg6", home=True)[0]
    assert refused(daemon, "add", name="seven", interface="wg6") == "no address is free in fd66::/126"


def test_what_cannot_be_is_refused_with_the_reason(daemon):
    assert "no WireGuard here yet" in refused(daemon, "add", name="phone")
    change(daemon, "server")
    own = x25519.public(keys(daemon.root)[0])
    device = x25519.public(x25519.generate())
    assert "exists" in refused(daemon, "server")
    assert "is that of wg0" in refused(daemon, "server", interface="wg1")
    assert "cannot be the name" in refused(daemon, "server", interface="Wg-0")
    assert "is no port" in refused(daemon, "server", interface="wg1", port=70000)
    assert "needs a name" in refused(daemon, "add", name=" \n ")
    assert "no public key" in refused(daemon, "add", name="phone", public_key="secret")
    assert "router's own" in refused(daemon, "add", name="phone", public_key=own)
    card, told = change(daemon, "add", name="Phone", public_key=device)
    assert not card.get("secrets") and "private_key" not in told
    assert "already" in refused(daemon, "add", name="pHONE")
    assert "is that of the peer Phone" in refused(daemon, "add", name="tablet", public_key=device)
    assert "no peer 'laptop'" in refused(daemon, "remove", name="laptop")
    found = daemon.call("wireguard.show", name="phone", endpoint="vpn.example.org")
    assert "is not on this router" in found["error"]["message"]


def test_without_wireguard_the_packages_are_named(tmp_path):
    root = router(tmp_path / "router")
    os.remove(root + "/lib/netifd/proto/wireguard.sh")
    daemon = start_daemon(root)
    try:
        card, told = change(daemon, "server")
        assert card is None and "wireguard-tools" in told["error"]["hint"]
        assert "install kmod-wireguard" in told["error"]["hint"] or "apk add kmod" in told["error"]["hint"]
    finally:
        daemon.stop()


def test_a_peer_is_removed_and_its_key_forgotten(daemon):
    change(daemon, "server")
    change(daemon, "add", name=NAME)
    change(daemon, "forget", name=NAME.upper().replace("É", "é"))
    assert len(keys(daemon.root)) == 1
    assert "is not on this router" in daemon.call("wireguard.show", name=NAME)["error"]["message"]
    change(daemon, "remove", name="wg0_peer1")
    assert daemon.call("wireguard.list")["interfaces"][0]["peers"] == []


class Anonymous:
    """A router whose peers have no section names, as LuCI writes them, behind all other sections; no daemon."""

    root = files = None
    executor = SimpleNamespace(run=None)

    def __init__(self, folder, titles, more=""):
        text = config(copy_root(f"{folder}/router"), "network").decode()
        text += "\nconfig interface 'wg0'\n\toption proto 'wireguard'\n\tlist addresses '10.9.0.1/24'\n"
        for number, title in enumerate(titles):
            text += f"\nconfig wireguard_wg0\n\toption description '{title}'\n"
            text += f"\toption public_key '{public(number)}'\n\toption private_key '{number:02}{'B' * 41}='\n"
        self.data = (text + more).encode()
        self.facts = Facts(lambda name: tables(parse(self.data, name)), None, None, None)

    def change(self, operations, summary):
        self.data = preview({"network": self.data}, operations)["network"]
        return {"status": "applied"}

    def turn_starter(self):
        return self

    def came(self, role):
        return None

    def propose(self, work, came, name):
        work(self)
        return SimpleNamespace(id="run1", chat="chat1")

    def by_command(self, action, name):
        WireGuard(self).wireguard_change({"name": "root"}, action, name=name)

    def by_tool(self, action, name):
        WireGuard(self).call("wireguard", {"action": action, "name": name}, self, None)

    def peers(self):
        """Return the sections by their keys, without what their place in the file says."""
        every = tables(parse(self.data, "network")).values()
        return [{key: value for key, value in one.items() if key not in (".name", ".index")} for one in every]


def public(number):
    return f"{number:02}{'A' * 41}="


@pytest.mark.parametrize("way", ["by_command", "by_tool"])
def test_of_peers_without_section_names_just_the_one_that_is_meant_is_hit(tmp_path, way):
    router = Anonymous(tmp_path, [f"peer {number}" for number in range(12)])
    for number in (3, 11, 0, 7, 10, 1, 5, 9, 2, 4, 8, 6):
        before = router.peers()
        (own,) = [one for one in before if one.get("description") == f"peer {number}"]
        getattr(router, way)("forget", f"peer {number}")
        del own["private_key"]
        assert router.peers() == before
        getattr(router, way)("remove", f"peer {number}")
        before.remove(own)
        assert router.peers() == before


@pytest.mark.parametrize("way", ["by_command", "by_tool"])
def test_a_description_that_is_what_another_peer_is_called_hits_neither(tmp_path, way):
    named = f"\nconfig wireguard_wg0 'wg0_peer1'\n\toption public_key '{public(2)}'\n"
    router = Anonymous(tmp_path, ["wg0_peer1", public(0)], named)
    for name in ("wg0_peer1", public(0)):
        with pytest.raises(UsageError, match="2 peers are called") as caught:
            getattr(router, way)("remove", name)
        assert "public key" in caught.value.hint
    getattr(router, way)("remove", public(1))
    getattr(router, way)("remove", public(2))
    assert [one["public_key"] for one in router.peers() if "public_key" in one] == [public(0)]


def test_where_the_router_is_found_from_outside(daemon):
    change(daemon, "server")
    change(daemon, "add", name="phone")
    assert "no public name" in daemon.call("wireguard.show", name="phone")["error"]["message"]
    assert "is no name" in daemon.call("wireguard.endpoint", host="a b; reboot")["error"]["message"]
    assert daemon.call("wireguard.endpoint", host="[2001:db8::7]") == {"endpoint": "2001:db8::7"}
    assert "Endpoint = [2001:db8::7]:51820\n" in taken(daemon.call("wireguard.show", name="phone", file=True))
    assert daemon.call("wireguard.endpoint", host="") == {"endpoint": ""}
    service = "config service 'a'\n\toption enabled '1'\n\toption lookup_host 'me.example.net'\n"
    put(daemon.root, "/etc/config/ddns", service)
    assert daemon.call("wireguard.list")["endpoint"] == "me.example.net"


def test_handshakes_and_bytes_of_each_peer_without_the_keys_of_the_dump(daemon):
    change(daemon, "server")
    change(daemon, "add", name="phone")
    change(daemon, "add", name="tablet")
    server, phone, _ = keys(daemon.root)
    lines = [
        ["wg0", server, x25519.public(server), "51820", "off"],
        ["wg0", x25519.public(phone), "SHAREDSHAREDSHARED", "192.0.2.9:4000", "10.14.0.2/32",
         str(int(time.time()) - 90), "1048576", "2048", "off"],
    ]  # fmt: skip
    put(daemon.root, "/dump", "".join("\t".join(line) + "\n" for line in lines))
    program(daemon.root, "wg", f"cat {daemon.root}/dump")
    daemon.stop()
    again = start_daemon(daemon.root)
    try:
        found = again.call("wireguard.list")
        (one,) = found["interfaces"]
        assert one["up"] and one["public_key"] == x25519.public(server)
        first, second = one["peers"]
        assert 90 <= first["handshake_s_ago"] < 120
        assert (first["received_bytes"], first["sent_bytes"]) == (1048576, 2048)
        assert second["name"] == "tablet" and "received_bytes" not in second
        assert server not in json.dumps(found) and "SHARED" not in json.dumps(found)
    finally:
        again.stop()


def test_a_model_sees_names_of_peers_when_it_asks_for_them(tmp_path):
    model = Recorder(
        [("wireguard", {"action": "list"})], [("wireguard", {"action": "list", "names": True})], "There is one."
    )
    root = root_with(tmp_path, "openai", model.url, "scripted", "sk-testkey-000000")
    network = root + "/etc/config/network"
    with open(network, "a", encoding="utf-8") as file:
        file.write("\nconfig interface 'wg0'\n\toption proto 'wireguard'\n\nconfig wireguard_wg0\n"
                   "\toption description 'Bretzel'\n")  # fmt: skip
    daemon = start_daemon(root)
    try:
        follow(daemon, daemon.call("run.start", message="which WireGuard peers are there?"))
        first, second = (body.count("Bretzel") for body in model.bodies()[1:3])
        assert (first, second) == (0, 1)
        told = json.loads(results(json.loads(model.bodies()[1]))[-1])["notes"]
        assert "oasis wireguard show NAME" in told[-2] and "no public name" in told[-1]
    finally:
        daemon.stop()
        model.close()


def test_a_model_makes_a_peer_and_sees_no_key(tmp_path):
    model = Recorder(
        [("wireguard", {"action": "server"})], [("wireguard", {"action": "add", "name": "phone"})],
        [("wireguard", {"action": "list"})], "Scan the code.",
    )  # fmt: skip
    root = root_with(tmp_path, "openai", model.url, "scripted", "sk-testkey-000000")
    put(root, "/lib/netifd/proto/wireguard.sh", "#!/bin/sh\n")
    daemon = start_daemon(root)
    try:
        started = daemon.call("run.start", message="set up WireGuard with a peer called phone")
        kept, since = [], 0
        while True:
            reply = daemon.call("run.poll", run=started["run"], since=since, wait_ms=5000)
            since = reply["next"]
            for event in reply["events"]:
                if event["type"] == "plan":
                    approve(daemon, event["plan"])
                if event["type"] == "change" and event["change"]["state"] == "applied":
                    daemon.call("change.confirm", change=event["change"]["id"], unproved=True)
                    kept.append(event["change"]["id"])
            if of_type(reply["events"], "end"):
                break
        assert len(kept) == 2, "\n".join(map(str, model.messages()[1:]))
        secrets = keys(root)
        assert len(secrets) == 2
        sent = "".join(model.bodies())
        assert not [key for key in secrets if key in sent]
        assert all(x25519.public(key) in sent for key in secrets), "the public ones are told"
    finally:
        daemon.stop()
        model.close()
