"""OpenAI's Chat Completions, and the many servers that speak it with differences.

The differences of a server are values of `dialect.ChatDialect`. Providers import the dialect; others find
the rest through `wire.protocol`. Imports `wire.shared`, `rendering`, `streaming`, `history`.
"""
