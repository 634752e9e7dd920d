"""What it costs to load turnout, beside a bare Python and the libraries that it is compared with.

The CPU time of a whole process, best of several rounds in which all take their turn. What is
compared is what comes on top of a bare start, in time and in modules. `import turnout` loads
nothing but itself, so what a program needs to hold a conversation is measured, too.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from bench.measure import print_table
from bench.starting import ROUNDS, Start, spent, starts

PEERS = ("openai", "anthropic", "litellm", "pydantic_ai", "langchain_core", "agents", "llm")
READY = {
    "turnout": "from turnout import Session\nfrom turnout.world.transport import HttpTransport",
    "openai": "from openai import AsyncOpenAI",
    "anthropic": "from anthropic import AsyncAnthropic",
    "litellm": "from litellm import acompletion",
    "pydantic_ai": "from pydantic_ai import Agent\nfrom pydantic_ai.models.openai import OpenAIChatModel",
    "langchain_openai": "from langchain_openai import ChatOpenAI",
    "agents": "from agents import Agent, OpenAIChatCompletionsModel",
}


def run() -> None:
    print("### Imported\n")
    lightest, fewest = _beside({name: f"import {name}" for name in ("turnout", *PEERS)})
    print(
        f"\nThe lightest peer: {lightest:.0f} times our time, {fewest:.0f} times our modules (10 is the aim)."
    )
    print("\n### Ready for a conversation: session, tools and HTTP client\n")
    lightest, fewest = _beside(READY)
    print(f"\nThe lightest peer: {lightest:.1f} times our time, {fewest:.1f} times our modules.")
    print("\n### Programs\n")
    _programs()


def _beside(statements: dict[str, str]) -> tuple[float, float]:
    """A table, and how many times our time and our modules the lightest peer takes."""
    present = {name: text for name, text in statements.items() if find_spec(name) is not None}
    found = starts(present.values())
    over = {name: found[text].over(found[""]) for name, text in present.items()}
    rows = []
    for name, more in sorted(over.items(), key=lambda item: item[1].seconds):
        times = (f"{part:.1f}" for part in _times(more, over["turnout"]))
        rows.append((name, f"{more.seconds * 1e3:.1f}", f"{more.modules:,}", *times))
    head = ("ms of CPU over a bare start", "modules over a bare start", "times our time", "times our modules")
    print_table(("library", *head), rows)
    peers = [_times(more, over["turnout"]) for name, more in over.items() if name != "turnout"]
    return min(time for time, _ in peers), min(modules for _, modules in peers)


def _times(more: Start, ours: Start) -> tuple[float, float]:
    """Less than a millisecond cannot be told from nothing here, so ours counts as one at least."""
    return more.seconds / max(ours.seconds, 1e-3), more.modules / ours.modules


def _programs() -> None:
    scripts = Path(sys.executable).parent
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "turnout --version": [str(scripts / "turnout"), "--version"],
        "llm --version": [str(scripts / "llm"), "--version"],
    }
    present = {name: command for name, command in commands.items() if Path(command[0]).exists()}
    best = dict.fromkeys(present, float("inf"))
    for _ in range(ROUNDS):
        for name, command in present.items():
            best[name] = min(best[name], spent(command))
    bare = best["python -c pass"]
    rows = [(name, f"{seconds * 1e3:.0f}", f"{seconds / bare:.1f}") for name, seconds in best.items()]
    print_table(("program", "ms of CPU", "times a bare Python"), rows)
