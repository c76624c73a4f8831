"""Embeddings: requests and answers of the vendors that have them."""

import base64
import json
import struct

import pytest

from oasis import providers
from oasis.errors import ProviderError, UsageError
from oasis.providers import events
from tests.providers.recordings import JSON, options, plain

VENDORS = {"openai": "openai", "responses": "responses", "cohere": "cohere", "ollama": "ollama"}
WANTED = [[1.0, 0.5], [-2.0, 0.25]]
PACKED = [base64.b64encode(struct.pack("<2f", *vector)).decode() for vector in WANTED]

ANSWERS = [
    ("openai", {"data": [{"index": 1, "embedding": WANTED[1]}, {"index": 0, "embedding": WANTED[0]}]}),
    ("openai", {"data": [{"index": 0, "embedding": PACKED[0]}, {"index": 1, "embedding": PACKED[1]}]}),
    ("openai", {"data": [{"embedding": [1, 0.5]}, {"embedding": WANTED[1]}]}),
    ("gemini", {"embeddings": [{"values": vector} for vector in WANTED]}),
    ("responses", {"data": [{"index": 0, "embedding": WANTED[0]}, {"index": 1, "embedding": WANTED[1]}]}),
    (
        "cohere",
        {"id": "x", "texts": ["a", "b"], "embeddings": {"float": WANTED}, "response_type": "embeddings_by_type"},
    ),
    ("ollama", {"model": "m", "embeddings": WANTED, "prompt_eval_count": 2}),
]


def module(profile):
    return providers.load(providers.profiles()[profile]["vendor"])


def body_of(profile, texts, **more):
    request = module(profile).embed_request(texts, options(profile, **more))
    assert "text/event-stream" not in request["headers"]["accept"]
    return request["url"], json.loads(request["body"])


def test_requests():
    texts = ["a", "b"]
    assert body_of("openai", texts, dimensions=8) == (
        "https://api.openai.com/v1/embeddings",
        {"model": "m-1", "input": texts, "encoding_format": "float", "dimensions": 8},
    )
    assert body_of("responses", texts)[0] == "https://api.openai.com/v1/embeddings"
    assert body_of("cohere", texts, dimensions=256, input_type="search_query") == (
        "https://api.cohere.com/v2/embed",
        {
            "model": "m-1",
            "texts": texts,
            "input_type": "search_query",
            "embedding_types": ["float"],
            "output_dimension": 256,
        },
    )
    assert body_of("cohere", texts)[1]["input_type"] == "search_document"
    assert body_of("ollama", texts) == ("http://127.0.0.1:11434/api/embed", {"model": "m-1", "input": texts})


@pytest.mark.parametrize("profile", sorted(VENDORS))
def test_texts_that_no_service_takes_are_refused(profile):
    for texts in ([], ["a", " "], ["x"] * 5000):
        with pytest.raises(UsageError):
            module(profile).embed_request(texts, options(profile))


@pytest.mark.parametrize(("profile", "answer"), ANSWERS)
def test_answers_are_lists_of_numbers_in_the_order_of_the_texts(profile, answer):
    body = json.dumps(answer).encode()
    assert plain(module(profile).embed_read, 200, JSON, body, options(profile))[0] == WANTED


COUNTED = [
    ("openai", {"usage": {"prompt_tokens": 7, "total_tokens": 9}}, 7),
    ("openai", {"usage": {"total_tokens": 9}}, 9),
    ("responses", {"usage": {"prompt_tokens": 7, "total_tokens": 7}}, 7),
    ("cohere", {"meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 7}}}, 7),
    ("ollama", {"prompt_eval_count": 7}, 7),
    ("gemini", {"usageMetadata": {"promptTokenCount": 7}}, 7),
]
NO_COUNTS = [
    *[("openai", {"usage": value}) for value in (None, [], 7, {}, {"prompt_tokens": "7"}, {"prompt_tokens": 10**4298})],
    *[("cohere", {"meta": value}) for value in (None, [], {"billed_units": 3}, {"billed_units": {"input_tokens": -1}})],
    *[("ollama", {"prompt_eval_count": value}) for value in (None, True, 0.5, {})],
    *[("gemini", {"usageMetadata": value}) for value in (None, 7, {"promptTokenCount": [7]})],
]


def counted(profile, more):
    answer = {**next(answer for name, answer in ANSWERS if name == profile), **more}
    made, counts = plain(module(profile).embed_read, 200, JSON, json.dumps(answer).encode(), options(profile))
    assert made == WANTED
    return events.usage(counts)


@pytest.mark.parametrize(("profile", "more", "tokens"), COUNTED)
def test_the_tokens_are_those_that_the_service_tells(profile, more, tokens):
    assert counted(profile, more) == [{"type": "usage", "usage": {"input_tokens": tokens}}]


@pytest.mark.parametrize(("profile", "more"), NO_COUNTS)
def test_what_is_no_count_of_tokens_is_unknown_and_costs_no_vector(profile, more):
    assert counted(profile, {"prompt_eval_count": None, **more} if profile == "ollama" else more) == []


@pytest.mark.parametrize(
    "vectors", [[], None, [[]], [[1.0], [1.0, 2.0]], [["x"]], [[True]], [[1e300]], ["?"], ["AAA="], 7]
)
def test_what_is_no_embedding_is_refused(vectors):
    entries = [{"index": 0, "embedding": one} for one in vectors] if isinstance(vectors, list) else vectors
    for profile, answer in (
        ("openai", {"data": entries}),
        ("cohere", {"embeddings": {"float": vectors}}),
        ("cohere", {"embeddings": vectors}),
        ("ollama", {"embeddings": vectors}),
    ):
        with pytest.raises(ProviderError) as caught:
            plain(module(profile).embed_read, 200, JSON, json.dumps(answer).encode(), options(profile))
        assert caught.value.code == "bad_answer"


@pytest.mark.parametrize("profile", sorted(VENDORS))
@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, b'{"message":"invalid api token","error":{"message":"bad key"}}', "authentication"),
        (404, b'{"error":"model \\"x\\" not found"}', "not_found"),
        (200, b"<html>", "portal"),
        (200, b"{", "bad_answer"),
        (200, b"[]", "bad_answer"),
    ],
)
def test_a_failure_says_why(profile, status, body, code):
    with pytest.raises(ProviderError) as caught:
        plain(module(profile).embed_read, status, {}, body, options(profile))
    assert caught.value.code == code
