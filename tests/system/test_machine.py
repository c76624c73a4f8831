"""What differs between the machines and C libraries of routers: stacks of threads, names, time zones, sizes of numbers.

Runs everywhere; tests/arches runs it on 32 bits, on a big-endian machine and with musl.
"""

import os
import subprocess
import sys

import pytest

from oasis.system.files import Files

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The time zone of middle Europe as OpenWrt writes it: not by a name, for which a router would need tables.
ZONE = "CET-1CEST,M3.5.0,M10.5.0/3"


def child(code, **env):
    """Run code in a process of its own, because what goes wrong here ends the interpreter; return what it printed."""
    words = [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, {REPOSITORY!r})\n{code}"]
    done = subprocess.run(words, env={"PATH": os.environ["PATH"], **env}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout.strip()


DEEP = """
import threading
from oasis.core import jsonl
from oasis.daemon.main import STACK_BYTES
from oasis.errors import SchemaError

def work(told):
    for depth in (jsonl.DEPTH, jsonl.DEPTH + 1, 100000):
        try:
            told.append(len(jsonl.dumps(jsonl.loads("[" * depth + "]" * depth))))
        except SchemaError as error:
            told.append(error.code)

threading.stack_size(SIZE)
tables = [[] for _ in range(32)]
threads = [threading.Thread(target=work, args=(table,)) for table in tables]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*{tuple(table) for table in tables})
"""


@pytest.mark.parametrize("size", ["0", "STACK_BYTES"])  # 0: what the C library gives, 128 KiB with musl
def test_deep_json_in_many_threads_is_read_or_refused(size):
    assert child(DEEP.replace("(SIZE)", f"({size})")) == "(128, 'schema', 'schema')"


RECURSION = """
import threading
from oasis.daemon.main import STACK_BYTES

class Nested:
    def __repr__(self):
        return repr([Nested()])  # through C and back, at each level

def work():
    try:
        repr(Nested())
    except RecursionError:
        print("told")

threading.stack_size(STACK_BYTES)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_a_thread_of_the_daemon_holds_what_python_lets_recurse():
    assert child(RECURSION) == "told"


NAMES = """
from oasis.errors import ProviderError
from oasis.worker import web

print(bool({"127.0.0.1", "::1"} & set(web.resolve("localhost", 80))))
print(*web.resolve("127.0.0.1", 80), *web.resolve("::1", 80))
for name in ("a" * 64 + ".example", "\\udcff", "a..example"):
    try:
        print(web.resolve(name, 80))
    except ProviderError as error:
        print(error.code)
"""


def test_names_have_addresses_and_what_is_no_name_is_told():
    local, numbers, *others = child(NAMES).split("\n")
    assert local == "True" and numbers == "127.0.0.1 ::1"
    assert len(others) == 3 and len(set(others)) == 1 and "[" not in others[0], others


def test_local_time_is_that_of_the_zone_which_openwrt_writes():
    code = """
from oasis.core import when
print(when.shown(1782864000), "|", when.shown(1767225600), "|", when.since("2026-07-01", 1783000000))
"""
    assert child(code, TZ=ZONE) == "2026-07-01 02:00 | 2026-01-01 01:00 | 1782856800"
    assert child(code, TZ="UTC") == "2026-07-01 00:00 | 2026-01-01 00:00 | 1782864000"


def test_a_file_of_more_than_four_gigabytes_has_its_size(tmp_path):
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.truncate(5 << 30)
    assert Files().size(str(path)) == 5 << 30
