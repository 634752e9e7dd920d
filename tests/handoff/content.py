"""Hostile histories: ids and names that others refuse, and content of every awkward shape."""

from __future__ import annotations

from typing import Any

from tests.build import call as made
from tests.build import conversation, model, settled, system
from tests.build import user as says
from tests.handoff.scenario import (
    JPEG,
    PNG,
    answered,
    asked,
    call,
    chat,
    claude,
    function_call,
    function_response,
    gemini,
    image,
    item_call,
    item_output,
    item_said,
    responses,
    result,
    said,
    scenario,
    tool_result,
    tool_use,
    turn,
    user,
)

from turnout import Code, History, Media, Opaque, Origin, Outcome, Text, ToolCall
from turnout.model import Residue

KIMI = "kimi:kimi-k2-0905-preview"


def called(*ids: str) -> History:
    """One call with each of these ids, turn by turn, with its result."""
    steps: list[Any] = [user()]
    for at, id in enumerate(ids):
        steps += [said(None, call(id, arguments=f'{{"n":{at}}}')), result(id, f"result {at}"), user()]
    return chat(*steps)


# ---- ids


@scenario
def s_37_kimi_ids() -> History:
    return called("functions.read_file:3", "functions.read_file:4")


@scenario
def s_38_ids_of_everyone() -> History:
    return called(
        "call_abc", "toolu_01x", "functions.f:0", "chatcmpl-tool-9", "8hd01vsf", "Shell:58", "123456789"
    )


@scenario
def s_39_ids_that_truncation_would_join() -> History:
    return called(
        "functions.bash:0",
        "functions.read:1",
        "toolu_vrtx_01a",
        "toolu_vrtx_01b",
        "toolu_bdrk_01a",
        "toolu_bdrk_01b",
        "chatcmpl-tool-a",
        "chatcmpl-tool-b",
    )


@scenario
def s_41_ids_that_deletion_would_join() -> History:
    return called("functions.x:11", "functions.x1:1", "a:b", "ab", "a-b", "a_b")


@scenario
def s_42_very_long_ids() -> History:
    return called("call_" + "x" * 64, "call_" + "x" * 450, "call_" + "x" * 449 + "y")


@scenario
def s_43_item_ids_beside_call_ids() -> History:
    return responses(
        item_said("go", "user"),
        item_call("call_X|fc_Y", id="fc_1"),
        item_output("call_X|fc_Y"),
        item_call("call_2", id="fc_1"),
        item_output("call_2"),
        item_said("on", "user"),
    )


@scenario
def s_44_output_without_call_id() -> History:
    return responses(item_said("go", "user"), item_call(""), item_output(None), item_said("on", "user"))


@scenario
def s_45_calls_without_ids() -> History:
    return chat(user(), said(None, call(""), call(None)), result("", "1"), result(None, "2"), user())


@scenario
def s_46_parallel_calls_of_one_name_without_ids() -> History:
    return gemini(
        turn("user", "go"),
        turn("model", function_call(n=1), function_call(n=2), function_call(n=3)),
        turn("user", function_response(n=1), function_response(n=2), function_response(n=3)),
        turn("user", "on"),
    )


@scenario
def s_47_many_kimi_calls() -> History:
    steps: list[Any] = [says("go")]
    for n in range(5):
        steps += [model(made("read_file", f"x{n}", n=n), origin=KIMI), settled(f"x{n}", str(n))]
    return conversation(*steps)


@scenario
def s_48_kimi_calls_after_compaction() -> History:
    history = s_47_many_kimi_calls()
    history.compact(history.turns[2].key, "two files were read")
    return history


@scenario
def s_49_another_provider_every_turn() -> History:
    steps: list[Any] = [says("go")]
    speakers = ("openai:gpt-5.1", "anthropic:claude-sonnet-4-5", KIMI, "mistral:mistral-large-latest")
    for n, who in enumerate((*speakers, "gemini:gemini-3-pro-preview", "openai:gpt-5.1")):
        steps += [model(f"turn {n}", made("read_file", f"call_{n % 2}", n=n), origin=who)]
        steps += [settled(f"call_{n % 2}", f"result {n}")]
    return conversation(*steps, says("on"))


