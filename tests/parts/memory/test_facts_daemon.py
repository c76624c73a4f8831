"""Facts from the owner's words to the next request of a model, through a whole daemon and a model that is scripted."""

import base64
import json
import os
import time

import pytest

from oasis.api.parts import Extras
from oasis.daemon.wiring import Daemon
from oasis.system.root import Root
from tests.daemon.test_wiring import follow, of_type
from tests.llm.test_workers import root_with
from tests.oasisd import start_daemon
from tests.scripted import Refused, Scripted, said, system

SAYS = "I work from home on Fridays, so no restarts then please"
FACT = "The owner works from home on Fridays."
PATH = "/etc/oasis/memory/facts.jsonl"
WAIT_S = 30


def remembering(body):
    """Answer turns with a word, and requests for facts with one of what was said."""
    if "keep notes about the owner" not in system(body):
        return "Fine."
    words = said(body)
    if "Fridays" in words:
        return json.dumps({"facts": [{"fact": FACT, "category": "habit", "supersedes": ""}]})
    if "horse" in words:
        return json.dumps(
            {"facts": [{"fact": "The owner has a blue horse.", "category": "personal", "supersedes": ""}]}
        )
    if "hunter2sunny" in words:
        return json.dumps({"facts": [{"fact": "The owner likes hunter2sunny.", "category": "habit", "supersedes": ""}]})
    return "[]"


@pytest.fixture
def model():
    server = Scripted(remembering)
    yield server
    server.close()


@pytest.fixture
def daemon(tmp_path, model):
    started = start_daemon(root_with(tmp_path, "compatible", model.url, "scripted"))
    yield started
    started.stop()


def until(look, wait_s=WAIT_S):
    """Wait until something is there, and return it."""
    end = time.monotonic() + wait_s
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def say(daemon, words, **more):
    started = daemon.call("run.start", message=words, **more)
    events = follow(daemon, started)
    assert of_type(events, "end")[0]["state"] == "done", events
    return started


def facts(daemon):
    return [fact["fact"] for fact in daemon.call("memory.list")["facts"]]


def test_nothing_is_taken_out_of_what_is_said_until_the_owner_wants_it(daemon, model):
    assert daemon.call("memory.list")["extract"] is False
    say(daemon, SAYS)
    say(daemon, "and another word about my Fridays")
    assert model.asides() == [] and facts(daemon) == []
    assert not os.path.exists(daemon.root + os.path.dirname(PATH))


def test_a_fact_comes_into_the_next_request_and_is_gone_when_it_is_forgotten(daemon, model):
    assert daemon.call("memory.set", extract=True) == {"extract": True, "tainted": False}
    started = say(daemon, SAYS)
    until(lambda: facts(daemon))
    notes = [event["text"] for event in of_type(daemon.call("run.poll", run=started["run"])["events"], "note")]
    assert any(FACT in note for note in notes)
    (fact,) = daemon.call("memory.list")["facts"]
    assert fact["fact"] == FACT and fact["category"] == "habit" and fact["confidence"] == 1.0
    assert fact["source"] == {"chat": started["chat"], "message": started["message"]}
    assert os.stat(daemon.root + PATH).st_mode & 0o777 == 0o600

    say(daemon, "may the router restart on Fridays?")
    assert FACT in system(model.turns()[-1])
    assert FACT not in system(model.turns()[0])

    assert daemon.call("memory.forget", id=fact["id"]) == {"forgotten": 1}
    assert not os.path.exists(daemon.root + PATH), "without facts nothing is left"
    say(daemon, "and is a restart fine today?")
    assert FACT not in system(model.turns()[-1])


def test_the_model_is_shown_the_owners_words_and_no_answer(daemon, model):
    daemon.call("memory.set", extract=True)
    say(daemon, SAYS)
    (asked,) = until(model.asides)
    assert said(asked) == SAYS
    assert asked["response_format"]["json_schema"]["schema"]["required"] == ["facts"]
    examples = asked["messages"][1:-1]
    assert examples and asked["messages"][-1]["content"] == SAYS and "Fine." not in json.dumps(asked)


def test_talk_and_words_about_passwords_are_read_by_nobody(daemon, model):
    daemon.call("memory.set", extract=True)
    for words in ("thank you very much!", "hi", "set the guest wifi password to hunter2sunny on Fridays"):
        say(daemon, words)
    say(daemon, SAYS)
    until(lambda: facts(daemon))
    assert [said(body) for body in model.asides()] == [SAYS]


def test_a_password_that_was_said_before_is_no_fact_when_it_is_said_again(daemon, model):
    daemon.call("memory.set", extract=True)
    chat = say(daemon, "set the password of the guests to hunter2sunny")["chat"]
    say(daemon, "no wait, I like hunter2sunny better written large", chat=chat)
    # Words that the redactor does not know from elsewhere, in another case.
    chat = say(daemon, "password = Blue Horse Battery")["chat"]
    say(daemon, "I have a horse that is blue", chat=chat)
    say(daemon, SAYS)  # read after it
    assert until(lambda: facts(daemon)) == [FACT]
    assert len(model.asides()) == 3
    with open(daemon.root + PATH) as handle:
        kept = handle.read()
    assert "hunter2" not in kept and "horse" not in kept


