"""What files may add to the requests of a target or a model: headers, query, fields of the body, options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from ..errors import UsageError
from ..targets.additions import checked_extra, checked_headers, checked_query
from ..targets.target import Target
from ..wire.options import Options
from ..wire.shared.added_fields import merge_fields


class RequestSettings(Struct, frozen=True, kw_only=True):
    """The part that `[targets.NAME]` and `[models."PROVIDER:MODEL"]` share. Keys do not belong here."""

    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


def with_request_settings(target: Target, settings: Iterable[tuple[str, RequestSettings]]) -> Target:
    """The target with what files say about its requests; a later one takes precedence.

    Each comes with its title in the file, which an error names.
    """
    headers, query, options = dict(target.headers), dict(target.query), dict(target.options)
    for title, each in settings:
        try:
            headers |= checked_headers(each.headers)
            query |= checked_query(each.query)
            options |= _checked_options(each.options)
            if extra := checked_extra(each.extra):
                options["extra"] = merge_fields(options.get("extra", {}), extra)
        except UsageError as error:
            raise UsageError(f"{title}: {error}; correct the file") from None
    return replace(target, headers=headers, query=query, options=options)


def _checked_options(options: dict[str, Any]) -> dict[str, Any]:
    try:
        Options.of(options)
    except TypeError as error:  # a name that is not an option
        raise UsageError(f"{error}; correct the name") from None
    return options


def parse_options(words: Iterable[str]) -> dict[str, Any]:
    """Options of a command line: `temperature=0.2`, `stop=["END"]`. A value is JSON, or else text."""
    from ..plain import loads

    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--option {word!r}: write it as NAME=VALUE, such as temperature=0.2")
        try:
            found[name.strip().replace("-", "_")] = loads(text)
        except ValueError:
            found[name.strip().replace("-", "_")] = text
    return _checked_options(found)
