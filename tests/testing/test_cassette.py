"""Recording and replay: the first run asks, every later run plays, and a difference is told."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.testing.agent import SCRIPT, TARGETS, dress, weather
from tests.world.over_sockets import no_proxies, with_server  # noqa: F401
from tests.world.raw_server import RawServer, answering, reply

from turnout import ProviderError, Session, TextDelta, UsageError, World, forbid_requests
from turnout.simulate import ScriptedTransport
from turnout.testing import Call, Cassette, CassetteMismatch, Drop, HttpError, Reset, ScriptedModel, Split

KEY = "sk-ant-api03-verysecretkey"


def record(path: Path, script: Any, *prompts: str, target: str = "anthropic:claude-sonnet-5") -> None:
    """Record prompts as a real run would, with a key; the far end is scripted, its bytes are real."""
    with Cassette(path, transport=ScriptedTransport(script)) as cassette:
        assert cassette.is_recording
        for prompt in prompts:
            dress(target, prompt, api_key=KEY)


@pytest.mark.parametrize("target", TARGETS)
def test_every_wire_is_recorded_and_played(target: str, tmp_path: Path) -> None:
    """The same answer comes from the file, without network and key, by the wire of any provider."""
    path = tmp_path / "talk.json"
    with ScriptedModel(SCRIPT), Cassette(path) as cassette:
        assert dress(target) == "Take a coat." and cassette.is_recording
    with forbid_requests(allow_loopback=False), Cassette(path) as cassette:
        assert dress(target) == "Take a coat." and not cassette.is_recording
        cassette.check_finished()
    cassette.requests.check(target=target, results={"weather": "18 degrees in Paris"})


def test_a_conversation_that_changes_provider_is_played_in_a_new_session(tmp_path: Path) -> None:
    """Ids of calls depend on the session; only their pattern is compared."""

    async def talk() -> str:
        async with Session("anthropic:claude-sonnet-5", tools=[weather]) as session:
            await session.ask("What should I wear?")
            session.switch("mistral:mistral-large-latest")
            return (await session.ask("Sure?")).text

    path = tmp_path / "talk.json"
    with ScriptedModel([*SCRIPT, "Quite sure."]), Cassette(path):
        asyncio.run(talk())
    with forbid_requests(), Cassette(path, record="none"):
        assert asyncio.run(talk()) == "Quite sure."


def test_chunks_are_kept_as_they_came(tmp_path: Path) -> None:
    """A stream cut into pieces of seven bytes is played in pieces of seven bytes, cut letters included."""
    path = tmp_path / "talk.json"
    record(path, [["Zwölf Äpfel.", Split(7)]], "How many?")
    (exchange,) = json.loads(path.read_text())["exchanges"]
    chunks = exchange["response"]["chunks"]
    assert len(chunks) > 50 and any(isinstance(chunk, dict) for chunk in chunks)
    with Cassette(path):
        assert dress("anthropic:claude-sonnet-5", "How many?") == "Zwölf Äpfel."


def test_a_real_server_is_recorded_over_a_socket(tmp_path: Path) -> None:
    """The recorder stands in front of the real HTTP transport, without a wrapper in between."""
    path = tmp_path / "talk.json"

    async def ask(url: str, world: World | None = None) -> str:
        async with Session("openai:gpt-5.1", base_url=f"{url}/v1", api_key="k", world=world) as session:
            return (await session.ask("go")).text

    async def work(server: RawServer) -> str:
        with Cassette(path):
            assert await ask(server.url) == "Hello."
        with Cassette(path) as cassette:
            assert await ask(server.url, cassette.world) == "Hello."
        assert len(server.requests) == 1
        return path.read_text()

    assert '"status": 200' in with_server(answering(reply()), work)


def test_no_key_reaches_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of the request, keys of the environment, secrets that are named: not in any spelling."""
    monkeypatch.setenv("OTHER_TOKEN", "hunter2hunter2")
    path = tmp_path / "talk.json"
    words = f"Incorrect key: {KEY} or hunter2hunter2 or pass-phrase or eyJhbGciOiJI.eyJzdWI4ODg4"
    far = ScriptedTransport([HttpError("auth", message=words)])
    with (
        Cassette(path, redact=["pass-phrase"], transport=far),
        pytest.raises(ProviderError, match="Incorrect key"),
    ):
        dress("anthropic:claude-sonnet-5", "My pass-phrase is hunter2hunter2.", api_key=KEY)
    text = path.read_text()
    for secret in (KEY, "hunter2", "pass-phrase", "eyJ"):
        assert secret not in text
    assert "Incorrect key: [redacted] or [redacted] or [redacted]" in text
    assert '"text": "My [redacted] is [redacted]."' in text
    monkeypatch.delenv("OTHER_TOKEN")
    with Cassette(path), pytest.raises(ProviderError, match="Incorrect"):  # the words fit what was redacted
        dress("anthropic:claude-sonnet-5", "My pass-phrase is hunter2hunter2.")


def test_a_difference_is_named(tmp_path: Path) -> None:
    """Another prompt than the recorded one: the place, both texts, and what to do."""
    path = tmp_path / "talk.json"
    record(path, SCRIPT, "What should I wear?")
    with Cassette(path), pytest.raises(CassetteMismatch) as caught:
        dress("anthropic:claude-sonnet-5", "What should I eat?")
    text = str(caught.value)
    assert "no exchange for request 1 of this run, to https://api.anthropic.com/v1/messages" in text
    assert "the nearest is exchange 1, which differs:" in text
    assert 'text: recorded "What should I wear?", sent "What should I eat?"' in text
    assert "record='all'" in text


