"""What models used, the prices that the owner entered, and the budget that stops; over the files of a router root."""

import json
import os

import pytest

from oasis.config.settings import Settings
from oasis.errors import OasisError, SettingsError, StoreError
from oasis.llm.usage import KEEP_MONTHS, MODELS_PER_SERVICE, OTHER, BudgetError, Usage, of_chat
from oasis.llm.workers import Models
from oasis.system.files import Files
from oasis.system.root import Root
from tests.oasisd import copy_root

NOVEMBER = 1795305600  # 2026-11-22
DAY = 86400
SERVICES = """
config service 'cloud'
	option name 'OpenAI'
	option model 'm'

config service 'home'
	option name 'Ollama'
	option model 'm'

config price
	option model 'm'
	option input '2'
	option output '10.50'
	option cached '0.2'
"""


class Counting(Files):
    """Keeps the paths that were written; fails while `is_full`."""

    def __init__(self):
        self.paths = []
        self.is_full = False

    def replace(self, path, data, mode=0o600):
        if self.is_full:
            raise StoreError("the flash is full")
        self.paths.append(os.path.basename(os.path.dirname(path)))
        super().replace(path, data, mode)


class Made:
    def __init__(self, folder):
        self.root = copy_root(str(folder / "router"))
        os.makedirs(self.root + "/var/run/oasis")
        os.makedirs(self.root + "/etc/oasis", exist_ok=True)
        self.files = Counting()
        self.settings = Settings(Root(self.root), self.files)
        self.now_s = NOVEMBER
        self.set()

    def set(self, **options):
        lines = "".join(f"\toption {name} '{value}'\n" for name, value in options.items())
        with open(self.root + "/etc/config/oasis", "w") as handle:
            handle.write("config oasis 'main'\n" + lines + SERVICES)

    def usage(self, is_set=lambda: True):
        places = self.root + "/etc/oasis/usage.json", self.root + "/var/run/oasis/usage.json"
        return Usage(self.settings, self.files, lambda: self.now_s, is_set=is_set, state=places[0], scratch=places[1])

    def lose_ram(self):
        os.remove(self.root + "/var/run/oasis/usage.json")


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


SPENT = {"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 400}


def test_what_was_used_is_summed_by_month_service_and_model(made):
    usage = made.usage()
    usage.add("cloud", "m", SPENT)
    usage.add("cloud", "m", SPENT)
    usage.add("cloud", "other", {"output_tokens": 3, "input_tokens": None, "reasoning_tokens": 9})
    made.now_s += 30 * DAY
    usage.add("home", "m", SPENT)
    assert usage.list()["usage"] == [
        {"month": "2026-12", "service": "home", "model": "m", "requests": 1, "input_tokens": 1000,
         "output_tokens": 100, "cached_tokens": 400, "cost": "0.0023"},
        {"month": "2026-11", "service": "cloud", "model": "m", "requests": 2, "input_tokens": 2000,
         "output_tokens": 200, "cached_tokens": 800, "cost": "0.0046"},
        {"month": "2026-11", "service": "cloud", "model": "other", "requests": 1, "input_tokens": 0,
         "output_tokens": 3, "cached_tokens": 0},
    ]  # fmt: skip
    assert usage.list("2026-12")["usage"] == usage.list()["usage"][:1]
    assert usage.list("1999-01")["usage"] == []


def test_flash_is_written_once_a_day_and_at_the_end(made):
    usage = made.usage()
    for _ in range(20):
        usage.add("cloud", "m", SPENT)
    assert "oasis" in made.files.paths and made.files.paths.count("oasis") == 20
    assert not os.path.exists(made.root + "/etc/oasis/usage.json")
    made.now_s += DAY
    usage.add("cloud", "m", SPENT)
    assert os.path.exists(made.root + "/etc/oasis/usage.json")
    usage.close()
    before = len(made.files.paths)
    usage.close()
    assert len(made.files.paths) == before


def test_counts_outlive_a_restart_and_an_orderly_reboot(made):
    made.usage().add("cloud", "m", SPENT)
    assert made.usage().list()["usage"][0]["requests"] == 1
    usage = made.usage()
    usage.add("cloud", "m", SPENT)
    usage.close()
    made.lose_ram()
    assert made.usage().list()["usage"][0]["requests"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"months": 5}',
        '{"months": {"2026-11": {"a": {"m": [1, 2]}}}}',
        '{"months": {"x": {"a": {"m": "y"}}}}',
    ],
)
def test_a_damaged_file_is_told_and_the_other_one_counts(made, text, capsys):
    usage = made.usage()
    usage.add("cloud", "m", SPENT)
    usage.close()
    with open(made.root + "/var/run/oasis/usage.json", "w") as handle:
        handle.write(text)
    assert made.usage().list()["usage"][0]["requests"] == 1
    assert "damaged" in capsys.readouterr().err


