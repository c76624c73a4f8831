"""The shapes of the reachability check: what its modules give each other, and what the keys mean."""

from collections.abc import Callable as Callable
from collections.abc import Iterable as Iterable
from typing import Any as Any

from typing_extensions import NotRequired, Required, TypedDict

from oasis.core.shapes import Json as Json

Table = dict[str, Any]  # one section, see oasis.uci.model
Tables = dict[str, Table]  # a package
Config = dict[str, Tables]  # packages by name
Values = dict[str, Any]  # the parsed options of a firewall section
Subnet = tuple[int, int, int]  # family, address, mask bits
Net = tuple[int, int, int, int]  # family, low, high, mask or -1
Interval = tuple[int, int]
Match = bool | None  # None: cannot be known
Finding = tuple[str, str]  # "yes" | "no" | "cannot_tell", why
Intervals = tuple[tuple[int, int], ...]  # closed, see walk.py
Box = dict[str, Intervals]
IsOwn = Callable[[tuple[int, int]], bool]  # whether an address is the router's
Added = dict[str, Json]  # a rule that a service added, as ubus gives it

class Path(TypedDict):
    """A connection by which an owner reaches the router now."""

    family: int
    source: str  # the peer's address
    source_port: int
    address: str  # the router's, that the peer uses
    port: int
    protocol: str  # "tcp"
    device: NotRequired[str]

class Interface(TypedDict, total=False):
    """An interface as it runs."""

    device: str  # of layer 3, or ""
    up: bool
    addresses: list[Subnet]
    zone: str  # that its protocol names

class Facts(TypedDict, total=False):
    """What a running router knows besides its configuration; what is missing makes answers careful, never wrong."""

    interfaces: dict[str, Interface]  # by name
    devices: dict[str, str]  # the router's device that leads to it, by a peer's address
    neighbours: dict[str, str]  # MAC, by a peer's address
    leases: list[str]  # addresses given by DHCP
    ports: dict[str, str]  # the bridge port behind which it is, a wireless one too, by a peer's address
    wifi: dict[str, str]  # name of its wifi-iface section, by wireless device
    has_tls: bool  # uhttpd can serve HTTPS
    keys: bytes  # dropbear's authorized_keys, b"" without one
    firewall: list[Added]  # rules that services added

class Network(TypedDict):
    """An interface as netifd will make it."""

    name: str
    device: str | None  # of layer 3, "" for none, None when its name is not known
    proto: str
    addresses: list[Subnet]
    unknown4: bool  # addresses come from elsewhere
    unknown6: bool
    zone: str  # that its protocol names
    is_up: bool  # False when it surely stays down
    why: str  # the reason for that
    options: Table  # its section

Networks = dict[str, Network]

class Candidate(TypedDict, total=False):
    """A place where the peer may be plugged in."""

    kind: Required[str]  # "port" or "network"
    port: str
    tag: int  # VLAN, 0 for none
    name: str  # of the interface
    wifi: Table  # its wifi-iface section

class End(TypedDict):
    """How a peer reaches the router after a change."""

    state: str
    reason: str
    network: Network | None
    address: int  # the router's
    source: Interval  # of the peer's addresses
    moved: bool
    is_renewed: bool  # the peer needs another address for it

class Bound(TypedDict, total=False):
    """Where a listener is bound: one of the two."""

    addresses: list[tuple[int, int]]
    device: str | None

class Listener(TypedDict):
    service: str  # "dropbear" or "uhttpd"
    section: str
    port: int
    families: tuple[int, ...]
    bound: Bound | None  # None for everywhere
    is_tls: bool
    doubt: str  # what makes it unsure, or ""

class Packet(TypedDict):
    family: int
    device: str | None
    source: Interval
    address: int  # the router's
    source_port: Interval
    port: int
    mac: str  # or ""
    type: NotRequired[int]  # of ICMPv6

class Judged(TypedDict):
    """Where a new connection ends."""

    state: str  # "yes" | "no" | "cannot_tell"
    reason: str
    decider: str  # what let it in
    port: int  # at which it arrives
    address: int
    passed: set[str]  # keys of the includes that it surely came through

class Zone(TypedDict):
    name: str
    label: str
    input: str
    output: str
    forward: str
    family: int | None
    groups: list[tuple[list[str | None] | None, list[str | None]]]  # (names or None for any, names not)
    subnets: list[Values]
    masq: bool
    masq6: bool
    held: list[Subnet]
    has_dnat: bool

class Include(TypedDict):
    label: str
    chain: str  # or ""
    place: str  # "prepend", "append" or ""
    key: str

class Rule(TypedDict, total=False):
    label: Required[str]
    target: Required[str]
    family: Required[int | None]
    proto: str
    sources: Required[list[Values]]
    targets: Required[list[Values]]
    ports: Required[list[Values]]
    source_ports: Required[list[Values]]
    macs: Required[list[Values]]
    device: Required[Values | None]
    direction: Required[str]
    types: list[str]  # of ICMP
    conditions: Required[dict[str, str]]  # what its match hangs on that is not in the packet, and the text of it
    limit: Required[list[Any] | None]  # number, unit
    members: Required[tuple[str, ...]]  # of its set
    dest: Zone | str | None  # a zone, "*", None for a rule about the router
    # of a redirect alone
    to: tuple[int, int] | None
    to_port: int | None
    to_ports: tuple[int, int] | None
    is_plain: bool

class Ruleset(TypedDict):
    policy: str  # of chain input
    forward: str
    output: str
    zones: list[Zone]
    rules: dict[str, list[Rule]]  # by chain
    redirects: dict[str, list[Rule]]  # by zone
    includes: list[Include]
    doubt: str  # why nothing is sure, or ""
    is_mute: bool  # a rule keeps back some of what the router itself sends
    is_slow: bool  # the limit of new connections is so low that owners may meet it

class Side(TypedDict):
    """A peer before or after a change."""

    devices: tuple[str, ...]  # of layer 3, at which its packets arrive; none: it is not connected
    macs: tuple[str, tuple[str, ...]]  # ("" | "allow" | "deny", MACs)
    nets: tuple[Any, ...]  # addresses that it may use, or ()

class Peer(TypedDict):
    label: str
    sides: list[Side]  # before, after
    place: NotRequired[str]  # what the ways in from one port share

class Answer(TypedDict, total=False):
    """The verdict; owner_way.py adds the dangers and what was read."""

    verdict: str  # "yes" | "no" | "cannot_tell"
    reasons: list[str]
    new_address: str
    dangers: list[str]
    read: dict[str, str]
