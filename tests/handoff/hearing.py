"""What a request body says, read plainly: who said what, which calls, which results, whose reasoning.

A reading of the formats from outside, sharing nothing with the encoders.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

REMINDER = re.compile(r"<system-reminder>\n(.*?)\n</system-reminder>", re.DOTALL)
MEDIA = ("image_url", "input_audio", "file", "document_url", "input_image", "input_file", "image", "document")


@dataclass
class Heard:
    """A body, as its reader understands it."""

    system: list[str] = field(default_factory=list)
    user: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, Any]] = field(default_factory=list)  # id, name, arguments
    results: list[tuple[str, str]] = field(default_factory=list)  # id, everything that it says
    failed: set[str] = field(default_factory=set)
    reasoning: list[str] = field(default_factory=list)
    media: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)

    def spoken(self, text: str) -> None:
        """What came as the user's words; system text among them is told apart."""
        self.system += REMINDER.findall(text)
        self.user.append(REMINDER.sub("", text))


def hear(protocol: str, body: dict[str, Any]) -> Heard:
    readers = {"chat": _chat, "responses": _responses, "anthropic": _anthropic, "gemini": _gemini}
    readers |= {"converse": _converse, "invoke": _anthropic}
    return {**readers, "ollama": _ollama, "cohere": _cohere}[protocol](body)


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


# ---- Chat


def _chat(body: dict[str, Any]) -> Heard:
    heard = Heard(tools=list(_tool_names(body)))
    for message in body["messages"]:
        match message["role"]:
            case "system" | "developer":
                heard.system.append(message["content"])
            case "user":
                _chat_user(heard, _parts(message["content"]))
            case "assistant":
                _chat_assistant(heard, message)
            case "tool":
                heard.results.append((message["tool_call_id"], _output(heard, message["content"])))
    return heard


def _chat_user(heard: Heard, parts: list[dict[str, Any]]) -> None:
    for at, part in enumerate(parts):
        if part["type"] != "text":
            heard.media.append(json.dumps(part))
        elif not (re.fullmatch(r"From \S+:", part["text"]) and _is_media(*parts[at + 1 : at + 2])):
            heard.spoken(part["text"])


def _is_media(part: dict[str, Any] | None = None) -> bool:
    return part is not None and (part["type"] in MEDIA or part["text"].startswith("["))


def _chat_assistant(heard: Heard, message: dict[str, Any]) -> None:
    for part in _parts(message["content"]):
        if part["type"] == "thinking":
            heard.reasoning += [text["text"] for text in part["thinking"]]
        else:
            heard.model.append(part["text"])
    for name in ("reasoning_content", "reasoning", "reasoning_text", "reasoning_opaque"):
        if message.get(name):
            heard.reasoning.append(message[name])
    if "reasoning_details" in message:
        heard.reasoning.append(json.dumps(message["reasoning_details"]))
    for call in message.get("tool_calls", ()):
        function = call["function"]
        heard.calls.append((call["id"], function["name"], json.loads(function["arguments"])))
        if "extra_content" in call:
            heard.reasoning.append(json.dumps(call["extra_content"]))


# ---- Ollama: calls have no ids, so the places of calls and results stand for them


def _ollama(body: dict[str, Any]) -> Heard:
    heard = Heard(tools=list(_tool_names(body)))
    for message in body["messages"]:
        match message["role"]:
            case "system":
                heard.system.append(message["content"])
            case "user":
                heard.media += message.get("images", ())
                heard.spoken(re.sub(r"From \S+:", "", message["content"]))
            case "assistant":
                heard.model += [message["content"]] if message["content"] else []
                heard.reasoning += [message["thinking"]] if "thinking" in message else []
                for call in message.get("tool_calls", ()):
                    function = call["function"]
                    heard.calls.append((str(len(heard.calls)), function["name"], function["arguments"]))
            case "tool":
                assert heard.calls[len(heard.results)][1] == message["tool_name"]
                heard.results.append((str(len(heard.results)), _output(heard, message["content"])))
    return heard


# ---- Cohere


def _cohere(body: dict[str, Any]) -> Heard:
    heard = Heard(tools=list(_tool_names(body)))
    for message in body["messages"]:
        match message["role"]:
            case "system":
                heard.system.append(message["content"])
            case "user":
                _chat_user(heard, _parts(message["content"]))
            case "assistant":
                for part in _parts(message.get("content")):
                    (heard.reasoning if part["type"] == "thinking" else heard.model).append(
                        part[part["type"]]
                    )
                heard.model += [message["tool_plan"]] if "tool_plan" in message else []
                for call in message.get("tool_calls", ()):
                    function = call["function"]
                    heard.calls.append((call["id"], function["name"], json.loads(function["arguments"])))
            case "tool":
                heard.results.append((message["tool_call_id"], _output(heard, message["content"])))
    return heard


