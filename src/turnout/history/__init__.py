"""The conversation as an append-only log, and what follows from it.

`log.History` is the only writer. `ledger` and `state` follow from the entries, `codec` writes and reads
them, `check` compares them with a second computation (`reference_state`), and `ingest/` turns message
lists of other programs into entries.

Others import `History` from `log`, the codec, and `ingest`. Imports only the modules at the bottom
(`model`, `plain`, `ids`, `errors`, `diagnostic`, `declarations`).
"""
