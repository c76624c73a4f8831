"""A skill as a text: what it may hold, what is refused, and that the shipped ones are good."""

import json
import os
import re

import pytest

from oasis.catalogue import check
from oasis.change.uci_commands import parse as parse_commands
from oasis.errors import StoreError, UsageError
from oasis.parts.memory.skills import CLEAR, MAYBE, SKILL_BYTES, SKILLS, Shelf, is_name, parse, score
from oasis.system.files import Files
from tests.change.drafting import stock

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = "---\nname: tea\ndescription: Make tea\nwords: tea, brew\nnot: coffee\ntools: status\nmodel: nano\n---\n"
GOOD = HEAD + "Boil water.\n"
NAMES = ["guest-wifi", "parental-control", "security-check", "slow-internet", "vpn-setup"]


@pytest.fixture
def shelf(tmp_path):
    return Shelf(Files(), str(tmp_path / "skills"))


def put(shelf, tmp_path, file, text):
    os.makedirs(tmp_path / "skills", exist_ok=True)
    (tmp_path / "skills" / file).write_text(text)


def test_a_skill_is_read_as_it_is_written():
    assert parse(GOOD, "tea") == {
        "name": "tea", "description": "Make tea", "words": ["tea", "brew"], "against": ["coffee"],
        "tools": ["status"], "model": "nano", "text": "Boil water.",
    }  # fmt: skip
    assert parse("---\r\ndescription: Make tea\r\n---\r\nBoil\r\n---\r\nwater", "tea")["text"] == "Boil\n---\nwater"
    assert parse("---\ndescription: x\n---\ny", "tea")["tools"] is None


@pytest.mark.parametrize(
    "text",
    [
        "", "Boil water.", "---\nname: tea\n---\nBoil.", "---\ndescription: x\n---\n", "---\ndescription: x\nBoil.",
        "---\ndescription: x\nrun: reboot\n---\ny", "---\ndescription: x\ndescription: z\n---\ny",
        "---\nname: coffee\ndescription: x\n---\ny", "---\ndescription: x\ntools: a b\n---\ny",
        "---\ndescription: x\ntools: ../x\n---\ny", "---\ndescription: x\nmodel: $(id)\n---\ny",
        "---\ndescription: " + "x" * 300 + "\n---\ny", "---\ndescription: x\nwords: " + "a," * 100 + "\n---\ny",
        "---\ndescription: x\n---\n" + "y" * SKILL_BYTES, "---\ndescription: x\n---\nhide\u200bden",
        "---\ndescription: x\n---\n\x1b[2J", "---\ndescription: x\n---\n\u202edlrow", b"---\ndescription: x\n---\n\xff",
        "---\ndescription: x\n---\n\ud800",
    ],
)  # fmt: skip
def test_what_is_no_skill_is_refused(text):
    with pytest.raises(UsageError):
        parse(text, "tea")


@pytest.mark.parametrize("name", ["", "../tea", "a/b", "Tea", "-tea", "tea-", "t ea", "tea.md", "té", "x" * 41, ".."])
def test_a_name_is_no_path(name):
    assert not is_name(name)
    with pytest.raises(UsageError):
        parse(GOOD.replace("tea\n", name + "\n", 1), name)


def test_the_shipped_skills_are_whole(shelf):
    skills, notes = shelf.all()
    assert [skill["name"] for skill in skills] == NAMES and notes == []
    assert all(skill["is_shipped"] and skill["tools"] and len(skill["text"]) < 3500 for skill in skills)


def test_shipped_skills_name_tools_that_are_there(shelf):
    with open(os.path.join(HERE, "../../../oasis/tools/builtin/builtin.json")) as handle:
        known = {tool["name"] for tool in json.load(handle)["tools"]}
    for skill in shelf.all()[0]:
        assert set(skill["tools"]) <= known, skill["name"]
        named = {word for word in re.findall(r"`([a-z_]+)`", skill["text"]) if word in known}
        assert named <= set(skill["tools"]), skill["name"]
        assert named, "it says which tools to use"


