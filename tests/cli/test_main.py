"""The program as a whole, where a scenario cannot say it."""

import json
import os
import subprocess

import pytest

from tests.cli import launcher
from tests.cli.fake_daemon import FakeDaemon

CHATS = {"item": [{"id": "c1", "title": "é \ud800", "updated_unix_s": 0, "exchanges": 1}]}


def test_reader_that_leaves_early_is_no_error_to_shout_about(tmp_path):
    program = launcher.install(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    with FakeDaemon(tmp_path, [("chat.list", {}, CHATS)]):
        environment = launcher.environment(tmp_path)
        done = subprocess.run([*program, "list"], env=environment, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_name_that_the_terminal_cannot_write_is_written_as_far_as_it_goes(tmp_path):
    program = launcher.install(tmp_path)
    with FakeDaemon(tmp_path, [("chat.list", {}, CHATS)]):
        environment = launcher.environment(tmp_path)
        done = subprocess.run([*program, "list"], env=environment, capture_output=True)
    assert done.returncode == 0
    assert done.stdout.decode().endswith("é ?\n")


def test_text_that_is_no_utf8_is_refused_before_it_is_sent(tmp_path):
    program = launcher.install(tmp_path)
    with FakeDaemon(tmp_path) as daemon:
        environment = launcher.environment(tmp_path)
        done = subprocess.run([*program, "prompt", b"caf\xe9"], env=environment, capture_output=True)
        assert daemon.calls == []
    assert done.returncode == 2
    assert done.stderr.startswith(b"oasis: error: the text is not valid UTF-8\n")


@pytest.mark.parametrize("words", ["telegramm -j", "undo --json x y", "prompt -j"])
def test_words_that_are_no_command_are_an_error_object_for_who_reads_json(tmp_path, words):
    argv = [*launcher.install(tmp_path), *words.split()]
    done = subprocess.run(argv, env=launcher.environment(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and json.loads(done.stdout)["error"]["code"] == "usage"


def test_help_names_every_command_and_status_and_needs_no_service(tmp_path):
    from oasis.cli.commands import TEXTS, every

    program = launcher.install(tmp_path)
    for words in ([], ["help"], ["--help"], ["-h"]):
        done = subprocess.run([*program, *words], env=launcher.environment(tmp_path), capture_output=True, text=True)
        assert done.returncode == 0
        for name in every():
            assert f"  {name} " in done.stdout
        for status, _ in TEXTS["exit_statuses"]:
            assert f" {status}  " in done.stdout
    print(done.stdout)
