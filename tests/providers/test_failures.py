"""Errors of services: kind, retry, waiting time, and that no part of a key is ever shown."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oasis.providers import events


def read(status, body=b"", headers=None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return events.of_status("Cloud", status, headers or {}, raw)["error"]


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "invalid_request", False),
        (401, "authentication", False),
        (402, "no_credit", False),
        (403, "permission", False),
        (404, "not_found", False),
        (408, "timeout", True),
        (409, "conflict", True),
        (413, "too_large", False),
        (418, "invalid_request", False),
        (422, "invalid_request", False),
        (429, "rate_limit", True),
        (498, "overloaded", True),
        (500, "server", True),
        (502, "server", True),
        (503, "overloaded", True),
        (504, "server", True),
        (511, "portal", False),
        (520, "server", True),
        (529, "overloaded", True),
    ],
)
def test_kinds_by_status(status, code, retryable):
    error = read(status)
    assert (error["code"], error["retryable"], error["status"]) == (code, retryable, status)
    assert error["hint"] and error["message"]


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "context_length"),
        (400, {"error": {"type": "exceed_context_size_error", "message": "x", "n_ctx": 1}}, "context_length"),
        (429, {"error": {"code": "insufficient_quota", "message": "You exceeded"}}, "no_credit"),
        (429, {"error": {"code": "credit_balance_exhausted", "message": "x"}}, "no_credit"),
        (429, [{"error": {"message": "x", "details": [{"quotaId": "RequestsPerDayPerProject"}]}}], "quota"),
        (400, {"error": {"message": "bad", "details": [{"reason": "API_KEY_INVALID"}]}}, "authentication"),
        (400, {"error": {"message": "Your credit balance is too low"}}, "no_credit"),
        (400, {"error": {"code": "model_not_found", "message": "x"}}, "not_found"),
        (400, {"error": {"code": "tool_use_failed", "message": "x", "failed_generation": "y"}}, "bad_tool_call"),
        (413, {"error": {"code": "rate_limit_exceeded", "message": "x"}}, "too_large"),
        (503, {"error": {"type": "unavailable_error", "message": "Loading model"}}, "overloaded"),
    ],
)
def test_kinds_by_words(status, body, code):
    assert read(status, body)["code"] == code


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "stablelm2:latest does not support tools"),
        (404, "No endpoints found that support tool use. To learn more, see the documentation"),
        (400, "`tool calling` is not supported with this model"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (400, "Function calling is not enabled for models/gemma-3-12b-it"),
        (405, "Tool calling is not supported for model: some/model"),
        (404, "tools is not supported in this model. For a list of supported models, refer to the guide"),
        (404, "Unrecognized request argument supplied: tools"),
        (500, "Unsupported param: tools"),
        (500, "tools param requires --jinja flag"),
        (400, "deepseek-reasoner does not support Function Calling"),
    ],
)
def test_all_the_ways_to_say_that_there_are_no_tools(status, words):
    error = read(status, {"error": {"message": words}})
    assert (error["code"], error["retryable"]) == ("no_tools", False) and "tool_mode" in error["hint"]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Invalid schema for function 'configure': 'x' is not supported"),
        (404, "model 'toolbox' not found"),
        (401, "this key does not support tools"),
        (400, "tools.0.input_schema: unsupported keyword"),
    ],
)
def test_other_failures_are_not_taken_for_missing_tools(status, words):
    assert read(status, {"error": {"message": words}})["code"] != "no_tools"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "slow down"}},
        {"error": "slow down"},
        {"object": "error", "message": "slow down"},
        {"object": "error", "message": {"detail": "slow down"}},
        {"detail": "slow down"},
        {"detail": [{"msg": "slow down"}]},
        {"type": "error", "error": {"type": "x", "message": "slow down"}},
        [{"error": {"message": "slow down"}}],
        {"message": "slow down"},
        b"slow down",
    ],
)
def test_every_shape_of_error_body_is_read(body):
    assert "slow down" in read(429, body)["message"]


@pytest.mark.parametrize(
    "body", [b"", b"<html><h1>502 Bad Gateway</h1></html>", b"{broken", b"[]", b"\xff\xfe", b"[" * 999]
)
def test_bodies_that_say_nothing_leave_the_status(body):
    error = read(502, body)
    assert error["code"] == "server" and "502" in error["message"] and "<" not in error["message"]


@pytest.mark.parametrize(
    ("headers", "body", "wait_s"),
    [
        ({"retry-after": "7"}, b"", 7),
        ({"retry-after": "1.5"}, b"", 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, b"", 0.25),
        ({"date": "Sun, 06 Nov 2026 08:49:37 GMT", "retry-after": "Sun, 06 Nov 2026 08:50:07 GMT"}, b"", 30),
        ({"date": "Sun, 06 Nov 2026 08:49:37 GMT", "retry-after": "Sun, 06 Nov 2026 08:49:07 GMT"}, b"", 0),
        ({"retry-after": "Sun, 06 Nov 2026 08:50:07 GMT"}, b"", None),
        ({"retry-after": "soon"}, b"", None),
        ({"retry-after": "-3"}, b"", None),
        ({}, {"error": {"message": "x", "details": [{"@type": "t/RetryInfo", "retryDelay": "34.4s"}]}}, 34.4),
        ({}, {"error": {"message": "x", "availability": {"retry_after": 12}}}, 12),
        ({}, b"", None),
    ],
)
def test_the_wished_waiting_time(headers, body, wait_s):
    assert read(429, body, headers).get("retry_after_s") == wait_s


def test_a_header_of_the_service_overrides_the_table():
    assert read(400, b"", {"x-should-retry": "true"})["retryable"] is True
    assert read(503, b"", {"x-should-retry": "false"})["retryable"] is False


def test_a_redirect_names_its_target():
    error = read(302, b"", {"location": "https://other.example/login"})
    assert error["code"] == "redirect" and "https://other.example/login" in error["message"] and not error["retryable"]


def test_the_words_of_a_refused_key_are_never_shown():
    words = "Incorrect API key provided: sk-proj-abcdef123456. You can find yours at ..."
    error = read(401, {"error": {"message": words, "code": "invalid_api_key"}})
    assert error["message"] == "Cloud refused the key (status 401)"


@pytest.mark.parametrize(
    "quoted",
    [
        "sk-proj-Abc123Abc123",
        "sk-ant-api03-abcdefgh",
        "gsk_1234567890abcdef",
        "AIzaSyA1234567890",
        "ab***yz",
        "xai-1234567890",
    ],
)
def test_what_looks_like_a_key_is_masked_everywhere(quoted):
    for body in ({"error": {"message": f"key {quoted} may not"}}, f"plain {quoted} text".encode()):
        message = read(403, body)["message"]
        assert quoted not in message and "…" in message


def test_long_and_many_lined_words_are_cut_to_one_line():
    message = read(400, {"error": {"message": "a\n\n" + "word " * 500}})["message"]
    assert "\n" not in message and len(message) < 350


def test_a_long_word_is_read_quickly():
    started = time.monotonic()
    read(500, b"x" * events.BODY_BYTES)
    assert time.monotonic() - started < 1


@given(st.binary(max_size=300), st.sampled_from([400, 401, 429, 500, 503]))
def test_any_body_gives_an_error_event_that_can_be_written(body, status):
    error = read(status, body)
    json.dumps(error, ensure_ascii=False).encode("utf-8")
    assert error["code"] and error["status"] == status


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "details", "detail", "type", "availability"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_any_error_object_is_survived(value):
    body = json.dumps(value).encode()
    assert events.of_status("Cloud", 429, {}, body)["type"] == "error"
    assert events.of_object("Cloud", value, {})["type"] == "error"


@pytest.mark.parametrize(("status", "code", "hint"), [(403, "permission", "captive portal"), (502, "server", "again")])
def test_a_page_with_a_status_is_not_taken_for_the_service(status, code, hint):
    error = read(status, b"<html><title>Access denied by the hotel</title></html>")
    assert error["code"] == code and hint in error["hint"]
    assert error["message"] == f"Cloud answered with a web page instead of data (status {status})"


@pytest.mark.parametrize(
    ("headers", "retryable"), [({}, False), ({"retry-after": "3"}, True), ({"x-should-retry": "true"}, True)]
)
def test_a_limit_of_anthropic_that_says_no_time_is_one_of_money(headers, retryable):
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "limit reached"}}
    assert read(429, body, headers)["retryable"] is retryable
    assert read(429, {"error": {"message": "limit reached"}})["retryable"]
