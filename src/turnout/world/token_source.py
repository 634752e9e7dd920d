"""A source of keys whose tokens end, as an interface."""

from __future__ import annotations


class TokenSource:
    """A source that knows how long its token is valid. It is asked before every request."""

    async def current_token(self) -> str:
        """The token to send now; it is renewed first where that is due."""
        raise NotImplementedError

    def note_refused(self, token: str) -> bool:
        """A server refused this token: whether asking again may give another one."""
        raise NotImplementedError
