"""Fields that are added to a request: of the dialect, of the request's own API, of the caller."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from ..options import Options
from .growing_bytes import Wire


def with_added_fields(
    fields: Wire, dialect_fields: Mapping[str, Any], options: Options, changes: list[str]
) -> Wire:
    """The encoder's fields with all added fields. The caller's `extra` comes last and wins."""
    made = merge_fields(fields, dialect_fields) if dialect_fields else fields
    if options.private is not None:
        own = dict(private_fields(options))
        for name in _out_of_place(own, made, options):
            changes.append(f"{name} left out: the API refuses it without the field that it belongs to")
            del own[name]
        made = merge_fields(made, with_joined_lists(own, made))
    return merge_fields(made, options.extra) if options.extra else made


def without_spelling(options: Options, names: Iterable[str]) -> Options:
    """The options without the request's own spelling of those that the caller set again."""
    data = options.private.data if options.private is not None else None
    if options.private is None or not isinstance(data, dict) or not data.get("spelled"):
        return options
    chosen = {"thinking" if name in ("effort", "budget") else name for name in names}
    spelled = {name: fields for name, fields in data["spelled"].items() if name not in chosen}
    return replace(options, private=replace(options.private, data={**data, "spelled": spelled}))


def spelled_option(options: Options, name: str, model: str) -> dict[str, Any]:
    """An option as the inbound request spelled it, if that request was for this model."""
    private = options.private
    if private is None or private.origin.model != model or not isinstance(private.data, dict):
        return {}
    held = private.data.get("spelled")
    fields = held.get(name) if isinstance(held, dict) else None
    return fields if isinstance(fields, dict) else {}


def private_fields(options: Options) -> dict[str, Any]:
    """The fields of the request that only the API it was written for has."""
    data = options.private.data if options.private is not None else None
    held = data.get("fields") if isinstance(data, dict) else None
    return held if isinstance(held, dict) else {}


def without_private_field(options: Options, name: str) -> Options:
    """The options without one of these fields."""
    if options.private is None:
        return options
    fields = {other: value for other, value in private_fields(options).items() if other != name}
    data = {**options.private.data, "fields": fields}
    return replace(options, private=replace(options.private, data=data))


def paths_in(fields: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The names of fields, as people write them: `generationConfig.speechConfig`."""
    for name, value in fields.items():
        path = f"{above}{name}"
        if isinstance(value, dict) and value and not above:
            yield from paths_in(value, f"{path}.")
        else:
            yield path


def merge_fields(fields: Mapping[str, Any], added: Mapping[str, Any]) -> Wire:
    """Both, merged object by object. Where both have a value, the added one counts."""
    made = dict(fields)
    for name, value in added.items():
        known = made.get(name)
        made[name] = (
            merge_fields(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
        )
    return made


def _out_of_place(own: Mapping[str, Any], made: Mapping[str, Any], options: Options) -> list[str]:
    """Fields that need another field: details of thinking that is off, options without a stream."""
    lone = ["thinking"] if isinstance(own.get("thinking"), dict) and "thinking" not in made else []
    return lone + (["stream_options"] if "stream_options" in own and not options.stream else [])


def with_joined_lists(own: Mapping[str, Any], made: Mapping[str, Any]) -> Wire:
    """`include` is a list: ours and the request's are joined."""
    joined = dict(own)
    for name in ("include", "mcp_servers"):
        asked, wanted = made.get(name), own.get(name)
        if isinstance(asked, list) and isinstance(wanted, list):
            joined[name] = [*asked, *(item for item in wanted if item not in asked)]
    return joined
