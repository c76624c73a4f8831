"""An owner's hour with the built packages on the stock router: a question, a change, a plan, a proof, an undo.

Once with the packages that hold sources and once with those that hold bytecode. With OASIS_PACKAGES they are those in
that folder, which another machine has built (tests/arches): bytecode is that of a Python, not of a processor.
"""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.oasisd import SLOWER, copy_root, proposer, start_daemon
from tests.package import installer

OWN = "%d.%d" % sys.version_info[:2]
LEFT_OUT = ("oasis-src", "oasis-requests", "oasis-full")
LAN = "uci set network.lan.ipaddr='192.168.5.1'"
TIMEOUT_S = 60 * SLOWER


@pytest.fixture(scope="module", params=["sources", "bytecode"])
def owner(request, tmp_path_factory, packaging):
    """Return (a function that runs `oasis` with words, the router's root) with the packages installed and in use."""
    top = tmp_path_factory.mktemp(request.param)
    root = copy_root(str(top / "router"))
    for data in _packages(packaging, "" if request.param == "sources" else OWN):
        inner = installer.members(data)["data.tar.gz"][1]
        installer.unpack(root, installer.members(inner), ["/etc/config/oasis"])
    library = root + "/usr/lib/oasis"
    endings = {os.path.splitext(name)[1] for _, _, names in os.walk(library + "/oasis") for name in names}
    assert (".pyc" in endings) == (request.param == "bytecode") and (".py" in endings) == (request.param == "sources")
    daemon = start_daemon(root, library=library)
    start = (
        f"import sys; sys.path.insert(0, {library!r}); from oasis.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )

    def oasis(*words):
        argv = [sys.executable, "-IS", "-c", start, *words]
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC", "OASIS_ROOT": root}
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        return done.returncode, done.stdout + done.stderr

    yield oasis, root
    assert daemon.stop() == 0
    assert "Traceback" not in daemon.log()


def _packages(packaging, python):
    folder = os.environ.get("OASIS_PACKAGES", "")
    if folder:
        place = os.path.join(folder, f"python{python}" if python else "any")
        if not os.path.isdir(place):
            pytest.skip(f"no packages for Python {python} in {folder}")
        paths = [os.path.join(place, name) for name in sorted(os.listdir(place)) if name.endswith(".ipk")]
        wanted = [path for path in paths if os.path.basename(path).partition("_")[0] not in LEFT_OUT]
        for path in wanted:
            with open(path, "rb") as file:
                yield file.read()
        return
    every = packaging.build.packages(packaging.manifest.load(), packaging.REPOSITORY, python)
    built = packaging.build.build([one for one in every if one.name not in LEFT_OUT], 1700000000)
    yield from (data for _, data, _ in built.values())


def _option(root, package, name):
    with open(f"{root}/etc/config/{package}", encoding="utf-8") as file:
        return re.findall(rf"option {name} '(.*)'", file.read())


def test_an_owner_asks_changes_undoes_and_looks(owner):
    oasis, root = owner
    status, told = oasis("status")
    assert status == 0 and proposer() in told, told
    status, told = oasis("prompt", "call this router attic")
    assert status == 0 and "'OpenWrt' → 'attic'" in told and "made: " in told, told
    assert _option(root, "system", "hostname") == ["attic"]
    status, told = oasis("undo")
    assert status == 0, told
    assert _option(root, "system", "hostname") == ["OpenWrt"]
    status, told = oasis("doctor", "-j")
    assert json.loads(told)["checks"], told
    status, told = oasis("changes")
    assert status == 0 and told.count("\n") >= 2, told


def test_a_risky_plan_waits_is_approved_and_rolled_back(owner):
    oasis, root = owner
    before = _option(root, "network", "ipaddr")
    status, told = oasis("apply", "--no-wait", LAN)
    plan, whole = re.search(r"plan (\S+)\n\s*hash ([0-9a-f]{64})", oasis("plans")[1]).groups()
    assert status == 10 and _option(root, "network", "ipaddr") == before, told
    status, told = oasis("approve", plan, "0" * 64)
    assert status != 0 and "is not that of plan" in told, told
    status, told = oasis("approve", plan, whole)
    assert status == 0, told
    assert "192.168.5.1" in _option(root, "network", "ipaddr"), oasis("pending")
    status, told = oasis("rollback")
    assert status == 0 and _option(root, "network", "ipaddr") == before, told
