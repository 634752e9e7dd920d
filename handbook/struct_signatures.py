"""Tell the reference what griffe cannot know, because it reads the source without running it.

A msgspec Struct is called with its fields, as a dataclass is. What stands as a comment behind a field is its
description. Attributes without one are left out: the signature has them, or they are an inner matter.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe

KINDS = griffe.ParameterKind
COMMENT = re.compile(r"\s#\s(?!type:)(.*)")


class StructSignatures(griffe.Extension):
    """Give each Struct the `__init__` that msgspec makes, and its fields their descriptions."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        if _is_struct(cls):
            fields = [each for each in cls.attributes.values() if _is_field(each)]
            if fields and "__init__" not in cls.members:
                cls.set_member("__init__", _init_function(cls, fields))
            for field in fields:
                _describe_by_comment(field)
        for name, attribute in list(cls.attributes.items()):
            if attribute.docstring is None and "property" not in attribute.labels:
                cls.del_member(name)


def _is_struct(cls: griffe.Class) -> bool:
    return any(str(base).partition("[")[0] in ("Struct", "msgspec.Struct") for base in cls.bases)


def _is_field(attribute: griffe.Attribute) -> bool:
    annotation = str(attribute.annotation or "")
    return bool(annotation) and "ClassVar" not in annotation and "property" not in attribute.labels


def _init_function(cls: griffe.Class, fields: list[griffe.Attribute]) -> griffe.Function:
    by_name = str(getattr(cls, "keywords", {}).get("kw_only", "")) == "True"
    kind = KINDS.keyword_only if by_name else KINDS.positional_or_keyword
    parameters = [griffe.Parameter("self", kind=KINDS.positional_or_keyword)]
    parameters += [
        griffe.Parameter(each.name, annotation=each.annotation, kind=kind, default=each.value)
        for each in fields
    ]
    return griffe.Function("__init__", parameters=griffe.Parameters(*parameters), returns="None")


def _describe_by_comment(field: griffe.Attribute) -> None:
    if field.docstring is None and field.lineno and isinstance(field.filepath, Path):
        line = field.filepath.read_text().splitlines()[field.lineno - 1]
        if found := COMMENT.search(line):
            field.docstring = griffe.Docstring(found[1], parent=field)
