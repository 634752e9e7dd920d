"""Conversations that come from elsewhere or go there: other programs' sessions, exports, `doctor`.

`foreign/` reads sessions of other programs, `exports` writes ours for others, `doctor` says what is wrong
with a session and how to resume it. Others import these three. Imports `store`, `targets`, `tools`, `world`
and below.
"""
