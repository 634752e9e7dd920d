"""Ollama's own replies: JSON lines, read by a decoder. Requests go through its Chat API.

Others find it through `wire.protocol`. Imports `wire.chat`, `wire.shared`, `streaming` and the bottom.
"""
