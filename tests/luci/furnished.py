"""The fixture of pages that show what is kept: a real daemon on a router root that has services, topics and counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.luci.pictures import furnish
from tests.oasisd import copy_root, start_daemon

AXE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "node_modules/axe-core/axe.min.js")
RUN = """axe.run('.oasis', {rules: {'color-contrast': {enabled: false}}})
    .then(reply => reply.violations.map(found => found.id + ': ' + found.nodes.map(node => node.html).join(' ')))"""


@pytest.fixture
def furnished(tmp_path_factory: Any, start: Any) -> Iterator[Callable[..., Any]]:
    """Start oasisd on the root of the pictures, the stand-in in front; gives (daemon, address). `viewer` may look."""
    daemons: list[Any] = []

    def run(*options: str) -> tuple[Any, str]:
        root = copy_root(str(tmp_path_factory.mktemp("router")))
        furnish(root)
        daemons.append(start_daemon(root))
        _, url = start("server.py", "--root", root, "--viewer", "any", *options)
        return daemons[0], url

    yield run
    for daemon in daemons:
        daemon.stop()


def find_barriers(page: Any) -> None:
    """Look for what keeps people with a keyboard or a screen reader out; a skip where axe-core is not installed."""
    if not os.path.exists(AXE):
        pytest.skip("no axe-core: (cd tests && npm ci)")
    page.add_script_tag(path=AXE)
    # The frame around the page is LuCI's own; colours of its theme are judged on the real one.
    found = page.evaluate(RUN)
    assert found == [], found
