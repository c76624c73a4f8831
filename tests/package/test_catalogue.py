"""Translations become what LuCI's own program makes of them, byte for byte."""

from __future__ import annotations

import glob
import os
import shutil
import struct
import subprocess

import pytest

PO = r"""# Every kind of entry.
msgid ""
msgstr ""
"Project-Id-Version: none\n"
"Language: ja\n"
"Plural-Forms: nplurals=2; plural=n != 1;\n"

#: a.js:1
msgid "Keep"
msgstr "残す"

msgctxt "a button"
msgid "Keep"
msgstr "残します"

#, fuzzy
msgid "Undo"
msgstr "元に戻す"

msgid "not translated"
msgstr ""

msgid "OK"
msgstr "OK"

msgid "one \"quoted\" word,\n"
"a \\ and two lines"
msgstr ""
"「引用」\n"
"と \\ "

msgid "%d change"
msgid_plural "%d changes"
msgstr[0] "%d 件"
msgstr[1] "%d 件の変更"

msgctxt "list"
msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d ファイル"
msgstr[1] ""

#~ msgid "gone"
#~ msgstr "なし"

msgid "abcde"
msgstr "é"
"""
SMALL = (
    'msgid ""\nmsgstr ""\n"Plural-Forms: nplurals=1; plural=0;\\n"\n\nmsgid "Keep"\nmsgstr "残す"\n\n'
    'msgid "%d change"\nmsgid_plural "%d changes"\nmsgstr[0] "%d 件"\n'
)
# What po2lmo made of SMALL: three texts filled up to four bytes, an entry of 16 bytes for each, where they begin.
SMALL_LMO = bytes.fromhex(
    "6e706c7572616c733d313b20706c7572616c3d303b000000e6ae8be381990000256420e4bbb60000"
    "00000000000000000000000000000015"
    "01248a8e000000010000002000000006"
    "b6683e3f000000010000001800000006"
    "00000028"
)
HASHES = {
    b"": 0,
    b"a": 0x115EA782,
    b"ab": 0x516B8B44,
    b"abc": 0xD2BE198A,
    b"Keep": 0xB6683E3F,
    b"abcde": 0x51ED072E,
    b"\xc8": 0x76918D04,  # a byte above 127 is a negative number there
    b"\x01\x02\xc8": 0x4CB04A6E,
}


def read(lmo):
    """Return {key: (forms, text)} of an .lmo file."""
    start = struct.unpack(">I", lmo[-4:])[0]
    entries = [struct.unpack_from(">4I", lmo, place) for place in range(start, len(lmo) - 4, 16)]
    return {key: (forms, lmo[offset : offset + length].decode()) for key, forms, offset, length in entries}


def real(tmp_path, text):
    (tmp_path / "x.po").write_text(text, encoding="utf-8")
    subprocess.run(["po2lmo", tmp_path / "x.po", tmp_path / "x.lmo"], check=True)
    return (tmp_path / "x.lmo").read_bytes() if (tmp_path / "x.lmo").exists() else b""


def test_a_small_file_has_the_known_bytes(packaging):
    assert packaging.catalogue.lmo(SMALL) == SMALL_LMO


@pytest.mark.parametrize("data", HASHES)
def test_keys_are_hashed_as_luci_does(packaging, data):
    assert packaging.catalogue.sfh(data) == HASHES[data]


def test_contexts_plurals_and_fuzzy_entries_are_found_and_empty_ones_left_out(packaging):
    found, sfh = read(packaging.catalogue.lmo(PO)), packaging.catalogue.sfh
    assert found[0] == (0, "nplurals=2; plural=n != 1;")
    assert found[sfh(b"Keep")] == (1, "残す")
    assert found[sfh(b"a button\x01Keep")] == (1, "残します")
    assert found[sfh(b"Undo")] == (1, "元に戻す")
    assert found[sfh(b"%d change\x020")] == (2, "%d 件")
    assert found[sfh(b"%d change\x021")] == (2, "%d 件の変更")
    assert found[sfh(b"list\x01%d file\x020")] == (2, "%d ファイル")
    assert found[sfh(b'one "quoted" word,\\na \\ and two lines')] == (1, "「引用」\\nと \\ ")
    for absent in (b"not translated", b"OK", b"gone", b"list\x01%d file\x021"):
        assert sfh(absent) not in found
    assert list(found) == sorted(found)


def test_without_a_translation_there_is_no_file(packaging):
    assert packaging.catalogue.lmo('msgid ""\nmsgstr ""\n\nmsgid "a"\nmsgstr ""\n') == b""


def test_two_messages_with_one_key_are_refused(packaging):
    with pytest.raises(ValueError, match="two messages"):
        packaging.catalogue.lmo('msgid "a"\nmsgstr "b"\n\nmsgid "a"\nmsgstr "c"\n')


def test_a_line_that_po2lmo_would_cut_in_two_is_refused(packaging):
    with pytest.raises(ValueError, match="break it"):
        packaging.catalogue.lmo(f'msgid "a"\nmsgstr "{"é" * 2048}"\n')


@pytest.mark.skipif(not shutil.which("po2lmo"), reason="po2lmo of luci-base is not on PATH")
def test_the_bytes_are_those_of_po2lmo(packaging, tmp_path):
    texts = [PO, SMALL, 'msgid "a"\nmsgstr "b"']
    for path in glob.glob(os.path.join(packaging.REPOSITORY, "po", "*", "*.po")):
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    for text in texts:
        assert packaging.catalogue.lmo(text) == real(tmp_path, text)


def test_a_translation_package_has_its_catalogue_and_tells_luci_of_the_language(packaging):
    wanted = {"language": "ja", "name": "日本語 (Japanese)", "lmo": "oasis.ja.lmo"}
    files = packaging.catalogue.files(wanted, SMALL)
    assert files["/usr/lib/lua/luci/i18n/oasis.ja.lmo"] == (SMALL_LMO, 0o644)
    assert files["/etc/uci-defaults/luci-i18n-oasis-ja"][0].decode().startswith("uci set luci.languages.ja='日本語")
