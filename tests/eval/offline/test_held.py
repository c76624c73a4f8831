"""The held-out sentences are fit to judge by: each line is whole, says a known intent, no two hand ones are alike."""

import collections
import json
import os
import re

import pytest

from tests.eval.offline.skeleton import skeleton

HERE = os.path.dirname(os.path.abspath(__file__))
HAND = ("de", "en", "es", "ja", "zh")
CLOCK = r"([01]\d|2[0-3]):[0-5]\d"
MINUTES = r"[1-9]\d*m"
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# Slots whose values are of one form however they were said.
FORMS = {
    "band": r"2g|5g|6g|both", "switch": "on|off", "proto": "tcp|udp|both", "from": CLOCK, "to": CLOCK,
    "until": CLOCK + "|" + MINUTES, "duration": MINUTES, "width": "20|40|80|160", "channel": r"auto|\d{1,3}",
    "encryption": "wpa2|wpa3|mixed|none", "power": r"\d{1,2}", "country": "[A-Z]{2}", "down": r"\d+", "up": r"\d+",
    "port": r"\d{1,5}(-\d{1,5})?", "inner": r"\d{1,5}", "action": "restart|reload", "run": "start|stop",
    "provider": "[a-z0-9]+", "days": "|".join(DAYS),
}  # fmt: skip
LISTS = {"devices", "servers", "days"}


def lines(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def held():
    names = sorted(name for name in os.listdir(HERE) if re.fullmatch(r"held_\w+\.jsonl", name))
    return [line for name in names for line in lines(name)]


def intents():
    """Return {name: (needed slots, all slots)}."""
    found = {}
    with open(os.path.join(HERE, "intents.txt"), encoding="utf-8") as handle:
        for line in handle:
            if not line.startswith("#"):
                name, *slots = line.split()
                found[name] = ({slot for slot in slots if slot[-1] != "?"}, {slot.rstrip("?") for slot in slots})
    return found


def awaited():
    """Return the intents that have no held-out sentences yet."""
    with open(os.path.join(HERE, "intents.txt"), encoding="utf-8") as handle:
        return {
            line.split()[0] for line in handle.read().partition("# held-out sentences of these")[2].split("\n")[1:-1]
        }


def is_well_formed(intent, slot, value):
    if slot == "open":
        return value is True
    if slot in LISTS:
        if not isinstance(value, list) or not value:
            return False
    elif not isinstance(value, str):
        return False
    form = FORMS["run" if (intent, slot) == ("service_run", "action") else slot] if slot in FORMS else ".+"
    return all(re.fullmatch(form, single) for single in (value if slot in LISTS else [value]))


def test_each_line_has_its_own_id():
    counts = collections.Counter(line["id"] for line in held() + lines("out_of_scope.jsonl"))
    assert [name for name, count in counts.items() if count > 1] == []


def test_each_part_says_a_known_intent_with_its_slots_in_their_form():
    known, wrong = intents(), []
    for line in held():
        for part in line["parts"]:
            needed, slots = known.get(part["intent"], ({"?"}, set()))
            said = part["slots"]
            if not needed <= set(said) <= slots or not all(
                is_well_formed(part["intent"], *one) for one in said.items()
            ):
                wrong.append((line["id"], part))
    assert wrong == []


@pytest.mark.parametrize("language", HAND)
def test_every_intent_is_asked_for(language):
    asked = {part["intent"] for line in lines("held_%s.jsonl" % language) for part in line["parts"]}
    assert set(intents()) - asked <= awaited()


@pytest.mark.parametrize("language", HAND)
def test_no_two_sentences_by_hand_have_one_skeleton(language):
    first, twice = {}, []
    for line in lines("held_%s.jsonl" % language):
        assert line["language"] == language and line["text"].strip() and line["parts"], line["id"]
        if line["source"] == "hand":
            text = skeleton(line["text"], line["parts"])
            twice += [(first[text], line["id"], text)] if text in first else []
            first.setdefault(text, line["id"])
    assert twice == []


def test_sentences_of_a_model_ask_for_what_their_seed_asks_in_other_words():
    seeds, skeletons = {}, {}
    for line in held():
        if line["source"] == "hand":
            seeds[line["id"]] = line
            skeletons[skeleton(line["text"], line["parts"])] = line["id"]
    for line in lines("held_model.jsonl"):
        seed = seeds[line["seed"]]
        assert (line["language"], line["parts"]) == (seed["language"], seed["parts"]), line["id"]
        assert line.get("before") == seed.get("before"), line["id"]
        assert skeleton(line["text"], line["parts"]) not in skeletons, line["id"]


def test_a_third_of_all_held_out_sentences_is_a_models():
    models = [line for line in held() if line["source"] == "model"]
    assert len(models) * 3 >= len(held())
    assert len(models) * 0.3 <= sum(line["typo"] for line in models)


def test_out_of_scope_sentences_are_300_different_ones_in_five_languages():
    found = lines("out_of_scope.jsonl")
    counts = collections.Counter(line["language"] for line in found)
    assert counts == {"en": 100, "de": 50, "es": 50, "ja": 50, "zh": 50}
    assert len({line["text"] for line in found}) == 300
    assert {line["kind"] for line in found} <= {"near", "far", "negated", "other"}
