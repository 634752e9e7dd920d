"""The model made of rules: it calls what fits, answers from results, and holds at every provider."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.simulate.talk import ask
from tests.simulate.targets import TARGETS

from turnout.history.log import History
from turnout.model import Outcome
from turnout.simulate import Call, ScriptedModel
from turnout.simulate.model import demo
from turnout.world.world import World

TEXT = {"type": "string"}


def declared(name: str, *required: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": dict.fromkeys(required, TEXT), "required": list(required)}
    return {"name": name, "description": f"The tool {name}.", "parameters": parameters}


TOOLS = [
    declared("codebase_overview"),
    declared("read_file", "path"),
    declared("list_directory"),
    declared("grep", "pattern"),
    declared("write_file", "path", "content"),
    declared("edit_file", "path", "old_text", "new_text"),
    declared("shell", "command"),
    declared("weather", "city"),
]


def called(question: str, tools: Any = TOOLS, **options: Any) -> list[Call]:
    """The calls that the model makes first."""
    history = History("h")
    history.user(question)
    turn = ask(history, "openai:gpt-4o", ScriptedModel(demo), tools=tools, **options)
    return [Call(call.name, call.arguments) for call in turn.tool_calls]


@pytest.mark.parametrize(
    ("question", "calls"),
    [
        ("Help me to understand the code", [Call("codebase_overview")]),
        (
            "Please read a.py and src/b.py",
            [Call("read_file", {"path": path}) for path in ("a.py", "src/b.py")],
        ),
        ("Run `wc -l a.py` for me", [Call("shell", {"command": "wc -l a.py"})]),
        ("search for TODO", [Call("grep", {"pattern": "TODO"})]),
        ("Which files are there? List the files.", [Call("list_directory")]),
        (
            'Replace "old" with "new" in notes.txt',
            [Call("edit_file", {"path": "notes.txt", "old_text": "old", "new_text": "new"})],
        ),
        ("Write notes.txt with hello", [Call("write_file", {"path": "notes.txt", "content": "hello\n"})]),
        ("What is the weather in Paris and Oslo?", [Call("weather", {"city": c}) for c in ("Paris", "Oslo")]),
        ("Good morning!", []),
    ],
)
def test_it_calls_the_tools_that_fit(question: str, calls: list[Call]) -> None:
    """Plain requests become calls, several at once where several fit."""
    assert called(question) == calls


def test_it_calls_only_what_it_has_and_may() -> None:
    """A tool that is not declared, or calls that are switched off, are left alone."""
    assert called("Read a.py", tools=[declared("weather", "city")]) == []
    assert called("Read a.py", tool_choice="none") == []


def answered(outcome: Outcome) -> str:
    """What it says when its one call came to this."""
    history = History("h")
    history.user("Read a.py")
    ask(history, "openai:gpt-4o", ScriptedModel(demo), tools=TOOLS)
    history.settle(history.open_calls[0].call.id, outcome)
    return ask(history, "anthropic:claude-sonnet-4-5", ScriptedModel(demo), tools=TOOLS).text


def test_it_answers_from_results() -> None:
    """What a tool gave, what failed, and what never ran are told apart."""
    assert "print(42)" in answered(Outcome("complete", "print(42)"))  # type: ignore[arg-type]
    assert "failed: no such file" in answered(Outcome("error", "no such file"))  # type: ignore[arg-type]
    assert "gave no result: The user refused" in answered(Outcome("denied"))


@pytest.mark.parametrize("name", TARGETS)
def test_a_conversation_with_it_works_everywhere(name: str) -> None:
    """Overview, a second look, an answer, a question from memory: nothing is refused."""
    transport = ScriptedModel(demo)
    history = History("h")
    history.user("Give me an overview of this project")
    assert ask(history, name, transport, tools=TOOLS).tool_calls[0].name == "codebase_overview"
    history.settle(history.open_calls[0].call.id, Outcome("complete", "Python. README.md begins: Hi."))  # type: ignore[arg-type]
    assert ask(history, name, transport, tools=TOOLS).tool_calls[0].arguments == {"path": "README.md"}
    history.settle(history.open_calls[0].call.id, Outcome("complete", "# Hello"))  # type: ignore[arg-type]
    assert "# Hello" in ask(history, name, transport, tools=TOOLS).text
    history.user("Thanks, that was it?")

    assert "I know 2 tool results" in ask(history, name, transport, tools=TOOLS).text
    assert transport.refusals == []


def test_it_works_with_the_tools_that_come_along(tmp_path: Path) -> None:
    """In a session with real files: three targets, one conversation."""
    from turnout import Session
    from turnout.tools.builtin import BUILTIN

    (tmp_path / "README.md").write_text("# A small project\n")
    (tmp_path / "a.py").write_text("print(42)\n")
    transport = ScriptedModel(demo)

    async def talk() -> list[str]:
        texts = []
        session = Session(
            "anthropic:claude-sonnet-4-5",
            tools=BUILTIN,
            workspace=tmp_path,
            world=World(
                transport=transport,
                environment={"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"},
            ),
        )
        async with session:
            for name, prompt in (
                ("anthropic:claude-sonnet-4-5", "Help me understand the code"),
                ("openai-responses:gpt-5.1", "Read a.py and README.md"),
                ("gemini:gemini-3-pro-preview", "Search for 42"),
            ):
                session.switch(name)
                async for _ in session.run(prompt):
                    pass
                texts.append(session.history.turns[-1].text)
        return texts

    overview, files, found = asyncio.run(talk())
    assert "A small project" in overview
    assert "print(42)" in files and "# A small project" in files
    assert "a.py" in found
    assert transport.refusals == []
