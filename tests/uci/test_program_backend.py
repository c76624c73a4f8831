"""What the program backend starts, and what it does when the program does not do what it was told.

The program is our own `uci`, or the real one where it is installed; `test_cursor.py` has the rest.
"""

import pytest

from oasis.errors import ToolError, UciError
from oasis.uci import model
from oasis.uci.backends import open_cursor
from oasis.uci.model import preview
from tests.uci.programs import Folders, run_as_program

LAN = b"\nconfig interface 'lan'\n\toption proto 'static'\n\nconfig rule\n\n"
SECRET = {"op": "set", "package": "network", "section": "lan", "option": "key", "value": "hunter22"}


@pytest.fixture
def place(tmp_path):
    folders = Folders(tmp_path)
    folders.write({"network": LAN, "dhcp": b"config host h\n"})
    folders.started = []
    return folders


def opened(place, run):
    def recorded(argv, stdin=None):
        place.started.append((argv, stdin))
        return run(argv, stdin)

    return open_cursor(str(place.config), str(place.save), "program", run=recorded, program="/sbin/uci")


def test_many_operations_are_one_batch(place):
    steps = [SECRET, {"op": "add", "package": "dhcp", "type": "host"}, SECRET | {"option": "b"}]
    assert opened(place, run_as_program).stage(steps) == [None, "cfg02fe63", None]
    batches = [stdin for argv, stdin in place.started if "batch" in argv]
    assert len(batches) == 1 and batches[0].count(b"\n") == 3


def test_values_are_never_arguments(place):
    cursor = opened(place, run_as_program)
    cursor.stage([SECRET])
    cursor.set("network", "lan", "psk", "hunter22")
    cursor.add_list("network", "lan", "keys", "hunter22")
    cursor.commit("network")
    assert b"hunter22" in place.files()["network"][1]
    assert not any("hunter22" in word for argv, _ in place.started for word in argv)
    assert all(argv[:5] == ["/sbin/uci", "-c", str(place.config), "-t", str(place.save)] for argv, _ in place.started)


def test_a_batch_that_fails_halfway_is_reverted(place):
    def run(argv, stdin=None):
        return run_as_program(argv, (stdin or b"") + b"delete 'network.nothing'\n" if "batch" in argv else stdin)

    cursor = opened(place, run)
    with pytest.raises(UciError, match="Entry not found"):
        cursor.stage([SECRET])
    assert cursor.changes() == {}
    assert cursor.get("network", "lan", "key") is None


def test_a_batch_that_does_something_else_is_reverted(place):
    def run(argv, stdin=None):
        return run_as_program(argv, (stdin or b"").replace(b"hunter22", b"hunter33"))

    cursor = opened(place, run)
    with pytest.raises(UciError, match="network: uci batch staged something else"):
        cursor.stage([SECRET])
    assert cursor.changes() == {}


def test_a_batch_that_does_nothing_is_an_error(place):
    def run(argv, stdin=None):
        return (0, b"", b"") if "batch" in argv else run_as_program(argv, stdin)

    with pytest.raises(UciError, match="staged something else"):
        opened(place, run).set("network", "lan", "proto", "dhcp")


def test_earlier_staged_changes_survive_a_failing_batch(place):
    opened(place, run_as_program).set("network", "lan", "proto", "dhcp")

    def run(argv, stdin=None):
        return (0, b"", b"uci: I/O error\n") if "batch" in argv else run_as_program(argv, stdin)

    cursor = opened(place, run)
    with pytest.raises(UciError, match="I/O error"):
        cursor.stage([SECRET])
    assert cursor.changes() == {"network": [["set", "lan", "proto", "dhcp"]]}


def test_changes_staged_by_others_stop_the_commit(place):
    foreign = place.root / "foreign"
    foreign.mkdir()
    (foreign / "network").write_bytes(b"network.lan.theirs='1'\n")

    def run(argv, stdin=None):
        return run_as_program([argv[0], "-p", str(foreign), *argv[1:]], stdin)

    cursor = opened(place, run)
    cursor.stage([SECRET])
    with pytest.raises(UciError, match="network: changes staged by others"):
        cursor.commit("network")
    assert place.files()["network"][1] == LAN
    (foreign / "network").unlink()
    cursor.commit("network")
    assert b"hunter22" in place.files()["network"][1]


def test_a_program_that_does_not_start_is_a_uci_error(place):
    def run(argv, stdin=None):
        raise ToolError("uci ran too long", "try again")

    with pytest.raises(UciError, match="ran too long"):
        opened(place, run).get("network", "lan")
    with pytest.raises(UciError, match="without a word"):
        opened(place, lambda argv, stdin=None: (127, b"", b"")).get("network", "lan")


BOTH = [SECRET, {"op": "add", "package": "dhcp", "type": "host"}]
BEFORE = {"network": LAN, "dhcp": b"config host h\n"}


def foreseen(steps=BOTH):
    return {name: model.export_text(model.parse(data, name)) for name, data in preview(BEFORE, steps).items()}


def contents(place):
    return {name: data for name, (_, data) in place.files().items()}


def test_to_write_takes_one_process_that_stages_and_one_that_commits(place):
    opened(place, run_as_program).write(BOTH, foreseen())
    assert contents(place) == preview(BEFORE, BOTH)
    assert [argv[-1] for argv, _ in place.started] == ["batch", "batch"]
    assert b"commit" not in place.started[0][1]


@pytest.mark.parametrize("theirs", [b"network.lan.theirs='1'\n", b"network.lan.proto='static'\n"])
def test_to_write_does_not_commit_changes_of_others_not_even_those_that_do_not_show(place, theirs):
    foreign = place.root / "foreign"
    foreign.mkdir()
    (foreign / "network").write_bytes(theirs)

    def run(argv, stdin=None):
        return run_as_program([argv[0], "-p", str(foreign), *argv[1:]], stdin)

    with pytest.raises(UciError, match="network: staging gave another result") as caught:
        opened(place, run).write(BOTH, foreseen())
    assert "uci changes network" in caught.value.hint
    assert contents(place) == BEFORE
    assert opened(place, run_as_program).changes() == {}
    assert (foreign / "network").read_bytes() == theirs


@pytest.mark.parametrize(
    "old, new, words",
    [
        (b"hunter22", b"hunter33", "another result"),
        (b"set 'network.lan.key", b"set 'network.nothing.key.x", "Parse error"),
        (b"export 'dhcp'", b"export 'network'", "dhcp: staging gave another result"),
        (b"export 'dhcp'", b"export 'dhcp'\nexport 'dhcp'", "shows more"),
    ],
)
def test_a_staging_process_that_does_something_else_commits_nothing(place, old, new, words):
    def run(argv, stdin=None):
        return run_as_program(argv, (stdin or b"").replace(old, new))

    with pytest.raises(UciError, match=words):
        opened(place, run).write(BOTH, foreseen())
    assert contents(place) == BEFORE
    assert opened(place, run_as_program).changes() == {}


def test_a_commit_that_complains_is_an_error(place):
    def run(argv, stdin=None):
        return (0, b"", b"uci: I/O error\n") if (stdin or b"").startswith(b"commit") else run_as_program(argv, stdin)

    with pytest.raises(UciError, match="I/O error"):
        opened(place, run).write(BOTH, foreseen())
