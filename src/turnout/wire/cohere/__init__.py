"""Cohere's Chat, version 2: messages as in OpenAI's Chat, with a plan beside the calls and citations.

Others find it through `wire.protocol`. Imports `wire.shared`, `streaming` and the bottom.
"""
