"""The machines: how each is set up below a folder, once, and how a command runs on it.

What is set up is made under another name and renamed when it is whole, so that no half of it is ever used.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from tests.arches.debian import Absent, Archive, run

BINFMT = "/proc/sys/fs/binfmt_misc"
ENVIRONMENT = {"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
# What a router has too, and the tests call; tzdata for `time`, openssl for certificates.
PROGRAMS = ("busybox", "openssl", "tzdata")
FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
}
# What an ELF file of a machine begins with and which bits of that count, for binfmt_misc.
MAGIC = {
    "mipsel": (b"\x7fELF\1\1\1" + bytes(9) + b"\2\0\x08\0", b"\xff" * 7 + bytes(9) + b"\xfe\xff\xff\xff"),
    "s390x": (b"\x7fELF\2\2\1" + bytes(9) + b"\0\2\0\x16", b"\xff" * 7 + bytes(9) + b"\xff\xfe\xff\xff"),
}
_ENTER = """
mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs -o mode=1777 tmpfs "$1/tmp" || exit 125
root=$1
shift
exec chroot "$root" "$@"
"""
# The arguments that would bring headers and libraries of this host's own C library. Debian's compiler names its triplet
# after that one, too, which `configure` of Python takes for a mistake.
_COMPILER = """#!/bin/sh
for word; do
	shift
	case $word in
	--print-multiarch) exec echo x86_64-linux-musl ;;
	-I/usr/include* | -L/usr/lib*) ;;
	*) set -- "$@" "$word" ;;
	esac
done
exec gcc "$@" -isystem '%(place)s/kernel' -specs '%(place)s/musl.specs'
"""


class Machine:
    """`name`, `python` (its version), `slower` (how many times, about), `tree` (the checkout, as it sees it)."""

    def __init__(self, name: str, work: str, python: str = "3.11", slower: int = 1) -> None:
        self.name = name
        self.python = python
        self.slower = slower
        self.folder = os.path.join(work, name)
        self.tree = "/oasis"
        self.root = self.folder + "/root"
        self._work = work

    def set_up(self) -> None:
        """Make what is not there yet. Raises: Absent."""
        if os.path.exists(self.root):
            return
        os.makedirs(self.folder, exist_ok=True)
        new = self.folder + "/new"
        shutil.rmtree(new, ignore_errors=True)
        os.makedirs(new)
        self._make(new)
        os.rename(new, self.root)

    def _make(self, new: str) -> None:
        raise NotImplementedError

    def bring(self, name: str, sources: dict[str, str]) -> None:
        """Put files, as {path: where it is here}, in place of what the machine has below /`name`."""
        target = os.path.join(self.root, name)
        shutil.rmtree(target, ignore_errors=True)
        for path, source in sources.items():
            os.makedirs(os.path.dirname(os.path.join(target, path)), exist_ok=True)
            shutil.copy2(source, os.path.join(target, path), follow_symlinks=False)

    def place(self, name: str) -> str:
        """Return how the machine calls a folder that was brought."""
        return "/" + name

    def start(self) -> None:
        """Get ready for commands. Raises: Absent."""

    def stop(self) -> None:
        """Take back what start() did to this host."""

    def command(self, words: list[str]) -> list[str]:
        """Return the argv that runs the machine's Python, with `words`."""
        raise NotImplementedError


class Chroot(Machine):
    """Another Debian in a folder; where its name is a processor, that one is emulated by qemu's user mode."""

    def __init__(self, name: str, work: str, suite: str, python: str, slower: int = 1) -> None:
        super().__init__(name, work, python, slower)
        self._suite = suite
        self._architecture = name if name in MAGIC else "amd64"
        self._emulator = f"{work}/emulators/usr/bin/qemu-{name}-static" if name in MAGIC else ""

    def set_up(self) -> None:
        if os.getuid():
            raise Absent("it is run in a root of its own: run this as root")
        for program in ("unshare", "chroot", "mount"):
            if not shutil.which(program):
                raise Absent(f"there is no {program}")
        if self._emulator and not os.path.exists(self._emulator):
            archive = Archive(self._work, "bookworm", "amd64")
            archive.unpack_alone(f"{self._work}/emulators", "qemu-user-static")
        super().set_up()

    def _make(self, new: str) -> None:
        Archive(self._work, self._suite, self._architecture).unpack(new, "python" + self.python, *PROGRAMS)
        for name in ("bin", "sbin", "lib", "lib64"):  # newer packages hold /usr alone
            if os.path.isdir(f"{new}/usr/{name}") and not os.path.lexists(f"{new}/{name}"):
                os.symlink("usr/" + name, f"{new}/{name}")
        for name in ("proc", "dev", "sys", "tmp", "root", "run", "bin", "usr/bin", "etc"):
            os.makedirs(f"{new}/{name}", exist_ok=True)
        for path, text in FILES.items():
            with open(f"{new}/{path}", "w", encoding="ascii") as file:
                file.write(text)
        if os.path.lexists(new + "/usr/bin/python3"):
            os.remove(new + "/usr/bin/python3")
        os.symlink("python" + self.python, new + "/usr/bin/python3")
        busybox = "usr/bin/busybox" if os.path.exists(new + "/usr/bin/busybox") else "bin/busybox"
        self.start()
        try:
            argv = self._enter(new, ["/" + busybox, "--list"])
            listed = subprocess.run(argv, capture_output=True, text=True, check=False)
        finally:
            self.stop()
        if listed.returncode:
            raise Absent(f"{self.name} does not run here: {listed.stderr.strip()[-200:]}")
        for name in listed.stdout.split():
            if not any(os.path.lexists(f"{new}/{folder}/{name}") for folder in ("bin", "usr/bin", "usr/sbin", "sbin")):
                os.symlink("/" + busybox, f"{new}/bin/{name}")

    def start(self) -> None:
        """Tell the kernel by what the machine's programs are run. Raises: Absent."""
        if not self._emulator:
            return
        self.stop()  # of a run that was killed
        if not os.path.exists(BINFMT + "/register"):
            done = subprocess.run(["mount", "-t", "binfmt_misc", "none", BINFMT], capture_output=True, check=False)
            if done.returncode:
                raise Absent("no binfmt_misc here: the kernel does not let programs of other machines run")
        magic, mask = ("".join(f"\\x{byte:02x}" for byte in part) for part in MAGIC[self.name])
        try:
            with open(BINFMT + "/register", "w", encoding="ascii") as file:
                file.write(f":oasis-{self.name}:M::{magic}:{mask}:{self._emulator}:F")
        except OSError as error:
            raise Absent(f"binfmt_misc takes no emulator here: {error.strerror}") from None

    def stop(self) -> None:
        path = f"{BINFMT}/oasis-{self.name}"
        if os.path.exists(path):
            with open(path, "w", encoding="ascii") as file:
                file.write("-1")

    def _enter(self, root: str, words: list[str]) -> list[str]:
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _ENTER, "sh", root, *words]

    def command(self, words: list[str]) -> list[str]:
        return self._enter(self.root, ["/usr/bin/python3", *words])


