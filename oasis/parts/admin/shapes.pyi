"""The types of what the owner does with keys and images, for the type checker alone."""

from typing_extensions import NotRequired, TypedDict

Section = dict[str, object]

class Network(TypedDict):
    """A network of a tunnel."""

    family: int  # 4 or 6
    router: str  # its address there
    first: int
    bits: int  # of hosts

class Peer(TypedDict):
    peer: str  # the name of its section
    name: str
    addresses: list[str]
    public_key: str
    disabled: NotRequired[bool]
    handshake_s_ago: NotRequired[int | None]  # None: never
    received_bytes: NotRequired[int]
    sent_bytes: NotRequired[int]

class Interface(TypedDict):
    interface: str
    public_key: str
    port: str
    addresses: list[str]
    up: bool
    peers: list[Peer]

class WireGuardList(TypedDict):
    interfaces: list[Interface]
    endpoint: str  # where devices find the router, "" unknown
    notes: NotRequired[list[str]]
    untrusted: NotRequired[list[str]]

class SshKey(TypedDict):
    kind: str
    fingerprint: str  # as OpenSSH shows it
    comment: str
    has_options: NotRequired[bool]  # which limit what it may do

class PeerConfig(TypedDict):
    """What only the owner sees."""

    name: str
    file: NotRequired[str]  # with its configuration, in RAM, to be taken away; where it was asked for
    qr: list[str]
    endpoint: str
