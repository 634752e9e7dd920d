"""What several protocols need: growing arrays of bytes, schemas, limits, tools on offer.

A helper lives here once three places want the very same thing. Only the protocols of `wire`, and
`targets`, import it. Imports `history`, `rendering` and the bottom.
"""
