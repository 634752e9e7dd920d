"""Blocks of pages that are made from code: between two comments stands what a function gives.

<!-- made: provider kimi -->
… written by `python -m handbook` …
<!-- end -->
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from .client_setup import client_block
from .layers_picture import draw_layers_picture
from .problem_picture import draw_problem_picture
from .prompt_picture import draw_prompt_picture
from .provider_facts import facts_table, provider_table
from .site_pages import DOCS

BLOCK = re.compile(r"(<!-- made: (\w+) ?(\S*) -->\n).*?(<!-- end -->)", re.DOTALL)

MAKERS: dict[str, Callable[[str], str]] = {
    "provider": facts_table,
    "providers": lambda _: provider_table(),
    "client": client_block,
}
PICTURES: dict[str, Callable[[], str]] = {
    "layers.svg": draw_layers_picture,
    "problem.svg": draw_problem_picture,
    "prompt.svg": draw_prompt_picture,
}


def made_files() -> Iterator[tuple[Path, str]]:
    """Each file that holds something made, as it should be."""
    for page in sorted(DOCS.rglob("*.md")):
        if "<!-- made: " in (text := page.read_text()):
            yield page, with_blocks_made(text)
    for name, draw in PICTURES.items():
        yield DOCS / "pictures" / name, draw()


def with_blocks_made(text: str) -> str:
    """A page with each of its blocks written anew."""
    return BLOCK.sub(lambda found: f"{found[1]}\n{MAKERS[found[2]](found[3])}\n{found[4]}", text)


def blocks_in(page: Path) -> list[tuple[str, str]]:
    """The kind and the subject of each block of a page."""
    return [(kind, subject) for _, kind, subject, _ in BLOCK.findall(page.read_text())]