def test_a_service_that_takes_no_schema_is_asked_without(tmp_path):
    def answer(body):
        if "response_format" in body:
            raise Refused("response_format is not supported by this model")
        return remembering(body)

    server = Scripted(answer)
    daemon = start_daemon(root_with(tmp_path, "compatible", server.url, "scripted"))
    try:
        daemon.call("memory.set", extract=True)
        say(daemon, SAYS)
        until(lambda: facts(daemon))
        asked = len(server.asides())
        say(daemon, "Fridays are for Anna as well, I said")
        until(lambda: len(server.asides()) > asked)
        assert ["response_format" in body for body in server.asides()] == [True, False, False]
    finally:
        daemon.stop()
        server.close()


def test_what_is_being_read_while_everything_is_forgotten_is_not_kept(tmp_path):
    import threading

    may_answer = threading.Event()

    def answer(body):
        if "keep notes" in system(body):
            assert may_answer.wait(WAIT_S)
        return remembering(body)

    server = Scripted(answer)
    daemon = start_daemon(root_with(tmp_path, "compatible", server.url, "scripted"))
    try:
        daemon.call("memory.set", extract=True)
        say(daemon, SAYS)
        until(server.asides)
        assert daemon.call("memory.forget", all=True) == {"forgotten": 0}
        may_answer.set()
        say(daemon, "my Fridays are all the same")  # read when the one before is done
        until(lambda: len(server.asides()) == 2 and facts(daemon))
        (fact,) = daemon.call("memory.list")["facts"]
        assert fact["confidence"] == 1.0, "the first one was not kept, so this one is new"
    finally:
        daemon.stop()
        server.close()


def test_the_owner_writes_corrects_and_takes_away_facts(daemon):
    made = daemon.call("memory.add", fact="The printer is in the office.")["fact"]
    changed = daemon.call("memory.change", id=made["id"], fact="The printer is in the attic.", category="preference")
    assert changed["fact"]["fact"] == "The printer is in the attic."
    with open(daemon.root + PATH) as handle:
        assert "office" not in handle.read()
    assert daemon.call("memory.export")["facts"][0]["category"] == "preference"
    assert "password" in daemon.call("memory.add", fact="The password is sunshine")["error"]["message"]
    assert daemon.call("memory.add", fact="x")["error"]["code"] == "usage"
    assert daemon.call("memory.forget")["error"]["code"] == "usage"
    assert daemon.call("memory.forget", all=True) == {"forgotten": 1}
    assert facts(daemon) == [] and not os.path.exists(daemon.root + PATH)


def test_nothing_is_asked_when_a_message_is_only_looked_at(daemon, model):
    daemon.call("memory.add", fact=FACT)
    shown = daemon.call("privacy.show", message="may it restart on Fridays?")
    assert FACT.encode() in base64.b64decode(shown["data"]), shown
    assert model.bodies == []


def test_a_fact_that_became_a_secret_of_the_router_is_told_to_nobody(daemon, model):
    daemon.call("memory.add", fact="The owner grows sunflowers in summer.")
    say(daemon, "what grows in summer?")
    assert "sunflowers" in system(model.turns()[-1])
    with open(daemon.root + "/etc/config/wireless", "a") as handle:
        handle.write("\nconfig wifi-iface 'mine'\n\toption device 'radio0'\n\toption key 'sunflowers'\n")
    say(daemon, "what grows in summer?")
    assert "Notes about the owner" not in system(model.turns()[-1])


def whole(root):
    """Return a daemon in this process."""
    return Daemon(Root(root))


def test_a_message_with_words_of_others_is_read_only_where_the_owner_set_that(tmp_path, model):
    """Through the part alone: which messages carry taint, others decide."""
    root = root_with(tmp_path, "compatible", model.url, "scripted")
    held = whole(root)
    memory = held.parts.part("memory")
    turn = {"run": "", "chat": "c", "message": "m", "said": SAYS, "taint": ["names of devices"]}
    turn["service"] = held.settings.service("")
    try:
        memory.memory_set(extract=True)
        memory.after(turn)
        assert memory._thread is None and model.bodies == []
        memory.memory_set(tainted=True)
        memory.after(turn)
        (fact,) = until(memory.facts.all)
        assert fact["taint"] == ["names of devices"]
        told = Extras()
        memory.added({**turn, "said": "and on Fridays?"}, told)
        assert FACT in told.system[0] and told.taint == ["names of devices"], "it taints the turns that it is told in"
    finally:
        held.stop()


