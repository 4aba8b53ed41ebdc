"""Every route of the service that is not a page, in one list."""

from functools import partial

from tapeline.errors import (
    AccountDisabled,
    AlreadyMember,
    CannotCompute,
    EmailTaken,
    Forbidden,
    Invalid,
    InvalidToken,
    InvitationNeeded,
    LastOwner,
    Limited,
    MalformedBody,
    NoSuchBacktest,
    NoSuchInvitation,
    NoSuchMember,
    NoSuchModel,
    NoSuchProject,
    NoSuchSignIn,
    NoSuchToken,
    NotReady,
    PersonalProject,
    SetupCodeNeeded,
    SignUpClosed,
    TooManyAttempts,
    WrongCredentials,
    WrongPassword,
)
from tapeline.http.core import health
from tapeline.http.core.endpoint import Access, Endpoint
from tapeline.http.deployment import auth_api, projects_api, retention_api
from tapeline.http.deployment.routes import DEPLOY_ROUTES
from tapeline.http.prices import backtest_chart_api, chart_api
from tapeline.http.sharing import signing_keys_api, witness_api
from tapeline.http.sharing.routes import SHARED
from tapeline.http.view import (
    account_api,
    health_api,
    model_account_api,
    performance_api,
    project_stream,
    results_api,
    stream,
    tape_api,
)
from tapeline.http.view.backtest_routes import BACKTESTS
from tapeline.http.watch.channel_routes import CHANNEL_ROUTES
from tapeline.http.watch.routes import WATCH_ROUTES
from tapeline.tape.witnessing.refusing import (
    DoesNotExtend,
    NotTheLogsKey,
    OtherSize,
    UnconfirmedKeys,
    UnknownLog,
)

get = partial(Endpoint, "GET")
post = partial(Endpoint, "POST")
patch = partial(Endpoint, "PATCH")
delete = partial(Endpoint, "DELETE")

in_project = (NoSuchProject, Forbidden)

PUBLIC, READER = Access.PUBLIC, Access.READER

