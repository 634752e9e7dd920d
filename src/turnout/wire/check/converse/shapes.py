"""The shapes of a Converse body: ids, names, formats, limits (rules BDK-04, BDK-05, BDK-09, BDK-11).

Bedrock checks these before any model sees the request. The patterns and limits are those of its
service model; a test holds them against botocore's copy of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..chat.view import array, mapping, text
from ..problem import Problem
from ..reading import objects, repeats
from .view import ConverseRequest, ConverseRule

CALL_ID = re.compile(r"[a-zA-Z0-9_.:-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]+")
MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
LONGEST_ID = LONGEST_NAME = 64
LONGEST_DOCUMENT_NAME = 200
DOCUMENT_NAME = re.compile(r"[a-zA-Z0-9\s\-()\[\]_]+")
S3 = re.compile(r"s3://[a-z0-9][\.\-a-z0-9]{1,61}[a-z0-9](/.*)?", re.DOTALL)
METADATA = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,-.]{0,256}")

FORMATS: dict[str, tuple[str, ...]] = {
    "image": ("png", "jpeg", "gif", "webp"),
    "document": ("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"),
    "video": ("mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"),
    "audio": (
        *("mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "mka", "x-aac", "m4a", "mpeg", "mpga"),
        *("pcm", "webm"),
    ),
}
SOURCES = {
    "image": ("bytes", "s3Location"),
    "document": ("bytes", "s3Location", "text", "content"),
    "video": ("bytes", "s3Location"),
    "audio": ("bytes", "s3Location"),
}
FIELDS = frozenset(
    {
        *("modelId", "messages", "system", "inferenceConfig", "toolConfig", "guardrailConfig"),
        *("additionalModelRequestFields", "promptVariables", "additionalModelResponseFieldPaths"),
        *("requestMetadata", "performanceConfig", "serviceTier", "outputConfig"),
    }
)
BLOCKS = frozenset(
    {
        *("text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent"),
        *("cachePoint", "reasoningContent", "citationsContent", "searchResult", "toolAddition"),
        "toolRemoval",
    }
)
IN_RESULTS = frozenset({"json", "text", "image", "document", "video", "searchResult"})
ROLES = ("user", "assistant", "system")
TTLS = ("5m", "1h")
TIERS = ("priority", "default", "flex", "reserved")
CHOICES = ("auto", "any", "tool")
MOST_CACHE_POINTS = 4
MOST_STOPS = 2_500
MOST_METADATA = 16
NOT_EMPTY = "Member must have length greater than or equal to 1"


def _constraint(value: Any, path: str, rule: str, wanted: str, advice: str) -> Problem:
    answer = (
        f"1 validation error detected: Value '{value}' at '{path}' failed to satisfy constraint: {wanted}"
    )
    return Problem(rule, path, answer, advice)


def fields_are_known(request: ConverseRequest) -> Iterator[Problem]:
    for name in request.body:
        if name not in FIELDS:
            answer = f"Malformed input request: #: extraneous key [{name}] is not permitted"
            yield Problem("BDK-11", name, answer, "leave the field out")


def blocks_are_known(request: ConverseRequest) -> Iterator[Problem]:
    """A block is an object with one member of the union."""
    for message in request.messages:
        if message.role not in ROLES:
            wanted = f"Member must satisfy enum value set: [{', '.join(ROLES)}]"
            yield _constraint(message.role, f"{message.path}.role", "BDK-11", wanted, "use user or assistant")
    for _, block in request.blocks():
        kinds = [name for name, value in block.raw.items() if value is not None]
        if len(kinds) != 1 or kinds[0] not in BLOCKS:
            answer = f"The ContentBlock object at {block.path} must set one of the following keys: text, …"
            yield Problem("BDK-11", block.path, answer, "give each block exactly one known key")


def ids_fit(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-05: the ids of calls. Mistral's own server wants nine letters and digits."""
    for _, block in request.blocks():
        if block.kind not in ("toolUse", "toolResult"):
            continue
        path, id = f"{block.path}.{block.kind}.toolUseId", block.id
        if not CALL_ID.fullmatch(id) or len(id) > LONGEST_ID:
            wanted = f"Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+, 1 to {LONGEST_ID}"
            yield _constraint(id, path, "BDK-05", wanted, "use letters, digits, _ and -, at most 64")
        elif "type" in mapping(block.value):
            continue  # a tool that Bedrock ran: it gave the id itself
        elif request.family == "mistral" and not MISTRAL_ID.fullmatch(id):
            answer = f"Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
            yield Problem("BDK-05", path, answer, "use nine letters and digits", "warning")


