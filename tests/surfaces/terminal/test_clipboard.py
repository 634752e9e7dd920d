"""The clipboard of the terminal, and of the system."""

from __future__ import annotations

from base64 import b64decode

from turnout.surfaces.terminal.clipboard import LARGEST_SEQUENCE, is_remote, terminal_sequence


def test_the_terminal_is_sent_the_text_as_base64() -> None:
    """OSC 52, also inside GNU screen; a text that is too long for a terminal is not sent."""
    sequence = terminal_sequence("grüße", {"TERM": "xterm-256color"})
    assert sequence.startswith("\x1b]52;c;") and sequence.endswith("\x07")
    assert b64decode(sequence[7:-1]).decode() == "grüße"
    assert terminal_sequence("a", {"TERM": "screen"}) == "\x1bP\x1b]52;c;YQ==\x07\x1b\\"
    assert terminal_sequence("a", {"TERM": "screen", "TMUX": "/tmp/x"}) == "\x1b]52;c;YQ==\x07"
    assert terminal_sequence("a" * (LARGEST_SEQUENCE + 1), {}) == ""


def test_a_remote_session_is_known_by_its_variables() -> None:
    """Over SSH only the terminal has the clipboard of the user."""
    assert is_remote({"SSH_CONNECTION": "1 2 3 4"}) and not is_remote({})
