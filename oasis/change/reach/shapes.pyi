"""The types of the reachability check, for the type checker alone; the docstrings of the modules say what they mean."""

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
    source: str
    source_port: int
    address: str
    port: int
    protocol: str
    device: NotRequired[str]

class Interface(TypedDict, total=False):
    """An interface as it runs."""

    device: str
    up: bool
    addresses: list[Subnet]
    zone: str

class Facts(TypedDict, total=False):
    """What a running router knows besides its configuration."""

    interfaces: dict[str, Interface]
    devices: dict[str, str]
    neighbours: dict[str, str]
    leases: list[str]
    ports: dict[str, str]
    wifi: dict[str, str]
    has_tls: bool
    keys: bytes
    firewall: list[Added]

class Network(TypedDict):
    """An interface as netifd will make it."""

    name: str
    device: str | None
    proto: str
    addresses: list[Subnet]
    unknown4: bool
    unknown6: bool
    zone: str
    is_up: bool
    why: str
    options: Table

Networks = dict[str, Network]

class Candidate(TypedDict, total=False):
    """A place where the peer may be plugged in."""

    kind: Required[str]
    port: str
    tag: int
    name: str
    wifi: Table

class End(TypedDict):
    """How a peer reaches the router after a change."""

    state: str
    reason: str
    network: Network | None
    address: int
    source: Interval
    moved: bool
    is_renewed: bool

class Bound(TypedDict, total=False):
    """Where a listener is bound: one of the two."""

    addresses: list[tuple[int, int]]
    device: str | None

class Listener(TypedDict):
    service: str
    section: str
    port: int
    families: tuple[int, ...]
    bound: Bound | None
    is_tls: bool
    doubt: str

class Connection(TypedDict):
    """A connection to the router, as a listener meets it."""

    family: int
    address: int
    port: int
    device: str | None
    source: int

Heard = tuple[str, str, int, Listener | None]  # state, reason, port, listener

class Packet(TypedDict):
    family: int
    device: str | None
    source: Interval
    address: int
    source_port: Interval
    port: int
    mac: str
    type: NotRequired[int]

class Judged(TypedDict):
    """Where a new connection ends, see packet_path.py."""

    state: str
    reason: str
    decider: str
    port: int
    address: int
    passed: set[str]

class Zone(TypedDict):
    name: str
    label: str
    input: str
    output: str
    forward: str
    family: int | None
    groups: list[tuple[list[str | None] | None, list[str | None]]]
    subnets: list[Values]
    masq: bool
    masq6: bool
    held: list[Subnet]
    has_dnat: bool

class Include(TypedDict):
    label: str
    chain: str
    place: str
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
    is_complete: Required[bool]
    types: list[str]
    rate: Required[int]
    depends: Required[list[str]]
    conditions: Required[dict[str, str]]
    limit: Required[list[Any] | None]
    members: Required[tuple[str, ...]]
    dest: Zone | str | None
    # of a redirect alone
    to: tuple[int, int] | None
    to_port: int | None
    to_ports: tuple[int, int] | None
    is_plain: bool

class Ruleset(TypedDict):
    policy: str
    forward: str
    output: str
    zones: list[Zone]
    rules: dict[str, list[Rule]]
    redirects: dict[str, list[Rule]]
    includes: list[Include]
    doubt: str
    is_mute: bool
    is_slow: bool

class Side(TypedDict):
    """A peer before or after a change."""

    devices: tuple[str, ...]
    macs: tuple[str, tuple[str, ...]]
    nets: tuple[Any, ...]

class Peer(TypedDict):
    label: str
    sides: list[Side]
    place: NotRequired[str]

class Answer(TypedDict, total=False):
    """The verdict; owner_way.py adds the dangers and what was read."""

    verdict: str  # "yes" | "no" | "cannot_tell"
    reasons: list[str]
    new_address: str
    dangers: list[str]
    read: dict[str, str]
