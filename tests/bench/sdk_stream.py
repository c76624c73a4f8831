"""Decode a stream of Chat Completions from a file with the official client, and tell what that cost.

python3 sdk_stream.py FILE TIMES     prints the best time in seconds, the peak and the present size in KiB
"""

import sys
import time

import httpx
import openai


def size_kib(name: str) -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name))


def main(path: str, times: int) -> None:
    with open(path, "rb") as file:
        data = file.read()

    def answer(request: httpx.Request) -> httpx.Response:
        pieces = (data[at : at + 65536] for at in range(0, len(data), 65536))
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=pieces)

    http = httpx.Client(transport=httpx.MockTransport(answer))
    client = openai.OpenAI(api_key="k", base_url="http://h/v1", http_client=http)
    best, characters = 9e9, 0
    for _ in range(times):
        before = time.perf_counter()
        stream = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], stream=True)
        characters = sum([len(chunk.choices[0].delta.content or "") for chunk in stream if chunk.choices])
        best = min(best, time.perf_counter() - before)
    print(best, size_kib("VmHWM"), size_kib("VmRSS"), characters)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
