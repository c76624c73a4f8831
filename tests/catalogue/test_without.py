"""A router without the package oasis-catalogue: what only that package knows is refused, with its name."""

import json
import os
import shutil
import subprocess
import sys

from tests.oasisd import REPOSITORY, copy_root, start_daemon


def test_the_core_alone_lets_no_option_of_code_through_and_names_the_package(tmp_path):
    with open(REPOSITORY + "/package/manifest.json", encoding="utf-8") as handle:
        files = json.load(handle)["packages"]["oasis-catalogue"]["files"].values()
    shutil.copytree(REPOSITORY + "/oasis", tmp_path / "lib/oasis", ignore=shutil.ignore_patterns("__pycache__"))
    for path in files:
        whole = str(tmp_path / "lib" / path)
        shutil.rmtree(whole) if os.path.isdir(whole) else os.unlink(whole)
    root = copy_root(str(tmp_path / "router"))
    with open(root + "/etc/config/ddns", "w") as handle:
        handle.write("config service 'home'\n\toption enabled '0'\n")
    daemon = start_daemon(root, library=str(tmp_path / "lib"))
    try:

        def said(words):
            run = daemon.call("plan.propose", commands=[words])["run"]
            return json.dumps(daemon.call("run.poll", run=run, since=0, wait_ms=10000)["events"])

        assert "runs code, names a file" in said("uci set dhcp.@dnsmasq[0].addnhosts=/etc/hosts")
        assert "oasis-catalogue" in said("uci set ddns.home.enabled=1")
        assert "error" not in said("uci set system.@system[0].hostname=attic")
    finally:
        daemon.stop()
    code = "import sys; sys.path.insert(0, sys.argv[1]); from oasis.catalogue import entries; print(entries.packages())"
    done = subprocess.run([sys.executable, "-IS", "-c", code, str(tmp_path / "lib")], capture_output=True, text=True)
    assert "'network'" in done.stdout and "'ddns'" not in done.stdout, done.stderr
