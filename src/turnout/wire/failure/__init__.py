"""Errors of providers: a status, headers and a body become a `ProviderError` of a known kind.

`read_failure` is what others import: it says what happened, whether and when to try again, and which
rule was broken. Imports `wire.shared` and the bottom.
"""
