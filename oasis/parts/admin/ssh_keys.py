"""The keys that may log in by SSH: dropbear's authorized_keys, listed, added to and removed from, with a way back.

Whoever has such a key is root, so no setting lets a change through: the tool is of class danger, each call waits for
the owner on a card of its own. Nobody but the owner at the router, or a model that they talk with, may propose one.
The file is replaced whole; the one before it is kept, and `undo` swaps the two. The last key stays while no
password would let the owner in.

Source: dropbear(8) for the file; RFC 4253, 6.6, for a key's form; RFC 4648 without padding for OpenSSH's fingerprints.
"""

from __future__ import annotations

import binascii

from oasis.catalogue import validators
from oasis.core import clean
from oasis.errors import PolicyError, ToolError, UsageError
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services
    from oasis.parts.admin.shapes import SshKey
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch
    from oasis.tools.shapes import Arguments, Result

PATH = "/etc/dropbear/authorized_keys"
LABEL = "comments of SSH keys"
# Of a line: RSA with 16384 bits has 2.8 kB. Of the file: dropbear reads it at each login.
_LINE_CHARS, _FILE_BYTES = 8 * 1024, 64 * 1024
_COMMENT_CHARS = 100
RSA_BITS = 2048  # the least of NIST SP 800-131A
_KINDS = (
    "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
)  # fmt: skip


