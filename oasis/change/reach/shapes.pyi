"""The types of the reachability check, for the type checker alone; the shapes stand in the modules' docstrings."""

from collections.abc import Callable as Callable
from collections.abc import Iterable as Iterable
from typing import Any as Any

Table = dict[str, Any]  # one section, see oasis.uci.model
Tables = dict[str, Table]  # a package
Config = dict[str, Tables]  # packages by name
Path = dict[str, Any]  # see facts.py
Facts = dict[str, Any]  # see facts.py
Network = dict[str, Any]  # see network.py
Networks = dict[str, Network]
Subnet = tuple[int, int, int]  # family, address, mask bits
Interval = tuple[int, int]
Match = bool | None  # None: cannot be known
Values = dict[str, Any]  # the parsed options of a firewall section
Zone = dict[str, Any]  # see ruleset.py
Rule = dict[str, Any]
Ruleset = dict[str, Any]
Packet = dict[str, Any]  # see firewall.py
Finding = tuple[str, str]  # "yes" | "no" | "cannot_tell", why
Candidate = dict[str, Any]  # see attachment.py
Answer = dict[str, Any]  # see verdict.py
Intervals = tuple[tuple[int, int], ...]  # closed, see walk.py
Box = dict[str, Intervals]
Peer = dict[str, Any]  # see peers.py
