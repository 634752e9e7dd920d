"""What the terminal program costs: its start beside a bare Python, and a fast answer on the screen.

The program runs in a pseudo-terminal as users run it; its CPU time is read from the kernel.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.surfaces.program import Program
from tests.world.raw_server import DONE, END, chunk, headers

from bench.measure import print_table

ROUNDS = 7
RATE = 500
SECONDS = 8
PARAGRAPH = (
    "Here is what I found. The **parser** reads a line, looks at its first word, and asks the table "
    "for a rule; `parse()` never looks back.\n\n- one thing\n- another thing, with some more words\n\n"
    "```python\ndef parse(line: str) -> Rule | None:\n    name, _, rest = line.partition(' ')\n"
    "    return TABLE.get(name)\n```\n\n| name | what it does |\n|---|---|\n| read | reads a file |\n\n"
)


def run() -> None:
    _starts()
    print()
    _streaming()


def _starts() -> None:
    rows = []
    bare = _best([sys.executable, "-c", "pass"])
    for name, words in {
        "python -c pass": ["-c", "pass"],
        "turnout --version": ["-m", "turnout", "--version"],
        "turnout --help": ["-m", "turnout", "--help"],
    }.items():
        wall, cpu = _best([sys.executable, *words])
        rows.append((name, f"{wall * 1e3:.0f}", f"{cpu * 1e3:.0f}", f"{cpu / bare[1]:.1f}"))
    wall, cpu = min(_first_prompt() for _ in range(ROUNDS))
    rows.append(
        ("turnout, until the first prompt", f"{wall * 1e3:.0f}", f"{cpu * 1e3:.0f}", f"{cpu / bare[1]:.1f}")
    )
    print_table(("start", "ms", "ms of CPU", "times a bare Python"), rows)


def _best(command: list[str]) -> tuple[float, float]:
    return min(_started(command) for _ in range(ROUNDS))


def _started(command: list[str]) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _first_prompt() -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        with Program(["-m", "openai:gpt-4o"], _environment(place), Path(place)) as program:
            program.wait(r"^❯")
            return time.perf_counter() - began, _cpu(program.pid)


def _environment(place: str, port: int = 9) -> dict[str, str]:
    address = f"http://127.0.0.1:{port}/v1"
    return {"HOME": place, "PATH": os.environ["PATH"], "OPENAI_API_KEY": "x", "OPENAI_BASE_URL": address}


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _streaming() -> None:
    """One answer of many tokens a second: the share of a core that showing it takes."""
    with (
        tempfile.TemporaryDirectory() as place,
        _fast_model() as port,
        Program(["-m", "openai:gpt-4o", "--no-store"], _environment(place, port), Path(place)) as program,
    ):
        program.wait(r"^❯$")
        program.say("warm up")
        program.wait(r"reads a file.*THE END")
        before, began = _cpu(program.pid), time.perf_counter()
        program.say("go")
        program.wait(r"THE END.*THE END", timeout=SECONDS * 6)
        took, spent = time.perf_counter() - began, _cpu(program.pid) - before
    tokens = RATE * SECONDS
    row = (f"{tokens / took:.0f}", f"{took:.1f}", f"{spent:.2f}", f"{spent / took:.1%}")
    print_table(("tokens a second", "seconds", "seconds of CPU", "share of a core"), [row])


@contextmanager
def _fast_model() -> Iterator[int]:
    """A server that says little first, and then RATE tokens a second."""
    ready = threading.Event()
    port: list[int] = []

    async def serve() -> None:
        asked = 0

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            head = await reader.readuntil(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length:")[2].split()[0])
            await reader.readexactly(size)
            asked += 1
            writer.write(headers())
            await _speak(writer, RATE * SECONDS if asked > 1 else 120)
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port.append(server.sockets[0].getsockname()[1])
        ready.set()
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    ready.wait()
    yield port[0]


async def _speak(writer: asyncio.StreamWriter, tokens: int) -> None:
    loop = asyncio.get_running_loop()
    began, at = loop.time(), 0
    text = PARAGRAPH * (tokens * 4 // len(PARAGRAPH) + 1)
    for token in range(tokens):
        writer.write(chunk(_event(text[at : at + 4])))
        at += 4
        if (ahead := began + (token + 1) / RATE - loop.time()) > 0:
            await writer.drain()
            await asyncio.sleep(ahead)
    writer.write(chunk(_event("\n```\n\nTHE END") + DONE) + END)
    await writer.drain()


def _event(text: str) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    body = {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "gpt-4o",
        "choices": [choice],
    }
    if "THE END" in text:
        choice["finish_reason"] = "stop"
    return b"data: " + json.dumps(body).encode() + b"\n\n"
