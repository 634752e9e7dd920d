"""Ollama's own replies: JSON lines, read by a decoder. Requests go through its Chat API.

`targets` uses the decoder. Imports `streaming` and the bottom.
"""
