"""What is said in random conversations: blocks, ids, outcomes, as friendly and as hostile as they come."""

from __future__ import annotations

from random import Random
from typing import Any

from turnout.model import Block, Code, Media, Opaque, Origin, Outcome, Residue, Text, Thinking, ToolCall
from turnout.targets.target import find_target as target
from turnout.wire.anthropic.dialect import AnthropicDialect
from turnout.wire.gemini.dialect import GeminiDialect
from turnout.wire.responses.dialect import ResponsesDialect

TOOLS = ("read_file", "write", "shell", "a.b/c d", "größe", "x" * 90, "9lives", "lone\ud800")
IMAGE = "iVBORw0KGgo="
TEXTS = (
    "hello",
    "let me see",
    "  \n",
    "",
    "naïve ☃ 🚂",
    "a\ud800b",
    "nul\0",
    "line\r\nline",
    "<think>hm</think>",
)


def text(dice: Random) -> str:
    return dice.choice(TEXTS) if dice.random() < 0.4 else f"words {dice.randrange(1000)}"


def raw_id(dice: Random, label: str) -> str:
    """An id as some server gave it; `label` keeps canonical ones apart."""
    kind = dice.randrange(10)
    if kind == 0:
        return ""
    if kind == 1:
        return "call_0"
    if kind == 2:
        return "x" * 200
    if kind == 3:
        return f"functions.read_file:{dice.randrange(2)}"
    if kind == 4:
        return f"hist_tool_kept{label}"
    if kind == 5:
        return "hist_tool_with:foreign|characters"
    if kind == 7:
        return "lone\udfff"
    if kind == 6:
        return f"toolu_{dice.randrange(3)}"
    return f"call_{dice.randrange(10**9)}"


def arguments(dice: Random) -> Any:
    choices: list[Any] = [
        {},
        {"path": "a.txt"},
        {"n": dice.randrange(9), "deep": {"list": [1, None, "ü", 2.5]}},
        {"text": "a\udc00b", "nan": float("nan")},
        {"set": {1}, "bytes": b"\xff"},
    ]
    return dice.choice(choices)


def call(dice: Random, label: str, origin: Origin) -> ToolCall:
    name = dice.choice(TOOLS[:3]) if dice.random() < 0.8 else dice.choice(TOOLS)
    residue = None
    if dice.random() < 0.4:
        residue = Residue(origin, {"thought_signature": "c2lnbmVk"})
    return ToolCall(raw_id(dice, label), name, arguments(dice), residue=residue)


def thinking(dice: Random, origin: Origin) -> Thinking:
    """A thought; half of them with what its provider wants to have back."""
    said = dice.choice(("hm", "", "so that is it"))
    return Thinking(said, Residue(origin, _signed(origin, said))) if dice.random() < 0.6 else Thinking(said)


def _signed(origin: Origin, said: str) -> Any:
    dialect = target(origin).dialect
    if isinstance(dialect, AnthropicDialect):
        return {"signature": "c2lnbmVk"} if said else {"redacted": "aGlkZGVu"}
    if isinstance(dialect, GeminiDialect):
        return {"thought_signature": "c2lnbmVk"}
    if isinstance(dialect, ResponsesDialect):
        return {"item": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}}
    if origin.provider == "openrouter":
        return {
            "reasoning_details": [
                {"type": "reasoning.text", "text": said or "hm", "format": "unknown", "index": 0}
            ]
        }
    return {"field": "reasoning_content"}


def media(dice: Random) -> Media:
    kinds = (
        Media("image/png", data=IMAGE),
        Media("image/jpeg", uri="https://example.com/a.jpg"),
        Media("application/pdf", data="JVBERi0=", name="a.pdf"),
        Media("audio/wav", data="UklGRg=="),
        Media("text/plain", data="aGVsbG8=", name="a.txt"),
        Media("application/x-unheard-of", data="AAAA"),
        Media("image/jpeg", data=IMAGE),  # it says JPEG and is PNG
        Media("image/png", data="not base64!"),
        Media("image/png"),
        Media("", data=IMAGE),
    )
    return dice.choice(kinds)


def opaque(dice: Random, origin: Origin) -> Opaque:
    if not isinstance(target(origin).dialect, AnthropicDialect) or dice.random() < 0.5:
        return Opaque("something_new", dice.choice(("", "what it said")))
    return Opaque("something_new", residue=Residue(origin, {"block": {"type": "text", "text": "cited"}}))


def spoken(dice: Random) -> list[Block]:
    """What a user may say."""
    blocks: list[Block] = []
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        kind = dice.random()
        if kind < 0.7:
            blocks.append(Text(text(dice)))
        elif kind < 0.85:
            blocks.append(media(dice))
        else:
            blocks.append(dice.choice((Code("print(1)", "python", "1\ud800"), Opaque("card", "a\0card"))))
    return blocks


def replied(dice: Random, origin: Origin) -> list[Block]:
    """What a model may say, calls aside."""
    blocks: list[Block] = []
    for _ in range(dice.choice((1, 1, 2, 3))):
        kind = dice.random()
        if kind < 0.45:
            blocks.append(Text(text(dice)))
        elif kind < 0.8:
            blocks.append(thinking(dice, origin))
        elif kind < 0.9:
            blocks.append(Code("print(1)\ud800", "python"))
        else:
            blocks.append(dice.choice((media(dice), opaque(dice, origin))))
    return blocks


def outcome(dice: Random, status: Any = "complete") -> Outcome:
    kind = dice.random()
    if kind < 0.6:
        return Outcome(status, text(dice))
    if kind < 0.75:
        return Outcome(status, {"rows": [1, 2], "note": None})
    if kind < 0.85:
        return Outcome(status, (Text("here"), media(dice)))
    return dice.choice(
        (Outcome(status), Outcome(status, (Code("1\0", "python"),)), Outcome(status, (media(dice),)))
    )
