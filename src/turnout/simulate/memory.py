"""Checks that need memory: what a provider issued, to which model, and what it stored.

Signatures and encrypted content hold their issuer and model (`Seal`). Stored responses and the
original form of replies are kept here, for one account.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from ..wire.chat.scripted_reply import SEAL_OF_FORMAT
from ..wire.check.chat.view import array, mapping, text
from ..wire.check.models import family
from ..wire.check.problem import Problem
from ..wire.gemini.scripted_reply import signed_content
from ..wire.shared.residues import SENTINEL
from .provider_ids import Seal
from .request import SimulatedRequest

Wire = Mapping[str, Any]

SENTINELS = (SENTINEL, b64encode(SENTINEL.encode()).decode(), "context_engineering_is_the_way_to_go")
"""What Gemini documents for calls that have no signature."""


class StoredResponse(Struct, frozen=True):
    """A stored response: all items up to its end, and which of its calls have no output yet."""

    items: tuple[Wire, ...]
    open: tuple[str, ...]
    calls: frozenset[str]


class Memory:
    """What a provider remembers of its replies to one account."""

    def __init__(self, seal: Seal) -> None:
        self.seal = seal
        self._responses: dict[str, StoredResponse] = {}
        self._items: dict[str, str] = {}  # item id -> the reasoning that led to it, or ""
        self._thoughts: dict[str, tuple[str, ...]] = {}  # signature -> all of its reply, in order

    # Remembering

    def remember(self, asked: SimulatedRequest, said: Wire) -> None:
        """Remember the parts of a reply that later requests are checked against."""
        match asked.protocol:
            case "anthropic" | "invoke":
                signatures = tuple(_signatures_in(said["content"]))
                self._thoughts.update(dict.fromkeys(signatures, signatures))
            case "responses":
                self._store_response(asked, said)
            case _:
                pass

    def _store_response(self, asked: SimulatedRequest, said: Wire) -> None:
        reasoning = ""
        for item in said["output"]:
            self._items[item["id"]] = reasoning
            reasoning = item["id"] if item["type"] == "reasoning" else reasoning
        if asked.body.get("store") is False:
            return
        items = (*self.earlier(asked), *_input_items(asked), *said["output"])
        calls = tuple(text(item.get("call_id")) for item in said["output"] if item["type"] == "function_call")
        known = frozenset(text(item.get("call_id")) for item in items if item.get("type") == "function_call")
        self._responses[said["id"]] = StoredResponse(items, calls, known)

    def earlier(self, asked: SimulatedRequest) -> tuple[Wire, ...]:
        """The items of the response that this request continues."""
        stored = self._responses.get(text(asked.body.get("previous_response_id")))
        return stored.items if stored else ()

    # Checking

    def problems(self, asked: SimulatedRequest) -> Iterator[Problem]:
        """What this provider refuses because of what it remembers."""
        match asked.protocol:
            case "anthropic" | "invoke":
                yield from self._anthropic_problems(asked)
            case "converse":
                yield from self._converse_problems(asked)
            case "gemini":
                yield from self._gemini_problems(asked)
            case "responses":
                yield from self._responses_problems(asked)
            case "chat":
                yield from self._chat_problems(asked)
            case _:
                pass

    # Anthropic: ANT-18, ANT-19

    def _anthropic_problems(self, asked: SimulatedRequest) -> Iterator[Problem]:
        messages = [mapping(message) for message in array(asked.body.get("messages"))]
        spoken = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
        for at in spoken:
            for index, block in enumerate(array(messages[at].get("content"))):
                path = f"messages.{at}.content.{index}"
                yield from self._thought_problems(mapping(block), path, asked.model, latest=at == spoken[-1])
        if spoken:
            content = array(messages[spoken[-1]].get("content"))
            yield from self._thinking_order_problems(content, f"messages.{spoken[-1]}")

    def _thought_problems(self, block: Wire, path: str, model: str, latest: bool) -> Iterator[Problem]:
        kind = block.get("type")
        if kind == "thinking":
            verdict = self.seal.verdict(
                block.get("signature"), "anthropic", model, text(block.get("thinking"))
            )
        elif kind == "redacted_thinking":
            verdict = self.seal.verdict(block.get("data"), "anthropic", model)
        else:
            return
        if verdict == "changed" and latest:
            yield _modified_thinking(path)
        elif verdict != "genuine":
            field = "signature" if kind == "thinking" else "data"
            advice = "send thinking back only to the model that wrote it"
            yield Problem("ANT-19", path, f"{path}: Invalid `{field}` in `{kind}` block", advice)

    def _thinking_order_problems(self, content: Iterable[Any], path: str) -> Iterator[Problem]:
        """The thinking blocks of the latest message must be unchanged: none left out, none moved (ANT-18)."""
        sent = tuple(_signatures_in(content))
        for signature in sent:
            whole = self._thoughts.get(signature, (signature,))
            start = sent.index(signature) - whole.index(signature)
            if start < 0 or sent[start : start + len(whole)] != whole:
                yield _modified_thinking(f"{path}.content.{sent.index(signature)}")
                return

    # Converse: BDK-06

    def _converse_problems(self, asked: SimulatedRequest) -> Iterator[Problem]:
        """Claude behind Converse checks its signatures as it does everywhere (ANT-19)."""
        for at, message in enumerate(array(asked.body.get("messages"))):
            for index, block in enumerate(array(mapping(message).get("content"))):
                thought = mapping(mapping(block).get("reasoningContent"))
                shown = mapping(thought.get("reasoningText"))
                token, content = shown.get("signature"), text(shown.get("text"))
                if not shown and "redactedContent" in thought:
                    verdict = self.seal.verdict(thought["redactedContent"], "anthropic", asked.model)
                elif token is not None:
                    verdict = self.seal.verdict(token, "anthropic", asked.model, content)
                else:
                    continue
                if verdict != "genuine":
                    path = f"messages.{at}.content.{index}"
                    answer = (
                        f"The model returned the following errors: {path}: Invalid `signature` in `thinking` "
                        "block"
                    )
                    yield Problem("BDK-06", path, answer, "send thinking back only to its model")

    # Gemini: GEM-10

    def _gemini_problems(self, asked: SimulatedRequest) -> Iterator[Problem]:
        for at, content in enumerate(array(asked.body.get("contents"))):
            for index, part in enumerate(array(mapping(content).get("parts"))):
                yield from self._signature_problems(
                    mapping(part), f"contents[{at}].parts[{index}]", asked.model
                )

    def _signature_problems(self, part: Wire, path: str, model: str) -> Iterator[Problem]:
        token = part.get("thoughtSignature", part.get("thought_signature"))
        if token is None or token in SENTINELS:
            return
        call = mapping(part.get("functionCall", part.get("function_call")))
        answers = {
            "unknown": "Corrupted thought signature.",
            "other_model": "Invalid thought signature.",
            "changed": "Thought signature is not valid",
        }
        verdict = self.seal.verdict(token, "gemini", model, signed_content(text(call.get("name"))))
        if verdict != "genuine":
            advice = "send a signature back only to its model, on the part it came on"
            yield Problem("GEM-10", f"{path}.thought_signature", answers[verdict], advice)

    # Responses: OAR-02, OAR-03, OAR-05, OAR-08, OAR-09, OAR-10, OAR-15

    def _responses_problems(self, asked: SimulatedRequest) -> Iterator[Problem]:
        chain = text(asked.body.get("previous_response_id"))
        if chain and chain not in self._responses:
            answer = f"Previous response with id '{chain}' not found."
            yield Problem("OAR-15", "previous_response_id", answer, "send the whole conversation")
            return
        if conversation := asked.body.get("conversation"):
            named = text(mapping(conversation).get("id")) or text(conversation)
            answer = f"Conversation with id '{named}' not found."
            yield Problem("OAR-15", "conversation", answer, "send the whole conversation")
            return
        items = [mapping(item) for item in _input_items(asked)]
        if chain:
            yield from _chain_problems(self._responses[chain], items)
        for index, item in enumerate(items):
            yield from self._item_problems(
                item, f"input[{index}]", asked, {text(other.get("id")) for other in items}
            )

    def _item_problems(
        self, item: Wire, path: str, asked: SimulatedRequest, ids: set[str]
    ) -> Iterator[Problem]:
        cipher, item_id = text(item.get("encrypted_content")), text(item.get("id"))
        if cipher and self.seal.verdict(cipher, "openai", asked.model) != "genuine":
            answer = (
                f"The encrypted content {cipher[:4]}...{cipher[-4:]} could not be verified. Reason: "
                "Encrypted content could not be decrypted or parsed."
            )
            yield Problem("OAR-10", path, answer, "send reasoning back only to the model that wrote it")
        named = item.get("type") in ("reasoning", "item_reference") and not cipher and not item.get("content")
        if named and item_id not in self._items:
            advice = "send the item whole"
            yield Problem("OAR-08", path, f"Item with id '{item_id}' not found.", advice)
        needed = self._items.get(item_id, "")
        if needed and needed not in ids and item.get("type") != "item_reference":
            answer = (
                f"Item '{item_id}' of type '{item.get('type')}' was provided without its required "
                f"'reasoning' item: '{needed}'."
            )
            yield Problem("OAR-09", path, answer, "leave item ids out, or send the reasoning too")

    # OpenRouter and Copilot pass private state on to the upstream provider: ORT-02, COP-01

    def _chat_problems(self, asked: SimulatedRequest) -> Iterator[Problem]:
        messages = [mapping(message) for message in array(asked.body.get("messages"))]
        for at, message in enumerate(messages):
            for index, detail in enumerate(array(message.get("reasoning_details"))):
                path = f"messages[{at}].reasoning_details[{index}]"
                yield from self._detail_problems(mapping(detail), path, asked)
            opaque = message.get("reasoning_opaque")
            if opaque is not None and self.seal.verdict(opaque, "openai", asked.model) != "genuine":
                path = f"messages[{at}].reasoning_opaque"
                yield Problem("COP-01", path, UPSTREAM["claude"].format(path=path), "leave it out")

    def _detail_problems(self, detail: Wire, path: str, asked: SimulatedRequest) -> Iterator[Problem]:
        """OpenRouter: another model refuses a signature of this one."""
        style = SEAL_OF_FORMAT.get(text(detail.get("format")))
        token = detail.get("signature", detail.get("data"))
        if style is None or token is None or token in SENTINELS:
            return
        content = text(detail.get("text")) if "signature" in detail else None
        if self.seal.verdict(token, style, asked.model, content) != "genuine":
            answer = UPSTREAM.get(family(asked.model), UPSTREAM["openai"]).format(path=path)
            yield Problem("ORT-02", path, answer, "send reasoning_details back only to their model")


UPSTREAM = {
    "claude": "{path}: Invalid `signature` in `thinking` block",
    "gemini": "Corrupted thought signature.",
    "openai": "The encrypted content could not be verified. Reason: it could not be decrypted.",
}


def _modified_thinking(path: str) -> Problem:
    answer = (
        f"{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified. These blocks must remain as they were in the original response."
    )
    return Problem("ANT-18", path, answer, "send the message back as it came")


def _signatures_in(content: Iterable[Any]) -> Iterator[str]:
    for block in map(mapping, content):
        if block.get("type") == "thinking":
            yield text(block.get("signature"))
        elif block.get("type") == "redacted_thinking":
            yield text(block.get("data"))


def _input_items(asked: SimulatedRequest) -> list[Any]:
    given = asked.body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(array(given))


def _chain_problems(stored: StoredResponse, items: list[Wire]) -> Iterator[Problem]:
    """A chained request answers every call of the response it continues, and no other."""
    answered = {text(item.get("call_id")) for item in items if item.get("type") == "function_call_output"}
    for index, item in enumerate(items):
        call_id = text(item.get("call_id"))
        if item.get("type") == "function_call_output" and call_id not in stored.calls:
            answer = f"No tool call found for function call output with call_id {call_id}."
            yield Problem("OAR-02", f"input[{index}]", answer, "answer only calls of the chain")
    for call_id in stored.open:
        if call_id not in answered:
            answer = f"No tool output found for function call {call_id}."
            yield Problem("OAR-03", "input", answer, "answer every call of the response")
