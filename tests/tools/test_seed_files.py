"""Files of the workspace: what a path may be, what is no way out, and how much is told and stored."""

import contextlib
import os
import shutil
import threading

import pytest

from oasis.worker import workspace
from tests.tools.seed_bench import Bench

WHOSE = ["words of a file in the workspace"]


@pytest.fixture
def bench():
    made = Bench()
    yield made
    made.close()


def why(bench, name, **arguments):
    told, is_error, taint = bench.call(name, **arguments)
    assert is_error and taint == WHOSE, told
    return told["error"]["message"]


def test_tools_are_off_until_the_owner_switches_them_on():
    made = Bench(on=())
    try:
        assert not any(one["enabled"] for one in made.registry.listed())
        assert made.call("file_list")[1] and not os.path.exists(made.folder)
    finally:
        made.close()


def test_written_read_listed_told_and_deleted(bench):
    told, is_error, taint = bench.call("file_write", path="notes/a.txt", text="grüße\n")
    assert (told["name"], told["size_bytes"], is_error, taint) == ("a.txt", 8, False, WHOSE)
    assert bench.call("file_read", path="notes/a.txt")[0]["text"] == "grüße\n"
    bench.call("file_write", path="notes/a.txt", text="more", append=True)
    assert bench.call("file_read", path="./notes//a.txt")[0]["text"] == "grüße\nmore"
    assert bench.call("file_list")[0]["entries"] == [{"name": "notes", "kind": "dir"}]
    assert bench.call("file_list", path="notes")[0]["entries"] == [{"name": "a.txt", "kind": "file", "size_bytes": 12}]
    found = bench.call("file_stat", path="notes/a.txt")[0]
    assert (found["name"], found["kind"], found["size_bytes"]) == ("a.txt", "file", 12) and found[
        "modified_unix_s"
    ] > 1e9
    assert "Directory not empty" in why(bench, "file_delete", path="notes")
    assert not bench.call("file_delete", path="notes/a.txt")[1] and not bench.call("file_delete", path="notes")[1]
    assert bench.call("file_list")[0]["entries"] == []


def test_files_belong_to_the_user_without_rights_and_nobody_reads_them(bench):
    bench.call("file_write", path="a", text="x")
    found = os.stat(bench.folder + "/a")
    assert found.st_uid != 0 and found.st_mode & 0o077 == 0 and os.stat(bench.folder).st_mode & 0o077 == 0


@pytest.mark.parametrize("path", ["..", "../x", "a/../../x", "a/..", "/etc/passwd", "/", "//x", "./../x", "a\x00b"])
def test_paths_that_lead_out_are_refused(bench, path):
    for name, more in (("file_read", {}), ("file_write", {"text": "x"}), ("file_delete", {}), ("file_stat", {}),
                       ("file_list", {})):  # fmt: skip
        assert "workspace" in why(bench, name, path=path, **more)
    assert os.listdir(bench.root.folder + "/tmp") in ([], ["oasis-work"])


@pytest.mark.parametrize("path", ["a..b", "...", "..a", ".hidden", "a./b..", "x/...y/z"])
def test_dots_within_names_are_harmless(bench, path):
    assert not bench.call("file_write", path=path, text="1")[1]
    assert bench.call("file_read", path=path)[0]["text"] == "1"


def test_a_sibling_with_the_same_beginning_is_not_reached(bench):
    bench.call("file_list")
    os.mkdir(bench.folder + "-other", 0o777)
    with open(bench.folder + "-other/a", "w", encoding="utf-8") as handle:
        handle.write("secret")
    assert "workspace" in why(bench, "file_read", path="../oasis-work-other/a")
    assert "No such file" in why(bench, "file_read", path="-other/a")


def test_links_are_not_followed_anywhere(bench):
    bench.put("real", "inside")
    os.symlink("/etc/passwd", bench.folder + "/passwd")
    os.symlink("/etc", bench.folder + "/etc")
    os.symlink("real", bench.folder + "/alias")
    for path in ("passwd", "etc/passwd", "alias"):
        assert "link" in why(bench, "file_read", path=path) or "Not a directory" in why(bench, "file_read", path=path)
    for path in ("passwd", "alias"):
        assert "is no file" in why(bench, "file_write", path=path, text="x")
    assert "Not a directory" in why(bench, "file_write", path="etc/new", text="x")
    assert why(bench, "file_list", path="etc") and bench.call("file_stat", path="etc")[0]["kind"] == "link"
    assert {one["kind"] for one in bench.call("file_list")[0]["entries"]} == {"file", "link"}
    assert not bench.call("file_delete", path="passwd")[1] and os.path.exists("/etc/passwd")


