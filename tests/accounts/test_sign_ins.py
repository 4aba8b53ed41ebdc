"""Sign-ins: browsers expire when unused, tokens do not, and each can be ended."""

import time

import pytest
from sqlalchemy import select, update

from tapeline.accounts import sign_ins, users
from tapeline.accounts.actor import OPERATOR, Actor
from tapeline.accounts.sign_ins import DAY, FRESH_SECONDS, Origin
from tapeline.accounts.users import User
from tapeline.errors import AccountDisabled, InvalidToken, NoSuchSignIn, Unidentified
from tapeline.store.store import Store
from tapeline.store.tables import core

HERE = Origin("192.0.2.7", "Firefox")


@pytest.fixture
def ada(store: Store) -> User:
    return store.write_now(users.add, email="ada@example.com", name="", password_hash="hash")


def edit(store: Store, **values: float) -> None:
    """Change the only sign-in there is."""
    store.write_now(lambda connection: connection.execute(update(core.sign_ins).values(values)))


def test_a_secret_opens_only_what_it_was_made_for(store: Store, ada: User) -> None:
    token, actor = store.write_now(sign_ins.begin, ada, "token", HERE)
    session, _ = store.write_now(sign_ins.begin, ada, "browser", HERE, days=30)
    known = store.read_now(sign_ins.by_secret, token, "token", "192.0.2.8")
    assert known.signed_in() == actor.signed_in()
    assert (known.label, known.address) == ("ada@example.com", "192.0.2.8")
    assert store.read_now(sign_ins.by_secret, session, "browser", "").id == ada.id
    for secret, kind in ((token, "browser"), (session, "token"), (token[:-1], "token")):
        with pytest.raises(InvalidToken):
            store.read_now(sign_ins.by_secret, secret, kind, "")  # type: ignore[arg-type]


def test_a_session_lives_on_while_it_is_used_and_expires_when_it_is_not(
    store: Store, ada: User
) -> None:
    session, actor = store.write_now(sign_ins.begin, ada, "browser", HERE, days=30)
    (shown,) = store.read_now(sign_ins.of_user, ada.id)
    assert shown.expires_at == pytest.approx(time.time() + 30 * DAY, abs=60)
    assert (shown.kind, shown.address, shown.agent) == ("browser", *("192.0.2.7", "Firefox"))
    # Not at every request: a courtesy is not worth a write each.
    edit(store, expires_at=time.time() + 600)
    store.write_now(sign_ins.touch, actor, days=30)
    (shown,) = store.read_now(sign_ins.of_user, ada.id)
    assert shown.expires_at == pytest.approx(time.time() + 600, abs=60)
    edit(store, last_used_at=time.time() - FRESH_SECONDS - 1)
    store.write_now(sign_ins.touch, actor, days=30)
    (shown,) = store.read_now(sign_ins.of_user, ada.id)
    assert shown.expires_at == pytest.approx(time.time() + 30 * DAY, abs=60)
    assert shown.last_used_at == pytest.approx(time.time(), abs=60)
    edit(store, expires_at=time.time() - 1)
    assert store.read_now(sign_ins.of_user, ada.id) == []
    for look in (
        lambda c: sign_ins.by_secret(c, session, "browser", ""),
        lambda c: sign_ins.by_id(c, actor.signed_in()[1], ""),
    ):
        with pytest.raises(InvalidToken):
            store.read_now(look)


def test_sign_ins_end_one_by_one_or_all_but_one(store: Store, ada: User) -> None:
    actors = [store.write_now(sign_ins.begin, ada, "token", HERE)[1] for _ in range(4)]
    ids = [actor.signed_in()[1] for actor in actors]
    bob = store.write_now(users.add, email="bob@example.com", name="", password_hash="hash")
    _, stranger = store.write_now(sign_ins.begin, bob, "token", HERE)
    with pytest.raises(NoSuchSignIn):
        store.write_now(sign_ins.end, stranger, ids[0])
    store.write_now(sign_ins.end, actors[1], ids[0])
    with pytest.raises(NoSuchSignIn):
        store.write_now(sign_ins.end, actors[1], ids[0])
    assert store.write_now(sign_ins.end_all, ada.id, but=ids[1]) == 2
    assert [one.id for one in store.read_now(sign_ins.of_user, ada.id)] == [ids[1]]
    assert store.write_now(sign_ins.end_all, ada.id) == 1
    assert store.read_now(sign_ins.by_id, stranger.signed_in()[1], "").id == bob.id


def test_a_disabled_account_begins_nothing(store: Store, ada: User) -> None:
    token, actor = store.write_now(sign_ins.begin, ada, "token", HERE)
    disabled = store.write_now(users.set_disabled, OPERATOR, ada.email, disabled=True)
    with pytest.raises(InvalidToken):
        store.read_now(sign_ins.by_secret, token, "token", "")
    with pytest.raises(InvalidToken):
        store.read_now(sign_ins.by_id, actor.signed_in()[1], "")
    disabled = store.read_now(users.get, disabled.id)
    with pytest.raises(AccountDisabled):
        store.write_now(sign_ins.begin, disabled, "browser", HERE)


def test_only_a_fingerprint_of_the_secret_is_kept(store: Store, ada: User) -> None:
    token, _ = store.write_now(sign_ins.begin, ada, "token", Origin("192.0.2.7", "agent " * 100))
    row = store.read_now(lambda connection: connection.execute(select(core.sign_ins)).one())
    assert token not in repr(row)
    assert len(row.secret_hash) == 64
    assert len(row.agent) == 200


def test_keys_and_the_operator_are_no_accounts() -> None:
    key = Actor(kind="key", id="k", label="key", project_id="p")
    for actor in (OPERATOR, key):
        with pytest.raises(Unidentified):
            actor.user_id()
        with pytest.raises(Unidentified):
            actor.signed_in()
