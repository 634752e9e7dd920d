"""Wire messages as bytes that only grow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from turnout.wire.protocol import encode
from turnout.wire.roll import Roll, Wire

said = st.tuples(st.sampled_from(["user", "model"]), st.text(max_size=5))


def merged(last: Wire, following: Wire) -> bool:
    if last["role"] != following["role"]:
        return False
    last["parts"].extend(following["parts"])
    return True


def message(role: str, text: str) -> Wire:
    return {"role": role, "parts": [text]}


@given(st.lists(said, max_size=12), st.sets(st.integers(0, 12)))
def test_the_bytes_do_not_depend_on_when_they_are_asked_for(
    texts: list[tuple[str, str]], asked: set[int]
) -> None:
    """Asking in between changes nothing, and what was closed stays a prefix of what is closed later."""
    whole, often = Roll(merged), Roll(merged)
    closed = b""
    for number, (role, text) in enumerate(texts):
        whole.add(message(role, text))
        often.add(message(role, text))
        if number in asked:
            assert bytes(often.closed).startswith(closed)
            closed = bytes(often.closed)
    assert often.bytes() == whole.bytes()


def test_a_branch_leaves_its_roll_as_it_was() -> None:
    """An open turn is tried out on a branch: it may merge there, and never here."""
    roll = Roll(merged)
    roll.add(message("user", "a"))
    branch = roll.branch()
    branch.add(message("user", "b"))
    branch.add(message("model", "c"))

    assert roll.bytes() == encode({"role": "user", "parts": ["a"]})
    assert branch.bytes() == encode([{"role": "user", "parts": ["a", "b"]}, message("model", "c")])[1:-1]
