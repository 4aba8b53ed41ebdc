"""The demo: an account and a project that are there without signing up."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from tapeline import private_files
from tapeline.accounts import passwords, users
from tapeline.accounts.actor import OPERATOR
from tapeline.ids import new_secret
from tapeline.models import onboarding, projects
from tapeline.store.store import Store

EMAIL = "demo@tapeline.local"
PROJECT = "Demo"


@dataclass(frozen=True)
class Demo:
    password: str
    project_id: str
    project: str = PROJECT

    def lines(self) -> list[str]:
        return [
            f"  demo       sign in as {EMAIL} with password {self.password}",
            f"  project    {self.project} ({self.project_id})",
        ]


def prepare(store: Store, data: Path) -> Demo:
    """Make the demo's account once; later starts show the same one.

    The password is random: a demo that listens on a network must not be everybody's.
    """
    password = _password(data / "demo-password")
    known = store.read_now(users.find, EMAIL)
    if known is None:
        return store.write_now(_make, password, passwords.hash_password(password))
    if not passwords.matches(known.password_hash, password):
        password = "(the one you set)"  # noqa: S105
    own = store.read_now(projects.of_user, known.id)
    # The first of that name; the personal one, which nobody can delete, when it is gone.
    first = next((one for one in reversed(own) if one.name == PROJECT), own[-1])
    return Demo(password, first.id, first.name)


def _make(connection: Connection, password: str, password_hash: str) -> Demo:
    user = onboarding.add_demo(connection, email=EMAIL, password_hash=password_hash)
    project = projects.create(connection, OPERATOR, user, PROJECT, "Something to look at.")
    return Demo(password, project.id)


def _password(file: Path) -> str:
    return private_files.read_or_make(file, _new_password).decode()


def _new_password() -> bytes:
    return new_secret()[:16].encode()
