"""`tapeline login`, `logout` and `whoami`."""

import sys
import time
from typing import Annotated, Any

import typer

from tapeline.cli.account import redirect
from tapeline.cli.server.profiles import Profile
from tapeline.cli.server.session import Session, exchange
from tapeline.cli.server.wire import json_of
from tapeline.cli.terminal import plain
from tapeline.cli.terminal.command import SERVER, command
from tapeline.cli.terminal.confirming import ask, ask_secret
from tapeline.cli.terminal.failures import Misused, NotSignedIn


@command(
    "tapeline login",
    "tapeline login --server https://tape.example.com --name work",
    "tapeline login --email ada@example.com --password-stdin < password.txt",
    "tapeline login --token 5HcJ…",
    options=SERVER,
)
def login(
    context: typer.Context,
    token: Annotated[
        str | None, typer.Option(help="A refresh token; - reads it from standard input.")
    ] = None,
    email: Annotated[str | None, typer.Option(help="Your email address.")] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="A name for this server, instead of its address.")
    ] = None,
    browser: Annotated[
        bool, typer.Option(help="Open the browser, or only print the address.")
    ] = True,
) -> None:
    """Sign in to a server.

    Opens your browser, where you sign in and press Allow. On a computer without a browser,
    use a password or a token.
    """
    session = Session(context.obj)
    if token is not None and (email or password_stdin):
        raise Misused("Give either --token or --email with --password-stdin, not both.")
    if token is not None:
        refresh = sys.stdin.readline().strip() if token == "-" else token  # noqa: S105
    elif email or password_stdin:
        refresh = _by_password(session, email, from_stdin=password_stdin)
    else:
        refresh = _by_browser(session, browser)
    _keep(session, refresh, name)


@command("tapeline logout", "tapeline logout --all", options=SERVER)
def logout(
    context: typer.Context,
    everywhere: Annotated[bool, typer.Option("--all", help="Sign out of every server.")] = False,
) -> None:
    """Sign out: the token stops working."""
    session = Session(context.obj)
    names = list(session.profiles.servers) if everywhere else [session.name]
    left: list[dict[str, Any]] = []
    for name in filter(None, names):
        profile = session.profiles.servers[name]
        ended = _revoke(Session(_only(context, name)), profile.refresh_token)
        session.profiles.remove(name)
        left.append({"server": profile.url, "revoked": ended})
        if not ended:
            session.screen.note(
                f"{profile.url} did not revoke the token. Revoke it in the settings there."
            )
    if not left:
        raise NotSignedIn("You are not signed in, so there is nothing to sign out of.")
    session.profiles.save()
    session.screen.done(
        f"Signed out of {', '.join(one['server'] for one in left)}.", {"signed_out": left}
    )


@command("tapeline whoami", "tapeline whoami --json", options=SERVER)
def whoami(context: typer.Context) -> None:
    """Show who you are, where, and in which project."""
    session = Session.of(context)
    me, project = session.me, session.project
    if session.choices.as_json:
        session.screen.json({"server": session.profile.url, "project": project, **me})
        return
    shown = f"{me['name']} <{me['email']}>" if me["name"] else me["email"]
    session.screen.say(f"{shown} ({me['id']})")
    session.screen.say(f"server   {session.profile.url}")
    session.screen.say(f"project  {project['name']} ({project['id']}), as {project['role']}")


def _by_browser(session: Session, browser: bool) -> str:
    session.wire.get("/time")  # an unreachable server is better reported here than by the browser
    listener = redirect.Listener()
    address = listener.page(session.profile.url)
    opened = browser and redirect.open_browser(address)
    session.screen.note("Your browser opens. If it does not, open:" if opened else "Open:", None)
    # Never wrapped: people copy it.
    plain.write(f"  {address}", to_stderr=True)
    return listener.wait()


def _by_password(session: Session, email: str | None, *, from_stdin: bool) -> str:
    asked = sys.stdin.isatty() and not from_stdin
    address = email or (ask("Email address") if sys.stdin.isatty() else None)
    if not address:
        raise Misused("Give your email address: --email you@example.com")
    password = ask_secret("Password") if asked else sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise Misused("Standard input is empty. Send the password there.")
    body = json_of({"email": address, "password": password})
    # The server knows this device by its cookies: guesses by others do not slow us down.
    url, devices = session.profile.url, session.profiles.devices
    known = {"Cookie": devices[url]} if url in devices else {}
    refresh = str(session.wire.ask("POST", "/auth/signin", body, known)["refreshToken"])
    devices[url] = _merged(devices.get(url, ""), session.wire.cookies)
    return refresh


def _merged(before: str, new: dict[str, str]) -> str:
    """Cookies as a header; one of the same name is replaced, those of other accounts stay."""
    pairs = dict(one.partition("=")[::2] for one in before.split("; ") if one)
    return "; ".join(f"{name}={value}" for name, value in (pairs | new).items())


def _keep(session: Session, refresh: str, name: str | None) -> None:
    answer = exchange(session.wire, refresh)
    session.wire.token = answer["idToken"]
    me = session.me
    before = session.profiles.find(session.profile.url)
    profile = Profile(
        url=session.profile.url,
        refresh_token=refresh,
        id_token=answer["idToken"],
        id_token_until=time.time() + answer["expiresIn"],
        user_id=me["id"],
        email=me["email"],
        project_id=before[1].project_id if before and before[1].user_id == me["id"] else "",
    )
    if before and before[1].refresh_token and before[1].refresh_token != refresh:
        _revoke(session, before[1].refresh_token)
    chosen = session.profiles.add(profile, name)
    session.profiles.save()
    session.screen.done(
        f"Signed in to {profile.url} as {me['email']}.",
        {"server": profile.url, "name": chosen, "user_id": me["id"], "email": me["email"]},
    )


def _revoke(session: Session, refresh: str) -> bool:
    """Whether the token is revoked now, by us or before."""
    try:
        session.wire.ask("POST", "/auth/signout", json_of({"refreshToken": refresh}))
    except NotSignedIn:
        return True
    except Exception:  # noqa: BLE001 - a server that is gone must not keep us signed in here
        return False
    return True


def _only(context: typer.Context, name: str) -> Any:
    choices = context.obj
    return type(choices)(as_json=choices.as_json, server=name)
