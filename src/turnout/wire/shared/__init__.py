"""What several protocols need: growing arrays of bytes, schemas, limits, tools on offer, replies as parts.

A helper lives here once three places want the very same thing. Only the protocols of `wire`, `targets` and
`simulate` import it. Imports `history`, `rendering` and the bottom.
"""
