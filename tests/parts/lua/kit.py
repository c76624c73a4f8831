"""A stock router with a tool server of upstream's kind on it, seen through the registry; and the owner's hands."""

import json
import os
import shutil
from types import SimpleNamespace

from oasis.errors import PolicyError
from oasis.parts.lua.plugins import Plugins
from oasis.ubus.outgoing import Ubus
from tests.tools.kit import Hands, Store, registry
from tests.tools.scene import Scene

SERVER = "oasis.lua.template.tool"
SERVED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "served", "toolbox")
OWNER = {"name": "owner"}
PROGRAM = "/usr/libexec/rpcd/" + SERVER
NAMES = ("say_hello", "weather", "add", "neighbours", "ask_reboot", "ask_shutdown", "ask_restart", "nested", "fails",
         "broken", "slow", "flood", "forged", "wrong", "hostile")  # fmt: skip
ARGUMENTS = {"weather": ("location",), "add": ("a", "b"), "ask_restart": ("service",), "hostile": ("text",)}


def manifest(server=SERVER, names=NAMES, kind="lua_script", path=PROGRAM, **more):
    return {"version": 1, "source_type": kind, "source_path": path, "tools": [tool(n, server, **more) for n in names]}


def tool(name, server=SERVER, **more):
    properties = [{"name": one, "type": "string", "description": ""} for one in ARGUMENTS.get(name, ())]
    entry = {"server": server, "name": name, "type": "function", "description": "does %s" % name, "timeout": "",
             "execution_message": "", "download_message": "", "required": [one["name"] for one in properties],
             "properties": properties, "additional_properties": False}  # fmt: skip
    return {**entry, **more}


class OwnerHands(Hands):
    """Hands whose actions on services are noted; `outcome` is what an action comes to."""

    def __init__(self, **more):
        super().__init__(**more)
        self.acts, self.seen = [], []
        self.outcome = {"status": "declined", "plan": "p1", "reason": "not now"}

    def seeing(self, taint):
        self.seen.append(list(taint))
        self.taint = list(taint)
        return self

    def act(self, service, action):
        self.acts.append((service, action, self.asks, list(self.taint)))
        if service == "forbidden":
            raise PolicyError("not this one")
        return self.outcome


def plugins(scene, sections, cursor, bus):
    """Return the tool servers of a router; of the daemon there is what they need."""
    return Plugins(
        SimpleNamespace(
            root=scene.root,
            files=scene.files,
            settings=SimpleNamespace(uci_sections=sections),
            cursor=cursor,
            ubus_call=bus,
            turn_starter=lambda: SimpleNamespace(registry=scene.registry),
            audit=SimpleNamespace(write=lambda *line: None),
        )
    )


class Bench(Scene):
    """`call(name, …)` as in Scene; the tools of the plugin are on and allowed, its file is not reviewed yet."""

    def __init__(self, folder, seconds=None):
        super().__init__(folder)
        self.store = Store("".join(permit(name) for name in NAMES))
        self.install(PROGRAM, SERVED)
        self.describe("lua.template.json", manifest())
        ubus = Ubus(self.executor, self.root.program("ubus"))
        self.calls = []

        def bus(name, method, arguments, timeout_s):
            self.calls.append((name, method, arguments, timeout_s))
            return ubus.call(name, method, arguments, seconds or timeout_s)

        self.plugins = plugins(self, self.store.sections, lambda: self.store, bus)
        sources = self.registry._loads[0]()
        self.registry = registry(*sources, store=self.store)
        self.registry.add(self.plugins.sources)

    def fresh(self, **more):
        self.hands = OwnerHands(**more)
        self.hands.facts = self.facts
        return self.hands

    def install(self, path, source, mode=0o755):
        os.makedirs(os.path.dirname(self.folder + path), exist_ok=True)
        shutil.copyfile(source, self.folder + path)
        os.chmod(self.folder + path, mode)

    def script(self, path, text, mode=0o644):
        self.write(path[1:], text)
        os.chmod(self.folder + path, mode)

    def describe(self, name, made):
        self.write("etc/oasis/tool-manifest.d/" + name, json.dumps(made))

    def accept(self, server=SERVER):
        self.plugins.plugin_accept(OWNER, server, self.plugins.plugin_review(server)["sha256"])

    def listed(self):
        return {(one["source"], one["name"]): one for one in self.registry.listed()}


def permit(name, server=SERVER, enable="1", approval="allow"):
    words = {"name": name, "server": server, "enable": enable, "approval": approval}
    return "config tool\n" + "".join("\toption %s '%s'\n" % one for one in words.items()) + "\n"
