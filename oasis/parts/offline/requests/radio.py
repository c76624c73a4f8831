"""Sets about radios and how networks are sent: channel, width, country, power, hiding, encryption, isolation.

Every function takes the world and the slots and returns rows of fields for the command templates.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.slots import Problem
from oasis.parts.offline.requests.wireless import access_points, band_of, radios

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.template import Rows
    from oasis.parts.offline.world import World

    Section = dict[str, object]

# Channels of the bands that any country allows; which of them this country does, the driver knows.
_CHANNELS = {
    "2g": tuple(range(1, 15)),
    "5g": (*range(36, 65, 4), *range(100, 145, 4), *range(149, 178, 4)),
    "6g": tuple(range(1, 234, 4)),
}
_WIDEST = {"2g": 40, "5g": 160, "6g": 160}
_ENCRYPTION = {"wpa2": "psk2", "wpa3": "sae", "mixed": "sae-mixed", "none": "none"}
_BANDS = {"2g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz"}


def channels(world: World, slots: dict[str, object]) -> Rows:
    """Return the radios that get another channel. Raises: Problem for a channel that the band has not."""
    channel = str(slots["channel"])
    chosen = radios(world, slots)
    if channel != "auto":
        fitting = [radio for radio in chosen if int(channel) in _CHANNELS.get(band_of(radio), ())]
        if not fitting or (slots.get("band") not in ("", None, "both") and len(fitting) < len(chosen)):
            bands = [_BANDS.get(band_of(radio), "") for radio in chosen]
            raise Problem("no_channel", channel=channel, bands=bands)
        # 1 to 13 are channels of 6 GHz too: a bare number means the band that everybody has.
        lowest = min(band_of(radio) for radio in fitting)
        chosen = fitting if slots.get("band") else [radio for radio in fitting if band_of(radio) == lowest]
    return _changed(chosen, "radio", "channel", lambda radio: channel, "channel_same", channel=channel)


def widths(world: World, slots: dict[str, object]) -> Rows:
    """Return the radios that get another width. Raises: Problem for one that the band has not."""
    width = int(str(slots["width"]))
    chosen = radios(world, slots)
    fitting = [radio for radio in chosen if width <= _WIDEST.get(band_of(radio), 160)]
    if not fitting or (slots.get("band") and len(fitting) < len(chosen)):
        raise Problem("too_wide", width=width, band=_BANDS.get(band_of(chosen[0]), ""))
    return _changed(fitting, "radio", "htmode", lambda radio: _mode(radio, width), "width_same", width=width)


def _mode(radio: Section, width: int) -> str:
    kind = re.match(r"[A-Z]+", str(radio.get("htmode", "")))
    family = kind.group() if kind and kind.group() in ("HT", "VHT", "HE", "EHT") else "HT"
    if family == "HT" and width > 40:
        raise Problem("too_wide", width=width, band=_BANDS.get(band_of(radio), ""))
    return f"{family}{width}"


def countries(world: World, slots: dict[str, object]) -> Rows:
    """Return the radios that get another country. Raises: Problem when all have it."""
    country = str(slots["country"])
    return _changed(radios(world, {}), "radio", "country", lambda radio: country, "country_same", country=country)


def powers(world: World, slots: dict[str, object]) -> Rows:
    """Return the radios that get another power. Raises: Problem when all have it."""
    power = str(slots["power"])
    return _changed(radios(world, slots), "radio", "txpower", lambda radio: power, "power_same", power=power)


def hidden(world: World, slots: dict[str, object]) -> Rows:
    """Return the networks whose name is to be hidden or shown. Raises: Problem when they are so."""
    value = "1" if slots["switch"] == "on" else "0"
    return _networks(world, slots, "hidden", value, "is_hidden" if value == "1" else "is_visible")


def isolated(world: World, slots: dict[str, object]) -> Rows:
    """Return the networks whose clients are to be kept apart, or not. Raises: Problem when they are so."""
    value = "1" if slots["switch"] == "on" else "0"
    return _networks(world, slots, "isolate", value, "is_isolated" if value == "1" else "is_not_isolated")


def encrypted(world: World, slots: dict[str, object]) -> Rows:
    """Return the networks that get another encryption.

    Raises: Problem where a password would be missing, where 6 GHz forbids it, and where they have it.
    """
    wanted = _ENCRYPTION[str(slots["encryption"])]
    rows = []
    for radio, section in _own(world, slots):
        now = str(section.get("encryption", "none"))
        if now.startswith(("wpa", "8021x")):
            raise Problem("enterprise", encryption=now)
        if wanted != "none" and not section.get("key"):
            raise Problem("needs_key", ssid=section.get("ssid", ""))
        if band_of(radio) == "6g" and wanted != "sae":
            raise Problem("six_needs_wpa3")
        if now.partition("+")[0] != wanted:
            rows.append({"ap": section[".name"], "value": wanted})
    if not rows:
        raise Problem("encryption_same")
    return rows


def opened(world: World, slots: dict[str, object]) -> Rows:
    """Return a row when anybody can join afterwards; for a warning."""
    return [{"ssid": ""}] if slots["encryption"] == "none" else []


def _own(world: World, slots: dict[str, object]) -> list[tuple[Section, Section]]:
    pairs = access_points(world, slots)
    if not pairs:
        raise Problem("no_access_point")
    return pairs


def _networks(world: World, slots: dict[str, object], option: str, value: str, same: str) -> Rows:
    rows: Rows = [
        {"ap": section[".name"], "value": value}
        for _, section in _own(world, slots)
        if str(section.get(option) or "0") != value
    ]
    if not rows:
        raise Problem(same)
    return rows


def _changed(chosen: list[Section], name: str, option: str, value: object, same: str, **told: object) -> Rows:
    rows: Rows = []
    for radio in chosen:
        wanted = value(radio)  # type: ignore[operator]
        if radio.get(option) != wanted:
            rows.append({name: radio[".name"], option: wanted, "band": band_of(radio)})
    if not rows:
        raise Problem(same, **told)
    return rows
