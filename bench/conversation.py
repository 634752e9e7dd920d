"""One agent's session, told in the words of every library that is measured.

The user asks, the model reads eight files of about 2 KB one after the other and answers:
18 messages a task. Every library gets the same texts, as its own documentation would have
a caller keep them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from turnout import History, Outcome, ToolCall

SYSTEM = (
    "You are a coding agent. You work in one repository with the tools you are given. Look before you act."
)
CALLS = 8
PER_TASK = 2 + 2 * CALLS
LINE = (
    'def handle_{n}(request: "Request") -> Response:  # line {n}: naïve, but it works\n    return ok({n})\n'
)

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where it lies, from the root of the repository."},
        "offset": {"type": "integer", "description": "The first line to read."},
    },
    "required": ["path"],
}
encode = msgspec.json.Encoder().encode
NAMES = ("read_file", "list_files", "search")
TOOLS = [{"name": name, "description": f"What {name} does.", "parameters": PARAMETERS} for name in NAMES]


class Step(Struct, frozen=True):
    """One thing that happens: the user asks, the model calls and is answered, or the model answers."""

    number: int
    said: str
    asks: bool = False
    result: str = ""  # of the call that it makes; "" where it makes none

    @property
    def calls(self) -> bool:
        return bool(self.result)

    @property
    def id(self) -> str:
        return f"call_{self.number:08d}abcdefghijklmnop"

    @property
    def arguments(self) -> dict[str, Any]:
        return {"path": f"src/package/module_{self.number}.py", "offset": self.number}


def call(number: int) -> Step:
    """The model reads one more file."""
    text = "".join(LINE.format(n=number + line) for line in range(21))
    return Step(number, "I look at the next file.", result=text)


def steps(messages: int) -> Iterator[Step]:
    """The steps that make about so many messages; the last one is the user's."""
    number = 0
    for task in range(messages // PER_TASK):
        yield Step(number, f"Task {task}: find out how requests are handled there, and say it.", asks=True)
        for _ in range(CALLS):
            number += 1
            yield call(number)
        yield Step(number, f"They are handled one by one, as task {task} wants it.")
    yield Step(number, "And now?", asks=True)


# turnout


def history(messages: int) -> History:
    made = History("bench", system=SYSTEM, tools=TOOLS)
    for step in steps(messages):
        if step.asks:
            made.user(step.said)
        else:
            take(made, step)
    return made


def take(made: History, step: Step, origin: str = "openai:gpt-5.1") -> None:
    """The model's part of one step."""
    if not step.calls:
        made.reply(origin, step.said)
        return
    turn = made.reply(origin, [step.said, ToolCall(step.id, "read_file", step.arguments)])
    made.settle(turn.tool_calls[0].id, Outcome("complete", step.result))


# the official SDKs, and litellm: dicts


def chat(messages: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
    for step in steps(messages):
        if step.asks:
            made.append({"role": "user", "content": step.said})
        elif not step.calls:
            made.append({"role": "assistant", "content": step.said})
        else:
            function = {"name": "read_file", "arguments": encode(step.arguments).decode()}
            calls = [{"id": step.id, "type": "function", "function": function}]
            made.append({"role": "assistant", "content": step.said, "tool_calls": calls})
            made.append({"role": "tool", "tool_call_id": step.id, "content": step.result})
    return made


def anthropic(messages: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for step in steps(messages):
        text = {"type": "text", "text": step.said}
        if step.calls:
            use = {"type": "tool_use", "id": step.id, "name": "read_file", "input": step.arguments}
            result = {"type": "tool_result", "tool_use_id": step.id, "content": step.result}
            made.append({"role": "assistant", "content": [text, use]})
            made.append({"role": "user", "content": [result]})
        else:
            made.append({"role": "user" if step.asks else "assistant", "content": [text]})
    return made


def gemini(messages: int) -> list[Any]:
    from google.genai import types

    made: list[Any] = []
    for step in steps(messages):
        said = types.Part.from_text(text=step.said)
        if step.calls:
            use = types.Part.from_function_call(name="read_file", args=step.arguments)
            result = types.Part.from_function_response(name="read_file", response={"output": step.result})
            made.append(types.Content(role="model", parts=[said, use]))
            made.append(types.Content(role="user", parts=[result]))
        else:
            made.append(types.Content(role="user" if step.asks else "model", parts=[said]))
    return made


# pydantic-ai and langchain: one shape for every provider


def pydantic_ai(messages: int) -> list[Any]:
    from pydantic_ai import messages as m

    made: list[Any] = [m.ModelRequest(parts=[m.SystemPromptPart(SYSTEM)])]
    for step in steps(messages):
        if step.asks:
            made.append(m.ModelRequest(parts=[m.UserPromptPart(step.said)]))
        elif not step.calls:
            made.append(m.ModelResponse(parts=[m.TextPart(step.said)]))
        else:
            use = m.ToolCallPart("read_file", step.arguments, step.id)
            made.append(m.ModelResponse(parts=[m.TextPart(step.said), use]))
            made.append(m.ModelRequest(parts=[m.ToolReturnPart("read_file", step.result, step.id)]))
    return made


def langchain(messages: int) -> list[Any]:
    from langchain_core import messages as m

    made: list[Any] = [m.SystemMessage(SYSTEM)]
    for step in steps(messages):
        if step.asks:
            made.append(m.HumanMessage(step.said))
        elif not step.calls:
            made.append(m.AIMessage(step.said))
        else:
            use = m.ToolCall(name="read_file", args=step.arguments, id=step.id)
            made.append(m.AIMessage(step.said, tool_calls=[use]))
            made.append(m.ToolMessage(step.result, tool_call_id=step.id, name="read_file"))
    return made
