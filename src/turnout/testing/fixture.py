"""The `turnout` fixture of pytest: a scripted model or a cassette for one test, and no other request."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..simulate.scripted import ScriptedModel
from ..simulate.sent_request import SentRequests
from ..tools.confine.forbidden_requests import forbid_requests
from .cassette import Cassette, RecordMode

FOLDER = "cassettes"


class TurnoutFixture:
    """What a test does with turnout. Requests are forbidden, except those of a cassette that records."""

    def __init__(self, test_file: Path, test_name: str, record: RecordMode = "once") -> None:
        self._file = test_file
        self._name = test_name
        self._record = record
        self._blocks = ExitStack()
        self._recording: list[Cassette] = []
        self._heard: ScriptedModel | Cassette | None = None
        self._blocks.enter_context(forbid_requests())

    def script(self, script: Any, **options: Any) -> ScriptedModel:
        """From here on every session of this test asks a model that answers as scripted."""
        self._heard = model = self._blocks.enter_context(ScriptedModel(script, **options))
        return model

    def cassette(self, name: str = "", **options: Any) -> Cassette:
        """From here on every session of this test uses the cassette of that name; the test's own by default.

        It lies in `cassettes/` beside the file of the test. What is recorded is kept if the test passes.
        """
        place = self._file.parent / FOLDER / self._file.stem / f"{name or file_name(self._name)}.json"
        cassette = Cassette(place, **{"record": self._record, **options})
        if cassette.is_recording:
            self._blocks.enter_context(forbid_requests(False))
        cassette.__enter__()  # `end` ends it, because only then is it known whether the test passed
        self._recording.append(cassette)
        self._heard = cassette
        return cassette

    @property
    def requests(self) -> SentRequests:
        """Every request of this test to its scripted model or cassette."""
        if self._heard is None:
            raise UsageError("nothing was sent yet; call turnout.script(…) or turnout.cassette() first")
        return self._heard.requests

    def end(self, *, passed: bool) -> None:
        """Put everything back; write what was recorded if the test passed."""
        failed = None if passed else AssertionError
        try:
            for cassette in reversed(self._recording):
                cassette.__exit__(failed, None, None)
        finally:
            self._blocks.close()


def file_name(test_name: str) -> str:
    """The name of a test as the name of a file: `test_coat[anthropic:x]` is `test_coat-anthropic-x`."""
    return re.sub(r"[^\w.-]+", "-", test_name).strip("-")
