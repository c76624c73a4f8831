"""Servers of others that fail on purpose: one that judges how we took it, and one that refuses keys loudly."""

import time

import pytest

from oasis import providers
from oasis.worker import protocol
from tests.peers import faulty
from tests.worker.test_transport import SENDS, error_of, said

KEYS = {"openai": "right-key-of-one", "anthropic": "right-key-of-two"}


@pytest.fixture(params=SENDS, ids=lambda send: send.__name__)
def send(request):
    return request.param


@pytest.fixture(scope="module")
def judge():
    peer = faulty.llmock()
    if peer is None:
        pytest.skip(faulty.ADVICE)
    yield peer
    peer.close()


@pytest.fixture(scope="module")
def katan():
    peer = faulty.katan(KEYS)
    if peer is None:
        pytest.skip(faulty.KATAN_ADVICE)
    yield peer
    peer.close()


# Profile -> what its address ends with, and a model of it.
FORMATS = {
    "openai": ("/v1", "gpt-4o"),
    "responses": ("/v1", "gpt-4o"),
    "anthropic": ("/anthropic/v1", "claude-sonnet-4-5"),
    "gemini": ("/gemini/v1beta", "gemini-2.5-flash"),
    "cohere": ("/cohere", "command-a-03-2025"),
    "mistral": ("/mistral/v1", "mistral-large-latest"),
}


def ask(send, peer, profile, path, model, key="sk-some-key-0123456789", **options):
    """Return the events of one request; waits are real, for they are what is judged."""
    request = {
        "op": "chat", "id": 1, "profile": profile, "base_url": f"http://127.0.0.1:{peer.port}{path}", "key": key,
        "model": model, "messages": [{"role": "user", "content": "hi"}], "tools": [],
        "options": {"idle_s": 5, "max_tokens": 50, **options},
    }  # fmt: skip
    events = []
    protocol.answer(request, providers.profiles(), send, events.append, time.sleep)
    return events


@pytest.mark.parametrize("profile", sorted(FORMATS))
def test_an_answer_comes_through_failures_and_the_judge_finds_no_fault(send, judge, profile):
    judge.script(
        {"type": "fail", "status": 429, "retry_after": 0.3},
        {"type": "fail", "status": 503, "retry_after": 0.2},
    )
    events = ask(send, judge, profile, *FORMATS[profile])
    assert events[-1]["type"] == "done" and said(events), events
    assert [e["wait_s"] for e in events if e["type"] == "retry"] == [0.3, 0.2]
    verdict = judge.verdict()
    assert (verdict["attempts"], verdict["calls"], verdict["findings"]) == (3, 1, []), verdict


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_no_retry_can_mend_is_asked_once(send, judge, status):
    judge.script({"type": "fail", "status": status})
    assert not error_of(ask(send, judge, "openai", *FORMATS["openai"]))["retryable"]
    verdict = judge.verdict()
    assert (verdict["attempts"], verdict["findings"]) == (1, []), verdict


def test_a_service_that_stays_down_is_given_up_after_three(send, judge):
    judge.script({"type": "fail", "status": 500, "times": 9, "retry_after": 0.1})
    assert error_of(ask(send, judge, "anthropic", *FORMATS["anthropic"]))["code"] == "server"
    verdict = judge.verdict()
    assert (verdict["attempts"], verdict["findings"]) == (3, []), verdict


@pytest.mark.parametrize("profile", ["openai", "anthropic", "gemini", "cohere"])
@pytest.mark.parametrize(
    ("kind", "codes"),
    [("disconnect", ("truncated",)), ("truncate", ("truncated",)), ("malformed", ("bad_answer", "truncated"))],
)
def test_a_stream_that_breaks_is_never_taken_for_an_answer(send, judge, profile, kind, codes):
    judge.script({"type": "stream_fault", "kind": kind, "after_chunks": 2})
    assert error_of(ask(send, judge, profile, *FORMATS[profile], retries=0))["code"] in codes
    assert judge.verdict()["attempts"] == 1


def test_a_stream_that_stalls_is_given_up(send, judge):
    judge.script({"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 5})
    error = error_of(ask(send, judge, "openai", *FORMATS["openai"], idle_s=0.5, retries=0))
    assert error["code"] == "timeout"


@pytest.mark.parametrize(("profile", "path"), [("openai", "/v1"), ("anthropic", "/v1")])
def test_a_refusal_that_quotes_the_right_key_is_not_passed_on(send, katan, profile, path):
    events = ask(send, katan, profile, path, "echo-1", key="a-wrong-key")
    error = error_of(events)
    assert error["code"] == "authentication" and "key" in error["hint"] and len(events) == 1
    assert "a-wrong-key" not in str(error) and KEYS[profile] not in str(error)
    assert said(ask(send, katan, profile, path, "echo-1", key=KEYS[profile]))