ROUTES: tuple[Endpoint, ...] = (
    # The service itself
    get("/time", flows=health.server_time, access=PUBLIC),
    get(
        "/.well-known/tapeline-keys.json",
        flows=signing_keys_api.list_signing_keys,
        access=PUBLIC,
        any_origin=True,  # a saved checker asks for them
    ),
    # Other servers, whose logs this one witnesses
    post(
        "/witness/add-checkpoint",
        responds=witness_api.add_checkpoint,
        access=PUBLIC,
        once=False,
        errors=(MalformedBody, UnknownLog, NotTheLogsKey, OtherSize, DoesNotExtend, Limited),
    ),
    post(
        "/witness/keys",
        flows=witness_api.add_log_keys,
        access=PUBLIC,
        once=False,
        most_bytes=64_000,  # some two hundred keys
        errors=(UnknownLog, UnconfirmedKeys, Limited),
    ),
    get(
        "/witness/heads",
        reads=witness_api.show_log,
        access=PUBLIC,
        errors=(UnknownLog, Invalid),
    ),
    get("/healthz", flows=health.healthz, access=PUBLIC),
    get("/readyz", flows=health.readyz, access=PUBLIC, errors=(NotReady,)),
    get(
        "/api/health",
        responds=health_api.show_health,
        access=Access.OPERATOR,
        errors=(Forbidden,),
    ),
    # Accounts
    post(
        "/auth/signup",
        prepares=auth_api.verify_new,
        writes=auth_api.sign_up,
        access=PUBLIC,
        once=False,
        errors=(
            EmailTaken,
            SignUpClosed,
            SetupCodeNeeded,
            InvitationNeeded,
            NoSuchInvitation,
            TooManyAttempts,
        ),
    ),
    post(
        "/auth/signin",
        prepares=auth_api.verify,
        writes=auth_api.sign_in,
        access=PUBLIC,
        once=False,
        errors=(WrongCredentials, AccountDisabled, TooManyAttempts),
    ),
    post(
        "/auth/token",
        writes=auth_api.exchange_token,
        access=PUBLIC,
        once=False,
        errors=(InvalidToken,),
    ),
    post(
        "/auth/signout", writes=auth_api.sign_out, access=PUBLIC, once=False, errors=(InvalidToken,)
    ),
    get("/api/me", reads=account_api.me),
    patch("/api/me", writes=account_api.change_me),
    post(
        "/api/me/password",
        prepares=account_api.verify_password_change,
        writes=account_api.change_password,
        errors=(WrongPassword, TooManyAttempts),
    ),
    get("/api/me/sign-ins", reads=account_api.list_sign_ins),
    delete("/api/me/sign-ins/{sign_in}", writes=account_api.end_sign_in, errors=(NoSuchSignIn,)),
    get("/api/me/audit", reads=account_api.my_audit),
    # Projects
    post("/project/create", writes=projects_api.create_project),
    get("/project/list", reads=projects_api.list_projects),
    get("/project/teams", reads=projects_api.list_teams),
    post(
        "/project/delete",
        writes=projects_api.delete_project,
        moves_runs=True,
        errors=(*in_project, PersonalProject),
    ),
    get(
        "/api/projects/{project}",
        reads=account_api.show_project,
        access=READER,
        errors=(NoSuchProject,),
    ),
    patch("/api/projects/{project}", writes=account_api.change_project, errors=in_project),
    get(
        "/api/projects/{project}/retention",
        reads=retention_api.show_retention,
        access=READER,
        errors=(NoSuchProject,),
    ),
    patch(
        "/api/projects/{project}/retention",
        writes=retention_api.change_retention,
        errors=in_project,
    ),
    get("/api/projects/{project}/audit", reads=account_api.project_audit, errors=in_project),
    get(
        "/api/projects/{project}/stream",
        responds=project_stream.stream_project,
        access=READER,
        errors=(NoSuchProject,),
    ),
    # Members
    get("/api/projects/{project}/members", reads=account_api.list_members, errors=in_project),
    patch(
        "/api/projects/{project}/members/{user}",
        writes=account_api.change_member,
        errors=(*in_project, NoSuchMember, LastOwner, PersonalProject),
    ),
    delete(
        "/api/projects/{project}/members/{user}",
        writes=account_api.remove_member,
        errors=(*in_project, NoSuchMember, LastOwner, PersonalProject),
    ),
    get(
        "/api/projects/{project}/invitations", reads=account_api.list_invitations, errors=in_project
    ),
    post("/api/projects/{project}/invitations", writes=account_api.invite, errors=in_project),
    delete(
        "/api/projects/{project}/invitations/{invitation}",
        writes=account_api.withdraw_invitation,
        errors=(*in_project, NoSuchInvitation),
    ),
    post(
        "/api/invitations/accept",
        writes=account_api.accept_invitation,
        errors=(NoSuchInvitation, AlreadyMember),
    ),
    # Keys
    post(
        "/project/generate-project-token",
        writes=projects_api.generate_key,
        once=False,
        errors=in_project,
    ),
    post("/project/list-tokens", reads=projects_api.list_keys, errors=in_project),
    post(
        "/project/delete-project-token",
        writes=projects_api.delete_key,
        errors=(*in_project, NoSuchToken),
    ),
    # Models
    post(
        "/model/create-model",
        writes=projects_api.create_model,
        moves_models=True,
        errors=in_project,
    ),
    post("/model/list", reads=projects_api.list_models, errors=in_project),
    post("/model/details", reads=projects_api.model_details, errors=(*in_project, NoSuchModel)),
    post(
        "/model/delete",
        writes=projects_api.delete_model,
        moves_runs=True,
        errors=(*in_project, NoSuchModel),
    ),
    # Reading tapes and results
    get(
        "/api/projects/{project}/models",
        prepares=results_api.catch_up_all,
        reads=results_api.glance_at_models,
        computes=True,
        access=READER,
        errors=(NoSuchProject,),
    ),
    get(
        "/api/projects/{project}/portfolio",
        prepares=performance_api.catch_up_project,
        reads=performance_api.show_portfolio,
        computes=True,
        access=READER,
        errors=(NoSuchProject,),
    ),
    get(
        "/api/portfolio",
        prepares=performance_api.catch_up_own,
        reads=performance_api.show_own_portfolio,
        computes=True,
    ),
    get("/api/models/{model}", reads=tape_api.show_model, access=READER, errors=(NoSuchModel,)),
    get(
        "/api/models/{model}/orders",
        prepares=results_api.catch_up,
        reads=results_api.list_orders,
        computes=True,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/orders/symbols",
        reads=results_api.list_order_symbols,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/changes",
        prepares=results_api.catch_up,
        reads=results_api.list_changes,
        computes=True,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/pnl",
        prepares=results_api.catch_up_rates,
        reads=results_api.show_pnl,
        computes=True,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/prices",
        prepares=chart_api.catch_up,
        reads=chart_api.show_prices,
        computes=True,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/backtests/{backtest}/prices",
        prepares=backtest_chart_api.catch_up,
        reads=backtest_chart_api.show_backtest_prices,
        computes=True,
        access=READER,
        errors=(NoSuchModel, NoSuchBacktest),
    ),
    get("/api/models/{model}/logs", reads=tape_api.list_logs, access=READER, errors=(NoSuchModel,)),
    get(
        "/api/models/{model}/performance",
        prepares=performance_api.catch_up_compared,
        reads=performance_api.show_performance,
        computes=True,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/round-trips",
        prepares=results_api.catch_up,
        reads=performance_api.list_round_trips,
        computes=True,
        access=READER,
        errors=(NoSuchModel, CannotCompute),
    ),
    get(
        "/api/models/{model}/account",
        prepares=results_api.catch_up,
        reads=model_account_api.show_account,
        access=READER,
        errors=(NoSuchModel,),
    ),
    patch(
        "/api/models/{model}/account",
        writes=model_account_api.change_account,
        afterwards=model_account_api.tell,
        errors=(NoSuchModel, Forbidden),
        moves_models=True,
    ),
    get(
        "/api/models/{model}/cash",
        reads=model_account_api.list_cash,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/events",
        reads=tape_api.list_events,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/screener",
        reads=tape_api.show_screener,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/screener/history",
        reads=tape_api.screener_history,
        access=READER,
        errors=(NoSuchModel,),
    ),
    *BACKTESTS,
    get(
        "/api/models/{model}/tape",
        responds=stream.export_tape,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/tape/seals",
        writes=tape_api.show_seals,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/stream",
        responds=stream.stream_model,
        access=READER,
        errors=(NoSuchModel, Invalid),
    ),
    *DEPLOY_ROUTES,
    *CHANNEL_ROUTES,
    *WATCH_ROUTES,
    *SHARED,
)
