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
from tapeline.http import (
    answers,
    auth_api,
    deployment_api,
    health,
    project_stream,
    results_api,
    stream,
    tape_api,
    view_api,
)
from tapeline.http.auth_api import Done
from tapeline.http.backtest_routes import BACKTESTS
from tapeline.http.deploy_routes import DEPLOY_ROUTES
from tapeline.http.endpoint import Access, Endpoint, Page
from tapeline.http.shared_routes import SHARED
from tapeline.http.view_api import Listed
from tapeline.models.projects import OwnProject
from tapeline.results.overview import Glance
from tapeline.results.pnl import Pnl

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
    get(path="/api/me", reads=view_api.me, gives=view_api.Me),
    patch(
        path="/api/me",
        writes=view_api.change_me,
        gives=view_api.Me,
        takes=view_api.AccountChange,
    ),
    post(
        path="/api/me/password",
        prepares=view_api.verify_password_change,
        writes=view_api.change_password,
        gives=view_api.PasswordChanged,
        takes=view_api.NewPassword,
        errors=(WrongPassword, TooManyAttempts),
    ),
    get(path="/api/me/sign-ins", reads=view_api.list_sign_ins, gives=Listed[view_api.ShownSignIn]),
    delete(
        path="/api/me/sign-ins/{sign_in}",
        writes=view_api.end_sign_in,
        gives=Done,
        errors=(NoSuchSignIn,),
    ),
    get(path="/api/me/audit", reads=view_api.my_audit, gives=Listed[Entry], query=Page),
    # Projects
    post(
        path="/project/create",
        writes=deployment_api.create_project,
        gives=deployment_api.ProjectCreated,
        takes=deployment_api.NewProject,
    ),
    get(
        path="/project/list",
        reads=deployment_api.list_projects,
        gives=list[deployment_api.ListedProject],
    ),
    get(path="/project/teams", reads=deployment_api.list_teams, gives=list[deployment_api.Team]),
    post(
        path="/project/delete",
        moves_runs=True,
        writes=deployment_api.delete_project,
        gives=Done,
        takes=deployment_api.ProjectRef,
        errors=(*in_project, PersonalProject),
    ),
    get(
        path="/api/projects/{project}",
        reads=view_api.show_project,
        gives=view_api.ShownProject,
        access=READER,
        errors=(NoSuchProject,),
    ),
    patch(
        path="/api/projects/{project}",
        writes=view_api.change_project,
        gives=OwnProject,
        takes=view_api.ProjectChange,
        errors=in_project,
    ),
    get(
        path="/api/projects/{project}/audit",
        reads=view_api.project_audit,
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
        reads=view_api.list_members,
        gives=Listed[Member],
        errors=in_project,
    ),
    patch(
        path="/api/projects/{project}/members/{user}",
        writes=view_api.change_member,
        gives=Member,
        takes=view_api.RoleChange,
        errors=(*in_project, NoSuchMember, LastOwner, PersonalProject),
    ),
    delete(
        path="/api/projects/{project}/members/{user}",
        writes=view_api.remove_member,
        gives=Done,
        errors=(*in_project, NoSuchMember, LastOwner, PersonalProject),
    ),
    get(
        path="/api/projects/{project}/invitations",
        reads=view_api.list_invitations,
        gives=Listed[Invitation],
        errors=in_project,
    ),
    post(
        path="/api/projects/{project}/invitations",
        writes=view_api.invite,
        gives=view_api.MadeInvitation,
        takes=view_api.NewInvitation,
        errors=in_project,
    ),
    delete(
        path="/api/projects/{project}/invitations/{invitation}",
        writes=view_api.withdraw_invitation,
        gives=Done,
        errors=(*in_project, NoSuchInvitation),
    ),
    post(
        path="/api/invitations/accept",
        writes=view_api.accept_invitation,
        gives=Offer,
        takes=view_api.InvitationLink,
        errors=(NoSuchInvitation, AlreadyMember),
    ),
    # Keys
    post(
        path="/project/generate-project-token",
        writes=deployment_api.generate_key,
        gives=deployment_api.GeneratedKey,
        takes=deployment_api.NewKey,
        once=False,
        errors=in_project,
    ),
    post(
        path="/project/list-tokens",
        reads=deployment_api.list_keys,
        gives=deployment_api.ListedKeys,
        takes=deployment_api.ProjectRef,
        errors=in_project,
    ),
    post(
        path="/project/delete-project-token",
        writes=deployment_api.delete_key,
        gives=Done,
        takes=deployment_api.KeyRef,
        errors=(*in_project, NoSuchToken),
    ),
    # Models
    post(
        path="/model/create-model",
        moves_models=True,
        writes=deployment_api.create_model,
        gives=deployment_api.ModelCreated,
        takes=deployment_api.NewModel,
        errors=in_project,
    ),
    post(
        path="/model/list",
        reads=deployment_api.list_models,
        gives=list[deployment_api.ListedModel],
        takes=deployment_api.ProjectRef,
        errors=in_project,
    ),
    post(
        path="/model/details",
        reads=deployment_api.model_details,
        gives=deployment_api.ListedModel,
        takes=deployment_api.ModelRef,
        errors=(*in_project, NoSuchModel),
    ),
    post(
        path="/model/delete",
        moves_runs=True,
        writes=deployment_api.delete_model,
        gives=Done,
        takes=deployment_api.ModelRef,
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
