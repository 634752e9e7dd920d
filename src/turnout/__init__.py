"""turnout: conversations with tools that change provider at any turn and go on.

`public.py` lists the public names. Each is loaded when it is first used: `import turnout` costs nothing.
"""

from __future__ import annotations

__version__ = "0.2.0"

TYPE_CHECKING = False  # `typing` is most of what a bare import would cost; checkers know this name

if TYPE_CHECKING:
    from .public import *  # noqa: F403
else:
    # Checkers must not see `__getattr__`: it would make every misspelt name of turnout an `Any`.
    def __getattr__(name: str) -> object:
        from .lazy_names import load_public

        found = globals()[name] = load_public(name)
        return found

    def __dir__() -> list[str]:
        from .lazy_names import listed_names

        return listed_names()
