"""A conversation in a store."""

from __future__ import annotations

from typing import Any

from turnout.history.log import History
from turnout.model import Usage
from turnout.store import Store

MODEL = "openai:gpt-5.1"


def talk(store: Store, id: str, *said: str, **options: Any) -> History:
    """A session in which these things were said in turn, and which was closed then."""
    history = store.open(id, **options)
    for number, text in enumerate(said):
        if number % 2:
            history.reply(MODEL, text, usage=Usage(1000, 500))
        else:
            history.user(text)
    store.release(id)
    return history
