"""Generated packages, deltas and command sequences that are meant to hurt; a seed makes the same case every time."""

import random

NAMES = ["lan", "wan", "b2", "s_1", "X9", "alpha", "cfg01fe63", "cfg0292bd"]
TYPES = ["zone", "rule", "host", "wifi-iface", "interface", "a.b"]
OPTIONS = ["proto", "ipaddr", "o1", "l1", "name", "key", "_x"]
PACKAGES = ["network", "wireless", "demo"]
VALUES = [
    *[
        "1",
        "lan",
        "a b",
        "it's",
        "''",
        '"',
        'a"b',
        "back\\slash",
        "\\",
        "\\n",
        "#hash",
        "a#b",
        "semi;colon",
        ";",
        "$HOME",
    ],
    *[
        "`id`",
        "line1\nline2",
        "line1\n\n\tline3",
        " lead",
        "trail ",
        "tab\there",
        "ünïcode",
        "日本語",
        "a=b",
        "-x",
        "*",
    ],
    *["%s", "{json:1}", "x" * 300, "\r", "cr\r\nlf", "@zone[0]", "10.0.0.1/24", "\\'", "'\\''", "a.b.c"],
    *[
        "'",
        "x'y\nz",
        "a\\\nb",
        "\x7f",
        "\v",
        "\f",
        "\u2028",
        "\ufeff",
        "lan wan",
        "  ",
        "\n",
        " #c",
        "%d%n",
        "a" * 5000,
    ],
]
DAMAGE = [bytes([byte]) for byte in b"\0\0\n\n'\"\\;# \t\r\v\xff\x01"] + [b"\\\n", b"\\\r\n", b"\\\0", b"'\n", b";\n"]
COMMANDS = [
    *["set"] * 3,
    *["add_list", "del_list", "add", "delete", "rename", "reorder", "revert", "changes", "get", "show", "export"],
    *["commit", "SET", "ren", "del", "nonsense"],
]
LINES = [
    *[
        "config",
        "config ",
        "config\t",
        "option a b",
        "option a",
        "option",
        "list",
        "list a",
        "list a ''",
        "option o1 ''",
    ],
    *["option o1", "c rule", "c rule z1", "o a b", "l a b", "p x", "package y", "package 'a-b'", "packages", "configx"],
    *["option a b c", "option 'a'x 'b'y\"c\"", "option a 'b'; option c 'd'", "option a b; option c d", "option a 'b';"],
    *["option a b\\", "option a 'b' \\", 'option a "b\\', 'option a "b\\"c"', "option a b\\ c", "option a b#c", "\\"],
    *[
        "config a-b name",
        "config 'a b'",
        "config rule bad-name",
        "config rule ''",
        "config rule lan extra",
        "config '' x",
    ],
    *[
        "option bad-name x",
        "option 'unterminated",
        'option "unterminated',
        "# comment",
        "   # comment",
        ";",
        "; ;",
        "'",
    ],
    *[
        "\toption\to1\t'x'  # tail",
        "option o1 'a''b'",
        "option o1 'a'\"b\"c",
        "option o1 x\r",
        "config rule\r",
        "config\r",
    ],
    *[
        "option\vo1 x",
        " \v\f option o1 x",
        "option o1 \vx",
        "option o1 x\vy",
        "list o1 'x' 'y'",
        "config zone lan;list a b",
    ],
    *[
        "option o1 'it'\\''s'",
        "option o1 it\\'s",
        "option o1 \\\\x",
        "config rule @x",
        "option o1 'ü' # ü",
        "option ü x",
    ],
    *["o o1 x", "l l1 y", "c rule", "option o1 a\\ b", 'option o1 "a\\"b"', "list l1 x#y", "option o1 'a'b\"c\"\\d"],
    *[
        "option o1 'two",
        "lines'",
        'list l1 "two',
        'lines" # c',
        "option o1 'two\n\n#x' y",
        'option o1 "a\\\nb"',
        "\r",
        " \t",
    ],
    *[
        "config 'rule'\"x\"",
        "config rule'x'",
        "option o1'x'",
        "option 'o1'x",
        "option o1 \tx",
        "config rule #x",
        "o\to1 x;",
    ],
]
# EXTRA, OVERRIDE and INPUT stand for a folder with a delta, one with a file that wins over another, a file of input.
FLAGS = [
    *[["-X"], ["-n"], ["-N"], ["-q"], ["-S"], ["-d", "|"], ["-S", "-q"], ["-S", "-s"], ["-Xq"], ["-d|", "-X"], ["--"]],
    *[
        ["-p", "EXTRA"],
        ["-P", "EXTRA"],
        ["-t", "EXTRA"],
        ["-C", "OVERRIDE"],
        ["-C", ""],
        ["-f", "INPUT"],
        ["-p", "EXTRA"],
    ],
    *[["-f", "missing"], ["-z"], ["-L"], ["-c"], ["-X", "-p", "EXTRA", "-p", "EXTRA"], ["-f", "INPUT", "-f", "INPUT"]],
    *[["-é"], ["-?"], ["--help"], ["-"], ["-qz"], ["-mn"], ["-nN"], ["-d", ""], ["-d", "\n"], ["-pEXTRA"], ["-XqS"]],
]
DELTAS = [
    *["network.lan.o1='x'", "+network.cfg0592bd='rule'", "-network.lan", "-network.lan.o1", "@network.lan='nn'"],
    *["@network.lan='bad-name'", "^network.lan='0'", "^network.lan='-1'", "^network.lan='word'", "|network.lan.l1='v'"],
    *[
        "~network.lan.l1='v'",
        "|network.lan='v'",
        "~network.lan='v'",
        "-network.lan.l1='0'",
        "network.lan.o1=''",
        "network",
    ],
    *["network.@zone[0].o1='x'", "other.lan.o1='x'", "network.lan.o1=plain", "network.lan.o1='a' 'b'", "", "# comment"],
    *[
        "network.new='zone'",
        "network.new=''",
        "network.lan.o1='multi\nline'",
        "network.lan.o1='it'\\''s' ",
        "network.lan",
    ],
    *[
        "+network.lan.o1='x'",
        "@network.lan.o1='proto'",
        "^network.lan.o1='1'",
        "network.lan='a b'",
        "network.lan='longer'",
    ],
    *['network.lan.o1="dq\\"x"', "network.lan.o1='unterminated", "network.lan.o1='x'#c", "network.lan.o1='x';y", "'"],
]


