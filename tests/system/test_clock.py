"""Whether the wall clock may be believed."""

import os

import pytest

from oasis.system import clock
from oasis.system.files import Files
from oasis.system.root import Root

BUILT = int(os.stat(clock.__file__).st_mtime)


class Sysfs(Files):
    """The files of a router, as a table."""

    def __init__(self, **found):
        self.found = found

    def read(self, path):
        return self.found.get(path)

    def names(self, path):
        return sorted({name[len(path) + 1 :].partition("/")[0] for name in self.found if name.startswith(path + "/")})


ROUTER = Root("/")
BATTERY = {"/sys/class/rtc/rtc0/hctosys": b"1\n"}
OTHER_BATTERY = {"/sys/class/rtc/rtc0/hctosys": b"0\n", "/sys/class/rtc/rtc1/hctosys": b"1\n"}


@pytest.mark.parametrize(
    "files, unix_s, newest, answer",
    [
        ({}, BUILT + 9, 0, False),
        ({"/var/run/oasis/clock": b""}, BUILT + 9, 0, True),
        ({"/var/state/dnsmasqsec": b"x"}, BUILT + 9, 0, True),
        ({"/var/run/oasis/clock": b""}, 5, BUILT, True),
        (BATTERY, BUILT, BUILT, True),
        (BATTERY, BUILT + 5, BUILT + 6, False),
        (BATTERY, BUILT - 1, 0, False),
        (OTHER_BATTERY, BUILT, 0, True),
        ({"/sys/class/rtc/rtc0/hctosys": b"0\n"}, BUILT + 9, 0, False),
        ({"/sys/class/rtc/rtc0/name": b"rtc\n"}, BUILT + 9, 0, False),
    ],
)
def test_a_router_believes_ntp_or_its_battery(files, unix_s, newest, answer):
    assert clock.is_trusted(ROUTER, Sysfs(**files), unix_s, newest) is answer


def test_a_host_believes_its_clock_unless_a_record_is_newer(tmp_path):
    root = Root(str(tmp_path))
    assert clock.is_trusted(root, Files(), BUILT, BUILT)
    assert not clock.is_trusted(root, Files(), BUILT, BUILT + 1)
    assert not clock.is_trusted(root, Files(), BUILT - 1, 0)


def test_the_mark_of_ntp_is_looked_for_below_the_root(tmp_path):
    (tmp_path / "var/run/oasis").mkdir(parents=True)
    (tmp_path / "var/run/oasis/clock").write_bytes(b"")
    assert clock.is_trusted(Root(str(tmp_path)), Files(), 5, BUILT)
