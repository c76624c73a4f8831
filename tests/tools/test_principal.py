"""For whom a run is: what stands beside the chat is the owner's alone, and what came by others is no word of his."""

import pytest

from oasis.tools.principal import OWNER
from tests.tools.test_force import Router


class Part:
    """A part that stands beside the chat: wants another service for every turn, and keeps the turns that it sees."""

    def __init__(self):
        self.added_to, self.after_of = [], []

    def added(self, turn, told):
        self.added_to.append(turn["said"])
        told.system.append("The owner's wife is called Anna.")
        told.service = "other"

    def after(self, turn):
        self.after_of.append((turn["said"], turn["taint"]))


@pytest.fixture
def router(tmp_path):
    running = Router(tmp_path)
    running.part = running.parts._parts["memory"] = Part()
    running.parts._parts["skill"] = Part()
    with open(running.root.confdir + "/oasis", "a") as handle:
        handle.write("config service\n\toption name 'ollama'\n\toption identifier 'other'\n\toption model 'dear'\n")
    running.requests = requests = []

    def chat(request, on_event, cancelled=None, urgent=True):
        if request["tools"]:  # a title has none
            requests.append(request)
        on_event({"type": "delta", "text": "Well."})
        on_event({"type": "done", "stop_reason": "end_turn", "model": "scripted"})

    running.models.chat = chat
    yield running
    running.stop()


def said(router, text, role):
    """Say something by a role of the table; return the events."""
    return router.follow(router.methods.call("run.start", {"message": text}, {"name": role, "terminal": False}))


def active(router, identifier):
    router.ask("service.select", identifier=identifier)


@pytest.mark.part("memory", "telegram")
def test_what_the_owner_says_at_the_router_may_be_remembered_and_by_a_messenger_it_is_somebody_s(router):
    active(router, "scripted")
    said(router, "my wife is called Anna", "owner")
    said(router, "my wife is called Eve", "messenger")
    router.runs.wait_ended(10)
    assert router.part.after_of == [
        ("my wife is called Anna", []),
        ("my wife is called Eve", ["words that came by a messenger"]),
    ]


@pytest.mark.part("memory", "telegram")
def test_a_skill_chooses_the_service_for_the_owner_and_not_for_a_guest(router):
    from oasis.parts.telegram.people import WORDS, Guest

    active(router, "scripted")
    said(router, "make a guest network", "owner")
    assert [one["model"] for one in router.requests] == ["dear"]
    assert "Anna" in str(router.requests[0]["messages"][0])
    begun = router.turn_starter().start({"message": "make a guest network", "taint": [WORDS]}, (), Guest())
    router.runs.wait_ended(10)
    assert begun.state == "done"
    assert [one["model"] for one in router.requests] == ["dear", "scripted"]
    assert "Anna" not in str(router.requests[1])
    assert router.part.added_to == ["make a guest network"] and len(router.part.after_of) == 1


@pytest.mark.part("memory")
def test_the_owner_himself_is_who_a_run_is_for_when_nobody_says_otherwise(router):
    active(router, "scripted")
    begun = router.turn_starter().start({"message": "good morning"})
    router.runs.wait_ended(10)
    assert begun.state == "done" and router.part.after_of == [("good morning", [])]
    assert OWNER.approver is None and OWNER.is_attended and not OWNER.taint
