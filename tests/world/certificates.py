"""A certificate authority that nobody but a test believes."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from msgspec import Struct

Key = ec.EllipticCurvePrivateKey


class Authority(Struct):
    """`file` holds what to believe, `chain` what a server on loopback shows."""

    file: Path
    chain: Path

    def server(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.chain)
        return context


def authority(folder: Path) -> Authority:
    root, leaf = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    name, own = _name("turnout test authority"), _name("127.0.0.1")
    above = _certificate(name, root, name, root, x509.BasicConstraints(ca=True, path_length=None))
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    below = _certificate(own, leaf, name, root, here)
    made = Authority(folder / "authority.pem", folder / "server.pem")
    made.file.write_bytes(above.public_bytes(serialization.Encoding.PEM))
    secret = leaf.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    made.chain.write_bytes(secret + below.public_bytes(serialization.Encoding.PEM))
    return made


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(
    whose: x509.Name, key: Key, by: x509.Name, signing: Key, extension: x509.ExtensionType
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(whose)
        .issuer_name(by)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        .sign(signing, hashes.SHA256())
    )