def test_a_workspace_that_is_a_link_is_none(bench):
    os.symlink("/etc", bench.folder)
    assert why(bench, "file_list") and why(bench, "file_write", path="x", text="1")


def test_pipes_devices_and_folders_are_no_files_and_nothing_waits(bench):
    bench.call("file_list")
    os.mkfifo(bench.folder + "/pipe", 0o666)
    os.chmod(bench.folder + "/pipe", 0o666)
    os.mkdir(bench.folder + "/folder")
    os.chmod(bench.folder + "/folder", 0o777)
    for path in ("pipe", "folder"):
        assert "no file" in why(bench, "file_read", path=path) or "directory" in why(bench, "file_read", path=path)
        assert why(bench, "file_write", path=path, text="x")
        assert why(bench, "file_write", path=path, text="x", append=True)


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(tmp_path):
    """The walk holds descriptors: names that change under it cannot lead out."""
    inside, outside = tmp_path / "work", tmp_path / "outside"
    (inside / "a").mkdir(parents=True)
    outside.mkdir()
    (outside / "f").write_text("secret")
    (inside / "a" / "f").write_text("mine")
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            os.rename(inside / "a", inside / "b")
            with contextlib.suppress(OSError):  # a write may make the folder anew in between
                os.symlink(outside, inside / "a")
                os.unlink(inside / "a")
            while not (inside / "a" / "f").exists():
                try:
                    os.rename(inside / "b", inside / "a")
                except OSError:
                    shutil.rmtree(inside / "a", ignore_errors=True)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(600):
            told = workspace.answer(str(inside), {"op": "read", "path": "a/f"})
            assert "secret" not in str(told)
            workspace.answer(str(inside), {"op": "write", "path": "a/g", "text": "x"})
    finally:
        stop.set()
        thread.join()
    assert os.listdir(outside) == ["f"]


def test_reading_is_cut_and_goes_on_at_an_offset(bench):
    bench.put("long", "ä" * 9000)
    told, _, _ = bench.call("file_read", path="long")
    assert len(told["text"]) == workspace.READ_CHARS and told["size_bytes"] == 18000 and told["next_offset"] == 16000
    rest = bench.call("file_read", path="long", offset=told["next_offset"])[0]
    assert rest["text"] == "ä" * 1000 and "next_offset" not in rest


def test_what_is_no_text_is_read_to_its_end(bench):
    bench.put("b", "")
    with open(bench.folder + "/b", "wb") as handle:
        handle.write(os.urandom(50_000))
    at, rounds = 0, 0
    while at is not None:
        told = bench.call("file_read", path="b", offset=at)[0]
        before, at, rounds = at, told.get("next_offset"), rounds + 1
        assert at is None or before < at, "no way on"
        assert rounds < 50


def test_files_are_bounded(bench):
    big = "x" * 200_000
    for _ in range(5):
        assert not bench.call("file_write", path="a", text=big, append=True)[1]
    assert "are allowed" in why(bench, "file_write", path="a", text=big, append=True)
    assert bench.call("file_write", path="b", text="x" * 300_000)[1]
    assert "deeper than" in why(bench, "file_write", path="/".join("x" * 40), text="1")


def test_long_lists_are_cut(bench):
    bench.call("file_list")
    for number in range(workspace.ENTRIES + 5):
        open(f"{bench.folder}/{number}", "w").close()
    found = workspace.answer(bench.folder, {"op": "list", "path": ""})
    assert len(found["entries"]) == workspace.ENTRIES and found["more"] == 5


@pytest.mark.parametrize(
    "name, arguments",
    [("file_read", {}), ("file_read", {"path": 5}), ("file_write", {"path": "a"}), ("file_read", {"path": "a", "x": 1}),
     ("file_write", {"path": "a", "text": ["x"]}), ("file_list", {"path": None}),
     ("file_read", {"path": "a", "offset": -1})],
)  # fmt: skip
def test_wrong_arguments_are_told(bench, name, arguments):
    assert bench.call(name, **arguments)[1] and not os.path.exists(bench.folder)


def test_a_workspace_elsewhere_on_the_router_is_refused():
    for path in ("/", "/etc", "/etc/oasis", "/tmp", "tmp/x", "/tmp/../etc", "/tmp//x", "/usr/lib/x", "/overlay/x"):
        made = Bench()
        try:
            made.store.package.sections[0].options["path"] = path
            assert "oasis.workspace.path" in made.registry.listed()[1]["note"] and made.call("file_list")[1]
        finally:
            made.close()
