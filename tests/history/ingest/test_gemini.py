"""Parts of Gemini."""

from __future__ import annotations

from typing import Any

import pytest
from tests.history.ingest.ingest_turns import blocks
from tests.history.ingest.telling import (
    function_call,
    function_response,
    outcomes,
    parts,
    story,
)

from turnout.history.ingest import ingest
from turnout.model import Code


@pytest.mark.parametrize("key", ["thoughtSignature", "thought_signature"])
def test_gemini_signatures_stay_on_their_part(key: str) -> None:
    """Also on a part without text."""
    given = parts(
        "model",
        {"text": "hm", "thought": True, key: "s1"},
        {"text": "", key: "s2"},
        {**function_call("f"), key: "s3"},
        {"text": "hi"},
    )
    kept = blocks([given], "gemini", origin="gemini:g")

    assert [type(block).__name__ for block in kept] == ["Thinking", "Text", "ToolCall", "Text"]
    assert [block.residue.data["thought_signature"] for block in kept[:3]] == ["s1", "s2", "s3"]
    assert kept[3].residue is None


def test_gemini_code_is_code_and_kept_as_its_part() -> None:
    """Gemini gets its own part back."""
    ran = {"executableCode": {"language": "PYTHON", "code": "1+1"}}
    came = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
    code, output = blocks([parts("model", ran, came)], "gemini")

    assert code == Code("1+1", "python", residue=code.residue)
    assert code.residue.data == {"part": ran}
    assert (output.kind, output.text, output.residue.data) == ("codeExecutionResult", "2", {"part": came})


@pytest.mark.parametrize(
    ("response", "status", "told"),
    [
        ({"output": "42"}, "complete", "42"),
        ({"output": [1]}, "complete", "[1]"),
        ({"error": "boom"}, "error", "boom"),
        ({"error": "boom", "code": 7}, "complete", '{"error":"boom","code":7}'),
        ({"result": 42}, "complete", '{"result":42}'),
        ({}, "complete", ""),
    ],
)
def test_gemini_responses(response: dict[str, Any], status: str, told: str) -> None:
    """`output` and `error` are read; any other object is the result."""
    messages = [parts("model", function_call("f")), parts("user", function_response("f", **response))]

    assert outcomes(ingest(messages, "gemini")) == [("f", status, told)]


def test_geminis_snake_case_and_config_are_read_too() -> None:
    """The SDK writes both."""
    body = {
        "contents": "hi",
        "config": {"system_instruction": "be kind", "tools": [{"function_declarations": [{"name": "f"}]}]},
    }
    history = ingest(body, "gemini")

    assert (history.system, [tool.name for tool in history.tools]) == ("be kind", ["f"])
    assert story(history) == ["user: hi"]
