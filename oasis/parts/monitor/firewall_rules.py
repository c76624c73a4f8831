"""The running firewall in words: what fw4 made of the configuration, and what programs added to its table.

Source: `nft -j -t list table inet fw4`; its names of chains and comments are those of firewall4's ruleset.uc. Elements
of sets are not listed. What a rule matches and no words are known for is said as "and more", never left out in silence.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.parts.monitor.look import is_about
from oasis.redaction.foreign import HIDDEN
from oasis.tools.router import dicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.monitor.look import Scene
    from oasis.tools.shapes import Result

    Expr = list[dict[str, object]]

# In one answer, which then fits into the result of a tool; a home has some twenty.
RULES = 60
_LIST = ["nft", "-j", "-t", "list", "table", "inet", "fw4"]
_TABLES = ["nft", "-j", "list", "tables"]
_NO_PROGRAM = "this router has no program nft (its firewall works by iptables, or not at all)"
_NO_TABLE = "nft lists no table inet fw4, so the firewall is stopped or failed to start; look at its log"
_INSTEAD = "the rules as they are configured: status, what=firewall (in a terminal: uci show firewall)"
_MARK = "!fw4: "
_VERDICTS = ("accept", "drop", "reject", "return")
_FIELDS = {"saddr": "from", "daddr": "to", "sport": "from port", "dport": "port"}
_METAS = {"nfproto": "", "l4proto": "", "iifname": "in by", "oifname": "out by", "mark": "with mark", "hour": "at",
          "day": "on", "time": "at", "skuid": "of user"}  # fmt: skip
# What is no condition.
_SILENT = {"counter", "comment", "log", "jump", "goto", "dnat", "snat", "redirect", "masquerade", *_VERDICTS}
_WORDS, _VALUES = 200, 20


def rules(scene: Scene, target: str) -> Result:
    """Return {"zones": {name: {"devices", "input", "forward", "to", "masquerades"?, "rules"}}, "port_forwards", …}."""
    told = dicts(scene.json(scene.run(_LIST)).get("nftables"))
    if not told:
        why = _NO_TABLE if scene.has("nft") else _NO_PROGRAM
        return {"zones": {}, "notes": ["the running rules cannot be read: " + why, _INSTEAD]}
    chains: dict[str, list[dict[str, object]]] = {}
    for one in told:
        chain, rule = one.get("chain"), one.get("rule")
        if isinstance(chain, dict):
            chains.setdefault(str(chain.get("name")), [])
        elif isinstance(rule, dict):
            chains.setdefault(str(rule.get("chain")), []).append(rule)
    ruleset = _Ruleset(scene, chains)
    names = [name.removeprefix("input_") for name in chains if name.startswith("input_")]
    answer: dict[str, object] = {"zones": {name: ruleset.zone(name) for name in names if is_about(target, name)}}
    answer["otherwise"] = {hook: ruleset.otherwise(hook) for hook in ("input", "forward", "output")}
    for key, found in (("port_forwards", ruleset.forwards(target)), ("upnp", ruleset.of("upnp_prerouting"))):
        if found:
            answer[key] = found
    tables = [one["table"] for one in dicts(scene.json(scene.run(_TABLES)).get("nftables")) if "table" in one]
    names = [clean.name(f"{one.get('family')} {one.get('name')}") for one in dicts(tables)]
    others = [name for name in names if name != "inet fw4"]
    if others:
        answer["other_tables"] = others[:_VALUES]
        answer["notes"] = ["other tables have rules of their own, which can also drop what is accepted here"]
    if ruleset.left_out:
        answer["left_out"] = ruleset.left_out
    return answer


class _Ruleset:
    """The chains of fw4's table."""

    def __init__(self, scene: Scene, chains: dict[str, list[dict[str, object]]]) -> None:
        self._chains = chains
        self.left_out = 0
        self._room = RULES
        facts = scene.facts
        shown = [facts.text("firewall", section, "name") for section in facts.config("firewall").values()]
        self._names = {str(name) for name in shown if name and name != HIDDEN}

    def otherwise(self, hook: str) -> str:
        """Return what becomes of what no zone and no rule is about."""
        last = self._chains.get(hook, [])[-1:]
        verdict = _verdict(_expr(last[0])) if last and not _conditions(_expr(last[0])) else ""
        return verdict or ("accept" if hook == "output" else "drop")

    def zone(self, name: str) -> dict[str, object]:
        """Return what a zone accepts, where it leads, and its own rules."""
        devices = [device for rule in self._chains.get("input", []) if _jump(_expr(rule)) == f"input_{name}"
                   for device in _devices(_expr(rule))]  # fmt: skip
        zone: dict[str, object] = {"devices": list(dict.fromkeys(devices))}
        to = []
        for hook in ("input", "forward", "output"):
            own = []
            for rule in self._chains.get(f"{hook}_{name}", []):
                expr = _expr(rule)
                verdict, goal = _verdict(expr), _goal(expr)
                if _conditions(expr):
                    own.append(self._said(rule, f" to {goal}" if hook == "forward" and goal not in ("", name) else ""))
                elif hook == "forward" and verdict == "accept" and goal not in ("", name):
                    to.append(goal)
                else:
                    zone[hook] = verdict
            if own:
                zone[f"{hook}_rules"] = self._few(own)
        zone["leads_to"] = to
        if any(_has(rule, "masquerade") for rule in self._chains.get(f"srcnat_{name}", [])):
            zone["masquerades"] = True
        return zone

    def forwards(self, target: str) -> list[str]:
        """Return the port forwards."""
        found = []
        for name, rules_of in self._chains.items():
            if name.startswith("dstnat_") and is_about(target, name.removeprefix("dstnat_")):
                found += [f"{name.removeprefix('dstnat_')}: {self._said(rule)}" for rule in rules_of
                          if "(reflection)" not in str(rule.get("comment"))]  # fmt: skip
        return self._few(list(dict.fromkeys(found)))

    def of(self, chain: str) -> list[str]:
        """Return the rules of one chain."""
        return self._few([self._said(rule) for rule in self._chains.get(chain, [])])

    def _few(self, rows: list[str]) -> list[str]:
        kept = rows[: self._room]
        self._room -= len(kept)
        self.left_out += len(rows) - len(kept)
        return kept

    def _said(self, rule: dict[str, object], more: str = "") -> str:
        expr = _expr(rule)
        name = str(rule.get("comment") or "").removeprefix(_MARK)
        named = f" ({clean.name(name)})" if name in self._names else ""
        return f"{' '.join(_conditions(expr)) or 'all'}{more}: {_verdict(expr) or 'goes on'}{named}"[:_WORDS]


