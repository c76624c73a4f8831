"""The pool: every request ends exactly once, whatever the worker does; real worker and scripted bad ones."""

import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from oasis.errors import PolicyError, ProviderError
from oasis.llm.pool import Pool, default_argv

KEY = "sk-secret-0123456789"

ASK = """
import json, os, sys, time
request = json.loads(sys.stdin.readline())
def say(event, number=request["id"]):
    sys.stdout.write(json.dumps({"id": number, "event": event}) + "\\n")
    sys.stdout.flush()
DONE = {"type": "done", "stop_reason": "end_turn", "model": "m"}
"""


@pytest.fixture
def pools():
    made = []

    def make(argv=None, **options):
        made.append(Pool(argv or default_argv(), **options))
        return made[-1]

    yield make
    for pool in made:
        pool.close()


@pytest.fixture
def scripted(pools, tmp_path):
    def make(body, **options):
        script = tmp_path / "worker.py"
        script.write_text(ASK + body)
        return pools([sys.executable, "-I", str(script)], **options)

    return make


def request(base_url="http://127.0.0.1:9/v1", **options):
    return {
        "profile": "compatible", "base_url": base_url, "key": KEY, "model": "m", "tools": [],
        "messages": [{"role": "user", "content": "hi"}], "options": {"idle_s": 20, "retries": 0, **options},
    }  # fmt: skip


def ask(pool, asked=None, **how):
    events = []
    pool.chat(asked or request(), events.append, **how)
    endings = [e["type"] for e in events if e["type"] in ("done", "error")]
    assert len(endings) == 1 and events[-1]["type"] == endings[0], events
    return events


def error_of(events):
    assert events[-1]["type"] == "error", events
    return events[-1]["error"]


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().split(")")[1].split()[0] != "Z"


def eventually(condition, seconds=5.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.02)


# The real worker


def test_a_chat_through_a_real_worker(pools, server):
    pool = pools()
    for _ in range(2):
        events = ask(pool, request(server.url("good")))
        assert [e["type"] for e in events] == ["delta", "delta", "done"]
        assert "".join([e["text"] for e in events[:-1]]) == "Hello world"
    assert server.seen[0]["headers"]["authorization"] == "Bearer " + KEY
    assert pool.count() == {"waiting": 0, "busy": 0, "warm": 1}


def test_no_proxy_is_taken_from_the_environment(pools, server):
    pool = pools(env=dict.fromkeys(("http_proxy", "HTTP_PROXY", "all_proxy"), "http://127.0.0.1:9"))
    assert ask(pool, request(server.url("good")))[-1]["type"] == "done"


def test_a_worker_behind_the_fence_says_so_where_the_fence_may_be_why(pools):
    with socket.socket() as client:
        if client.connect_ex(("127.0.0.1", 443)) == 0:
            pytest.skip("something listens on port 443 of this host")
    fenced, free = pools(is_fenced=True), pools()
    assert error_of(ask(fenced, request("https://127.0.0.1/v1")))["code"] == "walled"
    assert error_of(ask(free, request("https://127.0.0.1/v1")))["code"] == "refused"
    # What the settings name by address and port is let through.
    assert error_of(ask(fenced, request("http://127.0.0.1:9/v1")))["code"] == "refused"


def test_text_comes_before_the_answer_is_complete(pools, server):
    times = []
    pools().chat(request(server.url("paused")), lambda event: times.append(time.monotonic()))
    assert times[-1] - times[0] > 0.7


def test_models_are_a_list_or_an_error(pools, server):
    pool = pools()
    assert pool.models(request(server.url("models"))) == [{"id": "m-1"}, {"id": "m-2"}]
    with pytest.raises(ProviderError) as caught:
        pool.models(request(server.url("refused_key")))
    assert caught.value.code == "authentication" and caught.value.hint


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [("refused_key", "authentication"), ("cut", "truncated"), ("portal", "portal"), ("wrong_json", "bad_answer")],
)
def test_failures_come_through_and_leave_the_worker_warm(pools, server, behaviour, code):
    pool = pools()
    events = ask(pool, request(server.url(behaviour)))
    assert error_of(events)["code"] == code and KEY not in str(events)
    assert pool.count()["warm"] == 1


