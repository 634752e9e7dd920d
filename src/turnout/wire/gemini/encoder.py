"""Write Gemini generateContent: contents of user and model in turn, all results in one content.

GEM-07: Gemini 3 wants the first call of every step signed. A step of another model gets the
documented sentinel (GEM-09), in old turns too, so that the bytes already sent do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...ids import IdProjection
from ...model import Media, Message, Text, Thinking, ToolCall, ToolResponse, ToolSpec, block_text
from ..options import Options
from ..request import Setting
from ..shared.added_fields import merge_fields, with_added_fields
from ..shared.body import FIRST_FILLER, LAST_FILLER, body_bytes
from ..shared.content import as_reminder, is_blank, nonblank, note_once, response_media, text_of_blocks
from ..shared.growing_bytes import Roll, Wire
from ..shared.limits import nearest_effort, stop_words, temperature, token_limit
from ..shared.offered_tools import Declarations, Offer, offered_tools
from ..shared.residues import SENTINEL, beside_media, fields_of, gemini_parts, thought_signature
from ..shared.schema import gemini_parameters, shallow_schema
from ..shared.tool_fields import with_tool_fields
from .dialect import GeminiDialect
from .values import struct_arguments, struct_response

MAX_STOPS = 5
MAX_TOOLS = 512
BUDGETS = {
    "none": 0,
    "minimal": 512,
    "low": 2_048,
    "medium": 8_192,
    "high": 24_576,
    "xhigh": 24_576,
    "max": 24_576,
}


class GeminiEncoder:
    """Messages as generateContent wants them."""

    def __init__(
        self, dialect: GeminiDialect, setting: Setting, ids: IdProjection, thinking: bool | None
    ) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self.called: dict[str, None] = {}
        self._keeps_thinking = thinking is not False
        self._roll = Roll(_merge_messages)
        self._declarations = Declarations(self._tools)
        self._fillers: list[str] = []

    def feed(self, message: Message) -> None:
        self._add_message(self._roll, message, self._fillers)

    # Messages

    def _add_message(self, roll: Roll, message: Message, changes: list[str]) -> None:
        role = "model" if message.role == "model" else "user"
        parts = list(self._parts(message, changes))
        if not parts:
            return
        if roll.empty and role == "model":
            changes.append("GEM-04 first-role filler: the conversation must start with the user")
            roll.add({"role": "user", "parts": [{"text": FIRST_FILLER}]})
        roll.add({"role": role, "parts": parts})

    def _parts(self, message: Message, changes: list[str]) -> Iterable[Wire]:
        match message.role:
            case "model":
                return self._model(message, changes)
            case "tool":
                return self._results(message.responses, changes)
            case "system":
                text = text_of_blocks(message.blocks)
                return [{"text": as_reminder(text)}] if text else []
            case _:
                return [part for block in nonblank(message.blocks) for part in _parts_of(block, changes)]

    def _model(self, message: Message, changes: list[str]) -> Iterator[Wire]:
        first = True
        for block in message.blocks:
            if isinstance(block, ToolCall):
                yield self._call_part(block, first, changes)
                first = False
            elif not isinstance(block, Thinking) or self._keeps_thinking:
                yield from _parts_of(block, changes)
            else:
                note_once(changes, "thinking left out: thinking is off in this request")

    def _call_part(self, call: ToolCall, first: bool, changes: list[str]) -> Wire:
        self.called[call.name] = None
        function: Wire = {"name": self.ids.name(call.name), "args": struct_arguments(call, changes)}
        # GEM-06: some endpoints of Vertex do not know the field: 'Unknown name "id" ... Cannot find field'.
        if self.dialect.sends_ids:
            function["id"] = self.ids[call.id]
        part: Wire = {"functionCall": function}
        if signature := thought_signature(call.residue, changes):
            part["thoughtSignature"] = signature
        # GEM-08: of parallel calls only the first is signed; a second signature would be a false one.
        elif first and self.setting.facts.signatures:
            part["thoughtSignature"] = SENTINEL
            changes.append(f"GEM-09 sentinel signature on {call.id}: no signature of this model exists")
        return part

    def _results(self, responses: Sequence[ToolResponse], changes: list[str]) -> Iterator[Wire]:
        for response in responses:
            yield self._result(response, changes)
        if not self.setting.facts.signatures:  # older models cannot hold media inside a result
            for response in responses:
                for media in response_media(response):
                    yield from _parts_of(media, changes)

    def _result(self, response: ToolResponse, changes: list[str]) -> Wire:
        function: Wire = {
            "name": self.ids.name(response.name),
            # A protobuf Struct: a text or a list alone is an "Invalid value" (GEM-05).
            "response": struct_response(response, changes),
        }
        if self.dialect.sends_ids:
            function["id"] = self.ids[response.call_id]
        media = response_media(response)
        if media and self.setting.facts.signatures:
            function["parts"] = [part for block in media for part in _parts_of(block, changes)]
        return {"functionResponse": function}

    # Request

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        changes = list(self._fillers)
        roll = self._roll.branch()
        for message in tail:
            self._add_message(roll, message, changes)
        if roll.last is None:
            roll.add({"role": "user", "parts": [{"text": FIRST_FILLER}]})
            changes.append("first-role filler: there was nothing to send")
        elif roll.last_role == "model":
            roll.add({"role": "user", "parts": [{"text": LAST_FILLER}]})
            changes.append("GEM-04 last-role filler: a request must end with the user")
        fields = self._fields(system, tools, options, changes)
        return body_bytes(fields, "contents", (self._roll.closed_pieces, [roll.bytes()])), changes

    def _fields(self, system: str, tools: Sequence[ToolSpec], options: Options, changes: list[str]) -> Wire:
        fields: Wire = {}
        # Models before Gemini 3 refuse functions beside Google's own tools, so there are no stubs then.
        alone = not self.setting.facts.signatures and bool(tools) and not any(t.is_function for t in tools)
        called = () if alone else self.called
        offer = offered_tools(tools, called, options, self.ids, changes, limit=MAX_TOOLS)
        if system.strip():
            fields["systemInstruction"] = {"parts": [{"text": system}]}
        if offer.tools:
            fields["tools"] = self._declarations.of(offer, options, changes)
            self._add_choice(fields, offer, options, changes)
            if self._mixes_tools(offer):
                fields.setdefault("toolConfig", {})["includeServerSideToolInvocations"] = True
        elif options.parallel is not None or options.tool_choice is not None:
            changes.append("parallel and tool_choice left out: there are no tools")
        if config := self._generation(options, changes):
            fields["generationConfig"] = config
        for name in ("user", "metadata", "service_tier", "cache_key", "cache_ttl", "verbosity"):
            if getattr(options, name):
                changes.append(f"{name} {getattr(options, name)} left out: this API does not have it")
        return with_added_fields(
            with_tool_fields(fields, offer.tools), self.dialect.extra_body, options, changes
        )

    def _mixes_tools(self, offer: Offer) -> bool:
        """Whether functions stand beside Google's own tools: Gemini 3 takes that only with a switch."""
        kinds = {tool.declaration is None for tool in offer.tools}
        return len(kinds) == 2 and self.dialect.mixes_tools(signs=self.setting.facts.signatures)

    def _tools(self, offer: Offer, options: Options, changes: list[str]) -> list[Wire]:
        functions = [
            self._tool(tool, offer.names[tool.name], options, changes)
            for tool in offer.tools
            if tool.declaration is None
        ]
        own = [tool.declaration for tool in offer.tools if tool.declaration is not None]
        return [{"functionDeclarations": functions}, *own] if functions else own

    def _tool(self, tool: ToolSpec, name: str, options: Options, changes: list[str]) -> Wire:
        if tool.strict and not options.strict:
            changes.append(f"tool {tool.name}: strict left out: this API does not have it")
        wire: Wire = {"name": name}
        if tool.description:
            wire["description"] = tool.description
        return merge_fields({**wire, **gemini_parameters(tool, changes)}, tool.beside)

    def _add_choice(self, fields: Wire, offer: Offer, options: Options, changes: list[str]) -> None:
        choice = offer.choice
        config: Wire = {}
        if choice in ("auto", "none"):
            config = {"mode": choice.upper()}
        elif choice == "required":
            config = {"mode": "ANY"}
        elif choice:
            config = {"mode": "ANY", "allowedFunctionNames": [offer.names[choice]]}
        if config:
            fields["toolConfig"] = {"functionCallingConfig": config}
        if options.parallel is not None:
            changes.append("parallel left out: this API has no switch for it")

    def _generation(self, options: Options, changes: list[str]) -> Wire:
        given: Wire = {
            "maxOutputTokens": token_limit(options, self.setting.facts, changes),
            "temperature": temperature(options, changes),
            "topP": options.top_p,
            "topK": options.top_k,
            "seed": options.seed,
            "stopSequences": stop_words(options, MAX_STOPS, changes) or None,
            "frequencyPenalty": options.frequency_penalty,
            "presencePenalty": options.presence_penalty,
            "responseLogprobs": None if options.logprobs is None else True,
            "logprobs": options.logprobs or None,
            "thinkingConfig": self._thinking_config(options, changes),
        }
        if options.schema is not None or options.json:
            given["responseMimeType"] = "application/json"
        if options.schema is not None:
            schema = shallow_schema(options.schema, lambda what: changes.append(f"schema: {what}"))
            given["responseJsonSchema"] = schema
        for name in ("schema_name", "schema_description", "schema_strict"):
            if getattr(options, name):
                changes.append(f"{name} {getattr(options, name)} left out: this API does not have it")
        return {name: value for name, value in given.items() if value is not None}

    def _thinking_config(self, options: Options, changes: list[str]) -> Wire | None:
        if options.thinking is None and options.effort is None and options.budget is None:
            return None
        facts = self.setting.facts
        if not facts.thinking:
            changes.append(f"thinking left out: {self.setting.model} does not think")
            return None
        off = options.thinking is False or options.effort == "none"
        if facts.signatures:  # Gemini 3 takes a level, earlier models a budget
            if options.budget is not None:
                changes.append(f"budget left out: {self.setting.model} takes a level of thinking")
            level = nearest_effort("none" if off else options.effort or "high", facts.efforts, changes)
            return {"thinkingLevel": level, "includeThoughts": not off}
        if off and "off" not in facts.thinking:
            changes.append(f"thinking stays on, at its least: {self.setting.model} cannot switch it off")
            return {"thinkingBudget": 128}
        if off:
            return {"thinkingBudget": 0}
        if options.effort and options.budget is not None:
            changes.append("effort left out: the budget says how much to think")
        usual = BUDGETS[options.effort] if options.effort else -1
        budget = usual if options.budget is None else options.budget
        return {"thinkingBudget": budget, "includeThoughts": True}


