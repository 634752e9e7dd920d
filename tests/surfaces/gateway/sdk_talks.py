"""One conversation of each official SDK: ask, run the calls that come back, report, ask again.

Each talk keeps its messages as its users do: what the SDK gave back is sent again unchanged.
"""

from __future__ import annotations

import json
from typing import Any, Protocol

import openai
from msgspec import Struct

TOOL = "weather"
ABOUT = "Tell the weather of a city."
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Said(Struct):
    """What one reply said. `calls` are (id, arguments) in their order; `stop` is in the words of the SDK."""

    text: str = ""
    thinking: str = ""
    calls: list[tuple[str, dict[str, Any]]] = []
    input_tokens: int = 0
    stop: str = ""


class Talk(Protocol):
    """A conversation of one SDK."""

    def user(self, text: str) -> None: ...

    def results(self, outcomes: dict[str, tuple[str, bool]]) -> None: ...

    def ask(self, model: str, stream: bool) -> Said: ...


class ChatTalk:
    """openai, Chat Completions."""

    def __init__(self, base: str, token: str) -> None:
        self.client = openai.OpenAI(base_url=f"{base}/v1", api_key=token, max_retries=0)
        self.messages: list[Any] = []

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def results(self, outcomes: dict[str, tuple[str, bool]]) -> None:
        for id, (text, _) in outcomes.items():
            self.messages.append({"role": "tool", "tool_call_id": id, "content": text})

    def ask(self, model: str, stream: bool) -> Said:
        tool = {"type": "function", "function": {"name": TOOL, "description": ABOUT, "parameters": SCHEMA}}
        asked: dict[str, Any] = {"model": model, "messages": self.messages, "tools": [tool]}
        asked["reasoning_effort"] = "low"
        if not stream:
            whole = self.client.chat.completions.create(**asked)
            message = whole.choices[0].message
            self.messages.append(message.model_dump(exclude_none=True))
            return self._said(message, whole.usage, whole.choices[0].finish_reason)
        more = {"stream_options": {"include_usage": True}}
        try:
            with self.client.chat.completions.stream(**asked, **more) as events:
                for _ in events:
                    pass
                final = events.get_final_completion()
        except openai.LengthFinishReasonError:  # the SDK does not give out half a reply
            return Said(stop="length")
        except openai.ContentFilterFinishReasonError:
            return Said(stop="content_filter")
        message = final.choices[0].message
        kept: dict[str, Any] = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            names = ("id", "type", "function")
            kept["tool_calls"] = [
                {name: value for name, value in call.model_dump().items() if name in names}
                for call in message.tool_calls
            ]
            for call in kept["tool_calls"]:
                call["function"].pop("parsed_arguments", None)
        self.messages.append(kept)
        return self._said(message, final.usage, final.choices[0].finish_reason)

    def _said(self, message: Any, usage: Any, stop: str) -> Said:
        calls = [(call.id, json.loads(call.function.arguments)) for call in message.tool_calls or ()]
        thinking = getattr(message, "reasoning_content", None) or ""
        return Said(message.content or "", thinking, calls, usage.prompt_tokens, stop)


class MistralTalk:
    """mistralai."""

    def __init__(self, base: str, token: str) -> None:
        from mistralai.client import Mistral

        self.client = Mistral(api_key=token, server_url=base)
        self.messages: list[Any] = []

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def results(self, outcomes: dict[str, tuple[str, bool]]) -> None:
        for id, (text, _) in outcomes.items():
            self.messages.append({"role": "tool", "tool_call_id": id, "name": TOOL, "content": text})

    def ask(self, model: str, stream: bool) -> Said:
        tool = {"type": "function", "function": {"name": TOOL, "description": ABOUT, "parameters": SCHEMA}}
        asked: Any = {"model": model, "messages": self.messages, "tools": [tool]}
        if not stream:
            whole = self.client.chat.complete(**asked)
            message = whole.choices[0].message
            self.messages.append(message)
            stop, tokens = str(whole.choices[0].finish_reason), whole.usage.prompt_tokens or 0
            return Said(_spoken(message.content), "", _mistral_calls(message), tokens, stop)
        text, calls, usage, stop = "", [], None, ""
        for event in self.client.chat.stream(**asked):
            usage = event.data.usage or usage
            for choice in event.data.choices:
                text += _spoken(choice.delta.content)
                calls += choice.delta.tool_calls or []
                stop = choice.finish_reason or stop
        self.messages.append({"role": "assistant", "content": text, "tool_calls": calls or None})
        read = [(call.id, json.loads(str(call.function.arguments))) for call in calls]
        assert usage is not None
        return Said(text, "", read, usage.prompt_tokens or 0, stop)


