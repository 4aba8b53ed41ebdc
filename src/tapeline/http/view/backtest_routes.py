"""The routes for backtests, metrics, marks of charts and downloads of orders and logs."""

from functools import partial

from tapeline.errors import (
    CannotCompute,
    Forbidden,
    NoSuchBacktest,
    NoSuchModel,
    StillComputing,
)
from tapeline.http.core.endpoint import Access, Endpoint
from tapeline.http.view import backtest_api as api
from tapeline.http.view import backtest_files as files
from tapeline.http.view import backtest_series, model_files, results_api

ONE = "/api/models/{model}/backtests/{backtest}"
OF_ONE = (NoSuchModel, NoSuchBacktest)
COMPUTED = (*OF_ONE, CannotCompute, StillComputing)

get = partial(Endpoint, "GET", access=Access.READER)
page = partial(get, errors=OF_ONE)
computed = partial(get, errors=COMPUTED)

BACKTESTS: tuple[Endpoint, ...] = (
    get(
        "/api/models/{model}/metrics",
        prepares=results_api.catch_up,
        reads=api.live_metrics,
        computes=True,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/orders/marks",
        reads=results_api.mark_orders,
        computes=True,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/orders.csv",
        responds=model_files.download_orders,
        errors=(NoSuchModel,),
    ),
    get("/api/models/{model}/logs.txt", responds=model_files.download_log, errors=(NoSuchModel,)),
    get("/api/models/{model}/backtests", reads=api.list_backtests, errors=(NoSuchModel,)),
    computed(
        "/api/models/{model}/backtests-compare",
        responds=api.when_ready(backtest_series.compare_backtests),
    ),
    computed(ONE, responds=api.show_backtest),
    Endpoint("PATCH", ONE, writes=api.change_backtest, errors=(*OF_ONE, Forbidden)),
    Endpoint("DELETE", ONE, writes=api.delete_backtest, errors=(*OF_ONE, Forbidden)),
    computed(
        f"{ONE}/equity",
        responds=api.when_ready(backtest_series.backtest_equity, backtest_series.catch_up_compared),
    ),
    computed(f"{ONE}/drawdown", responds=api.when_ready(backtest_series.backtest_drawdown)),
    computed(f"{ONE}/rolling", responds=api.when_ready(backtest_series.backtest_rolling)),
    computed(f"{ONE}/periods", responds=api.when_ready(backtest_series.backtest_periods)),
    computed(f"{ONE}/indicators", responds=api.when_ready(backtest_series.backtest_indicators)),
    page(f"{ONE}/trades", reads=api.backtest_trades),
    computed(f"{ONE}/round-trips", responds=api.when_ready(api.backtest_round_trips)),
    page(f"{ONE}/logs", reads=api.backtest_logs),
    page(f"{ONE}/logs.txt", responds=model_files.download_backtest_log),
    computed(f"{ONE}/tear-sheet", responds=files.tear_sheet),
    computed(f"{ONE}/export.csv", responds=files.equity_csv),
    computed(f"{ONE}/trades.csv", responds=files.trades_csv),
    computed(f"{ONE}/round-trips.csv", responds=files.round_trips_csv),
    computed(f"{ONE}/export.json", responds=files.export_json),
)
