"""A function's signature as JSON Schema, and JSON arguments as the Python values it wants.

Both are computed once, when the tool is made. msgspec reads plain types, structs, dataclasses, typed
dicts, enums and dates. A parameter with a type of pydantic is read by pydantic, which is then already
loaded; otherwise it is never imported.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from ...errors import UsageError
from ...plain import MAX_DEPTH, is_deeper, is_plain, plain
from .context import ToolContext
from .docstring import read_docstring
from .provided import provided_type

Decode = Callable[[Any], Any]
REFERENCE = "#/$defs/{name}"


class Undecodable(Exception):
    """Arguments that fit the schema but cannot be converted to the wanted type."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


class Signature(Struct, frozen=True):
    """What a function wants: its schema, a decoder for each argument, and the name of its context."""

    description: str
    schema: dict[str, Any]
    decoders: dict[str, Decode]
    context: str = ""
    provided: dict[str, Any] = {}  # parameters that the session fills, by name, with their types

    def decode(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the Python values that the function is annotated with."""
        decoders = self.decoders
        return {
            name: decoders[name](value) if name in decoders else value for name, value in arguments.items()
        }


class _Parameter(Struct, frozen=True):
    name: str
    hint: Any
    description: str
    default: Any
    required: bool


def read_signature(function: Callable[..., Any], *, names: Mapping[str, Any] | None = None) -> Signature:
    """The signature of a tool function. `names` are local names that its annotations may use."""
    described = read_docstring(_docstring_of(function))
    hints = _hints(function, names)
    context, open_ended = "", False
    parameters: list[_Parameter] = []
    provided: dict[str, Any] = {}
    for at, parameter in enumerate(inspect.signature(function).parameters.values()):
        hint = hints.get(parameter.name, Any)
        if hint is ToolContext or ToolContext in get_args(hint):
            context = parameter.name
        elif (kind := provided_type(hint)) is not None:
            provided[parameter.name] = kind
        elif parameter.kind is parameter.VAR_KEYWORD:
            open_ended = True
        elif not (at == 0 and parameter.name in ("self", "cls")):
            parameters.append(_parameter(function, parameter, hint, described.parameters))
    schema, decoders = _schema_and_decoders(function, parameters)
    if not open_ended:
        schema["additionalProperties"] = False
    return Signature(described.summary, schema, decoders, context, provided)


def given_signature(
    function: Callable[..., Any], schema: Mapping[str, Any], *, names: Mapping[str, Any] | None = None
) -> Signature:
    """A signature whose schema was written by hand: arguments reach the function as they are."""
    described = read_docstring(_docstring_of(function))
    if is_deeper(schema, MAX_DEPTH):
        raise UsageError(f"the parameters of a tool are nested too deeply; use at most {MAX_DEPTH} levels")
    parameters = plain(schema)
    if parameters.get("type", "object") != "object":
        raise UsageError(f"the parameters of a tool have type {parameters.get('type')!r}; use 'object'")
    context, provided = _hidden_parameters(function, names)
    return Signature(described.summary, {"type": "object", **parameters}, {}, context, provided)


def _hidden_parameters(
    function: Callable[..., Any], names: Mapping[str, Any] | None
) -> tuple[str, dict[str, Any]]:
    """The parameter for the context, and those that the session fills."""
    try:
        hints = _hints(function, names)
    except UsageError:
        hints = getattr(function, "__annotations__", {})
    context = next((name for name, hint in hints.items() if hint in (ToolContext, "ToolContext")), "")
    kinds = {name: provided_type(hint) for name, hint in hints.items()}
    return context, {name: kind for name, kind in kinds.items() if kind is not None}


def _written_function(function: Any) -> Any:
    """The function that someone wrote: inside `partial` and decorators, or the `__call__` of an object."""
    function = inspect.unwrap(function)
    if isinstance(function, partial):
        return _written_function(function.func)
    return function if inspect.isroutine(function) else type(function).__call__


def _docstring_of(function: Any) -> str | None:
    """What its author wrote about the function; of an object, about `__call__` before its class."""
    written = _written_function(function)
    if isinstance(function, partial) or inspect.isroutine(inspect.unwrap(function)):
        return inspect.getdoc(written)
    return written.__doc__ or inspect.getdoc(function)


def _hints(function: Callable[..., Any], names: Mapping[str, Any] | None) -> dict[str, Any]:
    try:
        return get_type_hints(_written_function(function), localns=dict(names or {}), include_extras=True)
    except NameError as error:
        raise UsageError(f"{_title_of_tool(function)}: {error}; define the type before the tool") from error
    except TypeError:  # something built in, which has no hints
        return {}


def _parameter(
    function: Callable[..., Any], parameter: inspect.Parameter, hint: Any, described: Mapping[str, str]
) -> _Parameter:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
        raise UsageError(
            f"{_title_of_tool(function)}: a model gives arguments by name; make {parameter} a named parameter"
        )
    description = described.get(parameter.name, "") or _description_in(hint)
    required = parameter.default is parameter.empty
    return _Parameter(parameter.name, hint, description, parameter.default, required)


def _description_in(hint: Any) -> str:
    """`Annotated[str, "City name."]` describes the parameter."""
    if get_origin(hint) is not Annotated:
        return ""
    return next((note for note in get_args(hint)[1:] if isinstance(note, str)), "")


def _schema_and_decoders(
    function: Callable[..., Any], parameters: list[_Parameter]
) -> tuple[dict[str, Any], dict[str, Decode]]:
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    decoders: dict[str, Decode] = {}
    for parameter in parameters:
        try:
            schema, more, decode = _schema_of_hint(parameter.name, parameter.hint)
        except TypeError as error:
            kind = f"{parameter.hint!r} has no JSON form ({str(error).splitlines()[0]})"
            raise UsageError(
                f"{_title_of_tool(function)}: change the type of {parameter.name}: {kind}"
            ) from error
        _merge_definitions(definitions, more, function)
        properties[parameter.name] = _schema_with_notes(schema, parameter)
        if decode is not None:
            decoders[parameter.name] = decode
    schema = {"type": "object", "properties": properties}
    if required := [parameter.name for parameter in parameters if parameter.required]:
        schema["required"] = required
    if definitions:
        schema["$defs"] = definitions
    return schema, decoders


def _schema_with_notes(schema: dict[str, Any], parameter: _Parameter) -> dict[str, Any]:
    schema = dict(schema)
    if parameter.description:
        schema["description"] = parameter.description
    if not parameter.required and parameter.default is not None and is_plain(parameter.default):
        schema["default"] = plain(parameter.default)
    return schema


def _merge_definitions(
    definitions: dict[str, Any], more: Mapping[str, Any], function: Callable[..., Any]
) -> None:
    for name, schema in more.items():
        if definitions.setdefault(name, schema) != schema:
            raise UsageError(f"{_title_of_tool(function)}: two of its types are called {name!r}; rename one")


def _schema_of_hint(name: str, hint: Any) -> tuple[dict[str, Any], dict[str, Any], Decode | None]:
    if _is_pydantic(hint):
        return _pydantic_type(name, hint)
    try:
        return _msgspec_type(name, hint)
    except TypeError as error:
        if (pydantic := sys.modules.get("pydantic")) is None:
            raise
        try:  # a dataclass may hold models of pydantic, which msgspec cannot read
            return _pydantic_type(name, hint)
        except pydantic.PydanticUserError:
            raise error from None


def _schema_of_class(kind: type) -> dict[str, Any]:
    """The schema of a class that msgspec does not know."""
    if issubclass(kind, PurePath):
        return {"type": "string"}
    raise NotImplementedError


def _instance_of(kind: type, value: Any) -> Any:
    return kind(value) if issubclass(kind, PurePath) else value


def _msgspec_type(name: str, hint: Any) -> tuple[dict[str, Any], dict[str, Any], Decode | None]:
    (schema,), definitions = msgspec.json.schema_components(
        [hint], ref_template=REFERENCE, schema_hook=_schema_of_class
    )
    schema, definitions = _with_types(schema), {name: _with_types(each) for name, each in definitions.items()}
    if hint in (Any, str, bool):
        return schema, definitions, None

    def decode_value(value: Any) -> Any:
        try:
            return msgspec.convert(value, hint, dec_hook=_instance_of)
        except msgspec.ValidationError:
            pass
        try:  # 3.0 is an integer to JSON Schema, and not to msgspec's strict mode
            return msgspec.convert(value, hint, strict=False, dec_hook=_instance_of)
        except msgspec.ValidationError as error:
            raise Undecodable((name,), str(error)) from None

    return schema, definitions, decode_value


_KINDS: dict[type, str] = {str: "string", int: "integer", bool: "boolean"}


def _with_types(schema: Any) -> Any:
    """The schema with a `type` beside every `enum` of one kind: some servers refuse an `enum` without."""
    # GEM-13: Gemini accepts `enum` only beside a type.
    if isinstance(schema, list):
        return [_with_types(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        name: part if name in ("enum", "default") else _with_types(part) for name, part in schema.items()
    }
    values = schema.get("enum")
    if isinstance(values, list) and "type" not in schema:
        kinds = {_KINDS.get(type(value)) for value in values}
        if len(kinds) == 1 and (kind := kinds.pop()):
            return {"type": kind, **found}
    return found


def _pydantic_type(name: str, hint: Any) -> tuple[dict[str, Any], dict[str, Any], Decode]:
    adapter = sys.modules["pydantic"].TypeAdapter(hint)
    schema = adapter.json_schema(ref_template="#/$defs/{model}")
    definitions = schema.pop("$defs", {})
    if schema.get("$ref", "").startswith("#/$defs/"):
        schema = {"$ref": schema["$ref"]}

    def decode_value(value: Any) -> Any:
        try:
            return adapter.validate_python(value)
        except ValueError as error:
            first = error.errors(include_url=False)[0]  # type: ignore[attr-defined]
            raise Undecodable((name, *first["loc"]), first["msg"]) from None

    return schema, definitions, decode_value


def _is_pydantic(hint: Any) -> bool:
    return "pydantic" in sys.modules and any(_marks_pydantic(part) for part in _parts_of_hint(hint))


def _parts_of_hint(hint: Any) -> Iterator[Any]:
    yield hint
    for part in get_args(hint):
        yield from _parts_of_hint(part)


def _marks_pydantic(part: Any) -> bool:
    if isinstance(part, type):
        return hasattr(part, "__pydantic_validator__") or part.__module__.partition(".")[0] == "pydantic"
    return type(part).__module__.partition(".")[0] == "pydantic"


def _title_of_tool(function: Callable[..., Any]) -> str:
    return f"tool {getattr(function, '__name__', type(function).__name__)}"
