"""The rules of Anthropic's Messages API.

Only `wire.check` imports this. Shares nothing with the encoder, so that the two can disagree.
"""
