"""Bytes become events, and events become a finished turn. Nothing here knows a provider.

`sse` and `frames` cut bytes into payloads, `tracker` puts calls together from fragments, `reply` builds
the turn. Each machine has two verbs: `feed` and `close`.

The decoders of `wire` are built from these. Imports only the bottom.
"""
