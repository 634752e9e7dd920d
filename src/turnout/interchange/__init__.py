"""Conversations from and for other programs: their sessions in, exports out, and `doctor`.

`foreign/` reads sessions of other programs, `exports` writes ours for others, `doctor` says what is wrong
with a session and how to resume it. Others import these three. Imports `store`, `targets`, `tools`, `world`
and below.
"""
