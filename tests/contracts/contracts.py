"""What every implementation of an interface (interfaces.py) must do: run by whoever writes one.

A contract is a class; its constructor takes a factory, `check_*` are its checks, each on a new object. To try one of
your own: `for check in checks(VectorStoreContract): check(VectorStoreContract(make))`, or as test_contracts.py does.
"""

import json
import math

import pytest

from oasis.errors import OasisError, ProviderError, SchemaError, UsageError
from tests.oasisd import has_part

if has_part("memory"):
    from oasis.parts.memory.ranking import SCALE, nearness, packed


def checks(contract):
    """Return the checks of a contract, as functions of its object."""
    return [getattr(contract, name) for name in dir(contract) if name.startswith("check_")]


def tried(contract, factories, parts=()):
    """Parametrize a test with every factory and every check of a contract; `parts` names the part that one needs."""
    needs = dict(parts)
    pairs = [
        pytest.param(
            name, check, id=f"{name}-{check.__name__.removeprefix('check_')}",
            marks=[pytest.mark.part(needs[name])] if name in needs else [],
        )
        for name in factories
        for check in checks(contract)
    ]  # fmt: skip
    return pytest.mark.parametrize("name, check", pairs)


class ProviderContract:
    """`make()` gives (vendor module, options for it, a whole answer of the service as bytes, its words)."""

    MESSAGES = ({"role": "system", "content": "be short"}, {"role": "user", "content": "hello"})

    def __init__(self, make):
        self.tool = {"name": "status", "description": "tells", "input_schema": {"type": "object", "properties": {}}}
        self.vendor, self.options, self.answer, self.words = make()

    def check_a_request_is_http_and_the_same_each_time(self):
        made = self.vendor.build_request(list(self.MESSAGES), [self.tool], self.options)
        assert made["method"] == "POST" and made["url"].startswith("http") and isinstance(made["body"], bytes)
        assert made == self.vendor.build_request(list(self.MESSAGES), [self.tool], self.options)
        body = json.dumps(json.loads(made["body"]))
        assert "hello" in body and "status" in body, "the message and the tool's name must be in it: " + body

    def check_the_key_is_in_a_header_alone(self):
        options = {**self.options, "key": "sk-secret-of-the-test"}
        made = self.vendor.build_request(list(self.MESSAGES), [], options)
        assert b"sk-secret" not in made["body"] and "sk-secret" not in made["url"]

    def check_no_empty_list_of_tools_is_sent(self):
        body = json.loads(self.vendor.build_request(list(self.MESSAGES), [], self.options)["body"])
        assert "tools" not in body

    def check_messages_are_not_changed(self):
        before = json.dumps(self.MESSAGES)
        self.vendor.build_request(list(self.MESSAGES), [self.tool], self.options)
        assert json.dumps(self.MESSAGES) == before

    def _events(self, pieces):
        decoder = self.vendor.Decoder(200, {"content-type": "text/event-stream"}, self.options)
        events = []
        for piece in pieces:
            events += decoder.feed(piece)
        return events + decoder.close()

    def check_an_answer_ends_with_exactly_one_ending_however_it_comes(self):
        whole = [self.answer]
        bytes_ = [self.answer[at : at + 1] for at in range(len(self.answer))]
        for pieces in (whole, bytes_):
            events = self._events(pieces)
            assert "".join(event["text"] for event in events if event["type"] == "delta") == self.words
            assert [event["type"] for event in events if event["type"] in ("done", "error")] == ["done"]
            assert events[-1]["type"] == "done"

    def check_an_answer_that_breaks_off_is_an_error(self):
        events = self._events([self.answer[: len(self.answer) // 2]])
        assert events[-1]["type"] == "error" and events[-1]["error"]["message"]

    def check_a_failed_request_is_an_error_with_a_hint(self):
        decoder = self.vendor.Decoder(500, {"content-type": "application/json"}, self.options)
        events = decoder.feed(b'{"error": {"message": "overloaded"}}') + decoder.close()
        assert [event["type"] for event in events] == ["error"] and events[0]["error"]["retryable"] is True


class EmbeddingContract:
    """`make()` gives an embedder whose model is there, `make(False)` one for which none is set."""

    def __init__(self, make):
        self.make = make

    def check_a_vector_for_each_text_in_their_order(self):
        one = self.make()
        alone = [one.rows([text])[0] for text in ("camera", "wlan secret", "uplink")]
        together = one.rows(["camera", "wlan secret", "uplink"])
        for first, second in zip(alone, together, strict=True):
            assert nearness(first)(second) == pytest.approx(1.0, abs=0.01)

    def check_all_vectors_have_one_length_and_finite_numbers(self):
        found = self.make().rows([f"text {number}" for number in range(70)])
        assert len(found) == 70 and len({len(row) for row in found}) == 1
        assert all(math.isfinite(SCALE.unpack_from(row)[0]) for row in found)

    def check_it_has_a_name_and_none_where_no_model_is_set(self):
        assert self.make().name and self.make(False).name == ""
        assert self.make(False).rows(["words"]) == []

    def check_no_texts_are_no_vectors(self):
        assert self.make().rows([]) == []


class VectorStoreContract:
    """`make()` gives an empty store."""

    def __init__(self, make):
        self.store = make()

    def put(self, name, label, vectors):
        self.store.write(name, label, [packed(vector) for vector in vectors])

    def nearest(self, vector, *more):
        return self.store.nearest(packed(vector), *more)

    def check_the_nearest_come_first_by_their_cosine(self):
        self.put("a", "m", [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
        self.put("b", "m", [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
        found = self.nearest([2.0, 0.0, 0.0], ["a", "b"], 4)
        assert [row for _, row in found] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
        assert [score for score, _ in found] == pytest.approx([1.0, math.sqrt(0.5), 0.0, -1.0], abs=0.01)

    def check_so_many_and_only_of_the_names_that_are_asked_for(self):
        for name in "abc":
            self.put(name, "m", [[1.0, 0.5]] * 3)
        found = self.nearest([1.0, 0.5], ["b", "c", "nobody"], 4)
        assert [row for _, row in found] == [("b", 0), ("b", 1), ("b", 2), ("c", 0)], "equal ones in their order"

    def check_other_lengths_and_labels_are_passed_over_and_zero_vectors_near_nothing(self):
        self.put("long", "m", [[1.0, 0.0, 0.0]])
        self.put("other", "n", [[1.0, 0.0]])
        self.put("zero", "m", [[0.0, 0.0]])
        assert all(score == 0 for score, _ in self.nearest([1.0, 0.0], ["long", "other", "zero"], 3, "m"))
        assert self.nearest([1.0, 0.0], ["other"], 3, "n")[0][1] == ("other", 0)
        assert all(score == 0 for score, _ in self.nearest([0.0, 0.0], ["other"], 3))

    def check_what_is_put_again_takes_the_place_of_the_first(self):
        self.put("a", "m", [[1.0, 0.0]] * 3)
        self.put("a", "n", [[0.0, 1.0]])
        about = self.store.about("a")
        assert (about["label"], about["dims"], about["count"]) == ("n", 2, 1)
        assert [row for _, row in self.nearest([0.0, 1.0], ["a"], 5)] == [("a", 0)]

    def check_what_is_deleted_is_gone_and_may_be_gone_already(self):
        self.put("a", "m", [[1.0, 0.0]])
        self.store.delete("a")
        self.store.delete("a")
        assert self.store.about("a") is None and self.nearest([1.0, 0.0], ["a"], 5) == []

    def check_vectors_of_several_lengths_are_refused_and_nothing_changes(self):
        self.put("a", "m", [[1.0, 0.0]])
        for wrong in ([[1.0], [1.0, 2.0]], [], [[]]):
            with pytest.raises(SchemaError):
                self.put("a", "m", wrong)
        assert self.store.about("a")["count"] == 1


class MemoryStoreContract:
    """`make()` gives an empty store of facts."""

    def __init__(self, make):
        self.store = make()

    @staticmethod
    def alike(text, facts):
        return [1.0 if fact["fact"].lower() == text.lower() else 0.0 for fact in facts], 0.9

    def say(self, text, category="preference"):
        return self.store.say(text, category, self.alike)

    def check_what_is_said_is_there_with_its_category(self):
        fact = self.say("The owner likes tea.")
        assert self.store.get(fact["id"])["fact"] == "The owner likes tea."
        assert [one["category"] for one in self.store.all()] == ["preference"] and fact["confidence"] == 1.0

    def check_the_same_again_is_one_fact_in_its_newest_words(self):
        first = self.say("The owner likes tea.")
        second = self.say("the owner likes TEA.", "habit")
        assert first["id"] == second["id"] and second["created_unix_s"] == first["created_unix_s"]
        assert [(one["fact"], one["category"]) for one in self.store.all()] == [("the owner likes TEA.", "habit")]
        assert self.store.all()[0]["confidence"] <= 1.0

    def check_a_correction_keeps_the_id(self):
        fact = self.say("The owner likes tea.")
        self.store.correct(fact["id"], "The owner likes coffee.", "")
        assert self.store.get(fact["id"])["fact"] == "The owner likes coffee."

    def check_what_is_forgotten_is_gone(self):
        fact, other = self.say("The owner likes tea."), self.say("The owner has a cat.")
        assert self.store.forget([fact["id"], "nobody"]) == 1
        assert [one["id"] for one in self.store.all()] == [other["id"]]
        assert self.store.forget_all() == 1 and self.store.all() == []

    def check_an_unknown_id_is_told(self):
        for work in (lambda: self.store.get("x"), lambda: self.store.correct("x", "The owner likes tea.", "")):
            with pytest.raises(UsageError):
                work()


class ToolContract:
    """`make()` gives (source, {tool: arguments that it can be called with}, operator, watch)."""

    CLASSES = ("read", "change", "danger", "net")

    def __init__(self, make):
        self.source, self.calls, self.operator, self.watch = make()

    def check_each_tool_is_described_for_models_and_owners(self):
        names = [spec["name"] for spec in self.source.specs()]
        assert names and len(set(names)) == len(names) and self.source.name
        for spec in self.source.specs():
            assert spec["name"].replace("_", "").isalnum() and len(spec["name"]) <= 64
            assert len(spec["description"]) > 20 and spec["class"] in self.CLASSES
            assert spec["input_schema"]["type"] == "object" and json.dumps(spec)

    def check_the_same_list_while_nothing_changes(self):
        assert self.source.specs() is self.source.specs()

    def check_calls_end_in_a_result_that_json_holds(self):
        assert set(self.calls) <= {spec["name"] for spec in self.source.specs()}
        for name, arguments in self.calls.items():
            try:
                result = self.source.call(name, arguments, self.operator, self.watch)
            except OasisError as error:
                assert error.message
                continue
            assert isinstance(result, dict) and json.loads(json.dumps(result)) == result


class RegistryContract:
    """`make(sources)` gives a registry; `source(name, **{tool: function})` a source, `hands()` an operator."""

    def __init__(self, make, source, hands):
        self.make, self.source, self.hands = make, source, hands

    def check_a_tool_is_called_by_its_name(self):
        registry = self.make([self.source("a", one=lambda *_: {"n": 1}), self.source("b", two=lambda *_: {"n": 2})])
        assert [spec["name"] for spec in registry.specs()] == ["one", "two"]
        assert json.loads(registry.call("two", {}, self.hands())[0]) == {"n": 2}

    def check_the_first_source_of_a_name_wins_and_both_are_not_offered(self):
        registry = self.make([self.source("a", one=lambda *_: {"n": 1}), self.source("b", one=lambda *_: {"n": 2})])
        names = [spec["name"] for spec in registry.specs()]
        assert len(set(names)) == len(names)
        assert json.loads(registry.call("one", {}, self.hands())[0]) == {"n": 1}

    def check_sources_join_later(self):
        registry = self.make([])
        joined = [self.source("late", three=lambda *_: {"n": 3})]
        registry.add(lambda: joined)
        assert json.loads(registry.call("three", {}, self.hands())[0]) == {"n": 3}

    def check_an_unknown_tool_is_a_result_and_no_exception(self):
        text, is_error, _ = self.make([]).call("nothing", {}, self.hands())
        assert is_error and "nothing" in text

    def check_whatever_a_tool_does_the_call_ends_in_a_result(self):
        def fails(*_):
            raise ProviderError("it is away", "later")

        def breaks(*_):
            raise ZeroDivisionError

        for work in (fails, breaks, lambda *_: None, lambda *_: {"x": "y" * 100_000}):
            text, is_error, _ = self.make([self.source("a", one=work)]).call("one", {}, self.hands())
            assert is_error and json.loads(text)["error"]["message"]

    def check_what_the_owner_switched_off_is_not_offered_and_not_called(self):
        registry = self.make([self.source("a", one=lambda *_: {"n": 1})])
        registry.set("one", False, "")
        assert registry.specs() == [] and registry.call("one", {}, self.hands())[1]
        assert [tool["enabled"] for tool in registry.listed()] == [False]


class FrontendContract:
    """`make()` gives what takes events of a run, wrapped as `read(events, state) -> text`."""

    def __init__(self, make):
        self.read = make()

    @staticmethod
    def events(*events, state="done"):
        found = [*events, {"type": "end", "state": state, "stop_reason": "end_turn"}]
        return [{"seq": number, **event} for number, event in enumerate(found)], state

    def check_what_was_said_is_read(self):
        events = [{"type": "delta", "text": "The Wi-Fi "}, {"type": "delta", "text": "is on."}]
        assert "The Wi-Fi is on." in self.read(*self.events(*events))

    def check_an_error_is_read_with_what_to_do(self):
        error = {"code": "provider", "message": "the key is wrong", "hint": "enter it again"}
        text = self.read(*self.events({"type": "error", "error": error}, state="error"))
        assert "the key is wrong" in text and "enter it again" in text

    def check_notes_are_read(self):
        note = {"type": "note", "text": "the clock is not set"}
        assert "the clock is not set" in self.read(*self.events({"type": "delta", "text": "Done."}, note))

    def check_what_was_dropped_meanwhile_comes_as_a_whole(self):
        events = [{"type": "reset", "text": "All of it"}, {"type": "delta", "text": ", and more."}]
        assert "All of it, and more." in self.read(*self.events(*events))

    def check_text_before_and_behind_a_tool_is_read(self):
        events = [
            {"type": "delta", "text": "I look."}, {"type": "message", "id": "x", "role": "assistant"},
            {"type": "tool_use", "id": "1", "name": "status", "input": {}},
            {"type": "tool_result", "tool_use_id": "1", "name": "status", "text": "{}", "is_error": False},
            {"type": "delta", "text": "It is well."}, {"type": "message", "id": "y", "role": "assistant"},
        ]  # fmt: skip
        text = self.read(*self.events(*events))
        assert text.index("I look.") < text.index("It is well.")