@scenario
def s_50_names_that_others_refuse() -> History:
    names = ("server.tool", "a tool", "x:y", "9lives", "n" * 100, "größe", "-dash", "_under", "a/b")
    calls = [made(name, f"c{at}") for at, name in enumerate(names)]
    return conversation(
        says("go"), model(*calls), *[settled(f"c{at}") for at in range(len(names))], says("on")
    )


@scenario
def s_51_names_as_models_write_them() -> History:
    names = ("functions.read_file", "call_functionsread_file0", " Read_File ")
    calls = [made(name, f"c{at}") for at, name in enumerate(names)]
    return conversation(says("go"), model(*calls), says("on"))


# ---- content


@scenario
def s_52_empty_texts() -> History:
    return claude(
        asked("", "go", " \n"), answered(""), asked(""), answered(" ", tool_use()), asked(tool_result())
    )


@scenario
def s_53_ends_in_whitespace() -> History:
    return claude(asked("go"), answered("the answer is  \n"))


@scenario
def s_54_empty_results() -> History:
    return chat(
        user(),
        said(None, call("a"), call("b"), call("c"), call("d")),
        result("a", ""),
        result("b", None),
        result("c", "  \n"),
        result("d", []),
        user(),
    )


@scenario
def s_54_results_that_are_json() -> History:
    texts = ('{"a":1}', "[1,2]", "null", "3", '"text"', "{broken")
    calls = [call(f"c{at}") for at in range(len(texts))]
    return chat(
        user(), said(None, *calls), *[result(f"c{at}", text) for at, text in enumerate(texts)], user()
    )


@scenario
def s_55_input_that_is_no_object() -> History:
    inputs = ([], "", "text", 7)
    uses = [{**tool_use(f"t{at}"), "input": value} for at, value in enumerate((None, *inputs))]
    return claude(asked("go"), answered(*uses), asked(*[tool_result(use["id"]) for use in uses], "on"))


@scenario
def s_56_arguments_cut_in_the_middle() -> History:
    return chat(user(), said(None, call("a", arguments='{"path":"a.t')), result("a"), user())


@scenario
def s_57_arguments_of_other_json() -> History:
    written = ("[1,2]", "7", "true", '"word"', "null", "")
    calls = [call(f"c{at}", arguments=text) for at, text in enumerate(written)]
    return chat(user(), said(None, *calls), *[result(f"c{at}") for at in range(len(written))], user())


@scenario
def s_58_arguments_encoded_twice() -> History:
    return chat(user(), said(None, call("a", arguments='"{\\"path\\":\\"a\\"}"')), result("a"), user())


@scenario
def s_59_lone_surrogates() -> History:
    return chat(
        user("a\ud800b"),
        said("c\udfffd", call("a", arguments='{"x":"\\ud800"}')),
        result("a", "e\ud83d"),
        user(),
    )


@scenario
def s_60_nul_and_a_long_line() -> History:
    return chat(user("a\0b"), said(None, call("a")), result("a", "\0\x01\x1b[31m" + "x" * 100_000), user())


@scenario
def s_61_circular_values() -> History:
    circle: dict[str, Any] = {"name": "loop"}
    circle["self"] = circle
    return conversation(
        says("go"),
        model(ToolCall("a", "read_file", {"circle": circle, "set": {1}, "bytes": b"\xff"})),
        settled("a", Outcome("complete", circle)),
        says("on"),
    )


@scenario
def s_62_errors_must_be_seen() -> History:
    return conversation(
        says("go"),
        model(made("a", "1"), made("b", "2"), made("c", "3"), made("d", "4")),
        settled("1", "disk full", "error"),
        settled("2", Outcome("error")),
        settled("3", Outcome("denied", "no", reason="denied")),
        settled("4", Outcome("cancelled", reason="did_not_run")),
        says("on"),
    )


@scenario
def s_63_text_beside_calls() -> History:
    return chat(user(), said("I will look", call("a")), result("a"), said("", call("b")), result("b"), user())


@scenario
def s_64_media_belongs_to_one_result() -> History:
    return claude(
        asked("go"),
        answered(tool_use("a"), tool_use("b")),
        asked(tool_result("a", [image()]), tool_result("b", [{"type": "text", "text": "words"}])),
        answered("seen"),
        asked("on"),
    )


@scenario
def s_64_media_of_a_failed_tool() -> History:
    failed = Outcome("error", (Text("it broke"), Media("image/png", PNG)))
    return conversation(says("look"), model(made("a", "1")), settled("1", failed), says("on"))


