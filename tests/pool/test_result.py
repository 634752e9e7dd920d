"""A result as a line of JSON: whatever the answer is made of, it is written and read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from turnout import LimitReached, ProviderError, UsageError
from turnout.pool.result import PoolResult, ResultLine, error_kind, result_line


class River(BaseModel):
    """A typed answer."""

    name: str


@dataclass
class Hill:
    """Another one, which holds the first."""

    river: River


OUTPUTS = [
    (None, None),
    ({"a": [1]}, {"a": [1]}),
    (River(name="x"), {"name": "x"}),
    (Hill(River(name="x")), {"river": {"name": "x"}}),
    ([River(name="x")], [{"name": "x"}]),
]


@pytest.mark.parametrize(("output", "written"), OUTPUTS, ids=str)
def test_any_output_is_written_as_json(output: Any, written: Any) -> None:
    """Structs, dataclasses and pydantic models, also inside each other."""
    text = result_line(
        PoolResult(id="a", key="k", target="t", prompt=["p", "q"], text="\u2028é", output=output)
    )
    line = msgspec.json.decode(text, type=ResultLine)
    assert line.output == written and line.text == "\u2028é" and line.prompt == "p\n\nq"
    assert "\n" not in text


def test_an_error_is_a_word_and_a_sentence() -> None:
    """The word is that of the provider's failure, of ours, or the name of the exception."""
    errors = [ProviderError("no", kind="quota"), UsageError("x"), LimitReached("y"), ZeroDivisionError("z")]
    assert [error_kind(each) for each in errors] == ["quota", "usage", "usage", "ZeroDivisionError"]
    line = result_line(PoolResult(id="a", key="k", target="t", prompt="p", error=errors[0]))
    assert msgspec.json.decode(line)["error"] == {"kind": "quota", "message": "no"}
