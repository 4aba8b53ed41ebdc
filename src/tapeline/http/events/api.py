"""The events API: a small ASGI application in front of the framework.

This is the hot path: one look-up for the path, one for the key, the body decoded by its kind, then
the tape. The answer is sent when the event is durable. An event that arrives in one piece does not
even become an ASGI request: `protocol` passes it on straight from the parser.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tapeline import tracing
from tapeline.errors import (
    MethodNotAllowed,
    NoSuchModel,
    Problem,
    QuotaExceeded,
    Superseded,
    TooLarge,
    WrongKey,
)
from tapeline.http.core.services import Services
from tapeline.http.events import batches, bodies, results
from tapeline.http.events.authenticator import Authenticator, Credentials
from tapeline.http.events.bodies import JSON, Moment, encoding_of
from tapeline.http.events.failing import failed, said_by
from tapeline.http.events.submitting import moment_of, submission_of
from tapeline.http.prices import pushed
from tapeline.http.settling import settle_pushed
from tapeline.http.wire import spooling
from tapeline.http.wire.body import in_time
from tapeline.http.wire.spooling import Content
from tapeline.store.backends import steady
from tapeline.store.belongings import scope_of
from tapeline.store.encryption import Cipher
from tapeline.store.once import RequestKey, checked_key, once
from tapeline.tape.append import permissions
from tapeline.tape.append.appending import Appended
from tapeline.tape.backtest_results.staging import Stage
from tapeline.tape.batches import PASSING
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.events.kinds import BARS, BESIDE, BY_PATH
from tapeline.tape.fair_budget import patience
from tapeline.tape.tapes import WriteAccess
from tapeline.tracing import Trace

BATCH, RESULT = "/v1/batch", "/v1/backtest/result"
STAGED = {BATCH, RESULT}
TURNED = {path for path, kind in BY_PATH.items() if kind is BARS}
"""Many bars wait for their turn among large batches."""
PRICED = {path for path, kind in BY_PATH.items() if kind in BESIDE}
OF_BARS = 200_000  # bytes that they count as at least: storing them takes longer than reading them
PATHS = frozenset(BY_PATH) | STAGED
SUCCESS = b'{"status":"success"}'
HALT = b'{"status":"success","halt":true}'

_json = partial(
    Response, media_type="application/json", headers={"X-Content-Type-Options": "nosniff"}
)
_SUCCEEDED, _TOLD_TO_HALT = _json(SUCCESS), _json(HALT)
# Seconds before a client over its quota is told so. One that does not wait as it is told, but sends
# again at once, would take the processor from all others.
REFUSED_AFTER = 0.25
_REMEMBERED_WRONGLY = (WrongKey, NoSuchModel, Superseded)


class Whole(NamedTuple):
    """A complete request with one event."""

    path: str
    headers: Iterable[tuple[bytes, bytes]]
    content: bytes
    address: str
    answered: Callable[[Response], None]


class EventsApi:
    def __init__(self, app: ASGIApp, services: Services) -> None:
        self.connections = services.connections
        self._app = app
        self._services = services
        self._keys = Authenticator(services)
        self._asking: set[asyncio.Task[Exception]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in PATHS:
            await self._app(scope, receive, send)
            return
        started, path = time.perf_counter(), scope["path"]
        tracer = self._services.tracer
        trace = tracing.begun(tracer)
        try:
            answer = self._success(await self._take(scope, receive))
        except Exception as error:  # noqa: BLE001 - the sender always gets an answer
            answer = failed(error, path)
        if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            await asyncio.sleep(REFUSED_AFTER)
        await answer(scope, receive, send)
        self._services.metrics.took_event(path, answer.status_code, time.perf_counter() - started)
        named = (scope["method"], path)
        tracing.finished(tracer, trace, named, answer.status_code, scope["headers"])

    def take_whole(self, whole: Whole) -> bool:
        """Take an event of the usual form: JSON, with a cached API key, without an Idempotency-Key.
        False for any other, and for an invalid one: the ASGI way handles it and reports errors."""
        started, headers = time.perf_counter(), dict(whole.headers)
        trace = tracing.begun(self._services.tracer)
        try:
            credentials = self._keys.credentials(headers)
            access = self._keys.known(credentials, whole.address)
            if access is None or b"idempotency-key" in headers or encoding_of(headers) != JSON:
                return False
            settings = self._services.settings
            if len(whole.content) > settings.max_body or self._waits(whole, access):
                return False
            event = bodies.event_of_json(
                whole.path, whole.content, moment_of(headers), access.tape, settings
            )
            prices = list(pushed.packed([event]))
            submission = submission_of([event], access, settings.max_line, prices)
            settle = partial(self._settle, whole, started, credentials, access, trace)
            try:
                is_vital = submission.events[0].kind.is_vital
                self._services.quotas.push(access, len(whole.content), is_vital=is_vital)
            except QuotaExceeded as refusal:
                # Not by the ASGI way: a refused sender must cost less than an accepted one.
                asyncio.get_running_loop().call_later(REFUSED_AFTER, settle, refusal)
                return True
            self._services.inbox.put(submission, settle)
            if submission.prices:
                self._services.folding.note(access.tape)
        except Exception:  # noqa: BLE001 - a bug is logged and answered by the ASGI way
            return False
        return True

    def _waits(self, whole: Whole, access: WriteAccess) -> bool:
        """Whether it has to wait for its turn, or for the bars before it."""
        return whole.path in TURNED or (
            whole.path in PRICED and self._services.folding.is_behind(access.tape)
        )

    def _settle(
        self,
        whole: Whole,
        started: float,
        credentials: Credentials,
        access: WriteAccess,
        trace: Trace | None,
        failure: BaseException | None,
    ) -> None:
        def answer(failure: BaseException | None) -> None:
            answer = self._success(access) if failure is None else failed(failure, whole.path)
            whole.answered(answer)
            seconds = time.perf_counter() - started
            self._services.metrics.took_event(whole.path, answer.status_code, seconds)
            if trace is not None:
                named = ("POST", whole.path)
                tracing.finished(
                    self._services.tracer, trace, named, answer.status_code, whole.headers
                )

        if isinstance(failure, _REMEMBERED_WRONGLY):
            asking = self._asked_anew(failure, credentials, whole.address)
            task = asyncio.get_running_loop().create_task(asking)
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
            task.add_done_callback(lambda done: answer(said_by(done)))
        else:
            answer(failure)

    def _success(self, access: WriteAccess) -> Response:
        """Tells a model whose project is halted to stop. Backtests go on."""
        is_told = access.backtest_id is None and self._services.halts.covers(access.project_id)
        return _TOLD_TO_HALT if is_told else _SUCCEEDED

    async def _take(self, scope: Scope, receive: Receive) -> WriteAccess:
        if scope["method"] != "POST":
            raise MethodNotAllowed("This address takes only POST.")
        headers: dict[bytes, bytes] = dict(scope["headers"])
        credentials = self._keys.credentials(headers)
        address = scope["client"][0] if scope["client"] else ""
        access = await self._keys.access(credentials, address)
        take = self._take_staged if scope["path"] in STAGED else self._take_one
        try:
            await take(scope, headers, receive, moment_of(headers), access)
        except _REMEMBERED_WRONGLY as refusal:
            raise await self._asked_anew(refusal, credentials, address) from None
        return access

    async def _asked_anew(
        self, refusal: Problem, credentials: Credentials, address: str
    ) -> Exception:
        """The cache was out of date: key, model or run is gone. Asking again says which."""
        self._keys.forget(credentials)
        if isinstance(refusal, Superseded):
            with suppress(Problem):  # failing to note it changes nothing for the sender
                await self._services.store.write(permissions.note_refused, credentials[0].decode())
            return refusal
        try:
            await self._keys.access(credentials, address)
        except Exception as error:  # noqa: BLE001 - the error is the answer
            return error
        return refusal

    async def _take_one(
        self,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        moment: Moment,
        access: WriteAccess,
    ) -> None:
        settings, path = self._services.settings, scope["path"]
        most = bodies.most_bytes(path, settings)
        content = await bodies.read_content(receive, most, settings.body_seconds)
        if path not in TURNED:
            await self._take_content(path, content, headers, moment, access)
        else:
            request = Request(scope, receive)
            size = max(len(content), OF_BARS)
            async with batches.turn(self._services.batches, request, access.owner, size):
                await self._take_content(path, content, headers, moment, access)
        if path in PRICED:
            await settle_pushed(self._services, access.owner)

    async def _take_content(
        self,
        path: str,
        content: bytes,
        headers: Mapping[bytes, bytes],
        moment: Moment,
        access: WriteAccess,
    ) -> None:
        settings = self._services.settings
        if encoding_of(headers) == JSON:
            event = bodies.event_of_json(path, content, moment, access.tape, settings)
        else:
            values, lenient = await bodies.decoded(content, headers, settings)
            event = bodies.event(path, values, moment, access.tape, settings, lenient=lenient)
        pushed.Amount().add(event)
        prices = await pushed.packed_in_turns([event])
        submission = submission_of([event], access, settings.max_line, prices)
        is_vital = submission.events[0].kind.is_vital
        self._services.quotas.push(access, len(content), is_vital=is_vital)
        if b"idempotency-key" in headers:
            said = event.kind.name.encode() + (event.body or content)
            request = _request_key(headers, path, access, said, self._services.cipher)
            await self._store_once(request, access, submission)
        else:
            await self._services.inbox.store(submission)

    async def _take_staged(
        self,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        moment: Moment,
        access: WriteAccess,
    ) -> None:
        """A backtest result, or a batch that may contain some: their pieces are stored first."""
        stage = self._services.staging.begin(access.tape, access.owner)
        try:
            if scope["path"] == BATCH:
                await self._take_batch(Request(scope, receive), headers, moment, access, stage)
            else:
                header = await self._result(scope, headers, receive, stage, access)
                event = bodies.result_event(header, stage.newest, moment, access.tape)
                await self._store_staged(RESULT, headers, event.body, [event], access, stage)
        finally:
            await stage.discard()

    async def _take_batch(
        self,
        request: Request,
        headers: Mapping[bytes, bytes],
        moment: Moment,
        access: WriteAccess,
        stage: Stage,
    ) -> None:
        settings, name = self._services.settings, batches.file_name(headers)
        with stage.staging.rooms.room(access.owner) as room:
            async with in_time(settings.body_seconds):
                content = await spooling.gather(request, settings.max_large_body, room, name)
            is_counted = self._count_batch(access, content)  # before it is parsed
            async with (
                patience() as waits,
                batches.turn(self._services.batches, request, access.owner, len(content)),
            ):
                parts = await batches.parted(content, headers, stage, room)
                async with self._services.memory.need(access.owner, batches.in_memory(content)):
                    waits.reschedule(None)
                    events = await batches.read(content, headers, moment, stage, parts)
                    if not is_counted:
                        is_vital = any(event.kind.is_vital for event in events)
                        self._services.quotas.push(access, len(content), is_vital=is_vital)
                    await self._store_staged(BATCH, headers, content, events, access, stage)
        if any(event.kind in BESIDE for event in events):  # not while it holds its turn
            await settle_pushed(self._services, access.owner)

    async def _store_staged(
        self,
        path: str,
        headers: Mapping[bytes, bytes],
        said: bytes | Content,
        events: list[Event],
        access: WriteAccess,
        stage: Stage,
    ) -> None:
        prices, longest = await pushed.packed_in_turns(events), self._services.settings.max_line
        submission = submission_of(events, access, longest, prices, batch=path == BATCH)
        if path == BATCH and len(said) > PASSING:
            submission = msgspec.structs.replace(submission, is_large=True)
        if b"idempotency-key" in headers:
            request = _request_key(headers, path, access, said, self._services.cipher)
            if await self._store_once(request, access, submission):
                stage.keep()
        elif not events:
            check = self._services.inbox.appender.check
            await self._services.store.write(check, access.key_id, access.tape)
        else:
            await self._services.inbox.store(submission)
            stage.keep()

    async def _result(
        self,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        stage: Stage,
        access: WriteAccess,
    ) -> dict[str, Any]:
        """Counted before its first byte if its length is known, otherwise after its last."""
        quotas, length = self._services.quotas, headers.get(b"content-length", b"")
        known = int(length) if length.isdigit() and len(length) < 15 else 0
        quotas.push(access, known)
        counted = bodies.Counted(receive)
        header = await results.take(scope, headers, counted, stage)
        if counted.size > known:
            quotas.push(access, counted.size - known)
        return header

    def _count_batch(self, access: WriteAccess, content: Content) -> bool:
        """False for a batch over the quota that may nevertheless contain an order."""
        try:
            self._services.quotas.push(access, len(content))
        except (QuotaExceeded, TooLarge):
            if batches.is_surely_not_vital(content):
                raise
            return False
        return True

    async def _store_once(
        self, request: RequestKey, access: WriteAccess, submission: Submission
    ) -> bool:
        """In its own transaction, with its Idempotency-Key; returns whether it was the first."""
        services, watched = self._services, list[Appended]()

        def job(connection: Connection) -> bool:
            watched.clear()
            # Before the remembered answer: a deleted key or model must not get old answers.
            services.inbox.appender.check(connection, access.key_id, access.tape)
            was_first = False

            def act() -> bytes:
                nonlocal was_first
                was_first = True
                (refusal,), appended = services.inbox.appender.append(connection, [submission])
                if refusal is not None:
                    raise refusal
                watched.extend(appended)
                return SUCCESS

            once(connection, request, steady.now(connection), act)
            return was_first

        was_first = await services.store.write(job)
        for one in watched:
            services.watchers.publish(one.model_id, one.records)
        return was_first


def _request_key(
    headers: Mapping[bytes, bytes],
    path: str,
    access: WriteAccess,
    content: bytes | Content,
    cipher: Cipher,
) -> RequestKey:
    key = checked_key(headers[b"idempotency-key"].decode("latin-1"))
    return RequestKey(scope_of(access.tape), path, key, content, cipher)
