"""A stock router in a folder with a registry over it, to call its tools as a run does."""

import json
import os

from oasis.redaction import secret_options
from oasis.system.child import Executor
from oasis.system.files import Files
from oasis.system.root import Root
from oasis.tools.builtin import BuiltIn
from oasis.tools.router import Facts, Router
from oasis.ubus.outgoing import Ubus
from oasis.uci import model
from oasis.uci.model import tables
from tests.oasisd import copy_root
from tests.tools.kit import Hands, registry

NOW_S = 1_795_295_120


class Scene:
    """`call(name, **arguments)` gives (result, is_error, taint); `hands` is what was asked of the owner."""

    def __init__(self, folder):
        self.folder = copy_root(str(folder))
        self.root = Root(self.folder, [self.folder + "/bin", "/usr/bin", "/bin"])
        self.files = Files()
        self.executor = Executor(self.root.environment(), self.root.allowed("/none"))
        ubus = Ubus(self.executor, self.root.program("ubus"))
        self.facts = Facts(self._config, ubus.call, lambda path: self.files.read(self.root.path(path)), lambda: NOW_S,
                           lambda: self.files.names(self.root.confdir))  # fmt: skip
        self.facts.key = b"k" * 32
        self.facts.hide = lambda package, section, type, option, value: secret_options.mask(value)
        self.facts.shows_names = False
        self.registry = registry(BuiltIn(Router(self.root, self.executor.run, self.files, self._later)))
        self.hands = self.fresh()
        self.later = []  # (seconds, work) that is to be done once the answer is out

    def _later(self, seconds, work):
        self.later.append((seconds, work))

    def fresh(self, **more):
        self.hands = Hands(**more)
        self.hands.facts = self.facts
        return self.hands

    def _config(self, package):
        data = self.files.read(self.root.confdir + "/" + package)
        return None if data is None else tables(model.parse(data, package))

    def call(self, name, /, **arguments):
        text, is_error, taint = self.registry.call(name, arguments, self.hands)
        return json.loads(text), is_error, taint

    def ubus(self, name, method, reply):
        """Let a method of the bus answer otherwise."""
        self.write("ubus/%s~%s.json" % (name, method), json.dumps(reply))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def fault(self, program, words):
        self.write("var/run/faults/" + program, words)

    def done(self):
        """Return what programs changed, a line each."""
        try:
            with open(self.folder + "/var/log/programs.log", encoding="utf-8") as file:
                return file.read().split("\n")[:-1]
        except FileNotFoundError:
            return []
