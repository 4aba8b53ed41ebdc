"""The routes about backtests, metrics, marks of charts and logs to take away; for `routes`."""

from functools import partial

from tapeline.errors import (
    CannotCompute,
    Forbidden,
    NoSuchBacktest,
    NoSuchModel,
    StillComputing,
)
from tapeline.http import backtest_api as api
from tapeline.http import backtest_files as files
from tapeline.http import log_files, results_api
from tapeline.http.answers import BacktestTrade, ShownBacktest, ShownLine
from tapeline.http.auth_api import Done
from tapeline.http.endpoint import Access, Endpoint, Page
from tapeline.http.tape_api import Anything, LineFilter, LinePage
from tapeline.http.view_api import Listed
from tapeline.results.records import Comparison
from tapeline.tape.order_marks import OrderMarks

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
        responds=api.when_ready(api.compare_backtests),
        gives=Comparison,
        query=api.ComparedPage,
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
        responds=api.when_ready(api.backtest_equity),
        gives=api.Series,
        query=api.Stretch,
    ),
    computed(
        path=f"{ONE}/drawdown",
        responds=api.when_ready(api.backtest_drawdown),
        gives=api.DrawdownSeries,
        query=api.Stretch,
    ),
    computed(
        path=f"{ONE}/rolling",
        responds=api.when_ready(api.backtest_rolling),
        gives=api.Rolling,
        query=api.Stretch,
    ),
    computed(
        path=f"{ONE}/periods",
        responds=api.when_ready(api.backtest_periods),
        gives=api.Periods,
    ),
    computed(
        path=f"{ONE}/indicators",
        responds=api.when_ready(api.backtest_indicators),
        gives=Listed[api.Indicator],
        query=api.Stretch,
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
