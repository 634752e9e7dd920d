"""Credentials and region of AWS: from variables, the shared files, or whatever botocore knows.

Variables come first, then the profile in `~/.aws/credentials` and `~/.aws/config`. What needs a
request (single sign-on, roles, the metadata of a machine) is left to botocore, which is loaded
only then.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import ProviderError, UsageError
from .aws_signature import AwsCredentials

REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
USUAL_REGION = "us-east-1"


def find_region(environment: Mapping[str, str]) -> str:
    """The region of the variables or of the profile; else the usual one."""
    named = next((environment[name] for name in REGION_VARIABLES if environment.get(name)), "")
    return named or _profile(environment, "config").get("region", "") or USUAL_REGION


def with_region(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with the region of its profile, where no variable names one."""
    if any(environment.get(name) for name in REGION_VARIABLES):
        return environment
    return {**environment, "AWS_REGION": find_region(environment)}


class AwsAccount:
    """Whose requests are signed. What botocore found is kept: it renews what expires."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._renewed: Any = None

    def find_credentials(self) -> AwsCredentials:
        """The credentials of this environment. May block: botocore may ask a server."""
        environment = self._environment
        named = _credentials_in(environment, upper=True)
        for kind in ("credentials", "config"):
            named = named or _credentials_in(_profile(environment, kind))
        if named is not None:
            return named
        if self._renewed is None:
            self._renewed = _ask_botocore(environment)
        return _frozen(self._renewed)


def has_credentials(environment: Mapping[str, str]) -> bool:
    """Whether variables or files name credentials; nothing is asked of a server."""
    try:
        profiles = (_profile(environment, "credentials"), _profile(environment, "config"))
    except UsageError:
        return False
    sources = ("sso_session", "sso_start_url", "role_arn", "credential_process", "aws_access_key_id")
    return bool(environment.get("AWS_ACCESS_KEY_ID")) or any(
        profile.get(name) for profile in profiles for name in sources
    )


def _credentials_in(values: Mapping[str, str], *, upper: bool = False) -> AwsCredentials | None:
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    access, secret, token = (values.get(name.upper() if upper else name, "").strip() for name in names)
    return AwsCredentials(access, secret, token) if access and secret else None


def _profile(environment: Mapping[str, str], kind: str) -> Mapping[str, str]:
    """The profile of this environment in one of the two files; empty where there is none."""
    variable = "AWS_SHARED_CREDENTIALS_FILE" if kind == "credentials" else "AWS_CONFIG_FILE"
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    given = environment.get(variable, "")
    if not given and not home:
        return {}
    path = Path(given.replace("~", home, 1) if given.startswith("~") else given or f"{home}/.aws/{kind}")
    name = environment.get("AWS_PROFILE") or environment.get("AWS_DEFAULT_PROFILE") or "default"
    sections = _read_sections(path)
    return sections.get(f"profile {name}", sections.get(name, {}))


def _read_sections(path: Path) -> dict[str, Mapping[str, str]]:
    from configparser import ConfigParser
    from configparser import Error as BadFile

    parser = ConfigParser(interpolation=None, strict=False, default_section="")
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except (BadFile, UnicodeDecodeError) as error:
        why = str(error).splitlines()[0]
        raise UsageError(f"{path} cannot be read: {why}; correct it, or set AWS_ACCESS_KEY_ID") from None
    return {name: dict(parser[name]) for name in parser.sections()}


def _ask_botocore(environment: Mapping[str, str]) -> Any:
    """What botocore finds: credentials that it renews itself."""
    try:
        from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]
        from botocore.session import Session  # type: ignore[import-untyped]
    except ImportError:
        raise ProviderError(
            "no credentials for bedrock: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or write them to ~/.aws/credentials. For single sign-on, roles and "
            "instance credentials install botocore: pip install 'turnout[bedrock]'",
            kind="auth",
        ) from None
    try:
        found = Session(profile=environment.get("AWS_PROFILE") or None).get_credentials()
    except BotoCoreError as error:
        raise ProviderError(
            f"no credentials for bedrock: {error}; sign in again (aws sso login), or set AWS_PROFILE",
            kind="auth",
        ) from error
    if found is None:
        raise ProviderError(
            "no credentials for bedrock: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; `aws configure` writes the files",
            kind="auth",
        )
    return found


def _frozen(renewed: Any) -> AwsCredentials:
    from botocore.exceptions import BotoCoreError

    try:
        found = renewed.get_frozen_credentials()
    except BotoCoreError as error:
        raise ProviderError(
            f"no fresh credentials for bedrock: {error}; run `aws sso login`, or set AWS_PROFILE",
            kind="auth",
        ) from error
    return AwsCredentials(str(found.access_key), str(found.secret_key), str(found.token or ""))
