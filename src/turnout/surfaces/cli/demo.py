"""`turnout demo`: one damaged conversation, rendered for every family, and each one's verdict."""

from __future__ import annotations

from typing import Any

import click

from ...history.ingest import ingest
from ...providers.request import render
from ...wire.check import check
from .output import table

TARGETS = (
    "openai:gpt-5.1",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-3-pro",
    "mistral:mistral-large-latest",
    "kimi:kimi-k2.5",
    "deepseek:deepseek-reasoner",
)


def _ai(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"speaker": "ai", "blocks": list(blocks), "metadata": {"provider": "kimi", "model": "kimi-k2.5"}}


def _call(number: int, name: str) -> dict[str, Any]:
    return {"type": "tool_call", "id": f"hist_tool_{number}", "name": name, "parameters": {"n": number}}


def _result(number: int, text: str) -> dict[str, Any]:
    block = {"type": "tool_response", "callId": f"hist_tool_{number}", "result": text}
    return {"speaker": "tool", "blocks": [block]}


CONVERSATION = [
    {"speaker": "human", "blocks": [{"type": "text", "text": "Look around and tell me what you see."}]},
    _ai({"type": "thinking", "thought": "First the list."}, _call(1, "list_directory")),
    _result(1, "a.py b.py"),
    _ai(
        {"type": "thinking", "thought": "Now five files at once."},
        *(_call(number, "read_file") for number in range(2, 7)),
    ),
    _result(3, "print('b')"),
    _ai({"type": "thinking", "thought": "Enough."}, {"type": "text", "text": "Two small Python files."}),
    {"speaker": "human", "blocks": [{"type": "text", "text": "Thanks. Go on with another model."}]},
]


@click.command()
def demo() -> None:
    """Show one conversation with a crashed batch of tools, valid for every provider.

    Five calls were made and one result came back; the other four are answered as
    interrupted, and each provider gets the ids it wants.
    """
    history = ingest(CONVERSATION, format="icontent")
    rows = []
    for target in TARGETS:
        request = render(history, target)
        report = request.report
        problems = check(target.partition(":")[0], request.body, model=request.target.model)
        verdict = "accepted" if not problems else f"refused: {problems[0].rule}"
        rows.append(
            (target, report.calls[1].projected, str(len(report.results)), str(len(report.synthetic)), verdict)
        )
    click.echo("Six calls, two results: the rest is answered as interrupted.\n")
    click.echo(table(("target", "second call is", "results", "synthetic", "verdict"), rows))
    click.echo("\nWhat was resolved:")
    for item in report.synthetic:
        click.echo(f"  {item.call_id}  {item.status}, {item.reason}")
