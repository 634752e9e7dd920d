"""The values a conversation is made of: blocks, turns, outcomes, entries, messages.

Everything here is frozen, and wrong states cannot be written: a tool result has no position,
the status of a call follows from its outcome, and private state of one provider (`Residue`)
is kept on the block it belongs to, with its origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from .errors import UsageError
from .plain import clean_text, dumps, limit_depth, plain

Status = Literal["complete", "error", "cancelled", "denied", "interrupted"]
Stop = Literal["end", "tool_calls", "length", "refused", "paused", "interrupted", "error", "other"]
Role = Literal["system", "user", "model", "tool"]
Scope = Literal["model", "account", "provider"]

STATUSES: tuple[str, ...] = get_args(Status)

ACCOUNTS = {"openai-responses": "openai", "azure-responses": "azure"}
"""Providers that are one account under two names: a file uploaded for one can be read by the other."""

FAMILIES = {"vertex": "gemini", "azure": "openai", "azure-responses": "openai-responses"}
"""Providers with the same API: what one understands, the other does too."""


class Origin(Struct, frozen=True, gc=False):
    """Who wrote a turn or a block; also the name of a target.

    An empty endpoint is the usual one of the provider. An empty model matches nothing.
    """

    provider: str
    endpoint: str = ""
    model: str = ""

    @classmethod
    def parse(cls, target: str | Origin) -> Origin:
        """Read `provider:model`, or `provider@endpoint:model` for a second account or host."""
        if isinstance(target, Origin):
            return target
        if not isinstance(target, str) or not target.strip():
            raise UsageError(f"{target!r} is not a target; write it as 'provider:model'")
        return _parse_origin(target.strip())

    def matches(self, other: Origin) -> bool:
        """Whether private state of one may be shown to the other."""
        same_place = (self.endpoint or self.provider) == (other.endpoint or other.provider)
        return (
            bool(self.model) and self.model == other.model and self.provider == other.provider and same_place
        )

    def shares_account(self, other: Origin) -> bool:
        """Whether both are the same account of a provider, with any model."""
        accounts = [ACCOUNTS.get(origin.provider, origin.provider) for origin in (self, other)]
        return accounts[0] == accounts[1] and self.endpoint == other.endpoint

    def shares_provider(self, other: Origin) -> bool:
        """Whether both use the API of the same provider, with any account and model."""
        families = [FAMILIES.get(origin.provider, origin.provider) for origin in (self, other)]
        return families[0] == families[1]

    def __str__(self) -> str:
        place = f"{self.provider}@{self.endpoint}" if self.endpoint else self.provider
        return f"{place}:{self.model}" if self.model else place


@lru_cache(maxsize=256)
def _parse_origin(target: str) -> Origin:
    """Cached, so that all turns of one model share one value."""
    place, _, model = target.partition(":")
    provider, _, endpoint = place.partition("@")
    return Origin(provider, endpoint, model)


class Residue(Struct, frozen=True, gc=False, omit_defaults=True):
    """Private state of one provider: signatures, encrypted reasoning, response ids.

    Only the protocol that wrote `data` reads it, and only `origin` gets it back. `scope` says how
    much of the origin must match: all of it (signatures of one model), the account (uploaded
    files), or the provider (forms of one API).
    """

    origin: Origin
    data: Any = None
    scope: Scope = "model"

    def may_go_to(self, reader: Origin) -> bool:
        """Whether the state may be sent to this reader."""
        match self.scope:
            case "model":
                return self.origin.matches(reader)
            case "account":
                return self.origin.shares_account(reader)
            case "provider":
                return self.origin.shares_provider(reader)


class Text(Struct, frozen=True, gc=False, tag="text"):
    """Text of the user or the model."""

    text: str
    residue: Residue | None = None


class Thinking(Struct, frozen=True, gc=False, tag="thinking"):
    """Thinking of the model; the text may be empty when the provider hides it."""

    text: str = ""
    residue: Residue | None = None


class ToolCall(Struct, frozen=True, gc=False, tag="tool_call"):
    """A call of a tool by the model. Without an id, `History.reply` gives it one.

    `arguments` is a copy. `raw` is the text that the model wrote, also when it is not
    JSON; `fault` names what is wrong with it (`truncated` calls are never run).
    """

    id: str = ""
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    raw_id: str = ""
    raw: str | None = None
    residue: Residue | None = None
    fault: str = ""

    def __post_init__(self) -> None:
        is_empty = type(self.arguments) is dict and not self.arguments
        snapshot = {} if is_empty else plain(self.arguments)
        force_setattr(self, "arguments", snapshot if isinstance(snapshot, dict) else {"value": snapshot})


def call_with_arguments(arguments: dict[str, Any], **fields: Any) -> ToolCall:
    """A call whose arguments were just read from JSON: they are plain and not shared, so not copied."""
    call = ToolCall(**fields)
    force_setattr(call, "arguments", arguments)
    return call


UNKNOWN_KIND = "*/*"
"""The type of a link whose type is not known."""


class Media(Struct, frozen=True, gc=False, tag="media"):
    """An image, sound or file: base64 `data`, or its address (`uri`)."""

    mime: str
    data: str = ""
    uri: str = ""
    name: str = ""
    residue: Residue | None = None


class Code(Struct, frozen=True, gc=False, tag="code"):
    """Source text in a language, with its output where it was run."""

    source: str
    language: str = ""
    output: str = ""
    residue: Residue | None = None


class Opaque(Struct, frozen=True, gc=False, tag="opaque"):
    """A block that only its provider understands: tools that the provider runs, unknown kinds."""

    kind: str
    text: str = ""
    residue: Residue | None = None


Block: TypeAlias = Text | Thinking | ToolCall | Media | Code | Opaque
"""A piece of a turn."""
Content: TypeAlias = Text | Media | Code | Opaque
CONTENT = (Text, Media, Code, Opaque)
BLOCKS = (*CONTENT, Thinking, ToolCall)
AnyBlock = TypeVar("AnyBlock", bound=Block)
Given: TypeAlias = (
    str | Content | Sequence[Content] | Mapping[str, Any] | Sequence[Any] | int | float | bool | None
)
"""The content of an outcome as callers may give it: text, blocks, or a JSON value."""


class Outcome(Struct, frozen=True, gc=False):
    """The outcome of a call.

    `content` may be given as text, a JSON value or blocks. `synthetic` outcomes were made
    by turnout because the real one never came; `reason` is a fixed word that says why. `source`
    says where the content came from (tool, web, mcp, subagent, user, model), "" if unknown.
    """

    status: Status
    content: tuple[Content, ...] = ()
    synthetic: bool = False
    reason: str = ""
    source: str = ""

    if TYPE_CHECKING:  # the constructor accepts more types than the field holds

        def __init__(
            self,
            status: Status,
            content: Given = (),
            synthetic: bool = False,
            reason: str = "",
            source: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise UsageError(f"{self.status!r} is not an outcome status; use one of {', '.join(STATUSES)}")
        force_setattr(self, "content", _content_of(self.content))

    @property
    def text(self) -> str:
        """The text of the outcome, without its media."""
        return "\n".join(block_text(block) for block in self.content if not isinstance(block, Media))


def _content_of(value: Any) -> tuple[Content, ...]:
    if isinstance(value, str):
        return (Text(clean_text(value)),)
    if isinstance(value, tuple) and all(type(block) is Text for block in value):
        return tuple(
            block if block.text == clean_text(block.text) else Text(clean_text(block.text)) for block in value
        )
    if isinstance(value, CONTENT):
        return (clean_block(value),)
    if isinstance(value, (tuple, list)) and value and all(isinstance(block, CONTENT) for block in value):
        return tuple(clean_block(block) for block in value)
    if value is None or value == ():
        return ()
    if any(
        isinstance(item, (ToolCall, Thinking))
        for item in (value if isinstance(value, (tuple, list)) else [value])
    ):
        raise UsageError("an outcome cannot hold calls or thinking; give text, media, code or JSON")
    return (Text(dumps(value)),)


def clean_block(block: AnyBlock) -> AnyBlock:
    """The block with clean texts, and with a residue that is not too deep to be stored."""
    changed: dict[str, Any] = {}
    for name in block.__struct_fields__:
        if isinstance(text := getattr(block, name), str) and (better := clean_text(text)) != text:
            changed[name] = better
    if (residue := bounded_residue(block.residue)) is not block.residue:
        changed["residue"] = residue
    return with_fields(block, **changed) if changed else block


def with_fields(block: AnyBlock, **changes: Any) -> AnyBlock:
    """The same block with other fields. Unlike `replace` it does not copy the arguments of a call again."""
    made = copy(block)
    for name, value in changes.items():
        force_setattr(made, name, value)
    return made


def bounded_residue(residue: Residue | None) -> Residue | None:
    """The same private state, not nested deeper than `MAX_DEPTH`."""
    if residue is None or (data := limit_depth(residue.data)) is residue.data:
        return residue
    return replace(residue, data=data)


def block_text(block: Block) -> str:
    """The block as plain text."""
    match block:
        case Text() | Thinking() | Opaque():
            return block.text
        case Code():
            fenced = f"```{block.language}\n{block.source}\n```"
            return f"{fenced}\n{block.output}" if block.output else fenced
        case Media():
            mime = "link" if block.mime == UNKNOWN_KIND else block.mime
            return f"[{' '.join(text for text in (mime, block.name, block.uri) if text)}]"
        case ToolCall():
            return f"{block.name}({dumps(block.arguments)})"


class Usage(Struct, frozen=True, gc=False, tag="usage"):
    """Token counts of the provider; None where it gave none."""

    input: int | None = None
    output: int | None = None
    total: int | None = None
    cached_input: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


class SystemTurn(Struct, frozen=True, gc=False, tag="system_turn"):
    """System or developer text in the middle of a conversation."""

    key: str
    blocks: tuple[Block, ...]


class UserTurn(Struct, frozen=True, gc=False, tag="user_turn"):
    """One turn of the user."""

    key: str
    blocks: tuple[Block, ...]


class ModelTurn(Struct, frozen=True, gc=False, tag="model_turn"):
    """One reply of the model, with the calls it made.

    `residue` is private state of the whole reply (a response id).
    """

    key: str
    origin: Origin
    blocks: tuple[Block, ...] = ()
    residue: Residue | None = None
    stop: Stop | Literal[""] = ""
    raw_stop: str = ""
    usage: Usage | None = None

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in this turn, in order."""
        return tuple([block for block in self.blocks if isinstance(block, ToolCall)])

    @property
    def text(self) -> str:
        """What the model said, without its thinking."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def thinking(self) -> str:
        """What the model thought, as far as it was shown."""
        return "".join(block.text for block in self.blocks if isinstance(block, Thinking))


Turn: TypeAlias = SystemTurn | UserTurn | ModelTurn
"""One thing said by the system, the user or the model."""


class Started(Struct, frozen=True, gc=False, tag="started"):
    """The record that a tool is about to run; arguments if a user or a repair changed them."""

    call_id: str
    arguments: dict[str, Any] | None = None


class Settled(Struct, frozen=True, gc=False, tag="settled"):
    """The record that one tool call reached its outcome."""

    call_id: str
    outcome: Outcome


class Compaction(Struct, frozen=True, tag="compaction"):
    """A summary replaces the turns through `through_key`, except the pinned ones.

    `shortened` replaces the text of single results of any turn.
    """

    through_key: str = ""
    summary: str = ""
    shortened: dict[str, str] = field(default_factory=dict)
    pinned: tuple[str, ...] = ()


class Rewind(Struct, frozen=True, tag="rewind"):
    """Return to the state after turn `to_key` ("" is the start)."""

    to_key: str = ""


class Note(Struct, frozen=True, tag="note"):
    """Data that models never read."""

    kind: str
    data: Any = None


Entry: TypeAlias = SystemTurn | UserTurn | ModelTurn | Started | Settled | Compaction | Rewind | Note
"""One line of the log that a history is."""


class ToolResponse(Struct, frozen=True, gc=False, tag="tool_response"):
    """A result in a rendered message. It exists only there."""

    call_id: str
    name: str
    outcome: Outcome


class Message(Struct, frozen=True, gc=False, tag="message"):
    """One rendered message: provider-neutral and valid.

    `origin` is set on model messages; `paused` on a turn that the provider expects back unchanged.
    """

    role: Role
    blocks: tuple[Block | ToolResponse, ...]
    origin: Origin | None = None
    residue: Residue | None = None
    paused: bool = False

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in this message."""
        return tuple([block for block in self.blocks if isinstance(block, ToolCall)])

    @property
    def responses(self) -> tuple[ToolResponse, ...]:
        """The results in this message."""
        return tuple([block for block in self.blocks if isinstance(block, ToolResponse)])


