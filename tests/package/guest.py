"""A router in namespaces of its own, on which the packages are installed, used and removed; prints one JSON object.

Started as `unshare --mount --net --pid --fork PYTHON guest.py NAME` by test_install.py: NAME is a function of lives.py,
PACKAGES the folder of the packages, WORK an empty one, INSTALLED the names of packages that count as there, and
OPENWRT_ROOT (optional) a folder with OpenWrt's own lib/functions.sh, lib/functions, etc/rc.common and
usr/share/libubox/jshn.sh: with procd and what it needs on PATH the real one then watches the service. The host's /usr
lies below a layer of this router's own, everything else is new and in memory: what a package writes is found by walking
those. /bin/sh and all that scripts call are busybox; the checkout is not visible inside. With `opkg` on PATH that one
installs, else a small one of our own (installer.py).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import installer  # noqa: E402
import lives  # noqa: E402

WORK = os.environ["WORK"]
ROOT = WORK + "/router"
STATUS = "Package: %%s\nVersion: %d.%d\nStatus: install user installed\nArchitecture: all\n\n" % sys.version_info[:2]
FILES = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:*:65534:65534:nobody:/var:/bin/false\n",
    "/etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "/etc/shadow": "root:$1$x$y:0:0:99999:7:::\n",
    "/etc/config/system": "\nconfig system\n\toption hostname 'OpenWrt'\n\n",
    "/etc/opkg.conf": "dest root /\nlists_dir ext /var/opkg-lists\narch all 1\n",
    # busybox of a router is built with less than that of this host.
    "/applets/find": "#!/bin/sh\nfor word; do case $word in +|-delete|-empty|-quit|-printf)\n"
    'echo "find: unrecognized: $word" >&2; exit 1 ;;\nesac; done\nexec busybox find "$@"\n',
    # What every router has, and this host may lack.
    "/usr/bin/lock": "#!/bin/sh\nexit 0\n",
    "/usr/bin/uci": "#!/bin/sh\nexit 0\n",
}
# Programs that a host has and a router has not, as OpenWrt builds its busybox: a script of ours must not call them.
LACKS = (
    "base64", "diff", "getopt", "hostname", "install", "nohup", "nproc", "od", "paste", "realpath", "setpriv",
    "sha1sum", "shuf", "stat", "su", "tac", "timeout", "usleep", "whoami", "xxd",
)  # fmt: skip
FOLDERS = (
    "applets", "dev", "etc/config", "etc/hotplug.d/dhcp", "etc/hotplug.d/iface", "etc/hotplug.d/ntp", "etc/init.d",
    "etc/rc.d", "etc/uci-defaults", "lib", "proc", "tmp/.uci", "usr", "var/lock", "var/opkg-lists", "var/run",
    "www/cgi-bin", "www/luci-static/resources/view",
)  # fmt: skip
IN_USR = ("lib/lua/luci/i18n", "lib/opkg/info", "sbin", "share/acl.d", "share/luci/menu.d", "share/rpcd/acl.d")
PATH = "/applets:/usr/sbin:/usr/bin:/sbin:/bin"
# What a real procd is spoken to by.
PROCD = ("ubusd", "procd", "ubus", "uci", "jshn", "jsonfilter")
READY_S = 30


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def lay_out() -> None:
    """Build the router below ROOT; everything that is written lies in memory of this namespace."""
    mount("-t", "tmpfs", "-o", "mode=755", "none", WORK)
    for name in FOLDERS:
        os.makedirs(f"{ROOT}/{name}", exist_ok=True)
    for name in ("upper", "work"):
        os.makedirs(f"{WORK}/{name}")
    mount("-t", "overlay", "-o", f"lowerdir=/usr,upperdir={WORK}/upper,workdir={WORK}/work", "none", ROOT + "/usr")
    mount("-t", "proc", "none", ROOT + "/proc")
    for name in ("null", "zero", "urandom", "random"):
        write(f"/dev/{name}", "")
        mount("--bind", f"/dev/{name}", f"{ROOT}/dev/{name}")
    os.rmdir(ROOT + "/lib")
    for name in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink("/" + name):
            os.symlink(os.readlink("/" + name), f"{ROOT}/{name}")
        elif os.path.isdir("/" + name):
            os.makedirs(f"{ROOT}/{name}")
            mount("--bind", "/" + name, f"{ROOT}/{name}")
    for name in (*(f"usr/{name}" for name in IN_USR), "lib/upgrade/keep.d"):
        os.makedirs(f"{ROOT}/{name}", exist_ok=True)
        os.chmod(f"{ROOT}/{name}", 0o755)  # so that it lies in the layer above, whatever the host has
    for name in LACKS:
        write("/applets/" + name, f"#!/bin/sh\necho '{name}: not found' >&2\nexit 127\n", 0o755)
    for path, text in FILES.items():
        write(
            path,
            text,
            0o755 if path.startswith(("/applets/", "/usr/bin/")) else 0o600 if path == "/etc/shadow" else 0o644,
        )
    base()


def base() -> None:
    """Put busybox in front of the host's programs, and the scripts of OpenWrt's base, real ones if there are any."""
    busybox = shutil.which("busybox") or ""
    for name in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
        if not os.path.lexists(f"{ROOT}/applets/{name}"):
            os.symlink(busybox, f"{ROOT}/applets/{name}")
    for place in ("/usr/bin/sh", "/bin/sh"):
        path = ROOT + place
        if os.path.lexists(os.path.dirname(path)) and os.path.realpath(path).startswith(ROOT):
            if os.path.lexists(path):
                os.remove(path)
            os.symlink(busybox, path)
    real = os.environ.get("OPENWRT_ROOT", "")
    shutil.copy(real + "/lib/functions.sh" if real else HERE + "/base/functions.sh", ROOT + "/lib/functions.sh")
    shutil.copy(HERE + "/base/rc.common", ROOT + "/etc/rc.common")
    os.chmod(ROOT + "/etc/rc.common", 0o755)
    if real and all(map(shutil.which, PROCD)):
        procd(real)


def procd(real: str) -> None:
    """Have OpenWrt's own procd watch the services."""
    shutil.copytree(real, ROOT, dirs_exist_ok=True)
    os.chmod(ROOT + "/etc/rc.common", 0o755)
    for name in PROCD:
        place = str(shutil.which(name))
        bring(place)
        if os.path.lexists(f"{ROOT}/usr/bin/{name}"):
            os.remove(f"{ROOT}/usr/bin/{name}")
        os.symlink(place, f"{ROOT}/usr/bin/{name}")
    write("/tmp/daemon.err", "")
    os.makedirs(ROOT + "/var/run/ubus")
    for argv in (["ubusd"], ["procd", "-S"]):
        with open(ROOT + "/tmp/daemon.err", "a", encoding="utf-8") as log:
            subprocess.Popen(
                ["/usr/bin/" + argv[0], *argv[1:]], env={"PATH": PATH}, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, preexec_fn=lambda: (os.chroot(ROOT), os.chdir("/")),
            )  # fmt: skip
        wait_for("/var/run/ubus/ubus.sock")
    while "service" not in str(run("ubus", "list")["out"]).split():
        time.sleep(0.05)


