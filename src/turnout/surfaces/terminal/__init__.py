"""The interactive program: a screen that is fed events, and thin edges that show it.

`talk` is the conversation, `screen` what is shown, `question_line` how a question is answered, `commands*`
the slash commands. Only `surfaces.cli` imports this. Imports `surfaces.cli` for what both show.
"""
