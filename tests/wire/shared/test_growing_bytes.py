"""Wire messages as bytes that only grow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from turnout.wire.shared.body import encode
from turnout.wire.shared.growing_bytes import Roll, Wire

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
            assert b"".join(often.closed_pieces).startswith(closed)
            closed = b"".join(often.closed_pieces)
    assert often.bytes() == whole.bytes()


def test_a_long_roll_lies_in_blocks() -> None:
    """Blocks that are full stay as they are; together they are the array, whatever is asked in between."""
    roll, before = Roll(), list[bytes]()
    for number in range(40):
        roll.add(message("user", f"{number}" * 5_000))
        pieces = [bytes(piece) for piece in roll.closed_pieces]
        assert pieces[: len(before) - 1] == before[:-1]
        before = pieces

    texts = [message("user", f"{number}" * 5_000) for number in range(40)]
    assert 2 < len(before) < 10
    assert roll.bytes() == encode(texts)[1:-1]


def test_a_branch_leaves_its_roll_as_it_was() -> None:
    """An open turn is tried out on a branch: it may merge there, and never here."""
    roll = Roll(merged)
    roll.add(message("user", "a"))
    branch = roll.branch()
    branch.add(message("user", "b"))
    branch.add(message("model", "c"))

    assert roll.bytes() == encode({"role": "user", "parts": ["a"]})
    assert branch.bytes() == encode([{"role": "user", "parts": ["a", "b"]}, message("model", "c")])[1:-1]