# ---- Responses


def _responses(body: dict[str, Any]) -> Heard:
    heard = Heard(tools=list(_tool_names(body)))
    if "instructions" in body:
        heard.system.append(body["instructions"])
    for item in body["input"]:
        match item["type"]:
            case "message":
                _responses_message(heard, item)
            case "function_call":
                name = _with_space(item.get("namespace"), item["name"])
                heard.calls.append((item["call_id"], name, json.loads(item["arguments"])))
                heard.tools += [name] if item.get("namespace") else []  # declared there, or by an item
            case "custom_tool_call":
                name = _with_space(item.get("namespace"), item["name"])
                heard.calls.append((item["call_id"], name, {"input": item["input"]}))
                heard.tools.append(name)
            case "custom_tool_call_output":
                heard.results.append((item["call_id"], _output(heard, item["output"])))
            case "function_call_output":
                heard.results.append((item["call_id"], _output(heard, item["output"])))
            case kind if kind in CLIENT_RUN and item.get("execution") != "server":
                _client_item(heard, item)
            case "reasoning":
                heard.reasoning.append(item["encrypted_content"])
    return heard


CLIENT_RUN = {
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "computer_call": ("computer", "action"),
    "tool_search_call": ("tool_search", "arguments"),
    "local_shell_call_output": ("", "output"),
    "shell_call_output": ("", "output"),
    "apply_patch_call_output": ("", "output"),
    "computer_call_output": ("", "output"),
    "tool_search_output": ("", "tools"),
}


def _client_item(heard: Heard, item: dict[str, Any]) -> None:
    name, field = CLIENT_RUN[item["type"]]
    said = item.get(field)
    if name:
        heard.calls.append((item["call_id"], name, said))
        heard.tools.append(name)  # such tools are declared by their kind
        return
    if item["type"] == "computer_call_output":
        heard.media.append(json.dumps(said))
    runs = said or () if item["type"] == "shell_call_output" else ()
    text = "\n".join(f"{run['stdout']}\n{run['stderr']}\n[{_ended(run['outcome'])}]" for run in runs)
    whole = {"tools": said} if field == "tools" else said
    text = text or (whole if isinstance(whole, str) else json.dumps(whole))
    heard.results.append((item.get("call_id") or item["id"], text))


def _ended(outcome: dict[str, Any]) -> str:
    return "timed out" if outcome["type"] == "timeout" else f"exit code {outcome['exit_code']}"


def _with_space(space: str | None, name: str) -> str:
    return f"{space}.{name}" if space and space != name else name


def _responses_message(heard: Heard, item: dict[str, Any]) -> None:
    for part in _parts(item["content"]):
        if part["type"] in ("text", "input_text"):
            said = {"assistant": heard.model.append, "developer": heard.system.append}
            said.get(item["role"], heard.spoken)(part["text"])
        else:
            heard.media.append(json.dumps(part))


def _output(heard: Heard, output: Any) -> str:
    heard.media += [json.dumps(part) for part in _parts(output) if part["type"] in MEDIA]
    return "\n".join(_told(part) for part in _parts(output) if part["type"] not in MEDIA)


def _told(part: dict[str, Any]) -> str:
    """A part of a result in words: also one that refers to a tool, or adds one."""
    if part["type"] not in ("tool_reference", "tool_addition"):
        return str(part.get("text", ""))
    named = {name: value for name, value in part.items() if name not in ("type", "cache_control")}
    if "tool" in named:
        named["tool"] = {"name": named["tool"]["name"]}
    return f"[{part['type']}] {json.dumps(named)}"


# ---- Anthropic


def _anthropic(body: dict[str, Any]) -> Heard:
    heard = Heard(tools=list(_tool_names(body)))
    heard.system += [part["text"] for part in _parts(body.get("system"))]
    says = {"user": heard.spoken, "system": heard.system.append, "assistant": heard.model.append}
    for message in body["messages"]:
        say = says[message["role"]]
        for block in _parts(message["content"]):
            match block["type"]:
                case "text":
                    say(block["text"])
                case "tool_use":
                    heard.calls.append((block["id"], block["name"], block["input"]))
                case "tool_result":
                    heard.results.append((block["tool_use_id"], _output(heard, block["content"])))
                    heard.failed |= {block["tool_use_id"]} if block.get("is_error") else set()
                case "thinking":
                    heard.reasoning.append(block["signature"])
                case "redacted_thinking":
                    heard.reasoning.append(block["data"])
                case "tool_addition":
                    say(_told(block))
                case "document" if block["source"]["type"] == "text":
                    say("\n\n".join((block.get("title") or "", block["source"]["data"])))
                case kind if kind in MEDIA:
                    heard.media.append(json.dumps(block))
    return heard


# ---- Converse


