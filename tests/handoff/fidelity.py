"""Whether a request still tells what its history tells: nothing lost, nothing twice, nothing leaked.

The history is walked here by its entries and the body by `hearing`; neither knows the encoders.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from tests.handoff.hearing import Heard, hear
from tests.handoff.judges import inner

from turnout import History, Media, ModelTurn, Opaque, Origin, Outcome, SystemTurn, Text, Thinking
from turnout.model import Code, Residue, Turn
from turnout.targets.target import Target
from turnout.wire.request import WireRequest

FILLERS = (
    *("(The conversation goes on from here.)", "Please continue.", "(no text)", "OK."),
    "See the attached document.",  # Converse wants a text beside a document
)
IN_WORDS = re.compile(r"\[(?:[\w.+*-]+/[\w.+*-]+[^\]]*)?\](?:\s*\(left out: [^)]*\)|\s*\w+://\S+)?")
OPTIONAL = "\0"  # marks words of blocks that only their provider reads: told, or replayed as they were
SUMMARY = "Summary of the conversation so far:"
PLAIN_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
SHOWN = ("deepseek", "kimi", "zai", "openrouter", "vllm", "mistral")
"""Providers that take the text of their own thinking back while they think."""
PRIVATE = {
    "anthropic": ("signature", "redacted"),
    "bedrock": ("signature", "redacted"),
    "gemini": ("thought_signature",),
    "vertex": ("thought_signature",),
    "copilot": ("reasoning_opaque",),
}
"""What each provider hands out to have it back."""
UNDECLARED = {"ollama": "refuses declarations for a model whose template has none, and takes calls without"}
"""Protocols in which a call of the history needs no declaration, and why there is none."""


def losses(history: History, request: WireRequest, place: Target, thinking: bool | None) -> list[str]:
    """Everything that the body lost, repeated, made up or gave away."""
    heard = hear(request.protocol, msgspec.json.decode(inner(request, place)))
    return [
        *_words(history, heard),
        *_calls(history, heard, declared=request.protocol not in UNDECLARED),
        *_results(history, heard),
        *_media(history, heard, request.body),
        *_reasoning(history, heard, place, thinking),
    ]


# ---- words


def _words(history: History, heard: Heard) -> Iterator[str]:
    """Each speaker's words are all there, in order, once; what stands besides is a known filler."""
    system = [history.system, *_texts(history, SystemTurn)]
    users = [SUMMARY + history.summary] if history.summary else []
    users += _texts(history, "user")
    for speaker, told, said in (
        ("system", system, heard.system),
        ("user", users, heard.user),
        ("model", _texts(history, ModelTurn), heard.model),
    ):
        spoken = "\n".join(said)
        readings = (
            spoken,
            _without_fences(spoken),  # code may hold what reads like media in words: `found = []`
            _without_known(spoken, history, ()),
            _without_known(spoken, history, told),
        )
        if any(_cut(told, reading) == ("", []) for reading in readings):
            continue
        rest, lost = _cut(told, readings[-1])
        rest = _without_known(rest, history, ())
        yield from (f"{speaker} lost: {text[:60]!r}" for text in lost)
        if rest:
            yield f"{speaker} says besides: {rest[:80]!r}"


def _texts(history: History, kind: Any) -> list[str]:
    turns = [
        turn
        for turn in history.turns
        if (not isinstance(turn, SystemTurn | ModelTurn) if kind == "user" else isinstance(turn, kind))
    ]
    return [text for turn in turns for block in turn.blocks for text in _text(block)]


def _text(block: Any) -> Iterator[str]:
    if isinstance(block, Text):
        yield block.text
    elif isinstance(block, Code):
        yield block.source
        yield block.output
    elif isinstance(block, Opaque):
        yield OPTIONAL + block.text


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _cut(pieces: Iterable[str], text: str) -> tuple[str, list[str]]:
    """The text without these pieces, and the pieces that were not in it. White space does not count."""
    text, rest, lost = _squeezed(text), "", []
    for piece in map(_squeezed, pieces):
        if piece.startswith(OPTIONAL):
            text = text.removeprefix(piece.removeprefix(OPTIONAL))
            continue
        before, found, after = text.partition(piece) if piece else ("", "", text)
        if piece and not found:
            lost.append(piece)
            continue
        rest, text = rest + before, after
    return rest + text, lost


