"""What models may cost: the owner's budget for a month and his prices, as steps that write them into UCI.

Judges what is given as usage.py will read it; book.py writes the steps. Knows no file and no count.
"""

from __future__ import annotations

from oasis.errors import UsageError
from oasis.llm.usage import PRICE, amount

if False:  # annotations only
    from collections.abc import Iterable

    from oasis.uci.model import Section

    Steps = list[dict[str, object]]

_PACKAGE, _MAIN = "oasis", "main"
_CURRENCY_CHARS = 8
_WORD_CHARS = 256
# Of tokens in a month; libuci holds any text, a budget beyond this is none.
_MOST_TOKENS = 10**12


def budget(present: dict[str, str], given: dict[str, object]) -> Steps:
    """Return the steps that set the budget. `given`: budget_tokens, budget_cost, currency; 0 or "" takes one back.

    Raises: UsageError, SettingsError for what is no budget.
    """
    words = {name: "" if value in (0, "", "0") else str(value).strip() for name, value in given.items()}
    if words.get("budget_tokens") and not 0 < int(words["budget_tokens"]) <= _MOST_TOKENS:
        raise UsageError("a budget has 1 to %d tokens" % _MOST_TOKENS, "like: 2000000; empty for none")
    if words.get("budget_cost"):
        amount("budget_cost", words["budget_cost"])
    _printable("currency", words.get("currency", ""), _CURRENCY_CHARS)
    steps: Steps = []
    for name, word in words.items():
        if word:
            steps.append({"op": "set", "package": _PACKAGE, "section": _MAIN, "option": name, "value": word})
        elif name in present:
            steps.append({"op": "delete", "package": _PACKAGE, "section": _MAIN, "option": name})
    return steps


def price(sections: Iterable[Section], given: dict[str, str]) -> Steps:
    """Return the steps that set the price of a model, or take it away when it costs nothing.

    `given`: the keys of PRICE; service "" is any. Raises: as budget().
    """
    given = {name: text.strip() for name, text in given.items() if text.strip()}
    for name in ("service", "model"):
        _printable(name, given.get(name, ""), _WORD_CHARS)
    if not given.get("model"):
        raise UsageError("a price needs the name of a model", "as `oasis usage` shows it")
    whose = given.get("service", ""), given["model"]
    steps: Steps = [
        {"op": "delete", "package": _PACKAGE, "section": section.name}
        for section in sections
        if section.type == "price" and (section.options.get("service", ""), section.options.get("model")) == whose
    ]
    costs = [name for name in PRICE[2:] if name in given]
    for name in costs:
        amount(name, given[name])
    if not costs:
        return steps
    if "input" not in given or "output" not in given:
        raise UsageError("a price needs what is read and what is written", "an amount like 2.50 for a million tokens")
    steps.append({"op": "add", "package": _PACKAGE, "type": "price"})
    for name in PRICE:
        if name in given:
            steps.append(
                {"op": "set", "package": _PACKAGE, "section": "@price[-1]", "option": name, "value": given[name]}
            )
    return steps


def _printable(name: str, text: str, most: int) -> None:
    if not text.isprintable() or len(text) > most:
        raise UsageError("%s holds what no setting can" % name, "%d printable characters" % most)
