"""The demo's rows go on either database, and nobody else's."""

from concurrent.futures import ThreadPoolExecutor

from tapeline.accounts import users
from tapeline.accounts.actor import OPERATOR
from tapeline.cli.demo import account, removal
from tapeline.models import onboarding, projects
from tapeline.settings import Settings
from tapeline.store.store import Store


def test_the_account_goes_with_its_projects_and_nothing_else(
    store: Store, settings: Settings
) -> None:
    made = account.prepare(store, settings.data)
    ada = store.write_now(
        onboarding.add_by_operator, email="ada@example.com", name="Ada", password_hash="hash"
    )
    kept = store.write_now(projects.create, OPERATOR, ada, "Hers", "")
    # In a thread: it runs a loop of its own, and the browser's driver keeps one in the main one.
    with ThreadPoolExecutor(1) as thread:
        gone = thread.submit(removal.remove, store, settings, account.EMAIL).result()
        again = thread.submit(removal.remove, store, settings, account.EMAIL).result()
    assert gone is not None
    assert again is None
    assert store.read_now(users.find, account.EMAIL) is None
    assert [one.id for one in store.read_now(projects.of_user, ada.id)] == [kept.id, ada.id]
    anew = account.prepare(store, settings.data)
    assert anew.project_id != made.project_id
