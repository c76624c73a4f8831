"""The intent files: complete in every language, and each example does what it is an example of."""

import ast
import os
import random
import re

import pytest

from oasis.catalogue.entries import distance
from oasis.parts.offline import derive, provider
from oasis.parts.offline.clause import is_near, tokenize
from oasis.parts.offline.provider import Session
from oasis.parts.offline.reading import Grammar, Pattern
from oasis.parts.offline.sets import SETS
from oasis.parts.offline.slots import SIMPLE
from oasis.system.clock import zone_rules
from tests.parts.offline.stock import GUEST, HOME, LEASES, NOW_S, Router, calls_of, reply, steps_of

FOLDER = os.path.dirname(provider.__file__)
DATA = provider.load("intents")
LANGUAGES = {name: provider.load(name) for name in DATA["languages"]}
WORDS_OF_A_RESULT = {"applied", "unchanged", "waiting_confirm", "declined", "expired", "cancelled", "refused", "failed"}


def named(function):
    """Return the first argument, a text, of every call of `function` below oasis/parts/offline."""
    found = set()
    for file in os.listdir(FOLDER):
        if file.endswith(".py"):
            with open(os.path.join(FOLDER, file), encoding="utf-8") as handle:
                tree = ast.parse(handle.read())
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], (ast.Constant, ast.IfExp)):
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    if name == function:
                        first = node.args[0]
                        parts = [first] if isinstance(first, ast.Constant) else [first.body, first.orelse]
                        found |= {part.value for part in parts}
    return found


@pytest.mark.parametrize("name", LANGUAGES)
def test_language_has_every_intent_and_text(name):
    language, english = LANGUAGES[name], LANGUAGES["en"]
    assert set(language["intents"]) == set(DATA["intents"])
    for table in ("texts", "asks", "closing", "status"):
        assert set(language[table]) == set(english[table])
    assert WORDS_OF_A_RESULT | {"rolled_back", "rollback_failed", "error", "other"} <= set(language["closing"])
    for intent, texts in language["intents"].items():
        action = DATA["intents"][intent]
        assert ("summary" in texts) == ("commands" in action), intent
        assert {"summary", "says", "text"} & set(texts) or "as" in action, intent
        assert "text" in texts or "commands" in action or "tool" in action or "as" in action, intent


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_problem_and_note_has_its_words(name):
    problems = (
        named("Problem") | named("note") | {note for one in DATA["intents"].values() for note in one.get("notes", ())}
    )
    problems |= {"device_no_mac", "device_no_ip", "unknown", "example"} | {problem for _, problem, _ in SIMPLE.values()}
    assert problems - {"device_no_"} <= set(LANGUAGES[name]["texts"])


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_pattern_can_be_read(name):
    language = LANGUAGES[name]
    grammar = Grammar(derive.grammar(language), DATA["intents"])
    patterns = [
        pattern
        for texts in language["intents"].values()
        for key in ("patterns", "about")
        for pattern in texts.get(key, ())
    ]
    patterns += [one for key in ("lead", "request", "trail", "questions", "answers") for one in language.get(key, ())]
    patterns += [one for spoken in language.get("lists", {}).values() for many in spoken.values() for one in many]
    for pattern in [*patterns, *language.get("classes", {}).values()]:
        assert Pattern(grammar, pattern).expression
        # Nothing is no choice, and | stands in brackets: regular expressions would take both.
        assert not re.search(r"[(\[|]\s*[)\]|]", pattern), pattern
        bare = pattern
        while bare != (bare := re.sub(r"\([^()\[\]]*\)|\[[^()\[\]]*\]", "", bare)):
            pass
        assert not set("()[]|") & set(bare), pattern
    for texts, intent in ((texts, intent) for intent, texts in language["intents"].items()):
        slots = set(DATA["intents"][intent].get("slots", ())) | set(language.get("lists", ())) | {"text"}
        for pattern in texts.get("patterns", ()):
            used = {match.partition(":")[0] for match in re.findall(r"\{([\w:]+)\}", pattern)}
            assert used <= slots, (intent, pattern)


ONE = provider.Provider()
ROUTER = Router(HOME + GUEST, leases=LEASES + "1795300000 aa:bb:cc:00:00:08 192.168.1.108 kids-tablet *\n")


def read(sentence):
    """Return the parts that a sentence is read as, before a router that knows the devices of the examples."""
    answer = Session(ONE, ROUTER.facts).follow([{"role": "user", "content": sentence}])
    return [] if answer.is_guess else answer.parts


