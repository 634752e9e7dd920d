"""What Anthropic Messages requires of single blocks: their required fields (ANT-17, ANT-30).

Only fields that every version of the API required are checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..chat.view import is_redacted, text
from ..problem import Problem
from ..reading import objects
from .view import AnthropicRequest, Block, Rule, is_server_tool

STRING = ("string", str)
OBJECT = ("dictionary", Mapping)
LIST = ("list", list | tuple)
EITHER = ("list", list | tuple | Mapping)

Fields = dict[str, tuple[str, Any]]

FIELDS: dict[str, Fields] = {
    "document": {"source": OBJECT},
    "image": {"source": OBJECT},
    "search_result": {"source": STRING, "title": STRING, "content": LIST},
    "container_upload": {"file_id": STRING},
    "thinking": {"thinking": STRING},
    "server_tool_use": {"id": STRING, "name": STRING, "input": OBJECT},
    "mcp_tool_use": {"id": STRING, "name": STRING, "input": OBJECT},
    "mcp_tool_result": {"tool_use_id": STRING},
}
SERVER_RESULT: Fields = {"tool_use_id": STRING, "content": EITHER}
WEB_RESULT = ("url", "title", "encrypted_content")
SOURCES: dict[str, tuple[str, ...]] = {
    "base64": ("media_type", "data"),
    "text": ("media_type", "data"),
    "url": ("url",),
    "content": ("content",),
    "file": ("file_id",),
}
SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
WHOLE = "send the block as it came, or leave it out"


def blocks_have_their_fields(request: AnthropicRequest) -> Iterator[Problem]:
    """The API refuses the whole request for a block without a required field."""
    for block in request.all_blocks():
        known = SERVER_RESULT if _is_server_result(block) else FIELDS.get(block.type, {})
        for key, (name, kind) in known.items():
            if wrong := _fault_of_field(block.raw, key, name, kind):
                path = f"{block.path}.{block.type}.{key}"
                yield Problem(_rule_of(block), path, f"{path}: {wrong}", WHOLE)
        if not block.type:
            path = f"{block.path}.type"
            yield Problem("BODY", path, f"{path}: Field required", "give the block its type")
        elif block.type in ("document", "image"):
            yield from _source_problems(block)
        elif block.type == "web_search_tool_result":
            yield from _web_result_problems(block)


def _is_server_result(block: Block) -> bool:
    return block.type.endswith("_tool_result") and not block.type.startswith("mcp_")


def _fault_of_field(raw: Mapping[str, Any], key: str, name: str, kind: Any) -> str:
    if raw.get(key) is None:
        return "Field required"
    return "" if isinstance(raw[key], kind) else f"Input should be a valid {name}"


def _rule_of(block: Block) -> str:
    if block.type == "thinking":
        return "ANT-17"
    return "ANT-30" if is_server_tool(block) else "BODY"


def _source_problems(block: Block) -> Iterator[Problem]:
    source, path = block.raw.get("source"), f"{block.path}.{block.type}.source"
    if not isinstance(source, Mapping):
        return
    if source.get("type") is None:
        answer = f"{path}: Unable to extract tag using discriminator 'type'"
        yield Problem("BODY", path, answer, WHOLE)
        return
    if source["type"] not in SOURCES:
        expected = ", ".join(f"'{kind}'" for kind in SOURCES)
        given = text(source.get("type"))
        answer = f"{path}: Input tag '{given}' found using 'type' does not match any of the expected tags: "
        yield Problem("BODY", path, answer + expected, WHOLE)
        return
    for key in SOURCES[source["type"]]:
        if source.get(key) is None:
            answer = f"{path}.{source['type']}.{key}: Field required"
            yield Problem("BODY", f"{path}.{key}", answer, WHOLE)


def _web_result_problems(block: Block) -> Iterator[Problem]:
    for place, result in objects(block.raw.get("content")):
        for key in WEB_RESULT:
            if result.get(key) is None:
                path = f"{block.path}.{block.type}.content.{place}.{key}"
                yield Problem("ANT-30", path, f"{path}: Field required", WHOLE)


def server_tools_are_the_assistants(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-30: server tools stand in the assistant's turn, under the server's own ids."""
    for turn in request.turns:
        for block in filter(is_server_tool, turn.blocks):
            if turn.role != "assistant":
                answer = f"{block.path}: `{block.type}` blocks can only be in `assistant` messages"
                yield Problem("ANT-30", block.path, answer, "send it under the assistant's role")
            elif block.type == "server_tool_use":
                yield from _id_problems(block)


def _id_problems(block: Block) -> Iterator[Problem]:
    id = block.raw.get("id")
    if isinstance(id, str) and not SERVER_ID.fullmatch(id) and not is_redacted(id):
        path = f"{block.path}.server_tool_use.id"
        answer = f"{path}: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"
        yield Problem("ANT-30", path, answer, WHOLE)


def thoughts_are_the_assistants(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-17: only the model thinks."""
    for turn in request.turns:
        if turn.role != "user":
            continue
        for block in turn.of_type("thinking", "redacted_thinking"):
            answer = f"{block.path}: `{block.type}` blocks can only be in `assistant` messages"
            yield Problem("ANT-17", block.path, answer, "send it under the assistant's role, or leave it out")


def signatures_are_base64(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-17: a signature, or the data of a redacted thought, is base64."""
    for block in request.blocks("thinking", "redacted_thinking"):
        key = "signature" if block.type == "thinking" else "data"
        given = text(block.raw.get(key))
        if given and not BASE64.fullmatch(given) and not _is_placeholder(given):
            answer = f"{block.path}: Invalid `{key}` in `{block.type}` block"
            yield Problem("ANT-17", f"{block.path}.{key}", answer, WHOLE)


def _is_placeholder(signature: str) -> bool:
    """Whether a person replaced the signature before checking the body."""
    return is_redacted(signature) or (signature.startswith("<") and signature.endswith(">"))


RULES: tuple[Rule, ...] = (
    blocks_have_their_fields,
    server_tools_are_the_assistants,
    thoughts_are_the_assistants,
    signatures_are_base64,
)
