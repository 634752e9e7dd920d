"""The history as one target should read it: provider-neutral messages that are valid.

`transcript` walks the turns and writes each result after its call. `policy` decides what a reader sees of
each block, `report` collects what was changed, `check` judges the messages.

Others import `Transcript`, `Reader` and the report. Imports `history` and the bottom.
"""
