"""`expect`: assertions about a page that look again until they hold or the time is over.

A page shows what its daemon says in its own time, and a machine may be slow: what was counted or read once, right after
a press, says more of the machine than of the page. Without Playwright these tests are skipped, and nothing is here.
"""

from __future__ import annotations

from typing import Any

TIMEOUT_MS = 15000

try:
    import playwright.sync_api
except ImportError:
    expect: Any = None
else:
    expect = playwright.sync_api.expect
    expect.set_options(timeout=TIMEOUT_MS)