def _merge_messages(last: Wire, following: Wire) -> bool:
    if last["role"] != following["role"]:
        return False
    # GEM-01: all results of a turn stand in one content, "equal to the number of function call parts".
    last["parts"].extend(following["parts"])
    return True


def _parts_of(block: Any, changes: list[str]) -> Iterator[Wire]:
    """The part (or parts) of a block, with the signature that came on it."""
    if parts := gemini_parts(block.residue, changes):
        yield from parts
        return
    given = thought_signature(block.residue, changes)
    signature = {"thoughtSignature": given} if given else {}
    match block:
        case Media():
            yield {**_media_part(block, changes), **beside_media(block.residue), **signature}
        case Thinking():
            if block.text or signature:
                yield {"text": block.text, "thought": True, **signature}
        case Text():
            # STR-12: Gemini 3 may end with an empty text that carries only a signature. It goes back too.
            if signature or not is_blank(block.text):
                yield {"text": block.text, **signature}
        case _:
            if text := block_text(block):
                yield {"text": text}


def _media_part(media: Media, changes: list[str]) -> Wire:
    is_named = bool(fields_of(media.residue).get("named"))
    if media.name and not is_named:
        note_once(changes, f"file name {media.name} left out: this API has no names for files")
    name = {"displayName": media.name} if is_named and media.name else {}
    if media.data:
        return {"inlineData": {"mimeType": media.mime, "data": media.data, **name}}
    # The type of the link is unknown; the server finds out (recorded: YouTube without mimeType).
    mime = {} if media.mime.endswith("*") else {"mimeType": media.mime}
    return {"fileData": {**mime, "fileUri": media.uri, **name}}
