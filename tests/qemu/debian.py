"""The guest without OpenWrt: Debian's cloud kernel, busybox, this host's Python, and stand-ins for OpenWrt's scripts.

The kernel comes out of its .deb, which is downloaded and never installed. Real here: kernel, TCP/IP, busybox's ash and
init, dropbear, nft where the host has it, and everything of ours. Stand-ins (guest/): rc.common, procd, functions.sh,
network, opkg; there is no bus, no LuCI, no firewall. Real OpenWrt programs that are on PATH take their places.
"""

from __future__ import annotations

import compileall
import glob
import os
import re
import shutil
import subprocess

from tests.qemu import real, tree
from tests.qemu.machine import Machine, accelerator
from tests.qemu.router import Router

HERE = os.path.dirname(os.path.abspath(__file__))
STOCK = os.path.join(os.path.dirname(HERE), "router", "root", "etc")
PACKAGE = "linux-image-cloud-amd64"
# What the guest's disk, network and firewall need of the kernel; what these depend on is found in the modules.
EARLY = ("virtio_pci", "virtio_blk", "virtio_net", "virtio_rng")
LATE = ("bridge", "nf_tables", "nft_fib_inet", "nft_reject_inet", "nft_ct", "nft_limit", "nft_log", "nft_masq",
        "nft_nat")  # fmt: skip
# A busy host may miss the moment in which the kernel looks whether its timer ticks, and it gives up then.
COMMAND_LINE = "console=ttyS0 quiet panic=5 no_timer_check"
DISK_MIB = 256
MEMORY_MIB = 192
# Of the password that the suite logs in with (page.py); it opens nothing but this guest.
SHADOW = "$5$oasisguest$V5GzlmUIuHlFv1Ljk/JO/uqDf5vrB6loxyj2e2c/19D"
CONFIGS = ("dhcp", "dropbear", "firewall", "luci", "network", "rpcd", "system", "uhttpd", "wireless")
FOLDERS = ("dev", "proc", "sys", "tmp", "root", "mnt", "overlay", "run", "etc/config", "etc/rc.d", "etc/uci-defaults",
           "usr/lib/opkg/info", "lib/upgrade/keep.d", "etc/dropbear", "root/.ssh", "www")  # fmt: skip
# Packages that are there in another form: the stand-in of opkg takes them for installed.
PROVIDED = ("busybox", "libc", "procd", "ubus", "ubusd", "uci", "dropbear", "nftables", "firewall4", "rpcd")
PROGRAMS = ("/usr/sbin/dropbear", "/usr/bin/dropbearkey", "/usr/sbin/nft")

INIT = """#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in %s; do insmod /modules/$module.ko || echo "init: no $module"; done
n=0
until [ -b /dev/vda ] || [ $n -ge 50 ]; do usleep 100000; n=$((n + 1)); done
mount -t ext4 -o noatime /dev/vda /root || exec sh
if [ -e /root/owned ]; then chown -R 0:0 /root && rm /root/owned; fi
for each in proc sys dev; do mount --move /$each /root/$each; done
mount -t tmpfs -o mode=1777 tmp /root/tmp
exec switch_root /root /sbin/init
"""

UCI = """#!/usr/bin/python3 -IS
import os, sys
sys.path.insert(0, "/usr/lib/guest")
from oasis.uci import libuci
from uci_program import main
words = [libuci.decode(os.fsencode(word)) for word in sys.argv[1:]]
sys.exit(main(words, sys.stdin.buffer, sys.stdout.buffer, sys.stderr.buffer))
"""


def lacking() -> list[str]:
    """Return what this host lacks for such a guest: (what, how it would come) as text."""
    wanted = {"busybox": "busybox", "mke2fs": "e2fsprogs", "dropbear": "dropbear-bin", "ldd": "libc-bin",
              "dpkg-deb": "dpkg"}  # fmt: skip
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return ["%s (apt-get install %s)" % (name, package) for name, package in wanted.items()
            if not shutil.which(name, path=path)]  # fmt: skip


