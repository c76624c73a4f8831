"""A release: complete or not there, the same bytes each time, with a bill of materials that other programs read."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import shutil
import subprocess

import cyclonedx
import jsonschema
import pytest
import referencing

EPOCH = 1700000000
SCHEMAS = os.path.join(os.path.dirname(cyclonedx.__file__), "schema", "_res")


@pytest.fixture(scope="module")
def manifest(packaging):
    """Return the manifest for sources alone: bytecode is compared in test_build.py."""
    return {**copy.deepcopy(packaging.manifest.load()), "pythons": []}


@pytest.fixture(scope="module")
def released(packaging, manifest, tmp_path_factory):
    pytest.importorskip("rjsmin", reason="NOT RUN: rjsmin and rcssmin are not installed")
    folders = [str(tmp_path_factory.mktemp(name) / "release") for name in ("one", "two")]
    for folder in folders:
        packaging.release.release(manifest, folder, EPOCH, "", "")
    return folders


def test_two_releases_of_a_commit_are_the_same_bytes(packaging, released):
    one, two = map(packaging.release.sums, released)
    assert one == two and {"NOTES.md", "SHA256SUMS", "bom.cdx.json", "any/Packages", "any/Packages.gz"} <= set(one)


def test_the_sums_are_those_of_every_file(released):
    with open(released[0] + "/SHA256SUMS", encoding="ascii") as file:
        told = dict(reversed(line.rstrip("\n").split("  ")) for line in file)
    there = {
        os.path.relpath(os.path.join(top, name), released[0])
        for top, _, names in os.walk(released[0])
        for name in names
    }
    assert set(told) == there - {"SHA256SUMS"}
    for path, digest in told.items():
        with open(os.path.join(released[0], path), "rb") as file:
            assert hashlib.sha256(file.read()).hexdigest() == digest, path


def test_the_bill_of_materials_is_valid_by_the_official_schema(released):
    registry, schemas = referencing.Registry(), {}
    for name in ("bom-1.6", "spdx", "jsf-0.82"):
        with open(f"{SCHEMAS}/{name}.SNAPSHOT.schema.json", encoding="utf-8") as file:
            schemas[name] = json.load(file)
        uri = f"http://cyclonedx.org/schema/{name}.SNAPSHOT.schema.json"
        registry = registry.with_resource(uri, referencing.Resource.from_contents(schemas[name]))
    with open(released[0] + "/bom.cdx.json", encoding="utf-8") as file:
        bom = json.load(file)
    checker = jsonschema.Draft7Validator(schemas["bom-1.6"], registry=registry)
    assert [error.message for error in checker.iter_errors(bom)] == []
    assert [error.message for error in checker.iter_errors({**bom, "components": [{"name": "x"}]})] != []


def test_the_bill_of_materials_has_every_package_its_files_and_what_it_needs(released, manifest):
    with open(released[0] + "/bom.cdx.json", encoding="utf-8") as file:
        bom = json.load(file)
    every = {one["bom-ref"]: one for one in bom["components"]}
    needs = {one["ref"]: one["dependsOn"] for one in bom["dependencies"]}
    for name, about in manifest["packages"].items():
        assert needs[name] == sorted(about["depends"])
        assert f"any/{name}_0.2.0-r1_all.ipk" in [one["name"] for one in every[name]["components"]]
    assert {ref for refs in needs.values() for ref in refs} == set(every)


def test_the_notes_are_the_newest_section(packaging):
    text = "# Changelog\n\nWords.\n\n## Unreleased\n\n### Added\n- This.\n\n## 0.1.0 (2026-01-01)\n\n- That.\n"
    assert packaging.release.notes(text, "0.2.0") == "# Oasis 0.2.0\n\n### Added\n- This.\n"
    with pytest.raises(packaging.build.BuildError, match="empty"):
        packaging.release.notes("## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- That.\n", "0.2.0")


def test_a_release_is_for_all_pythons_or_not_there(packaging, manifest, tmp_path):
    with pytest.raises(packaging.build.BuildError, match=r"no python3\.99"):
        packaging.release.release({**manifest, "pythons": ["3.99"]}, str(tmp_path / "x"), EPOCH, "", "")
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(not shutil.which("usign"), reason="usign is not on PATH")
def test_the_public_key_is_that_of_the_secret_one(packaging, tmp_path):
    subprocess.run(["usign", "-G", "-p", tmp_path / "public", "-s", tmp_path / "secret"], check=True)
    made = packaging.release.public_ipk((tmp_path / "secret").read_text())
    assert made.split("\n")[1] == (tmp_path / "public").read_text().split("\n")[1]


def test_a_key_that_cannot_sign_an_index_is_refused(packaging):
    with pytest.raises(packaging.build.BuildError, match="passphrase"):
        packaging.release.public_ipk("untrusted comment: x\nRWScamAeVvOV\n")