class SshKeys:
    """The authorized keys of one router."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._path = kit.root.path(PATH)
        self._before = kit.root.state_folder + "/authorized_keys.before"
        self.source = self

    def ssh_keys_list(self) -> dict[str, object]:
        """Return the keys. Shape: {"keys": [SshKey], "password_login": bool}."""
        keys = [key for key in map(read_line, self._lines()) if key]
        return {"keys": keys, "password_login": self._has_password_login()}

    def preview(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> list[str]:
        """Return what a change would do, in words for its card."""
        return self._changed(arguments, operator)[1]

    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result:
        """Call the tool."""
        if arguments["action"] == "list":
            found = self.ssh_keys_list()
            return {**found, **({"untrusted": [LABEL]} if found["keys"] else {})}
        lines, words = self._changed(arguments, operator)
        files = self._kit.files
        files.folder(self._path.rpartition("/")[0])
        files.replace(self._before, files.read(self._path) or b"")
        files.replace(self._path, "".join(line + "\n" for line in lines).encode("utf-8"))
        return {"status": "done", "words": words, "notes": ["the action undo takes it back"]}

    def _changed(self, arguments: Arguments, operator: Operator) -> tuple[list[str], list[str]]:
        """Return the lines of the file after a change, and what the change is, in words.

        Raises: UsageError, PolicyError and ToolError for what cannot be.
        """
        if operator.role != "owner":
            raise PolicyError("SSH keys are changed by the owner at the router", "ask them to do it there")
        action, given = str(arguments["action"]), str(arguments.get("key") or "").strip()
        lines = self._lines()
        if action == "add":
            new = read_added(given)
            if any(key and key["fingerprint"] == new["fingerprint"] for key in map(read_line, lines)):
                raise UsageError("this key is there already: %s" % new["fingerprint"])
            line = " ".join(filter(None, [*given.split()[:2], new["comment"]]))
            if sum(map(len, lines)) + len(line) > _FILE_BYTES:
                raise UsageError("there are too many keys", "remove some first")
            return [*lines, line], ["adds the SSH key %s" % _told(new), "whoever has its private part logs in as root"]
        if action == "remove":
            gone = self._meant(lines, given)
            left = [line for line in lines if line != gone]
            words = ["removes the SSH key %s" % _told(read_line(gone))]
        elif action == "undo":
            before = self._kit.files.read(self._before)
            if before is None:
                raise ToolError("no change of the SSH keys is known", "there is nothing to undo")
            left = _split(before)
            back = [read_line(line) for line in left if line not in lines]
            lost = [read_line(line) for line in lines if line not in left]
            words = ["brings back the SSH key %s" % _told(key) for key in back if key]
            words += ["removes the SSH key %s" % _told(key) for key in lost if key]
        else:
            raise UsageError("unknown action %r" % action[:40], "list, add, remove or undo")
        count = sum(1 for line in left if read_line(line))
        if not count and not self._has_password_login():
            why = "login by password is off, and no key would be left: nobody could log in by SSH"
            raise PolicyError(why, "add another key first, or allow passwords")
        return left, [*words, "%d keys are left" % count]

    def _meant(self, lines: list[str], given: str) -> str:
        """Return the line of the key that a fingerprint or a comment names. Raises: UsageError."""
        known = [(line, key) for line in lines for key in [read_line(line)] if key]
        found = [line for line, key in known if given and given in (key["fingerprint"], key["comment"], line)]
        if len(found) != 1:
            why = "%d keys are" % len(found) if found else "no key is"
            raise UsageError("%s called %r" % (why, clean.line(given)[:80]), "give its fingerprint, as list shows it")
        return found[0]

    def _lines(self) -> list[str]:
        return _split(self._kit.files.read(self._path) or b"")

    def _has_password_login(self) -> bool:
        """Tell whether dropbear lets root in by a password; without sections it runs with its defaults."""
        sections = self._kit.facts.sections("dropbear", "dropbear")
        names = ("enable", "PasswordAuth", "RootPasswordAuth", "RootLogin")
        off = [any(validators.truth(str(one.get(name, "1"))) is False for name in names) for one in sections]
        return not all(off) or not off


def read_added(text: str) -> SshKey:
    """Return a key that somebody gives. Raises: UsageError for what is none, or more than one."""
    if "PRIVATE KEY" in text:
        raise UsageError(
            "that is a private key, which nobody should get", "give the public one, of the file that ends in .pub"
        )
    if "\n" in text.strip():
        raise UsageError("that is more than one line", "one key at a time")
    key = read_line(text) if len(text) <= _LINE_CHARS else None
    if not key or key.get("has_options"):
        hint = "a line like: ssh-ed25519 AAAA… name. Options before a key are written by hand"
        raise UsageError("that is no public key of SSH", hint)
    bits = _rsa_bits(text) if key["kind"] == "ssh-rsa" else 0
    if bits and bits < RSA_BITS:
        raise UsageError("this RSA key has %d bits, which can be broken" % bits, "make one: ssh-keygen -t ed25519")
    return key


def _rsa_bits(text: str) -> int:
    """Return how long the modulus of an RSA key is: the kind, the exponent and the modulus, each behind its length."""
    words = text.split()
    left = binascii.a2b_base64(words[words.index("ssh-rsa") + 1].encode("ascii"))
    for _ in range(2):
        left = left[4 + int.from_bytes(left[:4], "big") :]
    return int.from_bytes(left[4 : 4 + int.from_bytes(left[:4], "big")], "big").bit_length()


def read_line(line: str) -> SshKey | None:
    """Return the key of a line, None where it has none."""
    if line.lstrip().startswith("#"):
        return None
    words = line.split()
    at = next((place for place, word in enumerate(words) if word in _KINDS), -1)
    if at < 0 or at + 1 >= len(words):
        return None
    try:
        blob = binascii.a2b_base64(words[at + 1].encode("ascii"))
    except (ValueError, UnicodeError):
        return None
    kind = words[at].encode()
    if not blob.startswith(len(kind).to_bytes(4, "big") + kind) or len(blob) < len(kind) + 36:
        return None
    digest = binascii.b2a_base64(bytes.fromhex(sha256(blob)), newline=False).decode().rstrip("=")
    key: SshKey = {
        "kind": words[at], "fingerprint": "SHA256:" + digest,
        "comment": clean.name(clean.line(" ".join(words[at + 2 :])), _COMMENT_CHARS),
    }  # fmt: skip
    return {**key, "has_options": True} if at else key


def _told(key: SshKey | None) -> str:
    return " ".join(filter(None, [key["kind"], key["fingerprint"], key["comment"]])) if key else ""


def _split(data: bytes) -> list[str]:
    return [line for line in data.decode("utf-8", "replace").split("\n") if line.strip()]


def gather(kit: Services) -> SshKeys:
    return SshKeys(kit)
