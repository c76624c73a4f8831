"""What a file is, what of it is text, and what is refused; documents out of texts, files and pages."""

import io
import time
import zipfile

import pytest

from oasis.errors import UsageError
from oasis.parts.memory import knowledge as extract
from oasis.parts.memory.knowledge import CHARS, Ingest


def packed():
    """Return a zip file of a megabyte of zeroes a thousandth as long."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.txt", b"\0" * 1_000_000)
    return held.getvalue()


def never(*given):
    raise AssertionError("nothing is read elsewhere")


class Offline(Ingest):
    """Reads HTML, PDF and pages by what a test says."""

    def __init__(self, html=never, pdf=never, url=never):
        super().__init__(None, bool)
        self.html, self.pdf, self.url = html, pdf, url


ingest = Offline


@pytest.mark.parametrize(
    "name, data, kind",
    [
        ("notes.txt", b"words", "text"),
        ("README.md", b"# Words", "markdown"),
        ("page.HTML", b"words", "html"),
        ("page", b"\xef\xbb\xbf\n<!DOCTYPE html><p>", "html"),
        ("letter.pdf", b"%PDF-1.4 ...", "pdf"),
        ("letter", b"\n%PDF-1.4 ...", "pdf"),
        ("config", b"config interface 'lan'", "text"),
    ],
)
def test_a_file_is_told_by_its_bytes_and_its_name(name, data, kind):
    assert extract.kind_of(name, data) == kind


@pytest.mark.parametrize(
    "name, data, words",
    [
        ("bomb.zip", packed(), "archive"),
        ("letter.docx", packed(), "office"),
        ("log.gz", b"\x1f\x8b\x08" + b"\0" * 20, "packed"),
        ("picture.md", b"\x89PNG\r\n\x1a\n", "picture"),
        ("oasisd", b"\x7fELF\x02", "program"),
        ("letter.pdf", b"words", "no PDF"),
        ("empty.txt", b"", "empty"),
        ("blank.txt", b" \n\t ", "empty"),
        ("data.bin", bytes(range(32)) * 100, "no text"),
        ("data.txt", b"words\0words", "no text"),
        ("marks.txt", b"-- == --", "no words"),
        ("hidden.txt", "\u200b\u200b\u200b".encode(), "no words"),
    ],
)
def test_what_is_no_text_is_refused_and_never_unpacked(name, data, words):
    with pytest.raises(UsageError, match=words) as caught:
        ingest().file(name, data)
    assert caught.value.hint


def test_a_document_that_is_too_long_is_refused():
    with pytest.raises(UsageError, match="2000000"):
        ingest().text("word " * (CHARS // 5 + 1))


@pytest.mark.parametrize(
    "data, text",
    [
        ("Grüße".encode(), "Grüße"),
        (b"\xef\xbb\xbfGr\xc3\xbc\xc3\x9fe", "Grüße"),
        ("Grüße".encode("utf-16"), "Grüße"),
        ("Grüße".encode("latin-1"), "Grüße"),
        ("路由器".encode(), "路由器"),
    ],
)
def test_letters_are_what_they_were(data, text):
    assert extract.decoded(data) == text


def test_hidden_characters_go_and_paragraphs_stay():
    assert extract.tidy("one\u202e\u200b\r\n\r\n\r\n\r\n  two  \rthree\n\n") == "one\n\n  two\nthree"


def test_markdown_keeps_its_words_and_its_code():
    text = """# Head *line*

> quoted **bold** and __strong__, `code`, ~~gone~~

- one [link](http://example.org "title") and ![picture](x.png)
* [ ] two_words_with_lines and 2*3*4

---

```sh
uci set network.lan.proto='static' # **as it is**
```
1. first
snake_case and a [reference][1]
"""
    found = extract.tidy(extract.markdown(text))
    assert found == (
        "Head line\n\nquoted bold and strong, code, gone\n\none link and picture\ntwo_words_with_lines and 2*3*4\n\n"
        "uci set network.lan.proto='static' # **as it is**\n1. first\nsnake_case and a reference"
    )


def test_a_text_has_a_title_of_its_first_words_and_a_file_its_name_or_heading():
    assert ingest().text("The VLAN of the line is 7.")[0]["title"] == "The VLAN of the line is 7."
    assert len(ingest().text("word " * 100)[0]["title"]) <= 61
    assert ingest().file("/root/notes.txt", b"words")[0]["title"] == "notes.txt"
    assert ingest().file("a.md", b"\n# The *manual*\nwords")[0]["title"] == "The manual"
    draft = ingest().file("a\u202e.txt", b"words", "My\n title")[0]
    assert draft == {"title": "My title", "kind": "text", "source": "a.txt", "chars": 5}


def test_html_and_pdf_are_read_elsewhere_and_what_is_missing_is_told():
    asked = []

    def html(text):
        asked.append(text)
        return {"text": "Mesh\n\nPress it.", "title": "Manual", "cut": True}

    def pdf(name, data):
        asked.append(data)
        return {"text": "A letter.", "note": "m wrote it down"}

    page = {"url": "https://example.org/", "text": "words", "title": "T", "kind": "html"}
    one = Offline(html, pdf, lambda url: page)
    draft, chunks = one.file("m.html", b"<p>Mesh")
    assert (draft["title"], draft["kind"], chunks) == ("Manual", "html", ["Mesh\n\nPress it."])
    draft, chunks = one.file("l.pdf", b"%PDF-1.7")
    assert (draft["title"], draft["kind"], chunks) == ("l.pdf", "pdf", ["A letter."])
    assert asked == ["<p>Mesh", b"%PDF-1.7"]
    assert one.notes == ["only the first 15 characters of it could be read", "m wrote it down"]
    draft, _ = one.page("https://example.org")
    assert (draft["title"], draft["url"], draft["source"]) == ("T", "https://example.org/", "https://example.org/")


@pytest.mark.parametrize(
    "name, again, after",
    [
        ("a.md", b"*", b"a"),
        ("a.md", b"[", b"a"),
        ("a.md", b"[a](", b""),
        ("a.md", b"[a](b ", b""),
        ("a.md", b"[a][b", b""),
        ("a.md", b"**a ", b""),
        ("a.md", b"`a __b ~~c **d ", b""),
        ("a.md", b"`", b"a"),
        ("a.md", b"> ", b"a"),
        ("a.md", b"- ", b"a"),
        ("a.md", b"=", b"a"),
        ("a.txt", b"a", b""),
        ("a.txt", b". ", b"a"),
        ("a.txt", b"\n \n", b"a"),
    ],
)
def test_the_time_of_a_hostile_text_grows_with_its_length_and_not_with_its_square(name, again, after):
    """Eight times the text: linear work takes 8 times as long, quadratic 64. In processor time: others are busy too."""

    def took_s(size_bytes: int) -> float:
        data = again * (size_bytes // len(again)) + after
        began_s = time.process_time()
        try:
            ingest().file(name, data)
        except UsageError as error:
            assert "no words" in error.message
        return time.process_time() - began_s

    long_s, short_s = took_s(1_900_000), min(took_s(237_500), took_s(237_500))
    assert long_s < 24 * max(short_s, 0.05)
    assert long_s < 40  # the worst takes 12 s alone; a busy neighbour on the same core may double that
