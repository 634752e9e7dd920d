"""A session as a file in the form that its name asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...history.log import History
from ...interchange.exports import export
from ...world.secrets import Secrets

if TYPE_CHECKING:
    from ...store import Store

FORM_OF_SUFFIX = {".md": "markdown", ".html": "html", ".htm": "html", ".jsonl": "jsonl"}


def export_session(
    history: History, form: str, secrets: Secrets, title: str = "", times: Sequence[float] = ()
) -> bytes:
    """The session as `jsonl`, `markdown` or `html`, without the secrets that this process knows.

    HTML looks like the page of `turnout view`, and is as strict: what only looks like a key is hidden too.
    """
    if form != "html":
        return secrets.hide_known(export(history, form, title).decode()).encode()
    from .conversation_html.export import export_page

    return secrets.hide(export_page(history, title, times)).encode("utf-8", "replace")


def times_of_entries(store: Store, id: str) -> list[float]:
    """When each entry of a stored session was written."""
    return [entry.at for entry in store.log.read_after(id, 0)]
