"""How much a model takes at once: what services say of it, and lie; and what each is sent of a long task."""

import json

import pytest

from oasis import providers
from oasis.core import trim
from oasis.errors import ProviderError
from oasis.llm.windows import AGAIN_S, CLOUD_TOKENS, DAY_S, HOME_TOKENS, LEAST_TOKENS, MOST_TOKENS, Windows
from tests.daemon.test_wiring import follow, of_type
from tests.llm.test_workers import run  # noqa: F401  (a fixture)
from tests.llm.window_service import WindowService


def service(**given):
    plain = {"identifier": "s", "profile": "openrouter", "base_url": "", "model": "m", "context_tokens": 0}
    return {**plain, "is_local": False, **given}


class Said:
    """Services that say one after the other what `answers` holds: a list of models, or a failure."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.now_s = 0.0
        self.windows = Windows(self, lambda one: {"model": one["model"], "options": {}}, lambda: self.now_s)
        self.requests = []

    def models(self, request, is_cancelled):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def of(self, **given):
        return self.windows.asked(service(**given), lambda: False)["context_tokens"]


@pytest.mark.parametrize(
    ("given", "tokens"),
    [
        ({"profile": "openai", "model": "gpt-4o-mini"}, 128_000),
        ({"profile": "openai", "model": "gpt-4"}, 8192),
        ({"profile": "openai", "model": "gpt-5.6"}, MOST_TOKENS),
        ({"profile": "openrouter", "model": "anthropic/claude-sonnet-5"}, 200_000),
        ({"profile": "openai", "model": "nobody-knows-1"}, CLOUD_TOKENS),
        ({"profile": "llamacpp", "model": "default", "is_local": True}, HOME_TOKENS),
        ({"profile": "compatible", "base_url": "http://192.168.1.10:8000/v1"}, HOME_TOKENS),
        ({"profile": "ollama", "model": "qwen3", "is_local": True}, 16_384),
        ({"profile": "openai", "model": "gpt-4", "context_tokens": 5000}, 5000),  # the owner knows best
    ],
)
def test_where_no_service_says_it_the_owner_or_the_family_of_the_model_does(given, tokens):
    said = Said()
    assert said.windows.known(service(**given))["context_tokens"] == tokens


def test_a_service_is_asked_once_and_only_where_it_says_such_a_thing():
    said = Said([{"id": "m", "context_tokens": 32_000}])
    assert [said.of(), said.of()] == [32_000, 32_000] and len(said.requests) == 1
    assert said.requests[0]["only"] is True
    assert said.of(profile="openai", identifier="o") == CLOUD_TOKENS and said.of(context_tokens=9000) == 9000
    assert len(said.requests) == 1


def test_a_service_is_asked_again_with_another_model_and_after_a_day():
    said = Said([{"id": "m", "context_tokens": 32_000}], [{"id": "n", "context_tokens": 16_000}],
                [{"id": "m", "context_tokens": 64_000}], ProviderError("nobody listens"))  # fmt: skip
    assert [said.of(), said.of(model="n"), said.of()] == [32_000, 16_000, 32_000] and len(said.requests) == 2
    said.now_s = DAY_S - 1
    assert said.of() == 32_000 and len(said.requests) == 2
    said.now_s = DAY_S
    assert said.of() == 64_000, "the server was started with more"
    said.now_s = 2 * DAY_S
    assert [said.of(), said.of()] == [64_000] * 2 and len(said.requests) == 4, "silence changes nothing"


def test_a_service_that_refused_a_request_is_asked_again_and_believed_where_it_says_another_number():
    same, other = [{"id": "m", "context_tokens": 32_000}], [{"id": "m", "context_tokens": 16_000}]
    said = Said(same, same, other)
    taken = {**service(), "context_tokens": said.of()}
    assert said.windows.smaller(taken, "a limit of 9000 tokens")["context_tokens"] == 9000
    assert [said.of(), said.of()] == [9000] * 2 and len(said.requests) == 2, "it says the same: the refusal counts"
    said.windows.smaller({**taken, "context_tokens": 9000}, "a limit of 4000 tokens")
    assert said.of() == 16_000 and len(said.requests) == 3, "another model is there"


def test_what_a_refusal_taught_is_forgotten_after_a_day():
    said = Said()
    known = lambda: said.windows.known(service(profile="openai"))["context_tokens"]  # noqa: E731
    said.windows.smaller(service(profile="openai", context_tokens=CLOUD_TOKENS), "a limit of 9000 tokens")
    assert known() == 9000
    said.now_s = DAY_S
    assert known() == CLOUD_TOKENS


def test_who_did_not_answer_is_asked_again_only_later():
    said = Said(ProviderError("nobody listens"), [{"id": "m", "context_tokens": 32_000}])
    assert [said.of(), said.of()] == [CLOUD_TOKENS] * 2 and len(said.requests) == 1
    said.now_s = AGAIN_S
    assert said.of() == 32_000


@pytest.mark.parametrize(
    ("lie", "tokens"), [(0, CLOUD_TOKENS), (3, CLOUD_TOKENS), (10**12, MOST_TOKENS), (LEAST_TOKENS, LEAST_TOKENS)]
)
def test_what_no_model_takes_is_not_believed(lie, tokens):
    assert Said([{"id": "m", "context_tokens": lie}]).of() == tokens


def test_ollama_takes_what_it_is_asked_to_take_and_no_more():
    assert Said([{"id": "m", "context_tokens": 262_144}]).of(profile="ollama", is_local=True) == 16_384
    assert Said([{"id": "m", "context_tokens": 4096}]).of(profile="ollama", is_local=True) == 4096


@pytest.mark.parametrize(
    ("refusal", "tokens"),
    [
        ("This model's maximum context length is 8192 tokens. However, you requested 130500 tokens (126404 in the "
         "messages, 4096 in the completion)", 8192),
        ("prompt is too long: 210000 tokens > 100000 maximum", 100_000),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (32768).", 32_768),
        ("the request exceeds the available context size (8192 tokens), try increasing it", 8192),
        ("request 4711 is too long for this model", 64_000),  # it names none
        ("at most 127999 tokens", 64_000),  # that would take for ever
    ],
)  # fmt: skip
def test_a_refusal_teaches_what_it_names_as_the_most(refusal, tokens):
    said = Said()
    refused = said.windows.smaller(service(context_tokens=128_000), refusal)
    assert refused["context_tokens"] == tokens
    assert said.windows.known(service())["context_tokens"] == tokens
    assert said.windows.known(service(context_tokens=128_000))["context_tokens"] == 128_000  # what the owner set stays


# The whole daemon


LONG = "The house has many rooms. " * 300
PACKAGES = ("network", "wireless", "dhcp", "firewall", "system")


@pytest.fixture
def task(run):  # noqa: F811
    """Return a function that has a model of a service read all packages: (model, events)."""
    made = []

    def begin(profile, paths, looks=PACKAGES * 2, limit=0, words=""):
        model = WindowService([[("read_config", {"package": package})] for package in looks], paths, limit)
        made.append(model)
        daemon = run(profile, model.url, "m", "key-1234")
        return model, follow(daemon, daemon.call("run.start", message="Read all of it. " + words))

    yield begin
    for model in made:
        model.close()


def listed(tokens):
    return {"/v1/models": {"data": [{"id": "other", "context_length": 5}, {"id": "m", "context_length": tokens}]}}


@pytest.mark.parametrize("tokens", [8192, 32_000, 200_000])
def test_a_model_is_sent_what_it_takes_and_told_what_it_is_not(task, tokens):
    model, events = task("openrouter", listed(tokens), words=LONG)
    assert of_type(events, "end")[0]["state"] == "done" and model.gets == ["/v1/models"]
    last = model.bodies[-1]
    sent = trim.tokens(json.dumps(last))
    results = [one["content"] for one in last["messages"] if one["role"] == "tool"]
    for result in results:
        json.loads(result)  # whole entries: never cut in the middle
    system = last["messages"][0]["content"]
    print("a window of %d: %d tokens sent, %d of 10 results" % (tokens, sent, len(results)))
    assert sent < tokens
    if tokens < 10_000:
        assert len(results) < 10 and "Left out for want of room: of this task the results of read_config(" in system
    else:
        assert len(results) == 10 and "Left out" not in system


@pytest.mark.parametrize(
    ("profile", "path", "answer"),
    [
        ("llamacpp", "/props", {"default_generation_settings": {"n_ctx": 4096}}),
        ("lmstudio", "/api/v0/models/m", {"id": "m", "loaded_context_length": 4096, "max_context_length": 131_072}),
        ("vllm", "/v1/models", {"data": [{"id": "m", "max_model_len": 4096}]}),
        ("compatible", "/v1/models", {"data": [{"id": "the only one", "context_window": 4096}]}),
    ],
)
def test_every_server_at_home_is_asked_where_it_says_it(task, profile, path, answer):
    model, events = task(profile, {path: answer})
    assert of_type(events, "end")[0]["state"] == "done" and path in model.gets
    assert all(trim.tokens(json.dumps(body["messages"])) < 4096 for body in model.bodies)


def test_a_service_that_takes_less_than_it_says_is_asked_again_with_less(task):
    model, events = task("openrouter", listed(200_000), PACKAGES * 4, limit=9000)
    assert of_type(events, "end")[0]["state"] == "done" and of_type(events, "error") == []
    assert not model.rounds and "Left out" in model.bodies[-1]["messages"][0]["content"]


@pytest.mark.parametrize(
    "lie", [-5, 0, 3, 1e300, 10**30, "a lot", "131072 tokens", True, None, [8192], {"tokens": 8192}]
)
def test_a_window_that_is_no_number_of_tokens_stops_nobody(task, lie):
    model, events = task("openrouter", listed(lie), ("system",))
    assert of_type(events, "end")[0]["state"] == "done" and len(model.bodies) == 2, events
    assert len(model.bodies[0]["tools"]) < 8, "as one at home of which nothing is known"


def test_a_service_that_refuses_whatever_it_is_sent_is_left_alone_soon(task):
    model, events = task("openrouter", listed(200_000), limit=1)
    assert of_type(events, "end")[0]["state"] == "error" and of_type(events, "error")
    assert 1 < model.refused < 12, "half as much each time, down to the least that holds a question"


def test_a_list_of_a_megabyte_is_read(task):
    many = [{"id": f"model-{number}", "context_length": 5, "description": "x" * 1000} for number in range(1000)]
    model, _ = task("openrouter", {"/v1/models": {"data": [*many, *listed(8192)["/v1/models"]["data"]]}})
    assert all(trim.tokens(json.dumps(body)) < 8192 for body in model.bodies)


def test_a_list_that_is_longer_than_any_stops_nobody(task):
    model, events = task("openrouter", {"/v1/models": {"data": ["x" * 1000] * 20_000}})
    assert of_type(events, "end")[0]["state"] == "done" and len(model.bodies) == 11


def test_every_profile_that_says_how_to_ask_can_be_asked():
    told = {name for name, entry in providers.profiles().items() if entry.get("window")}
    assert told >= {"openrouter", "gemini", "anthropic", "llamacpp", "lmstudio", "ollama"}
    assert all(
        str(entry.get("window", "models")).startswith(("/", "models")) for entry in providers.profiles().values()
    )
