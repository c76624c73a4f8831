"""Services that a change turns off, words for yes and no, and what reloads without or in spite of an entry."""

import json

import pytest

from oasis.catalogue import entries
from oasis.change import harmless
from oasis.change.apply.evidence import turned_off
from oasis.change.policy import Policy
from oasis.errors import ApplyError
from oasis.uci import model
from tests.oasisd import REPOSITORY

with open(REPOSITORY + "/oasis/change/services.json", encoding="utf-8") as handle:
    SERVICES = json.load(handle)

UPNPD = "config upnpd 'config'\n\toption %s '%s'\n\nconfig perm_rule\n\toption enabled 'x'\n"
YES, NO = ("1", "on", "true", "yes", "enabled"), ("0", "off", "false", "no", "disabled")
NO_TIME = "uci set system.ntp.enabled=0"
NTP_OFF = "service sysntpd"


def images(old, new, package="upnpd"):
    return {package: (old.encode(), new.encode())}


@pytest.mark.parametrize("word", NO)
def test_a_service_is_turned_off_by_every_word_for_no(word):
    assert turned_off(images(UPNPD % ("enabled", "1"), UPNPD % ("enabled", word))) == ["miniupnpd"]


@pytest.mark.parametrize(
    "old, new",
    [
        (UPNPD % ("enabled", "1"), UPNPD % ("enabled", "yes")),
        (UPNPD % ("enabled", "0"), UPNPD % ("enabled", "off")),
        (UPNPD % ("enabled", "1"), UPNPD % ("enabled", "maybe")),
        (UPNPD % ("enabled", "1"), UPNPD % ("secure_mode", "0")),
        (UPNPD % ("enabled", "1"), ""),
        (UPNPD % ("enabled", "1"), UPNPD % ("enabled", "0") + "\nconfig upnpd 'second'\n"),
    ],
)
def test_a_service_is_not_turned_off_by_anything_else(old, new):
    assert turned_off(images(old, new)) == []
    assert turned_off(images(old, new, "nobody-knows-this")) == []


@pytest.mark.parametrize("rule", [rule for rule in SERVICES["services"] if "switch" in rule])
def test_a_switch_is_a_boolean_of_the_catalogue(rule):
    kind, option = rule["switch"].split(".")
    entry = entries.section_type(rule["package"], kind)["options"][option]
    assert (entry if isinstance(entry, str) else entry["type"]) == "bool"


def refusing(kit, status, word):
    """Let sysntpd's script end as one does whose service is switched off; `word` is how it stands then."""
    kit.fault("sysntpd", str(status))
    with open(kit.root.path("/var/run/services/sysntpd"), "w") as handle:
        handle.write(word)


def test_a_script_that_refuses_to_reload_what_is_turned_off_does_not_fail_the_change(kit):
    refusing(kit, 1, "dead")
    record = kit.transaction.apply(kit.plan(NO_TIME))
    assert {"name": "sysntpd", "action": "reload", "ok": True, "status": 1} in record["services"]
    assert {"what": NTP_OFF, "result": "seen"} in record["verified"]
    assert b"option enabled '0'" in kit.config("system")


def test_the_same_script_fails_a_change_that_turns_nothing_off(kit):
    before = kit.config("system")
    refusing(kit, 1, "dead")
    with pytest.raises(ApplyError, match=r"service sysntpd reload failed with status 1.*everything was rolled back"):
        kit.transaction.apply(kit.plan("uci add_list system.ntp.server=192.0.2.1"))
    assert kit.config("system") == before


@pytest.mark.parametrize("value", YES)
def test_all_words_for_yes_open_alike(value):
    before, after = (
        model.parse((UPNPD % ("enabled", one)).replace("upnpd", "openvpn", 1).encode(), "openvpn")
        for one in ("0", value)
    )
    assert harmless.openings(before, after, Policy().rules)
    assert not harmless.openings(after, before, Policy().rules)


@pytest.mark.parametrize("value", NO)
def test_all_words_for_no_shut_alike_and_take_a_barrier_away_alike(value):
    shut, open_ = (model.parse((UPNPD % ("enabled", one)).encode(), "upnpd") for one in (value, "1"))
    assert harmless.openings(shut, open_, Policy().rules)
    assert not harmless.openings(shut, shut, Policy().rules)
    barrier = "config bcp38 'bcp38'\n\toption enabled '%s'\n"
    there, gone = (model.parse((barrier % one).encode(), "bcp38") for one in ("yes", value))
    assert harmless.openings(there, gone, Policy().rules)
    assert not harmless.openings(gone, there, Policy().rules)


def test_a_package_without_an_entry_reloads_the_service_of_its_own_name():
    policy = Policy()
    assert policy.services(["smartdns"], lambda name: True) == [{"name": "smartdns", "action": "reload"}]
    assert policy.services(["smartdns"], lambda name: name != "smartdns") == []
    assert policy.services(["fstab"], lambda name: True) == [], "the data says why nothing is reloaded"


@pytest.mark.parametrize("name, packages", SERVICES["left_alone"]["triggers"].items())
def test_what_is_left_alone_reloads_with_its_own_package_only(name, packages):
    def reloaded(package):
        return [item["name"] for item in Policy().services([package], lambda name: True)]

    assert name in reloaded(name)
    assert not any(name in reloaded(package) for package in packages)
