"""Parts of one sentence that are one request: what was said in two clauses, or once more with less.

    merged(parts) -> parts      in the order said; nothing is added that no part says

"Set up a guest Wi-Fi, the name is Lily, the password …" is one request, and so are a new name and a new password of one
network. Where the parts do not agree (another band) they stay as they are.

    together(clause) -> parts   of one verb with several things: "turn off the VPN and the LEDs"; [] for other sentences
"""

from __future__ import annotations

from oasis.parts.offline.language.clause import ASKED
from oasis.parts.offline.language.lexicon import FILLER
from oasis.parts.offline.reading import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.clause import Clause

    Raw = dict[str, tuple[str, bool]]

# intent: those that only say more of it
_COMPLETING = {
    "guest_setup": {"guest_name", "guest_password", "wifi_name", "wifi_password", "wifi_both"},
    "wifi_both": {"wifi_name", "wifi_password"},
}
_TOGETHER = {("wifi_name", "wifi_password"), ("wifi_password", "wifi_name")}  # what both are: wifi_both
_SWITCHED = {
    "guest": "guest_switch",
    "wifi": "wifi_switch",
    "upnp": "upnp_switch",
    "ipv6": "ipv6_switch",
    "vpn": "vpn_switch",
    "qos": "qos_switch",
    "ads": "adblock_switch",
    "ntp": "ntp_switch",
    "led": "led_switch",
}
_STOPS = {"negation", "howto", "condition", "past", "hearsay", "later", "ask", "who", ASKED}
# Words beside the things and the verb that say nothing else.
_BESIDE = {
    FILLER,
    "and",
    "also",
    "request",
    "end_",
    "set",
    "use",
    "everything",
    "to",
    "is_",
    "with_",
    "greet",
    "instead",
}


def together(clause: Clause) -> list[Part]:
    """Return the requests of a clause that switches several things with one verb, [] when it says anything else."""
    things: list[tuple[int, str]] = []
    states = set()
    for at, one in enumerate(clause.segments):
        thing = next((intent for concept, intent in _SWITCHED.items() if concept in one.concepts), "")
        state = one.concepts & {"on", "off"} if FILLER not in one.concepts else set()
        if thing == "wifi_switch" and things and things[-1] == (at - 1, "guest_switch"):
            things[-1] = (at, "guest_switch")  # one thing in two words
        elif thing and not state:
            things.append((at, thing))
        elif state:
            states.add("".join(sorted(state)))
        elif not one.concepts & _BESIDE and one.values.get("band") != "both":
            return []
    intents = [intent for _, intent in things]
    places = [at for at, _ in things]
    is_listed = all(_are_joined(clause, places[at], places[at + 1]) for at in range(len(places) - 1))
    if not is_listed or not 1 < len(set(intents)) == len(intents) or states not in ({"on"}, {"off"}):
        return []
    if (clause.concepts | clause.signs) & _STOPS:
        return []
    return [Part(intent, {"switch": (next(iter(states)), True)}, 1.0) for intent in intents]


def _are_joined(clause: Clause, first: int, last: int) -> bool:
    """Tell whether a word for `and` or a comma stands between two segments."""
    return any(clause.tail(at) for at in range(first, last)) or any(
        one.concepts & {"and", "also"} for one in clause.segments[first + 1 : last]
    )


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
