"""Translations: the template is what the sources say, the languages are whole, and the pages speak them."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import furnished  # noqa: F401
from tests.luci.test_accessible import PAGES
from tests.oasisd import has_part

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "package"))

import catalogue  # noqa: E402
import i18n  # noqa: E402

LANGUAGES = sorted(os.path.basename(os.path.dirname(path)) for path in glob.glob(REPOSITORY + "/po/*/oasis.po"))
# LuCI's format() knows no positions, so the order of these must be that of the English text.
PLACEHOLDER = re.compile(r"%(?:\.\d+)?[sdfxh%]")
# Names, and nothing else, are the same everywhere.
SAME = {"Oasis", "WireGuard", "%d %%"}
# Words that a language has from English, or English from it.
SHARED = {
    "de": {
        "Alias", "Bot", "Budget", "Chat", "Chats", "Messenger", "Name", "Option", "Plan", "Plugin %s", "Server",
        "Token",
    },
    "es": {"%s token", "Alias", "Bot", "Chat", "Chats", "No", "Plan", "Token"},
}  # fmt: skip
TABS = (
    "チャット", "サービス", "システムメッセージ", "ツール", "スケジュール", "WireGuard", "記憶", "メッセンジャー",
    "変更", "診断", "使用量", "監査",
)  # fmt: skip


def read(path: str) -> str:
    with open(os.path.join(REPOSITORY, path), encoding="utf-8") as file:
        return file.read()


def translations(language: str) -> dict[tuple[str, str, str], list[str]]:
    """Return {key: translations, one for each plural form} without the header."""
    found = i18n.entries(read(f"po/{language}/oasis.po"))
    return {
        key: [text for name, text in sorted(entry.items()) if name.startswith("msgstr")]
        for key, entry in found.items()
        if key[1]
    }


def test_template_and_languages_are_what_the_sources_say() -> None:
    assert LANGUAGES
    texts = set(i18n.texts())
    for path in (i18n.TEMPLATE, *(f"po/{language}/oasis.po" for language in LANGUAGES)):
        written = {key for key in i18n.entries(read(path)) if key[1]}
        assert written == texts, f"{path}: run make i18n, and translate what is new"


def test_template_is_what_gettext_finds() -> None:
    if not shutil.which("xgettext"):
        pytest.skip("no xgettext: apt-get install -y gettext")
    scripts = glob.glob(REPOSITORY + "/files/www/luci-static/resources/**/*.js", recursive=True)
    keywords = ["--keyword=" + name for name in ("_:1", "_:1,2c", "N_:2,3", "N_:2,3,4c")]
    command = ["xgettext", "--from-code=UTF-8", "--no-wrap", "--language=JavaScript", *keywords, "-o", "-", *scripts]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    theirs = {(key[1], key[2]) for key in i18n.entries(told) if key[1]}
    # what stands in a menu or an access file only is no script's
    ours = {(key[1], key[2]) for key, places in i18n.texts().items() if any(place.endswith(".js") for place in places)}
    assert ours == theirs


@pytest.mark.parametrize(
    "source", ["_(word)", "_('a' + 'b')", "N_(n, 'one')", "N_(n, one, 'many')", "_('')", "_(`x`)", "_('a', 'b', 'c')"]
)
def test_text_that_cannot_be_translated_is_an_error(source: str, tmp_path: Any) -> None:
    folder = tmp_path / "files/www/luci-static/resources"
    folder.mkdir(parents=True)
    (folder / "page.js").write_text(f"\n{source}\n")
    with pytest.raises(ValueError, match=r"page\.js:2"):
        i18n.texts(str(tmp_path))


def test_texts_are_found_where_they_are_hard_to_see(tmp_path: Any) -> None:
    folder = tmp_path / "files/www/luci-static/resources"
    folder.mkdir(parents=True)
    (folder / "page.js").write_text(
        "const kinds = 'image/*,text/*'; _('a\\u2026 \\'b\\'');\n/* _('comment') */ foo_('no'); x._('no');\n"
        "N_(count(a, [ b ]), '%d one', '%d many');\n_(\"quoted \\\"text\\\"\", 'context');\n_('image/*');\n"
    )
    assert list(i18n.texts(str(tmp_path))) == [
        ("", "%d one", "%d many"), ("", "a… 'b'", ""), ("", "image/*", ""), ("context", 'quoted "text"', ""),
    ]  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_language_is_whole_and_keeps_the_placeholders(language: str) -> None:
    forms = int(re.search(r"nplurals=(\d)", read(f"po/{language}/oasis.po"))[1])
    for (_, text, plural), found in translations(language).items():
        assert len(found) == (forms if plural else 1), text
        for one in found:
            assert one.strip() == one and one, text
            assert one != text or text in SAME | SHARED.get(language, set()), text
            # a form for one may leave its number out
            given = [PLACEHOLDER.findall(text), PLACEHOLDER.findall(plural or text)]
            assert PLACEHOLDER.findall(one) in given, text
            assert one.endswith("…") == text.endswith("…"), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_language_is_written_for_its_readers(language: str) -> None:
    if language == "zh_Hans":  # marks of full width, and no Latin comma behind a character
        for (_, text, _), found in translations(language).items():
            assert not any(re.search(r"[\u4e00-\u9fff][,?!;:.]", one) for one in found), text
    if language == "es":  # a question has two marks
        for (_, text, _), found in translations(language).items():
            assert all(("?" in one) == ("¿" in one) for one in found), text
    if language != "ja":
        return
    kana_or_kanji = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
    for (_, text, _), found in translations(language).items():
        words = PLACEHOLDER.sub("", text)
        if re.search(r"[a-z]{3}", words) and text not in SAME:
            assert all(kana_or_kanji.search(one) for one in found), text
        if words.rstrip().endswith("."):
            assert all(one.endswith("。") for one in found), text
        assert not any(re.search(r"[\u3040-\u30ff\u4e00-\u9fff][,?!;]", one) for one in found), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_catalogue_of_the_package_holds_every_text(language: str) -> None:
    data = catalogue.lmo(read(f"po/{language}/oasis.po"))
    offset = int.from_bytes(data[-4:], "big")
    keys = {int.from_bytes(data[at : at + 4], "big") for at in range(offset, len(data) - 4, 16)}
    for (context, text, plural), found in translations(language).items():
        name = (context + "\x01" if context else "") + text + ("\x020" if plural else "")
        assert catalogue.sfh(name.encode()) in keys or found == [text], text


@pytest.mark.browser
@pytest.mark.parametrize("where", PAGES)
def test_page_speaks_japanese(furnished: Any, visit: Any, where: str) -> None:  # noqa: F811
    daemon, url = furnished("--language", "ja")
    page = visit(url, where=where)
    ready = {"chat": "#oasis-input", "tools": "[data-tool]", "doctor": ".oasis-verdict:not(.spinning)"}
    page.locator(ready.get(where, ".oasis-page-body > *")).first.wait_for(state="attached")
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    tabs = [name for name, one in zip(TABS, PAGES, strict=True) if all(map(has_part, one.marks[0].args))]
    expect(page.locator(".tabs a")).to_have_text(tabs)
    english = {key[1] for key, found in translations("ja").items() if found != [key[1]]}
    said = set()
    if where == "doctor":  # what the service says follows the page
        english |= {check["title"] for check in daemon.call("doctor.run")["checks"]}
    if where == "tools":
        said = {tool["source"] for tool in daemon.call("tool.list")["tools"]}
    shown = page.evaluate(SHOWN)
    assert shown
    assert [text for text in shown if text in english - said] == []


# Words of the page's own: not those in what a tool, a check or a chat is called or says.
SHOWN = """(() => {
    const walk = document.createTreeWalker(document.querySelector('.oasis'), NodeFilter.SHOW_TEXT), found = [];
    for (let node = walk.nextNode(); node; node = walk.nextNode())
        if (node.data.trim() && !node.parentNode.closest('script, style, pre, code, .oasis-typed'))
            found.push(node.data.trim());
    document.querySelectorAll('.oasis [aria-label], .oasis [placeholder], .oasis [title]').forEach(node => {
        for (const name of [ 'aria-label', 'placeholder', 'title' ])
            if (node.getAttribute(name)) found.push(node.getAttribute(name));
    });
    return found;
})()"""


@pytest.mark.browser
def test_plural_forms_follow_the_rule_of_the_language(furnished: Any, visit: Any) -> None:  # noqa: F811
    for language, one, many in (("en", "1 warning", "2 warnings"), ("ja", "警告 1 件", "警告 2 件")):
        _, url = furnished("--language", language)
        page = visit(url, where="usage")
        for number, text in ((1, one), (2, many)):
            assert page.evaluate(f"N_({number}, '%d warning', '%d warnings').format({number})") == text
