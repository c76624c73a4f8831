"""Where each new secret of a plan comes from: the card tells it, for the value itself stands behind a mask.

What the owner typed, what is copied and what the router makes by itself may stay masked, since they know it or nobody
need know it. What somebody else chose is shown in clear and is a reason for risk: it may be a key that others know.
Knows no chat and no front-end.
"""

from __future__ import annotations

from oasis.change.diff import difference
from oasis.redaction import secret_options
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Difference, Moved, Plan, Source
    from oasis.uci.model import Package

WROTE = "as you wrote it"
GENERATED = "generated on the router"
MODEL = "chosen by the model"
OTHERS = "chosen by somebody else"
BEFORE = "as it was before"
# Of these the card holds the value.
_CLEAR = (MODEL, OTHERS)
_REASON = "the secret of %s is %s, who knows it"


def changes(plan: Plan, known: dict[str, str], otherwise: str) -> Moved:
    """Return what changes in a plan that names where its new secrets come from, {} when it has none.

    `known` tells it by value, `otherwise` of any other one.
    """
    found: list[Source] = []
    for name, (old, new) in plan["images"].items():
        before, after = model.parse(old, name), model.parse(new, name)
        if _held(before, name) != _held(after, name):
            for item in difference.compare(before, after, name):
                found += [_told(item, value, known, otherwise) for value in _new(item)]
    if not found:
        return {}
    chosen = [one["where"] for one in found if one["from"] in _CLEAR]
    words = [*plan["words"], *["%s: %s" % (one["where"], one["from"]) for one in found]]
    made: Moved = {"secrets": found, "words": words}
    if chosen:
        reasons = [_REASON % (where, otherwise) for where in dict.fromkeys(chosen)]
        made["risk"], made["reasons"] = "risky", [*reasons, *plan["reasons"]]
    return made


def _held(version: Package, name: str) -> list[object]:
    """Return what the options for secrets of a package hold, in their order."""
    return [
        value
        for section in version.sections
        for option, value in section.options.items()
        if secret_options.is_secret(name, section.type, option)
    ]


def _new(item: Difference) -> list[str]:
    """Return the new secrets of a difference, and the word by which the router makes one."""
    if "new" not in item or not item.get("option"):
        return []
    if not secret_options.is_secret(str(item["package"]), str(item["type"]), str(item["option"])):
        return []
    new, old = [[one] if isinstance(one, str) else one for one in (item["new"], item.get("old", []))]
    return [value for value in new if value not in old]


def _told(item: Difference, value: str, known: dict[str, str], otherwise: str) -> Source:
    source = GENERATED if secret_options.is_word(value) else known.get(value, otherwise)
    told: Source = {"where": "%s.%s.%s" % (item["package"], item["section"], item["option"]), "from": source}
    # A plain word of the owner's sentence may mean something else and is not worth a mask.
    is_clear = source in _CLEAR or (source == WROTE and value.replace(" ", "").isalpha())
    if is_clear:
        told["value"] = value
    return told
