"""Check the blocks that only Anthropic understands, before they go back to it.

A history may have been cut, edited or merged. The API refuses the whole request for one block
that lacks a required field, so a damaged block is sent as text or left out.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from ..shared.growing_bytes import Wire

# What the API takes back without a beta header. Blocks of other kinds are sent as text.
SERVER_TOOLS = (
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
)

BETA_SERVER_TOOLS = ("advisor",)
BETA_BLOCKS = (
    "mcp_tool_use",
    "mcp_tool_result",
    "mcp_tool_listing",
    "advisor_tool_result",
    "compaction",
    "fallback",
    "tool_addition",
    "tool_removal",
    "tool_reference",  # stands in results only
)
KIND = re.compile(r"[a-z][a-z0-9_]*")
INSIDE_OTHERS = ("_result", "_error", "_location", "_output")  # kinds that stand inside other blocks only

Base64 = Annotated[str, Meta(pattern=r"^[A-Za-z0-9+/_-]+={0,2}$")]
ServerId = Annotated[str, Meta(pattern=r"^srvtoolu_[a-zA-Z0-9_]+$")]
Said = Annotated[str, Meta(pattern=r"\S")]


class _Block(Struct, tag_field="type"):
    """A block is known by its type. Only the required keys are checked."""


# Citations


class _CharLocation(_Block, tag="char_location"):
    cited_text: str
    document_index: int
    document_title: str | None
    start_char_index: int
    end_char_index: int


class _PageLocation(_Block, tag="page_location"):
    cited_text: str
    document_index: int
    document_title: str | None
    start_page_number: int
    end_page_number: int


class _BlockLocation(_Block, tag="content_block_location"):
    cited_text: str
    document_index: int
    document_title: str | None
    start_block_index: int
    end_block_index: int


class _WebLocation(_Block, tag="web_search_result_location"):
    cited_text: str
    encrypted_index: str
    title: str | None
    url: str


class _SearchLocation(_Block, tag="search_result_location"):
    cited_text: str
    search_result_index: int
    source: str
    title: str | None
    start_block_index: int
    end_block_index: int


Citation = _CharLocation | _PageLocation | _BlockLocation | _WebLocation | _SearchLocation


# What a user shows


class _Text(_Block, tag="text"):
    text: Said
    citations: list[Citation] | None = None


class _Base64Image(_Block, tag="base64"):
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    data: Base64


class _Url(_Block, tag="url"):
    url: Said


class _Held(_Block, tag="file"):
    file_id: Said


class _Image(_Block, tag="image"):
    source: _Base64Image | _Url | _Held


class _Base64Pdf(_Block, tag="base64"):
    media_type: Literal["application/pdf"]
    data: Base64


class _PlainText(_Block, tag="text"):
    media_type: Literal["text/plain"]
    data: Said


class _Contents(_Block, tag="content"):
    content: Said | Annotated[list[_Text | _Image], Meta(min_length=1)]


class _Switch(Struct):
    enabled: bool = False


class _Beside(Struct):
    """What a document may have beside its source."""

    title: str | None = None
    context: str | None = None
    citations: _Switch | None = None


class _Document(_Block, kw_only=True, tag="document"):
    source: _Base64Pdf | _PlainText | _Contents | _Url | _Held
    title: str | None = None
    context: str | None = None
    citations: _Switch | None = None


class _SearchResult(_Block, tag="search_result"):
    source: Said
    title: Said
    content: Annotated[list[_Text], Meta(min_length=1)]
    citations: _Switch | None = None


class _Upload(_Block, tag="container_upload"):
    file_id: Said


# What the provider ran


class _ServerUse(_Block, tag="server_tool_use"):
    id: ServerId
    name: str
    input: dict[str, Any]

    def __post_init__(self) -> None:
        if self.name not in (*SERVER_TOOLS, *BETA_SERVER_TOOLS):
            raise ValueError(f"Invalid name {self.name!r}")


class _Failed(Struct):
    """Every server tool has its own type of error; all have the same fields."""

    type: Annotated[str, Meta(pattern=r"_error$")]
    error_code: str


class _WebResult(_Block, tag="web_search_result"):
    url: str
    title: str
    encrypted_content: str


class _Fetched(_Block, tag="web_fetch_result"):
    url: str
    content: _Document


class _OutputFile(Struct):
    type: str
    file_id: str


class _Ran(Struct):
    type: Literal["code_execution_result", "bash_code_execution_result"]
    stdout: str
    stderr: str
    return_code: int
    content: list[_OutputFile]


class _RanHidden(Struct):
    type: Literal["encrypted_code_execution_result"]
    encrypted_stdout: str
    stderr: str
    return_code: int
    content: list[_OutputFile]


class _Viewed(Struct):
    type: Literal["text_editor_code_execution_view_result"]
    content: str
    file_type: Literal["text", "image", "pdf"]


class _Created(Struct):
    type: Literal["text_editor_code_execution_create_result"]
    is_file_update: bool


class _Replaced(Struct):
    type: Literal["text_editor_code_execution_str_replace_result"]
    lines: list[str] | None = None


class _Reference(_Block, tag="tool_reference"):
    tool_name: str


class _Found(Struct):
    type: Literal["tool_search_tool_search_result"]
    tool_references: list[_Reference]


RESULTS: dict[str, tuple[Any, ...]] = {
    "web_search_tool_result": (list[_WebResult], _Failed),
    "web_fetch_tool_result": (_Fetched, _Failed),
    "code_execution_tool_result": (_Ran, _RanHidden, _Failed),
    "bash_code_execution_tool_result": (_Ran, _Failed),
    "text_editor_code_execution_tool_result": (_Viewed, _Created, _Replaced, _Failed),
    "tool_search_tool_result": (_Found, _Failed),
}
"""What the content of each result may be."""


class _Result(Struct):
    tool_use_id: ServerId
    content: Any


BLOCKS: dict[str, Any] = {
    "text": _Text,
    "image": _Image,
    "document": _Document,
    "search_result": _SearchResult,
    "container_upload": _Upload,
    "server_tool_use": _ServerUse,
    **dict.fromkeys(RESULTS, _Result),
}
SHOWN = ("text", "image", "document", "search_result", "container_upload")
RUN = ("text", "container_upload", "server_tool_use", *RESULTS)


def is_server_block(wire: Wire) -> bool:
    """Whether the provider ran this: a use of its own tool, or the result."""
    kind = wire.get("type")
    return isinstance(kind, str) and kind.endswith(("tool_use", "tool_result"))


def is_known_block(wire: Wire) -> bool:
    kind = wire.get("type")
    return isinstance(kind, str) and kind in BLOCKS


def is_newer_block(wire: Wire) -> bool:
    """Whether this is a kind that we do not know: it came from Anthropic and goes back unchanged."""
    kind = wire.get("type")
    if not isinstance(kind, str) or KIND.fullmatch(kind) is None or kind.endswith(INSIDE_OTHERS):
        return False
    return kind not in (*BLOCKS, *BETA_BLOCKS) and not is_server_block(wire)


def damage_of(wire: Wire, role: str) -> str:
    """Why the API would refuse this block from this role; "" if it would not."""
    if not is_known_block(wire):
        is_whole = not is_server_block(wire) or _is_valid(wire.get("id", wire.get("tool_use_id")), Said)
        return "" if is_whole else "it has no id"
    kind = wire["type"]
    if kind not in (SHOWN if role == "user" else RUN):
        return f"it cannot stand in a message of the {role}"
    try:
        _expect_block(kind, wire)
    except msgspec.ValidationError as error:
        return str(error)
    return "" if _has_types(wire) else "a part of it has no type"


def _expect_block(kind: str, wire: Wire) -> None:
    block = msgspec.convert(wire, BLOCKS[kind])
    if kind in RESULTS:
        _expect_any(block.content, RESULTS[kind])


def _has_types(wire: Wire) -> bool:
    """Whether every block inside has a type. msgspec does not check it where only one kind can be."""
    inside = [value for name in ("content", "source", "tool_references") for value in _items(wire.get(name))]
    return isinstance(wire.get("type"), str) and all(_has_types(each) for each in inside)


def _items(value: Any) -> list[Wire]:
    listed = value if isinstance(value, list) else [value]
    return [item for item in listed if isinstance(item, dict)]


def _expect_any(content: Any, kinds: tuple[Any, ...]) -> None:
    """The content of a result has one of several shapes, and no single key tells which."""
    for kind in kinds[:-1]:
        try:
            msgspec.convert(content, kind)
            return
        except msgspec.ValidationError:
            pass
    msgspec.convert(content, kinds[-1])


def is_sound_beside_source(fields: Wire) -> bool:
    """Whether a document may have these fields beside its source."""
    return _is_valid(fields, _Beside)


def sound_citations(citations: Any) -> list[Any]:
    """The citations that the API takes back with their text."""
    return [each for each in citations if _is_valid(each, Citation)] if isinstance(citations, list) else []


def _is_valid(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True
