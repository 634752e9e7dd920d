"""A recorded request with a mark of its own in every leaf, and where each mark is found again.

Texts, arguments, results, names, options, tools and media each get a mark that no other leaf
has. After rendering, a mark is in the body, or a line of the report names what it stood in.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

Path = tuple[str | int, ...]

MESSAGES = ("messages", "input", "contents")
HEADS = ("system", "instructions", "systemInstruction", "system_instruction")
TOOLS = ("tools", "functions")
CONVERSE_TOOLS = ("toolConfig", "tools")

# What a leaf is called says that it is no content: it steers how the rest is read.
STRUCTURE = frozenset(
    {
        *("type", "role", "model", "object", "status", "mode", "syntax", "encoding", "language", "execution"),
        *("mimeType", "mime_type", "media_type", "format", "detail", "outcome", "phase", "stop_reason"),
        *("anthropic_version", "caller", "behavior", "thinkingLevel", "thinking_level"),
    }
)
# Names that pair one thing with another: ids are given anew for every target, always in pairs.
PAIRING = frozenset(
    {
        *("id", "call_id", "tool_call_id", "tool_use_id", "item_id", "approval_request_id", "response_id"),
        *("toolUseId", "previous_response_id", "conversation", "container_id", "index", "caller"),
    }
)
BASE64 = frozenset(
    {"bytes", "redactedContent", "data", "file_data", "signature", "thoughtSignature", "thought_signature"}
) | {
    "encrypted_content",
    "encrypted_index",
}
JSON_TEXT = frozenset({"arguments"})
NAMES = frozenset({"name", "tool_name"})
OBJECTS_OF_TEXT = frozenset({"metadata"})
MARK = re.compile(r"qz\d{5}z")
DATA_URL = re.compile(r"(data:[^,]*;base64,)(.*)", re.DOTALL)


@dataclass(frozen=True)
class Leaf:
    """Where a mark stands, and what is looked for."""

    path: Path
    mark: str
    inner: str = ""  # the mark within data, for who decodes it
    kinds: tuple[str, ...] = ()  # of the blocks or items that it stands in, outermost first
    tool: str = ""  # the tool whose declaration it is a part of, where that is a provider's own

    def is_in(self, text: str) -> bool:
        return self.mark in text or (bool(self.inner) and self.inner in text)

    @property
    def place(self) -> str:
        """The path without numbers, to count by."""
        return ".".join("[]" if isinstance(step, int) else step for step in self.path)


@dataclass
class Marker:
    """Marks one body."""

    leaves: list[Leaf] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    _kinds: tuple[str, ...] = ()
    _tool: str = ""

    def body(self, body: dict[str, Any]) -> dict[str, Any]:
        self._functions = set(_function_names(body))
        return {name: self._value(value, (name,)) for name, value in body.items()}

    def _value(self, value: Any, path: Path) -> Any:
        if isinstance(value, dict):
            return self._object(value, path)
        if isinstance(value, list):
            return [self._value(item, (*path, at)) for at, item in enumerate(value)]
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value, path)
        return value

    def _object(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        kinds, tool = self._kinds, self._tool
        if isinstance(value.get("type"), str) and path[0] in MESSAGES and not SCHEMAS.intersection(path):
            self._kinds = (*kinds, value["type"])
        if value.get("thought") is True:  # Gemini says of a text that it was thought
            self._kinds = (*kinds, "thought")
        if path[0] in TOOLS and len(path) == 2:
            self._tool = str(value.get("type") or next(iter(value), ""))
        marked = {name: self._value(item, (*path, name)) for name, item in value.items()}
        self._kinds, self._tool = kinds, tool
        return marked

    def _text(self, text: str, path: Path) -> str:
        key = _key(path)
        if key in NAMES and text in self._functions:
            return self._name(text, path)
        if key in STRUCTURE or key in PAIRING or not _is_marked(path) or text in self._functions:
            return text
        if key in JSON_TEXT:
            return self._json(text, path)
        if found := DATA_URL.match(text):
            return found[1] + self._base64(found[2], path)
        if key in BASE64:
            return self._base64(text, path)
        mark = self._mark(path)
        return f"{text}{mark}" if "://" in text else f"{text} {mark}"

    def _name(self, name: str, path: Path) -> str:
        """One function has one mark, wherever it is named."""
        if name not in self.names:
            self.names[name] = f"{name[:40]}_{self._mark((*path[:1], 'name'))}"
        return self.names[name]

    def _json(self, text: str, path: Path) -> str:
        try:
            value = json.loads(text)
        except ValueError:
            return text
        return json.dumps(self._value(value, path)) if isinstance(value, dict) else text

    def _base64(self, text: str, path: Path) -> str:
        """Data is looked for as a whole: a mark within is written otherwise in base64."""
        mark = self._mark(path)
        try:
            data = b64decode(text.translate(str.maketrans("-_", "+/")), validate=True)
        except (Error, ValueError):
            return f"{mark}{text}"
        made = b64encode(data + mark.encode()).decode()
        self.leaves[-1] = replace(self.leaves[-1], mark=made, inner=mark)
        return made

    def _number(self, value: float, path: Path) -> float:
        if not _is_marked(path) or _key(path) in PAIRING:
            return value
        count = len(self.leaves) + 1
        if isinstance(value, float) or (0 <= value <= 2 and _is_option(path)):
            made: float = round(0.3 + count / 100_000, 5)
        else:
            made = 731_000 + count
        self._add(path, str(made))
        return made

    def _mark(self, path: Path) -> str:
        mark = f"qz{len(self.leaves) + 1:05}z"
        self._add(path, mark)
        return mark

    def _add(self, path: Path, mark: str) -> None:
        self.leaves.append(Leaf(path, mark, "", self._kinds, self._tool))


def _key(path: Path) -> str:
    """What a leaf is called: its own name, or that of the list it stands in."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _is_option(path: Path) -> bool:
    return path[0] not in (*MESSAGES, *HEADS, *TOOLS)


