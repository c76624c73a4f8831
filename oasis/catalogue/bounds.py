"""Values of options that name a file, a folder or a server, and yet may be set: each is looked at on this router.

An entry that is marked exec and has a `bound` may have the values of that bound; with the type's bound `plain` those of
its datatype. Everything else stays the owner's alone. A file or folder must be of the system or of the owner: below its
place without a link that leads out, root's, and writable by nobody else, as are the folders above it. The bound is
looked at again when the plan is applied. Writes nothing.
"""

from __future__ import annotations

import binascii
import os
import re
import stat
from collections.abc import Callable

from oasis.catalogue import address_text, validators

if False:  # annotations only
    from oasis.catalogue.shapes import Entry
    from oasis.system.files import Files
    from oasis.system.root import Root

_PATH = re.compile(r"(?:/(?![.]{1,2}(?:/|\Z))[A-Za-z0-9_.+-]+)+\Z")
_QOS = "/usr/lib/sqm"
# Of ddns-scripts, which write the value between apostrophes and have a shell evaluate that.
_URL = re.compile(
    r"(https?)://(?:\[USERNAME\]:\[PASSWORD\]@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?"
    r"(?:[/?](?:[A-Za-z0-9_.:/?=&%+,~@-]|\[(?:USERNAME|PASSWORD|PARAMENC|PARAMOPT|DOMAIN|IP)\])*)?\Z"
)
# What dnsmasq reads: nothing else of root's is a list of hosts or holds its settings.
_HOSTS = re.compile(r"/(?:.+/)?(?:hosts|[^/]+[.]hosts|hosts/[^/]+)\Z|/etc/(?:hosts[^/]*|oasis-hosts)(?:/[^/]+)?\Z")
_CONFDIR = re.compile(r"/(?:etc|tmp)/dnsmasq[^/]*\Z")
_SETTING = re.compile(r"\s*(?:#.*|[a-z0-9-]+\s*(?:=.*)?)?\s*\Z")
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?\Z")
# Programs that hold nothing but data in folders of their own there.
_DATA = re.compile(r"/(?:mnt|(?:tmp|var/lib)/(?:aria2|downloads?|minidlna|nlbwmon|transmission)(?=/|\Z))(?:/.+)?\Z")
_PEM_PLACES = ["/etc/ssl/oasis", "/etc/openvpn"]
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----\s+([A-Za-z0-9+/=\s]+?)-----END \1-----")
# Not in other folders of /tmp: programs read what is there.
_LOG = re.compile(r"(?:/tmp|/tmp/log|/var/log|/mnt|/mnt/.+)/(?:[^/]+[.]log|messages|syslog)\Z")
_LOOKED_AT_BYTES = 1024 * 1024  # of a file: profiles have some kB, lists of blocked names are others' work
_LINE = 250  # openvpn reads a longer line as two
_DNSMASQ_CODE = re.compile(
    r"\s*(dhcp-script|dhcp-luascript|conf-script|conf-file|conf-dir|log-facility|pid-file|dhcp-leasefile|dumpfile|user"
    r"|group|tftp-root)\b"
)
# What a profile may hold: nothing of it starts a program, loads a library, writes a file or reads another profile.
_OVPN = (
    " allow-compression allow-pull-fqdn allow-recursive-routing auth auth-nocache auth-retry block-ipv6"
    " block-outside-dns bind cipher client client-to-client comp-lzo comp-noadapt compress connect-retry"
    " connect-retry-max connect-timeout data-ciphers data-ciphers-fallback dev dev-type dhcp-option disable-dco"
    " disable-occ duplicate-cn ecdh-curve explicit-exit-notify fast-io float fragment hand-window ifconfig"
    " ifconfig-ipv6 ifconfig-nowarn inactive keepalive key-direction link-mtu local lport mark max-clients max-routes"
    " mode mssfix mtu-disc mtu-test multihome mute mute-replay-warnings ncp-ciphers ncp-disable nobind passtos"
    " persist-key persist-local-ip persist-remote-ip persist-tun ping ping-exit ping-restart ping-timer-rem port proto"
    " proto-force pull pull-filter push push-peer-info rcvbuf redirect-gateway register-dns remap-usr1 remote"
    " remote-cert-eku remote-cert-ku remote-cert-tls remote-random remote-random-hostname reneg-bytes reneg-pkts"
    " reneg-sec replay-window resolv-retry route route-delay route-gateway route-ipv6 route-ipv6-gateway route-metric"
    " route-nopull rport server server-ipv6 server-poll-timeout shaper sndbuf socket-flags tls-cert-profile tls-cipher"
    " tls-ciphersuites tls-client tls-exit tls-groups tls-server tls-timeout tls-version-max tls-version-min topology"
    " tran-window tun-ipv6 tun-mtu tun-mtu-extra txqueuelen verb verify-client-cert verify-hash verify-x509-name "
)
# These name files: of the folder of profiles only, or what stands in the profile itself.
_OVPN_FILES = " auth-user-pass ca cert crl-verify dh extra-certs key pkcs12 secret tls-auth tls-crypt tls-crypt-v2 "
_OVPN_FOLDER = "/etc/openvpn"

