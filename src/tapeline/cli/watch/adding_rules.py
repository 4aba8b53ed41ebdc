"""`tapeline rules add`: from a file of JSON, or from options."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tapeline.cli.server.options import ModelOption
from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import json_of
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import Failure, Misused


@command(
    'tapeline rules add "Quiet" --when no-event --for 10m --model Trend',
    'tapeline rules add "Deep" --when drawdown --limit 20 --unit percent --do tell --do stop',
    "tapeline rules add --file rules.json",
    "tapeline rules conditions",
)
def add(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="What to call it.", show_default=False)
    ] = None,
    when: Annotated[
        str | None,
        typer.Option(
            "--when", metavar="CONDITION", help="A condition; tapeline rules conditions lists them."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="Of the condition, as within=1h."),
    ] = None,
    limit: Annotated[float | None, typer.Option("--limit", help="Where it begins.")] = None,
    unit: Annotated[str | None, typer.Option("--unit", help="Of the limit.")] = None,
    lasting: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="How long, as 90s or 10m.")
    ] = None,
    severity: Annotated[
        str, typer.Option("--severity", help="info, warning or critical.")
    ] = "warning",
    do: Annotated[
        list[str] | None, typer.Option("--do", help="tell, stop or halt; may be repeated.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", help="A rule as JSON, or a list of them; - reads standard input."),
    ] = None,
    model: ModelOption = None,
) -> None:
    """Make a rule about a project, or with --model about one model."""
    session = Session.of(context)
    if file is not None:
        if name or when:
            raise Misused("Give either --file or a name with --when.")
        rules = _of_file(file)
    elif name and when:
        rules = [_of_options(name, when, option or [], limit, unit, lasting, severity, do)]
    else:
        raise Misused("A rule needs a name and --when, or --file.")
    about = {} if model is None else {"model_id": session.model(model)["id"]}
    path = f"/api/projects/{session.project['id']}/rules"
    made = [session.wire.ask("POST", path, json_of({**one, **about})) for one in rules]
    names = ", ".join(one["name"] for one in made)
    session.screen.done(f"Watching: {names}.", made[0] if len(made) == 1 else made)


@command("tapeline rules conditions", "tapeline rules conditions --json")
def conditions(context: typer.Context) -> None:
    """List everything that a rule can be about."""
    session = Session.of(context)
    items = session.wire.get("/api/rules/conditions")["items"]
    if session.screen.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["condition", "limit", "options", "~what it finds"],
        [
            [
                one["name"],
                " or ".join(one["units"]),
                ", ".join(["for"] * one["is_silence"] + [each["name"] for each in one["options"]]),
                one["help"],
            ]
            for one in items
        ],
    )


def _of_file(file: Path) -> list[dict[str, Any]]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise Failure(f"{file} cannot be read: {error}") from None
    rules = found if isinstance(found, list) else [found]
    if not rules or not all(isinstance(one, dict) for one in rules):
        raise Failure(f"{file} must hold a rule as a JSON object, or a list of them.")
    return rules


def _of_options(
    name: str,
    when: str,
    options: list[str],
    limit: float | None,
    unit: str | None,
    lasting: str | None,
    severity: str,
    do: list[str] | None,
) -> dict[str, Any]:
    chosen: dict[str, str] = {}
    for one in options:
        key, equals, value = one.partition("=")
        if not equals:
            raise Misused(f"--option is {one!r}; give it as KEY=VALUE.")
        chosen[key] = value
    rule: dict[str, Any] = {
        "name": name,
        "when": {"condition": when, **chosen} if chosen else when,
        "severity": severity,
    }
    more = {"limit": limit, "unit": unit, "for": lasting, "do": do or None}
    return rule | {key: value for key, value in more.items() if value is not None}
