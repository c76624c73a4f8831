"""Search by meaning over chat messages: words and vectors, gone with the message, and at home what was said there."""

import copy
import os
import time

import pytest

from oasis.core.chat_line import FORGOTTEN
from oasis.errors import UsageError
from oasis.parts.memory import said as said_part
from tests.tools.test_force import OWNER, Router

DOG, BOAT = "my dog Rex is afraid of thunder", "the boat lies in the harbour"
MEANING = {"dog": [1.0, 0.1], "hound": [0.9, 0.2], "boat": [0.0, 1.0], "ship": [0.1, 1.0]}


class Vectors:
    """Models of the daemon's parts, as far as vectors go: a few words near each other; `texts` is what they heard."""

    def __init__(self):
        self.texts = []

    def embed(self, request, texts, cancelled):
        self.texts += texts
        return [next((row for word, row in MEANING.items() if word in text), [0.5, 0.5]) for text in texts]


@pytest.fixture
def router(tmp_path):
    running = Router(tmp_path)
    with open(running.root.confdir + "/oasis", "a") as handle:
        handle.write("config service\n\toption name 'openai'\n\toption identifier 'cloud'\n\toption model 'm'\n")
    running.settings.set_key("cloud", "sk-test")
    running.vectors = Vectors()
    running.parts._kit = copy.copy(running)
    running.parts._kit.models = running.vectors
    running.folder = running.root.state_folder + "/chats/vectors"
    yield running
    running.stop()


def with_vectors(router):
    router.methods.call("alias.set", {"name": "embedding", "targets": ["cloud/vectors"]}, OWNER)


def say(router, text, service="cloud", rows=None):
    """Say something; wait for the vectors that there are then. Return the chat and the message."""
    router.ask("service.select", identifier=service)
    started = router.ask("run.start", message=text)
    router.follow(started)
    if rows is not None:
        until = time.monotonic() + 5
        while len(kept(router)) < rows and time.monotonic() < until:
            time.sleep(0.01)
        assert len(kept(router)) == rows
    return started["chat"], started["message"]


def kept(router):
    if not os.path.isdir(router.folder):
        return []
    return [line for name in os.listdir(router.folder) for line in open(os.path.join(router.folder, name), "rb")]


def found(router, text, **more):
    return [
        one["message"]
        for one in router.ask("chat.search", text=text, meaning=True, **more)["found"]
        if one["role"] == "user"
    ]


def test_without_a_model_the_best_words_win(router):
    _, dog = say(router, DOG)
    _, boat = say(router, BOAT)
    assert found(router, "where does the boat lie?") == [boat]
    assert found(router, "is Rex afraid?", limit=1) == [dog]
    assert found(router, "zebra") == [] and router.vectors.texts == [] and kept(router) == []


def test_with_a_model_other_words_of_the_same_meaning_are_found(router):
    with_vectors(router)
    _, dog = say(router, DOG, rows=1)
    _, boat = say(router, BOAT, rows=2)
    before = router.vectors.texts.count(DOG)
    assert found(router, "a hound")[0] == dog and found(router, "a ship")[0] == boat
    assert router.vectors.texts.count(DOG) == before, "a vector is made once"


def test_what_is_forgotten_or_deleted_is_found_no_more_and_leaves_no_vector(router):
    with_vectors(router)
    _, dog = say(router, DOG, rows=1)
    other, boat = say(router, BOAT, rows=2)
    router.ask("chat.forget", message=dog)
    assert len(kept(router)) == 1 and dog.encode() not in b"".join(kept(router))
    assert dog not in found(router, "a hound") and dog not in found(router, "thunder " + FORGOTTEN)
    router.ask("chat.delete", id=other)
    assert kept(router) == [] and boat not in found(router, "a ship")


def test_an_archived_chat_is_found_as_well(router):
    with_vectors(router)
    chat, dog = say(router, DOG, rows=1)
    router.ask("chat.archive", id=chat)
    assert found(router, "a hound") == found(router, "thunder") == [dog]


def test_what_was_said_at_home_goes_to_no_model_for_vectors_elsewhere(router):
    with_vectors(router)
    say(router, DOG, "scripted")
    time.sleep(0.3)
    assert router.vectors.texts == [] and kept(router) == []
    assert len(found(router, "thunder")) == 1, "its words are found at home"


def test_a_model_in_the_house_finds_all_and_one_elsewhere_what_was_said_elsewhere(router):
    _, home = say(router, DOG, "scripted")
    part = router.parts.part("said")
    _, away = say(router, "the dog of the neighbours, Bello", "cloud")
    of = lambda **more: {one["message"] for one in part.search("dog", **more)["results"]}  # noqa: E731
    assert {home, away} <= of(is_home=True)
    assert of(is_home=False, goes_elsewhere=True).isdisjoint({home}) and away in of(is_home=False, goes_elsewhere=True)


def test_the_tool_tells_messages_to_the_model_that_the_owner_talks_with_alone(router):
    say(router, DOG)
    router.models.call = ("knowledge_search", {"query": "thunder"})
    router.ask("service.select", identifier="scripted")
    started = router.ask("run.start", message="who is afraid of loud noise?")
    events = router.follow(started)
    result = [event for event in events if event["type"] == "tool_result"][-1]
    assert "Rex" in result["text"], result
    direct = router.methods.call("tool.call", {"name": "knowledge_search", "arguments": {"query": "thunder"}}, OWNER)
    assert not any("Rex" in event.get("text", "") for event in router.follow(direct))


def test_vectors_of_all_chats_have_a_bound(router, tmp_path):
    with_vectors(router)
    files = router.parts._kit.files
    files.folder(router.folder)
    for number in range(4):
        files.append(f"{router.folder}/{number:020d}.jsonl", b"x" * (said_part.VECTORS_BYTES // 3) + b"\n", False)

    def size():
        return sum(files.size(router.folder + "/" + name) for name in os.listdir(router.folder))

    _, dog = say(router, DOG)
    until = time.monotonic() + 5
    while size() > said_part.VECTORS_BYTES and time.monotonic() < until:
        time.sleep(0.01)
    assert size() <= said_part.VECTORS_BYTES
    assert "0" * 19 + "3.jsonl" in os.listdir(router.folder), "the newest stays"
    assert found(router, "a hound") == [dog], "what cannot be read is passed over"


def test_nothing_to_look_for_is_refused(router):
    with pytest.raises(UsageError, match="nothing to search for"):
        router.ask("chat.search", text="  ", meaning=True)