class Case:
    """Files, deltas and steps (arguments, stdin) made from a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._random = random.Random(seed)
        self.files = {name: self._file() for name in PACKAGES}
        self.deltas = {"network": self._delta()} if self._random.random() < 0.3 else {}
        self.extra_delta = {"network": self._delta()}
        self.override = {"wireless": self._file()}
        self.input = self._import_text()
        self.steps = [self._step() for _ in range(self._random.randint(4, 14))]
        self.steps += [(["show"], b""), (["export"], b""), (["commit"], b""), (["export"], b"")]

    def _file(self) -> bytes:
        hostility = self._random.choice([0, 0, 0, 0.02, 0.2])
        lines = [self._line(hostility) for _ in range(self._random.randint(0, 30))]
        text = "\n".join(lines) + ("\n" if self._random.random() < 0.9 else "")
        data = text.encode()
        if hostility and self._random.random() < 0.3 and data:
            where = self._random.randrange(len(data))
            data = data[:where] + self._random.choice([b"\0", b"\n", b"'", b"\xff", b"\\", b";"]) + data[where:]
        return data

    def _line(self, hostility: float) -> str:
        pick = self._random
        if pick.random() < hostility:
            return pick.choice(LINES)
        if pick.random() < 0.3:
            name = " " + self._quoted(pick.choice(NAMES), plain=True) if pick.random() < 0.6 else ""
            type = pick.choice(TYPES) if hostility or not name else TYPES[NAMES.index(name.strip(" '\"")) % len(TYPES)]
            return "config " + self._quoted(type, plain=True) + name
        word = pick.choice(["option", "option", "list", "\toption", "  list"])
        blank = pick.choice([" ", "\t", "  "])
        tail = pick.choice(["", "", "", " ", " # tail", "\t#'"])
        return (
            f"{word} {self._quoted(pick.choice(OPTIONS), plain=True)}{blank}{self._quoted(pick.choice(VALUES))}{tail}"
        )

    def _quoted(self, text: str, plain: bool = False) -> str:
        forms = ["'" + text.replace("'", "'\\''") + "'"]
        forms.append('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
        if plain or (text.isascii() and text.isalnum()):
            forms += [text, text]
        return self._random.choice(forms)

    def _delta(self) -> bytes:
        lines = [self._random.choice(DELTAS) for _ in range(self._random.randint(1, 8))]
        return ("\n".join(lines) + self._random.choice(["\n", "\n", ""])).encode()

    def _step(self) -> tuple[list[str], bytes]:
        pick = self._random
        flags = pick.choice(FLAGS) if pick.random() < 0.6 else []
        kind = pick.random()
        if kind < 0.12:
            lines = [self._batch_line() for _ in range(pick.randint(1, 8))]
            return [*flags, "batch"], ("\n".join(lines) + pick.choice(["\n", ""])).encode()
        if kind < 0.2:
            package = pick.choice([*PACKAGES, *PACKAGES, "newpkg"])
            merge = pick.choice([[], [], ["-m"]])
            return [*flags, *merge, "import", *pick.choice([[package], [package], []])], self._import_text()
        words = self._command()
        return ([*flags, *words] if pick.random() < 0.9 else [*words, *flags]), b""

    def _import_text(self) -> bytes:
        heads = [
            "",
            "",
            "package network\n",
            "package demo\n\nconfig rule\n\npackage wireless\n",
            "package demo\npackage demo\n",
        ]
        return self._random.choice(heads).encode() + self._file()

    def _batch_line(self) -> str:
        pick = self._random
        if pick.random() < 0.15:
            lines = [
                "",
                "# comment",
                "exit",
                "quit",
                "help",
                "a b c d e",
                "set 'open",
                "batch",
                "get x y",
                "show a.b.c.d",
            ]
            return pick.choice(
                [*lines, "set ''", "get network.lan;show", "import demo\nconfig rule\n\toption a b", "\\"]
            )
        words = self._command()
        return " ".join(self._quoted(word, plain=word.isascii() and word.replace("_", "").isalnum()) for word in words)

    def _command(self) -> list[str]:
        pick = self._random
        word = pick.choice(COMMANDS)
        low = word.lower()
        if low in ("changes", "export", "commit", "show"):
            return [word, *pick.choice([[], [pick.choice(PACKAGES)], [self._target()], ["nopkg"]])]
        if low == "add":
            return [word, pick.choice([*PACKAGES, "nopkg", ""]), pick.choice([*TYPES, "bad type", "é"])]
        if low in ("get", "revert"):
            return [word, pick.choice([self._target(), self._target(), pick.choice(PACKAGES), self._target() + "=x"])]
        if low in ("delete", "del"):
            return [word, self._target() + pick.choice(["", "", "", "=0", "=1", "=x", "=", "=-1"])]
        return [word, self._target() + "=" + self._value_for(low)]

    def _value_for(self, word: str) -> str:
        pick = self._random
        if word == "reorder":
            return pick.choice(["0", "1", "2", "3", "99", "-1", "word", "", "4294967296", "99999999999999999999"])
        if word in ("rename", "ren"):
            return pick.choice([*NAMES, *OPTIONS, "new_1", "bad-name", "", "a b"])
        return pick.choice([*VALUES, *VALUES, *TYPES, *TYPES, "", "\x01"])

    def _target(self) -> str:
        pick = self._random
        index = pick.choice(["0", "1", "-1", "2", "-9", "99", "", "x", " 1", "+0"])
        extended = f"@{pick.choice([*TYPES, ''])}[{index}]"
        section = pick.choice([*NAMES, *NAMES, extended, extended, "", "bad-name", "@x", "@x[0]y"])
        option = pick.choice(["", "." + pick.choice(OPTIONS), "." + pick.choice(OPTIONS), "." + pick.choice(OPTIONS)])
        odd = pick.choice([*[""] * 20, ".x", "."])
        return pick.choice([*PACKAGES, *PACKAGES, *PACKAGES, *PACKAGES, "nopkg", ""]) + "." + section + option + odd


def damaged_files(seed: int) -> dict[str, bytes]:
    """Return forty files of the same text, each with other bytes put in, taken out or doubled."""
    pick = random.Random(-seed)
    case = Case(seed)
    text = b"".join(case.files.values()) or b"config a\n"
    return {f"p{number:02}": _damaged(pick, text) for number in range(40)}


def _damaged(pick: random.Random, text: bytes) -> bytes:
    for _ in range(pick.randint(1, 4)):
        start = pick.randrange(len(text) + 1)
        end = pick.choice([start, start, start + 1, start + pick.randrange(60)])
        put = pick.choice([*DAMAGE, *DAMAGE, text[start:end] * 2, pick.randbytes(2), b"x" * pick.randrange(200)])
        text = text[:start] + put + text[end:]
    return text[: pick.randrange(len(text) + 1)] if pick.random() < 0.3 else text
