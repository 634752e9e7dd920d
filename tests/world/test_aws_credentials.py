"""Where AWS credentials and the region come from: variables, the shared files, botocore."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from turnout import History, ProviderError, Session, UsageError
from turnout.simulate.scripted import ScriptedTransport
from turnout.targets.request import render
from turnout.targets.target import find_target
from turnout.world.aws_credentials import AwsAccount, find_region, has_credentials, with_region
from turnout.world.aws_signature import AwsCredentials
from turnout.world.keys import Keys
from turnout.world.world import World

VARIABLES = {"AWS_ACCESS_KEY_ID": "AKIAVARIABLES", "AWS_SECRET_ACCESS_KEY": "secret-of-variables"}


def home(folder: Path, credentials: str = "", config: str = "") -> dict[str, str]:
    """An environment whose shared files are in this folder."""
    files = folder / ".aws"
    files.mkdir(exist_ok=True)
    (files / "credentials").write_text(credentials)
    (files / "config").write_text(config)
    return {"HOME": str(folder)}


FILES = """
[default]
aws_access_key_id = AKIADEFAULT
aws_secret_access_key = secret%of#default

[work]
aws_access_key_id=AKIAWORK
aws_secret_access_key=secret-of-work
aws_session_token=token-of-work
"""
CONFIG = """
[default]
region = eu-central-1
[profile work]
region = ap-south-1
[profile both]
aws_access_key_id = AKIACONFIG
aws_secret_access_key = secret-of-config
"""


def test_variables_come_before_files(tmp_path: Path) -> None:
    """As AWS's own programs have it."""
    found = AwsAccount({**home(tmp_path, FILES), **VARIABLES}).find_credentials()
    assert found == AwsCredentials("AKIAVARIABLES", "secret-of-variables")


@pytest.mark.parametrize(
    ("profile", "found", "region"),
    [
        ("", AwsCredentials("AKIADEFAULT", "secret%of#default"), "eu-central-1"),
        ("work", AwsCredentials("AKIAWORK", "secret-of-work", "token-of-work"), "ap-south-1"),
        ("both", AwsCredentials("AKIACONFIG", "secret-of-config"), "us-east-1"),
    ],
)
def test_a_profile_names_credentials_and_region(
    tmp_path: Path, profile: str, found: AwsCredentials, region: str
) -> None:
    """In either file; the profile is named by AWS_PROFILE."""
    environment = home(tmp_path, FILES, CONFIG) | ({"AWS_PROFILE": profile} if profile else {})
    assert AwsAccount(environment).find_credentials() == found
    assert find_region(environment) == region
    assert has_credentials(environment)


def test_the_files_may_be_elsewhere(tmp_path: Path) -> None:
    """Two variables name them."""
    environment = home(tmp_path, FILES, CONFIG)
    moved = {
        "HOME": "/nowhere",
        "AWS_SHARED_CREDENTIALS_FILE": f"{environment['HOME']}/.aws/credentials",
        "AWS_CONFIG_FILE": f"{environment['HOME']}/.aws/config",
    }
    assert AwsAccount(moved).find_credentials().access_key == "AKIADEFAULT"
    assert find_region(moved) == "eu-central-1"


def test_a_variable_for_the_region_counts_first(tmp_path: Path) -> None:
    """AWS_REGION, then AWS_DEFAULT_REGION, then the profile."""
    environment = home(tmp_path, "", CONFIG)
    assert with_region({**environment, "AWS_DEFAULT_REGION": "ca-central-1"})["AWS_DEFAULT_REGION"]
    assert find_region({**environment, "AWS_REGION": "x-1", "AWS_DEFAULT_REGION": "y-1"}) == "x-1"
    assert with_region(environment)["AWS_REGION"] == "eu-central-1"


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """The message says which file, and what to do."""
    with pytest.raises(UsageError, match=r"credentials cannot be read: .*; correct it"):
        AwsAccount(home(tmp_path, "no section\n")).find_credentials()


def test_without_botocore_the_message_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Single sign-on, roles and machines need it; keys and files do not."""
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(ProviderError, match=r"turnout\[bedrock\]"):
        AwsAccount(home(tmp_path)).find_credentials()


def test_botocore_finds_what_a_process_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile with `credential_process` is one of those that we leave to it."""
    given = {"Version": 1, "AccessKeyId": "AKIAPROCESS", "SecretAccessKey": "s3", "SessionToken": "t"}
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps(given))
    environment = home(tmp_path, "", f"[default]\ncredential_process = cat {answer}\n")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for name in (*VARIABLES, "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    assert AwsAccount(environment).find_credentials() == AwsCredentials("AKIAPROCESS", "s3", "t")


# In a session


def _request_headers(environment: dict[str, str], base_url: str = "") -> tuple[dict[str, str], Keys]:
    place = find_target(
        "bedrock:amazon.nova-lite-v1:0", base_url=base_url, environment=with_region(environment)
    )
    keys = Keys(environment)

    history = History("h")
    history.user("hi")
    request = render(history, place)
    return asyncio.run(keys.request_headers(place, request, 1_790_000_000.0)), keys


def test_a_request_is_signed_for_the_region_of_its_address(tmp_path: Path) -> None:
    """The secret and the token are secrets of the session from then on."""
    sent, keys = _request_headers(home(tmp_path, FILES, CONFIG) | {"AWS_PROFILE": "work"})
    assert "AKIAWORK/20260921/ap-south-1/bedrock/aws4_request" in sent["authorization"]
    assert sent["x-amz-security-token"] == "token-of-work"
    assert set(keys.secrets()) == {"secret-of-work", "token-of-work"}


def test_a_bearer_token_is_sent_as_it_is(tmp_path: Path) -> None:
    """It comes before everything that could sign."""
    sent, _ = _request_headers(home(tmp_path, FILES) | {"AWS_BEARER_TOKEN_BEDROCK": "bedrock-api-key-x"})
    assert sent == {"authorization": "Bearer bedrock-api-key-x"}


def test_a_session_goes_to_the_region_of_the_profile(tmp_path: Path) -> None:
    """The address is filled in from the shared config, and the request is signed."""
    environment = home(tmp_path, FILES, CONFIG)
    transport = ScriptedTransport(["Hello."])
    session = Session(
        "bedrock:amazon.nova-lite-v1:0", world=World(transport=transport, environment=environment)
    )
    asyncio.run(session.ask("hi"))
    [exchange] = transport.exchanges
    assert "//bedrock-runtime.eu-central-1.amazonaws.com/model/" in exchange.url
    assert "AKIADEFAULT/" in exchange.headers["authorization"]
