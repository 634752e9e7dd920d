"""Here a store is a file."""

from __future__ import annotations

import pytest

from turnout.store import Store


@pytest.fixture
def store(file_store: Store) -> Store:
    return file_store
