"""Passwords hashed by the real algorithm with its smallest parameters.

The real ones take a quarter of a second of a processor on purpose, and hundreds of tests sign up or
in. tests/accounts/test_passwords.py holds the product to the real ones.
"""

from argon2 import PasswordHasher

from tapeline.accounts import passwords

HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def use() -> None:
    """From now on, in this process and those that it forks."""
    passwords._hasher = HASHER
