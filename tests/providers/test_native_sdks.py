"""The official clients of Anthropic and Google read the same bytes as our decoders, and understand the same."""

import http.server
import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.providers import test_anthropic as claude
from tests.providers import test_gemini as gem
from tests.providers.recordings import JSON, STREAM, calls_of, decode, text_of

ADVICE = "run `pip install anthropic google-genai` to compare our decoders with the official ones"


class Replay(http.server.BaseHTTPRequestHandler):
    """Answers everything with `server.raw`."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_whole = self.server.raw[:1] == b"{"
        self.send_response(200)
        self.send_header("Content-Type", (JSON if is_whole else STREAM)["content-type"])
        self.send_header("Content-Length", str(len(self.server.raw)))
        self.end_headers()
        self.wfile.write(self.server.raw)

    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def replay():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Replay)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def anthropic_client(replay):
    sdk = pytest.importorskip("anthropic", reason=ADVICE)
    return sdk.Anthropic(api_key="x", base_url=f"http://127.0.0.1:{replay.server_port}", max_retries=0)


@pytest.fixture(scope="module")
def gemini_client(replay):
    genai = pytest.importorskip("google.genai", reason=ADVICE)
    there = {"base_url": f"http://127.0.0.1:{replay.server_port}", "api_version": "v1beta"}
    return genai.Client(api_key="x", http_options=there)


def plain(events):
    """Return what both sides can be compared by."""
    usage = [event["usage"] for event in events if event["type"] == "usage"]
    kept = [event["provider_metadata"] for event in events if event["type"] == "thinking"
            if "provider_metadata" in event]  # fmt: skip
    return {
        "text": text_of(events),
        "thoughts": "".join([event["text"] for event in events if event["type"] == "thinking"]),
        "calls": [(call["name"], call["input"]) for call in calls_of(events)],
        "kept": kept,
        "usage": usage[0] if usage else {},
        "stop_reason": events[-1]["stop_reason"],
        "model": events[-1]["model"],
    }


# Anthropic


def read_by_anthropic(client, replay, raw):
    replay.raw = raw
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    if raw[:1] == b"{":
        return of_message(client.messages.create(**asked))
    with client.messages.stream(**asked) as stream:
        return of_message(stream.get_final_message())


def of_message(message):
    blocks = [block.model_dump(exclude_none=True) for block in message.content]
    kept = []
    for block in blocks:
        if block["type"] == "thinking" and block["signature"]:
            kept.append({"anthropic": {"signature": block["signature"]}})
        if block["type"] == "redacted_thinking":
            kept.append({"anthropic": {"redacted": block["data"]}})
    usage = message.usage
    parts = [usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens]
    counts = {"input_tokens": sum(part or 0 for part in parts), "output_tokens": usage.output_tokens}
    counts |= {"cache_read_input_tokens": parts[1], "cache_creation_input_tokens": parts[2]}
    details = usage.output_tokens_details
    counts |= {"reasoning_tokens": details.thinking_tokens if details else None}
    return {
        "text": "".join([block["text"] for block in blocks if block["type"] == "text"]),
        "thoughts": "".join([block["thinking"] for block in blocks if block["type"] == "thinking"]),
        "calls": [(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"],
        "kept": kept,
        "usage": {name: count for name, count in counts.items() if count is not None},
        "stop_reason": message.stop_reason,
        "model": message.model,
    }


def test_the_recorded_turn_is_the_same_for_anthropics_client(anthropic_client, replay):
    assert plain(decode(claude.WHOLE_TURN, "anthropic")) == read_by_anthropic(
        anthropic_client, replay, claude.WHOLE_TURN
    )


TEXTS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=5), min_size=1, max_size=4)
ARGUMENTS = st.dictionaries(st.text(max_size=4), st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4))


def _claude_text(number, pieces):
    return claude.block(number, "text", *claude.words(*pieces), text="")


def _claude_thought(number, pieces):
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    return claude.block(number, "thinking", *deltas, {"type": "signature_delta", "signature": "s"}, thinking="",
                        signature="")  # fmt: skip


def _claude_call(number, given_arguments, cut):
    written = json.dumps(given_arguments)
    deltas = claude.arguments("", written[:cut], written[cut:]) if given_arguments else []
    return claude.block(number, "tool_use", *deltas, id=f"t{number}", name="status", input={})


CLAUDE_BLOCKS = st.lists(
    st.one_of(
        TEXTS.map(lambda pieces: lambda number: _claude_text(number, pieces)),
        TEXTS.map(lambda pieces: lambda number: _claude_thought(number, pieces)),
        st.builds(lambda held, cut: lambda number: _claude_call(number, held, cut), ARGUMENTS, st.integers(0, 9)),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(CLAUDE_BLOCKS)
def test_any_turn_is_the_same_for_anthropics_client(anthropic_client, replay, blocks):
    body = b"".join([make(number) for number, make in enumerate(blocks)])
    reason = "tool_use" if b'"tool_use"' in body else "end_turn"
    raw = claude.start() + claude.PING + body + claude.end(reason)
    assert plain(decode(raw, "anthropic")) == read_by_anthropic(anthropic_client, replay, raw)


def test_a_whole_answer_is_the_same_for_anthropics_client(anthropic_client, replay):
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "r"},
        {"type": "text", "text": "ä😀"},
        {"type": "tool_use", "id": "t", "name": "status", "input": {"a": [1]}},
    ]
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": content,
              "stop_reason": "tool_use", "stop_sequence": None,
              "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 0}}  # fmt: skip
    raw = json.dumps(answer).encode()
    assert plain(decode(raw, "anthropic", headers=JSON)) == read_by_anthropic(anthropic_client, replay, raw)


# Gemini


def read_by_google(client, replay, raw):
    replay.raw = raw
    if raw[:1] == b"{":
        return of_answers([client.models.generate_content(model="m", contents="x")])
    return of_answers(list(client.models.generate_content_stream(model="m", contents="x")))


def of_answers(answers):
    parts = [part for answer in answers for part in answer.candidates[0].content.parts]
    usage = answers[-1].usage_metadata
    counts = {
        "input_tokens": usage.prompt_token_count + (usage.tool_use_prompt_token_count or 0),
        "output_tokens": (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
        "cache_read_input_tokens": usage.cached_content_token_count,
        "reasoning_tokens": usage.thoughts_token_count,
    }
    calls = [(part.function_call.name, part.function_call.args or {}) for part in parts if part.function_call]
    return {
        "text": "".join([part.text for part in parts if part.text and not part.thought]),
        "thoughts": "".join([part.text for part in parts if part.text and part.thought]),
        "calls": calls,
        "signed": [part.thought_signature for part in parts if part.thought_signature],
        "usage": {name: count for name, count in counts.items() if count is not None},
        "stop_reason": "tool_use" if calls else "end_turn",
        "model": answers[-1].model_version,
    }


def plain_of_gemini(events):
    import base64

    found = plain(events)
    signatures = []
    for event in events:
        own = event.get("provider_metadata", {}).get("gemini", {})
        google = own.get("extra_content", {}).get("google", {})
        signatures += [one for one in (own.get("signature"), google.get("thought_signature")) if one]
    # Calls come at the end of our events and in their place in theirs: as a set they are the same.
    return {**{name: found[name] for name in found if name != "kept"},
            "signed": sorted(base64.b64decode(one) for one in signatures)}  # fmt: skip


def same_for_google(raw, client, replay, **how):
    theirs = read_by_google(client, replay, raw)
    assert plain_of_gemini(decode(raw, "gemini", **how)) == {**theirs, "signed": sorted(theirs["signed"])}


def test_the_recorded_turn_is_the_same_for_googles_client(gemini_client, replay):
    same_for_google(gem.stream(*gem.ANSWERS), gemini_client, replay)


def test_a_whole_answer_is_the_same_for_googles_client(gemini_client, replay):
    parts = [part for one in gem.ANSWERS for part in one["candidates"][0]["content"]["parts"]]
    raw = json.dumps(gem.answer(*parts, reason="STOP", usage=gem.COUNTS)).encode()
    same_for_google(raw, gemini_client, replay, headers=JSON)


SIGNATURE = st.sampled_from([None, "c2ln", "YQ=="])


def _signed(part, signature):
    return {**part, "thoughtSignature": signature} if signature else part


GEMINI_PARTS = st.one_of(
    st.builds(lambda pieces, signature: _signed({"text": "".join(pieces)}, signature), TEXTS, SIGNATURE),
    st.builds(lambda pieces: {"text": "".join(pieces), "thought": True}, TEXTS),
    st.builds(lambda held, signature: _signed({"functionCall": {"name": "status", "args": held}}, signature), ARGUMENTS,
              SIGNATURE),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(GEMINI_PARTS, max_size=3), min_size=1, max_size=4))
def test_any_turn_is_the_same_for_googles_client(gemini_client, replay, chunks):
    answers = [gem.answer(*parts) for parts in chunks]
    for one in answers:  # their client has no parts where there are none
        one["candidates"][0]["content"]["parts"].append({"text": ""})
    raw = gem.stream(*answers, gem.answer({"text": ""}, reason="STOP", usage=gem.COUNTS))
    same_for_google(raw, gemini_client, replay)
