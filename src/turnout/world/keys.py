"""Where a target's key comes from. A key is sent only to the host that it is for."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from ..errors import ProviderError, TurnoutError, UsageError
from ..providers import Provider
from ..targets.target import Target
from ..tools.confine.threads import in_daemon
from ..wire.request import WireRequest
from . import google_token
from .accounts import Accounts
from .aws_credentials import AwsAccount, find_region
from .aws_signature import signed_headers
from .stored_logins import StoredLogins
from .token_source import TokenSource

Callback: TypeAlias = Callable[[], str | Awaitable[str]]
TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]*")
"""A JSON Web Token, which Microsoft Entra gives out. Keys of Azure are letters and digits."""
AWS_HOST = re.compile(r"//bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")
"""The region in the address of Bedrock; a signature is for one region."""
PATIENCE = 120.0
"""Seconds until a source must give its key: it may ask the user for a password."""


class KeyFile(Struct, frozen=True):
    """A file that holds the key and nothing else."""

    path: str


class KeyCommand(Struct, frozen=True):
    """A command whose output is the key, run when a key is needed; words, never a shell line."""

    words: tuple[str, ...]


KeySource: TypeAlias = str | KeyFile | KeyCommand | TokenSource | Callback


class Keys:
    """The keys of a session. A bearer token from a callback is asked for again after a 401."""

    def __init__(
        self, environment: Mapping[str, str], sources: Mapping[str, KeySource] | None = None
    ) -> None:
        self._environment = environment
        self._sources = dict(sources or {})
        self.accounts = Accounts.of(environment)
        self._logins = StoredLogins(self.accounts)
        self._aws = AwsAccount(environment)
        self._known: dict[tuple[str, str], str] = {}
        self._read_so_far: dict[str, None] = {}  # old keys too: a server may still name one

    def set(self, name: str, source: KeySource) -> None:
        self._sources[name] = source

    def is_given(self, target: Target) -> bool:
        """Whether the caller gave a source for this target."""
        return any(name in self._sources for name in _source_names(target))

    async def headers(self, target: Target, *, required: bool = True) -> dict[str, str]:
        """The headers that authenticate us to this target."""
        if required:
            _expect_whole_address(target)
        if target.provider.auth == "none" or (not required and _asks_google(self._source_of(target), target)):
            return {}
        key = await self._key_of(target)
        if not key:
            if not required or _is_local(target.provider):
                return {}
            name = target.origin.provider
            names = " or ".join(target.provider.key_variables) or "its key"
            raise ProviderError(f"no key for {name}: set {names}, or run `turnout login {name}`", kind="auth")
        return key_headers(target.provider, key)

    async def request_headers(
        self, target: Target, request: WireRequest, now: float, *, required: bool = True
    ) -> dict[str, str]:
        """The headers that authenticate this request: a key, or a signature of it (AWS)."""
        if not self._signs(target):
            return await self.headers(target, required=required)
        if not required:
            return {}
        try:
            signer = await in_daemon(self._aws.find_credentials)
        except ProviderError:
            if _is_local(target.provider):
                return {}
            raise
        self._read_so_far |= dict.fromkeys(filter(None, (signer.secret_key, signer.token)))
        region = AWS_HOST.search(target.provider.base_url)
        return signed_headers(
            request.method,
            request.url,
            request.headers,
            request.body,
            credentials=signer,
            region=region[1] if region else find_region(self._environment),
            service="bedrock",
            now=now,
        )

    def _signs(self, target: Target) -> bool:
        """Whether requests to this target are signed, because there is no key."""
        return target.provider.token_source == "aws" and self._source_of(target) == ""

    def forget(self, target: Target) -> bool:
        """Forget the key of this target; True if its source may give a new one."""
        refused = self._known.pop(self._cache_key(target), "")
        source = self._source_of(target)
        if isinstance(source, TokenSource):
            return source.note_refused(refused)
        return isinstance(source, KeyCommand | KeyFile) or callable(source) or _asks_google(source, target)

    def secrets(self) -> tuple[str, ...]:
        """Every key read so far, to keep them out of logs."""
        return tuple(self._read_so_far)

    async def _key_of(self, target: Target) -> str:
        name = self._cache_key(target)
        if name not in self._known or isinstance(self._source_of(target), TokenSource):
            self._known[name] = (await self._read_source_of(target)).strip()
            if self._known[name]:
                self._read_so_far[self._known[name]] = None
        return self._known[name]

    async def _read_source_of(self, target: Target) -> str:
        try:
            async with asyncio.timeout(PATIENCE):
                source = self._source_of(target)
                if _asks_google(source, target):
                    return await in_daemon(google_token.fetch_token)
                return await self._read_source(source)
        except TurnoutError:
            raise
        except TimeoutError:
            why = f"its source gave none within {PATIENCE:.0f} s"
            raise _no_key_error(target, why) from None
        except Exception as error:  # a file that is not there, a command or function that fails
            raise _no_key_error(target, f"{type(error).__name__}: {error}") from error

    def _cache_key(self, target: Target) -> tuple[str, str]:
        """The name under which a key is cached: the account's, or the target's if it has its own key."""
        own = str(target.origin)
        return own if own in self._sources else "", account_name(target)

    def _source_of(self, target: Target) -> KeySource:
        for name in _source_names(target):
            if name in self._sources:
                return self._sources[name]
        if (login := self._logins.source_for(target)) is not None:
            return login
        found = (self._environment.get(name, "") for name in target.provider.key_variables)
        return next((key for key in found if key), "")

    async def _read_source(self, source: Any) -> str:
        match source:
            case str():
                return source
            case KeyFile(path):
                return await in_daemon(Path(path).expanduser().read_text)
            case KeyCommand(words):
                return await _command_output(words)
            case TokenSource():
                return await source.current_token()
            case _ if callable(source):
                answer = source()
                return str(await answer if isawaitable(answer) else answer)
            case _:
                raise UsageError(
                    f"{source!r} is not a source of keys; give text, KeyFile, KeyCommand or a function"
                )


def key_headers(provider: Provider, key: str) -> dict[str, str]:
    """The header that a provider reads a key from."""
    if provider.auth == "bearer" or (provider.auth == "api-key" and TOKEN.fullmatch(key)):
        return {"authorization": f"Bearer {key}"}
    return {provider.auth: key}


def _source_names(target: Target) -> tuple[str, str, str]:
    return str(target.origin), account_name(target), target.origin.provider


def account_name(target: Target) -> str:
    """The name of an account: a provider, one of its endpoints, and the host."""
    return f"{target.origin.provider}@{target.origin.endpoint} {urlsplit(target.provider.base_url).netloc}"


def _asks_google(source: KeySource, target: Target) -> bool:
    """Whether a token is asked of Google, because there is no key for this target."""
    return source == "" and target.provider.token_source == "google" and not _is_local(target.provider)


def _expect_whole_address(target: Target) -> None:
    """Raise where the address has a word that only the user knows: a project, a resource."""
    if blanks := target.provider.open_blanks:
        names = " or ".join(name for blank in blanks for name in blank.variables)
        settings = " or ".join(blank.setting for blank in blanks)
        raise UsageError(
            f"the address of {target.origin.provider} is not complete: {target.provider.base_url}; "
            f"set {names}, or `{settings}` of a target in the configuration"
        )


def _no_key_error(target: Target, why: str) -> ProviderError:
    name = target.origin.provider
    return ProviderError(f"no key for {name}: {why}; check the file, command or function", kind="auth")


def _is_local(provider: Provider) -> bool:
    return (urlsplit(provider.base_url).hostname or "") in ("127.0.0.1", "localhost", "::1")


async def _command_output(words: tuple[str, ...]) -> str:
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:  # it was cancelled: the key is not needed any more
            process.kill()
            await process.communicate()
    if process.returncode:
        answer = err.decode(errors="replace").strip()[:200]
        raise ProviderError(
            f"the key command {words[0]!r} failed: {answer}; run it by hand to see why", kind="auth"
        )
    return out.decode(errors="replace")
