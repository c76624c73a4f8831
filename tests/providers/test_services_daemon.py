"""What reaches each vendor through a whole daemon: a service's options, those of a thread, and attachments."""

import base64
import json

import pytest

from tests.daemon.test_wiring import follow, of_type
from tests.llm.test_workers import root_with
from tests.oasisd import start_daemon
from tests.recorder import Recorder

KEY = "sk-test-0123456789abcdef"
PNG = b"\x89PNG\r\n\x1a\n" + b"picture"
NOTES = b"the printer is in the attic"

# Profile -> (what its address ends with, a model, an answer).
SAID = {"role": "assistant", "content": "Done."}
PART = {"type": "text", "text": "Done."}
FORMS = {
    "openai": ("/v1", "gpt-5.1", {"choices": [{"index": 0, "message": SAID, "finish_reason": "stop"}]}),
    "openrouter": ("/v1", "a/b", {"choices": [{"index": 0, "message": SAID, "finish_reason": "stop"}]}),
    "anthropic": (
        "/v1",
        "claude-sonnet-4-5",
        {"type": "message", "role": "assistant", "content": [PART], "stop_reason": "end_turn"},
    ),
    "gemini": (
        "/v1beta",
        "gemini-3-pro",
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}, "finishReason": "STOP"}]},
    ),
    "responses": (
        "/v1",
        "gpt-5.1",
        {
            "object": "response",
            "status": "completed",
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}],
        },
    ),
    "cohere": (
        "",
        "command-a-reasoning-08-2025",
        {"message": {"role": "assistant", "content": [PART]}, "finish_reason": "COMPLETE"},
    ),
    "ollama": ("", "llama3.2", {"model": "llama3.2", "message": SAID, "done": True, "done_reason": "stop"}),
}


class Speaking(Recorder):
    """Says "Done." in the form of one profile."""

    def __init__(self, profile):
        super().__init__()
        self.tail, self.model, self._said = FORMS[profile]
        self.url = self.url.removesuffix("/v1") + self.tail

    def answer(self, body, headers):
        return 200, "application/json", json.dumps(self._said).encode()

    def asked(self):
        return [json.loads(body) for body in self.bodies()]


class Router:
    """A router whose active service is of a profile; `options` are those of its section."""

    def __init__(self, tmp_path, profile, model="", **options):
        self.service = Speaking(profile)
        root = root_with(tmp_path, profile, self.service.url, model or self.service.model, KEY)
        name = f"\toption identifier '{profile}'\n"
        with open(root + "/etc/config/oasis") as handle:
            text = handle.read()
        more = "".join(f"\toption {option} '{value}'\n" for option, value in options.items())
        with open(root + "/etc/config/oasis", "w") as handle:
            handle.write(text.replace(name, name + more, 1))
        self.daemon = start_daemon(root)

    def upload(self, name, data):
        piece = base64.b64encode(data).decode()
        return self.daemon.call("upload.part", name=name, data=piece, is_last=True)["upload"]

    def say(self, message, **params):
        """Say something; return (the chat, the events, the body of the last request)."""
        started = self.daemon.call("run.start", message=message, **params)
        events = follow(self.daemon, started)
        return started["chat"], events, (self.service.asked() or [{}])[-1]

    def close(self):
        self.daemon.stop()
        self.service.close()


