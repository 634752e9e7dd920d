"""The rules of Google's generateContent.

Only `wire.check` imports this. Shares nothing with the encoder, so that the two can disagree.
"""
