"""Services and aliases as the owner manages them, over the file that is read; models are scripted."""

import json
import os
import stat

import pytest

from oasis.config.settings import Settings
from oasis.errors import OasisError, ProviderError, SettingsError, UsageError
from oasis.llm.services import TRIAL_S, Book
from oasis.system.files import Files
from oasis.system.root import Root
from oasis.uci.backends import open_cursor
from tests.oasisd import copy_root

KEY = "sk-secret-3f9a0c77"


class Models:
    """Answers with the events and models given; keeps what was asked."""

    def __init__(self):
        self.events = [{"type": "delta", "text": "OK"}, {"type": "done", "stop_reason": "end_turn", "model": "tiny-2"}]
        self.found = [{"id": "tiny"}]
        self.asked = []

    def chat(self, request, on_event, cancelled):
        self.asked.append((request, cancelled))
        for event in self.events:
            on_event(event)

    def models(self, request, cancelled):
        self.asked.append((request, cancelled))
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


class Made:
    def __init__(self, folder):
        self.root = copy_root(str(folder / "router"), is_stock=True)
        os.makedirs(self.root + "/var/run/oasis")
        self.settings = Settings(Root(self.root), Files())
        self.models = Models()
        self.now_s = 0.0
        self.book = Book(self.settings, self.cursor, self.models, lambda: self.now_s, None)

    def cursor(self):
        return open_cursor(self.root + "/etc/config", self.root + "/var/run/oasis/uci", backend="file")

    def text(self):
        with open(self.root + "/etc/config/oasis") as handle:
            return handle.read()

    def write(self, text):
        with open(self.root + "/etc/config/oasis", "w") as handle:
            handle.write(text)

    def names(self):
        return [item["identifier"] for item in self.settings.services()]


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def test_a_service_is_added_behind_the_others_with_its_key_beside_uci(made):
    assert made.book.service_add("openrouter", KEY, model="vendor/model", max_tokens=500) == {
        "identifier": "openrouter"
    }
    assert made.book.service_add("OpenRouter", "") == {"identifier": "openrouter2"}
    assert made.names() == ["offline", "openrouter", "openrouter2"]
    added = made.settings.service("openrouter")
    assert (added["name"], added["model"], added["options"]) == ("OpenRouter", "vendor/model", {"max_tokens": 500})
    assert made.settings.key("openrouter") == KEY and KEY not in made.text()
    assert stat.S_IMODE(os.stat(made.root + "/etc/config/oasis").st_mode) == 0o600


def test_a_new_service_never_has_the_key_of_one_that_was_here_before(made):
    made.settings.set_key("openai", KEY)
    made.book.service_add("openai")
    assert made.settings.key("openai") == ""


@pytest.mark.parametrize(
    "name, given",
    [
        ("Nobody AI", {}),
        ("ollama", {"endpoint": "ftp://x"}),
        ("ollama", {"endpoint": "http://a:b@host/"}),
        ("ollama", {"tool_mode": "some"}),
        ("ollama", {"thinking": "a lot"}),
        ("ollama", {"temperature": "hot"}),
        ("ollama", {"max_tokens": -4}),
        ("ollama", {"model": "a\nb"}),
        ("ollama", {"model": "a" * 300}),
        ("compatible", {}),
        ("ollama", {"key": "two words"}),
        ("ollama", {"key": "k" * 5000}),
        ("ollama", {"key": "naïve"}),
    ],
)
def test_what_could_not_be_used_is_not_written(made, name, given):
    before = made.text()
    with pytest.raises(UsageError) as caught:
        made.book.service_add(name, **given)
    assert made.text() == before and made.names() == ["offline"]
    if "key" in given:
        assert given["key"] not in caught.value.message + caught.value.hint


def test_options_are_changed_and_taken_back(made):
    made.book.service_add("ollama", model="tiny", thinking="low", context_tokens=4096)
    made.book.service_change("ollama", model="big", thinking="", context_tokens=0, endpoint="http://10.0.0.2:11434/")
    item = made.settings.service("ollama")
    assert (item["model"], item["options"], item["context_tokens"]) == ("big", {}, 0)
    assert item["base_url"] == "http://10.0.0.2:11434"
    with pytest.raises(UsageError, match="temperature"):
        made.book.service_change("ollama", temperature="9")
    with pytest.raises(SettingsError, match="no service 'gone'"):
        made.book.service_change("gone", model="x")


def test_our_endpoint_takes_the_place_of_upstreams(made):
    made.write(
        "config service\n\toption identifier '12'\n\toption name 'OpenAI'\n\toption model 'x'\n"
        "\toption openai_endpoint_type 'custom'\n\toption openai_custom_endpoint 'http://10.0.0.9/v1/chat/completions'\n"
    )
    assert made.settings.service()["profile"] == "compatible"
    made.book.service_change("12", endpoint="https://api.openai.com/v1")
    assert "custom" not in made.text()
    assert made.settings.services()[0]["profile"] == "openai"


def test_services_are_put_in_order_and_the_first_is_the_active_one(made):
    for name in ("ollama", "llamacpp", "vllm"):
        made.book.service_add(name, model="x")
    made.book.service_select("vllm")
    assert made.names() == ["vllm", "offline", "ollama", "llamacpp"]
    made.book.service_change("vllm", position=2)
    assert made.names() == ["offline", "ollama", "vllm", "llamacpp"]
    made.book.service_change("ollama", position=99)
    assert made.names() == ["offline", "vllm", "llamacpp", "ollama"]
    assert made.settings.main()["approval"] == "risky"


@pytest.mark.part("offline")
def test_the_built_in_service_can_be_chosen_where_no_section_names_it(made):
    made.write("config oasis 'main'\n\nconfig service 'o'\n\toption name 'Ollama'\n\toption model 'x'\n")
    made.book.service_select("offline")
    assert made.names() == ["offline", "o"]