def _spoken(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(getattr(part, "text", "") or "" for part in content or ())


def _mistral_calls(message: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(call.id, json.loads(str(call.function.arguments))) for call in message.tool_calls or ()]


class ResponsesTalk:
    """openai, Responses, without a store: every item is sent again."""

    def __init__(self, base: str, token: str) -> None:
        self.client = openai.OpenAI(base_url=f"{base}/v1", api_key=token, max_retries=0)
        self.items: list[Any] = []

    def user(self, text: str) -> None:
        self.items.append({"role": "user", "content": text})

    def results(self, outcomes: dict[str, tuple[str, bool]]) -> None:
        for id, (text, _) in outcomes.items():
            self.items.append({"type": "function_call_output", "call_id": id, "output": text})

    def ask(self, model: str, stream: bool) -> Said:
        tool: Any = {
            "type": "function",
            "name": TOOL,
            "description": ABOUT,
            "parameters": SCHEMA,
            "strict": False,
        }
        asked: dict[str, Any] = {"model": model, "input": self.items, "tools": [tool], "store": False}
        asked |= {
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "low", "summary": "auto"},
        }
        if stream:
            with self.client.responses.stream(**asked) as events:
                # get_final_response() knows no reply that ended early
                final = [event.response for event in events if hasattr(event, "response")][-1]
        else:
            final = self.client.responses.create(**asked)
        self.items += [
            item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in final.output
        ]
        calls = [
            (item.call_id, json.loads(item.arguments))
            for item in final.output
            if item.type == "function_call"
        ]
        thoughts = [
            part.text for item in final.output if item.type == "reasoning" for part in item.summary or ()
        ]
        why = final.incomplete_details.reason if final.incomplete_details else ""
        stop = f"{final.status} {why}".strip()
        return Said(final.output_text, "".join(thoughts), calls, final.usage.input_tokens, stop)


class AnthropicTalk:
    """anthropic."""

    def __init__(self, base: str, token: str) -> None:
        import anthropic

        self.client = anthropic.Anthropic(base_url=base, api_key=token, max_retries=0)
        self.messages: list[Any] = []

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def results(self, outcomes: dict[str, tuple[str, bool]]) -> None:
        blocks = [
            {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}
            for id, (text, is_error) in outcomes.items()
        ]
        self.messages.append({"role": "user", "content": blocks})

    def ask(self, model: str, stream: bool) -> Said:
        asked: dict[str, Any] = {
            "model": model,
            "max_tokens": 4000,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "messages": self.messages,
            "tools": [{"name": TOOL, "description": ABOUT, "input_schema": SCHEMA}],
        }
        if stream:
            with self.client.messages.stream(**asked) as events:
                final = events.get_final_message()
        else:
            final = self.client.messages.create(**asked)
        self.messages.append(
            {"role": "assistant", "content": [block.model_dump() for block in final.content]}
        )
        text = "".join(block.text for block in final.content if block.type == "text")
        thinking = "".join(block.thinking for block in final.content if block.type == "thinking")
        calls = [(block.id, dict(block.input)) for block in final.content if block.type == "tool_use"]
        return Said(text, thinking, calls, final.usage.input_tokens, final.stop_reason)


class GeminiTalk:
    """google-genai."""

    def __init__(self, base: str, token: str) -> None:
        from google import genai

        self.client = genai.Client(api_key=token, http_options={"base_url": base})
        self.contents: list[Any] = []

    def user(self, text: str) -> None:
        self.contents.append({"role": "user", "parts": [{"text": text}]})

    def results(self, outcomes: dict[str, tuple[str, bool]]) -> None:
        from google.genai import types

        parts = []
        for id, (text, is_error) in outcomes.items():
            answer = {"error" if is_error else "output": text}
            response = types.FunctionResponse(id=id, name=TOOL, response=answer)
            parts.append(types.Part(function_response=response))
        self.contents.append(types.Content(role="user", parts=parts))

    def ask(self, model: str, stream: bool) -> Said:
        from google.genai import types

        declared = types.FunctionDeclaration(name=TOOL, description=ABOUT, parameters_json_schema=SCHEMA)
        config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[declared])],
            thinking_config=types.ThinkingConfig(include_thoughts=True),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        asked: Any = {"model": model, "contents": self.contents, "config": config}
        models = self.client.models
        whole = (
            list(models.generate_content_stream(**asked)) if stream else [models.generate_content(**asked)]
        )
        parts = [part for chunk in whole for part in (chunk.candidates[0].content.parts or ())]
        self.contents.append(types.Content(role="model", parts=parts))
        text = "".join(part.text or "" for part in parts if not part.thought)
        thinking = "".join(part.text or "" for part in parts if part.thought)
        calls = [
            (part.function_call.id, dict(part.function_call.args)) for part in parts if part.function_call
        ]
        usage = whole[-1].usage_metadata
        stop = whole[-1].candidates[0].finish_reason.value
        return Said(text, thinking, calls, usage.prompt_token_count or 0, stop)


TALKS: dict[str, type[Any]] = {
    "chat": ChatTalk,
    "mistral": MistralTalk,
    "responses": ResponsesTalk,
    "anthropic": AnthropicTalk,
    "gemini": GeminiTalk,
}

STOPS = {
    "chat": {"calls": "tool_calls", "end": "stop", "length": "length", "refused": "content_filter"},
    # mistralai has no word for a filtered reply: its client reads any.
    "mistral": {"calls": "tool_calls", "end": "stop", "length": "length", "refused": "content_filter"},
    "responses": {
        "calls": "completed",
        "end": "completed",
        "length": "incomplete max_output_tokens",
        "refused": "incomplete content_filter",
    },
    "anthropic": {"calls": "tool_use", "end": "end_turn", "length": "max_tokens", "refused": "refusal"},
    "gemini": {"calls": "STOP", "end": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"},
}
"""Why a reply ended, in the words of each SDK."""
