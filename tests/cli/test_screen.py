import io

from oasis.cli.terminal import Screen
from oasis.errors import OasisError


def screen_and_output(**options):
    out, err = io.StringIO(), io.StringIO()
    return Screen(out, err, **options), out, err


def test_what_is_written_steers_no_terminal():
    screen, out, err = screen_and_output(is_terminal=True)
    screen.text("a\x1b[2J\u202eb\n")
    screen.line("c\x07d\te")
    screen.notice("f\ng\x9b")
    screen.progress("h\u200bi")
    assert out.getvalue() == "a[2Jb\ncd\te\n"
    assert err.getvalue() == "oasis: f g\nhi\n"


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
    screen.speak_json()
    screen.notice("n")
    screen.progress("p")
    assert screen.failure(OasisError("m", "h")) == 1
    assert out.getvalue() == '{"error":{"code":"error","message":"m","hint":"h"}}\n'
    assert err.getvalue() == "oasis: error: m\noasis: hint: h\n"


def test_a_reader_of_another_language_is_spoken_to_in_it_and_a_program_is_not():
    screen, out, err = screen_and_output(language="de_DE.UTF-8")
    screen.card([("  risky: network can interrupt somebody's connection", ""), "no changes yet"])
    screen.failure(OasisError("plan 'x' has expired", "ask for the change again"))
    screen.text("no changes yet\n")  # a model's
    assert out.getvalue() == (
        "  riskant: network kann eine bestehende Verbindung unterbrechen\nnoch keine Änderungen\nno changes yet\n"
    )
    assert err.getvalue() == (
        "oasis: error: Plan 'x' ist abgelaufen\noasis: hint: die Änderung noch einmal verlangen\n"
    )
    screen, out, err = screen_and_output(language="de")
    screen.speak_json()
    screen.failure(OasisError("plan 'x' has expired"))
    assert "plan 'x' has expired" in out.getvalue() and "abgelaufen" not in out.getvalue() + err.getvalue()
