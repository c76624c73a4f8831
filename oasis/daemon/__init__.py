"""The daemon oasisd: start, wiring, reload, stop."""