def write(path: str, text: str, mode: int = 0o644) -> None:
    with open(ROOT + path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(ROOT + path, mode)


def tree() -> dict[str, list[object]]:
    """Return {path: [mode, what is in it]} of all that this router has of its own."""
    found: dict[str, list[object]] = {}
    for top, prefix in ((ROOT, ""), (WORK + "/upper", "/usr")):
        for folder, folders, names in os.walk(top):
            if folder == ROOT:
                folders[:] = [name for name in folders if name not in ("usr", "proc", "dev", "applets")]
            for name in [*folders, *names]:
                path = os.path.join(folder, name)
                found[prefix + path[len(top) :]] = [os.lstat(path).st_mode, inside(path)]
    return found


def inside(path: str) -> str:
    if os.path.islink(path):
        return os.readlink(path)
    if not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def run(*argv: str, env: dict[str, str] | None = None, stdin: str = "") -> dict[str, object]:
    """Run a program on the router; return {"status", "out", "err", "seconds"}."""
    before = time.monotonic()
    done = subprocess.run(
        ["/applets/env", *argv], env={"PATH": PATH, "HOME": "/", **(env or {})}, input=stdin, capture_output=True,
        text=True, check=False, preexec_fn=lambda: (os.chroot(ROOT), os.chdir("/")), timeout=100,
    )  # fmt: skip
    seconds = time.monotonic() - before
    return {"status": done.returncode, "out": done.stdout, "err": done.stderr, "seconds": seconds}


def wait_for(path: str) -> bool:
    end = time.monotonic() + READY_S
    while not os.path.exists(ROOT + path) and time.monotonic() < end:
        time.sleep(0.05)
    return os.path.exists(ROOT + path)


def bring(place: str) -> None:
    """Put a program of the host that is in no usual place where the router finds it, with its libraries."""
    told = subprocess.run(["ldd", place], capture_output=True, text=True, check=True).stdout
    libraries = [word for word in told.split() if word.startswith("/") and not word.startswith(("/usr/", "/lib"))]
    for folder in {os.path.dirname(path) for path in [place, *libraries]}:
        os.makedirs(ROOT + folder, exist_ok=True)
        if not os.path.ismount(ROOT + folder):
            mount("--bind", folder, ROOT + folder)


class Guest:
    """The router as lives.py sees it."""

    run = staticmethod(run)
    tree = staticmethod(tree)
    write = staticmethod(write)
    wait_for = staticmethod(wait_for)

    def __init__(self, opkg: str) -> None:
        self._opkg = opkg

    def opkg(self, *words: str) -> dict[str, object]:
        """Have a package installed, upgraded or removed."""
        return run(self._opkg, *words) if self._opkg else installer.call(ROOT, run, *words)

    def apk(self, *words: str) -> dict[str, object]:
        """Have packages of the other form installed or removed."""
        return run(str(shutil.which("apk")), "--no-network", "--allow-untrusted", "--force-non-repository", *words)

    def read(self, path: str) -> str:
        with open(ROOT + path, encoding="utf-8") as file:
            return file.read()


def main(name: str) -> None:
    lay_out()
    write("/usr/lib/opkg/status", "".join(STATUS % name for name in os.environ["INSTALLED"].split()))
    os.makedirs(ROOT + "/packages")
    mount("--bind", os.environ["PACKAGES"], ROOT + "/packages")
    opkg = shutil.which("opkg") or ""
    for place in filter(None, map(shutil.which, ("opkg", "apk"))):
        bring(place)
    told = getattr(lives, name)(Guest(opkg))
    json.dump({"opkg": opkg, **told}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
