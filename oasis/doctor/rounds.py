"""One round of the doctor: every check once, in the order of the layers, each finding in the words of findings.json.

Shape of a round: {"findings": [FINDING, worst first], "checks": [{"id", "title", "state": "ok" | "found" | "skipped",
"why"?}], "took_ms"}. FINDING: {"id", "severity": "error" | "warning" | "info", "title", "explanation",
"evidence": [str], "advice"?: str, "fix"?: {"words": [str], "commands": [uci command]}, "foreign"?: True where it holds
words of others (names, log lines)}. Nothing is changed by it, ever.
"""

from __future__ import annotations

import sys
import traceback

from oasis.core import clean
from oasis.doctor import care, firewall, uplink, wireless
from oasis.doctor.scene import Scene, SkippedError, data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis.doctor.shapes import Any, Callable, Check, Finding, Sight

# From the cable up to what was left unfinished.
CHECKS: tuple[tuple[str, Check], ...] = (
    ("carrier", uplink.carrier), ("duplex", uplink.duplex), ("flapping", uplink.flapping), ("wan", uplink.down),
    ("address", uplink.address), ("same-network", uplink.same_network), ("double-nat", uplink.double_nat),
    ("route", uplink.route), ("hops", uplink.hops), ("gateway", uplink.gateway), ("mtu", uplink.mtu),
    ("fragments", uplink.fragments), ("dns-servers", uplink.servers), ("dns", uplink.answers),
    ("dns-rebind", uplink.rebind), ("dns-load", uplink.busy), ("dhcp-pool", uplink.pool),
    ("dhcp-server", uplink.no_server), ("reservations", uplink.reservations), ("addresses", uplink.same_address),
    ("clock", care.clock), ("time-servers", care.time_servers), ("masquerade", firewall.masquerade),
    ("forwarding", firewall.forwarding), ("zones", firewall.zones), ("port-forwards", firewall.forwards),
    ("wan-input", firewall.open_zone), ("open-ports", firewall.open_ports), ("wifi", wireless.on_air),
    ("wifi-country", wireless.country), ("wifi-channel", wireless.channel), ("wifi-security", wireless.security),
    ("wifi-networks", wireless.unbound), ("password", care.password), ("flash", care.space), ("memory", care.memory),
    ("connections", care.connections), ("heat", care.heat), ("services", care.services), ("boot", care.disabled),
    ("staged", care.staged), ("configuration", care.broken), ("unfinished", care.unfinished), ("parts", care.optional),
    ("release", care.release),
)  # fmt: skip

_SEVERITIES = ("error", "warning", "info")
EVIDENCE = 6
EVIDENCE_CHARS = 200


def examine(scene: Scene, now_s: Callable[[], float]) -> dict[str, Any]:
    """Run every check and return what was found."""
    began = now_s()
    try:
        uplink.begin(scene)
    except Exception:  # noqa: S110 - the check that wants the answer meets the same, and says what it is
        pass
    findings, checks = judged(scene, CHECKS)
    return {"findings": findings, "checks": checks, "took_ms": int((now_s() - began) * 1000)}


def judged(scene: Scene, given: Iterable[tuple[str, Check]]) -> tuple[list[Finding], list[dict[str, Any]]]:
    """Return what some of CHECKS find, worst first, and how each of them went."""
    texts = data()
    findings: list[Finding] = []
    checks: list[dict[str, Any]] = []
    for name, check in given:
        entry, before = {"id": name, "title": texts["checks"][name], "state": "ok"}, len(findings)
        try:
            for sight in check(scene):
                findings.append(_finding(texts, sight))
        except SkippedError as reason:
            entry.update(state="skipped", why=str(reason))
        except Exception as bug:
            # A fault in one check must not stop the others.
            traceback.print_exception(type(bug), bug, bug.__traceback__, file=sys.stderr)
            entry.update(state="skipped", why="a fault in this check (%s); the log tells more" % type(bug).__name__)
        if len(findings) > before:
            entry["state"] = "found"
        checks.append(entry)
    findings.sort(key=lambda one: _SEVERITIES.index(one["severity"]))
    return findings, checks


def _finding(texts: dict[str, Any], sight: Sight) -> Finding:
    key, subject, values, evidence, commands = sight
    text = texts["findings"][key]
    plain = {name: clean.line(value) for name, value in values.items()}
    found: Finding = {
        "id": "%s:%s" % (key, subject) if subject else key,
        "severity": text["severity"],
        "title": text["title"] % plain,
        "explanation": text["explanation"] % plain,
        "evidence": [clean.line(one)[:EVIDENCE_CHARS] for one in evidence[:EVIDENCE]],
    }
    if key in texts["foreign"]:
        found["foreign"] = True
    if "advice" in text:
        found["advice"] = text["advice"] % plain
    if commands:
        found["fix"] = {"words": [text["fix"] % plain], "commands": commands}
    return found
