"""What is put together for the guest of Debian's kernel: modules in order, stand-ins that busybox's shell can read."""

import glob
import os
import shutil
import subprocess

import pytest

from tests.qemu import debian, tree

CONFIG = """
config interface 'lan'
	option ipaddr '192.168.1.1'

config device
	list ports 'lan1'
	list ports 'lan2'

config zone
	option name 'lan'

config zone
	option name 'it is $HOME'

config oasis 'main'
	option enabled 'on'
"""
GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest")


def module(folder, name, wanted=""):
    path = folder / "lib/modules/6.1/kernel" / (name + ".ko")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF\0license=GPL\0depends=%s\0name=x\0" % wanted.encode())


def test_modules_come_behind_what_they_depend_on_and_once(tmp_path):
    module(tmp_path, "virtio")
    module(tmp_path, "virtio_ring")
    module(tmp_path, "virtio_pci", "virtio,virtio_ring")
    module(tmp_path, "virtio_blk", "virtio_ring,virtio")
    found = debian.modules(str(tmp_path), ("virtio_blk", "virtio_pci"))
    assert [os.path.basename(path) for path in found] == [
        "virtio_ring.ko", "virtio.ko", "virtio_blk.ko", "virtio_pci.ko"
    ]  # fmt: skip


def test_a_module_is_found_under_either_spelling_and_may_be_built_in(tmp_path):
    module(tmp_path, "virtio-rng")
    found = debian.modules(str(tmp_path), ("virtio_rng", "ext4"))
    assert [os.path.basename(path) for path in found] == ["virtio-rng.ko"]


@pytest.mark.skipif(not shutil.which("ldd"), reason="there is no ldd")
def test_libraries_of_a_program_are_absolute_paths_that_are_there():
    found = tree.libraries(shutil.which("ls"))
    assert any("libc" in path for path in found)
    assert all(os.path.isabs(path) and os.path.exists(path) for path in found)


def scripts():
    kinds = ("etc/rc.common", "etc/init.d/*", "lib/*.sh", "lib/functions/*.sh", "bin/*", "sbin/*")
    return sorted(path for kind in kinds for path in glob.glob(os.path.join(GUEST, kind)))


@pytest.mark.skipif(not shutil.which("busybox"), reason="there is no busybox")
@pytest.mark.parametrize("path", scripts(), ids=os.path.basename)
def test_a_stand_in_is_read_by_the_shell_of_a_router(path):
    done = subprocess.run(["busybox", "ash", "-n", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("busybox"), reason="there is no busybox")
def test_configuration_is_read_as_the_router_reads_it(tmp_path):
    code = """
    . %s/lib/functions.sh
    option_of() { config_get value "$1" "$2" none; echo "$1.$2=$value"; }
    . "$1"
    option_of lan ipaddr
    config_get_bool on main enabled 0; echo "enabled=$on"
    show() { config_get name "$1" name; echo "zone $name"; }
    config_foreach show zone
    config_get ports cfg2 ports; echo "ports=$ports"
    """
    package = tmp_path / "mixed"
    package.write_text(CONFIG)
    begin = "config_count=0; CONFIG_SECTIONS=\n"
    words = ["busybox", "ash", "-c", begin + code % GUEST, "ash", str(package)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:-1] == [
        "lan.ipaddr=192.168.1.1", "enabled=1", "zone lan", "zone it is $HOME", "ports=lan1 lan2"
    ]  # fmt: skip
