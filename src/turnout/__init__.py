"""turnout: conversations with tools that change provider at any turn."""

__version__ = "0.1.0"