@pytest.mark.parametrize(
    ("name", "intent"),
    [
        (name, intent)
        for name, one in LANGUAGES.items()
        for intent, texts in one["intents"].items()
        if "example" in texts
    ],
)
def test_example_is_read_as_what_it_stands_for(name, intent):
    example, offered = LANGUAGES[name]["intents"][intent]["example"], DATA["intents"][intent].get("offers")
    if offered:
        answer = Session(ONE, ROUTER.facts).follow([{"role": "user", "content": example}])
        assert [part.intent for part in answer.instead_of] == [intent]
        assert [part.intent for part in answer.parts] == [offered]
        return
    parts = read(example)
    assert [part.intent for part in parts] == [intent]
    rules = DATA["intents"][intent].get("slots", {})
    needed = {slot for slot, rule in rules.items() if not rule.get("optional") and "unless" not in rule}
    assert needed <= set(parts[0].slots)


@pytest.mark.parametrize("name", LANGUAGES)
def test_sentences_offered_to_the_owner_are_understood(name):
    for text in (LANGUAGES[name]["intents"]["help"]["text"], LANGUAGES[name]["texts"]["unknown"]):
        for line in re.findall(r"^- (.*)$", text, re.M)[1:]:
            assert read(line), line


def test_sets_are_all_used_and_all_there():
    used = set()

    def walk(items):
        for item in items:
            if isinstance(item, dict):
                used.update([item["each"]] if "each" in item else [])
                walk(item["do"])

    for intent in DATA["intents"].values():
        walk(intent.get("commands", []))
        used.update(call["each"] for call in intent.get("calls", []) if "each" in call)
        used.update(intent.get("notes", {}).values())
        used.update([intent["check"]] if "check" in intent else [])
    assert used == set(SETS)


def test_zones_are_posix_rules_and_places_lead_to_them():
    zones = zone_rules()
    assert len(zones) >= 120
    name = r"(?:[A-Za-z]{3,5}|<[+-]?\d+>)"
    rule = name + r"(?:[+-]?\d+(?::\d+)?(?:" + name + r"(?:-?\d+)?(?:,[MJ][\d./:-]+){2})?)?\Z"
    assert not [name for name, text in zones.items() if not re.match(rule, text)]
    places = {**provider.load("places")["places"], **LANGUAGES["de"]["places"]}
    assert set(places.values()) <= set(zones)


@pytest.mark.parametrize(
    ("word", "keyword", "near"),
    [
        ("wfi", "wifi", True), ("pasword", "password", True), ("passwrod", "password", True), ("teh", "the", True),
        ("blok", "block", True), ("lock", "block", False), ("on", "off", False), ("clock", "block", False),
        ("unblock", "block", False), ("wan", "lan", False), ("xbox1", "xbox", False), ("", "wifi", False),
        ("guest", "guess", True), ("renmae", "rename", True), ("w" * 200, "wifi", False),
    ],
)  # fmt: skip
def test_only_near_words_are_taken_for_mistyped(word, keyword, near):
    assert is_near(word, keyword) is near


def test_distance_counts_a_swap_once():
    assert (distance("wifi", "wfii"), distance("abc", "abc"), distance("", "abc"), distance("kitten", "sitting")) == (
        1,
        0,
        3,
        3,
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("it's \"a b\" 'c' “d e” don't", ["it's", "a b", "c", "d e", "don't"]),
        ("the 'router's' name", ["the", "router's", "name"]),
        ('say "unclosed', ["say", '"unclosed']),
        ("一二 abc", ["一", "二", "abc"]),
        ("a,b; (c) d?!", ["a,b", "c", "d"]),
        ('""', ['""']),
    ],
)
def test_tokens_keep_their_place(text, values):
    assert [text[token.start : token.end] for token in tokenize(text, {})] == values


def test_no_heap_of_words_ever_breaks_or_changes_without_a_plan():
    # Keywords of the grammar in any order, with hostile values between them: an answer comes, commands stay readable,
    # and whatever is negated or asked is no change.
    source = random.Random(7)
    words = """the a to and or not don't call rename set change wifi password name router turn on off block forward port
    443 192.168.1.5 nas xbox guest dns 1.1.1.1 how what with as for ? . , ' " ` $(id) ; & ü 漢 {x} [y] (z) \\ 99999"""
    words = words.split()
    router = Router(HOME + GUEST)
    for _ in range(150):
        sentence = " ".join(source.choice(words) for _ in range(source.randint(1, 9)))
        events = reply([{"role": "user", "content": sentence}], router.facts, NOW_S)
        assert events[-1]["type"] == "done"
        if set(sentence.split()) & {"not", "don't"} or sentence.startswith(("how ", "what ")):
            assert not [name for name, _ in calls_of(events) if name in ("configure", "service", "undo")], sentence
        steps_of(events)


def test_long_sentences_cost_a_bounded_time():
    router = Router(HOME)
    for sentence in (
        "and " * 150,
        "set the wifi name to " + "x and " * 20,
        "a" * 600,
        "(" * 300,
        '"' * 300,
        "turn on, " * 15,
    ):
        assert router.ask(sentence)[-1]["type"] == "done"
