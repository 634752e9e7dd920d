"""The `turnout` command, also as `python -m turnout`.

The command needs an extra (click), so what is said without it is said here, before click is imported.
"""

from __future__ import annotations

import sys

from .surfaces.shared.extras import missing_extra


def main() -> None:
    """Run the command; without its packages, say in one line what to install."""
    try:
        from .surfaces.cli import main as command
    except ModuleNotFoundError as error:
        if not (advice := missing_extra(error)):
            raise
        print(f"turnout: {advice}", file=sys.stderr)
        sys.exit(2)
    command(prog_name="turnout")


if __name__ == "__main__":
    main()
