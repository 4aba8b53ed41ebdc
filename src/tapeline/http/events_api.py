"""The events API: a small ASGI application of its own in front of the framework.

This is the hot path. One look-up for the address, one for the key, the body straight into its kind,
then the tape; the answer is sent when the event is durable.
"""

import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from starlette.types import ASGIApp, Receive, Scope, Send

from tapeline.errors import MethodNotAllowed, NoSuchModel, Problem, WrongKey
from tapeline.http import errors, event_batches, event_bodies, event_results
from tapeline.http.event_bodies import Moment
from tapeline.http.event_door import Door
from tapeline.http.event_results import Stage
from tapeline.http.services import Services
from tapeline.logs import Log
from tapeline.store.once import RequestKey, checked_key, once
from tapeline.store.sealing import Seal
from tapeline.tape.append import Appended
from tapeline.tape.clock import read_time
from tapeline.tape.event import Event, Submission
from tapeline.tape.kinds import BY_PATH
from tapeline.tape.tapes import Way

log = Log(__name__)

BATCH, RESULT = "/v1/batch", "/v1/backtest/result"
STAGED = {BATCH, RESULT}
PATHS = frozenset(BY_PATH) | STAGED
SUCCESS = b'{"status":"success"}'

_START: Any = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(SUCCESS)).encode()),
        (b"x-content-type-options", b"nosniff"),
    ],
}
_BODY: Any = {"type": "http.response.body", "body": SUCCESS}


class EventsApi:
    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services
        self._door = Door(services)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in PATHS:
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 200
        try:
            await self._take(scope, receive)
        except Problem as problem:
            status = errors.status_of(type(problem))
            answer = errors.answer(problem)
            if status == 405:
                answer.headers["Allow"] = "POST"
            await answer(scope, receive, send)
        except Exception as error:
            status = 500
            log.error("bug", exc_info=error, path=scope["path"])
            await errors.answer(Problem())(scope, receive, send)
        else:
            await send(_START)
            await send(_BODY)
        self._services.metrics.took_event(scope["path"], status, time.perf_counter() - started)

    async def _take(self, scope: Scope, receive: Receive) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowed("This address takes only POST.")
        headers: dict[bytes, bytes] = dict(scope["headers"])
        credentials = self._door.credentials(headers)
        address = scope["client"][0] if scope["client"] else ""
        way = self._door.known(credentials) or await self._door.way(credentials, address)
        received_at = time.time()
        at = headers.get(b"time")
        moment = Moment(
            received_at if at is None else read_time(at.decode("utf-8", "replace")), received_at
        )
        try:
            if scope["path"] in STAGED:
                await self._take_staged(scope, headers, receive, moment, way)
            else:
                await self._take_one(scope, headers, receive, moment, way)
        except (WrongKey, NoSuchModel):
            # Remembered wrongly: the key or the model is gone. Asking anew says which.
            self._door.forget(credentials)
            await self._door.way(credentials, address)
            raise

    async def _take_one(
        self,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        moment: Moment,
        way: Way,
    ) -> None:
        settings, path = self._services.settings, scope["path"]
        content = await event_bodies.read_content(receive, settings.max_body, settings.body_seconds)
        line = event_bodies.plain_line(path, content, headers, settings)
        if line is not None:
            event = event_bodies.line_event(line, moment, way.tape)
        else:
            values, lenient = await event_bodies.decoded(content, headers, settings)
            event = event_bodies.event(path, values, moment, way.tape, settings, lenient=lenient)
        submission = Submission([event], way.key_id)
        if b"idempotency-key" in headers:
            said = event.kind.name.encode() + event.body
            request = _request_key(headers, path, way, said, self._services.seal)
            await self._store_once(request, way, submission)
        else:
            await self._services.inbox.store(submission)

    async def _take_staged(
        self,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        moment: Moment,
        way: Way,
    ) -> None:
        """A backtest's result, or a batch, which may hold some: their pieces are stored first."""
        stage = Stage(self._services, way.tape)
        try:
            if scope["path"] == BATCH:
                said, events = await self._batch(headers, receive, moment, stage)
            else:
                header = await event_results.take(scope, headers, receive, stage)
                events = [event_bodies.result_event(header, stage.newest, moment, way.tape)]
                said = events[0].body
            submission = Submission(events, way.key_id)
            if b"idempotency-key" in headers:
                request = _request_key(headers, scope["path"], way, said, self._services.seal)
                if await self._store_once(request, way, submission):
                    stage.keep()
            elif not events:
                check = self._services.inbox.appender.check
                await self._services.store.write(check, way.key_id, way.tape)
            else:
                await self._services.inbox.store(submission)
                stage.keep()
        finally:
            await stage.discard()

    async def _batch(
        self, headers: Mapping[bytes, bytes], receive: Receive, moment: Moment, stage: Stage
    ) -> tuple[bytes, list[Event]]:
        settings = self._services.settings
        content = await event_bodies.read_content(
            receive, settings.max_large_body, settings.body_seconds
        )
        return content, await event_batches.read(content, headers, moment, stage)

    async def _store_once(self, request: RequestKey, way: Way, submission: Submission) -> bool:
        """By itself, in one transaction with the memory of the key; whether it was the first."""
        services, watched = self._services, list[Appended]()

        def job(connection: Connection) -> bool:
            watched.clear()
            # Before the memory: whose key or model is gone has no business with old answers.
            services.inbox.appender.check(connection, way.key_id, way.tape)
            was_first = False

            def act() -> bytes:
                nonlocal was_first
                was_first = True
                _, appended = services.inbox.appender.append(connection, [submission])
                watched.extend(appended)
                return SUCCESS

            once(connection, request, time.time(), act)
            return was_first

        was_first = await services.store.write(job)
        for one in watched:
            services.watchers.tell(one.model_id, one.records)
        return was_first


def _request_key(
    headers: Mapping[bytes, bytes], path: str, way: Way, content: bytes, seal: Seal
) -> RequestKey:
    key = checked_key(headers[b"idempotency-key"].decode("latin-1"))
    return RequestKey(f"tape:{way.tape}", path, key, content, seal)
