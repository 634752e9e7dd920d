"""Whether the report names what a mark stood in: by the mark, the field, the tool or the kind of block."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.handoff.markers import HEADS, MESSAGES, TOOLS, Leaf

from turnout import InboundRequest
from turnout.wire.request import WireRequest

# What an option is called in one API, and what a line of the report calls it.
ALIASES = {
    "json_schema": "schema",
    "name": "schema_name",
    "description": "schema_description",
}
CONTAINERS = {"generationConfig", "generation_config", "config", "options", "schema", "properties", "items"}
THOUGHTS = {
    "summary",
    "redacted_thinking",
    "thinking",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "reasoning_text",
    "thought",
    "reasoningContent",
}
MEDIA = {
    *("image_url", "input_image", "input_audio", "input_file", "file", "image", "document", "document_url"),
    *("inlineData", "inline_data", "fileData", "file_data", "video_url", "audio_url", "video", "audio"),
}
MEDIA_DATA = {
    *("bytes", "uri", "data", "url", "image_url", "video_url", "audio_url", "document_url", "input_audio"),
    *("file_data", "file_url", "fileUri", "file_uri"),
}
RESULTS = {"tool_result", "function_call_output", "functionResponse", "toolResult"}


def report_lines(inbound: InboundRequest, request: WireRequest) -> list[str]:
    """Everything that the library says of what it did."""
    report = request.report
    found = [*inbound.history.diagnostics, *report.diagnostics]
    return [*(f"{item.code} {item.detail}" for item in found), *report.changes, *inbound.dropped]


def is_named(leaf: Leaf, lines: Iterable[str], names: Iterable[str]) -> bool:
    """Whether a line names the leaf, or what it is a part of. `names` are the tools, as they were marked."""
    lines = list(lines)
    if any(leaf.is_in(line) for line in lines):
        return True
    if leaf.path[0] in TOOLS:
        return any(_names_tool(leaf, line, names) for line in lines)
    if leaf.path[0] in (*MESSAGES, *HEADS):
        return any(_names_block(leaf, line) for line in lines)
    return names_option(leaf, lines)


def names_option(leaf: Leaf, lines: Iterable[str]) -> bool:
    return any(_names_option(leaf, line) for line in lines)


def _names_option(leaf: Leaf, line: str) -> bool:
    steps = [step for step in leaf.path if isinstance(step, str) and step not in CONTAINERS]
    words = {
        *steps,
        *map(_snake, steps),
        *map(_camel, steps),
        *(ALIASES[step] for step in steps if step in ALIASES),
    }
    return any(_has_word(line, word) for word in words)


def _names_tool(leaf: Leaf, line: str, names: Iterable[str]) -> bool:
    if not any(name in line for name in (leaf.tool, *names) if name):
        return False
    if leaf.tool == "namespace" and "namespace" in line and len(leaf.path) == 3:
        return True
    steps = [step for step in leaf.path[2:] if isinstance(step, str)]
    return line.startswith("dropped_tool") or any(_has_word(line, step) for step in steps)


def _names_block(leaf: Leaf, line: str) -> bool:
    steps = {step for step in leaf.path if isinstance(step, str)}
    kinds = {*leaf.kinds, *steps}
    if kinds & THOUGHTS and "thinking" in line and re.search("omitted|left out|as_text", line):
        return True
    if kinds & MEDIA and leaf.path[-1] in MEDIA_DATA and line.startswith("media_replaced"):
        return True
    if kinds & {"citations", "annotations"} and line.startswith("citations_omitted"):
        return True
    if kinds & RESULTS and line.startswith("orphaned_result"):
        return True
    code, _, detail = line.partition(" ")
    if code.startswith(("opaque_", "unknown_")) and any(_has_word(detail, kind) for kind in leaf.kinds):
        return True
    return any(_has_word(line, step) for step in steps - {"content", "parts", "text"})


def _has_word(line: str, word: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(word)}(?![\w])", line) is not None or _ends_path(line, word)


def _ends_path(line: str, word: str) -> bool:
    """Whether a path in the line ends with the word: `generationConfig.stopSequences`."""
    return re.search(rf"\.{re.escape(word)}(?=[ ),]|$)", line) is not None


def _camel(name: str) -> str:
    """Gemini's API has one spelling of its fields; its SDKs write another."""
    return re.sub("_([a-z])", lambda joint: joint[1].upper(), name)


def _snake(name: str) -> str:
    return re.sub("(?<=[a-z])([A-Z])", lambda joint: f"_{joint[1].lower()}", name)
