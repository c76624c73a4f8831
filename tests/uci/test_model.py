"""Values and text: what the recorded cases of the command line do not show."""

import time

import pytest

from oasis.errors import UciError
from oasis.uci import model
from oasis.uci.parser import Importer
from tests.uci.generated import Case, damaged_files

LINES = 2000
# Far above what it takes (2 ms), far below what a reader of single bytes would take.
PARSE_AND_WRITE_S = 0.05


def test_sections_are_in_order_with_names_types_and_options():
    package = model.parse(b"config a x\n option o 1\n list l 1\n list l ''\n option e ''\nconfig b\n", "p")
    assert [(s.name, s.type, s.anonymous, s.options) for s in package.sections] == [
        ("x", "a", False, {"o": "1", "l": ["1", ""]}),
        ("cfg02b607", "b", True, {}),
    ]


def test_a_section_twice_is_one_and_an_option_becomes_a_list():
    package = model.parse(b"config a x\n option o 1\nconfig b y\nconfig a x\n list o 2\n option n 3\n", "p")
    assert [s.name for s in package.sections] == ["x", "y"]
    assert package.sections[0].options == {"o": ["1", "2"], "n": "3"}


def test_any_bytes_survive():
    data = b"\nconfig a 'x'\n\toption o '\xff\xfe \xc3\xbc'\n\n"
    assert model.file_text(model.parse(data, "p")) == data


def test_export_text_has_the_package_line():
    assert model.export_text(model.parse(b"config a", "p")) == b"package p\n\nconfig a\n\n"


def test_the_package_line_of_a_file_does_not_rename_it():
    assert model.parse(b"package other\nconfig a\n", "p").name == "p"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"config a\n\toption o 'open\n", "(EOF with unterminated ') at line 2, byte 16"),
        (b'config a\n\toption o "open', '(EOF with unterminated ") at line 1, byte 15'),
        (b"option o 1\n", "(option/list command found before the first section) at line 1, byte 0"),
        (b"config a b c\n", "(too many arguments) at line 1, byte 13"),
        (b"config a\nconfig\n", "(invalid command) at line 2, byte 0"),
        (b"config a b-c\n", "(invalid character in name field) at line 1, byte 13"),
        (b"config 'a b'\n", "(invalid character in type field) at line 1, byte 13"),
        (b"config a\n option\t\n", "(insufficient arguments) at line 2, byte 9"),
        (b"config", "(config without name) at line 0, byte 0"),
        (b"\n\n\nconfig a x\nconfig b x\n", "(section of different type overwrites prior section with same name)"),
    ],
)
def test_parse_errors_name_line_and_byte(data, words):
    with pytest.raises(UciError) as caught:
        model.parse(data, "p")
    assert "Parse error " + words in caught.value.message


@pytest.mark.parametrize("seed", range(60))
def test_quick_and_exact_reading_agree(seed):
    for data in [*damaged_files(seed).values(), *Case(seed).files.values()]:
        exact = _told(data, False)
        assert _told(data, True) == exact
        if isinstance(exact, bytes):
            assert _told(exact, True) == _told(exact, False)


def _told(data, is_quick):
    try:
        return model.file_text(Importer("p").read(data, 0 if is_quick else len(data) + 1)[0])
    except UciError as error:
        return error.message


def test_a_long_package_is_read_and_written_at_once():
    section = ["config rule", *[f"\toption o{n} 'some value {n}'" for n in range(7)], "\tlist l 'it'\\''s'", ""]
    data = "\n".join(section * (LINES // len(section))).encode()
    best = min(_seconds(data) for _ in range(5))
    assert best < PARSE_AND_WRITE_S


def test_a_hostile_package_takes_no_longer_than_its_length():
    # Each line looks like the usual form up to its end; searching the rest of the text each time would be quadratic.
    for line in (b"\toption o 'a'b 'c\n'\n", b"\toption o 'a\n'b\n", b'\toption o "a\\\n"\n', b"config a;\n"):
        assert _seconds(b"config a\n" + line * LINES) < PARSE_AND_WRITE_S * 20


def test_zero_bytes_are_read_as_libuci_reads_them_also_in_a_file_in_the_form_of_a_commit():
    # A zero byte ends the piece of the line that was read; the quote goes on in the next one.
    data = b"\nconfig a\n\toption b 'x\0y'\n\toption c 'd'\n" + b"#" * 4096
    with pytest.raises(UciError) as caught:
        model.parse(data, "p")
    assert caught.value.message == _told(data, False)


def test_a_file_full_of_zero_bytes_is_no_fault():
    assert model.parse(b"config a\n" + b"#\0\n" * 200, "p").sections[0].type == "a"


def _seconds(data):
    started = time.perf_counter()
    try:
        model.file_text(model.parse(data, "p"))
    except UciError:
        pass
    return time.perf_counter() - started


def test_a_package_that_was_parsed_before_is_nobody_elses():
    data = b"config a x\n list l 1\n option o 1\nconfig a\n"
    first = model.parse(data, "p")
    first.sections[0].options["l"].append("2")
    del first.sections[0].options["o"]
    first.append("a", "")
    second = model.parse(data, "p")
    assert model.file_text(second) == b"\nconfig a 'x'\n\tlist l '1'\n\toption o '1'\n\nconfig a\n\n"
    assert second.append("a", "").name == model.parse(data + b"config a\n", "p").sections[-1].name


def test_only_the_newest_packages_are_remembered():
    for number in range(40):
        model.parse(b"config a x\n option o %d\n" % number + b"#" * 4000, "p")
    assert sum(len(data) for _, data in model._parsed) <= model._PARSED_BYTES