def test_long_text_is_spread_over_lines_and_a_long_call_is_refused(pools, server):
    pool = pools()
    text = "".join([e["text"] for e in ask(pool, request(server.url("huge_line"))) if e["type"] == "delta"])
    assert len(text) == 3_000_006
    error = error_of(ask(pool, request(server.url("huge_call"))))
    assert "too long" in error["message"]


def test_cancelling_closes_the_connection_at_once(pools, server):
    pool = pools()
    cancelled, shown = threading.Event(), threading.Event()
    events = []

    def on_event(event):
        events.append(event)
        shown.set()

    thread = threading.Thread(target=pool.chat, args=(request(server.url("stalled")), on_event, cancelled))
    thread.start()
    assert shown.wait(10)
    started = time.monotonic()
    cancelled.set()
    thread.join(5)
    assert time.monotonic() - started < 1.5
    assert server.hangups.acquire(timeout=2)
    # A tick of the daemon, and the end of a process; the service stops generating, and billing, then.
    assert server.hung_up_s[0] - started < 0.5
    assert [e["type"] for e in events] == ["delta", "error"] and error_of(events)["code"] == "cancelled"
    assert pool.count() == {"waiting": 0, "busy": 0, "warm": 0}


@pytest.mark.parametrize("behaviour", ["silent", "limited_once", "drips_its_head"])
def test_a_request_is_cancelled_at_once_whatever_it_waits_for(pools, server, behaviour):
    cancelled, events = threading.Event(), []
    thread = threading.Thread(
        target=pools().chat, args=(request(server.url(behaviour), retries=2), events.append, cancelled)
    )
    thread.start()
    eventually(lambda: server.seen)
    time.sleep(0.2)
    started = time.monotonic()
    cancelled.set()
    thread.join(5)
    assert time.monotonic() - started < 0.8 and error_of(events)["code"] == "cancelled"
    assert [e["type"] for e in events[:-1]] == (["retry"] if behaviour == "limited_once" else [])


def test_cancelling_one_request_does_not_touch_another(pools, server):
    pool = pools()
    cancelled = threading.Event()
    first = threading.Thread(target=ask, args=(pool, request(server.url("stalled"))), kwargs={"cancelled": cancelled})
    first.start()
    eventually(lambda: server.seen)
    events = []
    second = threading.Thread(target=pool.chat, args=(request(server.url("paused")), events.append))
    second.start()
    eventually(lambda: events)
    cancelled.set()
    second.join(10)
    first.join(10)
    assert events[-1]["type"] == "done"


def test_requests_beyond_the_limit_wait_and_urgent_ones_go_first(pools, server):
    pool = pools(max_workers=1)
    order = []

    def run(name, urgent):
        ask(pool, request(server.url("paused")), urgent=urgent)
        order.append(name)

    threads = []
    for name, urgent in (("running", True), ("title", False), ("owner", True)):
        threads.append(threading.Thread(target=run, args=(name, urgent)))
        threads[-1].start()
        count = len(threads)
        eventually(lambda count=count: pool.count()["busy"] + pool.count()["waiting"] == count)
    for thread in threads:
        thread.join(20)
    assert order == ["running", "owner", "title"]


def test_a_waiting_request_can_be_cancelled(pools, server):
    pool = pools(max_workers=1)
    first, second = threading.Event(), threading.Event()
    running = threading.Thread(target=ask, args=(pool, request(server.url("stalled"))), kwargs={"cancelled": first})
    running.start()
    eventually(lambda: pool.count()["busy"] == 1)
    second.set()
    assert error_of(ask(pool, cancelled=second.is_set))["code"] == "cancelled"
    first.set()
    running.join(10)


