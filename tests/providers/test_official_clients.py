"""Our decoders beside the official clients: both read the same recorded answers, from a server that replays them."""

import contextlib
import http.server
import json
import threading

import pytest

from tests.providers import test_cohere, test_ollama, test_openai_chat, test_responses
from tests.providers.recordings import JSON, STREAM, decode, joined, sse, text_of

ADVICE = "run `pip install openai cohere ollama` to compare decoders with those of the official clients"
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the clients' own parts

NDJSON = {"content-type": "application/x-ndjson"}


@contextlib.contextmanager
def replayed(raw, headers):
    """Serve one answer to every request; yields the address."""

    class Replay(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", headers["content-type"])
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Replay)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def ours(raw, profile, headers):
    """Return (text, thoughts, [(id, name, arguments)], input tokens, output tokens) as our decoder finds them."""
    events = joined(decode(raw, profile, headers=headers))
    calls = [(event["id"], event["name"], event["input"]) for event in events if event["type"] == "tool_use"]
    usage = {name: count for event in events if event["type"] == "usage" for name, count in event["usage"].items()}
    thoughts = "".join([event["text"] for event in events if event["type"] == "thinking"])
    assert events[-1]["type"] == "done"
    return text_of(events), thoughts, calls, usage.get("input_tokens"), usage.get("output_tokens")


# OpenAI

PIECE = test_openai_chat.piece
CHUNKS = [
    {"delta": {"role": "assistant", "content": "", "refusal": None}},
    {"delta": {"content": "Grüße "}},
    {"delta": {"content": "\U0001f600"}},
    {"delta": PIECE("", index=0, id="c1", name="status", type="function")},
    {"delta": PIECE('{"what":', index=0)},
    {"delta": PIECE("", index=1, id="c2", name="undo", type="function")},
    {"delta": PIECE('"x"}', index=0)},
    {"delta": PIECE("{}", index=1)},
    {"delta": {}, "finish_reason": "tool_calls"},
]
TOTAL = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def chat_stream():
    head = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [{**head, "choices": [{"index": 0, "finish_reason": None, **one}], "usage": None} for one in CHUNKS]
    return sse(*[json.dumps(one) for one in [*chunks, {**head, "choices": [], "usage": TOTAL}]])


def test_chat_completions_streamed():
    openai = pytest.importorskip("openai", reason=ADVICE)
    raw = chat_stream()
    with replayed(raw, STREAM) as url, openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        asked = {"model": "m", "messages": [{"role": "user", "content": "u"}]}
        with client.chat.completions.stream(**asked) as stream:
            answer = stream.get_final_completion()
    said = answer.choices[0].message
    calls = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls]
    theirs = (said.content, "", calls, answer.usage.prompt_tokens, answer.usage.completion_tokens)
    assert ours(raw, "openai", STREAM) == theirs


def test_chat_completions_whole():
    openai = pytest.importorskip("openai", reason=ADVICE)
    calls = [("c1", "status", '{"what":"x"}'), ("c2", "undo", "")]
    made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    message = {"role": "assistant", "content": "hi", "tool_calls": made}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    body = {"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": TOTAL}
    raw = json.dumps(body).encode()
    with replayed(raw, JSON) as url, openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        answer = client.chat.completions.create(model="m", messages=[])
    said = answer.choices[0].message
    found = [(call.id, call.function.name, json.loads(call.function.arguments or "{}")) for call in said.tool_calls]
    theirs = (said.content, "", found, answer.usage.prompt_tokens, answer.usage.completion_tokens)
    assert ours(raw, "openai", JSON) == theirs


