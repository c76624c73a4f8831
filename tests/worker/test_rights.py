"""What the worker can no longer do once it has dropped its rights; each in a process of its own."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, os, resource, sys
sys.path.insert(0, sys.argv[1])
from oasis.worker import rights
rights.drop(sys.argv[2], is_required=len(sys.argv) > 4)
seen = {"ids": [os.getresuid(), os.getresgid(), os.getgroups()]}
try:
    with open(sys.argv[3] + "/file", "w") as file:
        file.write("x")
    seen["wrote"] = True
except OSError as error:
    seen["wrote"] = False
for name in ("FSIZE", "CORE", "NOFILE", "AS", "NPROC"):
    seen[name] = resource.getrlimit(getattr(resource, "RLIMIT_" + name))
with open("/proc/self/status") as status:
    lines = dict(line.split(":", 1) for line in status)
seen["privileges"] = lines["NoNewPrivs"].strip()
seen["capabilities"] = {lines[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}
try:
    os.setresuid(0, 0, 0)
    seen["back"] = True
except OSError:
    seen["back"] = False
seen["capabilities"] = sorted(seen["capabilities"])
os.write(1, json.dumps(seen).encode())
"""


def dropped(folder, user):
    argv = [sys.executable, "-I", "-c", PROGRAM, os.getcwd(), user, str(folder)]
    return json.loads(subprocess.run(argv, check=True, capture_output=True).stdout)


def test_nothing_can_be_written_and_no_privilege_gained(tmp_path):
    os.chmod(tmp_path, 0o777)
    seen = dropped(tmp_path, "no-such-user")
    assert seen["wrote"] is False and (tmp_path / "file").read_text() == ""
    assert seen["FSIZE"] == [0, 0] and seen["CORE"] == [0, 0] and seen["NOFILE"] == [64, 64]
    assert 0 < seen["AS"][0] <= 512 * 1024 * 1024
    assert seen["privileges"] == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_root_becomes_the_user_for_good(tmp_path):
    uid, gid, groups = dropped(tmp_path, "nobody")["ids"]
    assert set(uid) == {65534} and len(set(gid)) == 1 and gid[0] != 0 and groups == [gid[0]]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_who_was_root_keeps_no_capability_and_no_way_back(tmp_path):
    seen = dropped(tmp_path, "nobody")
    assert seen["capabilities"] == ["0" * 16] and seen["back"] is False
    assert seen["NPROC"] == [64, 64]


@pytest.mark.parametrize("user", ["no-such-user", "root"])
def test_who_must_become_somebody_ends_when_that_fails(tmp_path, user):
    argv = [sys.executable, "-I", "-c", PROGRAM, os.getcwd(), user, str(tmp_path), "required"]
    run = subprocess.run(argv, capture_output=True)
    assert run.returncode == 1 and run.stdout == b""
    assert f"cannot become the user {user}" in run.stderr.decode()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_without_the_user_the_identity_stays(tmp_path):
    assert dropped(tmp_path, "no-such-user")["ids"][0] == [0, 0, 0]
