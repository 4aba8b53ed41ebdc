"""The settings of an account: where it is signed in, and its password."""

from contextlib import suppress

from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.accounts import sign_ins
from tapeline.accounts.actor import Actor
from tapeline.errors import NoSuchSignIn, Problem
from tapeline.http.core import signing
from tapeline.http.core.redirects import see
from tapeline.http.core.rendering import render
from tapeline.http.core.sessions import remember_device
from tapeline.http.pages.page import Visit

# Messages that a redirect back may show. Known words only: anyone can write a URL.
DONE = {
    "ended": "The sign-in was ended.",
    "others-ended": "Every other sign-in has ended.",
    "password": "Your password was changed and every other sign-in ended.",
}


async def show_settings(visit: Visit) -> Response:
    return await _show(visit)


async def change_password(visit: Visit) -> Response:
    actor, store = visit.account(), visit.services.store
    try:
        new = await signing.verify_change(
            visit.services, actor, visit.asked("current_password"), visit.asked("new_password")
        )
        await store.write(signing.change_password, actor, new)
    except Problem as problem:
        return await _show(visit, problem, about_password=True)
    response = see("/settings?done=password")
    remember_device(response, visit.request, visit.services, actor.user_id(), new.password_hash)
    return response


async def end_sign_in(visit: Visit) -> Response:
    actor, which = visit.account(), visit.request.path_params["sign_in"]
    try:
        await visit.services.store.write(sign_ins.end, actor, which)
    except NoSuchSignIn as problem:
        return await _show(visit, problem)
    return see("/settings?done=ended")


async def end_other_sign_ins(visit: Visit) -> Response:
    await visit.services.store.write(_end_others, visit.account())
    return see("/settings?done=others-ended")


async def _show(
    visit: Visit, problem: Problem | None = None, *, about_password: bool = False
) -> Response:
    actor = visit.account()
    own = await visit.services.store.read(sign_ins.of_user, actor.user_id())
    return render(
        "settings.html",
        problem=problem,
        about_password=about_password,
        account=actor,
        here=[one for one in own if one.id == actor.sign_in_id],
        elsewhere=[one for one in own if one.id != actor.sign_in_id],
        done="" if problem else DONE.get(visit.asked("done"), ""),
    )


def _end_others(connection: Connection, actor: Actor) -> None:
    """One by one, so that the audit names each."""
    for one in sign_ins.of_user(connection, actor.user_id()):
        if one.id != actor.sign_in_id:
            with suppress(NoSuchSignIn):
                sign_ins.end(connection, actor, one.id)