def test_a_full_flash_stops_no_answer(made, capsys):
    usage = made.usage()
    made.files.is_full = True
    usage.add("cloud", "m", SPENT)
    usage.close()
    assert usage.list()["usage"][0]["requests"] == 1 and "not written" in capsys.readouterr().err


def test_a_clock_that_is_not_set_counts_into_the_newest_month(made):
    usage = made.usage(lambda: made.now_s == NOVEMBER)
    usage.add("cloud", "m", SPENT)
    made.now_s = 100
    usage.add("cloud", "m", SPENT)
    assert [item["month"] for item in usage.list()["usage"]] == ["2026-11"]


def test_the_month_does_not_stick_after_a_clock_that_went_ahead(made):
    made.set(budget_tokens="2000")
    usage = made.usage()
    made.now_s = NOVEMBER + 20 * 365 * 86400
    usage.add("cloud", "m", {"input_tokens": 5000})
    with pytest.raises(BudgetError):
        usage.check("cloud")
    made.now_s = NOVEMBER
    assert usage.check("cloud") == "" and usage.list()["month"] == "2026-11"
    usage.add("cloud", "m", {"input_tokens": 5000})
    with pytest.raises(BudgetError):
        usage.check("cloud")
    made.now_s = NOVEMBER + 31 * 86400
    assert usage.check("cloud") == "" and usage.list()["month"] == "2026-12", "the next month begins anew"


def test_the_file_does_not_grow_without_end(made):
    usage = made.usage()
    for number in range(KEEP_MONTHS + 9):
        made.now_s = NOVEMBER + number * 31 * DAY
        usage.add("cloud", "m", SPENT)
    assert len(usage.list()["usage"]) == KEEP_MONTHS
    for number in range(MODELS_PER_SERVICE + 9):
        usage.add("home", f"m{number}", SPENT)
    names = {item["model"] for item in usage.list()["usage"] if item["service"] == "home"}
    assert len(names) == MODELS_PER_SERVICE + 1 and OTHER in names


def test_a_budget_of_tokens_warns_once_and_then_stops_all_that_cost(made):
    made.set(budget_tokens="10000")
    usage = made.usage()
    for _ in range(7):
        usage.add("cloud", "m", SPENT)
    assert usage.check("cloud") == ""
    usage.add("cloud", "m", SPENT)
    assert "88 % of this month's budget are used (8800 of 10000 tokens)" in usage.check("cloud")
    assert usage.check("cloud") == ""
    usage.add("home", "m", {"input_tokens": 10**7})
    assert usage.check("cloud") == ""
    usage.add("cloud", "m", SPENT)
    usage.add("cloud", "m", SPENT)
    with pytest.raises(BudgetError, match="spent") as caught:
        usage.check("cloud")
    assert caught.value.code == "budget" and caught.value.hint
    assert usage.check("home") == ""
    made.now_s += 30 * DAY
    assert usage.check("cloud") == ""


