"""Who is paired, on flash: who is who, what a damaged file means, which update was handled last."""

import json
import os

import pytest

from oasis.errors import UsageError
from oasis.parts.telegram.people import FORGET_S, PEOPLE, People
from oasis.system.files import Files

NOW = 1_795_305_600


class Bench:
    def __init__(self, folder):
        self.path, self.now = str(folder / "oasis/messenger.json"), NOW
        self.people = self.opened()

    def opened(self):
        numbers = iter(range(1000))
        return People(Files(), self.path, lambda: "id%d" % next(numbers), lambda: self.now)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_nothing_is_read_or_written_that_is_not_there(bench):
    assert bench.people.all() == [] and not bench.people.is_damaged
    assert not os.path.exists(bench.path)


def test_people_outlive_the_daemon_in_a_private_file(bench):
    bench.people.add("owner", 7, 7, "Anna\n\x1b[31m")
    bench.people.add("guest", -100, 0, "a group")
    again = bench.opened()
    assert [(one["role"], one["chat"], one["user"]) for one in again.all()] == [("owner", 7, 7), ("guest", -100, 0)]
    assert "\x1b" not in again.all()[0]["name"]
    assert os.stat(bench.path).st_mode & 0o077 == 0


def test_who_says_something_is_somebody_only_where_he_was_paired(bench):
    bench.people.add("owner", 7, 7, "Anna")
    bench.people.add("guest", -100, 0, "a group")
    assert bench.people.find(7, 7, True)["role"] == "owner"
    assert bench.people.find(-100, 7, False)["role"] == "guest"  # the owner is a guest like all others there
    assert bench.people.find(-100, 9, False)["role"] == "guest"
    for chat, user, is_private in (
        (8, 8, True),
        (7, 8, True),
        (8, 7, True),
        (-200, 7, False),
        (7, 7, False),
        (0, 0, True),
    ):
        assert bench.people.find(chat, user, is_private) is None, (chat, user)


def test_who_comes_again_gets_the_new_role(bench):
    bench.people.add("guest", 7, 7, "Anna")
    bench.people.add("owner", 7, 7, "Anna")
    assert [one["role"] for one in bench.people.all()] == ["owner"]


def test_nobody_in_a_group_becomes_the_owner(bench):
    with pytest.raises(AssertionError):
        bench.people.add("owner", -100, 0, "a group")


def test_who_is_forgotten_is_a_stranger_also_after_a_restart(bench):
    person = bench.people.add("owner", 7, 7, "Anna")
    bench.people.forget(person["id"])
    assert bench.people.find(7, 7, True) is None and bench.opened().find(7, 7, True) is None
    with pytest.raises(UsageError, match="nobody paired"):
        bench.people.forget(person["id"])


def test_there_is_an_end_to_how_many_there_are(bench):
    for number in range(PEOPLE):
        bench.people.add("guest", number + 1, number + 1, "x")
    with pytest.raises(UsageError, match="paired already"):
        bench.people.add("guest", 999, 999, "x")


@pytest.mark.parametrize(
    "data",
    [b"{", b"[]", b"7", b'{"people": 7, "codes": [], "offset": "x"}', b'{"people": [7, {}, {"role": "owner"}]}',
     b'{"people": [{"id": "a", "role": "king", "user": 7, "chat": 7, "name": "x", "paired_unix_s": 1}]}',
     b'{"people": [{"id": "a", "role": "owner", "user": true, "chat": 7, "name": "x", "paired_unix_s": 1}]}'],
)  # fmt: skip
def test_a_damaged_file_knows_nobody(bench, data):
    os.makedirs(os.path.dirname(bench.path))
    with open(bench.path, "wb") as file:
        file.write(data)
    people = bench.opened()
    assert people.all() == [] and people.codes == {} and people.offset(1) == 0
    people.add("owner", 7, 7, "Anna")
    assert bench.opened().find(7, 7, True)


def test_the_update_handled_last_is_known_after_a_power_cut(bench):
    bench.people.handled(1, 700, True)
    assert bench.opened().offset(1) == 700
    assert bench.opened().offset(2) == 0  # another bot counts for itself


def test_what_has_no_effect_costs_no_flash(bench):
    bench.people.handled(1, 700, False)
    assert bench.people.offset(1) == 700
    assert not os.path.exists(bench.path)


def test_after_a_week_telegram_may_count_on_from_anywhere(bench):
    bench.people.handled(1, 700, True)
    bench.now += FORGET_S + 1
    assert bench.people.offset(1) == 0


def test_where_somebody_talks_is_written_when_it_changes(bench):
    person = bench.people.add("owner", 7, 7, "Anna")
    bench.people.talk(person["id"], "chat1")
    stamp = os.stat(bench.path).st_mtime_ns
    bench.people.talk(person["id"], "chat1")
    assert os.stat(bench.path).st_mtime_ns == stamp
    with open(bench.path) as file:
        assert json.load(file)["people"][0]["talk"] == "chat1"


def test_the_language_of_somebody_is_kept_and_written_when_it_is_another(bench):
    person = bench.people.add("owner", 7, 7, "Ada")
    bench.people.reads(person["id"], "de")
    before = os.stat(bench.path).st_mtime_ns
    bench.people.reads(person["id"], "de")
    assert os.stat(bench.path).st_mtime_ns == before
    assert [one["language"] for one in bench.opened().all()] == ["de"]
