"""The routes about backtests, metrics, marks of charts and logs to take away; for `routes`."""

from functools import partial

from tapeline.errors import (
    CannotCompute,
    Forbidden,
    NoSuchBacktest,
    NoSuchModel,
    StillComputing,
)
from tapeline.http.core.answers import Anything, Done, Listed
from tapeline.http.core.endpoint import Access, Endpoint, Page
from tapeline.http.view import backtest_api as api
from tapeline.http.view import backtest_files as files
from tapeline.http.view import backtest_series, log_files, results_api
from tapeline.http.view.answers import BacktestTrade, ShownBacktest, ShownLine
from tapeline.http.view.tape_api import LineFilter, LinePage
from tapeline.results.metrics.report_fields import Comparison
from tapeline.tape.reading.order_marks import OrderMarks

ONE = "/api/models/{model}/backtests/{backtest}"
OF_ONE = (NoSuchModel, NoSuchBacktest)
COMPUTED = (*OF_ONE, CannotCompute, StillComputing)

get = partial(Endpoint, method="GET", access=Access.READER)
page = partial(get, errors=OF_ONE)
computed = partial(get, errors=COMPUTED)

BACKTESTS: tuple[Endpoint, ...] = (
    get(
        path="/api/models/{model}/metrics",
        prepares=results_api.catch_up,
        reads=api.live_metrics,
        gives=api.LiveMetrics,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/orders/marks",
        reads=results_api.mark_orders,
        gives=OrderMarks,
        query=results_api.MarkWindow,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/logs.txt",
        responds=log_files.download_log,
        gives=str,
        query=LineFilter,
        errors=(NoSuchModel,),
        media="text/plain",
    ),
    get(
        path="/api/models/{model}/backtests",
        reads=api.list_backtests,
        gives=Listed[ShownBacktest],
        query=Page,
        errors=(NoSuchModel,),
    ),
    computed(
        path="/api/models/{model}/backtests-compare",
        responds=api.when_ready(backtest_series.compare_backtests),
        gives=Comparison,
        query=backtest_series.ComparedPage,
    ),
    computed(path=ONE, responds=api.show_backtest, gives=ShownBacktest),
    Endpoint(
        method="PATCH",
        path=ONE,
        writes=api.change_backtest,
        gives=ShownBacktest,
        takes=api.BacktestChange,
        errors=(*OF_ONE, Forbidden),
    ),
    Endpoint(
        method="DELETE",
        path=ONE,
        writes=api.delete_backtest,
        gives=Done,
        errors=(*OF_ONE, Forbidden),
    ),
    computed(
        path=f"{ONE}/equity",
        responds=api.when_ready(backtest_series.backtest_equity),
        gives=backtest_series.Series,
        query=backtest_series.Stretch,
    ),
    computed(
        path=f"{ONE}/drawdown",
        responds=api.when_ready(backtest_series.backtest_drawdown),
        gives=backtest_series.DrawdownSeries,
        query=backtest_series.Stretch,
    ),
    computed(
        path=f"{ONE}/rolling",
        responds=api.when_ready(backtest_series.backtest_rolling),
        gives=backtest_series.Rolling,
        query=backtest_series.Stretch,
    ),
    computed(
        path=f"{ONE}/periods",
        responds=api.when_ready(backtest_series.backtest_periods),
        gives=backtest_series.Periods,
    ),
    computed(
        path=f"{ONE}/indicators",
        responds=api.when_ready(backtest_series.backtest_indicators),
        gives=Listed[backtest_series.Indicator],
        query=backtest_series.Stretch,
    ),
    page(path=f"{ONE}/trades", reads=api.backtest_trades, gives=Listed[BacktestTrade], query=Page),
    computed(
        path=f"{ONE}/round-trips",
        responds=api.when_ready(api.backtest_round_trips),
        gives=api.RoundTrips,
        query=Page,
    ),
    page(path=f"{ONE}/logs", reads=api.backtest_logs, gives=Listed[ShownLine], query=LinePage),
    page(
        path=f"{ONE}/logs.txt",
        responds=log_files.download_backtest_log,
        gives=str,
        query=LineFilter,
        media="text/plain",
    ),
    computed(path=f"{ONE}/tear-sheet", responds=files.tear_sheet, gives=str, media="text/html"),
    computed(path=f"{ONE}/export.csv", responds=files.equity_csv, gives=str, media="text/csv"),
    computed(path=f"{ONE}/trades.csv", responds=files.trades_csv, gives=str, media="text/csv"),
    computed(
        path=f"{ONE}/round-trips.csv", responds=files.round_trips_csv, gives=str, media="text/csv"
    ),
    computed(path=f"{ONE}/export.json", responds=files.export_json, gives=Anything),
)
