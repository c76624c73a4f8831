"""What fw4 makes of a firewall package, as far as it decides about packets to the router itself, or through it.

A chain is "input", "input_ZONE", "forward" or "forward_ZONE"; the last two only for protocol "". Order is fw4's. Knows
no packet. Source: firewall4, fw4.uc and templates/ruleset.uc.
"""

from __future__ import annotations

from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from oasis.change.reach.shapes import Added, Net, Networks, Rule, Ruleset, Table, Tables, Values, Zone

_ADDED = ("ipset", "rule", "redirect", "nat")  # what services add
_DEPENDS = "ipset helper limit start_date stop_date start_time stop_time weekdays mark dscp"
_PROTOCOLS = (
    "tcp udp icmp icmpv6 ipv6-icmp igmp esp ah gre sctp dccp udplite ipv6 ipip ipencap ospf vrrp l2tp pim "
    "comp rsvp eigrp"
)
# A browser opens some ten connections at once; below this the limit of all peers together may drop one of them.
_SYN_RATE, _SYN_BURST = 5, 10


def compile_rules(package: Tables, networks: Networks, added: list[Added], proto: str = "tcp") -> Ruleset:
    """Return the ruleset of a firewall package for "tcp", "udp" or "ipv6-icmp", or for "": all, and forwarding too.

    `added`: the rules of services (facts "firewall").
    """
    return _Compiler(package, networks, added, proto).run()


def infer_family(family: int | None, others: list[int]) -> int | None:
    """Return the family that a section is for (0 or None: both), -1 when its parts exclude each other."""
    for other in others:
        if not other or other == family:
            continue
        if family:
            return -1
        family = other
    return family


def family_of(values: list[Values]) -> int:
    """Return the one family of address values, 0 for none or both."""
    found = {net[0] for value in values for net in value["nets"]}
    return found.pop() if len(found) == 1 else 0


