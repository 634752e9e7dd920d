"""What people touch: the command `turnout` and the interactive terminal.

`cli/` has one file for each command, `terminal/` the interactive program, `shared/` what both need. Nothing
imports this. Imports everything.
"""
