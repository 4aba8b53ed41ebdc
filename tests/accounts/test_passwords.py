"""Passwords: argon2id, rules, and no shortcut for accounts that do not exist."""

import subprocess
import sys

import pytest

from tapeline.accounts import passwords
from tapeline.errors import Invalid


def test_passwords_are_kept_as_argon2id_with_a_salt_of_their_own() -> None:
    first, second = (passwords.hash_password("correct horse") for _ in range(2))
    assert first.startswith("$argon2id$")
    assert first != second
    assert passwords.matches(first, "correct horse")
    assert not passwords.matches(first, "Correct horse")


def test_the_product_hashes_with_parameters_that_make_guessing_expensive() -> None:
    """In a process of its own, because the tests hash cheaply."""
    asked = "from tapeline.accounts import passwords as p; print(p.hash_password('x'), p._nobody())"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    for one in told.stdout.split():
        assert one.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_nothing_matches_an_account_that_does_not_exist() -> None:
    assert not passwords.matches(None, "\0nobody")
    assert not passwords.matches(None, "correct horse")
    assert not passwords.matches("not a hash", "correct horse")


@pytest.mark.parametrize("length", [8, 1024])
def test_a_password_may_have_8_to_1024_characters(length: int) -> None:
    passwords.check_rules("x" * length, "password")


@pytest.mark.parametrize("length", [0, 7, 1025])
def test_another_length_is_refused_with_the_name_of_the_field(length: int) -> None:
    with pytest.raises(Invalid) as refusal:
        passwords.check_rules("x" * length, "new_password")
    assert refusal.value.field == "new_password"


def test_the_end_of_the_longest_password_counts() -> None:
    longest = "x" * 1023 + "y"
    kept = passwords.hash_password(longest)
    assert passwords.matches(kept, longest)
    assert not passwords.matches(kept, longest + "z")
    assert not passwords.matches(kept, "x" * 1024)


def test_odd_text_is_a_password_like_any_other() -> None:
    for odd in ("пароль-пароль", "half a pair \ud800", "with a \0 in it"):
        assert passwords.matches(passwords.hash_password(odd), odd)
