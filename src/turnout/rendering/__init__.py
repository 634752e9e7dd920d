"""The history as one target should read it: provider-neutral messages that are valid.

`transcript` walks the turns and prints each result where its call is. `policy` decides what of another
provider's private state is shown, `report` collects what was changed, `check` judges the messages.

Others import `Transcript`, `Policy` and the report. Imports `history` and the bottom.
"""
