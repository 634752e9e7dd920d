"""The interactive conversation: a screen that is fed events, and thin edges that show it."""
