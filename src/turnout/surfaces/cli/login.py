"""`turnout login` and `turnout logout`: accounts that are kept on this machine."""

from __future__ import annotations

import asyncio
import os
import sys

import click

from ...errors import UsageError
from ...providers import PROVIDERS, find_provider
from ...world.accounts import Account, Accounts, Kept, account_named
from ...world.device_login import DeviceCode, DeviceLogin
from ...world.sign_in import SignedIn, sign_in_to_copilot, sign_in_with_key
from ..shared.clean_text import one_line
from . import exit_codes as exits

WHERE = {"keyring": "in the system's keyring", "file": "in {file}, which only you can read"}


@click.command("login")
@click.argument("provider", required=False, default="")
@click.option("--base-url", default="", help="Base URL of the API, if it is not the provider's usual one.")
@click.option(
    "--github-url", default="", help="For copilot: your company's GitHub, such as https://me.ghe.com."
)
@click.option(
    "--store",
    "kept",
    type=click.Choice(["auto", "keyring", "file"]),
    default="auto",
    show_default=True,
    help="Where to keep the key: the system's keyring, or a file that only you can read.",
)
@click.option("--no-check", is_flag=True, help="Keep the key also if it could not be tried.")
@click.pass_context
def login_command(
    ctx: click.Context, /, provider: str, base_url: str, github_url: str, kept: Kept, no_check: bool
) -> None:
    """Sign in to PROVIDER and keep the account: by its API key, or by a code for GitHub Copilot.

    The key is asked for without showing it, tried, and kept. It may also come on stdin. A
    second account of the same provider has a label: openai@work. A variable such as
    OPENAI_API_KEY takes precedence over a stored key.

    \b
    Examples:
      turnout login anthropic
      turnout login openai@work
      turnout login copilot
      pass show mistral | turnout login mistral
    """
    accounts = _accounts()
    account, known = account_named(provider or _ask_for_provider(), base_url or _usual_address(provider))
    if account.kind == "github":
        login = DeviceLogin.of(os.environ, github_url)
        made = asyncio.run(
            sign_in_to_copilot(accounts, account.name, login, _show_code, base_url=base_url, kept=kept)
        )
    else:
        key = _read_key(account, known.key_variables)
        done = asyncio.run(
            sign_in_with_key(
                accounts, account.name, key, base_url=account.base_url, kept=kept, keep_untried=no_check
            )
        )
        click.echo(one_line(done.trial.detail, 400), err=True)
        if done.account is None:
            ctx.exit(_explain_refusal(done))
        made = done.account
    where = WHERE[made.kept].format(file=accounts.file)
    click.echo(f"signed in to {made.name}; its key is kept {where}")
    if found := [name for name in known.key_variables if os.environ.get(name)]:
        click.echo(f"{found[0]} is set too, and is used first: unset it, or name {made.name}@LABEL", err=True)


@click.command("logout")
@click.argument("names", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Delete every stored account.")
def logout_command(names: tuple[str, ...], every: bool) -> None:
    """Delete stored accounts and their keys from this machine.

    The key itself stays valid: revoke it at the provider if someone else may know it.

    \b
    Examples:
      turnout logout openai@work
      turnout logout --all
    """
    accounts = _accounts()
    known = [account.name for account in accounts.all_accounts]
    if not names and not every:
        raise UsageError(f"name an account, or give --all; stored are: {', '.join(known) or 'none'}")
    for name in known if every else map(_account_name, names):
        if not accounts.delete_account(name):
            raise UsageError(
                f"there is no stored account {name!r}; name one of: {', '.join(known) or 'none'}"
            )
        click.echo(f"deleted {name}")


def _accounts() -> Accounts:
    accounts = Accounts.of(os.environ)
    if accounts is None:
        raise UsageError("no home folder is known, so nothing can be kept; set HOME")
    return accounts


def _account_name(name: str) -> str:
    """The full name of an account, where a user may write an alias of its provider."""
    given, _, label = name.partition("@")
    provider = find_provider(given).name
    return f"{provider}@{label}" if label else provider


def _ask_for_provider() -> str:
    if not sys.stdin.isatty():
        raise UsageError(f"name the provider: turnout login PROVIDER; known are {', '.join(PROVIDERS)}")
    click.echo(f"Providers: {', '.join(PROVIDERS)}", err=True)
    return str(click.prompt("Provider (or provider@label for a second account)", err=True)).strip()


def _usual_address(name: str) -> str:
    """The address that the provider's variable gives: the key is tried there, and kept for it."""
    variable = find_provider(name.partition("@")[0]).base_url_variable if name else ""
    return os.environ.get(variable, "") if variable else ""


def _read_key(account: Account, variables: tuple[str, ...]) -> str:
    """The key from the terminal, where it is not shown, or from a pipe. Never from an argument."""
    if sys.stdin.isatty():
        name = f" ({variables[0]})" if variables else ""
        return str(click.prompt(f"API key of {account.name}{name}", hide_input=True, err=True))
    key = sys.stdin.readline().strip()
    if not key:
        raise UsageError("there is no key on stdin; run this in a terminal, or pipe the key into it")
    return key


def _show_code(code: DeviceCode) -> None:
    click.echo(f"Open {code.url} and enter the code {code.user_code}", err=True)
    click.echo(f"Waiting for you to agree there (at most {code.expires_in / 60:.0f} minutes) …", err=True)


def _explain_refusal(done: SignedIn) -> int:
    """Say what to do about a key that was not kept; the exit code."""
    if done.trial.verdict == "untried":
        click.echo("the key was not kept; retry later, or keep it untried with --no-check", err=True)
    else:
        click.echo("the key was not kept; check it at the provider, and run this command again", err=True)
    return exits.CONFIGURATION
