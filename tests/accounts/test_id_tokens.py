"""idTokens: an hour long, signed with keys that rotate while servers run."""

import base64
import os
import time
from pathlib import Path
from typing import Any

import jwt
import pytest

from tapeline.accounts import id_tokens
from tapeline.accounts.id_tokens import LIFETIME, RETIRED_AFTER, SUFFIX, KeyRing
from tapeline.clock import Clock
from tapeline.errors import InvalidToken

NO_KEY: Any = None  # what the algorithm "none" wants


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    id_tokens.ensure_key(tmp_path / "keys")
    return tmp_path / "keys"


def key_ids(folder: Path) -> list[str]:
    return sorted(file.name.removesuffix(SUFFIX) for file in folder.glob("*" + SUFFIX))


def signing_key(folder: Path, key_id: str) -> bytes:
    return base64.b64decode((folder / (key_id + SUFFIX)).read_bytes())


def kid(token: str) -> str:
    return str(jwt.get_unverified_header(token)["kid"])


def forge(folder: Path, *, drop: str = "", **changes: Any) -> str:
    """A token with the ring's true key and chosen claims."""
    key_id = key_ids(folder)[-1]
    now = int(time.time())
    claims: dict[str, Any] = {"sub": "ada", "sid": "one", "iat": now, "exp": now + 60} | changes
    claims.pop(drop, None)
    return jwt.encode(claims, signing_key(folder, key_id), "HS256", headers={"kid": key_id})


def refused(folder: Path, token: str) -> bool:
    try:
        KeyRing(folder).sign_in_of(token)
    except InvalidToken:
        return True
    return False


def test_a_token_names_its_account_and_sign_in_and_lives_one_hour(folder: Path) -> None:
    before = int(time.time())
    token = KeyRing(folder).sign("ada", "one")
    claims = jwt.decode(token, options={"verify_signature": False})
    assert (claims["sub"], claims["sid"]) == ("ada", "one")
    assert claims["exp"] - claims["iat"] == LIFETIME == 3600
    assert before <= claims["iat"] <= time.time()
    assert KeyRing(folder).sign_in_of(token) == "one"


def test_a_token_is_refused_once_its_hour_is_over(folder: Path) -> None:
    now = int(time.time())
    assert refused(folder, forge(folder, iat=now - 3601, exp=now - 1))
    assert not refused(folder, forge(folder, iat=now - 3500, exp=now + 100))


@pytest.mark.parametrize("claim", ["exp", "sub", "sid"])
def test_a_token_without_one_of_its_claims_is_refused(folder: Path, claim: str) -> None:
    assert refused(folder, forge(folder, drop=claim))


def test_tokens_that_nobody_here_signed_are_refused(folder: Path) -> None:
    good = KeyRing(folder).sign("ada", "one")
    header, claims, signature = good.split(".")
    key_id, known = kid(good), jwt.decode(good, options={"verify_signature": False})
    other_key = b"another key of thirty-two bytes!"
    unsigned = jwt.encode(known, NO_KEY, "none", headers={"kid": key_id})
    longer = jwt.encode(known | {"exp": known["exp"] + 9}, other_key, headers={"kid": key_id})
    forged = {
        "alg none": unsigned,
        "alg none with our signature": f"{unsigned.split('.')[0]}.{claims}.{signature}",
        "another key": jwt.encode(known, other_key, "HS256", headers={"kid": key_id}),
        "another algorithm": jwt.encode(
            known, signing_key(folder, key_id) * 2, "HS512", headers={"kid": key_id}
        ),
        "other claims": f"{header}.{longer.split('.')[1]}.{signature}",
        "unknown kid": jwt.encode(known, other_key, "HS256", headers={"kid": "nobody's"}),
        "a path as kid": jwt.encode(known, b"x" * 32, "HS256", headers={"kid": "../../etc/passwd"}),
        "no kid": jwt.encode(known, signing_key(folder, key_id), "HS256"),
        "no signature": f"{header}.{claims}.",
        "garbage": "garbage",
        "dots": "..",
        "empty": "",
        "not even text": "\ud800.é.\x01",
        "a bottomless header": base64.urlsafe_b64encode(b"[" * 30_000).decode() + ".e30.x",
    }
    assert {name for name, token in forged.items() if not refused(folder, token)} == set()
    assert not refused(folder, good)


