"""Docstrings as descriptions of a tool and its parameters."""

from __future__ import annotations

import pytest

from turnout.tools.declare.docstring import read_docstring

GOOGLE = """Do it.

More about it.

Args:
    one: First,
        told on two lines.
    two (int, optional): Second: with a colon.

Returns:
    Nothing: of use.
"""


NUMPY = """Do it.

More about it.

Parameters
----------
one : str
    First,
    told on two lines.
two
    Second: with a colon.

Returns
-------
x
"""


SPHINX = """Do it.

More about it.

:param one: First,
    told on two lines.
:param int two: Second: with a colon.
:returns: nothing
"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_three_styles_of_docstring_say_the_same(text: str) -> None:
    """Google, NumPy and Sphinx docstrings give the same description and the same parameters."""
    described = read_docstring(text)
    assert described.summary == "Do it.\n\nMore about it."
    assert described.parameters == {"one": "First, told on two lines.", "two": "Second: with a colon."}
