"""The models of a project at a glance: one query, however many there are."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, and_, func, select
from sqlalchemy.sql.selectable import Select

from tapeline.results.pnl import account, model_currency
from tapeline.results.pnl.books import Totals, totals_from
from tapeline.results.pnl.summary import (
    Source,
    in_currencies,
    main_currency,
    money,
    own_values,
)
from tapeline.results.rules.position import exact, number
from tapeline.store.tables.core import models
from tapeline.store.tables.ledger import ledgers
from tapeline.store.tables.runs import runs, versions
from tapeline.store.tables.tape import backtests, orders, states, tapes, used
from tapeline.tape.append.quotas import ModelUsage, Quotas
from tapeline.tape.events import kinds
from tapeline.tape.orders import OrderState, merged

OF_AN_ORDER = ("type", "symbol", "side", "size", "funds", "price", "status")

_order = msgspec.json.Decoder(OrderState)


class Lifecycle(msgspec.Struct):
    """What a model, or the platform for it, last said of itself."""

    message: str | None = None
    start_at: float | None = None
    end_at: float | None = None
    running: bool | None = None


class LastOrder(msgspec.Struct, kw_only=True):
    id: str
    type: str | None
    symbol: str | None
    side: str | None
    size: float | None
    funds: float | None
    price: float | None
    status: str | None
    time: float | None
    received_at: float | None


class Version(msgspec.Struct):
    version: int
    version_id: str
    description: str
    created_at: float


class NewestVersion(msgspec.Struct):
    version: int
    version_id: str
    description: str
    python_version: str
    created_at: float


class Result(msgspec.Struct, kw_only=True):
    source: Source
    currency: str | None = None
    value: float | None = None
    """Realized, unrealized and cash together, or the last value of the model's own series."""
    realized: float | None = None
    unrealized: float | None = None
    fees: float | None = None
    by_currency: dict[str, float] = {}
    """The total of each currency; they are never added up."""
    is_partial: bool = False
    """Whether a symbol is not computed, so that no sum here includes it."""


class Backtest(msgspec.Struct):
    backtest_id: str
    created_at: float
    successful: bool | None
    status_summary: str
    label: str | None


class Glance(msgspec.Struct, kw_only=True):
    """One model in a list."""

    id: str
    project_id: str
    name: str
    type: str
    general_description: str
    created_at: float
    lifecycle: Lifecycle
    version: Version | None
    """What runs or ran live last; before that, the newest upload."""
    last_order: LastOrder | None
    pnl: Result
    last_backtest: Backtest | None
    plan: str | None = None
    python_version: str | None = None
    newest_version: NewestVersion | None = None
    """The newest upload, whether it runs or not."""
    symbols: list[str] = []
    exchanges: list[str] = []
    counts: dict[str, int] = {}
    """How many events of each kind are on the tape."""
    usage: ModelUsage | None = None


def of_project(connection: Connection, project_id: str, quotas: Quotas) -> list[Glance]:
    """Newest first."""
    in_project = models.c.project_id == project_id
    found: dict[str, Glance] = {}
    with exact():
        for row in connection.execute(_query().where(in_project)):
            found.setdefault(row.id, _glance(row, quotas))
    for row in connection.execute(_used_names().where(in_project)):
        if row.model_id in found:
            of_model = found[row.model_id]
            (of_model.symbols if row.what == "symbol" else of_model.exchanges).append(row.name)
    return list(found.values())


def _query() -> Select[Any]:
    lifecycle, own, switch, funded = (
        states.alias(name)
        for name in ("lifecycle_state", "pnl_state", "switch_state", "account_state")
    )
    newest, live = versions.alias("newest"), versions.alias("live")
    of_tape = tapes.c.no
    return (
        select(
            models,
            lifecycle.c.value.label("lifecycle"),
            own.c.value.label("own"),
            switch.c.value.label("switch"),
            funded.c.value.label("account"),
            ledgers.c.totals,
            of_tape.label("tape"),
            tapes.c.bytes.label("tape_bytes"),
            tapes.c.counts,
            newest.c.number.label("newest_number"),
            newest.c.id.label("newest_id"),
            newest.c.description.label("newest_note"),
            newest.c.python_version.label("newest_python"),
            newest.c.created_at.label("newest_at"),
            func.coalesce(live.c.number, newest.c.number).label("number"),
            func.coalesce(live.c.id, newest.c.id).label("version_id"),
            func.coalesce(live.c.description, newest.c.description).label("note"),
            func.coalesce(live.c.created_at, newest.c.created_at).label("uploaded_at"),
            orders.c.id.label("order_id"),
            orders.c.received_at.label("ordered_at"),
            orders.c.state.label("order"),
            backtests.c.id.label("backtest_id"),
            backtests.c.created_at.label("backtest_at"),
            backtests.c.status.label("backtest_status"),
            _last_result().label("backtest_result"),
        )
        .outerjoin(tapes, tapes.c.model_id == models.c.id)
        .outerjoin(lifecycle, and_(lifecycle.c.tape == of_tape, lifecycle.c.name == "lifecycle"))
        .outerjoin(own, and_(own.c.tape == of_tape, own.c.name == "pnl"))
        .outerjoin(switch, and_(switch.c.tape == of_tape, switch.c.name == "auto_pnl"))
        .outerjoin(funded, and_(funded.c.tape == of_tape, funded.c.name == account.STATE))
        .outerjoin(ledgers, ledgers.c.tape == of_tape)
        .outerjoin(orders, and_(orders.c.tape == of_tape, orders.c.id == _last_order()))
        .outerjoin(backtests, backtests.c.no == _last_backtest())
        .outerjoin(
            newest, and_(newest.c.model_id == models.c.id, newest.c.number == _last_number())
        )
        .outerjoin(live, live.c.id == _live_version())
        .order_by(models.c.created_at.desc(), models.c.id)
    )


