"""Which attempts at a password are counted together.

There are three counts: one party's attempts at one account or link, which delay only that party;
all attempts at it, so that guessing from very many addresses ends too; and all attempts from one
address. A stranger's attempts never delay known people; only a flood from many strangers delays
everyone who is unknown.
"""

from dataclasses import dataclass

from sqlalchemy import Connection

from tapeline.accounts import limits
from tapeline.accounts.limits import QUARTER, Counter
from tapeline.settings import Settings

MANY = 10  # parties that may use up their free attempts before all others wait
MOST = 1_000_000
ELSEWHERE = "Where you have signed in before, you need not wait."


@dataclass(frozen=True)
class Guess:
    own: Counter
    """Forgotten after success."""
    everybodys: Counter | None = None
    address: Counter | None = None

    @property
    def counters(self) -> list[Counter]:
        # In one order everywhere: two servers that lock several counts must not wait in a circle.
        return [one for one in (self.address, self.own, self.everybodys) if one is not None]


def was_right(connection: Connection, guess: Guess) -> None:
    """The person's earlier mistakes no longer count; attempts by others still do."""
    limits.forget(connection, guess.own)
    if guess.everybodys is not None:
        limits.take_back(connection, guess.everybodys)


def at_account(
    settings: Settings, address: str, email: str, *, device: str | None, is_known: bool
) -> Guess:
    """On a known device, nobody else's guesses count; at an address that the account has signed in
    from, only guesses from that address do."""
    free, who = settings.signin_limit_account, email.strip().lower()
    if device is not None:
        return Guess(Counter("device", f"{who} {device}", free))
    own = Counter("account", f"{who} {limits.network_of(address)}", free)
    everybodys = Counter("everybody", who, min(MOST, free * MANY), advice=ELSEWHERE)
    return Guess(own, None if is_known else everybodys, of_address(settings, address))


def at_link(settings: Settings, address: str, share_id: str) -> Guess:
    free, network = settings.signin_limit_account, limits.network_of(address)
    return Guess(
        Counter("share", f"{share_id} {network}", free),
        Counter("share everybody", share_id, min(MOST, free * MANY)),
        Counter("share address", network, settings.signin_limit_address, QUARTER),
    )


def of_address(settings: Settings, address: str) -> Counter:
    """Sign-ins and sign-ups from one address, right or wrong: each costs the server memory and
    time."""
    network = limits.network_of(address)
    return Counter("address", network, settings.signin_limit_address, QUARTER)


def at_own_password(settings: Settings, user_id: str) -> Counter:
    """Someone who finds an open browser must not be able to guess the password without limit."""
    return Counter("password", user_id, settings.signin_limit_account)


def at_key(settings: Settings, address: str, key_id: str) -> Counter:
    who = f"{limits.network_of(address)} {key_id}"
    return Counter("key", who, settings.signin_limit_address, QUARTER)
