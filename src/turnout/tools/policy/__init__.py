"""Whether a call may run: modes, rules, risk, taint, and what a shell command really starts.

Pure: it judges values and never looks at a file. Others import `rules`, `approval` and `visible`.
Imports `tools.declare`.
"""
