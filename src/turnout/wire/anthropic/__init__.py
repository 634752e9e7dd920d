"""Anthropic's Messages API: blocks, signed thinking, results at the head of a user message.

Providers import the dialect; others find the rest through `wire.protocol`. Imports `wire.shared`,
`rendering`, `streaming`, `history`.
"""
