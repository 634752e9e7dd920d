"""Write a reply as Ollama's own API does: JSON lines, the last of them `done`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...model import Stop
from ..shared.framing import Frame, Stream, frame, pieces
from ..shared.growing_bytes import Wire
from ..shared.reply import ReplyAuthor, ReplyForms, ReplyParts, stop_word

STOPS: dict[Stop, str] = {"end": "stop", "tool_calls": "stop", "length": "length"}
CREATED = "2026-09-21T14:13:20.000000Z"


def whole(reply: ReplyParts, author: ReplyAuthor, request: Wire | None = None) -> Wire:
    """The answer as it comes when it is not streamed."""
    done_reason = stop_word(STOPS, reply, "Ollama")
    message: Wire = {"role": "assistant", "content": reply.text}
    if reply.thinking:
        message["thinking"] = reply.thinking
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": author.call_id(call.name, place, call.id),
                "function": {"index": place, "name": call.name, "arguments": call.arguments},
            }
            for place, call in enumerate(reply.calls)
        ]
    counts = author.count_tokens(reply)
    return {
        "model": author.model,
        "created_at": CREATED,
        "message": message,
        "done": True,
        "done_reason": done_reason,
        "prompt_eval_count": counts.input or 0,
        "eval_count": counts.output or 0,
    }


def stream(answer: Wire, author: ReplyAuthor, odd: Collection[str] = ()) -> Stream:
    """The same answer line by line."""
    base = {"model": answer["model"], "created_at": answer["created_at"]}
    lines = [
        frame({**base, "message": part, "done": False}) for part in _streamed_messages(answer["message"])
    ]
    last: Frame = frame({**answer, "message": {"role": "assistant", "content": ""}})
    return Stream(tuple(lines), (last,), framing="lines")


def _streamed_messages(message: Wire) -> Iterator[Wire]:
    for piece in pieces(message.get("thinking", "")):
        yield {"role": "assistant", "content": "", "thinking": piece}
    for piece in pieces(message["content"]):
        yield {"role": "assistant", "content": piece}
    for call in message.get("tool_calls", ()):
        yield {"role": "assistant", "content": "", "tool_calls": [call]}


REPLY = ReplyForms(whole, stream)
