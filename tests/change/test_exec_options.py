"""No model sets what runs code, names a file or passes raw arguments: a corpus of options, each in every spelling."""

import json
import os
import re

import pytest

from oasis.catalogue import check as catalogue
from oasis.catalogue import entries, validators
from oasis.change import uci_commands
from oasis.change.policy import Policy
from tests.change.drafting import TOP, check, kinds, nothing

with open(os.path.join(TOP, "tests/change/exec_options.json"), encoding="utf-8") as handle:
    EXEC = [f"{place}.{name}" for place, names in json.load(handle)["exec"].items() for name in names]

LINES = [
    "set {0}.there.{2}=/tmp/x",
    "set {0}.there.{2}=1",
    "set {0}.@{1}[0].{2}=/tmp/x",
    "set {0}.@{1}[-1].{2}=1",
    "add_list {0}.there.{2}=/tmp/x",
    "add_list {0}.@{1}[0].{2}=1",
    "del_list {0}.@{1}[0].{2}=/tmp/x",
    "rename {0}.there.harmless={2}",
    "rename {0}.@{1}[-1].harmless={2}",
]


def of_type(package, kind, **options):
    """Return a reader of packages: one section, called there, in that package."""
    there = {"there": {".type": kind, ".anonymous": True, ".name": "there", **options}}
    return lambda name: there if name == package else {}


def other_types(package, kind):
    """Return the types from which a section may become one of that type."""
    return [type_ for type_ in entries.types(package) if type_ != kind and "*" not in type_] or ["unheard_of"]


def test_the_corpus_is_large_and_from_many_packages():
    assert len(EXEC) == len(set(EXEC)) >= 400
    assert len({path.split(".")[0] for path in EXEC}) >= 30


@pytest.mark.parametrize("path", EXEC)
def test_exec_options_are_refused_in_every_spelling(path):
    package, kind, option = path.split(".")
    assert catalogue.mark(package, kind, option) == "exec"
    for line in LINES:
        found = check(line.format(package, kind, option), read=of_type(package, kind, harmless="1"))
        assert [finding["kind"] for finding in found] == ["exec"], line
        assert found[0]["where"].endswith(option) and "owner" in found[0]["hint"]


@pytest.mark.parametrize("path", EXEC)
def test_exec_options_of_a_section_made_just_before_are_refused(path):
    package, kind, option = path.split(".")
    value = f"{option}=/tmp/x"
    assert "exec" in kinds(f"set {package}.mine={kind}", f"set {package}.mine.{value}", read=nothing)
    assert "exec" in kinds(f"add {package} {kind}", f"set {package}.@{kind}[-1].{value}", read=nothing)
    renamed = (f"set {package}.mine={kind}", f"rename {package}.mine=yours", f"set {package}.yours.{value}")
    assert [finding["number"] for finding in check(*renamed, read=nothing)][-1] == 2


@pytest.mark.parametrize("path", EXEC)
def test_exec_options_do_not_come_with_a_section_that_becomes_another_type(path):
    package, kind, option = path.split(".")
    before = other_types(package, kind)[0]
    found = kinds(f"set {package}.there={kind}", read=of_type(package, before, **{option: "/tmp/x"}))
    assert found == ["exec"]


@pytest.mark.parametrize("path", EXEC)
def test_exec_options_are_refused_however_the_command_is_written(path):
    package, kind, option = path.split(".")
    for text in (
        f"uci set {package}.there.{option}=/tmp/x",
        f"uci set {package}.there.{option}='/tmp/x'",
        f"uci -q set '{package}.there.{option}'=\"/tmp/x\"",
        f"uci set {package}.@{kind}[0].{option}=/tmp/$x".replace("$", ""),
        f'uci add_list "{package}.there.{option}=/tmp/x"',
        f"uci batch <<EOF\nset {package}.there.{option}='/tmp/x'\nEOF",
    ):
        try:
            operations, _ = uci_commands.parse(text)
        except uci_commands.UsageError:
            assert "batch" in text or "-q" in text  # refused even before
            continue
        assert [f["kind"] for f in catalogue.check(operations, of_type(package, kind))] == ["exec"], text


@pytest.mark.parametrize("path", EXEC)
def test_exec_options_are_forbidden_by_policy_too(path):
    package, kind, option = path.split(".")
    item = {"package": package, "section": "there", "type": kind, "option": option, "kind": "changed"}
    assert Policy("none").judge([item])[0] == "forbidden"


# what is not exec cannot be made to run anything

SHELL = ["$(reboot)", "`reboot`", "x;reboot", "x|reboot", "x&reboot", 'x" -y "', "x' -y '", "x\\", "x\nexec y", "x\ty"]
PATHS = ["/etc/passwd", "../x", "/tmp/x.sh"]
# texts that stand alone in a line, an argument or a quoted string of what reads them
FREE_TEXTS = """
network.interface.username network.interface.password network.switch_vlan.description network.wireguard_*.description
firewall.*.name firewall.*.log firewall.*.comment system.system.description system.system.notes
system.system.log_prefix system.*.name system.led.message uhttpd.uhttpd.realm upnpd.perm_rule.comment
wireless.wifi-iface.ssid wireless.wifi-iface.*ssid wireless.*.key wireless.*.*_key wireless.*.sae_password
wireless.*.*secret wireless.*.*identity wireless.*.password wireless.*.priv_key*_pwd wireless.*.*passwd
wireless.*.*_match wireless.*.*_match2 wireless.*.*device_name wireless.*.*manufacturer wireless.*.mesh_id
dhcp.*.dhcp_option dhcp.*.dhcp_option_force
"""


def free(path):
    return any(re.fullmatch(rule.replace(".", "[.]").replace("*", ".*"), path) for rule in FREE_TEXTS.split())


def refused(entry, value):
    values = entry.get("values")
    return value not in values if values else bool(validators.error(entry["type"], value))


@pytest.mark.parametrize("package", entries.packages())
def test_no_other_option_takes_what_a_shell_would_run(package):
    for kind, whole in entries.types(package).items():
        for name in whole["options"]:
            if catalogue.mark(package, kind, name) != "exec" and not free(f"{package}.{kind}.{name}"):
                entry = entries.option(package, kind, name)
                assert [value for value in SHELL if not refused(entry, value)] == [], (kind, name)


@pytest.mark.parametrize("package", entries.packages())
def test_options_that_sound_like_files_or_commands_take_no_path(package):
    suspicious = re.compile(
        r"(^|_)(file|path|dir|script|command|cmd|exec|hook|conf|socket|cert|handler|home)(_|$)|file$|dir$|script$"
    )
    for kind, whole in entries.types(package).items():
        for name in whole["options"]:
            if suspicious.search(name) and catalogue.mark(package, kind, name) != "exec":
                entry = entries.option(package, kind, name)
                assert [value for value in PATHS if not refused(entry, value)] == [], (kind, name)
