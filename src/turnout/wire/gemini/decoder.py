"""Read Gemini generateContent: chunks of a stream or a whole body become events.

Every chunk is a response with a list of parts. The first candidate is the reply. A signature
belongs to the part it came on and never moves: a signed text part is a block of its
own, even if its text is empty. The finish reason may come before the last chunk (usage
follows it), so the reply is done when the bytes end.

Nearly every chunk holds plain text parts. Those are decoded straight into small structs. All
other chunks are read as plain dicts.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ...history.opaque_text import words_of
from ...model import Code, Media, Opaque, Origin, Residue, Stop, Usage
from ...plain import count_in, dict_in, dumps, list_in, loads, text_in
from ...streaming.reply import NOTHING, Events, ReplyBuilder
from ..failure.read_failure import is_failure, stream_failure, undecodable
from .camel import in_camel, is_snake
from .grounding import GROUNDING, grounding_blocks
from .partial_args import PartialArgs

STOPS: dict[str, Stop] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "MODEL_ARMOR": "refused",
    "IMAGE_SAFETY": "refused",
    "IMAGE_PROHIBITED_CONTENT": "refused",
    "IMAGE_RECITATION": "refused",
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MALFORMED_RESPONSE": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
}

REASON_OF_NUMBER = {1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION"}
"""Some clients write enums as numbers; beyond these the two Google APIs count differently."""


class _Part(Struct, gc=False, forbid_unknown_fields=True):
    text: str
    thought: bool = False


class _Content(Struct, gc=False, forbid_unknown_fields=True):
    parts: list[_Part]
    role: str = ""


class _Candidate(Struct, gc=False, forbid_unknown_fields=True):
    content: _Content
    index: int = 0


class _Chunk(Struct, gc=False, forbid_unknown_fields=True):
    candidates: tuple[_Candidate]
    usageMetadata: msgspec.Raw = msgspec.Raw()
    modelVersion: msgspec.Raw = msgspec.Raw()
    responseId: msgspec.Raw = msgspec.Raw()
    createTime: msgspec.Raw = msgspec.Raw()


_decode_chunk = msgspec.json.Decoder(_Chunk).decode


class GeminiDecoder:
    """Feed the chunks of one reply; get events, and the turn from `reply`."""

    def __init__(self, origin: Origin, turn_key: str) -> None:
        self.reply = ReplyBuilder(origin, turn_key)
        self.reply.count = self._count_usage
        self._is_plain = False  # nothing is open that the next chunk may continue
        self._counts = msgspec.Raw()
        self._raw_stop = ""
        self._refused = False
        self._code: dict[str, Any] | None = None
        self._calls = 0
        self._partial: PartialArgs | None = None
        self._signed: dict[str, tuple[str, str]] = {}
        self._grounding: dict[str, Any] = {}

    def feed(self, event: str, data: bytes) -> Events:
        """The events of one chunk."""
        if self._is_plain:
            try:
                chunk = _decode_chunk(data)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return self._feed_general(data)
            if chunk.candidates[0].index == 0:
                return self._feed_plain(chunk)
        return self._feed_general(data)

    def _feed_plain(self, chunk: _Chunk) -> Events:
        if chunk.usageMetadata:
            self._counts = chunk.usageMetadata
        parts = chunk.candidates[0].content.parts
        if len(parts) == 1:
            part = parts[0]
            return self.reply.thinking(part.text) if part.thought else self.reply.text(part.text)
        events: list[Any] = []
        for part in parts:
            events += self.reply.thinking(part.text) if part.thought else self.reply.text(part.text)
        return events

    def _feed_general(self, data: bytes) -> Events:
        try:
            payload = loads(data)
        except (ValueError, RecursionError):
            if self.reply.ended or data.strip() in (b"", b"[DONE]"):
                return NOTHING
            return self.reply.fail(*undecodable(data))
        return self.feed_payload(payload)

    def feed_payload(self, payload: Any) -> Events:
        """The events of one chunk that is decoded already."""
        if self.reply.ended:
            return NOTHING
        if isinstance(payload, list):  # a whole array where one chunk was expected
            return [event for item in payload for event in self.feed_payload(item)]
        if not isinstance(payload, dict):
            return self.reply.fail("malformed", f"a chunk is not an object: {dumps(payload)[:200]}")
        if isinstance(payload.get("response"), dict) and "candidates" not in payload:
            payload = payload["response"]  # Code Assist wraps each chunk
        if payload.get("error"):
            return self._fail_reply(payload)
        return self._read_chunk(in_camel(payload) if is_snake(payload) else payload)

    def whole(self, body: Any) -> Events:
        """The events of a reply that came as one JSON body."""
        events = self.feed_payload(body)
        if self.reply.ended:
            return events
        if isinstance(body, dict) and not self._raw_stop and not list_in(_response(body).get("candidates")):
            if is_failure(body):
                return [*events, *self._fail_reply(body)]
            return [
                *events,
                *self.reply.fail("malformed", f"the body holds no candidates: {dumps(body)[:200]}"),
            ]
        return [*events, *self._finish_reply()]

    def close(self) -> Events:
        """The end of the bytes. A reply without a finish reason was cut off."""
        if self._raw_stop:
            return self._finish_reply()
        cut = "the stream ended without a finish reason"
        return [*self._flush_code(), *self.reply.fail("truncated", cut)]

    def _finish_reply(self) -> Events:
        stop = STOPS.get(self._raw_stop, "other") if self._raw_stop else "end"
        ending = [*self._flush_code()]
        for block in grounding_blocks(self._grounding, self.reply.origin):
            ending += self.reply.opaque(block)
        return [*ending, *self.reply.done("refused" if self._refused else stop, self._raw_stop)]

    def _fail_reply(self, payload: dict[str, Any]) -> Events:
        cause = stream_failure(payload)
        return self.reply.fail(cause.kind, cause.message, cause)

    # -- a chunk

    def _read_chunk(self, chunk: dict[str, Any]) -> Events:
        if isinstance(chunk.get("usageMetadata"), dict):
            self._counts = msgspec.Raw(msgspec.json.encode(chunk["usageMetadata"]))
        if isinstance(chunk.get("responseId"), str):
            self.reply.mark_reply({"id": chunk["responseId"]})
        events = list(self._feedback(dict_in(chunk.get("promptFeedback"))))
        candidate = _first_candidate(chunk.get("candidates"))
        for part in list_in(dict_in(candidate.get("content")).get("parts")):
            events += self._part(dict_in(part))
        self._note_finish(candidate)
        for name in GROUNDING:
            if isinstance(candidate.get(name), dict) and candidate[name]:
                self._grounding[name] = {**self._grounding.get(name, {}), **candidate[name]}
        self._is_plain = self._code is None and self._partial is None
        return events

    def _feedback(self, feedback: dict[str, Any]) -> Events:
        """The prompt was blocked, so the provider's reason is the whole reply."""
        reason = feedback.get("blockReason")
        if not reason:
            return NOTHING
        self._refused = True
        self._raw_stop = self._raw_stop or str(reason)
        said = feedback.get("blockReasonMessage")
        return self.reply.text(
            said if isinstance(said, str) and said else f"The prompt was blocked: {reason}."
        )

    def _note_finish(self, candidate: dict[str, Any]) -> None:
        reason = candidate.get("finishReason")
        if isinstance(reason, int) and not isinstance(reason, bool):
            reason = REASON_OF_NUMBER.get(reason, str(reason) if reason else "")
        if isinstance(reason, str) and reason not in ("", "FINISH_REASON_UNSPECIFIED"):
            self._raw_stop = reason
        if isinstance(candidate.get("finishMessage"), str) and STOPS.get(self._raw_stop) == "error":
            self.reply.mark_reply({"finish_message": candidate["finishMessage"]})

    def _count_usage(self) -> Usage | None:
        if not self._counts:
            return None
        try:
            return _usage_in(dict_in(loads(bytes(self._counts))))
        except ValueError:  # the counts were kept as raw bytes, which may not be valid text
            return None

    # -- its parts

    def _part(self, part: dict[str, Any]) -> Events:
        if "codeExecutionResult" in part and self._code is not None:
            return self._flush_code(part)
        before = self._flush_code()
        return (*before, *self._read_part(part)) if before else self._read_part(part)

    def _read_part(self, part: dict[str, Any]) -> Events:
        signature = part.get("thoughtSignature")
        marks = {"thought_signature": signature} if isinstance(signature, str) and signature else {}
        if isinstance(part.get("functionCall"), dict):
            return self._add_call(part["functionCall"], marks)
        if isinstance(part.get("executableCode"), dict):
            self._code = part
            return NOTHING
        for name in ("inlineData", "fileData"):
            if isinstance(part.get(name), dict) and part.get("thought") is not True:
                return self._add_media(part[name], marks)
        if isinstance(part.get("text"), str) or not part.keys() - {"thought", "thoughtSignature"}:
            return self._add_text_part(part, marks)
        return self._opaque(part)

    def _add_text_part(self, part: dict[str, Any], marks: dict[str, Any]) -> Events:
        text = part.get("text") or ""
        if part.get("thought") is True:
            events = self.reply.thinking(text)
            return (*events, *self.reply.end_thinking(marks)) if marks else events
        if not marks:
            return self.reply.text(text)
        ending = self.reply.end_thinking()
        self.reply.open_text()
        return (*ending, *self.reply.text(text), *self.reply.end_text(marks))

    def _add_media(self, blob: dict[str, Any], marks: dict[str, Any]) -> Events:
        residue = Residue(self.reply.origin, marks) if marks else None
        data, uri, name = (text_in(blob.get(key)) for key in ("data", "fileUri", "displayName"))
        mime = text_in(blob.get("mimeType")) or "application/octet-stream"
        return self.reply.opaque(Media(mime, data, uri, name, residue))

    def _opaque(self, part: dict[str, Any]) -> Events:
        kind = next((name for name in part if name not in ("thought", "thoughtSignature")), "unknown")
        words = text_in(dict_in(part.get(kind)).get("output")) or words_of(kind, part.get(kind))
        residue = Residue(self.reply.origin, {"parts": [part]})
        return self.reply.opaque(Opaque(kind, words, residue))

    def _flush_code(self, result: dict[str, Any] | None = None) -> Events:
        """Code that the provider ran, with its result if that came next."""
        if self._code is None:
            return NOTHING
        parts = [self._code] if result is None else [self._code, result]
        code = dict_in(self._code["executableCode"])
        output = text_in(dict_in((result or {}).get("codeExecutionResult")).get("output"))
        self._code = None
        residue = Residue(self.reply.origin, {"parts": parts})
        language = text_in(code.get("language")).lower()
        return self.reply.opaque(Code(text_in(code.get("code")), language, output, residue))

    # -- calls

    def _add_call(self, call: dict[str, Any], marks: dict[str, Any]) -> Events:
        if self._partial is not None and not text_in(call.get("name")):
            return self._continue_call(call)
        unfinished = self._end_partial_call()
        if not text_in(call.get("name")):
            return unfinished
        if call.get("willContinue") is True or call.get("partialArgs"):
            return (*unfinished, *self._begin_call(call, marks))
        if self._is_repeat(call, marks):
            return unfinished
        said = (text_in(call.get("id")), call["name"], _args_text(call.get("args")))
        return (*unfinished, *self.reply.whole_call(*said, self._next_key(), marks))

    def _is_repeat(self, call: dict[str, Any], marks: dict[str, Any]) -> bool:
        """Some proxies send a part again with the next chunk. The same signature shows it. Two equal
        calls without signatures are two calls, as when a model rolls a die twice."""
        signature = marks.get("thought_signature")
        if not signature:
            return False
        said = (call["name"], _args_text(call.get("args")))
        if self._signed.get(signature) == said:
            return True
        self._signed[signature] = said
        return False

    def _next_key(self) -> int:
        self._calls += 1
        return self._calls

    def _begin_call(self, call: dict[str, Any], marks: dict[str, Any]) -> Events:
        self._partial = PartialArgs()
        events = self.reply.start_call(self._next_key(), text_in(call.get("id")), call["name"])
        if marks:
            self.reply.mark_call(self._calls, marks)
        return (*events, *self._continue_call(call))

    def _continue_call(self, call: dict[str, Any]) -> Events:
        assert self._partial is not None
        for partial in list_in(call.get("partialArgs")):
            self._partial.add(partial)
        if isinstance(call.get("args"), dict):
            self._partial.value.update(call["args"])
        return NOTHING if call.get("willContinue") is True else self._end_partial_call()

    def _end_partial_call(self) -> Events:
        """The arguments are complete, so they can be sent on as text."""
        if self._partial is None:
            return NOTHING
        value, self._partial = self._partial.value, None
        return self.reply.complete_call(self._calls, arguments=dumps(value))


def _args_text(args: Any) -> str:
    return "" if args is None else dumps(args)


def _response(body: dict[str, Any]) -> dict[str, Any]:
    return body["response"] if isinstance(body.get("response"), dict) else body


def _first_candidate(candidates: Any) -> dict[str, Any]:
    """The first candidate; the others are other replies to the same prompt."""
    return next((item for item in map(dict_in, list_in(candidates)) if item.get("index") in (None, 0)), {})


def _usage_in(counts: dict[str, Any]) -> Usage:
    return Usage(
        input=count_in(counts.get("promptTokenCount")),
        output=count_in(counts.get("candidatesTokenCount")),
        total=count_in(counts.get("totalTokenCount")),
        cached_input=count_in(counts.get("cachedContentTokenCount")),
        reasoning=count_in(counts.get("thoughtsTokenCount")),
    )
