"""Who listens where after a change: dropbear and uhttpd as their init scripts start them. Knows no packets.

Source: dropbear.init and uhttpd.init of OpenWrt 24.10, uhttpd main.c and listen.c.

Logins: who can log in by SSH, by password or by a key in /etc/dropbear/authorized_keys. Source: dropbear,
svr-authpubkey.c and signkey.c; OpenWrt's build of it, which leaves out ECDSA and security keys by default.
"""

from __future__ import annotations

import binascii

from oasis.catalogue import address_text
from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Bound, Config, Facts, Listener, Networks, Packet, Table

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
    ssh = sections.typed(config.get("dropbear", {}), "dropbear")
    pages = sections.typed(config.get("uhttpd", {}), "uhttpd")
    return [one for section in ssh for one in _dropbear(section, networks)] + [
        one for section in pages for one in _uhttpd(section)
    ]


def hears(listener: Listener, family: int, address: int, device: str | None) -> bool:
    """Return whether a connection to the router's address, coming in at a device, reaches a listener."""
    bound = listener["bound"]
    if family not in listener["families"] or bound is None:
        return family in listener["families"]
    return bool(bound["device"] == device) if "device" in bound else (family, address) in bound["addresses"]


def judge(
    before: Config, after: Config, networks: tuple[Networks, Networks], old: Packet, new: Packet, facts: Facts
) -> tuple[str, str, int, int]:
    """Return (state, reason, port, port of the page that it goes on to or 0) of the service behind a path.

    `networks` before and after; `old` and `new`: a packet of the peer now and then. The port is another one when the
    service moves.
    """
    family, address, device, port = new["family"], new["address"], new["device"], new["port"]
    earlier = [
        one for one in listeners(before, networks[0])
        if one["port"] == old["port"] and hears(one, old["family"], old["address"], old["device"])
    ]  # fmt: skip
    later = listeners(after, networks[1])
    if not earlier:
        if any(one["port"] == port for one in later):
            return "cannot_tell", "who listens on port %d now is not known" % port, port, 0
        return "yes", "", port, 0  # a service of its own, which no change here touches
    served = earlier[0]
    met = [one for one in later if hears(one, family, address, device)]
    here = sorted([one for one in met if one["port"] == port], key=lambda one: bool(one["doubt"]))
    same = [one for one in met if one["service"] == served["service"]]  # elsewhere
    same.sort(key=lambda one: (one["is_tls"] != served["is_tls"], one["section"] != served["section"]))
    gone = "%s listens on port %d no more" % (served["service"], port)
    if not here and not same:
        not_started = unbound(after, networks[1]) if served["service"] == "dropbear" else {}
        return "no", "; ".join(one for one in (gone, not_started.get(served["section"], "")) if one), port, 0
    found = (here or same)[0]
    port = found["port"]
    if found["doubt"]:
        return "cannot_tell", found["doubt"], port, 0
    if found["service"] != served["service"] or found["is_tls"] != served["is_tls"]:
        why = "port %d is served otherwise than now" % port if here else gone + ", only with other encryption"
        return "cannot_tell", why, port, 0
    # whether another listener wants the port as well; the same words twice do not matter
    own = (found["service"], found["section"], found["is_tls"])
    others = [one for one in later if (one["service"], one["section"], one["is_tls"]) != own]
    if any(one["port"] == port and _overlaps(one, found) for one in others):
        return "cannot_tell", "two services want port %d" % port, port, 0
    was, section = before[served["service"]][served["section"]], after[found["service"]][found["section"]]
    state, why = shut(was, section, facts) if found["service"] == "dropbear" else ("", "")
    if not state and not here:
        state, why = "yes", "%s is then on port %d" % (found["service"], port)
    if not state:
        state, why = _kept(was, section, found, new, facts)
    if (state, why) == ("yes", "redirect"):
        return "yes", "", port, _endpoint(sections.texts(section, "listen_https")[0])[1]
    return state, why, port, 0


