"""A request body of any API: the conversation, and all options that it asks for.

What two or more APIs have becomes a neutral option. What only one API has is kept as it was
written (`Options.private`) and goes back to that API alone. What no target can get is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ...errors import UsageError
from ...history.ingest import ReadBody, ingest_body
from ...history.ingest.issued import issued_of
from ...history.log import History
from ...model import Origin, Residue
from ...wire.options import CHOICES, Options
from ...wire.shared.sdk import KNOWN as FIELDS_OF_API
from ..source_names import source_names
from . import anthropic, chat, cohere, converse, gemini, ollama, responses
from .fields import Fields

STRICT_CHAT = ("openai", "azure", "mistral")
CONVERSE_FIELDS = (
    *("inferenceConfig", "toolConfig", "guardrailConfig", "additionalModelRequestFields", "promptVariables"),
    *("additionalModelResponseFieldPaths", "requestMetadata", "performanceConfig", "serviceTier"),
    "outputConfig",
)
KNOWN = {
    **FIELDS_OF_API,
    "converse": frozenset(CONVERSE_FIELDS),
    "invoke": FIELDS_OF_API["anthropic"],
    "cohere": frozenset({"documents", "citation_options", "safety_mode", "priority", "strict_tools"}),
    "gemini": frozenset({"toolConfig", "safetySettings", "cachedContent", "labels"}),
}
READERS: dict[str, Callable[[Fields], dict[str, Any]]] = {
    "chat": chat.read_options,
    "responses": responses.read_options,
    "anthropic": anthropic.read_options,
    "gemini": gemini.read_options,
    "ollama": ollama.read_options,
    "cohere": cohere.read_options,
    "converse": converse.read_options,
    "invoke": anthropic.read_options,
}


class InboundRequest(Struct, frozen=True):
    """A request as it came in: render it for any target with `render(history, to, options=options)`.

    `dropped` names what no target can get, with the reason. `cache_marks` counts the markers of the prompt
    cache: they are set anew, where the target has any.
    """

    history: History
    options: Options
    stream: bool
    dropped: tuple[str, ...]
    cache_marks: int = 0


def read_request(
    body: Any,
    format: str = "openai-chat",
    origin: str | Origin | None = None,
    *,
    key: str = "ingest",
    onto: History | Sequence[History] | None = None,
    issued: Any = None,
) -> InboundRequest:
    """Everything that a request body holds, valid or not.

    `body` is a request body (or just its messages) as `ingest` takes them; `origin` says which
    provider it was written for, if that is not the usual one of its format. `onto` is the history
    of an earlier request of the same client, as in `ingest`; of several, the first that fits is used.
    `issued` names ids that you gave to the client, as in `ingest`.
    """
    known = (onto,) if isinstance(onto, History) else tuple(onto or ())
    read = ingest_body(body, format, origin, key, known, issued_of(issued))
    fields = Fields(read.fields)
    fields.take("model", str)  # who spoke: the history knows it
    asked_stream = fields.take("stream", bool)
    stream = read.api == "ollama" if asked_stream is None else asked_stream  # Ollama streams by default
    reader = READERS.get(read.api)
    found = reader(fields) if reader is not None else {}
    marks = _add_cache_ttl(found, read, fields)
    _add_held(found, read, fields)
    _drop_foreign(read, fields)
    asked = _options(found, read.history, fields)
    spelled = chat.spelled_options(fields) if read.api == "chat" else {}
    names = source_names(fields.taken)
    if fields.leftover or spelled or names:
        data: dict[str, Any] = {"api": read.api, "fields": fields.leftover}
        data |= {"spelled": spelled} if spelled else {}
        data |= {"names": names} if names else {}
        asked = replace(asked, private=Residue(read.origin, data))
    return InboundRequest(read.history, asked, stream, tuple(fields.dropped), marks)


def _options(found: dict[str, Any], history: History, fields: Fields) -> Options:
    """The options that are valid; the others are dropped with the reason."""
    kept: dict[str, Any] = {}
    for name, value in found.items():
        try:
            Options.of({**kept, name: value})
        except UsageError as error:
            fields.drop(name, str(error))
        else:
            kept[name] = value
    _check_choice(kept, history, fields)
    return Options.of(kept)


def _check_choice(kept: dict[str, Any], history: History, fields: Fields) -> None:
    choice = kept.get("tool_choice")
    names = {tool.name for tool in history.tools}
    if choice in CHOICES and (names or choice != "required"):
        return
    if choice is not None and choice not in names:
        del kept["tool_choice"]
        fields.drop("tool_choice", f"{choice} is not among the tools" if names else "there are no tools")


def _drop_foreign(read: ReadBody, fields: Fields) -> None:
    """Fields of another API, which this one refuses: "Extra inputs are not permitted"."""
    if read.api in ("chat", "ollama") and read.origin.provider not in STRICT_CHAT:
        return  # servers that pass over what they do not know
    others = set().union(*(known for api, known in KNOWN.items() if api != read.api))
    for name in sorted(others.intersection(fields.leftover) - KNOWN.get(read.api, frozenset())):
        fields.remove(name)
        fields.drop(name, f"a field of another API; {read.origin.provider} refuses requests with it")


def _add_held(found: dict[str, Any], read: ReadBody, fields: Fields) -> None:
    """Continue from the state that the provider holds, if the request goes there again."""
    if "response_id" in read.held:
        found["chain"] = True
    if conversation := read.held.get("conversation"):
        if any(item.code == "unknown_call" for item in read.history.diagnostics):
            fields.drop("conversation", f"{conversation} holds calls that are not here")
            return
        fields.leftover["conversation"] = conversation
        fields.leftover.setdefault("store", True)  # the default of the API


# Cache markers


def _add_cache_ttl(found: dict[str, Any], read: ReadBody, fields: Fields) -> int:
    """Cache markers in messages, system text and tools become one option that every API has; their number."""
    marks = [*_marks_in(read.marked_values), *_marks_in(found.pop("cache_control", None))]
    if any(mark.get("ttl") == "1h" for mark in marks):
        found.setdefault("cache_ttl", "1h")
    if marks and read.api == "chat":
        fields.drop("cache_control", f"{len(marks)} markers in messages: Chat targets cache by themselves")
    return len(marks)


def _marks_in(value: Any) -> list[dict[str, Any]]:
    """The cache markers in a value, at any depth."""
    if isinstance(value, list):
        return [mark for item in value for mark in _marks_in(item)]
    if not isinstance(value, dict):
        return []
    held = value.get("cache_control", value.get("cachePoint"))
    own = [held] if isinstance(held, dict) else []
    return own + [mark for name, item in value.items() if name != "cache_control" for mark in _marks_in(item)]
