"""README, CONTRIBUTING and docs/: links and commands that work; figures, pictures and sizes that are those of today."""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import sys

import pytest

from tests.oasisd import PARTS
from tests.repository.test_words import REPOSITORY, documents, read

README_LINES = 160
DECISIONS = "docs/decisions"
# A figure in README may differ from today's by this part of it.
TOLERANCE = 0.15
DOCUMENTS = sorted(documents())
# The feed's README speaks of files and targets of OpenWrt's SDK.
OURS = [name for name in DOCUMENTS if name != "openwrt-feed/README.md"]


def path_of(*parts):
    return os.path.join(REPOSITORY, *parts)


def test_readme_is_short():
    assert read("README.md").count("\n") <= README_LINES


def anchors(path):
    """Return the names by which headings of a document are linked to."""
    headings = re.findall(r"^#+ (.*)$", read(path), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_broken(name, target):
    if re.match(r"https?://", target):
        return False
    file, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(name), file)) if file else name
    return not os.path.exists(path_of(path)) or bool(anchor and anchor not in anchors(path))


def test_links_lead_to_something():
    links = [(name, target) for name in DOCUMENTS for target in re.findall(r"\]\(([^)\s]+)\)", read(name))]
    assert len(links) > 100
    assert [link for link in links if is_broken(*link)] == []


@pytest.mark.part(*PARTS)
def test_files_that_a_document_names_are_there():
    quoted = r"`((?:oasis|tests|files|package|docs|po|openwrt-feed)/[\w./-]+)`"
    run = r"python3 ((?:tests|package)/[\w./-]+\.py)|pytest -q ([\w./-]+)"
    named = [(name, path) for name in OURS for path in re.findall(quoted, read(name))]
    named += [(name, "".join(found)) for name in OURS for found in re.findall(run, read(name))]
    assert len(named) > 50
    assert [(name, path) for name, path in named if not os.path.exists(path_of(path))] == []


def test_targets_of_make_are_in_the_makefile():
    makefile, used = read("Makefile"), set()
    for name in OURS:
        lines = re.findall(r"`make ([^`]*)`", read(name)) + re.findall(r"^    make ([^#\n]*)", read(name), flags=re.M)
        used |= {word for line in lines for word in re.split(r"\s{2,}", line)[0].split() if "=" not in word}
    assert {"run", "test", "package"} <= used
    assert {word for word in used if not re.search(rf"^{re.escape(word)}:", makefile, flags=re.M)} == set()


def test_the_picture_of_the_layers_is_what_the_rows_say():
    drawn = subprocess.run(
        [sys.executable, path_of("tests/architecture.py")], capture_output=True, text=True, check=True
    )
    (shown,) = re.findall(r"^```layers\n(.*?)^```$", read("docs/architecture.md"), flags=re.M | re.S)
    assert shown == drawn.stdout, "draw it again: .venv/bin/python3 tests/architecture.py"


def decisions():
    return sorted(name for name in os.listdir(path_of(DECISIONS)) if name != "README.md")


def test_decisions_are_numbered_without_a_gap_and_all_in_the_index():
    assert [int(name[:4]) for name in decisions()] == list(range(1, len(decisions()) + 1))
    index = re.findall(r"^- \[(\d{4})\]\(([\w-]+\.md)\) (.*)$", read(f"{DECISIONS}/README.md"), flags=re.M)
    titles = {name: read(f"{DECISIONS}/{name}").split("\n")[0].partition(". ")[2] for name in decisions()}
    assert index == [(name[:4], name, titles[name]) for name in decisions()]


def test_a_decision_has_choice_reason_and_what_would_change_it():
    form = (
        r"# \d+\. .+\n\n\*\*Choice\.\*\* .{20,}?\n\n\*\*Reason\.\*\* .{20,}?\n\n\*\*What would change it\.\*\* .{20,}\n"
    )
    texts = {name: read(f"{DECISIONS}/{name}") for name in decisions()}
    assert [name for name, text in texts.items() if not re.fullmatch(form, text, flags=re.S)] == []


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Return {package: (bytes to download, bytes installed)} as `make package PYTHON=3.11` prints them."""
    own = "%d.%d" % sys.version_info[:2]
    folder = str(tmp_path_factory.mktemp("packages") / "built")
    argv = [sys.executable, "package/build.py", "--python", own, "--output", folder]
    done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    lines = re.findall(r"^ +(\S+?)_\S+\.ipk +([\d,]+) bytes, installed +([\d,]+)$", done.stdout, flags=re.M)
    return {name: (int(packed.replace(",", "")), int(put.replace(",", ""))) for name, packed, put in lines}


def in_bytes(figure):
    number, unit = figure.split()
    return float(number) * {"kB": 1e3, "MB": 1e6}[unit]


@pytest.mark.part(*PARTS)
def test_sizes_of_packages_are_those_that_are_built(weights):
    rows = re.findall(r"^\| `([\w-]+)` \| ([\d.]+ [kM]B) \| ([\d.]+ [kM]B) \|", read("README.md"), flags=re.M)
    # one language of the pages stands for all
    assert {name for name, _, _ in rows} == {
        name for name in weights if not name.startswith("luci-i18n-") or name.endswith("-ja")
    }
    for name, *figures in rows:
        for figure, measured in zip(figures, weights[name], strict=True):
            assert abs(in_bytes(figure) - measured) <= max(TOLERANCE * measured, 500), (name, figure, measured)


@pytest.mark.part("offline")
def test_what_the_built_in_service_understands_is_counted():
    least, languages = re.search(r"more than (\d+) requests in (\w+) languages", read("README.md")).groups()
    with open(path_of("oasis/parts/offline/intents/intents.json"), encoding="utf-8") as handle:
        intents = json.load(handle)["intents"]
    assert int(least) < len(intents) < int(least) + 20
    assert languages == "five"
    for language in ("de", "en", "es", "ja", "zh"):
        assert os.path.exists(path_of(f"oasis/parts/offline/intents/{language}.json"))


def test_hooks_run_tools_of_the_venv_and_fetch_nothing():
    yaml = pytest.importorskip("yaml")
    repositories = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert [one["repo"] for one in repositories] == ["local"]
    hooks = {hook["id"]: hook for hook in repositories[0]["hooks"]}
    assert {"format", "lint", "words"} <= set(hooks)
    for hook in hooks.values():
        assert hook["language"] == "system" and "additional_dependencies" not in hook
        program, *words = hook["entry"].split()
        assert re.fullmatch(r"\.venv/bin/(ruff|shellcheck|python3)", program)
        assert [word for word in words if word.startswith("tests/") and not os.path.exists(path_of(word))] == []


@pytest.mark.part(*PARTS)
def test_modules_that_the_sources_name_are_there():
    paths = [path for top in ("oasis", "tests", "files", "package")
             for path in glob.glob(path_of(top, "**/*.*"), recursive=True)]  # fmt: skip
    names = {os.path.basename(path) for path in paths if path.endswith(".py")}
    missing = []
    for path in paths:
        if path.startswith(path_of("oasis", "")) and path.endswith((".py", ".pyi", ".json")):
            with open(path, encoding="utf-8") as handle:
                named = set(re.findall(r"\b[a-z]\w*\.py\b", handle.read()))
            missing += [(os.path.relpath(path, REPOSITORY), name) for name in sorted(named - names)]
    assert missing == []
