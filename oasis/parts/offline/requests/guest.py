"""Sets about building and removing the guest network; its sections have fixed names, so that it can be found again.

Every function takes the world and the slots and returns rows of fields for the command templates.
"""

from __future__ import annotations

from oasis.parts.offline.language.slots import Problem
from oasis.parts.offline.requests import wireless
from oasis.parts.offline.requests.addresses import overlaps
from oasis.parts.offline.requests.firewall import wan_zone
from oasis.parts.offline.requests.lan import networks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.template import Rows
    from oasis.parts.offline.world import World

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


def new(world: World, slots: dict[str, object]) -> Rows:
    """Return the row of a new guest network. Raises: Problem when there is one or its names are in use."""
    present = [section for section in world.sections("wireless", "wifi-iface") if section[".name"] == "guest"]
    if present:
        raise Problem("guest_exists", ssid=present[0].get("ssid", ""))
    used = [".".join(pair) for pair in _existing(world)]
    zones = world.sections("firewall", "zone")
    if used or any(zone.get("name") == "guest" for zone in zones):
        raise Problem("guest_in_use", names=used or ["firewall zone guest"])
    radios = _chosen(world, slots)
    return [{"ip": _free_address(world), "bridge": "1" if len(radios) > 1 else "", "wan": wan_zone(world)}]


def access_points(world: World, slots: dict[str, object]) -> Rows:
    """Return a row for each access point of the new guest network."""
    return [
        {
            "ap": "guest" if not at else f"guest_{at + 1}",
            "radio": radio[".name"],
            "encryption": wireless.new_encryption("none", wireless.band_of(radio)),
        }
        for at, radio in enumerate(_chosen(world, slots))
    ]


def woken(world: World, slots: dict[str, object]) -> Rows:
    """Return what has to change so that the radios send, and nothing that was silent begins to."""
    rows: Rows = []
    for radio in _chosen(world, slots):
        if radio.get("disabled") == "1":
            rows.append({"section": radio[".name"], "disabled": "0"})
            rows += wireless.silenced(world, str(radio[".name"]))
    return rows


def wakes(world: World, slots: dict[str, object]) -> Rows:
    """Return a row when the owner's own Wi-Fi on the woken radio is kept off; for a note."""
    rows = woken(world, slots)
    return rows if any(row["disabled"] == "1" for row in rows) else []


def one_band(world: World, slots: dict[str, object]) -> Rows:
    """Return a row with the band when the router could send the guest network on more than one; for a note."""
    chosen = _chosen(world, slots)
    every = {wireless.band_of(radio) for radio in wireless.radios(world, {})}
    names = {"2g": "2.4 GHz", "5g": "5 GHz", "6g": "6 GHz"}
    band = wireless.band_of(chosen[0])
    return [{"band": names.get(band, band)}] if len(chosen) == 1 and len(every) > 1 and not slots.get("band") else []


def left(world: World, slots: dict[str, object]) -> Rows:
    """Return every section of the guest network, to be deleted. Raises: Problem when there is none."""
    rows: Rows = [{"package": package, "section": section} for package, section in _existing(world)]
    if not rows:
        raise Problem("no_guest")
    return rows


def _existing(world: World) -> list[tuple[str, str]]:
    return [(package, name) for package, name in _SECTIONS if name in world.facts.config(package)]


def _chosen(world: World, slots: dict[str, object]) -> list[wireless.Section]:
    # One radio needs no bridge. 2.4 GHz reaches farther and every device has it, so it is the first choice.
    radios = wireless.radios(world, slots)
    if slots.get("band"):
        return radios
    awake = [radio for radio in radios if radio.get("disabled") != "1"] or radios
    return sorted(awake, key=lambda radio: wireless.band_of(radio) != "2g")[:1]


def _free_address(world: World) -> str:
    taken = networks(world)
    for byte in _THIRD_BYTES:
        address = f"192.168.{byte}.1"
        if not any(overlaps(address, 24, other, prefix) for _, other, prefix in taken):
            return address
    raise Problem("no_free_network")
