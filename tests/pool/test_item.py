"""A prompt of a pool in every form, and the key that its answer is found by."""

from __future__ import annotations

from typing import Any

import pytest

from turnout import Media, PoolItem, UsageError
from turnout.pool.item import item_of

WRONG = [
    ({"prompt": ""}, "needs a text in"),
    ({"text": "x"}, "put fields of your own under meta"),
    ({"prompt": "x", "shcema": {}}, "did you mean schema"),
    ({"prompt": "x", "options": {"temprature": 1}}, "correct the options"),
    ({"prompt": "x", "options": []}, "'options' of a prompt cannot be"),
    ({"prompt": "x", "schema": "object"}, "'schema' of a prompt cannot be"),
    ({"prompt": "x", "models": "gpt-5.2"}, "'models' of a prompt cannot be"),
]


def test_forms_of_a_prompt() -> None:
    """A text, content, an object as in a JSONL file, an item."""
    picture = Media("image/png", b"x")
    assert item_of("Hello").text == "Hello"
    assert item_of(["Look:", picture]).text == "Look:"
    made = item_of(
        {"prompt": "Hello", "id": 7, "schema": {"type": "object"}, "models": ["a:b"], "meta": {"n": 1}}
    )
    assert made == PoolItem(
        prompt="Hello", id="7", output={"type": "object"}, targets=("a:b",), meta={"n": 1}
    )
    assert item_of(made) is made


@pytest.mark.parametrize(("given", "words"), WRONG, ids=str)
def test_mistakes_are_told(given: Any, words: str) -> None:
    """A misspelt field would otherwise be a setting without effect, for thousands of prompts."""
    with pytest.raises(UsageError, match=words):
        item_of(given)


def test_the_key_is_what_is_asked() -> None:
    """Prompt, system, options and schema change it; the id, the models and your own fields do not."""
    item = PoolItem(prompt="Hello")
    assert item.key() == PoolItem(prompt=["Hello"], id="x", meta=1, targets=("a:b",)).key()
    others = [
        PoolItem(prompt="Hallo"),
        PoolItem(prompt="Hello", system="Be brief."),
        PoolItem(prompt="Hello", options={"temperature": 0}),
        PoolItem(prompt="Hello", output=int),
    ]
    assert len({item.key(), item.key(system="x"), *(each.key() for each in others)}) == 6
