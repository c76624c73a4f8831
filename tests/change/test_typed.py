"""Secrets in commands that nobody has carried out: found and masked by the place that they would go to."""

import pytest

from oasis.change import typed

M = "********"


@pytest.mark.parametrize(
    ("text", "shown", "values"),
    [
        ("uci set wireless.a.key=correct-horse", f"uci set wireless.a.key={M}", ["correct-horse"]),
        ("set wireless.@wifi-iface[0].key='a b c d e'", f"set wireless.@wifi-iface[0].key={M}", ["a b c d e"]),
        ("uci set 'wireless.a.key=correct horse'; x y", f"uci set 'wireless.a.key={M}'; x y", ["correct horse"]),
        ("uci set wireless.a.key='it'\\''s long'; x", f"uci set wireless.a.key={M}; x", ["it's long"]),
        ('uci set wireless.a.key="a \\"b\\" cdef"', f"uci set wireless.a.key={M}", ['a "b" cdef']),
        ("uci set wireless.a.key='never closed", f"uci set wireless.a.key={M}", ["never closed"]),
        ("uci set wireless.a.key=short", f"uci set wireless.a.key={M}", []),
        ("set wireless.a.key=a1b2c3d4\nset wireless.b.key=e5f6g7h8", f"set wireless.a.key={M}\nset wireless.b.key={M}",
         ["a1b2c3d4", "e5f6g7h8"]),
        ("uci add_list vpn.x.token=abcdefgh", f"uci add_list vpn.x.token={M}", ["abcdefgh"]),
        ("uci set uhttpd.main.key=/etc/uhttpd.key", "uci set uhttpd.main.key=/etc/uhttpd.key", []),
        ("uci set wireless.a.ssid=correct-horse", "uci set wireless.a.ssid=correct-horse", []),
        ("uci delete wireless.a.key", "uci delete wireless.a.key", []),
        ("uci set wireless.a.key=", "uci set wireless.a.key=", []),
        ("no command at all", "no command at all", []),
    ],
)  # fmt: skip
def test_a_value_ends_where_a_shell_ends_it(text, shown, values):
    assert typed.hide(text) == shown
    assert typed.values(text) == values


def test_what_is_set_in_one_text_is_masked_in_all():
    call = {"commands": ["uci set wireless.a.key='correct horse'"], "summary": "the password is correct horse now"}
    assert typed.hide(call) == {"commands": [f"uci set wireless.a.key={M}"], "summary": f"the password is {M} now"}


def test_arguments_that_are_no_json_are_masked_as_well():
    shown = typed.hide({"invalid": '{"commands": ["uci set wireless.a.key=correct-horse", "uci'})
    assert "correct" not in shown["invalid"]
