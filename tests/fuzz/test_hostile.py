"""What a hostile model proposes: through parser and planner, and through a whole run, with the router's files compared.

The runs are made under `approval 'none'`: what is refused here is refused by the rules, not because nobody said yes.
"""

import os
import time

import pytest

from oasis.change import uci_commands
from oasis.change.policy import Policy
from oasis.daemon.wiring import Daemon
from oasis.errors import OasisError
from oasis.system.root import Root
from oasis.uci import model
from oasis.uci.shell_words import quoted
from tests.change.kit import Kit
from tests.fuzz.corpora import texts
from tests.oasisd import copy_root

PLACE = "uci set system.@system[0].notes="
RUN_S = 20  # one run; most take hundredths of a second, and a text that makes anything slow is an attack as well
OWNER = {"name": "owner", "terminal": False}
OWN = ("/etc/oasis/", "/var/", "/proc/")  # journal, chats, log, run state


def files(root):
    """Return the bytes of every file of a router root, but for what the daemon writes for itself."""
    found = {}
    for where, _, names in os.walk(root):
        for name in names:
            path = os.path.join(where, name)
            if not path[len(root) :].startswith(OWN) and os.path.isfile(path):
                with open(path, "rb") as handle:
                    found[path[len(root) :]] = handle.read()
    return found


def pwned(root):
    found = [os.path.join(where, name) for where, _, names in os.walk(root) for name in names if "pwned" in name]
    return found + [name for name in ("pwned", "/pwned") if os.path.exists(name)]


@pytest.fixture(scope="module")
def planning(tmp_path_factory):
    return Kit(tmp_path_factory.mktemp("plan") / "router")


@pytest.mark.parametrize("text", texts("refused"), ids=lambda text: repr(text[:60]))
def test_planning_refuses_and_writes_nothing(planning, text):
    before = files(planning.root.folder)
    with pytest.raises(OasisError) as caught:
        planning.planner.propose(uci_commands.parse(text)[0], "run1", "chat1", "a test")
    assert caught.value.message and len(caught.value.message) < 2000
    assert files(planning.root.folder) == before
    assert not pwned(planning.root.folder)


class Proposing:
    """A model that proposes one thing and then is content."""

    def __init__(self):
        self.commands = []

    def chat(self, request, on_event, cancelled=None, urgent=True):
        if request["messages"][-1]["role"] == "tool":
            on_event({"type": "delta", "text": "Well."})
            on_event({"type": "done", "stop_reason": "end_turn", "model": "scripted"})
            return
        on_event({"type": "tool_use", "id": "c1", "name": "configure", "input": {"commands": self.commands}})
        on_event({"type": "done", "stop_reason": "tool_use", "model": "scripted"})

    def close(self):
        pass


class Router(Daemon):
    """A daemon in this process whose model is ours."""

    def __init__(self, root):
        super().__init__(root)
        self.models = self.methods._turn_starter().asking._models = Proposing()

    def ask(self, method, **words):
        return self.methods.call(method, words, OWNER)

    def propose(self, *proposed):
        """Return the events of a run in which the model proposes commands."""
        self.models.commands = list(proposed)
        started = self.ask("run.start", message="do it", service="scripted")
        events, since, deadline = [], 0, time.monotonic() + RUN_S
        while not events or events[-1]["type"] != "end":
            assert time.monotonic() < deadline, events
            reply = self.ask("run.poll", run=started["run"], since=since, wait_ms=1000)
            events, since = events + reply["events"], reply["next"]
            for plan in [event["plan"] for event in reply["events"] if event["type"] == "plan"]:
                if plan["needs_approval"]:  # more were made already than are made at once in an hour
                    self.ask("plan.approve", plan=plan["id"], hash=plan["hash"])
        return events


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    root = copy_root(str(tmp_path_factory.mktemp("run") / "router"))
    with open(root + "/etc/config/oasis", "a", encoding="ascii") as handle:
        handle.write(
            "config service\n\toption name 'ollama'\n\toption identifier 'scripted'\n\toption model 'scripted'\n"
            "\toption context_tokens '1000000'\n"
        )
    with open(root + "/etc/config/oasis", "r+", encoding="ascii") as handle:
        text = handle.read().replace("approval 'risky'", "approval 'none'")
        handle.seek(0)
        handle.write(text)
        handle.truncate()
    made = Router(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
    assert made.ask("info")["approval"] == Policy("none").approval
    yield made
    made.stop()


@pytest.mark.parametrize("text", texts("refused"), ids=lambda text: repr(text[:60]))
def test_a_run_refuses_and_changes_nothing(router, text):
    before = files(router.root.folder)
    events = router.propose(text)
    results = [event for event in events if event["type"] == "tool_result"]
    assert [result["is_error"] for result in results] == [True], results
    assert events[-1]["state"] == "done"
    assert not any(event["type"] in ("plan", "change") for event in events)
    assert files(router.root.folder) == before
    assert not pwned(router.root.folder)


@pytest.mark.parametrize("value", texts("plain"), ids=lambda value: repr(value[:60]))
def test_text_that_looks_like_an_attack_is_stored_as_text(router, value):
    before = files(router.root.folder)
    events = router.propose(PLACE + quoted(value))
    assert [event["change"]["state"] for event in events if event["type"] == "change"] == ["applied"], events
    router.ask("change.confirm", unproved=True)
    after = files(router.root.folder)
    assert {name for name in after if after[name] != before.get(name)} == {"/etc/config/system"}
    assert set(after) == set(before)
    was, now = (model.parse(found["/etc/config/system"], "system").sections for found in (before, after))
    assert now[0].options.pop("notes") == value
    was[0].options.pop("notes", None)
    assert [(one.type, one.name, one.options) for one in now] == [(one.type, one.name, one.options) for one in was]
    assert not pwned(router.root.folder)


def test_one_refused_command_refuses_all_of_them(router):
    before = files(router.root.folder)
    events = router.propose("uci set system.@system[0].hostname=attic", "uci set system.@system[0].notes=$(reboot)")
    assert [event["is_error"] for event in events if event["type"] == "tool_result"] == [True]
    assert files(router.root.folder) == before
