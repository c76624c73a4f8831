"""Which file system a path is on."""

import pytest

from oasis.system import files

LIST = rb"""/dev/root /rom squashfs ro 0 0
overlayfs:/overlay / overlay rw 0 0
/dev/sda1 /mnt/usb vfat rw,umask=0077 0 0
/dev/sdb1 /mnt/my\040stick exfat rw 0 0
/dev/sdc1 /mnt/twice vfat rw 0 0
/dev/sdc2 /mnt/twice ext4 rw 0 0
torn"""


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/etc/oasis", "overlay"), ("/mnt/usb", "vfat"), ("/mnt/usb/oasis/documents", "vfat"), ("/mnt/usb2", "overlay"),
        ("/mnt/my stick/a", "exfat"), ("/mnt/twice/a", "ext4"), ("/", "overlay"),
    ],
)  # fmt: skip
def test_a_path_is_on_the_innermost_and_latest_mount(path, kind):
    assert files.kind(LIST, path) == kind


def test_an_empty_list_tells_nothing():
    assert files.kind(b"", "/mnt/usb") == ""


def test_this_host_has_a_list():
    with open(files.LIST, "rb") as handle:
        assert files.kind(handle.read(), "/proc/self") == "proc"
