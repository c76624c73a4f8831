"""WireGuard: a server on this router, its peers, what they do, and what a peer needs, for the owner alone.

Keys are made here (x25519.py) and go into a plan as a password would: cards, chats, logs and models see a mask. Server
and peers are UCI, so every change is a plan of `configure`'s kind. A peer's own private key stays in its section, as
LuCI keeps it, so that its QR code can be shown again; `forget` takes it out. What `wg show all dump` prints holds keys:
only what is named here leaves `_live`. netifd does not hear of peers that come or go: files/etc/init.d/oasis-wireguard.

Source: netifd's proto handler wireguard.sh for the options, wg(8) for the fields of the dump.
"""

from __future__ import annotations

import re

from oasis.catalogue.address_text import text_of
from oasis.change.audit import NO_PLAN
from oasis.change.text_origin import GENERATED
from oasis.core import addresses, clean
from oasis.errors import ToolError, UsageError
from oasis.parts.admin import programs, qr, x25519
from oasis.tools.router import dicts, tunnels
from oasis.uci.model import label, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services
    from oasis.api.shapes import Started
    from oasis.change.shapes import Operation, Role
    from oasis.parts.admin.shapes import Interface, Network, Peer, PeerConfig, Section, WireGuardList
    from oasis.tools.operator import Operator
    from oasis.tools.router import Facts, Watch
    from oasis.tools.shapes import Arguments, Result

NAME_CHARS = 64
_PORT = 51820  # IANA has none; every guide has this one
_HANDLER = "/lib/netifd/proto/wireguard.sh"
_NAMES = "kmod-wireguard wireguard-tools"
_PACKAGES = "the packages kmod-wireguard and wireguard-tools are needed"
_INTERFACE = re.compile(r"[a-z][a-z0-9_]{0,14}\Z")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?\Z")
# Where a tunnel may be, in this order: the first that nothing here uses.
_NETWORKS = (*("10.%d.0.0" % one for one in range(14, 64)), *("172.29.%d.0" % one for one in range(64)),
             *("192.168.%d.0" % one for one in range(200, 250)))  # fmt: skip
_LENGTH = 24
_SHOWN = "the owner sees a peer's QR code by `oasis wireguard show NAME`, or on the page WireGuard"
_NO_ENDPOINT = "no public name or address of this router is known: the owner gives it with --endpoint, or sets up DDNS"
_ENDPOINT = "/wireguard.conf"  # *.conf there is kept with a new firmware