def test_every_uci_line_of_the_shipped_skills_passes_the_catalogue(shelf):
    blocks = [
        (skill["name"], block)
        for skill in shelf.all()[0]
        for block in re.findall(r"```uci(?: [a-z-]+)?\n(.*?)```", skill["text"], re.S)
    ]
    assert len(blocks) >= 6
    for name, block in blocks:
        operations, notes = parse_commands(block)
        assert operations and not notes
        assert check.check(operations, stock) == [], name
    lines = [line for skill in shelf.all()[0] for line in skill["text"].split("\n") if line.strip().startswith("uci ")]
    assert len(lines) == sum(block.strip().count("\n") + 1 for _, block in blocks), "a command outside of a block"


def test_a_skill_of_the_owner_takes_the_place_of_a_shipped_one_until_it_is_deleted(shelf, tmp_path):
    text = "---\ndescription: mine\n---\nMy way."
    shelf.set(parse(text, "guest-wifi"), text)
    assert shelf.get("guest-wifi")["text"] == "My way." and not shelf.get("guest-wifi")["is_shipped"]
    assert os.stat(tmp_path / "skills/guest-wifi.md").st_mode & 0o777 == 0o600
    shelf.delete("guest-wifi")
    assert shelf.get("guest-wifi")["is_shipped"]
    for name in ("guest-wifi", "nothing", "../skills/x"):
        with pytest.raises(UsageError):
            shelf.delete(name)


def test_a_changed_file_counts_at_once(shelf, tmp_path):
    put(shelf, tmp_path, "tea.md", GOOD)
    assert shelf.get("tea")["text"] == "Boil water."
    put(shelf, tmp_path, "tea.md", GOOD.replace("Boil", "Heat the"))
    assert shelf.get("tea")["text"] == "Heat the water."


def test_what_somebody_put_into_the_folder_stops_nothing_and_is_told(shelf, tmp_path):
    put(shelf, tmp_path, "tea.md", GOOD)
    put(shelf, tmp_path, "broken.md", "no head")
    put(shelf, tmp_path, "Big Name.md", GOOD)
    put(shelf, tmp_path, "notes.txt", "no skill at all")
    put(shelf, tmp_path, "huge.md", "x" * (SKILL_BYTES + 1))
    folder = tmp_path / "skills"
    (tmp_path / "outside").write_text(GOOD.replace("tea", "link"))
    os.symlink(tmp_path / "outside", folder / "link.md")
    os.mkfifo(folder / "pipe.md")
    os.mkdir(folder / "folder.md")
    skills, notes = shelf.all()
    assert [skill["name"] for skill in skills] == sorted([*NAMES, "tea"])
    told = " ".join(notes)
    assert len(notes) == 6 and all(name in told for name in ("broken", "Big Name", "huge", "link", "pipe", "folder"))


def test_there_are_not_more_skills_than_a_model_can_choose_among(shelf, tmp_path):
    for number in range(SKILLS):
        shelf.set(parse(GOOD.replace("tea\n", f"tea-{number}\n", 1), f"tea-{number}"), GOOD)
    with pytest.raises(StoreError):
        shelf.set(parse(GOOD, "tea"), GOOD)
    put(shelf, tmp_path, "zz-by-hand.md", GOOD.replace("tea\n", "zz-by-hand\n", 1))
    assert "more than 32" in shelf.all()[1][-1]


def wishes():
    with open(HERE + "/wishes.jsonl", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


@pytest.mark.parametrize("wish", wishes(), ids=lambda wish: wish["said"][:40])
def test_words_alone_find_the_skill_that_is_meant_and_none_where_none_is(wish, shelf):
    scores = {skill["name"]: score(wish["said"], skill) for skill in shelf.all()[0]}
    best = max(scores, key=lambda name: scores[name])
    if wish.get("maybe"):  # a model is asked about these, and without one nothing is chosen
        assert scores[best] == MAYBE
    elif wish["skill"]:
        assert best == wish["skill"] and scores[best] >= CLEAR
        assert sorted(scores.values())[-2] < scores[best]
    else:
        assert scores[best] < MAYBE, scores
