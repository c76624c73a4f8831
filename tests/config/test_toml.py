"""The part of TOML that is read: equal to tomllib where that is there, and refused by its line where it is not."""

import pytest

from oasis.config.host import read
from oasis.errors import SettingsError

TEXT = """# a comment
title = "top" # behind a value
[main]
a = 1
b = -1_000
c = 2.5e3
d = true
'quo ted' = 'C:\\new'
e = "tab\\tquote\\" \\u00e9 \\U0001F600"
f = []
g = ["x", # one
  'y',
]
h = [1, 2, -0.5, true]  # [3]

[[service]]
name = "one"
[[service]]\r
name = "two"\r
"""


def plain(tables):
    value = {}
    for table in tables:
        pairs = {key: found for key, (_, found) in table["values"].items()}
        if table["is_array"]:
            value.setdefault(table["name"], []).append(pairs)
        elif table["name"]:
            value[table["name"]] = pairs
        else:
            value.update(pairs)
    return value


def test_what_is_read_is_what_tomllib_reads():
    tomllib = pytest.importorskip("tomllib")
    assert plain(read(TEXT, "x")) == tomllib.loads(TEXT)


def test_each_key_has_its_line():
    tables = read(TEXT, "x")
    assert tables[1]["line"] == 3 and tables[1]["values"]["h"] == (14, [1, 2, -0.5, True])
    assert tables[2]["values"]["name"] == (17, "one")
    assert read("", "x") == [{"name": "", "is_array": False, "line": 1, "values": {}}]


@pytest.mark.parametrize(
    "line",
    [
        "a", "a =", "= 1", "a = 1 2", "a = x", 'a = "', 'a = "x', "a = 'x", 'a = "\\q"', 'a = "\\ud800"', "a.b = 1",
        'a = """x"""', "a = 0x10", "a = 01", "a = 1979-05-27", "a = 10:00:00", "a = {b = 1}", "a = [1", "a = [1 2]",
        "a = [1,,2]", "a = 1.", "a = .5", "a = 1__0", "a = inf", "a = truely", "[a", "[a]]", "[[a]", "[]", "[a] x",
        "a = [[1]]", "a = " + "[" * 20, "a = [\n1\n# ]", 'a = "\\UFFFFFFFF"', "a = 1\nok = 1\na = 2", "[t]\n[t]",
        "[t]\n[[t]]",
    ],
)  # fmt: skip
def test_what_is_not_read_is_told_by_its_line(line):
    with pytest.raises(SettingsError) as caught:
        read("ok = 1\n" + line + "\n", "file.toml")
    assert caught.value.message.startswith("file.toml:")
    assert caught.value.message.split(":")[1] in ("2", "3", "4")


def test_a_file_beyond_reason_is_refused():
    with pytest.raises(SettingsError, match="characters"):
        read("#" * 300000, "x")
