"""`tapeline incidents`: what rules found, and what followed from it."""

from typing import Annotated, Any, Literal

import typer

from tapeline.cli.server.options import Count, ModelOption
from tapeline.cli.server.session import Session
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command

IncidentId = Annotated[str, typer.Argument(metavar="INCIDENT", help="Its id.", show_default=False)]
STYLES = {"critical": "red", "warning": "yellow", "info": "cyan"}


@command("tapeline incidents list", "tapeline incidents list --state open --json")
def list_incidents(
    context: typer.Context,
    model: ModelOption = None,
    state: Annotated[
        Literal["open", "resolved"] | None, typer.Option("--state", help="Only these.")
    ] = None,
    number: Count = 20,
) -> None:
    """List the newest incidents of a project."""
    session = Session.of(context)
    query: dict[str, Any] = {"project": session.project["id"], "limit": min(number, 1000)}
    if model is not None:
        query["model"] = session.model(model)["id"]
    if state is not None:
        query["state"] = state
    items = session.wire.get("/api/incidents", **query)["items"]
    if session.screen.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["=incident", "severity", "~rule", "~about", "fired", "state", "~what it found"],
        [_row(one) for one in items],
        empty="There are no incidents.",
    )


@command("tapeline incidents show 8gatysuyuq5vetfz")
def show(context: typer.Context, incident: IncidentId) -> None:
    """Show an incident with its timeline, and with what was told of it."""
    session = Session.of(context)
    found = session.wire.get(f"/api/incidents/{incident}")
    if session.screen.as_json:
        session.screen.json(found)
        return
    session.screen.say(f"{found['name']} ({found['severity']}), about {found['subject_name']}")
    session.screen.say(found["said"])
    session.screen.table(
        ["at", "what", "by", "~note"],
        [
            [screen.moment(one["at"]), one["what"].replace("_", " "), one["by"], one["text"]]
            for one in found["timeline"]
        ],
    )
    if found["messages"]:
        session.screen.table(
            ["channel", "what", "told", "~trouble"],
            [
                [
                    one["channel"],
                    one["what"],
                    screen.moment(one["delivered_at"]) if one["delivered_at"] else "not yet",
                    one["last_error"] or "",
                ]
                for one in found["messages"]
            ],
        )


@command('tapeline incidents ack 8gatysuyuq5vetfz --note "I am on it"')
def acknowledge(
    context: typer.Context,
    incident: IncidentId,
    note: Annotated[str, typer.Option("--note", help="For everybody who sees it.")] = "",
) -> None:
    """Say that somebody knows of it: nobody else is woken."""
    session = Session.of(context)
    answer = session.wire.post(f"/api/incidents/{incident}/acknowledge", note=note)
    session.screen.done(f"{answer['name']} is acknowledged.", answer)


def _row(one: dict[str, Any]) -> list[Any]:
    seen = " (seen)" if one["acknowledged_at"] and one["state"] == "open" else ""
    return [
        one["incident_id"],
        screen.styled(one["severity"], STYLES.get(one["severity"], "")),
        one["name"],
        one["subject_name"],
        screen.ago(one["fired_at"]),
        screen.styled(one["state"] + seen, "red" if one["state"] == "open" else "green"),
        one["said"],
    ]
