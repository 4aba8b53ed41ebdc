"""`tapeline legacy-proxy`: for clients with hard-coded hosts of the older platform."""

import shlex
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Annotated

import typer

from tapeline import settings
from tapeline.cli.account.legacy_relay import Relay
from tapeline.cli.server.session import Session
from tapeline.cli.terminal import plain
from tapeline.cli.terminal.command import SERVER, command
from tapeline.cli.terminal.failures import Failure
from tapeline.runs.engines import older_hosts

# Python opens pages with the program that BROWSER names; this one opens them on our server.
BROWSER = """#!{python}
import os, sys
os.environ.pop("BROWSER", None)
import webbrowser
webbrowser.open(sys.argv[1].replace("https://{host}", {server!r}, 1))
"""


@command(
    "tapeline legacy-proxy -- blankly deploy",
    "tapeline legacy-proxy --server https://tape.example.com -- python bot.py",
    options=SERVER,
)
def legacy_proxy(
    context: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(help="A command to run with it, after `--`.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option(help="Where it listens; 0 picks a port.", min=0)] = 0,
) -> None:
    """Run a client of an older platform against your server, unchanged.

    The client gets a proxy that forwards requests for events, deploy and app.blankly.finance to
    your server and passes everything else through. Nothing on this computer changes. Without a
    command, prints the variables to set and runs until Ctrl-C.
    """
    session = Session(context.obj)
    if "https" in urllib.request.getproxies():
        raise Failure(
            "HTTPS_PROXY is set, and this proxy does not work behind another one."
            " Unset it for this command, or use a computer without a proxy"
        )
    folder = settings.client_variables().folder
    authority = older_hosts.authority(folder)
    with Relay(port, session.profile.url, authority.context()) as relay:
        variables = _variables(relay, folder, authority)
        if command:
            raise typer.Exit(_run(relay, command, variables))
        _explain(session, variables)
        relay.serve_forever()


def _variables(relay: Relay, folder: Path, authority: older_hosts.Authority) -> dict[str, str]:
    bundle, browser = folder / "older-hosts-trusted.pem", folder / "older-hosts-browser"
    bundle.write_bytes(older_hosts.trusted_by_system() + authority.pem())
    browser.write_text(
        BROWSER.format(python=sys.executable, host=older_hosts.HOSTS[-1], server=relay.to.geturl())
    )
    browser.chmod(0o700)
    proxies = dict.fromkeys(("HTTPS_PROXY", "https_proxy"), relay.address)
    trust = dict.fromkeys(("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"), str(bundle))
    return {**proxies, **trust, "BROWSER": str(browser)}


def _run(relay: Relay, command: list[str], variables: dict[str, str]) -> int:
    """Return its exit status. The command handles Ctrl-C: the terminal sends it there too."""
    try:
        process = subprocess.Popen(command, env=settings.variables_with(variables))  # noqa: S603
    except OSError as error:
        raise Failure(f"{command[0]} could not be started: {error.strerror}") from error
    while process.poll() is None:
        try:
            relay.handle_request()
        except KeyboardInterrupt:
            continue
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def _explain(session: Session, variables: dict[str, str]) -> None:
    if session.screen.as_json:
        session.screen.json(variables)
        return
    session.screen.note(f"Answering for {', '.join(older_hosts.HOSTS)} with {session.profile.url}.")
    session.screen.note("In the shell where the client runs:")
    for name, value in variables.items():
        plain.write(f"export {name}={shlex.quote(value)}")  # whole, to be copied
