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
from tapeline.http import shared_api as api
from tapeline.http import shared_files as files
from tapeline.http import shared_pages, shared_stream, shares_api
from tapeline.http.auth_api import Done
from tapeline.http.endpoint import Access, Endpoint, Page
from tapeline.http.view_api import Listed
from tapeline.sharing import shown

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
        reads=shares_api.list_shares,
        gives=Listed[shares_api.ShownShare],
        errors=(NoSuchModel,),
    ),
    Endpoint(
        method="POST",
        path=OF_MODEL,
        prepares=shares_api.hash_password,
        writes=shares_api.create_share,
        gives=shares_api.CreatedShare,
        takes=shares_api.NewShare,
        errors=(NoSuchModel, NoSuchBacktest, Forbidden),
    ),
    Endpoint(
        method="POST",
        path=OF_MODEL + "/preview",
        responds=shares_api.preview_share,
        gives=shown.Exported,
        takes=shares_api.DraftedShare,
        errors=(NoSuchModel, NoSuchBacktest, NothingToShowYet, CannotCompute, StillComputing),
    ),
    Endpoint(
        method="GET",
        path=OF_MODEL + "/preview",
        responds=shared_pages.preview_page,
        gives=str,
        media="text/html",
        query=shares_api.DraftedShare,
        errors=(NoSuchModel, NoSuchBacktest, NothingToShowYet, CannotCompute, StillComputing),
    ),
    Endpoint(
        method="PATCH",
        path=ONE,
        prepares=shares_api.hash_password,
        writes=shares_api.change_share,
        gives=shares_api.ShownShare,
        takes=shares_api.ShareChange,
        errors=(NoSuchModel, NoSuchShare, Forbidden),
    ),
    Endpoint(
        method="DELETE",
        path=ONE,
        writes=shares_api.revoke_share,
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
    get(path=LINK, responds=api.show_shared, gives=shown.SharedHead),
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
        gives=shown.SharedCurve,
        query=api.Stretch,
    ),
    get(
        path=LINK + "/drawdown",
        responds=api.shared_drawdown,
        gives=shown.SharedDrawdown,
        query=api.Stretch,
    ),
    get(path=LINK + "/periods", responds=api.shared_periods, gives=shown.SharedPeriods),
    get(path=LINK + "/metrics", responds=api.shared_metrics, gives=shown.SharedMetrics),
    get(path=LINK + "/trades", responds=api.shared_trades, gives=shown.SharedTrades, query=Page),
    get(
        path=LINK + "/round-trips",
        responds=api.shared_round_trips,
        gives=shown.SharedTrips,
        query=Page,
    ),
    get(path=LINK + "/positions", responds=api.shared_positions, gives=shown.SharedPositions),
    get(path=LINK + "/logs", responds=api.shared_logs, gives=shown.SharedLines, query=Page),
    get(
        path=LINK + "/stream",
        responds=shared_stream.shared_stream,
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
        gives=shown.Exported,
        query=api.Stretch,
    ),
    get(
        path=LINK + "/record",
        responds=files.shared_record,
        gives=str,
        media="application/x-ndjson",
    ),
)
