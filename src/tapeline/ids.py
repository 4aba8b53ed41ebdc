"""Generated ids and secrets: ids are short, URL-safe, lower-case and unguessable."""

import hashlib
import secrets

# No 0/o, 1/l/i: ids are read aloud and typed from screens.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
ID_LENGTH = 16  # 31**16: 79 bits


def new_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def fingerprint(secret: str) -> str:
    """How a random secret is stored: 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
