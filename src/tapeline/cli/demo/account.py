"""The demo: an account and a project that need no sign-up, and their removal."""

from dataclasses import dataclass
from pathlib import Path

import typer
from sqlalchemy import Connection

from tapeline import compose, datadir, logs, private_files, settings
from tapeline.accounts import passwords, users
from tapeline.accounts.actor import OPERATOR
from tapeline.cli.demo import removal
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import NotFound
from tapeline.cli.terminal.screen import Screen
from tapeline.ids import new_secret
from tapeline.models import onboarding, projects
from tapeline.store.store import Store

EMAIL = onboarding.DEMO_EMAIL
PROJECT = "Demo"
PASSWORD, LINK = "demo-password", "demo-link"  # files of the data directory


@dataclass(frozen=True)
class Demo:
    password: str
    project_id: str
    project: str = PROJECT

    def lines(self, link: str | None, removal: str) -> list[str]:
        return [
            f"  demo       sign in as {EMAIL} with password {self.password}",
            f"  project    {self.project} ({self.project_id})",
            *([f"  shared     {link}"] if link else []),
            f"  remove it  {removal}",
        ]


@command("tapeline demo remove", "tapeline demo remove --data /srv/tapeline --json", options=JSON)
def remove(
    context: typer.Context, data: Data = None, database: Database = None, config: Config = None
) -> None:
    """Remove the demo with everything that belongs to it.

    Its account, projects, models, runs, results and links. A server may be running. The next
    `tapeline up --demo` creates the demo again.
    """
    chosen = settings.load({"data": data, "database": database, "config": config})
    logs.start("warning", chosen.log_format)
    datadir.require_database(chosen.data, chosen.database)
    out = Screen(as_json=context.obj.as_json)
    with compose.open_store(chosen) as store:
        gone = removal.remove(store, chosen, EMAIL)
        if gone is None:
            raise NotFound(f"There is no demo in {chosen.data}.")
        for name in (PASSWORD, LINK):
            (chosen.data / name).unlink(missing_ok=True)
    out.done(
        f"The demo is removed: {len(gone.models)} models, {len(gone.runs)} runs and its account.",
        {"status": "success", "models": len(gone.models), "runs": len(gone.runs)},
    )


def prepare(store: Store, data: Path) -> Demo:
    """Make the demo's account once; later starts show the same one.

    The password is random: a demo that listens on a network must not be open to everyone.
    """
    password = _password(data / PASSWORD)
    known = store.read_now(users.find, EMAIL)
    if known is None:
        return store.write_now(_make, password, passwords.hash_password(password))
    if not passwords.matches(known.password_hash, password):
        password = "(the one you set)"  # noqa: S105
    own = store.read_now(projects.of_user, known.id)
    # The first of that name; if it was deleted, the personal one, which cannot be.
    first = next((one for one in reversed(own) if one.name == PROJECT), own[-1])
    return Demo(password, first.id, first.name)


def _make(connection: Connection, password: str, password_hash: str) -> Demo:
    user = onboarding.add_demo(connection, email=EMAIL, password_hash=password_hash)
    about = "A simulated market to look at. Remove it with: tapeline demo remove"
    project = projects.create(connection, OPERATOR, user, PROJECT, about)
    return Demo(password, project.id)


def _password(file: Path) -> str:
    return private_files.read_or_make(file, _new_password).decode()


def _new_password() -> bytes:
    return new_secret()[:16].encode()
