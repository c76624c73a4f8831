"""The table of peers: what it counts and how it says what could not be measured."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

import peers  # noqa: E402


def test_bytecode_and_links_do_not_count(tmp_path):
    folder = tmp_path / "package" / "__pycache__"
    folder.mkdir(parents=True)
    (folder / "a.pyc").write_bytes(b"x" * 1000)
    (tmp_path / "package" / "a.py").write_bytes(b"y" * 70)
    (tmp_path / "package" / "link").symlink_to("a.py")
    assert peers.tree_bytes(str(tmp_path / "package")) == 70


def test_figures_stand_beside_ours_and_what_is_missing_is_said():
    own = {"name": "oasis", "bytes": 2_000_000, "empty_s": 0.02, "waiting_kib": 12 * 1024, "answer_s": 0.1}
    other = {"name": "other", "bytes": 40_000_000, "empty_s": 0.5, "waiting": "is no server", "answer_s": None}
    text = peers.table([own, other], 0.01, 8 * 1024)
    assert "| oasis | 2.0 MB | 20 ms (2.0 of bare) | 12.0 MB (1.5 of bare) | 100 ms |" in text
    assert "| other | 40.0 MB (20x) | 500 ms (50.0 of bare) | is no server | - |" in text


def test_a_program_that_does_not_stay_has_no_size():
    assert peers.waiting_kib([sys.executable, "-c", "pass"], dict(os.environ)) is None
