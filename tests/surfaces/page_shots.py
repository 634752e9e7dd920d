"""Pictures of the pages, light and dark, phone and screen: python -m tests.surfaces.page_shots FOLDER

A real browser looks at a store as a user has it after a week. The pictures are kept in `docs/guide/pages`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from tests.surfaces.pages.chromium import Tab, chromium_path, running_chromium
from tests.surfaces.pages.gallery import fill_gallery, viewing
from tests.surfaces.pages.shown import shown

WIDTHS = (380, 1280)
HEIGHT = 1000
PAGES = {
    "sessions": "/sessions",
    "conversation": "/sessions/repair",
    "as-another-provider": "/sessions/repair/as/gemini:gemini-2.5-pro",
    "requests": "/requests",
    "request": "/requests/req_000067",
    "numbers": "/numbers?days=3650",
    "waiting": "/waiting",
}


def main(folder: Path) -> None:
    os.environ["TZ"] = "UTC"  # the same picture on every machine
    time.tzset()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, shown(Path(place)) as made, running_chromium() as browser:
        fill_gallery(made)
        with viewing(made) as base:
            for scheme in ("light", "dark"):
                tab = Tab(browser, dark=scheme == "dark")
                tab.open(f"{base}/?once={made.pages.sign_in.make_link()}")
                for width in WIDTHS:
                    tab.resize(width, HEIGHT)
                    for name, url in PAGES.items():
                        tab.open(base + url)
                        tab.wait_until("[...document.images].every((each) => each.complete)")
                        tab.picture(folder / f"{name}-{width}-{scheme}.webp", HEIGHT)
                        print(folder / f"{name}-{width}-{scheme}.webp")


if __name__ == "__main__":
    if chromium_path() is None:
        sys.exit("make shots needs chromium for the pages; install it, and run this again")
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/guide/pages"))
