"""What was changed, chosen and shown whole."""

import os

from oasis.change.apply.journal import chosen
from tests.change.kit import RENAME


def test_a_package_without_its_images_is_left_out(kit):
    record = kit.transaction.apply(kit.plan(RENAME + "\nuci set dhcp.@dnsmasq[0].cachesize=99"))
    if record["state"] == "applied":
        kit.transaction.confirm(record["id"])
    assert [one["package"] for one in kit.journal.diff(record)] == ["system", "dhcp"]
    os.remove(kit.root.path(f"/etc/oasis/changes/{record['id']}/after/system"))
    assert [one["package"] for one in kit.again().journal.diff(record)] == ["dhcp"], "after a restart"


def test_both_images_are_on_flash_and_not_only_remembered(kit):
    before = kit.config("dhcp")
    record = kit.transaction.apply(kit.plan("uci set dhcp.@dnsmasq[0].cachesize=99"))
    restarted = kit.again().journal.images(record["id"], "dhcp")
    assert restarted == (before, kit.config("dhcp")) and restarted[0] != restarted[1]


def test_the_time_of_a_record_counts_as_since():
    records = [{"when_unix_s": at, "chat": "c%d" % at, "packages": ["p%d" % at]} for at in (9, 5, 1)]
    assert chosen(records) == records
    assert chosen(records, 5) == records[:2]
    assert chosen(records, chat="c5") == [records[1]]
    assert chosen(records, 6, package="p5") == []
