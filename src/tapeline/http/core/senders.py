"""Whose turn a request takes when it reads: its tenant's, or the strangers' until that is known.

Before the store has seen a credential or a link, its request waits with the strangers, for one
small look-up. A visitor of a link then takes the turn of the tenant that made it, after that
tenant's own people: links of others, sign-ins and unknown links never wait for a crowd at one link.
The tenant is remembered only to decide who waits: rights are checked in each transaction.
"""

from sqlalchemy import Connection
from starlette.requests import Request

from tapeline import turns
from tapeline.accounts import tenants
from tapeline.accounts.limits import network_of
from tapeline.fair_line import VISITORS, Owner
from tapeline.http.core import auth
from tapeline.http.core.endpoint import Access, Endpoint, address_of
from tapeline.http.core.services import Services
from tapeline.sharing.links import links

LINKS = "links"


def come_as_stranger(request: Request, area: str) -> None:
    """Areas take turns, and the addresses in each: a flood of links does not delay sign-ins."""
    turns.sender.set(Owner(turns.STRANGERS, area, network_of(address_of(request))))


def area_of(endpoint: Endpoint) -> str:
    return LINKS if endpoint.access is Access.SHARED else endpoint.path


async def join_tenant(
    request: Request, services: Services, access: Access, identify: auth.Identify
) -> None:
    turns.sender.set(await owner_of(request, services, access, identify))


async def owner_of(
    request: Request, services: Services, access: Access, identify: auth.Identify
) -> Owner:
    """Refuses a credential that was never valid."""
    shown = auth.credential(request, access)
    owner = services.senders.find(shown)
    if owner is None:
        owner = await services.store.read(_owner, identify)
        services.senders.put(shown, owner)
    return owner


async def join_link(request: Request, services: Services) -> None:
    token = str(request.path_params["token"])
    owner = services.senders.find((LINKS, token))
    if owner is None:
        owner = await services.store.read(_host, token)
        services.senders.put((LINKS, token), owner)
    turns.sender.set(owner._replace(key=network_of(address_of(request))))


def _host(connection: Connection, token: str) -> Owner:
    share = links.by_token(connection, token)
    return Owner(tenants.of_project(connection, share.project_id), VISITORS)


def _owner(connection: Connection, identify: auth.Identify) -> Owner:
    actor = identify(connection)
    account = actor.id or ""
    return Owner(tenants.of_actor(connection, actor), actor.project_id or account, account)
