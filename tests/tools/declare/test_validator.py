"""Schemas from outside: used as they stand, and never a reason to fetch anything."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from turnout.errors import UsageError
from turnout.tools.declare.tool import tool


@pytest.fixture
def visitors() -> Iterator[tuple[int, list[int]]]:
    """A port of this machine, and a list that grows with each connection to it."""
    came: list[int] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                came.append(1)
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1], came
    server.shutdown(socket.SHUT_RDWR)
    server.close()


@pytest.mark.parametrize("key", ["$ref", "$dynamicRef", "$schema"])
def test_nothing_is_fetched_for_a_schema(visitors: tuple[int, list[int]], tmp_path: Path, key: str) -> None:
    """A schema that refers to an address or a file is refused, by name; neither is looked at."""
    port, came = visitors
    file = tmp_path / "schema.json"
    file.write_text("{}")  # whoever read it would be content
    for place in (f"http://127.0.0.1:{port}/x.json", f"file://{file}"):
        for schema in ({key: place}, {"properties": {"a": {"anyOf": [{key: place}]}}}):
            if key == "$schema" and "properties" in schema:
                continue  # a draft is named at the top only; below, it means nothing
            with pytest.raises(UsageError, match=re.escape(place)):
                tool(lambda **more: None, name="f", parameters=schema)
    socket.create_connection(("127.0.0.1", port)).close()  # the trap works
    while not came:
        time.sleep(0.01)
    assert len(came) == 1


def test_a_schema_may_refer_to_itself() -> None:
    """To a part of it by pointer or by id, and to the schema of schemas."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    whole = {"properties": {"a": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    made = tool(lambda **more: None, name="f", parameters=whole)
    assert made.fits({"a": {"next": {}}}) and not made.fits({"a": {"next": 1}})
    named: dict[str, Any] = {"properties": {"a": {"$ref": "part"}}, "$id": "https://example.com/whole"}
    named["$defs"] = {"part": {"$id": "part", "type": "string"}}
    assert not tool(lambda **more: None, name="f", parameters=named).fits({"a": 1})