def response(output):
    usage = {**test_responses.done()["response"]["usage"], "total_tokens": 17}
    fields = {"object": "response", "created_at": 1, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {"id": "resp_1", "model": "m", "status": "completed", "output": output, "usage": usage, **fields}


OUTPUT = [test_responses.SUMMARY, test_responses.SAID, test_responses.CALL_1, test_responses.CALL_2]


def read_response(answer):
    """Return what the official client found in a response, in the order of `ours`."""
    thoughts, calls = [], []
    for item in answer.output:
        if item.type == "reasoning":
            thoughts += [part.text for part in item.summary]
        elif item.type == "function_call":
            calls.append((item.call_id, item.name, json.loads(item.arguments)))
    usage = answer.usage
    return answer.output_text, "\n\n".join(thoughts), calls, usage.input_tokens, usage.output_tokens


def test_responses_whole_and_streamed():
    openai = pytest.importorskip("openai", reason=ADVICE)
    whole = json.dumps(response(OUTPUT)).encode()
    body = [*test_responses.THINKS, *test_responses.SPEAKS, *test_responses.CALLS]
    start = test_responses.event("created", response={**response([]), "status": "in_progress"})
    streamed = test_responses.sse(start, *body, test_responses.event("completed", response=response(OUTPUT)))
    with replayed(whole, JSON) as url, openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        assert ours(whole, "responses", JSON) == read_response(client.responses.create(model="m", input="u"))
    with replayed(streamed, STREAM) as url, openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        events = list(client.responses.create(model="m", input="u", stream=True))
    pieces = "".join([event.delta for event in events if event.type == "response.output_text.delta"])
    theirs = read_response(events[-1].response)
    assert ours(streamed, "responses", STREAM) == theirs and pieces == theirs[0]


# Cohere


def cohere_client(url):
    cohere = pytest.importorskip("cohere", reason=ADVICE)
    return cohere.ClientV2(api_key="none", base_url=url)


@pytest.mark.parametrize("turn", [test_cohere.SPEAKS, test_cohere.CALLS])
def test_cohere_streamed(turn):
    pytest.importorskip("cohere", reason=ADVICE)
    raw = test_cohere.sse(test_cohere.START, *test_cohere.THINKS, *turn, test_cohere.ended())
    text, thoughts, calls, usage = "", "", {}, None
    with replayed(raw, STREAM) as url:
        for event in cohere_client(url).chat_stream(model="m", messages=[{"role": "user", "content": "u"}]):
            if event.type == "content-delta":
                text += event.delta.message.content.text or ""
                thoughts += event.delta.message.content.thinking or ""
            elif event.type == "tool-plan-delta":
                text += event.delta.message.tool_plan
            elif event.type == "tool-call-start":
                made = event.delta.message.tool_calls
                calls[event.index] = [made.id, made.function.name, ""]
            elif event.type == "tool-call-delta":
                calls[event.index][2] += event.delta.message.tool_calls.function.arguments
            elif event.type == "message-end":
                usage = event.delta.usage.tokens
    found = [(ident, name, json.loads(arguments)) for ident, name, arguments in calls.values()]
    theirs = (text, thoughts, found, int(usage.input_tokens), int(usage.output_tokens))
    assert ours(raw, "cohere", STREAM) == theirs


def test_cohere_whole():
    pytest.importorskip("cohere", reason=ADVICE)
    made = [{"id": "c1", "type": "function", "function": {"name": "status", "arguments": '{"what":"x"}'}}]
    message = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}], "tool_plan": "I look.",
               "tool_calls": made}  # fmt: skip
    usage = test_cohere.ended()["delta"]["usage"]
    raw = json.dumps({"id": "m", "finish_reason": "TOOL_CALL", "message": message, "usage": usage}).encode()
    with replayed(raw, JSON) as url:
        answer = cohere_client(url).chat(model="m", messages=[{"role": "user", "content": "u"}])
    said, counts = answer.message, answer.usage.tokens
    calls = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls]
    theirs = (said.tool_plan, said.content[0].thinking, calls, int(counts.input_tokens), int(counts.output_tokens))
    assert ours(raw, "cohere", JSON) == theirs


# Ollama


@pytest.mark.parametrize("is_stream", [True, False])
def test_ollama_streamed_and_whole(is_stream):
    ollama = pytest.importorskip("ollama", reason=ADVICE)
    made = [
        {"function": {"name": "status", "arguments": {"what": "x"}}},
        {"function": {"name": "undo", "arguments": {}}},
    ]
    end = test_ollama.line(message={"role": "assistant", "content": "😀", "tool_calls": made}, done=True,
                           done_reason="stop", prompt_eval_count=5, eval_count=2)  # fmt: skip
    raw = test_ollama.said(thinking="hm") + test_ollama.said("Grüße ") + end if is_stream else end
    headers = NDJSON if is_stream else JSON
    with replayed(raw, headers) as url:
        answer = ollama.Client(host=url).chat(model="q", messages=[{"role": "user", "content": "u"}], stream=is_stream)
        parts = list(answer) if is_stream else [answer]
    text = "".join([part.message.content or "" for part in parts])
    thoughts = "".join([part.message.thinking or "" for part in parts])
    calls = [(c.function.name, dict(c.function.arguments)) for part in parts for c in part.message.tool_calls or []]
    found = ours(raw, "ollama", headers)
    assert (found[0], found[1], [call[1:] for call in found[2]]) == (text, thoughts, calls)
    assert found[3:] == (parts[-1].prompt_eval_count, parts[-1].eval_count)
