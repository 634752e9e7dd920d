"""The rules of Cohere's Chat, version 2.

Only `wire.check` imports this. Shares nothing with the encoder, so that the two can disagree.
"""
