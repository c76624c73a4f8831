"""Commands as people and models write them: understood exactly, or refused with the reason."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.change.uci_commands import as_commands, parse
from oasis.errors import UsageError
from oasis.uci.shell_words import commands, quoted, unseen

SET = {"op": "set", "package": "system", "section": "@system[0]", "option": "hostname", "value": "attic"}

UNDERSTOOD = [
    ("uci set system.@system[0].hostname=attic", [SET]),
    ("uci set system.@system[0].hostname='attic'", [SET]),
    ("uci set 'system.@system[0].hostname=attic'", [SET]),
    ('uci set system.@system[0].hostname="attic"', [SET]),
    ("  uci   -q  set\tsystem.@system[0].hostname=attic  ", [SET]),
    ("# uci set system.@system[0].hostname=attic", [SET]),
    ("uci set system.@system[0].hostname=attic\n# uci delete network.lan", [SET]),
    ("root@OpenWrt:~# uci set system.@system[0].hostname=attic\n# uci delete network.lan", [SET]),
    ("root@OpenWrt:~# uci set system.@system[0].hostname=attic", [SET]),
    ("$ uci set system.@system[0].hostname=attic # rename", [SET]),
    ("uci set system.@system[0].hostname=attic; uci commit system", [SET]),
    ("uci set system.@system[0].hostname=attic && uci commit && reload_config", [SET]),
    ("uci set \\\n system.@system[0].hostname=attic", [SET]),
    ("# a remark\n\nuci set system.@system[0].hostname=attic\r\n", [SET]),
    (
        "uci set wireless.default_radio0.ssid='My Home WiFi'",
        [{"op": "set", "package": "wireless", "section": "default_radio0", "option": "ssid", "value": "My Home WiFi"}],
    ),
    (
        "uci set wireless.default_radio0.ssid='it'\\''s; $HOME `id` \"x\" #1'",
        [{"op": "set", "package": "wireless", "section": "default_radio0", "option": "ssid",
          "value": "it's; $HOME `id` \"x\" #1"}],
    ),
    ("uci set network.guest=interface", [{"op": "set", "package": "network", "section": "guest", "type": "interface"}]),
    ("uci add firewall rule", [{"op": "add", "package": "firewall", "type": "rule"}]),
    (
        "uci add_list dhcp.@dnsmasq[0].server=9.9.9.9",
        [{"op": "add_list", "package": "dhcp", "section": "@dnsmasq[0]", "option": "server", "value": "9.9.9.9"}],
    ),
    (
        "uci del_list network.@device[0].ports='lan 4'",
        [{"op": "del_list", "package": "network", "section": "@device[0]", "option": "ports", "value": "lan 4"}],
    ),
    ("uci delete network.wan6", [{"op": "delete", "package": "network", "section": "wan6"}]),
    ("uci del network.lan.dns", [{"op": "delete", "package": "network", "section": "lan", "option": "dns"}]),
    ("uci rename network.wan6=wan_6", [{"op": "rename", "package": "network", "section": "wan6", "name": "wan_6"}]),
    ("uci reorder firewall.@rule[3]=0", [{"op": "reorder", "package": "firewall", "section": "@rule[3]", "index": 0}]),
    ("uci set a.b.c=x=y=z", [{"op": "set", "package": "a", "section": "b", "option": "c", "value": "x=y=z"}]),
    ("uci set a.b.c=", [{"op": "set", "package": "a", "section": "b", "option": "c", "value": ""}]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "operations"), UNDERSTOOD)
def test_understood(text, operations):
    assert parse(text)[0] == operations


def test_the_order_is_kept():
    one = "uci add firewall rule\nuci set firewall.@rule[-1].name="
    text = one + "a\n" + one + "b"
    assert [item.get("value", item["op"]) for item in parse(text)[0]] == ["add", "a", "add", "b"]


REFUSED = [
    ("uci set a.b.c=$(reboot)", "variable or substitution"),
    ("uci set a.b.c=`reboot`", "inside another one"),
    ('uci set a.b.c="$HOME"', "variable or substitution"),
    ("uci set a.b.c=1 | sh", "pipes"),
    ("uci set a.b.c=1 > /etc/passwd", "writes to a file"),
    ("uci batch <<EOF\nset a.b.c=1\nEOF", "here-document"),
    ("uci set a.b.c=1 & reboot", "background"),
    ("uci set a.b.c=1 || reboot", "when one fails"),
    ("(uci set a.b.c=1)", "subshell"),
    ("{ uci set a.b.c=1; }", "group"),
    ("x=$(uci add firewall rule)", "variable or substitution"),
    ("uci set a.b.c='open", "not closed"),
    ('uci set a.b.c="open', "not closed"),
    ("uci set a.b.c=1\\", "backslash"),
    ("uci set a.b.c=my home", "takes one argument"),
    ("uci -c /tmp set a.b.c=1", "-c is not allowed"),
    ("uci -p /tmp set a.b.c=1", "-p is not allowed"),
    ("uci set /etc/config/network.lan.ipaddr=1", "name of a package"),
    ("uci set ../shadow.x.y=1", "names no section"),
    ("uci set -c.x.y=1", "name of a package"),
    ("uci set a.b.c.d=1", "names no section"),
    ("uci set a.b.bad-name=1", "name of a option"),
    ("uci set a.@b[x].c=1", "name of a section"),
    ("uci set a=1", "names no section"),
    ("uci set a.b.c", "no `=`"),
    ("uci get a.b.c", "reads and changes nothing"),
    ("uci revert a", "not allowed"),
    ("uci import a", "not allowed"),
    ("uci delete a.b.c=1", "takes no value"),
    ("uci reorder a.b=first", "position"),
    ("uci", "names no uci command"),
    ("service dnsmasq restart", "no UCI change"),
    ("/etc/init.d/network restart", "no UCI change"),
    ("opkg install luci", "no UCI change"),
    ("reboot", "no UCI change"),
    ("passwd", "no UCI change"),
    ("rm -rf /", "no UCI command"),
    ("uci set a.b.c=1; rm -rf /", "no UCI command"),
    ("uci set a.b.c=1 && wget http://x", "no UCI command"),
    ("uci set a.b.c='\x1b[2J'", "line 1 is refused: character 16 of it is an escape (U+001B)"),
    ("uci set a.b.c=\x00", "character 15 of it is a control character (U+0000)"),
    ("uci set a.b.c='line\rline'", "carriage return (U+000D)"),
    ("\ufeffuci set a.b.c=1", "line 1 is refused: character 1 of it is a byte order mark (U+FEFF)"),
    ("uci set a.b.c=1\nuci\u00a0set a.b.d=2", "line 2 is refused: character 4 of it is a no-break space (U+00A0)"),
    ("uci set a.b.c='x\u202fy'", "character 17 of it is a narrow no-break space (U+202F)"),
    ("uci set a.b.c='x\u3000y'", "ideographic space (U+3000)"),
    ("uci set a.b.c=`attic`", "around a value stand plain quotes"),
    ("uci set a.b.c=" + "x" * 70000, "longer than"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_refused_with_its_reason(text, reason):
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert reason in caught.value.message
    assert caught.value.hint


def test_too_many_operations_are_refused():
    with pytest.raises(UsageError, match="201 operations"):
        parse("\n".join(f"uci set a.b.o{number}=1" for number in range(201)))


def test_what_happens_by_itself_is_noted():
    operations, notes = parse("uci commit network\nwifi reload\nuci set a.b.c=1")
    assert len(operations) == 1
    assert len(notes) == 2


@given(
    st.text(alphabet=st.characters(blacklist_characters="\0\r", blacklist_categories=["Cs"]), max_size=40).filter(
        lambda word: unseen(word)[0] < 0
    )
)
def test_a_quoted_word_is_read_back_as_itself_and_as_a_shell_reads_it(word):
    assert commands("uci " + quoted(word)) == [["uci", word]]


@settings(deadline=None)  # a shell starts when it can
@given(st.lists(st.text(alphabet="ab '\"\\$`;&|<>(){}#=\n\t", min_size=1, max_size=12), min_size=1, max_size=4))
def test_whatever_is_accepted_a_real_shell_reads_alike(pieces):
    """The splitter may refuse what a shell takes and pass over a stray `;`, and must never read words differently."""
    text = "p " + " ".join(pieces)
    try:
        found = commands(text)
    except UsageError:
        return
    if not all(words[0] == "p" for words in found):
        return  # another command: not one that this shell knows
    script = 'p() { for word in "$@"; do printf "%s\\0" "$word"; done; printf "\\1\\0"; }\n' + text + "\n"
    done = subprocess.run(["/bin/sh", "-f"], input=script.encode(), capture_output=True, check=False, timeout=10)
    expected = b"".join(b"".join(word.encode() + b"\0" for word in words[1:]) + b"\1\0" for words in found)
    if b"yntax error" not in done.stderr:
        assert done.stdout == expected, done.stderr


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "op": st.sampled_from(["set", "add_list", "del_list"]),
                "package": st.sampled_from(["network", "https-dns-proxy"]),
                "section": st.sampled_from(["lan", "@rule[0]", "@wifi-iface[-1]", "cfg01e48a"]),
                "option": st.sampled_from(["a", "ports_2"]),
                "value": st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=30).filter(
                    lambda value: unseen(value)[0] < 0
                ),
            }
        ),
        max_size=5,
    )
)
def test_operations_survive_being_written_as_commands(operations):
    assert parse("\n".join(as_commands(operations)))[0] == operations


@pytest.mark.parametrize("char", ["\u202e", "\u200b", "\u2028", "\x85", "\ufeff", "\u2066", "\xa0", "\u2007"])
def test_what_nobody_sees_in_a_value_is_refused_by_its_place_and_number(char):
    with pytest.raises(UsageError, match=r"character 41 of it is an? .* \(U\+%04X\)" % ord(char)) as caught:
        parse(f"uci set system.@system[0].description='a{char}b'")
    assert "plain blank" in caught.value.hint


# Quotes that a word processor, a telephone or a language puts around a value, and no shell knows.
AROUND = ["‘{}’", "“{}”", "„{}“", "”{}”", "«{}»", "»{}«", "‹{}›", "′{}′", "″{}″", "´{}´", "`{}´", "「{}」", "『{}』",
          "‚{}‘", "＂{}＂", "〝{}〟"]  # fmt: skip


@pytest.mark.parametrize("quotes", AROUND)
@pytest.mark.parametrize("value", ["attic", "my attic", "Bob's attic"])
def test_quotes_of_typography_around_a_value_are_refused_with_the_plain_form(quotes, value):
    for text in ("uci set a.b.c=" + quotes.format(value), 'uci set a.b.c="%s"' % quotes.format(value)):
        if ("'" in value and '"' not in text) or ("`" in text):
            continue  # a shell divides it otherwise, and says so
        with pytest.raises(UsageError, match="would become a part of it") as caught:
            parse(text)
        assert caught.value.hint == "write plain quotes: c='%s'" % value.replace("'", "'\\''")


def test_quotes_of_typography_around_a_whole_argument_are_refused():
    with pytest.raises(UsageError, match="are no quotes to a shell"):
        parse("uci set “system.@system[0].hostname=attic”")
    with pytest.raises(UsageError, match="are no quotes to a shell"):
        parse("uci add_list “system.@system[0].hostname=my attic”")


def test_the_plain_form_of_a_secret_is_not_told():
    with pytest.raises(UsageError) as caught:
        parse("uci set wireless.x.key=‘correcthorse’")
    assert caught.value.hint == "write plain quotes: key='…'"


@pytest.mark.parametrize("value", ["Bob’s TV", "O’Neill", "5′ 3″", "the “attic” room", "’t Hooft", "```", "«", "a«b»"])
def test_quotes_of_typography_inside_a_text_stay(value):
    assert parse(f"uci set a.b.c='{value}'")[0][0]["value"] == value


def test_a_value_in_quotes_may_have_lines_and_tabs():
    operations, _ = parse("uci set system.@system[0].notes='one\n\ttwo'\nuci set a.b.c=1")
    assert [item["value"] for item in operations] == ["one\n\ttwo", "1"]


def test_a_family_in_a_name_keeps_its_joiners():
    name = "\U0001f468\u200d\U0001f469 \u2764\ufe0f"
    assert parse(f"uci set wireless.x.ssid='{name}'")[0][0]["value"] == name


@pytest.mark.parametrize(
    "command",
    [
        "uci set firewall.@rule[%s].name=x" % ("9" * 5000),
        "uci set firewall.@rule[-%s].name=x" % ("1" * 5000),
        "uci delete firewall.%s" % ("a" * 60000),
        "uci set firewall.rule.%s=x" % ("a" * 60000),
        "uci set %s.rule.name=x" % ("a" * 60000),
        "uci add firewall %s" % ("a" * 60000),
        "uci rename firewall.rule=%s" % ("a" * 60000),
    ],
)
def test_a_name_as_long_as_no_name_is_refused_in_few_words(command):
    with pytest.raises(UsageError, match="cannot be the name of a") as caught:
        parse(command)
    assert len(caught.value.message) < 500
