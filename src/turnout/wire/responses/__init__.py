"""OpenAI's Responses API: items in place of messages, reasoning that is encrypted.

Providers import the dialect; others find the rest through `wire.protocol`. Imports `wire.shared`,
`rendering`, `streaming`, `history`.
"""