@scenario
def s_65_images_that_are_not_what_they_say() -> History:
    return conversation(
        says(
            "look",
            Media("image/png", ""),
            Media("image/png", JPEG),
            Media("image/jpeg", "bm90IGFuIGltYWdl"),
            Media("image/jpg", JPEG),
            Media("image/*", PNG),
            Media("image/bmp", "Qk0="),
            Media("image/png", "!!!"),
            Media("image/*", uri="https://example.com/picture"),
        ),
        model(made("a", "1")),
        settled("1", (Text("shot"), Media("image/png", ""), Media("image/webp", JPEG))),
    )


@scenario
def s_65_media_of_every_kind() -> History:
    return conversation(
        says(
            "read these",
            Media("application/pdf", "JVBERi0xLjQK", name="a.pdf"),
            Media("application/pdf", uri="https://example.com/a.pdf"),
            Media("text/plain", "aGVsbG8gdGV4dA==", name="a.txt"),
            Media("text/csv", "YSxiCjEsMg=="),
            Media("audio/wav", "UklGRiQAAABXQVZF"),
            Media("audio/mpeg", uri="https://example.com/a.mp3"),
            Media("video/mp4", "AAAAIGZ0eXA="),
            Media("application/zip", "UEsDBA=="),
        ),
        model("read", Media("image/png", PNG), Code("print(1)", "python", "1"), Opaque("card", "a card")),
        says("on"),
    )


@scenario
def s_66_calls_without_tools() -> History:
    return chat(user(), said(None, call("a", "gone_tool")), result("a"), user())


@scenario
def s_68_tools_with_awkward_schemas() -> History:
    def tool(name: str, parameters: Any) -> dict[str, Any]:
        return {"type": "function", "function": {"name": name, "parameters": parameters}}

    point = {"type": "object", "properties": {"x": {"type": "number"}}}
    return chat(
        user(),
        tools=[
            tool(
                "ref",
                {
                    "type": "object",
                    "properties": {"p": {"$ref": "#/$defs/P", "description": "a point"}},
                    "$defs": {"P": point},
                },
            ),
            tool(
                "tuple",
                {
                    "type": "object",
                    "properties": {"t": {"type": "array", "items": [{"type": "string"}, {"type": "number"}]}},
                },
            ),
            tool("types", {"type": "object", "properties": {"v": {"type": ["string", "number", "null"]}}}),
            tool(
                "siblings",
                {
                    "type": "object",
                    "properties": {"v": {"type": "string", "anyOf": [{"minLength": 1}, {"format": "date"}]}},
                },
            ),
            tool(
                "free",
                {"type": "object", "properties": {"v": {}, "o": {"type": "object"}, "l": {"type": "array"}}},
            ),
            tool(
                "closed",
                {
                    "type": "object",
                    "properties": {"v": {"const": 1}},
                    "required": ["v"],
                    "additionalProperties": False,
                },
            ),
            tool("root", {"anyOf": [point, {"type": "object", "properties": {"y": {"type": "integer"}}}]}),
            tool("none", {}),
            tool("string", {"type": "string"}),
            tool(
                "odd keys",
                {
                    "type": "object",
                    "properties": {
                        "a b": {"type": "string"},
                        "$x": {"type": "string"},
                        "9": {"type": "string"},
                    },
                },
            ),
            tool(
                "enum",
                {
                    "type": "object",
                    "properties": {
                        "e": {"enum": [1, "a", None, ""]},
                        "s": {"type": "string", "enum": ["", "x"]},
                    },
                },
            ),
            tool(
                "loop",
                {
                    "$ref": "#/$defs/N",
                    "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}},
                },
            ),
        ],
    )


@scenario
def blocks_of_other_providers() -> History:
    """What only another provider understands, among words that everyone does."""
    origin = "anthropic:claude-sonnet-4-5"
    history = conversation(says("go", Code("x = 1", "python")), system("mind the gap"))
    residue = Residue(Origin.parse(origin), {"block": {"type": "server_tool_use", "id": "s"}})
    history.reply(origin, [Opaque("server_tool_use", "", residue), Text("found"), Opaque("card", "a card")])
    history.user("on")
    return history


@scenario
def system_text_everywhere() -> History:
    return conversation(
        system("first of all"), says("go"), system("by the way"), model("yes"), system("last of all")
    )
