"""Parts of one sentence that are one request: what was said in two clauses, or once more with less.

    merged(parts) -> parts      in the order said; nothing is added that no part says

"Set up a guest Wi-Fi, the name is Lily, the password …" is one request, and so are a new name and a new password of one
network. Where the parts do not agree (another band) they stay as they are.
"""

from __future__ import annotations

from oasis.offline.reading import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    Raw = dict[str, tuple[str, bool]]

# intent: those that only say more of it
_COMPLETING = {
    "guest_setup": {"guest_name", "guest_password", "wifi_name", "wifi_password", "wifi_both"},
    "wifi_both": {"wifi_name", "wifi_password"},
}
_TOGETHER = {("wifi_name", "wifi_password"), ("wifi_password", "wifi_name")}  # what both are: wifi_both


def merged(parts: list[Part]) -> list[Part]:
    """Return the requests of a sentence, those that complete one another as one."""
    found: list[Part] = []
    for part in parts:
        whole = _whole(found[-1], part) if found else None
        if whole:
            found[-1] = whole
        elif not any(_says_as_much(one, part) for one in found):
            found = [one for one in found if not _says_as_much(part, one)] + [part]
    return found


def _says_as_much(one: Part, other: Part) -> bool:
    """Tell whether a part says all that another one says."""
    return one.intent == other.intent and other.slots.items() <= one.slots.items()


def _whole(first: Part, second: Part) -> Part | None:
    """Return two parts as one request, None when they are two."""
    is_pair = (first.intent, second.intent) in _TOGETHER and all(
        part.slots.keys() - {"band"} for part in (first, second)
    )
    if not is_pair and second.intent not in _COMPLETING.get(first.intent, ()):
        return None
    slots = {**first.slots, **second.slots}
    if any(slots[name] != value for name, value in first.slots.items()):
        return None  # said twice, and not the same
    score = first.score + second.score
    return Part("wifi_both" if is_pair else first.intent, slots, score, first.slips + second.slips)
