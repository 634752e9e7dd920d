"""Images beyond what a provider takes are named in words; their size is read from the file's first fields."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from turnout import History, Media, Origin, Outcome, Text, ToolCall, check, ingest, render
from turnout.history.codec import dump, load
from turnout.rendering.image_size import ImageLimit, size_of

WIDE = (9_000, 70)


def _big(number: int) -> bytes:
    return number.to_bytes(4, "big")


def png(width: int, height: int, more: int = 0) -> bytes:
    header = b"IHDR" + _big(width) + _big(height) + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + _big(13) + header + bytes(more)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + bytes(20)


def jpeg(width: int, height: int) -> bytes:
    """With a preview before its size, whose bytes look like a size themselves."""
    inner = b"\xff\xc0\x00\x11\x08\x00\x01\x00\x01" + bytes(70_000 // 2)
    preview = b"\xff\xe1" + (len(inner) + 2).to_bytes(2, "big") + inner
    sized = b"\xff\xff\xc2\x00\x11\x08" + height.to_bytes(2, "big") + width.to_bytes(2, "big") + bytes(10)
    return b"\xff\xd8" + preview + sized


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + body + bytes(20)


def extended(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return webp(b"VP8X", bytes(4) + size)


def lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little"))


def lossy(width: int, height: int) -> bytes:
    size = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + size)


FILES = {
    "png": ("image/png", png(*WIDE)),
    "gif": ("image/gif", gif(*WIDE)),
    "jpeg": ("image/jpeg", jpeg(*WIDE)),
    "webp, extended": ("image/webp", extended(*WIDE)),
    "webp, lossless": ("image/webp", lossless(*WIDE)),
    "webp, lossy": ("image/webp", lossy(*WIDE)),
}


def image(mime: str, data: bytes) -> Media:
    return Media(mime, b64encode(data).decode())


def said_to(target: str, shown: Media) -> tuple[dict[str, Any], Any]:
    history = History("s")
    history.user(["look at this", shown])
    request = render(history, target)
    return json.loads(request.body), request


@pytest.mark.parametrize("name", FILES)
def test_the_size_is_read_from_every_kind_of_file(name: str) -> None:
    """Width, then height, wherever the format writes them."""
    assert size_of(image(*FILES[name])) == WIDE


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_breaks_off_is_not_too_large(name: str) -> None:
    """Nor is it an error: where the size is not there, the provider has the last word."""
    mime, data = FILES[name]
    for length in (0, 2, 4, 7):
        assert ImageLimit(edge=8_000, pixels=1_000).excess_of(image(mime, data[:length])) == ""


@pytest.mark.parametrize("name", FILES)
def test_an_image_with_too_many_pixels_is_named(name: str) -> None:
    """Claude refuses more than 8,000 a side, then and on every later turn."""
    body, request = said_to("anthropic:claude-sonnet-4-5", image(*FILES[name]))
    told = json.dumps(body["messages"])
    assert '"image"' not in told and "9000 x 70 pixels" in told and "8000 a side" in told
    assert check("anthropic", body) == []
    assert [item.code for item in request.report.diagnostics] == ["media_replaced"]


@pytest.mark.parametrize(
    ("target", "size"),
    [
        ("anthropic:claude-sonnet-4-5", 4_000_000),
        ("groq:meta-llama/llama-4-scout-17b-16e-instruct", 3_300_000),
        ("mistral:mistral-large-latest", 10_600_000),
    ],
)
def test_an_image_with_too_many_bytes_is_named(target: str, size: int) -> None:
    """The limit counts the base64 that is sent."""
    body, _ = said_to(target, image("image/png", png(10, 10, size)))
    told = json.dumps(body["messages"])
    assert "MB as base64" in told and len(told) < 1_000


def test_an_image_in_a_result_is_named_too() -> None:
    """A screenshot of a whole page must not end the session."""
    source = {"type": "base64", "media_type": "image/png", "data": image("image/png", png(*WIDE)).data}
    held = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "image", "source": source}]}
    call = {"type": "tool_use", "id": "a", "name": "screenshot", "input": {}}
    said = [("user", "look"), ("assistant", [call]), ("user", [held])]
    history = ingest([{"role": role, "content": content} for role, content in said], "anthropic")
    told = render(history, "anthropic:claude-sonnet-4-5").body.decode()
    assert '"image"' not in told and "9000 x 70 pixels" in told


@pytest.mark.parametrize("target", ["openai:gpt-4o", "gemini:gemini-2.5-pro", "anthropic:claude-sonnet-4-5"])
def test_an_image_within_the_limits_is_shown_as_it_is(target: str) -> None:
    """And one that only another provider would refuse is shown as well."""
    shown = image("image/png", png(8_000, 8_000) if target.startswith("anthropic") else png(*WIDE))
    body, request = said_to(target, shown)
    assert shown.data in json.dumps(body) and list(request.report.diagnostics) == []


# Among many

CLAUDE = "anthropic:claude-sonnet-4-5"


def session_of(*sizes: tuple[int, int]) -> History:
    """One image a turn, each answered."""
    history = History("s")
    for width, height in sizes:
        history.user(["look", image("image/png", png(width, height))])
        history.reply(Origin("anthropic", "anthropic", "claude-sonnet-4-5"), [Text("I see.")])
    history.user("and?")
    return history


def sizes_shown(request: Any) -> list[tuple[int, int] | None]:
    blocks = [block for message in request.json["messages"] for block in message["content"]]
    sources = [block["source"] for block in blocks if block["type"] == "image"]
    return [size_of(Media(source["media_type"], source["data"])) for source in sources]


@pytest.mark.parametrize("count", [1, 19, 20, 21, 22, 30, 31, 45, 120])
def test_many_large_images_leave_the_newest(count: int) -> None:
    """With more than 20 images Claude takes 2,000 pixels a side: the oldest give way, ten at a time."""
    sizes = [(2_001 + at, 1_000) for at in range(count)]
    request = render(session_of(*sizes), CLAUDE)
    shown = sizes_shown(request)

    assert check("anthropic", request.json) == []
    assert shown == sizes[count - len(shown) :] and len(shown) in range(min(count, 11), 21)
    named = [line for line in request.report.changes if "more than 20 images" in line]
    assert len(named) == count - len(shown) == len(request.report.diagnostics)


def test_small_images_stay_among_many() -> None:
    """Only those that are too large give way, and as few of them as will do."""
    small, large = (2_000, 2_000), (2_001, 10)

    assert sizes_shown(render(session_of(*[small] * 40), CLAUDE)) == [small] * 40
    assert sizes_shown(render(session_of(large, *[small] * 20), CLAUDE)) == [small] * 20
    few = [large, large, *[small] * 18, large]
    assert sizes_shown(render(session_of(*few), CLAUDE)) == few[1:]


def test_the_last_image_decides_in_a_running_session_too() -> None:
    """What was rendered before is rendered again where it has to be, and comes out as if it were new."""
    growing = History("s")
    for count in range(1, 45):
        growing.user(["look", image("image/png", png(3_000 + count, 10))])
        again = render(growing, CLAUDE)
        growing.reply(Origin("anthropic", "anthropic", "claude-sonnet-4-5"), [Text("I see.")])

        assert check("anthropic", again.json) == []
        assert (3_000 + count, 10) in sizes_shown(again)
    assert render(growing, CLAUDE).body == render(load(dump(growing)), CLAUDE).body


def test_images_in_one_result_count_too() -> None:
    """All of them in one turn: none of the large ones can stay."""
    history = History("s")
    history.user("shoot")
    origin = Origin("anthropic", "anthropic", "claude-sonnet-4-5")
    call = history.reply(origin, [ToolCall("a", "shot")]).tool_calls[0]
    shots = tuple(image("image/png", png(2_500, 10)) for _ in range(21))
    history.settle(call.id, Outcome("complete", shots))
    request = render(history, CLAUDE)

    assert check("anthropic", request.json) == [] and sizes_shown(request) == []
    assert render(history, "openai:gpt-4o").report.changes == render(history, "openai:gpt-4o").changes


def test_an_image_that_is_too_large_is_a_change() -> None:
    """`changes` names it, with its size and the limit."""
    _, request = said_to(CLAUDE, image("image/png", png(*WIDE)))

    assert [line for line in request.report.changes if "9000 x 70 pixels" in line and "8000 a side" in line]
