"""Sets about Wi-Fi: which sections of the router's own wireless configuration a wish means.

Every function takes the world and the slots and returns rows of fields for the command templates.
"""

from __future__ import annotations

from oasis.parts.offline.language.slots import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.template import Rows
    from oasis.parts.offline.world import World

    Section = dict[str, object]

_OPEN = ("", "none", "wep", "wep-open", "wep-shared", "wep+open", "wep+shared")


def band_of(radio: Section) -> str:
    """Return 2g, 5g or 6g of a wifi-device; releases before 21.02 wrote hwmode instead."""
    return str(radio.get("band") or ("5g" if radio.get("hwmode") in ("11a", "11ac") else "2g"))


def radios(world: World, slots: dict[str, object]) -> list[Section]:
    """Return the wifi-device sections of the wanted band. Raises: Problem when the router has none."""
    every = world.sections("wireless", "wifi-device")
    if not every:
        raise Problem("no_wifi")
    band = slots.get("band") or "both"
    found = [radio for radio in every if band in ("both", band_of(radio))]
    if not found:
        raise Problem("no_band", band=str(band).replace("2g", "2.4 GHz").replace("5g", "5 GHz").replace("6g", "6 GHz"))
    return found


def access_points(world: World, slots: dict[str, object]) -> list[tuple[Section, Section]]:
    """Return (radio, wifi-iface) pairs of the owner's own networks: access points that are no guest network."""
    wanted = {str(radio[".name"]): radio for radio in radios(world, slots)}
    found = []
    for section in world.sections("wireless", "wifi-iface"):
        radio = wanted.get(str(section.get("device")))
        if radio and section.get("mode", "ap") == "ap" and not _is_guest(section):
            found.append((radio, section))
    return found


def own(world: World, slots: dict[str, object]) -> Rows:
    """Return a row for each access point that gets a new name or password.

    Raises: Problem when there is none, when one radio has several and no name was said, or when it logs in by account.
    """
    pairs = access_points(world, slots)
    named = slots.get("network")
    if named:
        names = sorted({str(section.get("ssid", "")) for _, section in pairs})
        pairs = [pair for pair in pairs if str(pair[1].get("ssid", "")).casefold() == str(named).casefold()]
        if not pairs:
            raise Problem("network_unknown", value=str(named)[:40], choices=names)
    if not pairs:
        raise Problem("no_access_point")
    if not named and len({str(radio[".name"]) for radio, _ in pairs}) < len(pairs):
        names = sorted({str(section.get("ssid", "")) for _, section in pairs})
        raise Problem("network_which", choices=names, first=names[0])
    return [_row(radio, section) for radio, section in pairs]


def secured(world: World, slots: dict[str, object]) -> Rows:
    """Return the rows of `own` for a new password. Raises: Problem where a password is not how one joins."""
    rows = own(world, slots)
    for row in rows:
        _need_password(row)
    return rows


def guest(world: World, slots: dict[str, object]) -> Rows:
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


def guest_secured(world: World, slots: dict[str, object]) -> Rows:
    """Return the rows of `guest` for a new password."""
    rows = guest(world, slots)
    for row in rows:
        _need_password(row)
    return rows


def switched(world: World, slots: dict[str, object]) -> Rows:
    """Return the sections whose `disabled` has to change so that Wi-Fi is on or off.

    Raises: Problem when nothing has to change.
    """
    chosen = radios(world, slots)
    turned_on = slots.get("switch") == "on"
    rows: Rows = [
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


def guest_switched(world: World, slots: dict[str, object]) -> Rows:
    """Return what has to change so that the guest network is on or off. Raises: Problem when nothing has to."""
    turned_on = slots.get("switch") == "on"
    rows: Rows = []
    for row in guest(world, slots):
        if bool(row["off"]) == turned_on:
            rows.append({"section": row["ap"], "disabled": "0" if turned_on else "1"})
        if turned_on and row["radio_off"] and row["radio"]:
            rows.append({"section": row["radio"], "disabled": "0"})
            rows += silenced(world, str(row["radio"]), str(row["ap"]))
    if not rows:
        raise Problem("guest_is_on" if turned_on else "guest_is_off")
    return rows


def silenced(world: World, radio: str, but: str = "") -> Rows:
    """Return the networks of a sleeping radio that must stay off when the radio is woken for another one."""
    return [
        {"section": section[".name"], "disabled": "1"}
        for section in world.sections("wireless", "wifi-iface")
        if section.get("device") == radio and section.get("disabled") != "1" and section[".name"] != but
    ]


def open_when_on(world: World, slots: dict[str, object]) -> Rows:
    """Return the networks that anybody can join once Wi-Fi is turned on; for a warning."""
    pairs = access_points(world, slots) if slots.get("switch") == "on" else []
    return [{"ssid": section.get("ssid", "")} for _, section in pairs if section.get("encryption", "") in _OPEN]


def sleeping(world: World, slots: dict[str, object]) -> Rows:
    """Return the owner's networks that are off; for a note."""
    return [row for row in own(world, slots) if row["off"] or row["radio_off"]]


def _is_guest(section: Section) -> bool:
    networks = section.get("network", "")
    words = networks if isinstance(networks, list) else str(networks).split()
    return any("guest" in str(word).lower() for word in [*words, section[".name"]])


def _row(radio: Section, section: Section) -> dict[str, object]:
    encryption = str(section.get("encryption", ""))
    return {
        "ap": section[".name"],
        "radio": radio.get(".name", ""),
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


def _need_password(row: dict[str, object]) -> None:
    encryption = str(row["encryption"])
    if not row["new_encryption"] and not encryption.startswith(("psk", "sae")):
        raise Problem("enterprise", encryption=encryption)
