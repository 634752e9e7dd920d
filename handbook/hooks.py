"""What mkdocs is told beyond `mkdocs.yml`: pages from the root of the repository, and lists by folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from handbook.name_list import name_table
from handbook.site_pages import DOCS, FOLDER_LISTS, ROOT, ROOT_PAGES, pages_of_folder

ALL_NAMES = re.compile(r"<!-- all public names:.*?-->")
REMOTE_SCRIPT = re.compile(r'"https?://[^"]*\.js"|"https?://unpkg[^"]*"')


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List what has a page for each file, so that a new file needs no line in `mkdocs.yml`."""
    config.nav = _with_folders_listed(config.nav)
    return config


def _with_folders_listed(nav: Any) -> Any:
    if isinstance(nav, dict):
        return {title: _with_folders_listed(below) for title, below in nav.items()}
    if isinstance(nav, list):
        return [made for entry in nav for made in _entries(entry)]
    return nav


def _entries(entry: Any) -> list[Any]:
    if isinstance(entry, str) and entry in FOLDER_LISTS:
        return list(pages_of_folder(FOLDER_LISTS[entry]))
    return [_with_folders_listed(entry)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from the root of the repository."""
    for page, source in ROOT_PAGES.items():
        text = (ROOT / source).read_text().replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Write the table of all public names; it changes with every docstring, so it is not kept in a file."""
    return ALL_NAMES.sub(lambda _: name_table(DOCS / "reference"), markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Take out the addresses from which the theme's scripts would load other scripts.

    Material loads Mermaid, and a shim for pages that are opened as files, from a public server when a page
    needs them. Ours never do, and a built site must not be able to ask anyone.
    """
    for script in Path(config.site_dir, "assets", "javascripts").rglob("*.js"):
        text = script.read_text()
        script.write_text(REMOTE_SCRIPT.sub('"about:blank"', text))
