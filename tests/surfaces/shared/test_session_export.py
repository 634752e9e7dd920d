"""A session as a file: the form by its name, the same as the page gives, and without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.surfaces.pages.shown import KEY, SEALED, TOKEN, Shown, sample_history, shown

from turnout.surfaces.shared.session_export import FORM_OF_SUFFIX, export_session, times_of_entries
from turnout.world.secrets import Secrets


def exported(made: Shown, form: str) -> str:
    store, secrets = made.store, Secrets({**made.environment, "TURNOUT_TOKEN": TOKEN})
    title, times = store.summary("leak").title, times_of_entries(store, "leak")
    return export_session(store.read("leak"), form, secrets, title, times).decode()


def add_leaky(made: Shown) -> None:
    history = sample_history("leak")
    history.user(f"my key is {KEY}, my token {TOKEN}, sealed {SEALED}")
    made.store.add(history, title=f"Blanks {KEY}")


def test_the_command_writes_what_the_page_gives(tmp_path: Path) -> None:
    """`turnout sessions export --to x.html` and the link of the page give the same bytes."""
    with shown(tmp_path) as made:
        add_leaky(made)
        assert exported(made, "html") == made.text("/sessions/leak/export.html")


@pytest.mark.parametrize("form", sorted(set(FORM_OF_SUFFIX.values())))
def test_no_key_is_in_any_export(tmp_path: Path, form: str) -> None:
    """Keys and tokens are in no form; sealed state is in none that is made for reading."""
    with shown(tmp_path) as made:
        add_leaky(made)
        text = exported(made, form)
        assert KEY not in text and TOKEN not in text and "Blanks" in text
        assert SEALED not in text or form != "html"
