"""Who listens where after a change: dropbear and uhttpd as their init scripts start them. Knows no packets.

Source: dropbear.init and uhttpd.init of OpenWrt 24.10, uhttpd main.c and listen.c.

Logins: who can log in by SSH, by password or by a key in /etc/dropbear/authorized_keys. Source: dropbear,
svr-authpubkey.c and signkey.c; OpenWrt's build of it, which leaves out ECDSA and security keys by default.
"""

from __future__ import annotations

import base64
import binascii

from oasis.catalogue import address_text
from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Bound, Config, Connection, Facts, Heard, Listener, Networks, Table

# Options that change nothing for somebody who opens a page or logs in.
_QUIET = {
    "dropbear": (
        "enable Port Interface DirectInterface GatewayPorts LocalPortForward RemotePortForward SSHKeepAlive "
        "mdns verbose"
    ),
    "uhttpd": (
        "enabled listen_http listen_https redirect_https rfc1918_filter tcp_keepalive ubus_cors realm no_dirlists cert "
        "key"
    ),
}
# Numbers that change nothing for them either, from this value on.
_LEAST = {
    "dropbear": {"IdleTimeout": 300, "MaxAuthTries": 3, "RecvWindowSize": 4096},
    "uhttpd": {"max_requests": 2, "max_connections": 20, "network_timeout": 10, "http_keepalive": 0},
}
# What dropbear's script wants of its options: one that is wrong, and the section is not started.
_SWITCHES = ("enable", "PasswordAuth", "RootPasswordAuth", "RootLogin", "GatewayPorts", "verbose")
_NUMBERS = ("SSHKeepAlive", "IdleTimeout", "MaxAuthTries", "RecvWindowSize", "mdns")
PASSWORDS = ("PasswordAuth", "RootPasswordAuth", "RootLogin")
KEYS_FILE = "/etc/dropbear/authorized_keys"
_READ = ("ssh-ed25519", "ssh-rsa")
# Read by some builds only.
_PERHAPS = (
    "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)  # fmt: skip
_LONGEST = 4200  # MAX_AUTHKEYS_LINE: what is longer is passed over
_LEAST_BYTES = {"ssh-ed25519": 51, "ssh-rsa": 140}  # the whole key; RSA of 1024 bits, below that it is refused
_NAMED = {"http": "80", "https": "443"}  # of /etc/services, which uhttpd asks


def listeners(config: Config, networks: Networks) -> list[Listener]:
    """Return every listener of the two services, in the order of their sections."""
    found = []
    for section in sections.typed(config.get("dropbear", {}), "dropbear"):
        found += _dropbear(section, networks)
    for section in sections.typed(config.get("uhttpd", {}), "uhttpd"):
        found += _uhttpd(section)
    return found


def hears(listener: Listener, family: int, address: int, device: str | None) -> bool:
    """Return whether a connection to the router's address, coming in at a device, reaches a listener."""
    bound = listener["bound"]
    if family not in listener["families"]:
        return False
    if bound is None:
        return True
    if "device" in bound:
        return bool(bound["device"] == device)
    return (family, address) in bound["addresses"]


def judge(
    before: Config, after: Config, networks: tuple[Networks, Networks], old: Connection, new: Connection, facts: Facts
) -> Heard:
    """Return (state, reason, port, listener) of the service behind a path.

    Shape: `networks` before and after; `old` and `new` {"family", "address", "port", "device", "source"} of the
    connection. The port is another one when the service moves.
    """
    earlier = [one for one in listeners(before, networks[0]) if _is_at(one, old)]
    later = listeners(after, networks[1])
    here = sorted([one for one in later if _is_at(one, new)], key=lambda one: bool(one["doubt"]))
    if not earlier:
        if any(one["port"] == new["port"] for one in later):
            return "cannot_tell", "who listens on port %d now is not known" % new["port"], new["port"], None
        return "yes", "", new["port"], None  # a service of its own, which no change here touches
    served = earlier[0]
    if here:
        return _kept((before, after), served, here[0], later, new, facts)
    return _moved((before, after), served, later, new, facts, unbound(after, networks[1]))


def _is_at(listener: Listener, connection: Connection) -> bool:
    return listener["port"] == connection["port"] and hears(
        listener, connection["family"], connection["address"], connection["device"]
    )


def _kept(
    configs: tuple[Config, Config], served: Listener, found: Listener, later: list[Listener], new: Connection,
    facts: Facts,
) -> Heard:  # fmt: skip
    before, after = configs
    port, name = new["port"], "%s.%s" % (found["service"], found["section"])
    if found["doubt"]:
        return "cannot_tell", found["doubt"], port, found
    if found["service"] != served["service"] or found["is_tls"] != served["is_tls"]:
        return "cannot_tell", "port %d is served otherwise than now" % port, port, found
    if _is_wanted_twice(found, later):
        return "cannot_tell", "two services want port %d" % port, port, found
    section = after[found["service"]][found["section"]]
    old = before[served["service"]][served["section"]]
    state, why = shut(old, section, facts) if found["service"] == "dropbear" else ("", "")
    if state:
        return state, why, port, found
    quiet = [*_QUIET[found["service"]].split()]
    for option, least in _LEAST[found["service"]].items():
        value = sections.text(section, option)  # without one it is left to the program
        is_number = value.isascii() and value.isdigit()
        if not value or (option == "IdleTimeout" and value == "0") or (is_number and int(value) >= least):
            quiet.append(option)
    loud = sections.differing(old, section, (*quiet, *PASSWORDS))
    if loud:
        return "cannot_tell", "%s.%s: what it does to your access is not known" % (name, loud), port, found
    if found["service"] != "uhttpd":
        return "yes", "", port, found
    if found["is_tls"] and any(old.get(key) != section.get(key) for key in ("cert", "key")):
        return "cannot_tell", "%s: it is unknown whether the new certificate exists" % name, port, found
    source, address = (new["family"] == 4 and address_text.is_private4(new[end]) for end in ("source", "address"))
    if source and not address and sections.flag(section, "rfc1918_filter", False):
        return "no", "%s.rfc1918_filter refuses private peers at a public address" % name, port, found
    redirects = sections.flag(section, "redirect_https", False) and sections.texts(section, "listen_https")
    if redirects and not found["is_tls"] and not sections.flag(old, "redirect_https", False):
        if not facts.get("has_tls"):
            return "cannot_tell", "%s.redirect_https: whether uhttpd can serve HTTPS is not known" % name, port, found
        return "yes", "redirect", port, found
    return "yes", "", port, found


def _moved(
    configs: tuple[Config, Config], served: Listener, later: list[Listener], new: Connection, facts: Facts,
    not_started: dict[str, str],
) -> Heard:  # fmt: skip
    """Look for the same service elsewhere."""
    before, after = configs
    family, address, device = new["family"], new["address"], new["device"]
    same = [one for one in later if one["service"] == served["service"] and hears(one, family, address, device)]
    same.sort(key=lambda one: (one["is_tls"] != served["is_tls"], one["section"] != served["section"]))
    gone = "%s listens on port %d no more" % (served["service"], new["port"])
    if not same:
        why = not_started.get(served["section"], "") if served["service"] == "dropbear" else ""
        return "no", "; ".join(one for one in (gone, why) if one), new["port"], None
    found = same[0]
    if found["doubt"] or found["is_tls"] != served["is_tls"]:
        return "cannot_tell", found["doubt"] or gone + ", only with other encryption", found["port"], found
    if _is_wanted_twice(found, later):
        return "cannot_tell", "two services want port %d" % found["port"], found["port"], found
    if found["service"] == "dropbear":
        old, section = before["dropbear"][served["section"]], after["dropbear"][found["section"]]
        state, why = shut(old, section, facts)
        if state:
            return state, why, found["port"], found
    return "yes", "%s is then on port %d" % (served["service"], found["port"]), found["port"], found


def unbound(config: Config, networks: Networks) -> dict[str, str]:
    """Return {name of a dropbear section: why it does not start}: at boot it waits for its interface to come up."""
    found = {}
    for section in sections.typed(config.get("dropbear", {}), "dropbear"):
        option = "DirectInterface" if sections.texts(section, "DirectInterface") else "Interface"
        names = sections.texts(section, option)
        names = names[:1] if option == "DirectInterface" else names
        up = [name for name in names if name in networks and networks[name]["is_up"] and networks[name]["device"] != ""]
        if names and not up and sections.flag(section, "enable", True):
            found[str(section[".name"])] = "dropbear.%s does not start at boot: %s %s is not there or stays down" % (
                section[".name"], option, " ".join(names),
            )  # fmt: skip
    return found


def https_port(config: Config, listener: Listener) -> int:
    """Return the port that uhttpd sends browsers to."""
    section = config["uhttpd"][listener["section"]]
    return _endpoint(sections.texts(section, "listen_https")[0])[1]


def _dropbear(section: Table, networks: Networks) -> list[Listener]:
    if not sections.flag(section, "enable", True):
        return []
    words = sections.texts(section, "Port") or ["22"]
    doubt = "dropbear: several ports in one section stop it on some versions" if len(words) > 1 else ""
    if not all(address_text.is_port(word) and int(word) for word in words):
        return []  # the section fails its validation and is not started
    doubt = doubt or _wrong(section)
    if section[".name"] in unbound({"dropbear": {section[".name"]: section}}, networks):
        return []
    bound: Bound | None = None
    direct = sections.texts(section, "DirectInterface")
    names = sections.texts(section, "Interface")
    if len(names) > 1:
        doubt = doubt or "dropbear: what several names in one Interface do is not known"
    if direct:
        network = networks[direct[0]]
        bound = {"device": network["device"]}
        doubt = doubt or ("dropbear: the device of %s is not known" % direct[0] if network["device"] is None else "")
    elif names:
        held = [one[:2] for name in names if name in networks for one in networks[name]["addresses"]]
        unknown = any(networks[name]["unknown4"] or networks[name]["unknown6"] for name in names if name in networks)
        if held:
            bound = {"addresses": held}
        elif unknown:
            doubt = doubt or "dropbear: the addresses of %s are not known" % " ".join(names)
        else:  # dropbear then listens everywhere, but no address may also mean that the interface never comes up
            doubt = doubt or "dropbear.%s: Interface %s has no address" % (section[".name"], " ".join(names))
    return [
        {"service": "dropbear", "section": section[".name"], "port": int(word), "families": (4, 6), "bound": bound,
         "is_tls": False, "doubt": doubt}
        for word in words
    ]  # fmt: skip


def _uhttpd(section: Table) -> list[Listener]:
    if not sections.flag(section, "enabled", True):
        return []
    found: list[Listener] = []
    doubt = "uhttpd: option config replaces these settings" if sections.text(section, "config") else ""
    for option, is_tls in (("listen_http", False), ("listen_https", True)):
        for word in sections.texts(section, option):
            host, port = _endpoint(word)
            if port < 0:
                continue
            number = address_text.number(host) if host else None
            if not host and ":" in word:
                continue  # an empty name: the socket is not made
            why = doubt or ("uhttpd: whose address %s is, is not known" % host if host and number is None else "")
            families = (4, 6) if number is None else (number[0],)
            bound: Bound | None = None if number is None or number[1] == 0 else {"addresses": [number]}
            made: Listener = {
                "service": "uhttpd", "section": section[".name"], "port": port, "families": families, "bound": bound,
                "is_tls": is_tls, "doubt": why,
            }  # fmt: skip
            for one in found:  # the socket of an earlier address may keep a later one of the process from being made
                is_other = one["bound"] != bound or one["families"] != families
                if is_other and one["port"] == port and _overlaps(one, made):
                    made["doubt"] = made["doubt"] or "uhttpd: an address before it in the list holds port %d" % port
            found.append(made)
    return found


def _endpoint(word: str) -> tuple[str, int]:
    """Return (host or "", port or -1) of a listen address."""
    host, _, port = word.rpartition(":")
    port = _NAMED.get(port, port)
    is_number = port.isascii() and port.isdigit() and 0 < int(port[-6:]) < 65536
    return host.strip("[]"), int(port) if is_number and int(port) < 65536 else -1


def _is_wanted_twice(found: Listener, all_: list[Listener]) -> bool:
    """Return whether another listener wants the port as well; the same words twice do not matter."""
    own = (found["service"], found["section"], found["is_tls"])
    others = [one for one in all_ if (one["service"], one["section"], one["is_tls"]) != own]
    return any(one["port"] == found["port"] and _overlaps(one, found) for one in others)


def _overlaps(one: Listener, other: Listener) -> bool:
    if not set(one["families"]) & set(other["families"]):
        return False
    if one["bound"] is None or other["bound"] is None or one["bound"] == other["bound"]:
        return True
    return bool({*one["bound"].get("addresses", [])} & {*other["bound"].get("addresses", [])})


def _wrong(section: Table) -> str:
    """Return what is wrong with a dropbear section for its script, "" when nothing is."""
    for option in _SWITCHES:
        if option in section and sections.flag(section, option, True) != sections.flag(section, option, False):
            return "dropbear.%s.%s is no truth value: it may not start" % (section[".name"], option)
    for option in _NUMBERS:
        if option in section and not sections.text(section, option).isdigit():
            return "dropbear.%s.%s is no number: it may not start" % (section[".name"], option)
    return ""


# --- logins


def takes_password(section: Table) -> bool:
    """Return whether root can log in with a password."""
    return all(sections.flag(section, option, True) for option in PASSWORDS)


def readable_keys(text: bytes | None) -> str:
    """Return "yes" when the file holds a key that dropbear reads, "unknown" for one that it may read, else "no".

    None is a file that could not be asked for: "unknown" too.
    """
    if text is None:
        return "unknown"
    found = {_key(line.decode("utf-8", "replace")) for line in text.split(b"\n") if len(line) <= _LONGEST}
    return next((answer for answer in ("yes", "unknown") if answer in found), "no")


def _key(line: str) -> str:
    """Judge one line: options may stand before the kind, and one of them may take the shell away."""
    words = line.split()
    kinds = (*_READ, *_PERHAPS)
    number = next((index for index, word in enumerate(words) if word in kinds), -1)
    if number < 0 or line.lstrip().startswith("#") or number + 1 >= len(words):
        return "no"
    kind = words[number]
    try:
        data = base64.b64decode(words[number + 1], validate=True)
    except (binascii.Error, ValueError):
        return "no"
    name = data[4 : 4 + len(kind)]
    if name != kind.encode() or int.from_bytes(data[:4], "big") != len(kind) or len(data) < _LEAST_BYTES.get(kind, 0):
        return "no"
    return "yes" if kind in _READ and not number else "unknown"


def shut(old: Table, new: Table, facts: Facts) -> tuple[str, str]:
    """Return ("no" | "cannot_tell", why) when passwords go off in a section, ("", "") when they do not."""
    if not takes_password(old) or takes_password(new):
        return "", ""
    option = next(name for name in PASSWORDS if not sections.flag(new, name, True))
    what = "dropbear.%s.%s goes off" % (new[".name"], option)
    if not sections.flag(new, "RootLogin", True):
        return "cannot_tell", what + ": root cannot log in by SSH then, with a key neither"
    held = readable_keys(facts["keys"]) if "keys" in facts else ""
    if held == "no":
        return "no", what + ": nobody can log in by SSH then, for %s holds no key that dropbear reads" % KEYS_FILE
    if held == "unknown":
        return "cannot_tell", what + ": %s holds only keys that dropbear may not read or not give a shell" % KEYS_FILE
    return "cannot_tell", what + ": whether you hold a key is not known"
