"""Every route of the service that is not a page, in one list."""

from functools import partial

from tapeline.accounts.audit import Entry
from tapeline.accounts.invitations import Invitation, Offer
from tapeline.accounts.members import Member
from tapeline.errors import (
    AccountDisabled,
    AlreadyMember,
    EmailTaken,
    Forbidden,
    Invalid,
    InvalidToken,
    InvitationNeeded,
    LastOwner,
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
from tapeline.http.core.answers import Done, Listed
from tapeline.http.core.endpoint import Access, Endpoint, Page
from tapeline.http.deployment import auth_api, projects_api
from tapeline.http.deployment.routes import DEPLOY_ROUTES
from tapeline.http.sharing.routes import SHARED
from tapeline.http.view import account_api, answers, project_stream, results_api, stream, tape_api
from tapeline.http.view.backtest_routes import BACKTESTS
from tapeline.models.projects import OwnProject
from tapeline.results.pnl.overview import Glance
from tapeline.results.pnl.summary import Pnl

get = partial(Endpoint, method="GET")
post = partial(Endpoint, method="POST")
patch = partial(Endpoint, method="PATCH")
delete = partial(Endpoint, method="DELETE")

in_project = (NoSuchProject, Forbidden)

PUBLIC, READER = Access.PUBLIC, Access.READER

ROUTES: tuple[Endpoint, ...] = (
    # The service itself
    get(path="/time", flows=health.server_time, gives=health.ServerTime, access=PUBLIC),
    get(path="/healthz", flows=health.healthz, gives=health.Health, access=PUBLIC),
    get(
        path="/readyz",
        flows=health.readyz,
        gives=health.Health,
        access=PUBLIC,
        errors=(NotReady,),
    ),
    # Accounts
    post(
        path="/auth/signup",
        prepares=auth_api.verify_new,
        writes=auth_api.sign_up,
        gives=auth_api.SignedIn,
        takes=auth_api.NewAccount,
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
        path="/auth/signin",
        prepares=auth_api.verify,
        writes=auth_api.sign_in,
        gives=auth_api.SignedIn,
        takes=auth_api.Credentials,
        access=PUBLIC,
        once=False,
        errors=(WrongCredentials, AccountDisabled, TooManyAttempts),
    ),
    post(
        path="/auth/token",
        writes=auth_api.exchange_token,
        gives=auth_api.IdToken,
        takes=auth_api.RefreshToken,
        access=PUBLIC,
        once=False,
        errors=(InvalidToken,),
    ),
    post(
        path="/auth/signout",
        writes=auth_api.sign_out,
        gives=Done,
        takes=auth_api.RefreshToken,
        access=PUBLIC,
        once=False,
        errors=(InvalidToken,),
    ),
    get(path="/api/me", reads=account_api.me, gives=account_api.Me),
    patch(
        path="/api/me",
        writes=account_api.change_me,
        gives=account_api.Me,
        takes=account_api.AccountChange,
    ),
    post(
        path="/api/me/password",
        prepares=account_api.verify_password_change,
        writes=account_api.change_password,
        gives=account_api.PasswordChanged,
        takes=account_api.NewPassword,
        errors=(WrongPassword, TooManyAttempts),
    ),
    get(
        path="/api/me/sign-ins",
        reads=account_api.list_sign_ins,
        gives=Listed[account_api.ShownSignIn],
    ),
    delete(
        path="/api/me/sign-ins/{sign_in}",
        writes=account_api.end_sign_in,
        gives=Done,
        errors=(NoSuchSignIn,),
    ),
    get(path="/api/me/audit", reads=account_api.my_audit, gives=Listed[Entry], query=Page),
    # Projects
    post(
        path="/project/create",
        writes=projects_api.create_project,
        gives=projects_api.ProjectCreated,
        takes=projects_api.NewProject,
    ),
    get(
        path="/project/list",
        reads=projects_api.list_projects,
        gives=list[projects_api.ListedProject],
    ),
    get(path="/project/teams", reads=projects_api.list_teams, gives=list[projects_api.Team]),
    post(
        path="/project/delete",
        moves_runs=True,
        writes=projects_api.delete_project,
        gives=Done,
        takes=projects_api.ProjectRef,
        errors=(*in_project, PersonalProject),
    ),
    get(
        path="/api/projects/{project}",
        reads=account_api.show_project,
        gives=account_api.ShownProject,
        access=READER,
        errors=(NoSuchProject,),
    ),
    patch(
        path="/api/projects/{project}",
        writes=account_api.change_project,
        gives=OwnProject,
        takes=account_api.ProjectChange,
        errors=in_project,
    ),
    get(
        path="/api/projects/{project}/audit",
        reads=account_api.project_audit,
        gives=Listed[Entry],
        query=Page,
        errors=in_project,
    ),
    get(
        path="/api/projects/{project}/stream",
        responds=project_stream.stream_project,
        gives=str,
        access=READER,
        errors=(NoSuchProject,),
        media="text/event-stream",
    ),
    # Members
    get(
        path="/api/projects/{project}/members",
        reads=account_api.list_members,
        gives=Listed[Member],
        errors=in_project,
    ),
    patch(
        path="/api/projects/{project}/members/{user}",
        writes=account_api.change_member,
        gives=Member,
        takes=account_api.RoleChange,
        errors=(*in_project, NoSuchMember, LastOwner, PersonalProject),
    ),
    delete(
        path="/api/projects/{project}/members/{user}",
        writes=account_api.remove_member,
        gives=Done,
        errors=(*in_project, NoSuchMember, LastOwner, PersonalProject),
    ),
    get(
        path="/api/projects/{project}/invitations",
        reads=account_api.list_invitations,
        gives=Listed[Invitation],
        errors=in_project,
    ),
    post(
        path="/api/projects/{project}/invitations",
        writes=account_api.invite,
        gives=account_api.MadeInvitation,
        takes=account_api.NewInvitation,
        errors=in_project,
    ),
    delete(
        path="/api/projects/{project}/invitations/{invitation}",
        writes=account_api.withdraw_invitation,
        gives=Done,
        errors=(*in_project, NoSuchInvitation),
    ),
    post(
        path="/api/invitations/accept",
        writes=account_api.accept_invitation,
        gives=Offer,
        takes=account_api.InvitationLink,
        errors=(NoSuchInvitation, AlreadyMember),
    ),
    # Keys
    post(
        path="/project/generate-project-token",
        writes=projects_api.generate_key,
        gives=projects_api.GeneratedKey,
        takes=projects_api.NewKey,
        once=False,
        errors=in_project,
    ),
    post(
        path="/project/list-tokens",
        reads=projects_api.list_keys,
        gives=projects_api.ListedKeys,
        takes=projects_api.ProjectRef,
        errors=in_project,
    ),
    post(
        path="/project/delete-project-token",
        writes=projects_api.delete_key,
        gives=Done,
        takes=projects_api.KeyRef,
        errors=(*in_project, NoSuchToken),
    ),
    # Models
    post(
        path="/model/create-model",
        moves_models=True,
        writes=projects_api.create_model,
        gives=projects_api.ModelCreated,
        takes=projects_api.NewModel,
        errors=in_project,
    ),
    post(
        path="/model/list",
        reads=projects_api.list_models,
        gives=list[projects_api.ListedModel],
        takes=projects_api.ProjectRef,
        errors=in_project,
    ),
    post(
        path="/model/details",
        reads=projects_api.model_details,
        gives=projects_api.ListedModel,
        takes=projects_api.ModelRef,
        errors=(*in_project, NoSuchModel),
    ),
    post(
        path="/model/delete",
        moves_runs=True,
        writes=projects_api.delete_model,
        gives=Done,
        takes=projects_api.ModelRef,
        errors=(*in_project, NoSuchModel),
    ),
    # What models did
    get(
        path="/api/projects/{project}/models",
        prepares=results_api.catch_up_all,
        reads=results_api.glance_at_models,
        gives=Listed[Glance],
        access=READER,
        errors=(NoSuchProject,),
    ),
    get(
        path="/api/models/{model}",
        reads=tape_api.show_model,
        gives=tape_api.ShownModel,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/orders",
        prepares=results_api.catch_up,
        reads=results_api.list_orders,
        gives=Listed[answers.ShownOrder],
        query=results_api.OrderPage,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/pnl",
        prepares=results_api.catch_up,
        reads=results_api.show_pnl,
        gives=Pnl,
        query=results_api.PnlWindow,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/logs",
        reads=tape_api.list_logs,
        gives=Listed[answers.ShownLine],
        query=tape_api.LinePage,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/events",
        reads=tape_api.list_events,
        gives=Listed[answers.ShownEvent],
        query=tape_api.LinePage,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/screener",
        reads=tape_api.show_screener,
        gives=tape_api.Screener,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/screener/history",
        reads=tape_api.screener_history,
        gives=Listed[answers.ScreenerResult],
        query=tape_api.LinePage,
        access=READER,
        errors=(NoSuchModel,),
    ),
    *BACKTESTS,
    get(
        path="/api/models/{model}/tape",
        responds=stream.export_tape,
        gives=str,
        access=READER,
        errors=(NoSuchModel,),
        media="application/x-ndjson",
    ),
    get(
        path="/api/models/{model}/tape/seals",
        writes=tape_api.show_seals,
        gives=tape_api.Seals,
        query=Page,
        access=READER,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/stream",
        responds=stream.stream_model,
        gives=str,
        access=READER,
        errors=(NoSuchModel, Invalid),
        media="text/event-stream",
    ),
    *DEPLOY_ROUTES,
    *SHARED,
)
