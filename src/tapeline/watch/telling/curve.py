"""The points of a message's small chart: a model's profit and loss in the days before."""

from sqlalchemy import Connection

from tapeline.results.charts.chart_window import Window
from tapeline.results.pnl import summary
from tapeline.tape import tapes
from tapeline.watch.sending.jobs import Chart
from tapeline.watch.telling.message import Message

BEFORE, AFTER = 3 * 86_400.0, 3_600.0  # seconds around the moment
POINTS = 300


def of(connection: Connection, said: Message) -> Chart | None:
    """None for a message about several incidents, or about no model that has traded."""
    if len(said.incidents) != 1 or said.incidents[0].model_id is None:
        return None
    about = said.incidents[0]
    tape, _ = tapes.number_and_bytes(connection, about.model_id or "")
    if not tape:
        return None
    at = about.fired_at
    end = max(at, about.resolved_at or at) + AFTER
    found = summary.shown(
        connection,
        tape,
        about.model_id or "",
        window=Window(at - BEFORE, end),
        points=POINTS,
        currency=None,
    )
    points = [(one.time, one.value) for one in found.series if one.value is not None]
    if not points:
        return None
    money = f" in {found.series_currency}" if found.series_currency else ""
    title = f"{about.model}: profit and loss{money}"
    return Chart(title, points, at, currency=found.series_currency)
