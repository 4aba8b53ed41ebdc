"""Signing up: the first account, those who follow, and what each account is given."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tapeline import compose
from tapeline.accounts import users
from tapeline.accounts.sign_ins import Origin
from tapeline.accounts.users import User
from tapeline.errors import EmailTaken, InvitationNeeded, NoSuchInvitation, Problem, SignUpClosed
from tapeline.models import onboarding, projects
from tapeline.settings import Settings
from tapeline.store.store import Store


def sign_up(store: Store, name: str, policy: Any = "invite", invitation: str = "") -> User:
    return store.write_now(
        onboarding.sign_up,
        email=f"{name}@example.com",
        name=name,
        password_hash="hash",
        invitation=invitation,
        may_be_first=True,
        policy=policy,
        origin=Origin("192.0.2.7", ""),
    )


def test_every_account_has_a_personal_project_whose_id_is_the_user_id(store: Store) -> None:
    signed_up = sign_up(store, "ada")
    added = store.write_now(
        onboarding.add_by_operator, email="bob@example.com", name="", password_hash="hash"
    )
    demo = store.write_now(onboarding.add_demo, email="demo@example.com", password_hash="hash")
    for user in (signed_up, added, demo):
        (own,) = store.read_now(projects.of_user, user.id)
        assert (own.id, own.role, own.name, own.models) == (user.id, "owner", "Personal", 0)


@pytest.mark.parametrize(
    ("policy", "refusal"), [("closed", SignUpClosed), ("invite", InvitationNeeded), ("open", None)]
)
def test_only_the_first_account_is_exempt_from_the_setting(
    store: Store, policy: str, refusal: type[Problem] | None
) -> None:
    sign_up(store, "ada", policy)
    if refusal:
        for name in ("bob", "ada"):
            with pytest.raises(refusal):
                sign_up(store, name, policy)
    else:
        sign_up(store, "bob", policy)
        with pytest.raises(EmailTaken):
            sign_up(store, "ada", policy)


def test_a_failed_sign_up_does_not_use_up_the_first_accounts_right(store: Store) -> None:
    with pytest.raises(NoSuchInvitation):
        sign_up(store, "ada", invitation="never was")
    assert store.read_now(users.everyone) == []
    sign_up(store, "ada", "closed")


def test_the_operators_account_is_a_first_one_and_the_demos_is_not(store: Store) -> None:
    store.write_now(onboarding.add_demo, email="demo@example.com", password_hash="hash")
    sign_up(store, "ada", "closed")
    with pytest.raises(SignUpClosed):
        sign_up(store, "bob", "closed")


def test_an_account_the_operator_added_ends_the_first_accounts_right(store: Store) -> None:
    store.write_now(
        onboarding.add_by_operator, email="bob@example.com", name="", password_hash="hash"
    )
    with pytest.raises(InvitationNeeded):
        sign_up(store, "ada")


def test_there_is_one_first_account_even_when_several_come_at_once(
    settings: Settings, store: Store
) -> None:
    with compose.open_store(settings) as other, ThreadPoolExecutor(6) as pool:
        start = threading.Barrier(6)

        def come(which: Store, name: str) -> None:
            start.wait(10)
            sign_up(which, name)

        coming = [
            pool.submit(come, (store, other)[number % 2], f"user{number}") for number in range(6)
        ]
        failures = [one.exception() for one in coming]
    assert failures.count(None) == 1
    assert {type(one) for one in failures if one} == {InvitationNeeded}
    assert len(store.read_now(users.everyone)) == 1
