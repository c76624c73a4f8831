"""Topics: what is shipped, what the owner makes of it, and a file that cannot be read."""

import pytest

from oasis.chats.presets import TEXT_CHARS, Topics
from oasis.core import lua_chats
from oasis.errors import StoreError, UsageError
from oasis.system.files import Files


@pytest.fixture
def topics(tmp_path):
    return Topics(Files(), str(tmp_path / "topics.json"))


def keys(topics):
    return [topic["key"] for topic in topics.list()]


def test_the_default_comes_first_and_adds_nothing(topics):
    assert keys(topics)[0] == "default" and topics.text("default") == ""


def test_the_shipped_set_knows_todays_openwrt(topics):
    text = " ".join(topic["text"] for topic in topics.list())
    for word in ("24.10", "25.12", "apk", "opkg", "fw4", "bridge-vlan"):
        assert word in text
    assert all(len(topic["text"]) <= TEXT_CHARS for topic in topics.list())


def test_an_own_topic_is_kept_with_a_key_like_upstreams(topics, tmp_path):
    assert topics.add(" My  home ", "Be brief.\nAlways.") == "custom_1"
    assert topics.add("Other", "x") == "custom_2"
    again = Topics(Files(), str(tmp_path / "topics.json"))
    assert again.text("custom_1") == "Be brief.\nAlways." and again.list()[-2]["title"] == "My home"
    assert (tmp_path / "topics.json").stat().st_mode & 0o777 == 0o600


def test_a_key_is_not_given_twice_after_a_deletion(topics):
    topics.add("a", "a")
    topics.add("b", "b")
    topics.delete("custom_1")
    assert topics.add("c", "c") == "custom_3"


def test_a_shipped_topic_can_be_changed_and_hidden_and_the_default_stays(topics):
    topics.update("wifi", "Radio", "Only radio.")
    assert topics.text("wifi") == "Only radio."
    topics.delete("wifi")
    assert "wifi" not in keys(topics)
    with pytest.raises(UsageError, match="wifi"):
        topics.text("wifi")
    with pytest.raises(UsageError, match="default"):
        topics.delete("default")


@pytest.mark.parametrize("title, text", [("", "x"), ("t" * 65, "x"), ("t", "x" * (TEXT_CHARS + 1))])
def test_what_is_too_long_or_has_no_title_is_refused(topics, title, text):
    with pytest.raises(UsageError):
        topics.add(title, text)
    assert all(topic["is_shipped"] for topic in topics.list())


def test_upstreams_system_messages_are_taken_over_once(topics):
    found = lua_chats.topics('[general]\nauto_title = x\n[custom_1]\ntitle = "T"\nchat = "Line\\ntwo"\n')
    assert topics.take_over(found) == {"custom_1": "custom_1"}
    assert topics.take_over(found) == {}
    assert topics.text("custom_1") == "Line\ntwo"


def test_a_system_message_keeps_its_key_unless_another_one_has_it(topics):
    conf = '[default]\ntitle = "D"\nchat = "d"\n[custom_1]\ntitle = "A"\nchat = "a"\n'
    conf += '[custom_3]\ntitle = "B"\nchat = "b"\n'
    kept = {"custom_1": "custom_1", "custom_3": "custom_3"}
    assert topics.take_over(lua_chats.topics(conf)) == {"default": "custom_4", **kept}
    assert [topics.text(key) for key in ("custom_1", "custom_3", "custom_4")] == ["a", "b", "d"]
    assert topics.text("default") == "", "ours stays"
    other = '[custom_1]\ntitle = "Z"\nchat = "z"\n'
    assert topics.take_over(lua_chats.topics(other)) == {"custom_1": "custom_5"}
    assert topics.text("custom_1") == "a"


@pytest.mark.parametrize("data", [b"{", b"[1]", b'{"custom_1": 3}', b'{"custom_1": {"title": 1, "text": "x"}}'])
def test_a_file_that_cannot_be_read_is_told_and_not_overwritten(topics, tmp_path, data):
    (tmp_path / "topics.json").write_bytes(data)
    with pytest.raises(StoreError):
        topics.list()
    with pytest.raises(StoreError):
        topics.add("t", "x")
    assert (tmp_path / "topics.json").read_bytes() == data
