"""What may be written into generated text: nothing that ends the quotes, the line or the word it stands in.

free_text.json tells where every option ends whose type is free text, and which characters break out there. The quoting
of fw4 is recorded as of OpenWrt 22.03 and 23.05 (a backslash before a quote, which nft does not know) and as of 24.10
(an apostrophe in its place); where the real fw4 is on PATH, it renders the rules itself.
"""

import json
import os
import shutil
import subprocess

import pytest

from oasis.catalogue import check as catalogue
from oasis.catalogue import entries, validators
from tests.change.drafting import TOP, check

with open(os.path.join(TOP, "tests/change/free_text.json"), encoding="utf-8") as handle:
    FREE = json.load(handle)

# Values of every kind of option, with a place for a character that breaks out.
SHAPES = ["{}", "a{}b", "1{}2", "abcdefgh{}ijkl", "10.0.0.1{}", "http://a/{}b", "lan {}x", "a:{}b", "0x1{}", "1,{}2",
          "/a/{}b", "{}10/minute", "tcp{}", "Mon {}Tue", "00:11:22:33:44:55{}", "ACCEPT{}"]  # fmt: skip
BREAKING = '"\\`$;{}\n\r'

HOSTILE = ['x" ; accept #', 'x" accept #', 'x\\" ; accept #', 'x"\naccept #', 'x" ; counter ; accept comment "y',
           'x" }; chain input { accept; } #', '"; flush ruleset; #']  # fmt: skip
HARMLESS = [
    "Allow-Ping",
    "Bob’s TV",
    "Bob's TV",
    "Kids (iPad) – evening #2",
    "lan->wan: 80, 443",
    "Küche & Büro",
    "x|y",
]

QUOTINGS = {
    "22.03 and 23.05": lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"',
    "24.10": lambda text: '"' + text.replace('"', "'") + '"',
}
RULE = "tcp dport 22 counter drop comment %s"
TABLE = "table inet fw4 {\n\tchain input {\n\t\ttype filter hook input priority 0; policy drop;\n\t\t%s\n\t}\n}\n"


def options():
    """Yield (path, entry) of every option that a model may set."""
    for package in entries.packages():
        for type_ in entries.types(package):
            if not entries.is_code(package, type_):
                for name in entries.types(package)[type_]["options"]:
                    entry = entries.option(package, type_, name)
                    if entry.get("mark") != "exec":
                        yield f"{package}.{type_}.{name}", entry


def taken(entry, characters):
    """Return those of some characters that some value of an option may hold."""
    values = entry.get("values")
    is_good = (lambda one: one in values) if values else (lambda one: not validators.error(str(entry["type"]), one))
    return "".join(char for char in characters if any(is_good(shape.replace("{}", char)) for shape in SHAPES))


OPTIONS = dict(options())


def test_where_every_free_text_ends_is_known():
    free = {path for path, entry in OPTIONS.items() if taken(entry, '"\\`$;\n') not in ("", ";")}
    assert free <= set(FREE["ends"])
    assert set(FREE["ends"]) <= set(OPTIONS)


@pytest.mark.parametrize("path", FREE["ends"])
def test_no_option_takes_what_breaks_out_of_where_it_ends(path):
    breaking = FREE["breaks"][FREE["ends"][path]]["chars"]
    assert taken(OPTIONS[path], breaking) == ""
    assert taken(OPTIONS[path], "ab") != "", "this would prove nothing"


def test_no_option_of_the_firewall_takes_what_means_something_to_nft():
    found = {path: taken(entry, BREAKING) for path, entry in OPTIONS.items() if path.startswith("firewall.")}
    assert len(found) > 80
    assert {path: chars for path, chars in found.items() if chars} == {}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_breaks_out_of_the_quotes_is_refused(name):
    for kind in ("rule", "redirect", "nat", "forwarding"):
        (found,) = check(f"set firewall.mine={kind}", f"set firewall.mine.name={name}", read=lambda package: {})[:1]
        assert found["kind"] == "bad_value" and found["where"] == "firewall.mine.name"
        assert found["hint"].startswith("must be ")


@pytest.mark.parametrize("name", HARMLESS)
def test_an_ordinary_name_is_taken(name):
    assert validators.label(name) == ""


# nft itself


def rules(text):
    """Return the rules that nft makes of a table, None when it refuses it; skips where nft may not be asked."""
    if shutil.which("nft") is None or shutil.which("unshare") is None:
        pytest.skip("there is no nft or no unshare here")
    apart = ["unshare", "-rn", "sh", "-c"]
    if subprocess.run([*apart, "nft list ruleset"], capture_output=True, timeout=20).returncode:
        pytest.skip("nft may not be used in a network of its own here")
    made = subprocess.run(
        [*apart, "nft -f /dev/stdin && nft -j list ruleset"], input=text.encode(), capture_output=True, timeout=20
    )
    if made.returncode:
        return None
    return [item["rule"] for item in json.loads(made.stdout)["nftables"] if "rule" in item]


