"""`tapeline projects`: your projects, and the one that commands use."""

from typing import Annotated

import typer

from tapeline.cli.server import completing
from tapeline.cli.server.options import Yes
from tapeline.cli.server.session import Session
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import SERVER, command
from tapeline.cli.terminal.confirming import confirm
from tapeline.cli.terminal.failures import Failure

ProjectName = Annotated[
    str,
    typer.Argument(
        metavar="PROJECT",
        help="Id or name.",
        autocompletion=completing.projects,
        show_default=False,
    ),
]


@command("tapeline projects list", "tapeline projects list --json", options=SERVER)
def list_projects(context: typer.Context) -> None:
    """List your projects."""
    session = Session.of(context)
    items = session.me["projects"]
    if session.choices.as_json:
        session.screen.json(items)
        return
    current = session.project["id"]
    session.screen.table(
        ["", "~project", "id", "role", ">models", "?made"],
        [
            [
                "*" if one["id"] == current else "",
                one["name"],
                one["id"],
                one["role"],
                one["models"],
                screen.ago(one["created_at"]),
            ]
            for one in items
        ],
    )


@command('tapeline projects new "Mean reversion"', options=SERVER)
def new(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name.", show_default=False)],
    description: Annotated[str, typer.Option("--description", help="What it is about.")] = "",
) -> None:
    """Create a project and switch to it."""
    session = Session.of(context)
    made = session.wire.post("/project/create", name=name, description=description)
    _use(session, made["projectId"])
    session.screen.done(
        f"Created project {made['name']} ({made['projectId']}). It is now in use.", made
    )


@command('tapeline projects use "Mean reversion"', options=SERVER)
def use(context: typer.Context, project: ProjectName) -> None:
    """Choose the project that commands use."""
    session = Session.of(context)
    found = session.find_project(project)
    if not session.name:
        raise Failure("You must be signed in to choose a project. Run: tapeline login")
    _use(session, found["id"])
    session.screen.done(f"Commands now use project {found['name']}.", found)


@command('tapeline projects rm "Mean reversion" --yes', options=SERVER)
def remove(context: typer.Context, project: ProjectName, yes: Yes = False) -> None:
    """Delete a project with its models and keys."""
    session = Session.of(context)
    found = session.find_project(project)
    confirm(
        session.screen,
        f"Delete {found['name']} ({found['id']}) with its {found['models']} models?",
        yes=yes,
    )
    session.wire.post("/project/delete", projectId=found["id"])
    session.screen.done(f"{found['name']} is deleted.")


def _use(session: Session, project_id: str) -> None:
    """Nothing is saved when the token comes from the environment."""
    if session.name:
        session.profile.project_id = project_id
        session.profiles.save()