FUNCTION = "function"


class ToolSpec(Struct, frozen=True):
    """A tool as it is declared to a model.

    A `kind` other than "function" is the type of a tool that a provider runs or defines:
    `residue` holds its declaration, and only that provider gets it. On a function, `residue`
    holds the fields that one API adds.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    kind: str = FUNCTION
    strict: bool = False  # the provider is asked to guarantee the arguments
    residue: Residue | None = None

    @classmethod
    def of(cls, tool: Any) -> ToolSpec:
        """Read our own tools (anything with a `spec`), or `{"name", "description", "parameters"}`.

        A declaration as a provider or an MCP server writes it is read too.
        """
        from .declarations import specs_of  # it imports this module

        specs = specs_of([tool])
        if len(specs) > 1:
            names = ", ".join(spec.name for spec in specs)
            raise UsageError(f"this declares several tools ({names}); give it in a list of tools")
        return specs[0]

    @property
    def is_function(self) -> bool:
        """Whether it can be declared to every API, not only to one provider."""
        return self.kind == FUNCTION

    @property
    def declaration(self) -> dict[str, Any] | None:
        """The declaration in the form of its API, where that is special."""
        return self._private("declaration")

    @property
    def beside(self) -> dict[str, Any]:
        """The fields that only its own API has for this function."""
        return self._private("beside") or {}

    @property
    def namespace(self) -> dict[str, Any]:
        """The namespace of the tool, without its tools; {} where there is none."""
        return self._private("namespace") or {}

    def _private(self, name: str) -> dict[str, Any] | None:
        data = self.residue.data if self.residue is not None else None
        held = data.get(name) if isinstance(data, dict) else None
        return held if isinstance(held, dict) else None


def blocks_of(content: str | Block | Iterable[str | Block]) -> tuple[Block, ...]:
    """Blocks from a text, a block, or several of both."""
    if isinstance(content, str | Struct):
        content = [content]
    blocks = tuple([Text(item) if isinstance(item, str) else item for item in content])
    for block in blocks:
        if not isinstance(block, BLOCKS):
            raise UsageError(f"{block!r} is not a block; use Text, Thinking, ToolCall, Media, Code or Opaque")
    return blocks


def joined_text(blocks: Sequence[Any]) -> str:
    return "\n\n".join(block_text(block) for block in blocks if block_text(block))
