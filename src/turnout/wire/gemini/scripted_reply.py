"""Write a reply as Gemini does: one candidate of parts, whole or a part at a time.

The first call of a step carries the signature. A reply without calls carries it on an empty
text part at its end, as Gemini 3 does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...model import Stop, Usage
from ..shared.framing import Frame, Stream, frame, pieces
from ..shared.growing_bytes import Wire
from ..shared.reply import Call, Hosted, ReplyAuthor, ReplyForms, ReplyParts, Say, Think, stop_word

ENDS = ("finishReason", "finishMessage", "groundingMetadata")  # what the last chunk holds
STOPS: dict[Stop, str] = {
    "end": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "refused": "SAFETY",
    "error": "MALFORMED_FUNCTION_CALL",
}


def whole(reply: ReplyParts, author: ReplyAuthor, request: Wire | None = None) -> Wire:
    """The response as it comes when it is not streamed."""
    finish = stop_word(STOPS, reply, "Gemini")
    candidate: Wire = {
        "content": {"parts": list(_reply_parts(reply, author)), "role": "model"},
        "finishReason": finish,
        "index": 0,
    }
    if found := [part for part in reply.parts if isinstance(part, Hosted) and part.url]:
        candidate["groundingMetadata"] = _grounding_of(found)
    if reply.calls:
        candidate["finishMessage"] = "Model generated function call(s)."
    return {
        "candidates": [candidate],
        "usageMetadata": _usage_counts(author.count_tokens(reply)),
        "modelVersion": author.model,
        "responseId": author.draw("", 23),
    }


def _reply_parts(reply: ReplyParts, author: ReplyAuthor) -> Iterator[Wire]:
    signs = author.signs_calls or any(isinstance(part, Think) for part in reply.parts)
    unsigned = signs
    for place, part in enumerate(reply.parts):
        match part:
            case Say():
                yield {"text": part.text}
            case Think(hidden=False):
                yield {"text": part.text, "thought": True}
            case Call():
                signature = author.sign("gemini", signed_content(part.name)) if unsigned else ""
                yield _call_part(part, place, author, signature)
                unsigned = False
            case Hosted() if not part.url:
                yield from _hosted_parts(part)
    if unsigned and not reply.calls:
        yield {"text": "", "thoughtSignature": author.sign("gemini", signed_content(""))}


def signed_content(call: str) -> str:
    """What a signature signs: the call that it stands on, or the text."""
    return f"call:{call}" if call else "text"


def _call_part(part: Call, place: int, author: ReplyAuthor, signature: str) -> Wire:
    function: Wire = {"name": part.name, "args": part.arguments}
    if id := author.call_id(part.name, place, part.id):
        function["id"] = id
    return {"functionCall": function, **({"thoughtSignature": signature} if signature else {})}


def _hosted_parts(part: Hosted) -> Iterator[Wire]:
    code = f"{part.name}(**{part.arguments!r})"
    yield {"executableCode": {"language": "PYTHON", "code": code}}
    yield {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": part.result}}


def _grounding_of(found: list[Hosted]) -> Wire:
    """Pages that were found stand beside the parts."""
    return {
        "webSearchQueries": [str(part.arguments.get("query", part.result)) for part in found],
        "groundingChunks": [{"web": {"uri": part.url, "title": part.result}} for part in found],
    }


def _usage_counts(usage: Usage) -> Wire:
    total = (usage.input or 0) + (usage.output or 0) + (usage.reasoning or 0)
    counts: Wire = {
        "promptTokenCount": usage.input or 0,
        "candidatesTokenCount": usage.output or 0,
        "totalTokenCount": total if usage.total is None else usage.total,
    }
    if usage.cached_input:
        counts["cachedContentTokenCount"] = usage.cached_input
    if usage.reasoning:
        counts["thoughtsTokenCount"] = usage.reasoning
    return counts


def stream(response: Wire, author: ReplyAuthor, odd: Collection[str] = ()) -> Stream:
    """The same response in chunks; the last one says why it ends."""
    candidate = response["candidates"][0]
    shown = {name: value for name, value in response.items() if name != "candidates"}
    lists = [[part] for part in _streamed_parts(candidate["content"]["parts"], odd)]

    def chunk(parts: list[Wire], **ends: Any) -> Frame:
        content = {"parts": parts, "role": "model"}
        return frame({"candidates": [{"content": content, "index": 0, **ends}], **shown})

    ends = {name: candidate[name] for name in ENDS if name in candidate}
    if "one_chunk" in odd:
        return Stream((), (chunk([part for parts in lists for part in parts], **ends),), newline="\r\n")
    return Stream(tuple(map(chunk, lists)), (chunk([{"text": ""}], **ends),), newline="\r\n")


def _streamed_parts(parts: list[Wire], odd: Collection[str]) -> Iterator[Wire]:
    for part in parts:
        if "text" in part and "thoughtSignature" not in part:
            thought = {"thought": True} if part.get("thought") else {}
            yield from ({"text": piece, **thought} for piece in pieces(part["text"], 24))
            continue
        yield part
        if "repeated_call" in odd and "functionCall" in part and "thoughtSignature" in part:
            yield part


REPLY = ReplyForms(whole, stream)
