"""Every recorded request is read, and nothing that it holds is lost on the way.

The leaves of the recorded JSON are walked here by the wire formats' own field names, apart
from the code that reads them, and looked for in what the history holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.corpus import Exchange, exchanges, needs_corpus

from turnout.history.check import violations
from turnout.history.ingest import ingest
from turnout.history.log import History

FORMATS = {
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "mistral": "mistral",
    "ollama": "ollama",
    "bedrock_converse": "bedrock-converse",
    "bedrock_invoke": "bedrock-invoke",
}
LISTS = ("messages", "input", "contents")
SYSTEM = ("system", "instructions", "systemInstruction", "system_instruction")
TEXTS = {"text", "thinking", "reasoning_content", "reasoning", "code", "output", "title", "refusal", "query"}
CALLS = {"tool_use", "function_call", "custom_tool_call"}
RESULTS = {"tool_result", "function_call_output", "custom_tool_call_output"}

pytestmark = needs_corpus


def requests(family: str) -> list[Exchange]:
    """InvokeModel takes the body of any maker; only those of Claude are Anthropic's."""
    found = [exchange for exchange in exchanges(family) if exchange.request is not None]
    if family != "bedrock_invoke":
        return found
    return [exchange for exchange in found if "claude" in str(exchange.meta["model"])]


def said(body: dict[str, Any]) -> list[Any]:
    return [body[name] for name in (*LISTS, *SYSTEM) if name in body]


def leaves(value: Any, under: str = "") -> Iterator[str]:
    """Every text that someone said, thought or reported."""
    if isinstance(value, str):
        if value.strip() and (under in TEXTS or under in ("content", "")):
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, under)
    elif isinstance(value, dict):
        for name, item in value.items():
            inside = name in ("response", "result") and under in (
                "functionResponse",
                "function_response",
                "text",
            )
            yield from leaves(item, "text" if inside or under == "text" else name)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from objects(item)


def recorded_calls(body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Name and arguments of each call, as they were sent."""
    for found in (item for part in said(body) for item in objects(part)):
        if found.get("type") in CALLS:
            yield found.get("name", ""), found.get("input", found.get("arguments"))
        elif isinstance(call := found.get("toolUse"), dict):
            if "type" not in call:  # else Bedrock ran it
                yield call["name"], call["input"]
        elif isinstance(call := found.get("functionCall", found.get("function_call")), dict):
            yield call.get("name", ""), call.get("args", call.get("arguments"))
        for call in found.get("tool_calls") or ():
            function = call.get("function", call)
            yield function.get("name", ""), function.get("arguments")


def recorded_results(body: dict[str, Any]) -> int:
    found = [item for part in said(body) for item in objects(part)]
    return sum(
        item.get("type") in RESULTS
        or (item.get("type") == "tool_search_output" and item.get("execution") == "client")
        or item.get("role") in ("tool", "function")
        or "type" not in item.get("toolResult", {"type": ""})
        or "functionResponse" in item
        or "function_response" in item
        for item in found
    )


def held_texts(history: History) -> str:
    """Everything a history holds, as one text: strings as they are, and once more as JSON writes them."""
    everything: list[str] = [history.system]

    def collect(value: Any) -> None:
        if isinstance(value, str):
            everything.append(value)
            everything.append(json.dumps(value, ensure_ascii=False)[1:-1])
        elif isinstance(value, list | tuple):
            for item in value:
                collect(item)
        elif isinstance(value, dict):
            for name, item in value.items():
                everything.append(name)
                collect(item)

    collect(msgspec.to_builtins(history.entries))
    return "\n".join(everything)


def same_text(text: str) -> list[str]:
    """The ways in which a text may stand inside a JSON result."""
    return [text, json.dumps(text, ensure_ascii=False)[1:-1]]


@pytest.mark.parametrize("family", FORMATS)
def test_no_recorded_text_is_missing_from_the_history(family: str) -> None:
    """Whatever was said, thought or reported is in the log: in a turn, a result, a residue or a note."""
    for exchange in requests(family):
        body = exchange.request
        held = held_texts(ingest(body, FORMATS[family]))
        for part in said(body):
            for text in leaves(part):
                assert any(form in held for form in same_text(text)), (exchange.id, text[:200])


@pytest.mark.parametrize("family", FORMATS)
def test_no_recorded_call_is_missing_from_the_history(family: str) -> None:
    """Each call of a recording is a call of the history, with the name and arguments it was sent with."""
    for exchange in requests(family):
        history = ingest(exchange.request, FORMATS[family])
        held = [(item.call.name, item.call.arguments, item.call.raw) for item in history.ledger]
        for name, sent in recorded_calls(exchange.request):
            arguments = _object(sent)
            matching = [
                at for at, (n, a, raw) in enumerate(held) if n == name and (a == arguments or raw == sent)
            ]
            assert matching, (exchange.id, name, sent)
            held.pop(matching[0])


def _object(sent: Any) -> Any:
    if sent is None or sent == "":
        return {}
    if not isinstance(sent, str):
        return sent
    try:
        return json.loads(sent)
    except ValueError:
        return sent


@pytest.mark.parametrize("family", FORMATS)
def test_no_recorded_result_is_missing_from_the_history(family: str) -> None:
    """Each result is the outcome of a call, or a note where no call is there to answer."""
    for exchange in requests(family):
        history = ingest(exchange.request, FORMATS[family])
        outcomes = sum(item.outcome is not None and not item.outcome.synthetic for item in history.ledger)
        notes = sum(note.kind in ("orphaned_result", "duplicate_outcome") for note in history.notes)
        assert outcomes + notes == recorded_results(exchange.request), exchange.id


@pytest.mark.parametrize("family", FORMATS)
def test_only_the_last_turn_of_a_recording_may_be_open(family: str) -> None:
    """Calls wait for a result only where nothing follows them, and replay tells the same story."""
    for exchange in requests(family):
        history = ingest(exchange.request, FORMATS[family])
        waiting = {item.turn_key for item in history.ledger if item.outcome is None}
        assert waiting <= {turn.key for turn in history.turns[-1:]}, exchange.id
        assert History.replay(history.entries, history.key).ledger == history.ledger, exchange.id
        assert violations(history) == [], exchange.id


@pytest.mark.parametrize("family", FORMATS)
def test_objects_text_and_bytes_give_the_same_history(family: str) -> None:
    """However a body is handed over, the log is the same, entry by entry."""
    for exchange in requests(family)[::5]:
        body, sent = exchange.request, (exchange.path / "request.json").read_bytes()
        entries = ingest(body, FORMATS[family]).entries
        assert ingest(sent, FORMATS[family]).entries == entries
        assert ingest(sent.decode(), FORMATS[family]).entries == entries


@pytest.mark.parametrize("family", FORMATS)
def test_the_body_tells_system_text_tools_and_model(family: str) -> None:
    """A body's own system text, function declarations and model are taken from around the messages."""
    tools = 0
    for exchange in requests(family):
        body = exchange.request
        history = ingest(body, FORMATS[family])
        tools += len(history.tools)
        for name in SYSTEM:
            for text in leaves(body.get(name)):
                assert text in history.system, exchange.id
        if isinstance(model := body.get("model"), str):
            origins = {turn.origin.model for turn in history.turns if hasattr(turn, "origin")}
            assert origins <= {model.removeprefix("models/")}, exchange.id
    assert tools > 0
