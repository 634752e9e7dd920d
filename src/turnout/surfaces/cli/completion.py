"""`turnout completion`: the script with which a shell completes our commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(shell: str) -> None:
    """Print the completion script of your shell; evaluate it in the startup file of the shell.

    \b
      eval "$(turnout completion bash)"    # in ~/.bashrc
      eval "$(turnout completion zsh)"     # in ~/.zshrc
      turnout completion fish | source     # in ~/.config/fish/config.fish
    """
    from . import main

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "turnout", "_TURNOUT_COMPLETE").source())
