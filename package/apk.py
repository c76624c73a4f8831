"""Packages and their index for apk (OpenWrt 25.12 and later), made by `apk mkpkg` and `apk mkndx` of apk-tools 3.

The container is apk's own, so nothing is written by hand. What opkg keeps in its book, OpenWrt puts into the package:
/lib/apk/packages/NAME.list (all paths; without it no init script is enabled), .conffiles, .conffiles_static (with their
sums) and .rusers. An upgrade calls post-upgrade only, nothing of the old package.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from manifest import Files, Package

FOLDER = "/lib/apk/packages/"
_HEAD = """#!/bin/sh
%s[ -s "$IPKG_INSTROOT/lib/functions.sh" ] || exit 0
. "$IPKG_INSTROOT/lib/functions.sh"
export root="$IPKG_INSTROOT" pkgname="%s"
"""
_NOT_ALWAYS = '[ "$IPKG_NO_SCRIPT" != 1 ] || exit 0\n'
_UPGRADE = "export PKG_UPGRADE=1\n"


class ApkError(Exception):
    """`apk` refused; the text is its own."""


def book(one: Package) -> Files:
    """Return the files that tell OpenWrt's scripts what the package has."""
    found: Files = {}
    name, files, conffiles = one.name, one.files, one.about.get("conffiles", [])
    if one.users:
        found[f"{FOLDER}{name}.rusers"] = ((one.users + "\n").encode(), 0o644)
    paths = sorted([*files, *found])
    found[f"{FOLDER}{name}.list"] = ("".join(path + "\n" for path in paths).encode(), 0o644)
    if conffiles:
        sums = [f"{path} {hashlib.sha256(files[path][0]).hexdigest()}\n" for path in conffiles]
        found[f"{FOLDER}{name}.conffiles"] = ("".join(path + "\n" for path in conffiles).encode(), 0o644)
        found[f"{FOLDER}{name}.conffiles_static"] = ("".join(sums).encode(), 0o644)
    return found


def scripts(name: str, texts: dict[str, str]) -> dict[str, str]:
    """Return {apk's name of a script: text}; ours run before the service is started or stopped, as under opkg."""
    install, remove, gone = (_body(texts.get(which, "")) for which in ("postinst", "prerm", "postrm"))
    install = _HEAD % (_NOT_ALWAYS, name) + "add_group_and_user\n" + install + "default_postinst\n"
    found = {
        "post-install": install,
        "post-upgrade": install.replace("#!/bin/sh\n", "#!/bin/sh\n" + _UPGRADE, 1),
        "pre-deinstall": _HEAD % ("", name) + remove + "default_prerm\n",
    }
    if gone:
        found["post-deinstall"] = texts["postrm"]
    return found


def _body(text: str) -> str:
    """Return a script as a part of another one: it may exit, the other goes on."""
    lines = [line for line in text.splitlines() if not line.startswith("#!")]
    return "(\n" + "\n".join(lines) + "\n)\n" if lines else ""


def info(one: Package) -> dict[str, str]:
    """Return the metadata of a package."""
    needs = [name + ("~" if end else "=") * bool(version) + version for name, version, end in one.needs]
    return {
        "name": one.name,
        "version": one.version,
        "description": one.about["title"],
        "arch": "noarch",
        "license": one.head["license"],
        "origin": one.name,
        "maintainer": one.head["maintainer"],
        "depends": " ".join([*needs, *("!" + other for other in one.about.get("conflicts", []))]),
    }


def build(
    apk: str, metadata: dict[str, str], texts: dict[str, str], files: Files, output: str, key: str, epoch: int
) -> None:
    """Write one package, signed when there is a key (a PEM of openssl's, curve P-256).

    Raises: ApkError.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree, argv = folder + "/tree", [apk, "mkpkg", *signing(key)]
        os.mkdir(tree, 0o755)
        for path, (data, mode) in files.items():
            put(tree + path, data, mode)
        for key, value in metadata.items():
            argv += ["--info", f"{key}:{value}"]
        for name, text in texts.items():
            put(f"{folder}/{name}", text.encode(), 0o755)
            argv += ["--script", f"{name}:{folder}/{name}"]
        run([*argv, "--files", tree, "--output", output], epoch)


def index(apk: str, packages: list[str], output: str, key: str, epoch: int) -> None:
    """Write the index of packages, signed when there is a key.

    Raises: ApkError.
    """
    run([apk, "mkndx", "--allow-untrusted", *signing(key), "--output", output, *packages], epoch)


def signing(key: str) -> list[str]:
    return ["--sign-key", key] if key else []


def put(path: str, data: bytes, mode: int) -> None:
    """Write a file, in folders that everybody may read whatever the umask is."""
    before = os.umask(0o022)
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    os.umask(before)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def run(argv: list[str], epoch: int) -> None:
    """Run apk as root, or as what looks like root: owners come from the tree.

    Raises: ApkError.
    """
    if os.getuid():
        argv = ["unshare", "--map-root-user", *argv]
    env = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ApkError(f"{argv[-1]}: {(done.stderr or done.stdout).strip()}")
