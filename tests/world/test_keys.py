"""Keys: a source that does not answer ends the run, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.session.talk import everything, session

from turnout.errors import ProviderError
from turnout.session.events import Failed
from turnout.targets.target import find_target
from turnout.world import keys
from turnout.world.keys import KeyCommand, Keys


def test_a_key_command_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says whose key did not come, nothing is sent, and the command does not run on."""
    monkeypatch.setattr(keys, "PATIENCE", 0.5)
    pid = tmp_path / "pid"
    source = KeyCommand(("sh", "-c", f"echo $$ > {pid}; exec sleep 600"))
    talk, transport = session(["hi"], environment={}, api_key=source)
    failed = asyncio.run(everything(talk))[-1]
    assert isinstance(failed, Failed) and isinstance(failed.error, ProviderError)
    assert failed.kind == "auth" and "openai" in str(failed.error)
    assert list(transport.exchanges) == []
    assert _gone(int(pid.read_text()))


def test_a_cancel_reaches_the_key_command(tmp_path: Path) -> None:
    """A run that waits for a key can be cancelled like any other."""
    pid = tmp_path / "pid"
    source = KeyCommand(("sh", "-c", f"echo $$ > {pid}; exec sleep 600"))
    talk, _ = session(["hi"], environment={}, api_key=source)

    async def cancelling() -> str:
        running = asyncio.ensure_future(everything(talk))
        while not pid.exists() or not pid.read_text().strip():
            await asyncio.sleep(0.01)
        talk.cancel()
        return type((await running)[-1]).__name__

    assert asyncio.run(cancelling()) == "Cancelled"
    assert _gone(int(pid.read_text()))


def _gone(pid: int) -> bool:
    """Whether a process has ended; one that is not collected yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


ENTRA = "eyJhbGci.eyJhdWQi.c2ln"
BEARER = {"authorization": f"Bearer {ENTRA}"}


@pytest.mark.parametrize(
    ("variables", "header"),
    [
        ({"AZURE_OPENAI_API_KEY": "0123abcd"}, {"api-key": "0123abcd"}),
        (
            {"AZURE_OPENAI_AD_TOKEN": "eyJhbGci.eyJhdWQi.c2ln"},
            {"authorization": "Bearer eyJhbGci.eyJhdWQi.c2ln"},
        ),
        (
            {"AZURE_OPENAI_API_KEY": "eyJhbGci.eyJhdWQi.c2ln"},
            {"authorization": "Bearer eyJhbGci.eyJhdWQi.c2ln"},
        ),
        ({"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_AD_TOKEN": ENTRA}, {"api-key": "k"}),
    ],
)
@pytest.mark.parametrize("target", ["azure:gpt-5.1", "azure-responses:gpt-5.1", "azure@deployments:gpt-5.1"])
def test_azure_takes_a_key_or_a_token_of_entra(
    target: str, variables: dict[str, str], header: dict[str, str]
) -> None:
    """A key goes in a header of its own, a token as a bearer, from whichever variable it comes."""
    place = find_target(target, environment={"AZURE_OPENAI_RESOURCE": "mine"})
    found = asyncio.run(Keys(variables).headers(place))

    assert {name.lower(): value for name, value in found.items()} == header