def _used_names() -> Select[Any]:
    return (
        select(tapes.c.model_id, used.c.what, used.c.name)
        .join(tapes, tapes.c.no == used.c.tape)
        .join(models, models.c.id == tapes.c.model_id)
        .order_by(used.c.tape, used.c.seq)
    )


def _last_order() -> Any:
    """By its id: asked for its number, SQLite reads all orders of the tape to find it."""
    one = orders.alias()
    return (
        select(one.c.id)
        .where(one.c.tape == tapes.c.no, one.c.seq.is_not(None))
        .order_by(one.c.seq.desc())
        .limit(1)
        .scalar_subquery()
    )


def _last_backtest() -> Any:
    one = backtests.alias()
    return select(func.max(one.c.no)).where(one.c.tape == tapes.c.no).scalar_subquery()


def _last_result() -> Any:
    one = backtests.alias()
    return (
        select(one.c.result)
        .where(one.c.tape == tapes.c.no, one.c.result_seq.is_not(None))
        .order_by(one.c.result_seq.desc())
        .limit(1)
        .scalar_subquery()
    )


def _last_number() -> Any:
    one = versions.alias()
    return select(func.max(one.c.number)).where(one.c.model_id == models.c.id).scalar_subquery()


def _live_version() -> Any:
    one = runs.alias()
    return (
        select(one.c.version_id)
        .where(one.c.model_id == models.c.id, one.c.kind == "live")
        .order_by(one.c.created_at.desc())
        .limit(1)
        .scalar_subquery()
    )


def _glance(row: Row[*tuple[Any, ...]], quotas: Quotas) -> Glance:
    return Glance(
        id=row.id,
        project_id=row.project_id,
        name=row.name,
        type=row.type,
        general_description=row.description,
        created_at=row.created_at,
        lifecycle=lifecycle_of(_object(row.lifecycle)),
        version=None
        if row.version_id is None
        else Version(row.number, row.version_id, row.note, row.uploaded_at),
        last_order=_last(row),
        pnl=_result(row),
        last_backtest=_backtest(row),
        plan=row.plan,
        python_version=row.python_version,
        newest_version=_newest(row),
        counts=kinds.by_name(_counts(row.counts)),
        usage=quotas.usage(row.tape or 0, row.id, row.tape_bytes or 0),
    )


def _newest(row: Row[*tuple[Any, ...]]) -> NewestVersion | None:
    if row.newest_id is None:
        return None
    return NewestVersion(
        row.newest_number, row.newest_id, row.newest_note, row.newest_python, row.newest_at
    )


def _counts(content: bytes | None) -> dict[int, int]:
    return {} if content is None else msgspec.json.decode(content, type=dict[int, int])


def lifecycle_of(said: dict[str, Any]) -> Lifecycle:
    return Lifecycle(*(said.get(name) for name in Lifecycle.__struct_fields__))


def _last(row: Row[*tuple[Any, ...]]) -> LastOrder | None:
    if row.order is None:
        return None
    state = _order.decode(row.order)
    order = merged(state) or {}
    return LastOrder(
        id=row.order_id,
        **{name: order.get(name) for name in OF_AN_ORDER},
        time=state.base.time if state.base else None,
        received_at=row.ordered_at,
    )


def _result(row: Row[*tuple[Any, ...]]) -> Result:
    own = own_values(row.own)
    enabled = _object(row.switch).get("enabled", True)
    found = Result(source="model" if own else "computed" if enabled else "off")
    if enabled and row.totals is not None:
        totals, capital = totals_from(row.totals), account.capital_in(row.account)
        asset = model_currency.quote_asset(row.backtest_result)
        _add_totals(found, totals, model_currency.decided(asset, totals, capital))
    if own:
        found.value = own[-1].value
    return found


def _add_totals(found: Result, stored: dict[str, Totals], own: str) -> None:
    totals = in_currencies(stored, own)
    found.currency = main_currency(totals)
    found.is_partial = any(one.left_out for one in stored.values())
    if any(count and name != own for one in stored.values() for name, count in one.claims.items()):
        found.is_partial = True
        return  # a ticker counts in the wrong currency here: only its model's page can tell
    found.by_currency = {name: number(one.total) for name, one in totals.items()}
    if found.currency is not None:
        main = money(totals[found.currency])
        found.realized, found.unrealized, found.fees = main.realized, main.unrealized, main.fees
        found.value = main.total


def _backtest(row: Row[*tuple[Any, ...]]) -> Backtest | None:
    if row.backtest_id is None:
        return None
    status = _object(row.backtest_status)
    return Backtest(
        row.backtest_id,
        row.backtest_at,
        status.get("successful"),
        status.get("status_summary", ""),
        status.get("label"),
    )


def _object(content: bytes | None) -> dict[str, Any]:
    return {} if content is None else msgspec.json.decode(content, type=dict[str, Any])
