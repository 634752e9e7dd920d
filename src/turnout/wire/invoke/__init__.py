"""Bedrock's InvokeModel for Claude: Anthropic's body, and Anthropic's events inside an AWS event stream.

Providers import the dialect; others find the rest through `wire.protocol`. Imports `wire.anthropic`,
`wire.shared`, `streaming` and the bottom.
"""