class Musl(Machine):
    """This host's processor with musl, the C library of OpenWrt: a Python that is built with it, no root needed."""

    def __init__(self, work: str) -> None:
        super().__init__("musl", work)
        self.tree = self.root + "/oasis"

    def place(self, name: str) -> str:
        return f"{self.root}/{name}"

    def _make(self, new: str) -> None:
        for program in ("gcc", "make", "perl", "tar"):
            if not shutil.which(program):
                raise Absent(f"there is no {program}, which a Python for musl is built with")
        headers = {"linux": "linux", "asm-generic": "asm-generic", "asm": "x86_64-linux-gnu/asm"}
        if not all(os.path.exists("/usr/include/" + path) for path in headers.values()):
            raise Absent("no headers of the kernel for x86-64: apt-get install linux-libc-dev")
        kit, log = self.folder + "/kit", self.folder + "/build.txt"  # the Python finds musl in the kit later on
        shutil.rmtree(kit, ignore_errors=True)
        os.makedirs(kit + "/kernel")
        archive = Archive(self._work, "bookworm", "amd64")
        archive.unpack_alone(kit, "musl", "musl-dev", "musl-tools")
        for name, path in headers.items():
            os.symlink("/usr/include/" + path, f"{kit}/kernel/{name}")
        # One file is both; where /lib and /usr/lib are one folder, as on a Debian, it lies beside libc.a.
        shutil.copy2(kit + "/lib/x86_64-linux-musl/libc.so", kit + "/usr/lib/x86_64-linux-musl/libc.so")
        shutil.copy2(kit + "/lib/x86_64-linux-musl/libc.so", kit + "/ld-musl-x86_64.so.1")
        with open(kit + "/usr/lib/x86_64-linux-musl/musl-gcc.specs", encoding="ascii") as file:
            specs = file.read()
        for path in ("/usr/include/x86_64-linux-musl", "/usr/lib/x86_64-linux-musl"):
            specs = specs.replace(path, kit + path)
        with open(kit + "/musl.specs", "w", encoding="utf-8") as file:
            file.write(specs.replace("/lib/ld-musl", kit + "/ld-musl"))
        with open(kit + "/cc", "w", encoding="utf-8") as file:
            file.write(_COMPILER % {"place": kit})
        os.chmod(kit + "/cc", 0o755)
        sources = archive.source(kit + "/source", "zlib", "libffi", "openssl", "python3.11")
        flags = {"CC": kit + "/cc", "CFLAGS": "-O1 -g0 -fPIC", "MAKEFLAGS": f"-s -j{os.cpu_count() or 1}"}
        env = {**os.environ, "PKG_CONFIG": "false", **flags}
        own = f"--prefix={kit}/own"
        shared = [
            "--disable-shared",
            "--disable-docs",
            "--disable-multi-os-directory",
            f"--libdir={kit}/own/lib",
        ]
        paths = [f"CPPFLAGS=-I{kit}/own/include", f"LDFLAGS=-L{kit}/own/lib"]
        tls = [own, "--libdir=lib", "--openssldir=/etc/ssl", "no-shared", "no-module", "no-tests", "no-legacy"]
        slim = ["--prefix=/python", "--disable-test-modules", "--without-ensurepip", *paths]
        for name, words, goals in (
            ("zlib", ["./configure", "--static", own], ["install"]),
            ("libffi", ["./configure", "-q", own, *shared], ["install"]),
            ("openssl", ["perl", "Configure", "linux-x86_64", *tls], ["install_dev"]),
            (
                "python3.11",
                ["./configure", "-q", *slim, f"--with-openssl={kit}/own"],
                ["all", "install", "DESTDIR=" + new],
            ),
        ):
            what = f"building {name} with musl"
            run(words, log, what, sources[name], env)
            run(["make", *goals], log, what, sources[name], env)
        shutil.rmtree(kit + "/source")

    def command(self, words: list[str]) -> list[str]:
        return [self.root + "/python/bin/python3.11", *words]
