"""Files that hold a secret: readable only by this user, and never half-written."""

import os
from collections.abc import Callable
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it: a crash must not leave half a secret."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    draft.rename(path)


def read_or_make(path: Path, make: Callable[[], bytes]) -> bytes:
    """The secret in a file, created if there is none."""
    if not path.exists():
        write(path, make())
    return path.read_bytes()