@pytest.fixture
def router(tmp_path):
    made = []

    def make(profile, **options):
        made.append(Router(tmp_path, profile, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def is_said(events):
    return of_type(events, "error") == [] and of_type(events, "end")[0]["state"] == "done"


def at(body, path):
    """Return what lies at a dotted path, None when there is nothing."""
    for name in path.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body


PLAIN = {
    "openai": {"max_completion_tokens": 700, "temperature": 0.5},
    "anthropic": {"max_tokens": 700, "temperature": 0.5},
    "gemini": {"generationConfig.maxOutputTokens": 700, "generationConfig.temperature": 0.5},
    "responses": {"max_output_tokens": 700, "temperature": 0.5},
    "cohere": {"max_tokens": 700, "temperature": 0.5},
    "ollama": {"options.num_predict": 700, "options.temperature": 0.5},
}


@pytest.mark.parametrize("profile", sorted(PLAIN))
def test_the_limits_of_a_service_reach_it_in_its_own_words(router, profile):
    _, events, body = router(profile, max_tokens="700", temperature="0.5").say("hello")
    assert is_said(events)
    assert {path: at(body, path) for path in PLAIN[profile]} == PLAIN[profile]


THINKING = {
    "openai": {"reasoning_effort": "low"},
    "anthropic": {"thinking.type": "enabled"},
    "gemini": {"generationConfig.thinkingConfig.thinkingLevel": "low"},
    "responses": {"reasoning.effort": "low"},
    "cohere": {"thinking.type": "enabled"},
    "ollama": {"think": "true"},
}


@pytest.mark.parametrize("profile", sorted(THINKING))
def test_how_much_a_model_shall_think_reaches_it(router, profile):
    _, events, body = router(profile, thinking="low").say("hello")
    assert is_said(events)
    shown = {path: str(at(body, path)).lower() for path in THINKING[profile]}
    assert shown == THINKING[profile]


SEARCHING = {
    "anthropic": lambda body: any(tool.get("name") == "web_search" for tool in body["tools"]),
    "gemini": lambda body: {"googleSearch": {}} in body["tools"],
    "responses": lambda body: {"type": "web_search"} in body["tools"],
    "openrouter": lambda body: "plugins" in body,
}


@pytest.mark.parametrize("profile", sorted(SEARCHING))
def test_a_thread_switches_search_on_and_off_again_and_keeps_it(router, profile):
    here, has_search = router(profile), SEARCHING[profile]
    chat, events, body = here.say("hello")
    assert is_said(events) and not has_search(body)
    assert has_search(here.say("what is new", chat=chat, options={"search": True})[2])
    assert has_search(here.say("and then", chat=chat)[2])
    assert not has_search(here.say("enough", chat=chat, options={"search": False})[2])


def test_search_of_a_service_holds_for_every_thread_that_does_not_say_no(router):
    here = router("responses")
    assert here.daemon.call("service.change", identifier="responses", search="on") == {"status": "OK"}
    assert SEARCHING["responses"](here.say("hello")[2])
    assert not SEARCHING["responses"](here.say("hello", options={"search": False})[2])


def test_titles_and_summaries_search_nothing(router):
    here = router("responses", search="1")
    chat, _, _ = here.say("hello")
    follow(here.daemon, here.daemon.call("chat.summarise", id=chat))
    assert len(here.service.requests) == 2
    assert "web_search" not in here.service.bodies()[-1] and "web_search" in here.service.bodies()[0]


@pytest.mark.parametrize("profile", ["openai", "cohere", "ollama"])
def test_a_service_that_cannot_search_says_so_and_is_not_asked(router, profile):
    here = router(profile)
    _, events, _ = here.say("what is new", options={"search": True})
    (error,) = of_type(events, "error")
    assert "search is not offered by" in error["error"]["message"] and "switch its search off" in error["error"]["hint"]
    assert [one for one in here.service.requests if "/api/show" not in one["line"]] == []


def test_a_prompt_is_kept_unless_the_owner_says_no(router):
    assert "cache_control" in json.dumps(router("anthropic").say("hello")[2])


def test_a_service_that_shall_keep_no_prompt_is_not_asked_to(router):
    _, events, body = router("anthropic", cache="0").say("hello")
    assert is_said(events) and "cache_control" not in json.dumps(body)


@pytest.mark.parametrize(
    ("profile", "tool"), [("openai", lambda tool: tool["function"]), ("responses", lambda tool: tool)]
)
def test_strict_tools_are_closed_on_the_wire(router, profile, tool):
    _, events, body = router(profile, strict="1").say("hello")
    assert is_said(events)
    for one in map(tool, body["tools"]):
        # Its calls of other tools have whatever arguments these want: no strict form says that.
        if one["name"] not in ("schedule_create", "schedule_update"):
            assert one["strict"] is True and one["parameters"]["additionalProperties"] is False


def test_a_switch_that_is_none_is_told(router):
    here = router("openai", search="maybe")
    note = here.daemon.call("service.list")["service"][0]["note"]
    assert note == "search is 'maybe', not on or off"


# Attachments

PICTURE = base64.b64encode(PNG).decode()


def _of_openai(body):
    parts = body["messages"][-1]["content"]
    return [part.get("image_url", {}).get("url") or part.get("text") for part in parts]


def _of_anthropic(body):
    return [part.get("source", {}).get("data") or part.get("text") for part in body["messages"][-1]["content"]]


def _of_gemini(body):
    return [part.get("inlineData", {}).get("data") or part.get("text") for part in body["contents"][-1]["parts"]]


FILES = {"openai": _of_openai, "anthropic": _of_anthropic, "gemini": _of_gemini}


@pytest.mark.parametrize("profile", sorted(FILES))
def test_a_picture_and_a_text_reach_the_model(router, profile):
    here = router(profile)
    _, events, body = here.say("look", attachments=[here.upload("a.png", PNG), here.upload("notes.txt", NOTES)])
    assert is_said(events)
    words, picture, notes = FILES[profile](body)
    assert words == "look" and picture.endswith(PICTURE) and notes.endswith(NOTES.decode()) and "notes.txt" in notes


@pytest.mark.parametrize("profile", sorted(FILES))
def test_a_file_that_no_model_reads_is_an_error_now_and_a_note_later(router, profile):
    here = router(profile)
    chat, events, _ = here.say("look", attachments=[here.upload("a.zip", b"PK\x03\x04\x14\x00\x00\x00\xff\xfe")])
    (error,) = of_type(events, "error")
    assert "cannot read a.zip" in error["error"]["message"] and "attach it as" in error["error"]["hint"]
    assert here.service.requests == []
    _, events, body = here.say("never mind", chat=chat)
    assert is_said(events)
    assert "a.zip: this model cannot read" in json.dumps(body) and "UEsDB" not in json.dumps(body)
