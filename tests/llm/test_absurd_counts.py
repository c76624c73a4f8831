"""A service that says absurd things of what it used: later turns go on, and stopping puts back what waits."""

import pytest

from tests.daemon.test_wiring import apply_wifi, config, of_type, say
from tests.llm.test_workers import root_with
from tests.oasisd import proposer, start_daemon
from tests.scripted import Scripted

# As long as Python still writes it down; and what comes out of other languages' floats.
ABSURD = {"digits": 10**4298, "a float": 1e300, "less than none": -(10**30), "no number": "9" * 4299}


@pytest.mark.parametrize("tokens", ABSURD.values(), ids=ABSURD)
def test_turns_go_on_and_stop_puts_back_what_waits(tmp_path, tokens):
    model = Scripted(lambda body: "Fine.")
    model.usage = {"prompt_tokens": tokens, "completion_tokens": tokens, "total_tokens": tokens}
    daemon = start_daemon(root_with(tmp_path, "compatible", model.url, "scripted"))
    try:
        more = {}
        for number in range(3):
            events = say(daemon, f"hello {number}", **more)
            assert "".join(event["text"] for event in of_type(events, "delta")) == "Fine.", events
            assert of_type(events, "end")[0]["state"] == "done" and of_type(events, "error") == []
            more = {"chat": daemon.call("chat.list")["item"][0]["id"]}
        [used] = daemon.call("usage.list")["usage"]
        assert (used["requests"], used["input_tokens"], used["output_tokens"]) == (3, 0, 0)
        before = config(daemon.root, "wireless")
        daemon.call("service.select", identifier=proposer())
        assert apply_wifi(daemon)["state"] == "applied" and config(daemon.root, "wireless") != before
        assert daemon.stop() == 0
        assert config(daemon.root, "wireless") == before
    finally:
        daemon.stop()
        model.close()
