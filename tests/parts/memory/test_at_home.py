"""A service at home answers, and the alias `embedding` names one elsewhere: what is said stays at home."""

import copy
import time

import pytest

from tests.tools.test_force import OWNER, Router

FACT = "The owner's dog is called Rex."


class Elsewhere:
    """Models of the daemon's parts, as far as vectors go; `texts` is what left the house."""

    def __init__(self):
        self.texts = []

    def embed(self, request, texts, cancelled):
        self.texts += texts
        return [[1.0, 0.0] for _ in texts]


@pytest.fixture
def router(tmp_path):
    running = Router(tmp_path)
    with open(running.root.confdir + "/oasis") as handle:
        text = handle.read().replace("\toption titles 'words'\n", "")
    with open(running.root.confdir + "/oasis", "w") as handle:
        handle.write(text + "config service\n\toption name 'openai'\n\toption identifier 'cloud'\n\toption model 'm'\n")
    running.settings.set_key("cloud", "sk-test")
    running.methods.call("alias.set", {"name": "embedding", "targets": ["cloud/vectors"]}, OWNER)
    running.elsewhere = Elsewhere()
    running.parts._kit = copy.copy(running)
    running.parts._kit.models = running.elsewhere
    running.models.call = ("knowledge_search", {"query": "where does Rex sleep"})
    yield running
    running.stop()


def said(router, service, text):
    router.ask("service.select", identifier=service)
    router.elsewhere.texts.clear()
    router.follow(router.ask("run.start", message=text))
    return list(router.elsewhere.texts)


def test_facts_and_skills_are_compared_at_home_where_the_answer_is_made(router):
    router.ask("service.select", identifier="scripted")
    router.ask("memory.add", fact=FACT)
    router.ask("memory.add", fact="The owner has a cat.")
    assert router.elsewhere.texts == []
    assert said(router, "scripted", "what does Rex eat?") == []
    assert FACT in said(router, "cloud", "what does Rex drink?")


def test_what_a_model_at_home_looks_for_or_keeps_goes_nowhere(router):
    router.follow(router.ask("knowledge.add", text="Rex sleeps in the attic.", title="Dog"))
    assert said(router, "scripted", "where does he sleep?") == []
    router.models.call = ("remember", {"text": "Rex is afraid of thunder.", "title": "Rex"})
    assert said(router, "scripted", "remember that") == []
    router.models.call = ("remember", {"text": "Rex is afraid of lightning.", "title": "Rex"})
    assert any("lightning" in text for text in said(router, "cloud", "remember that too"))


def test_a_title_of_what_was_said_at_home_is_made_there(router):
    router.methods.call("alias.set", {"name": "title", "targets": ["cloud/small"]}, OWNER)
    asked = []

    def chat(request, on_event, cancelled=None, urgent=True):
        asked.append(request["model"])
        on_event({"type": "delta", "text": "Well."})
        on_event({"type": "done", "stop_reason": "end_turn", "model": "m"})

    router.models.chat = chat
    for service, titled in (("scripted", "scripted"), ("cloud", "small")):
        asked.clear()
        said(router, service, "where does Rex sleep?")
        until_s = time.monotonic() + 30
        while len(asked) < 2 and time.monotonic() < until_s:
            time.sleep(0.02)
        assert asked[1] == titled


@pytest.mark.part("offline", "schedule")
def test_results_of_a_schedule_are_told_at_home_where_the_usual_service_is(router):
    runner = router.parts.part("schedule")._runner
    order = {"synthesis": "in one sentence"}
    router.methods.call("alias.set", {"name": "nano", "targets": ["cloud/small"]}, OWNER)
    for service, teller in (("scripted", "scripted"), ("cloud", "cloud"), ("offline", "cloud")):
        router.ask("service.select", identifier=service)
        assert runner._teller(order)["identifier"] == teller
    assert runner._teller({**order, "service": "scripted"})["identifier"] == "scripted"
    assert runner._teller({"wish": "x"}) is None