def test_what_cannot_be_used_cannot_be_chosen(made):
    made.book.service_add("openai")
    with pytest.raises(SettingsError, match="no key is set"):
        made.book.service_select("openai")


def test_a_service_goes_with_its_key_and_the_built_in_one_stays(made):
    made.book.service_add("openai", KEY)
    made.book.service_key("openai/proxy", "me:word")
    made.book.service_delete("openai")
    assert made.names() == ["offline"] and made.settings.keys() == []
    with pytest.raises(UsageError, match="always there"):
        made.book.service_delete("offline")
    with pytest.raises(SettingsError, match="no service"):
        made.book.service_delete("openai")


@pytest.mark.parametrize(
    "key",
    ["hello", "sk-abcdefghijklmnopqrstuvwxyz0123", "123456:", "123456:a/../getMe?x=abcdefghijklmnop", ":" + "a" * 35],
)
def test_a_bot_token_has_the_form_of_one(made, key):
    with pytest.raises(UsageError, match="no bot's token"):
        made.book.service_key("telegram", key)


def test_a_key_goes_in_and_out(made):
    made.book.service_add("openai")
    made.book.service_key("openai", " " + KEY + "\n")
    assert made.settings.key("openai") == KEY and made.settings.service("openai")["ready"]
    made.book.service_key("openai/proxy", "me:word")
    assert made.settings.key("openai/proxy") == "me:word" and made.settings.key("openai") == KEY
    made.book.service_key("openai", "")
    assert not made.settings.services()[1]["ready"]
    with pytest.raises(SettingsError, match="no service"):
        made.book.service_key("gone", KEY)


def test_a_trial_is_one_short_question_to_the_service(made):
    made.book.service_add("openai", KEY, model="m", thinking="high", max_tokens=5000)
    assert made.book.service_test("openai") == {"ok": True, "ms": 0, "model": "tiny-2"}
    request, cancelled = made.models.asked[0]
    assert (request["key"], request["model"], request["tools"]) == (KEY, "m", [])
    assert request["options"]["max_tokens"] == 16 and request["options"]["retries"] == 0
    assert "thinking" not in request["options"]
    assert not cancelled()
    made.now_s = TRIAL_S + 1
    assert cancelled()


def test_a_trial_tells_what_the_service_said(made):
    made.book.service_add("ollama", model="m")
    error = {"code": "authentication", "message": "bad key", "hint": "look", "retryable": False}
    made.models.events = [{"type": "error", "error": error}]
    reply = made.book.service_test("ollama")
    assert (reply["ok"], reply["fault"]) == (False, {"code": "authentication", "message": "bad key", "hint": "look"})
    made.models.events = [{"type": "error", "error": {**error, "code": "cancelled"}}]
    assert made.book.service_test("ollama")["fault"]["message"] == "no answer within 15 s"


@pytest.mark.part("offline")
def test_a_trial_of_the_built_in_service_asks_nobody(made):
    assert made.book.service_test("offline")["ok"] and made.models.asked == []


def test_the_models_of_a_service_are_listed_also_before_one_is_chosen(made):
    made.book.service_add("ollama")
    made.models.found = [{"id": "a\x1b[31mb", "context_tokens": 8}, {"id": ""}, {"id": "c"}]
    reply = made.book.service_models("ollama")
    assert [sorted(item) for item in reply["models"]] == [["context_tokens", "id"], ["id"]]
    assert "\x1b" not in json.dumps(reply["models"]).replace("\\u001b", "\x1b")
    made.models.found = [{"id": f"m{number}"} for number in range(5000)]
    reply = made.book.service_models("ollama")
    assert len(reply["models"]) == 600 and reply["is_cut"]
    made.models.found = ProviderError("refused")
    with pytest.raises(ProviderError, match="refused"):
        made.book.service_models("ollama")
    with pytest.raises(SettingsError, match="no service"):
        made.book.service_models("gone")


def test_aliases_are_set_listed_and_taken_away(made):
    made.book.service_add("ollama", model="tiny")
    made.book.alias_set("nano", ["ollama/other:1b", "offline"])
    made.book.alias_set("nano", ["offline"])
    made.book.alias_set("my.own", ["ollama/a/b"])
    found = {item["name"]: item for item in made.book.alias_list()["alias"]}
    assert {name: item["targets"] for name, item in found.items()} == {"nano": ["offline"], "my.own": ["ollama/a/b"]}
    assert made.settings.service("my.own")["model"] == "a/b"
    made.book.service_delete("ollama")
    found = {item["name"]: item for item in made.book.alias_list()["alias"]}
    assert not found["my.own"]["ready"] and "ollama" in found["my.own"]["note"]
    made.book.alias_delete("nano")
    with pytest.raises(UsageError, match="no alias 'nano'"):
        made.book.alias_delete("nano")


@pytest.mark.parametrize(
    "name, targets",
    [("", ["offline"]), ("Big", ["offline"]), ("a b", ["offline"]), ("x" * 40, ["offline"]), ("offline", ["offline"]),
     ("nano", []), ("nano", ["gone"]), ("nano", ["offline"] * 9), ("nano", ["offline/a\nb"]), ("nano", ["offline/"])],
)  # fmt: skip
def test_an_alias_that_could_not_be_used_is_not_written(made, name, targets):
    before = made.text()
    with pytest.raises(OasisError):
        made.book.alias_set(name, targets)
    assert made.text() == before


def test_what_a_crash_left_staged_does_not_come_along(made):
    cursor = made.cursor()
    cursor.set("oasis", "main", "approval", "none")
    cursor.save("oasis")
    made.book.service_add("ollama")
    assert made.settings.main()["approval"] == "risky"
