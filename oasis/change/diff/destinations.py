"""Where a change sends traffic or logs: the addresses and names outside that an option names and did not name before.

Only options that the catalogue marks as outward are asked. Outside is what is no address of a home network and no local
name: a switch that goes off, a port, a server at home or one that was there already is no new destination.
"""

from __future__ import annotations

import re

from oasis.catalogue import address_text, entries
from oasis.uci.visible import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Difference

_LOCAL = ("lan", "local", "home", "internal", "localdomain", "localhost", "arpa", "test", "invalid")
# Types whose words may be names of hosts; in another one a name is the router's own or that of a list.
_NAMES = ("host", "url", "hostname", "dnsserver")
# Of a pattern nobody can tell: these name hosts.
_NAMED = ("openvpn.remote", "https-dns-proxy.proxy_server", "dhcp.captive_portal_uri")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?(\[[0-9a-fA-F:.]+\]|[^/:?#]+)")
_SPLIT = re.compile(r"[\s,;|=#@/]+")
_EVERYWHERE = ("0.0.0.0/0", "::/0")  # routes


def new(item: Difference) -> list[str]:
    """Return the destinations outside of one difference; see oasis.change.diff.difference for its shape."""
    package, kind, option = str(item["package"]), str(item["type"]), str(item.get("option", ""))
    if not option or item["kind"] not in ("set", "added", "section_added"):
        return []
    entry = entries.option(package, kind, option)
    if entry is None or entry.get("mark") != "outward":
        return []
    has_names = any(word in str(entry.get("type", "")) for word in _NAMES) or package + "." + option in _NAMED
    old = _outside(item.get("old"), has_names)
    return [plain(one) for one in _outside(item.get("new"), has_names) if one not in old]


def _outside(value: object, has_names: bool) -> list[str]:
    texts = [str(one) for one in value] if isinstance(value, list) else [str(value or "")]
    found = [word for text in texts for word in _words(text, has_names) if _is_outside(word, has_names)]
    return list(dict.fromkeys(found))


def _words(text: str, has_names: bool) -> list[str]:
    if text in _EVERYWHERE:
        return [text]
    hosts = _URL.findall(text)
    if hosts:
        return [host.strip("[]") for host in hosts]
    words = [word.strip("[]") for word in _SPLIT.split(text) if word]
    if has_names and text.startswith("/"):  # dnsmasq's /NAME/SERVER: the names are questions, not servers
        words = [word for word in words if address_text.number(word)]
    return words


def _is_outside(word: str, has_names: bool) -> bool:
    if word in _EVERYWHERE:
        return True
    number = address_text.number(word)
    if number:
        family, value = number
        return value > 1 and not address_text.is_home(word) and value >> (28 if family == 4 else 120) not in (0xE, 0xFF)
    name, _, port = word.rpartition(":")
    host = name if name and port.isdigit() else word
    is_name = has_names and address_text.is_hostname(host) and "." in host.strip(".")
    return is_name and host.strip(".").rpartition(".")[2].lower() not in _LOCAL
