"""Google's generateContent: contents of parts, calls that are answered by position.

Providers import the dialect; others find the rest through `wire.protocol`. Imports `wire.shared`,
`rendering`, `streaming`, `history`.
"""
