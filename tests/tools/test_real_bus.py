"""The tools over the bus itself: a real ubusd where there is one, else the tests' own; no program is started to ask."""

import pytest

from oasis.tools.router import Facts
from oasis.ubus.outgoing import Ubus, opener
from tests.router import ubus as fixtures
from tests.tools.scene import Scene
from tests.ubus.buskit import can_open, make_bus, make_peer, until

OBJECTS = ("system", "network.interface", "network.device", "network.wireless", "iwinfo", "log", "rc", "service",
           "dnsmasq", "rpc-sys")  # fmt: skip
KINDS = {"String": "text", "Integer": "int", "Boolean": "bool", "Array": "list", "Table": "table"}
WHAT = ("overview", "addresses", "wan", "devices", "wifi", "dhcp", "dns", "firewall", "traffic", "ports", "system",
        "storage", "services")  # fmt: skip


@pytest.fixture(params=["real", "stand-in"])
def scene(request, tmp_path):
    """A stock router whose bus is a socket, with its objects published by our own peer."""
    made = Scene(tmp_path / "router")
    path = str(tmp_path / "ubus.sock")
    bus = make_bus(request.param, path)
    bus.start()
    until(lambda: can_open(path))
    router = fixtures.Router(made.folder)
    declared = {
        name: {method: {key: KINDS[kind] for key, kind in arguments.items()} for method, arguments in methods.items()}
        for name, methods in router.objects().items()
        if name in OBJECTS
    }
    peer = make_peer(path, _Fixtures(router), declared)
    asked = []
    ubus = Ubus(_NoPrograms(), "", opener(path))

    def call(name, method, arguments):
        asked.append((name, method))
        return ubus.call(name, method, arguments)

    made.over_program = made.facts
    made.facts = Facts(made._config, call, lambda name: made.files.read(made.root.path(name)), made.facts.now_s)
    made.facts.key, made.facts.shows_names = made.over_program.key, False
    made.fresh()
    made.asked = asked
    until(lambda: ubus.call("system", "board", {}))
    yield made
    peer.stop()
    bus.kill()


class _NoPrograms:
    def run(self, *_, **__):
        raise AssertionError("a program was started")


class _Fixtures:
    """What the objects answer; `told` is where the peer's own words go."""

    def __init__(self, router):
        self.router = router
        self.told = []

    def __call__(self, call):
        try:
            return fixtures.call(self.router, call.object, call.method, dict(call.arguments)) or {}
        except fixtures.Failed as failure:
            return {"error": {"code": "status", "message": str(failure.status), "hint": ""}}


def test_every_part_of_status_is_the_same_as_over_the_program(scene):
    over_bus = {what: scene.call("status", what=what)[0] for what in WHAT}
    assert ("network.interface", "dump") in scene.asked and ("rc", "list") in scene.asked
    scene.facts = scene.over_program
    scene.fresh()
    for what in WHAT:
        assert over_bus[what] == scene.call("status", what=what)[0], what


def test_logs_and_a_scan_come_over_the_bus(scene):
    assert scene.call("logs", service="dnsmasq")[0]["matching"] > 5
    assert scene.call("wifi_scan", radio="radio0")[0]["radios"][0]["quieter"] == 11
    assert ("iwinfo", "scan") in scene.asked