def names_fit(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-05: the names of tools, where they are called and where they are declared."""
    for _, block in request.blocks():
        if block.kind == "toolUse":
            name = mapping(block.value).get("name")
            yield from _name_problems(name, f"{block.path}.toolUse.name")
    tools = array(mapping(request.body.get("toolConfig")).get("tools"))
    for place, tool in objects(tools):
        for kind in ("toolSpec", "systemTool"):
            if kind in tool:
                path = f"toolConfig.tools.{place}.{kind}.name"
                yield from _name_problems(mapping(tool[kind]).get("name"), path)


def _name_problems(name: Any, path: str) -> Iterator[Problem]:
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        wanted = "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+, 1 to 64"
        yield _constraint(name, path, "BDK-05", wanted, "use letters, digits, _ and -, at most 64")


def calls_have_objects(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-04: the input of a call is an object, the content of a result a list of blocks."""
    for _, block in request.blocks():
        held = mapping(block.value)
        if block.kind == "toolUse" and not isinstance(held.get("input"), Mapping):
            answer = f"The format of the value at {block.path}.toolUse.input is invalid. Provide an object"
            yield Problem("BDK-04", f"{block.path}.toolUse.input", answer, "send the arguments as an object")
        if block.kind == "toolResult":
            yield from _result_problems(held, f"{block.path}.toolResult")


def _result_problems(result: Mapping[str, Any], path: str) -> Iterator[Problem]:
    if not isinstance(result.get("content"), list | tuple):
        answer = f"The content field at {path} is required."
        yield Problem("BDK-04", f"{path}.content", answer, "send the content as a list of blocks")
    if result.get("status") not in (None, "success", "error"):
        wanted = "Member must satisfy enum value set: [success, error]"
        yield _constraint(result.get("status"), f"{path}.status", "BDK-04", wanted, "use success or error")
    for place, part in objects(result.get("content")):
        kinds = [name for name, value in part.items() if value is not None]
        if len(kinds) != 1 or kinds[0] not in IN_RESULTS:
            answer = f"The ToolResultContentBlock object at {path}.content.{place} must set one known key."
            yield Problem("BDK-04", f"{path}.content.{place}", answer, "use text, json, image or document")
        elif kinds[0] in FORMATS:
            yield from _media_problems(kinds[0], mapping(part[kinds[0]]), f"{path}.content.{place}")


def media_fits(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-09: formats, sources and names of media. Media is the user's."""
    for message, block in request.blocks():
        if block.kind not in FORMATS:
            continue
        yield from _media_problems(block.kind, mapping(block.value), block.path)
        if message.role == "assistant" and block.kind != "image":
            answer = f"The {block.kind} block at {block.path} can only be in a user message."
            yield Problem("BDK-09", block.path, answer, "send media under the user's role")
        uri = mapping(mapping(mapping(block.value).get("source")).get("s3Location")).get("uri")
        if uri is not None and request.family == "claude":
            answer = "This model doesn't support the s3Uri field. Remove s3Uri and try again."
            yield Problem("BDK-09", block.path, answer, "send the bytes")
        if block.kind in ("video", "audio") and request.family == "claude":
            answer = f"This model doesn't support the {block.kind} content block that you provided."
            yield Problem("BDK-09", block.path, answer, "leave it out")


def _media_problems(kind: str, held: Mapping[str, Any], path: str) -> Iterator[Problem]:
    path = f"{path}.{kind}"
    given = held.get("format")
    if given not in FORMATS[kind] and not (kind == "document" and given is None):
        wanted = f"Member must satisfy enum value set: [{', '.join(FORMATS[kind])}]"
        yield _constraint(given, f"{path}.format", "BDK-09", wanted, "send it in one of these formats")
    source = mapping(held.get("source"))
    kinds = [name for name, value in source.items() if value is not None]
    if len(kinds) != 1 or kinds[0] not in SOURCES[kind]:
        answer = f"The source field at {path} must set one of: {', '.join(SOURCES[kind])}."
        yield Problem("BDK-09", f"{path}.source", answer, "send the bytes as base64")
    elif kinds[0] == "bytes" and not source["bytes"]:
        yield _constraint("", f"{path}.source.bytes", "BDK-09", NOT_EMPTY, "leave it out")
    elif kinds[0] == "s3Location" and not S3.fullmatch(text(mapping(source["s3Location"]).get("uri"))):
        wanted = "Member must satisfy regular expression pattern of an S3 address"
        yield _constraint("…", f"{path}.source.s3Location.uri", "BDK-09", wanted, "write s3://bucket/key")
    if kind == "document":
        yield from _document_name_problems(held.get("name"), path)


def _document_name_problems(name: Any, path: str) -> Iterator[Problem]:
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_DOCUMENT_NAME:
        wanted = f"Member must have length between 1 and {LONGEST_DOCUMENT_NAME}"
        yield _constraint(name, f"{path}.name", "BDK-09", wanted, "give the document a short name")
    elif not DOCUMENT_NAME.fullmatch(name) or re.search(r"\s\s", name):
        answer = (
            "The file name that you provided contains invalid characters. Only alphanumeric characters, "
            "whitespace, hyphens, parentheses and square brackets are allowed, and no two spaces in a row."
        )
        yield Problem("BDK-09", f"{path}.name", answer, "use letters, digits, spaces and hyphens")


def cache_points_fit(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-11: at most four, of a known type."""
    tools = array(mapping(request.body.get("toolConfig")).get("tools"))
    holders: list[tuple[str, Mapping[str, Any]]] = [
        *((f"toolConfig.tools.{place}", tool) for place, tool in objects(tools)),
        *((f"system.{place}", block) for place, block in objects(request.body.get("system"))),
        *((block.path, block.raw) for _, block in request.blocks()),
    ]
    points = [
        (path, mapping(held["cachePoint"])) for path, held in holders if held.get("cachePoint") is not None
    ]
    for path, point in points:
        if point.get("type") != "default" or point.get("ttl") not in (None, *TTLS):
            wanted = "Member must satisfy enum value set: [default], ttl [5m, 1h]"
            yield _constraint(dict(point), f"{path}.cachePoint", "BDK-11", wanted, 'send {"type": "default"}')
    if len(points) > MOST_CACHE_POINTS:
        answer = (
            f"A maximum of {MOST_CACHE_POINTS} blocks with cache points may be provided. Found {len(points)}."
        )
        yield Problem("BDK-11", points[MOST_CACHE_POINTS][0], answer, "use fewer cache points")


def tools_fit(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-04: a schema under `inputSchema.json`, tools of different names, a choice that exists."""
    config = request.body.get("toolConfig")
    if config is None:
        return
    tools = array(mapping(config).get("tools"))
    if not tools:
        yield _constraint([], "toolConfig.tools", "BDK-04", NOT_EMPTY, "declare a tool")
    names: list[tuple[str, str]] = []
    for place, tool in objects(tools):
        spec, path = mapping(tool.get("toolSpec")), f"toolConfig.tools.{place}"
        if len(tool) != 1 or next(iter(tool)) not in ("toolSpec", "systemTool", "cachePoint"):
            answer = f"The Tool object at {path} must set one of: toolSpec, systemTool, cachePoint."
            yield Problem("BDK-04", path, answer, "wrap the declaration in toolSpec")
        if not spec:
            continue
        names.append((f"{path}.toolSpec.name", text(spec.get("name"))))
        schema = mapping(spec.get("inputSchema")).get("json")
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            answer = (
                f"The value at {path}.toolSpec.inputSchema.json.type must be one of the following: object."
            )
            yield Problem("BDK-04", f"{path}.toolSpec.inputSchema", answer, "give a schema of an object")
        if spec.get("description") == "":
            yield _constraint("", f"{path}.toolSpec.description", "BDK-04", NOT_EMPTY, "leave it out")
    for path, name in repeats(names):
        answer = f"The tool {name} is already defined at toolConfig.tools. Use unique names."
        yield Problem("BDK-04", path, answer, "give each tool a name of its own")
    yield from _choice_problems(mapping(config).get("toolChoice"), {name for _, name in names})


def _choice_problems(choice: Any, names: set[str]) -> Iterator[Problem]:
    if choice is None:
        return
    held = mapping(choice)
    if len(held) != 1 or next(iter(held)) not in CHOICES:
        answer = "The ToolChoice object at toolConfig.toolChoice must set one of: auto, any, tool."
        yield Problem("BDK-03", "toolConfig.toolChoice", answer, "there is no word for none")
    elif "tool" in held and text(mapping(held["tool"]).get("name")) not in names:
        answer = "The value at toolConfig.toolChoice.tool.name doesn't match any of the specified tools."
        yield Problem("BDK-03", "toolConfig.toolChoice.tool.name", answer, "name a declared tool")


def options_fit(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-11: the limits of `inferenceConfig`, metadata and the service tier."""
    config = mapping(request.body.get("inferenceConfig"))
    for name in config:
        if name not in ("maxTokens", "temperature", "topP", "stopSequences"):
            answer = f"Malformed input request: #/inferenceConfig: extraneous key [{name}] is not permitted"
            yield Problem(
                "BDK-11", f"inferenceConfig.{name}", answer, "put it into additionalModelRequestFields"
            )
    limits: tuple[tuple[str, float, float], ...] = (
        ("maxTokens", 1, 2**31 - 1),
        ("temperature", 0, 1),
        ("topP", 0, 1),
    )
    for name, least, most in limits:
        value = config.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and least <= value <= most):
            wanted = f"Member must have value between {least} and {most}"
            yield _constraint(value, f"inferenceConfig.{name}", "BDK-11", wanted, "send a value in the range")
    stops = array(config.get("stopSequences"))
    if len(stops) > MOST_STOPS or any(not text(word) for word in stops):
        wanted = f"Member must have at most {MOST_STOPS} members, each of length 1 or more"
        yield _constraint("…", "inferenceConfig.stopSequences", "BDK-11", wanted, "send fewer, none empty")
    yield from _service_problems(request.body)


def _service_problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    tier = mapping(body.get("serviceTier")).get("type")
    if body.get("serviceTier") is not None and tier not in TIERS:
        wanted = f"Member must satisfy enum value set: [{', '.join(TIERS)}]"
        yield _constraint(tier, "serviceTier.type", "BDK-11", wanted, "use one of these")
    metadata = body.get("requestMetadata")
    entries = [item for pair in mapping(metadata).items() for item in pair]
    fits = all(isinstance(item, str) and METADATA.fullmatch(item) for item in entries)
    if metadata is not None and not (fits and 1 <= len(mapping(metadata)) <= MOST_METADATA):
        wanted = f"Map must have 1 to {MOST_METADATA} entries of at most 256 of the usual characters"
        yield _constraint("…", "requestMetadata", "BDK-11", wanted, "shorten it")
    for place, block in objects(body.get("system")):
        if "text" in block and not text(block.get("text")).strip():
            path = f"system.{place}.text"
            yield _constraint(block.get("text"), path, "BDK-02", NOT_EMPTY, "leave the block out")


RULES: tuple[ConverseRule, ...] = (
    fields_are_known,
    blocks_are_known,
    ids_fit,
    names_fit,
    calls_have_objects,
    media_fits,
    cache_points_fit,
    tools_fit,
    options_fit,
)
