"""Each language but English is a package: who speaks one that is not installed hears so in that language."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.oasisd import REPOSITORY

SAID = {
    "de": ("nenne den router attic", "erst mit einem weiteren Paket: opkg install oasis-offline-de"),
    "es": ("reinicia el router por favor", "Para entender español me falta un paquete: opkg install oasis-offline-es"),
    "ja": ("ルーターを再起動してください", "もう一つパッケージが必要です: opkg install oasis-offline-ja"),
    "zh": ("请重启路由器，把它打开", "还需要一个软件包：opkg install oasis-offline-zh"),
}
REPLY = """
import json, sys
sys.path.insert(0, sys.argv[1])
from oasis.parts.offline.provider import Provider
class Facts:
    def config(self, package): return {}
    def devices(self): return []
    def interfaces(self): return {}
    def services(self): return {}
provider = Provider()
for text in sys.argv[2:]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    print(json.dumps(provider.reply([message], Facts(), 1764000000)))
"""
TALK = """
roles = ["user", "assistant", "user"]
talk = [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in zip(roles, sys.argv[2:])]
print(json.dumps(provider.reply(talk, Facts(), 1764000000), ensure_ascii=False))
"""


@pytest.fixture
def library(tmp_path):
    """Return a copy of the program with the files of the package oasis-offline alone."""
    shutil.copytree(REPOSITORY + "/oasis", tmp_path / "oasis", ignore=shutil.ignore_patterns("__pycache__"))
    with open(REPOSITORY + "/package/manifest.json", encoding="utf-8") as file:
        packages = json.load(file)["packages"]
    for name in SAID:
        for source in packages[f"oasis-offline-{name}"]["files"].values():
            os.remove(tmp_path / source)
    return tmp_path


def replies(library, *said):
    argv = [sys.executable, "-IS", "-c", REPLY, str(library), *said]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def text_of(events):
    return "".join(event.get("text", "") for event in events)


def test_english_is_understood_and_each_other_language_names_its_package(library):
    said = replies(library, "call this router attic", *[words for words, _ in SAID.values()])
    assert "system.@system[0].hostname='attic'" in json.dumps(said[0])
    for (words, told), events in zip(SAID.values(), said[1:], strict=True):
        assert told in text_of(events), words
        assert not [event for event in events if event["type"] == "tool_call"], words


def test_english_with_words_of_a_missing_language_is_english(library):
    odd, cut, loan, named, foreign = replies(
        library, "call this router el capitan", "block la tele", "internet", "call this router y", "apaga el wifi"
    )
    assert "“el capitan” cannot be a host name" in text_of(odd)
    assert "no device called “la tele”" in text_of(cut)
    assert "I did not understand that" in text_of(loan)
    assert "system.@system[0].hostname='y'" in json.dumps(named)
    assert "opkg install oasis-offline-es" in text_of(foreign)


def test_what_was_asked_for_may_have_a_name_of_a_missing_language(library):
    said = ["rename the router", "What should the router be called? Letters, digits and hyphens, for example attic."]
    argv = [sys.executable, "-IS", "-c", REPLY.partition("for text")[0] + TALK, str(library), *said, "el capitan"]
    assert "“el capitan” cannot be a host name" in subprocess.run(argv, capture_output=True, text=True).stdout


@pytest.mark.part("schedule")
def test_without_the_schedule_what_does_the_rest_is_named(library):
    said = "every day at 22:00 turn off the guest wifi"
    assert "see `oasis schedule`" in text_of(replies(library, said)[0])
    shutil.rmtree(library / "oasis/parts/schedule")
    assert "see `opkg install oasis-schedule`" in text_of(replies(library, said)[0])


@pytest.mark.parametrize("file", ["de", "evidence_de"])
@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff"])
def test_a_language_whose_files_are_broken_is_as_one_that_is_missing(library, file, text):
    for name in ("de", "evidence_de"):
        shutil.copy(f"{REPOSITORY}/oasis/parts/offline/intents/{name}.json", library / "oasis/parts/offline/intents")
    (library / f"oasis/parts/offline/intents/{file}.json").write_bytes(text)
    german, english, unknown = replies(library, "nenne den router attic", "call this router attic", "knit me a sock")
    assert "Paket: opkg install --force-reinstall oasis-offline-de" in text_of(german) or file != "de"
    assert "system.@system[0].hostname='attic'" in json.dumps(english)
    assert text_of(unknown)


@pytest.mark.parametrize("name", SAID)
def test_a_language_that_comes_is_understood(library, name):
    for suffix in (f"{name}.json", f"evidence_{name}.json"):
        shutil.copy(f"{REPOSITORY}/oasis/parts/offline/intents/{suffix}", library / "oasis/parts/offline/intents")
    events = replies(library, SAID[name][0])[0]
    assert SAID[name][1] not in text_of(events)
