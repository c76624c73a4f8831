"""What a list tells of a chat: folded over its lines, at once or bit by bit."""

from oasis.chats import index
from oasis.core import jsonl
from oasis.core.chat_line import FORGOTTEN


def name(number):
    return "%025d" % number


def message(number, text="hello", role="user", **fields):
    value = {"id": name(number), "role": role, "content": text}
    value.update(fields)
    return value


def plain(text, inputs):
    return text


def folded(*values, hide=plain):
    found = index.empty()
    reports = index.fold(
        found, [(0, value if isinstance(value, bytes) else jsonl.line(value)) for value in values], hide
    )
    return found, reports


def title(*values):
    return index.title(folded(*values)[0])


def test_a_title_line_names_the_chat_else_the_first_words_of_the_owner():
    talk = message(1, "Say hello", "assistant"), message(2, "Set  up\nthe Wi-Fi")
    assert title() == "" and title(talk[0]) == ""
    assert title(*talk) == "Set up the Wi-Fi"
    assert title(*talk, {"title": "Wi-Fi"}) == "Wi-Fi", "as old files have it"
    assert title(*talk, {"type": "title", "title": "A"}, {"type": "title", "title": "B  c", "by": "owner"}) == "B  c"
    assert title(*talk, {"type": "title", "title": "A"}, {"type": "title", "title": ""}) == "Set up the Wi-Fi"


def test_a_forgotten_message_names_no_chat():
    assert title(message(1, FORGOTTEN), message(2, "second")) == "second"


def test_a_long_title_is_cut_at_a_word():
    assert index.first_words("one two") == "one two"
    cut = index.first_words("word " * 30)
    assert cut.endswith("word…") and len(cut) <= index.TITLE_CHARS + 1
    assert index.first_words("x" * 100) == "x" * 48 + "…"


def test_exchanges_time_and_damage_are_counted():
    newest = message(1, "b", "assistant", id="036z951mhjikzik2gsl81gr7l")
    found, reports = folded(message(1), message(2, "b", "assistant"), message(3), newest, b"garbage", None)
    assert (found["exchanges"], found["damaged"], len(reports)) == (2, 2, 2)
    assert found["updated_unix_s"] == (int(newest["id"], 36) >> 80) // 1000 > 0


def test_lines_may_come_bit_by_bit():
    values = [message(1, "a"), {"title": "T"}, message(2, "b", "assistant"), message(3, "c"), b"#", {"type": "new"}]
    whole, _ = folded(*values)
    parts = index.empty()
    for value in values:
        index.fold(parts, [(0, value if isinstance(value, bytes) else jsonl.line(value))], plain)
    assert parts == whole


def test_a_secret_is_hidden_whole_before_anything_is_cut_also_when_only_a_later_call_tells_it():
    def hide(text, inputs):
        for word in ["known-secret"] + [value["password"] for value in inputs]:
            text = text.replace(word, "***")
        return text

    text = "x" * 40 + " known-secret and typed-secret"
    call = {"type": "tool_use", "id": "c", "name": "configure", "input": {"password": "typed-secret"}}
    found, _ = folded(message(1, text), message(2, [call], "assistant"), hide=hide)
    assert "known" not in jsonl.dumps(found) and "typed" not in jsonl.dumps(found)
    assert "secret" not in index.title(found, hide)
    found, _ = folded(message(1, "x" * 5000))
    assert len(found["words"]) == 512