def kernel(cache: str) -> str:
    """Return the folder with Debian's kernel unpacked, downloading it when it is not there.

    Raises: LookupError telling why it cannot be had.
    """
    folder = os.path.join(cache, "kernel")
    if glob.glob(folder + "/boot/vmlinuz-*"):
        return folder
    os.makedirs(cache, exist_ok=True)
    wanted = r"Depends: (linux-image-\S+)"
    found = re.search(wanted, _apt("depends", PACKAGE))
    if not found and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
        found = re.search(wanted, _apt("depends", PACKAGE))
    if not found:
        raise LookupError("apt knows no package %s (apt-get update)" % PACKAGE)
    done = subprocess.run(
        ["apt-get", "download", "-q", found.group(1)], cwd=cache, capture_output=True, text=True, check=False
    )
    debs = glob.glob(os.path.join(cache, found.group(1) + "_*.deb"))
    if done.returncode or not debs:
        raise LookupError("apt-get download %s failed: %s" % (found.group(1), done.stderr.strip()[-200:]))
    subprocess.run(["dpkg-deb", "-x", debs[0], folder + ".new"], check=True)
    os.rename(folder + ".new", folder)
    return folder


def _apt(*words: str) -> str:
    try:
        return subprocess.run(["apt-cache", *words], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        raise LookupError("this host has no apt: Debian's kernel cannot be had here")


def modules(folder: str, names: tuple[str, ...]) -> list[str]:
    """Return the files of kernel modules in the order in which they load, what they depend on before them."""
    files = {os.path.basename(path)[:-3].replace("-", "_"): path
             for path in glob.glob(folder + "/lib/modules/*/kernel/**/*.ko", recursive=True)}  # fmt: skip
    found: list[str] = []

    def add(name: str) -> None:
        path = files.get(name.replace("-", "_"))
        if path is None or path in found:
            return  # built into the kernel
        with open(path, "rb") as handle:
            wanted = re.search(rb"\0depends=([^\0]*)\0", handle.read())
        for each in wanted.group(1).decode().split(",") if wanted else []:
            add(each)
        found.append(path)

    for name in names:
        add(name)
    return found


def initramfs(kernel_folder: str, work: str) -> str:
    """Make the archive that finds the disk and hands over to it; return its path."""
    root = work + "/initramfs"
    shutil.rmtree(root, ignore_errors=True)
    for name in ("proc", "sys", "dev", "root", "modules", "bin", "sbin"):
        os.makedirs(os.path.join(root, name))
    tree.busybox(root)
    files = modules(kernel_folder, EARLY + LATE)
    for path in files:
        shutil.copy(path, root + "/modules/")
    names = [os.path.basename(path)[:-3] for path in files]
    with open(root + "/init", "w", encoding="ascii") as handle:
        handle.write(INIT % " ".join(names))
    os.chmod(root + "/init", 0o755)
    target = work + "/initramfs.cpio"
    listed = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
    with open(target, "wb") as handle:
        subprocess.run(["busybox", "cpio", "-o", "-H", "newc", "-R", "0:0"], cwd=root, input=listed, stdout=handle,
                       stderr=subprocess.DEVNULL, check=True)  # fmt: skip
    return target


def root_tree(root: str, public_key: str) -> tuple[list[str], set[str]]:
    """Lay out the guest's root; return what is in it, for the transcript, and the features that come with it."""
    shutil.rmtree(root, ignore_errors=True)
    for name in FOLDERS:
        os.makedirs(os.path.join(root, name))
    os.symlink("tmp", root + "/var")
    shutil.copytree(HERE + "/guest", root, dirs_exist_ok=True)
    for name in CONFIGS:
        shutil.copy(STOCK + "/config/" + name, root + "/etc/config/" + name)
    shutil.copy(STOCK + "/group", root + "/etc/group")
    _write(root + "/etc/os-release", 'NAME="guest without OpenWrt"\nID="oasis-test"\nVERSION_ID="0"\n')
    _adapt(root, public_key)
    tree.busybox(root)
    parts = [tree.python(root)]
    for path in PROGRAMS:
        if os.path.exists(path):
            tree.program(path, root)
            parts.append(os.path.basename(path))
    _uci(root)
    names, features = real.bring(root)
    return parts + names, features


def _adapt(root: str, public_key: str) -> None:
    """Make the stock configuration fit: one port, root at a shell, the key that the tests log in with."""
    path = root + "/etc/config/network"
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    text = re.sub(r"(\tlist ports 'lan\d'\n)+", "\tlist ports 'eth0'\n", text)
    _write(path, text)
    _write(root + "/etc/passwd", "root:x:0:0:root:/root:/bin/ash\nnobody:*:65534:65534:nobody:/var:/bin/false\n")
    _write(root + "/etc/shadow", "root:%s:0:0:99999:7:::\n" % SHADOW, 0o600)
    _write(root + "/etc/shells", "/bin/ash\n/bin/sh\n")
    for name in ("/root/.ssh/authorized_keys", "/etc/dropbear/authorized_keys"):
        _write(root + name, public_key, 0o600)
    os.chmod(root + "/root/.ssh", 0o700)
    versions = ["python3", "python3-light", "python3-base", "python3-urllib", "python3-openssl", "python3-codecs",
                "python3-logging", "python3-email", "python3-multiprocessing", "python3-unittest"]  # fmt: skip
    _write(root + "/usr/lib/opkg/provided", "\n".join([*PROVIDED, *versions]) + "\n")
    for script in sorted(os.listdir(root + "/etc/init.d")):
        _enable(root, script)
    if os.geteuid():
        _write(root + "/owned", "the files on this disk belong to who made it: the first boot gives them to root\n")


def _uci(root: str) -> None:
    """Give scripts a `uci` where there is no real one: this project's own, from a copy that is in no package's way."""
    folder = root + "/usr/lib/guest"
    source = os.path.join(os.path.dirname(os.path.dirname(HERE)), "oasis")
    shutil.copytree(source, folder + "/oasis", ignore=shutil.ignore_patterns("__pycache__"))
    os.makedirs(folder + "/bin")
    shutil.copy(os.path.dirname(HERE) + "/uci/uci_program.py", folder)
    _write(folder + "/bin/uci", UCI, 0o755)
    compileall.compile_dir(folder + "/oasis", quiet=2, stripdir=root)


def _enable(root: str, name: str) -> None:
    with open(root + "/etc/init.d/" + name, encoding="utf-8") as handle:
        orders = dict(re.findall(r"^(START|STOP)=(\d+)$", handle.read(), re.M))
    for word, letter in (("START", "S"), ("STOP", "K")):
        if word in orders:
            os.symlink("../init.d/" + name, "%s/etc/rc.d/%s%s%s" % (root, letter, orders[word], name))


def _write(path: str, text: str, mode: int = 0o644) -> None:
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)
    os.chmod(path, mode)


