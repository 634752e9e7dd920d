"""Anthropic's Messages API: blocks, signed thinking, results at the head of a user message.

Providers import the dialect; `targets` uses the encoder and the decoder. Imports `wire.shared`,
`rendering`, `streaming`, `history`.
"""