def _is_marked(path: Path) -> bool:
    """Words of an API's own (enums, names of fields) would no longer be what they are."""
    steps = [step for step in path if isinstance(step, str)]
    if SCHEMAS.intersection(steps) and SCHEMA_WORDS.intersection(steps[-1:]):
        return False
    if steps[-1] in NAMES and len(steps) > 2 and "properties" not in steps:
        return False  # of a provider's own tools and servers, of schemas and media
    return not WORDS.intersection(steps)


SCHEMAS = frozenset(
    {
        *(
            "schema",
            "parameters",
            "input_schema",
            "inputSchema",
            "parametersJsonSchema",
            "parameters_json_schema",
        ),
        *("responseSchema", "responseJsonSchema", "response_schema", "response_json_schema"),
    }
)
SCHEMA_WORDS = frozenset({"required", "enum", "const", "$ref", "propertyOrdering"})
WORDS = frozenset({"required", "enum", "const", "$ref", "propertyOrdering"})

WORDS = frozenset(
    {
        *("tool_choice", "toolConfig", "tool_config", "function_call", "stream", "stream_options", "store"),
        *("reasoning_effort", "effort", "summary_type", "service_tier", "verbosity", "include", "truncation"),
        *("responseModalities", "safetySettings", "cache_control", "reasoning_format", "keep_alive"),
        *("responseMimeType", "response_mime_type", "allowed_callers", "usage", "n", "candidateCount"),
        *("top_logprobs", "logprobs", "search_context_size"),
    }
)


def _function_names(value: Any, path: Path = ("body",)) -> Iterator[str]:
    """The names of functions: those that are declared or called, without a provider's own tools."""
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from _function_names(item, (*path, at))
    if not isinstance(value, dict):
        return
    if isinstance(name := value.get("name"), str) and _is_function(value, path):
        yield name
    for key, item in value.items():
        yield from _function_names(item, (*path, key))


def _is_function(value: dict[str, Any], path: Path) -> bool:
    kind = value.get("type")
    if path[1] in TOOLS:
        return kind in (None, "function", "custom") and not {"properties", *SCHEMAS}.intersection(path)
    called = ("tool_use", "function_call", "custom_tool_call")
    return kind in called or path[-1] in ("function", "functionCall", "function_call")


# Without marks


def unmarked_options(body: dict[str, Any]) -> Iterator[tuple[Leaf, dict[str, Any]]]:
    """The options that cannot hold a mark, each with the body that lacks it alone."""
    for path, value in _option_leaves(body, ()):
        if isinstance(value, bool) or (isinstance(value, str) and not _is_markable(path)):
            yield Leaf(path, str(value)), _without(body, path)


def _is_markable(path: Path) -> bool:
    return _is_marked(path) and _key(path) not in STRUCTURE | PAIRING


def _option_leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and not SCHEMAS.intersection(path):
        for name, item in value.items():
            if (path or name not in (*MESSAGES, *HEADS, *TOOLS, "model")) and (*path, name) != CONVERSE_TOOLS:
                yield from _option_leaves(item, (*path, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _option_leaves(item, (*path, at))
    else:
        yield path, value


def _without(value: Any, path: Path) -> Any:
    step, *rest = path
    if not rest:
        if isinstance(value, list):
            return [item for at, item in enumerate(value) if at != step]
        return {name: item for name, item in value.items() if name != step}
    if isinstance(value, list):
        return [_without(item, tuple(rest)) if at == step else item for at, item in enumerate(value)]
    return {name: _without(item, tuple(rest)) if name == step else item for name, item in value.items()}
