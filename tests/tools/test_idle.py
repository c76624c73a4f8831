"""What an idle daemon must not have loaded: tools cost their memory when they are used, and each its own."""

import subprocess
import sys

from tests.oasisd import REPOSITORY, copy_root

LISTED = """
import sys
sys.path.insert(0, %r)
from oasis.daemon.wiring import Daemon
from oasis.system.root import Root
daemon = Daemon(Root(%r, [%r]))
loaded = lambda: sorted(name for name in sys.modules if name.startswith("oasis.tools."))
print(*loaded())
daemon.turn_starter().registry.listed()
print(*loaded())
run = daemon.turn_starter().use("status", {"what": "traffic"})
daemon.runs.wait_ended(20)
print(*loaded())
daemon.stop()
"""
TOOLS = {"status", "diagnose", "probing", "packages", "read_config", "changes"}


def test_tools_are_loaded_when_they_are_called_and_not_before(tmp_path):
    root = copy_root(str(tmp_path / "router"))
    argv = [sys.executable, "-c", LISTED % (REPOSITORY, root, root + "/bin")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    idle, listed, called = [
        {name.rpartition(".")[2] for name in line.split()} for line in done.stdout.strip().split("\n")
    ]
    assert not idle & (TOOLS | {"registry", "builtin", "specs"})
    assert "registry" in listed and not listed & TOOLS
    assert called & TOOLS == {"status"}