def _converse(body: dict[str, Any]) -> Heard:
    tools = body.get("toolConfig", {}).get("tools", ())
    heard = Heard(
        tools=[held["name"] for tool in tools for kind, held in tool.items() if kind != "cachePoint"]
    )
    heard.system += [part["text"] for part in body.get("system", ()) if "text" in part]
    for message in body["messages"]:
        for block in message["content"]:
            ((kind, held),) = block.items()
            _converse_block(heard, message["role"], kind, held)
    return heard


def _converse_block(heard: Heard, role: str, kind: str, held: Any) -> None:
    say = heard.spoken if role == "user" else heard.model.append
    match kind:
        case "text":
            say(held)
        case "citationsContent":
            say("".join(part["text"] for part in held["content"]))
        case "guardContent":
            say(held["text"]["text"])
        case "toolUse" if "type" not in held:
            heard.calls.append((held["toolUseId"], held["name"], held["input"]))
        case "toolResult" if "type" not in held:
            heard.results.append((held["toolUseId"], _converse_output(heard, held["content"])))
            heard.failed |= {held["toolUseId"]} if held.get("status") == "error" else set()
        case "reasoningContent":
            heard.reasoning.append(
                held["redactedContent"]
                if "redactedContent" in held
                else held["reasoningText"].get("signature") or held["reasoningText"]["text"]
            )
        case "document" if not {"bytes", "s3Location"} & held["source"].keys():
            texts = [
                held["source"].get("text") or "",
                *(part["text"] for part in held["source"].get("content", ())),
            ]
            say("\n\n".join((held["name"], held.get("context") or "", *texts)))
        case "image" | "document" | "video" | "audio":
            heard.media.append(json.dumps(held))


def _converse_output(heard: Heard, content: list[dict[str, Any]]) -> str:
    texts = []
    for part in content:
        ((kind, held),) = part.items()
        if kind in ("image", "document", "video"):
            heard.media.append(json.dumps(held))
        elif kind == "searchResult":
            texts += [held["title"], held["source"], *(text["text"] for text in held["content"])]
        else:
            texts.append(held if kind == "text" else json.dumps(held))
    return "\n".join(texts)


# ---- Gemini


def _gemini(body: dict[str, Any]) -> Heard:
    heard = Heard()
    heard.tools += _tool_names(body)
    for part in body.get("systemInstruction", {}).get("parts", ()):
        heard.system.append(part["text"])
    for content in body["contents"]:
        for part in content["parts"]:
            _gemini_part(heard, content["role"], part)
    return heard


def _gemini_part(heard: Heard, role: str, part: dict[str, Any]) -> None:
    if "thoughtSignature" in part:
        heard.reasoning.append(part["thoughtSignature"])
    match part:
        case {"text": text, "thought": True}:
            heard.reasoning.append(text)
        case {"text": text}:
            heard.spoken(text) if role == "user" else heard.model.append(text)
        case {"functionCall": call}:
            heard.calls.append((call.get("id", f"#{len(heard.calls)}"), call["name"], call.get("args", {})))
        case {"functionResponse": answer}:
            id = answer.get("id", f"#{len(heard.results)}")
            heard.results.append((id, _answer(answer["response"])))
            heard.failed |= {id} if "error" in answer["response"] else set()
            heard.media += [json.dumps(inner) for inner in answer.get("parts", ())]
        case {"inlineData": _} | {"fileData": _}:
            heard.media.append(json.dumps(part))
        case {"executableCode": code}:
            heard.model.append(code["code"])
        case {"codeExecutionResult": ran}:
            heard.model.append(ran.get("output", ""))


def _answer(response: dict[str, Any]) -> str:
    """The text of a result: its own words, or the object that it is."""
    if set(response) in ({"output"}, {"error"}):
        word = next(iter(response.values()))
        return word if isinstance(word, str) else json.dumps(word)
    return json.dumps(response)


def _tool_names(body: dict[str, Any]) -> Iterator[str]:
    """Functions by name (with their namespace), a provider's own tools by their type and their name."""
    for tool in body.get("tools", ()):
        kind = tool.get("type", "function")
        if kind == "namespace":
            yield from (f"{tool['name']}.{inner['name']}" for inner in tool["tools"])
        elif kind in ("function", "custom"):
            function = tool.get("function", tool)
            yield from [function["name"]] if "name" in function else _gemini_tool_names(tool)
        else:
            yield from (kind, *([tool["name"]] if "name" in tool else ()))


def _gemini_tool_names(tool: dict[str, Any]) -> Iterator[str]:
    for key, value in tool.items():
        spelled = re.sub("_([a-z])", lambda joint: joint[1].upper(), key)  # its servers read both
        yield from (
            [function["name"] for function in value] if spelled == "functionDeclarations" else [spelled]
        )
