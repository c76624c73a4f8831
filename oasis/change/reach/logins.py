"""Who can log in by SSH: passwords, and the keys that dropbear reads of /etc/dropbear/authorized_keys.

Pure: a section and the text of the file in. Source: dropbear, svr-authpubkey.c and signkey.c; OpenWrt's build of it,
which leaves out ECDSA and security keys unless somebody adds them.
"""

from __future__ import annotations

import base64
import binascii

from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Facts, Table

PASSWORDS = ("PasswordAuth", "RootPasswordAuth", "RootLogin")
FILE = "/etc/dropbear/authorized_keys"
_READ = ("ssh-ed25519", "ssh-rsa")
# Read by some builds only.
_PERHAPS = (
    "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)  # fmt: skip
_LONGEST = 4200  # MAX_AUTHKEYS_LINE: what is longer is passed over
_LEAST_BYTES = {"ssh-ed25519": 51, "ssh-rsa": 140}  # the whole key; RSA of 1024 bits, below that it is refused


def takes_password(section: Table) -> bool:
    """Return whether root can log in with a password."""
    return all(sections.flag(section, option, True) for option in PASSWORDS)


def keys(text: bytes | None) -> str:
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
    held = keys(facts["keys"]) if "keys" in facts else ""
    if held == "no":
        return "no", what + ": nobody can log in by SSH then, for %s holds no key that dropbear reads" % FILE
    if held == "unknown":
        return "cannot_tell", what + ": %s holds only keys that dropbear may not read or not give a shell" % FILE
    return "cannot_tell", what + ": whether you hold a key is not known"
