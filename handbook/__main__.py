"""Write every part of the docs that is made from code."""

from __future__ import annotations

from .made_blocks import made_files
from .site_pages import ROOT

for path, text in made_files():
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")
