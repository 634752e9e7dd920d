"""The rules of Ollama's own chat.

Only `wire.check` imports this. Shares nothing with the encoder, so that the two can disagree.
"""