class _Compiler:
    def __init__(self, package: Tables, networks: Networks, added: list[Added], proto: str) -> None:
        self._package = package
        self._proto = proto
        self._asked = ("icmp", "ipv6-icmp") if proto == "ipv6-icmp" else (proto,)
        self._networks = networks
        of_services = [_section(number, rule) for number, rule in enumerate(added)]
        self._sections = [one for one in of_services if one[".type"] in _ADDED] + [*package.values()]
        self._reader = sections.Reader(networks)
        self._sets: dict[str, Values] = {}
        self._made: Ruleset = {
            "policy": "drop", "output": "drop", "forward": "drop", "zones": self._reader.zones, "rules": {},
            "redirects": {}, "includes": [], "doubt": "", "is_mute": False, "is_slow": False,
        }  # fmt: skip

    def run(self) -> Ruleset:
        self._defaults()
        for _, values in self._read("ipset", sections.IPSET):
            names = values.get("match")
            if names and "set" not in names and (values["family"] or not {"ip", "net"} & set(names)):
                self._sets[values["name"]] = values
        for section, values in self._read("zone", sections.ZONE):
            self._zone(section, values)
        for section, values in self._read("rule", sections.RULE):
            self._rule(section, values)
        if not self._proto:
            for section, values in self._read("forwarding", sections.FORWARDING):
                zone, dest = values["src"], values["dest"]
                family = infer_family(values.get("family"), [end["family"] or 0 for end in (zone, dest) if end != "*"])
                if family != -1:
                    rule: Rule = {**self._common(section, {"target": "accept"}, [], []), "family": family, "dest": dest}
                    chain = "forward" if zone == "*" else "forward_" + zone["name"]
                    self._made["rules"].setdefault(chain, []).append({**rule, "proto": "any", "types": []})
        for section, values in self._read("redirect", sections.REDIRECT):
            self._redirect(section, values)
        for section in [one for one in self._sections if one[".type"] == "nat"]:
            self._check_port(section, "snat_port")
        for section, values in self._read("include", sections.INCLUDE):
            self._include(section, values)
        if self._reader.broken:
            self._doubt("%r is in no address: the new firewall would not load" % self._reader.broken)
        return self._made

    def _read(self, kind: str, spec: str) -> Iterator[tuple[Table, Values]]:
        """Yield the sections that fw4 takes and that are enabled, each read when those before it are in place."""
        for section in [one for one in self._sections if one[".type"] == kind]:
            values = self._reader.parse(section, spec)
            if values and values["enabled"]:
                yield section, values

    def _label(self, section: Table) -> str:
        if section[".name"] not in self._package:
            return "a rule that a service added"
        name = section.get("name")
        place = "firewall." + sections.label(self._package, section)
        return "%s (%s)" % (place, name) if name else place

    def _doubt(self, reason: str) -> None:
        self._made["doubt"] = self._made["doubt"] or reason

    def _defaults(self) -> None:
        section = next(iter(sections.typed(self._package, "defaults")), {})
        values = self._reader.parse(section, sections.DEFAULTS)
        if values is None:
            self._doubt("%s has a value that fw4 does not take" % self._label(section))
            values = self._reader.parse({}, sections.DEFAULTS) or {}
        self._made["policy"], self._made["output"] = values["input"], values["output"]
        self._made["forward"] = values["forward"]
        is_limited = values.get("synflood_protect", values.get("syn_flood", False))
        rate, unit = values["synflood_rate"]
        self._made["is_slow"] = bool(is_limited) and (
            unit != "second" or rate < _SYN_RATE or (values["synflood_burst"] or _SYN_BURST) < _SYN_BURST
        )

    def _zone(self, section: Table, values: Values) -> None:
        subnets, name, label = values.get("subnet", []), values["name"], self._label(section)
        family = infer_family(values.get("family"), [family_of(subnets)])
        if family == -1:
            return
        # the addresses and the (is inverted, device) that it names; None for a device of unknown name
        held, devices = [], []
        named = [(one["invert"], one["device"]) for one in values.get("network", [])]
        named += [(False, key) for key, network in self._networks.items() if network["zone"] == name]
        for invert, key in named:
            if key in self._networks:
                held += self._networks[key]["addresses"]
                devices += [(invert, self._networks[key]["device"])] if self._networks[key]["device"] != "" else []
        devices += [(one["invert"], one["device"]) for one in values.get("device", []) if not one["any"]]
        is_bound = bool(devices or any(value["nets"] for value in subnets))
        if not all(value["is_complete"] for value in subnets):
            self._doubt("%s: not all addresses of a network are known" % label)
        turned = {4: values.get("masq"), 6: values.get("masq6")}
        if bool(turned[4]) != bool(turned[6]) and any(not turned[net[0]] for value in subnets for net in value["nets"]):
            # fw4 then asks one rule for both families, which nft refuses
            self._doubt("%s: masquerading and subnets are of different families" % label)
        if any(zone["name"] == name for zone in self._reader.zones):
            self._doubt("there are two zones named %s" % name)
        self._reader.zones.append({
            "name": name, "label": label, "family": family, "subnets": subnets,
            "input": values.get("input") or self._made["policy"],
            "output": values.get("output") or self._made["output"],
            "forward": values.get("forward") or self._made["forward"],
            "groups": _groups(devices) if is_bound else [],
            "masq": values.get("masq", False), "masq6": values.get("masq6", False), "has_dnat": False,
            "held": held,
        })  # fmt: skip

    def _common(self, section: Table, values: Values, sources: list[Values], targets: list[Values]) -> Rule:
        # the members of its set as far as the configuration lists all of them
        members = self._sets.get(values["ipset"]["name"], {}) if "ipset" in values else {}
        loaded = ["loaded from " + str(members["loadfile"])] if members.get("loadfile") else []
        return {
            "label": self._label(section), "family": values.get("family"), "sources": sources, "targets": targets,
            "ports": values.get("dest_port", []), "source_ports": values.get("src_port", []),
            "macs": values.get("src_mac", []), "device": values.get("device"),
            "direction": values.get("direction", "in"), "target": values.get("target") or "",
            "dest": None, "limit": values.get("limit"), "members": tuple(sorted([*members.get("entry", []), *loaded])),
            "conditions": {word: sections.text(section, word) for word in _DEPENDS.split() if values.get(word)},
        }  # fmt: skip

    def _set_family(self, values: Values) -> int:
        """Return the family of the set that a section matches, -1 when there is no such set."""
        if "ipset" not in values:
            return 0
        found = self._sets.get(values["ipset"]["name"])
        return found["family"] if found else -1

    def _protocols(self, values: Values, section: Table) -> list[str]:
        """Return the protocol asked for and "any", as far as a section is for them."""
        found = []
        for one in values["proto"]:
            if not one["any"] and one["name"] not in _PROTOCOLS.split() and not one["name"].isdigit():
                self._doubt("%s: nothing is known of protocol %s" % (self._label(section), one["name"]))
            is_asked = not self._proto or one["name"] in self._asked
            found += ["any"] if one["any"] else [one["name"]] if is_asked else []
        is_by_port = "ipset" in values and "port" in self._sets[values["ipset"]["name"]]["match"]
        return [self._proto if one == "any" and is_by_port else one for one in found]

    def _rule(self, section: Table, values: Values) -> None:
        target, zone = values.get("target"), values.get("src")
        needs = {"dscp": ("set_dscp",), "mark": ("set_mark", "set_xmark"), "helper": ("set_helper",)}
        is_whole = target not in needs or any(option in values for option in needs[target])
        if (target in ("helper", "notrack") and zone in (None, "*")) or (values.get("device") or {}).get("any"):
            is_whole = False
        if not is_whole or self._set_family(values) < 0:
            return  # without what its target needs
        if target in ("dnat", "snat", "masquerade"):
            what = (self._label(section), target)
            self._doubt("%s: %s is no target of a rule, the new firewall would not load" % what)
        is_untracked, is_through = target == "notrack", "dest" in values
        is_of_icmp = any(one["any"] or "icmp" in one["name"] for one in values["proto"])
        if not zone and target in ("reject", "drop") and is_of_icmp:
            self._made["is_mute"] = True
        is_verdict = target in ("accept", "reject", "drop") and not (is_through and self._proto)
        if not zone or not (is_untracked or is_verdict):
            return
        rule = self._common(section, values, values.get("src_ip", []), values.get("dest_ip", []))
        families = [self._set_family(values), family_of(rule["sources"]), family_of(rule["targets"])]
        families += [end["family"] or 0 for end in (zone, values.get("dest")) if isinstance(end, dict)]
        rule["dest"] = values.get("dest")
        rule["family"] = infer_family(rule["family"], families)
        way = "forward" if is_through else "input"
        chain = "notrack" if is_untracked else way if zone == "*" else "%s_%s" % (way, zone["name"])
        for proto in self._protocols(values, section) if rule["family"] != -1 else []:
            made: Rule = {**rule, "proto": proto, "types": []}
            if proto not in ("tcp", "udp"):
                made["ports"], made["source_ports"] = [], []
            if "icmp" in proto:
                made["types"] = values.get("icmp_type", [])
                made["family"] = 6 if proto == "ipv6-icmp" else rule["family"]
            self._made["rules"].setdefault(chain, []).append(made)

    def _redirect(self, section: Table, values: Values) -> None:
        if self._set_family(values) < 0:
            return
        self._check_port(section, "src_dport" if values["target"] == "snat" else "dest_port")
        if values["target"] == "snat":
            return
        zone, target = values.get("src"), values.get("dest_ip")
        if not zone or zone == "*" or (target and (target["invert"] or any(net[3] >= 0 for net in target["nets"]))):
            return
        zone["has_dnat"] = True
        dest: Zone | str | None = values.get("dest") or self._zone_of(target)
        if values["reflection"] and isinstance(dest, dict) and zone["masq"]:
            dest["has_dnat"] = True
        sources, heads, ports, source_ports = (
            [values[option]] if option in values else [] for option in ("src_ip", "src_dip", "src_dport", "src_port")
        )
        rule: Rule = {**self._common(section, values, sources, heads), "ports": ports, "source_ports": source_ports}
        if "dest_port" not in values and "src_dport" in values:
            values["dest_port"] = values["src_dport"]
        others = [self._set_family(values), family_of(sources), family_of(heads), family_of([target] if target else [])]
        others += [one["family"] or 0 for one in (zone, dest) if isinstance(one, dict)]
        rule["family"] = infer_family(rule["family"], others)
        for proto in self._protocols(values, section) if rule["family"] != -1 else []:
            for made in _rewrites({**rule, "proto": proto}, values, target):
                self._made["redirects"].setdefault(zone["name"], []).append(made)
                if values["reflection"] and isinstance(dest, dict) and made["to"]:
                    self._reflect(made, values, zone, dest)

    def _check_port(self, section: Table, option: str) -> None:
        """Doubt a section that gives a new port and asks for none: fw4 then writes no protocol, and nft refuses it."""
        asked = {"src_port", "src_dport", "dest_port"} - {option}
        if option in section and not asked & set(section):
            self._doubt("%s: with %s alone the new firewall would not load" % (self._label(section), option))

    def _reflect(self, rule: Rule, values: Values, zone: Zone, dest: Zone) -> None:
        """Add what sends a peer inside back when it uses the outer address."""
        family = rule["to"][0] if rule["to"] else 0
        if not family or not zone["masq" if family == 4 else "masq6"]:
            return
        held: list[Net] = [(kind, value, value, -1) for kind, value, _ in zone["held"]]
        outer: list[Values] = rule["targets"] or [{"invert": False, "is_complete": True, "nets": held}]
        inners: list[Zone | Literal["*"]] = values.get("reflection_zone") or [dest]
        for inner in inners:
            if inner == "*" or inner["family"] not in (0, None, family):
                continue
            near: list[Values] = [
                {"invert": False, "is_complete": True, "nets": [sections.prefix(*one) for one in inner["held"]]}
            ]
            if all(any(net[0] == family for value in side for net in value["nets"]) for side in [outer, near]):
                inner["has_dnat"] = True
                made: Rule = {**rule, "family": family, "sources": near, "targets": outer, "macs": []}
                self._made["redirects"].setdefault(inner["name"], []).append(made)

    def _zone_of(self, target: Values | None) -> Zone | None:
        for zone in self._reader.zones:
            held = [sections.prefix(*one) for one in zone["held"]]
            held += [net for one in zone["subnets"] for net in one["nets"]]
            for family, low, high, _ in held:
                if any(net[0] == family and low <= net[1] <= high for net in (target["nets"] if target else [])):
                    return zone
        return None

    def _include(self, section: Table, values: Values) -> None:
        is_script = values["type"] == "script"
        if is_script and not values.get("fw4_compatible", values["path"] != "/etc/firewall.user"):
            return
        if is_script and ("chain" in values or "position" in values):
            return
        position = "" if is_script else values.get("position", "table-append")
        is_in_chain = position.startswith("chain-")
        if is_in_chain and "chain" not in values:
            return
        self._made["includes"].append({
            "label": self._label(section), "chain": values["chain"] if is_in_chain else "",
            "place": position.partition("-")[2] if is_in_chain else "", "key": str(sorted(values.items())),
        })  # fmt: skip