def is_accepting(found):
    return any("accept" in part for rule in found or [] for part in rule["expr"])


def test_the_recorded_quoting_of_fw4_is_no_escape_to_nft():
    quoted = QUOTINGS["22.03 and 23.05"]('x" ; accept #')
    found = rules(TABLE % (RULE % quoted))
    assert len(found) == 2 and is_accepting(found)


@pytest.mark.parametrize("release", QUOTINGS)
@pytest.mark.parametrize("name", HARMLESS)
def test_a_name_that_is_taken_stays_one_comment_of_one_rule(name, release):
    found = rules(TABLE % (RULE % QUOTINGS[release]("!fw4: " + name)))
    assert [rule["comment"] for rule in found] == ["!fw4: " + name]
    assert not is_accepting(found)


@pytest.mark.parametrize("name", HOSTILE + HARMLESS)
def test_of_all_names_only_those_that_stay_a_comment_are_taken(name):
    found = rules(TABLE % (RULE % QUOTINGS["22.03 and 23.05"]("!fw4: " + name)))
    is_whole = found is not None and [rule.get("comment") for rule in found] == ["!fw4: " + name]
    assert is_whole or validators.label(name) != ""


# fw4 itself


def fw4():
    """Return (utpl, the folder that holds ucode/ and firewall4/) of the fw4 on PATH."""
    program, utpl = shutil.which("fw4"), shutil.which("utpl")
    if program is None or utpl is None:
        pytest.skip("the real fw4 is not on PATH")
    folder = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    for share in (folder + "/share", folder + "/usr/share"):
        if os.path.exists(share + "/ucode/fw4.uc"):
            return utpl, share
    pytest.skip(f"fw4 is at {program}, and its templates are not beside it")


def rendered(tmp_path, config):
    """Return what fw4 makes of a firewall configuration; in its own code only the paths differ."""
    utpl, share = fw4()
    shutil.copytree(share + "/firewall4", tmp_path / "firewall4")
    (tmp_path / "config").mkdir()
    (tmp_path / "config/firewall").write_text(config, encoding="utf-8")
    with open(share + "/ucode/fw4.uc", encoding="utf-8") as handle:
        source = handle.read()
    assert source.count("uci.cursor()") >= 1
    (tmp_path / "fw4.uc").write_text(
        source.replace("uci.cursor()", f'uci.cursor("{tmp_path}/config")').replace(
            "/usr/share/firewall4/helpers", f"{tmp_path}/firewall4/helpers"
        ),
        encoding="utf-8",
    )
    modules = os.path.dirname(os.path.dirname(os.path.realpath(utpl))) + "/lib/ucode/*.so"
    command = [utpl, "-S", "-L", f"{tmp_path}/*.uc", "-L", modules, f"{tmp_path}/firewall4/main.uc"]
    made = subprocess.run(command, env={**os.environ, "ACTION": "print"}, capture_output=True, timeout=60)
    assert made.returncode == 0, made.stderr.decode()
    return made.stdout.decode()


def test_the_real_fw4_renders_every_name_that_is_taken_as_one_comment(tmp_path):
    config = "config defaults\n\toption input 'DROP'\n\nconfig zone\n\toption name 'lan'\n\tlist device 'lo'\n\n"
    config += "".join(
        f"config rule\n\toption name '{name.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'\n\toption src 'lan'\n"
        "\toption proto 'tcp'\n\toption dest_port '22'\n\toption target 'DROP'\n\n"
        for name in HARMLESS
    )
    text = rendered(tmp_path, config).replace('include "/etc/nftables.d/*.nft"', "")
    found = [rule for rule in rules(text) if rule["chain"] == "input_lan" and {"drop": None} in rule["expr"]]
    assert [rule["comment"] for rule in found] == ["!fw4: " + name for name in HARMLESS]


def test_a_message_about_a_bad_name_tells_how_it_must_be():
    (found,) = check('set firewall.mine.name=a"b', read=lambda package: {"mine": {".type": "rule"}})
    assert "invisible" in found["hint"] and catalogue.mark("firewall", "rule", "name") == "plain"


def test_lines_and_tabs_are_for_options_of_free_text_alone():
    assert check("set system.@system[0].notes=one\n\ttwo") == []
    for path in ("system.@system[0].hostname", "system.@system[0].description", "firewall.@rule[0].name"):
        (found,) = check(f"set {path}=one\ntwo")
        assert found["kind"] == "bad_value" and found["hint"] == "must be one line without control characters"
