"""The keyring of the system, where there is one that works. Each backend fails in its own way."""

from __future__ import annotations

from typing import Any

SERVICE = "turnout"


def write_to_keyring(name: str, secret: str) -> bool:
    """Keep a secret in the system's keyring; False where none works.

    It is read back, since some backends accept everything and keep nothing.
    """
    backend = _working_backend()
    if backend is None:
        return False
    try:
        backend.set_password(SERVICE, name, secret)
        return bool(backend.get_password(SERVICE, name) == secret)
    except Exception:  # no service on the bus, a locked keychain, a user who said no
        return False


def read_from_keyring(name: str) -> str:
    """The secret of that name; "" where the keyring does not give it."""
    backend = _working_backend()
    if backend is None:
        return ""
    try:
        return backend.get_password(SERVICE, name) or ""
    except Exception:
        return ""


def delete_from_keyring(name: str) -> None:
    backend = _working_backend()
    if backend is None:
        return
    try:
        backend.delete_password(SERVICE, name)
    except Exception:  # it is not there, or cannot be reached: then it cannot be read either
        return


def _working_backend() -> Any:
    try:
        import keyring
    except ImportError:  # it comes with turnout[keyring]
        return None
    try:
        backend = keyring.get_keyring()
        return backend if backend.priority > 0 else None  # 0 and below: backends that hold nothing
    except Exception:
        return None
