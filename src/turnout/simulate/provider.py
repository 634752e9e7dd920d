"""One simulated provider: it refuses what the real one refuses, then answers as the script says.

It checks the key, then the rules of `wire/check`, then what needs memory: signatures and
encrypted content that it did not issue, responses that it does not know. Only a request that
passes all checks is answered, so a script advances by accepted requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ..errors import UsageError
from ..streaming.eventstream import FAILED
from ..wire.check import Problem, check
from ..wire.protocol import find_protocol
from ..wire.responses import scripted_reply as responses_reply
from ..wire.shared.framing import CONTENT_TYPES, Frame, Stream, encode, frame
from ..wire.shared.growing_bytes import Wire
from . import failure_response as failing
from .memory import Memory
from .provider_ids import Mint, Seal
from .refusal_response import refusal_response
from .request import Route, SimulatedRequest, parse_body, route_of
from .script import Drop, HttpError, MidStreamError, Raw, Reply, Step, script, step
from .speaker import Speaker
from .stream_arrival import Break, Piece, first_byte_delay, play_stream, play_whole

Source: TypeAlias = Callable[[SimulatedRequest], Any]
"""Decides the answer: takes a request, returns a step in any form that `step` reads."""

_SIGNED = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/,\s]+)/")
READ_AUTHORIZATION_ONLY = ("bedrock", "cohere", "vertex")
READ_API_KEY = ("azure", "azure-responses")
"""They take a bearer or the header `api-key`."""
KEYLESS = ("ollama", "vllm", "llamacpp", "lmstudio", "compatible")


class SimulatedAnswer(Struct, frozen=True):
    """An answer: after `delay`, a status (0: no connection) and pieces of a body."""

    status: int
    headers: dict[str, str]
    pieces: tuple[Piece, ...] = ()
    delay: float = 0.0
    problems: tuple[Problem, ...] = ()
    step: Step | None = None
    asked: SimulatedRequest | None = None

    @property
    def body(self) -> bytes:
        """All bytes of the body."""
        return b"".join(piece for piece in self.pieces if isinstance(piece, bytes))


class ScriptSource:
    """A source that gives the steps of a script, one for each request."""

    def __init__(self, steps: Iterable[Any]) -> None:
        self._steps = script(steps)
        self._given = 0

    @property
    def steps_left(self) -> int:
        """How many steps were not asked for yet."""
        return len(self._steps) - self._given

    def __call__(self, asked: SimulatedRequest) -> Step:
        if not self.steps_left:
            raise UsageError(f"the script has only {len(self._steps)} steps; add one for this request")
        self._given += 1
        return self._steps[self._given - 1]


def source_of(given: Any) -> Source:
    """A script, or a callable that answers requests."""
    return given if callable(given) else ScriptSource(given)


class SimulatedProvider:
    """The provider of that name, with all its accounts."""

    def __init__(
        self,
        name: str,
        source: Any,
        *,
        keys: Mapping[str, str] | Collection[str] | None = None,
        asks_for_key: bool = True,
        seed: str = "turnout",
    ) -> None:
        self.name = name
        self._source = source_of(source)
        self._keys = keys if keys is None or isinstance(keys, Mapping) else dict.fromkeys(keys, "")
        self._asks_for_key = asks_for_key and name not in KEYLESS
        self._mint = Mint(f"{seed}|{name}")
        self._memories: dict[str, Memory] = {}

    def answer(self, url: str, headers: Mapping[str, str], body: bytes) -> SimulatedAnswer:
        """The answer to this request."""
        given = {name.lower(): value for name, value in headers.items()}
        found = route_of(url)
        if found is None:
            return self._failure_answer("no_route", "chat", path=urlsplit(url).path)
        key = _api_key_of(given, url, self.name)
        if (refused := self._key_refusal(key, found, given)) is not None:
            return refused
        memory = self._memory_of(key)
        asked = SimulatedRequest(self.name, found, parse_body(body))
        problems = [*self._problems_of(asked, given, body), *memory.problems(asked)]
        if problems:
            return self._refusal_answer(problems, asked)
        asked.earlier = memory.earlier(asked)
        return self._perform_step(step(self._source(asked)), asked, memory, len(body))

    def _memory_of(self, key: str) -> Memory:
        account = (self._keys or {}).get(key, "")
        if account not in self._memories:
            self._memories[account] = Memory(Seal(f"{self.name}|{account}"))
        return self._memories[account]

    # Refusing

    def _key_refusal(self, key: str, found: Route, headers: Mapping[str, str]) -> SimulatedAnswer | None:
        if self._asks_for_key and not key:
            return self._failure_answer("no_key", found.protocol)
        if self._keys is not None and self.name not in KEYLESS and key not in self._keys:
            return self._failure_answer("auth", found.protocol, key=key)
        if found.protocol == "anthropic" and not found.model and "anthropic-version" not in headers:
            return self._failure_answer("no_version", "anthropic")
        return None

    def _failure_answer(self, error: HttpError | str, protocol: str, **words: str) -> SimulatedAnswer:
        sent = failing.failure_response(error, self.name, protocol, **words)
        return SimulatedAnswer(sent.status, _json_headers(sent.headers), (sent.body,))

    def _problems_of(self, asked: SimulatedRequest, headers: Mapping[str, str], body: bytes) -> list[Problem]:
        """What the real provider refuses; warnings pass, as they do there."""
        if find_protocol(asked.protocol).checker is None:
            return []
        rules = "ollama-native" if asked.protocol == "ollama" else self.name
        return check(rules, asked.body or body, model=asked.model, headers=headers)

    def _refusal_answer(self, problems: list[Problem], asked: SimulatedRequest) -> SimulatedAnswer:
        sent = refusal_response(problems, self.name, asked.protocol, asked.model)
        return SimulatedAnswer(
            sent.status, _json_headers(sent.headers), (sent.body,), problems=tuple(problems), asked=asked
        )

    # Answering

    def _perform_step(
        self, wanted: Step, asked: SimulatedRequest, memory: Memory, size: int
    ) -> SimulatedAnswer:
        match wanted:
            case Reply():
                answer = self._reply_answer(wanted, asked, memory, size)
            case HttpError():
                answer = self._failure_answer(wanted, asked.protocol, model=asked.model)
            case Drop():
                answer = SimulatedAnswer(0, {}, (Break(),))
            case Raw():
                answer = SimulatedAnswer(
                    wanted.status, {"content-type": wanted.content_type}, (wanted.body.encode(),)
                )
        return replace(answer, step=wanted, asked=asked)

    def _reply_answer(
        self, reply: Reply, asked: SimulatedRequest, memory: Memory, size: int
    ) -> SimulatedAnswer:
        speaker = self._speaker(asked, memory, size)
        encoder = find_protocol(asked.protocol).reply
        said = encoder.whole(reply, speaker, asked.body)
        memory.remember(asked, said)
        late = first_byte_delay(reply.faults)
        if not asked.streams:
            error = next((fault for fault in reply.faults if isinstance(fault, MidStreamError)), None)
            if error is not None:  # nothing was sent yet, so the status can report it
                return self._failure_answer(HttpError(error.kind, message=error.message), asked.protocol)
            body = encode(_wrap_for_code_assist(asked, encoder.body(said)))
            return SimulatedAnswer(200, _json_headers(), tuple(play_whole(body, reply.faults)), late)
        stream = encoder.stream(said, speaker, reply.odd)
        if asked.protocol == "gemini":
            stream = _as_asked(stream, asked)
        error_frames = self._error_frames(reply, asked, said)
        pieces = tuple(play_stream(stream, reply.faults, reply.odd, error_frames))
        return SimulatedAnswer(200, {"content-type": CONTENT_TYPES[stream.framing]}, pieces, late)

    def _speaker(self, asked: SimulatedRequest, memory: Memory, size: int) -> Speaker:
        body = asked.body
        options = body.get("stream_options")
        include = body.get("include")
        return Speaker(
            provider=self.name,
            model=asked.model,
            mint=self._mint,
            seal=memory.seal,
            usage=isinstance(options, dict) and bool(options.get("include_usage")),
            wants_encrypted=isinstance(include, list) and "reasoning.encrypted_content" in include,
            called=asked.call_count,
            prompt_tokens=size // 4,
        )

    def _error_frames(self, reply: Reply, asked: SimulatedRequest, said: Wire) -> list[Frame]:
        """The frames of a failure of this provider in the middle of a stream."""
        error = next((fault for fault in reply.faults if isinstance(fault, MidStreamError)), None)
        if error is None:
            return []
        words = failing.failure_in_stream(error.kind, error.message, self.name, asked.protocol, asked.model)
        shown = failing.envelope(words, self.name, asked.protocol)
        match asked.protocol:
            case "anthropic":
                return [frame(shown, "error")]
            case "converse" | "invoke":
                return [frame(shown, f"{FAILED}{words.type[0].lower()}{words.type[1:]}")]
            case "responses":
                code = words.code or ("server_error" if error.kind == "server" else "server_is_overloaded")
                return [responses_reply.failed_frame(said, str(code), words.message)]
            case "chat" if self.name == "openrouter":
                choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
                return [frame({"id": said["id"], "choices": [choice], **shown}), Frame(b"[DONE]")]
            case _:
                return [frame(shown)]


def _api_key_of(headers: Mapping[str, str], url: str, provider: str) -> str:
    """The key, "" if it does not stand where this provider looks for one."""
    bearer = headers.get("authorization", "")
    if bearer.lower().startswith("bearer "):
        return bearer[len("bearer ") :].strip()
    if provider in READ_AUTHORIZATION_ONLY:  # Bedrock knows who asks by the id of the key that signed
        signed = _SIGNED.match(bearer) if provider == "bedrock" else None
        return signed[1] if signed else ""
    for name in ("api-key",) if provider in READ_API_KEY else ("x-api-key", "x-goog-api-key", "api-key"):
        if headers.get(name):
            return headers[name]
    if provider in READ_API_KEY:
        return ""
    return (parse_qs(urlsplit(url).query).get("key") or [""])[0]


def _json_headers(more: Mapping[str, str] | None = None) -> dict[str, str]:
    return {"content-type": "application/json", **(more or {})}


def _wrap_for_code_assist(asked: SimulatedRequest, body: Wire) -> Wire:
    return {"response": body} if asked.route.enveloped else body


def _as_asked(stream: Stream, asked: SimulatedRequest) -> Stream:
    """Gemini streams an array without `alt=sse`; Code Assist wraps every chunk."""
    if not asked.route.sse:
        stream = replace(stream, framing="array")
    if not asked.route.enveloped:
        return stream

    def wrap_frame(item: Frame) -> Frame:
        return Frame(b'{"response":' + item.data + b"}") if item.data else item

    return replace(
        stream, body=tuple(map(wrap_frame, stream.body)), ending=tuple(map(wrap_frame, stream.ending))
    )
