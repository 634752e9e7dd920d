"""Google's generateContent: contents of parts, calls that are answered by position.

Providers import the dialect; `targets` uses the encoder and the decoder. Imports `wire.shared`,
`rendering`, `streaming`, `history`.
"""
