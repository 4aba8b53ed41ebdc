"""The pages a person signs in with. They work without JavaScript, and take forms only from us."""

from contextlib import suppress
from urllib.parse import quote

from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.accounts import invitations, sign_ins, users
from tapeline.accounts.actor import Actor
from tapeline.accounts.invitations import Offer
from tapeline.errors import NoSuchSignIn, Problem
from tapeline.http.core import auth, hosts, signing
from tapeline.http.core.redirects import Client, see, sign_in_first
from tapeline.http.core.rendering import render
from tapeline.http.core.sessions import remember_device, set_session
from tapeline.http.pages.page import Visit
from tapeline.http.pages.web_app import show_app
from tapeline.models import onboarding


async def show_home(visit: Visit) -> Response:
    store = visit.services.store
    if visit.actor is None:
        anybody = await store.read(users.are_there_any)
        return see("/auth/signin" if anybody else "/auth/signup")
    return await show_app(visit)


async def show_sign_in(visit: Visit) -> Response:
    if visit.actor is not None:
        return see(visit.next_path)
    return await _sign_in_page(visit)


async def sign_in(visit: Visit) -> Response:
    services, store = visit.services, visit.services.store
    try:
        verified = await signing.verify(
            services, visit.request, visit.origin, visit.asked("email"), visit.asked("password")
        )
        secret, actor = await store.write(
            signing.sign_in, services.settings, visit.origin, verified, "browser"
        )
    except Problem as problem:
        return await _sign_in_page(visit, problem)
    return await _enter(visit, secret, actor.user_id(), verified.user.password_hash)


async def show_sign_up(visit: Visit) -> Response:
    if visit.actor is not None:
        invitation = visit.asked("invitation")
        offered = f"/auth/invitation/{quote(invitation, safe='')}"
        return see(offered if invitation else visit.next_path)
    return await _sign_up_page(visit)


async def sign_up(visit: Visit) -> Response:
    services = visit.services
    email, password = visit.asked("email"), visit.asked("password")
    invitation = visit.asked("invitation")
    may_be_first = signing.may_be_first(services, visit.request, visit.asked("setup_code"))
    try:
        password_hash = await signing.verify_new(
            services,
            visit.origin,
            email,
            password,
            invitation=invitation,
            may_be_first=may_be_first,
        )

        def job(connection: Connection) -> tuple[str, Actor]:
            return signing.sign_up(
                connection,
                services.settings,
                visit.origin,
                email=email,
                password_hash=password_hash,
                name=visit.asked("name"),
                invitation=invitation,
                may_be_first=may_be_first,
                kind="browser",
            )

        secret, actor = await services.store.write(job)
    except Problem as problem:
        return await _sign_up_page(visit, problem)
    return await _enter(visit, secret, actor.user_id(), password_hash)


async def sign_out(visit: Visit) -> Response:
    await _leave(visit)
    response = see(sign_in_first(visit.next_path))
    response.delete_cookie(auth.COOKIE)
    # What the app keeps in the browser: the last project, choices, the worker and its page.
    response.headers["Clear-Site-Data"] = '"storage"'
    return response


async def show_invitation(visit: Visit) -> Response:
    secret = visit.request.path_params["secret"]
    offer = await visit.services.store.read(invitations.offer, secret)
    return render(
        "invitation.html",
        account=visit.actor,
        offer=offer,
        secret=secret,
        policy=visit.services.settings.signup,
    )


async def accept_invitation(visit: Visit) -> Response:
    actor, secret = visit.account(), visit.request.path_params["secret"]

    def job(connection: Connection) -> Offer:
        user = users.get(connection, actor.user_id())
        return invitations.accept(connection, actor, user, secret)

    return see(f"/{(await visit.services.store.write(job)).project_id}")


async def show_deploy(visit: Visit) -> Response:
    client = Client.asked(visit.asked)
    actor = visit.account()
    return render("deploy.html", account=actor, client=client, posts_to=client.form_target)


async def deploy(visit: Visit) -> Response:
    """Hand a refresh token to the command line that waits on this computer."""
    client, actor = Client.asked(visit.asked), visit.actor
    if actor is None:
        return see(sign_in_first(client.page))

    def job(connection: Connection) -> str:
        user = users.get(connection, actor.user_id())
        return sign_ins.begin(connection, user, "token", visit.origin)[0]

    return see(client.with_token(await visit.services.store.write(job)))


async def back_to_sign_in(visit: Visit) -> Response:
    """For a person who opens the address of a form: show the page instead."""
    return see(sign_in_first(visit.next_path))


async def back_to_sign_up(_visit: Visit) -> Response:
    return see("/auth/signup")


async def back_to_settings(_visit: Visit) -> Response:
    return see("/settings")


async def _sign_in_page(visit: Visit, problem: Problem | None = None) -> Response:
    return render(
        "signin.html",
        problem=problem,
        account=None,
        first=await visit.services.store.read(onboarding.is_first_account_open),
        policy=visit.services.settings.signup,
        email=visit.asked("email"),
        next_path=visit.next_path,
    )


async def _sign_up_page(visit: Visit, problem: Problem | None = None) -> Response:
    store, invitation = visit.services.store, visit.asked("invitation")
    offer: Offer | None = None
    if invitation:  # report an invalid link before the form, not after it
        offer = await store.read(invitations.offer, invitation)
    return render(
        "signup.html",
        problem=problem,
        account=None,
        first=await store.read(onboarding.is_first_account_open),
        asks_for_code=hosts.may_come_from_afar(visit.request, visit.services.settings),
        setup_code=visit.asked("setup_code"),
        policy=visit.services.settings.signup,
        email=visit.asked("email"),
        name=visit.asked("name"),
        invitation=invitation,
        offer=offer,
        next_path=visit.next_path,
    )


async def _enter(visit: Visit, secret: str, user_id: str, password_hash: str) -> Response:
    await _leave(
        visit
    )  # the cookie is about to be replaced, and its session could not be ended any more
    response = see(visit.next_path)
    set_session(response, visit.request, visit.services, secret)
    remember_device(response, visit.request, visit.services, user_id, password_hash)
    return response


async def _leave(visit: Visit) -> None:
    if visit.actor is not None:
        _, sign_in_id = visit.actor.signed_in()
        with suppress(NoSuchSignIn):  # ended elsewhere in this very moment
            await visit.services.store.write(sign_ins.end, visit.actor, sign_in_id)
