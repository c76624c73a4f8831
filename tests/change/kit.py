"""A router root with the whole change machinery on it, without a daemon: for the tests of oasis.change."""

import os
import time

from oasis.change.apply.evidence import Evidence
from oasis.change.apply.journal import Journal
from oasis.change.apply.transaction import Transaction
from oasis.change.plan import Planner, Questions
from oasis.change.policy import Policy
from oasis.change.uci_commands import parse
from oasis.core.ids import Xid
from oasis.system.child import Executor
from oasis.system.files import Files
from oasis.system.root import Machine, Root
from oasis.ubus.outgoing import Ubus
from oasis.uci.backends import open_cursor
from tests.oasisd import REPOSITORY, copy_root

SCRIPTS = REPOSITORY + "/oasis/change"
RENAME = "uci set system.@system[0].hostname=attic"
WIFI = "uci set wireless.default_radio0.ssid=Attic"


class Clock:
    """Real time, with a shift that a test may set."""

    def __init__(self):
        self.shift_s = 0.0

    def now_s(self):
        return time.monotonic() + self.shift_s

    def unix_s(self):
        return int(time.time())

    def up_s(self):
        with open("/proc/uptime") as handle:
            return float(handle.read().split()[0])


class FailingFiles(Files):
    """Files whose n-th write, sync, rename or removal fails; the failing write writes half of its bytes first."""

    def __init__(self, fail_at=0):
        self.fail_at = fail_at
        self.steps = 0

    def _step(self):
        self.steps += 1
        if self.steps == self.fail_at:
            raise OSError(28, "No space left on device")

    def write(self, handle, data):
        try:
            self._step()
        except OSError:
            handle.write(bytes(data)[: len(data) // 2])
            raise
        Files.write(self, handle, data)

    def sync(self, handle):
        self._step()
        Files.sync(self, handle)

    def rename(self, old, new):
        self._step()
        Files.rename(self, old, new)

    def sync_folder(self, path):
        try:
            self._step()
        except OSError as error:
            raise self.failed("sync", path, error) from error
        Files.sync_folder(self, path)


class Kit:
    """Planner, journal and transaction on a fresh copy of the stock root."""

    def __init__(self, target, files=None, confirm_s=0, approval="risky", root="", free=1 << 30, clock=None, bus=None):
        self.root = Root(root or copy_root(str(target)), [os.path.join(root or str(target), "bin"), "/usr/bin", "/bin"])
        self.files = files or Files()
        Files().folder(self.root.run_folder)
        self.clock = clock or Clock()
        self.told = []
        self.luci_waits = True
        self.announced = lambda plan: None
        self.parts = None
        self.is_here_fine = True
        self.bus = bus
        self.executor = self.programs(Executor(self.root.environment(), self.root.allowed(SCRIPTS)))
        policy = Policy(approval, confirm_s)
        self.journal = Journal(self.files, self.root.state_folder, lambda path: free)
        self.ids = Xid(self.clock.unix_s, os.urandom, None, self.journal.next_s())
        self.machine = machine = Machine(self.root, self.files, self.executor, self.clock)
        questions = Questions(luci_waits=lambda: self.luci_waits)
        self.planner = Planner(machine, policy, b"k" * 32, self.ids.next, self.journal, questions)
        followers = (self.told.append, lambda plan: self.announced(plan))
        self.transaction = Transaction(machine, self.journal, self, self.cursor, self.evidence, followers)

    def evidence(self):
        """Return services, read-back and proof of life of this root; loopback proves, unless a test says otherwise."""
        if self.parts is None:
            bus = self.bus or Ubus(self.executor, self.root.program("ubus")).call
            self.parts = Evidence(self.machine, bus, self.is_here_fine)
        return self.parts

    def programs(self, executor):
        """Return what starts programs; a test may put something before it."""
        return executor

    def cursor(self):
        return open_cursor(self.root.confdir, self.root.path("/var/run/oasis/uci"))

    def plan(self, text, run="run1"):
        return self.planner.propose(parse(text)[0], run, "chat1", "a test")

    def config(self, package):
        with open(self.root.confdir + "/" + package, "rb") as handle:
            return handle.read()

    def write(self, package, data):
        with open(self.root.confdir + "/" + package, "wb") as handle:
            handle.write(data)

    def services(self):
        """Return the recorded service calls as ["network reload", …]."""
        try:
            with open(self.root.path("/var/log/services.log")) as handle:
                return [line.split(" ", 1)[1].strip() for line in handle]
        except FileNotFoundError:
            return []

    def fault(self, service, text):
        with open(self.root.path("/var/run/faults/") + service, "w") as handle:
            handle.write(text)

    def again(self, **more):
        """Return a second kit on the same root, as after a restart."""
        return Kit(None, root=self.root.folder, **more)

    def wait_for(self, state, seconds=8.0):
        """Wait until the transaction has told a state."""
        deadline = time.monotonic() + seconds
        while not any(record["state"] == state for record in self.told):
            assert time.monotonic() < deadline, f"never {state}: {[record['state'] for record in self.told]}"
            time.sleep(0.02)
        return next(record for record in self.told if record["state"] == state)