def _kept(was: Table, section: Table, found: Listener, new: Packet, facts: Facts) -> tuple[str, str]:
    """Return what the other options of a section do to those that it serves where it did before."""
    service = found["service"]
    name = "%s.%s" % (service, found["section"])
    quiet = [*_QUIET[service].split(), *PASSWORDS]
    for option, least in _LEAST[service].items():
        value = sections.text(section, option)  # without one it is left to the program
        is_number = value.isascii() and value.isdigit()
        if not value or (option == "IdleTimeout" and value == "0") or (is_number and int(value) >= least):
            quiet.append(option)
    loud = sections.differing(was, section, quiet)
    if loud:
        return "cannot_tell", "%s.%s: what it does to your access is not known" % (name, loud)
    if service != "uhttpd":
        return "yes", ""
    if found["is_tls"] and any(was.get(key) != section.get(key) for key in ("cert", "key")):
        return "cannot_tell", "%s: it is unknown whether the new certificate exists" % name
    is_private, is_own_private = (address_text.is_private4(one) for one in (new["source"][0], new["address"]))
    if new["family"] == 4 and is_private and not is_own_private and sections.flag(section, "rfc1918_filter", False):
        return "no", "%s.rfc1918_filter refuses private peers at a public address" % name
    redirects = sections.flag(section, "redirect_https", False) and sections.texts(section, "listen_https")
    if redirects and not found["is_tls"] and not sections.flag(was, "redirect_https", False):
        if not facts.get("has_tls"):
            return "cannot_tell", "%s.redirect_https: whether uhttpd can serve HTTPS is not known" % name
        return "yes", "redirect"
    return "yes", ""


def unbound(config: Config, networks: Networks) -> dict[str, str]:
    """Return {name of a dropbear section: why it does not start}: at boot it waits for its interface to come up."""
    found = {}
    for section in sections.typed(config.get("dropbear", {}), "dropbear"):
        names, option = sections.texts(section, "DirectInterface")[:1], "DirectInterface"
        if not names:
            names, option = sections.texts(section, "Interface"), "Interface"
        up = [name for name in names if name in networks and networks[name]["is_up"] and networks[name]["device"] != ""]
        if names and not up and sections.flag(section, "enable", True):
            what = (section[".name"], option, " ".join(names))
            found[str(section[".name"])] = "dropbear.%s does not start at boot: %s %s is not there or stays down" % what
    return found


def _dropbear(section: Table, networks: Networks) -> list[Listener]:
    words, name = sections.texts(section, "Port") or ["22"], section[".name"]
    if not sections.flag(section, "enable", True) or not all(
        address_text.is_port(word) and int(word) for word in words
    ):
        return []  # the section fails its validation and is not started
    if section[".name"] in unbound({"dropbear": {name: section}}, networks):
        return []
    doubts = ["dropbear: several ports in one section stop it on some versions"] if len(words) > 1 else []
    # what is wrong with it for its script
    for option in _SWITCHES:
        if option in section and sections.flag(section, option, True) != sections.flag(section, option, False):
            doubts.append("dropbear.%s.%s is no truth value: it may not start" % (name, option))
    for option in _NUMBERS:
        if option in section and not sections.text(section, option).isdigit():
            doubts.append("dropbear.%s.%s is no number: it may not start" % (name, option))
    bound: Bound | None = None
    direct, names = sections.texts(section, "DirectInterface"), sections.texts(section, "Interface")
    if len(names) > 1:
        doubts.append("dropbear: what several names in one Interface do is not known")
    if direct:
        bound = {"device": networks[direct[0]]["device"]}
        if bound["device"] is None:
            doubts.append("dropbear: the device of %s is not known" % direct[0])
    elif names:
        there = [networks[one] for one in names if one in networks]
        held = [one[:2] for network in there for one in network["addresses"]]
        if held:
            bound = {"addresses": held}
        elif any(network["unknown4"] or network["unknown6"] for network in there):
            doubts.append("dropbear: the addresses of %s are not known" % " ".join(names))
        else:  # dropbear then listens everywhere, but no address may also mean that the interface never comes up
            doubts.append("dropbear.%s: Interface %s has no address" % (name, " ".join(names)))
    return [
        {"service": "dropbear", "section": name, "port": int(word), "families": (4, 6), "bound": bound,
         "is_tls": False, "doubt": [*doubts, ""][0]}
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
            if port < 0 or (not host and ":" in word):
                continue  # an empty name: the socket is not made
            number = address_text.number(host) if host else None
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
    is_number = port.isascii() and port.isdigit() and len(port.lstrip("0")) <= 5 and 0 < int(port) < 65536
    return host.strip("[]"), int(port) if is_number else -1


def _overlaps(one: Listener, other: Listener) -> bool:
    if not set(one["families"]) & set(other["families"]):
        return False
    if one["bound"] is None or other["bound"] is None or one["bound"] == other["bound"]:
        return True
    return bool({*one["bound"].get("addresses", [])} & {*other["bound"].get("addresses", [])})


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
    coded = words[number + 1]
    if not coded.isascii() or not coded.rstrip("=").replace("+", "0").replace("/", "0").isalnum():
        return "no"
    try:
        data = binascii.a2b_base64(coded)  # `base64` is 50 kB for good
    except binascii.Error:
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
