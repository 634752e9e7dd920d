"""What the commands and the terminal program both need.

Imports neither `surfaces.cli` nor `surfaces.terminal`, and no package of an extra.
"""