def disk(root: str, target: str) -> str:
    """Make a disk of a root; return its path."""
    if os.path.exists(target):
        os.remove(target)
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    words = [shutil.which("mke2fs", path=path), "-q", "-t", "ext4", "-d", root, "-E", "root_owner=0:0"]
    subprocess.run([*words, target, "%dM" % DISK_MIB], check=True, stdout=subprocess.DEVNULL)
    return target


def machine(work: str, public_key: str, record) -> tuple[Machine, list[str], set[str]]:
    """Make the guest's disk; return its machine, turned off, what is on it, and its features. Raises: LookupError."""
    unpacked = kernel(os.path.join(work, "cache"))
    parts, features = root_tree(work + "/root", public_key)
    image = disk(work + "/root", work + "/disk.img")
    words = ["qemu-system-x86_64", "-M", "pc", "-accel", accelerator(), "-m", str(MEMORY_MIB), "-smp", "2",
             "-kernel", glob.glob(unpacked + "/boot/vmlinuz-*")[0], "-initrd", initramfs(unpacked, work),
             "-append", COMMAND_LINE, "-drive", "file=%s,format=raw,if=virtio" % image,
             "-device", "virtio-rng-pci"]  # fmt: skip
    return Machine(words, "virtio-net-pci", False, record), parts, features


def prepare(router: Router) -> None:
    """Tell the suite how packages are handled here, and what is there."""
    router.install = router.upgrade = "opkg install %s"
    router.listed = "opkg list-installed"
    router.remove = "opkg remove %s"
    router.info = "/usr/lib/opkg/info"
    router.dependencies = ""
    router.packages_kind = "ipk"
    router.features.add("disk")
