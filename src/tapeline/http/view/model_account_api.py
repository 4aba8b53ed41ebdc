"""The view API's part for the account behind a model: its settings, and money that is no order."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import Connection

from tapeline.accounts import audit, members
from tapeline.errors import NoSuchModel, NoSuchProject
from tapeline.http.core.answers import Listed
from tapeline.http.core.endpoint import BodyCall, Call, Page, QueryCall
from tapeline.http.view.tape_api import listed
from tapeline.results.performance import flows
from tapeline.results.pnl import account
from tapeline.results.pnl.account import Capital, Positions
from tapeline.tape import tapes
from tapeline.tape.events import account_bodies, kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.lateness import late_by
from tapeline.tape.reading import channels

Amount = Annotated[float, msgspec.Meta(gt=0, le=1e15)]
Currency = Annotated[str, msgspec.Meta(min_length=1, max_length=20)]


class NewCapital(msgspec.Struct):
    amount: Amount
    currency: Currency


class AccountChange(msgspec.Struct, kw_only=True):
    """What is not sent stays as it is."""

    positions: Positions | UnsetType = UNSET
    capital: NewCapital | UnsetType | None = UNSET
    """Null takes it away: then the first deposit is the capital, if there is one."""


class Changed(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A change of the settings, as it is on the tape."""

    time: float
    received_at: float
    seq: int
    positions: Positions | UnsetType = UNSET
    capital: Capital | UnsetType | None = UNSET


class ShownAccount(msgspec.Struct, kw_only=True):
    positions: Positions
    """`signed`, or `long_only`: a sell closes what is held, and the rest is a warning."""
    capital: Capital | None
    capital_from: Literal["owner", "deposit"] | None
    """Who said so; null while there is none."""
    changes: list[Changed]
    """Of the settings, newest first."""


class CashPage(Page):
    type: str | None = None
    symbol: str | None = None


class ShownCash(msgspec.Struct, kw_only=True):
    type: str
    amount: float
    currency: str | None = None
    symbol: str | None = None
    id: str | None = None
    annotation: str | None = None
    time: float
    received_at: float
    seq: int
    late_by: float | None = None
    """Seconds from its own time to its arrival, if they are too many."""


def show_account(connection: Connection, call: Call) -> ShownAccount:
    """How positions are kept, the capital, and every change of either."""
    found = tapes.reading(connection, call.actor, call.path("model"))
    return _shown(connection, found.tape, found.model_id)


def change_account(connection: Connection, call: BodyCall[AccountChange]) -> ShownAccount:
    """Set `positions` or `capital`; a change of either is an event on the tape."""
    model_id = call.path("model")
    found = tapes.of_model(connection, model_id)
    try:
        members.require(connection, call.actor, found.project_id, "manage")
    except NoSuchProject:
        raise NoSuchModel from None
    sent = msgspec.to_builtins(call.body)  # without what was not sent
    fields = account_bodies.account_settings(sent, False)
    now = account.settings_of_model(connection, found.tape, model_id)
    if any(value != _said(now, name) for name, value in fields.items()):
        tape = tapes.open_tape(connection, model_id)
        _append(connection, call, account.event(tape, fields))
        audit.record(
            connection,
            call.actor,
            "model.account",
            f"model:{model_id}",
            project_id=found.project_id,
            changed=sorted(fields),  # not to what: whoever may read the audit need not know it
        )
        return _shown(connection, tape, model_id)
    return _shown(connection, found.tape, model_id)


async def tell(call: Call) -> None:
    """Open streams look at the tape."""
    call.services.watchers.wake_readers([call.path("model")])


def list_cash(connection: Connection, call: QueryCall[CashPage]) -> Listed[ShownCash]:
    """Deposits, funding, dividends and the like as they were sent, newest first."""
    page = call.query
    tape = tapes.reading(connection, call.actor, call.path("model")).tape
    found = channels.newest(
        connection,
        tape,
        kinds.CASH.channel,
        before=page.before(),
        limit=page.limit,
        wanted=lambda record: _is_wanted(record, page),
    )
    after = call.services.settings.late_seconds
    items = [
        msgspec.convert(
            {**_listed(one), "late_by": late_by(one.time, one.received_at, after)}, ShownCash
        )
        for one in found.records
    ]
    return listed(items, found.next)


def _is_wanted(record: StoredEvent, page: CashPage) -> bool:
    if record.kind != kinds.CASH.number:
        return False
    body = msgspec.json.decode(record.body, type=dict[str, Any])
    return (page.type is None or body["type"] == page.type) and (
        page.symbol is None or body.get("symbol") == page.symbol
    )


def _listed(record: StoredEvent) -> dict[str, Any]:
    said = msgspec.json.decode(record.body, type=dict[str, Any])
    ours = {"time": record.time, "received_at": record.received_at, "seq": record.seq}
    return {**said, **ours}


def _said(now: account.Settings, name: str) -> Any:
    return msgspec.to_builtins(getattr(now, name))


def _append(connection: Connection, call: Call, event: Event) -> None:
    (refusal,), _ = call.services.inbox.appender.append(connection, [Submission([event], None)])
    if refusal is not None:
        raise refusal


def _shown(connection: Connection, tape: int, model_id: str) -> ShownAccount:
    settings = account.settings_of_model(connection, tape, model_id)
    capital, source = flows.capital_of(connection, tape, settings)
    changes = channels.newest(
        connection,
        tape,
        kinds.ACCOUNT_SETTINGS.channel,
        before=None,
        limit=100,
        wanted=lambda record: record.kind == kinds.ACCOUNT_SETTINGS.number,
    )
    return ShownAccount(
        positions=settings.positions,
        capital=capital,
        capital_from=source,
        changes=[msgspec.convert(_listed(record), Changed) for record in changes.records],
    )
