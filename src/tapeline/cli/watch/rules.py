"""`tapeline rules`: what watches over models, and the state of each rule."""

import time
from typing import Annotated, Any

import typer

from tapeline.cli.server.options import ModelOption, Yes
from tapeline.cli.server.session import Session, one_of
from tapeline.cli.server.wire import json_of
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.confirming import confirm
from tapeline.cli.terminal.failures import Misused

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

RuleName = Annotated[
    str, typer.Argument(metavar="RULE", help="Its name or id.", show_default=False)
]


@command("tapeline rules list", "tapeline rules list --model Trend --json")
def list_rules(context: typer.Context, model: ModelOption = None) -> None:
    """List the rules of a project and of its models, with their states."""
    session = Session.of(context)
    query = {} if model is None else {"model": session.model(model)["id"]}
    items = session.wire.get(f"/api/projects/{session.project['id']}/rules", **query)["items"]
    if session.screen.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["~rule", "when", "state", "~about", "severity", "since"],
        [row for one in items for row in _rows(one)],
        empty="There are no rules. Make one with: tapeline rules add",
    )


@command('tapeline rules show "Quiet"')
def show(context: typer.Context, rule: RuleName) -> None:
    """Show one rule: what it says, and its state for each model."""
    session = Session.of(context)
    found = find(session, rule)
    if session.screen.as_json:
        session.screen.json(found)
        return
    session.screen.say(f"{found['name']} ({found['severity']}): {_when(found)}")
    if found["muted_until"] and found["muted_until"] > time.time():
        why = f": {found['muted_why']}" if found["muted_why"] else ""
        until = screen.moment(found["muted_until"])
        session.screen.say(f"Muted by {found['muted_by']} until {until}{why}", "yellow")
    if found["trouble"]:
        session.screen.say(found["trouble"], "red")
    session.screen.table(
        ["~about", "state", "since", "~what it found"],
        [
            [one["name"], _state(one["state"]), screen.ago(one["since"]), one["said"]]
            for one in found["states"]
        ],
        empty="It has not been evaluated yet.",
    )


@command(
    'tapeline rules mute "Quiet" --for 2h --why "Exchange maintenance"',
    'tapeline rules mute "Quiet" --end',
)
def mute(
    context: typer.Context,
    rule: RuleName,
    lasting: Annotated[
        str | None, typer.Option("--for", help="How long, such as 30m, 2h or 1d.", metavar="TIME")
    ] = None,
    why: Annotated[str, typer.Option("--why", help="For everybody who sees it.")] = "",
    end: Annotated[bool, typer.Option("--end", help="Let it count again.")] = False,
) -> None:
    """Keep a rule from opening incidents for a while."""
    if end == (lasting is not None):
        raise Misused("Give either --for or --end.")
    session = Session.of(context)
    found = find(session, rule)
    until = None if lasting is None else time.time() + _seconds(lasting)
    answer = session.wire.post(f"/api/rules/{found['rule_id']}/mute", until=until, why=why)
    said = "counts again" if until is None else f"is muted until {screen.moment(until)}"
    session.screen.done(f"{found['name']} {said}.", answer)


@command('tapeline rules rm "Quiet"')
def remove(context: typer.Context, rule: RuleName, yes: Yes = False) -> None:
    """Delete a rule; its open incidents are over."""
    session = Session.of(context)
    found = find(session, rule)
    confirm(session.screen, f"Delete the rule {found['name']}?", yes=yes)
    session.wire.ask("DELETE", f"/api/rules/{found['rule_id']}", json_of({}))
    session.screen.done(f"The rule {found['name']} is deleted.")


def find(session: Session, wanted: str) -> dict[str, Any]:
    """By name or id, among those of the project."""
    items = session.wire.get(f"/api/projects/{session.project['id']}/rules")["items"]
    named = [{**one, "id": one["rule_id"]} for one in items]
    return one_of(named, wanted, "rule", "tapeline rules list")


def _rows(rule: dict[str, Any]) -> list[list[Any]]:
    shared = [rule["name"], _when(rule)]
    states = rule["states"] or [{"state": "new", "name": "", "since": None}]
    return [
        [*shared, _state(one["state"]), one["name"], rule["severity"], screen.ago(one["since"])]
        for one in states
    ]


def _when(rule: dict[str, Any]) -> str:
    when, words = rule["when"], []
    if isinstance(when, dict):
        words += [f"{key} {value}" for key, value in when.items() if key != "condition"]
        when = when["condition"]
    if rule["limit"] is not None:
        words.insert(0, f"{rule['limit']:g} {rule['unit']}")
    if rule["for"]:
        words.append(f"for {rule['for']}")
    return " ".join([when, *words])


def _state(word: str) -> Any:
    styles = {"firing": "red", "pending": "yellow", "unknown": "yellow", "ok": "green"}
    return screen.styled(word, styles.get(word, "dim"))


def _seconds(text: str) -> float:
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not number.replace(".", "", 1).isdigit():
        raise Misused(f"--for is {text!r}; give a time such as 30m, 2h or 1d.")
    return float(number) * UNITS[unit]
