"""The interactive program: a screen that is fed events, and thin edges that show it.

`start` opens it, `talk` is the conversation, `screen` what is shown, `question_line` how a question is
answered, `commands*` the slash commands. `surfaces.cli` imports `start`, when it is used. Imports
`surfaces.shared`, never `surfaces.cli`.
"""
