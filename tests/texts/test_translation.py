"""Texts of the service in four languages: every text is there, whole, with its values, and none is made up."""

from __future__ import annotations

import os
import re
import sys

import pytest

from oasis.api.methods import spoken
from oasis.texts.translation import FOLDER, pairs, translation

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "package"))

import build  # noqa: E402
import i18n  # noqa: E402

LANGUAGES = ("de", "es", "ja", "zh")
PLACE = re.compile(r"%(?:\d\$)?((?:\(\w+\))?[-0-9.]*[a-z%])")


def read(language: str) -> bytes:
    with open(f"{FOLDER}/{language}.po", "rb") as file:
        return file.read()


def found(language: str):
    translated = translation(language)
    assert translated is not None
    return translated


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_the_service_is_translated_with_its_values(language: str) -> None:
    texts = {text for _, text, _ in i18n.spoken()}
    translated = pairs(read(language))
    assert set(translated) == texts, "run make i18n, and translate what is new"
    wrong = [one for one, other in translated.items() if sorted(PLACE.findall(one)) != sorted(PLACE.findall(other))]
    assert wrong == []


def test_the_template_is_what_the_sources_say() -> None:
    with open(f"{REPOSITORY}/{i18n.SPOKEN_TEMPLATE}", encoding="utf-8") as file:
        written = {text for _, text, _ in i18n.entries(file.read()) if text}
    assert written == {text for _, text, _ in i18n.spoken()}, "run make i18n"


def test_a_text_is_read_from_literals_f_strings_and_sums(tmp_path) -> None:
    where = tmp_path / "oasis/change"
    where.mkdir(parents=True)
    where.joinpath("some.py").write_text(
        '"""A docstring is no text."""\n'
        'a = "plan %s has expired"\nb = f"the plan {a} waits {a!r}"\nc = "it holds: " + ", ".join(a)\n'
        'd = "uci set a.b=c"\ne = r"(?:no text)"\nf = "word"\n'
    )
    texts = {text for _, text, _ in i18n.spoken(str(tmp_path))} - set(i18n.WORDS)
    assert texts == {"plan %s has expired", "the plan %s waits %r", "it holds: %s"}


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "plan 'x' has expired", "Plan 'x' ist abgelaufen"),
        ("es", "plan 'x' has expired", "el plan 'x' ha caducado"),
        ("ja", "plan 'x' has expired", "プラン 'x' は期限切れです"),
        ("zh", "plan 'x' has expired", "计划 'x' 已过期"),
        ("de", "  risky: network is on the way by which you reach the router, the clock goes wrong",
         "  riskant: network liegt auf dem Weg, über den Sie den Router erreichen, die Uhr geht falsch"),
        ("de", "network: new Network guest with proto 'static', ipaddr '192.168.3.1'",
         "network: neu: Netz guest mit proto 'static', ipaddr '192.168.3.1'"),
        ("de", "IPv4 address (network.lan.ipaddr): '192.168.1.1' → '192.168.2.1'",
         "IPv4-Adresse (network.lan.ipaddr): '192.168.1.1' → '192.168.2.1'"),
        ("de", "guest is in no firewall zone", "guest gehört zu keiner Firewall-Zone"),
        ("zh", "warning: radio0 does not know its country. Set the country where the router is.",
         "警告：radio0 没有设置国家。设置路由器所在的国家。"),
        ("ja", "ends at 22:00 instead of 21:00", "21:00 ではなく 22:00 に終わります"),
    ],
)  # fmt: skip
def test_a_text_is_found_by_its_template_and_keeps_its_values(language: str, text: str, said: str) -> None:
    assert found(language).text(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Moin",
        "the owner's own words",
        "uci set network.lan.ipaddr='1.2.3.4'",
        "x" * 5000,
        "%s %d %(a)s",
        "\n; , : (",
    ],
)
def test_what_is_no_text_of_ours_stays(text: str) -> None:
    assert found("de").text(text) == text


def test_a_hostile_name_changes_no_other_part_of_a_text() -> None:
    name = "%s has expired plan %(x)s (.*?) $1 \\1"
    assert found("de").text(f"the Wi-Fi {name} is switched off") == f"das WLAN {name} wird ausgeschaltet"


def test_a_reply_is_translated_in_its_texts_alone_and_stays_itself() -> None:
    reply = {"id": "no answer", "uci": ["no answer"], "reasons": ("no answer",), "verdict": {"reasons": ["no answer"]}}
    german = spoken(reply, "de")
    assert german == {
        "id": "no answer", "uci": ["no answer"], "reasons": ["keine Antwort"],
        "verdict": {"reasons": ["keine Antwort"]},
    }  # fmt: skip
    assert reply["reasons"] == ("no answer",)
    assert spoken(reply, "en") is reply and spoken(reply, "") is reply and spoken(reply, "xx") is reply


@pytest.mark.parametrize("name", ["", "C", "C.UTF-8", "POSIX", "en_US.UTF-8", "../de", "fr_FR", "..", "é"])
def test_english_and_unknown_languages_have_no_translation(name: str) -> None:
    assert translation(name) is None


@pytest.mark.parametrize("name", ["de_DE.UTF-8", "de", "DE-at"])
def test_a_language_is_known_by_its_tag_and_its_locale(name: str) -> None:
    assert translation(name) is translation("de")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_package_brings_the_same_texts_packed(language: str) -> None:
    packed = build.packed("x.po", read(language))
    assert pairs(packed) == pairs(read(language)) and len(packed) < 48_000
