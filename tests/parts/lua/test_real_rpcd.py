"""The same tool server behind the real rpcd and ubusd: its program is started by rpcd, and asked over the bus.

OASIS_LUCI names what starts OpenWrt's user space; see tests/bus/test_bus_luci.py.
"""

import os
import shutil
import subprocess

import pytest

from oasis.ubus.outgoing import Ubus, opener
from tests.cli.web import free_port
from tests.parts.lua.kit import PROGRAM, SERVED, SERVER, Bench, manifest, plugins
from tests.ubus.buskit import until

PROGRAM_OF_LUCI = os.environ.get("OASIS_LUCI", "")
pytestmark = pytest.mark.skipif(not PROGRAM_OF_LUCI, reason="no real rpcd: OASIS_LUCI names nothing that starts one")
UCODE = "oasis.ucode.tool.template"
SCRIPT = """'use strict';
return { '%s': { subtract: { args: { a: 0, b: 0 }, call: function(request) {
	return { result: request.args.a - request.args.b, user_only: 'for the owner' };
} } } };
"""


class NoPrograms:
    def run(self, *_, **__):
        raise AssertionError("a program was started")


@pytest.fixture(scope="module")
def bus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rpcd")
    tree = folder / "tree"
    (tree / "usr/libexec/rpcd").mkdir(parents=True)
    (tree / "usr/share/rpcd/ucode").mkdir(parents=True)
    shutil.copy(SERVED, tree / "usr/libexec/rpcd" / SERVER)
    os.chmod(tree / "usr/libexec/rpcd" / SERVER, 0o755)
    (tree / "usr/share/rpcd/ucode/template.uc").write_text(SCRIPT % UCODE)
    state = folder / "state"
    command = [PROGRAM_OF_LUCI, "-p", str(free_port()), "-s", str(state), "-x", str(tree)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        lines = []
        while not (lines and "ready" in lines[-1]):
            lines.append(process.stderr.readline())
            assert lines[-1], "".join(lines)
        ubus = Ubus(NoPrograms(), "", opener(str(state / "ubus.sock")))
        until(lambda: ubus.call(SERVER, "say_hello"), 30)
        yield ubus
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


@pytest.fixture
def bench(tmp_path, bus):
    made = Bench(tmp_path / "router")
    made.script("/usr/share/rpcd/ucode/template.uc", SCRIPT % UCODE)
    numbers = [{"name": one, "type": "integer", "description": ""} for one in "ab"]
    made.describe("u.json", manifest(UCODE, ("subtract",), "ucode_script", "/usr/share/rpcd/ucode/template.uc",
                                     properties=numbers, required=["a", "b"]))  # fmt: skip
    made.plugins = plugins(made, made.store.sections, lambda: made.store, bus.call)
    made.registry._loads[-1] = made.plugins.sources
    made.accept()
    made.accept(UCODE)
    made.registry.set("subtract", True, "allow")
    return made


def test_a_shell_server_behind_rpcd_answers_as_behind_the_stand_in(bench):
    assert bench.call("weather", location="Oslo")[0]["asked"]["location"] == "Oslo"
    assert bench.call("add", a="2", b="3")[0]["sum"] == 5
    assert "attic-secret" not in str(bench.call("neighbours")) and "attic-secret" in bench.hands.told[0]
    bench.hands.answer = {"status": "declined"}
    assert bench.call("ask_reboot")[0]["asked"]["reboot"]["status"] == "declined"


def test_a_ucode_server_behind_rpcd_gets_numbers_and_keeps_the_owners_part(bench):
    told, is_error, _ = bench.call("subtract", a=5, b=3)
    assert not is_error and told["result"] == 2 and bench.hands.told == ["for the owner"]


@pytest.mark.parametrize("name", ["broken", "wrong", "flood", "fails"])
def test_what_is_no_answer_is_an_error_and_the_next_call_works(bench, name):
    assert bench.call(name)[1]
    assert bench.call("say_hello")[0]["message"] == "Hello, world!"


def test_a_hanging_server_is_given_up_and_others_answer(bench):
    bench.describe("lua.template.json", manifest(names=("slow", "say_hello"), timeout=2))
    told, is_error, _ = bench.call("slow")
    assert is_error and "error" in told
    assert bench.call("say_hello")[0]["message"] == "Hello, world!"


def test_the_file_that_rpcd_runs_is_the_one_that_is_reviewed(bench):
    assert bench.plugins.plugin_review(SERVER)["path"] == PROGRAM
