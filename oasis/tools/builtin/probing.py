"""The tool `probe`: does an address answer, which way leads there, what does a name mean.

One target a call. Of the networks around the router only machines that it knows may be asked: there is no looking for
others. A name is looked up first, and what it means is judged like an address: a name must not lead where an address
may not. What is told are checked addresses and numbers, so nothing of it is anybody's words.
"""

from __future__ import annotations

import re

from oasis.core import addresses
from oasis.errors import ToolError, UsageError
from oasis.tools.builtin import status_network
from oasis.tools.facts import known_devices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.facts import Facts
    from oasis.tools.operator import Operator
    from oasis.tools.router import Router, Watch

COUNT, MOST = 3, 10
HOPS = 15
_WAIT_S = 2
_LOOKUP_S = 10.0
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_NAME = re.compile(r"(?=.{1,253}\Z)(?:%s\.)*%s\.?\Z" % (_LABEL, _LABEL))
_DEVICE = re.compile(r"(dev#[0-9]+)(?:\.ip)?\Z")
_FOUND = re.compile(r"^(?:Address(?:es)?(?: \d+)?:)\s+([0-9a-fA-F:.]+)\s*$", re.M)
_COUNTS = re.compile(r"(\d+) packets transmitted, (\d+) (?:packets )?received")
# Nothing that answers alone: 0/8, 127/8, multicast and beyond; ::/128, ::1/128, multicast.
_NOBODY = ((4, 32, 0, 8), (4, 32, 127, 8), (4, 32, 7, 3), (6, 128, 0, 128), (6, 128, 1, 128), (6, 128, 0xFF, 8))
_TIMES = re.compile(r"= ([0-9.]+)/([0-9.]+)/([0-9.]+)")
_HOP = re.compile(r"^\s*(\d+)\s+(?:([0-9a-f.:]+)\s+([0-9.]+) ms|\*)", re.M)


def run(arguments: dict[str, Any], router: Router, operator: Operator, watch: Watch) -> dict[str, Any]:
    """Return what was found; a target that does not answer is an answer.

    Raises: UsageError for a target that is none or may not be asked, ToolError when the router lacks the program.
    """
    target = _target(str(arguments["target"]).strip().lower(), operator.facts)
    what = str(arguments.get("what") or "ping")
    names: dict[str, Any] = {}
    address = target
    if not _is_address(target):
        found = _lookup(target, router, watch)
        names = {"name": target, "addresses": found}
        if what == "lookup" or not found:
            return {"what": what, **names, **({} if found else {"notes": ["no server knows this name"]})}
        address = _first(found, str(arguments.get("family") or ""))
    elif what == "lookup":
        raise UsageError("%s is an address already" % target, "give a name, or ping it")
    _refuse_strangers(address, operator.facts)
    work = _trace if what == "traceroute" else _ping
    return {"what": what, **names, "address": address, **work(address, arguments, router, watch)}


def _target(target: str, facts: Facts) -> str:
    """Return an address or a name; a device's handle becomes its address.

    Raises: UsageError for anything else.
    """
    device = _DEVICE.match(target)
    if device:
        known = [one for one in known_devices(facts) if one["device"] == device.group(1)]
        if len(known) != 1 or not known[0]["ip"]:
            raise UsageError("no address of %s is known now" % target, "read status devices again")
        return str(known[0]["ip"])
    if _is_address(target):
        return target
    if not _NAME.match(target) or target.rstrip(".").rpartition(".")[2].isdigit():
        raise UsageError("%r is neither a name nor an address" % target[:80], "like openwrt.org or 1.1.1.1")
    return target.rstrip(".")


def _is_address(text: str) -> bool:
    return addresses.number(text) is not None


def _refuse_strangers(address: str, facts: Facts) -> None:
    """Raise UsageError for an address that is no single machine, or one nearby that the router does not know."""
    family, value = addresses.number(address) or (0, 0)
    if any(value >> (bits - length) == first for kind, bits, first, length in _NOBODY if kind == family):
        raise UsageError("%s is no machine that could be asked" % address, "give the address of one")
    if addresses.not_of_internet(address) and (family, value) not in _known(facts):
        raise UsageError(
            "%s is in a private network, and this router knows no such machine" % address,
            "those that it knows: status devices",
        )


def _known(facts: Facts) -> set[tuple[int, int] | None]:
    """Return the addresses near this router that belong to somebody: devices, gateways, DNS servers, itself."""
    known = {str(one["ip"]) for one in facts.devices() if one["ip"]}
    for item in facts.interfaces():
        own = [*status_network.dicts(item.get("ipv4-address")), *status_network.dicts(item.get("ipv6-address"))]
        servers = item.get("dns-server")
        known |= {str(one.get("address")) for one in own}
        known |= {str(one.get("nexthop")) for one in status_network.dicts(item.get("route"))}
        known |= {str(one) for one in servers} if isinstance(servers, list) else set()
    return {addresses.number(one) for one in known}  # however it is written


def _lookup(name: str, router: Router, watch: Watch) -> list[str]:
    _, out, _ = router.run(["nslookup", name], watch, _LOOKUP_S)
    # The first part tells which server was asked.
    _, _, answers = out.partition("\n\n")
    found = [match.lower() for match in _FOUND.findall(answers)]
    return [address for address in dict.fromkeys(found) if _is_address(address)][:8]


def _first(found: list[str], family: str) -> str:
    """Return the address to ask: of the family that is wanted, else an IPv4 one, which every router has."""
    wanted = [one for one in found if (":" in one) == (family == "ipv6")]
    if family and not wanted:
        raise ToolError("it has no address of %s" % family, "it has: " + ", ".join(found))
    return (wanted or found)[0]


def _ping(address: str, arguments: dict[str, Any], router: Router, watch: Watch) -> dict[str, Any]:
    count = min(int(arguments.get("count") or COUNT), MOST)
    words = ["ping", "-c", str(count), "-W", str(_WAIT_S), address]
    _, out, _ = router.run(words, watch, count * (_WAIT_S + 1.0) + 2)
    counts, times = _COUNTS.search(out), _TIMES.search(out)
    if counts is None:
        raise ToolError("ping told nothing that is understood", "is there a route? status wan")
    sent, received = int(counts.group(1)), int(counts.group(2))
    answer: dict[str, Any] = {"sent": sent, "received": received, "answers": received > 0}
    if times:
        answer["ms"] = dict(zip(("least", "average", "most"), map(float, times.groups()), strict=True))
    return answer


def _trace(address: str, arguments: dict[str, Any], router: Router, watch: Watch) -> dict[str, Any]:
    words = ["traceroute", "-n", "-q", "1", "-w", str(_WAIT_S), "-m", str(HOPS), address]
    _, out, _ = router.run(words, watch, HOPS * (_WAIT_S + 0.5) + 2)
    hops = [
        {"hop": int(number), **({"address": place, "ms": float(ms)} if place and _is_address(place) else {})}
        for number, place, ms in _HOP.findall(out)
    ]
    return {"hops": hops, "arrives": bool(hops) and hops[-1].get("address") == address}
