"""Sends what is due, on the server that leads: each channel one message at a time.

What a message says and where it goes is read when it is sent. A channel that fails is tried again
with growing pauses and holds up no other.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import tenants
from tapeline.background import Background, cause_of
from tapeline.errors import Invalid
from tapeline.fair_line import Owner
from tapeline.ids import new_id
from tapeline.leading import LeadsNoMore
from tapeline.settings import Settings
from tapeline.store.encryption import Cipher, NotOurKey
from tapeline.store.jumps import Jumps
from tapeline.store.store import Store
from tapeline.watch.sending.jobs import AT_ONCE, Chart, Job, Outcome
from tapeline.watch.sending.post_office import OF_A_TENANT, PostOffice
from tapeline.watch.telling import (
    channels,
    claiming,
    curve,
    message,
    outbox,
    planning,
    settling,
)
from tapeline.watch.telling.channels import Channel, NoSuchChannel, Opened
from tapeline.watch.telling.claiming import Claimed
from tapeline.watch.telling.message import Gone, Message

NAME, ONE = "messages", "message"
EVERY, WITHIN = 1.0, 60.0  # seconds
SECONDS = 20.0  # for one message
LOOKED_AT = 2_000
"""Channels with something due that one turn looks at."""
UNREADABLE = (
    "The address cannot be read: it was encrypted with a key that this server does not have. Set it"
    " again, or have the operator put the folder keys back from a backup."
)


class Telling:
    def __init__(
        self,
        settings: Settings,
        store: Store,
        cipher: Cipher,
        background: Background,
        is_copy: Callable[[], bool],
    ) -> None:
        """`is_copy`: whether this is a copy of an installation that nobody has released yet. What
        it has to tell is its original's to tell."""
        self._is_copy = is_copy
        self._store, self._cipher, self._background = store, cipher, background
        self._office = PostOffice(settings.alerts_may_reach, background, settings.public_url)
        self._address = settings.public_url or (
            settings.address(settings.port) if settings.port else ""
        )
        self._under_way: dict[str, str] = {}
        """Channels that are being told, with their tenants."""
        self._jumps, self._is_planned = Jumps(store), False
        if store.database.file is not None:  # no other server could be sending these
            store.write_now(outbox.release_claims)
        self._work = background.loop(NAME, self.turn, every=EVERY, within=WITHIN, once=True)

    def wake(self) -> None:
        """Something may be due."""
        self._work.wake()

    async def turn(self) -> None:
        if self._is_copy():
            return
        await self._plan()
        for channel_id, owner in whose_turn(await self._store.read(_due), self._under_way):
            self._under_way[channel_id] = owner.tenant
            self._background.begin(ONE, self._tell(channel_id, owner), channel_id)

    async def _plan(self) -> None:
        if await self._jumps.has_jumped():
            self._is_planned = False
        if not self._is_planned:
            await self._store.write(planning.work_out)
            self._is_planned = True

    async def _tell(self, channel_id: str, owner: Owner) -> None:
        try:
            claimed = await self._store.write(claiming.claim, channel_id)
            outcome = await self._sent(claimed, owner) if claimed is not None else None
            if claimed is not None and outcome is not None:
                await self._store.write(settling.settle, claimed, outcome)
                self.wake()
        except LeadsNoMore:  # the one that leads now sends it
            pass
        finally:
            del self._under_way[channel_id]

    async def _sent(self, claimed: Claimed, owner: Owner) -> Outcome | None:
        """A failure of ours counts as one of the channel: it is tried again, and shown. None if
        there is nothing to tell any more."""
        try:
            said, opened, chart = await self._store.compute(self._written, claimed)
            job = _job(said, claimed.channel.kind, opened, chart)
            return await self._office.send(job, owner)
        except (Gone, NoSuchChannel):
            return None
        except NotOurKey:
            return Outcome(id="", arrived=False, message=UNREADABLE)
        except Exception as error:  # noqa: BLE001 - noted, and the message stays to be sent
            self._work.note(error, claimed.channel.id)
            return Outcome(id="", arrived=False, message=cause_of(error))

    def _written(
        self, connection: Connection, claimed: Claimed
    ) -> tuple[Message, Opened, Chart | None]:
        said = message.of(connection, claimed, self._address)
        opened = channels.opened(connection, self._cipher, claimed.channel.id)
        return said, opened, curve.of(connection, said)

    async def check(self, text: str, owner: Owner) -> channels.Address:
        """An address that messages can go to, as far as it can be told without sending one."""
        found = channels.address_of(text)
        if found.kind == "webhook":
            return found
        job = Job(id=new_id(), kind="check", address=text, seconds=SECONDS)
        outcome = await self._office.send(job, owner)
        if not outcome.arrived:
            raise Invalid(outcome.message, field="address")
        return channels.address_of(text, outcome.message)

    async def test(self, channel: Channel, project: str) -> Outcome:
        """Send a message now, whatever the hour."""
        opened = await self._store.read(channels.opened, self._cipher, channel.id)
        said = message.trial(channel.name, project, new_id())
        job = _job(said, channel.kind, opened, None)
        return await self._office.send(job, await self._store.read(_owner, channel.project_id))


def whose_turn(
    due: Sequence[tuple[str, Owner]], under_way: Mapping[str, str]
) -> list[tuple[str, Owner]]:
    """Channels for the places that are free. Tenants of whom the fewest are being told go first,
    and none has all places, so that what hangs for one of them holds up no other."""
    of_tenants = Counter(under_way.values())
    waiting = [one for one in due if one[0] not in under_way]
    found: list[tuple[str, Owner]] = []
    while waiting and len(under_way) + len(found) < AT_ONCE:
        chosen = min(waiting, key=lambda one: of_tenants[one[1].tenant])
        tenant = chosen[1].tenant
        if of_tenants[tenant] >= OF_A_TENANT:
            break
        waiting.remove(chosen)
        found.append(chosen)
        of_tenants[tenant] += 1
    return found


def _due(connection: Connection) -> list[tuple[str, Owner]]:
    found = outbox.due_channels(connection, LOOKED_AT)
    known = tenants.of_projects(connection, {project for _, project in found if project})
    return [(one, _named(known, project)) for one, project in found]


def _owner(connection: Connection, project_id: str | None) -> Owner:
    wanted = [] if project_id is None else [project_id]
    return _named(tenants.of_projects(connection, wanted), project_id)


def _named(known: dict[str, str], project_id: str | None) -> Owner:
    return Owner("server") if project_id is None else Owner(known[project_id], project_id)


def _job(said: Message, kind: str, opened: Opened, chart: Chart | None) -> Job:
    return Job(
        id=new_id(),
        kind=kind,
        address=opened.address,
        seconds=SECONDS,
        title=said.title,
        body=said.text,
        severity=said.severity,
        secret=opened.secret,
        payload=msgspec.to_builtins(said),
        chart=chart,
    )
