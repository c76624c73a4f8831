"""The data of the built-in service in packages with bytecode: its final form, which answers as the files it is of."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys

import pytest

from oasis import VERSION
from tests.oasisd import REPOSITORY, has_part

if has_part("offline"):
    from oasis.parts.offline import derive, tables

pytestmark = pytest.mark.part("offline")

OWN = "%d.%d" % sys.version_info[:2]
LANGUAGES = ("en", "de", "es", "ja", "zh")
INTENTS = "/usr/lib/oasis/oasis/parts/offline/intents/"
REPLY = """
import json, sys
sys.path.insert(0, sys.argv[1])
from oasis.parts.offline.provider import Provider
class Facts:
    def config(self, package): return {}
    def devices(self): return []
    def interfaces(self): return []
    def services(self): return {}
    def ending(self): return []
provider = Provider()
for text in json.load(sys.stdin):
    print(json.dumps(provider.reply([{"role": "user", "content": text}], Facts(), 1764000000)))
"""
# A start of the process, as the daemon does it, with one request.
START = [sys.executable, "-I", "-S", "-B", "/oasis/parts/offline/__main__.pyc", "0"]
REQUEST = json.dumps({"messages": [{"role": "user", "content": "what can you do?"}], "now_s": 100, "only_sure": False})


@pytest.fixture(scope="module")
def packages(packaging):
    """Return {name: files} of the packages that the built-in service needs, with bytecode for this Python."""
    manifest = copy.deepcopy(packaging.manifest.load())
    wanted = ("oasis", "oasis-offline", *(f"oasis-offline-{name}" for name in LANGUAGES[1:]))
    manifest["packages"] = {
        name: one for name, one in manifest["packages"].items() if name in wanted or "parts" in str(one)
    }
    built = packaging.build.packages(manifest, packaging.REPOSITORY, OWN)
    return {one.name: one.files for one in built if one.name in wanted}


@pytest.fixture
def library(packages, tmp_path):
    """Return the folder in which Oasis lies after these packages were installed."""
    for files in packages.values():
        for path, (data, _) in files.items():
            if path.startswith("/usr/lib/oasis/"):
                target = tmp_path / path.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
    return tmp_path / "usr/lib/oasis"


def replies(library, sentences):
    argv = [sys.executable, "-IS", "-c", REPLY, str(library)]
    done = subprocess.run(argv, input=json.dumps(sentences), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def text_of(events):
    return "".join(event.get("text", "") for event in events)


def test_each_package_has_the_tables_of_its_languages_and_nothing_that_they_were_made_of(packages):
    inside = {name: sorted(path for path in files if path.startswith(INTENTS)) for name, files in packages.items()}
    assert inside.pop("oasis") == []
    assert inside.pop("oasis-offline") == [INTENTS + "common.tables", INTENTS + "en.tables"]
    assert inside == {f"oasis-offline-{name}": [f"{INTENTS}{name}.tables"] for name in LANGUAGES[1:]}
    assert not [path for path in packages["oasis-offline"] if "derive" in path]


@pytest.mark.parametrize("name", ["common", *LANGUAGES])
def test_tables_hold_what_is_derived_of_the_files(packages, name):
    (data,) = (files[f"{INTENTS}{name}.tables"][0] for files in packages.values() if f"{INTENTS}{name}.tables" in files)
    for part in derive.SECTIONS.get(name, derive.OF_A_LANGUAGE):
        assert tables.unpacked(data, name, part) == derive.section(name, part, tables.load)


def test_the_same_files_give_the_same_bytes_whatever_the_order_of_hashes():
    code = "import sys; sys.path.insert(0, %r); from oasis.parts.offline import derive; " % REPOSITORY
    code += "sys.stdout.buffer.write(derive.packed('ja') + derive.packed('common'))"
    seen = set()
    for seed in ("0", "1"):
        argv, env = [sys.executable, "-S", "-c", code], {"PYTHONHASHSEED": seed}
        seen.add(subprocess.run(argv, env=env, capture_output=True, check=True).stdout)
    assert seen == {derive.packed("ja") + derive.packed("common")}


def test_what_is_installed_answers_as_a_clone(library):
    others = {name for name, one in tables.load("intents")["intents"].items() if "part" in one}  # not in this library
    texts = [item for name in LANGUAGES for item in tables.load(name)["intents"].items()]
    said = [one["example"] for name, one in texts if "example" in one and name not in others]
    said = [*said[::4], "nenne den router attic", "please colour the router at 25:00", "tunr on teh guest wifi"]
    assert replies(library, said) == replies(REPOSITORY, said)


def damaged(data, how):
    """Return the content of a file of tables after something happened to it."""
    return {
        "cut off": data[: len(data) // 2],
        "empty": b"",
        "another version": data.replace(VERSION.encode(), b"0.1.0", 1),
        "no tables": b"\xff" * 5000,
        "no end of the first line": b"oasis " * 1000,
        "a byte is another one": data[:2000] + bytes([data[2000] ^ 255]) + data[2001:],
        "sizes that are none": data.replace(b":", b":x", 1),
    }[how]


HOW = (
    "cut off", "empty", "another version", "no tables", "no end of the first line", "a byte is another one",
    "sizes that are none",
)  # fmt: skip


@pytest.mark.parametrize("how", HOW)
def test_a_language_with_damaged_tables_is_named_and_english_goes_on(library, how):
    path = library / "oasis/parts/offline/intents/de.tables"
    path.write_bytes(damaged(path.read_bytes(), how))
    german, english = replies(library, ["nenne den router attic", "call this router attic"])
    assert "opkg install --force-reinstall oasis-offline-de" in text_of(german)
    assert "system.@system[0].hostname='attic'" in json.dumps(english)


@pytest.mark.parametrize("name", ["en", "common"])
@pytest.mark.parametrize("how", HOW)
def test_damaged_tables_of_english_end_the_process_with_one_line(library, name, how):
    path = library / f"oasis/parts/offline/intents/{name}.tables"
    path.write_bytes(damaged(path.read_bytes(), how))
    argv = [*START[:4], str(library) + START[4], *START[5:]]
    done = subprocess.run(argv, input=REQUEST + "\n", capture_output=True, text=True, check=False)
    (line,) = done.stderr.strip().split("\n")
    assert done.returncode == 1 and done.stdout == ""
    assert line.startswith(f"ImportError: the files of English cannot be read: intents/{name}.tables ")


def test_a_package_without_tables_and_files_says_so(library):
    shutil.rmtree(library / "oasis/parts/offline/intents")
    argv = [*START[:4], str(library) + START[4], *START[5:]]
    done = subprocess.run(argv, input=REQUEST + "\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1) and done.stderr.startswith("ImportError: ")