# kind: what the value must be, for messages
WORDS = {
    "qos": "one of the scripts *.qos that are installed in %s" % _QOS,
    "certificates": "a file or folder that exists under /etc/ssl",
    "update_url": "a web address (http or https) with letters, digits, . _ - ~ : / ? = & % + , @ and the words "
    "[USERNAME] [PASSWORD] [PARAMENC] [PARAMOPT] [DOMAIN] [IP], the host written out",
    "mnt": "a folder under /mnt, without .. and without a link that leads out",
    "data": "a folder under /mnt, or what is called aria2, downloads, minidlna, nlbwmon or transmission in /tmp or "
    "/var/lib, without .. and without a link that leads out",
    "media": "a folder under /mnt, with A, V or P and a comma before it for one kind of media",
    "hosts": "a file or folder that exists, belongs to root and nobody else can write, with lines of an address and "
    "names, that is /etc/hosts*, /tmp/hosts, called hosts or *.hosts, or in /etc/oasis-hosts or a folder called hosts",
    "confdir": "a folder /etc/dnsmasq* or /tmp/dnsmasq* that exists, belongs to root, that nobody else can write, and "
    "whose files are settings of dnsmasq that run no code",
    "log": "a file in /tmp, /tmp/log, /var/log or under /mnt that is called *.log, messages or syslog",
    "ovpn": "a file %s/NAME.ovpn that the owner put there and that runs no code" % _OVPN_FOLDER,
    "pem": "a file in /etc/ssl/oasis or /etc/openvpn that the owner put there and that holds certificates in PEM form",
    "pemkey": "a file in /etc/ssl/oasis or /etc/openvpn that the owner put there and that holds one private key in PEM "
    "form, without a passphrase",
    "plain": "",
}


