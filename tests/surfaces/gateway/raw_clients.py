"""A client of each protocol without an SDK: it keeps what it was given, and sends all of it again."""

from __future__ import annotations

from typing import Any

from tests.surfaces.gateway.bodies import path_of
from tests.surfaces.gateway.served import Answer, ask_once

from turnout.surfaces.gateway.gateway import Gateway

TOOL: dict[str, Any] = {
    "name": "look",
    "description": "Look.",
    "parameters": {"type": "object", "properties": {}},
}
LISTS = {"chat": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}
FIELDS: dict[str, dict[str, Any]] = {
    "chat": {"tools": [{"type": "function", "function": TOOL}]},
    "responses": {"tools": [{"type": "function", **TOOL}], "store": False},
    "anthropic": {
        "tools": [{"name": "look", "description": "Look.", "input_schema": TOOL["parameters"]}],
        "max_tokens": 4000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    },
    "gemini": {
        "tools": [{"functionDeclarations": [TOOL]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    },
}
FIELDS["responses"]["include"] = ["reasoning.encrypted_content"]


class RawClient:
    """One conversation. `ask` says something, or reports what the calls of the last reply gave."""

    def __init__(self, protocol: str, model: str) -> None:
        self.protocol, self.model = protocol, model
        self.messages: list[Any] = []
        self._calls: list[tuple[str, str]] = []

    def ask(self, gateway: Gateway, text: str) -> Answer:
        said = [self._result(id, name, text) for id, name in self._calls] or [self._user(text)]
        if self.protocol == "anthropic":
            said = [{"role": "user", "content": said}]
        elif self.protocol == "gemini":
            said = [{"role": "user", "parts": said}]
        self.messages += said
        body = {**FIELDS[self.protocol], "model": self.model, LISTS[self.protocol]: self.messages}
        if self.protocol == "gemini":
            del body["model"]
        answer = ask_once(gateway, "POST", path_of(self.protocol, self.model), body)
        assert answer.status == 200, answer.body
        self._calls = []
        getattr(self, f"_keep_{self.protocol}")(answer.json)
        return answer

    def _user(self, text: str) -> dict[str, Any]:
        if self.protocol == "anthropic":
            return {"type": "text", "text": text}
        return {"text": text} if self.protocol == "gemini" else {"role": "user", "content": text}

    def _result(self, id: str, name: str, text: str) -> dict[str, Any]:
        return {
            "chat": {"role": "tool", "tool_call_id": id, "content": text},
            "responses": {"type": "function_call_output", "call_id": id, "output": text},
            "anthropic": {"type": "tool_result", "tool_use_id": id, "content": text},
            "gemini": {"functionResponse": {"id": id, "name": name, "response": {"output": text}}},
        }[self.protocol]

    def _keep_chat(self, body: Any) -> None:
        message = body["choices"][0]["message"]
        kept = ("role", "content", "tool_calls")
        self.messages.append({name: message[name] for name in kept if message.get(name)})
        self._calls = [(call["id"], "look") for call in message.get("tool_calls") or ()]

    def _keep_responses(self, body: Any) -> None:
        self.messages += body["output"]
        self._calls = [
            (item["call_id"], "look") for item in body["output"] if item["type"] == "function_call"
        ]

    def _keep_anthropic(self, body: Any) -> None:
        self.messages.append({"role": "assistant", "content": body["content"]})
        self._calls = [(block["id"], "look") for block in body["content"] if block["type"] == "tool_use"]

    def _keep_gemini(self, body: Any) -> None:
        content = body["candidates"][0]["content"]
        self.messages.append(content)
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        self._calls = [(call["id"], "look") for call in calls]
