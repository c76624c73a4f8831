"""`make qemu`: boot a router in an emulator, install our packages, run the end-to-end suite, print what was seen.

    make qemu IMAGE=PATH|URL   an official image for x86-64, armsr (armv8) or malta, packed or not
    make qemu                  the official image for x86-64 when it can be had, else a guest of Debian's kernel

Everything is emulated (ACCEL=kvm where that works), nothing needs root, and no image is ever written to: a copy is.
Transcript and the raw console are left in build/qemu. Exit status: 0 every step passed or something needed is not on
this host (which is said), 1 a step failed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, REPOSITORY)

from tests.qemu import changes, debian, life, model, openwrt, packages, page, suite  # noqa: E402
from tests.qemu.machine import HOST_ADDRESS  # noqa: E402
from tests.qemu.router import Failed, Router  # noqa: E402
from tests.qemu.transcript import Transcript  # noqa: E402

WORK = os.path.join(REPOSITORY, "build", "qemu")
# In this order; what changes nothing comes first, what takes the packages away last.
ORDER = (
    life.boots, life.install, life.status, life.chat_cli, life.chat_model, life.chat_bus, page.shut, life.weighs,
    changes.low_risk, changes.windows, changes.confirmed, page.page_proof, changes.timed_out, changes.black_hole,
    changes.power_cut, changes.rebooted, changes.killed, changes.guarded, changes.tidy, life.service, life.upgrade,
    life.backup, life.removal,
)  # fmt: skip


def key(work: str) -> tuple[str, str]:
    """Return (path of a private key, public key) for logins to the guest, making one when there is none."""
    path = os.path.join(work, "key")
    if not os.path.exists(path):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "qemu", "-f", path]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    with open(path + ".pub", encoding="ascii") as handle:
        return path, handle.read()


def lacking(guest: str) -> list[str]:
    """Return what this host lacks for a kind of guest."""
    emulator, package = openwrt.EMULATORS[guest] if guest != "debian" else ("qemu-system-x86_64", "qemu-system-x86")
    wanted = {emulator: package, "ssh": "openssh-client", "ssh-keygen": "openssh-client"}
    found = ["%s (apt-get install %s)" % (name, part) for name, part in wanted.items() if not shutil.which(name)]
    return found + (debian.lacking() if guest == "debian" else [])


def choose(image: str, say) -> openwrt.Image | None:
    """Return the official image to boot, None for the guest of Debian's kernel. Raises: LookupError for a bad IMAGE."""
    if image:
        return openwrt.take(image, WORK)
    try:
        return openwrt.fetch(WORK)
    except LookupError as error:
        say("qemu: no official OpenWrt image can be had here: %s" % error)
        say("qemu: so this is NOT an OpenWrt: Debian's kernel with busybox, this host's Python, and stand-ins for")
        say("qemu: rc.common, procd, the network script and opkg (tests/qemu/guest). IMAGE= takes an official image.")
        return None


def main() -> int:
    # The emulator has a session of its own: whoever ends this program must end it as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.makedirs(WORK, exist_ok=True)
    transcript = Transcript(os.path.join(WORK, "transcript.txt"), sys.stdout)
    try:
        return begin(transcript)
    finally:
        transcript.close()


def begin(transcript: Transcript) -> int:
    """Choose a guest and drive it; return the exit status."""
    try:
        image = choose(os.environ.get("IMAGE", ""), transcript.line)
    except LookupError as error:
        transcript.line("qemu: IMAGE: %s" % error)
        return 1
    absent = lacking(image.target if image else "debian")
    if absent:
        transcript.line("qemu: SKIPPED, this host lacks " + ", ".join(absent))
        return 0
    try:
        return drive(image, transcript)
    except LookupError as error:
        transcript.line("qemu: SKIPPED: %s" % error)
        return 0
    except Failed as error:
        transcript.line("qemu: FAILED before the first step: %s" % error)
        return 1


def drive(image: openwrt.Image | None, transcript: Transcript) -> int:
    private, public = key(WORK)
    folders = [os.path.join(WORK, name) for name in ("packages", "newer")]
    for folder, release in zip(folders, (0, packages.NEWER), strict=True):
        packages.build(folder, release)
    with open(os.path.join(WORK, "console.log"), "wb", buffering=0) as log:
        if image:
            machine = openwrt.machine(image, log.write)
            router = Router("openwrt", machine, private, transcript)
        else:
            machine, parts, features = debian.machine(WORK, public, log.write)
            router = Router("debian", machine, private, transcript)
            router.features |= features
            transcript.line("guest: Debian's kernel, busybox, " + ", ".join(parts))
        shelf = packages.Shelf(WORK, HOST_ADDRESS)
        router.url = shelf.url
        router.model = model.Model(HOST_ADDRESS)
        try:
            router.boot_s = router.boot()
            if image:
                openwrt.prepare(router, public, image.kind == "disk")
            else:
                debian.prepare(router)
            router.packages, router.newer = (packages.files(folder, router.packages_kind) for folder in folders)
            if not router.packages:
                raise LookupError("this guest takes .%s packages, and none could be built here" % router.packages_kind)
            report = suite.run(router, chosen(os.environ.get("ONLY", "")))
        finally:
            machine.cut_power()
            shelf.close()
            router.model.close()
    return tell(router, report)


def chosen(only: str) -> list[suite.Step]:
    """Return the steps in order; `only` names functions, for whoever works at one of them."""
    steps = [each for wanted in ORDER for each in suite.STEPS if each.run is wanted]
    return [each for each in steps if not only or each.name in only.split()]


def tell(router: Router, report: suite.Report) -> int:
    """Print the tables; return the exit status."""
    log = router.log
    log.head("numbers (%s guest, emulated: times say little of a router)" % router.kind)
    for name, value in router.numbers:
        log.line("  %-58s %s" % (name, value))
    log.head("steps")
    for title, outcome, seconds, why in report.rows:
        log.line("  %-8s %6.1f s  %s%s" % (outcome, seconds, title, " (%s)" % why.split("\n")[0] if why else ""))
    log.line()
    log.line("qemu: %d passed, %d failed, %d skipped" % tuple(map(report.count, ("ok", "FAILED", "skipped"))))
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
