"""Files that the owner brings to where packages expect them: profiles of OpenVPN, certificates, keys, lists of hosts.

Each is checked for what it claims to be, put in place whole or not at all, and never over another one unasked. A
profile that runs code or names files elsewhere is refused with its line (catalogue/bounds.py): the owner who wants that
puts it there by hand. A list of hosts is for all to read, as dnsmasq is not root when it reads it again.
"""

from __future__ import annotations

import os
import re

from oasis.catalogue.bounds import Bounds, certificate_error, hosts_error, key_error, numbered
from oasis.core import clean
from oasis.errors import ToolError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.api.parts import Services

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}\Z")
_FILE_BYTES = 1024 * 1024
# Left free on flash whatever comes: settings, chats and what recovery needs.
SPARE_BYTES = 512 * 1024


class Uploaded:
    """Puts uploads in their places, on one router."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        # kind: (folder, ending, mode, check, how it is put to use)
        self._kinds: dict[str, tuple[str, str, int, Callable[[bytes], str], str]] = {
            "ovpn": ("/etc/openvpn", ".ovpn", 0o600, self._profile_error, "openvpn.NAME.config of a section openvpn"),
            "certificate": ("/etc/ssl/oasis", ".pem", 0o644, certificate_error, "certificates, like openvpn.NAME.ca"),
            "key": ("/etc/ssl/oasis", ".key", 0o600, key_error, "private keys, like openvpn.NAME.key"),
            "hosts": ("/etc/oasis-hosts", "", 0o644, _hosts_error, "addnhosts of dhcp.@dnsmasq[0]"),
        }  # fmt: skip

    def file_place(self, upload: str, kind: str, name: str = "", replace: bool = False) -> dict[str, object]:
        """Put an upload in its place. Shape: {"file", "size_bytes", "use": where its path goes}.

        Raises: UsageError for what it is not, ToolError where the flash has no room, StoreError.
        """
        if kind not in self._kinds:
            raise UsageError("unknown kind %r" % kind[:40], "one of " + ", ".join(self._kinds))
        uploads, files = self._kit.conversations().uploads, self._kit.files
        given, data = uploads.read(upload)
        uploads.drop([upload])  # also what is refused: it may be a key
        folder, ending, mode, check, use = self._kinds[kind]
        name = name or given.rpartition(".")[0] or given
        if not _NAME.match(name):
            raise UsageError("%r cannot be its name" % clean.line(name)[:80], "letters, digits, - and _: --name NAME")
        if len(data) > _FILE_BYTES:
            raise UsageError("the file has more than %d bytes" % _FILE_BYTES, "nothing of this kind is that large")
        wrong = check(data)
        if wrong:
            raise UsageError("that is no %s for this router: %s" % (kind, clean.line(wrong)[:200]))
        place = "%s/%s%s" % (folder, name, ending)
        path = self._kit.root.path(place)
        if files.size(path) and not replace:
            raise UsageError("%s is there already" % place, "take another name, or replace it: --replace")
        files.folder(self._kit.root.path(folder))
        if self._kit.free_bytes(self._kit.root.path(folder)) < len(data) + SPARE_BYTES:
            raise ToolError("the flash has no room for %d kB" % (len(data) + 1023 >> 10), "remove something first")
        files.replace(path, data, mode)
        if kind == "hosts":
            os.chmod(self._kit.root.path(folder), 0o755)  # noqa: S103 - for dnsmasq to read
        return {"file": place, "size_bytes": len(data), "use": use}

    def _profile_error(self, data: bytes) -> str:
        if b"\0" in data:
            return "it is no text"
        lines = numbered(data)
        first = [words[0] for _, line in lines if (words := line.split())]
        if not {"remote", "client", "dev", "<connection>"} & set(first):
            return "it names no server and no device"
        return Bounds(self._kit.root, self._kit.files).profile_error(lines)


def _hosts_error(data: bytes) -> str:
    lines = numbered(data)
    is_empty = not any(line.split("#")[0].split() for _, line in lines)
    return "it has no line with an address and a name" if is_empty else hosts_error(lines)


def gather(kit: Services) -> Uploaded:
    return Uploaded(kit)
