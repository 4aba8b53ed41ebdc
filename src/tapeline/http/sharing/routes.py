"""The routes of shared links: for their owners and for their visitors."""

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
from tapeline.http.core.endpoint import Access, Endpoint
from tapeline.http.sharing import links_api, public_pages, public_stream
from tapeline.http.sharing import public_api as api
from tapeline.http.sharing import public_files as files

OF_MODEL = "/api/models/{model}/shares"
ONE = OF_MODEL + "/{share}"
LINK = "/api/shared/{token}"
SEEN = (
    NoSuchShare, NotShared, NothingToShowYet, NoSuchBacktest, SharePasswordNeeded, CannotCompute,
    StillComputing,
)  # fmt: skip

get = partial(Endpoint, "GET", access=Access.SHARED, errors=SEEN)

SHARED: tuple[Endpoint, ...] = (
    Endpoint("GET", OF_MODEL, reads=links_api.list_shares, errors=(NoSuchModel,)),
    Endpoint(
        "POST",
        OF_MODEL,
        prepares=links_api.hash_password,
        writes=links_api.create_share,
        errors=(NoSuchModel, NoSuchBacktest, Forbidden),
    ),
    Endpoint(
        "POST",
        OF_MODEL + "/preview",
        responds=links_api.preview_share,
        errors=(NoSuchModel, NoSuchBacktest, NothingToShowYet, CannotCompute, StillComputing),
    ),
    Endpoint(
        "GET",
        OF_MODEL + "/preview",
        responds=public_pages.preview_page,
        errors=(NoSuchModel, NoSuchBacktest, NothingToShowYet, CannotCompute, StillComputing),
    ),
    Endpoint(
        "PATCH",
        ONE,
        prepares=links_api.hash_password,
        writes=links_api.change_share,
        errors=(NoSuchModel, NoSuchShare, Forbidden),
    ),
    Endpoint(
        "DELETE", ONE, writes=links_api.revoke_share, errors=(NoSuchModel, NoSuchShare, Forbidden)
    ),
    Endpoint(
        "GET",
        "/api/models/{model}/record",
        responds=files.export_record,
        access=Access.READER,
        errors=(NoSuchModel,),
    ),
    # For visitors of a link
    get(LINK, responds=api.show_shared),
    Endpoint(
        "POST",
        LINK + "/pass",
        flows=api.exchange_password,
        access=Access.SHARED,
        once=False,
        errors=(NoSuchShare, WrongSharePassword, TooManyAttempts),
    ),
    get(LINK + "/curve", responds=api.shared_curve),
    get(LINK + "/drawdown", responds=api.shared_drawdown),
    get(LINK + "/benchmark", responds=api.shared_benchmark),
    get(LINK + "/periods", responds=api.shared_periods),
    get(LINK + "/metrics", responds=api.shared_metrics),
    get(LINK + "/trades", responds=api.shared_trades),
    get(LINK + "/round-trips", responds=api.shared_round_trips),
    get(LINK + "/positions", responds=api.shared_positions),
    get(LINK + "/changes", responds=api.shared_changes),
    get(LINK + "/logs", responds=api.shared_logs),
    get(LINK + "/stream", responds=public_stream.shared_stream, errors=(*SEEN, Invalid)),
    get(LINK + "/tear-sheet", responds=files.shared_tear_sheet),
    get(LINK + "/curve.csv", responds=files.shared_curve_csv),
    get(LINK + "/trades.csv", responds=files.shared_trades_csv),
    get(LINK + "/round-trips.csv", responds=files.shared_round_trips_csv),
    get(LINK + "/export.json", responds=api.shared_export),
    get(LINK + "/record", responds=files.shared_record),
)
