"""Stopping: every step is done whatever the one before did, and nothing is applied after it began."""

from oasis.daemon.wiring import _tried


def test_a_step_that_fails_is_told_and_stops_no_other(capsys):
    done = []
    for step in (lambda: done.append(1), lambda: 1 // 0, lambda: done.append(2)):
        _tried("something", step)
    assert done == [1, 2]
    assert capsys.readouterr().err.count("oasisd: stopping something failed") == 1
