"""Search over all chats: what is found, what is shown of it, and that nothing is missed by looking at bytes first."""

import random

import pytest

from oasis.chats import collection, search
from oasis.core import jsonl
from oasis.errors import UsageError
from tests.chats.kit import SECRET, Kit


@pytest.fixture
def kit(tmp_path):
    return Kit(tmp_path)


def found(kit, text, **more):
    return [result["message"] for result in kit.chats.search(text, **more)["results"]]


def test_words_are_found_in_any_order_and_case_and_must_all_be_there(kit):
    _, [question, answer] = kit.exchange(text="Please set the Wi-Fi name", answer="The name is set: ATTIC")
    kit.exchange(text="something else")
    assert found(kit, "attic") == [answer]
    assert found(kit, "NAME set") == [question, answer]
    assert found(kit, "set please") == [question]
    assert found(kit, "attic please") == []


def test_a_last_line_without_its_end_is_found_and_keeps_its_documents(kit):
    chat, [question, answer] = kit.exchange(text="the name", answer="it is ATTIC")
    path = kit.chats.store.path(chat)
    with open(path, "rb") as handle:
        data = handle.read()
    with open(path, "wb") as handle:
        handle.write(data.rstrip(b"\n"))
    assert found(kit, "attic") == [answer] and found(kit, "name") == [question]
    assert kit.chats.chat_of(answer) == chat
    digest = "ab" * 32
    assert collection.named(iter([b'{"a":1}\n{"sha256":"', digest.encode(), b'"}'])) == {digest}
    with open(path, "wb") as handle:
        handle.write(data.rstrip(b"\n")[:-2])  # torn: no message, and no fault of the search
    assert found(kit, "attic") == [] and found(kit, "name") == [question]
    assert kit.chats.search("name")["reports"] == []


def test_phrases_stand_in_quotes(kit):
    _, [question, _] = kit.exchange(text="the guest\nnetwork is slow")
    kit.exchange(text="a network for every guest")
    assert found(kit, '"guest network"') == [question]
    assert found(kit, '"guest network" slow') == [question]
    assert len(found(kit, "guest network")) == 2
    assert found(kit, '"guest network') == [question], "a quote that was not closed"


@pytest.mark.parametrize(
    "text, words",
    [
        ("Straße", "strasse"), ("STRASSE", "straße"), ("Küche", "KÜCHE"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ﬁne", "fine"),
        ("300 K", "300 k"), ("İstanbul", "i̇stanbul"), ('say "ho"', "ho"), ("a\\b", "a\\b"), ("tab\there", "here"),
        ("日本語のルーター", "ルーター"), ("a/b", "a/b"), ("<ſet>", "set"), ("x😀y", "😀"), ("ẞ", "ss"),
    ],
)  # fmt: skip
def test_letters_are_the_same_in_every_form(kit, text, words):
    _, [question, _] = kit.exchange(text=text)
    assert found(kit, words) == [question]


def test_what_other_programs_write_as_numbers_is_found(kit):
    chat, _ = kit.exchange()
    line = b'{"role":"user", "content":"K\\u00fcche \\u006eebenan", "id":"%s"}\n' % (b"9" * 25)
    with open(kit.chats.store.path(chat), "ab") as handle:
        handle.write(line)
    assert found(kit, "küche") == found(kit, "nebenan") == ["9" * 25]


def test_results_of_tools_and_names_of_documents_are_searched_and_what_calls_were_given_is_not(kit):
    chat, ids = kit.exchange()
    opened = kit.chats.open(chat)
    call = {"type": "tool_use", "id": "c", "name": "logs", "input": {"words": "inside"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "c",
        "name": "logs",
        "content": [{"type": "text", "text": "dnsmasq died"}],
    }
    image = {"type": "image", "media_type": "image/png", "sha256": "0" * 64, "name": "plan.png"}
    messages = [kit.message([call], "assistant", ids[-1:]), kit.message([result], "tool"), kit.message([image])]
    for message in messages:
        opened.add(message)
    opened.flush()
    assert found(kit, "dnsmasq") == [messages[1]["id"]]
    assert found(kit, "plan.png") == [messages[2]["id"]]
    assert found(kit, "inside") == found(kit, "role") == found(kit, "content") == []


def test_a_snippet_shows_the_words_and_tells_that_it_is_cut(kit):
    chat, _ = kit.exchange(text="ß" * 300 + " before NEEDLE after " + "y" * 300)
    [result] = kit.chats.search("needle")["results"]
    assert "before NEEDLE after" in result["snippet"] and len(result["snippet"]) <= search.SNIPPET_CHARS + 2
    assert result["snippet"][0] == result["snippet"][-1] == "…"
    assert (result["chat"], result["role"]) == (chat, "user")


def test_a_secret_is_neither_shown_nor_found(kit):
    kit.exchange(text="the key is " + SECRET)
    assert SECRET[:4] not in str(kit.chats.search("key"))
    assert found(kit, SECRET) == found(kit, SECRET[:6]) == []


def test_results_are_limited_and_it_is_told(kit):
    for _ in range(3):
        kit.exchange(text="the same", answer="the same")
    assert len(found(kit, "same")) == 6
    some = kit.chats.search("same", limit=4)
    assert len(some["results"]) == 4 and some["more"]
    assert not kit.chats.search("same", limit=6)["more"]


def test_the_newest_chats_come_first_and_archived_ones_last(kit):
    chats = [kit.exchange(text="word")[0] for _ in range(3)]
    kit.chats.archive(chats[2], True)
    assert [result["chat"] for result in kit.chats.search("word")["results"]] == [chats[1], chats[0], chats[2]]


@pytest.mark.parametrize("text", ["", "  ", '""', '" "', "x" * 300])
def test_nothing_to_look_for_is_refused(kit, text):
    with pytest.raises(UsageError) as caught:
        kit.chats.search(text)
    assert caught.value.hint


def test_looking_at_bytes_first_misses_nothing():
    chance = random.Random(3)
    letters = 'aAsSzZßſKﬁİiéÉ "\\/\n\t…ςΣ'
    for _ in range(400):
        texts = ["".join(chance.choices(letters, k=chance.randint(1, 30))) for _ in range(20)]
        lines = [
            jsonl.line({"id": "%025d" % number, "role": "user", "content": text}) for number, text in enumerate(texts)
        ]
        start = chance.randrange(20)
        words = texts[start][chance.randrange(len(texts[start])) :][: chance.randint(1, 4)].replace('"', " ")
        if not words.split():
            continue
        wanted = search.terms(words)
        plain = [
            number
            for number, text in enumerate(texts)
            if all(term in " ".join(text.split()).casefold() for term, _ in wanted)
        ]
        done = search.search([("c", iter([b"".join(lines)]))], wanted, 50, str)
        assert [int(result["message"]) for result in done["results"]] == plain, (words, texts)
