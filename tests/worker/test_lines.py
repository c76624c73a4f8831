"""The lines between daemon and worker."""

import pytest

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
