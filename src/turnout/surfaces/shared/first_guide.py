"""The guide of the first minute: who can answer here, when no model is set up yet.

It shows which keys were looked for, which servers run on this machine, and how to sign in. It reads
one line at a time, so it works in every terminal. The end of it is a model, and maybe a session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from getpass import getpass
from pathlib import Path

from msgspec import Struct

from ...errors import TurnoutError
from ...interchange.rescue_places import sessions_of_folder
from ...providers import PROVIDERS, find_provider
from ...world.accounts import Accounts
from ...world.config import DEFAULT_MODELS
from ...world.local_servers import SERVERS, LocalServer, local_servers, server_address
from ...world.sign_in import sign_in_with_key
from ..shared.clean_text import one_line, printable

MOST_MODELS = 6
"""Models of one server that are offered."""


class GuideChoice(Struct, frozen=True):
    """One line of the guide: what it does, and its value."""

    kind: str  # model, login, demo, rescue
    text: str
    value: str = ""


class GuideResult(Struct, frozen=True):
    """What the user chose: who answers, and which session is resumed. No model: they left."""

    model: str = ""
    resume: str = ""


class FirstGuide:
    """Asks until somebody can answer. `ask` reads a line, `ask_secret` one that is not shown."""

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        *,
        write: Callable[[str], None],
        ask: Callable[[str], str],
        ask_secret: Callable[[str], str] = getpass,
        run_demo: Callable[[], None] = lambda: None,
        store_session: Callable[[int], str] = lambda number: "",
    ) -> None:
        self._folder = folder
        self._environment = environment
        self._write = write
        self._ask = ask
        self._ask_secret = ask_secret
        self._run_demo = run_demo
        self._store_session = store_session
        self._resume = ""

    async def run(self) -> GuideResult:
        """Ask, and do what was chosen, until there is a model or the user leaves."""
        servers = await local_servers(self._environment)
        found = sessions_of_folder(self._folder, self._environment)
        choices = guide_choices(servers, len(found))
        self._write("\n".join(guide_lines(servers, self._environment)))
        while True:
            self._write("\n".join(f"  {at}  {choice.text}" for at, choice in enumerate(choices, 1)))
            typed = self._ask(f"Choose 1-{len(choices)} (enter: leave): ").strip()
            if not typed:
                return GuideResult()
            if not typed.isdigit() or not 1 <= int(typed) <= len(choices):
                self._write(f"{printable(typed)!r} is not in the list.")
                continue
            if (model := await self._follow_choice(choices[int(typed) - 1])) is not None:
                return GuideResult(model, self._resume)
            if self._resume:
                choices = [choice for choice in choices if choice.kind not in ("rescue", "demo")]

    async def _follow_choice(self, choice: GuideChoice) -> str | None:
        """Do what was chosen; the model if there is one now."""
        match choice.kind:
            case "model":
                return choice.value
            case "login":
                return await self._sign_in()
            case "demo":
                self._run_demo()
            case "rescue":
                self._resume = self._store_session(1)
                self._write("It is stored. Who answers?")
        return None

    async def _sign_in(self) -> str | None:
        accounts = Accounts.of(self._environment)
        if accounts is None:
            self._write("No home folder is known, so nothing can be kept: set HOME, or a key variable.")
            return None
        name = self._ask(f"Provider ({', '.join(DEFAULT_MODELS)}): ").strip()
        try:
            known = find_provider(name)
            address = self._environment.get(known.base_url_variable, "") if known.base_url_variable else ""
            key = self._ask_secret(f"API key of {known.name} (not shown): ")
            done = await sign_in_with_key(accounts, known.name, key, base_url=address)
        except TurnoutError as error:
            self._write(printable(str(error)))
            return None
        self._write(printable(one_line(done.trial.detail, 300)))
        if done.account is None or known.name not in DEFAULT_MODELS:
            return None
        return f"{known.name}:{DEFAULT_MODELS[known.name]}"


def guide_choices(servers: list[LocalServer], sessions: int) -> list[GuideChoice]:
    """What can be chosen: local models first, since they need nothing."""
    choices = [
        GuideChoice("model", f"chat with {model} ({server.provider})", f"{server.provider}:{model}")
        for server in servers
        for model in server.models[:MOST_MODELS]
    ]
    choices.append(GuideChoice("login", "sign in: paste an API key, which is tried and kept on this machine"))
    if sessions:
        words = "a session" if sessions == 1 else f"the last of {sessions} sessions"
        choices.append(GuideChoice("rescue", f"resume {words} of another agent in this folder"))
    choices.append(GuideChoice("demo", "watch the demo: no key, no network"))
    return choices


def guide_lines(servers: list[LocalServer], environment: Mapping[str, str]) -> list[str]:
    """What was looked at, and found."""
    variables = [PROVIDERS[name].key_variables[0] for name in DEFAULT_MODELS if PROVIDERS[name].key_variables]
    lines = ["Welcome to turnout. No model is set up yet.", ""]
    lines += [f"Keys: none of {', '.join(dict.fromkeys(variables))} is set."]
    for server in servers:
        count = len(server.models)
        models = "model" if count == 1 else "models"
        lines.append(f"{server.provider} runs at {server.address} with {count} {models}.")
    silent = [name for name in SERVERS if name not in {server.provider for server in servers}]
    if silent:
        places = [f"{name} ({server_address(name, environment).partition('//')[2]})" for name in silent]
        lines.append(f"Not running: {', '.join(places)}.")
    return [*lines, ""]
