"""Packages: the same bytes each time, complete, with what opkg and apk read of them."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile

import pytest

import oasis
from oasis.catalogue import entries as catalogue
from tests.oasisd import PARTS
from tests.package import conftest

# They are about all packages.
pytestmark = pytest.mark.part(*PARTS)

NAMES = ("/usr/bin/python3", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14")
PYTHONS = [name for name in NAMES if shutil.which(name)]
EPOCH = 1700000000
HERE = [one for one in ("3.11", "3.13") if conftest.has_python(one)]
LEFT = shutil.ignore_patterns("__pycache__")


@pytest.fixture(scope="module")
def built(packaging):
    return packaging.build.build(packages(packaging), EPOCH)


def packages(packaging, python=""):
    return packaging.build.packages(packaging.manifest.load(), packaging.REPOSITORY, python)


def entries(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return [(info, archive.extractfile(info).read() if info.isfile() else b"") for info in archive]


def parts(data):
    """Return {member: entries} of an .ipk."""
    return {info.name: entries(what) for info, what in entries(data) if info.name.endswith(".tar.gz")}


def control(data):
    found = {info.name: what for info, what in parts(data)["./control.tar.gz"]}
    return dict(line.split(": ", 1) for line in found["./control"].decode().split("\n") if re.match(r"[A-Z]", line))


def build(tree, output, *words, python=sys.executable):
    argv = [python, "-B", str(tree / "package" / "build.py"), "--output", str(output), *words]
    env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "SOURCE_DATE_EPOCH": str(EPOCH)}
    if importlib.util.find_spec("rjsmin"):  # in pure Python for any other interpreter
        env["PYTHONPATH"] = os.path.dirname(importlib.util.find_spec("rjsmin").origin)
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(packaging, tmp_path):
    """Return a copy of what packages are made of: somebody may be editing here."""
    for name in ("package", "files", "oasis", "po"):
        if os.path.isdir(f"{packaging.REPOSITORY}/{name}"):
            shutil.copytree(
                f"{packaging.REPOSITORY}/{name}", tmp_path / "tree" / name, ignore=LEFT, copy_function=shutil.copy
            )
    return tmp_path / "tree"


def digests(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_version_is_that_of_the_program(packaging):
    manifest = packaging.manifest.load()
    assert manifest["version"] == oasis.VERSION
    with open(packaging.REPOSITORY + "/pyproject.toml", encoding="utf-8") as file:
        assert f'version = "{manifest["version"]}"' in file.read()


def test_every_file_for_the_router_is_in_one_package(packaging):
    manifest = packaging.manifest.load()
    once = [one for one in manifest["packages"].values() if "only" not in one]
    packed = [path for one in once for path in packaging.manifest.sources(manifest, one).values()]
    assert len(packed) == len(set(packed))
    wanted = set()
    for top in ("files", "oasis"):
        for folder, _, names in os.walk(os.path.join(packaging.REPOSITORY, top)):
            wanted |= {os.path.join(folder, name) for name in names if "__pycache__" not in folder}
    left = {path for path in wanted - set(packed) if not path.endswith((".pyi", ".pyc")) and "/." not in path}
    assert left == set()
    assert set(packed) <= wanted


def test_every_source_of_the_manifest_is_there(packaging):
    for package in packaging.manifest.load()["packages"].values():
        for source in package.get("files", {}).values():
            assert os.path.exists(os.path.join(packaging.REPOSITORY, source)), source


def test_owner_order_time_and_form_are_fixed(built):
    for _, data, _ in built.values():
        outer = entries(data)
        assert [info.name for info, _ in outer][1:] == ["./debian-binary", "./control.tar.gz", "./data.tar.gz"]
        for inside in [outer, *parts(data).values()]:
            kinds = [(True, os.path.splitext(one.name)[1]) if one.isfile() else (False, "") for one, _ in inside]
            order = [(*kind, info.name) for kind, (info, _) in zip(kinds, inside, strict=True)]
            assert order == sorted(order)
            for info, _ in inside:
                assert (info.uid, info.gid, info.uname, info.gname, info.mtime) == (0, 0, "", "", EPOCH)
                assert stat.S_IMODE(info.mode) in (0o755, 0o644, 0o600), info.name


def test_gzip_tells_nothing_of_the_host(packaging):
    packed = packaging.archive.gzip(b"x" * 1000)
    assert packed[:10] == b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
    assert gzip.decompress(packed) == b"x" * 1000


def test_control_tells_dependencies_conflicts_users_and_size(built, packaging):
    manifest = packaging.manifest.load()
    for name, (_, data, size) in built.items():
        fields = control(data)
        package = manifest["packages"][fields["Package"]]
        assert name == f"{fields['Package']}_{fields['Version']}_all.ipk"
        wanted = [one + " (= 0.2.0-r1)" if one in manifest["packages"] else one for one in package["depends"]]
        assert fields.get("Depends", "") == ", ".join(wanted)
        assert fields.get("Conflicts", "") == ", ".join(package.get("conflicts", []))
        assert fields.get("Require-User", "").split() == [f"{user}:{user}" for user in package.get("users", [])]
        assert int(fields["Installed-Size"]) == size


def test_the_configuration_is_a_conffile_and_private(built):
    inside = parts(built[next(name for name in built if name.startswith("oasis_"))][1])
    texts = {info.name: what.decode() for info, what in inside["./control.tar.gz"]}
    assert texts["./conffiles"] == "/etc/config/oasis\n"
    modes = {info.name: info.mode for info, _ in inside["./data.tar.gz"]}
    assert modes["./etc/config/oasis"] == 0o600
    assert modes["./etc/init.d/oasis"] == 0o755
    assert not [name for name in modes if name.endswith((".pyc", ".pyi")) or "/." in name[1:]]


def test_the_index_has_every_package_with_size_and_sum(built, packaging):
    text = packaging.ipk.index({name: (text, data) for name, (text, data, _) in built.items()})
    stanzas = [dict(re.findall(r"^(\w[\w-]*): (.*)$", stanza, re.M)) for stanza in text.strip().split("\n\n")]
    assert [one["Filename"] for one in stanzas] == sorted(built)
    for one in stanzas:
        data = built[one["Filename"]][1]
        assert (int(one["Size"]), one["SHA256sum"]) == (len(data), hashlib.sha256(data).hexdigest())
        assert one["Description"] and one["Package"] and one["Version"]


def test_two_runs_give_the_same_bytes_whatever_the_python(tree, tmp_path):
    seen = []
    for number, python in enumerate([sys.executable, sys.executable, *PYTHONS]):
        done = build(tree, tmp_path / str(number), "--python", "any", python=python)
        if done.returncode == 0:
            seen.append(digests(tmp_path / str(number)))
        else:
            assert number > 1, done.stderr  # another interpreter may be a name without a program
    assert len(seen[0]) >= 15
    assert seen == [seen[0]] * len(seen)


@pytest.mark.parametrize("python", ["any", *HERE[:1]])
def test_modes_and_times_of_the_checkout_do_not_matter(tree, tmp_path, python):
    assert build(tree, tmp_path / "one", "--python", python).returncode == 0
    for folder, _, names in os.walk(tree):
        os.chmod(folder, 0o775)
        for name in names:
            path = os.path.join(folder, name)
            os.chmod(path, 0o775 if os.access(path, os.X_OK) and os.stat(path).st_mode & 0o100 else 0o664)
            os.utime(path, (1, 1))
    assert build(tree, tmp_path / "two", "--python", python).returncode == 0
    assert len(digests(tmp_path / "one")) >= 15
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


@pytest.mark.parametrize("python", HERE)
def test_bytecode_is_for_one_python_and_brings_no_source_and_no_docstring(packaging, python):
    every = {one.name: one for one in packages(packaging, python)}
    inside = [
        (path, data) for one in every.values() if one.name != "oasis-src" for path, (data, _) in one.files.items()
    ]
    code = [data for path, data in inside if path.endswith(".pyc")]
    assert len(code) > 200 and not [path for path, _ in inside if path.endswith(".py")]
    magic = subprocess.check_output(
        [packaging.build.interpreter(python), "-c", "import importlib.util as u; print(u.MAGIC_NUMBER.hex())"],
        text=True,
    )
    assert {data[:4].hex() for data in code} == {magic.strip()}
    assert not any(b"Return the names of" in data for data in code)
    text = packaging.ipk.control(every["oasis"], 1, EPOCH)
    major, minor = python.split(".")
    assert f"Depends: python3-light (>= {python}), python3-light (<< {major}.{int(minor) + 1}), python3-openssl" in text
    assert f"python3-light~{python} " in packaging.apk.info(every["oasis"])["depends"]
    # A part for another Python has the same name and version: opkg itself has to refuse it.
    with_code = {name for name, one in every.items() if any(path.endswith(".pyc") for path in one.files)}
    assert with_code == {name for name, one in every.items() if any(need[0] == "python3-light" for need in one.needs)}
    assert {"oasis", "oasis-offline", "oasis-schedule"} <= with_code


@pytest.mark.parametrize("python", ["", *HERE])
def test_each_part_tells_how_large_its_files_are(packaging, python):
    told = {}
    for one in packages(packaging, python):
        for path, (data, _) in one.files.items():
            if path.endswith("/files.json"):
                folder = path[: -len("files.json")]
                told[one.name] = {folder + name: size for name, size in json.loads(data).items()}
        inside = {path: len(data) for path, (data, _) in one.files.items() if not path.endswith("/files.json")}
        assert told.get(one.name, {}).items() <= inside.items()
        assert one.name not in told or {path for path in inside if path.startswith(folder)} == set(told[one.name])
    parts = ("offline", "memory", "schedule", "telegram", "mcp", "monitor", "lua", "admin")
    assert set(told) == {f"oasis-{name}" for name in parts}


@pytest.mark.parametrize("python", HERE)
def test_bytecode_says_what_this_python_compiles_and_what_is_equal_once(packaging, python):
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "same_bytecode.py")
    argv = [packaging.build.interpreter(python), "-X", "no_debug_ranges", "-B", program]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50_000


def test_a_python_that_is_not_here_is_named(packaging, tree, tmp_path):
    done = build(tree, tmp_path / "out", "--python", "3.99")
    assert done.returncode == 1
    assert (
        done.stderr
        == "package: there is no python3.99 on PATH; packages with sources need none: make package PYTHON=any\n"
    )


@pytest.mark.parametrize("python", ["foo", "3.9", "3", "2.7", "3.x", ""])
def test_what_is_no_python_that_oasis_runs_with_is_refused_and_the_feeds_of_others_stay(tree, tmp_path, python):
    out = tmp_path / "out"
    (out / "any").mkdir(parents=True)
    done = build(tree, out, "--python", python or "python")
    assert (done.returncode, done.stderr) == (
        1,
        f"package: PYTHON={python or 'python'}: it is 3.10 or later, like 3.11, or any\n",
    )
    assert (out / "any").is_dir()


def test_sources_to_read_are_beside_what_runs(built):
    inside = parts(next(data for name, (_, data, _) in built.items() if name.startswith("oasis-src_")))
    files = [info.name for info, _ in inside["./data.tar.gz"] if info.isfile()]
    assert len(files) > 200 and all(name.startswith("./usr/share/oasis/src/oasis/") for name in files)


def test_the_time_is_asked_for_when_nobody_knows_it(packaging, tmp_path):
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    with pytest.raises(packaging.build.BuildError, match="SOURCE_DATE_EPOCH"):
        packaging.build.epoch(str(tmp_path), {})
    (tmp_path / "CHANGELOG.md").write_text("## Unreleased\n\n## 0.2.0 (2026-11-22)\n\n## 0.1.0 (2026-01-01)\n")
    assert packaging.build.epoch(str(tmp_path), {}) == 1795305600
    assert packaging.build.epoch(str(tmp_path), {"SOURCE_DATE_EPOCH": "12"}) == 12


def test_apk_hears_of_users_before_and_starts_after_our_own_script(packaging):
    texts = packaging.manifest.scripts(packaging.manifest.load()["packages"]["oasis"])
    scripts = packaging.apk.scripts("oasis", texts)
    for name in ("post-install", "post-upgrade"):
        order = [scripts[name].index(word) for word in ("add_group_and_user", "bytecode.sh make", "default_postinst")]
        assert order == sorted(order)
    assert "PKG_UPGRADE=1\n" in scripts["post-upgrade"] and "PKG_UPGRADE=1\n" not in scripts["post-install"]
    assert scripts["pre-deinstall"].index("bytecode.sh drop") < scripts["pre-deinstall"].index("default_prerm")
    assert all(text.startswith("#!/bin/sh\n") for text in scripts.values())
    for text in scripts.values():
        assert subprocess.run(["sh", "-n"], input=text, text=True, check=False).returncode == 0


def test_apk_packages_bring_what_openwrt_reads_of_them(packaging):
    manifest = packaging.manifest.load()
    package = manifest["packages"]["oasis"]
    one = next(one for one in packages(packaging) if one.name == "oasis")
    files, book = one.files, packaging.apk.book(one)
    texts = {path.rpartition("/")[2]: data.decode() for path, (data, _) in book.items()}
    assert "/etc/init.d/oasis\n" in texts["oasis.list"] and "/lib/apk/packages/oasis.rusers\n" in texts["oasis.list"]
    assert texts["oasis.conffiles"] == "/etc/config/oasis\n"
    config = hashlib.sha256(files["/etc/config/oasis"][0]).hexdigest()
    assert texts["oasis.conffiles_static"] == f"/etc/config/oasis {config}\n"
    assert texts["oasis.rusers"].split()[0] == "oasis:oasis"
    info = packaging.apk.info(one)
    assert set(info["depends"].split()) == {*package["depends"], *("!" + name for name in package["conflicts"])}
    assert (info["arch"], info["version"]) == ("noarch", "0.2.0-r1")


@pytest.mark.skipif(not shutil.which("usign"), reason="usign is not on PATH")
def test_the_index_is_signed_with_the_builders_key(packaging, tmp_path):
    subprocess.run(["usign", "-G", "-p", tmp_path / "public", "-s", tmp_path / "secret", "-c", "x"], check=True)
    (tmp_path / "Packages").write_text("x")
    packaging.build.sign(str(tmp_path / "Packages"), str(tmp_path / "secret"))
    argv = ["usign", "-V", "-q", "-m", tmp_path / "Packages", "-p", tmp_path / "public"]
    assert subprocess.run(argv, check=False).returncode == 0
    (tmp_path / "Packages").write_text("y")
    assert subprocess.run(argv, check=False).returncode != 0


def test_a_key_without_a_signer_is_an_error(packaging, tmp_path):
    with pytest.raises(packaging.build.BuildError, match="neither usign nor signify"):
        packaging.build.sign(str(tmp_path / "Packages"), "key", lambda name: None)


def test_scripts_do_nothing_while_an_image_is_built(packaging, tmp_path):
    manifest = packaging.manifest.load()
    shell = ["busybox", "ash"] if shutil.which("busybox") else ["sh"]
    (tmp_path / "empty").mkdir()
    for package in manifest["packages"].values():
        for name, text in packaging.manifest.scripts(package).items():
            (tmp_path / name).write_text(text)
            env = {"IPKG_INSTROOT": str(tmp_path / "empty"), "PATH": "/nowhere"}
            argv = [shutil.which(shell[0]), *shell[1:], str(tmp_path / name)]
            done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), name
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("python", HERE[:1])
def test_scripts_are_packed_without_comments_and_do_the_same(packaging, python):
    found = 0
    for one in packages(packaging, python):
        for path, (data, _) in one.files.items():
            if data.startswith(b"#!/bin/sh"):
                lines = data.decode().split("\n")[1:]
                assert not [line for line in lines if line.strip().startswith("#")], path
                source = packaging.manifest.files(one.head, one.about)[path][0].decode()
                kept = [line for line in source.split("\n")[1:] if not line.strip().startswith("#")]
                assert lines == kept and "<<" not in source, path  # no text of a here-document may begin like a comment
                assert subprocess.run(["sh", "-n"], input=data, check=False).returncode == 0, path
                found += 1
    assert found >= 5


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not on PATH")
def test_scripts_are_clean(packaging):
    here = packaging.REPOSITORY
    scripts = [f"{here}/package/scripts/{name}" for name in os.listdir(here + "/package/scripts")]
    argv = [
        "shellcheck",
        "-s",
        "sh",
        *scripts,
        here + "/files/usr/lib/oasis/bytecode.sh",
        here + "/openwrt-feed/oasis/test.sh",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_pages_are_packed_small_and_stay_scripts(packaging):
    pytest.importorskip("rjsmin", reason="NOT RUN: rjsmin and rcssmin are not installed")
    files = next(one.files for one in packages(packaging) if one.name == "luci-app-oasis")
    scripts = {path: data.decode() for path, (data, _) in files.items() if path.endswith(".js")}
    assert len(scripts) > 25
    # LuCI calls a module as the body of a function.
    code = "Object.values(JSON.parse(require('fs').readFileSync(0))).forEach(text => new Function(text))"
    done = subprocess.run(["node", "-e", code], input=json.dumps(scripts), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for path, text in scripts.items():
        with open(packaging.REPOSITORY + "/files" + path, encoding="utf-8") as file:
            whole = file.read()
        assert len(text) < len(whole)
        # What LuCI reads of a module, and every text that a person may see.
        assert re.findall(r"'require [^']*'", text) == re.findall(r"'require [^']*'", whole)
        assert re.findall(r"\b_\('[^']*'", text) == re.findall(r"\b_\('[^']*'", whole)


@pytest.mark.parametrize("launcher", ["/usr/bin/oasis", "/usr/sbin/oasisd"])
def test_a_package_for_another_python_says_so(packaging, tmp_path, launcher):
    others = [one for one in HERE if one != "%d.%d" % sys.version_info[:2]]
    if not others:
        pytest.skip("NOT RUN: there is no other Python here that packages can be made for")
    files = next(one.files for one in packages(packaging, others[0]) if one.name == "oasis")
    for path, (data, _) in files.items():
        (tmp_path / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path[1:]).write_bytes(data)
    text = (tmp_path / launcher[1:]).read_text().replace('"/usr/lib/oasis"', repr(f"{tmp_path}/usr/lib/oasis"))
    done = subprocess.run([sys.executable, "-IS", "-c", text, "help"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the package is for another Python than this router's" in done.stderr and "Traceback" not in done.stderr


def test_options_of_the_catalogue_stand_together_and_are_read_as_they_were(packaging):
    for folder in ("packages", "feed", "generated"):
        for name in catalogue._names(folder):
            path = f"oasis/catalogue/{folder}/{name}.json"
            with open(f"{packaging.REPOSITORY}/{path}", "rb") as file:
                data = file.read()
            small = packaging.build.dense("/usr/lib/oasis/" + path, data)
            assert len(small) <= len(data)
            assert catalogue._apart(json.loads(small)["types"]) == json.loads(data)["types"], name
