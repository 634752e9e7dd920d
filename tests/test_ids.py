"""Ids and names: one canonical id inward, one projection outward for each target."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from turnout.ids import (
    ANTHROPIC_NAMES,
    FORMATS,
    GEMINI_NAMES,
    KIMI_NAMES,
    OPENAI_NAMES,
    IdProjection,
    NameFormat,
    call_id,
    format_name,
    is_canonical,
)

ID = call_id("openai", "call_1", "read", "h.2", 0)
SHAPES = {
    "bedrock": r"tooluse_[A-Za-z0-9_-]{1,56}",
    "openai": r"call_[\w-]{24}",
    "cohere": r"call_[\w-]{24}",
    "anthropic": r"toolu_[\w-]{24}",
    "gemini": r"[\w-]{24}",
    "kimi": r"functions\.read:\d+",
    "mistral": r"[a-zA-Z0-9]{9}",
}


def test_a_canonical_id_stays_what_it_was() -> None:
    """Stored sessions hold it: it may never change between versions."""
    assert "hist_tool_" + ID[10:] == ID and len(ID) == 34 and is_canonical(ID)
    assert call_id("openai", "call_1", "read", "h.2", 0) == ID
    assert call_id("kimi", "", "", "t", 3) == "hist_tool_naKXimgUy3rcOVwdfMFPiAjf"


@pytest.mark.parametrize("changed", [0, 1, 2, 3, 4])
def test_all_five_parts_name_a_call(changed: int) -> None:
    """Another provider, raw id, tool name, turn or index gives another canonical id."""
    parts = ["openai", "call_1", "read", "h.2", 0]
    parts[changed] = 1 if changed == 4 else "other"
    assert call_id(*parts) != ID  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "hist_tool_", "call_1", "hist_tool_a b", "hist_tool_" + "x" * 33, f"{ID} "]
)
def test_what_is_not_canonical(text: str) -> None:
    """Only the prefix with an id of the right letters and length counts, without spaces around it."""
    assert not is_canonical(text)


def test_any_text_can_be_part_of_an_id() -> None:
    """Also half of a character, which UTF-8 refuses."""
    assert is_canonical(call_id("openai", "\ud800", "x", "h.1", 0))


@pytest.mark.parametrize("name", FORMATS)
def test_candidates_have_their_targets_shape_and_never_end(name: str) -> None:
    """The first depends on nothing but the call; each further one is another."""
    found = list(islice(iter(FORMATS[name](ID, "read", 7)), 40))
    assert len(set(found)) == 40
    assert all(re.fullmatch(SHAPES[name], each) for each in found)
    assert found == list(islice(iter(FORMATS[name](ID, "read", 7)), 40))


def test_first_candidates_are_told_by_the_id() -> None:
    """They stay what they were: a provider's cache knows them."""
    assert next(iter(FORMATS["openai"](ID, "read", 0))) == f"call_{ID[10:]}"
    assert next(iter(FORMATS["anthropic"](ID, "read", 0))) == f"toolu_{ID[10:]}"
    assert next(iter(FORMATS["gemini"](ID, "read", 0))) == ID[10:]
    assert list(islice(iter(FORMATS["kimi"](ID, "read", 3)), 2)) == ["functions.read:3", "functions.read:4"]
    assert next(iter(FORMATS["openai"]("not canonical", "read", 0))) != "call_not canonical"
    assert list(islice(iter(FORMATS["openai"](ID, "read", 0)), 3)) == [
        "call_eC1FY7rKXRnZJHmdxV79AZhF",
        "call_ZRlg6_BhIlTf7EdxplT3IJ5H",
        "call_4gpcR58FaiLwz72rQmdYMHq0",
    ]
    assert list(islice(iter(FORMATS["mistral"](ID, "read", 0)), 3)) == ["6KQzBRojr", "itYVZRq1r", "fj6C9EgSx"]


def test_a_provider_without_a_format_speaks_openais() -> None:
    """`vertex` uses the id format of Gemini and `moonshot` that of Kimi; unknown names use OpenAI's."""
    assert [format_name(name) for name in ("vertex", "moonshot", "mistral", "anything")] == [
        "gemini",
        "kimi",
        "mistral",
        "openai",
    ]


# Projections


