"""Vectors of texts through the pool and a real worker: order, steps, bounds, failures."""

import http.server
import json
import sys
import threading

import pytest

from oasis.errors import PeerError, ProviderError, UsageError
from oasis.llm.pool import Pool, default_argv
from oasis.llm.workers import EMBED_TEXTS, Requests
from tests.peers import aimock


class Server:
    """Gives each text [its number, -1.5]; keeps the bodies; `answer(texts)` may be replaced."""

    def __init__(self):
        self.bodies, self.paths, self.status = [], [], 200
        self.answer = lambda texts: [[float(text), -1.5] for text in texts]
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.bodies.append(body)
                outer.paths.append(self.path)
                asked = [one["content"]["parts"][0]["text"] for one in body.get("requests", ())]
                vectors = outer.answer(body.get("input") or body.get("texts") or asked)
                data = [{"index": number, "embedding": vector} for number, vector in enumerate(vectors)]
                reply = {"data": data, "embeddings": {"float": vectors} if "texts" in body else vectors}
                reply["usage"] = {"prompt_tokens": 10 * len(vectors)}
                reply = {"embeddings": [{"values": vector} for vector in vectors]} if asked else reply
                raw = json.dumps(reply if outer.status == 200 else {"error": {"message": "slow down"}}).encode()
                self.send_response(outer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def pool():
    pool = Pool(default_argv())
    yield pool
    pool.close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def asked(profile, base_url, **options):
    return {
        "profile": profile, "base_url": base_url, "key": "sk-test", "model": "m",
        "options": {"stream": True, "extra": {"top_p": 0.5}, **options},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "tail", "path"),
    [
        ("openai", "/v1", "/v1/embeddings"),
        ("responses", "/v1", "/v1/embeddings"),
        ("cohere", "", "/v2/embed"),
        ("ollama", "", "/api/embed"),
        ("gemini", "/v1beta", "/v1beta/models/m:batchEmbedContents"),
    ],
)
def test_each_text_gets_its_vector(pool, server, profile, tail, path):
    assert pool.embed(asked(profile, server.url + tail), ["3", "1", "2"]) == [[3, -1.5], [1, -1.5], [2, -1.5]]
    assert server.paths == [path] and "top_p" not in server.bodies[0]


def test_many_texts_are_asked_for_in_steps_and_stay_in_order(pool, server):
    texts = [str(number) for number in range(150)]
    vectors = pool.embed(asked("openai", server.url + "/v1"), texts)
    assert [vector[0] for vector in vectors] == list(range(150))
    assert [len(body["input"]) for body in server.bodies] == [64, 64, 22]


def test_each_step_tells_what_it_used(pool, server):
    heard = []

    class Hearing(Requests):
        def ask(self, request, on_event, cancelled, urgent):
            pool.ask(request, lambda event: [heard.append(event), on_event(event)], cancelled, urgent)

    Hearing().embed(asked("openai", server.url + "/v1"), ["1"] * 150)
    heard = [event for event in heard if event["type"] != "embedding"]
    assert [event["type"] for event in heard] == ["usage", "done"] * 3
    assert [event["usage"] for event in heard[::2]] == [{"input_tokens": tokens} for tokens in (640, 640, 220)]


def test_dimensions_are_passed_on(pool, server):
    pool.embed(asked("openai", server.url + "/v1", dimensions=2), ["1"])
    assert server.bodies[0]["dimensions"] == 2


def test_no_texts_are_no_vectors_and_too_many_are_refused_before_anything_is_asked(pool, server):
    request = asked("openai", server.url + "/v1")
    assert pool.embed(request, []) == []
    with pytest.raises(UsageError, match="too many"):
        pool.embed(request, ["x"] * (EMBED_TEXTS + 1))
    assert server.bodies == []


def test_an_answer_with_too_few_vectors_is_a_failure(pool, server):
    server.answer = lambda texts: [[1.0]]
    with pytest.raises(ProviderError, match="1 embeddings for 2 texts"):
        pool.embed(asked("openai", server.url + "/v1"), ["a", "b"])


def test_a_failure_of_the_service_keeps_its_kind(pool, server):
    server.status, server.answer = 429, lambda texts: []
    with pytest.raises(ProviderError) as failure:
        pool.embed(asked("openai", server.url + "/v1"), ["a"])
    assert failure.value.code == "rate_limit" and failure.value.retryable


@pytest.mark.parametrize("profile", ["anthropic"])
def test_a_service_without_embeddings_says_so(pool, server, profile):
    with pytest.raises(ProviderError, match="has no embeddings") as failure:
        pool.embed(asked(profile, server.url), ["a"])
    assert "choose a service" in failure.value.hint and server.bodies == []


def test_a_worker_that_loses_a_vector_is_not_believed(tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(
        "import json, sys\n"
        'number = json.loads(sys.stdin.readline())["id"]\n'
        'done = {"type": "done", "stop_reason": "end_turn", "model": "m"}\n'
        'sys.stdout.write(json.dumps({"id": number, "event": done}) + "\\n")\n'
    )
    pool = Pool([sys.executable, "-I", str(script)])
    try:
        with pytest.raises(PeerError, match="0 embeddings for 1 texts"):
            pool.embed(asked("openai", "http://127.0.0.1:9/v1"), ["a"])
    finally:
        pool.close()


@pytest.mark.parametrize(("profile", "tail"), [("openai", "/v1"), ("responses", "/v1"), ("cohere", "")])
def test_a_server_of_others_gives_vectors(pool, tmp_path, profile, tail):
    fixtures = [
        {"match": {"inputText": name}, "response": {"embedding": vector}}
        for name, vector in (("attic", [0.25, -1.5, 3]), ("cellar", [1, 2, 3]))
    ]
    (tmp_path / "fixtures.json").write_text(json.dumps({"fixtures": fixtures}))
    peer = aimock.start(str(tmp_path / "fixtures.json"))
    if peer is None:
        pytest.skip(aimock.ADVICE)
    request = asked(profile, f"http://127.0.0.1:{peer.port}{tail}")
    try:
        assert [pool.embed(request, [name]) for name in ("cellar", "attic")] == [[[1, 2, 3]], [[0.25, -1.5, 3]]]
        assert pool.embed(request, ["attic", "attic"]) == [[0.25, -1.5, 3]] * 2
    finally:
        peer.close()
