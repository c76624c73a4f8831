"""Parts of a request as tool calls: slots are checked, commands filled in, and all changes put into one plan."""

from __future__ import annotations

from oasis.parts.offline.language.slots import Problem, value
from oasis.parts.offline.language.template import commands, fill, sentence
from oasis.parts.offline.requests.sets import SETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.template import Rows
    from oasis.parts.offline.reading import Part
    from oasis.parts.offline.world import World


class Fulfilment:
    """Turn parts into tool calls; `slot` names the value that is being checked."""

    def __init__(self, world: World, texts_of: object, intents: dict[str, dict[str, object]]) -> None:
        self._world = world
        self._texts_of = texts_of
        self._intents = intents
        self._commands: list[str] = []
        self._summaries: list[str] = []
        self._change: dict[str, object] = {}
        self.slot = ("", "")
        self.words: list[str] = []
        self.calls: list[tuple[str, dict[str, object]]] = []

    def add(self, part: Part) -> None:
        """Add one request. Raises: Problem."""
        intent = self._intents[part.intent]
        fields = self._checked(part, intent)
        self.slot = (part.intent, "")
        name = str(intent.get("as", part.intent))
        intent = self._intents[name]
        texts = self._texts_of(name)  # type: ignore[operator]
        if "commands" in intent:
            items = intent["commands"]
            found = commands(items if isinstance(items, list) else [], fields, lambda one: self._rows(one, fields))
            self._plan(found, sentence(str(texts["summary"]), fields), str(fields.get("until") or ""))
            self._note(intent, fields)
        elif "tool" in intent:
            template = intent["input"]
            items = template.items() if isinstance(template, dict) else []
            self.calls.append((str(intent["tool"]), {key: _filled(one, fields) for key, one in items}))
        else:
            if "check" in intent:
                self._rows(str(intent["check"]), fields)
            self.words.append(sentence(str(texts["text"]), fields))

    def fields(self, part: Part) -> dict[str, object]:
        """Return the checked slots of a request, with the router's names for what was said. Raises: Problem."""
        return self._checked(part, self._intents[part.intent])

    def _plan(self, found: list[str], summary: str, until: str) -> None:
        # All changes of one message are one plan: approved, applied and undone together.
        if self._commands and until != self._change.get("until", ""):
            raise Problem("two_ends")  # one plan has one end
        if not self._commands:
            self.calls.append(("configure", self._change))
        self._commands += [line for line in found if line not in self._commands]
        self._summaries.append(summary)
        self._change.update(commands=self._commands, summary="; ".join(self._summaries))
        if until:
            self._change["until"] = until

    def _checked(self, part: Part, intent: dict[str, object]) -> dict[str, object]:
        rules = intent.get("slots")
        fields: dict[str, object] = dict.fromkeys(rules, "") if isinstance(rules, dict) else {}
        for slot, rule in rules.items() if isinstance(rules, dict) else []:
            self.slot = (part.intent, slot)
            kind = str(rule["type"])
            if slot in part.slots:
                fields[slot] = value(kind, *part.slots[slot], self._world)
                fields[slot + "_name"] = self._world.label(kind, fields[slot])
            elif "otherwise" in rule:  # what it is where nobody says it, told for all to read
                fields[slot + "_name"] = self._world.label(kind, rule["otherwise"])
            elif not rule.get("optional") and str(rule.get("unless")) not in part.slots:
                raise Problem("missing", kind=kind)
        return fields

    def _rows(self, name: str, fields: dict[str, object]) -> Rows:
        return SETS[name](self._world, fields)

    def _note(self, intent: dict[str, object], fields: dict[str, object]) -> None:
        notes = intent.get("notes")
        for text, name in notes.items() if isinstance(notes, dict) else []:
            rows = self._rows(name, fields)
            if rows:
                self._world.note(text, **{**rows[0], **fields})


def _filled(template: object, fields: dict[str, object]) -> object:
    """Return an argument of a tool; a list of templates stays one."""
    if isinstance(template, list):
        return [fill(str(one), fields) for one in template]
    return fill(str(template), fields)
