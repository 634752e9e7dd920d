"""Ollama's own chat: one JSON object a line, objects as arguments, images beside the text.

Others find it through `wire.protocol`. Imports `wire.chat`, `wire.shared`, `streaming` and the bottom.
"""
