"""The answer to a prompt that has a key, also where it has to be corrected."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.session.talk import session

from turnout.model import UserTurn


def test_a_typed_answer_with_a_key_is_asked_for_once() -> None:
    """The correction is a prompt of its own; asking again with the key gives the answer without a request."""
    shape = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    talk, model = session(['{"n": "no number"}', '{"n": 4}'])

    async def ask() -> list[Any]:
        first = await talk.ask("How many?", output=shape, key="p1")
        second = await talk.ask("How many?", output=shape, key="p1")
        return [first.output, second.output]

    assert asyncio.run(ask()) == [{"n": 4}, {"n": 4}]
    assert sum(isinstance(turn, UserTurn) for turn in talk.history.turns) == 2 and not model.refusals
