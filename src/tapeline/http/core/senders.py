"""Whose turn a request takes when it reads: its tenant's, or the strangers' until that is known.

Before the store has seen a credential, its request waits with the strangers, for one small look-up.
The tenant is remembered only to decide who waits: rights are checked in each transaction.
"""

from sqlalchemy import Connection
from starlette.requests import Request

from tapeline import turns
from tapeline.accounts import tenants
from tapeline.accounts.limits import network_of
from tapeline.fair_line import Owner
from tapeline.http.core import auth
from tapeline.http.core.endpoint import Access, Endpoint, address_of
from tapeline.http.core.services import Services

LINKS = "links"


def come_as_stranger(request: Request, area: str) -> None:
    """Areas take turns, and the addresses in each: a flood of links does not delay sign-ins."""
    turns.sender.set(Owner(turns.STRANGERS, area, network_of(address_of(request))))


def area_of(endpoint: Endpoint) -> str:
    return LINKS if endpoint.access is Access.SHARED else endpoint.path


async def join_tenant(
    request: Request, services: Services, access: Access, identify: auth.Identify
) -> None:
    shown = auth.credential(request, access)
    owner = services.senders.find(shown)
    if owner is None:
        owner = await services.store.read(_owner, identify)
        services.senders.put(shown, owner)
    turns.sender.set(owner)


def _owner(connection: Connection, identify: auth.Identify) -> Owner:
    actor = identify(connection)
    account = actor.id or ""
    return Owner(tenants.of_actor(connection, actor), actor.project_id or account, account)
