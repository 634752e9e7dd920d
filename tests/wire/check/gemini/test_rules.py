"""Gemini generateContent: each rule catches its fault, and nothing but its fault."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.check.bodies import (
    EXAMPLES,
    RULEBOOK,
    Body,
    Change,
    example,
    gemini,
    json_like,
    rules,
    rules_to_apply,
    spoiled,
)

from turnout.wire.check.gemini.rules import violations
from turnout.wire.check.unchecked import GEMINI

GEMINI_3 = "gemini-3-pro-preview"
GEMINI_2 = "models/gemini-2.5-flash"


def part(content: int, place: int, **keys: Any) -> Change:
    return lambda body: body["contents"][content]["parts"][place].update(keys)


def call(place: int, **keys: Any) -> Change:
    return lambda body: body["contents"][1]["parts"][place]["functionCall"].update(keys)


def response(place: int, **keys: Any) -> Change:
    return lambda body: body["contents"][2]["parts"][place]["functionResponse"].update(keys)


def nested(levels: int) -> Body:
    value: Body = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def put(content: int, place: int, value: Body) -> Change:
    return lambda body: body["contents"][content]["parts"].insert(place, value)


def drop(content: int, place: int | None = None) -> Change:
    return lambda body: (
        body["contents"].pop(content) if place is None else body["contents"][content]["parts"].pop(place)
    )


def add(*contents: Body, at: int = 3) -> Change:
    def change(body: Body) -> None:
        body["contents"][at:at] = contents

    return change


def user(*parts: Body) -> Body:
    return {"role": "user", "parts": list(parts) or [{"text": "Hello"}]}


def model(*parts: Body) -> Body:
    return {"role": "model", "parts": list(parts) or [{"text": "Hi"}]}


def role(content: int, name: str) -> Change:
    return lambda body: body["contents"][content].update(role=name)


def parameters(**keys: Any) -> Change:
    """Another function, with these keywords at the root of its schema."""
    return declare(parameters={"type": "OBJECT", **keys})


def declare(**keys: Any) -> Change:
    return lambda body: body["tools"].append({"functionDeclarations": [{"name": "x", **keys}]})


def properties(**schemas: Any) -> Change:
    return parameters(properties=schemas)


def config(**keys: Any) -> Change:
    return lambda body: body["toolConfig"]["functionCallingConfig"].update(keys)


CALLED = {"functionCall": {"name": "time", "args": {}}, "thoughtSignature": "c2ln"}
ANSWERED = {"functionResponse": {"name": "time", "response": {}}}
COUNT = "the number of function response parts is equal to the number of function call parts"
UNSIGNED = "Function call is missing a thought_signature in functionCall parts."

BAD: list[tuple[str, Change, str]] = [
    ("GEM-01", drop(2, 1), "Please ensure that " + COUNT + " of the function call turn."),
    ("GEM-01", put(2, 2, {"functionResponse": {"id": "a2", "name": "time", "response": {}}}), COUNT),
    ("GEM-01", drop(2), COUNT),
    (
        "GEM-02",
        add(model(), at=1),
        "function call turn comes immediately after a user turn or after a function",
    ),
    ("GEM-02", drop(0), "Please ensure that function call turn comes immediately after a user turn"),
    (
        "GEM-03",
        add(user(ANSWERED), at=0),
        "function response turn comes immediately after a function call turn.",
    ),
    (
        "GEM-03",
        add(model(), user(ANSWERED)),
        "Please ensure that function response turn comes immediately after",
    ),
    ("GEM-04", role(2, "function"), "Please use a valid role: user, model."),
    (
        "GEM-04",
        add({"role": "system", "parts": [{"text": "x"}]}, at=0),
        "Please use a valid role: user, model.",
    ),
    ("GEM-04", add(model(), user(), at=0), "start with a user turn"),
    ("GEM-04", add(model()), "multiturn requests end with a user role or a function response."),
    ("GEM-05", response(0, response="sun"), "(type.googleapis.com/google.protobuf.Struct)"),
    (
        "GEM-05",
        response(0, response=[1]),
        "Invalid value at 'contents[2].parts[0].function_response.response'",
    ),
    ("GEM-05", call(0, args=nested(61)), "Message too deep"),
    ("GEM-05", response(0, response=nested(61)), "Message too deep"),
    ("GEM-05", response(0, name="tide"), "function response name matches the function call name"),
    ("GEM-05", response(0, name=""), "contents[2].parts[0].function_response.name"),
    ("GEM-06", response(0, id="zz"), COUNT),
    ("GEM-06", response(0, id=None), COUNT),
    ("GEM-07", part(1, 0, thoughtSignature=None), UNSIGNED + " This is required for tools to work correctly"),
    ("GEM-07", add(model({"functionCall": {"name": "time"}}), user(ANSWERED)), "position 4"),
    (
        "GEM-08",
        lambda body: (part(1, 0, thoughtSignature=None)(body), part(1, 1, thoughtSignature="c2ln")(body)),
        UNSIGNED,
    ),
    (
        "GEM-12",
        parameters(additionalProperties=False),
        "\"additionalProperties\" at 'tools[1].function_declarations[0].parameters': Cannot find field.",
    ),
    (
        "GEM-12",
        properties(a={"type": "STRING", "const": "x"}),
        'Unknown name "const" at \'tools[1].function_declarations',
    ),
    (
        "GEM-12",
        properties(a={"type": ["string", "null"]}),
        "Proto field is not repeating, cannot start list.",
    ),
    ("GEM-12", properties(a=True), "(type.googleapis.com/google.ai.generativelanguage.v1beta.Schema)"),
    (
        "GEM-12",
        declare(parameters={"type": "OBJECT"}, parametersJsonSchema={"type": "object"}),
        "only one of",
    ),
    (
        "GEM-13",
        properties(a={"type": "INTEGER", "enum": ["1"]}),
        "properties[a].enum: only allowed for STRING type",
    ),
    ("GEM-13", properties(a={"type": "STRING", "enum": [1]}), "(TYPE_STRING)"),
    ("GEM-13", properties(a={"type": "ARRAY"}), "parameters.properties[a].items: missing field."),
    (
        "GEM-13",
        properties(a={"type": "OBJECT"}),
        "properties[a].properties: should be non-empty for OBJECT type",
    ),
    ("GEM-13", parameters(properties={}, required=["a"]), "parameters.required[0]: property is not defined"),
    ("GEM-14", declare(name="1st"), "Invalid function name. Must start with a letter or an underscore."),
    ("GEM-14", declare(name="x" * 129), "dashes (-), with a maximum length of"),
    (
        "GEM-14",
        parameters(properties={"a-b": {"type": "STRING"}}),
        "properties[a-b]: Invalid parameter name.",
    ),
    ("GEM-15", add({"role": "user", "parts": []}), "contents[3].parts: contents.parts must not be empty."),
    ("GEM-15", put(2, 2, {}), "required oneof field 'data' must have one initialized field"),
    ("GEM-15", put(2, 2, {"text": "x", "inlineData": {}}), "parts[2].data: required oneof field 'data'"),
    ("GEM-15", part(1, 0, thoughtSignature="not base64!"), "(TYPE_BYTES), Base64 decoding failed"),
    ("GEM-15", part(1, 0, thoughtSignature=["x"]), "contents[1].parts[0].thought_signature"),
    ("GEM-15", put(2, 1, {"text": "x"}), "function response parts come before other parts"),
    ("GEM-16", config(allowedFunctionNames=["time"]), "allowed_function_names"),
]


@pytest.mark.parametrize(("rule", "change", "words"), BAD)
@pytest.mark.parametrize("spelling", ["camelCase", "snake_case"])
def test_one_fault_is_caught_by_one_rule(rule: str, change: Change, words: str, spelling: str) -> None:
    """Under either spelling of the keys."""
    body = spoiled(gemini(), change)
    found = list(violations(snaked(body) if spelling == "snake_case" else body, model=GEMINI_3))

    assert rules(found) == {rule}
    assert any(words in problem.answer for problem in found) or spelling == "snake_case", found


def snaked(value: Any) -> Any:
    """A body with its keys in snake_case; names of properties and functions stay."""
    if isinstance(value, list):
        return [snaked(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), key): snaked(item)
        for key, item in value.items()
    }


def test_only_gemini_3_takes_images_inside_a_response() -> None:
    """GEM-17: an older model wants them beside it; a model of unknown name is not judged."""
    body = spoiled(gemini(), response(0, parts=[{"inlineData": {"mimeType": "image/png", "data": "aQ"}}]))

    (problem,) = violations(body, model=GEMINI_2)
    assert problem.rule == "GEM-17"
    assert "multimodal function responses are not supported" in problem.answer
    assert not list(violations(body, model=GEMINI_3))
    assert not list(violations(body))


GOOD: dict[str, tuple[Body, str]] = {
    "parallel calls": (gemini(), GEMINI_3),
    "parallel calls on Vertex": (gemini(), "publishers/google/models/gemini-3.5-flash"),
    "no role": ({"contents": [{"parts": [{"text": "x"}]}]}, GEMINI_3),
    "one object for a list": (
        {"contents": {"parts": {"text": "x"}}, "tools": {"functionDeclarations": []}},
        "",
    ),
    "unsigned calls of an older model": (spoiled(gemini(), part(1, 0, thoughtSignature=None)), GEMINI_2),
    "ids that are not echoed to an older model": (spoiled(gemini(), response(0, id=None)), GEMINI_2),
    "responses in contents of their own, then words": (
        gemini(
            contents=[user(), model(CALLED, CALLED), user(ANSWERED), user(ANSWERED), user({"text": "Go on."})]
        ),
        GEMINI_3,
    ),
    "unsigned calls of a turn that is over": (
        gemini(contents=[user(), model({"functionCall": {"name": "time"}}), user(ANSWERED), model(), user()]),
        GEMINI_3,
    ),
    "responses in another order": (
        spoiled(gemini(), lambda body: body["contents"][2]["parts"].reverse()),
        GEMINI_3,
    ),
    "thoughts and empty texts": (
        gemini(
            contents=[
                user({"text": ""}),
                model({"text": "hm", "thought": True}, {"text": ""}, CALLED),
                user(ANSWERED),
            ]
        ),
        GEMINI_3,
    ),
    "a signature alone": (gemini(contents=[user(), model({"thoughtSignature": "c2ln"}), user()]), GEMINI_3),
    "nulls for what is not set": (
        spoiled(gemini(), put(2, 2, {"text": "x", "functionCall": None}), config(allowedFunctionNames=None)),
        GEMINI_3,
    ),
    "allowed names with force": (
        spoiled(gemini(), config(allowedFunctionNames=["time"], mode="any")),
        GEMINI_3,
    ),
    "a function without parameters": (spoiled(gemini(), declare(), parameters(properties={})), GEMINI_3),
    "any schema as JSON Schema": (
        spoiled(gemini(), declare(parametersJsonSchema={"oneOf": [{"const": 1}], "type": ["object"]})),
        GEMINI_3,
    ),
    "the server's own tools": (
        {
            "contents": [
                user(),
                model(
                    {"executableCode": {}},
                    {"codeExecutionResult": {}},
                    {"toolCall": {}},
                    {"toolResponse": {}},
                ),
                user(),
            ],
            "tools": [{"codeExecution": {}}, {"googleSearch": {}}],
        },
        GEMINI_3,
    ),
    "instructions under any role": (
        gemini(systemInstruction={"role": "model", "parts": [{"text": "x"}]}),
        GEMINI_3,
    ),
}


@pytest.mark.parametrize(("body", "model"), GOOD.values(), ids=GOOD)
def test_a_good_body_passes(body: Body, model: str) -> None:
    """No rule finds a fault in a body that the API accepts."""
    assert list(violations(body, model=model)) == []
    assert list(violations(snaked(body), model=model)) == []


def test_the_body_is_found_in_its_envelope() -> None:
    """Code Assist wraps the request and names the model beside it."""
    bad = spoiled(gemini(), part(1, 0, thoughtSignature=None))

    assert not list(violations({"model": GEMINI_3, "request": gemini()}))
    assert rules(violations({"model": GEMINI_3, "request": bad})) == {"GEM-07"}


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"no examples at {EXAMPLES}")
@pytest.mark.parametrize("model", ["", GEMINI_2, GEMINI_3])
def test_the_example_passes(model: str) -> None:
    """The example of the rulebook breaks no rule."""
    assert list(violations(example("gemini_generate_content"), model=model)) == []


@pytest.mark.skipif(not RULEBOOK.is_file(), reason=f"no rulebook at {RULEBOOK}")
def test_every_rule_is_applied_or_listed() -> None:
    """A rule that no body here breaks is one whose reason for being left out is written down."""
    broken = {rule for rule, *_ in BAD} | {"GEM-17"}

    assert rules_to_apply("GEM-") == broken | (GEMINI.keys() & rules_to_apply("GEM-"))
    assert not broken & GEMINI.keys()


ANYTHING = json_like(
    [
        "parts",
        "role",
        "text",
        "functionCall",
        "function_call",
        "functionResponse",
        "name",
        "id",
        "properties",
        "items",
    ],
    ["user", "model", "STRING", "OBJECT", "array", "ANY"],
)


@given(
    body=ANYTHING,
    one=ANYTHING,
    many=st.lists(ANYTHING, max_size=4),
    model=st.sampled_from(["", GEMINI_2, GEMINI_3]),
)
def test_no_body_is_too_strange(body: Any, one: Any, many: list[Any], model: str) -> None:
    """A checker finds what it can in any JSON value and never fails itself."""
    list(violations(body, model=model))
    list(violations({"contents": one, "tools": many, "toolConfig": body}, model=model))
    contents = [{"role": "model", "parts": item} for item in many]
    declarations = [{"name": "x", "parameters": item} for item in many]
    list(violations({"contents": contents, "tools": [{"functionDeclarations": declarations}]}, model=model))
