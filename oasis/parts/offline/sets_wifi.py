"""Rows for the command templates about Wi-Fi: the owner's networks, radios, how networks are sent, the guest network.

Every function takes the world and the slots and returns rows of fields. The sections of the guest network have fixed
names, so that it can be found again.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.slots import Problem
from oasis.parts.offline.sets_firewall import wan_zone
from oasis.parts.offline.sets_lan import networks, overlaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.fulfil import World
    from oasis.parts.offline.shapes import AccessPoint, Callable, Fields, Rows, Section, Slots

_OPEN = ("", "none", "wep", "wep-open", "wep-shared", "wep+open", "wep+shared")


# Channels of the bands that any country allows; which of them this country does, the driver knows.
_CHANNELS = {
    "2g": tuple(range(1, 15)),
    "5g": (*range(36, 65, 4), *range(100, 145, 4), *range(149, 178, 4)),
    "6g": tuple(range(1, 234, 4)),
}
_WIDEST = {"2g": 40, "5g": 160, "6g": 160}
_ENCRYPTION = {"wpa2": "psk2", "wpa3": "sae", "mixed": "sae-mixed", "none": "none"}
_BANDS = {"2g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz"}


def band_of(radio: Section) -> str:
    """Return 2g, 5g or 6g of a wifi-device; releases before 21.02 wrote hwmode instead."""
    return str(radio.get("band") or ("5g" if radio.get("hwmode") in ("11a", "11ac") else "2g"))


def radios(world: World, slots: Slots) -> list[Section]:
    """Return the wifi-device sections of the wanted band. Raises: Problem when the router has none."""
    every = world.sections("wireless", "wifi-device")
    if not every:
        raise Problem("no_wifi")
    band = slots.get("band", "both")
    found = [radio for radio in every if band in ("both", band_of(radio))]
    if not found:
        raise Problem("no_band", band=_BANDS.get(band, band))
    return found


def access_points(world: World, slots: Slots) -> list[tuple[Section, Section]]:
    """Return (radio, wifi-iface) pairs of the owner's own networks: access points that are no guest network."""
    wanted = {str(radio[".name"]): radio for radio in radios(world, slots)}
    found = []
    for section in world.sections("wireless", "wifi-iface"):
        radio = wanted.get(str(section.get("device")))
        if radio and section.get("mode", "ap") == "ap" and not _is_guest(section):
            found.append((radio, section))
    return found


def own(world: World, slots: Slots) -> list[AccessPoint]:
    """Return a row for each access point that gets a new name or password.

    Raises: Problem when there is none, when one radio has several and no name was said, or when it logs in by account.
    """
    pairs = access_points(world, slots)
    named = slots.get("network")
    if named:
        names = sorted({str(section.get("ssid", "")) for _, section in pairs})
        pairs = [pair for pair in pairs if str(pair[1].get("ssid", "")).casefold() == named.casefold()]
        if not pairs:
            raise Problem("network_unknown", value=named[:40], choices=names)
    if not pairs:
        raise Problem("no_access_point")
    if not named and len({str(radio[".name"]) for radio, _ in pairs}) < len(pairs):
        names = sorted({str(section.get("ssid", "")) for _, section in pairs})
        raise Problem("network_which", choices=names, first=names[0])
    return [_row(radio, section) for radio, section in pairs]


def secured(world: World, slots: Slots) -> Rows:
    """Return the rows of `own` for a new password. Raises: Problem where a password is not how one joins."""
    rows = own(world, slots)
    for row in rows:
        _need_password(row)
    return rows


def guest(world: World, slots: Slots) -> list[AccessPoint]:
    """Return a row for each access point of a guest network. Raises: Problem when there is none."""
    devices = {str(radio[".name"]): radio for radio in world.sections("wireless", "wifi-device")}
    found = [
        _row(devices.get(str(section.get("device")), {}), section)
        for section in world.sections("wireless", "wifi-iface")
        if _is_guest(section)
    ]
    if not found:
        raise Problem("no_guest")
    return found


