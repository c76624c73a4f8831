"""What each tool answers on the stock router: `python3 tests/tools/table.py` prints tool, class and answer.

Calls that the owner would be asked about are shown with what he is asked, and are not made.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from oasis.core import jsonl
from oasis.tools.builtin import BuiltIn
from oasis.tools.registry import class_of
from tests.tools.scene import Scene

WIDTH = 150
CALLS = (
    *[("status", {"what": what}) for what in (
        "overview", "addresses", "wan", "devices", "wifi", "dhcp", "dns", "firewall", "traffic", "ports", "system",
        "storage", "services", "changes")],
    ("read_config", {"package": "system"}),
    ("logs", {"service": "dnsmasq", "lines": 2}),
    ("probe", {"target": "openwrt.org"}),
    ("probe", {"target": "1.1.1.1", "what": "traceroute"}),
    ("probe", {"target": "example.com", "what": "lookup"}),
    ("wifi_scan", {"radio": "radio0"}),
    ("packages", {"action": "update"}),
    ("packages", {"action": "search", "text": "sqm"}),
    ("packages", {"action": "upgradable"}),
    ("packages", {"action": "install", "names": ["luci-app-sqm"]}),
    ("packages", {"action": "remove", "names": ["base-files"]}),
    ("power", {"action": "reboot"}),
    ("backup", {}),
)  # fmt: skip


def rows(folder):
    """Yield (tool, class, arguments, result, what the owner is asked)."""
    scene = Scene(folder)
    specs = {spec["name"]: spec for spec in BuiltIn(None).specs()}
    for name, arguments in CALLS:
        hands = scene.fresh(answer={"status": "declined"})
        result, _, _ = scene.call(name, **arguments)
        yield name, class_of(specs[name], arguments), arguments, result, hands.asked


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, arguments, result, asked in rows(os.path.join(folder, "router")):
            words = " ".join(str(value) for value in arguments.values())
            text = "the owner is asked: " + "; ".join(asked[0][3]) if asked else jsonl.dumps(result)
            print("%-38s %-7s %s" % (name + " " + words, kind, text if len(text) <= WIDTH else text[:WIDTH] + "…"))


if __name__ == "__main__":
    main()
