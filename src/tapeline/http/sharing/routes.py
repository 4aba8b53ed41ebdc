"""The routes of shared links: for those who make them, and for those who have them."""

from functools import partial

from tapeline.errors import (
    CannotCompute,
    Forbidden,
    Invalid,
    NoSuchBacktest,
    NoSuchModel,
    NoSuchShare,
    NothingToShowYet,
    NotShared,
    SharePasswordNeeded,
    StillComputing,
    TooManyAttempts,
    WrongSharePassword,
)
from tapeline.http.core.answers import Done, Listed
from tapeline.http.core.endpoint import Access, Endpoint, Page
from tapeline.http.sharing import links_api, public_pages, public_stream
from tapeline.http.sharing import public_api as api
from tapeline.http.sharing import public_files as files
from tapeline.sharing.exhibits import answers

OF_MODEL = "/api/models/{model}/shares"
ONE = OF_MODEL + "/{share}"
LINK = "/api/shared/{token}"
SEEN = (
    NoSuchShare, NotShared, NothingToShowYet, NoSuchBacktest, SharePasswordNeeded, CannotCompute,
    StillComputing,
)  # fmt: skip

get = partial(Endpoint, method="GET", access=Access.SHARED, errors=SEEN)

SHARED: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path=OF_MODEL,
        reads=links_api.list_shares,
        gives=Listed[links_api.ShownShare],
        errors=(NoSuchModel,),
    ),
    Endpoint(
        method="POST",
        path=OF_MODEL,
        prepares=links_api.hash_password,
        writes=links_api.create_share,
        gives=links_api.CreatedShare,
        takes=links_api.NewShare,
        errors=(NoSuchModel, NoSuchBacktest, Forbidden),
    ),
    Endpoint(
        method="POST",
        path=OF_MODEL + "/preview",
        responds=links_api.preview_share,
        gives=answers.Exported,
        takes=links_api.DraftedShare,
        errors=(NoSuchModel, NoSuchBacktest, NothingToShowYet, CannotCompute, StillComputing),
    ),
    Endpoint(
        method="GET",
        path=OF_MODEL + "/preview",
        responds=public_pages.preview_page,
        gives=str,
        media="text/html",
        query=links_api.DraftedShare,
        errors=(NoSuchModel, NoSuchBacktest, NothingToShowYet, CannotCompute, StillComputing),
    ),
    Endpoint(
        method="PATCH",
        path=ONE,
        prepares=links_api.hash_password,
        writes=links_api.change_share,
        gives=links_api.ShownShare,
        takes=links_api.ShareChange,
        errors=(NoSuchModel, NoSuchShare, Forbidden),
    ),
    Endpoint(
        method="DELETE",
        path=ONE,
        writes=links_api.revoke_share,
        gives=Done,
        errors=(NoSuchModel, NoSuchShare, Forbidden),
    ),
    Endpoint(
        method="GET",
        path="/api/models/{model}/record",
        responds=files.export_record,
        gives=str,
        access=Access.READER,
        errors=(NoSuchModel,),
        media="application/x-ndjson",
    ),
    # For whoever has the link
    get(path=LINK, responds=api.show_shared, gives=answers.SharedHead),
    Endpoint(
        method="POST",
        path=LINK + "/pass",
        flows=api.exchange_password,
        gives=api.SharePass,
        takes=api.SharePassword,
        access=Access.SHARED,
        once=False,
        errors=(NoSuchShare, WrongSharePassword, TooManyAttempts),
    ),
    get(
        path=LINK + "/curve",
        responds=api.shared_curve,
        gives=answers.SharedCurve,
        query=api.Stretch,
    ),
    get(
        path=LINK + "/drawdown",
        responds=api.shared_drawdown,
        gives=answers.SharedDrawdown,
        query=api.Stretch,
    ),
    get(path=LINK + "/periods", responds=api.shared_periods, gives=answers.SharedPeriods),
    get(path=LINK + "/metrics", responds=api.shared_metrics, gives=answers.SharedMetrics),
    get(path=LINK + "/trades", responds=api.shared_trades, gives=answers.SharedTrades, query=Page),
    get(
        path=LINK + "/round-trips",
        responds=api.shared_round_trips,
        gives=answers.SharedTrips,
        query=Page,
    ),
    get(path=LINK + "/positions", responds=api.shared_positions, gives=answers.SharedPositions),
    get(path=LINK + "/logs", responds=api.shared_logs, gives=answers.SharedLines, query=Page),
    get(
        path=LINK + "/stream",
        responds=public_stream.shared_stream,
        gives=str,
        media="text/event-stream",
        errors=(*SEEN, Invalid),
    ),
    get(path=LINK + "/tear-sheet", responds=files.shared_tear_sheet, gives=str, media="text/html"),
    get(path=LINK + "/curve.csv", responds=files.shared_curve_csv, gives=str, media="text/csv"),
    get(path=LINK + "/trades.csv", responds=files.shared_trades_csv, gives=str, media="text/csv"),
    get(
        path=LINK + "/round-trips.csv",
        responds=files.shared_round_trips_csv,
        gives=str,
        media="text/csv",
    ),
    get(
        path=LINK + "/export.json",
        responds=api.shared_export,
        gives=answers.Exported,
        query=api.Stretch,
    ),
    get(
        path=LINK + "/record",
        responds=files.shared_record,
        gives=str,
        media="application/x-ndjson",
    ),
)
