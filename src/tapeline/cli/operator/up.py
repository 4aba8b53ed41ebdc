"""`tapeline up`: everything in the foreground."""

import asyncio
import gc
import os
import signal
import socket
import sys
from dataclasses import replace
from types import FrameType
from typing import Annotated

import typer
import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from tapeline import __version__, compose, datadir, descriptors, logs, settings, typed_commands
from tapeline.accepting import Accepting
from tapeline.accounts import setup_code, users
from tapeline.cli.demo import account as demonstration
from tapeline.cli.demo import deploying
from tapeline.cli.operator.reloading import Reloading
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal import plain
from tapeline.cli.terminal.command import HERE, command
from tapeline.errors import CannotStart
from tapeline.http import nodes_port, run_port
from tapeline.http.core import hosts
from tapeline.http.core.services import Services
from tapeline.http.events.api import EventsApi
from tapeline.http.events.protocol import EventProtocol
from tapeline.models import onboarding
from tapeline.runs.cluster import joining
from tapeline.settings import Settings
from tapeline.store import moving

log = logs.Log(__name__)

LAST_RENEWALS = 1.0  # seconds for requests of nodes that are under way
SWITCHED = 0.001
"""Seconds after which a thread that computes makes way for the event loop and the writer."""


@command("tapeline up --demo", "tapeline up --host 0.0.0.0 --data /srv/tapeline", options=HERE)
def up(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[str | None, typer.Option(help="Port to listen on; 0 picks one.")] = None,
    data: Data = None,
    database: Database = None,
    blobs: Annotated[
        str | None, typer.Option(help="Object storage for archives, such as s3://bucket.")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Where models run: local or ray.")] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="Head of the Ray cluster, such as 10.0.0.1:6379.")
    ] = None,
    unsafe_no_sandbox: Annotated[
        bool | None,
        typer.Option(
            "--unsafe-no-sandbox",
            help="Run models without a sandbox: they can read and change everything.",
        ),
    ] = None,
    config: Config = None,
    demo: Annotated[
        bool | None,
        typer.Option(
            "--demo/--no-demo", help="Start with a demo: sample models on a simulated market."
        ),
    ] = None,
) -> None:
    """Run the whole service in the foreground until Ctrl-C."""
    options = {
        "host": host,
        "port": port,
        "data": data,
        "database": database,
        "blobs": blobs,
        "engine": engine,
        "ray_address": ray_address,
        "unsafe_no_sandbox": unsafe_no_sandbox,
        "config": config,
        "demo": demo,
    }
    chosen = settings.load(options)
    joining.check(chosen)
    logs.start(chosen.log_level, chosen.log_format)
    for name in settings.strange_variables():
        log.warning("unknown_variable_ignored", name=name)
    _serve(chosen, Reloading(chosen, lambda: settings.load(options)))


def _serve(chosen: Settings, reloading: Reloading) -> None:
    limit = descriptors.raise_limit()
    if few := descriptors.shortage():
        raise CannotStart(few)
    listener = _listen(chosen)
    here = replace(chosen, public_url="").address(listener.getsockname()[1])
    note = f"{here}, process {os.getpid()}"
    with (
        listener,
        datadir.only_server(chosen.data, note),
        compose.open_services(chosen) as services,
    ):
        _refuse_moved(services)
        # Not earlier: a failure to start is one line, with no other output above it.
        log.info("descriptors", limit=limit)
        services.runner.open(listener.getsockname()[1])
        app = compose.application(services)
        config = server_config(app, chosen.trusted_proxies)
        server = _Server(config, services, listener, reloading)
        # Our handlers from now on: a signal before uvicorn listens must count, and uvicorn raises
        # each again once it has shut down, while the parts above still have to close.
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, server.handle_exit)
        # Objects made so far stay: without this, the collector walks all of them every few seconds
        # under load, and every request waits some 60 ms for it.
        gc.freeze()
        sys.setswitchinterval(SWITCHED)
        server.run(sockets=[listener])
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the event loop has let go of it
    log.info("stopped")


def _refuse_moved(services: Services) -> None:
    """Two databases with the same models would run them twice."""
    if elsewhere := services.store.read_now(moving.destination):
        release = typed_commands.with_database("tapeline release", services.settings)
        raise CannotStart(
            f"The content of {services.store.database.name} was moved to {elsewhere}. Start the"
            f" server with that database, or use this one again with: {release}"
        )


