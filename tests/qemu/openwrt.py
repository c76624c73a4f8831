"""Official OpenWrt images: what an image is for, fetching and checking one, the machine that boots it.

An image is known by its name as OpenWrt gives it, else by its first bytes. A disk is booted from a copy, a kernel with
everything inside (initramfs) lives in memory. x86-64 is a PC whose disk boots itself; armsr is QEMU's `virt` and malta
its board of that name, both with a kernel (KERNEL= for the disks among them; a combined armsr image needs UEFI).
Source: OpenWrt's user guide for QEMU, target/linux/*/base-files/etc/board.d for the order of network cards.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import urllib.error
import urllib.request
import zlib

from tests.qemu import page
from tests.qemu.machine import Machine, accelerator
from tests.qemu.router import Failed, Router

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MANIFEST = os.path.join(REPOSITORY, "package", "manifest.json")
# A release with opkg: our .ipk files need nothing to be built. RELEASE= names another one.
RELEASE = os.environ.get("RELEASE", "24.10.4")
PLACE = "https://downloads.openwrt.org/releases/%s/targets/x86/64/"
NAME = "openwrt-%s-x86-64-generic-squashfs-combined.img.gz"
# Whether the server is reached is known soon; the image itself takes its time.
CONNECT_S = 5
PIECE = 1 << 20
EMULATORS = {
    "x86-64": ("qemu-system-x86_64", "qemu-system-x86"),
    "armsr": ("qemu-system-aarch64", "qemu-system-arm"),
    "malta-be": ("qemu-system-mips", "qemu-system-mips"),
    "malta-le": ("qemu-system-mipsel", "qemu-system-mips"),
}
NAMES = (
    ("x86-64", "x86-64"),
    ("armsr-armv8", "armsr"),
    ("armvirt-64", "armsr"),
    ("malta-be", "malta-be"),
    ("malta-le", "malta-le"),
)
# Of each target but the PC: the board and its processor, memory, the card, where a disk's root is.
BOARDS = {
    "armsr": (["-M", "virt", "-cpu", "cortex-a57", "-m", "256"], "virtio-net-pci", "virtio", "root=/dev/vda rootwait"),
    "malta-be": (["-M", "malta", "-cpu", "24Kc", "-m", "256"], "pcnet", "ide", "root=/dev/sda rootwait"),
    "malta-le": (["-M", "malta", "-cpu", "24Kc", "-m", "256"], "pcnet", "ide", "root=/dev/sda rootwait"),
}
UEFI = (
    "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd",
    "/usr/share/AAVMF/AAVMF_CODE.fd",
    "/usr/share/edk2/aarch64/QEMU_EFI.fd",
)
# The first start formats the overlay; until then what is written lies in memory.
OVERLAY_S = 240


class Image:
    """An unpacked image: `target` is a key of EMULATORS, `kind` disk or kernel."""

    def __init__(self, path: str, target: str, kind: str) -> None:
        self.path = path
        self.target = target
        self.kind = kind


def identify(name: str, data: bytes) -> tuple[str, str]:
    """Return (target, kind) of an image by its name and first bytes. Raises: LookupError."""
    named = next((target for sign, target in NAMES if sign in name), "")
    if data[:4] == b"\x7fELF" and data[18:20] in (b"\0\x08", b"\x08\0"):
        return named or ("malta-be" if data[5] == 2 else "malta-le"), "kernel"
    if data[0x38:0x3C] == b"ARM\x64":
        return named or "armsr", "kernel"
    if data[0x202:0x206] == b"HdrS":
        return named or "x86-64", "kernel"
    if data[510:512] == b"\x55\xaa" or data[0x438:0x43A] == b"\x53\xef" or data[:4] == b"hsqs":
        return named or "x86-64", "disk"
    raise LookupError("%s is neither a disk nor a kernel that is known here" % name)


def unpack(source: str, target: str) -> None:
    """Copy an image, unpacking it when it is packed; what follows the packed data is metadata of sysupgrade."""
    with open(source, "rb") as packed, open(target, "wb") as plain:
        head = packed.read(2)
        packed.seek(0)
        if head != b"\x1f\x8b":
            shutil.copyfileobj(packed, plain, PIECE)
            return
        stream = zlib.decompressobj(wbits=31)
        while (piece := packed.read(PIECE)) and not stream.eof:
            plain.write(stream.decompress(piece))
        plain.write(stream.flush())
    if not stream.eof:
        raise LookupError("%s is cut short" % source)


def take(given: str, work: str) -> Image:
    """Return the image of a path or URL, unpacked into `work`. Raises: LookupError."""
    path = download(given, work) if "://" in given else given
    if not os.path.isfile(path):
        raise LookupError("there is no file %s" % path)
    target = os.path.join(work, "image")
    unpack(path, target)
    with open(target, "rb") as handle:
        found = identify(os.path.basename(path), handle.read(4096))
    return Image(target, *found)


def fetch(work: str) -> Image:
    """Return the official image of RELEASE for x86-64. Raises: LookupError when it cannot be had."""
    return take(PLACE % RELEASE + NAME % RELEASE, work)


def download(url: str, work: str) -> str:
    """Fetch an image into the cache, checked by the sha256sums beside it; return its path. Raises: LookupError."""
    folder, _, name = url.rpartition("/")
    path = os.path.join(work, "cache", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    wanted = sums(_get(folder + "/sha256sums").decode("utf-8", "replace")).get(name)
    if not wanted:
        raise LookupError("%s/sha256sums does not name %s" % (folder, name))
    if not (os.path.exists(path) and _sum_of(path) == wanted):
        _get(url, path)
        if _sum_of(path) != wanted:
            os.remove(path)
            raise LookupError("%s is not what sha256sums promises" % name)
    return path


def sums(text: str) -> dict[str, str]:
    """Return {file name: sum} of a list as sha256sum writes it."""
    rows = (line.split(None, 1) for line in text.split("\n") if " " in line)
    return {name.lstrip("*").strip(): number for number, name in rows}


def _get(url: str, path: str = "") -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=CONNECT_S) as reply:
            if not path:
                return reply.read(PIECE)
            with open(path + ".part", "wb") as handle:
                shutil.copyfileobj(reply, handle, PIECE)
            os.rename(path + ".part", path)
            return b""
    except (OSError, urllib.error.URLError, ValueError) as error:
        raise LookupError("%s: %s" % (url, getattr(error, "reason", error)))


def _sum_of(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as handle:
        while piece := handle.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def arguments(image: Image, kernel: str, firmware: str) -> tuple[list[str], str]:
    """Return (the emulator's command for an image, its network card). Raises: LookupError for what cannot boot."""
    words = [EMULATORS[image.target][0], "-accel", accelerator()]
    if image.target == "x86-64":
        words += ["-M", "pc", "-m", "256", "-device", "virtio-rng-pci"]
        if image.kind == "disk":
            return [*words, "-drive", "file=%s,format=raw,if=virtio" % image.path], "virtio-net-pci"
        return [*words, "-kernel", image.path, "-append", "console=ttyS0"], "virtio-net-pci"
    board, card, bus, root = BOARDS[image.target]
    words += board
    if image.target == "armsr":
        words += ["-device", "virtio-rng-pci"]
    if image.kind == "kernel":
        return [*words, "-kernel", image.path], card
    words += ["-drive", "file=%s,format=raw,if=%s" % (image.path, bus)]
    if kernel:
        return [*words, "-kernel", kernel, "-append", root], card
    if image.target == "armsr" and firmware:
        return [*words, "-bios", firmware], card
    raise LookupError(
        "a disk for %s needs KERNEL=%s"
        % (image.target, " or UEFI (apt-get install qemu-efi-aarch64)" * (image.target == "armsr"))
    )


def machine(image: Image, record) -> Machine:
    """Return the machine that boots an image, turned off."""
    firmware = next((path for path in UEFI if os.path.exists(path)), "")
    words, card = arguments(image, os.environ.get("KERNEL", ""), firmware)
    return Machine(words, card, True, record)


def prepare(router: Router, public_key: str, is_disk: bool) -> None:
    """Wait until the router is whole, let the tests log in, and tell the suite how packages are handled there."""
    router.log.head("the router is made ready for the tests")
    router.ok("ubus -t 60 wait_for network.interface.lan", 70)
    if is_disk:
        router.until(
            "mount | grep ' on / ' | grep -v /tmp/root | grep -qE 'overlay|ext4'",
            OVERLAY_S,
            "the overlay is on the disk",
        )
    router.ok(
        "mkdir -p /etc/dropbear; echo '%s' >>/etc/dropbear/authorized_keys; chmod 600 /etc/dropbear/authorized_keys"
        % public_key.strip()
    )
    router.ok("(echo %s; sleep 1; echo %s) | passwd root" % (page.PASSWORD, page.PASSWORD))
    signs = {"bus": "[ -S /var/run/ubus/ubus.sock ]", "rpcd": "pidof rpcd", "uhttpd": "pidof uhttpd",
             "luci": "[ -d /www/luci-static/resources ]", "sysupgrade": "[ -x /sbin/sysupgrade ]",
             "opkg": "command -v opkg", "apk": "command -v apk"}  # fmt: skip
    router.features |= {name for name, command in signs.items() if not router.run(command, quiet=True).status}
    if is_disk:
        router.features.add("disk")
    packages(router)


def needed() -> str:
    """Return the packages of others that ours need: they stay when ours are removed, so they are there before."""
    with open(MANIFEST, encoding="utf-8") as handle:
        return " ".join(json.load(handle)["packages"]["oasis"]["depends"])


def packages(router: Router) -> None:
    """Tell how this router installs and removes packages; the interpreter comes from its own feeds."""
    if "opkg" in router.features:
        router.packages_kind, router.info = "ipk", "/usr/lib/opkg/info"
        router.dependencies = "opkg update && opkg install " + needed()
        router.install = "opkg install %s"
        router.upgrade, router.listed = router.install, "opkg list-installed"
        router.remove = "opkg remove %s"
    elif "apk" in router.features:
        router.packages_kind, router.info = "apk", "/lib/apk/packages"
        router.dependencies = "apk update && apk add " + needed()
        router.install = "apk add --allow-untrusted %s"
        router.upgrade, router.listed = router.install, "apk list --installed"
        router.remove = "apk del %s"
    else:
        raise Failed("this image has neither opkg nor apk")
