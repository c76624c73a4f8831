"""Official images: known by name or bytes, unpacked as they come, checked, and the machine that each boots in."""

import gzip
import hashlib

import pytest

from tests.qemu import openwrt
from tests.qemu.console import Result
from tests.qemu.packages import Shelf
from tests.qemu.router import Failed

DISK = b"\0" * 510 + b"\x55\xaa" + b"\0" * 3584
MIPS_BIG = b"\x7fELF\1\2\1" + b"\0" * 11 + b"\0\x08" + b"\0" * 600
MIPS_LITTLE = b"\x7fELF\1\1\1" + b"\0" * 11 + b"\x08\0" + b"\0" * 600
ARM64 = b"\0" * 0x38 + b"ARM\x64" + b"\0" * 600


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("openwrt-24.10.4-x86-64-generic-squashfs-combined.img.gz", DISK, ("x86-64", "disk")),
        ("openwrt-24.10.4-armsr-armv8-generic-initramfs-kernel.bin", ARM64, ("armsr", "kernel")),
        ("openwrt-24.10.4-armsr-armv8-generic-ext4-combined-efi.img.gz", DISK, ("armsr", "disk")),
        ("openwrt-malta-be-vmlinux-initramfs.elf", MIPS_BIG, ("malta-be", "kernel")),
        ("openwrt-malta-le-vmlinux-initramfs.elf", MIPS_LITTLE, ("malta-le", "kernel")),
        ("renamed.img", DISK, ("x86-64", "disk")),
        ("renamed.elf", MIPS_BIG, ("malta-be", "kernel")),
        ("renamed.elf", MIPS_LITTLE, ("malta-le", "kernel")),
        ("renamed.bin", ARM64, ("armsr", "kernel")),
    ],
)
def test_an_image_is_known_by_its_name_or_its_bytes(name, data, found):
    assert openwrt.identify(name, data) == found


def test_what_is_no_image_is_refused():
    with pytest.raises(LookupError, match="is neither a disk nor a kernel"):
        openwrt.identify("notes.txt", b"hello" * 200)


def test_a_packed_image_is_unpacked_without_the_metadata_behind_it(tmp_path):
    packed = tmp_path / "openwrt-x86-64.img.gz"
    packed.write_bytes(gzip.compress(DISK) + b'{"metadata_version": "1.1"}\0\0FWx0')
    image = openwrt.take(str(packed), str(tmp_path))
    assert (image.target, image.kind) == ("x86-64", "disk")
    assert (tmp_path / "image").read_bytes() == DISK


def test_an_image_is_copied_and_never_used_itself(tmp_path):
    plain = tmp_path / "openwrt-x86-64.img"
    plain.write_bytes(DISK)
    assert openwrt.take(str(plain), str(tmp_path)).path == str(tmp_path / "image")


def test_an_image_that_is_cut_short_is_refused(tmp_path):
    packed = tmp_path / "openwrt-x86-64.img.gz"
    packed.write_bytes(gzip.compress(DISK)[:-20])
    with pytest.raises(LookupError, match="cut short"):
        openwrt.take(str(packed), str(tmp_path))


def test_a_path_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(LookupError, match="no file"):
        openwrt.take(str(tmp_path / "none.img"), str(tmp_path))


@pytest.fixture
def shelf(tmp_path):
    served = tmp_path / "served"
    served.mkdir()
    one = Shelf(str(served), "127.0.0.1")
    yield one, served
    one.close()


def test_a_fetched_image_is_checked_by_the_sums_beside_it(shelf, tmp_path):
    one, served = shelf
    data = gzip.compress(DISK)
    (served / "openwrt-x86-64.img.gz").write_bytes(data)
    (served / "sha256sums").write_text("%s *openwrt-x86-64.img.gz\n" % hashlib.sha256(data).hexdigest())
    assert openwrt.take(one.url + "/openwrt-x86-64.img.gz", str(tmp_path)).kind == "disk"


def test_a_fetched_image_that_is_another_one_is_refused_and_thrown_away(shelf, tmp_path):
    one, served = shelf
    (served / "openwrt-x86-64.img.gz").write_bytes(gzip.compress(DISK))
    (served / "sha256sums").write_text("%s *openwrt-x86-64.img.gz\n" % ("0" * 64))
    with pytest.raises(LookupError, match="not what sha256sums promises"):
        openwrt.take(one.url + "/openwrt-x86-64.img.gz", str(tmp_path))
    assert not (tmp_path / "cache" / "openwrt-x86-64.img.gz").exists()


