"""The problem in one picture: a conversation that gets a 400 as it is, and the same one going through.

Nothing in it is made up. The words of the 400 are what `turnout.check` says of the body that a plain
translation gives; the lines below are what `turnout.render` gives.
"""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import turnout

from .svg import box, label, svg

TARGET = "anthropic:claude-sonnet-5"
CALLS = {"functions.read:0": "a.py", "functions.read:1": "b.py"}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "user", "content": "Read both files."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": call,
                "type": "function",
                "function": {"name": "read", "arguments": f'{{"path": "{path}"}}'},
            }
            for call, path in CALLS.items()
        ],
    },
    {"role": "tool", "tool_call_id": "functions.read:0", "content": "x = 1"},
    {"role": "user", "content": "Never mind. What is in a.py?"},
]
PLAIN_TRANSLATION: dict[str, Any] = {
    "model": "claude-sonnet-5",
    "max_tokens": 1000,
    "tools": [{"name": "read", "input_schema": {"type": "object", "properties": {}}}],
    "messages": [
        {"role": "user", "content": "Read both files."},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": call, "name": "read", "input": {"path": path}}
                for call, path in CALLS.items()
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "functions.read:0", "content": "x = 1"},
                {"type": "text", "text": "Never mind. What is in a.py?"},
            ],
        },
    ],
}
WIDTH, LINE, INSET, CHARACTERS = 560, 17, 34, 68


def draw_problem_picture() -> str:
    """Three boxes: the conversation, what happens to it as it is, and what happens through turnout."""
    parts: list[str] = []
    y = 16.0
    for kind, title, lines, verdict in (
        ("box", "A conversation with Kimi. The user spoke before b.py was read.", _conversation_lines(), ""),
        ("bad", "Next turn with Claude, as it is", _refusals(), "400"),
        ("good", "Next turn with Claude, through turnout", _accepted_lines(), "accepted"),
    ):
        height = 34 + LINE * len(lines)
        parts += [box(16, y, WIDTH - 32, height, kind), label(28, y + 22, title, "name")]
        if verdict:
            parts.append(label(WIDTH - 28, y + 22, verdict, f"title {kind}text", "end"))
        parts += [label(INSET, y + 42 + LINE * at, line, "code") for at, line in enumerate(lines)]
        y += height + 12
    return svg(
        WIDTH, int(y) + 4, "A conversation that one API refuses as it is, and takes through turnout", parts
    )


def _conversation_lines() -> list[str]:
    calls = [
        f"model  {call['id']}  read {call['function']['arguments']}" for call in CONVERSATION[1]["tool_calls"]
    ]
    return [
        f"user   {CONVERSATION[0]['content']}",
        *calls,
        f"tool   {CONVERSATION[2]['tool_call_id']}  {CONVERSATION[2]['content']}",
        f"user   {CONVERSATION[3]['content']}",
    ]


def _refusals() -> list[str]:
    """The first refusal of each rule, in the words of the API."""
    first = {
        problem.rule: problem.answer for problem in reversed(turnout.check("anthropic", PLAIN_TRANSLATION))
    }
    texts = [first[rule] for rule in sorted(first)]
    return [line for text in texts for line in wrap(text.partition(" Each ")[0], CHARACTERS)]


def _accepted_lines() -> list[str]:
    """The messages that Claude gets. They are checked here, so that the picture cannot claim too much."""
    history = turnout.ingest(CONVERSATION, format="openai-chat", origin="kimi:kimi-k3")
    request = turnout.render(history, to=TARGET)
    if problems := turnout.check("anthropic", request.body):
        raise ValueError(f"the picture says that this is accepted: {problems}")
    return [line for message in request.json["messages"] for line in _message_lines(message)]


def _message_lines(message: dict[str, Any]) -> list[str]:
    return [line for block in message["content"] for line in _block_lines(message["role"], block)]


def _block_lines(role: str, block: dict[str, Any]) -> list[str]:
    match block["type"]:
        case "text":
            return [f"{role[:5]:<6} {block['text']}"]
        case "tool_use":
            return [f'model  {_short(block["id"])}  read {{"path": "{block["input"]["path"]}"}}']
        case _:
            first, *rest = wrap(block["content"], CHARACTERS - 24)
            return [f"tool   {_short(block['tool_use_id'])}  {first}", *(" " * 23 + line for line in rest)]


def _short(call_id: str) -> str:
    return f"{call_id[:13]}…"
