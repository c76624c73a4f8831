"""Cases that a generator found: each is what the real `uci` printed and left."""

import platform

import pytest

from tests.uci.programs import Folders, real_program, run_ours, run_real

RUNS = [run_ours, pytest.param(run_real, marks=pytest.mark.skipif(real_program() is None, reason="NOT RUN: no uci"))]
FILE = b"config zone 'lan'\n\toption o1 'x'\n"


@pytest.fixture(params=RUNS, ids=["ours", "real"])
def uci(request, tmp_path):
    folders = Folders(tmp_path)
    folders.write({"network": FILE}, {})

    def run(*words, stdin=b""):
        return request.param([*folders.options(), *words], stdin)

    run.folders = folders
    return run


def test_half_a_character_is_an_unknown_option(uci):
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("the words are the GNU library's")
    status, out, err = uci("-é", "show")
    assert (status, out) == (0, b"")
    assert err.startswith(b"uci: invalid option -- '\xc3'\nUsage: uci ")


def test_reverting_where_the_delta_is_a_folder_reads_the_package_twice(uci):
    (uci.folders.save / "network").mkdir(parents=True)
    (uci.folders.config / "network").write_bytes(FILE + b"nonsense\n")
    complaint = b"Parse error (invalid command) at line 3, byte 0\n"
    assert uci("-S", "revert", "network.lan") == (0, b"", complaint * 2)


def test_a_bad_name_to_import_leaves_the_input_to_the_next_line(uci):
    text = b'import "a b"\nget network.lan\nset \'open\n'
    complaints = b"uci: Invalid argument\nuci: Parse error (EOF with unterminated ') at line 1, byte 10\n"
    assert uci("batch", stdin=text) == (0, b"zone\n", complaints)


def test_a_save_folder_that_cannot_be_made_fails_when_it_is_written_to(uci):
    uci.folders.save = uci.folders.root / "none" / "deeper"
    assert uci("set", "network.lan.o1=y") == (1, b"", b"uci: I/O error\n")
    assert uci("get", "network.lan.o1") == (0, b"x\n", b"")


@pytest.mark.parametrize(
    "text, shown",
    [
        (b"config zone a\noption o1 '", None),
        (b'config zone a\noption o1 "', None),
        (b"config zone a\noption o1 'x'\noption o2 'two\nlines' # c\noption o3 z", b"o1='x' o2='two\nlines' o3='z'"),
        (b'config zone a\noption o1 \'a\'"b"\\ c#d\noption o2 "x\\"y\\\\"', b"o1='ab c' o2='x\"y\\'"),
        (b"config 'zone' \"a\"\r\n\toption\to1  x\r\n\n# c\n \t\noption 'o2' y#z\n", b"o1='x' o2='y'"),
        (b"config zone a\noption o1 'x' y\n", None),
        (b"config zone a\noption o1 x;option o2 y\n", b"o1='x'"),
        (b"config zone a\noption o1 x ;option o2 y\n", b"o1='x' o2='y'"),
    ],
)
def test_odd_lines_behind_usual_ones(uci, text, shown):
    (uci.folders.config / "network").write_bytes(text)
    status, out, _ = uci("show", "network.a")
    if shown is None:
        assert (status, out) == (1, b"")
    else:
        words = out.removeprefix(b"network.a=zone\n").removesuffix(b"\n").split(b"\nnetwork.a.")
        assert b" ".join(words).removeprefix(b"network.a.") == shown


def test_numbers_of_thousands_of_digits_are_numbers(uci):
    many, one = "9" * 5000, "0" * 5000 + "1"
    uci.folders.write({"network": FILE + b"\tlist l1 'a'\n\tlist l1 'b'\n"})
    assert uci("get", f"network.@zone[{many}]")[1] == b"zone\n", "the largest number, cut to -1"
    assert uci("get", f"network.@zone[{one}]")[2] == b"uci: Entry not found\n"
    assert uci("reorder", f"network.lan={many}")[0] == 0
    assert uci("delete", f"network.lan.l1={many}")[0] == 0
    assert uci("delete", f"network.lan.l1={one}")[0] == 0
    assert uci("export", "network")[1].endswith(b"\tlist l1 'a'\n\n")