def test_an_image_that_the_sums_do_not_name_is_refused(shelf, tmp_path):
    one, served = shelf
    (served / "sha256sums").write_text("%s *other.img.gz\n" % ("0" * 64))
    with pytest.raises(LookupError, match="does not name"):
        openwrt.take(one.url + "/openwrt-x86-64.img.gz", str(tmp_path))


def test_a_server_that_is_not_there_is_told(tmp_path):
    with pytest.raises(LookupError, match="sha256sums"):
        openwrt.take("http://127.0.0.1:1/openwrt-x86-64.img.gz", str(tmp_path))


@pytest.mark.parametrize(
    ("target", "kind", "kernel", "firmware", "emulator", "card", "holds"),
    [
        ("x86-64", "disk", "", "", "qemu-system-x86_64", "virtio-net-pci", "file=IMAGE,format=raw,if=virtio"),
        ("x86-64", "kernel", "", "", "qemu-system-x86_64", "virtio-net-pci", "-kernel IMAGE"),
        ("armsr", "kernel", "", "", "qemu-system-aarch64", "virtio-net-pci", "-M virt -cpu cortex-a57"),
        ("armsr", "disk", "", "EFI.fd", "qemu-system-aarch64", "virtio-net-pci", "-bios EFI.fd"),
        ("armsr", "disk", "Image", "", "qemu-system-aarch64", "virtio-net-pci", "-kernel Image -append root=/dev/vda"),
        ("malta-be", "kernel", "", "", "qemu-system-mips", "pcnet", "-M malta -cpu 24Kc"),
        ("malta-le", "disk", "vmlinux", "", "qemu-system-mipsel", "pcnet", "-append root=/dev/sda"),
    ],
)
def test_each_image_has_its_machine(target, kind, kernel, firmware, emulator, card, holds):
    words, found = openwrt.arguments(openwrt.Image("IMAGE", target, kind), kernel, firmware)
    assert (words[0], found) == (emulator, card)
    assert holds in " ".join(words)


def test_a_disk_without_the_kernel_it_needs_is_refused():
    with pytest.raises(LookupError, match="KERNEL="):
        openwrt.arguments(openwrt.Image("IMAGE", "malta-be", "disk"), "", "")


class Answers:
    """A router that answers commands by what they hold; the rest ends well and says nothing."""

    def __init__(self, missing):
        self.missing = missing
        self.features = set()
        self.asked = []
        self.log = self

    def head(self, text):
        return

    def run(self, command, timeout_s=0, quiet=False):
        self.asked.append(command)
        return Result(int(any(word in command for word in self.missing)), "")

    def ok(self, command, timeout_s=0, quiet=False):
        return self.run(command).text

    def until(self, command, timeout_s, what):
        self.asked.append(command)


@pytest.mark.parametrize(
    ("missing", "kind", "remove"),
    [(("command -v apk",), "ipk", "opkg remove %s"), (("command -v opkg",), "apk", "apk del %s")],
)
def test_the_package_manager_of_an_image_is_the_one_that_is_used(missing, kind, remove):
    router = Answers(missing)
    openwrt.prepare(router, "ssh-ed25519 AAAA test\n", True)
    assert (router.packages_kind, router.remove) == (kind, remove)
    assert "python3-light" in router.dependencies
    assert {"bus", "rpcd", "uhttpd", "sysupgrade", "disk"} <= router.features
    assert any("ssh-ed25519 AAAA test" in command for command in router.asked)


def test_an_image_in_memory_has_no_overlay_to_wait_for():
    router = Answers(("command -v apk", "uhttpd"))
    openwrt.prepare(router, "key", False)
    assert "disk" not in router.features
    assert "uhttpd" not in router.features
    assert not any("overlay" in command for command in router.asked)


def test_an_image_without_a_package_manager_is_refused():
    with pytest.raises(Failed, match="neither opkg nor apk"):
        openwrt.prepare(Answers(("command -v",)), "key", True)
