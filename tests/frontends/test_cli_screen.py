import io

from oasis.errors import OasisError
from oasis.frontends.cli_screen import Screen, clean, clean_line


def screen_and_output(**options):
    out, err = io.StringIO(), io.StringIO()
    return Screen(out, err, **options), out, err


def test_control_direction_and_invisible_characters_are_removed():
    harmful = [*range(9), *range(11, 32), 0x7F, *range(0x80, 0xA0), 0x200B, 0x200E, 0x202E, 0x2028, 0x2066, 0xFEFF]
    for number in harmful:
        assert clean(f"a{chr(number)}b") == "ab", hex(number)


def test_ordinary_text_of_all_scripts_is_kept():
    text = "é ü 日本語 👩‍👩‍👧 می‌خواهم\ttab\nline"
    assert clean(text) == text
    assert clean_line("a\tb\nc") == "a b c"


def test_blocks_begin_on_a_line_of_their_own():
    screen, out, _ = screen_and_output()
    screen.text("half")
    screen.line("whole")
    screen.text("a\n")
    screen.line("b")
    assert out.getvalue() == "half\nwhole\na\nb\n"


def test_colour_only_where_it_is_wanted():
    for has_colour, expected in ((False, "+ a\n"), (True, "\x1b[32m+ a\x1b[0m\n")):
        screen, out, _ = screen_and_output(has_colour=has_colour)
        screen.line("+ a", "+")
        assert out.getvalue() == expected


def test_progress_is_for_people_only():
    for is_terminal, expected in ((False, ""), (True, "[status]\n")):
        screen, _, err = screen_and_output(is_terminal=is_terminal)
        screen.progress("[status]")
        assert err.getvalue() == expected


def test_json_output_holds_nothing_else():
    screen, out, err = screen_and_output(is_terminal=True)
    screen.is_json = True
    screen.notice("n")
    screen.progress("p")
    assert screen.failure(OasisError("m", "h")) == 1
    assert out.getvalue() == '{"error":{"code":"error","message":"m","hint":"h"}}\n'
    assert err.getvalue() == "oasis: error: m\noasis: hint: h\n"
