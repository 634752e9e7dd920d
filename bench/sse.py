"""How far the SSE decoder stands from the floor: split lines, decode each JSON, nothing else.

Both sides run in turn in one process, best of several rounds; the ratio is what counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import msgspec

from turnout.streaming.frames import FrameDecoder
from turnout.streaming.sse import SseDecoder

decode = msgspec.json.Decoder().decode

CHAT = (
    '{"id":"chatcmpl-9abc","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5.1",'
    '"service_tier":"default","system_fingerprint":"fp_50cad350e4","choices":[{"index":0,'
    '"delta":{"content":" word%d%s"},"logprobs":null,"finish_reason":null}],"usage":null}'
)
ANTHROPIC = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" word%d%s"}}'
GEMINI = (
    '{"candidates": [{"content": {"parts": [{"text": " word%d%s"}],"role": "model"},"index": 0}],'
    '"usageMetadata": {"promptTokenCount": 12,"candidatesTokenCount": 9,"totalTokenCount": 21},'
    '"modelVersion": "gemini-3-pro","responseId": "abcdefghij"}'
)


def streams(size: int) -> Iterator[tuple[str, bytes]]:
    shapes = {
        "chat": "data: " + CHAT + "\n\n",
        "anthropic": "event: content_block_delta\ndata: " + ANTHROPIC + "\n\n",
        "gemini (CRLF)": "data: " + GEMINI + "\r\n\r\n",
    }
    for name, shape in shapes.items():
        count = size // len(shape)
        for kind, accent in (("ascii", ""), ("utf-8", "é漢")):
            yield f"{name}, {kind}", "".join(shape % (n, accent) for n in range(count)).encode()


def floor(chunks: list[bytes]) -> int:
    count = 0
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data: "):
                decode(line[6:])
                count += 1
    return count


def sse(chunks: list[bytes]) -> int:
    decoder = SseDecoder()
    count = 0
    for chunk in chunks:
        for event in decoder.feed(chunk):
            decode(event.data)
            count += 1
    return count


def frames(chunks: list[bytes]) -> int:
    decoder = FrameDecoder()
    count = 0
    for chunk in chunks:
        for frame in decoder.feed(chunk):
            decode(frame.data)
            count += 1
    return count


def best(run: Callable[[list[bytes]], int], chunks: list[bytes], rounds: int = 5) -> tuple[float, int]:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        count = run(chunks)
        times.append(time.perf_counter() - start)
    return min(times), count


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def extremes() -> Iterator[tuple[str, list[bytes]]]:
    long = b'data: {"text":"' + b"x" * 10_000_000 + b'"}\n\n'
    yield "one 10 MB event in 4 KB chunks", cut(long, 4096)
    yield "one 10 MB event in 64 KB chunks", cut(long, 65536)
    tiny = b"data: {}\n\n" * 1_000_000
    yield "a million tiny events in 4 KB chunks", cut(tiny, 4096)
    yield "a million tiny events in 64 KB chunks", cut(tiny, 65536)


def main() -> None:
    print("per event          in µs: floor, sse, frames      to floor: sse, frames")
    for name, data in streams(4_000_000):
        for size in (1024, 16384, 65536):
            chunks = cut(data, size)
            low, count = best(floor, chunks)
            middle, same = best(sse, chunks)
            high, again = best(frames, chunks)
            assert count == same == again
            micro = "".join(f"{spent / count * 1e6:8.2f}" for spent in (low, middle, high))
            print(f"{name:<22} {size:>6} {micro} {middle / low:8.2f} {high / low:8.2f}")
    for name, chunks in extremes():
        spent, _ = best(sse, chunks, rounds=2)
        print(f"{name:<42} {spent * 1e3:>8.1f} ms")


if __name__ == "__main__":
    main()
