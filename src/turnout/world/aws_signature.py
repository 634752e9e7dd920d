"""Sign a request to AWS: Signature Version 4, written out.

A request is written in one canonical form, which is hashed; a key made of the secret, the day, the
region and the service signs the hash. The secret itself is never sent.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from time import gmtime, strftime
from urllib.parse import quote, urlsplit

from msgspec import Struct

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = ("expect", "transfer-encoding", "user-agent", "x-amzn-trace-id", "authorization")
"""Headers that proxies change, so they are not signed."""


class AwsCredentials(Struct, frozen=True):
    """Who signs. `token` belongs to credentials that expire."""

    access_key: str
    secret_key: str
    token: str = ""

    def __repr__(self) -> str:
        return f"AwsCredentials({self.access_key[:4]}…)"


def signed_headers(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    credentials: AwsCredentials,
    region: str,
    service: str,
    now: float,
) -> dict[str, str]:
    """The headers that authenticate this request: the date, the token and the signature.

    `now` is seconds since 1970. AWS refuses a date that is more than five minutes off.
    """
    stamp = strftime("%Y%m%dT%H%M%SZ", gmtime(now))
    added = {"x-amz-date": stamp}
    if credentials.token:
        added["x-amz-security-token"] = credentials.token
    signed = _headers_to_sign(url, {**headers, **added})
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    request = _canonical_request(method, url, signed, body)
    text = "\n".join((ALGORITHM, stamp, scope, sha256(request.encode()).hexdigest()))
    signature = hmac.new(_signing_key(credentials.secret_key, scope), text.encode(), sha256).hexdigest()
    added["authorization"] = (
        f"{ALGORITHM} Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={';'.join(sorted(signed))}, Signature={signature}"
    )
    return added


def _headers_to_sign(url: str, headers: Mapping[str, str]) -> dict[str, str]:
    lowered = {name.lower(): " ".join(value.split()) for name, value in headers.items()}
    signed = {name: value for name, value in lowered.items() if name not in UNSIGNED}
    return {"host": _host_of(url), **signed}


def _host_of(url: str) -> str:
    """The host as HTTP clients write it: without the usual port."""
    split = urlsplit(url)
    host = split.hostname or ""
    host = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}.get(split.scheme)
    return host if split.port in (None, usual) else f"{host}:{split.port}"


def _canonical_request(method: str, url: str, headers: Mapping[str, str], body: bytes) -> str:
    split = urlsplit(url)
    names = sorted(headers)
    lines = "".join(f"{name}:{headers[name]}\n" for name in names)
    # AWS quotes a path that is quoted already once more, for every service but S3.
    path = quote(_normal_path(split.path), safe="/~")
    parts = (method.upper(), path, _canonical_query(split.query), lines, ";".join(names))
    return "\n".join((*parts, sha256(body).hexdigest()))


def _normal_path(path: str) -> str:
    """The path without empty segments and without dots."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    ends = "/" if path.endswith("/") and kept else ""
    return f"/{'/'.join(kept)}{ends}"


def _canonical_query(query: str) -> str:
    pairs = [pair.partition("=") for pair in query.split("&")] if query else []
    return "&".join(f"{name}={value}" for name, value in sorted((name, value) for name, _, value in pairs))


def _signing_key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), sha256).digest()
    return key
