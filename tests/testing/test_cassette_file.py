"""The file of a cassette: read back as it was written, and refused in words where it is not one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout import UsageError
from turnout.testing.cassette_file import (
    RecordedExchange,
    RecordedRequest,
    RecordedResponse,
    body_of,
    read_cassette,
    write_cassette,
)

ASKED = RecordedRequest("POST", "https://example.test/v1", {"a": "b"}, {"model": "m"})


@given(st.lists(st.binary(max_size=30), max_size=6))
def test_any_chunks_come_back(tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes]) -> None:
    """Text is written as text, all else in base64, and both are read as the same bytes."""
    path = tmp_path_factory.mktemp("cassette") / "one.json"
    answer = RecordedResponse(
        200, {"content-type": "text/event-stream"}, **body_of(chunks, "text/event-stream")
    )
    write_cassette(path, [RecordedExchange(ASKED, answer)])
    (found,) = read_cassette(path)
    assert found.request == ASKED and found.response.bytes_in_chunks == chunks


def test_a_json_answer_is_written_as_json(tmp_path: Path) -> None:
    """It is read and compared by people; a null body and a broken one keep their meaning."""
    path = tmp_path / "one.json"
    bodies = [b'{"a": [1, null]}', b"null", b'{"half']
    answers = [RecordedResponse(200, {}, **body_of([body], "application/json")) for body in bodies]
    write_cassette(path, [RecordedExchange(ASKED, answer) for answer in answers])
    written = [each["response"] for each in json.loads(path.read_text())["exchanges"]]
    assert written[0]["body"] == {"a": [1, None]} and written[2]["chunks"] == ['{"half']
    assert [each.response.bytes_in_chunks for each in read_cassette(path)] == [[body] for body in bodies]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"exchanges": []}', "\udcff", '{"turnout_cassette": 2, "exchanges": []}']
)
def test_another_file_is_refused_in_words(tmp_path: Path, text: str) -> None:
    """The message names the file and says to record again."""
    path = tmp_path / "one.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=r"one\.json .*record again"):
        read_cassette(path)