class WireGuard:
    """The WireGuard of one router."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._router = programs.router(kit)
        self.source = self

    # What the owner calls

    def wireguard_list(self) -> WireGuardList:
        return self._list(self._kit.facts, programs.watch(self._kit, 20.0))

    def wireguard_change(self, role: Role, action: str, **given: str | int) -> Started:
        """Start a run that proposes a change: server, add, remove or forget."""
        propose = lambda operator: self._change({"action": action, **given}, operator)  # noqa: E731
        run = self._kit.turn_starter().propose(propose, self._kit.came(role), name="wireguard")  # type: ignore[arg-type]
        return {"run": run.id, "chat": run.chat}

    def wireguard_show(
        self, role: Role, name: str, interface: str = "", endpoint: str = "", home: bool = False, file: bool = False
    ) -> PeerConfig:  # fmt: skip
        """Return what a peer needs to connect, its private key too: as lines of a QR code, and in a file on request.

        Replies are masked on their way, and no secret is worth an exception: the file is in RAM, for root alone, and
        who asked takes it away. Raises: ToolError where the router does not have that key or no
        endpoint is known.
        """
        facts = self._kit.facts
        server, own = self._server(facts, interface)
        found = self._peer(facts, server, name)
        title, private = _title(found), str(found.get("private_key") or "")
        if not private:
            hint = "it was made there; give it the router's public key: oasis wireguard"
            raise ToolError("the private key of %s is not on this router" % title, hint)
        networks = _networks(own)
        given = words(found.get("allowed_ips"))
        host = checked_host(endpoint) if endpoint else self._endpoint(facts)
        if not host:
            hint = "say under which name or address the router is reached from outside: --endpoint NAME"
            raise ToolError("no public name or address of this router is known", hint)
        # Without an address of its own a peer gets no answer: of a family that it has none of, nothing is sent here.
        ranges = [*map(_range_text, networks), *_home_networks(facts)]
        families = {":" in text for text in given} or {False, True}
        inside = [one for one in dict.fromkeys(ranges) if (":" in one) in families]
        dns = next((one["router"] for one in networks), "")
        lines = [
            "# %s" % title,
            "[Interface]",
            "PrivateKey = %s" % private,
            "Address = %s" % ", ".join(given),
            *(["DNS = %s" % dns] if dns else []),
            "",
            "[Peer]",
            "PublicKey = %s" % x25519.public(str(own.get("private_key") or "")),
            *(["PresharedKey = %s" % found["preshared_key"]] if found.get("preshared_key") else []),
            "Endpoint = %s:%s" % ("[%s]" % host if ":" in host else host, own.get("listen_port") or _PORT),
            "AllowedIPs = %s" % (", ".join(inside) if home else "0.0.0.0/0, ::/0"),
            "PersistentKeepalive = 25",
            "",
        ]
        text = "\n".join(lines)
        self._kit.audit.write("shown", {**NO_PLAN, "call": {"name": "wireguard show %s" % title}}, str(role["name"]))
        shown: PeerConfig = {"name": title, "qr": qr.half_blocks(qr.modules(text)), "endpoint": host}
        if not file:
            return shown
        folder = self._kit.root.run_folder + "/wireguard"
        self._kit.files.folder(folder)
        path = "%s/%s.conf" % (folder, self._kit.new_id())
        self._kit.files.replace(path, text.encode("utf-8"))
        return {**shown, "file": path}

    def wireguard_endpoint(self, host: str) -> dict[str, str]:
        """Keep under which name or address the router is reached from outside, "" to look for it each time."""
        path = self._kit.root.state_folder + _ENDPOINT
        if host:
            self._kit.files.replace(path, checked_host(host).encode() + b"\n")
        else:
            self._kit.files.forget(path)
        return {"endpoint": self._endpoint(self._kit.facts)}

    # The tool

    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result:
        """Call the tool."""
        if arguments.get("action", "list") == "list":
            found = self._list(operator.facts.asked(arguments.get("names")), watch.within(20.0))
            notes = [*found.get("notes", []), _SHOWN, *([] if found["endpoint"] else [_NO_ENDPOINT])]
            return {**found, "notes": notes}
        return self._change(arguments, operator)

    def _list(self, facts: Facts, watch: Watch) -> WireGuardList:
        live = self._live(watch)
        found: list[Interface] = []
        for own in facts.sections("network", "interface"):
            if own.get("proto") != "wireguard":
                continue
            name = str(own[".name"])
            public = x25519.public(str(own.get("private_key") or ""))
            shown: Interface = {
                "interface": name, "public_key": public, "port": str(own.get("listen_port") or ""),
                "addresses": words(own.get("addresses")), "up": name in live, "peers": [],
            }  # fmt: skip
            for one in facts.sections("network", "wireguard_" + name):
                shown["peers"].append(self._shown(facts, one, live.get(name, {})))
            found.append(shown)
        answer: WireGuardList = {"interfaces": found, "endpoint": self._endpoint(facts)}
        if facts.shown:
            answer["untrusted"] = sorted(facts.shown)
        if not self._router.has("wg"):
            answer["notes"] = ["this router has no program wg: " + _PACKAGES]
        return answer

    def _shown(self, facts: Facts, section: Section, live: dict[str, list[str]]) -> Peer:
        key = str(section.get("public_key") or "")
        peer: Peer = {
            "peer": str(section[".name"]), "name": str(facts.text("network", section, "description") or ""),
            "addresses": words(section.get("allowed_ips")), "public_key": key,
        }  # fmt: skip
        if section.get("disabled") == "1":
            peer["disabled"] = True
        fields = live.get(key)
        if fields is not None:
            seen, received, sent = (int(one) if one.isdecimal() else 0 for one in fields)
            peer["handshake_s_ago"] = max(facts.now_s() - seen, 0) if seen else None
            peer["received_bytes"], peer["sent_bytes"] = received, sent
        return peer

    def _live(self, watch: Watch) -> dict[str, dict[str, list[str]]]:
        """Return what tunnels() makes of what wg says, {} without wg."""
        has_wg = self._router.has("wg")
        return tunnels(self._router.run(["wg", "show", "all", "dump"], watch, 10.0)[1]) if has_wg else {}

    # Plans

    def _change(self, arguments: Arguments, operator: Operator) -> Result:
        action, name = str(arguments["action"]), str(arguments.get("name") or "")
        interface, key = str(arguments.get("interface") or ""), str(arguments.get("public_key") or "")
        if action == "server":
            port = arguments.get("port") or _PORT
            return self._make_server(operator, interface or "wg0", int(str(port)))
        server, own = self._server(operator.facts, interface)
        if action == "add":
            return self._add(operator, server, own, name, key)
        place = label(operator.facts.config("network"), self._peer(operator.facts, server, name))
        title = clean.line(name)
        if action == "remove":
            gone: Operation = {"op": "delete", "package": "network", "section": place}
            return {**operator.change([gone], "remove the peer %s of WireGuard" % title)}
        if action == "forget":
            gone = {"op": "delete", "package": "network", "section": place, "option": "private_key"}
            return {**operator.change([gone], "forget the private key of the peer %s" % title)}
        raise UsageError("unknown action %r" % action[:40], "list, server, add, remove or forget")

    def _make_server(self, operator: Operator, name: str, port: int) -> Result:
        facts = operator.facts
        if not self._kit.files.size(self._kit.root.path(_HANDLER)):
            install = "apk add" if self._router.has("apk") else "opkg install"
            raise ToolError("this router has no WireGuard", "%s: %s %s" % (_PACKAGES, install, _NAMES))
        if not _INTERFACE.match(name):
            raise UsageError("%r cannot be the name of an interface" % name[:40], "like wg0")
        interfaces = facts.config("network")
        if name in interfaces:
            raise UsageError("the network %s exists" % name, "add a peer to it, or name another interface")
        if not 0 < port < 65536:
            raise UsageError("%d is no port" % port, "like %d" % _PORT)
        for one in facts.sections("network", "interface"):
            if one.get("proto") == "wireguard" and one.get("listen_port") == str(port):
                raise UsageError("port %d is that of %s" % (port, one[".name"]), "give another port")
        base = _free_network(facts)
        private = x25519.generate()
        router = text_of(4, base + 1)
        operations = _section("network", name, "interface", {
            "proto": "wireguard", "private_key": private, "listen_port": str(port),
        })  # fmt: skip
        address = "%s/%d" % (router, _LENGTH)
        operations.append({"op": "add_list", "package": "network", "section": name, "option": "addresses",
                           "value": address})  # fmt: skip
        zones = facts.sections("firewall", "zone")
        home = next((at for at, one in enumerate(zones) if "lan" in words(one.get("network"))), -1)
        notes = []
        if home >= 0:
            operations.append({"op": "add_list", "package": "firewall", "section": "@zone[%d]" % home,
                               "option": "network", "value": name})  # fmt: skip
        else:
            notes.append("no firewall zone has the network lan: put %s into a zone yourself" % name)
        outside = next((str(one.get("name")) for one in zones if one.get("masq") == "1"), "")
        if outside:
            operations += _section("firewall", "allow_" + name, "rule", {
                "name": "Allow-WireGuard-" + name, "src": outside, "proto": "udp", "dest_port": str(port),
                "target": "ACCEPT",
            })  # fmt: skip
        else:
            notes.append("no firewall zone leads outside: open the port %d yourself" % port)
        result = operator.change(operations, "WireGuard server %s" % name, known={private: GENERATED})
        found: Result = {**result, "public_key": x25519.public(private), "address": address, "port": port}
        return {**found, "notes": [*result.get("notes", []), *notes]} if notes else found

    def _add(self, operator: Operator, server: str, own: Section, name: str, key: str) -> Result:
        name = clean.line(name).strip()
        if not name or len(name) > NAME_CHARS:
            raise UsageError("a peer needs a name of 1 to %d characters" % NAME_CHARS, "like phone")
        facts = operator.facts
        peers = facts.sections("network", "wireguard_" + server)
        if key and not x25519.decoded(key):
            raise UsageError(
                "that is no public key of WireGuard", "43 letters and digits and a =, as `wg pubkey` prints"
            )
        for one in peers:
            if _title(one).casefold() == name.casefold():
                raise UsageError("there is a peer %s already" % name, "remove it first, or take another name")
            if key and one.get("public_key") == key:
                raise UsageError("this key is that of the peer %s" % _title(one), "each device has a key of its own")
        if key and key == x25519.public(str(own.get("private_key") or "")):
            raise UsageError("this key is the router's own", "give that of the device")
        given = _free_addresses(server, own, peers)
        private = "" if key else x25519.generate()
        public = key or x25519.public(private)
        taken = facts.config("network")
        section = next(one for one in ("%s_peer%d" % (server, at) for at in range(1, 1 << 16)) if one not in taken)
        options = {"description": name, "public_key": public, **({"private_key": private} if private else {})}
        operations = _section("network", section, "wireguard_" + server, options)
        for one_address in given:
            operations.append({"op": "add_list", "package": "network", "section": section, "option": "allowed_ips",
                               "value": "%s/%d" % (one_address, 128 if ":" in one_address else 32)})  # fmt: skip
        known = {private: GENERATED} if private else {}
        result = operator.change(operations, "add %s to WireGuard" % name, known=known)
        how = "oasis wireguard show NAME" if private else "the router's public key and this address go into the device"
        told = "the owner gets the configuration and its QR code by: " + how if private else how
        server_key = x25519.public(str(own.get("private_key") or ""))
        found: Result = {**result, "peer": section, "address": ", ".join(given), "public_key": public,
                         "server_key": server_key}  # fmt: skip
        return {**found, "notes": [*result.get("notes", []), told]}

    def _server(self, facts: Facts, interface: str) -> tuple[str, Section]:
        """Return the name and section of the interface that is meant.

        Raises: UsageError where there is none, or which one is not clear.
        """
        every = {str(one[".name"]): one for one in facts.sections("network", "interface")
                 if one.get("proto") == "wireguard"}  # fmt: skip
        named = {interface: every[interface]} if interface in every else {} if interface else every
        serving = {name: one for name, one in named.items() if one.get("listen_port")} or named
        if len(serving) == 1:
            return next(iter(serving.items()))
        if not serving:
            raise UsageError(
                "there is no WireGuard %s" % (interface or "here yet"),
                "the action server makes one, as does: oasis wireguard server",
            )
        raise UsageError("which of %s is not clear" % ", ".join(serving), "name the interface")

    def _peer(self, facts: Facts, server: str, name: str) -> Section:
        """Return the peer of a name, section or public key. Raises: UsageError."""
        peers = facts.sections("network", "wireguard_" + server)
        exact = name.strip()
        wanted = exact.casefold()
        same = [one for one in peers if wanted in (_title(one).casefold(), str(one[".name"]).casefold())
                or one.get("public_key") == exact] if exact else []  # fmt: skip
        if len(same) == 1:
            return same[0]
        if same:
            raise UsageError("%d peers are called %s" % (len(same), clean.line(name)), "name its public key")
        there = ", ".join(_title(one) if facts.shows_names else str(one[".name"]) for one in peers[:20])
        raise UsageError("%s has no peer %r" % (server, clean.line(name)[:80]), "there are: %s" % (there or "none yet"))

    def _endpoint(self, facts: Facts) -> str:
        """Return under which name or address the router is reached from outside, "" where nothing tells."""
        kept = self._kit.files.read(self._kit.root.state_folder + _ENDPOINT)
        if kept:
            return kept.decode("ascii", "replace").strip()
        for one in facts.sections("ddns", "service"):
            name = str(one.get("lookup_host") or one.get("domain") or "")
            if one.get("enabled") == "1" and _HOST.match(name) and "yourhost" not in name:
                return name
        for interface in facts.interfaces():
            for one in dicts(interface.get("ipv4-address")):
                address = str(one.get("address"))
                if not addresses.not_of_internet(address):
                    return address
        return ""


def checked_host(text: str) -> str:
    """Return a name or an address, or raise UsageError."""
    text = text.strip().strip("[]")
    if not _HOST.match(text) and addresses.number(text) is None:
        raise UsageError("%r is no name or address" % text[:80], "like vpn.example.org, without a port")
    return text


def _section(package: str, name: str, kind: str, options: dict[str, str]) -> list[Operation]:
    made: list[Operation] = [{"op": "set", "package": package, "section": name, "type": kind}]
    for option, value in options.items():
        made.append({"op": "set", "package": package, "section": name, "option": option, "value": value})
    return made


def _title(section: Section) -> str:
    return clean.line(str(section.get("description") or section[".name"]))


def _networks(own: Section) -> list[Network]:
    """Return the networks of an interface, one of IPv4 and one of IPv6 at most, in the order of its addresses."""
    found: dict[int, Network] = {}
    for text in words(own.get("addresses")):
        host, _, length = text.partition("/")
        parsed = addresses.number(host)
        if parsed is not None and parsed[0] not in found and (not length or length.isdecimal()):
            family, value = parsed
            size = 32 if family == 4 else 128
            bits = size - min(int(length or size), size)
            found[family] = {"family": family, "router": host, "first": value >> bits << bits, "bits": bits}
    return list(found.values())


def _range_text(network: Network) -> str:
    size = 32 if network["family"] == 4 else 128
    return "%s/%d" % (text_of(network["family"], network["first"]), size - network["bits"])


def _ranges(facts: Facts) -> list[tuple[int, int]]:
    """Return the IPv4 networks in use as (first address, bits of hosts): what is up, routed to, or configured."""
    pairs: list[tuple[object, object]] = []
    for one in facts.interfaces():
        pairs += [(item.get("address"), item.get("mask")) for item in dicts(one.get("ipv4-address"))]
        pairs += [(item.get("target"), item.get("mask")) for item in dicts(one.get("route"))]
    for section in facts.sections("network", "interface"):
        given = [*words(section.get("ipaddr")), *words(section.get("addresses"))]
        pairs += [(text.partition("/")[0], text.partition("/")[2] or _length(section.get("netmask"))) for text in given]
    found = []
    for address, length in pairs:
        value, size = addresses.number4(str(address)), str(length)
        if value is not None and size.isdecimal() and 0 < int(size) <= 32:
            bits = 32 - int(size)
            found.append((value >> bits << bits, bits))
    return found


def _length(netmask: object) -> str:
    value = addresses.number4(str(netmask or "255.255.255.0")) or 0
    return str(bin(value).count("1"))


def _home_networks(facts: Facts) -> list[str]:
    """Return the networks of the interface lan, as addresses with a length: of IPv6 what it was assigned."""
    section = facts.config("network").get("lan", {})
    live = next((one for one in facts.interfaces() if one.get("interface") == "lan"), {})
    found = ["%s/%s" % (one.get("address"), one.get("mask")) for one in dicts(live.get("ipv6-prefix-assignment"))
             if addresses.number(str(one.get("address"))) is not None]  # fmt: skip
    for text in words(section.get("ipaddr")):
        host, _, length = text.partition("/")
        bits = 32 - int(length or _length(section.get("netmask")))
        value = addresses.number4(host)
        if value is not None:
            found.append("%s/%d" % (text_of(4, value >> bits << bits), 32 - bits))
    return found


def _free_network(facts: Facts) -> int:
    used, bits = _ranges(facts), 32 - _LENGTH
    for text in _NETWORKS:
        base = addresses.number4(text) or 0
        if all(base >> max(bits, size) != first >> max(bits, size) for first, size in used):
            return base
    raise ToolError("no private network is free for a tunnel", "remove one, or set the interface up by configure")


def _free_addresses(server: str, own: Section, peers: list[Section]) -> list[str]:
    """Return the next free address of each network of a server. Raises: ToolError."""
    networks = _networks(own)
    if not networks:
        raise ToolError("%s has no address, so a peer gets none" % server, "give it one by configure")
    held = [text.partition("/")[0] for one in peers for text in words(one.get("allowed_ips"))]
    taken = {addresses.number(text) for text in [*held, *(one["router"] for one in networks)]}
    # A single address is no network to give from, unless there is nothing else.
    return [_free_address(one, taken) for one in [one for one in networks if one["bits"]] or networks]


def _free_address(network: Network, taken: set[tuple[int, int] | None]) -> str:
    # The last one is the broadcast address of IPv4; of IPv6 nobody has as many peers.
    for value in range(network["first"] + 1, network["first"] + (1 << network["bits"]) - 1):
        if (network["family"], value) not in taken:
            return text_of(network["family"], value)
    raise ToolError("no address is free in %s" % _range_text(network), "remove a peer, or make a second server")


def gather(kit: Services) -> WireGuard:
    return WireGuard(kit)
