"""The checker's patterns, enums and limits are those of botocore's model of the service."""

from __future__ import annotations

from typing import Any

import pytest
from tests.botocore_shapes import request_shape, shape_of

from turnout import check
from turnout.wire.check.converse import shapes

BLOCK = ("messages", "[]", "content", "[]")


def test_the_fields_and_blocks_are_those_of_the_service() -> None:
    """None is missing and none is made up."""
    assert frozenset(request_shape().members) == shapes.FIELDS
    assert frozenset(shape_of(*BLOCK).members) == shapes.BLOCKS
    assert frozenset(shape_of(*BLOCK, "toolResult", "content", "[]").members) == shapes.IN_RESULTS


@pytest.mark.parametrize(
    ("path", "pattern", "most"),
    [
        ((*BLOCK, "toolUse", "toolUseId"), shapes.CALL_ID.pattern, shapes.LONGEST_ID),
        ((*BLOCK, "toolUse", "name"), shapes.TOOL_NAME.pattern, shapes.LONGEST_NAME),
        (
            ("messages", "[]", "content", "[]", "image", "source", "s3Location", "uri"),
            shapes.S3.pattern,
            1024,
        ),
    ],
)
def test_patterns_are_those_of_the_service(path: tuple[str, ...], pattern: str, most: int) -> None:
    """With their greatest lengths."""
    held = shape_of(*path).metadata
    assert (held["pattern"], held["max"]) == (pattern, most)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        *(((*BLOCK, kind, "format"), formats) for kind, formats in shapes.FORMATS.items()),
        (("messages", "[]", "role"), shapes.ROLES),
        ((*BLOCK, "cachePoint", "ttl"), shapes.TTLS),
        (("serviceTier", "type"), shapes.TIERS),
    ],
)
def test_enums_are_those_of_the_service(path: tuple[str, ...], values: tuple[str, ...]) -> None:
    """In any order."""
    assert set(shape_of(*path).metadata["enum"]) == set(values)


def test_limits_are_those_of_the_service() -> None:
    """Of metadata, stop words and names of documents."""
    assert shape_of("requestMetadata").metadata["max"] == shapes.MOST_METADATA
    assert shape_of("inferenceConfig", "stopSequences").metadata["max"] == shapes.MOST_STOPS
    assert shape_of(*BLOCK, "document", "name").metadata["max"] == shapes.LONGEST_DOCUMENT_NAME


def said(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"text": "hi"}]}], **fields}


@pytest.mark.parametrize(
    ("body", "rule", "path"),
    [
        (said(stream=True), "BDK-11", "stream"),
        (said(inferenceConfig={"temperature": 1.5}), "BDK-11", "inferenceConfig.temperature"),
        (said(inferenceConfig={"topK": 5}), "BDK-11", "inferenceConfig.topK"),
        (said(toolConfig={"tools": []}), "BDK-04", "toolConfig.tools"),
        (said(serviceTier={"type": "fast"}), "BDK-11", "serviceTier.type"),
        (said(system=[{"text": ""}]), "BDK-02", "system.0.text"),
        (said(system=[{"cachePoint": {"type": "x"}}]), "BDK-11", "system.0.cachePoint"),
    ],
)
def test_each_limit_is_enforced(body: dict[str, Any], rule: str, path: str) -> None:
    """The path leads to the field."""
    assert (rule, path) in [(problem.rule, problem.path) for problem in check("bedrock", body)]


def test_ids_may_have_dots_and_colons_but_not_spaces() -> None:
    """As the service model says; we render only letters, digits, _ and -."""
    body = {
        "messages": [
            {"role": "user", "content": [{"text": "go"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a.b:c", "name": "f", "input": {}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "a.b:c", "content": [{"text": "x"}]}}]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]},
    }
    assert check("bedrock", body) == []
    spaced: Any = eval(repr(body).replace("a.b:c", "a b"))
    assert {problem.rule for problem in check("bedrock", spaced)} == {"BDK-05"}
