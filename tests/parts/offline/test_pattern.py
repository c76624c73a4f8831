"""Patterns looked at together read a sentence as each of them alone would."""

import pytest

from oasis.parts.offline import provider
from oasis.parts.offline.clause import tokenize
from oasis.parts.offline.provider import Provider
from oasis.parts.offline.reading import Grammar, Matcher, Patterns

ONE = Provider()
MORE = {
    "en": ("whcih devices are conected", "teh wifi", "set wifi on", "", "turn of the wfi on 5 ghz", "please"),
    "de": ("WLAN auss", "nenne den Ruoter Speicher", "zeig mir die Geräte", "sperre die xbox", "", "bitte"),
}


def sentences(name):
    intents = ONE.grammar(name).language["intents"]
    return [*MORE[name], *(texts["example"] for texts in intents.values() if "example" in texts)]


def readings(grammar, sentence, patterns, slips=3):
    matcher = Matcher(grammar, tokenize(sentence, grammar.fold), slips)
    return {number: span[1:] for number, span in matcher.best(patterns).items()}


@pytest.mark.parametrize("slips", [0, 3])
@pytest.mark.parametrize("name", MORE)
def test_patterns_together_read_as_each_alone(name, slips):
    grammar, kinds = ONE.grammar(name), {intent: provider.kinds_of(one) for intent, one in ONE.intents.items()}
    texts = grammar.language["intents"]
    patterns = [(pattern, kinds[intent]) for intent in texts for pattern in texts[intent]["patterns"]]
    singles = [Patterns(grammar, [("", pattern, types)]) for pattern, types in patterns]
    found = 0
    for sentence in sentences(name):
        alone = {}
        for number, one in enumerate(singles):
            for span in readings(grammar, sentence, one, slips).values():
                alone[number] = span
        assert readings(grammar, sentence, grammar.patterns("patterns"), slips) == alone, sentence
        found += len(alone)
    assert found > 30


@pytest.mark.parametrize(
    ("pattern", "sentence", "slots"),
    [
        ("重启 [the] {name}", "重启nas", {"name": (2, 3)}),
        ("(重启|restart){name}", "重 启 nas", {"name": (2, 3)}),
        ("<verb> {name}", "turn on nas", {"name": (2, 3)}),
        ("[<verb>] the {what} now", "the wi fi now", {"what": "wifi"}),
        ("{what} (on|off [again])", "wi fi off again", {"what": "wifi"}),
    ],
)
def test_pattern_reads(pattern, sentence, slots):
    grammar = Grammar({"classes": {"verb": "(turn on|start)"}, "lists": {"what": {"wifi": ["wifi", "wi fi"]}}})
    assert readings(grammar, sentence, Patterns(grammar, [("", pattern, {})]))[0][2] == slots


@pytest.mark.parametrize("pattern", ["(a|b", "a)", "[a|]", "()", "a (b|) c", "<unknown>", "a | b"])
def test_broken_pattern_is_refused(pattern):
    grammar = Grammar({})
    with pytest.raises(ValueError):
        grammar.parse(pattern)


def test_slots_of_one_name_keep_the_type_of_their_intent():
    grammar = Grammar({})
    patterns = Patterns(grammar, [("", "open {port}", {"port": one}) for one in ("port", "ports")])
    assert set(readings(grammar, "open 80", patterns)) == {0, 1}
    assert set(readings(grammar, "open 80 and 443", patterns)) == {1}
