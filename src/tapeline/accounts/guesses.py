"""Whose attempts at a password are counted together.

One party's at one account or link, whose waits are theirs alone; everybody's at it, so that guesses
from very many addresses end too; and all of one address. A stranger's attempts thus never delay
people elsewhere, unless so many strangers try that all who are unknown have to wait.
"""

from dataclasses import dataclass

from sqlalchemy import Connection

from tapeline.accounts import limits
from tapeline.accounts.limits import QUARTER, Counter
from tapeline.settings import Settings

MANY = 10  # parties that may use up what is free to them before all others wait
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
    """Slips before success count no more, and what others tried still does."""
    limits.forget(connection, guess.own)
    if guess.everybodys is not None:
        limits.take_back(connection, guess.everybodys)


def at_account(
    settings: Settings, address: str, email: str, *, device: str | None, is_known: bool
) -> Guess:
    """On a known device nobody else's guesses count; at an address from which the account signed in
    before, only that address's own."""
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
    """Signing in and up from one address, right or wrong: each costs us some memory and time."""
    network = limits.network_of(address)
    return Counter("address", network, settings.signin_limit_address, QUARTER)


def at_own_password(settings: Settings, user_id: str) -> Counter:
    """Whoever finds an open browser must not be able to guess on without end."""
    return Counter("password", user_id, settings.signin_limit_account)


def at_key(settings: Settings, address: str, key_id: str) -> Counter:
    who = f"{limits.network_of(address)} {key_id}"
    return Counter("key", who, settings.signin_limit_address, QUARTER)
