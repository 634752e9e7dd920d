"""Tools: what they are, when they may run, and the scheduler that runs a turn's calls as one batch."""
