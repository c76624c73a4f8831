"""A deadline for calls that only know how long they wait for the next byte: a peer that drips would hold them for ever.

    with within(seconds, error): response.read()

An alarm of the main thread, which is where the worker talks to a service; elsewhere nothing is bounded. What is done
inside must stand being broken off anywhere, as a read does and writing an event line does not.
"""

from __future__ import annotations

import contextlib
import signal
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis.errors import OasisError


@contextlib.contextmanager
def within(seconds: float, error: OasisError) -> Iterator[None]:
    """Raise `error` out of the block when it is not done in time."""
    if seconds <= 0:
        raise error
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def strike(*_: object) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
