"""The format library: chats, ids, JSON lines and framing; runs under CPython and MicroPython."""
