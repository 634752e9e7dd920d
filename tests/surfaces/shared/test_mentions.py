"""Files that a prompt mentions."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

from turnout.model import Media, Text
from turnout.surfaces.shared.mentions import mentioned_words, with_files
from turnout.tools.confine.workspace import WorkspaceFiles

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_mentions_are_words_that_name_files(tmp_path: Path) -> None:
    """Words after an @ are paths; text and images in the workspace are included, nothing else."""
    (tmp_path / "a b.txt").write_text("spaced")
    (tmp_path / "x.py").write_text("code")
    (tmp_path / "dot.png").write_bytes(PNG)
    (tmp_path / "raw").write_bytes(b"\0\1\2")
    said = 'see @x.py, @"a b.txt", @dot.png and @raw; mail me@x.py, @nobody, @../secret @x.py'
    assert mentioned_words(said) == ["x.py,", "a b.txt", "dot.png", "raw;", "nobody,", "../secret", "x.py"]

    with WorkspaceFiles(tmp_path) as workspace:
        words, *files = with_files(said, workspace)

    assert words == Text(said)
    assert [block.text.partition(":")[0] for block in files if isinstance(block, Text)] == [
        "The file x.py",
        "The file a b.txt",
        "raw is binary (3 bytes) and is not included.",
    ]
    assert [block.mime for block in files if isinstance(block, Media)] == ["image/png"]
