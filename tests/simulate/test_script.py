"""Scripts: steps as texts, parts, lists and JSON."""

from __future__ import annotations

import pytest

from turnout.errors import UsageError
from turnout.model import Usage
from turnout.simulate import (
    Call,
    HttpError,
    Odd,
    Reply,
    Say,
    Stall,
    Think,
    read_script,
)
from turnout.simulate.script import step


def test_steps_are_written_the_way_one_would_tell_them() -> None:
    """A text, a part and a list of parts are replies."""
    assert step("hi") == Reply((Say("hi"),))
    assert step(Call("time")) == Reply((Call("time"),))
    assert step(["Well.", Think("Hm."), Usage(1, 2)]) == Reply(
        (Say("Well."), Think("Hm.")), usage=Usage(1, 2)
    )
    assert step(HttpError("quota")) == HttpError("quota")


def test_a_script_can_be_a_file() -> None:
    """JSON: texts, objects with a type, and lists of those."""
    source = """[
        "Hello.",
        [{"type": "think", "text": "Hm."}, {"type": "call", "name": "time"}, {"type": "odd", "ways": ["cr"]}],
        {"type": "http_error", "kind": "overloaded", "retry_after": 3},
        {"type": "stall", "seconds": 2}
    ]"""

    assert read_script(source) == (
        Reply((Say("Hello."),)),
        Reply((Think("Hm."), Call("time")), odd=("cr",)),
        HttpError("overloaded", retry_after=3),
        Reply((), faults=(Stall(2),)),
    )


@pytest.mark.parametrize(
    "source", ["{", "{}", '[{"type": "sing"}]', '[{"type": "odd", "ways": ["x"]}]', "[3]"]
)
def test_a_script_that_makes_no_sense_is_refused(source: str) -> None:
    """The message says what is wrong, before anything is played."""
    with pytest.raises(UsageError):
        read_script(source)


def test_an_unknown_oddity_is_refused() -> None:
    """Its neighbours are listed."""
    with pytest.raises(UsageError, match="use one of crlf"):
        Odd(("no_such_way",))
