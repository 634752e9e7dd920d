"""OpenAI's Responses API: items in place of messages, reasoning that is encrypted.

Providers import the dialect; `targets` uses the encoder and the decoder. Imports `wire.shared`,
`rendering`, `streaming`, `history`.
"""
