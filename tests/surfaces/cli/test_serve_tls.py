"""`turnout serve` with a certificate: clients on other machines talk to it encrypted."""

from __future__ import annotations

import datetime
import http.client
import ipaddress
import json
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.surfaces.cli.test_serve import TOKEN, environment

from turnout.simulate import Simulation
from turnout.simulate.model import demo
from turnout.simulate.server import running_server

QUESTION = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hello"}], "stream": True}
HEADERS = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that is signed with its own key, and the key."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "turnout")])
    now = datetime.datetime.now(datetime.UTC)
    places = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(places, critical=False)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    cert_file, key_file = folder / "cert.pem", folder / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain, form = serialization.NoEncryption(), serialization.PrivateFormat.PKCS8
    key_file.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return cert_file, key_file


@pytest.mark.parametrize("by", ["flags", "config"])
def test_a_gateway_with_a_certificate_is_reached_by_https(
    by: str, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    """On all addresses, without --insecure: a stream comes whole, and plain HTTP is not answered."""
    cert, key = map(str, certificate)
    words = ["--host", "0.0.0.0"]
    if by == "flags":
        words += ["--tls-cert", cert, "--tls-key", key]
    else:
        folder = tmp_path / ".config" / "turnout"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text(f"[gateway]\ntls_certificate = {cert!r}\ntls_key = {key!r}\n")
    with running_server(Simulation(demo)) as upstream, _process(tmp_path, upstream, *words) as process:
        try:
            assert process.stdout is not None
            place = urlsplit(process.stdout.readline().split()[-1])
            assert place.scheme == "https" and place.port
            assert "You said: hello" in _ask(place.port, cert)
            _check_refusals(place.port, cert)
        finally:
            process.kill()


def _process(folder: Path, upstream: str, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "turnout", "serve", "--port", "0", "--quiet", *words]
    env = environment(folder, upstream)
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=env, cwd=folder, text=True)


def _ask(port: int, certificate: str) -> str:
    trusted = ssl.create_default_context(cafile=certificate)
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=trusted)
    own = {**HEADERS, "origin": f"https://127.0.0.1:{port}"}
    connection.request("POST", "/v1/chat/completions", json.dumps(QUESTION), own)
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 200 and text.endswith("data: [DONE]\n\n")
    pieces = (json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {"))
    return "".join(piece["choices"][0]["delta"].get("content") or "" for piece in pieces)


def _check_refusals(port: int, certificate: str) -> None:
    trusted = ssl.create_default_context(cafile=certificate)
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=trusted)
    page = {**HEADERS, "origin": f"http://127.0.0.1:{port}"}  # not encrypted: another site
    connection.request("POST", "/v1/chat/completions", json.dumps(QUESTION), page)
    assert connection.getresponse().status == 403
    plain = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with pytest.raises((http.client.HTTPException, OSError)):
        plain.request("GET", "/health")
        plain.getresponse()


def test_for_names_the_encrypted_address(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    """A client is told https where the gateway has a certificate."""
    words = [sys.executable, "-m", "turnout", "serve", "--for", "claude-code"]
    words += ["--tls-cert", str(certificate[0]), "--host", "llm.example"]
    env = environment(tmp_path, "http://127.0.0.1:1")
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, env=env, cwd=tmp_path)
    assert "https://llm.example:8484" in done.stdout
