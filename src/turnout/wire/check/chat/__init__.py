"""The rules of servers that speak Chat Completions, with those of each host in a file of its own.

Only `wire.check` imports this. Shares nothing with the encoder, so that the two can disagree.
"""
