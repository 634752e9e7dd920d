"""What a user sees before a server is trusted, and what changed since they last looked.

Everything that a model will read is shown in full, descriptions and schemas: there a hostile server
puts its instructions. Invisible characters are spelled out. A review is bound to what it shows, so
agreeing to it trusts that and nothing that changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..policy.visible import visible
from .config import McpServer, is_secret, references, without_password
from .offering import tool_name
from .pins import Launch, OfferedTool, Pin, ServerOffer, repeated_names

Stage = Literal["launch", "tools"]


class Review(Struct, frozen=True):
    """What to agree to: that a command is started (`launch`), or that its tools are used (`tools`).

    `changes` says what differs from what was trusted before, and is empty the first time.
    """

    server: str
    stage: Stage
    text: str
    changes: tuple[str, ...]
    pin: Pin
    first: bool = True


def review_launch(server: McpServer, known: Pin | None) -> Review:
    """Before anything is started: what would be started."""
    launch = Launch.of(server)
    changes = tuple(_launch_changes(known.launch, launch)) if known else ()
    text = "\n".join(_described_launch(server))
    pin = Pin.of(launch, known.offer if known else None)  # tools that were trusted stay trusted
    return Review(server.name, "launch", text, changes, pin, first=known is None)


def review_tools(server: McpServer, offer: ServerOffer, known: Pin | None) -> Review:
    """Once the server runs: everything that it offers."""
    before = known.offer if known else None
    changes = tuple(_offer_changes(before, offer)) if before else ()
    text = "\n".join([*_described_launch(server), "", *_described_offer(server, offer)])
    return Review(server.name, "tools", text, changes, Pin.of(Launch.of(server), offer), first=before is None)


# In full


def _described_launch(server: McpServer) -> Iterator[str]:
    yield visible(f"MCP server {server.name}" + (f", named in {server.source}" if server.source else ""))
    if server.url:
        yield visible(f"  is reached at {without_password(server.url)}")
        if server.url.startswith("http://") and not _is_local(server.url):
            yield "  without encryption: others on the way can read and change everything"
        yield from (f"  header {visible(_variable_in_words(*each))}" for each in server.headers.items())
    else:
        yield f"  runs {visible(msgspec.json.encode([server.command, *server.args]).decode())}"
        yield from ([f"  in {visible(server.cwd)}"] if server.cwd else [])
        yield from (f"  with {visible(_variable_in_words(*each))}" for each in server.env.items())
    if names := references(server):
        yield f"  is given from your environment: {', '.join(names)}"


def _variable_in_words(name: str, value: str) -> str:
    """A variable or header; a value that may be a secret is not shown, a reference to one is."""
    return f"{name}=(not shown)" if is_secret(name) and not value.startswith("${") else f"{name}={value}"


def _is_local(url: str) -> bool:
    host = url.removeprefix("http://").partition("/")[0].rpartition("@")[2]
    return host.startswith(("127.", "localhost", "[::1]"))


def _described_offer(server: McpServer, offer: ServerOffer) -> Iterator[str]:
    yield visible(f"It calls itself {offer.name or 'nothing'} {offer.version}".rstrip())
    yield from (
        visible(f"It gives the name {name} to more than one tool") for name in repeated_names(offer.tools)
    )
    yield f"{len(offer.tools)} tools:"
    for tool in offer.tools:
        yield ""
        yield from _described_tool(server.name, tool)


def _described_tool(server: str, tool: OfferedTool) -> Iterator[str]:
    asked = "says that it only reads; runs without asking" if tool.reads_only else "is asked for"
    beyond = "" if tool.stays_inside else "; may reach other machines"
    yield f"{tool_name(server, tool.name)} ({asked}{beyond})"
    yield from _indent_lines(_lines(tool))


def _lines(tool: OfferedTool) -> list[str]:
    """A tool as lines of text: what is shown, and what is compared."""
    found = [visible(f"name: {tool.name}")]
    found += [visible(f"title: {tool.title}")] if tool.title else []
    found += visible(tool.description or "(no description)").split("\n")
    found += ["parameters:", *_json(tool.parameters)]
    found += ["output:", *_json(tool.output)] if tool.output is not None else []
    found += ["hints:", *_json(tool.hints)] if tool.hints else []
    return found


def _json(value: Any) -> list[str]:
    lines = msgspec.json.format(msgspec.json.encode(value, order="sorted")).decode().split("\n")
    depths = [len(line) - len(line.lstrip(" ")) for line in lines]
    return [f"  {line[:depth]}{visible(line[depth:])}" for line, depth in zip(lines, depths, strict=True)]


def _indent_lines(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


# What changed


def _launch_changes(old: Launch, new: Launch) -> Iterator[str]:
    for name in ("command", "cwd"):
        if (before := getattr(old, name)) != (after := getattr(new, name)):
            yield visible(f"{name}: {before or '(none)'} -> {after or '(none)'}")
    if old.url != new.url:
        yield visible(
            f"url: {without_password(old.url) or '(none)'} -> {without_password(new.url) or '(none)'}"
        )
    yield from _list_changes("argument", old.args, new.args)
    yield from _list_changes("header", old.headers, new.headers)
    yield from _list_changes("variable", sorted(old.env), sorted(new.env))
    for name in sorted(set(old.env) & set(new.env)):
        if old.env[name] != new.env[name]:
            yield visible(f"variable {name}: its value changed")


def _list_changes(kind: str, old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    return (f"{sign} {kind} {visible(word)}" for sign, word in _difference([*old], [*new]))


def _offer_changes(old: ServerOffer, new: ServerOffer) -> Iterator[str]:
    for name in ("name", "version"):
        if (before := getattr(old, name)) != (after := getattr(new, name)):
            yield visible(f"server {name}: {before or '(none)'} -> {after or '(none)'}")
    then, now = _by_name(old), _by_name(new)
    for name in sorted(then.keys() | now.keys()):
        before, after = then.get(name, []), now.get(name, [])
        if before != after:
            verb = "changed" if before and after else "added" if after else "removed"
            yield visible(f"tool {name} {verb}:")
            yield from (f"    {sign} {line}" for sign, line in _difference(before, after))


def _by_name(offer: ServerOffer) -> dict[str, list[str]]:
    """The lines of each tool; tools of one name follow each other."""
    found: dict[str, list[str]] = {}
    for tool in offer.tools:
        found.setdefault(tool.name, []).extend(_lines(tool))
    return found


def _difference(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    """The removed and added lines."""
    for line in [*unified_diff(old, new, lineterm="", n=0)][2:]:
        if not line.startswith("@@"):
            yield line[0], line[1:]