@pytest.mark.parametrize("name", FORMATS)
def test_a_projection_is_paired_injective_and_stable(name: str) -> None:
    """The same call gets the same id whenever it is asked for, and no two share one."""
    projection = IdProjection(FORMATS[name])
    calls = [call_id("openai", "x", "read", f"h.{at}", 0) for at in range(50)]
    first = [projection.add(call, "read") for call in calls]
    assert len(set(first)) == 50
    assert [projection.add(call, "read") for call in calls] == first
    assert projection.as_dict() == dict(zip(calls, first, strict=True))
    assert calls[0] in projection and "nobody" not in projection and projection[calls[1]] == first[1]


def test_a_targets_own_id_is_preferred_unless_it_is_taken() -> None:
    """A second call with the same id of the provider gets a projected one, as does a call without one."""
    projection = IdProjection(FORMATS["gemini"])
    assert projection.add("hist_tool_a", "read", "own") == "own"
    assert projection.add("hist_tool_b", "read", "own") == "b"
    assert projection.add("hist_tool_c", "read", "") == "c"


def test_kimi_counts_calls_over_the_conversation() -> None:
    """Also past a number that a name was given before."""
    projection = IdProjection(FORMATS["kimi"])
    given = [projection.add(f"hist_tool_{at}", name) for at, name in enumerate(["read", "list", "read"])]
    assert given == ["functions.read:0", "functions.list:1", "functions.read:2"]
    taken = IdProjection(FORMATS["kimi"])
    taken.add("hist_tool_x", "read", "functions.read:1")
    assert taken.add("hist_tool_y", "read") == "functions.read:2"


# Names


@pytest.mark.parametrize(
    ("form", "name", "accepted"),
    [
        (OPENAI_NAMES, "read_file-2", True),
        (OPENAI_NAMES, "x" * 64, True),
        (OPENAI_NAMES, "x" * 65, False),
        (OPENAI_NAMES, "read.file", False),
        (OPENAI_NAMES, "", False),
        (OPENAI_NAMES, "1st", True),
        (ANTHROPIC_NAMES, "x" * 128, True),
        (ANTHROPIC_NAMES, "x" * 129, False),
        (GEMINI_NAMES, "a.b:c-d", True),
        (GEMINI_NAMES, "1st", False),
        (KIMI_NAMES, "_x", True),
        (KIMI_NAMES, "1st", False),
        (KIMI_NAMES, "-x", False),
    ],
)
def test_which_names_a_provider_takes(form: NameFormat, name: str, accepted: bool) -> None:
    """A name that is taken is kept as it is; another one becomes one that is taken."""
    assert form.accepts(name) is accepted
    assert (form.project(name) == name) is accepted
    assert form.accepts(form.project(name))


def test_a_projected_name_tells_which_it_was() -> None:
    """As much of the name as there is room for, and eight digits of its hash."""
    assert re.fullmatch(r"read_file_[0-9a-f]{8}", OPENAI_NAMES.project("read file"))
    assert re.fullmatch(r"x{54}_[0-9a-f]{8}", OPENAI_NAMES.project("x" * 70))
    assert re.fullmatch(r"tool_[0-9a-f]{8}", OPENAI_NAMES.project(""))
    assert re.fullmatch(r"_1_st_[0-9a-f]{8}", GEMINI_NAMES.project("1 st"))
    assert re.fullmatch(r"t1st_[0-9a-f]{8}", KIMI_NAMES.project("1st"))
    assert re.fullmatch(r"t__x_[0-9a-f]{8}", KIMI_NAMES.project("-_x"))
    assert re.fullmatch(r"__x_[0-9a-f]{8}", GEMINI_NAMES.project("_ x")) is not None
    assert OPENAI_NAMES.project("a b") != OPENAI_NAMES.project("a.b")
    assert OPENAI_NAMES.project("\ud800") == OPENAI_NAMES.project("\ud800")


def test_names_that_are_declared_together_differ() -> None:
    """One that needs no projection keeps its name, wherever it stands among them."""
    projection = IdProjection(FORMATS["openai"])
    twin = OPENAI_NAMES.project("read file")
    names = projection.tool_names(["read file", "list", twin])
    assert names[twin] == twin and names["list"] == "list"
    assert len(set(names.values())) == 3 and all(map(OPENAI_NAMES.accepts, names.values()))
    assert projection.tool_names(["list", "list"]) == {"list": "list"}
    salted = OPENAI_NAMES.project("read file#1")
    assert names["read file"] == salted
    again = projection.tool_names(["read file", twin, salted])
    assert again["read file"] == OPENAI_NAMES.project("read file#2") and len(set(again.values())) == 3
