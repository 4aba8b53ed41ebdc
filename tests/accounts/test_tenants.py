"""Whoever may invite can make accounts: those all count as one tenant."""

from sqlalchemy import Connection, update

from tapeline.accounts import invitations, tenants, users
from tapeline.accounts.actor import Actor
from tapeline.accounts.sign_ins import Origin
from tapeline.accounts.users import User
from tapeline.models import onboarding, projects
from tapeline.store.store import Store
from tapeline.store.tables import core


def sign_up(store: Store, name: str, by: User | None = None) -> User:
    invitation = ""
    if by is not None:
        actor = Actor(kind="account", id=by.id, label=by.email)
        invitation, _ = store.write_now(invitations.invite, actor, by.id, "viewer", 1)
    return store.write_now(
        onboarding.sign_up,
        email=f"{name}@example.com",
        name=name,
        password_hash="hash",
        invitation=invitation,
        may_be_first=True,
        policy="open",
        origin=Origin("192.0.2.7", ""),
    )


def tenant(store: Store, user: User) -> str:
    return store.read_now(tenants.of_user, user.id)


def test_a_chain_of_invitations_is_one_tenant_and_ends_at_the_operator(store: Store) -> None:
    operator = sign_up(store, "operator")
    mallory = sign_up(store, "mallory", by=operator)
    puppet = sign_up(store, "puppet", by=mallory)
    puppets_puppet = sign_up(store, "puppets-puppet", by=puppet)
    stranger = sign_up(store, "stranger")
    added = store.write_now(
        onboarding.add_by_operator, email="added@example.com", name="", password_hash="hash"
    )
    for user in (operator, mallory, stranger, added):
        assert tenant(store, user) == user.id
    assert {tenant(store, one) for one in (puppet, puppets_puppet)} == {mallory.id}


def test_an_account_that_was_there_before_stays_its_own_tenant(store: Store) -> None:
    sign_up(store, "operator")
    mallory, ada = sign_up(store, "mallory"), sign_up(store, "ada")
    actor = Actor(kind="account", id=mallory.id, label=mallory.email)
    secret, _ = store.write_now(invitations.invite, actor, mallory.id, "viewer", 1)
    store.write_now(invitations.accept, actor, ada, secret)
    assert tenant(store, ada) == ada.id


def test_an_invitation_of_an_earlier_version_says_nothing_about_its_author(store: Store) -> None:
    sign_up(store, "operator")
    mallory = sign_up(store, "mallory")
    actor = Actor(kind="account", id=mallory.id, label=mallory.email)
    secret, _ = store.write_now(invitations.invite, actor, mallory.id, "viewer", 1)

    def forget(connection: Connection) -> None:
        connection.execute(update(core.invitations).values(author_id=None))

    store.write_now(forget)
    assert store.read_now(invitations.author, secret) is None


def test_projects_belong_to_the_tenant_of_their_first_owner(store: Store) -> None:
    sign_up(store, "operator")
    mallory = sign_up(store, "mallory")
    puppet, ada = sign_up(store, "puppet", by=mallory), sign_up(store, "ada")
    puppets = Actor(kind="account", id=puppet.id, label=puppet.email)
    made = store.write_now(projects.create, puppets, puppet, "more", "")
    found = store.read_now(tenants.of_projects, [made.id, ada.id, puppet.id, "gone"])
    assert found == {made.id: mallory.id, ada.id: ada.id, puppet.id: mallory.id, "gone": "gone"}
    secret, _ = store.write_now(invitations.invite, puppets, made.id, "owner", 1)
    store.write_now(invitations.accept, puppets, store.read_now(users.get, ada.id), secret)
    assert store.read_now(tenants.of_project, made.id) == mallory.id
    key = Actor(kind="key", id="k", label="k", project_id=made.id)
    assert store.read_now(tenants.of_actor, key) == mallory.id
    assert store.read_now(tenants.of_actor, puppets) == mallory.id
