"""A tool: a function, what a model reads about it, and what the scheduler must know.

    @tool(risk="write")
    async def write_note(ctx: ToolContext, path: str, text: str) -> str:
        '''Write a note.

        Args:
            path: Where, inside the workspace.
        '''

Type hints and docstring become the schema, once. A parameter annotated `ToolContext` is
ours and hidden from the model. The function may be plain (it runs in a thread), async,
a generator or an async generator (what it yields is progress; what it returns, or else
the last thing it yields, is the result), or a method. It returns text, a JSON value,
media, a list of blocks, or an `Outcome`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any, Literal, cast, get_args, overload

from msgspec import Struct
from msgspec.structs import replace

from ...errors import UsageError
from ...history.log import History
from ...json_size import LONGEST
from ...model import Origin, ToolSpec
from .context import ToolContext
from .declared import check_function_fits, declared_risk, function_not_here, function_spec, is_declaration
from .schema_cost import SchemaCost
from .signature import Signature, given_signature, read_signature
from .validator import validator_and_engine

__all__ = ["Kind", "Paths", "Risk", "Tool", "ToolContext", "tool"]

Risk = Literal["read", "write", "risky", "dangerous"]
"""read changes nothing; write changes files; risky reaches further; dangerous cannot be undone."""

Kind = Literal["sync", "async", "generator", "async_generator"]
Paths = tuple[str, ...] | Callable[[Mapping[str, Any]], Iterable[str]]

RISKS: tuple[str, ...] = get_args(Risk)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")


class ToolOffer(Struct, frozen=True):
    """The request that tools are offered in: to whom, in which conversation and approval mode."""

    target: Origin
    history: History
    mode: str = ""


class Tool(Struct, frozen=True, eq=False):
    """One tool. Call it and you call the function itself.

    `paths` says which paths a call touches: names of arguments, or a function of the
    arguments. `parallel=False` keeps every other call of the batch out while it runs.
    `retry_safe` means that running it again after a crash does no harm. `outside` marks a
    tool that reaches out of the workspace with any arguments. `timeout` None means the limit of
    the scheduler, and infinity no limit. `assess` judges a single call: from its arguments
    and the `Situation` to an `Assessment`. `leaves` marks a tool that sends something off the
    machine, and `source` says where its results come from. `polls` marks a tool that is meant
    to be called again and again, so that repeated calls do not count as a loop. `delegates`
    marks a tool that only waits for subagents: it takes no slot from their calls.
    `argument_limit` is how many characters the arguments of one call may have. `external` marks a tool
    that is not run here: its call is handed out, the run ends as `Waiting`, and `session.answer` goes on.
    `offered` decides for each request whether the model sees the tool; None means always.
    """

    name: str
    function: Callable[..., Any]
    signature: Signature
    spec: ToolSpec
    validator: Any
    fits: Callable[[Any], bool]  # whether arguments fit the schema; the validator's own method
    kind: Kind
    cost: SchemaCost  # what it may cost to ask whether arguments fit
    risk: Risk = "read"
    timeout: float | None = None
    parallel: bool = True
    paths: Paths = ("path",)
    retry_safe: bool = False
    outside: bool = False
    groups: tuple[str, ...] = ()
    assess: Callable[[Mapping[str, Any], Any], Any] | None = None
    leaves: bool = False
    source: str = "tool"
    polls: bool = False
    delegates: bool = False
    argument_limit: int = LONGEST
    external: bool = False
    offered: Callable[[ToolOffer], bool] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Tool:
        """A tool written as a method, bound to its object."""
        return self if instance is None else replace(self, function=self.function.__get__(instance, owner))

    @property
    def description(self) -> str:
        """What the model reads about the tool."""
        return self.spec.description

    @property
    def changes_things(self) -> bool:
        """Whether a call may change something: every risk but `read`."""
        return self.risk != "read"

    def with_name(self, name: str) -> Tool:
        """The same tool under another name."""
        return replace(self, name=_checked_name(name), spec=replace(self.spec, name=name))

    def invoke(self, context: ToolContext, arguments: Mapping[str, Any]) -> Any:
        """Call the function with decoded arguments; what comes back depends on `kind`."""
        signature = self.signature
        if not signature.context and not signature.provided:
            return self.function(**arguments)
        ours: dict[str, Any] = {
            name: context.provided_value(kind) for name, kind in signature.provided.items()
        }
        if signature.context:
            ours[signature.context] = context
        return self.function(**ours, **arguments)

    def touched_paths(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The paths that a call with these arguments reads or changes."""
        if callable(self.paths):
            return tuple(str(path) for path in self.paths(arguments))
        known = self.signature.schema.get("properties", {})
        found = (arguments.get(name, known.get(name, {}).get("default")) for name in self.paths)
        return tuple(
            path
            for value in found
            for path in (value if isinstance(value, list) else [value])
            if isinstance(path, str) and path
        )


