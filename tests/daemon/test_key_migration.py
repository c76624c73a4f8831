"""Keys in UCI, as upstream keeps them, are moved into the key file; also when any step of it fails."""

import json
import os
import stat

import pytest

from oasis.config.settings import Settings
from oasis.daemon import migration
from oasis.daemon.migration import move_keys
from oasis.errors import OasisError
from oasis.system.files import Files
from oasis.system.root import Root
from oasis.uci.backends import open_cursor
from tests.oasisd import copy_root, granted

KEYS = ("sk-first-000111", "sk-second-22233", "sk-third-445566")
OLD = f"""config oasis 'main'
	option approval 'risky'

config service
	option identifier '1234567890'
	option name 'OpenAI'
	option api_key '{KEYS[0]}'
	option model 'gpt-5.6'

config service
	option name 'Anthropic'
	option api_key '{KEYS[1]}'

config service
	option identifier '1234567890'
	option name 'OpenRouter'
	option model 'a/b'
	option api_key '{KEYS[2]}'

config service
	option identifier '77'
	option name 'Ollama'
	option api_key ''
	option model 'tiny'
"""


class Breaking(Files):
    """Fails at the n-th write, sync or rename."""

    def __init__(self, at):
        self.left = at

    def _step(self):
        self.left -= 1
        if self.left == 0:
            raise OSError(5, "broken")

    def write(self, handle, data):
        self._step()
        super().write(handle, data)

    def sync(self, handle):
        self._step()
        super().sync(handle)

    def rename(self, old, new):
        self._step()
        super().rename(old, new)


@pytest.fixture
def root(tmp_path):
    made = copy_root(str(tmp_path / "router"))
    os.makedirs(made + "/var/run/oasis")
    with open(made + "/etc/config/oasis", "w") as handle:
        handle.write(OLD)
    os.chmod(made + "/etc/config/oasis", 0o644)
    return made


def cursor(root):
    return open_cursor(root + "/etc/config", root + "/var/run/oasis/uci", backend="file")


def stored(root):
    with open(root + "/etc/config/oasis") as handle:
        return handle.read()


def check_moved(root):
    text = stored(root)
    assert "api_key" not in text and not any(key in text for key in KEYS)
    settings = Settings(Root(root), Files())
    services = settings.services()
    assert [settings.key(item["identifier"]) for item in services[:4]] == [*KEYS, ""]
    assert len({item["identifier"] for item in services}) == 5
    assert services[0]["identifier"] == "1234567890" and services[3]["identifier"] == "77"
    assert settings.main() == {"approval": "risky"}


def test_keys_are_moved_and_the_file_is_made_private(root):
    made = Root(root)
    note = migration.keys(Settings(made, Files()), made, lambda: cursor(root))
    assert note.startswith("3 keys were moved") and not any(key in note for key in KEYS)
    check_moved(root)
    assert stat.S_IMODE(os.stat(root + "/etc/config/oasis").st_mode) == 0o600
    assert stat.S_IMODE(os.stat(root + "/etc/oasis/keys.json").st_mode) == 0o600
    before = stored(root)
    assert migration.keys(Settings(made, Files()), made, lambda: cursor(root)) == ""
    assert stored(root) == before


def test_a_key_that_is_there_already_stays_and_one_in_uci_is_newer(root):
    settings = Settings(Root(root), Files())
    settings.add_keys({"other": "sk-other", "1234567890": "sk-old"})
    move_keys(settings, cursor(root))
    check_moved(root)
    assert settings.key("other") == "sk-other"


def test_no_failing_step_loses_a_key(root):
    for at in range(1, 30):
        files = Breaking(at)
        try:
            move_keys(Settings(Root(root), files), cursor(root))
        except OasisError:
            kept = stored(root) + "".join(Settings(Root(root), Files()).keys())
            assert all(key in kept for key in KEYS)
        if files.left > 0:
            break
    assert at > 3
    check_moved(root)


class Stopping:
    """A cursor whose n-th commit does not come to pass: the process died."""

    def __init__(self, real, at):
        self._real = real
        self.left = at

    def __getattr__(self, name):
        return getattr(self._real, name)

    def commit(self, package):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        self._real.commit(package)


@pytest.mark.parametrize("at", [1, 2])
def test_a_stop_before_a_commit_is_made_good_by_the_next_start(root, at):
    with pytest.raises(KeyboardInterrupt):
        move_keys(Settings(Root(root), Files()), Stopping(cursor(root), at))
    assert all(key in stored(root) for key in KEYS)
    move_keys(Settings(Root(root), Files()), cursor(root))
    check_moved(root)
    with open(root + "/etc/oasis/keys.json") as handle:
        assert len(json.load(handle)) == 3


def test_a_damaged_key_file_stops_the_move_and_nothing_else(root):
    os.makedirs(root + "/etc/oasis", exist_ok=True)
    with open(root + "/etc/oasis/keys.json", "w") as handle:
        handle.write("{")
    made = Root(root)
    note = migration.keys(Settings(made, Files()), made, lambda: cursor(root))
    assert "not moved yet" in note and all(key in stored(root) for key in KEYS)


def test_a_session_of_luci_may_read_nothing_of_our_package():
    """`uci get oasis` over rpcd: no ACL of ours names a UCI package, so the session gets nothing."""
    for group in ("luci-app-oasis", "oasis"):
        objects = {where for where, _ in granted(group, "read", "write")}
        assert objects and all(one.partition(".")[0] == "oasis" for one in objects)