def _expr(rule: dict[str, object]) -> Expr:
    return dicts(rule.get("expr"))


def _dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _has(rule: dict[str, object], word: str) -> bool:
    return any(word in one for one in _expr(rule))


def _jump(expr: Expr) -> str:
    for one in expr:
        for word in ("jump", "goto"):
            jump = one.get(word)
            if isinstance(jump, dict):
                return str(jump.get("target"))
    return ""


def _goal(expr: Expr) -> str:
    """Return the zone of a jump like accept_to_wan."""
    return _jump(expr).partition("_to_")[2]


def _verdict(expr: Expr) -> str:
    """Return what becomes of a packet: accept, drop, reject, or where it is sent."""
    for one in expr:
        for word in _VERDICTS:
            if word in one:
                return word
        for word in ("dnat", "redirect", "snat"):
            if word in one:
                to = _dict(one[word])
                address, port = to.get("addr"), to.get("port")
                place = _value(address) if address else "this router"
                return f"sent to {place}" + (f" port {_value(port)}" if port else "")
        if "masquerade" in one:
            return "masquerade"
    jump = _jump(expr)
    word = jump.partition("_")[0]
    if jump == "handle_reject":
        return "reject"
    return word if word in _VERDICTS else f"goes through {jump}" if jump else ""


def _devices(expr: Expr) -> list[str]:
    for one in expr:
        match = one.get("match")
        if isinstance(match, dict) and _left(match)[0] == "iifname":
            return _value(match.get("right")).split(", ")
    return []


def _left(match: dict[str, object]) -> tuple[str, str]:
    """Return what a match looks at: (key, protocol)."""
    left = match.get("left")
    joined = left.get("concat") if isinstance(left, dict) else None
    left = dicts(joined)[0] if dicts(joined) else left
    for kind in ("meta", "payload", "ct"):
        part = left.get(kind) if isinstance(left, dict) else None
        if isinstance(part, dict):
            return str(part.get("key") or part.get("field")), str(part.get("protocol") or kind)
    return "", ""


def _conditions(expr: Expr) -> list[str]:
    """Return what a rule asks for, in words."""
    found = []
    for one in expr:
        match = one.get("match")
        if isinstance(match, dict):
            key, kind = _left(match)
            value, sign = _value(match.get("right")), "not " if match.get("op") == "!=" else ""
            if kind in ("ip", "ip6", "ether", "th", "tcp", "udp") and key in _FIELDS:
                protocol = kind + " " if kind in ("tcp", "udp") else ""
                found.append(f"{protocol}{sign}{_FIELDS[key]} {value}")
            elif key in _METAS and kind == "meta":
                found.append(f"{sign}{_METAS[key]} {value}".strip())
            elif kind in ("icmp", "icmpv6"):
                found.append(f"{kind} {sign}{value}")
            elif kind == "ct" and (key, value) == ("status", "dnat"):
                found.append("what port forwards send here")
            elif kind == "ct":
                found.append(f"connection {key} {sign}{value}")
            else:
                found.append("and more")
        elif "limit" in one:
            limit = _dict(one["limit"])
            found.append(f"at most {limit.get('rate')} a {limit.get('per')}")
        elif "vmap" in one:
            found.append("known connections")
        elif not _SILENT & set(one):
            found.append("and more")
    return found


def _value(value: object) -> str:
    """Return a value of an expression in words."""
    if isinstance(value, dict):
        for key in ("set", "concat", "prefix", "range"):
            inner = value.get(key)
            if key == "set" and isinstance(inner, list):
                return ", ".join([_value(one) for one in inner[:_VALUES]]) + (" …" if len(inner) > _VALUES else "")
            if key == "concat" and isinstance(inner, list):
                return " ".join([_value(one) for one in inner if one != "no-route"])  # which is code 0 in nft's words
            if key == "prefix" and isinstance(inner, dict):
                return f"{inner.get('addr')}/{inner.get('len')}"
            if key == "range" and isinstance(inner, list) and len(inner) == 2:
                return f"{_value(inner[0])}-{_value(inner[1])}"
        return "…"
    if isinstance(value, list):
        return ", ".join([_value(one) for one in value])
    return clean.name(str(value))
