"""Images and documents: what they are, and what stands in their place where a service cannot take them."""

import copy

import pytest

from oasis.errors import UsageError
from oasis.providers import wire

DATA = "aGk="


def file(media_type, kind="document", **more):
    return {"type": kind, "media_type": media_type, "sha256": "0", "data": DATA, **more}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


SAID = {"role": "assistant", "content": "ok"}


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("text/plain", "text"),
        ("TEXT/Markdown; charset=utf-8", "text"),
        ("application/json", "text"),
        ("application/ld+json", "text"),
        ("image/svg+xml", "text"),
        ("image/png", "image"),
        ("image/JPEG", "image"),
        ("application/pdf", "pdf"),
        ("image/tiff", ""),
        ("application/zip", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_the_kind_of_a_file_is_that_of_its_media_type(media_type, kind):
    assert wire.kind_of(file(media_type)) == kind


def test_the_forms_of_a_file():
    pdf = file("Application/PDF; x=y", name=" my\n report.pdf ")
    assert wire.data_url(pdf) == "data:application/pdf;base64,aGk="
    assert wire.file_name(pdf) == "my report.pdf"
    assert wire.file_name(file("application/pdf")) == "document.pdf"
    assert wire.text_of(file("text/plain", name="a.txt")) == "a.txt:\n\nhi"
    assert wire.text_of(file("text/plain", data="77u/w7w=")) == "ü", "a byte order mark is none of the text"


def checked(*messages, takes=("text", "image")):
    before = copy.deepcopy(messages)
    out = wire.checked(list(messages), takes, {"profile": {"name": "Service"}}, in_results=("image",))
    assert messages == before
    return out


def test_what_a_service_takes_stays():
    chat = [user(file("image/png", "image"), file("text/plain"), {"type": "text", "text": "look"}), SAID, {"role": "x"}]
    assert checked(*chat) == chat


def test_only_the_newest_words_of_the_owner_are_refused():
    pdf = file("application/pdf", name="a.pdf")
    note = {"type": "text", "text": "[document a.pdf: this model cannot read application/pdf]"}
    with pytest.raises(UsageError, match=r"Service cannot read a\.pdf \(application/pdf\)") as caught:
        checked(user(pdf), SAID)
    assert caught.value.hint == (
        "attach it as a text file or an image (PNG, JPEG, GIF, WebP), or choose another service"
    )
    assert checked(user(pdf), {"role": "user", "content": "and now?"})[0] == user(note)
    with pytest.raises(UsageError, match="the attached file"):
        checked(user(pdf), user(file("application/pdf")))
    with pytest.raises(UsageError):
        checked(user(pdf), SAID, user({"type": "tool_result", "tool_use_id": "a", "content": "a program says this"}))
    assert checked(user(pdf), user())[0] == user(note)


def test_a_file_that_is_gone_is_told_of_and_never_refused():
    gone = {**file("image/png", "image", name="a.png"), "data": None}
    assert checked(user(gone)) == [user({"type": "text", "text": "[image a.png: no longer stored]"})]
    assert "no longer stored" in checked(user({**gone, "data": "no base64!"}))[0]["content"][0]["text"]


def test_files_in_results_are_kept_said_in_words_or_told_of():
    parts = [file("image/png", "image"), file("text/plain"), file("application/pdf"), {"type": "text", "text": "t"}, 7]
    result = {"type": "tool_result", "tool_use_id": "a", "content": parts}
    [out] = checked({"role": "tool", "content": [result]})[0]["content"]
    assert out["content"][0] == parts[0] and out["content"][3:] == parts[3:]
    assert out["content"][1] == {"type": "text", "text": "hi"}
    assert "cannot read application/pdf" in out["content"][2]["text"]


@pytest.mark.parametrize("content", [None, "text", 7, [None, 7, "x", {}]])
def test_contents_of_any_form_pass(content):
    assert checked({"role": "user", "content": content}) == [{"role": "user", "content": content}]