def test_an_exchange_is_played_once(tmp_path: Path) -> None:
    """Asking more often than was recorded is a mismatch; asking less often fails `check_finished`."""
    path = tmp_path / "talk.json"
    record(path, ["One.", "Two."], "Count.", "Count.")
    with Cassette(path) as cassette:
        assert [dress("anthropic:claude-sonnet-5", "Count.") for _ in range(2)] == ["One.", "Two."]
        with pytest.raises(CassetteMismatch, match="every recorded exchange was asked for already"):
            dress("anthropic:claude-sonnet-5", "Count.")
    with Cassette(path) as cassette:
        dress("anthropic:claude-sonnet-5", "Count.")
    with pytest.raises(AssertionError, match="exchange 2 was not asked for"):
        cassette.check_finished()


def test_requests_in_another_order_find_their_answers(tmp_path: Path) -> None:
    """Sessions that run at once send in any order; each gets what was recorded for it."""
    path = tmp_path / "talk.json"
    record(path, ["Red.", "Blue."], "Fire?", "Sky?")
    with Cassette(path):
        assert dress("anthropic:claude-sonnet-5", "Sky?") == "Blue."
        assert dress("anthropic:claude-sonnet-5", "Fire?") == "Red."


def test_a_field_can_be_ignored(tmp_path: Path) -> None:
    """What differs in every run, such as a day in the system text, is named once."""
    path = tmp_path / "talk.json"
    record(path, ["Fine."], "Well?")

    async def ask(**options: Any) -> str:
        async with Session("anthropic:claude-sonnet-5", tools=[weather], system="Be long.") as session:
            return (await session.ask("Well?", **options)).text

    with (
        Cassette(path),
        pytest.raises(CassetteMismatch, match=r'body.system\[0\].text: recorded "Be brief."'),
    ):
        asyncio.run(ask())
    with Cassette(path, ignore=["system"]):
        assert asyncio.run(ask()) == "Fine."


def test_the_modes(tmp_path: Path) -> None:
    """ "none" never records, "all" always does, "once" where there is no file; others are refused."""
    path = tmp_path / "talk.json"
    with pytest.raises(UsageError, match="there is no cassette"):
        Cassette(path, record="none")
    with pytest.raises(UsageError, match="one of once, none, all"):
        Cassette(path, record="new")  # type: ignore[arg-type]
    record(path, ["Old."], "Well?")
    with Cassette(path, record="all", transport=ScriptedModel(["New."])):
        assert dress("anthropic:claude-sonnet-5", "Well?") == "New."
    with Cassette(path, record="none"):
        assert dress("anthropic:claude-sonnet-5", "Well?") == "New."


def test_a_block_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """Half a conversation would be played as if it were whole."""
    path = tmp_path / "talk.json"
    with pytest.raises(ZeroDivisionError), Cassette(path, transport=ScriptedModel(SCRIPT)):
        dress("anthropic:claude-sonnet-5")
        raise ZeroDivisionError
    assert not path.exists() and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", [HttpError("overloaded"), Drop(), ["Take", Reset(after=3)]], ids=str)
def test_failures_and_retries_are_played_too(tmp_path: Path, fault: Any) -> None:
    """An error, a refused connection, a stream that broke: the retry that followed is played after it."""
    path = tmp_path / "talk.json"
    record(path, [fault, "Take a hat."], "What now?")
    with Cassette(path) as cassette:
        assert dress("anthropic:claude-sonnet-5", "What now?") == "Take a hat."
    assert len(cassette.requests) == 2


def test_a_reply_that_was_left_early_says_so(tmp_path: Path) -> None:
    """Leaving at the same place works; reading on is an error with the way out, and never a wait."""

    async def first_words(session: Session, count: int) -> str:
        words = ""
        async for event in session.run("Tell."):
            words += event.text if isinstance(event, TextDelta) else ""
            if len(words) >= count:
                return words
        return words

    async def tell(world: World, count: int) -> str:
        async with Session("openai:gpt-4o", world=world) as session:
            return await first_words(session, count)

    path = tmp_path / "talk.json"
    long = ScriptedModel([["word " * 200, Split(50)]])
    cassette = Cassette(path, transport=long)
    heard = asyncio.run(tell(cassette.world, 20))
    cassette.save()
    assert asyncio.run(tell(Cassette(path).world, 20))[:20] == heard[:20]

    async def read_on() -> str:
        async with Session("openai:gpt-4o", world=Cassette(path).world) as session:
            return (await session.ask("Tell.")).text

    with pytest.raises(UsageError, match="the reply was left here when it was recorded"):
        asyncio.run(read_on())


def test_a_call_in_arguments_named_id_is_compared(tmp_path: Path) -> None:
    """`id` within the arguments of a call belongs to the user, and counts."""
    path = tmp_path / "talk.json"
    record(path, [[Call("weather", {"city": "Paris", "id": "a"})], "Fine."], "Well?")
    text = path.read_text()
    path.write_text(text.replace('"id": "a"', '"id": "b"'))
    assert text != path.read_text()
    with Cassette(path), pytest.raises(CassetteMismatch, match=r'input\.id: recorded "b", sent "a"'):
        dress("anthropic:claude-sonnet-5", "Well?")
