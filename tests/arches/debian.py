"""What Debian brings for other machines: packages of any architecture and sources, fetched by apt into a folder.

Nothing is installed on this host and nothing of its apt is changed: each kind has lists and an archive of its own.
What is unpacked is not configured; a Python runs without that. Knows nothing of tests.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess

MIRROR = "http://deb.debian.org/debian"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Without these nothing of Debian can be fetched.
PROGRAMS = ("apt-get", "dpkg-deb")


class Absent(Exception):
    """Something that cannot be had on this host, in one line."""


def run(argv: list[str], log: str, what: str, cwd: str | None = None, env: dict[str, str] | None = None) -> None:
    """Run a command with its output in a file. Raises: Absent with the last line of it."""
    with open(log, "ab") as out:
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=cwd, env=env, check=False)
        except FileNotFoundError:
            raise Absent(f"{what}: there is no {argv[0]}") from None
    if done.returncode:
        with open(log, encoding="utf-8", errors="replace") as file:
            last = [line.strip() for line in file if line.strip()][-1:]
        raise Absent(f"{what}: {last[0] if last else argv[0]} (all of it: {log})")


class Archive:
    """Debian's packages of one suite and architecture, in `folder`."""

    def __init__(self, folder: str, suite: str, architecture: str) -> None:
        missing = [name for name in PROGRAMS if not shutil.which(name)]
        if missing or not os.path.exists(KEYS):
            raise Absent("no " + (missing[0] if missing else KEYS) + ": packages of Debian are fetched by its own apt")
        self.folder = os.path.join(folder, f"apt-{suite}-{architecture}")
        self._log = self.folder + ".txt"
        for name in ("lists/partial", "archives/partial"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        with open(self.folder + "/sources.list", "w", encoding="ascii") as file:
            file.writelines(f"{kind} [signed-by={KEYS}] {MIRROR} {suite} main\n" for kind in ("deb", "deb-src"))
        with open(self.folder + "/status", "w", encoding="ascii"):
            pass  # as where nothing is installed: whatever is needed is fetched
        settings = {
            "APT::Architecture": architecture,
            "APT::Architectures::": architecture,
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root",  # the folder may lie where no other user looks
            "Dir::State": self.folder,
            "Dir::State::status": self.folder + "/status",
            "Dir::Cache": self.folder,
            "Dir::Etc::sourcelist": self.folder + "/sources.list",
            "Dir::Etc::sourceparts": "-",
            "Debug::NoLocking": "true",
        }
        self._apt = ["apt-get", "-q", "-y", *(word for key in settings for word in ("-o", f"{key}={settings[key]}"))]
        self._is_fresh = False

    def _get(self, what: str, *words: str) -> None:
        if not self._is_fresh:
            run([*self._apt, "update"], self._log, what)
            self._is_fresh = True
        run([*self._apt, *words], self._log, what, cwd=self.folder)

    def unpack(self, target: str, *packages: str) -> None:
        """Unpack packages, with all that they depend on, below `target`. Raises: Absent."""
        self._get(f"{packages[0]} of Debian", "install", "--download-only", *packages)
        for path in sorted(glob.glob(self.folder + "/archives/*.deb")):
            run(["dpkg-deb", "-x", path, target], self._log, os.path.basename(path))

    def unpack_alone(self, target: str, *packages: str) -> None:
        """Unpack packages without what they depend on below `target`. Raises: Absent."""
        self._get(f"{packages[0]} of Debian", "download", *packages)
        for name in packages:
            (path,) = glob.glob(f"{self.folder}/{name}_*.deb")
            run(["dpkg-deb", "-x", path, target], self._log, os.path.basename(path))

    def source(self, target: str, *packages: str) -> dict[str, str]:
        """Unpack upstream's sources below `target`; return {package: its folder}. Raises: Absent."""
        self._get(f"the sources of {packages[0]}", "source", "--download-only", *packages)
        found = {}
        for name in packages:
            found_here = glob.glob(f"{self.folder}/{name}_*.orig.tar.*z*")
            (path,) = (one for one in found_here if not one.endswith(".asc"))  # a signature
            place = os.path.join(target, name)
            os.makedirs(place)
            run(["tar", "-xf", path, "-C", place, "--strip-components=1"], self._log, path)
            found[name] = place
        return found
