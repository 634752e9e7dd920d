"""`python -m turnout` is the `turnout` command."""

from .surfaces.cli import main

main(prog_name="turnout")
