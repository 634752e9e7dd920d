"""Files named in a prompt: `@src/app.py` puts the file's text behind what was said.

Only files of the workspace are read, through the same door as the tools use. A word with an @
that names no file stays a word; if it looks like a path, the user is told.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator

from msgspec import Struct

from ...model import Block, Media, Text
from ...tools.confine.file_text import decode_text, is_binary
from ...tools.confine.workspace import WorkspaceFiles

LARGEST = 256 * 1024
LARGEST_MEDIA = 5 * 1024 * 1024
MOST = 20

_PUNCTUATION = ".,;:!?)'"
_MENTION = re.compile(r'(?<![\w@/.])@(?:"([^"\n]+)"|([^\s"@]+))')


def mentioned_words(text: str) -> list[str]:
    """The words after an @, which may be paths: in order, each once."""
    return list(dict.fromkeys(found[1] or found[2] for found in _MENTION.finditer(text)))


def quoted_path(path: str) -> str:
    """The path as it is written after an @."""
    return f'"{path}"' if re.search(r"[\s@]", path) else path


class AttachedFiles(Struct, frozen=True):
    """The files that a text mentions: what is sent of each, and what the user should know."""

    blocks: tuple[Block, ...] = ()
    paths: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """One line for each file that is attached, and for each that is not there."""
        files = zip(self.paths, self.blocks, strict=True)
        sizes = [f"attached {path} ({_size_of(block)})" for path, block in files]
        return [*sizes, *(f"@{word}: there is no such file in this folder" for word in self.missing)]


def attached_files(text: str, workspace: WorkspaceFiles) -> AttachedFiles:
    """The files that a text mentions with an @."""
    files: dict[str, Block] = {}
    missing: list[str] = []
    for word in mentioned_words(text)[:MOST] if workspace is not None else ():
        found = list(_files_named(word, workspace))
        files |= {path: block for path, block in found if path not in files}
        if not found and _looks_like_file(word):
            missing.append(word.rstrip(_PUNCTUATION))
    return AttachedFiles(tuple(files.values()), tuple(files), tuple(missing))


def with_files(text: str, workspace: WorkspaceFiles) -> tuple[Block, ...]:
    """The text, and the files that it mentions."""
    return (Text(text), *attached_files(text, workspace).blocks)


def _looks_like_file(word: str) -> bool:
    """`@app.py` and `@src/app` are meant as files; `@property` and `@anna` may be something else."""
    return re.search(r"/|\.\w", word.rstrip(_PUNCTUATION)) is not None


def _files_named(word: str, workspace: WorkspaceFiles) -> Iterator[tuple[str, Block]]:
    """The file with this path. Punctuation at the end may belong to the sentence."""
    for path in dict.fromkeys((word, word.rstrip(_PUNCTUATION))):
        try:
            data, _ = workspace.read(path, LARGEST_MEDIA)
        except (OSError, ValueError):
            continue
        yield path, _block_of(path, data)
        return


def _size_of(block: Block) -> str:
    if isinstance(block, Media):
        return block.mime
    text = block.text if isinstance(block, Text) else ""
    if not text.startswith("The file "):
        return "not included: too large or binary"
    lines = text.partition("\n\n")[2].count("\n")
    return f"{lines:,} {'line' if lines == 1 else 'lines'}"


def _block_of(path: str, data: bytes) -> Block:
    from ...history.ingest.media import sniff_mime  # with the readers of every format

    encoded = b64encode(data).decode()
    if (mime := sniff_mime(encoded)) and not mime.startswith("text/"):
        return Media(mime, encoded, name=path)
    if is_binary(data):
        return Text(f"{path} is binary ({len(data):,} bytes) and is not included.")
    text = decode_text(data).text
    if len(text) > LARGEST:
        return Text(f"{path} has {len(text):,} characters, too many to include; read the parts you need.")
    return Text(f"The file {path}:\n\n{text}")
