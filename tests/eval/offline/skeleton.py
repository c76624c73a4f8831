"""What is left of a sentence when the values of its slots are masked; two sentences with one skeleton count once.

`skeleton(text, parts)` -> str. Values are found as they stand in the sentence, with any of space, hyphen and
apostrophe between their words; numbers are masked whether they are a slot or not, case and punctuation do not count.
"""

import re

NUMBER = re.compile(r"\d+")
APOSTROPHE = "['’]?"
NO_WORD = re.compile(r"[^\w<>#]+")


def skeleton(text, parts):
    text = text.lower()
    for slot, value in sorted(_values(parts), key=lambda pair: -len(pair[1])):
        text = value_pattern(value).sub(" <" + slot + "> ", text)
    return NO_WORD.sub(" ", NUMBER.sub("#", text)).strip()


def _values(parts):
    """Yield (slot, value in lower case) of all values that may stand in the sentence word for word."""
    for part in parts:
        for slot, value in part["slots"].items():
            for single in value if isinstance(value, list) else [value]:
                if isinstance(single, str) and len(single) > 1:
                    yield slot, single.lower()


def value_pattern(value):
    """Return what finds a value in a sentence; nothing is found for an empty one."""
    words = [APOSTROPHE.join(map(re.escape, word)) for word in re.split(r"[\s'’-]+", value) if word]
    edge = r"(?<![a-z0-9])", r"(?![a-z0-9])"
    return re.compile(edge[0] + r"[\s'’-]*".join(words) + edge[1], re.IGNORECASE) if words else re.compile(r"(?!)")
