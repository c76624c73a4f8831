"""What differs between two versions of a package, in words and lines, without secrets."""

import pytest

from oasis.change import difference
from oasis.uci import model

BASE = b"""
config rule
	option name 'one'
	option target 'ACCEPT'

config rule
	option name 'two'
	list proto 'tcp'
	list proto 'udp'

config zone 'guest'
	option name 'guest'
"""


def compare(new, old=BASE, package="firewall"):
    return difference.compare(model.parse(old, package), model.parse(new, package), package)


def kinds(new, old=BASE):
    return [(item["kind"], item["section"], item.get("option")) for item in compare(new, old)]


def test_nothing_differs():
    assert compare(BASE) == []


def test_options_set_added_removed():
    new = BASE.replace(b"\toption target 'ACCEPT'\n", b"\toption target 'DROP'\n\toption src 'wan'\n")
    assert kinds(new) == [("set", "@rule[0]", "target"), ("added", "@rule[0]", "src")]
    assert kinds(BASE, new) == [("set", "@rule[0]", "target"), ("removed", "@rule[0]", "src")]


def test_a_removed_anonymous_section_does_not_rename_the_others():
    new = BASE.replace(b"config rule\n\toption name 'one'\n\toption target 'ACCEPT'\n", b"")
    assert kinds(new)[0] == ("section_removed", "@rule[0]", None)
    assert {item[1] for item in kinds(new)} == {"@rule[0]"}


def test_a_new_section_is_told_whole():
    lines = difference.sentences(compare(BASE + b"\nconfig redirect\n\toption src 'wan'\n\toption dest_port '443'\n"))
    assert len(lines) == 1
    assert "new" in lines[0]
    assert "src 'wan', dest_port '443'" in lines[0]


def test_a_renamed_section_is_one_difference():
    assert kinds(BASE.replace(b"zone 'guest'", b"zone 'visitors'")) == [("section_renamed", "guest", None)]


def test_another_order_is_a_difference():
    one, two, rest = BASE.split(b"\nconfig ")[1:]
    new = b"\nconfig " + b"\nconfig ".join([two.rstrip() + b"\n", one.rstrip() + b"\n", rest])
    assert [kind for kind, _, _ in kinds(new)] == ["section_moved"]


def test_lists_tell_what_came_and_went():
    lines = difference.sentences(compare(BASE.replace(b"\tlist proto 'udp'\n", b"\tlist proto 'icmp'\n")))
    assert lines[0].endswith("+ icmp, - udp")


WIFI = b"\nconfig wifi-iface 'ap'\n\toption ssid 'Home'\n\toption key 'old-secret-1'\n"


@pytest.mark.parametrize(
    "new", [WIFI.replace(b"old-secret-1", b"new-secret-2"), WIFI.replace(b"\toption key 'old-secret-1'\n", b"")]
)
def test_secrets_are_masked_and_their_change_is_seen(new):
    before, after = model.parse(WIFI, "wireless"), model.parse(new, "wireless")
    found = difference.compare(before, after, "wireless")
    lines = difference.diff_lines(before, after, "wireless")
    shown = repr(lines) + repr(difference.sentences(found))
    assert "secret-1" not in shown
    assert "secret-2" not in shown
    assert any(line["op"] == "-" for line in lines)


def test_a_list_of_secrets_is_masked_too():
    old = b"config wifi-iface 'a'\n\tlist sae_password 'correct-horse'\n\tlist sae_password 'staple'\n"
    found = compare(old.replace(b"correct-horse", b"battery"), old, "wireless")
    assert difference.sentences(found) == ["Password (WPA3) (wireless.a.sae_password): (secret) → (new secret)"]


def test_a_kept_secret_is_no_difference():
    before, after = model.parse(WIFI, "wireless"), model.parse(WIFI.replace(b"Home", b"Attic"), "wireless")
    assert [line["text"] for line in difference.diff_lines(before, after, "wireless") if line["op"] != " "] == [
        "\toption ssid 'Home'",
        "\toption ssid 'Attic'",
    ]


def test_every_piece_names_its_section():
    before = model.parse(b"config a 'x'\n" + b"".join(b"\toption o%d '1'\n" % n for n in range(9)), "p")
    after = model.parse(b"config a 'x'\n" + b"".join(b"\toption o%d '%d'\n" % (n, n // 8 + 1) for n in range(9)), "p")
    lines = difference.diff_lines(before, after, "p")
    assert lines[0] == {"op": " ", "text": "config a 'x'"}
    assert {"op": "+", "text": "\toption o8 '2'"} in lines


def test_what_nobody_sees_in_a_value_is_written_out():
    new = BASE.replace(b"'two'", "'tw\u202eo\u2028'".encode())
    texts = [*difference.sentences(compare(new)), *[line["text"] for line in lines_of(new)]]
    assert any("tw\\u202eo\\u2028" in text for text in texts[:1]) and any(
        "tw\\u202eo\\u2028" in text for text in texts[1:]
    )
    assert not any("\u202e" in text or "\u2028" in text for text in texts)


def test_a_long_value_stands_whole_in_the_sentence_and_in_the_lines():
    new = BASE.replace(b"'two'", b"'%s evil %s'" % (b"x" * 2500, b"y" * 2500))
    sentence = difference.sentences(compare(new))[0]
    whole = "x" * 2500 + " evil " + "y" * 2500
    assert whole in sentence
    assert any(whole in line["text"] for line in lines_of(new))


def lines_of(new):
    return difference.diff_lines(model.parse(BASE, "firewall"), model.parse(new, "firewall"), "firewall")


def test_an_edit_is_told_though_what_goes_was_called_as_the_edited_one_is_now():
    old = b"config rule\n\toption name 'a'\n\nconfig rule\n\toption name 'b'\n\nconfig rule 'last'\n\toption name 'c'\n"
    new = b"config rule 'last'\n\toption name 'c'\n\nconfig rule\n\toption name 'b'\n\toption target 'ACCEPT'\n"
    found = compare(new, old)
    assert ("section_removed", "@rule[1]", None) in kinds(new, old)
    assert "firewall: removed Traffic rule @rule[1]" in difference.sentences(found)
    assert any("target" in words and "'ACCEPT'" in words for words in difference.sentences(found))