def guest_secured(world: World, slots: Slots) -> Rows:
    """Return the rows of `guest` for a new password."""
    rows = guest(world, slots)
    for row in rows:
        _need_password(row)
    return rows


def switched(world: World, slots: Slots) -> Rows:
    """Return the sections whose `disabled` has to change so that Wi-Fi is on or off.

    Raises: Problem when nothing has to change.
    """
    chosen = radios(world, slots)
    turned_on = slots.get("switch") == "on"
    rows: list[Fields] = [
        {"section": radio[".name"], "disabled": "0" if turned_on else "1"}
        for radio in chosen
        if (radio.get("disabled") == "1") == turned_on
    ]
    if turned_on:
        off = [section for _, section in access_points(world, slots) if section.get("disabled") == "1"]
        rows += [{"section": section[".name"], "disabled": "0"} for section in off]
    if not rows:
        raise Problem("wifi_is_on" if turned_on else "wifi_is_off")
    return rows


def guest_switched(world: World, slots: Slots) -> Rows:
    """Return what has to change so that the guest network is on or off. Raises: Problem when nothing has to."""
    turned_on = slots.get("switch") == "on"
    rows: list[Fields] = []
    for row in guest(world, slots):
        if bool(row["off"]) == turned_on:
            rows.append({"section": row["ap"], "disabled": "0" if turned_on else "1"})
        if turned_on and row["radio_off"] and row["radio"]:
            rows.append({"section": row["radio"], "disabled": "0"})
            rows += silenced(world, row["radio"], row["ap"])
    if not rows:
        raise Problem("guest_is_on" if turned_on else "guest_is_off")
    return rows


def silenced(world: World, radio: str, but: str = "") -> list[Fields]:
    """Return the networks of a sleeping radio that must stay off when the radio is woken for another one."""
    return [
        {"section": section[".name"], "disabled": "1"}
        for section in world.sections("wireless", "wifi-iface")
        if section.get("device") == radio and section.get("disabled") != "1" and section[".name"] != but
    ]


def open_when_on(world: World, slots: Slots) -> Rows:
    """Return the networks that anybody can join once Wi-Fi is turned on; for a warning."""
    pairs = access_points(world, slots) if slots.get("switch") == "on" else []
    return [{"ssid": section.get("ssid", "")} for _, section in pairs if section.get("encryption", "") in _OPEN]


def sleeping(world: World, slots: Slots) -> Rows:
    """Return the owner's networks that are off; for a note."""
    return [row for row in own(world, slots) if row["off"] or row["radio_off"]]


def _is_guest(section: Section) -> bool:
    networks = section.get("network", "")
    words = networks if isinstance(networks, list) else str(networks).split()
    return any("guest" in str(word).lower() for word in [*words, section[".name"]])


def _row(radio: Section, section: Section) -> AccessPoint:
    encryption = str(section.get("encryption", ""))
    return {
        "ap": str(section[".name"]),
        "radio": str(radio.get(".name", "")),
        "radio_off": "1" if radio.get("disabled") == "1" else "",
        "off": "1" if section.get("disabled") == "1" else "",
        "encryption": encryption,
        "new_encryption": new_encryption(encryption, band_of(radio)),
    }


def new_encryption(now: str, band: str) -> str:
    """Return the encryption a network needs for a password, "" when the present one takes passwords."""
    if now.startswith("owe"):
        return "sae-mixed"
    if now in _OPEN:
        return "sae" if band == "6g" else "psk2"  # 6 GHz allows WPA3 only
    return ""


def _need_password(row: AccessPoint) -> None:
    if not row["new_encryption"] and not row["encryption"].startswith(("psk", "sae")):
        raise Problem("enterprise", encryption=row["encryption"])