def numbered(data: bytes) -> list[tuple[int, str]]:
    """Return the numbered lines of a file."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return list(enumerate(text.split("\n"), 1))


def hosts_error(lines: list[tuple[int, str]]) -> str:
    """Return which numbered line of a list of hosts is no address with names, "" for none."""
    for number, line in lines:
        words = line.split("#")[0].split()
        is_one = not words or (address_text.number(words[0]) and words[1:] and all(map(_HOST.match, words[1:])))
        if number == 0 or not is_one:
            return "line %d: %s" % (number, line.strip()[:80]) if number else "it has " + line
    return ""


def _blocks(data: bytes) -> list[str] | None:
    """Return the titles of the blocks of a PEM file, None where there is more than that in it."""
    text = data.decode("ascii", "replace").replace("\r", "")
    found = _PEM.findall(text)
    for _, body in found:
        try:
            raw = binascii.a2b_base64(re.sub(r"\s", "", body).encode("ascii"))
        except ValueError:
            return None
        if raw[:1] != b"\x30":  # every structure in DER begins so
            return None
    return [title for title, _ in found]


def certificate_error(data: bytes) -> str:
    """Return why a file is none of certificates, "" when it is."""
    titles = _blocks(data)
    if titles and b"PRIVATE KEY" in data:
        return "it holds a private key; bring that on its own, as kind key"
    is_one = bool(titles) and set(titles or ()) <= {"CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CRL"}
    return "" if is_one else "it has no certificate in PEM form"


def key_error(data: bytes) -> str:
    """Return why a file is none of one private key, "" when it is."""
    if b"ENCRYPTED" in data:
        return "it asks for a passphrase, which nobody enters on a router"
    titles = _blocks(data)
    is_one = titles in (["PRIVATE KEY"], ["RSA PRIVATE KEY"], ["EC PRIVATE KEY"], ["EC PARAMETERS", "EC PRIVATE KEY"])
    return "" if is_one else "it has no single private key in PEM form"


class Bounds:
    """The bounds as they are on one router."""

    def __init__(self, root: Root, files: Files) -> None:
        self._root, self._files = root, files
        self._is_awaited = False

    def error(self, entry: Entry, value: str) -> str:
        """Return why a value is not within the bound of its option, "" when it is."""
        kind = entry["bound"]
        wrong = validators.of_entry({**entry, "generated": ""}, value)  # the bound is narrower than one word
        if wrong or kind == "plain":
            return wrong
        # what is not there yet may come with the package of the option, or with one that it needs
        self._is_awaited = kind in ("qos", "certificates") and entry.get("awaited", False)
        found: bool | str = getattr(self, "_" + kind)(value)
        if isinstance(found, str):
            return found and "must be %s: %s" % (WORDS[kind], found)
        return "" if found else "must be " + WORDS[kind]

    def allows(self, entry: Entry | None, value: object) -> bool:
        """Return whether an option has a bound and its value, a text, texts or None, is within."""
        if entry is None or "bound" not in entry:
            return False
        if isinstance(value, str):
            value = value.split() if entry.get("list") else [value]
        return not any(self.error(entry, str(one)) for one in (value if isinstance(value, list) else []))

    def told(self, entry: Entry, value: object) -> str:
        """Return what the owner reads of a value within its bound, behind the name of its option."""
        url = _URL.match(str(value))
        if entry.get("bound") == "update_url" and url:
            is_open = "" if url[1] == "https" else ", not encrypted"
            return "sends the account's user name and password to %s://%s%s" % (url[1], url[2], is_open)
        what = WORDS[entry["bound"]]
        return "names %s" % what if what else "is yours to set, and within bounds"

    def _qos(self, value: str) -> bool:
        path = self._inside("%s/%s" % (_QOS, value), [_QOS])
        return "/" not in value and value.endswith(".qos") and self._is_owners(path, stat.S_ISREG)

    def _certificates(self, value: str) -> bool:
        return self._is_owners(self._inside(value, ["/etc/ssl"]), lambda mode: stat.S_ISREG(mode) or stat.S_ISDIR(mode))

    def _update_url(self, value: str) -> bool:
        found = _URL.match(value)
        host = found[2] if found else ""
        is_host = address_text.is_host(host) or (host.startswith("[") and address_text.is_ip6(host[1:-1]))
        return is_host and (found is None or not found[3] or address_text.is_port(found[3]))

    def _mnt(self, value: str) -> bool:
        return bool(self._inside(value, ["/mnt"]))

    def _data(self, value: str) -> bool:
        return bool(_DATA.match(value)) and bool(self._inside(value, ["/mnt", "/tmp", "/var/lib"], True))  # noqa: S108

    def _media(self, value: str) -> bool:
        return self._mnt(re.sub(r"\A[AVP]{1,3},", "", value))

    def _hosts(self, value: str) -> str | bool:
        path = self._anywhere(value)
        if not _HOSTS.match(value):
            return False
        is_folder = self._is_owners(path, stat.S_ISDIR)
        for name in self._files.names(path) if is_folder else [""]:
            inner = path + "/" + name if name else path
            if not self._is_owners(inner, stat.S_ISREG):
                return "%s is not such a file" % (name or "it")
            wrong = hosts_error(self._lines(inner))
            if wrong:
                return "%s, %s" % (name or "it", wrong) if name else wrong
        return True

    def _confdir(self, value: str) -> str | bool:
        path = self._anywhere(value)
        if not _CONFDIR.match(value) or not self._is_owners(path, stat.S_ISDIR):
            return False
        for name in self._files.names(path):
            inner = path + "/" + name
            if not self._is_owners(inner, stat.S_ISREG):
                return "%s in it is not such a file" % name
            for number, line in self._lines(inner):
                if number == 0 or _DNSMASQ_CODE.match(line) or not _SETTING.match(line):
                    return "%s, line %d: %s" % (name, number, line.strip()[:80])
        return True

    def _pem(self, value: str) -> str | bool:
        return self._in_pem(value, certificate_error)

    def _pemkey(self, value: str) -> str | bool:
        return self._in_pem(value, key_error)

    def _in_pem(self, value: str, wrong: Callable[[bytes], str]) -> str | bool:
        path = self._inside(value, _PEM_PLACES)
        is_there = self._is_owners(path, stat.S_ISREG) and self._files.size(path) <= _LOOKED_AT_BYTES
        return is_there and (wrong(self._files.read(path) or b"") or True)

    def _log(self, value: str) -> bool:
        places = ["/tmp", "/var/log", "/mnt"]  # noqa: S108 - where logs belong
        path = self._inside(value, places, True)
        return bool(_LOG.match(value)) and bool(path) and (not os.path.lexists(path) or os.path.isfile(path))

    def _ovpn(self, value: str) -> str:
        path = self._inside(value, [_OVPN_FOLDER])
        if not value.endswith(".ovpn") or value.count("/") != 3 or not self._is_owners(path, stat.S_ISREG):
            return "there is none that belongs to root and that nobody else can write"
        return self.profile_error(self._lines(path))

    def profile_error(self, lines: list[tuple[int, str]]) -> str:
        """Return which numbered line of an OpenVPN profile runs code or names a file elsewhere, "" for none."""
        inline = ""
        number = 0
        for number, line in lines:
            words = line.split()
            if number == 0 or len(line.encode("utf-8", "surrogateescape")) > _LINE:
                return "line %d is too long to be read" % number
            if inline:
                inline = "" if line.lstrip().startswith("</%s>" % inline) else inline
            elif not words or words[0][0] in "#;" or words in (["<connection>"], ["</connection>"]):
                continue
            elif words[0].startswith("<"):
                inline = words[0][1:-1]
                if len(words) > 1 or not words[0].endswith(">") or " %s " % inline not in _OVPN_FILES:
                    return "line %d: %s" % (number, line.strip()[:80])
            elif not self._is_ovpn(words):
                return "line %d: %s" % (number, line.strip()[:80])
        return "line %d: <%s> has no end" % (number, inline) if inline else ""

    def _is_ovpn(self, words: list[str]) -> bool:
        name = words[0][2:] if words[0].startswith("--") else words[0]
        if name == "setenv" and words[1:2] == ["opt"] and len(words) > 2:
            return self._is_ovpn(words[2:])
        if name == "setenv":
            return bool(words[1:]) and re.match(r"(?:UV_[A-Z0-9_]+|FRIENDLY_NAME|CLIENT_CERT)\Z", words[1]) is not None
        if " %s " % name in _OVPN_FILES:
            given = words[1] if len(words) > 1 else ""
            path = given if given.startswith("/") else _OVPN_FOLDER + "/" + given
            is_there = self._is_owners(self._inside(path, [_OVPN_FOLDER]), stat.S_ISREG)
            return given == "[inline]" or is_there or (not given and name == "auth-user-pass")
        return " %s " % name in _OVPN

    def _lines(self, path: str) -> list[tuple[int, str]]:
        """Return the numbered lines of a file; line 0 alone for one that is too long to be looked at."""
        if self._files.size(path) > _LOOKED_AT_BYTES:
            return [(0, "more than %d bytes" % _LOOKED_AT_BYTES)]
        return numbered(self._files.read(path) or b"")

    def _inside(self, value: str, folders: list[str], is_between: bool = False) -> str:
        """Return the real path of a plain path below one of some folders, "" for any other.

        `is_between`: a link may lead from one of them to another, as /var/log does to /tmp/log.
        """
        bases = {folder: os.path.realpath(self._root.path(folder)) + "/" for folder in folders}
        for folder, base in bases.items():
            if value.startswith(folder + "/") and _PATH.match(value):
                real = os.path.realpath(self._root.path(value))
                return real if real.startswith(tuple(bases.values()) if is_between else base) else ""
        return ""

    def _anywhere(self, value: str) -> str:
        """Return the real path of a plain path that is not of Oasis itself, whose files hold texts of models."""
        top = os.path.realpath(self._root.folder).rstrip("/")
        real = os.path.realpath(self._root.path(value)) if _PATH.match(value) else ""
        own = [os.path.realpath(path) for path in (self._root.state_folder, self._root.run_folder)]
        is_own = any((real + "/").startswith(path + "/") for path in own)
        return "" if is_own or not real.startswith(top + "/") else real

    def _is_owners(self, path: str, is_kind: Callable[[int], bool]) -> bool:
        """Return whether a real path is there, of a kind, and nobody but root can change it or put another there."""
        top = os.path.realpath(self._root.folder)
        first = True
        while path and (first or (path != top and path != "/")):
            try:
                found = os.lstat(path)
            except OSError:
                return self._is_awaited
            is_sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX and not first
            if found.st_uid not in (0, os.geteuid()) or (found.st_mode & 0o022 and not is_sticky):
                return False
            if first and not is_kind(found.st_mode):
                return False
            path, first = os.path.dirname(path), False
        return not first