def _without_known(text: str, history: History, own: Iterable[str]) -> str:
    """The text without fillers, fences and media in words, but for words that are the speaker's own."""
    texts = [decoded for media in _all_media(history) for decoded in (_decoded(media), media.name)]
    own = {word.strip() for word in own}
    text = IN_WORDS.sub("", text)
    for known in (*FILLERS, *sorted(texts, key=len, reverse=True)):
        if known.strip() and known.strip() not in own:
            text = text.replace(known.strip(), "")
    return _without_fences(text)


def _without_fences(text: str) -> str:
    return re.sub(r"```\w*", "", text)


# ---- calls and results


def _model_turns(history: History) -> list[ModelTurn]:
    return [turn for turn in history.turns if isinstance(turn, ModelTurn)]


def _calls(history: History, heard: Heard, *, declared: bool) -> Iterator[str]:
    told = [call for turn in _model_turns(history) for call in turn.tool_calls]
    ids = [id for id, _, _ in heard.calls]
    if len(set(ids)) != len(ids):
        yield f"ids are not distinct: {ids}"
    if len(told) != len(heard.calls):
        yield f"{len(told)} calls became {len(heard.calls)}"
    names: dict[str, str] = {}
    for call, (_, name, arguments) in zip(told, heard.calls, strict=False):
        if arguments != call.arguments:
            yield f"arguments of {call.name}: {call.arguments} became {arguments}"
        if names.setdefault(call.name, name) != name or (
            PLAIN_NAME.fullmatch(call.name) and name != call.name
        ):
            yield f"{call.name} is called {name}"
        if declared and name not in heard.tools:
            yield f"{name} is not declared"
    if len(set(names.values())) != len(names):
        yield f"two tools go by one name: {names}"


def _results(history: History, heard: Heard) -> Iterator[str]:
    told = [call for turn in _model_turns(history) for call in turn.tool_calls]
    if [id for id, _ in heard.results] != [id for id, _, _ in heard.calls]:
        yield "results are not one for each call, in call order"
    for call, (_, said) in zip(told, heard.results, strict=False):
        outcome = history.ledger[call.id].outcome
        if not said.strip():
            yield f"the result of {call.id} says nothing"
        expected = history.shortened_results.get(call.id)
        if expected is None and outcome is not None:
            in_words = [block for block in outcome.content if not _is_file_of_account(block, heard)]
            texts = [text for block in in_words for text in _text(block)]
            expected = "\n".join(text.removeprefix(OPTIONAL) for text in texts)
        if expected and not _tells(said, expected):
            yield f"the result of {call.id} lost {expected[:60]!r}"
        if outcome is not None and outcome.status not in ("complete", "error") and _is_plain(said, outcome):
            yield f"nothing says that {call.id} was {outcome.status}"


def _is_file_of_account(block: Any, heard: Heard) -> bool:
    """A file by its id, sent as itself: every model of its account can read it."""
    data = getattr(getattr(block, "residue", None), "data", None)
    file_id = data.get("file_id") if isinstance(data, dict) else None
    return bool(file_id) and any(file_id in str(each) for each in heard.media)


def _tells(said: str, expected: str) -> bool:
    if _squeezed(expected) in _squeezed(said):
        return True
    try:
        return bool(json.loads(said) == json.loads(expected))
    except ValueError:
        return False


def _is_plain(said: str, outcome: Outcome) -> bool:
    return _squeezed(said) == _squeezed(outcome.text)


# ---- media


def _all_media(history: History) -> list[Media]:
    blocks: list[Any] = [block for turn in history.turns for block in turn.blocks]
    for turn in _model_turns(history):
        for call in turn.tool_calls:
            outcome = history.ledger[call.id].outcome
            if outcome is not None and call.id not in history.shortened_results:
                blocks += outcome.content
    return [block for block in blocks if isinstance(block, Media)]


