"""idTokens: valid for an hour, with the id of the key that signed them, so that keys can rotate.

A token names a sign-in, which is looked up at every use, so that revoking it works at once and not
an hour later.
"""

import base64
import math
import secrets
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import jwt

from tapeline import private_files
from tapeline.clock import Clock
from tapeline.errors import InvalidToken
from tapeline.store.encryption import UnusableKey

LIFETIME = 3600
KEY_BYTES = 32
ALGORITHM = "HS256"
REQUIRED = ["exp", "sub", "sid"]
SUFFIX = ".id-token.key"
# Servers that share the folder may learn of a new key a moment later than the one that made it.
RETIRED_AFTER = LIFETIME + 600
LEARNED_WITHIN = 60.0  # seconds, of servers that share the folder over a network
SETTLED_NS = 2_000_000_000
_STAMP = "%Y%m%dT%H%M%S%f"


class KeyRing:
    """The signing keys in a folder: the newest signs, the others verify until they retire."""

    def __init__(self, folder: Path, clock: Clock | None = None) -> None:
        self._folder = folder
        self._clock = clock or Clock()
        self._keys: dict[str, bytes] = {}
        self._replaced: dict[str, float] = {}
        self._read_at_mtime = -1

    def sign(self, user_id: str, sign_in_id: str) -> str:
        self._refresh()
        newest = max(self._keys)
        now = int(time.time())
        claims = {"sub": user_id, "sid": sign_in_id, "iat": now, "exp": now + LIFETIME}
        claims["steady"] = int(self._clock.now())
        return jwt.encode(claims, self._keys[newest], ALGORITHM, headers={"kid": newest})

    def sign_in_of(self, token: str) -> str:
        """The sign-in that a token names."""
        self._refresh()
        try:
            key_id = jwt.get_unverified_header(token)["kid"]
            claims = self._claims(token, self._key(key_id))
            self._require_made_in_time(key_id, claims)
        except (jwt.PyJWTError, KeyError, TypeError, ValueError) as error:
            raise InvalidToken from error
        return str(claims["sid"])

    def _key(self, key_id: str) -> bytes:
        if self._replaced.get(key_id, math.inf) < self._clock.ago(RETIRED_AFTER):
            raise InvalidToken
        return self._keys[key_id]

    def _require_made_in_time(self, key_id: str, claims: dict[str, Any]) -> None:
        """A key that was replaced still vouches for the tokens it signed before, and for no new
        one: it may have been replaced because it was stolen."""
        if "steady" in claims:
            made_at = self._clock.ago(self._clock.now() - claims["steady"])
        else:
            made_at = float(claims["iat"])
        if made_at > self._replaced.get(key_id, math.inf) + LEARNED_WITHIN:
            raise InvalidToken

    def _claims(self, token: str, key: bytes) -> dict[str, Any]:
        """Its hour is measured by the clock that does not jump. `exp` is for the client, and
        decides for a token of an older version."""
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            [ALGORITHM],
            options={"require": REQUIRED, "verify_exp": False, "verify_iat": False},
        )
        if "steady" not in claims:
            jwt.decode(token, key, [ALGORITHM], options={"require": REQUIRED})
        elif self._clock.now() - claims["steady"] >= LIFETIME:
            raise InvalidToken
        return claims

    def _refresh(self) -> None:
        """A key that another process added is used from now on; the file's time shows the
        change. If the folder is gone, the keys that were in it stay in use."""
        try:
            mtime = self._folder.stat().st_mtime_ns
        except FileNotFoundError:
            if not self._keys:
                raise
            return
        if mtime != self._read_at_mtime:
            self._keys = {_id_of(file): _parsed(file) for file in _files(self._folder)}
            self._replaced = _replaced(self._folder)
            # A second change in the same tick of the clock looks the same: trust only an old stamp.
            settled = time.time_ns() - mtime > SETTLED_NS
            self._read_at_mtime = mtime if settled else -1


def ensure_key(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not any(folder.glob("*" + SUFFIX)):
        rotate(folder)
    for file in _files(folder):
        _parsed(file)


def _parsed(file: Path) -> bytes:
    """Never a shorter one: anybody could sign with an empty key."""
    try:
        key = base64.b64decode(file.read_bytes(), validate=True)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise UnusableKey(
            f"The key file {file} is empty or damaged. Delete it: everybody who is signed in has to"
            " sign in again."
        )
    return key


def rotate(folder: Path) -> str:
    """Make a new signing key. Its name is the greatest, even if the clock was set back."""
    made = _files(folder)
    now = datetime.now(UTC)
    if made:
        last = datetime.strptime(made[-1].name.partition("-")[0], _STAMP).replace(tzinfo=UTC)
        now = max(now, last + timedelta(microseconds=1))
    key_id = f"{now.strftime(_STAMP)}-{secrets.token_hex(3)}"
    private_files.write(
        folder / (key_id + SUFFIX), base64.b64encode(secrets.token_bytes(KEY_BYTES))
    )
    return key_id


def newest(folder: Path) -> str:
    """The name of the key that signs; names are in the order in which keys were made."""
    return max((one.name for one in _files(folder)), default="")


def adopt(folder: Path, name: str, content: bytes) -> None:
    """Take over a key that another server of the installation made just now. It replaces ours from
    this moment on: tokens that the one before signed elsewhere meanwhile are allowed for."""
    if not name.endswith(SUFFIX) or Path(name).name != name or name <= newest(folder):
        raise UnusableKey("Another server offered a key for idTokens that does not follow ours.")
    private_files.write(folder / name, content)
    _parsed(folder / name)


def forget_retired(folder: Path, clock: Clock) -> None:
    """Delete the keys that no valid token was signed with."""
    for key_id, at in _replaced(folder).items():
        if at < clock.ago(RETIRED_AFTER):
            (folder / (key_id + SUFFIX)).unlink(missing_ok=True)


def _replaced(folder: Path) -> dict[str, float]:
    """When each key was replaced. It signs until the next one is made, so its last token expires an
    hour after that."""
    return {_id_of(file): after.stat().st_mtime for file, after in pairwise(_files(folder))}


def _files(folder: Path) -> list[Path]:
    """In the order in which they were made."""
    return sorted(folder.glob("*" + SUFFIX))


def _id_of(file: Path) -> str:
    return file.name.removesuffix(SUFFIX)
