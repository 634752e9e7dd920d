"""OpenAI's Chat Completions, and the many servers that speak it with differences.

The differences of a server are values of `dialect.ChatDialect`. Providers import the dialect; `targets`
uses the encoder and the decoder. Imports `wire.shared`, `rendering`, `streaming`, `history`.
"""
