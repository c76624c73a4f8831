"""Recipes: how the jobs that owners ask for most are done on this release, for models that look them up.

They stand in recipes.md, which is read with each question, so that an idle daemon holds none. A recipe is a block:

    # NAME: what it does
    words: what somebody says who wants this, in any language, with commas between
    packages: what has to be installed first                                            optional
    What to think of, in a few sentences.
    uci …                                                                               the commands, for `configure`

Its values are examples. tests/parts/memory/test_recipes.py plans the commands of each as `configure` would.
"""

from __future__ import annotations

from oasis.parts.memory import ranking
from oasis.parts.memory.skills import mentioned
from oasis.system.files import Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.memory.shapes import Recipe

_FILE = __file__.rpartition("/")[0] + "/recipes.md"
# What a model needs is one of them; the second is for a wish that two are near.
MOST = 2
# Of what is asked, where none of the words of a recipe was said: as LEAST in knowledge.py.
_LEAST = 0.6
NOTE = "names, addresses and devices in the commands are examples: read the configuration and use what is there"


def every() -> list[Recipe]:
    """Return all recipes, in the order of the file."""
    text = (Files().read(_FILE) or b"").decode("utf-8")
    return [_parsed(block) for block in text.split("\n\n")]


def _parsed(block: str) -> Recipe:
    head, words, *lines = block.strip().split("\n")
    name, _, title = head.removeprefix("# ").partition(": ")
    packages = lines.pop(0).partition(": ")[2].split() if lines[0].startswith("packages: ") else []
    commands = [line for line in lines if line.startswith("uci ")]
    told = " ".join([line for line in lines if not line.startswith("uci ")])
    said = words.removeprefix("words: ").split(", ")
    return {"name": name, "title": title, "words": said, "packages": packages, "text": told, "commands": commands}


def found(query: str, most: int = MOST) -> list[Recipe]:
    """Return the recipes for what is asked, the best first: by the words of each, else by their texts."""
    recipes = every()
    plain = query.casefold().replace("wi-fi", "wifi")
    rows = [(float(mentioned(plain, [one["name"], *one["words"]])), one) for one in recipes]
    rows = [row for row in rows if row[0]]
    if not rows:
        asked = ranking.Words(query)
        for number, one in enumerate(recipes):
            asked.take(number, " ".join([one["title"], one["text"], *one["words"]]))
        rows = [(weight, recipes[int(str(number))]) for weight, number in asked.order(most, _LEAST)]
    best = ranking.best(rows, most)
    return [one for weight, one in best if weight * 2 > best[0][0]]
