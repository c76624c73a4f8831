"""The budget and the prices that the owner sets, over the file that is read; counts of usage.py are beside them."""

import os

import pytest

from oasis.config.settings import Settings
from oasis.errors import OasisError
from oasis.llm.services import Book
from oasis.llm.usage import BudgetError, Usage
from oasis.system.files import Files
from oasis.system.root import Root
from oasis.uci.backends import open_cursor
from tests.oasisd import copy_root

NOVEMBER = 1795305600  # 2026-11-22


class Made:
    def __init__(self, folder):
        self.root = copy_root(str(folder / "router"))
        os.makedirs(self.root + "/var/run/oasis")
        os.makedirs(self.root + "/etc/oasis", exist_ok=True)
        settings = Settings(Root(self.root), Files())
        path = self.root + "/var/run/oasis/"
        self.counts = Usage(settings, Files(), lambda: NOVEMBER, state=path + "state.json", scratch=path + "usage.json")
        self.book = Book(
            settings,
            lambda: open_cursor(self.root + "/etc/config", path + "uci", backend="file"),
            self,
            lambda: 0.0,
            None,
        )

    def usage(self):
        return self.counts

    def list(self):
        return self.book.usage_list()

    def text(self):
        with open(self.root + "/etc/config/oasis", encoding="utf-8") as file:
            return file.read()


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def test_a_budget_is_set_counts_and_is_taken_back(made):
    before = made.text()
    made.book.usage_limit(budget_tokens=1000, budget_cost="2.50", currency="EUR")
    made.counts.add("cloud", "m", {"input_tokens": 900, "output_tokens": 50})
    reply = made.list()
    assert (reply["currency"], reply["budget"]["tokens"], reply["budget"]["cost"]) == ("EUR", 1000, "2.50")
    assert reply["budget"]["percent"] == 95
    made.book.usage_limit(budget_tokens=940)
    with pytest.raises(BudgetError):
        made.counts.check("cloud")
    made.book.usage_limit(budget_tokens=0, budget_cost="", currency="")
    assert made.counts.check("cloud") == "" and "budget" not in made.list()
    assert made.text() == before


def test_what_is_not_given_stays(made):
    made.book.usage_limit(budget_tokens=1000, currency="EUR")
    made.book.usage_limit(budget_cost="3")
    assert made.list()["budget"]["tokens"] == 1000 and made.list()["currency"] == "EUR"


def test_a_price_is_set_replaced_and_taken_away(made):
    before = made.text()
    made.book.usage_price(model="m", input="2", output="10.5", cached="0.125")
    made.book.usage_price(model="m", service="cloud", input="1", output="1")
    made.book.usage_price(model="m", input=" 4 ", output="10.5")
    assert made.list()["prices"] == [
        {"service": "cloud", "model": "m", "input": "1", "output": "1"},
        {"service": "", "model": "m", "input": "4", "output": "10.5"},
    ]
    made.counts.add("home", "m", {"input_tokens": 500000, "output_tokens": 0})
    assert made.list()["usage"][0]["cost"] == "2.00"
    made.book.usage_price(model="m")
    made.book.usage_price(model="m", service="cloud")
    assert made.list()["prices"] == [] and made.text() == before


@pytest.mark.parametrize(
    "given",
    [
        {"budget_tokens": -1}, {"budget_tokens": 10**13}, {"budget_cost": "much"}, {"budget_cost": "-1"},
        {"currency": "X" * 9}, {"currency": "E\nR"},
    ],
)  # fmt: skip
def test_a_budget_that_is_none_changes_nothing(made, given):
    before = made.text()
    with pytest.raises(OasisError):
        made.book.usage_limit(**given)
    assert made.text() == before


@pytest.mark.parametrize(
    "given",
    [
        {"model": " "}, {"model": "m", "input": "1"}, {"model": "m", "output": "1"}, {"model": "m", "cached": "1"},
        {"model": "m", "input": "x", "output": "1"}, {"model": "m\n", "input": "1", "output": "1", "service": "a\nb"},
        {"model": "m" * 300, "input": "1", "output": "1"},
    ],
)  # fmt: skip
def test_a_price_that_is_none_changes_nothing(made, given):
    before = made.text()
    with pytest.raises(OasisError):
        made.book.usage_price(**given)
    assert made.text() == before