def test_a_budget_of_money_counts_what_has_a_price(made):
    made.set(budget_cost="0.01", currency="EUR")
    usage = made.usage()
    usage.add("cloud", "unpriced", {"input_tokens": 10**9})
    assert usage.check("cloud") == ""
    for _ in range(5):
        usage.add("cloud", "m", SPENT)
    with pytest.raises(BudgetError, match=r"0\.01 of 0\.01"):
        usage.check("cloud")
    reply = usage.list()
    assert reply["budget"]["percent"] >= 100 and reply["currency"] == "EUR"


@pytest.mark.parametrize(
    "options", [{"budget_tokens": "many"}, {"budget_cost": "1,50"}, {"budget_cost": "-1"}, {"budget_cost": "."}]
)
def test_a_budget_that_is_none_is_named(made, options):
    made.set(**options)
    with pytest.raises(SettingsError, match=r"oasis\.main\.budget_"):
        made.usage().check("cloud")


def test_a_price_that_is_none_is_named(made):
    with open(made.root + "/etc/config/oasis", "a") as handle:
        handle.write("\nconfig price\n\toption model 'x'\n\toption input 'dear'\n")
    with pytest.raises(SettingsError, match=r"input is 'dear'"):
        made.usage().list()


def test_the_messages_of_a_chat_tell_what_it_used():
    answer = {"role": "assistant", "provider": "cloud", "model": "m", "usage": SPENT}
    lines = [{"role": "user"}, answer, {**answer, "usage": None}, {"type": "title"}, answer, {**answer, "model": "n"}]
    found = of_chat(lines, {})
    assert [(item["model"], item["requests"], item["input_tokens"]) for item in found] == [
        ("m", 2, 2000),
        ("n", 1, 1000),
    ]


class Metered(Models):
    """Models whose one worker is a fake."""

    def __init__(self, worker, make_usage):
        super().__init__(1, 1, "", lambda: None, make_usage)
        self._worker = worker

    def _pool_of(self, op):
        return self._worker


class Worker:
    def __init__(self):
        self.asked = []

    def ask(self, request, on_event, cancelled, urgent):
        self.asked.append(request)
        if request["op"] == "chat":
            on_event({"type": "usage", "usage": {"input_tokens": 9000}})
            on_event({"type": "usage", "usage": {"output_tokens": 50}})
        else:
            for _ in request["texts"]:
                on_event({"type": "embedding", "embedding": [1.0]})
            on_event({"type": "usage", "usage": {"input_tokens": 7}})
        on_event({"type": "done", "stop_reason": "end_turn", "model": "m-1"})


def test_requests_are_counted_as_they_pass_and_stopped_when_the_budget_is_spent(made):
    made.set(budget_tokens="10000")
    models, heard = Worker(), []
    metered = Metered(models, made.usage)
    for _ in range(3):
        metered.chat({"service": "cloud", "model": "m"}, heard.append, None)
    assert [event["type"] for event in heard] == ["usage", "usage", "done", "note", "usage", "usage", "done", "error"]
    assert heard[-1]["error"]["code"] == "budget" and heard[-1]["error"]["retryable"] is False
    assert models.asked == [{"op": "chat", "model": "m"}] * 2
    metered.close()
    with open(made.root + "/etc/oasis/usage.json") as handle:
        assert json.load(handle)["months"]["2026-11"]["cloud"]["m"][:3] == [2, 18000, 100]


def test_embeddings_are_counted_with_their_tokens_and_stopped_when_the_budget_is_spent(made):
    made.set(budget_tokens="10000")
    models = Worker()
    metered = Metered(models, made.usage)
    assert metered.embed({"service": "cloud", "model": "e"}, ["a"] * 65, None) == [[1.0]] * 65
    for _ in range(2):
        metered.chat({"service": "cloud", "model": "m"}, lambda event: None, None)
    with pytest.raises(OasisError) as caught:
        metered.embed({"service": "cloud", "model": "e"}, ["a"], None)
    assert caught.value.code == "budget" and [asked["model"] for asked in models.asked] == ["e", "e", "m", "m"]
    metered.close()
    with open(made.root + "/etc/oasis/usage.json") as handle:
        assert json.load(handle)["months"]["2026-11"]["cloud"]["e"] == [2, 14, 0, 0, 0]