def _decoded(media: Media) -> str:
    if not media.mime.startswith("text/"):
        return ""
    return base64.b64decode(media.data).decode(errors="replace")


def _media(history: History, heard: Heard, body: bytes) -> Iterator[str]:
    """Each medium goes out once, as itself or in words."""
    text, all_media = body.decode(), _all_media(history)
    words = "\n".join((*heard.user, *heard.model, *heard.media, *(said for _, said in heard.results)))
    for media in all_media:
        if not _goes_out(media, text, words):
            yield f"{media.mime} {media.name} is not even mentioned"
    for source in {media.data or media.uri for media in all_media if len(media.data or media.uri) > 40}:
        if text.count(source) > sum(source in (media.data, media.uri) for media in all_media):
            yield f"a medium goes out more than once: {source[:30]}"


def _goes_out(media: Media, body: str, words: str) -> bool:
    if media.data and (media.data in body or base64.b64encode(_raw(media)).decode() in body):
        return True
    if media.uri and media.uri in body:
        return True
    text = _squeezed(_decoded(media))
    kind = media.mime.partition("/")[0]
    return f"[{kind}/" in words or (not kind and "[" in words) or (bool(text) and text in _squeezed(words))


def _raw(media: Media) -> bytes:
    try:
        return base64.b64decode(
            media.data, altchars=b"-_" if "-" in media.data or "_" in media.data else None
        )
    except ValueError:
        return b"\0 not base64"


# ---- reasoning


def _reasoning(history: History, heard: Heard, place: Target, thinking: bool | None) -> Iterator[str]:
    """Private state goes back to its issuer, and to nobody else."""
    said = "\n".join(heard.reasoning)
    for turn in _model_turns(history):
        for thought, owner in _thoughts(turn):
            shown = _is(owner, place.origin) and owner.provider in SHOWN and "r1" not in owner.model
            if shown and thinking and _squeezed(thought) not in _squeezed(said):
                yield f"own thinking lost: {thought[:40]!r}"
        for secret, owner in _secrets(turn):
            mine = _is(owner, place.origin)
            if mine and secret not in said and thinking is not False:
                yield f"own reasoning lost: {secret[:40]}"
            if not mine and len(secret) > 16 and secret in said:
                yield f"reasoning of {owner} given away: {secret[:40]}"


def _is(owner: Origin, target: Origin) -> bool:
    return (owner.provider, owner.endpoint, owner.model) == (target.provider, target.endpoint, target.model)


def _thoughts(turn: Turn) -> Iterator[tuple[str, Origin]]:
    for block in turn.blocks:
        if isinstance(block, Thinking) and block.residue is not None and block.text.strip():
            yield (
                json.dumps(block.text)[1:-1] if _has_details(block.residue) else block.text,
                block.residue.origin,
            )


def _has_details(residue: Residue) -> bool:
    return isinstance(residue.data, dict) and "reasoning_details" in residue.data


def _secrets(turn: Turn) -> Iterator[tuple[str, Origin]]:
    for at, block in enumerate(turn.blocks):
        residue = block.residue
        if residue is None or not isinstance(residue.data, dict):
            continue
        yield from ((secret, residue.origin) for secret in _marks(residue))
        item = residue.data.get("item", {})
        followed = any(not isinstance(other, Thinking | Opaque) for other in turn.blocks[at + 1 :])
        if isinstance(block, Thinking) and followed and item.get("encrypted_content"):
            yield item["encrypted_content"], residue.origin
        for detail in residue.data.get("reasoning_details", ()):
            if detail.get("type") != "reasoning.encrypted" or "data" in detail:  # a client can lose the data
                yield json.dumps(detail), residue.origin
        if "extra_content" in residue.data:
            yield json.dumps(residue.data["extra_content"]), residue.origin


def _marks(residue: Residue) -> Iterator[str]:
    for name in PRIVATE.get(residue.origin.provider, ()):
        if isinstance(value := residue.data.get(name), str) and value:
            yield value
