"""What differs between a request that was sent and what a test expects of it, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..parameters import check_names
from ..plain import dumps

if TYPE_CHECKING:
    from .sent_request import SentRequest

SHOWN = 200
Compare = Callable[["SentRequest", Any], Iterator[str]]


def differences_of(sent: SentRequest | None, expected: Mapping[str, Any]) -> list[str]:
    """One line for each difference; empty where the request is as expected."""
    check_names("check()", "expectation", expected, tuple(EXPECTED))
    if sent is None:
        return []
    return [f"  {name}: {line}" for name, want in expected.items() for line in EXPECTED[name](sent, want)]


def _compare_target(sent: SentRequest, want: str) -> Iterator[str]:
    if want not in (sent.provider, sent.target):
        yield f"expected {want}, sent to {sent.target}"


def _compare_text(part_of: Callable[[SentRequest], str]) -> Compare:
    def compare_part(sent: SentRequest, want: str) -> Iterator[str]:
        text = part_of(sent)
        if want not in text:
            yield f"expected a text with {want!r}, sent {_excerpt(text)!r}"

    return compare_part


def _compare_tools(sent: SentRequest, want: Iterable[str]) -> Iterator[str]:
    wanted = set(want)
    if missing := wanted - set(sent.tools):
        yield f"not offered: {_list(missing)}; offered are {_list(sent.tools)}"
    if extra := set(sent.tools) - wanted:
        yield f"offered, but not expected: {_list(extra)}"


def _compare_calls(sent: SentRequest, want: Iterable[str]) -> Iterator[str]:
    called = [call.name for call in sent.calls]
    if called != list(want):
        yield f"expected calls of {_list(want)}; the conversation has {_list(called)}"


def _compare_results(sent: SentRequest, want: Mapping[str, str]) -> Iterator[str]:
    for name, part in want.items():
        if name not in sent.results:
            yield f"expected a result of {name}; there are results of {_list(sent.results)}"
        elif part not in sent.results[name]:
            yield f"expected a result of {name} with {part!r}, sent {_excerpt(sent.results[name])!r}"


def _compare_headers(sent: SentRequest, want: Mapping[str, str | None]) -> Iterator[str]:
    for name, value in want.items():
        found = sent.headers.get(name.lower())
        if found != value:
            yield f"{name}: expected {value!r}, sent {found!r}"


def _compare_body(sent: SentRequest, want: Any) -> Iterator[str]:
    yield from partial_differences(want, sent.body, "")


def partial_differences(want: Any, found: Any, place: str) -> Iterator[str]:
    """Where JSON lacks a part that is expected. Objects may have more fields; lists are compared whole."""
    match want, found:
        case Mapping(), Mapping():
            for name, value in want.items():
                below = f"{place}.{name}" if place else str(name)
                if name in found:
                    yield from partial_differences(value, found[name], below)
                else:
                    yield f"{below}: expected {_excerpt(dumps(value))}, not sent"
        case list() | tuple(), list() if len(want) == len(found):
            for at, (left, right) in enumerate(zip(want, found, strict=True)):
                yield from partial_differences(left, right, f"{place}[{at}]")
        case _ if want != found:
            yield f"{place or 'the body'}: expected {_excerpt(dumps(want))}, sent {_excerpt(dumps(found))}"


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _excerpt(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"


EXPECTED: dict[str, Compare] = {
    "target": _compare_target,
    "url": _compare_text(lambda sent: sent.url),
    "system": _compare_text(lambda sent: sent.system),
    "user": _compare_text(lambda sent: sent.user),
    "text": _compare_text(lambda sent: "\n".join(sent.conversation)),
    "tools": _compare_tools,
    "calls": _compare_calls,
    "results": _compare_results,
    "headers": _compare_headers,
    "body": _compare_body,
}
"""What `check` compares, by the name of the expectation."""