def channels(world: World, slots: Slots) -> Rows:
    """Return the radios that get another channel. Raises: Problem for a channel that the band has not."""
    channel = slots["channel"]
    chosen = radios(world, slots)
    if channel != "auto":
        fitting = [radio for radio in chosen if int(channel) in _CHANNELS.get(band_of(radio), ())]
        if not fitting or (slots.get("band", "both") != "both" and len(fitting) < len(chosen)):
            bands = [_BANDS.get(band_of(radio), "") for radio in chosen]
            raise Problem("no_channel", channel=channel, bands=bands)
        # 1 to 13 are channels of 6 GHz too: a bare number means the band that everybody has.
        lowest = min(band_of(radio) for radio in fitting)
        chosen = fitting if slots.get("band") else [radio for radio in fitting if band_of(radio) == lowest]
    return _changed(chosen, "channel", lambda radio: channel, Problem("channel_same", channel=channel))


def widths(world: World, slots: Slots) -> Rows:
    """Return the radios that get another width. Raises: Problem for one that the band has not."""
    width = int(slots["width"])
    chosen = radios(world, slots)
    fitting = [radio for radio in chosen if width <= _WIDEST.get(band_of(radio), 160)]
    if not fitting or (slots.get("band") and len(fitting) < len(chosen)):
        raise Problem("too_wide", width=width, band=_BANDS.get(band_of(chosen[0]), ""))
    return _changed(fitting, "htmode", lambda radio: _mode(radio, width), Problem("width_same", width=width))


def _mode(radio: Section, width: int) -> str:
    kind = re.match(r"[A-Z]+", str(radio.get("htmode", "")))
    family = kind.group() if kind and kind.group() in ("HT", "VHT", "HE", "EHT") else "HT"
    if family == "HT" and width > 40:
        raise Problem("too_wide", width=width, band=_BANDS.get(band_of(radio), ""))
    return f"{family}{width}"


def countries(world: World, slots: Slots) -> Rows:
    """Return the radios that get another country. Raises: Problem when all have it."""
    country = slots["country"]
    return _changed(radios(world, {}), "country", lambda radio: country, Problem("country_same", country=country))


def powers(world: World, slots: Slots) -> Rows:
    """Return the radios that get another power. Raises: Problem when all have it."""
    power = slots["power"]
    return _changed(radios(world, slots), "txpower", lambda radio: power, Problem("power_same", power=power))


def hidden(world: World, slots: Slots) -> Rows:
    """Return the networks whose name is to be hidden or shown. Raises: Problem when they are so."""
    value = "1" if slots["switch"] == "on" else "0"
    return _networks(world, slots, "hidden", value, "is_hidden" if value == "1" else "is_visible")


def isolated(world: World, slots: Slots) -> Rows:
    """Return the networks whose clients are to be kept apart, or not. Raises: Problem when they are so."""
    value = "1" if slots["switch"] == "on" else "0"
    return _networks(world, slots, "isolate", value, "is_isolated" if value == "1" else "is_not_isolated")


def encrypted(world: World, slots: Slots) -> Rows:
    """Return the networks that get another encryption.

    Raises: Problem where a password would be missing, where 6 GHz forbids it, and where they have it.
    """
    wanted = _ENCRYPTION[slots["encryption"]]
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


def opened(world: World, slots: Slots) -> Rows:
    """Return a row when anybody can join afterwards; for a warning."""
    return [{"ssid": ""}] if slots["encryption"] == "none" else []


def _own(world: World, slots: Slots) -> list[tuple[Section, Section]]:
    pairs = access_points(world, slots)
    if not pairs:
        raise Problem("no_access_point")
    return pairs


def _networks(world: World, slots: Slots, option: str, value: str, same: str) -> Rows:
    rows: list[Fields] = [
        {"ap": section[".name"], "value": value}
        for _, section in _own(world, slots)
        if str(section.get(option) or "0") != value
    ]
    if not rows:
        raise Problem(same)
    return rows


