"""The same as sdk_stream.py with our decoder."""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from oasis.providers import openai_chat, profiles


def size_kib(name: str) -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name))


def main(path: str, times: int) -> None:
    with open(path, "rb") as file:
        data = file.read()
    options = {"profile": {**profiles()["openai"], "id": "openai"}, "model": "m", "stream": True}
    best, characters = 9e9, 0
    for _ in range(times):
        before = time.perf_counter()
        decoder = openai_chat.Decoder(200, {"content-type": "text/event-stream"}, options)
        characters = 0
        for at in range(0, len(data), 65536):
            characters += sum([len(e["text"]) for e in decoder.feed(data[at : at + 65536]) if e["type"] == "delta"])
        assert decoder.close() == [] and decoder.is_ended
        best = min(best, time.perf_counter() - before)
    print(best, size_kib("VmHWM"), size_kib("VmRSS"), characters)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