def test_words_of_others_are_not_shown_where_facts_without_them_are_taken_out(tmp_path, model):
    """What a model was shown while it wrote a fact would be in that fact, and nobody would see whose words it has."""
    held = whole(root_with(tmp_path, "compatible", model.url, "scripted"))
    memory = held.parts.part("memory")
    turn = {"run": "", "chat": "c", "message": "m", "said": SAYS, "service": held.settings.service("")}
    theirs = "The owner wants port 22 open on Fridays."
    try:
        memory.memory_set(extract=True, tainted=True)
        memory.facts.say(theirs, "habit", memory.near.alike, taint=["names of devices"])
        memory.after(turn)
        until(lambda: len(memory.facts.all()) == 2)
        assert theirs not in json.dumps(model.bodies)
        assert next(fact for fact in memory.facts.all() if fact["fact"] == FACT).get("taint") is None
        memory.after({**turn, "taint": ["names of devices"]})
        until(lambda: len(model.bodies) == 2)
        assert theirs in json.dumps(model.bodies[1])
    finally:
        held.stop()


def test_a_day_begins_with_its_first_turn(daemon):
    daemon.call("memory.add", fact=FACT)
    with open(daemon.root + PATH) as handle:
        assert '"days"' not in handle.read()
    say(daemon, "may it restart on Fridays?")
    with open(daemon.root + PATH) as handle:
        assert handle.read().count('"days"') == 1
    say(daemon, "may it restart on Mondays?")
    with open(daemon.root + PATH) as handle:
        assert handle.read().count('"days"') == 1


def with_vectors(tmp_path, embed):
    """Return a server of a large model that gives vectors too, and a daemon that asks it for them."""
    server = Scripted(remembering, embed)
    root = root_with(tmp_path, "compatible", server.url, "scripted")
    with open(root + "/etc/config/oasis") as handle:
        text = handle.read()
    with open(root + "/etc/config/oasis", "w") as handle:
        handle.write(
            text.replace(
                "config service 'compatible'\n", "config service 'compatible'\n\toption context_tokens '64000'\n"
            )
        )
    daemon = start_daemon(root)
    daemon.call("alias.set", name="embedding", targets=["compatible/minilm"])
    return server, daemon


def test_with_vectors_what_shares_no_word_is_found_and_merged(tmp_path):
    def embed(texts):
        return [[1.0, 0.0] if "drink" in text or "thirst" in text or "tea" in text else [0.0, 1.0] for text in texts]

    server, daemon = with_vectors(tmp_path, embed)
    try:
        first = daemon.call("memory.add", fact="The owner likes to drink tea.")["fact"]
        daemon.call("memory.add", fact="The owner works at night.")
        again = daemon.call("memory.add", fact="Hot tea it must be.")["fact"]
        assert again["id"] == first["id"] and len(facts(daemon)) == 2
        say(daemon, "I am thirsty")
        lines = system(server.turns()[-1]).split("\n")
        assert lines.index("- [personal] Hot tea it must be.") < lines.index("- [personal] The owner works at night.")
    finally:
        daemon.stop()
        server.close()


def test_a_service_for_vectors_that_fails_keeps_no_turn_from_its_facts(tmp_path):
    def embed(texts):
        raise Refused("out of order")

    server, daemon = with_vectors(tmp_path, embed)
    try:
        assert "error" not in daemon.call("memory.add", fact=FACT)
        say(daemon, "and what about Fridays?")
        assert FACT in system(server.turns()[-1])
        asked = [body for body in server.bodies if FACT in body.get("input", ())]
        assert len(asked) == 1, "it is left alone for a while"
    finally:
        daemon.stop()
        server.close()


def test_facts_that_cannot_be_read_keep_nobody_from_an_answer(daemon, model):
    os.makedirs(daemon.root + PATH)  # a folder where the file should be
    say(daemon, "what is the address?")
    assert "Notes about the owner" not in system(model.turns()[-1])
    assert "no facts" in daemon.log()


@pytest.mark.parametrize(
    ("words", "invented"),
    [
        ("my wife hates noise in the evening", "The owner's wife hates the loud fans of neighbours."),
        ("my brother Tom plays chess, tell me about his laptop", "The owner's brother Tom plays chess in Berlin."),
        ("I work from home on some days", "The owner works from home on 5 days."),
        ("ich arbeite meistens zu Hause", "Der Besitzer arbeitet als Arzt zu Hause."),
        ("私は週末に出かけます", "所有者は東京の銀行に勤めています。"),
    ],
)
def test_what_the_owner_did_not_say_is_no_fact_though_words_overlap(tmp_path, words, invented):
    """The model gives a fact with a value that is its own, and one that was said: only the latter is kept."""

    def answers(body):
        if "keep notes about the owner" not in system(body):
            return "Fine."
        found = [invented] if "Fridays" not in said(body) else [FACT]
        return json.dumps({"facts": [{"fact": one, "category": "habit", "supersedes": ""} for one in found]})

    model = Scripted(answers)
    daemon = start_daemon(root_with(tmp_path, "compatible", model.url, "scripted"))
    try:
        daemon.call("memory.set", extract=True)
        say(daemon, words)
        say(daemon, SAYS)
        assert until(lambda: facts(daemon)) == [FACT]
    finally:
        daemon.stop()
        model.close()