def _changed(chosen: list[Section], option: str, value: Callable[[Section], str], same: Problem) -> Rows:
    """Return the radios whose option gets another value. Raises: `same` when all have it."""
    rows = [
        {"radio": radio[".name"], option: wanted, "band": band_of(radio)}
        for radio in chosen
        if radio.get(option) != (wanted := value(radio))
    ]
    if not rows:
        raise same
    return rows


_SECTIONS = (
    ("wireless", "guest"),
    ("wireless", "guest_2"),
    ("wireless", "guest_3"),
    ("dhcp", "guest"),
    ("firewall", "guest_dhcp"),
    ("firewall", "guest_dns"),
    ("firewall", "guest_wan"),
    ("firewall", "guest"),
    ("network", "guest"),
    ("network", "guest_bridge"),
)
_THIRD_BYTES = (3, 4, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 123, 150, 200)  # 192.168.x: away from what modems use


def new(world: World, slots: Slots) -> Rows:
    """Return the row of a new guest network. Raises: Problem when there is one or its names are in use."""
    present = [section for section in world.sections("wireless", "wifi-iface") if section[".name"] == "guest"]
    if present:
        raise Problem("guest_exists", ssid=present[0].get("ssid", ""))
    used = [".".join(pair) for pair in _existing(world)]
    zones = world.sections("firewall", "zone")
    if used or any(zone.get("name") == "guest" for zone in zones):
        raise Problem("guest_in_use", names=used or ["firewall zone guest"])
    chosen = _chosen(world, slots)
    return [{"ip": _free_address(world), "bridge": "1" if len(chosen) > 1 else "", "wan": wan_zone(world)}]


def guest_access_points(world: World, slots: Slots) -> Rows:
    """Return a row for each access point of the new guest network."""
    return [
        {
            "ap": "guest" if not at else f"guest_{at + 1}",
            "radio": radio[".name"],
            "encryption": new_encryption("none", band_of(radio)),
        }
        for at, radio in enumerate(_chosen(world, slots))
    ]


def woken(world: World, slots: Slots) -> Rows:
    """Return what has to change so that the radios send, and nothing that was silent begins to."""
    rows: list[Fields] = []
    for radio in _chosen(world, slots):
        if radio.get("disabled") == "1":
            rows.append({"section": radio[".name"], "disabled": "0"})
            rows += silenced(world, str(radio[".name"]))
    return rows


def wakes(world: World, slots: Slots) -> Rows:
    """Return a row when the owner's own Wi-Fi on the woken radio is kept off; for a note."""
    rows = woken(world, slots)
    return rows if any(row["disabled"] == "1" for row in rows) else []


def one_band(world: World, slots: Slots) -> Rows:
    """Return a row with the band when the router could send the guest network on more than one; for a note."""
    chosen = _chosen(world, slots)
    every = {band_of(radio) for radio in radios(world, {})}
    band = band_of(chosen[0])
    return [{"band": _BANDS.get(band, band)}] if len(chosen) == 1 and len(every) > 1 and not slots.get("band") else []


def left(world: World, slots: Slots) -> Rows:
    """Return every section of the guest network, to be deleted. Raises: Problem when there is none."""
    rows: list[Fields] = [{"package": package, "section": section} for package, section in _existing(world)]
    if not rows:
        raise Problem("no_guest")
    return rows


def _existing(world: World) -> list[tuple[str, str]]:
    return [(package, name) for package, name in _SECTIONS if name in world.facts.config(package)]


def _chosen(world: World, slots: Slots) -> list[Section]:
    # One radio needs no bridge. 2.4 GHz reaches farther and every device has it, so it is the first choice.
    found = radios(world, slots)
    if slots.get("band"):
        return found
    awake = [radio for radio in found if radio.get("disabled") != "1"] or found
    return sorted(awake, key=lambda radio: band_of(radio) != "2g")[:1]


def _free_address(world: World) -> str:
    taken = networks(world)
    for byte in _THIRD_BYTES:
        address = f"192.168.{byte}.1"
        if not any(overlaps(address, 24, other, prefix) for _, other, prefix in taken):
            return address
    raise Problem("no_free_network")
