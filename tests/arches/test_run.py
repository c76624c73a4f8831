"""That `make arches` sets a machine up whole or not at all, and says what it cannot get."""

import os

import pytest

from tests.arches import run
from tests.arches.debian import Absent
from tests.arches.machines import Machine


class Half(Machine):
    """A machine of which only the beginning can be had, until `is_there`."""

    is_there = False

    def _make(self, new):
        with open(new + "/first", "w", encoding="ascii"):
            pass
        if not self.is_there:
            raise Absent("half of it: no such thing here")


def test_half_a_machine_is_never_used(tmp_path):
    machine = Half("half", str(tmp_path))
    for _ in range(2):
        with pytest.raises(Absent):
            machine.set_up()
        assert not os.path.exists(machine.root)
    machine.is_there = True
    machine.set_up()
    assert os.listdir(machine.root) == ["first"]


def test_what_cannot_be_had_is_told_with_a_status_of_its_own(tmp_path, capsys):
    assert run.main(["half"], [Half("half", str(tmp_path))]) == 2
    assert "half       not here: half of it: no such thing here" in capsys.readouterr().out
    assert run.main(["other"], [Half("half", str(tmp_path))]) == 1


def test_every_room_and_every_test_that_is_left_out_exists():
    assert [room for room in run.ROOMS if not os.path.exists(os.path.join(run.REPOSITORY, room))] == []
    for name in (*run.EMULATED, *run.MIPSEL):
        path, _, test = name.partition("::")
        with open(os.path.join(run.REPOSITORY, path), encoding="utf-8") as file:
            assert f"def {test}(" in file.read()


def test_an_account_that_pytest_did_not_write_is_a_failure(tmp_path, capsys):
    log = tmp_path / "log"
    log.write_text("Fatal Python error: Segmentation fault\n", encoding="utf-8")
    assert run.counts(str(tmp_path / "none.xml"), str(log))["failed"] == 1
    assert "Segmentation fault" in capsys.readouterr().out
