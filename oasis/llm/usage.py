"""What models used, by month, service and model; and the owner's budget for a month.

Sums, not a log. They are written to RAM with each request, and to flash when the day changes and when the daemon stops:
the messages of a chat hold their own usage on flash already, and a write for each turn would wear it out to say the
same again. A power cut loses the sums since the last write at most, never those of the day before.

Shape of the file: {"months": {"2026-11": {SERVICE: {MODEL: [requests, input, output, cache read, cache written]}}}}.
Months are those of UTC. Where the clock is not set yet, what is used counts into the newest month that is known.
Cost is counted from prices that the owner entered (`config price`), in millionths of the currency; none is invented.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from oasis.core import jsonl
from oasis.errors import OasisError, SchemaError, SettingsError, StoreError

if False:  # annotations only
    from oasis.config.settings import Settings
    from oasis.llm.shapes import Budget, Entry, ModelUsage, UsageList
    from oasis.system.files import Files

    Row = list[int]
    Months = dict[str, dict[str, dict[str, Row]]]
    Prices = dict[tuple[str, str], tuple[int, int, int]]

FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_ROW = 1 + len(FIELDS)
# What a price says: whose it is, and what a million tokens cost that are read, written, or come from the cache.
PRICE = ("service", "model", "input", "output", "cached")
KEEP_MONTHS = 13
# A name beyond these is a fault or a joke; it is counted under OTHER.
MODELS_PER_SERVICE = 64
OTHER = "(other)"
WARN_PERCENT = 80
_MILLION = 1000000
# Of one request, as the decoders bound it (providers/events.py), and of a sum.
MOST_TOKENS = 10**9
_MOST = 10**15


class BudgetError(OasisError):
    code = "budget"
    exit_status = 5


class Usage:
    """The counts of one router root. `unix_s()` is the wall time; `state` is a file on flash, `scratch` one in RAM.

    `tell(text)` hears once a month that the budget is spent, when the first request is refused for it. `is_set()` tells
    whether the clock may be believed.
    """

    def __init__(
        self, settings: Settings, files: Files, unix_s: Callable[[], int],
        tell: Callable[[str], object] = lambda text: None, is_set: Callable[[], bool] = lambda: True, *,
        state: str, scratch: str,
    ) -> None:  # fmt: skip
        self._is_set = is_set
        self._tell = tell
        self._spent = ""  # the month for which the owner was notified that its budget is spent
        self._settings = settings
        self._files = files
        self._state = state
        self._scratch = scratch
        self._unix_s = unix_s
        self._lock = threading.Lock()
        self._warned = ""  # the month for which the owner was warned that its budget is nearly spent
        self._months = self._read(scratch) or self._read(state) or {}
        self._day = unix_s() // 86400
        self._is_kept = self._read(state) == self._months

    def _read(self, path: str) -> Months | None:
        data = self._files.read(path)
        try:
            months: Months = jsonl.loads(data).get("months", {}) if data else {}  # type: ignore[union-attr,assignment]
            rows = [row for services in months.values() for models in services.values() for row in models.values()]
            numbers = [one for row in rows for one in (row if isinstance(row, list) and len(row) == _ROW else [None])]
            if all(type(one) is int and 0 <= one <= _MOST for one in numbers):
                return months
        except (SchemaError, AttributeError):
            pass  # no JSON, or no tables
        print("oasisd: %s is damaged; what models used is counted anew" % path, file=sys.stderr)
        return None

    # Counting

    def add(self, service: str, model: str, spent: Mapping[str, object]) -> None:
        """Count one request. `spent` is the usage as its message has it."""
        with self._lock:
            models = self._months.setdefault(self._month(), {}).setdefault(service, {})
            if model not in models and len(models) >= MODELS_PER_SERVICE:
                model = OTHER
            _count(models.setdefault(model, [0] * _ROW), spent)
            for old in sorted(self._months)[:-KEEP_MONTHS]:
                del self._months[old]
            self._is_kept = False
            self._write()

    def _write(self, is_last: bool = False) -> None:
        """Write to RAM; to flash at the end, or when the day has changed. A failure is logged and stops no answer."""
        today = self._unix_s() // 86400
        try:
            if not is_last:
                self._files.replace(self._scratch, jsonl.line({"months": self._months}))
            if not self._is_kept and (is_last or self._day != today):
                self._day = today
                self._files.replace(self._state, jsonl.line({"months": self._months}))
                self._is_kept = True
        except StoreError as error:
            print("oasisd: what models used is not written: %s" % error.message, file=sys.stderr)

    def close(self) -> None:
        """Put on flash what is in RAM only."""
        with self._lock:
            self._write(is_last=True)

    def _month(self) -> str:
        now = time.gmtime(max(self._unix_s(), 0))
        month = "%04d-%02d" % (now.tm_year, now.tm_mon)
        # A clock that is set says the month, also where it went ahead once and left a later one behind.
        return month if self._is_set() else max([month, *self._months])

    # Looking

    def list(self, month: str = "") -> UsageList:
        """Return the counts of all months, or of one; costs are texts, and absent where no price is known."""
        prices = self.prices()
        with self._lock:
            found = [
                _item(name, service, model, row, prices)
                for name in sorted(self._months, reverse=True)
                for service, models in sorted(self._months[name].items())
                for model, row in sorted(models.items())
                if month in ("", name)
            ]
            now = self._month()
        reply: UsageList = {"usage": found, "month": now, "currency": self._settings.main().get("currency", "")}
        budget = self._budget()
        if budget:
            reply["budget"] = budget
        reply["prices"] = [
            {"service": "", **{name: section.options[name] for name in PRICE if name in section.options}}
            for section in self._settings.sections()
            if section.type == "price"
        ]
        return reply

    # The budget

    def check(self, service: str) -> str:
        """Look at the budget before a service is asked; return what the owner should know, "" for nothing.

        Raises: BudgetError when it is spent, SettingsError when it cannot be read.
        """
        budget = self._budget()
        if not budget or service in self._free():
            return ""
        percent, month = budget["percent"], self._month()
        parts = ["%s of %s tokens" % (budget["tokens_used"], budget["tokens"])] if "tokens" in budget else []
        parts += ["%s of %s" % (budget["cost_used"], budget["cost"])] if "cost" in budget else []
        words = ", ".join(parts)
        if percent >= 100:
            if self._spent != month:
                self._spent = month
                self._tell("The budget of this month is spent (%s)" % words)
            hint = "a model at home and the built-in service go on; budget_tokens and budget_cost in /etc/config/oasis"
            raise BudgetError("the budget of this month is spent (%s)" % words, hint)
        with self._lock:
            if percent < WARN_PERCENT or self._warned == month:
                return ""
            self._warned = month
        return "%d %% of this month's budget are used (%s)" % (percent, words)

    def _budget(self) -> Budget | None:
        """Return how much of the budget is used, None where there is none."""
        tokens = self._settings.number("budget_tokens", 0)
        cost = amount("oasis.main.budget_cost", self._settings.main().get("budget_cost", "0"))
        if not tokens and not cost:
            return None
        prices, free = self.prices(), self._free()
        used_tokens = used_cost = 0
        with self._lock:
            for service, models in self._months.get(self._month(), {}).items():
                for model, row in models.items() if service not in free else ():
                    used_tokens += row[1] + row[2]
                    used_cost += _cost(service, model, row, prices) or 0
        shares = [100 * used // limit for used, limit in ((used_tokens, tokens), (used_cost, cost)) if limit]
        budget: Budget = {"tokens_used": used_tokens, "cost_used": _money(used_cost), "percent": max(shares)}
        if tokens:
            budget["tokens"] = tokens
        if cost:
            budget["cost"] = _money(cost)
        return budget

    def _free(self) -> set[str]:
        """Return the services that cost nothing."""
        return {item["identifier"] for item in self._settings.services() if item["is_local"]}

    def prices(self) -> Prices:
        """Return what a million tokens cost in, out and from the cache, by (service or "", model)."""
        found: Prices = {}
        for section in self._settings.sections():
            if section.type == "price":
                options = {key: value for key, value in section.options.items() if isinstance(value, str)}
                name = "oasis.%s." % section.name
                first, second = (amount(name + key, options.get(key, "")) for key in ("input", "output"))
                third = amount(name + "cached", options["cached"]) if "cached" in options else first
                found[(options.get("service", ""), options.get("model", ""))] = first, second, third
        return found


def amount(name: str, text: str) -> int:
    """Return an amount of money in millionths; raise SettingsError for what is none, with the name of its place."""
    whole, _, part = text.partition(".")
    digits = whole + part
    if not (digits.isascii() and digits.isdigit() and len(part) <= 6 and len(whole) < 10):
        raise SettingsError("%s is %r" % (name, text), "an amount like 2.50")
    return int(whole or "0") * _MILLION + int((part + "000000")[:6])


def of_chat(lines: Iterable[Entry], prices: Prices) -> list[ModelUsage]:
    """Return what the messages of a chat say that they used, by service and model; titles are not among them."""
    rows: dict[tuple[str, str], Row] = {}
    for line in lines:
        spent = line.get("usage")
        if line.get("role") == "assistant" and isinstance(spent, dict):
            name = str(line.get("provider", "")), str(line.get("model", ""))
            _count(rows.setdefault(name, [0] * _ROW), spent)
    return [_item("", service, model, row, prices) for (service, model), row in sorted(rows.items())]


def _count(row: Row, spent: Mapping[str, object]) -> None:
    """Add what one request used; what is no count is none: older programs stored what a service said."""
    row[0] += 1
    for number, field in enumerate(FIELDS, 1):
        value = spent.get(field)
        if type(value) is int and 0 < value <= MOST_TOKENS:
            row[number] = min(row[number] + value, _MOST)


def _cost(service: str, model: str, row: Row, prices: Prices) -> int | None:
    price = prices.get((service, model)) or prices.get(("", model))
    if price is None:
        return None
    fresh = max(row[1] - row[3], 0)  # the whole prompt is counted, what came from the cache included
    return (fresh * price[0] + row[2] * price[1] + row[3] * price[2]) // _MILLION


def _item(month: str, service: str, model: str, row: Row, prices: Prices) -> ModelUsage:
    of_month: ModelUsage = {"month": month} if month else {}  # type: ignore[typeddict-item]  # a chat has none
    item: ModelUsage = {
        **of_month, "service": service, "model": model, "requests": row[0],
        "input_tokens": row[1], "output_tokens": row[2], "cached_tokens": row[3],
    }  # fmt: skip
    cost = _cost(service, model, row, prices)
    return item if cost is None else {**item, "cost": _money(cost)}


def _money(millionths: int) -> str:
    """Return an amount as people write it: two places, four where there is less than that."""
    if 0 < millionths < _MILLION // 100:
        return "0.%04d" % (millionths // 100)
    return "%d.%02d" % (millionths // _MILLION, millionths % _MILLION // 10000)