def test_an_idle_worker_ends_after_its_time(pools, server):
    pool = pools(idle_s=0.3)
    ask(pool, request(server.url("good")))
    assert pool.count()["warm"] == 1
    eventually(lambda: pool.count()["warm"] == 0)
    ask(pool, request(server.url("good")))
    assert pool.count()["warm"] == 1


def test_a_warm_worker_that_died_is_replaced(pools, server, tmp_path):
    pool = pools()
    ask(pool, request(server.url("good")))
    (_, _, process) = pool._warm[0]
    os.kill(process.pid, 9)
    eventually(lambda: not is_running(process.pid))
    events = ask(pool, request(server.url("good")))
    assert events[-1]["type"] == "done", events


def test_a_warm_worker_that_ends_when_it_is_asked_is_replaced(scripted):
    pool = scripted("say(DONE); sys.stdin.readline()")
    for _ in range(3):
        assert ask(pool)[-1]["type"] == "done"


def test_a_worker_ends_when_the_daemon_does(pools, server):
    pool = pools()
    ask(pool, request(server.url("good")))
    process = pool._warm[0][2]
    pool.close()
    eventually(lambda: not is_running(process.pid))
    assert error_of(ask(pool, request(server.url("good"))))["code"] == "cancelled"


def test_the_key_is_neither_in_argv_nor_in_the_environment(pools, server):
    pool = pools()
    seen = {}

    def on_event(event):
        for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
            try:
                with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/cmdline", "rb") as line:
                    is_child = int(stat.read().rsplit(")", 1)[1].split()[1]) == os.getpid()
                    is_worker = b"__main__.py" in line.read()  # tests that ran before may have left others
                if is_child and is_worker:
                    for name in ("cmdline", "environ"):
                        with open(f"/proc/{pid}/{name}", "rb") as file:
                            seen[name] = file.read()
                    seen["files"] = os.listdir(f"/proc/{pid}/fd")
            except (OSError, ValueError):
                continue

    with socket.socket() as ours, open(os.devnull) as file:
        os.set_inheritable(ours.fileno(), True)
        os.set_inheritable(file.fileno(), True)
        pool.chat(request(server.url("paused")), on_event)
    assert KEY.encode() not in seen["cmdline"] + seen["environ"]
    assert {word.split(b"=")[0] for word in seen["environ"].split(b"\0") if word} <= {
        b"PATH", b"LC_ALL", b"OASIS_WORKER",
    }  # fmt: skip
    assert len(seen["files"]) <= 5  # three pipes, its connection, and one to spare


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_worker_of_root_serves_as_its_own_user(pools, server):
    pool = pools([*default_argv(), "nobody"])
    assert ask(pool, request(server.url("good")))[-1]["type"] == "done"
    with open(f"/proc/{pool._warm[0][2].pid}/status") as status:
        ids = [line.split()[1:] for line in status if line.startswith(("Uid", "Gid"))]
    assert set(ids[0]) == {"65534"} and "0" not in ids[1]
    assert error_of(ask(pool, request("http://nobody.invalid/v1")))["code"] == "dns"
    assert error_of(ask(pool, request(server.url("good", "https"))))["code"] == "tls"


def test_what_is_to_be_done_before_a_request_is_done_each_time_and_can_refuse_it(scripted):
    calls = []

    def prepare():
        calls.append(len(calls))
        if len(calls) == 2:
            raise PolicyError("no worker is started", "do this")

    pool = scripted("say(DONE)", prepare=prepare)
    assert ask(pool)[-1]["type"] == "done"
    error = error_of(ask(pool))
    assert (error["code"], error["message"], error["hint"]) == ("worker", "no worker is started", "do this")
    assert ask(pool)[-1]["type"] == "done" and calls == [0, 1, 2]


