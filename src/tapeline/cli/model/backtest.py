"""`tapeline backtest`: run the backtest of a folder or of a stored version."""

import ast
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tapeline.cli.folder import manifest_file
from tapeline.cli.model.control import version_id
from tapeline.cli.model.deploy import Folder, Name, New, NoCheck, Plan, Python, Upload
from tapeline.cli.model.uploading import Routes, Source, upload
from tapeline.cli.record.backtests import show_backtest, shown_when_computed
from tapeline.cli.server.following import follow_backtest
from tapeline.cli.server.options import ModelOption
from tapeline.cli.server.session import Session
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import Misused, RunFailed


@command(
    "tapeline backtest --arg days=90 --arg fast=5",
    'tapeline backtest models/trend --arg symbols=\'["BTC-USD", "ETH-USD"]\'',
    "tapeline backtest --model Trend --version 3 --json",
)
def backtest(
    context: typer.Context,
    folder: Folder = Path(),
    arguments: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            "-a",
            metavar="KEY=VALUE",
            help="An argument that overrides platform.json: a number, true, text or JSON.",
            show_default=False,
        ),
    ] = None,
    description: Annotated[
        str | None, typer.Option("--description", help="What this backtest tests.")
    ] = None,
    model: ModelOption = None,
    version: Annotated[
        str | None, typer.Option("--version", help="A stored version instead of a folder.")
    ] = None,
    new: New = False,
    name: Name = None,
    plan: Plan = None,
    python: Python = None,
    always: Upload = False,
    unchecked: NoCheck = False,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for it.")] = False,
) -> None:
    """Upload a folder and run its backtest.

    Shows its output, then its status, metrics and equity. An unchanged folder is not uploaded
    again: its stored version is tested. Exits with status 6 if the backtest fails.
    """
    session = Session.of(context)
    if version is None:
        said = _arguments(arguments, _of_manifest(folder))
        source = Source(
            folder, model, new=new, name=name, python=python, always=always, checked=not unchecked
        )
        told = {
            "backtestArgs": None if said is None else json.dumps(said),
            "backtestDescription": description,
            "plan": plan,
        }
        routes = Routes("/model/backtest", "/model/backtest-uploaded-model")
        tested, after = upload(session, source, routes, told)
    else:
        tested, after = _of_stored(session, model, version, arguments, description, plan)
    _see_through(session, tested, after, detach=detach)


def typed(text: str) -> Any:
    """A value as it was most likely meant: JSON, a Python literal, or else plain text."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text


def _arguments(given: list[str] | None, base: dict[str, Any]) -> dict[str, Any] | None:
    if not given:
        return None  # the server knows what platform.json says
    said = dict(base)
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key.strip():
            raise Misused(f"--arg {one} must be written as KEY=VALUE, such as days=90.")
        said[key.strip()] = typed(value)
    return said


def _of_manifest(folder: Path) -> dict[str, Any]:
    found = manifest_file.require(folder).values.get("backtest_args")
    return found if isinstance(found, dict) else {}


def _of_stored(
    session: Session,
    model: str | None,
    version: str,
    arguments: list[str] | None,
    description: str | None,
    plan: str | None,
) -> tuple[dict[str, Any], int]:
    found = session.model(model)
    tested = session.wire.post(
        "/model/backtest-uploaded-model",
        modelId=found["id"],
        projectId=found["projectId"],
        versionId=version_id(session, found, version),
        backtestArgs=_arguments(arguments, {}),
        backtestDescription=description,
        plan=plan,
    )
    return tested, 0


def _see_through(session: Session, tested: dict[str, Any], after: int, *, detach: bool) -> None:
    model = {"id": tested["modelId"], "projectId": tested["projectId"]}
    page = session.page_of(model, f"{tested['backtestId']}/backtest")
    session.screen.note(f"Backtest {tested['backtestId']} of version {tested['version']}.", "green")
    if detach:
        session.screen.done(page, {**tested, "url": page})
        return
    try:
        run = follow_backtest(session, tested, after)
    except KeyboardInterrupt:
        model_id = tested["modelId"]
        for line in (
            "",
            "The backtest continues."
            f" See it with: tapeline backtests show {tested['backtestId']} --model {model_id}",
            f"Stop it with: tapeline stop {model_id} --run {tested['runId']}",
        ):
            session.screen.note(line, None)
        raise
    found = shown_when_computed(session, tested["modelId"], tested["backtestId"])
    if session.screen.as_json:
        session.screen.json({**tested, "url": page, "run": run, "backtest": found})
    else:
        show_backtest(session, tested["modelId"], found)
        session.screen.say(page)
    status = found["status"] or {}
    if not status.get("successful"):
        summary = status.get("status_summary") or run["reason"] or "it has no status"
        raise RunFailed(f"The backtest failed: {summary}")
