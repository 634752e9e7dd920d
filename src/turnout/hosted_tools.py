"""Tools that a provider runs itself, declared once for all providers.

`turnout.hosted("web_search", max_uses=3)` is given among `tools=` like a function. Each
target gets it in its own form. `HostedForm` is such a form as data: it writes a
declaration from the neutral options, and reads them back from a declaration that came in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct, field

from .errors import UsageError
from .model import ToolSpec
from .parameters import check_names
from .plain import plain

PREFIX = "hosted:"

KINDS: dict[str, tuple[str, ...]] = {
    "web_search": ("allowed_domains", "blocked_domains", "max_uses", "user_location", "context_size"),
    "url_context": ("allowed_domains", "blocked_domains", "max_uses", "max_content_tokens", "citations"),
    "code_execution": ("container", "files"),
    "file_search": ("stores", "max_results", "filters"),
    "image_generation": ("size", "quality", "format", "background", "model"),
    "mcp": ("url", "label", "authorization", "headers", "allowed_tools", "description", "approval"),
}
"""The kinds of tools that providers run, each with its neutral options."""

NEEDED = {"file_search": ("stores",), "mcp": ("url", "label")}
"""Options without which the tool can do nothing."""

NEEDS_NO_FORM = ("type", "cache_control")
"""Fields of a declaration that say nothing of the tool elsewhere. Prompts are cached unless it is said."""


def hosted(kind: str, **options: Any) -> ToolSpec:
    """A tool that the provider runs: give it among `tools=` of a session or of `render`.

    A target that does not have it gets the local tool of the same name, if there is one; else a
    diagnostic `dropped_tool` names it. Options that a target does not take are named in `changes`.
    """
    if kind not in KINDS:
        raise UsageError(f"no provider's tool is called {kind!r}; known are {', '.join(KINDS)}")
    check_names(f"hosted({kind!r})", "option", options, KINDS[kind])
    given = {name: plain(value) for name, value in options.items() if value is not None}
    missing = [name for name in NEEDED.get(kind, ()) if not given.get(name)]
    if missing:
        raise UsageError(f"hosted({kind!r}) needs {' and '.join(missing)}; give {missing[0]}=…")
    if "container" in given and "files" in given:
        raise UsageError(
            f"hosted({kind!r}) takes container or files: a container has its own files; leave one of them out"
        )
    name = str(given["label"]) if kind == "mcp" else kind
    return ToolSpec(name, parameters=given, kind=f"{PREFIX}{kind}")


def hosted_kind(spec: ToolSpec) -> str:
    """The kind of a neutral declaration; "" for any other tool."""
    return spec.kind.removeprefix(PREFIX) if spec.kind.startswith(PREFIX) else ""


class HostedForm(Struct, frozen=True, kw_only=True):
    """How one API declares a tool that it runs.

    `options` says where a neutral option stands in the declaration: a path, and after `|` the
    shape of its value where that is special. `entry_options` stand in an entry of the request's own
    list `entry_field`, `request_options` beside the declarations. Options that are named in none of
    them are not taken. The shape `id=PREFIX` is the id of a thing at this provider: ids of others,
    which begin otherwise, are not taken either.
    """

    kind: str
    type: str  # its own name for the type; for Gemini the key
    is_key: bool = False  # the declaration is {type: {…}}
    name: str = ""  # the name that the API demands
    models: tuple[str, ...] = ("*",)  # patterns of the models that have it
    also: tuple[str, ...] = ()  # patterns of other types that mean the same in a request that came in
    options: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)  # what the declaration always holds
    request: dict[str, Any] = field(default_factory=dict)  # fields that the request needs beside it
    request_options: dict[str, str] = field(default_factory=dict)
    entry_field: str = ""
    entry_fixed: dict[str, Any] = field(default_factory=dict)
    entry_options: dict[str, str] = field(default_factory=dict)
    alone: bool = False  # cannot stand beside other tools that the provider runs

    def serves(self, model: str) -> bool:
        """Whether this model has the tool in this form."""
        name = model.lower().rpartition("/")[2]
        return any(fnmatchcase(name, pattern) for pattern in self.models)

    def reads(self, type: str) -> bool:
        """Whether a declaration of this type is one of this tool."""
        spelled = type.replace("_", "").lower() if self.is_key else type
        own = self.type.lower() if self.is_key else self.type
        return spelled == own or any(fnmatchcase(type, pattern) for pattern in self.also)

    def declaration(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The tool in the words of this API."""
        inner: dict[str, Any] = {}
        for name, path in self.options.items():
            if name in options and _fits(path, options[name]):
                _set_option(inner, path, options[name])
        inner = _merge_fixed(inner, self.fixed)
        if self.is_key:
            return {self.type: inner}
        return {"type": self.type, **({"name": self.name} if self.name else {}), **inner}

    def request_fields(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """What the request holds beside the declaration."""
        asked = dict(self.request)
        for name, path in self.request_options.items():
            if name in options and _fits(path, options[name]):
                _set_option(asked, path, options[name])
        if not self.entry_field:
            return asked
        entry = dict(self.entry_fixed)
        for name, path in self.entry_options.items():
            if name in options:
                _set_option(entry, path, options[name])
        return {**asked, self.entry_field: [entry]}

    def not_taken(self, options: Mapping[str, Any]) -> list[str]:
        """The options that this API does not have."""
        paths = {**self.options, **self.entry_options, **self.request_options}
        return [name for name, value in options.items() if name not in paths or not _fits(paths[name], value)]

    def read_options(self, declaration: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The neutral options in a declaration, and the fields that they do not say whole."""
        inner = declaration if not self.is_key else next(iter(declaration.values()), None) or {}
        if not isinstance(inner, Mapping):
            return {}, []
        options = {}
        for name, path in self.options.items():
            where, _, shape = path.partition("|")
            value = _value_at(inner, where)
            if value is not None and _fits(path, value):
                options[name] = _neutral_value(value, shape)
        written = self.declaration(options)
        written = written[self.type] if self.is_key else written
        unread = [name for name, value in inner.items() if not _says_whole(written.get(name), value)]
        return options, [name for name in unread if name not in NEEDS_NO_FORM]

    def field_of(self, option: str) -> str:
        """What this API calls a neutral option."""
        return self.options.get(option, option).partition("|")[0]


def _fits(path: str, value: Any) -> bool:
    """Whether a value can stand at this path: an id must be one of this provider."""
    shape = path.partition("|")[2]
    return not shape.startswith("id=") or (isinstance(value, str) and value.startswith(shape[3:]))


def _says_whole(written: Any, given: Any) -> bool:
    """Whether what is written says all that was given."""
    if given is None:
        return True
    if isinstance(written, Mapping) and isinstance(given, Mapping):
        return all(_says_whole(written.get(name), value) for name, value in given.items())
    return bool(written == given)


def _set_option(into: dict[str, Any], path: str, value: Any) -> None:
    where, _, shape = path.partition("|")
    *above, last = where.split(".")
    for step in above:
        into = into.setdefault(step, {})
    match shape:
        case "approximate":  # the only kind of place that the APIs know
            into[last] = {"type": "approximate", **value} if isinstance(value, dict) else value
        case "switch":
            into[last] = {"enabled": bool(value)}
        case "enabled":  # all tools are off but these
            into["default_config"] = {"enabled": False}
            into[last] = {name: {"enabled": True} for name in value}
        case _:
            into[last] = value


def _neutral_value(value: Any, shape: str) -> Any:
    match shape:
        case "approximate" if isinstance(value, Mapping):
            return {name: held for name, held in value.items() if name != "type" and held is not None}
        case "switch" if isinstance(value, Mapping):
            return bool(value.get("enabled"))
        case "enabled" if isinstance(value, Mapping):
            return [name for name, held in value.items() if isinstance(held, Mapping) and held.get("enabled")]
        case _:
            return value


def _value_at(holder: Any, path: str) -> Any:
    for step in path.split("."):
        holder = holder.get(step) if isinstance(holder, Mapping) else None
    return holder


def _merge_fixed(inner: dict[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """The fixed fields; what an option said takes precedence."""
    made = dict(inner)
    for name, value in fixed.items():
        held = made.get(name)
        if isinstance(held, dict) and isinstance(value, Mapping):
            made[name] = {**value, **held}
        elif name not in made:
            made[name] = value
    return made


def joined_request_fields(tools: Iterator[ToolSpec]) -> dict[str, Any]:
    """The fields that these tools need in the request; lists of several tools are joined."""
    made: dict[str, Any] = {}
    for tool in tools:
        data = tool.residue.data if tool.residue is not None else None
        asked = data.get("request") if isinstance(data, dict) else None
        for name, value in (asked if isinstance(asked, dict) else {}).items():
            held = made.get(name)
            if isinstance(held, list) and isinstance(value, list):
                made[name] = [*held, *(item for item in value if item not in held)]
            else:
                made[name] = value
    return made