# Workers that break the protocol


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("say({'type': 'dance'})", "unknown type"),
        ("say({'type': 'delta', 'text': 7})", "text is a int"),
        ("say({'type': 'delta'})", "without text"),
        ("say({'type': 'delta', 'text': 'x', 'path': '/etc'})", "unknown key"),
        ("say({'type': 'error', 'error': {'code': 'x'}})", "without message"),
        ("say(7)", "no event of this request"),
        ("say(DONE, 99)", "no event of this request"),
        ("print('hello', flush=True); time.sleep(9)", "wrote no event"),
        ("print('[' * 100 + ']' * 100, flush=True); time.sleep(9)", "deeper than"),
        ("sys.stdout.write('x' * 3000000); sys.stdout.flush(); time.sleep(9)", "longer than"),
        ("[say({'type': 'delta', 'text': 'x' * 90000}) for _ in range(250)]; time.sleep(9)", "more than"),
        ("sys.exit(3)", "status 3"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("raise ValueError('no luck')", "ValueError: no luck"),
    ],
)
def test_a_worker_that_breaks_the_protocol_is_ended(scripted, body, words):
    pool = scripted(body)
    error = error_of(ask(pool))
    assert error["code"] == "worker" and words in error["message"] and error["hint"]
    assert pool.count() == {"waiting": 0, "busy": 0, "warm": 0}


def test_last_words_are_bounded_and_never_hold_the_key(scripted):
    pool = scripted("sys.stderr.write('x' * 500000 + '\\nkey is ' + request['key']); sys.exit(1)")
    error = error_of(ask(pool))
    assert KEY not in str(error) and "key is …" in error["message"] and len(error["message"]) < 500


def test_a_worker_that_says_more_than_its_ending_is_not_used_again(scripted):
    line = "json.dumps({'id': request['id'], 'event': DONE}) + '\\n'"
    pool = scripted(f"sys.stdout.write(2 * ({line})); sys.stdout.flush(); time.sleep(9)")
    assert ask(pool)[-1]["type"] == "done"
    assert pool.count() == {"waiting": 0, "busy": 0, "warm": 0}


def test_a_worker_that_talks_without_being_asked_is_not_used_again(scripted):
    pool = scripted("say(DONE); time.sleep(0.2); say({'type': 'delta', 'text': 'more'}); time.sleep(9)")
    assert ask(pool)[-1]["type"] == "done"
    time.sleep(0.5)
    assert ask(pool)[-1]["type"] == "done"


def test_a_worker_that_ignores_the_end_of_its_input_is_killed_with_its_children(scripted, tmp_path):
    pids = tmp_path / "pids"
    body = f"""
import subprocess
child = subprocess.Popen(["sleep", "60"])
os.symlink(f"{{os.getpid()}} {{child.pid}}", {str(pids)!r})  # a worker cannot write to a file
say({{"type": "delta", "text": "x"}})
time.sleep(60)
"""
    cancelled = threading.Event()
    pool = scripted(body)
    started = time.monotonic()
    events = []
    pool.chat(request(), lambda event: (events.append(event), cancelled.set()), cancelled)
    assert error_of(events)["code"] == "cancelled" and 1.5 < time.monotonic() - started < 6
    for pid in os.readlink(pids).split():
        eventually(lambda pid=pid: not is_running(int(pid)))


def test_a_silent_worker_is_given_up(scripted):
    clock = iter(range(0, 10**6, 100))
    pool = scripted("time.sleep(60)", now_s=lambda: next(clock))
    assert "silent" in error_of(ask(pool))["message"]


def test_a_worker_that_cannot_be_started(pools):
    error = error_of(ask(pools(["/nonexistent/python"])))
    assert error["code"] == "worker" and "no worker can be started" in error["message"]


def test_a_request_too_large_or_not_json_is_refused(pools):
    pool = pools()
    assert "too many" in error_of(ask(pool, {**request(), "messages": ["x" * 17_000_000]}))["message"]
    assert error_of(ask(pool, {**request(), "messages": [{1, 2}]}))["code"] == "worker"
    assert pool.count() == {"waiting": 0, "busy": 0, "warm": 0}


