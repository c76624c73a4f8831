"""The one cleaner: nothing that steers a terminal or hides in a name; ordinary text of all scripts stays."""

from oasis.core import clean

STEERING = list(range(9)) + list(range(11, 32)) + list(range(0x7F, 0xA0))
TURNING = list(range(0x202A, 0x202F)) + list(range(0x2066, 0x206A))
UNSEEN = [0x61C, 0x200E, 0x200F, 0xAD, 0x200B, 0x2028, 0x2029, 0x2060, 0x3164, 0xFEFF, 0xE0001, 0xE0041]


def test_steering_turning_and_unseen_characters_are_taken_out_everywhere():
    for code in STEERING + TURNING + UNSEEN:
        char = chr(code)
        assert clean.text("a" + char + "b") == "ab", hex(code)
        assert clean.line("a" + char + "b") == "ab", hex(code)
        assert clean.name("a" + char + "b") == "ab", hex(code)
        assert clean.is_hidden(code), hex(code)


def test_ordinary_text_of_all_scripts_is_kept():
    text = "é ü 日本語 👩‍👩‍👧 ❤️ می‌خواهم\ttab\nline"
    assert clean.text(text) == text
    assert clean.line("a\tb\nc") == "a b c"


def test_a_name_is_one_visible_line_without_joiners_cut_to_its_length():
    assert clean.name("  an\u200dna\ufe0f's\nphone ") == "anna'sphone"
    assert clean.name("ü" * 100) == "ü" * 64
    assert clean.name("abcdef", 3) == "abc"
    assert clean.name(None) == clean.name(["x"]) == clean.name(7) == ""


def test_every_text_of_a_value_is_cleaned_keys_too():
    dirty = {"a\u202eb": ["c\u200bd", {"e": "f\x1b[2J", "n": 5, "no": None, "yes": True}]}
    assert clean.value(dirty) == {"ab": ["cd", {"e": "f[2J", "n": 5, "no": None, "yes": True}]}


def test_a_value_that_is_too_deep_is_cut():
    deep = "x"
    for _ in range(100):
        deep = [deep]
    cut = clean.value(deep)
    depth = 0
    while cut:
        cut = cut[0]
        depth += 1
    assert depth == 64
