"""The names by which command templates ask for facts: name -> function(world, slots) -> rows of fields."""

from __future__ import annotations

from oasis.parts.offline.requests import extras, family, firewall, guest, lan, radio, wireless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.parts.offline.language.template import Rows
    from oasis.parts.offline.world import World

SETS: dict[str, Callable[[World, dict[str, object]], Rows]] = {
    "own_wifi": wireless.own,
    "own_wifi_secured": wireless.secured,
    "guest_wifi": wireless.guest,
    "guest_wifi_secured": wireless.guest_secured,
    "switched": wireless.switched,
    "guest_switched": wireless.guest_switched,
    "open_when_on": wireless.open_when_on,
    "sleeping_wifi": wireless.sleeping,
    "new_guest": guest.new,
    "new_guest_wifi": guest.access_points,
    "guest_woken": guest.woken,
    "guest_wakes": guest.wakes,
    "guest_one_band": guest.one_band,
    "guest_left": guest.left,
    "lan": lan.address,
    "wan_dns": lan.wan_dns,
    "wan_dns_own": lan.wan_dns_own,
    "zone": lan.zone,
    "host": lan.host,
    "host_left": lan.host_left,
    "block": firewall.block,
    "blocked": firewall.blocked,
    "forward": firewall.forward,
    "forwarded": firewall.forwarded,
    "moving_target": firewall.moving_target,
    "channels": radio.channels,
    "widths": radio.widths,
    "countries": radio.countries,
    "powers": radio.powers,
    "hidden": radio.hidden,
    "encrypted": radio.encrypted,
    "opened": radio.opened,
    "isolated": radio.isolated,
    "hours": family.hours,
    "hours_left": family.hours_left,
    "named_host": extras.named_host,
    "lease_time": extras.lease_time,
    "pool": extras.pool,
    "ipv6": extras.ipv6,
    "upnp": extras.upnp,
    "local_name": extras.local_name,
    "dns_blocked": extras.dns_blocked,
    "dns_unblocked": extras.dns_unblocked,
    "adblock": extras.adblock,
    "vpn": extras.vpn,
    "vpn_there": extras.vpn_there,
    "peer": extras.peer,
    "qos": extras.qos,
    "qos_switched": extras.qos_switched,
    "ntp": extras.ntp,
    "ntp_switched": extras.ntp_switched,
    "leds": extras.leds,
}
