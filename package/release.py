"""Write a release into one folder that is a feed as it lies: `python3 package/release.py`.

    build/release/python3.11/    packages, index and signature for that Python, as build.py writes them
    build/release/python3.13/
    build/release/any/
    build/release/oasis.pub      the public key of the index, for opkg; with --ipk-key
    build/release/oasis.pem      that for apk; with --apk-key
    build/release/NOTES.md       the newest section of CHANGELOG.md
    build/release/bom.cdx.json   the bill of materials: each package, its files and what it needs (CycloneDX 1.6)
    build/release/SHA256SUMS     of every file

Contract: all Pythons of the manifest or nothing, and the same bytes from the same commit wherever it lies; but for
apk's signatures, which are never the same twice.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import uuid

import apk
import build
import manifest as manifests
from build import BuildError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from manifest import Manifest

    Json = dict[str, Any]

TOOLS = ("rcssmin", "rjsmin")
BOM, SUMS = "bom.cdx.json", "SHA256SUMS"


def notes(changelog: str, version: str) -> str:
    """Return the newest section of a changelog under the name of the release. Raises: BuildError."""
    found = re.search(r"^## [^\n]*\n+(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if not found or not found[1].strip():
        raise BuildError("the newest section of CHANGELOG.md is empty")
    return f"# Oasis {version}\n\n{found[1].strip()}\n"


def sums(folder: str) -> dict[str, str]:
    """Return {path below a folder: SHA-256} of all that is in it."""
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder).replace(os.sep, "/")] = hashlib.sha256(file.read()).hexdigest()
    return dict(sorted(found.items()))


def bom(manifest: Manifest, digests: dict[str, str], time_s: int) -> Json:
    """Return the bill of materials of packages by their sums.

    Source: https://cyclonedx.org/docs/1.6/json/; what comes from the router's own feeds has no version.
    """
    version, packages = manifests.version(manifest), manifest["packages"]
    ours, licence = {"name": manifest["maintainer"]}, [{"license": {"id": manifest["license"]}}]
    components = [_package(name, about, version, digests) for name, about in packages.items()]
    for one in components:
        one.update(supplier=ours, licenses=licence)
    theirs = sorted({need for about in packages.values() for need in about["depends"]} - set(packages))
    components += [{**_component("library", name), "supplier": {"name": "OpenWrt"}} for name in theirs]
    whole = {**_component("application", "oasis-release", manifest["version"]), "supplier": ours, "licenses": licence}
    needs = {name: about["depends"] for name, about in packages.items()}
    needs.update({**{name: [] for name in theirs}, whole["bom-ref"]: list(packages)})
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(digests)).urn,
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(time_s, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": [_component("library", name, importlib.metadata.version(name)) for name in TOOLS]},
            "component": whole,
        },
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": sorted(names)} for ref, names in sorted(needs.items())],
    }


def _component(kind: str, name: str, version: str = "") -> Json:
    at = {"version": version, "purl": f"pkg:generic/{name}@{version}"} if version else {"purl": "pkg:generic/" + name}
    return {"type": kind, "bom-ref": name, "name": name, **at}


def _package(name: str, about: Manifest, version: str, digests: dict[str, str]) -> Json:
    files = [
        {"type": "file", "bom-ref": path, "name": path, "hashes": [{"alg": "SHA-256", "content": digest}]}
        for path, digest in digests.items()
        if os.path.basename(path) in (f"{name}_{version}_all.ipk", f"{name}-{version}.apk")
    ]
    return {**_component("application", name, version), "description": about["title"], "components": files}


def public_ipk(secret: str) -> str:
    """Return the public key that fits a secret one of usign or signify without a passphrase. Raises: BuildError.

    Source: usign's struct seckey: algorithm, "BK", rounds, salt and checksum (24 bytes), fingerprint (8), both keys.
    """
    raw = base64.b64decode(secret.strip().split("\n")[-1])
    if len(raw) != 104 or raw[:4] != b"EdBK" or raw[4:8] != bytes(4):
        raise BuildError("the key for the index is none of usign's or signify's, or it has a passphrase")
    public = base64.b64encode(b"Ed" + raw[32:40] + raw[72:]).decode()
    return f"untrusted comment: public key {raw[32:40].hex()}\n{public}\n"


def public_apk(path: str) -> bytes:
    """Return the public key that fits a secret one in PEM. Raises: BuildError."""
    done = subprocess.run(["openssl", "pkey", "-in", path, "-pubout"], capture_output=True, check=False)
    if done.returncode:
        raise BuildError(f"openssl cannot read {path}: {done.stderr.decode().strip()}")
    return done.stdout


def write(folder: str, name: str, text: str) -> None:
    build.write(os.path.join(folder, name), text.encode())


def release(manifest: Manifest, folder: str, time_s: int, ipk_key: str, apk_key: str) -> None:
    """Write everything. Raises: BuildError, ApkError."""
    build.feeds(manifest, folder, [*manifest["pythons"], ""], time_s, ipk_key, apk_key)
    if ipk_key:
        with open(ipk_key, encoding="ascii") as file:
            write(folder, "oasis.pub", public_ipk(file.read()))
    if apk_key:
        build.write(os.path.join(folder, "oasis.pem"), public_apk(apk_key))
    with open(os.path.join(manifests.REPOSITORY, "CHANGELOG.md"), encoding="utf-8") as file:
        write(folder, "NOTES.md", notes(file.read(), manifest["version"]))
    write(folder, BOM, json.dumps(bom(manifest, sums(folder), time_s), indent=1, ensure_ascii=False) + "\n")
    write(folder, SUMS, "".join(f"{digest}  {path}\n" for path, digest in sums(folder).items()))
    if ipk_key:
        build.sign(os.path.join(folder, SUMS), ipk_key)


def main(words: list[str]) -> int:
    manifest, repository = manifests.load(), manifests.REPOSITORY
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", default=os.path.join(repository, "build", "release"))
    build.add_keys(parser)
    read = parser.parse_args(words)
    shutil.rmtree(read.output, ignore_errors=True)
    try:
        release(manifest, read.output, build.epoch(repository, dict(os.environ)), read.ipk_key, read.apk_key)
    except (BuildError, apk.ApkError, importlib.metadata.PackageNotFoundError) as error:
        shutil.rmtree(read.output, ignore_errors=True)
        print(f"release: {error}", file=sys.stderr)
        return 1
    print(f"Oasis {manifests.version(manifest)} is in {os.path.relpath(read.output)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