def _listen(chosen: Settings) -> socket.socket:
    """Bound first, so that a port in use is reported before any other work."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            chosen.host, chosen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address, family=family, backlog=2048)
    except OSError as error:
        datadir.refuse_second(chosen.data)  # most likely our own first socket listens there
        raise CannotStart(
            f"Cannot listen on {chosen.host}:{chosen.port}: {error.strerror}."
            " Choose another with --port, or --host."
        ) from error


def _address(chosen: Settings, listener: socket.socket) -> str:
    return chosen.address(listener.getsockname()[1])


def server_config(app: ASGIApp, proxies: str) -> uvicorn.Config:
    """How we serve HTTP. `bench/` measures its no-op handler on the same."""
    return uvicorn.Config(
        app,
        http=EventProtocol if isinstance(app, EventsApi) else "httptools",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies or None,
        timeout_graceful_shutdown=10,
    )


class _Server(uvicorn.Server):
    """Prints the banner only once it is ready."""

    def __init__(
        self,
        config: uvicorn.Config,
        services: Services,
        listener: socket.socket,
        reloading: Reloading,
    ) -> None:
        super().__init__(config)
        self._reloading = reloading
        self._services = services
        self._where = _address(services.settings, listener)
        self._is_stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._of_nodes, self._for_nodes = ServerState(), list[Accepting]()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.add_signal_handler(signal.SIGHUP, self._hang_up)
        for_runs = await run_port.serve(self._services, self.server_state)
        self._for_nodes = await nodes_port.serve(self._services, self._of_nodes)
        await super().startup(sockets)
        self.servers += for_runs
        if self.started and not self.should_exit:
            # In a thread: the demo hashes a password and writes, and requests are answered already.
            greeting = await asyncio.to_thread(_greeting, self._services, self._where)
            plain.write(greeting, keep_lines=True)
            self._services.runner.wake()  # to start the models that the demo may have deployed

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """The port of the nodes last: until then they renew the leases of their models here."""
        await super().shutdown(sockets)
        for server in self._for_nodes:
            server.close()
        for connection in list(self._of_nodes.connections):
            connection.shutdown()
        if under_way := self._of_nodes.tasks:
            await asyncio.wait(under_way, timeout=LAST_RENEWALS)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal may come in the middle of a log line, where another one cannot be written: the
        event loop acts on it."""
        if self._loop is None or self._loop.is_closed():
            super().handle_exit(sig, frame)
        else:
            self._loop.call_soon_threadsafe(self._end, sig)

    def _end(self, sig: int) -> None:
        """Ctrl-C stops the models first, while the server still takes their last events; a second
        Ctrl-C does not wait for them. SIGTERM leaves them running for the next start. Those
        of a cluster are not this server's alone."""
        stops = sig == signal.SIGINT and self._services.settings.engine != "ray"
        if self.should_exit or self._is_stopping or not stops or not self.started:
            self._exit(sig)
            return
        self._is_stopping = True
        log.info("stopping_models")
        self._services.background.begin("stopping", self._stop_models(sig))

    def _hang_up(self) -> None:
        """Reload, or end as with SIGTERM if the terminal that it was started in is closed."""
        if self._reloading.is_hung_up():
            self._exit(signal.SIGTERM)
        else:
            self._reloading.reload()

    async def _stop_models(self, sig: int) -> None:
        try:
            await self._services.runner.stop_models()
        finally:
            self._exit(sig)

    def _exit(self, sig: int) -> None:
        if not self.should_exit:
            log.info("stopping", signal=signal.Signals(sig).name)
            self._services.watchers.close()  # open streams would keep us waiting
        super().handle_exit(sig, None)


def _greeting(services: Services, where: str) -> str:
    store, chosen = services.store, services.settings
    lines = [
        f"Tapeline {__version__} is ready at {where}",
        f"  data       {chosen.data}",
        f"  database   {store.database.name}",
    ]
    lines += _about_models(services)
    if hold := services.runner.hold():
        undo = typed_commands.with_database("tapeline release", chosen)
        lines += [f"  hold       {hold.sentence()}", f"             undo: {undo}"]
    if chosen.demo:
        demo = demonstration.prepare(store, chosen.data)
        deploying.deploy(services, demonstration.EMAIL, demo.project_id)
        kept = chosen.data / demonstration.LINK
        link = deploying.share(services, demonstration.EMAIL, demo.project_id, kept, where)
        lines += demo.lines(link, typed_commands.with_database("tapeline demo remove", chosen))
    elif not store.read_now(users.are_there_any):
        add = typed_commands.with_database("tapeline user add you@example.com", chosen)
        lines += [
            f"  first account   open {where}/auth/signup",
            f"                  or run: {add}",
        ]
    lines += _about_setup(services)
    lines.append("  Ctrl-C stops it.")
    return "\n".join(lines)


def _about_setup(services: Services) -> list[str]:
    """The setup code tells the owner from everyone else who can reach a server without accounts."""
    if not services.store.read_now(onboarding.is_first_account_open):
        return []
    code = setup_code.shown(services.cipher)
    if hosts.is_reached_from_afar(services.settings):
        return [f"  setup code      {code} (the first account needs it)"]
    if services.settings.demo:
        return []
    return [f"  setup code      {code} (needed only through a proxy)"]


def _about_models(services: Services) -> list[str]:
    """How models are confined, or why they cannot run."""
    host, unsafe = services.runner.host, services.settings.unsafe_no_sandbox
    if services.settings.engine == "ray":
        return [f"  models     on the nodes of the Ray cluster at {services.settings.ray_address}"]
    if host is None:
        return []
    if host.sandboxed or unsafe:
        lines = [f"  models     {host.confinement(unsafe=unsafe)}"]
    else:
        lines = ["  models     cannot run on this machine: the sandbox is not available"]
    return lines + [f"             {problem}" for problem in host.problems]
