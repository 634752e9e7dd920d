"""Put the same questions to several models, and compare their answers and what they cost.

    export OPENAI_API_KEY=… ANTHROPIC_API_KEY=…
    python examples/compare_models.py questions.jsonl answers.jsonl

Run it again after an interruption: a question that has its answer in `answers.jsonl` is not asked again.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Iterator

import msgspec

import turnout

MODELS = ["openai:gpt-5.2", "anthropic:claude-sonnet-5"]


class Verdict(msgspec.Struct):
    """What we want to know of each model: its answer, and how sure it is of it, from 0 to 100."""

    answer: str
    sure: int


def questions(path: str) -> Iterator[str]:
    """The questions of a JSONL file, a text in each line."""
    with open(path, encoding="utf-8") as file:
        yield from (str(json.loads(line)) for line in file if line.strip())


async def compare(path: str, results: str) -> dict[str, dict[str, Verdict]]:
    """Every question with the verdict of each model."""
    pool = turnout.Pool(MODELS, output=Verdict, results=results, concurrency=8, cost=2.00, rate=600)
    found: defaultdict[str, dict[str, Verdict]] = defaultdict(dict)
    async for result in pool.run(questions(path)):
        if result.error is not None:
            print(f"{result.prompt}: {result.target} did not answer: {result.error}", file=sys.stderr)
            continue
        found[result.prompt][result.target] = result.output
    print(f"${pool.cost:.4f} in all", file=sys.stderr)
    return found


def main() -> None:
    for question, verdicts in asyncio.run(compare(sys.argv[1], sys.argv[2])).items():
        print(question)
        for model, verdict in sorted(verdicts.items()):
            print(f"  {model}: {verdict.answer} ({verdict.sure} %)")


if __name__ == "__main__":
    main()
