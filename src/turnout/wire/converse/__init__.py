"""Amazon Bedrock's Converse API: one form of messages for the models of many makers.

Providers import the dialect; others find the rest through `wire.protocol`. Imports `wire.anthropic`,
`wire.shared`, `rendering`, `streaming`, `history`.
"""