def test_a_running_ring_signs_with_a_new_key_at_once_and_still_honours_the_old(
    folder: Path,
) -> None:
    ring = KeyRing(folder)
    old = ring.sign("ada", "one")
    made = id_tokens.rotate(folder)
    new = ring.sign("ada", "two")
    assert kid(new) == made != kid(old)
    assert (ring.sign_in_of(old), ring.sign_in_of(new)) == ("one", "two")


def test_a_key_made_in_the_same_tick_of_the_clock_is_noticed(folder: Path) -> None:
    """Time stamps of a folder have coarse ticks; two changes in one tick look like one."""
    ring = KeyRing(folder)
    ring.sign("ada", "one")
    tick = folder.stat().st_mtime_ns
    made = id_tokens.rotate(folder)
    os.utime(folder, ns=(tick, tick))
    assert kid(ring.sign("ada", "two")) == made


def test_only_keys_that_no_living_token_needs_are_refused_and_forgotten(folder: Path) -> None:
    clock, ring = Clock(), KeyRing(folder)
    token, first = ring.sign("ada", "one"), key_ids(folder)[0]
    second = id_tokens.rotate(folder)
    third = id_tokens.rotate(folder)
    id_tokens.forget_retired(folder, clock)
    assert key_ids(folder) == [first, second, third]
    assert ring.sign_in_of(token) == "one"
    # The second was made long ago, so the first has signed nothing since; the third is fresh.
    long_ago = time.time() - RETIRED_AFTER - 10
    os.utime(folder / (second + SUFFIX), (long_ago, long_ago))
    assert refused(folder, token)
    id_tokens.forget_retired(folder, clock)
    assert key_ids(folder) == [second, third]
    assert RETIRED_AFTER > LIFETIME


def test_a_replaced_key_vouches_for_no_token_that_is_made_with_it_later(folder: Path) -> None:
    ring = KeyRing(folder)
    before = ring.sign("ada", "one")
    stolen = folder / (key_ids(folder)[0] + SUFFIX)
    later = folder / (id_tokens.rotate(folder) + SUFFIX)
    assert not refused(folder, before)
    # The rotation was ten minutes ago: a token of now was made after it.
    long_ago = time.time() - 600
    os.utime(later, (long_ago, long_ago))
    assert refused(folder, before)
    key = signing_key(folder, key_ids(folder)[0])
    for claims in (
        {"steady": int(Clock().now()), "iat": int(long_ago) - 60},
        {"iat": int(time.time())},
    ):
        forged = jwt.encode(
            {"sub": "ada", "sid": "one", "exp": int(time.time()) + 600, **claims},
            key, "HS256", headers={"kid": stolen.name.removesuffix(SUFFIX)},
        )  # fmt: skip
        assert refused(folder, forged)
    # One that was made before the rotation is still good.
    genuine = jwt.encode(
        {"sub": "ada", "sid": "one", "exp": int(time.time()) + 600, "iat": int(long_ago) - 60,
         "steady": int(Clock().now()) - 660},
        key, "HS256", headers={"kid": stolen.name.removesuffix(SUFFIX)},
    )  # fmt: skip
    assert not refused(folder, genuine)


def test_a_key_made_after_the_clock_went_back_signs(folder: Path) -> None:
    """Its name would come before that of the key which it replaces."""
    (made,) = key_ids(folder)
    (folder / (made + SUFFIX)).rename(folder / ("2099" + made[4:] + SUFFIX))
    again = id_tokens.rotate(folder)
    assert kid(KeyRing(folder).sign("ada", "one")) == again


def test_keys_are_the_owners_alone_and_made_only_once(folder: Path) -> None:
    before = key_ids(folder)
    id_tokens.ensure_key(folder)
    assert key_ids(folder) == before
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o077 == 0
    assert len(signing_key(folder, before[0])) == 32