def _section(number: int, rule: Added) -> Table:
    made: Table = {".name": "added %d" % number, ".type": str(rule.get("type") or "rule"), ".anonymous": True}
    for key, value in rule.items():
        if isinstance(value, list):
            made[key] = [str(one) for one in value]
        elif value is not None:
            made[key] = str(int(value) if value is True else value)
    made.pop("type", None)
    return made


def _rewrites(rule: Rule, values: Values, target: Values | None) -> list[Rule]:
    """Return the DNAT rules of one redirect and protocol, a family each."""
    if rule["proto"] == "any":
        rule = {**rule, "ports": [], "source_ports": []}
    sides = rule["sources"] + rule["targets"] + ([target] if target else [])
    held = {net[0] for value in sides for net in value["nets"]}
    if not held:
        families = [4] if rule["family"] is None else [rule["family"]]
    else:
        families = [one for one in (4, 6) if one in held and rule["family"] in (0, None, one)]
    to_port = values["dest_port"]["low"] if rule["proto"] != "any" and "dest_port" in values else None
    made: list[Rule] = []
    for family in families:
        nets = [net for net in (target["nets"] if target else []) if net[0] == family]
        is_plain = not nets or nets[0][1] == nets[0][2]
        to = (family, nets[0][1]) if nets else None
        is_plain = is_plain and (to_port is None or values["dest_port"]["high"] == to_port)
        to_ports = (to_port, values["dest_port"]["high"]) if to_port is not None else None
        made.append({
            **rule, "family": family, "to": to, "to_port": to_port, "to_ports": to_ports, "is_plain": is_plain,
        })  # fmt: skip
    return made


def _groups(devices: list[tuple[bool, str | None]]) -> list[tuple[list[str | None] | None, list[str | None]]]:
    """Return (devices that match, or None for any; devices that must not), as fw4 groups them; "x*" is a beginning."""
    plain: list[str | None] = []
    negative: list[str | None] = []
    groups: list[tuple[list[str | None] | None, list[str | None]]] = []
    for invert, device in devices:
        name = device
        if name is not None and "+" in name:
            if name.index("+") != len(name) - 1:
                continue  # fw4 skips a pattern with the sign elsewhere
            if name == "+":
                if invert:
                    groups.append(([], negative))  # "no device": a rule that never matches
                continue
            name = name[:-1] + "*"
            if not invert:
                groups.append(([name], negative))
                continue
        (negative if invert else plain).append(name)
    if plain:
        groups.append((plain, negative))
    return groups or [(None, negative)]
