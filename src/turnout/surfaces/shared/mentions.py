"""Files named in a prompt: `@src/app.py` puts the file's text behind what was said.

Only files of the workspace are read, through the same door as the tools use; a word with
an @ that names no file stays a word.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator

from ...history.ingest.media import sniff_mime
from ...model import Block, Media, Text
from ...tools.confine.file_text import decode_text, is_binary
from ...tools.confine.workspace import WorkspaceFiles

LARGEST = 256 * 1024
LARGEST_MEDIA = 5 * 1024 * 1024
MOST = 20

_MENTION = re.compile(r'(?<![\w@/.])@(?:"([^"\n]+)"|([^\s"@]+))')


def mentioned_words(text: str) -> list[str]:
    """The words after an @, which may be paths: in order, each once."""
    return list(dict.fromkeys(found[1] or found[2] for found in _MENTION.finditer(text)))


def quoted_path(path: str) -> str:
    """The path as it is written after an @."""
    return f'"{path}"' if re.search(r"[\s@]", path) else path


def with_files(text: str, workspace: WorkspaceFiles) -> tuple[Block, ...]:
    """The text, and the files that it mentions."""
    files: dict[str, Block] = {}
    for word in mentioned_words(text)[:MOST]:
        for path, block in _files_named(word, workspace):
            files.setdefault(path, block)
    return (Text(text), *files.values())


def _files_named(word: str, workspace: WorkspaceFiles) -> Iterator[tuple[str, Block]]:
    """The file with this path. Punctuation at the end may belong to the sentence."""
    for path in dict.fromkeys((word, word.rstrip(".,;:!?)'"))):
        try:
            data, _ = workspace.read(path, LARGEST_MEDIA)
        except (OSError, ValueError):
            continue
        yield path, _block_of(path, data)
        return


def _block_of(path: str, data: bytes) -> Block:
    encoded = b64encode(data).decode()
    if (mime := sniff_mime(encoded)) and not mime.startswith("text/"):
        return Media(mime, encoded, name=path)
    if is_binary(data):
        return Text(f"{path} is binary ({len(data):,} bytes) and is not included.")
    text = decode_text(data).text
    if len(text) > LARGEST:
        return Text(f"{path} has {len(text):,} characters, too many to include; read the parts you need.")
    return Text(f"The file {path}:\n\n{text}")
