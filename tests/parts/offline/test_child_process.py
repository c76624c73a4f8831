"""The offline provider as a process: the same answers, facts on request, and nothing that can hang or stay."""

import os
import sys
import threading
import time

import pytest

from oasis.errors import OasisError, ProviderError, UciError
from oasis.parts.offline import child_process, provider
from oasis.parts.offline.child_process import Offline, default_argv
from oasis.system.child import MODEL

QUESTIONS = ("what can you do?", "call this router attic", "which devices are connected?", "block the tv", "florb it")


class Facts:
    """A router with one radio and one device; counts what it is asked."""

    def __init__(self):
        self.asked = []

    def config(self, package):
        self.asked.append(("config", package))
        return {
            "lan": {".name": "lan", ".type": "interface", ".anonymous": False, ".index": 0, "ipaddr": "192.168.1.1"}
        }

    def devices(self):
        self.asked.append(("devices",))
        return [{"name": "tv", "mac": "02:00:00:00:00:01", "ip": "192.168.1.9", "present": True, "expires_unix_s": 0}]

    def interfaces(self):
        return []

    def services(self):
        return {}

    def ending(self):
        return []


def said(text):
    return [{"role": "user", "content": text}]


@pytest.fixture
def offline():
    made = Offline(default_argv(30))
    yield made
    made.close()


def scripted(code, *words):
    return Offline([sys.executable, "-I", "-S", "-c", code, *words])


def test_its_answers_are_those_of_the_provider(offline):
    for question in QUESTIONS:
        assert offline.reply(said(question), Facts(), 100) == provider.Provider().reply(said(question), Facts(), 100)


def test_one_process_answers_many_and_asks_each_fact_once_a_request(offline):
    facts = Facts()
    offline.reply(said("block the tv"), facts, 100)
    first = offline._child.pid
    assert facts.asked.count(("devices",)) == 1
    offline.reply(said("block the tv"), facts, 100)
    assert offline._child.pid == first
    assert facts.asked.count(("devices",)) == 2


def test_a_fact_that_cannot_be_had_is_the_error_of_the_request_and_the_next_one_is_answered(offline):
    class Broken(Facts):
        def devices(self):
            raise UciError("there is no package")

    with pytest.raises(UciError):
        offline.reply(said("block the tv"), Broken(), 100)
    assert offline.reply(said("what can you do?"), Facts(), 100)


def test_threads_wait_for_each_other(offline):
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(offline.reply(said("what can you do?"), Facts(), 100)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert all(answer == answers[0] for answer in answers)


def test_it_ends_when_nobody_asks_and_is_started_again():
    offline = Offline(default_argv(0))
    try:
        first = offline.reply(said("what can you do?"), Facts(), 100)
        child = offline._child
        assert child.wait(10) == 0
        assert offline.reply(said("what can you do?"), Facts(), 100) == first
        assert offline._child.pid != child.pid
    finally:
        offline.close()


def test_closing_leaves_no_process(offline):
    offline.reply(said("what can you do?"), Facts(), 100)
    number = offline._child.pid
    offline.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_process_that_dies_is_told_with_its_last_words():
    offline = scripted("import sys; sys.stdin.readline(); sys.exit('no grammar')")
    with pytest.raises(ProviderError, match="no grammar"):
        offline.reply(said("hello"), Facts(), 100)


def test_a_process_that_always_goes_is_not_started_for_ever(tmp_path):
    offline = scripted("import os, sys; os.mkdir(sys.argv[1] + str(os.getpid()))", str(tmp_path / "start"))
    with pytest.raises(ProviderError):
        offline.reply(said("hello"), Facts(), 100)
    assert len(os.listdir(tmp_path)) == 2


def test_it_cannot_ask_for_anything_else():
    code = """if True:
        import sys
        sys.stdin.readline()
        print('{"ask":"__init__","arguments":[]}', flush=True)
        sys.stdin.readline()
    """
    with pytest.raises(OasisError, match="asked for '__init__'"):
        scripted(code).reply(said("hello"), Facts(), 100)


def test_a_program_that_is_not_there_is_told():
    with pytest.raises(ProviderError, match="cannot be started"):
        Offline(["/nowhere/python3"]).reply(said("hello"), Facts(), 100)


def test_a_long_chat_fits(offline):
    chat = said("x" * 30_000) * 10 + said("what can you do?")
    assert offline.reply(chat, Facts(), 100)


def test_a_silent_process_is_ended():
    offline = Offline([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"], silence_s=0.2)
    before = time.monotonic()
    with pytest.raises(ProviderError, match="silent"):
        offline.reply(said("hello"), Facts(), 100)
    assert time.monotonic() - before < 10
    assert offline._child is None


def test_the_daemon_side_loads_nothing_of_the_grammar():
    code = "import sys; sys.path.insert(0, sys.argv[1]); import oasis.parts.offline.child_process; "
    code += "print('re' in sys.modules)"
    repository = os.path.dirname(
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(child_process.__file__))))
    )
    child = child_process.Child([sys.executable, "-IS", "-c", code, repository], {}, MODEL, False, True)
    assert child.wait(20) == 0
    assert os.read(child.stdout, 100) == b"False\n"
    child.close()
