"""Idempotency: a request with a key is carried out once, and a repeat gets the first answer.

The answer is stored in the same transaction as the change, so a crash cannot separate them. The
primary key makes a repeat wait while the first request is still running.
"""

from collections.abc import Callable
from dataclasses import dataclass
from mmap import mmap
from typing import Any

from sqlalchemy import Connection, delete, select, update

from tapeline.errors import IdempotencyKeyReused, Invalid
from tapeline.store import upsert
from tapeline.store.encryption import Cipher
from tapeline.store.tables.core import answers

KEPT_SECONDS = 24 * 3600
LONGEST_KEY = 255


@dataclass(frozen=True)
class RequestKey:
    """What makes two requests the same: `scope` is the account or model that sends them."""

    scope: str
    path: str
    key: str
    body: bytes | bytearray | mmap
    cipher: Cipher
    """Bodies and answers may hold passwords and links, so both are stored encrypted or hashed."""


def checked_key(key: str) -> str:
    if not 1 <= len(key) <= LONGEST_KEY:
        raise Invalid(
            f"`Idempotency-Key` must have 1 to {LONGEST_KEY} characters.", field="Idempotency-Key"
        )
    return key


def answered(connection: Connection, request: RequestKey, now: float) -> bytes | None:
    """The first answer, if there was one: a repeat needs no preparation."""
    first = connection.execute(
        select(answers.c.body_hash, answers.c.answer).where(
            *_is(request), answers.c.at >= now - KEPT_SECONDS
        )
    ).first()
    if first is None:
        return None
    if first.body_hash not in request.cipher.fingerprints(request.body):
        raise IdempotencyKeyReused
    return request.cipher.decrypt(first.answer)


def once(
    connection: Connection, request: RequestKey, now: float, act: Callable[[], bytes]
) -> bytes:
    """Carry out `act`, or return its first answer."""
    connection.execute(delete(answers).where(answers.c.at < now - KEPT_SECONDS))
    while not _claim(connection, request, now):
        # None when a server whose clock is ahead has just deleted it as too old: claim it again.
        if (first := answered(connection, request, now)) is not None:
            return first
    answer = act()
    hidden = request.cipher.encrypt(answer)
    connection.execute(update(answers).where(*_is(request)).values(answer=hidden))
    return answer


def _claim(connection: Connection, request: RequestKey, now: float) -> bool:
    return upsert.claim(
        connection,
        answers,
        scope=request.scope,
        path=request.path,
        key=request.key,
        body_hash=request.cipher.fingerprints(request.body)[0],
        answer="",
        at=now,
    )


def _is(request: RequestKey) -> tuple[Any, ...]:
    return (
        answers.c.scope == request.scope,
        answers.c.path == request.path,
        answers.c.key == request.key,
    )
