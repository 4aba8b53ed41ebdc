"""How every endpoint is handled: read the body, identify the caller, act in one transaction."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from tapeline import turns
from tapeline.accounts.actor import Actor
from tapeline.errors import CrossSiteRequest, Invalid, Missing, Problem
from tapeline.http.core import archive_bodies, auth, rendering, senders, sessions
from tapeline.http.core.endpoint import (
    OPEN,
    Access,
    BodyCall,
    Call,
    Endpoint,
    Nothing,
    QueryCall,
)
from tapeline.http.core.services import Services
from tapeline.http.wire import abandoning, body
from tapeline.http.wire.multipart import Attachment
from tapeline.store.backends import announcing, steady
from tapeline.store.encryption import Cipher
from tapeline.store.once import RequestKey, answered, checked_key, once

ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}
Handler = Callable[[Request], Awaitable[Response]]


def handler(endpoint: Endpoint, services: Services) -> Handler:
    handle = _handler(endpoint, services)
    return _for_readers(handle) if endpoint.media == "text/html" else handle


def _for_readers(handle: Handler) -> Handler:
    """A page that the API makes: people who open it get its errors as pages, programs as JSON."""

    async def handle_for_reader(request: Request) -> Response:
        try:
            return await handle(request)
        except Problem as problem:
            if not rendering.is_for_reader(request):
                raise
            return rendering.problem_for_reader(request, problem)

    return handle_for_reader


def _handler(endpoint: Endpoint, services: Services) -> Handler:
    async def handle(request: Request) -> Response:
        senders.come_as_stranger(request, senders.area_of(endpoint))
        response = await abandoning.while_connected(request, carry_out(request))
        sessions.remember_noted_device(request, services, response)
        if endpoint.access not in OPEN:
            await sessions.live_on_by_call(request, services, response)
        response.headers.update(ANY_ORIGIN if endpoint.any_origin else {})
        return response

    async def carry_out(request: Request) -> Response:
        identify = None
        if endpoint.access not in OPEN:
            identify = auth.identify(request, services, endpoint.access)
        elif request.method not in auth.SAFE_METHODS and auth.is_foreign(request, services):
            raise CrossSiteRequest
        _check_path(request)
        query = _query(request, endpoint)
        if identify and endpoint.has_body:
            await _require_known(request, endpoint, services, identify)
        async with _said(request, endpoint, services) as (content, attached):
            taken = body.convert(content, endpoint.takes)
            call = _call(endpoint, services, request, attached, taken, query)
            if endpoint.access is Access.SHARED:
                await senders.join_link(request, services)
            elif identify and not endpoint.only_writes:
                await senders.join_tenant(request, services, endpoint.access, identify)
            if endpoint.responds:
                known = await services.store.read(identify) if identify else None
                again = _identified_again(request, services, endpoint.access)
                call = replace(call, known=known, identify=again)
                response: Response = await endpoint.responds(call)
                return response
            key = _request_key(request, endpoint, _canonical(content, attached), services.cipher)
            return _answer(await _Execution(endpoint, call, identify, key).run())

    return handle


def _identified_again(request: Request, services: Services, access: Access) -> auth.Identify:
    """Starts from the headers: an idToken that was valid at first may have expired since."""

    def identify(connection: Connection) -> Actor:
        return auth.identify(request, services, access)(connection)

    return identify


async def _require_known(
    request: Request, endpoint: Endpoint, services: Services, identify: auth.Identify
) -> None:
    """Before the body is read: a stranger's must cost nothing. Whoever was known once is identified
    by the act itself, so that a halt never waits for a reader."""
    if endpoint.attaches:
        # A hundred megabytes must not reach the disk for somebody whose sign-in has ended.
        await senders.join_tenant(request, services, endpoint.access, identify)
        await services.store.read(identify)
    else:
        await senders.owner_of(request, services, endpoint.access, identify)


@dataclass(frozen=True)
class _Execution:
    """Carries out one request that was read and validated."""

    endpoint: Endpoint
    call: Call
    identify: auth.Identify | None
    key: RequestKey | None

    async def run(self) -> bytes:
        store = self.call.services.store
        if self.endpoint.reads:
            if self.endpoint.prepares:
                known, _ = await store.read(self._look_first)
                await self.endpoint.prepares(replace(self.call, known=known))
            begin = store.compute if self.endpoint.computes else store.read
            return await begin(self._act, None)
        if self.endpoint.flows:
            return msgspec.json.encode(await self.endpoint.flows(self.call))
        prepared = None
        if self.endpoint.prepares:
            known, first = await store.read(self._look_first)
            if first is not None:
                return first
            try:
                prepared = await self.endpoint.prepares(replace(self.call, known=known))
            except Problem:
                # Perhaps because the first request has just finished: then repeat its answer.
                _, first = await store.read(self._look_first)
                if first is None:
                    raise
                return first
        answer = await store.write(self._act, prepared)
        await self._follow_up()
        return answer

    async def _follow_up(self) -> None:
        """After the commit: notify the runner, open lists and the endpoint itself."""
        if self.endpoint.moves_runs:
            self.call.services.runner.wake()
        if self._concerns_lists:
            self.call.services.watchers.wake_readers([announcing.MODELS])
        if self.endpoint.afterwards:
            await self.endpoint.afterwards(self.call)

    @property
    def _concerns_lists(self) -> bool:
        return self.endpoint.moves_runs or self.endpoint.moves_models

    def _look_first(self, connection: Connection) -> tuple[Actor | None, bytes | None]:
        actor = self.identify(connection) if self.identify else None
        key = self._scoped(actor)
        return actor, answered(connection, key, steady.now(connection)) if key else None

    def _act(self, connection: Connection, prepared: Any) -> bytes:
        # Identified again in the transaction that acts: a right may have been revoked by now.
        actor = self.identify(connection) if self.identify else None
        call = replace(self.call, known=actor, prepared=prepared)

        def act() -> bytes:
            answer = msgspec.json.encode(self.endpoint.act(connection, call))
            if self._concerns_lists:
                announcing.announce(connection, "", [announcing.MODELS])
            return answer

        key = self._scoped(actor)
        return once(connection, key, steady.now(connection), act) if key else act()

    def _scoped(self, actor: Actor | None) -> RequestKey | None:
        if self.key is None or actor is None or actor.id is None:
            return None
        return replace(self.key, scope=actor.id)


@asynccontextmanager
async def _said(
    request: Request, endpoint: Endpoint, services: Services
) -> AsyncIterator[tuple[body.Body, Attachment | None]]:
    if endpoint.attaches:
        owner, most = turns.sender.get(), endpoint.longest_body
        async with archive_bodies.received(request, services, owner, most) as said:
            yield said
    else:
        yield await _content(request, endpoint, services), None


def _canonical(content: body.Body, attached: Attachment | None) -> bytes:
    return content.canonical() + (attached.sha256.encode() if attached else b"")


async def _content(request: Request, endpoint: Endpoint, services: Services) -> body.Body:
    if endpoint.takes is Nothing:
        return body.Body({}, lenient=False)
    return await body.read(request, services.settings, endpoint.longest_body)


def _query(request: Request, endpoint: Endpoint) -> Any:
    values = dict(request.query_params)
    for name, value in values.items():
        if "\0" in value:
            raise Invalid("Texts must not contain the character NUL.", field=name)
    return body.convert(body.Body(values, lenient=True), endpoint.query)


def _call(
    endpoint: Endpoint,
    services: Services,
    request: Request,
    attached: Attachment | None,
    taken: Any,
    query: Any,
) -> Call:
    if endpoint.takes is not Nothing:
        return BodyCall(services=services, request=request, attached=attached, body=taken)
    if endpoint.query is not Nothing:
        return QueryCall(services=services, request=request, query=query)
    return Call(services=services, request=request, attached=attached)


def _check_path(request: Request) -> None:
    # No id contains NUL, and PostgreSQL refuses to compare with it.
    if any("\0" in str(value) for value in request.path_params.values()):
        raise Missing


def _request_key(
    request: Request, endpoint: Endpoint, content: bytes, cipher: Cipher
) -> RequestKey | None:
    key = request.headers.get("idempotency-key")
    if key is None or request.method != "POST" or not (endpoint.once and endpoint.writes):
        return None
    return RequestKey("", request.url.path, checked_key(key), content, cipher)


def _answer(content: bytes) -> Response:
    # Caches must not keep an account's data.
    return Response(content, media_type="application/json", headers={"Cache-Control": "no-store"})