@overload
def tool(function: Callable[..., Any] | Mapping[str, Any] | ToolSpec, /, **options: Any) -> Tool: ...
@overload
def tool(
    *,
    risk: Risk = "read",
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    declaration: Mapping[str, Any] | ToolSpec | None = None,
    timeout: float | None = None,
    parallel: bool = True,
    paths: Paths = ("path",),
    retry_safe: bool = False,
    outside: bool = False,
    groups: Iterable[str] = (),
    assess: Callable[[Mapping[str, Any], Any], Any] | None = None,
    leaves: bool = False,
    source: str = "tool",
    polls: bool = False,
    delegates: bool = False,
    argument_limit: int = LONGEST,
    external: bool = False,
    offered: Callable[[ToolOffer], bool] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Any = None, /, **options: Any) -> Any:
    """Make a tool of a function: `@tool`, `@tool(risk="write")` or `tool(function, name="…")`.

    `parameters` is a JSON Schema written by hand; without it the signature is read. `declaration` is the
    whole of it as OpenAI, Anthropic, Gemini or an MCP server writes it. A declaration in place of a
    function makes an external tool: its calls are handed out, and `session.answer` answers them.
    """
    names = _names_in_reach(sys._getframe(1))
    if is_declaration(function):
        return _make_external_tool(function_spec(function), options)
    if function is not None:
        return _make_tool(function, names, **options)
    return lambda decorated: _make_tool(decorated, names, **options)


def _names_in_reach(frame: FrameType | None) -> dict[str, Any]:
    """Local names that annotations may use: of the caller, and around it if that is a class body."""
    names: dict[str, Any] = {}
    while frame is not None:
        names = {**frame.f_locals, **names}
        if "__qualname__" not in frame.f_locals:
            break
        frame = frame.f_back
    return names


def _make_external_tool(spec: ToolSpec, options: dict[str, Any]) -> Tool:
    function = function_not_here(spec.name)
    return _make_tool(function, {}, declaration=spec, **{"risk": "read", "external": True, **options})


def _make_tool(
    function: Callable[..., Any],
    names: Mapping[str, Any],
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    declaration: Any = None,
    risk: Risk | None = None,
    groups: Iterable[str] = (),
    **options: Any,
) -> Tool:
    written = function_spec(declaration) if declaration is not None else None
    if written is not None:
        parameters = written.parameters if parameters is None else parameters
        description = description or written.description or None
    if parameters is None:
        signature = read_signature(function, names=names)
    else:
        signature = given_signature(function, parameters, names=names)
    name = _checked_name(name or (written.name if written else _name_of(function)))
    spec = ToolSpec(name, signature.description if description is None else description, signature.schema)
    if written is not None:
        check_function_fits(function, spec, {signature.context, *signature.provided})
        spec = replace(spec, strict=written.strict, residue=written.residue)
    validator, cost = _validator(name, signature.schema)
    return Tool(
        name,
        function,
        signature,
        spec,
        validator,
        validator.is_valid,
        _kind(function),
        cost,
        _checked_risk(name, declared_risk(declaration) if risk is None else risk),
        groups=tuple(groups),
        **options,
    )


def _name_of(function: Any) -> str:
    """The name of a function, of the one inside `functools.partial`, or of the class of an object."""
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__name__", "") or type(inner).__name__)


def _checked_risk(name: str, risk: str) -> Risk:
    if risk not in RISKS:
        raise UsageError(f"tool {name}: {risk!r} is not a risk; use one of {', '.join(RISKS)}")
    return cast(Risk, risk)


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        way = "tool(function, name=…) with letters, digits, '_', '-', '.' and ':'"
        raise UsageError(f"{name!r} cannot name a tool; use {way}")
    return name


def _validator(name: str, schema: dict[str, Any]) -> tuple[Any, SchemaCost]:
    """The validator of a schema, which is measured first: some would take for ever to compile or to use."""
    try:
        cost = SchemaCost(schema)
        validator, cost.backtracks = validator_and_engine(schema)
        return validator, cost
    except UsageError as error:
        raise UsageError(f"tool {name}: change its parameters, which cannot be used: {error}") from error


def _kind(function: Callable[..., Any]) -> Kind:
    inner: Any = getattr(function, "func", None) or type(function).__call__
    target = function if inspect.isroutine(function) else inner
    if inspect.isasyncgenfunction(target):
        return "async_generator"
    if inspect.iscoroutinefunction(target):
        return "async"
    return "generator" if inspect.isgeneratorfunction(target) else "sync"
