"""What a request asks for and its own API refuses, left out of a request that is to be accepted.

Fields that only one API has go back to it as they were written, without being understood. Where
the checker says that such a field would be refused, it is left out and the report says so.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from ..wire.added_fields import private_fields, without_private_field, without_spelling
from ..wire.options import Options
from ..wire.protocol import WireRequest

USUAL = Options()


def without_refused_fields(
    options: Options, request: WireRequest, chosen: Collection[str]
) -> tuple[Options, list[str]]:
    """The options but for those that the target refuses in this request, and a line for each of them.

    What the caller chose in so many words (`chosen`) stays.
    """
    from ..wire.check import check  # loads a validator of schemas, which nobody else who renders needs

    problems = check(str(request.target), request)
    answers = {_folded(problem.path.partition(".")[0]): problem for problem in problems}
    lines: list[str] = []
    for name in [*private_fields(options), *{**options}]:
        if name in chosen or (problem := answers.get(_folded(name))) is None:
            continue
        lines.append(f"{problem.rule} {name} left out: {problem.answer}")
        options = without_private_field(options, name)
        if name in Options.__struct_fields__:
            options = without_spelling(replace(options, **{name: getattr(USUAL, name)}), [name])
    return options, lines


def _folded(name: str) -> str:
    return name.replace("_", "").lower()
