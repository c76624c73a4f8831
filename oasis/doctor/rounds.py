"""One round of the doctor: every check once, in the order of the layers, each finding in the words of findings.json.

Shape of a round: {"findings": [FINDING, worst first], "checks": [{"id", "title", "state": "ok" | "found" | "skipped",
"why"?}], "took_ms"}. FINDING: {"id", "severity": "error" | "warning" | "info", "title", "explanation",
"evidence": [str], "advice"?: str, "fix"?: {"words": [str], "commands": [uci command]}, "foreign"?: True where it holds
words of others (names, log lines)}. Nothing is changed by it, ever.
"""

from __future__ import annotations

from oasis.doctor import care, firewall, home, uplink, wireless
from oasis.doctor.findings import judged
from oasis.doctor.scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Any, Callable, Check

# From the cable up to what was left unfinished.
CHECKS: tuple[tuple[str, Check], ...] = (
    ("carrier", uplink.carrier), ("duplex", uplink.duplex), ("flapping", uplink.flapping), ("wan", uplink.down),
    ("address", uplink.address), ("same-network", home.same_network), ("double-nat", uplink.double_nat),
    ("route", uplink.route), ("hops", uplink.hops), ("gateway", uplink.gateway), ("mtu", uplink.mtu),
    ("fragments", uplink.fragments), ("dns-servers", uplink.servers), ("dns", uplink.answers),
    ("dns-rebind", uplink.rebind), ("dns-load", uplink.busy), ("dhcp-pool", home.pool),
    ("dhcp-server", home.no_server), ("reservations", home.reservations), ("addresses", home.same_address),
    ("clock", care.clock), ("time-servers", care.time_servers), ("masquerade", firewall.masquerade),
    ("forwarding", firewall.forwarding), ("zones", firewall.zones), ("port-forwards", firewall.forwards),
    ("wan-input", firewall.open_zone), ("open-ports", firewall.open_ports), ("wifi", wireless.on_air),
    ("wifi-country", wireless.country), ("wifi-channel", wireless.channel), ("wifi-security", wireless.security),
    ("wifi-networks", wireless.unbound), ("password", care.password), ("flash", care.space), ("memory", care.memory),
    ("connections", care.connections), ("heat", care.heat), ("services", care.services), ("boot", care.disabled),
    ("staged", care.staged), ("configuration", care.broken), ("unfinished", care.unfinished), ("parts", care.optional),
    ("release", care.release),
)  # fmt: skip


def examine(scene: Scene, now_s: Callable[[], float]) -> dict[str, Any]:
    """Run every check and return what was found."""
    began = now_s()
    try:
        uplink.begin(scene)
    except Exception:  # noqa: S110 - the check that wants the answer meets the same, and says what it is
        pass
    findings, checks = judged(scene, CHECKS)
    return {"findings": findings, "checks": checks, "took_ms": int((now_s() - began) * 1000)}
