"""A daemon on the stock router, and clients of its MCP server; all ended with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.oasisd import Daemon, copy_root, start_daemon
from tests.parts.mcp.peer import Peer


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: Any) -> Iterator[Daemon]:
    started = start_daemon(copy_root(str(tmp_path_factory.mktemp("mcp") / "router")))
    yield started
    started.stop()


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Callable[[], Peer]]:
    opened: list[Peer] = []

    def start() -> Peer:
        opened.append(Peer(daemon.root))
        return opened[-1]

    yield start
    for one in opened:
        if one.process.poll() is None:
            one.close()
