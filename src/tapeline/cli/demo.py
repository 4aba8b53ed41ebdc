"""The demo: an account and a project that are there without signing up."""

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

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
    if not file.exists():
        # Under another name first: a start that is killed here must not leave an empty password.
        draft = file.with_suffix(".draft")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as opened:
            opened.write(new_secret()[:16])
        draft.replace(file)
    return file.read_text()
