"""The rules of OpenAI's Responses API.

Only `wire.check` imports this. Shares nothing with the encoder, so that the two can disagree.
"""
