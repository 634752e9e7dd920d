"""Anthropic Messages: each rule catches its fault, and nothing but its fault."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.check.bodies import (
    EXAMPLES,
    RULEBOOK,
    SCHEMA,
    Body,
    Change,
    anthropic,
    claude,
    example,
    json_like,
    rules,
    rules_to_apply,
    spoiled,
)

from turnout.wire.check import AMENDED
from turnout.wire.check.anthropic import violations
from turnout.wire.check.unchecked import ANTHROPIC

MARK = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://x"}}
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def picture(width: int, height: int) -> dict[str, Any]:
    """A PNG of that size, as far as its header."""
    data = PNG + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    source = {"type": "base64", "media_type": "image/png", "data": b64encode(data).decode()}
    return {"type": "image", "source": source}


DOCUMENT = {"type": "document", "source": {"type": "url", "url": "https://x"}}
NULLABLE = {"type": ["string", "null"]}


def block(message: int, place: int, **keys: Any) -> Change:
    return lambda body: body["messages"][message]["content"][place].update(keys)


def drop(message: int, place: int, key: str = "") -> Change:
    def change(body: Body) -> None:
        content = body["messages"][message]["content"]
        content[place].pop(key) if key else content.pop(place)

    return change


def put(message: int, place: int, value: Body) -> Change:
    return lambda body: body["messages"][message]["content"].insert(place, value)


def add(*messages: Body) -> Change:
    return lambda body: body["messages"].extend(messages)


def option(**keys: Any) -> Change:
    return lambda body: body.update(keys)


def tool(**keys: Any) -> Change:
    return lambda body: body["tools"].append({"name": "x", "input_schema": {"type": "object"}, **keys})


def schema(**keys: Any) -> Change:
    return tool(input_schema={"type": "object", **keys})


def strict(properties: Body, required: list[str] | None = None, **keys: Any) -> Change:
    required = list(properties) if required is None else required
    inner = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return tool(name=f"strict_{len(properties)}", strict=True, input_schema={**inner, **keys})


def strict_tools(count: int) -> Change:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    tools = [{"name": f"t{n}", "strict": True, "input_schema": schema} for n in range(count)]
    return option(tools=tools)


def text(words: str, **keys: Any) -> Body:
    return {"type": "text", "text": words, **keys}


def user(*content: Any) -> Body:
    return {"role": "user", "content": list(content) or "Hello"}


def model(*content: Any) -> Body:
    return {"role": "assistant", "content": list(content) or "Hi"}


def system(*content: Any) -> Body:
    return {"role": "system", "content": list(content) or "Be brief."}


def use(id: str = "toolu_9", **keys: Any) -> Body:
    return {"type": "tool_use", "id": id, "name": "time", "input": {}, **keys}


def result(id: str = "toolu_9", **keys: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": id, "content": "noon", **keys}


def search(id: str = "srvtoolu_1") -> Body:
    return {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}}


def searched(id: str = "srvtoolu_1") -> Body:
    return {"type": "web_search_tool_result", "tool_use_id": id, "content": []}


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "Eq"}
UNANSWERED = "`tool_use` ids were found without `tool_result` blocks immediately after: "
ORPHAN = "unexpected `tool_use_id` found in `tool_result` blocks: "
TWENTY_FIVE = {f"p{number}": {"type": "string"} for number in range(25)}
SEVENTEEN = {f"p{number}": NULLABLE for number in range(17)}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "required": ["next"]}

# Spoils the open loop of `anthropic()`: manual thinking, two calls, two results.
BAD: list[tuple[str, Change, str]] = [
    ("ANT-01", drop(2, 1), UNANSWERED + "toolu_2. Each `tool_use` block must have a corresponding"),
    ("ANT-01", add(model(THOUGHT, use())), "messages.3: " + UNANSWERED + "toolu_9"),
    (
        "ANT-02",
        put(2, 1, text("hm")),
        "block(s) at the beginning of this message. Messages following `tool_use`",
    ),
    ("ANT-03", put(2, 2, result("toolu_0")), "messages.2.content.2: " + ORPHAN + "toolu_0."),
    ("ANT-04", put(2, 2, result("toolu_1")), "each tool_use must have a single result. Found multiple"),
    (
        "ANT-05",
        add(model(use("toolu_1")), user(result("toolu_1"))),
        "content.0: `tool_use` ids must be unique",
    ),
    (
        "ANT-06",
        add(model(use("functions.x:0")), user(result("functions.x:0"))),
        "should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    (
        "ANT-06",
        add(model(use("")), user(result(""))),
        "messages.3.content.0.tool_use.id: String should match pattern",
    ),
    ("ANT-07", block(1, 2, input='{"city": "Oslo"}'), "tool_use.input: Input should be a valid dictionary"),
    ("ANT-07", block(1, 2, input=None), "messages.1.content.2.tool_use.input: Input should be a valid"),
    ("ANT-08", tool(name="a.b"), "tools.2.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    ("ANT-08", tool(name="time"), "tools: Tool names must be unique."),
    ("ANT-08", schema(properties={"a b": {}}), "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"),
    ("ANT-08", block(1, 3, name="a.b"), "messages.1.content.3.tool_use.name: String should match pattern"),
    ("ANT-09", schema(anyOf=[{}]), "input_schema does not support oneOf, allOf, or anyOf at the top level"),
    ("ANT-09", tool(input_schema={"properties": {}}), "tools.2.custom.input_schema.type: Field required"),
    ("ANT-09", tool(input_schema={"type": "string"}), "input_schema.type: Input should be 'object'"),
    ("ANT-09", tool(input_schema=True), "custom.input_schema: Input does not match the expected shape."),
    (
        "ANT-09",
        tool(type="function"),
        "tools.2: Input tag 'function' found using 'type' does not match any of",
    ),
    ("ANT-09", strict(TWENTY_FIVE, []), "too many optional parameters (25)"),
    ("ANT-09", strict(dict(list(TWENTY_FIVE.items())[:24]), []), "Schema is too complex for compilation."),
    ("ANT-09", strict_tools(21), "Too many strict tools (21)"),
    (
        "ANT-09",
        strict(SEVENTEEN),
        "too many parameters with union types (17 parameters with type arrays or anyOf)",
    ),
    ("ANT-09", strict(dict(list(SEVENTEEN.items())[:16])), "Schema is too complex for compilation."),
    (
        "ANT-09",
        strict({}, **{"$defs": {"Node": NODE}}),
        "detected in schema definitions: Node -> Node. Self-",
    ),
    ("ANT-10", put(2, 2, text("")), "messages: text content blocks must be non-empty"),
    ("ANT-10", put(2, 2, text(" \n")), "messages: text content blocks must contain non-whitespace text"),
    ("ANT-10", option(system=[text("")]), "system: text content blocks must be non-empty"),
    (
        "ANT-10",
        add(user(text("x")), {"role": "assistant", "content": []}, user()),
        "all messages must have non-empty content",
    ),
    ("ANT-13", lambda body: body["messages"].insert(0, model()), 'first message must use the "user" role'),
    (
        "ANT-13",
        add(model(), {"role": "developer", "content": "x"}),
        "messages.4.role: Input should be 'user' or",
    ),
    ("ANT-14", option(system=[text("x", cache_control=MARK)] * 5), "cache_control may be provided. Found 5."),
    (
        "ANT-14",
        option(system=[text("x", cache_control=MARK), text("y", cache_control=LONG)]),
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
    ),
    ("ANT-15", block(1, 0, cache_control=MARK), "thinking.cache_control: Extra inputs are not permitted"),
    ("ANT-15", put(2, 2, text("", cache_control=MARK)), "cache_control cannot be set for empty text blocks"),
    (
        "ANT-16",
        drop(1, 0),
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.",
    ),
    (
        "ANT-16",
        lambda body: (drop(1, 0)(body), add(model(THOUGHT, use()), user(result()))(body)),
        "a final `assistant` message must start with a thinking block (preceeding the lastmost set of",
    ),
    ("ANT-17", drop(1, 0, "signature"), "messages.1.content.0.thinking.signature: Field required"),
    ("ANT-17", block(1, 0, signature=""), "messages.1.content.0: Invalid `signature` in `thinking` block"),
    ("ANT-17", put(1, 1, {"type": "redacted_thinking"}), "redacted_thinking.data: Field required"),
    (
        "ANT-21",
        option(model="claude-opus-4-8"),
        '"thinking.type.enabled" is not supported for this model. Use',
    ),
    ("ANT-21", option(model="claude-sonnet-5"), 'Use "thinking.type.adaptive" and "output_config.effort"'),
    (
        "ANT-21",
        option(model="claude-3-5-haiku-latest"),
        '"thinking.type.enabled" is not supported for this model.',
    ),
    (
        "ANT-21",
        option(thinking={"type": "adaptive"}),
        '"thinking.type.adaptive" is not supported for this model.',
    ),
    ("ANT-22", option(temperature=0.5), "`temperature` may only be set to 1 when thinking is enabled."),
    ("ANT-22", option(top_k=5), "`top_k` must be unset when thinking is enabled."),
    ("ANT-22", option(top_p=0.5), "`top_p` must be greater than or equal to 0.95 or unset"),
    ("ANT-23", option(max_tokens=1024), "`max_tokens` must be greater than `thinking.budget_tokens`."),
    ("ANT-23", option(thinking={"type": "enabled", "budget_tokens": 1000}), "greater than or equal to 1024"),
    ("ANT-23", option(thinking={"type": "enabled"}), "thinking.enabled.budget_tokens: Field required"),
    (
        "ANT-24",
        option(tool_choice={"type": "any"}),
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    (
        "ANT-25",
        option(tools=[], tool_choice={"type": "auto"}),
        "tool_choice: may only be specified while providing tools",
    ),
    ("ANT-26", add(system()), "role 'system' is not supported on this model"),
    (
        "ANT-27",
        lambda body: body["messages"][0].update(name="bo"),
        "messages.0.name: Extra inputs are not permitted",
    ),
    (
        "ANT-27",
        block(1, 1, reasoning_content="x"),
        "messages.1.content.1.text.reasoning_content: Extra inputs are",
    ),
    ("ANT-27", tool(parameters={}), "tools.2.custom.parameters: Extra inputs are not permitted"),
    ("ANT-27", option(parallel_tool_calls=True), "parallel_tool_calls: Extra inputs are not permitted"),
    ("ANT-28", block(2, 0, content={"temp": 18}), "tool_result.content: Input should be a valid list"),
    (
        "ANT-28",
        block(2, 0, content=[{"type": "json"}]),
        "Input tag 'json' found using 'type' does not match any of",
    ),
    ("ANT-28", block(2, 1, content=[IMAGE]), 'all content must be type "text" if `is_error` is true'),
    ("ANT-28", block(2, 1, content=""), "content cannot be empty if `is_error` is true"),
    ("ANT-30", put(2, 9, search()), "`server_tool_use` blocks can only be in `assistant` messages"),
    ("ANT-30", put(1, 1, search("other")), "String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"),
    ("ANT-30", put(1, 1, {"type": "server_tool_use", "name": "x", "input": {}}), "id: Field required"),
    ("ANT-17", block(1, 0, signature="not base64!"), "messages.1.content.0: Invalid `signature` in"),
    ("BODY", put(2, 9, {"type": "document"}), ".document.source: Field required"),
    ("BODY", put(2, 9, {"type": "image", "source": {"type": "base64"}}), "base64.media_type: Field required"),
    ("BODY", put(2, 9, {"type": "document", "source": {"type": "x"}}), "Input tag 'x' found using 'type'"),
    ("BODY", put(2, 9, {"type": "container_upload"}), "container_upload.file_id: Field required"),
    ("ANT-30", put(1, 1, searched()), "block must have a corresponding `server_tool_use` block before it."),
]

# Whole bodies, where the rule is about the model or about how the conversation ends.
BAD_ALONE: list[tuple[str, Body, str]] = [
    (
        "ANT-11",
        claude("claude-haiku-4-5", user(), model(text("Well, "))),
        "final assistant content cannot end with",
    ),
    (
        "ANT-11",
        claude("", user(), {"role": "assistant", "content": "Well, "}),
        "cannot end with trailing whitespace",
    ),
    (
        "ANT-12",
        claude("claude-sonnet-4-6", user(), model()),
        "This model does not support assistant message prefill.",
    ),
    (
        "ANT-12",
        claude("claude-opus-4-7@20260401", user(), model()),
        "The conversation must end with a user message.",
    ),
    (
        "ANT-20",
        claude("claude-sonnet-4-5", user(), model(THOUGHT)),
        "When thinking is disabled, an `assistant` message",
    ),
    (
        "ANT-21",
        claude("claude-fable-5", thinking={"type": "disabled"}),
        '"thinking.type.disabled" is not supported',
    ),
    (
        "ANT-21",
        claude("claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "max"}),
        '"thinking.type.disabled" is not supported for this model.',
    ),
    (
        "ANT-21",
        claude("claude-opus-4-6", output_config={"effort": "xhigh"}),
        "does not support effort level 'xhigh'.",
    ),
    ("ANT-22", claude("claude-opus-4-7", temperature=0), "`temperature` is deprecated for this model."),
    ("ANT-22", claude("claude-sonnet-5-20260601", top_k=3), "`top_k` is deprecated for this model."),
    (
        "ANT-24",
        claude(
            "claude-fable-5-1", tools=[{"name": "x", "input_schema": SCHEMA}], tool_choice={"type": "any"}
        ),
        'tool_choice: type "tool" and "any" are not supported for this model.',
    ),
    ("ANT-26", claude("claude-opus-4-8", system(), user()), "role 'system' must follow a user message"),
    (
        "ANT-26",
        claude("claude-opus-4-8", user(), model(), system()),
        "role 'system' must follow a user message",
    ),
    (
        "ANT-26",
        claude("claude-opus-4-8", user(), system(), user()),
        "must precede an assistant message or end",
    ),
    ("ANT-26", claude("claude-opus-5", user(), system(IMAGE)), "role 'system' takes text only"),
    (
        "ANT-26",
        claude("claude-opus-4-8", user(), model(use()), system(), user(result())),
        "role 'system' must",
    ),
    (
        "ANT-30",
        claude("claude-opus-5", user(), model(search(), text("x")), user(), model(text("y")), user()),
        "with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block",
    ),
    (
        "ANT-01",
        claude("claude-opus-5", user(use()), model(), user()),
        "`tool_use` blocks can only be in `assistant`",
    ),
    (
        "ANT-03",
        claude("claude-opus-5", user(), model(use()), user(result()), model(result()), user()),
        "`tool_result` blocks can only be in `user` messages",
    ),
    (
        "ANT-33",
        claude("claude-opus-5", user(picture(9_000, 10))),
        "At least one of the image dimensions exceed max allowed size: 8000 pixels",
    ),
    (
        "ANT-33",
        claude("claude-opus-5", user(picture(10, 2_001), *[picture(10, 10)] * 20)),
        "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    ),
    (
        "ANT-33",
        claude("claude-opus-5", user(), model(use()), user(result(content=[picture(9_000, 10)]))),
        "messages.2.content.0.content.0.image.source.base64.data: At least one of",
    ),
]


@pytest.mark.parametrize(("rule", "change", "words"), BAD)
def test_one_fault_is_caught_by_one_rule(rule: str, change: Change, words: str) -> None:
    found = list(violations(spoiled(anthropic(), change)))

    assert rules(found) == {rule}
    assert any(words in problem.answer for problem in found), found


@pytest.mark.parametrize(("rule", "body", "words"), BAD_ALONE)
def test_the_model_and_the_end_have_rules(rule: str, body: Body, words: str) -> None:
    found = list(violations(body))

    assert rules(found) == {rule}
    assert any(words in problem.answer for problem in found), found


GOOD: dict[str, Body] = {
    "an open loop": anthropic(),
    "a plain question": claude(),
    "a result and then words": spoiled(anthropic(), put(2, 2, text("go on")), put(2, 3, IMAGE)),
    "a second step without a thought": spoiled(anthropic(), add(model(use()), user(result()))),
    "a closed loop without its thought": spoiled(anthropic(), drop(1, 0), add(model(text("Sun.")), user())),
    "neighbours of one role": claude(
        "claude-sonnet-4-5", user(), model(use("a")), model(use("b")), user(result("a")), user(result("b"))
    ),
    "calls without tools": claude("claude-sonnet-5", user(), model(use()), user(result())),
    "a prefill": claude("claude-haiku-4-5", user(), model(text("Here is the JSON:\n{"))),
    "an empty last message": claude("claude-haiku-4-5", user(), {"role": "assistant", "content": ""}),
    "a paused turn": claude("claude-opus-5", user(), model(text("I look."), search())),
    "the server's search": claude("claude-opus-5", user(), model(search(), searched(), text("x")), user()),
    "the server's code calls a client's tool": claude(
        "claude-sonnet-4-5",
        user(),
        model(search("srvtoolu_s"), use()),
        user(result()),
        model(searched("srvtoolu_s"), text("x")),
        user(),
    ),
    "a system message after the user": claude("claude-opus-4-8", user(), system(), model(), user(), system()),
    "a system message after the server's tool": claude(
        "claude-opus-4-8", model(search("srvtoolu_s"), searched("srvtoolu_s")), system(), model(), user()
    ),
    "a system message to a model of no known name": claude("house-model", user(), system()),
    "a system message that only sets an option": claude(
        "claude-opus-5", user(), {"role": "system", "output_config": {"effort": "low"}}
    ),
    "a history that opens with its compaction": claude(
        "claude-opus-5", model({"type": "compaction", "content": "x"}, text("Done.")), user()
    ),
    "system messages to Sonnet 5": claude("claude-sonnet-5", user(), user(), system(), system()),
    "adaptive thinking with a forced tool": anthropic(
        model="claude-opus-4-6", thinking={"type": "adaptive"}, tool_choice={"type": "any"}
    ),
    "default sampling where none is taken": claude("claude-opus-4-8", temperature=1.0, top_p=1),
    "four marks, the long first": claude(
        system=[text("a", cache_control=LONG), text("b", cache_control=MARK), text("c", cache_control=MARK)],
        cache_control=MARK,
    ),
    "a choice of none": claude(tool_choice={"type": "none"}),
    "the server's own tools": claude(
        tools=[
            {"type": "web_search_20250305", "name": "web_search"},
            {"type": "mcp_toolset", "mcp_server_name": "m"},
        ]
    ),
    "sixteen unions over several strict tools": claude(
        tools=[
            {"name": f"t{n}", "strict": True, "input_schema": {**SCHEMA, "properties": {"city": NULLABLE}}}
            for n in range(16)
        ]
    ),
    "twenty images of any size": claude("claude-opus-5", user(*[picture(8_000, 8_000)] * 20)),
    "a hundred small images": claude("claude-opus-5", user(*[picture(2_000, 2_000)] * 100)),
    "a result that is a document": claude(
        "claude-opus-5", user(), model(use()), user(result(content=[DOCUMENT]))
    ),
    "a redacted thought": spoiled(
        anthropic(),
        block(1, 0, type="redacted_thinking", data="Eq"),
        drop(1, 0, "thinking"),
        drop(1, 0, "signature"),
    ),
}


@pytest.mark.parametrize("body", GOOD.values(), ids=GOOD)
def test_a_good_body_passes(body: Body) -> None:
    assert list(violations(body)) == []


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"no examples at {EXAMPLES}")
def test_the_example_passes() -> None:
    assert list(violations(example("anthropic_messages"))) == []


@pytest.mark.skipif(not RULEBOOK.is_file(), reason=f"no rulebook at {RULEBOOK}")
def test_every_rule_is_applied_or_listed() -> None:
    """A rule that no body here breaks is one whose reason for being left out is written down."""
    broken = {rule for rule, *_ in BAD} | {rule for rule, *_ in BAD_ALONE}
    broken -= {"BODY", *AMENDED}  # shapes that everything else stands on have no number

    assert rules_to_apply("ANT-") == broken | (ANTHROPIC.keys() & rules_to_apply("ANT-"))
    assert not broken & ANTHROPIC.keys()


ANYTHING = json_like(
    [
        "type",
        "role",
        "content",
        "id",
        "tool_use_id",
        "input",
        "text",
        "ttl",
        "cache_control",
        "$ref",
        "$defs",
        "items",
    ],
    [
        "user",
        "assistant",
        "system",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "server_tool_use",
        "enabled",
        "1h",
    ],
)


@given(
    body=ANYTHING,
    one=ANYTHING,
    messages=st.lists(ANYTHING, max_size=4),
    model=st.sampled_from(["", "claude-opus-5"]),
)
def test_no_body_is_too_strange(body: Any, one: Any, messages: list[Any], model: str) -> None:
    """A checker finds what it can in any JSON value and never fails itself."""
    list(violations(body))
    spoken = [{"role": "assistant", "content": message} for message in messages]
    list(violations({"messages": one, "tools": messages, "thinking": body, "tool_choice": one}, model=model))
    list(violations({"messages": messages, "system": one, "tools": [{"strict": True, "input_schema": one}]}))
    list(
        violations(
            {"messages": spoken, "temperature": one, "output_config": body, "cache_control": one}, model=model
        )
    )
