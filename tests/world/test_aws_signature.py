"""Signatures of AWS: the same as botocore's signer makes, and nothing of the secret in them."""

from __future__ import annotations

import random
import string
from datetime import UTC, datetime
from typing import Any

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from tests.corpus import ROTATION

from turnout.world.aws_signature import AwsCredentials, signed_headers

COUNT = 1_000
LETTERS = string.ascii_letters + string.digits + "-_.~%:+ é"


def _words(dice: random.Random, letters: str, most: int) -> str:
    return "".join(dice.choices(letters, k=dice.randint(1, most)))


def _random_request(dice: random.Random) -> dict[str, Any]:
    host = dice.choice(("bedrock-runtime.eu-west-1.amazonaws.com", "127.0.0.1:8080", "gate.example.com:443"))
    segments = [
        dice.choice((_words(dice, LETTERS.replace("/", ""), 20), "..", ".", "model")) for _ in range(3)
    ]
    path = "/".join(segments).replace(" ", "%20").replace("é", "%C3%A9")
    pairs = [f"{_words(dice, string.ascii_lowercase, 3)}={_words(dice, string.digits, 3)}" for _ in range(3)]
    query = "?" + "&".join(pairs) if dice.random() < 0.3 else ""
    ends = dice.choice(("", "/"))
    headers = {"content-type": "application/json"}
    if dice.random() < 0.5:
        headers["X-Amzn-Bedrock-Trace"] = "  a   b "
    if dice.random() < 0.3:
        headers["User-Agent"] = "turnout"
    return {
        "method": "POST",
        "url": f"https://{host}/{path}{ends}{query}",
        "headers": headers,
        "body": dice.randbytes(dice.randint(0, 200)),
    }


def _botocore_signature(monkeypatch: Any, asked: dict[str, Any], who: AwsCredentials, now: float) -> Any:
    moment = datetime.fromtimestamp(now, UTC)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: moment)
    request = AWSRequest(asked["method"], asked["url"], asked["headers"], asked["body"])
    known = Credentials(who.access_key, who.secret_key, who.token or None)
    botocore.auth.SigV4Auth(known, "bedrock", "eu-west-1").add_auth(request)
    return request.headers


def test_random_requests_are_signed_as_botocore_signs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Method, path, query, headers, body, token and time: the authorization is the same text."""
    dice = random.Random(f"sigv4-{ROTATION}")
    for number in range(COUNT):
        asked, now = _random_request(dice), dice.uniform(1.6e9, 2e9)
        who = AwsCredentials("AKID" + _words(dice, string.ascii_uppercase, 16), _words(dice, LETTERS, 40))
        if number % 2:
            who = AwsCredentials(who.access_key, who.secret_key, _words(dice, string.ascii_letters, 300))
        ours = signed_headers(**asked, credentials=who, region="eu-west-1", service="bedrock", now=now)
        theirs = _botocore_signature(monkeypatch, asked, who, now)
        assert ours["authorization"] == theirs["Authorization"], asked["url"]
        assert ours["x-amz-date"] == theirs["X-Amz-Date"]
        assert ours.get("x-amz-security-token") == theirs.get("X-Amz-Security-Token")


def test_the_secret_is_in_no_header_and_no_repr() -> None:
    """Only the id of the key is shown."""
    who = AwsCredentials("AKIDEXAMPLE", "very-secret-key")
    sent = signed_headers(
        "POST", "https://h/x", {}, b"{}", credentials=who, region="us-east-1", service="bedrock", now=0.0
    )
    assert "AKIDEXAMPLE" in sent["authorization"]
    assert not any("very-secret-key" in text for text in (*sent.values(), repr(who)))
