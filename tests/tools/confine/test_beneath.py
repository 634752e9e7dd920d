"""Both ways to open a path beneath a folder keep the same rules."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnout.tools.confine.beneath import (
    Opener,
    PathRefused,
    best_opener,
    by_kernel,
    step_by_step,
    whereabouts,
)

OPENERS = [by_kernel, step_by_step]


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "root/folder").mkdir(parents=True)
    (tmp_path / "root/folder/file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    (tmp_path / "root/link").symlink_to("folder/file")
    (tmp_path / "root/out").symlink_to("../secret")
    (tmp_path / "root/absolute").symlink_to(tmp_path / "root/folder/file")
    (tmp_path / "root/circle").symlink_to("circle")
    descriptor = os.open(tmp_path / "root", os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def read(opener: Opener, root: int, path: str) -> str:
    with os.fdopen(opener(root, path, os.O_RDONLY, 0)) as file:
        return file.read()


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("path", ["folder/file", "./folder//file", "folder/../folder/file", "link"])
def test_what_stays_beneath_is_opened(opener: Opener, path: str, root: int) -> None:
    """Links and `..` are followed while they stay inside."""
    assert read(opener, root, path) == "inside"


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("path", ["../secret", "out", "absolute", "/etc/passwd", "folder/../../secret"])
def test_what_leads_out_is_refused(opener: Opener, path: str, root: int) -> None:
    """An absolute link is refused too, even if it points back inside."""
    with pytest.raises(PathRefused, match="leads out of the workspace"):
        read(opener, root, path)


@pytest.mark.parametrize("opener", OPENERS)
def test_a_circle_of_links_ends(opener: Opener, root: int) -> None:
    """With the error of the system."""
    with pytest.raises(OSError, match="symbolic links"):
        read(opener, root, "circle")


def test_the_kernel_is_used_where_it_can_be(root: int, tmp_path: Path) -> None:
    """And it knows where an open file is."""
    assert best_opener(root) in OPENERS
    assert whereabouts(root) == os.path.realpath(tmp_path / "root")
