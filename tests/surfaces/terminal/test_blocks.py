"""Answers cut into parts: however the text arrives, the parts are the same and nothing is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from turnout.surfaces.terminal.blocks import CODE_LINES, LONGEST, Blocks
from turnout.surfaces.terminal.pieces import Listing, Prose

ANSWER = """# Title

A paragraph
of two lines.

- one

- two
  ```py
  x = 1

  y = 2
  ```
- three

| a | b |
|---|---|
| 1 | 2 |

```python
def f():

    return 1
```
The end."""

LINES = st.lists(
    st.sampled_from(
        [
            "# head",
            "words and words",
            "",
            "- item",
            "  more",
            "1. one",
            "```python",
            "```",
            "~~~",
            "  ```",
            "    x",
        ]
    )
    | st.text(st.characters(blacklist_categories=["Cc", "Cs"]), max_size=30),
    max_size=40,
)


def parts(text: str, sizes: list[int]) -> list[Prose | Listing]:
    blocks, found, at = Blocks(), [], 0
    for size in [*sizes, len(text)]:
        found += blocks.feed(text[at : at + size])
        at += size
    return [*found, *blocks.close()]


@given(LINES, st.lists(st.integers(1, 60)))
def test_parts_do_not_depend_on_how_the_text_was_cut(lines: list[str], sizes: list[int]) -> None:
    """The same text gives the same parts, in whatever pieces it comes."""
    text = "\n".join(lines)

    assert parts(text, sizes) == parts(text, [])


@given(LINES)
def test_no_word_is_lost(lines: list[str]) -> None:
    """Everything but the fences is in one part or another, in order."""
    text = "\n".join(lines)
    shown = " ".join(part.code if isinstance(part, Listing) else part.text for part in parts(text, []))

    said = [word for word in text.split() if not word.startswith(("```", "~~~"))]
    assert [word for word in shown.split() if not word.startswith(("```", "~~~"))] == said


def test_a_part_is_whole_when_the_next_one_begins() -> None:
    """Paragraphs, lists with all their lines, tables, and code by its language."""
    assert parts(ANSWER, [1] * len(ANSWER)) == [
        Prose("# Title"),
        Prose("A paragraph\nof two lines."),
        Prose("- one\n\n- two\n  ```py\n  x = 1\n\n  y = 2\n  ```\n- three"),
        Prose("| a | b |\n|---|---|\n| 1 | 2 |"),
        Listing("def f():\n\n    return 1", "python"),
        Prose("The end."),
    ]


def test_long_code_is_shown_as_it_comes() -> None:
    """A file of a thousand lines does not wait for its last one; the parts join without a gap."""
    blocks = Blocks()
    code = "".join(f"line {number}\n" for number in range(CODE_LINES * 2 + 5))

    first, second = blocks.feed(f"```\n{code}")

    assert (first.follows, second.follows) == (False, True)
    assert blocks.tail[0].code.count("\n") == 4


def test_what_moves_stays_small() -> None:
    """A text without any break is drawn again and again only in its last part."""
    blocks = Blocks()
    for _ in range(1_000):
        list(blocks.feed("word " * 20))
        assert sum(len(part.text) for part in blocks.tail) <= LONGEST + 100
