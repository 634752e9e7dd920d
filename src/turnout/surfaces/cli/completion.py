"""`turnout completion`: what makes a shell complete our commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(shell: str) -> None:
    """Print completion for your shell; evaluate it where the shell starts.

    \b
      eval "$(turnout completion bash)"    # in ~/.bashrc
      eval "$(turnout completion zsh)"     # in ~/.zshrc
      turnout completion fish | source     # in ~/.config/fish/config.fish
    """
    from . import main

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "turnout", "_TURNOUT_COMPLETE").source())
