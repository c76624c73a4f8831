"""oasisd with the front-ends that live in it: what /usr/sbin/oasisd starts."""

from __future__ import annotations

from oasis import daemon


def main(argv: list[str]) -> int:
    """Run the daemon and its front-ends until a signal comes; return the exit status."""
    return daemon.main(argv, (_bus,))


def _bus(running: daemon.Daemon) -> daemon.End | None:
    from oasis.frontends.bus import front  # not for --version

    return front(running)
