"""Lists a model's backtests with their key metrics; renames and deletes them."""

from collections.abc import Collection
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, and_, select, update

from tapeline.accounts import audit, members
from tapeline.accounts.actor import Actor
from tapeline.results.metrics import deflated
from tapeline.results.metrics.deflated import Deflated, Trial
from tapeline.results.metrics.report_fields import KEY, VERSION, Measured
from tapeline.store.tables.results import reports, trials, trials_by_result
from tapeline.store.tables.tape import backtests
from tapeline.tape import tapes
from tapeline.tape.reading import backtests as tape_backtests
from tapeline.tape.retention import old_backtests
from tapeline.tape.tapes import Reading

NO_RESULT = "No result has arrived."

_brief = msgspec.json.Decoder(dict[str, Measured])


class Listing(msgspec.Struct):
    """A backtest in a list."""

    fields: dict[str, Any]
    brief: dict[str, Measured]
    computing: bool


def listed(
    connection: Connection, tape: int, *, before: int | None, limit: int
) -> tuple[list[Listing], int | None]:
    """The newest first, by arrival, and the number to go on from: one query for all."""
    report = and_(reports.c.upload == backtests.c.upload, reports.c.version >= VERSION)
    query = (
        select(backtests, reports.c.brief)
        .outerjoin(reports, report)
        .where(backtests.c.tape == tape, tape_backtests.is_there())
    )
    if before is not None:
        query = query.where(backtests.c.no < before)
    rows = connection.execute(query.order_by(backtests.c.no.desc()).limit(limit)).all()
    return [_listing(row) for row in rows], rows[-1].no if len(rows) == limit else None


def trials_of(connection: Connection, tape: int, trial: Trial | None) -> Deflated:
    """How many backtests were tried on the model, and this one's Sharpe ratio adjusted for that."""
    rows = connection.execute(
        select(trials.c.sharpe, trials.c.periods_per_year).where(trials.c.tape == tape)
    ).all()
    return _deflated(trial, rows)


def _deflated(trial: Trial | None, rows: Collection[Row[*tuple[Any, ...]]]) -> Deflated:
    others = [(row.sharpe, row.periods_per_year) for row in rows if row.sharpe is not None]
    return deflated.deflate(trial, others, len(rows))


def trials_until(connection: Connection, tape: int, seq: int, trial: Trial | None) -> Deflated:
    """The same as it was when the tape had so many events. A result that came later does not count,
    and one that it replaced still does."""
    standing = (
        select(
            trials.c.backtest,
            backtests.c.result_seq.label("seq"),
            trials.c.sharpe,
            trials.c.periods_per_year,
        )
        .join(backtests, backtests.c.no == trials.c.backtest)
        .where(trials.c.tape == tape, backtests.c.result_seq <= seq)
    )
    each = select(
        trials_by_result.c.backtest,
        trials_by_result.c.seq,
        trials_by_result.c.sharpe,
        trials_by_result.c.periods_per_year,
    ).where(trials_by_result.c.tape == tape, trials_by_result.c.seq <= seq)
    # What stands first: a server of an earlier version, beside this one, writes nothing else.
    found = [row for query in (standing, each) for row in connection.execute(query)]
    newest = {row.backtest: row for row in sorted(found, key=lambda row: row.seq)}
    return _deflated(trial, newest.values())


def describe(
    connection: Connection, actor: Actor, found: Reading, backtest_id: str, words: dict[str, Any]
) -> Row[*tuple[Any, ...]]:
    """Set label or description; null restores the value from the backtest itself."""
    members.require(connection, actor, found.project_id, "change_models")
    row = tape_backtests.find(connection, found.tape, backtest_id)
    if words:
        connection.execute(update(backtests).where(backtests.c.no == row.no).values(**words))
        _record(connection, actor, found, "backtest_changed", backtest_id, words)
    return tape_backtests.find(connection, found.tape, backtest_id)


def remove(connection: Connection, actor: Actor, found: Reading, backtest_id: str) -> None:
    """Delete a backtest for everybody at once; its lists are deleted in the background.

    Its events stay on the tape, because the chain runs through them, and it still counts as a
    trial.
    """
    members.require(connection, actor, found.project_id, "change_models")
    tapes.hold(connection, found.tape, alone=True)  # a report of it may be in the making
    row = tape_backtests.find(connection, found.tape, backtest_id)
    old_backtests.delete(connection, found.tape, found.seq, row)
    _record(connection, actor, found, "backtest_deleted", backtest_id, {})


def _listing(row: Row[*tuple[Any, ...]]) -> Listing:
    brief = dict.fromkeys(KEY, Measured(None, NO_RESULT))
    if row.upload is not None:
        brief = {} if row.brief is None else _brief.decode(row.brief)
    return Listing(tape_backtests.shown(row), brief, row.upload is not None and row.brief is None)


def _record(
    connection: Connection,
    actor: Actor,
    found: Reading,
    action: str,
    backtest_id: str,
    details: dict[str, Any],
) -> None:
    subject = f"backtest:{found.model_id}/{backtest_id}"
    audit.record(connection, actor, action, subject, project_id=found.project_id, **details)