def test_a_large_request_is_read_by_a_slow_worker(scripted):
    pool = scripted("say({'type': 'delta', 'text': str(len(request['messages'][0]))}); say(DONE)")
    assert ask(pool, {**request(), "messages": ["x" * 9_000_000]})[0]["text"] == "9000000"


def test_a_callback_that_fails_ends_the_worker_and_frees_the_seat(scripted):
    pool = scripted("say({'type': 'delta', 'text': 'x'}); time.sleep(9)")

    def fail(event):
        raise KeyError("ours")

    with pytest.raises(KeyError):
        pool.chat(request(), fail)
    assert pool.count() == {"waiting": 0, "busy": 0, "warm": 0}


# What a captured worker leaves behind


def are_gone(pids):
    until = time.monotonic() + 10
    while any(is_running(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(is_running(pid) for pid in pids)


# A child with a session of its own, and a grandchild whose parent and session are gone; their numbers are the words.
LEAVE = """
def linger():
    for number in range(20):
        try:
            os.close(number)
        except OSError:
            pass
    time.sleep(60)
    os._exit(0)
child = os.fork()
if child == 0:
    os.setsid()
    linger()
into, out = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        os.write(out, b"%d" % os.getpid())
        linger()
    os._exit(0)
say({"type": "delta", "text": str(child)})
say({"type": "delta", "text": os.read(into, 20).decode()})
"""


def of_words(events):
    return [int(event["text"]) for event in events if event["type"] == "delta"]


@pytest.mark.parametrize("how", ["done", "dies", "hangs"])
def test_what_a_worker_started_ends_with_the_request_it_was_for(scripted, how):
    ends = {"done": "say(DONE)\nsys.stdin.read()\n", "dies": "os._exit(3)\n", "hangs": "time.sleep(60)\n"}
    events, cancelled = [], threading.Event()

    def hear(event):
        events.append(event)
        if how == "hangs" and len(of_words(events)) == 2:
            cancelled.set()

    scripted(LEAVE + ends[how]).chat(request(), hear, cancelled)
    assert len(of_words(events)) == 2 and are_gone(of_words(events))


def test_the_end_of_the_daemon_ends_busy_workers_and_what_they_started(scripted):
    pool, events = scripted(LEAVE + "time.sleep(60)\n"), []
    asking = threading.Thread(target=lambda: pool.chat(request(), events.append))
    asking.start()
    until = time.monotonic() + 10
    while len(of_words(events)) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    pool.close()
    asking.join(10)
    assert not asking.is_alive() and error_of(events)["code"] == "cancelled"
    assert len(of_words(events)) == 2 and are_gone(of_words(events))


def test_a_program_of_the_owner_s_own_is_never_ended(scripted):
    own = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        assert are_gone(of_words(ask(scripted(LEAVE + "say(DONE)\n")))) and own.poll() is None
    finally:
        own.kill()
        own.wait()


# One worker, one service

TELL = """
while True:
    say({"type": "delta", "text": str(os.getpid())}, request["id"])
    say(DONE, request["id"])
    line = sys.stdin.readline()
    if not line:
        break
    request = json.loads(line)
"""


def who(pool, **given):
    return ask(pool, {**request(), **given})[0]["text"]


def test_a_worker_never_sees_a_second_service(scripted):
    pool = scripted(TELL)
    first = who(pool)
    assert who(pool) == first and who(pool, model="other") == first
    others = {
        who(pool, key="sk-another-0123456789"),
        who(pool, base_url="http://127.0.0.1:10/v1"),
        who(pool, profile="openai"),
    }
    assert len(others) == 3 and first not in others


def test_workers_of_two_services_are_no_more_than_the_limit(scripted):
    pool = scripted(TELL, max_workers=1)
    first, second = who(pool), who(pool, key="sk-another-0123456789")
    assert first != second and pool.count()["warm"] == 1 and are_gone([int(first)])
