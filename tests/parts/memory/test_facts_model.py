"""Models that nobody scripted take facts out of what is said, tell which are one, and choose the skill for a task."""

import json
import re
import urllib.request

import pytest

from oasis.parts.memory.extraction import Words
from oasis.parts.memory.ranking import COSINE, Near, packed
from oasis.parts.memory.skills import NEAR, Shelf, mentioned
from oasis.system.files import Files
from tests import model_server
from tests.llm.test_workers import root_with
from tests.oasisd import start_daemon
from tests.parts.memory import minilm
from tests.parts.memory.test_facts_daemon import facts, say, until
from tests.parts.memory.test_facts_heard import pairs
from tests.parts.memory.test_skill import wishes
from tests.peers import tool_model
from tests.scripted import Scripted, is_aside, said, system

pytestmark = pytest.mark.model
# A model on a machine that is busy with other tests.
SLOW_S = 120
SAYS = (
    ("I prefer short answers in English", "short answers"),
    ("My daughter is called Anna and she loves horses", "horses"),
)


def with_small(root, url):
    """Add a second service, and the alias of the small model on it."""
    with open(root + "/etc/config/oasis", "a") as handle:
        handle.write(f"\nconfig service 'small'\n\toption name 'compatible'\n\toption identifier 'small'\n"
                     f"\toption model 'small'\n\toption endpoint '{url}'\n"
                     "\nconfig alias\n\toption name 'nano'\n\tlist target 'small'\n")  # fmt: skip
    return root


def test_a_real_model_takes_facts_out_of_what_is_said(tmp_path):
    real = model_server.start()
    if real is None:
        pytest.skip(model_server.ADVICE)
    main = Scripted(lambda body: "Fine.")
    daemon = start_daemon(with_small(root_with(tmp_path, "compatible", main.url, "scripted"), real.base_url))
    try:
        daemon.call("memory.set", extract=True)
        for number, (words, wanted) in enumerate(SAYS):
            say(daemon, words)
            found = until(lambda n=number: len(facts(daemon)) > n and facts(daemon), SLOW_S)
            assert any(wanted in fact for fact in found)
        say(daemon, "is there an answer in English about horses?")
        assert "horses" in system(main.turns()[-1])
        assert main.asides() == [], "the small one is asked"
    finally:
        daemon.stop()
        main.close()
        real.close()


WISHES = (
    ("Please set up a guest wifi called Visitors", "guest-wifi"),
    ("I need parental control for the tablet of my son", "parental-control"),
    ("The wifi is slow and keeps dropping in the kitchen", "slow-internet"),
    ("is my router secure? I fear I was hacked", "security-check"),
    ("Guests are coming tonight, which IP has the printer?", None),
)


class Needle:
    """Puts a choice of skills to a real model that calls tools: each skill is one, and no call is none."""

    def __init__(self, url):
        self._url = url
        self.chosen = []

    def __call__(self, body):
        if not is_aside(body):
            return "Fine."
        guides = re.findall(r"^([a-z-]+): (.*)$", system(body), re.M)
        tools = [{"type": "function", "function": {
            "name": name.replace("-", "_"), "description": about, "parameters": {"type": "object", "properties": {}},
        }} for name, about in guides]  # fmt: skip
        asked = {"model": "needle", "messages": [{"role": "user", "content": said(body)}], "tools": tools}
        request = urllib.request.Request(self._url + "/chat/completions", json.dumps(asked).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            called = re.search(rb'"name": "(\w+)"', answer.read())
        self.chosen.append(called.group(1).decode().replace("_", "-") if called else "none")
        return json.dumps({"skill": self.chosen[-1]})


@pytest.mark.long
def test_a_real_model_chooses_the_skill_for_a_task(tmp_path):
    peer = tool_model.start()
    if peer is None:
        pytest.skip(tool_model.ADVICE)
    needle = Needle(peer.url)
    model = Scripted(needle)
    daemon = start_daemon(with_small(root_with(tmp_path, "compatible", model.url, "scripted"), model.url))
    try:
        guides = {skill["name"]: _guide(daemon, skill["name"]) for skill in daemon.call("skill.list")["skills"]}
        right = 0
        for words, wanted in WISHES:
            say(daemon, words)
            told = system(model.turns()[-1])
            found = next((name for name, guide in guides.items() if guide in told), None)
            assert found in (wanted, None), "never another one than is meant"
            right += found == wanted
        assert len(needle.chosen) == len(WISHES) and right >= len(WISHES) - 1, needle.chosen
    finally:
        daemon.stop()
        model.close()
        peer.close()


def _guide(daemon, name):
    return daemon.call("skill.load", name=name)["text"].split("---\n", 2)[2].strip().split("\n")[0]


@pytest.fixture(scope="module")
def near():
    folder = minilm.find()
    if folder is None:
        pytest.skip(minilm.ADVICE)
    model = minilm.Model(folder)

    class Embedder:
        name = "minilm"
        is_local = True

        def rows(self, texts):
            return [packed([float(number) for number in vector]) for vector in model.embed(texts)]

    return Near(Embedder, lambda: Words().empty, print)


def test_real_vectors_make_no_two_different_facts_one_and_know_those_that_say_the_same(near):
    same = []
    for pair in pairs():
        (score,), least = near.alike(pair["one"], [{"fact": pair["other"]}])
        assert least == COSINE
        assert pair["same"] or score <= COSINE, pair
        same += [score > COSINE] if pair["same"] else []
    assert sum(same) >= 0.9 * len(same)


def test_real_vectors_bring_no_skill_near_that_is_not_meant(near, tmp_path):
    skills = Shelf(Files(), str(tmp_path)).all()[0]
    found = 0
    for wish in wishes():
        scores = near.closeness(wish["said"], [skill["description"] for skill in skills])
        near_ones = [skill for skill, score in zip(skills, scores, strict=True) if score >= NEAR]
        names = [skill["name"] for skill in near_ones if not mentioned(wish["said"], skill["against"])]
        assert set(names) <= {wish["skill"]}, wish
        found += bool(names)
    assert found >= 8
