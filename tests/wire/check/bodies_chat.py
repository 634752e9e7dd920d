"""Chat bodies: good ones, and for each rule the smallest change that breaks it.

A bad body is a good one with one thing wrong, so that exactly one rule may speak.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def user(content: Any = "Weather in Paris?") -> Json:
    return {"role": "user", "content": content}


def system(content: Any = "Be brief.") -> Json:
    return {"role": "system", "content": content}


def said(content: Any = "Sunny.", **more: Any) -> Json:
    return {"role": "assistant", "content": content, **more}


def call(id: Any = "call_1", name: Any = "get_weather", arguments: Any = '{"city": "Paris"}') -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def called(*calls: Json, content: Any = None, **more: Any) -> Json:
    return {"role": "assistant", "content": content, "tool_calls": list(calls or [call()]), **more}


def result(id: Any = "call_1", content: Any = "18 C", **more: Any) -> Json:
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


def tool(name: Any = "get_weather", parameters: Any = CITY, **more: Any) -> Json:
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


def item(call_id: str) -> Json:
    """A call as the Responses API has it."""
    return {"type": "function_call", "call_id": call_id, "name": "get_weather", "arguments": "{}"}


def output(call_id: str) -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": "18 C"}


def body(model: str, *messages: Json, **more: Any) -> Json:
    return {"model": model, "messages": list(messages), **more}


def loop(model: str, *, id: str = "call_1", **more: Any) -> Json:
    """One call and its result, with the tool declared: what every server takes."""
    return body(model, system(), user(), called(call(id)), result(id), tools=[tool()], **more)


class Bad(NamedTuple):
    api: str
    rule: str
    what: str
    body: Any
    text: str  # the part of the provider's answer that does not change

    @property
    def name(self) -> str:
        return f"{self.api} {self.rule} {self.what}"


UNANSWERED = "did not have response messages: call_2"
ORPHAN = "must be a response to a preceeding message with 'tool_calls'"
TWO = (call(), call("call_2"))
GPT = "gpt-4.1"
M9 = "aK3fQ9xT1"
THOUGHT = {"reasoning_content": "Two lookups."}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
AUDIO = {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}
FORCED = {"type": "function", "function": {"name": "get_weather"}}


def strict(parameters: Any) -> list[Json]:
    return [tool(parameters=parameters, strict=True)]


def answer_format(schema: Any) -> Json:
    return {"type": "json_schema", "json_schema": {"name": "city", "schema": schema, "strict": True}}


OPENAI_BAD = [
    Bad("openai", "OAC-01", "a call without a result", body(GPT, user(), called(*TWO), result()), UNANSWERED),
    Bad("openai", "OAC-01", "a call at the end", body(GPT, user(), called()), "messages: call_1"),
    Bad("openai", "OAC-01", "a late result", body(GPT, user(), called(), user(), result()),
        "messages: call_1"),
    Bad("openai", "OAC-01", "a system message between",
        body(GPT, user(), called(*TWO), result(), system(), result("call_2")), UNANSWERED),
    Bad("openai", "OAC-01", "two results for one call",
        body(GPT, user(), called(), result(), result()), "responding to each 'tool_call_id'"),
    Bad("openai", "OAC-02", "a result of nobody", body(GPT, user(), result()), ORPHAN),
    Bad("openai", "OAC-02", "a result with another id",
        body(GPT, user(), called(), result(), result("call_9")), ORPHAN),
    Bad("openai", "OAC-02", "a result of an earlier turn",
        body(GPT, user(), called(), result(), said(), result()), ORPHAN),
    Bad("openai", "OAC-03", "an id of 41 characters", loop(GPT, id="c" * 41),
        "string too long. Expected a string with maximum length 40, but got a string with length 41"),
    Bad("openai", "OAC-03", "an empty id", loop(GPT, id=""), "minimum length 1"),
    Bad("openai", "OAC-03", "no id", body(GPT, user(), called({k: v for k, v in call().items() if k != "id"}),
        result(None)), "Missing required parameter: 'messages[1].tool_calls[0].id'"),
    Bad("openai", "OAC-05", "129 calls", body(GPT, user(), called(*(call(f"c{i}") for i in range(129))),
        *(result(f"c{i}") for i in range(129))),
        "array too long. Expected an array with maximum length 128, but got an array with length 129"),
    Bad("openai", "OAC-05", "an empty list of calls", body(GPT, user(), said(tool_calls=[]), user()),
        "'messages[1].tool_calls': empty array"),
    Bad("openai", "OAC-05", "null for calls", body(GPT, user(), said(tool_calls=None), user()),
        "expected an array of objects, but got null"),
    Bad("openai", "OAC-06", "129 tools", body(GPT, user(), tools=[tool(f"t{i}") for i in range(129)]),
        "Invalid 'tools': array too long. Expected an array with maximum length 128"),
    Bad("openai", "OAC-06", "an empty list of tools", body(GPT, user(), tools=[]), "'tools': empty array"),
    Bad("openai", "OAC-06", "a choice among no tools", body(GPT, user(), tool_choice="auto"),
        "'tool_choice' is only allowed when 'tools' are specified"),
    Bad("openai", "OAC-06", "parallel without tools", body(GPT, user(), parallel_tool_calls=True),
        "'parallel_tool_calls' is only allowed when 'tools' are specified"),
    Bad("openai", "OAC-06", "null for parallel", loop(GPT, parallel_tool_calls=None),
        "Invalid type for 'parallel_tool_calls': expected a boolean, but got null instead."),
    Bad("openai", "OAC-07", "a dot in a tool's name", body(GPT, user(), tools=[tool("a.b")]),
        "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'"),
    Bad("openai", "OAC-07", "a dot in a call's name", body(GPT, user(), called(call(name="a.b")), result()),
        "'messages[1].tool_calls[0].function.name': string does not match pattern"),
    Bad("openai", "OAC-07", "a name of 65 characters", body(GPT, user(), tools=[tool("n" * 65)]),
        "maximum length 64"),
    Bad("openai", "OAC-07", "an empty name", body(GPT, user(), called(call(name="")), result()),
        "'messages[1].tool_calls[0].function.name': empty string"),
    Bad("openai", "OAC-07", "a custom tool's name",
        body(GPT, user(), tools=[{"type": "custom", "custom": {"name": "a b"}}]), "does not match pattern"),
    Bad("openai", "OAC-08", "arguments as an object",
        body(GPT, user(), called(call(arguments={"city": "Paris"})), result()),
        "expected a string, but got an object"),
    Bad("openai", "OAC-08", "null for arguments", body(GPT, user(), called(call(arguments=None)), result()),
        "expected a string, but got null"),
    Bad("openai", "OAC-08", "empty arguments", body(GPT, user(), called(call(arguments="")), result()),
        "function.arguments': empty string"),
    Bad("openai", "OAC-09", "null content without calls", body(GPT, user(), said(None), user()),
        "Invalid value for 'content': expected a string, got null."),
    Bad("openai", "OAC-09", "an empty array for content", body(GPT, user(), said([]), user()), "empty array"),
    Bad("openai", "OAC-09", "an image from the assistant",
        body(GPT, user(), said([{"type": "image_url", "image_url": {"url": "data:,"}}]), user()),
        "Supported values are: 'text' and 'refusal'"),
    Bad("openai", "OAC-10", "an image from a tool",
        body(GPT, user(), called(), result(content=[{"type": "image_url", "image_url": {"url": "data:,"}}])),
        "Invalid value: 'image_url'"),
    Bad("openai", "OAC-10", "null from a tool", body(GPT, user(), called(), result(content=None)), "null"),
    Bad("openai", "OAC-10", "an empty array from a tool", body(GPT, user(), called(), result(content=[])),
        "empty array"),
    Bad("openai", "OAC-11", "5.6 with tools and no effort", loop("gpt-5.6-terra"),
        "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions"),
    Bad("openai", "OAC-11", "5.4 with tools and an effort", loop("gpt-5.4", reasoning_effort="low"),
        "set reasoning_effort to 'none'"),
    Bad("openai", "OAC-12", "reasoning sent back", body(GPT, user(), said(**THOUGHT), user()),
        "property 'reasoning_content' is unsupported"),
    Bad("openai", "OAC-12", "details sent back", body(GPT, user(), said(reasoning_details=[]), user()),
        "property 'reasoning_details' is unsupported"),
    Bad("groq", "OAC-12", "reasoning sent back", body("llama-3.3-70b", user(), said(**THOUGHT), user()),
        "'messages.1' : property 'reasoning_content' is unsupported"),
    Bad("openai", "OAC-13", "an open object", body(GPT, user(), tools=strict(CITY)),
        "'additionalProperties' is required to be supplied and to be false"),
    Bad("openai", "OAC-13", "an optional property",
        body(GPT, user(), tools=strict({**CITY, "required": [], "additionalProperties": False})),
        "to be an array including every key in properties. Missing 'city'"),
    Bad("openai", "OAC-13", "an open answer",
        body(GPT, user(), response_format=answer_format(CITY)),
        "Invalid schema for response_format 'city': In context=(), 'additionalProperties' is required"),
    Bad("openai", "OAC-14", "alternatives at the root",
        body(GPT, user(), tools=[tool(parameters={**CITY, "anyOf": [CITY]})]),
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"),
    Bad("openai", "OAC-14", "an array at the root",
        body(GPT, user(), tools=[tool(parameters={"type": "array"})]),
        "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'"),
    Bad("openai", "OAC-14", "an object without properties",
        body(GPT, user(), tools=[tool(parameters={"type": "object"})]), "object schema missing properties"),
    Bad("openai", "OAC-15", "a developer before o1-mini",
        body("o1-mini", {"role": "developer", "content": "Be brief."}, user()),
        "'messages[0].role' does not support 'developer'"),
    Bad("azure", "OAC-15", "a system message before o1-preview",
        body("o1-preview-2024-09-12", system(), user()), "'messages[0].role' does not support 'system'"),
    Bad("openai", "OAC-16", "sound for a model that does not hear", body("gpt-5-mini", user([AUDIO])),
        "Invalid 'messages[0]'. Content blocks are expected to be either text or image_url type."),
    Bad("openai", "OAC-17", "a search by a model that has none",
        body("gpt-4o", user(), web_search_options={"search_context_size": "low"}),
        "Web search options not supported with this model."),
    Bad("openai", "OPT-01", "a temperature below 0", body(GPT, user(), temperature=-1),
        "decimal below minimum value. Expected a value >= 0, but got -1 instead."),
    Bad("azure", "OPT-01", "a temperature above 2", body(GPT, user(), temperature=2.5),
        "decimal above maximum value. Expected a value <= 2, but got 2.5 instead."),
    Bad("openai", "OPT-01", "a temperature in words", body(GPT, user(), temperature="hot"),
        "expected a decimal, but got a string instead"),
    Bad("doubleword", "OPT-01", "a hundred", body("Qwen/Qwen3.5-9B", user(), temperature=100),
        "Validation: Temperature must be between 0 and 2, got 100"),
    Bad("openai", "OPT-02", "a temperature for o3", body("o3-mini", user(), temperature=0.2),
        "'temperature' does not support 0.2 with this model"),
    Bad("openai", "OPT-02", "a temperature for the first gpt-5", body("gpt-5-mini", user(), temperature=0),
        "Only the default (1) value is supported."),
    Bad("deepseek", "OAC-14", "no type at the root",
        body("deepseek-chat", user(), tools=[tool(parameters={"properties": {}})]), "got 'type: null'"),
    Bad("openai", "BODY", "no messages", {"model": GPT}, "Missing required parameter: 'messages'"),
    Bad("openai", "BODY", "no message", body(GPT), "empty array"),
    Bad("openai", "BODY", "a message that is text", {"model": GPT, "messages": ["hi"]}, "expected an object"),
    Bad("openai", "BODY", "no role", {"model": GPT, "messages": [{"content": "hi"}]}, "'messages[0].role'"),
    Bad("openai", "BODY", "a part without a type", body(GPT, user([{"text": "hi"}])), "content[0].type'"),
]  # fmt: skip


def mistral(*messages: Json, model: str = "mistral-large-latest", **more: Any) -> Json:
    return body(model, *messages, **more)


def m_called(*ids: str, **more: Any) -> Json:
    return called(*(call(id) for id in ids or [M9]), content="", **more)


MISTRAL_BAD = [
    Bad("mistral", "MIS-01", "a foreign id", loop("mistral-large-latest", id="call_abc"),
        "Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9."),
    Bad("openrouter", "MIS-01", "behind a gateway", loop("mistralai/mistral-large", id="call_abc"),
        "must be a-z, A-Z, 0-9, with a length of 9"),
    Bad("vllm", "MIS-01", "on one's own server", loop("mistralai/Devstral-Small", id="call_abc"),
        "must be a-z, A-Z, 0-9, with a length of 9"),
    Bad("mistral", "MIS-02", "a call without a result",
        mistral(user(), m_called(M9, "bbbbbbbbb"), result(M9)),
        "Not the same number of function calls and responses"),
    Bad("mistral", "MIS-02", "the user speaks before the result", mistral(user(), m_called(), user()),
        "Not the same number of function calls and responses"),
    Bad("mistral", "MIS-03", "another's id", mistral(user(), m_called(), result("bbbbbbbbb")),
        "Unexpected tool call id bbbbbbbbb in tool results"),
    Bad("mistral", "MIS-03", "two results for one call", mistral(user(), m_called(), result(M9), result(M9)),
        f"Duplicate tool call id {M9} in tool results"),
    Bad("mistral", "MIS-03", "one id for two calls",
        mistral(user(), m_called(M9, M9), result(M9), result(M9)), "Duplicate tool call id"),
    Bad("mistral", "MIS-04", "system after the assistant", mistral(user(), said(), system(), user()),
        "Unexpected role 'system' after role 'assistant'"),
    Bad("mistral", "MIS-04", "system after a result",
        mistral(user(), m_called(), result(M9), system(), user()),
        "Unexpected role 'system' after role 'tool'"),
    Bad("mistral", "MIS-04", "an old model without the bridge",
        mistral(user(), m_called(), result(M9), user(), model="open-mistral-7b"),
        "Unexpected role 'user' after role 'tool'"),
    Bad("mistral", "MIS-05", "the assistant last", mistral(user(), said()),
        "Expected last role User or Tool (or Assistant with prefix) for serving but got assistant"),
    Bad("mistral", "MIS-05", "a call last", mistral(user(), m_called()), "Expected last role User or Tool"),
    Bad("mistral", "MIS-05", "an early prefix", mistral(user(), said(prefix=True), user()),
        "Assistant message with prefix True must be last message"),
    Bad("mistral", "MIS-06", "a lone assistant", mistral(said()),
        "Conversation must start with a user message or system message"),
    Bad("mistral", "MIS-06", "a result after the user", mistral(user(), m_called(), user(), result(M9)),
        "Unexpected role 'tool' after role 'user'"),
    Bad("mistral", "MIS-07", "text and calls from an old model",
        mistral(user(), called(call(M9), content="Wait."), result(M9), model="open-mixtral-8x7b"),
        "Assistant message must have either content or tool_calls, but not both."),
    Bad("mistral", "MIS-08", "a tool's name", mistral(user(), tools=[tool("a.b")]),
        "Function name was a.b but must be a-z, A-Z, 0-9, or contain underscores and dashes"),
    Bad("mistral", "MIS-08", "a result's name", mistral(user(), m_called(), result(M9, name="a b")),
        "Function name was a b but must be"),
    Bad("mistral", "MIS-09", "a type that is none",
        mistral(user(), tools=[tool(parameters={"type": "objekt"})]), "Invalid tool schema: "),
    Bad("mistral", "MIS-10", "an unknown choice", mistral(user(), tools=[tool()], tool_choice="always"),
        "'auto', 'none', 'any' or 'required'"),
    Bad("mistral", "MIS-11", "thinking in a user message",
        mistral(user([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}])),
        "Unexpected content chunk types in user message: ['ThinkChunk']"),
    Bad("mistral", "MIS-11", "thinking for an old model",
        mistral(user(), said([{"type": "thinking", "thinking": []}]), user(), model="open-mistral-7b"),
        "Unexpected content chunk types in assistant message: ['ThinkChunk']"),
    Bad("mistral", "MIS-11", "thinking as a field", mistral(user(), said(**THOUGHT), user()),
        "Extra inputs are not permitted"),
    Bad("mistral", "OAC-08", "null for arguments",
        mistral(user(), called(call(M9, arguments=None)), result(M9)), "got null"),
]  # fmt: skip


def kimi(*messages: Json, model: str = "kimi-k2.6", **more: Any) -> Json:
    return body(model, *messages, **more)


def union(**more: Any) -> Json:
    return {"type": "object", "properties": {"x": {"anyOf": [{"type": "string"}], **more}}}


REF = {"type": "object", "properties": {"x": {"$ref": "#/$defs/x", "description": "x"}}, "$defs": {"x": {}}}
TUPLE = {"type": "object", "properties": {"x": {"type": "array", "items": [{"type": "string"}]}}}

KIMI_BAD = [
    Bad("kimi", "KIM-01", "a call without a result", kimi(user(), called(*TWO, **THOUGHT), result()),
        "an assistant message with 'tool_calls' must be followed by tool messages responding to each"),
    Bad("kimi", "KIM-01", "a result of nobody", kimi(user(), result()),
        "Invalid request: messages with role 'tool' must be a response to a preceeding message"),
    Bad("kimi", "KIM-02", "a call without its reasoning", loop("kimi-k2.6"),
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"),
    Bad("kimi", "KIM-02", "where thinking stays on", loop("kimi-k3", thinking={"type": "disabled"}),
        "reasoning_content is missing"),
    Bad("openrouter", "KIM-02", "behind a gateway", loop("moonshotai/kimi-k2.5"),
        "reasoning_content is missing"),
    Bad("kimi", "KIM-03", "a forced tool", kimi(user(), tools=[tool()], tool_choice="required"),
        "tool_choice specified is incompatible with thinking enabled"),
    Bad("kimi", "KIM-03", "a named tool", kimi(user(), tools=[tool()], tool_choice=FORCED),
        "incompatible with thinking enabled"),
    Bad("kimi", "KIM-04", "an empty assistant", kimi(user(), said(""), user()),
        "the message at position 1 with role 'assistant' must not be empty"),
    Bad("kimi", "OAC-07", "a name that begins with a digit", kimi(user(), tools=[tool("21st_magic")]),
        "must start with a letter"),
    Bad("kimi", "OAC-07", "a name that begins with a dash", kimi(user(), tools=[tool("-x")]),
        "must start with a letter"),
    Bad("kimi", "KIM-06", "type beside anyOf", kimi(user(), tools=[tool(parameters=union(type="string"))]),
        "type should be defined in anyOf items instead of the parent schema"),
    Bad("kimi", "KIM-06", "something beside $ref", kimi(user(), tools=[tool(parameters=REF)]), "$ref"),
    Bad("kimi", "KIM-06", "a tuple", kimi(user(), tools=[tool(parameters=TUPLE)]), "moonshot flavored"),
    Bad("kimi", "KIM-06", "no object at the root", kimi(user(), tools=[tool(parameters={"type": "array"})]),
        "the root must have type object"),
    Bad("kimi", "KIM-07", "a temperature of one's own", kimi(user(), temperature=0.2),
        "invalid temperature: only 1 is allowed for this model"),
]  # fmt: skip

V4 = "deepseek-v4-pro"

DEEPSEEK_BAD = [
    Bad("deepseek", "DSK-06", "an image", body("deepseek-chat", user([IMAGE])),
        "messages[0]: unknown variant `image_url`, expected `text`"),
    Bad("deepseek", "DSK-06", "a film",
        body("deepseek-chat", user([{"type": "video_url", "video_url": {"url": "https://x/clip.mp4"}}])),
        "unknown variant `video_url`, expected `text`"),
    Bad("deepseek", "DSK-06", "an image on its Responses API",
        {"model": "deepseek-chat", "input": [user([{"type": "input_image", "image_url": "https://x/a.png"}])]},
        "unknown variant `input_image`"),
    Bad("deepseek", "DSK-03", "a word between two calls on its Responses API",
        {"model": "deepseek-chat", "input": [user(), item("c1"), said("And"), item("c2"), output("c1"),
                                             output("c2")]},
        "insufficient tool messages following tool_calls message): c1"),
    Bad("deepseek", "DSK-01", "a call without its reasoning", loop(V4),
        "in the thinking mode must be passed back to the API"),
    Bad("deepseek", "DSK-01", "the answer of a tool turn, later",
        body("deepseek-reasoner", user(), called(**THOUGHT), result(), said(), user()), "message index 3"),
    Bad("openrouter", "DSK-01", "behind a gateway", loop("deepseek/deepseek-v4"), "must be passed back"),
    Bad("deepseek", "DSK-02", "reasoning for an R1", body("deepseek-r1", user(), said(**THOUGHT), user()),
        "`reasoning_content`"),
    Bad("together", "DSK-02", "reasoning for an R1 elsewhere",
        body("deepseek-ai/DeepSeek-R1", user(), said(**THOUGHT), user()), "`reasoning_content`"),
    Bad("deepseek", "DSK-03", "a call without a result", body(V4, user(), called(*TWO, **THOUGHT), result()),
        "(insufficient tool messages following tool_calls message)"),
    Bad("deepseek", "OAC-02", "a result of nobody", body(V4, user(), result()), ORPHAN),
    Bad("deepseek", "DSK-04", "a forced tool", body(V4, user(), tools=[tool()], tool_choice="required"),
        "Thinking mode does not support this tool_choice"),
    Bad("deepseek", "DSK-04", "a named tool",
        body("deepseek-reasoner", user(), tools=[tool()], tool_choice=FORCED),
        "deepseek-reasoner does not support this tool_choice"),
]  # fmt: skip

CLAUDE = "anthropic/claude-haiku-4.5"
DETAIL = {"type": "reasoning.text", "text": "Two lookups.", "format": "anthropic-claude-v1", "index": 0}

HOSTS_BAD = [
    Bad("qwen", "QWN-01", "a call without a result", body("qwen-max", user(), called(*TWO), result()),
        UNANSWERED),
    Bad("qwen", "QWN-01", "a result of nobody", body("qwen-max", user(), result()),
        'messages with role "tool" must be a response to a preceeding message with "tool_calls".'),
    Bad("qwen", "QWN-02", "a forced tool while thinking",
        body("qwen-plus", user(), tools=[tool()], tool_choice="required", enable_thinking=True),
        "does not support being set to required or object in thinking mode"),
    Bad("qwen", "QWN-03", "thinking without a stream", body("qwen3-32b", user()),
        "parameter.enable_thinking must be set to false for non-streaming calls"),
    Bad("qwen", "QWN-03", "a budget of nothing", body("qwen-plus", user(), thinking_budget=0),
        "The thinking_budget parameter must be a positive integer"),
    Bad("xai", "XAI-01", "an empty array", body("grok-4", user([])),
        "Each message must have at least one content element."),
    Bad("xai", "XAI-01", "an empty assistant", body("grok-4", user(), said(""), user()),
        "Each message must have at least one content element."),
    Bad("xai", "XAI-02", "nothing but reasoning", body("grok-4", user(), said("", **THOUGHT), user()),
        "Each message must have at least one content element."),
    Bad("copilot", "COP-01", "a call without a result",
        body("claude-sonnet-4.5", user(), called(*TWO), result()),
        "ids were found without `tool_result` blocks immediately after: call_2"),
    Bad("copilot", "COP-01", "a result of nobody", body("claude-sonnet-4.5", user(), result()),
        "unexpected `tool_use_id` found in `tool_result` blocks: call_1"),
    Bad("copilot", "COP-01", "two results for one call",
        body("claude-sonnet-4.5", user(), called(), result(), result()),
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: call_1"),
    Bad("copilot", "COP-01", "an id that Claude refuses", loop("claude-sonnet-4.5", id="functions.x:0"),
        "String should match pattern '^[a-zA-Z0-9_-]+$'"),
    Bad("copilot", "COP-01", "an id used twice in one message",
        body("claude-sonnet-4.5", user(), called(call(), call()), result(), result()), "ids must be unique"),
    Bad("copilot", "COP-01", "a call of Gemini's without a result",
        body("gemini-2.5-pro", user(), called(*TWO), result()),
        "the number of function response parts is equal to the number of function call parts"),
    Bad("copilot", "COP-02", "tools for a GPT-5", loop("gpt-5.6-sol"),
        "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions."),
    Bad("copilot", "COP-05", "the assistant last", body("claude-sonnet-5", user(), said()),
        "This model does not support assistant message prefill."),
    Bad("openrouter", "ORT-01", "a call without a result", body(CLAUDE, user(), called(*TWO), result()),
        "Provider returned error"),
    Bad("openrouter", "ORT-01", "a result of nobody", body("openai/gpt-4o", user(), result()), ORPHAN),
    Bad("openrouter", "ORT-01", "an id that Claude refuses", loop(CLAUDE, id="functions.x:0"),
        "String should match pattern"),
    Bad("openrouter", "ORT-02", "details of no known type",
        body(CLAUDE, user(), called(reasoning_details=[{"type": "thinking"}]), result()),
        "reasoning.summary, reasoning.encrypted, reasoning.text"),
    Bad("openrouter", "ORT-02", "details that are no list",
        body(CLAUDE, user(), called(reasoning_details={}), result()), "expected array"),
    Bad("openrouter", "ORT-02", "Gemini 3 without its signature", loop("google/gemini-3-pro-preview"),
        "Function call is missing a thought_signature in functionCall parts"),
    Bad("openrouter", "ORT-02", "Claude without its thinking", loop(CLAUDE, reasoning={"max_tokens": 2000}),
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
]  # fmt: skip


def bad_arguments(model: str, arguments: Any) -> Json:
    return body(model, user(), called(call(arguments=arguments)), result(), tools=[tool()])


LOCAL_BAD = [
    Bad("vllm", "VLL-01", "arguments that are no JSON", bad_arguments("llama-3", "15 * 4"),
        "JSONDecodeError"),
    Bad("vllm", "VLL-02", "a choice among no tools", body("llama-3", user(), tool_choice="auto"),
        "When using `tool_choice`, `tools` must be set."),
    Bad("vllm", "VLL-02", "a tool that is not declared",
        body("llama-3", user(), tools=[tool("other")], tool_choice=FORCED),
        "does not match any of the specified `tools`"),
    Bad("llamacpp", "LCP-01", "a user without content", body("llama-3", {"role": "user"}),
        "All non-assistant messages must contain 'content'"),
    Bad("llamacpp", "LCP-01", "an assistant without anything", body("llama-3", user(), {"role": "assistant"}),
        "Assistant message must contain either 'content' or 'tool_calls'!"),
    Bad("llamacpp", "LCP-01", "a call without a type",
        body("llama-3", user(), called({**call(), "type": None}), result()), "Missing tool call type"),
    Bad("llamacpp", "LCP-01", "a call without a name",
        body("llama-3", user(), called(call(name=None)), result()), "Missing tool call name"),
    Bad("llamacpp", "LCP-01", "a part of an unknown type", body("llama-3", user([{"type": "file"}])),
        "unsupported content[].type"),
    Bad("llamacpp", "LCP-02", "arguments that are no JSON", bad_arguments("llama-3", ""),
        "Failed to parse tool call arguments as JSON: "),
    Bad("llamacpp", "LCP-02", "a grammar beside tools", loop("llama-3", grammar='root ::= "a"'),
        "Cannot use custom grammar constraints with tools."),
    Bad("llamacpp", "LCP-02", "log probabilities beside tools", loop("llama-3", logprobs=True, stream=True),
        "logprobs is not supported with tools + stream"),
    Bad("llamacpp", "LCP-03", "two assistants last", body("llama-3", user(), said(), said()),
        "Cannot have 2 or more assistant messages at the end of the list."),
    Bad("llamacpp", "OPT-01", "a temperature in words", body("llama-3", user(), temperature="hot"),
        "Field 'temperature': [json.exception.type_error.302] type must be number, but is string"),
    Bad("ollama", "OLL-01", "empty arguments", bad_arguments("qwen3", ""), "invalid tool call arguments"),
    Bad("ollama", "OLL-01", "an array for arguments", bad_arguments("qwen3", "[1]"),
        "invalid tool call arguments"),
    Bad("ollama", "OLL-01", "null content", body("qwen3", user(), said(None), user()),
        "invalid message content type: <nil>"),
    Bad("mistral", "OPT-01", "too hot", body("mistral-large-latest", user(), temperature=1.6),
        "Input should be less than or equal to 1.5"),
    Bad("mistral", "OPT-01", "too cold", body("mistral-large-latest", user(), temperature=-1),
        "Input should be greater than or equal to 0"),
    Bad("deepseek", "OPT-01", "too hot", body("deepseek-chat", user(), temperature=2.1),
        "the valid range of temperature is [0, 2]"),
    Bad("openai-compatible", "OAC-02", "a result of nobody", body("x", user(), result()), ORPHAN),
]  # fmt: skip

BAD = [*OPENAI_BAD, *MISTRAL_BAD, *KIMI_BAD, *DEEPSEEK_BAD, *HOSTS_BAD, *LOCAL_BAD]

CUSTOM_CALL = {"id": "call_1", "type": "custom", "custom": {"name": "run", "input": "print(1)"}}
CLOSED = {**CITY, "additionalProperties": False}

GOOD: dict[str, tuple[str, Json]] = {
    "parallel calls": ("openai", body(GPT, user(), called(*TWO), result(), result("call_2"))),
    "results in another order": ("openai", body(GPT, user(), called(*TWO), result("call_2"), result())),
    "an id used again in a later turn": (
        "openai", body(GPT, user(), called(), result(), said(), user(), called(), result())),
    "custom tools": (
        "openai", body(GPT, user(), called(CUSTOM_CALL), result(),
                       tools=[{"type": "custom", "custom": {"name": "run"}}])),
    "every kind of part": (
        "openai", body("gpt-audio", user([{"type": "text", "text": "?"}, IMAGE, AUDIO,
                                  {"type": "file", "file": {"file_id": "f"}}]))),
    "the hottest": ("openai", body(GPT, user(), temperature=2)),
    "the only temperature of a model that thinks": ("openai", body("o3", user(), temperature=1)),
    "a newer model at 0": ("openai", body("gpt-5.4-nano", user(), temperature=0)),
    "a chat model of that name": ("openai", body("gpt-5-chat-latest", user(), temperature=0)),
    "sound for a model to come": ("openai", body("gpt-7", user([AUDIO]))),
    "a model that searches": ("openai", body("gpt-4o-search-preview", user(), web_search_options={})),
    "text in parts": ("deepseek", body("deepseek-chat", user([{"type": "text", "text": "?"}]))),
    "two calls on DeepSeek's Responses API": (
        "deepseek", {"model": "deepseek-chat", "input": [user(), said("So"), item("c1"), item("c2"),
                                                         output("c1"), output("c2"), said("Sun")]}),
    "a stored prompt": ("openai", {"model": GPT, "prompt": {"id": "pmpt_1", "variables": {"city": "Oslo"}}}),
    "a refusal": ("openai", body(GPT, user(), said(None, refusal="No."), user())),
    "spoken answer": ("openai", body("gpt-audio", user(), said(None, audio={"id": "a"}), user())),
    "legacy functions": (
        "openai", body(GPT, user(), said(None, function_call={"name": "f", "arguments": "{}"}),
                       {"role": "function", "name": "f", "content": "1"}, functions=[{"name": "f"}])),
    "arguments that OpenAI does not read": ("openai", bad_arguments(GPT, "15 * 4")),
    "empty text": ("openai", body(GPT, user(), said(""), user())),
    "an image after the results": ("openai", body(GPT, user(), called(), result(), user([IMAGE]))),
    "strict tools": ("openai", body(GPT, user(), tools=strict(CLOSED), parallel_tool_calls=False)),
    "a tool without parameters": ("openai", body(GPT, user(), tools=[{"type": "function",
                                                                      "function": {"name": "now"}}])),
    "a newer model told not to think": ("openai", loop("gpt-5.6", reasoning_effort="none")),
    "a newer model that was told nothing": ("openai", loop("gpt-5.4-mini")),
    "an older model that thinks": ("openai", loop("gpt-5", reasoning_effort="high")),
    "a redacted id": ("openai", loop(GPT, id="call_REDACTED_" + "0" * 40)),
    "structured output": ("openai", body(GPT, user(), response_format=answer_format(CLOSED))),
    "another's model under the format's name": (
        "openai-chat", body("deepseek-chat", user(), called(**THOUGHT), result())),
    "Azure by deployment": ("azure", loop("gpt-35-turbo")),
    "the bridge": ("mistral", mistral(user(), m_called(), result(M9), said("Done."), user())),
    "no bridge": ("mistral", mistral(user(), m_called(), result(M9), user())),
    "a prefix": ("mistral", mistral(user(), said("The", prefix=True))),
    "a history that starts with a call": ("mistral", mistral(m_called(), result(M9), user())),
    "Mistral's thinking": (
        "mistral", mistral(user(), said([{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}]),
                           user(), model="magistral-medium-latest")),
    "Mistral's choices": ("mistral", mistral(user(), tools=[{"function": {"name": "f"}}], tool_choice="any")),
    "arguments as an object": ("mistral", mistral(user(), called(call(M9, arguments={})), result(M9))),
    "a long id that vLLM cuts": ("vllm", loop("mistral-small", id="chatcmpl-tool-0123456789abcdef")),
    "Kimi's reasoning": ("kimi", kimi(user(), called(call("functions.get_weather:0"), **THOUGHT),
                                      result("functions.get_weather:0"), temperature=1)),
    "Kimi without thinking": (
        "kimi", loop("kimi-k2.6", thinking={"type": "disabled"}, tool_choice="required")),
    "a Kimi that does not think": ("groq", loop("moonshotai/kimi-k2-instruct-0905")),
    "a Kimi behind a gateway": (
        "openrouter", body("moonshotai/kimi-k2.5", user(), called(reasoning_details=[DETAIL]), result())),
    "a placeholder": ("deepseek", body(V4, user(), called(reasoning_content=""), result())),
    "turns without tools": ("deepseek", body(V4, user(), said(), user(), called(**THOUGHT), result())),
    "DeepSeek without thinking": (
        "deepseek", loop(V4, thinking={"type": "disabled"}, tool_choice="required")),
    "deepseek-chat": ("deepseek", loop("deepseek-chat", tool_choice=None)),
    "an R1 that forgets": ("together", body("deepseek-ai/DeepSeek-R1", user(), said(), user())),
    "Qwen without thinking": ("qwen", loop("qwen3-32b", enable_thinking=False, tool_choice="required")),
    "Qwen streaming": ("qwen", loop("qwen3-32b", stream=True)),
    "Grok's reasoning beside calls": ("xai", body("grok-4", user(), called(content="", **THOUGHT), result())),
    "an empty result": ("xai", body("grok-4", user(), called(), result(content=""))),
    "Groq's reasoning": ("groq", body("openai/gpt-oss-120b", user(), said(reasoning="hm"), user())),
    "null arguments as text": ("groq", bad_arguments("llama-3.3-70b-versatile", "null")),
    "Copilot's Claude": ("copilot", loop("claude-sonnet-4.5", id="toolu_1")),
    "Copilot's small GPT-5": ("copilot", loop("gpt-5-mini")),
    "Copilot without tools": ("copilot", body("gpt-5.6-sol", user())),
    "Gemini 3 signed": (
        "openrouter", body("google/gemini-3-pro", user(),
                           called(reasoning_details=[{"type": "reasoning.encrypted", "data": "Ej"}]),
                           result())),
    "Gemini 3 in a closed turn": (
        "openrouter", body("google/gemini-3-pro", user(), called(), result(), said(), user())),
    "Claude without thinking": ("openrouter", loop(CLAUDE)),
    "an adaptive Claude": ("openrouter", loop("anthropic/claude-sonnet-5", reasoning={"effort": "high"})),
    "a server's own tool": ("openrouter", body(CLAUDE, user(), tools=[{"type": "openrouter:web_search"}])),
    "a long id": ("openrouter", loop("google/gemini-2.0-flash-001", id="tool_0_get_weather_" + "x" * 30)),
    "no arguments on vLLM": ("vllm", bad_arguments("llama-3", "")),
    "an image from a tool": ("llamacpp", body("qwen3-vl", user(), called(), result(content=[IMAGE]))),
    "one assistant last": ("llamacpp", body("llama-3", user(), said("The"))),
    "Ollama's own format": (
        "ollama", body("qwen3", user(), called(call(arguments={"city": "Paris"})),
                       {"role": "tool", "tool_name": "get_weather", "content": "18"}, options={})),
    "calls without ids": (
        "openai-compatible", body("palmyra-x4", user(), called({"type": "function", "function":
                                  {"name": "f", "arguments": "{}"}}), {"role": "tool", "content": "1"})),
    "null for no calls": ("openai-compatible", body("x", user(), said(tool_calls=None), user(), tools=[])),
}  # fmt: skip
