"""The lines between daemon and worker."""

import pytest

from oasis.core import jsonl
from oasis.errors import PeerError
from oasis.worker import lines


def test_an_event_comes_back_as_it_was():
    for event in (
        {"type": "delta", "text": "Grüße\n\u2028"},
        {"type": "tool_use", "id": "a", "name": "x", "input": {"k": [1]}, "invalid": "{"},
        {"type": "error", "error": {"code": "c", "message": "m", "hint": "", "retryable": True, "retry_after_s": 3}},
        {"type": "models", "models": [{"id": "a"}]},
    ):
        (line,) = lines.encode(7, event)
        assert line.count(b"\n") == 1 and lines.decode(line, 7) == event


def test_long_text_is_spread_and_every_line_fits():
    text = "\x01" * 250_000
    written = lines.encode(1, {"type": "delta", "text": text})
    assert len(written) == 3 and all(len(line) <= lines.EVENT_BYTES for line in written)
    assert "".join([lines.decode(line, 1)["text"] for line in written]) == text


def test_an_event_that_cannot_be_spread_is_refused():
    with pytest.raises(PeerError, match="too long"):
        lines.encode(1, {"type": "tool_use", "id": "a", "name": "x", "input": {"k": "x" * 2_000_000}})


def test_what_is_told_before_an_answer_comes_is_known():
    for event in (
        {"type": "retry", "text": "busy; asking again in 0.5 s", "wait_s": 0.5},
        {"type": "refused", "text": "m does not take seed", "parameter": "seed"},
    ):
        (line,) = lines.encode(7, event)
        assert lines.decode(line, 7) == event


ODD = {
    "true for a number": {"type": "mcp", "session": "s", "status": True},
    "a wait without end": {"type": "retry", "text": "", "wait_s": 1e300},
    "a wait before now": {"type": "retry", "text": "", "wait_s": -1},
    "tokens without end": {"type": "usage", "usage": {"input_tokens": 10**4298}},
    "tokens below none": {"type": "usage", "usage": {"input_tokens": -1}},
    "half a token": {"type": "usage", "usage": {"input_tokens": 1.5}},
    "true for tokens": {"type": "usage", "usage": {"input_tokens": True}},
    "a text for tokens": {"type": "usage", "usage": {"input_tokens": "9"}},
    "a thousand counts": {"type": "usage", "usage": {str(number): 1 for number in range(1000)}},
    "a vector of texts": {"type": "embedding", "embedding": ["1"]},
    "a vector too wide": {"type": "embedding", "embedding": [10**400]},
    "a model that is none": {"type": "models", "models": ["a"]},
    "a model's endless room": {"type": "models", "models": [{"id": "a", "context_tokens": 10**4298}]},
    "a model's abilities": {"type": "models", "models": [{"id": "a", "tools": "yes"}]},
    "a model's long name": {"type": "models", "models": [{"id": "a" * 10000}]},
    "a long delta": {"type": "delta", "text": "x" * 900_000},
    "a long name": {"type": "tool_use", "id": "a", "name": "x" * 10000, "input": {}},
    "a long id": {"type": "tool_use", "id": "x" * 10000, "name": "x", "input": {}},
    "a long model": {"type": "done", "stop_reason": "end_turn", "model": "x" * 10000},
    "a long reason": {"type": "done", "stop_reason": "x" * 10000, "model": ""},
    "a long error": {"type": "error", "error": {"code": "c", "message": "x" * 99999, "hint": "", "retryable": True}},
    "a long code": {"type": "error", "error": {"code": "c" * 9999, "message": "", "hint": "", "retryable": True}},
}


@pytest.mark.parametrize("name", ODD)
def test_numbers_and_texts_of_a_worker_are_bounded(name):
    with pytest.raises(PeerError):
        lines.decode(jsonl.line({"id": 7, "event": ODD[name]}), 7)


@pytest.mark.parametrize("name", [name for name in ODD if name.startswith("a long") or name == "a model's long name"])
def test_long_texts_of_a_service_are_cut_by_the_worker(name):
    for line in lines.encode(7, ODD[name]):
        assert lines.decode(line, 7)["type"] == ODD[name]["type"]
